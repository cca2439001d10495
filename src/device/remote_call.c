// SPDX-License-Identifier: Apache-2.0
// One sh script on a device: quoted once, watched by our own clock, believed only when its end
// marker came.
#include "device/remote.h"

#include <stdio.h>

#include "base/number.h"
#include "base/shell.h"

#define OUTPUT_LIMIT ((size_t)1 << 20)
#define WRITE_PIECE ((size_t)1 << 18)
#define SLICE_NS ((uint64_t)200000000)

const char *const *etp_remote_argv(const etp_remote *r, const char *script, etp_arena *arena)
{
    const char **argv = ETP_NEW_ARRAY(arena, const char *, r->n_prefix + 2);
    const char *word = script;
    if (r->wrap) { // the login shell, whichever it is, sees: exec sh -c '…'
        const char *quoted = etp_shell_quoted(arena, script);
        word = etp_arena_printf(arena, "exec sh -c %s", quoted);
    }
    if (!argv || !word) {
        return NULL;
    }
    memcpy(argv, r->prefix, r->n_prefix * sizeof *argv);
    argv[r->n_prefix] = word;
    return argv;
}

etp_str etp_remote_reason(etp_str log)
{
    for (etp_str line; etp_str_part(&log, '\n', &line);) {
        line = etp_str_trim(line, "\r ");
        // adb tells about the start of its server before it comes to the point.
        if (line.len > 0 && !etp_str_starts(line, ETP_STR("* daemon"))) {
            line.len = ETP_MIN(line.len, 300);
            return line;
        }
    }
    return log;
}

const char *etp_remote_find(const char *program, const char *search_path, etp_arena *arena)
{
    for (etp_str dir, rest = etp_str_from(search_path); etp_str_part(&rest, ':', &dir);) {
        const char *path = etp_arena_printf(arena, "%.*s/%s", ETP_STR_ARG(dir), program);
        if (dir.ptr[0] == '/' && path && etp_os_is_executable(path)) {
            return path;
        }
    }
    return NULL;
}

int etp_remote_marker(const char *marker, etp_str *log)
{
    size_t at = etp_str_find(*log, etp_str_from(marker)), len = strlen(marker);
    if (at == log->len) {
        return -1;
    }
    etp_str number = {log->ptr + at + len, log->len - at - len};
    size_t digits = 0;
    while (digits < number.len && number.ptr[digits] >= '0' && number.ptr[digits] <= '9') {
        digits++;
    }
    uint64_t v;
    if (!etp_parse_u64((etp_str){number.ptr, digits}, &v) || v > 255) {
        return -1;
    }
    log->len = at;
    return (int)v;
}

etp_status etp_remote_client(const char *const *argv, etp_process_leaves leaves,
                             uint64_t timeout_ns, etp_arena *arena, int *status, etp_str *out,
                             etp_str *log, etp_error *err)
{
    const etp_process_spec spec = {.argv = argv, .leaves = leaves};
    etp_process p;
    ETP_TRY(etp_process_capture(&spec, timeout_ns, OUTPUT_LIMIT, arena, &p, out, log, err));
    *status = p.signal ? 128 + p.signal : p.exit_code;
    return ETP_OK;
}

// ---- one try ----

// What came to its end without the marker is tried again. It may have run all the same, so every
// script has to do the same twice as once.
typedef enum attempt_end {
    ENDED,
    LOST,
    STALLED,
    ABORTED,
    TOO_MUCH,
    TOO_SLOW,
    UNWRITTEN
} attempt_end;

typedef struct attempt {
    etp_remote_call *call;
    etp_process process;
    etp_strbuf out, log;
    FILE *file;
    bool file_failed;
    size_t sent;
    uint64_t written, answered; // bytes for the file, and all
} attempt;

// ENDED: it may go on. What is sent is bounded before it is kept.
static attempt_end take(attempt *a, etp_process_event event, const char *buf, size_t got)
{
    a->answered += got;
    if (event == ETP_PROCESS_OUT && a->file) {
        a->written += got;
        if (a->written > a->call->most_bytes) {
            return TOO_MUCH;
        }
        a->file_failed = fwrite(buf, 1, got, a->file) != got;
        return a->file_failed ? UNWRITTEN : ENDED;
    }
    etp_strbuf *to = event == ETP_PROCESS_OUT ? &a->out : &a->log;
    if (got > OUTPUT_LIMIT - to->len) {
        return TOO_MUCH;
    }
    etp_strbuf_append(to, (etp_str){buf, got});
    return ENDED;
}

static uint64_t silence_limit_of(const etp_remote *r, const etp_remote_call *c)
{
    return ETP_OR(c->timeout_ns, r->silence_limit_ns);
}

// Feeds the input and reads until both streams end.
// The input is written before anything is read. Scripts that take input say nothing until they have
// it, so neither side waits for the other.
static attempt_end pump(attempt *a, uint64_t silence_limit)
{
    const etp_remote_call *c = a->call;
    while (a->sent < c->input.len) {
        size_t n = c->input.len - a->sent;
        n = ETP_MIN(n, WRITE_PIECE);
        uint64_t before = etp_os_now_ns();
        if (etp_process_write(&a->process, (etp_str){(const char *)c->input.ptr + a->sent, n},
                              silence_limit, NULL) != ETP_OK) {
            if (etp_os_now_ns() - before >= silence_limit) {
                return STALLED;
            }
            break; // it does not listen any more: its words and its end say why
        }
        a->sent += n;
        if (!c->cleanup && etp_os_interrupted() != 0) {
            return ABORTED;
        }
    }
    etp_process_close_input(&a->process);
    const uint64_t begin = etp_os_now_ns();
    uint64_t last = begin;
    for (;;) {
        char buf[65536];
        size_t got;
        etp_process_event event = etp_process_read(&a->process, SLICE_NS, buf, sizeof buf, &got);
        uint64_t now = etp_os_now_ns();
        if (event == ETP_PROCESS_EOF) {
            return etp_process_wait(&a->process, silence_limit) ? ENDED : STALLED;
        }
        if (event == ETP_PROCESS_OUT || event == ETP_PROCESS_ERR) {
            attempt_end end = take(a, event, buf, got);
            if (end != ENDED) {
                return end;
            }
            last = now;
        } else if (now - last >= silence_limit) {
            return STALLED;
        } else if (event == ETP_PROCESS_TIMEOUT && etp_process_wait(&a->process, 0)) {
            return ENDED; // a helper that it left behind may hold the pipes open
        }
        // A byte now and then is an answer that never ends: all of it has a time, too, which grows
        // with what came.
        const uint64_t transfer_ns = a->answered / ETP_REMOTE_LEAST_RATE * UINT64_C(1000000000);
        if (now - begin >= 2 * silence_limit + transfer_ns) {
            return TOO_SLOW;
        }
        if (!c->cleanup && etp_os_interrupted() != 0) {
            return ABORTED;
        }
    }
}

static etp_status try_once(etp_device *d, etp_remote_call *c, etp_arena *arena, attempt_end *end,
                           etp_error *err)
{
    const etp_remote *r = d->data;
    char marker[64];
    snprintf(marker, sizeof marker, "etprof-end %016llx ", (unsigned long long)etp_os_random_u64());
    ETP_NEED(c->script, err, "a script");
    // On standard error, so that output stays what the script wrote, byte for byte.
    const char *script =
        etp_arena_printf(arena, "(\n%s\n)\necho \"%s$?\" >&2\n", c->script, marker);
    const char *const *argv = script ? etp_remote_argv(r, script, arena) : NULL;
    attempt a = {.call = c};
    etp_strbuf_init(&a.out, arena);
    etp_strbuf_init(&a.log, arena);
    const etp_process_spec spec = {.argv = argv, .leaves = r->leaves};
    if (c->output_path && !(a.file = fopen(c->output_path, "wb"))) {
        return etp_fail_errno(err, ETP_IO, "cannot write %s", c->output_path);
    }
    etp_status status = etp_process_start(&spec, &a.process, err);
    if (status == ETP_OK) {
        *end = pump(&a, silence_limit_of(r, c));
        etp_process_dispose(&a.process);
        status = etp_arena_check(arena, err, "an answer");
        c->out = etp_strbuf_str(&a.out);
        c->log = etp_strbuf_str(&a.log);
        c->status = etp_remote_marker(marker, &c->log);
        // The client ended, the script did not: whatever the client's status is, the connection
        // broke.
        if (*end == ENDED && c->status < 0) {
            *end = LOST;
        }
    }
    if (a.file && fclose(a.file) != 0) {
        a.file_failed = true;
    }
    if (status == ETP_OK && a.file_failed) {
        status = etp_fail(err, ETP_IO, "cannot write %s: the disk is full", c->output_path);
    }
    return status;
}

etp_status etp_remote_do(etp_device *d, etp_remote_call *call, etp_arena *arena, etp_error *err)
{
    const etp_remote *r = d->data;
    for (int tries = 1;; tries++) {
        attempt_end end = LOST;
        ETP_TRY(try_once(d, call, arena, &end, err));
        switch (end) {
        case ENDED:
            return ETP_OK;
        case ABORTED:
            return etp_fail(err, ETP_INTERRUPTED, "interrupted");
        case STALLED:
            return etp_fail(err, ETP_CHILD, "%s: no answer for %s s", r->name,
                            ETP_DIGITS((double)silence_limit_of(r, call) / 1e9, 3));
        case TOO_MUCH:
            return etp_fail(err, ETP_CHILD, "%s: sent more than %s where less was asked for",
                            r->name,
                            ETP_BYTES(call->output_path ? call->most_bytes : OUTPUT_LIMIT));
        case TOO_SLOW:
            return etp_fail(err, ETP_CHILD, "%s: an answer did not end within %s s", r->name,
                            ETP_DIGITS(2 * (double)silence_limit_of(r, call) / 1e9, 3));
        case UNWRITTEN: // try_once has told
        case LOST:
            break;
        }
        etp_str reason = etp_remote_reason(call->log);
        if (call->cleanup || tries == 2) {
            return etp_fail(err, ETP_ENVIRONMENT, "%s: the connection was lost%s%.*s", r->name,
                            etp_if(reason.len, ": "), ETP_STR_ARG(reason));
        }
        ETP_TRY(r->reconnect(d, err));
    }
}
