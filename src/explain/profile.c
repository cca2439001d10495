// SPDX-License-Identifier: Apache-2.0
// Summing executions into rows.
#include "explain/profile.h"

#include <stdlib.h>

#include "base/choice.h"
#include "base/guard.h"
#include "base/order.h"
#include "explain/profile_rows.h"
#include "trace/ops.h"

typedef struct builder {
    etp_row_maker maker;
    etp_arena scratch;
    size_t n_dumps;
    const etp_trace *trace; // the dump that is being read
    bool keep_all;          // of it
    uint64_t usual;         // executions of it that count as usual
} builder;

static etp_status add_ns(int64_t *sum, int64_t ns, etp_error *err)
{
    if (__builtin_add_overflow(*sum, ns, sum)) {
        return etp_fail(err, ETP_CORRUPT, "durations add up to more than 292 years");
    }
    return ETP_OK;
}

// ---- which executions count ----

typedef struct run_order {
    uint64_t ns;
    size_t run;
} run_order;

static int shortest_first(const void *pa, const void *pb)
{
    const run_order *a = pa, *b = pb;
    return etp_order_then(ETP_ORDER(a->ns, b->ns), ETP_ORDER(a->run, b->run));
}

typedef struct choice { // executions of a block, each as a whole
    bool *keep, *usual;
    size_t n_keep, n_usual;
} choice;

// How far from the median an execution may lie: three times as far as half of them do, and a tenth
// of it. Where a third of them was interrupted, some of those are in the middle half.
static uint64_t far_from(const run_order *order, size_t n, uint64_t median, uint64_t *apart)
{
    for (size_t i = 0; i < n; i++) {
        apart[i] = order[i].ns > median ? order[i].ns - median : median - order[i].ns;
    }
    qsort(apart, n, sizeof *apart, etp_order_u64);
    uint64_t spread = n ? apart[n / 2] : 0, tenth = median / 10;
    return spread > UINT64_MAX / 3 || 3 * spread < tenth ? tenth : 3 * spread;
}

// Marks those of the N in the middle that are not far from the median. How many.
static size_t mark(const run_order *order, size_t n, size_t middle, uint64_t median, uint64_t far,
                   bool *out)
{
    size_t marked = 0;
    for (size_t i = (n - middle) / 2; i < (n - middle) / 2 + middle; i++) {
        uint64_t ns = order[i].ns;
        out[order[i].run] = (ns > median ? ns - median : median - ns) <= far;
        marked += out[order[i].run];
    }
    return marked;
}

// ---- sums ----

typedef struct event_sum {    // over a block's executions
    int64_t all, kept, usual; // its parts included
    int64_t own, own_kept;    // exclusive
} event_sum;

static etp_status sum_events(const etp_trace_block *block, const choice *chosen, event_sum *sums,
                             etp_error *err)
{
    for (uint32_t e = 0; e < block->n_events; e++) {
        event_sum *out = &sums[e];
        const uint64_t *d = etp_trace_durations(block, e);
        for (size_t i = 0; i < block->n_runs; i++) {
            if (d[i] > INT64_MAX) {
                return etp_fail(err, ETP_CORRUPT, "event '%.*s' lasts more than 292 years",
                                ETP_STR_ARG(block->events[e].name));
            }
            ETP_TRY(add_ns(&out->all, (int64_t)d[i], err));
            out->kept += chosen->keep[i] ? (int64_t)d[i] : 0; // no more than `all`
            out->usual += chosen->usual[i] ? (int64_t)d[i] : 0;
        }
        ETP_TRY(add_ns(&out->own, out->all, err));
        ETP_TRY(add_ns(&out->own_kept, out->kept, err));
        uint32_t parent = block->events[e].parent;
        if (parent != ETP_NO_INDEX) {
            ETP_TRY(add_ns(&sums[parent].own, -out->all, err));
            ETP_TRY(add_ns(&sums[parent].own_kept, -out->kept, err));
        }
    }
    return ETP_OK;
}

static etp_status add_rows(builder *b, const etp_trace_block *block, const event_sum *sums,
                           uint32_t dump, uint32_t block_index, etp_error *err)
{
    const uint32_t *rows = etp_rows_of_block(&b->maker, block, dump, block_index);
    for (uint32_t e = 0; e < block->n_events; e++) {
        if (rows[e] == ETP_NO_INDEX) {
            continue;
        }
        etp_profile_row *row = &b->maker.rows.items[rows[e]];
        const uint64_t tick = etp_ops_tick_ns(b->trace, &block->events[e]);
        row->tick_ns = ETP_MAX(tick, row->tick_ns);
        const uint64_t *d = etp_trace_durations(block, e);
        for (size_t i = 0; i < block->n_runs; i++) {
            bool first = row->calls == 0 && i == 0;
            row->min_ns = first || d[i] < row->min_ns ? d[i] : row->min_ns;
            row->max_ns = first || d[i] > row->max_ns ? d[i] : row->max_ns;
            row->whole_us = row->whole_us && d[i] % ETP_CLOCK_CUT_NS == 0;
        }
        row->calls += block->n_runs;
        const event_sum *sum = &sums[e];
        // Becomes a mean when the dump is read.
        row->per_dump_typical_ns[dump] += (double)sum->usual;
        ETP_TRY(add_ns(&row->total_ns, sum->own_kept, err));
        ETP_TRY(add_ns(&row->all_ns, sum->own, err));
        ETP_TRY(add_ns(&row->per_dump_ns[dump], sum->own_kept, err));
        ETP_TRY(add_ns(&row->per_dump_all_ns[dump], sum->own, err));
    }
    return ETP_OK;
}

static etp_status add_block(builder *b, const etp_trace_block *block, uint32_t dump,
                            uint32_t block_index, etp_profile *out, etp_error *err)
{
    event_sum *sums = ETP_NEW_ARRAY(&b->scratch, event_sum, block->n_events);
    // Kept are the executions around the block's median.
    size_t n = block->n_runs, quarter = n / 4, half = n - quarter * 2;
    size_t least = ETP_MIN(half, ETP_PROFILE_KEEP_LEAST);
    size_t kept = b->keep_all ? n : ETP_MAX(least, quarter);
    size_t usual = kept < n ? kept : half;
    const uint64_t *d = etp_trace_durations(block, block->execute);
    run_order *order = ETP_NEW_ARRAY(&b->scratch, run_order, n);
    uint64_t *apart = ETP_NEW_ARRAY(&b->scratch, uint64_t, n);
    choice chosen = {.keep = ETP_NEW_ARRAY(&b->scratch, bool, n),
                     .usual = ETP_NEW_ARRAY(&b->scratch, bool, n)};
    for (size_t i = 0; i < n; i++) {
        order[i] = (run_order){d[i], i};
    }
    qsort(order, n, sizeof *order, shortest_first);
    uint64_t median = n ? order[(n - 1) / 2].ns : 0;
    bool few = n < ETP_PROFILE_KEEP_LEAST; // what is usual, they do not tell
    uint64_t far = b->keep_all || few ? UINT64_MAX : far_from(order, n, median, apart);
    chosen.n_keep = mark(order, n, kept, median, far, chosen.keep);
    chosen.n_usual = mark(order, n, usual, median, far, chosen.usual);
    ETP_TRY(sum_events(block, &chosen, sums, err));
    ETP_TRY(add_rows(b, block, sums, dump, block_index, err));
    const event_sum *whole = &sums[block->execute];
    const uint64_t tick = etp_ops_tick_ns(b->trace, &block->events[block->execute]);
    out->tick_ns = ETP_MAX(tick, out->tick_ns);
    ETP_TRY(add_ns(&out->execute_total_ns, whole->kept, err));
    ETP_TRY(add_ns(&out->per_dump_execute_ns[dump], whole->kept, err));
    ETP_TRY(add_ns(&out->all_execute_ns, whole->all, err));
    ETP_TRY(add_ns(&out->per_dump_all_execute_ns[dump], whole->all, err));
    b->usual += chosen.n_usual;
    out->executions += chosen.n_keep;
    out->per_dump_executions[dump] += chosen.n_keep;
    out->all_executions += block->n_runs;
    out->per_dump_all_executions[dump] += block->n_runs;
    return ETP_OK;
}

static etp_status add_withheld(builder *b, const etp_trace_block *block, etp_profile *out,
                               etp_error *err)
{
    bool *calls = ETP_NEW_ARRAY(&b->scratch, bool, block->n_events);
    for (size_t i = 0; i < block->n_events; i++) {
        const etp_trace_event *e = &block->events[i];
        out->parts_withheld = out->parts_withheld || (e->kind == ETP_EVENT_APART && !e->delegated);
        if (e->apart == ETP_APART_SUM && e->call != ETP_NO_INDEX) {
            calls[e->call] = true;
        }
    }
    for (uint32_t i = 0; i < block->n_events; i++) {
        const uint64_t *d = etp_trace_durations(block, i);
        for (size_t r = 0; calls[i] && r < block->n_runs; r++) {
            ETP_TRY(add_ns(&out->overlapping_ns, (int64_t)d[r], err));
        }
    }
    return ETP_OK;
}

static etp_status add_traces(builder *b, const etp_trace *const *traces, etp_profile *out,
                             etp_error *err)
{
    for (size_t d = 0; d < b->n_dumps; d++) {
        const etp_trace *trace = b->trace = traces[d];
        // A dump of several kinds of executions keeps an equal part of each, so that their mixture
        // stays what it is; where one of them is rare it keeps all.
        size_t kinds = 0, fewest = SIZE_MAX;
        for (size_t i = 0; i < etp_trace_block_count(trace); i++) {
            const etp_trace_block *block = etp_trace_block_at(trace, i);
            bool counts = block->has_execute && !block->rare;
            kinds += counts;
            fewest = counts && block->n_runs < fewest ? block->n_runs : fewest;
        }
        b->keep_all = kinds > 1 && fewest < (size_t)4 * ETP_PROFILE_KEEP_LEAST;
        b->usual = 0;
        for (size_t i = 0; i < etp_trace_block_count(trace); i++) {
            const etp_trace_block *block = etp_trace_block_at(trace, i);
            if (block->has_execute) {
                ETP_TRY(add_withheld(b, block, out, err));
            }
            if (block->has_execute && !block->rare) {
                ETP_TRY(add_block(b, block, (uint32_t)d, (uint32_t)i, out, err));
            }
        }
        for (size_t i = 0; i < b->maker.rows.n && b->usual > 0; i++) {
            b->maker.rows.items[i].per_dump_typical_ns[d] /= (double)b->usual;
        }
    }
    if (out->executions == 0) {
        size_t damaged = 0;
        for (size_t d = 0; d < b->n_dumps; d++) {
            damaged += etp_trace_damage_count(traces[d]);
        }
        return etp_fail(err, ETP_UNKNOWN,
                        damaged ? "every execution is left out: their times contradict each other"
                                : "no execution has a Method::execute event");
    }
    return ETP_OK;
}

static etp_status build(const etp_trace *const *traces, size_t n_traces, etp_arena *arena,
                        etp_profile *out, etp_error *err)
{
    *out = (etp_profile){
        .per_dump_executions = ETP_NEW_ARRAY(arena, uint64_t, n_traces),
        .per_dump_execute_ns = ETP_NEW_ARRAY(arena, int64_t, n_traces),
        .per_dump_all_executions = ETP_NEW_ARRAY(arena, uint64_t, n_traces),
        .per_dump_all_execute_ns = ETP_NEW_ARRAY(arena, int64_t, n_traces),
        .n_dumps = n_traces,
        .traces = ETP_NEW_ARRAY(arena, const etp_trace *, n_traces),
    };
    for (size_t i = 0; i < n_traces; i++) {
        out->traces[i] = traces[i];
        out->places_guessed = out->places_guessed || !etp_trace_places_known(traces[i]);
    }
    builder b = {.n_dumps = n_traces};
    etp_arena_scratch(&b.scratch, arena);
    b.maker = (etp_row_maker){.arena = arena, .scratch = &b.scratch, .n_dumps = n_traces};
    etp_status st = add_traces(&b, traces, out, err);
    out->rows = b.maker.rows.items;
    out->n_rows = b.maker.rows.n;
    etp_arena_dispose(&b.scratch);
    return st;
}

etp_status etp_profile_build(const etp_trace *const *traces, size_t n_traces, etp_arena *arena,
                             etp_profile *out, etp_error *err)
{
    ETP_GUARDED(arena, err, "profile", build(traces, n_traces, arena, out, err));
}

size_t etp_profile_samples(const etp_profile *p, const etp_profile_row *row, uint64_t *out,
                           size_t cap)
{
    size_t n = 0;
    for (size_t i = 0; i < row->places.n; i++) {
        const etp_profile_place *at = &row->places.items[i];
        const etp_trace_block *block = etp_trace_block_at(p->traces[at->dump], at->block);
        const uint64_t *d = etp_trace_durations(block, at->event);
        for (size_t k = 0; k < block->n_runs && n < cap; k++) {
            out[n++] = d[k];
        }
    }
    return n;
}

bool etp_profile_row_hides(const etp_profile *p, size_t row)
{
    const etp_profile_row *whole = &p->rows[row];
    if (whole->kind == ETP_ROW_BOUNDARY && whole->call != ETP_NO_INDEX) {
        return whole->total_ns > 0; // a span that holds others: what it took itself has no name
    }
    etp_op_call call = {.beside_ns = whole->total_ns};
    for (size_t i = 0; i < p->n_rows; i++) {
        const etp_profile_row *part = &p->rows[i];
        if (part->call == row && part->kind == ETP_ROW_OPERATOR) {
            call.foreign = call.foreign || part->parsed.kind != ETP_OP_XNNPACK;
            call.logged_ns += part->total_ns;
            call.operators++;
        }
    }
    return whole->silent || etp_op_call_hides(&call, p->executions);
}
