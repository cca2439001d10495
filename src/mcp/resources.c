// SPDX-License-Identifier: Apache-2.0
// What can be read besides calling tools: run folders, answers that were cut, playbooks.
#include "mcp/server.h"

#include <string.h>

#include "base/number.h"
#include "playbooks/skills.h"
#include "store/store.h"

#define RUN_URI "etprof://run"
#define RESULT_URI "etprof://result/"
#define PIECE ((size_t)32 << 10) // of a cut answer
#define MOST_RUNS 100

// ---- run folders ----

typedef struct found {
    etp_mcp *server;
    etp_arena arena;
    json_t *list;
} found;

static void add_run(found *f, const char *dir)
{
    const char *path = etp_run_is(dir) ? etp_os_absolute(dir, &f->arena) : NULL;
    if (path && json_array_size(f->list) < MOST_RUNS &&
        etp_mcp_allowed(f->server, path, &f->arena)) {
        const char *encoded = etp_mcp_encoded(&f->arena, path);
        const char *uri = etp_arena_printf(&f->arena, RUN_URI "%s", encoded ? encoded : "");
        for (size_t i = 0; uri && i < json_array_size(f->list); i++) { // roots may overlap
            if (strcmp(uri, json_string_value(
                                json_object_get(json_array_get(f->list, i), "uri"))) == 0) {
                return;
            }
        }
        json_array_append_new(f->list, json_pack("{s:s, s:s, s:s}", "uri", uri ? uri : "", "name",
                                                 path, "mimeType", "text/plain"));
    }
}

// DIR itself, what lies in it, and the runs of an output folder.
static void look(found *f, const char *dir, int depth)
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
            look(f, path, depth - 1);
        }
    }
}

void etp_mcp_resources(etp_mcp *s, json_t *id)
{
    found f = {.server = s, .list = json_array()};
    size_t n;
    const char *const *roots = etp_mcp_roots(s, &n);
    for (size_t i = 0; i < n; i++) {
        look(&f, roots[i], 3);
    }
    etp_mcp_reply(s, id, json_pack("{s:o}", "resources", f.list));
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
    const etp_mcp_answer *a = fits && number > 0 ? &s->kept[(number - 1) % ETP_MCP_KEPT] : NULL;
    if (!a || a->number != number || offset > a->text.len) {
        etp_mcp_error(s, id, ETP_RPC_RESOURCE, "%.100s: no such answer, or it is one of before",
                      uri);
        return;
    }
    etp_str piece = {a->text.ptr + offset, a->text.len - (size_t)offset};
    piece.len = piece.len < PIECE ? piece.len : PIECE;
    while (piece.len > 0 && offset + piece.len < a->text.len &&
           ((unsigned char)piece.ptr[piece.len] & 0xC0) == 0x80) {
        piece.len--;
    }
    json_t *text = json_stringn(piece.ptr, piece.len);
    if (!text) {
        etp_mcp_error(s, id, ETP_RPC_RESOURCE, "%.100s: no character begins there", uri);
        return;
    }
    json_t *meta = NULL; // where the next piece is
    if (offset + piece.len < a->text.len) {
        meta = json_pack("{s:o}", "more",
                         json_sprintf(RESULT_URI "%llu?offset=%llu", (unsigned long long)number,
                                      (unsigned long long)(offset + piece.len)));
    }
    etp_mcp_reply(s, id,
                  json_pack("{s:[{s:s, s:s, s:o, s:o*}]}", "contents", "uri", uri, "mimeType",
                            "text/plain", "text", text, "_meta", meta));
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
        json_t *prompts = json_array();
        for (size_t i = 0; i < list.n; i++) {
            const etp_skill *k = &list.items[i];
            json_array_append_new(prompts, json_pack("{s:s, s:s}", "name", k->id, "description",
                                                     k->description ? k->description : ""));
        }
        etp_mcp_reply(s, id, json_pack("{s:o}", "prompts", prompts));
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
        etp_mcp_reply(s, id,
                      json_pack("{s:s, s:[{s:s, s:{s:s, s:o}}]}", "description",
                                k->description ? k->description : "", "messages", "role", "user",
                                "content", "type", "text", "text",
                                json_stringn(k->text.ptr, k->text.len)));
    }
    etp_arena_dispose(&arena);
}
