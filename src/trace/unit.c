// SPDX-License-Identifier: Apache-2.0
// What a tick of a recording is: units as people write them, recordings that count cycles, clocks
// that jumped.
#include "trace/unit.h"

#include <math.h>

#include "base/number.h"
#include "operators/delegates.h"
#include "trace/internal.h"

#define MOST_HZ 1e12

static uint64_t divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

etp_status etp_unit_parse(const char *text, const char *option, etp_ratio *out, etp_error *err)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } k_units[] = {
        {"ns", 1         },
        {"us", 1000      },
        {"ms", 1000000   },
        {"s",  1000000000},
    };
    etp_str unit = etp_str_from(text);
    for (size_t i = 0; i < sizeof k_units / sizeof *k_units; i++) {
        if (etp_str_eqz(unit, k_units[i].name)) {
            *out = (etp_ratio){k_units[i].ns, 1};
            return ETP_OK;
        }
    }
    static const etp_str k_cycles = {"cycles:", 7};
    double hz = NAN;
    bool rate = etp_str_starts(unit, k_cycles) &&
                etp_parse_double((etp_str){unit.ptr + 7, unit.len - 7}, &hz) && hz >= 1 &&
                hz <= MOST_HZ && hz == floor(hz);
    if (!rate) {
        return etp_fail(err, ETP_USAGE,
                        "%s '%s' is not a unit; use ns, us, ms, s or cycles:HZ, as in "
                        "cycles:168e6",
                        option, text);
    }
    uint64_t common = divisor(1000000000, (uint64_t)hz);
    *out = (etp_ratio){1000000000 / common, (uint64_t)hz / common};
    return ETP_OK;
}

bool etp_unit_scale(uint64_t ticks, etp_ratio unit, uint64_t *out)
{
    uint64_t whole = ticks / unit.den, rest = ticks % unit.den;
    if ((whole > 0 && unit.num > ETP_LONGEST_NS / whole) ||
        (rest > 0 && unit.num > UINT64_MAX / 2 / rest)) {
        return false;
    }
    *out = whole * unit.num + rest * unit.num / unit.den;
    return true;
}

bool etp_trace_counts_cycles(const etp_trace *trace)
{
    for (size_t b = 0; b < trace->n_blocks && !trace->unit_told; b++) {
        const etp_trace_block *block = &trace->blocks[b];
        for (size_t i = 0; i < block->n_events; i++) {
            const etp_delegate *d = block->events[i].kind == ETP_EVENT_DELEGATE_OP
                                        ? etp_delegate_of_event(block->events[i].name)
                                        : NULL;
            if (d && d->counts_cycles) {
                return true;
            }
        }
    }
    return false;
}

const char *etp_trace_unit_choice(const etp_trace *trace)
{
    bool any[2] = {false};
    for (size_t b = 0; b < trace->n_blocks; b++) {
        const etp_trace_block *block = &trace->blocks[b];
        for (size_t i = 0; i < block->n_events; i++) {
            if (block->events[i].apart == ETP_APART_CLOCK) {
                any[etp_delegate_says_cycles(block->events[i].name)] = true;
            }
        }
    }
    const char *for_cycles = any[0] ? "us, or cycles:HZ for those that say so" : "cycles:HZ";
    return any[1] ? for_cycles : any[0] ? "ns, us or cycles:HZ" : NULL;
}

static bool logs_tensors(const etp_etdump *dump, uint32_t run_index)
{
    etp_etdump_run run = etp_etdump_run_at(dump, run_index);
    for (size_t i = 0; i < run.n_events; i++) {
        etp_etdump_event event = etp_etdump_event_at(&run, i);
        etp_etdump_profile p;
        etp_etdump_debug d;
        if (etp_etdump_profile_of(event, &p) && etp_str_eqz(p.name, "Method::execute")) {
            return false; // what follows are the program's outputs
        }
        if (etp_etdump_debug_of(dump, event, &d)) {
            return true;
        }
    }
    return false;
}

// Executions of a block are recorded alike, so the first speaks for them.
bool etp_trace_logs_tensors(const etp_trace *trace)
{
    for (size_t b = 0; b < trace->n_blocks; b++) {
        const etp_trace_block *block = &trace->blocks[b];
        if (block->has_execute && block->runs[0] < trace->dump.n_runs &&
            logs_tensors(&trace->dump, block->runs[0])) {
            return true;
        }
    }
    return false;
}

size_t etp_trace_damage_count(const etp_trace *trace)
{
    return trace->damage.n;
}

const etp_trace_damage *etp_trace_damage_at(const etp_trace *trace, size_t index)
{
    return &trace->damage.items[index];
}

const char *etp_trace_damage_claim(const etp_trace_damage *d, etp_arena *arena)
{
    if (d->ns == ETP_NS_UNKNOWN) {
        return "ends before it starts";
    }
    return d->whole_ns ? etp_arena_printf(arena, "claims %s, inside %s", ETP_NS((double)d->ns),
                                          ETP_NS((double)d->whole_ns))
                       : etp_arena_printf(arena, "claims %s", ETP_NS((double)d->ns));
}

etp_status etp_trace_need_sound(const etp_trace *trace, etp_error *err)
{
    if (trace->damage.n == 0) {
        return ETP_OK;
    }
    const etp_trace_damage *d = &trace->damage.items[0];
    return etp_fail(err, ETP_CORRUPT,
                    "the clock jumped in %zu of its executions (run %u: '%.*s' %s)",
                    trace->damage.n, d->run, ETP_STR_ARG(d->name),
                    d->ns == ETP_NS_UNKNOWN ? "ends before it starts" : ETP_NS((double)d->ns));
}

etp_status etp_trace_need_time(const etp_trace *trace, etp_error *err)
{
    return etp_trace_counts_cycles(trace)
               ? etp_fail(
                     err, ETP_UNSUPPORTED,
                     "its times are cycles of a microcontroller, and it does not hold their "
                     "rate; state it: --source-unit cycles:HZ, or ns where the NPU runs beside "
                     "Linux ('etprof ops' shows the cycles)")
               : ETP_OK;
}
