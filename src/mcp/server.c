// SPDX-License-Identifier: Apache-2.0
// Messages of the protocol: which may come when, and who answers them.
#include "mcp/server.h"

#include <etprof/version.h>

#include "base/json_read.h"

#define ROOTS_NS UINT64_C(3000000000) // that a client may take to name its roots

// Revisions of the protocol that this server speaks, newest first. A client that wants another one
// is offered the newest, as the protocol has it, and may go away.
static const char *const k_versions[] = {"2025-06-18", "2025-03-26", "2024-11-05"};

// Every client gets this with the answer to its first message: its model reads it before it knows
// any tool.
static const char k_instructions[] =
    "etprof measures ExecuTorch programs and says where the time goes. Measure, read the report, "
    "explain what it names, and check every figure with verify_claim before you tell it. Answers "
    "are short; where one is cut, its handle (etprof://result/N) has the rest. A ratio that is "
    "withheld is not to be guessed.";

// ---- the beginning ----

static const char *version_for(const char *wanted)
{
    for (size_t i = 0; wanted && i < sizeof k_versions / sizeof *k_versions; i++) {
        if (strcmp(wanted, k_versions[i]) == 0) {
            return k_versions[i];
        }
    }
    return k_versions[0];
}

static void initialize(etp_mcp *s, json_t *id, const json_t *params)
{
    if (s->greeted) {
        etp_mcp_error(s, id, ETP_RPC_REQUEST, "initialize came twice");
        return;
    }
    const char *wanted = json_string_value(json_object_get(params, "protocolVersion"));
    if (!wanted) {
        etp_mcp_error(s, id, ETP_RPC_PARAMS, "initialize needs protocolVersion");
        return;
    }
    s->greeted = true;
    // Only a client that has announced roots may be asked for them.
    s->client_has_roots =
        json_is_object(json_object_get(json_object_get(params, "capabilities"), "roots"));
    static const char *const k_capabilities[] = {"tools", "resources", "prompts"};
    etp_json j;
    etp_mcp_begin_reply(s, &j, id);
    etp_json_kv_z(&j, "protocolVersion", version_for(wanted));
    etp_json_key(&j, "capabilities");
    etp_json_begin_object(&j);
    for (size_t i = 0; i < sizeof k_capabilities / sizeof *k_capabilities; i++) {
        etp_json_key(&j, k_capabilities[i]);
        etp_json_begin_object(&j);
        etp_json_end(&j);
    }
    etp_json_end(&j);
    etp_json_key(&j, "serverInfo");
    etp_json_begin_object(&j);
    etp_json_kv_z(&j, "name", "etprof");
    etp_json_kv_z(&j, "version", ETP_VERSION);
    etp_json_end(&j);
    etp_json_kv_z(&j, "instructions", k_instructions);
    etp_mcp_end_reply(&j);
}

// With --root the client's are of no interest. Each request has a new number, so that an answer to
// an older one, which may come late, is not taken for the newest.
static void ask_roots(etp_mcp *s)
{
    if (s->client_has_roots && s->options.n_roots == 0) {
        s->roots_request++;
        s->awaits_roots = true;
        s->requested_ns = etp_os_now_ns();
        etp_json j;
        etp_mcp_begin(s, &j);
        etp_json_kv_u64(&j, "id", s->roots_request);
        etp_json_kv_z(&j, "method", "roots/list");
        etp_mcp_end(&j);
    }
}

// Index of the held message ID; their number when there is none.
static size_t held_at(const etp_mcp *s, const json_t *id)
{
    size_t at = 0;
    while (at < s->n_held && !(id && json_equal(json_object_get(s->held[at], "id"), id))) {
        at++;
    }
    return at;
}

static void take_notification(etp_mcp *s, const char *method, const json_t *params)
{
    if (strcmp(method, "notifications/initialized") == 0 && s->greeted && !s->ready) {
        s->ready = true;
        ask_roots(s);
    } else if (strcmp(method, "notifications/cancelled") == 0) {
        const json_t *id = json_object_get(params, "requestId");
        // A call may be cancelled while it waits for the roots, before it has become a job.
        size_t at = held_at(s, id);
        if (at < s->n_held) {
            json_decref(s->held[at]);
            s->n_held--;
            memmove(s->held + at, s->held + at + 1, (s->n_held - at) * sizeof(json_t *));
        } else {
            etp_mcp_cancel(s, id);
        }
    } else if (strcmp(method, "notifications/roots/list_changed") == 0) {
        ask_roots(s);
    }
}

// ---- requests ----

static void list_tools(etp_mcp *s, json_t *id)
{
    etp_json j;
    etp_mcp_begin_reply(s, &j, id);
    etp_json_key(&j, "tools");
    etp_json_begin_array(&j);
    for (const etp_mcp_tool *t = k_etp_mcp_tools; t->name; t++) {
        etp_mcp_tool_json(&j, t);
    }
    etp_json_end(&j);
    etp_mcp_end_reply(&j);
}

static void list_templates(etp_mcp *s, json_t *id)
{
    static const struct {
        const char *uri, *name, *description;
    } k_templates[] = {
        {"etprof://run/{folder}",                    "run",    "What a run folder says, by its absolute path."},
        {"etprof://result/{number}?offset={offset}", "result",
         "An answer that was cut, from a character on."                                                       },
    };
    etp_json j;
    etp_mcp_begin_reply(s, &j, id);
    etp_json_key(&j, "resourceTemplates");
    etp_json_begin_array(&j);
    for (size_t i = 0; i < sizeof k_templates / sizeof *k_templates; i++) {
        etp_json_begin_object(&j);
        etp_json_kv_z(&j, "uriTemplate", k_templates[i].uri);
        etp_json_kv_z(&j, "name", k_templates[i].name);
        etp_json_kv_z(&j, "description", k_templates[i].description);
        etp_json_kv_z(&j, "mimeType", "text/plain");
        etp_json_end(&j);
    }
    etp_json_end(&j);
    etp_mcp_end_reply(&j);
}

// A client answers our question for its roots when it may have sent calls already.
static bool hold_for_roots(etp_mcp *s, json_t *m, const char *method)
{
    bool asks = strcmp(method, "tools/call") == 0 || strcmp(method, "resources/read") == 0 ||
                strcmp(method, "resources/list") == 0;
    if (!s->awaits_roots || !asks) {
        return false;
    }
    // As a whole message, which is read again when the roots are known.
    if (s->n_held < ETP_MCP_QUEUE) {
        s->held[s->n_held++] = json_incref(m);
    } else {
        etp_mcp_error(s, json_object_get(m, "id"), ETP_RPC_INTERNAL, "%d calls wait already",
                      ETP_MCP_QUEUE);
    }
    return true;
}

static void request(etp_mcp *s, json_t *m, json_t *id, const char *method, const json_t *params)
{
    if (etp_mcp_at_work(s, id) || held_at(s, id) < s->n_held) {
        etp_mcp_error(s, id, ETP_RPC_REQUEST, "a call with this id is running");
    } else if (hold_for_roots(s, m, method)) {
        ; // until the roots are known
    } else if (strcmp(method, "ping") == 0) {
        etp_json j;
        etp_mcp_begin_reply(s, &j, id);
        etp_mcp_end_reply(&j);
    } else if (strcmp(method, "initialize") == 0) {
        initialize(s, id, params);
    } else if (!s->greeted) {
        etp_mcp_error(s, id, ETP_RPC_REQUEST, "%.60s came before initialize", method);
    } else if (strcmp(method, "tools/list") == 0) {
        list_tools(s, id);
    } else if (strcmp(method, "tools/call") == 0) {
        etp_mcp_tool_call(s, id, params);
    } else if (strcmp(method, "resources/list") == 0) {
        etp_mcp_resources(s, id);
    } else if (strcmp(method, "resources/templates/list") == 0) {
        list_templates(s, id);
    } else if (strcmp(method, "resources/read") == 0) {
        etp_mcp_read(s, id, params);
    } else if (strcmp(method, "prompts/list") == 0) {
        etp_mcp_prompts(s, id);
    } else if (strcmp(method, "prompts/get") == 0) {
        etp_mcp_prompt(s, id, params);
    } else {
        etp_mcp_error(s, id, ETP_RPC_METHOD, "no method %.60s", method);
    }
}

static void request_of(etp_mcp *s, json_t *m)
{
    request(s, m, json_object_get(m, "id"), json_string_value(json_object_get(m, "method")),
            json_object_get(m, "params"));
}

static void roots_known(etp_mcp *s)
{
    json_t *list[ETP_MCP_QUEUE];
    size_t n = s->n_held;
    // The list is emptied first: an id in it counts as one of a call that waits, and would be
    // refused.
    memcpy(list, s->held, n * sizeof *list);
    s->awaits_roots = false;
    s->n_held = 0;
    for (size_t i = 0; i < n; i++) {
        request_of(s, list[i]);
        json_decref(list[i]);
    }
}

bool etp_mcp_turn(etp_mcp *s, unsigned ms)
{
    // A client that announces roots and never names them must not hold its calls for ever.
    if (s->awaits_roots && etp_os_now_ns() - s->requested_ns > ROOTS_NS) {
        roots_known(s);
    }
    bool busy = etp_mcp_calls_turn(s, ms);
    if (!busy && s->awaits_roots) {
        etp_os_sleep_ns((uint64_t)ms * 1000000);
    }
    return busy || s->awaits_roots;
}

// An answer to what we asked: the roots.
static void take_answer(etp_mcp *s, const json_t *message)
{
    const json_t *id = json_object_get(message, "id"), *result = json_object_get(message, "result");
    if (s->roots_request && json_is_integer(id) &&
        json_integer_value(id) == (json_int_t)s->roots_request) {
        if (result) {
            etp_mcp_take_roots(s, result);
        }
        roots_known(s);
    }
}

static void take_message(etp_mcp *s, json_t *m)
{
    json_t *id = json_object_get(m, "id"), *params = json_object_get(m, "params");
    const char *version = json_string_value(json_object_get(m, "jsonrpc"));
    const char *method = json_string_value(json_object_get(m, "method"));
    bool id_fits = json_is_string(id) || json_is_integer(id);
    if (!json_is_object(m) || !version || strcmp(version, "2.0") != 0) {
        etp_mcp_error(s, id_fits ? id : NULL, ETP_RPC_REQUEST,
                      json_is_array(m) ? "batches are not taken: one message a line"
                                       : "no JSON-RPC 2.0 message");
    } else if (!method && (json_object_get(m, "result") || json_object_get(m, "error"))) {
        // A message without a method is an answer; the only question that this server asks is for
        // the roots.
        take_answer(s, m);
    } else if (!method || (id && !id_fits)) {
        // JSON-RPC allows null and fractions as ids. MCP does not, and an answer could not be
        // told from another one by them.
        etp_mcp_error(s, id_fits ? id : NULL, ETP_RPC_REQUEST,
                      method ? "id is no string and no whole number" : "the message has no method");
    } else if (params && !json_is_object(params)) {
        if (id) { // a notification is never answered
            etp_mcp_error(s, id, ETP_RPC_PARAMS, "params are no object");
        }
    } else if (id) {
        request_of(s, m);
    } else {
        take_notification(s, method, params);
    }
}

void etp_mcp_line(etp_mcp *s, etp_str line, bool too_long)
{
    json_t *m;
    etp_error err;
    line = etp_str_trim(line, " \t\r");
    // Its id is somewhere in what was thrown away, so the error has none.
    if (too_long || line.len > ETP_MCP_LINE_LIMIT) {
        etp_mcp_error(s, NULL, ETP_RPC_REQUEST, "a message is longer than %zu bytes",
                      ETP_MCP_LINE_LIMIT);
    } else if (line.len > 0) {
        if (etp_json_parse(line, &m, NULL, &err) != ETP_OK) {
            etp_mcp_error(s, NULL, ETP_RPC_PARSE, "%s", err.msg);
        } else {
            take_message(s, m);
            json_decref(m);
        }
    }
}

// ---- lifetime ----

etp_status etp_mcp_open(const etp_mcp_options *options, etp_mcp **out, etp_error *err)
{
    etp_arena arena = {0};
    etp_mcp *s = ETP_NEW(&arena, etp_mcp);
    *out = NULL;
    ETP_NEED(s, err, "server");
    s->arena = arena;
    s->options = *options;
    *out = s;
    return ETP_OK;
}

void etp_mcp_close(etp_mcp *s)
{
    if (!s) {
        return;
    }
    etp_mcp_calls_close(s);
    for (size_t i = 0; i < s->n_held; i++) {
        json_decref(s->held[i]);
    }
    for (size_t i = 0; i < ETP_MCP_KEPT; i++) {
        etp_arena_dispose(&s->kept[i].arena);
    }
    etp_arena_dispose(&s->roots_arena);
    etp_arena arena = s->arena; // it goes with its owner
    etp_arena_dispose(&arena);
}
