// SPDX-License-Identifier: Apache-2.0
// Measuring the roofs of a device: in this process for the machine we run on, else in the runner's.
#include "measure/roofs.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "measure/channel.h"
#include "measure/session.h"

#define MAX_ROOFS 4096 // more than any machine has; what a runner says is not trusted
#define LINE_NS ((uint64_t)60 * 1000000000u)

static bool is_here(const etp_device *device)
{
    return !device || etp_device_kind_of(device->info.spec) == ETP_DEVICE_LOCAL;
}

// This machine is asked directly: its roofs need no runner, and none has to be installed.
static etp_status describe_here(etp_arena *arena, etp_roof_table *out, etp_error *err)
{
    etp_os_facts facts;
    etp_os_state state;
    etp_details details = {0};
    etp_isa_cpu cpu;
    char features[ETP_ISA_TEXT_MAX];
    etp_os_facts_read(&facts);
    etp_os_state_read(&state);
    etp_isa_cpu_detect(&cpu);
    (void)etp_isa_cpu_format(&cpu, features, sizeof features);
    ETP_TRY(etp_os_details_read(arena, &details, err));
    *out = (etp_roof_table){
        .device = "local", .boost = state.boost, .cpus = facts.cpus, .waited = (double)NAN};
    out->cpu = etp_arena_strdup(arena, etp_str_from(facts.cpu));
    out->governor = etp_arena_strdup(arena, etp_str_from(state.governor));
    out->features = etp_arena_strdup(arena, etp_str_from(features));
    for (size_t i = 0; i < details.n; i++) {
        if (strcmp(details.items[i].key, "frequency_max_khz") == 0) {
            (void)etp_parse_u64(etp_str_from(details.items[i].value), &out->max_khz);
        }
    }
    return etp_arena_check(arena, err, "roofs");
}

// What is not told stays empty, 0 or −1: it then takes part in naming the state as it is.
static etp_status describe_there(etp_device *device, etp_arena *arena, etp_roof_table *out,
                                 etp_error *err)
{
    etp_details facts = {0};
    etp_device_cpu cpu;
    etp_os_state state;
    ETP_TRY(device->ops->probe(device, arena, &facts, err));
    ETP_TRY(etp_session_probe(device, 0, NULL, arena, &cpu, err));
    device->ops->state(device, &state);
    *out = (etp_roof_table){
        .boost = state.boost, .emulated = device->info.emulated, .waited = (double)NAN};
    out->device = etp_arena_strdup(arena, etp_str_from(device->info.spec));
    out->governor = etp_arena_strdup(arena, etp_str_from(state.governor));
    out->features = etp_arena_strdup(arena, etp_str_from(cpu.text));
    const char *name = etp_device_fact_of(&facts, "cpu"),
               *cpus = etp_device_fact_of(&facts, "cpus");
    uint64_t n = 0;
    out->cpu = ETP_OR(name, "");
    out->cpus = etp_parse_u64(etp_str_from(cpus), &n) && n <= UINT32_MAX ? (uint32_t)n : 0;
    (void)etp_parse_u64(etp_str_from(etp_device_fact_of(&facts, "frequency_max_khz")),
                        &out->max_khz);
    return etp_arena_check(arena, err, "roofs");
}

etp_status etp_roofs_describe(etp_device *device, etp_arena *arena, etp_roof_table *out,
                              etp_error *err)
{
    return is_here(device) ? describe_here(arena, out, err)
                           : describe_there(device, arena, out, err);
}

// Receives each roof as it is measured, here or from a runner's lines.
typedef struct taker {
    etp_arena *arena;
    etp_roof_table *table;
    bool failed;
} taker;

static bool take(void *ctx, const etp_roof *roof)
{
    taker *t = ctx;
    etp_roof copy = *roof;
    copy.isa = etp_arena_strdup(t->arena, etp_str_from(roof->isa));
    ETP_ADD(t->arena, t->table, copy);
    t->failed = t->arena->failed || t->table->n > MAX_ROOFS;
    return !t->failed;
}

static void take_load(taker *t, etp_roofs_load load)
{
    t->table->waited = etp_share_of(load.wait_ns, load.span_ns);
}

static etp_status gather_here(const etp_roofs_options *o, etp_arena *arena, etp_roof_table *table,
                              etp_error *err)
{
    etp_isa_cpu cpu;
    etp_isa_cpu_detect(&cpu);
    etp_arena scratch = {0};
    taker t = {arena, table, false};
    char why[256];
    etp_roofs_load load = {0};
    etp_roofs_request request = {.cpu = &cpu,
                                 .n_threads = o->n_threads,
                                 .seconds = o->seconds,
                                 .now_ns = etp_os_now_ns,
                                 .cpu_ns = etp_os_cpu_ns,
                                 .load = &load};
    memcpy(request.threads, o->threads, sizeof request.threads);
    request.memory = etp_arena_alloc_raw(&scratch, ETP_ROOF_MEMORY, 1);
    etp_status st = etp_arena_check(&scratch, err, "roofs");
    if (st == ETP_OK && !etp_roofs_measure(&request, take, &t, why, sizeof why)) {
        st = t.failed ? etp_fail_nomem(err, "roofs") : etp_fail(err, ETP_CHILD, "roofs: %s", why);
    }
    etp_arena_dispose(&scratch);
    take_load(&t, load);
    return st;
}

// Until "done": one line for each roof, and words of a later version in between are passed over.
static etp_status read_output(etp_channel *channel, uint64_t extra_ns, taker *t, etp_error *err)
{
    for (;;) {
        etp_wire_msg msg;
        char why[256] = "";
        etp_channel_result r = etp_channel_next(channel, extra_ns, &msg, why, sizeof why);
        if (r != ETP_CHANNEL_OK) {
            if (r == ETP_CHANNEL_SIGNAL) {
                return etp_fail(err, ETP_INTERRUPTED, "interrupted");
            }
            if (r == ETP_CHANNEL_GARBAGE) {
                return etp_fail(err, ETP_CHILD, "the runner does not speak etprof's protocol: %s",
                                why);
            }
            return etp_fail(err, ETP_CHILD, "the runner stopped before its roofs were measured");
        }
        if (msg.type == ETP_WIRE_ERROR) {
            bool old = etp_wire_code_find(msg.u.error.code) == ETP_WIRE_CODE_USAGE;
            return etp_fail(err, ETP_CHILD, "the runner says: %s%s", msg.u.error.message,
                            etp_if(old, "; a runner of another version? build its bundle "
                                        "again (scripts/build-runner)"));
        }
        if (msg.type == ETP_WIRE_DONE) {
            take_load(t, (etp_roofs_load){msg.u.done.span_ns, msg.u.done.wait_ns});
            return ETP_OK;
        }
        const etp_wire_roof *w = &msg.u.roof;
        if (msg.type == ETP_WIRE_ROOF) {
            if (w->threads < 1 || w->threads > ETP_ROOF_THREADS_MAX) {
                return etp_fail(err, ETP_CHILD, "the runner measured a roof of %llu threads",
                                (unsigned long long)w->threads);
            }
            // Words of a later version read as "other"; a unit is no matter of opinion, and an
            // unknown one would be compared with the wrong figures.
            etp_roof roof = {w->isa,   ETP_ROOF_OTHER, ETP_ROOF_OP_S, (uint32_t)w->threads,
                             w->bytes, w->best,        w->median,     w->again};
            for (etp_roof_what what = 0; what < ETP_ROOF_WHATS; what++) {
                roof.what = strcmp(w->what, etp_roof_what_name(what)) == 0 ? what : roof.what;
            }
            while (roof.unit < ETP_ROOF_UNITS &&
                   strcmp(w->unit, etp_roof_unit_name(roof.unit)) != 0) {
                roof.unit++;
            }
            if (roof.unit == ETP_ROOF_UNITS) {
                return etp_fail(err, ETP_CHILD, "the runner measured a roof in '%s'", w->unit);
            }
            if (!take(t, &roof)) {
                return t->arena->failed
                           ? etp_fail_nomem(err, "roofs")
                           : etp_fail(err, ETP_CHILD, "the runner measured more than %d roofs",
                                      MAX_ROOFS);
            }
        }
    }
}

static etp_status gather_there(etp_device *device, const etp_roofs_options *o, etp_arena *arena,
                               etp_roof_table *table, etp_error *err)
{
    taker t = {arena, table, false};
    etp_channel *channel = ETP_NEW(arena, etp_channel);
    // "1,2,4"
    etp_strbuf b;
    etp_strbuf_init(&b, arena);
    for (size_t i = 0; i < o->n_threads; i++) {
        etp_strbuf_printf(&b, "%s%u", etp_if(i, ","), o->threads[i]);
    }
    const char *counts = etp_z_if(!b.failed, b.ptr);
    // 0 seconds: the loops are checked for what they compute, and not timed.
    const char *seconds = etp_arena_printf(arena, "%.3f", device->info.emulated ? 0 : o->seconds);
    ETP_TRY(etp_arena_check(arena, err, "roofs"));
    const char *const args[] = {"--roofs", seconds, "--counts", counts, NULL};
    const char *const env[] = {NULL};
    channel->timeout_ns = LINE_NS;
    etp_status status = etp_channel_start(device, args, env, arena, channel, err);
    if (status == ETP_OK) {
        // Lines come when all of a thread count was measured, twice where passes differ.
        status = read_output(channel, (uint64_t)(2 * o->seconds * 1e9), &t, err);
    }
    etp_channel_dispose(channel);
    return status;
}

etp_status etp_roofs_gather(etp_device *device, const etp_roofs_options *options, etp_arena *arena,
                            etp_roof_table *table, etp_error *err)
{
    etp_roofs_options o = *options;
    if (o.n_threads == 0) {
        o.n_threads = etp_roof_default_threads(table->cpus, o.threads);
    }
    table->measured_s = etp_os_wall_seconds();
    return is_here(device) ? gather_here(&o, arena, table, err)
                           : gather_there(device, &o, arena, table, err);
}
