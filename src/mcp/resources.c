// SPDX-License-Identifier: Apache-2.0
// What can be read besides calling tools: run folders, answers that were cut, playbooks.
#include "mcp/server.h"

#include <string.h>

#include "base/number.h"
#include "playbooks/skills.h"
#include "store/store.h"

#define RUN_URI "etprof://run"
#define RESULT_URI "etprof://result/"
// Larger than the beginning that a tool answers with: who asks for the rest wants to read it.
#define PIECE ((size_t)32 << 10) // of a cut answer
#define MOST_RUNS 100

// ---- run folders ----

typedef struct found {
    etp_mcp *server;
    etp_arena arena;
    struct place {
        const char *uri, *path;
    } *items;
    size_t n, cap;
} found;

static void add_run(found *f, const char *dir)
{
    const char *path = etp_run_is(dir) ? etp_os_absolute(dir, &f->arena) : NULL;
    if (path && f->n < MOST_RUNS && etp_mcp_allowed(f->server, path, &f->arena)) {
        for (size_t i = 0; i < f->n; i++) { // roots may overlap
            if (strcmp(path, f->items[i].path) == 0) {
                return;
            }
        }
        const char *encoded = etp_mcp_encoded(&f->arena, path);
        const struct place at = {etp_arena_printf(&f->arena, RUN_URI "%s", encoded), path};
        ETP_ADD(&f->arena, f, at);
    }
}

// DEPTH ends the search: below a root, out_MODEL/runs/PLATFORM is three levels away. Links are not
// followed, and hidden folders are passed over.
// DIR itself, what lies in it, and the runs of an output folder.
static void find_runs(found *f, const char *dir, int depth)
{
    etp_dir_list entries = {0};
    add_run(f, dir);
    if (depth == 0 || etp_os_list(dir, &f->arena, &entries, NULL) != ETP_OK) {
        return;
    }
    for (size_t i = 0; i < entries.n && i < 1000; i++) {
        const char *path = etp_arena_printf(&f->arena, "%s/%s", dir, entries.items[i].name);
        if (path && entries.items[i].is_dir && !entries.items[i].is_other &&
            entries.items[i].name[0] != '.') {
            find_runs(f, path, depth - 1);
        }
    }
}

void etp_mcp_resources(etp_mcp *s, json_t *id)
{
    found f = {.server = s};
    size_t n;
    const char *const *roots = etp_mcp_roots(s, &n);
    for (size_t i = 0; i < n; i++) {
        find_runs(&f, roots[i], 3);
    }
    etp_json j;
    // A list that is shorter for want of memory would say that runs are not there.
    if (f.arena.failed) {
        etp_mcp_error(s, id, ETP_RPC_INTERNAL, "out of memory");
    } else {
        etp_mcp_begin_reply(s, &j, id);
        etp_json_key(&j, "resources");
        etp_json_begin_array(&j);
        for (size_t i = 0; i < f.n; i++) {
            etp_json_begin_object(&j);
            etp_json_kv_z(&j, "uri", f.items[i].uri);
            etp_json_kv_z(&j, "name", f.items[i].path);
            etp_json_kv_z(&j, "mimeType", "text/plain");
            etp_json_end(&j);
        }
        etp_json_end(&j);
        etp_mcp_end_reply(&j);
    }
    etp_arena_dispose(&f.arena);
}

// ---- reading ----

static void read_run(etp_mcp *s, json_t *id, const char *uri)
{
    etp_error err = {0};
    etp_mcp_call call = {0};
    etp_mcp_room room = {s, &call.arena};
    const char *path, *place = etp_mcp_decoded(&call.arena, uri + strlen(RUN_URI));
    const char **argv = ETP_NEW_ARRAY(&call.arena, const char *, 4);
    call.uri = etp_arena_strdup(&call.arena, etp_str_from(uri));
    // The URI comes from the client: its folder is held against the roots as a path of a tool is.
    if (!place || !argv || !call.uri || place[0] != '/' ||
        etp_mcp_inside(&room, place, &path, &err) != ETP_OK) {
        etp_mcp_error(s, id, ETP_RPC_RESOURCE, "%s", err.msg[0] ? err.msg : "no such run folder");
        etp_arena_dispose(&call.arena);
        return;
    }
    argv[0] = s->options.program;
    argv[1] = "analyze";
    argv[2] = path;
    call.argv = argv;
    call.id = json_incref(id);
    etp_mcp_call_begin(s, &call);
}

static void read_result(etp_mcp *s, json_t *id, const char *uri)
{
    etp_str rest = etp_str_from(uri + strlen(RESULT_URI)), mark = ETP_STR("?offset=");
    size_t at = etp_str_find(rest, mark);
    uint64_t number = 0, offset = 0;
    bool fits =
        etp_parse_u64((etp_str){rest.ptr, at}, &number) &&
        (at == rest.len ||
         etp_parse_u64((etp_str){rest.ptr + at + mark.len, rest.len - at - mark.len}, &offset));
    // The slot by the rule it was filled by (calls.c); the number in it tells whether the answer is
    // still that one.
    const etp_mcp_answer *a = fits && number > 0 ? &s->kept[(number - 1) % ETP_MCP_KEPT] : NULL;
    if (!a || a->number != number || offset > a->text.len) {
        etp_mcp_error(s, id, ETP_RPC_RESOURCE, "%.100s: no such answer, or it is one of before",
                      uri);
        return;
    }
    etp_str piece = {a->text.ptr + offset, a->text.len - (size_t)offset};
    piece.len = piece.len < PIECE ? piece.len : PIECE;
    // No piece ends within a character of UTF-8, and so the next begins with a whole one.
    while (piece.len > 0 && offset + piece.len < a->text.len &&
           ((unsigned char)piece.ptr[piece.len] & 0xC0) == 0x80) {
        piece.len--;
    }
    if (piece.len > 0 && ((unsigned char)piece.ptr[0] & 0xC0) == 0x80) {
        etp_mcp_error(s, id, ETP_RPC_RESOURCE, "%.100s: no character begins there", uri);
        return;
    }
    char more[72]; // where the next piece is: 16 + 20 + 8 + 20 and the NUL
    snprintf(more, sizeof more, RESULT_URI "%llu?offset=%llu", (unsigned long long)number,
             (unsigned long long)(offset + piece.len));
    etp_mcp_put_contents(s, id, uri, piece, offset + piece.len < a->text.len ? more : NULL);
}

void etp_mcp_read(etp_mcp *s, json_t *id, const json_t *params)
{
    const char *uri = json_string_value(json_object_get(params, "uri"));
    if (uri && strncmp(uri, RESULT_URI, strlen(RESULT_URI)) == 0) {
        read_result(s, id, uri);
    } else if (uri && strncmp(uri, RUN_URI "/", strlen(RUN_URI "/")) == 0) {
        read_run(s, id, uri);
    } else {
        etp_mcp_error(s, id, uri ? ETP_RPC_RESOURCE : ETP_RPC_PARAMS, "no resource %.100s",
                      uri ? uri : "is named");
    }
}

// ---- playbooks ----

static etp_status playbooks(const etp_mcp *s, const char *name, etp_arena *arena,
                            etp_skill_list *out, etp_error *err)
{
    static const etp_skill_settings k_none;
    return etp_skill_select(name, &k_none, s->options.platform, arena, out, err);
}

void etp_mcp_prompts(etp_mcp *s, json_t *id)
{
    etp_arena arena = {0};
    etp_skill_list list = {0};
    etp_error err = {0};
    if (playbooks(s, NULL, &arena, &list, &err) != ETP_OK) {
        etp_mcp_error(s, id, ETP_RPC_INTERNAL, "%s", err.msg);
    } else {
        etp_json j;
        etp_mcp_begin_reply(s, &j, id);
        etp_json_key(&j, "prompts");
        etp_json_begin_array(&j);
        for (size_t i = 0; i < list.n; i++) {
            const etp_skill *k = &list.items[i];
            etp_json_begin_object(&j);
            etp_json_kv_z(&j, "name", k->id);
            etp_json_kv_z(&j, "description", k->description ? k->description : "");
            etp_json_end(&j);
        }
        etp_json_end(&j);
        etp_mcp_end_reply(&j);
    }
    etp_arena_dispose(&arena);
}

void etp_mcp_prompt(etp_mcp *s, json_t *id, const json_t *params)
{
    const char *name = json_string_value(json_object_get(params, "name"));
    etp_arena arena = {0};
    etp_skill_list list = {0};
    etp_error err = {0};
    if (!name || playbooks(s, name, &arena, &list, &err) != ETP_OK || list.n != 1) {
        etp_mcp_error(s, id, ETP_RPC_PARAMS, "%s",
                      err.msg[0] ? err.msg : "name one of prompts/list");
    } else {
        const etp_skill *k = &list.items[0];
        etp_json j;
        etp_mcp_begin_reply(s, &j, id);
        etp_json_kv_z(&j, "description", k->description ? k->description : "");
        etp_json_key(&j, "messages");
        etp_json_begin_array(&j);
        etp_json_begin_object(&j);
        etp_json_kv_z(&j, "role", "user");
        etp_json_key(&j, "content");
        etp_json_begin_object(&j);
        etp_json_kv_z(&j, "type", "text");
        etp_json_kv_str(&j, "text", k->text);
        etp_json_end(&j);
        etp_json_end(&j);
        etp_json_end(&j);
        etp_mcp_end_reply(&j);
    }
    etp_arena_dispose(&arena);
}
