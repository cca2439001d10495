// SPDX-License-Identifier: Apache-2.0
// `etprof mcp`: a Model Context Protocol server. One JSON-RPC message a line comes in, one goes
// out; a tool is a verb of this very program, started as a child, so that what it answers is what
// the verb prints, and nothing that a file does to a verb ends the server.
//
//   lines ── etp_mcp_line ──► answers (etp_sink) ── and jobs, one at a time ── etp_mcp_turn ──►
//   answers
//
// Thread rule: one thread.
#ifndef ETP_MCP_MCP_H
#define ETP_MCP_MCP_H

#include "base/sink.h"

#include <etprof/arena.h>

typedef struct etp_mcp etp_mcp;

typedef struct etp_mcp_options {
    const char *program;      // path of this executable; NULL: no tool can be called
    const char *const *roots; // folders that files must lie in; those of the client do not widen
    size_t n_roots;           // them. None: the client's roots, until it names any FOLDER
    const char *folder;       // working directory
    const char *platform;     // of run folders
    etp_sink *out;            // where answers go, a line each
} etp_mcp_options;

#define ETP_MCP_LINE_LIMIT ((size_t)1 << 20)

// Borrows what OPTIONS names.
ETP_NODISCARD etp_status etp_mcp_open(const etp_mcp_options *options, etp_mcp **out,
                                      etp_error *err);
// One message without its line break. Whatever it holds, the server lives. TOO_LONG: the line was
// longer than the limit and is not here.
void etp_mcp_line(etp_mcp *server, etp_str line, bool too_long);
// Does what is to be done for the job at hand, for at most MS milliseconds; false: there is none.
bool etp_mcp_turn(etp_mcp *server, unsigned ms);
void etp_mcp_close(etp_mcp *server); // ends the job at hand

#endif
