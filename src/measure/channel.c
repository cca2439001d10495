// SPDX-License-Identifier: Apache-2.0
// Talking to one started runner.
#include "measure/channel.h"

#include <stdio.h>

// A runner that has said its last word gets this long to end.
#define END_NS ((uint64_t)15 * 1000000000u)
// The runner says nothing any more, so its end is looked for this often while its output is
// drained.
#define END_SLICE_NS ((uint64_t)20 * 1000000u)
#define ASK_SLICE_NS ((uint64_t)100 * 1000000u)

static int default_interrupted(void *ctx)
{
    (void)ctx;
    return etp_os_interrupted();
}

etp_status etp_channel_start(etp_device *device, const char *const *args, const char *const *env,
                             etp_arena *arena, etp_channel *out, etp_error *err)
{
    out->device = device;
    out->process = (etp_process){.in_fd = -1, .out_fd = -1, .err_fd = -1};
    etp_strbuf_init(&out->said, arena);
    etp_strbuf_init(&out->log, arena);
    out->log_dropped = out->pid = 0;
    out->tail_len = 0;
    out->lost = out->end_known = false;
    out->start = out->end = 0;
    out->out_closed = false;
    // The caller fills this and the time-out before the start; everything else is begun here.
    if (!out->interrupted) {
        out->interrupted = default_interrupted;
    }
    return device->ops->start(device, args, env, &out->process, err);
}

bool etp_channel_send(etp_channel *t, etp_str line)
{
    return etp_process_write(&t->process, line, t->timeout_ns, NULL) == ETP_OK;
}

static void keep_log(etp_channel *t, const char *ptr, size_t len)
{
    // The beginning is kept whole. Of what is dropped behind it the end is still kept, for the last
    // words.
    size_t room = ETP_LOG_LIMIT - t->log.len;
    size_t kept = ETP_MIN(len, room);
    etp_strbuf_append(&t->log, (etp_str){ptr, kept});
    t->log_dropped += len - kept;
    if (len >= sizeof t->tail) {
        memcpy(t->tail, ptr + len - sizeof t->tail, sizeof t->tail);
        t->tail_len = sizeof t->tail;
        return;
    }
    size_t old = ETP_MIN(t->tail_len, sizeof t->tail - len);
    memmove(t->tail, t->tail + t->tail_len - old, old);
    memcpy(t->tail + old, ptr, len);
    t->tail_len = old + len;
}

etp_str etp_channel_last_line(const etp_channel *t)
{
    etp_str log = etp_strbuf_str(&t->log);
    if (t->log_dropped > 0) {
        log = (etp_str){t->tail, t->tail_len};
    }
    while (log.len > 0) {
        size_t end = log.len;
        while (log.len > 0 && log.ptr[log.len - 1] != '\n') {
            log.len--;
        }
        etp_str line = {log.ptr + log.len, end - log.len};
        if (line.len > 0) {
            line.len = ETP_MIN(line.len, 300);
            return line;
        }
        log.len -= log.len > 0;
    }
    return log;
}

// A signal ends the waiting by itself; whoever is asked otherwise is asked now and then.
static uint64_t poll_limit(const etp_channel *t, uint64_t left_ns)
{
    return t->interrupted == default_interrupted || left_ns < ASK_SLICE_NS ? left_ns : ASK_SLICE_NS;
}

// Reads until DEADLINE. OK: there is something new on stdout.
static etp_channel_result fill(etp_channel *t, uint64_t deadline)
{
    for (;;) {
        // Asked before every wait, since a caught signal wakes the read without any output.
        if (t->interrupted(t->ctx) != 0) {
            return ETP_CHANNEL_SIGNAL;
        }
        if (t->out_closed || t->process.out_fd < 0) {
            t->out_closed = true;
            return ETP_CHANNEL_END;
        }
        uint64_t now = etp_os_now_ns();
        if (now >= deadline) {
            return ETP_CHANNEL_SILENCE;
        }
        // Which of them speaks next is not known beforehand, so no more is read than the line
        // buffer has room for.
        // One buffer for both streams; stderr is copied out at once.
        char text[4096];
        size_t got;
        size_t room = sizeof t->buf - t->end;
        etp_process_event event = etp_process_read(&t->process, poll_limit(t, deadline - now), text,
                                                   ETP_MIN(room, sizeof text), &got);
        if (event == ETP_PROCESS_OUT) {
            memcpy(t->buf + t->end, text, got);
            t->end += got;
            return ETP_CHANNEL_OK;
        }
        if (event == ETP_PROCESS_ERR) {
            keep_log(t, text, got);
        } else if (event == ETP_PROCESS_EOF) {
            t->out_closed = true;
        }
    }
}

static etp_channel_result line_until(etp_channel *t, uint64_t deadline, etp_str *out, char *why,
                                     size_t why_cap)
{
    for (;;) {
        const char *begin = t->buf + t->start;
        const char *newline = memchr(begin, '\n', t->end - t->start);
        if (newline) {
            *out = (etp_str){begin, (size_t)(newline - begin)};
            t->start += out->len + 1;
            if (out->len < ETP_LOG_LIMIT - t->said.len) { // whole lines
                etp_strbuf_append(&t->said, (etp_str){begin, out->len + 1});
            }
            return ETP_CHANNEL_OK;
        }
        // What is left of a line moves to the front. A line that fills the whole buffer can never
        // be completed.
        memmove(t->buf, begin, t->end - t->start);
        t->end -= t->start;
        t->start = 0;
        if (t->end == sizeof t->buf) {
            snprintf(why, why_cap, "a line of more than %d bytes", ETP_WIRE_LINE_MAX);
            return ETP_CHANNEL_GARBAGE;
        }
        etp_channel_result r = fill(t, deadline);
        if (r == ETP_CHANNEL_END && t->end > 0) {
            snprintf(why, why_cap, "its last line has no end");
            return ETP_CHANNEL_GARBAGE;
        }
        if (r != ETP_CHANNEL_OK) {
            return r;
        }
    }
}

etp_channel_result etp_channel_line(etp_channel *t, etp_str *out, char *why, size_t why_cap)
{
    return line_until(t, etp_os_now_ns() + t->timeout_ns, out, why, why_cap);
}

etp_channel_result etp_channel_next(etp_channel *t, uint64_t extra_ns, etp_wire_msg *out, char *why,
                                    size_t why_cap)
{
    // One timeout for one message: lines that we do not know are no sign of life, or they could go
    // on for ever.
    uint64_t deadline = etp_os_now_ns() + t->timeout_ns + extra_ns;
    for (;;) {
        if (etp_os_now_ns() >= deadline || t->interrupted(t->ctx) != 0) { // also with lines waiting
            return t->interrupted(t->ctx) != 0 ? ETP_CHANNEL_SIGNAL : ETP_CHANNEL_SILENCE;
        }
        etp_str line;
        etp_channel_result r = line_until(t, deadline, &line, why, why_cap);
        if (r != ETP_CHANNEL_OK) {
            return r;
        }
        if (!etp_wire_parse(line.ptr, line.len, out, why, why_cap)) {
            // The beginning of the line, with anything but plain text as dots: what a hostile
            // runner writes goes into a message and onto a terminal.
            char text[61];
            size_t n = ETP_MIN(line.len, sizeof text - 1);
            for (size_t i = 0; i < n; i++) {
                text[i] = line.ptr[i] >= ' ' && line.ptr[i] <= '~' ? line.ptr[i] : '.';
            }
            text[n] = '\0';
            size_t used = strlen(why);
            snprintf(why + used, why_cap - used, " in \"%s%s\"", text, etp_if(n < line.len, "..."));
            return ETP_CHANNEL_GARBAGE;
        }
        if (out->type != ETP_WIRE_UNKNOWN) { // later runners may say more
            return ETP_CHANNEL_OK;
        }
    }
}

bool etp_channel_finish(etp_channel *t)
{
    // The end of its input is the command to quit for a runner that has missed that (wire/wire.h).
    etp_process_close_input(&t->process);
    uint64_t deadline = etp_os_now_ns() + END_NS;
    for (;;) {
        char text[4096];
        size_t got;
        if (etp_os_now_ns() >= deadline || t->interrupted(t->ctx) != 0) {
            break;
        }
        etp_process_event event =
            etp_process_read(&t->process, END_SLICE_NS, text, sizeof text, &got);
        if (event == ETP_PROCESS_ERR) {
            keep_log(t, text, got);
        } else if (event == ETP_PROCESS_EOF ||
                   (event == ETP_PROCESS_TIMEOUT && etp_process_wait(&t->process, 0))) {
            break; // a helper that it left behind may hold the pipes open
        }
    }
    // Its output has ended, or the wait for it; now the process gets what is left of the time.
    uint64_t now = etp_os_now_ns();
    if (etp_process_wait(&t->process, ETP_LESS(deadline, now))) {
        // What the device itself tells about the end, wherever in the log it is.
        if (t->device->ops->ended && !t->end_known) {
            t->end_known = true; // its mark is cut off the log: there is no second time
            etp_str log = etp_strbuf_str(&t->log), tail = {t->tail, t->tail_len};
            t->lost = !t->device->ops->ended(t->device, &t->process, t->log_dropped ? &tail : &log);
            // The device's mark stood at the end of the log. Where that was dropped, only the tail
            // had it.
            if (t->log_dropped == 0) {
                t->log.len = log.len;
            }
            t->tail_len = tail.len;
        }
        return true;
    }
    etp_channel_kill(t);
    return false;
}

void etp_channel_kill(etp_channel *t)
{
    t->device->ops->kill(t->device, &t->process, t->pid);
}

void etp_channel_dispose(etp_channel *t)
{
    if (t->process.pid > 0) {
        if (!t->process.ended) {
            etp_channel_kill(t);
        }
        etp_process_dispose(&t->process);
    }
}
