// SPDX-License-Identifier: Apache-2.0
// Private to the room: the server's state, and what its files call of each other.
#ifndef ETP_MCP_SERVER_H
#define ETP_MCP_SERVER_H

#include <jansson.h>

#include "base/json.h"
#include "mcp/mcp.h"
#include "mcp/tools.h"
#include "os/os.h"

#define ETP_MCP_SHORT 6000 // characters of an answer; the rest is had by its handle
#define ETP_MCP_KEPT 16    // answers that a handle still leads to
#define ETP_MCP_QUEUE 16   // calls that wait

enum { // of JSON-RPC, and of the protocol
    ETP_RPC_PARSE = -32700,
    ETP_RPC_REQUEST = -32600,
    ETP_RPC_METHOD = -32601,
    ETP_RPC_PARAMS = -32602,
    ETP_RPC_INTERNAL = -32603,
    ETP_RPC_RESOURCE = -32002
};

typedef struct etp_mcp_call { // a verb that runs, or waits for its turn
    json_t *id, *token;       // token: of progress, NULL none
    const etp_mcp_tool *tool; // NULL: a resource
    const char *uri;          // of the resource
    const char *const *argv;
    etp_arena arena; // owns the words and what the verb prints
} etp_mcp_call;

// The call at work, with what its process has printed so far: the answer, the talk, and the line of
// standard error that has no end yet.
typedef struct etp_mcp_job {
    bool active, cancelled;
    uint64_t cancelled_ns;
    etp_mcp_call call;
    etp_process process;
    etp_strbuf out, notes, line;
    bool cut;  // of what it printed
    bool told; // how far it is
    uint64_t steps;
} etp_mcp_job;

typedef struct etp_mcp_answer { // what a handle leads to
    uint64_t number;
    etp_arena arena;
    etp_str text;
} etp_mcp_answer;

struct etp_mcp { // lives in its arena
    etp_arena arena;
    etp_mcp_options options;
    bool greeted, ready; // initialize was answered; the client said that it is ready
    bool client_has_roots;
    uint64_t roots_request; // id of our last request for the roots, 0 none
    bool awaits_roots; // its answer, since requested_ns: what depends on roots is held meanwhile
    uint64_t requested_ns;
    json_t *held[ETP_MCP_QUEUE];
    size_t n_held;
    const char **roots;
    size_t n_roots;
    etp_arena roots_arena;
    etp_mcp_job job;
    etp_mcp_call queue[ETP_MCP_QUEUE];
    size_t n_queue;
    etp_mcp_answer kept[ETP_MCP_KEPT];
    uint64_t n_kept;
};

// ---- messages ----

// What comes in is read with jansson, what goes out is written here. A message is an object whose
// members are written between begin and end; a reply's are those of its result.
void etp_mcp_begin(etp_mcp *s, etp_json *j);
void etp_mcp_end(etp_json *j);
void etp_mcp_begin_reply(etp_mcp *s, etp_json *j, const json_t *id);
void etp_mcp_end_reply(etp_json *j);
void etp_mcp_error(etp_mcp *s, const json_t *id, int code, const char *fmt, ...) ETP_PRINTF(4, 5);
// Replies with the text of the resource URI. MORE: where the rest of it is, NULL: that is all.
void etp_mcp_put_contents(etp_mcp *s, const json_t *id, const char *uri, etp_str text,
                          const char *more);
void etp_mcp_put_id(etp_json *j, const json_t *id); // as the client gave it; null: none

// ---- calls ----

// Starts or queues CALL, which becomes the server's.
void etp_mcp_call_begin(etp_mcp *s, etp_mcp_call *call);
void etp_mcp_cancel(etp_mcp *s, const json_t *id);
bool etp_mcp_at_work(const etp_mcp *s, const json_t *id); // a call that runs or waits
bool etp_mcp_calls_turn(etp_mcp *s, unsigned ms);         // false: there is no call
void etp_mcp_calls_close(etp_mcp *s);
void etp_mcp_tool_call(etp_mcp *s, json_t *id, const json_t *params);

// ---- resources, prompts, roots ----

void etp_mcp_resources(etp_mcp *s, json_t *id);
void etp_mcp_read(etp_mcp *s, json_t *id, const json_t *params);
void etp_mcp_prompts(etp_mcp *s, json_t *id);
void etp_mcp_prompt(etp_mcp *s, json_t *id, const json_t *params);
void etp_mcp_take_roots(etp_mcp *s, const json_t *result);
const char *const *etp_mcp_roots(const etp_mcp *s, size_t *n); // at least one folder
// Does PATH, absolute and without links, lie in a folder that may be touched?
bool etp_mcp_allowed(const etp_mcp *s, const char *path, etp_arena *arena);
// A URI's path with its %XX replaced; NULL for what stands for no path.
const char *etp_mcp_decoded(etp_arena *arena, const char *text);
const char *etp_mcp_encoded(etp_arena *arena, const char *path); // the other way round
// An etp_mcp_place; CTX is an etp_mcp_room.
typedef struct etp_mcp_room {
    etp_mcp *server;
    etp_arena *arena;
} etp_mcp_room;
etp_status etp_mcp_inside(void *ctx, const char *path, const char **out, etp_error *err);

#endif
