// SPDX-License-Identifier: Apache-2.0
// Tools at work: a verb as a child, its progress, its end, its cancelling.
#include "mcp/server.h"

#include <string.h>

#include "base/number.h"

// An answer is collected in memory. What a verb prints beyond this is dropped, and the answer says
// that it was cut.
#define OUTPUT_LIMIT ((size_t)8 << 20)
#define NOTES_LIMIT ((size_t)4000)
#define CANCEL_NS UINT64_C(8000000000) // from asking it to end to ending it
#define PROGRESS "progress "           // what a verb's line of progress begins with (cli/measure.c)

// Whoever gave the call up lets go of its words and of the client's id, of which a reference was
// taken.
static void call_end(etp_mcp_call *call)
{
    json_decref(call->id);
    json_decref(call->token);
    etp_arena_dispose(&call->arena);
    *call = (etp_mcp_call){0};
}

// ---- answers ----

// TEXT's first characters, never half of one.
static size_t short_of(etp_str text, size_t limit)
{
    size_t n = text.len < limit ? text.len : limit;
    while (n > 0 && n < text.len && ((unsigned char)text.ptr[n] & 0xC0) == 0x80) {
        n--;
    }
    return n;
}

// The slots are used in turn, so a new answer takes the place of the oldest. A slot keeps the
// number it was given out under: a handle whose number is another one now leads to nothing, never
// to somebody else's answer.
// Number of the handle that leads to TEXT from now on; 0 when there is no memory for it.
static uint64_t keep(etp_mcp *s, etp_str text)
{
    etp_mcp_answer *a = &s->kept[s->n_kept % ETP_MCP_KEPT];
    etp_arena_dispose(&a->arena);
    const char *copy = etp_arena_strdup(&a->arena, text);
    *a = (etp_mcp_answer){
        .number = copy ? ++s->n_kept : 0, .arena = a->arena, .text = {copy, text.len}
    };
    return a->number;
}

static void answer_tool(etp_mcp *s, etp_mcp_job *job, int code)
{
    etp_str text = etp_strbuf_str(&job->out), notes = etp_strbuf_str(&job->notes);
    // "No" and "unknown" are answers, not errors (docs/mcp.md).
    bool fine = code == 0 || code == 1 || code == 3; // yes, no, unknown
    if (!fine || text.len == 0) {
        text = notes.len > 0 ? notes : text;
    }
    // What a tool answers goes into the context of a language model, which is small and dear: a
    // beginning, and where the rest is.
    size_t n = short_of(text, ETP_MCP_SHORT);
    uint64_t handle = n < text.len ? keep(s, text) : 0;
    char uri[72]; // 16 + 20 + 8 + 20 and the NUL
    snprintf(uri, sizeof uri, "etprof://result/%llu?offset=%zu", (unsigned long long)handle, n);
    etp_json j;
    etp_mcp_begin_reply(s, &j, job->call.id);
    etp_json_key(&j, "content");
    etp_json_begin_array(&j);
    etp_json_begin_object(&j);
    etp_json_kv_z(&j, "type", "text");
    etp_json_kv_str(&j, "text", (etp_str){text.ptr, n});
    etp_json_end(&j);
    if (handle) {
        etp_json_begin_object(&j);
        etp_json_kv_z(&j, "type", "resource_link");
        etp_json_kv_z(&j, "uri", uri);
        etp_json_kv_z(&j, "name", "the rest of the answer");
        etp_json_end(&j);
    }
    etp_json_end(&j);
    etp_json_key(&j, "structuredContent");
    etp_json_begin_object(&j);
    etp_json_kv_i64(&j, "exit_code", code);
    etp_json_kv_u64(&j, "characters", text.len);
    if (handle) {
        etp_json_kv_z(&j, "more", uri);
    }
    // What a verb that writes says on the side is part of its answer: which folder it made. Of the
    // others it is talk.
    if (job->call.tool->changes && fine && notes.len > 0) {
        etp_json_kv_str(&j, "notes", notes);
    }
    etp_json_end(&j);
    etp_json_kv_bool(&j, "isError", !fine);
    etp_mcp_end_reply(&j);
}

static void answer_resource(etp_mcp *s, etp_mcp_job *job, int code)
{
    if (code != 0 && code != 1 && code != 3) {
        etp_str notes = etp_strbuf_str(&job->notes);
        etp_mcp_error(s, job->call.id, ETP_RPC_RESOURCE, "%.*s", ETP_STR_ARG(notes));
        return;
    }
    etp_mcp_put_contents(s, job->call.id, job->call.uri, etp_strbuf_str(&job->out), NULL);
}

// ---- the child ----

static bool start(etp_mcp *s, etp_mcp_call *call)
{
    etp_error err = {0};
    // Progress as lines that are read below; no escape sequences in what a model reads.
    static const char *const k_env[] = {"ETPROF_PROGRESS=lines", "NO_COLOR=1", NULL};
    const etp_process_spec spec = {.argv = call->argv, .env_set = k_env};
    etp_mcp_job *job = &s->job;
    // The job owns the call from here on, whatever becomes of it.
    *job = (etp_mcp_job){.call = *call};
    if (etp_process_start(&spec, &job->process, &err) != ETP_OK) {
        etp_mcp_error(s, call->id, ETP_RPC_INTERNAL, "%s", err.msg);
        call_end(&job->call);
        return false;
    }
    // The server's own standard input is the protocol: no child may read from it.
    etp_process_close_input(&job->process);
    etp_strbuf_init(&job->out, &job->call.arena);
    etp_strbuf_init(&job->notes, &job->call.arena);
    etp_strbuf_init(&job->line, &job->call.arena);
    job->active = true;
    return true;
}

// A loop, since a call that cannot be started has been answered already and the next one is due.
static void start_next(etp_mcp *s)
{
    while (!s->job.active && s->n_queue > 0) {
        etp_mcp_call call = s->queue[0];
        s->n_queue--;
        memmove(s->queue, s->queue + 1, s->n_queue * sizeof *s->queue);
        start(s, &call);
    }
}

void etp_mcp_call_begin(etp_mcp *s, etp_mcp_call *call)
{
    if (!s->options.program) {
        etp_mcp_error(s, call->id, ETP_RPC_INTERNAL, "the path of this program is not known");
        call_end(call);
    } else if (!s->job.active) {
        start(s, call);
    } else if (s->n_queue < ETP_MCP_QUEUE) {
        // One at a time: two that measure at once would disturb each other's times.
        s->queue[s->n_queue++] = *call;
    } else {
        etp_mcp_error(s, call->id, ETP_RPC_INTERNAL, "%d calls wait already", ETP_MCP_QUEUE);
        call_end(call);
    }
}

void etp_mcp_cancel(etp_mcp *s, const json_t *id)
{
    if (s->job.active && id && json_equal(s->job.call.id, id) && !s->job.cancelled) {
        s->job.cancelled = true;
        s->job.cancelled_ns = etp_os_now_ns();
        etp_process_interrupt(
            &s->job.process); // as Ctrl-C: whole blocks stay, devices are set back
        return;
    }
    for (size_t i = 0; i < s->n_queue; i++) {
        if (id && json_equal(s->queue[i].id, id)) {
            call_end(&s->queue[i]);
            s->n_queue--;
            memmove(s->queue + i, s->queue + i + 1, (s->n_queue - i) * sizeof *s->queue);
            return;
        }
    }
}

// Answers are told apart by the id alone, so an id must not be in use twice.
bool etp_mcp_at_work(const etp_mcp *s, const json_t *id)
{
    bool found = s->job.active && json_equal(s->job.call.id, id);
    for (size_t i = 0; i < s->n_queue && !found; i++) {
        found = json_equal(s->queue[i].id, id);
    }
    return found;
}

// "progress DONE TOTAL TEXT" of a verb, to those who asked for it.
static void tell_progress(etp_mcp *s, etp_str line)
{
    uint64_t numbers[2] = {0};
    for (int i = 0; i < 2; i++) {
        size_t len = etp_str_find(line, ETP_STR(" "));
        if (!etp_parse_u64((etp_str){line.ptr, len}, &numbers[i])) {
            return;
        }
        line = len < line.len ? (etp_str){line.ptr + len + 1, line.len - len - 1} : ETP_STR("");
    }
    etp_mcp_job *job = &s->job;
    if (!job->call.token || (job->told && numbers[0] <= job->steps)) {
        return; // it may only grow
    }
    job->told = true;
    job->steps = numbers[0];
    etp_json j;
    etp_mcp_begin(s, &j);
    etp_json_kv_z(&j, "method", "notifications/progress");
    etp_json_key(&j, "params");
    etp_json_begin_object(&j);
    etp_json_key(&j, "progressToken");
    etp_mcp_put_id(&j, job->call.token);
    etp_json_kv_u64(&j, "progress", numbers[0]);
    // More launches may come than were expected (blocks in place of lost ones): the total is never
    // told below what is done.
    etp_json_kv_u64(&j, "total", numbers[1] > numbers[0] ? numbers[1] : numbers[0]);
    etp_json_kv_str(&j, "message", line);
    etp_json_end(&j);
    etp_mcp_end(&j);
}

static void take_line(etp_mcp *s)
{
    etp_str line = etp_strbuf_str(&s->job.line), mark = ETP_STR(PROGRESS);
    if (etp_str_starts(line, mark)) {
        tell_progress(s, (etp_str){line.ptr + mark.len, line.len - mark.len});
    } else if (s->job.notes.len + line.len < NOTES_LIMIT) {
        // The beginning of the talk is kept: an error is a line or two, and a session that warns
        // again and again must not fill the memory.
        etp_strbuf_append(&s->job.notes, line);
        etp_strbuf_appendz(&s->job.notes, "\n");
    }
    s->job.line.len = 0;
}

static void take_errors(etp_mcp *s, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\n') {
            take_line(s);
        } else if (s->job.line.len < NOTES_LIMIT) {
            etp_strbuf_append(&s->job.line, (etp_str){text + i, 1});
        }
    }
}

static void finish(etp_mcp *s)
{
    etp_mcp_job *job = &s->job;
    if (job->line.len > 0) {
        take_line(s);
    }
    // Its output has ended; the process may still set a device back.
    (void)etp_process_wait(&job->process, CANCEL_NS);
    int code = job->process.signal ? 128 + job->process.signal : job->process.exit_code;
    // Killed below because it did not end: no exit code of its own, so the one of a signal without
    // a number.
    if (!job->process.ended) {
        code = 128;
    }
    etp_process_dispose(&job->process);
    if (job->cut) {
        etp_strbuf_appendz(&job->out, "\n(cut: the answer is longer)\n");
    }
    if (job->cancelled) {
        ; // nobody waits for it
    } else if (job->call.tool) {
        answer_tool(s, job, code);
    } else {
        answer_resource(s, job, code);
    }
    call_end(&job->call);
    job->active = false;
    start_next(s);
}

bool etp_mcp_calls_turn(etp_mcp *s, unsigned ms)
{
    etp_mcp_job *job = &s->job;
    char buf[16384];
    size_t n = 0;
    if (!job->active) {
        return false;
    }
    // Asked and given time to keep whole blocks; what still runs now is stuck.
    if (job->cancelled && etp_os_now_ns() - job->cancelled_ns > CANCEL_NS) {
        etp_process_kill(&job->process);
    }
    switch (etp_process_read(&job->process, (uint64_t)ms * 1000000, buf, sizeof buf, &n)) {
    case ETP_PROCESS_OUT:
        job->cut = job->cut || job->out.len + n > OUTPUT_LIMIT;
        if (!job->cut) {
            etp_strbuf_append(&job->out, (etp_str){buf, n});
        }
        break;
    case ETP_PROCESS_ERR:
        take_errors(s, buf, n);
        break;
    // Both of its streams are closed: all of the answer is here.
    case ETP_PROCESS_EOF:
        finish(s);
        break;
    default:
        break;
    }
    return job->active;
}

// As when it is cancelled: a run folder can be resumed, a device is as it was.
void etp_mcp_calls_close(etp_mcp *s)
{
    etp_mcp_job *job = &s->job;
    char buf[16384];
    size_t n;
    if (job->active) {
        uint64_t end = etp_os_now_ns() + CANCEL_NS;
        if (!job->cancelled) {
            etp_process_interrupt(&job->process);
        }
        etp_process_event event = ETP_PROCESS_TIMEOUT;
        while (event != ETP_PROCESS_EOF && etp_os_now_ns() < end) {
            event = etp_process_read(&job->process, 20000000, buf, sizeof buf, &n);
            if (event == ETP_PROCESS_WAKE) { // every time once it was caught
                etp_os_sleep_ns(1000000);
            }
        }
        (void)(event == ETP_PROCESS_EOF && etp_process_wait(&job->process, CANCEL_NS));
        etp_process_dispose(&job->process);
        call_end(&job->call);
    }
    for (size_t i = 0; i < s->n_queue; i++) {
        call_end(&s->queue[i]);
    }
}

// ---- tools/call ----

void etp_mcp_tool_call(etp_mcp *s, json_t *id, const json_t *params)
{
    const char *name = json_string_value(json_object_get(params, "name"));
    const etp_mcp_tool *tool = name ? etp_mcp_tool_find(name) : NULL;
    if (!tool) {
        etp_mcp_error(s, id, ETP_RPC_PARAMS, "no tool %.60s", name ? name : "is named");
        return;
    }
    etp_error err = {0};
    etp_mcp_call call = {.tool = tool};
    // Everything that the call needs lies in its own arena, which goes with it.
    etp_mcp_room room = {s, &call.arena};
    if (etp_mcp_command_line(tool, json_object_get(params, "arguments"), s->options.program,
                             etp_mcp_inside, &room, &call.arena, &call.argv, &err) != ETP_OK) {
        etp_arena_dispose(&call.arena);
        etp_mcp_error(s, id, ETP_RPC_PARAMS, "%s", err.msg);
        return;
    }
    json_t *token = json_object_get(json_object_get(params, "_meta"), "progressToken");
    call.id = json_incref(id);
    call.token = json_is_string(token) || json_is_integer(token) ? json_incref(token) : NULL;
    etp_mcp_call_begin(s, &call);
}
