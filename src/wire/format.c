// SPDX-License-Identifier: Apache-2.0
// Writes protocol lines into a caller's buffer.
#include "wire/wire.h"

#include <stdio.h>
#include <string.h>

#include "wire/utf8.h"

typedef struct out {
    char *buf;
    size_t cap, len;
    bool full;
    const char *comma;
} out;

static void raw(out *o, const char *text, size_t len)
{
    if (o->full || len > o->cap - o->len) {
        o->full = true;
        return;
    }
    memcpy(o->buf + o->len, text, len);
    o->len += len;
}

static void lit(out *o, const char *text)
{
    raw(o, text, strlen(text));
}

static void string(out *o, const char *text)
{
    size_t len = strlen(text);
    lit(o, "\"");
    for (size_t i = 0; i < len;) {
        unsigned char c = (unsigned char)text[i];
        char esc[8];
        if (c == '"' || c == '\\') {
            esc[0] = '\\';
            esc[1] = (char)c;
            raw(o, esc, 2);
            i++;
        } else if (c < 0x20 || c == 0x7f) {
            (void)snprintf(esc, sizeof esc, "\\u%04x", (unsigned)c);
            lit(o, esc);
            i++;
        } else {
            size_t n = etp_wire_utf8(text + i, len - i);
            if (n == 0) {
                lit(o, "\xef\xbf\xbd");
                i++;
            } else {
                raw(o, text + i, n);
                i += n;
            }
        }
    }
    lit(o, "\"");
}

static void key(out *o, const char *name)
{
    lit(o, o->comma);
    o->comma = ",";
    lit(o, "\"");
    lit(o, name);
    lit(o, "\":");
}

static void key_string(out *o, const char *name, const char *value)
{
    key(o, name);
    string(o, value);
}

static void key_u64(out *o, const char *name, uint64_t value)
{
    char digits[24];
    (void)snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    key(o, name);
    lit(o, digits);
}

static void hello(out *o, const etp_wire_hello *h)
{
    key_u64(o, "protocol", h->protocol);
    key_u64(o, "pid", h->pid);
    key_string(o, "nonce", h->nonce);
    key_string(o, "executorch", h->executorch);
    key_string(o, "kind", h->kind);
    key_u64(o, "threads", h->threads);
    key(o, "mask");
    lit(o, "{");
    o->comma = "";
    key_string(o, "requested", h->mask.requested);
    key_string(o, "hook", h->mask.hook);
    key_string(o, "cleared", h->mask.cleared);
    key_u64(o, "calls", h->mask.calls);
    key_string(o, "caller", h->mask.caller);
    lit(o, "}");
    key_string(o, "cpu", h->cpu);
    key_string(o, "flags", h->flags);
    if (h->counters.events[0] == '\0') {
        return;
    }
    key(o, "counters");
    lit(o, "{");
    o->comma = "";
    key_string(o, "events", h->counters.events);
    key_string(o, "cache", h->counters.cache);
    key_string(o, "why", h->counters.why);
    key_string(o, "fix", h->counters.fix);
    lit(o, "}");
}

// An iteration is one of many lines: what was not counted is left out.
static void counts(out *o, const etp_wire_counts *c)
{
    const struct {
        const char *name;
        uint64_t value;
    } all[] = {
        {"cpu_ns",        c->cpu_ns       },
        {"cycles",        c->cycles       },
        {"instructions",  c->instructions },
        {"cache_misses",  c->cache_misses },
        {"task_clock_ns", c->task_clock_ns},
        {"faults",        c->faults       },
        {"scaled",        c->scaled       }
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].value != 0) {
            key_u64(o, all[i].name, all[i].value);
        }
    }
}

static void selftest(out *o, const etp_wire_selftest *t)
{
    static const char *const k_truth[] = {"null", "false", "true"};
    key(o, "levels");
    lit(o, "[");
    for (size_t i = 0; i < t->count && i < ETP_WIRE_LEVELS_MAX; i++) {
        const etp_wire_level *l = &t->levels[i];
        lit(o, i == 0 ? "{" : ",{");
        o->comma = "";
        key_string(o, "level", l->level);
        key(o, "ok");
        lit(o, k_truth[l->ok]);
        key_string(o, "linear", l->linear);
        key_string(o, "conv", l->conv);
        key_string(o, "types", l->types);
        key_string(o, "why", l->why);
        lit(o, "}");
    }
    lit(o, "]");
}

static void body(out *o, const etp_wire_msg *m)
{
    switch (m->type) {
    case ETP_WIRE_HELLO:
        key_string(o, "type", "hello");
        hello(o, &m->u.hello);
        break;
    case ETP_WIRE_LOAD:
        key_string(o, "type", "load");
        key_u64(o, "ns", m->u.load.ns);
        key_u64(o, "rss_bytes", m->u.load.rss_bytes);
        key_u64(o, "hook_calls", m->u.load.hook_calls);
        key_u64(o, "epoch_ns", m->u.load.epoch_ns);
        key_string(o, "method", m->u.load.method);
        key_u64(o, "inputs", m->u.load.inputs);
        key_u64(o, "outputs", m->u.load.outputs);
        if (m->u.load.kernels_ours[0] != '\0') {
            key_string(o, "kernels_ours", m->u.load.kernels_ours);
        }
        if (m->u.load.kernels_theirs[0] != '\0') {
            key_string(o, "kernels_theirs", m->u.load.kernels_theirs);
        }
        break;
    case ETP_WIRE_ITER:
        key_string(o, "type", "iter");
        key_u64(o, "i", m->u.iter.i);
        key_u64(o, "start_ns", m->u.iter.start_ns);
        key_u64(o, "ns", m->u.iter.ns);
        counts(o, &m->u.iter.counts);
        break;
    case ETP_WIRE_DONE:
        key_string(o, "type", "done");
        key_string(o, "cmd", m->u.done.cmd);
        key_u64(o, "n", m->u.done.n);
        key_u64(o, "bytes", m->u.done.bytes);
        key_u64(o, "peak_rss_bytes", m->u.done.peak_rss_bytes);
        if (m->u.done.hook_call_ps != 0) {
            key_u64(o, "hook_calls", m->u.done.hook_calls);
            key_u64(o, "hook_call_ps", m->u.done.hook_call_ps);
        }
        break;
    case ETP_WIRE_ERROR:
        key_string(o, "type", "error");
        key_string(o, "code", m->u.error.code);
        key_string(o, "message", m->u.error.message);
        break;
    case ETP_WIRE_SELFTEST:
        key_string(o, "type", "selftest");
        selftest(o, &m->u.selftest);
        break;
    case ETP_WIRE_ROOF:
        key_string(o, "type", "roof");
        key_string(o, "isa", m->u.roof.isa);
        key_string(o, "what", m->u.roof.what);
        key_string(o, "unit", m->u.roof.unit);
        key_u64(o, "threads", m->u.roof.threads);
        key_u64(o, "bytes", m->u.roof.bytes);
        key_u64(o, "best", m->u.roof.best);
        key_u64(o, "median", m->u.roof.median);
        break;
    case ETP_WIRE_UNKNOWN:
        key_string(o, "type", m->word);
        break;
    }
}

size_t etp_wire_format(const etp_wire_msg *msg, char *buf, size_t cap)
{
    out o = {.buf = buf, .cap = cap, .comma = ""};
    lit(&o, "{");
    body(&o, msg);
    lit(&o, "}\n");
    return o.full ? 0 : o.len;
}
