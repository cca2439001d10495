// SPDX-License-Identifier: Apache-2.0
// Writes protocol lines into a caller's buffer.
#include "wire/wire.h"

#include "base/json.h"

typedef struct line {
    char *buf;
    size_t cap, len;
} line;

static bool append(etp_sink *sink, const char *ptr, size_t len)
{
    line *l = sink->target;
    if (len > l->cap - l->len) {
        return false;
    }
    memcpy(l->buf + l->len, ptr, len);
    l->len += len;
    return true;
}

static void hello(etp_json *j, const etp_wire_hello *h)
{
    etp_json_kv_u64(j, "protocol", h->protocol);
    etp_json_kv_u64(j, "pid", h->pid);
    etp_json_kv_z(j, "nonce", h->nonce);
    etp_json_kv_z(j, "executorch", h->executorch);
    etp_json_kv_z(j, "kind", h->kind);
    etp_json_kv_u64(j, "threads", h->threads);
    etp_json_key(j, "mask");
    etp_json_begin_object(j);
    etp_json_kv_z(j, "requested", h->mask.requested);
    etp_json_kv_z(j, "hook", h->mask.hook);
    etp_json_kv_z(j, "cleared", h->mask.cleared);
    etp_json_kv_u64(j, "calls", h->mask.calls);
    etp_json_kv_z(j, "caller", h->mask.caller);
    etp_json_end(j);
    etp_json_kv_z(j, "cpu", h->cpu);
    etp_json_kv_z(j, "flags", h->flags);
    if (h->memory != 0) {
        etp_json_kv_u64(j, "memory", h->memory);
    }
    if (h->ledger != 0) {
        etp_json_kv_u64(j, "ledger", h->ledger);
    }
    if (h->stages != 0) {
        etp_json_kv_u64(j, "stages", h->stages);
    }
    if (h->counters.events[0] == '\0') {
        return;
    }
    etp_json_key(j, "counters");
    etp_json_begin_object(j);
    etp_json_kv_z(j, "events", h->counters.events);
    etp_json_kv_z(j, "cache", h->counters.cache);
    etp_json_kv_z(j, "why", h->counters.why);
    etp_json_kv_z(j, "fix", h->counters.fix);
    etp_json_end(j);
}

static void load(etp_json *j, const etp_wire_load *l)
{
    etp_json_kv_u64(j, "ns", l->ns);
    etp_json_kv_u64(j, "rss_bytes", l->rss_bytes);
    etp_json_kv_u64(j, "hook_calls", l->hook_calls);
    etp_json_kv_u64(j, "epoch_ns", l->epoch_ns);
    if (l->cached_bytes > 0) {
        etp_json_kv_u64(j, "cached_bytes", l->cached_bytes);
    }
    etp_json_kv_z(j, "method", l->method);
    etp_json_kv_u64(j, "inputs", l->inputs);
    etp_json_kv_u64(j, "outputs", l->outputs);
    if (l->kernels_ours[0] != '\0') {
        etp_json_kv_z(j, "kernels_ours", l->kernels_ours);
    }
    if (l->kernels_theirs[0] != '\0') {
        etp_json_kv_z(j, "kernels_theirs", l->kernels_theirs);
    }
}

// An iteration is one of many lines: what was not counted is left out.
static void counts(etp_json *j, const etp_wire_counts *c)
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
            etp_json_kv_u64(j, all[i].name, all[i].value);
        }
    }
}

// No program runs without any code; one that is not known is not written.
static void memory_rows(etp_json *j, const char *key, const etp_memory_rows *rows, uint64_t peak)
{
    if (rows->code == 0) {
        return;
    }
    etp_json_key(j, key);
    etp_json_begin_object(j);
#define ROW(member, title, what) etp_json_kv_u64(j, #member, rows->member);
    ETP_MEMORY_ROWS(ROW, ROW)
#undef ROW
    if (peak > 0) {
        etp_json_kv_u64(j, "peak_bytes", peak);
    }
    etp_json_end(j);
}

static void done(etp_json *j, const etp_wire_done *d)
{
    etp_json_kv_z(j, "cmd", d->cmd);
    etp_json_kv_u64(j, "n", d->n);
    etp_json_kv_u64(j, "bytes", d->bytes);
    etp_json_kv_u64(j, "peak_rss_bytes", d->peak_rss_bytes);
    if (d->hook_call_ps != 0) {
        etp_json_kv_u64(j, "hook_calls", d->hook_calls);
        etp_json_kv_u64(j, "hook_call_ps", d->hook_call_ps);
    }
    if (d->span_ns != 0) {
        etp_json_kv_u64(j, "span_ns", d->span_ns);
        etp_json_kv_u64(j, "wait_ns", d->wait_ns);
    }
    if (d->dirty_bytes + d->clean_bytes != 0) {
        etp_json_kv_u64(j, "dirty_bytes", d->dirty_bytes);
        etp_json_kv_u64(j, "clean_bytes", d->clean_bytes);
    }
    memory_rows(j, "memory", &d->memory, 0);
#define STAGE(member, when) \
    memory_rows(j, "memory_" #member, &d->stages.member.rows, d->stages.member.peak_bytes);
    ETP_MEMORY_STAGES(STAGE)
#undef STAGE
}

static void selftest(etp_json *j, const etp_wire_selftest *t)
{
    etp_json_key(j, "levels");
    etp_json_begin_array(j);
    for (size_t i = 0; i < t->count && i < ETP_WIRE_LEVELS_MAX; i++) {
        const etp_wire_level *l = &t->levels[i];
        etp_json_begin_object(j);
        etp_json_kv_z(j, "level", l->level);
        etp_json_kv_bool_if(j, "ok", l->ok == ETP_WIRE_TRUE, l->ok != ETP_WIRE_NULL);
        etp_json_kv_z(j, "linear", l->linear);
        etp_json_kv_z(j, "conv", l->conv);
        etp_json_kv_z(j, "types", l->types);
        etp_json_kv_z(j, "why", l->why);
        etp_json_end(j);
    }
    etp_json_end(j);
}

static void body(etp_json *j, const etp_wire_msg *m)
{
    switch (m->type) {
    case ETP_WIRE_HELLO:
        etp_json_kv_z(j, "type", "hello");
        hello(j, &m->u.hello);
        break;
    case ETP_WIRE_LOAD:
        etp_json_kv_z(j, "type", "load");
        load(j, &m->u.load);
        break;
    case ETP_WIRE_ITER:
        etp_json_kv_z(j, "type", "iter");
        etp_json_kv_u64(j, "i", m->u.iter.i);
        etp_json_kv_u64(j, "start_ns", m->u.iter.start_ns);
        etp_json_kv_u64(j, "ns", m->u.iter.ns);
        counts(j, &m->u.iter.counts);
        break;
    case ETP_WIRE_DONE:
        etp_json_kv_z(j, "type", "done");
        done(j, &m->u.done);
        break;
    case ETP_WIRE_ERROR:
        etp_json_kv_z(j, "type", "error");
        etp_json_kv_z(j, "code", m->u.error.code);
        etp_json_kv_z(j, "message", m->u.error.message);
        break;
    case ETP_WIRE_SELFTEST:
        etp_json_kv_z(j, "type", "selftest");
        selftest(j, &m->u.selftest);
        break;
    case ETP_WIRE_ROOF:
        etp_json_kv_z(j, "type", "roof");
        etp_json_kv_z(j, "isa", m->u.roof.isa);
        etp_json_kv_z(j, "what", m->u.roof.what);
        etp_json_kv_z(j, "unit", m->u.roof.unit);
        etp_json_kv_u64(j, "threads", m->u.roof.threads);
        etp_json_kv_u64(j, "bytes", m->u.roof.bytes);
        etp_json_kv_u64(j, "best", m->u.roof.best);
        etp_json_kv_u64(j, "median", m->u.roof.median);
        if (m->u.roof.again != 0) {
            etp_json_kv_u64(j, "again", m->u.roof.again);
        }
        break;
    case ETP_WIRE_PART:
        etp_json_kv_z(j, "type", "part");
        etp_json_kv_z(j, "what", m->u.part.what);
        etp_json_kv_u64(j, "delegate", m->u.part.delegate);
        etp_json_kv_u64(j, "operation", m->u.part.operation);
        etp_json_kv_u64(j, "bytes", m->u.part.bytes);
        etp_json_kv_u64(j, "ns", m->u.part.ns);
        etp_json_kv_u64(j, "faults", m->u.part.faults);
        if (m->u.part.workspace != 0) {
            etp_json_kv_u64(j, "workspace", m->u.part.workspace);
        }
        break;
    case ETP_WIRE_UNKNOWN:
        etp_json_kv_z(j, "type", m->word);
        break;
    }
}

size_t etp_wire_format(const etp_wire_msg *msg, char *buf, size_t cap)
{
    line l = {.buf = buf, .cap = cap};
    etp_sink sink = {.write = append, .target = &l};
    etp_json j;
    etp_json_init(&j, &sink, false);
    etp_json_begin_object(&j);
    body(&j, msg);
    etp_json_end(&j);
    etp_json_end_document(&j);
    return sink.failed ? 0 : l.len;
}
