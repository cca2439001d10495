// SPDX-License-Identifier: Apache-2.0
// What a tick of a recording is: units as people write them, recordings that count cycles, clocks
// that jumped.
#include "trace/unit.h"

#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/order.h"
#include "operators/delegates.h"
#include "trace/internal.h"

#define MOST_HZ 1e12
// One event in microseconds and nanoseconds by turns, in calls of one length.
#define TURNS_RATIO 1000.0
#define TURNS_GAP 100
#define TURNS_SAME 1.2
#define TURNS_PART 4 // of the executions, at least, in either unit

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
    double hz = NAN;
    bool rate = etp_str_skip(&unit, "cycles:") && etp_parse_double(unit, &hz) && hz >= 1 &&
                hz <= MOST_HZ && hz == floor(hz);
    if (!rate) {
        return etp_fail(err, ETP_USAGE,
                        "%s '%s' is not a unit; use ns, us, ms, s or cycles:HZ, as in "
                        "cycles:168e6",
                        option, text);
    }
    uint64_t common = 1000000000;
    for (uint64_t b = (uint64_t)hz; b > 0;) {
        uint64_t rest = common % b;
        common = b;
        b = rest;
    }
    *out = (etp_ratio){1000000000 / common, (uint64_t)hz / common};
    return ETP_OK;
}

// Whole multiples of the denominator and what is left of them are multiplied apart: ticks × num
// need not fit 64 bits, as long as the result does.
uint64_t etp_unit_scale(uint64_t ticks, etp_ratio unit)
{
    uint64_t whole = ticks / unit.den, rest = ticks % unit.den;
    bool fits = (whole == 0 || unit.num <= UINT64_MAX / 2 / whole) &&
                (rest == 0 || unit.num <= UINT64_MAX / 2 / rest);
    return fits ? whole * unit.num + rest * unit.num / unit.den : INT64_MAX;
}

// Of those executions in which TICKS are so many, the mean of AROUND.
static double mean_around(const uint64_t *ticks, const uint64_t *around, const bool *left_out,
                          size_t n_runs, uint64_t least, uint64_t most)
{
    size_t n = 0;
    double sum = 0;
    for (size_t r = 0; r < n_runs; r++) {
        bool counts = !left_out[r] && ticks[r] >= least && ticks[r] <= most;
        sum += counts ? (double)around[r] : 0;
        n += counts;
    }
    return sum / (double)n;
}

bool etp_unit_takes_turns(const uint64_t *ticks, const uint64_t *around, const bool *left_out,
                          size_t n_runs, uint64_t *v)
{
    size_t n = 0, at = 0;
    for (size_t r = 0; r < n_runs; r++) {
        if (!left_out[r]) {
            v[n++] = ticks[r];
        }
    }
    qsort(v, n, sizeof *v, etp_order_u64);
    for (size_t i = 1; i < n; i++) {
        at = v[i - 1] > 0 && v[i] / v[i - 1] >= TURNS_GAP ? i : at;
    }
    if (at < 2 || n - at < 2 || at * TURNS_PART < n || (n - at) * TURNS_PART < n) {
        return false;
    }
    double ratio = (double)v[at + (n - at) / 2] / (double)v[at / 2];
    double few = mean_around(ticks, around, left_out, n_runs, 0, v[at - 1]),
           many = mean_around(ticks, around, left_out, n_runs, v[at], UINT64_MAX);
    return ratio > TURNS_RATIO / 1.5 && ratio < TURNS_RATIO * 1.5 && few < many * TURNS_SAME &&
           many < few * TURNS_SAME;
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
    if (any[1]) {
        return any[0] ? "us, or cycles:HZ for those that say so" : "cycles:HZ";
    }
    return etp_z_if(any[0], "ns, us or cycles:HZ");
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
    const char *claim = "ends before it starts";
    if (d->ns != ETP_NS_UNKNOWN) {
        const char *in =
            d->whole_ns ? etp_arena_printf(arena, ", inside %s", ETP_NS((double)d->whole_ns)) : "";
        claim = etp_arena_printf(arena, "claims %s%s", ETP_NS((double)d->ns), in);
    }
    return d->crosses
               ? etp_arena_printf(arena,
                                  "parts of '%.*s' overlap or reach beyond it in run %u, not in "
                                  "most",
                                  ETP_STR_ARG(d->name), d->run)
               : etp_arena_printf(arena, "the clock jumped (%.*s in run %u %s)",
                                  ETP_STR_ARG(d->name), d->run, claim);
}

etp_status etp_trace_need_sound(const etp_trace *trace, etp_error *err)
{
    const etp_trace_damage *d = NULL;
    size_t n = 0;
    for (size_t i = trace->damage.n; i-- > 0;) {
        bool jumped = !trace->damage.items[i].crosses;
        d = jumped ? &trace->damage.items[i] : d;
        n += jumped;
    }
    if (!d) {
        return ETP_OK;
    }
    return etp_fail(err, ETP_CORRUPT,
                    "the clock jumped in %zu of its executions (run %u: '%.*s' %s)", n, d->run,
                    ETP_STR_ARG(d->name),
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
