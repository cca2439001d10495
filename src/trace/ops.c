// SPDX-License-Identifier: Apache-2.0
// Per-operator statistics of a trace.
#include "trace/ops.h"

#include <math.h>
#include <stdlib.h>

#include "base/choice.h"
#include "base/guard.h"
#include "base/order.h"
#include "operators/delegates.h"
#include "trace/internal.h"

uint64_t etp_ops_tick_ns(const etp_trace *trace, const etp_trace_event *event)
{
    uint64_t ns = event->kind == ETP_EVENT_DELEGATE_OP ? trace->delegate_tick_ns : trace->tick_ns;
    return ns > 1 ? ns : 0;
}

bool etp_ops_is_call(const etp_trace_event *event)
{
    return event->kind == ETP_EVENT_OPERATOR_CALL || event->kind == ETP_EVENT_DELEGATE_CALL;
}

// What no other event lies in.
static bool is_work(const etp_trace_event *e)
{
    return e->kind == ETP_EVENT_DELEGATE_OP || e->kind == ETP_EVENT_NATIVE_CALL;
}

bool etp_ops_is_silent(const etp_trace_event *event)
{
    return event->kind == ETP_EVENT_DELEGATE_CALL && event->leaf;
}

bool etp_ops_is_delegated(const etp_trace_event *event)
{
    return event->kind == ETP_EVENT_DELEGATE_OP || event->kind == ETP_EVENT_DELEGATE_CALL;
}

bool etp_ops_left_out(etp_str name)
{
    return etp_str_find(name, ETP_STR("OPERATOR_CALL")) != name.len;
}

// A call counts only when nothing inside it was recorded (a delegate that logs no operators, a
// custom kernel without an event), and of a delegate's spans only those that hold no others:
// otherwise time would be counted twice.
void etp_ops_mark(const etp_trace_block *block, bool *out)
{
    const etp_trace_event *events = block->events;
    for (size_t i = 0; i < block->n_events; i++) {
        out[i] = (is_work(&events[i]) || etp_ops_is_call(&events[i])) && !events[i].at_load;
    }
    for (size_t i = 0; i < block->n_events; i++) {
        uint32_t parent = events[i].parent;
        if (parent != ETP_NO_INDEX && is_work(&events[i])) {
            out[parent] = false;
        }
    }
}

uint64_t etp_ops_far_ns(const etp_trace_block *block, etp_arena *arena)
{
    enum { FEWEST = 4, TIMES = 2 };
    if (block->n_runs < FEWEST) {
        return UINT64_MAX;
    }
    uint64_t *order = ETP_NEW_ARRAY(arena, uint64_t, block->n_runs);
    memcpy(order, etp_trace_durations(block, block->execute), block->n_runs * sizeof *order);
    qsort(order, block->n_runs, sizeof *order, etp_order_u64);
    return TIMES * (order[(block->n_runs - 1) / 2] + 1);
}

etp_str etp_ops_unlogged(etp_str backend, etp_arena *arena)
{
    const etp_str of = backend.len > 0 ? backend : ETP_STR("the delegate");
    return etp_str_from(etp_arena_printf(arena, "inside %.*s, not logged", ETP_STR_ARG(of)));
}

// What a call of XNNPACK may take to set up beside its operators, at most: shapes, memory. Its
// share grows under an emulator: 7 % of the operators' time in recordings of whole programs, half
// of that natively.
#define SET_UP_NS 100000
#define SET_UP_PART 8     // of the operators' time
#define CLOCK_CUT_NS 1000 // of an operator, by its clock of whole microseconds

bool etp_op_call_hides(const etp_op_call *c, uint64_t executions)
{
    int64_t around = (int64_t)executions * (SET_UP_NS + CLOCK_CUT_NS * (int64_t)c->operators) +
                     c->logged_ns / SET_UP_PART;
    return c->operators > 0 && c->beside_ns > (c->foreign ? 0 : around);
}

// OWN (n_runs): what EVENT takes beside its parts. Whether it is a call that hides that.
static bool take_rest(const etp_trace_block *block, const bool *is_operator, uint32_t event,
                      uint64_t *own)
{
    const uint64_t *whole = etp_trace_durations(block, event);
    etp_op_call call = {0};
    memcpy(own, whole, block->n_runs * sizeof *own);
    for (uint32_t i = event; i-- > 0;) {
        const etp_trace_event *e = &block->events[i];
        const uint64_t *d = etp_trace_durations(block, i);
        bool logged = e->call == event && is_operator[i];
        if (e->kind != ETP_EVENT_APART && (e->parent == ETP_NO_INDEX || e->parent > event)) {
            break; // what is in the call comes right before it
        }
        for (size_t r = 0; r < block->n_runs; r++) {
            own[r] -= e->parent == event ? d[r] : 0;
            call.logged_ns += logged ? (int64_t)d[r] : 0;
        }
        if (logged) {
            etp_op_name name;
            etp_op_parse(e->name, &name);
            call.foreign = call.foreign || name.kind != ETP_OP_XNNPACK;
            call.operators++;
        }
    }
    for (size_t r = 0; r < block->n_runs; r++) {
        call.beside_ns += (int64_t)own[r];
    }
    return etp_op_call_hides(&call, block->n_runs);
}

// A histogram of the upper bits tells in which 256th of the range the K-th value lies; only what
// falls into that part is looked at again. Unlike quickselect this has no input for which it is
// slow.
uint64_t etp_ops_select(const uint64_t *values, size_t n, size_t k, uint64_t lo, uint64_t hi,
                        uint64_t *scratch)
{
    for (;;) {
        unsigned shift = 0;
        while ((hi - lo) >> shift > 255) {
            shift++;
        }
        size_t counts[256] = {0};
        for (size_t i = 0; i < n; i++) {
            counts[(values[i] - lo) >> shift]++;
        }
        size_t bin = 0;
        while (k >= counts[bin]) {
            k -= counts[bin++];
        }
        if (shift == 0) {
            return lo + bin;
        }
        size_t kept = 0;
        for (size_t i = 0; i < n; i++) {
            if ((values[i] - lo) >> shift == bin) {
                scratch[kept++] = values[i];
            }
        }
        values = scratch;
        n = kept;
        lo += (uint64_t)bin << shift;
        uint64_t last = lo + (((uint64_t)1 << shift) - 1);
        hi = ETP_MIN(last, hi);
    }
}

// The value at rank (n - 1) × tenths / 10 of N values within [lo, hi].
static uint64_t percentile(const uint64_t *values, size_t n, unsigned tenths, uint64_t lo,
                           uint64_t hi, uint64_t *scratch)
{
    uint64_t rank = (uint64_t)(n - 1) * tenths;
    size_t k = (size_t)(rank / 10);
    uint64_t fraction = rank % 10;
    uint64_t a = etp_ops_select(values, n, k, lo, hi, scratch);
    if (fraction == 0) {
        return a;
    }
    // The neighbour above rank K is A again when A occurs more often than up to there; so a second
    // selection is not needed.
    size_t up_to_a = 0; // values ≤ a, and the smallest above it
    uint64_t next = hi;
    for (size_t i = 0; i < n; i++) {
        if (values[i] <= a) {
            up_to_a++;
        } else if (values[i] < next) {
            next = values[i];
        }
    }
    uint64_t gap = up_to_a > k + 1 ? 0 : next - a;
    return a + gap / 10 * fraction + (gap % 10 * fraction + 5) / 10;
}

// Of its durations V (n). SCRATCH NULL: no percentiles.
static void fill_row(const uint64_t *v, size_t n, etp_op_row *row, uint64_t *scratch)
{
    uint64_t lo = UINT64_MAX, hi = 0, total = 0;
    for (size_t i = 0; i < n; i++) {
        lo = ETP_MIN(v[i], lo);
        hi = ETP_MAX(v[i], hi);
        total += v[i];
    }
    row->calls = n;
    row->min_ns = lo;
    row->max_ns = hi;
    row->total_ns = total;
    row->mean_ns = total / n + (total % n * 2 >= n);
    if (scratch) {
        row->p50_ns = percentile(v, n, 5, lo, hi, scratch);
        row->p90_ns = percentile(v, n, 9, lo, hi, scratch);
    }
}

// Calls that hold no recorded operators count as operators themselves and are in the table already.
static int64_t boundary_ns(const etp_trace_block *block, const bool *is_operator)
{
    int64_t ns = 0;
    for (uint32_t i = 0; i < block->n_events; i++) {
        const etp_trace_event *e = &block->events[i];
        if (!etp_ops_is_delegated(e) || is_operator[i] || e->at_load || e->parent == ETP_NO_INDEX) {
            continue;
        }
        for (size_t r = 0; r < block->n_runs; r++) {
            ns += etp_trace_exclusive_ns(block, i, r);
        }
    }
    return ns;
}

// Only what lies inside Method::execute may be held against it: an operator outside would make the
// remainder smaller than it is. INSIDE: which events are operators, and scratch.
static void add_totals(const etp_trace_block *block, const etp_op_row *rows, size_t n, bool *inside,
                       etp_op_table *out)
{
    if (!block->has_execute) {
        return;
    }
    out->boundary_ns += boundary_ns(block, inside);
    // Parents follow their parts, so one pass backwards tells what is inside Method::execute.
    for (size_t i = block->n_events; i-- > 0;) {
        uint32_t parent = block->events[i].parent;
        inside[i] = i == block->execute || (parent != ETP_NO_INDEX && inside[parent]);
    }
    out->executions += block->n_runs;
    out->execute_ns += (int64_t)etp_trace_total_ns(block, block->execute);
    for (size_t i = 0; i < n; i++) {
        if (!inside[rows[i].event]) {
            continue;
        }
        out->operators_ns += (int64_t)rows[i].total_ns;
        const etp_trace_event *e = &block->events[rows[i].event];
        out->delegated_ns += etp_ops_is_delegated(e) ? (int64_t)rows[i].total_ns : 0;
        out->unlogged_ns += e->kind == ETP_EVENT_DELEGATE_CALL ? (int64_t)rows[i].total_ns : 0;
    }
}

// ---- what is beside operators ----

static bool span_kind(const etp_trace_event *e, etp_op_span_kind *out)
{
    if (e->kind == ETP_EVENT_APART) {
        *out = ETP_OP_SPAN_APART;
        return true;
    }
    *out = e->at_load ? ETP_OP_SPAN_LOAD : ETP_OP_SPAN_WHOLE;
    return e->kind == ETP_EVENT_DELEGATE_OP && (e->at_load || !e->leaf);
}

// What is held against each other APART: what a call (the last: none) logged in one unit.
static size_t apart_with(const etp_trace_block *block, uint32_t event)
{
    const etp_trace_event *e = &block->events[event];
    size_t call = e->call == ETP_NO_INDEX ? block->n_events : e->call;
    return 2 * call + etp_delegate_says_cycles(e->name);
}

// What EVENT's share is of; for APART the sum is BY_CALL's.
static double whole_of(const etp_trace_block *block, uint32_t event, etp_op_span_kind kind,
                       const double *by_call)
{
    const etp_trace_event *e = &block->events[event];
    if (kind == ETP_OP_SPAN_APART) {
        return by_call[apart_with(block, event)];
    }
    uint32_t whole = kind == ETP_OP_SPAN_LOAD ? ETP_NO_INDEX : block->execute;
    for (uint32_t p = e->parent; kind == ETP_OP_SPAN_LOAD && p != ETP_NO_INDEX;
         p = block->events[p].parent) {
        whole = p;
    }
    return whole == ETP_NO_INDEX ? (double)NAN : (double)etp_trace_total_ns(block, whole);
}

static void list_spans(const etp_trace_block *block, uint32_t index, etp_arena *arena,
                       etp_op_span *spans, size_t *n)
{
    double *by_call = ETP_NEW_ARRAY(arena, double, 2 * (block->n_events + 1));
    etp_op_span_kind kind;
    for (uint32_t i = 0; i < block->n_events; i++) {
        if (block->events[i].kind == ETP_EVENT_APART) {
            by_call[apart_with(block, i)] += (double)etp_trace_total_ns(block, i);
        }
    }
    for (uint32_t i = 0; i < block->n_events; i++) {
        if (span_kind(&block->events[i], &kind)) {
            uint64_t total = etp_trace_total_ns(block, i);
            double whole = whole_of(block, i, kind, by_call);
            spans[(*n)++] = (etp_op_span){
                .block = index,
                .event = i,
                .kind = kind,
                .calls = block->n_runs,
                .total = total,
                .share = whole > 0 ? (double)total / whole : (double)NAN,
            };
        }
    }
}

static size_t count_spans(const etp_trace_block *block)
{
    etp_op_span_kind kind;
    size_t n = 0;
    for (size_t i = 0; i < block->n_events; i++) {
        n += span_kind(&block->events[i], &kind);
    }
    return n;
}

static void fill_spans(const etp_trace *trace, etp_arena *arena, etp_op_table *out)
{
    size_t n = 0, n_blocks = etp_trace_block_count(trace);
    for (size_t b = 0; b < n_blocks; b++) {
        n += count_spans(etp_trace_block_at(trace, b));
    }
    etp_op_span *spans = ETP_NEW_ARRAY(arena, etp_op_span, n);
    for (size_t b = 0; n > 0 && b < n_blocks; b++) {
        list_spans(etp_trace_block_at(trace, b), (uint32_t)b, arena, spans, &out->n_spans);
    }
    out->spans = spans;
}

static etp_status fill(const etp_trace *trace, bool percentiles, etp_arena *arena,
                       etp_op_table *out)
{
    *out = (etp_op_table){0};
    size_t n_blocks = etp_trace_block_count(trace), n_events = 0, most_runs = 0, most_events = 0;
    for (size_t b = 0; b < n_blocks; b++) {
        const etp_trace_block *block = etp_trace_block_at(trace, b);
        n_events += block->n_events;
        most_events = ETP_MAX(block->n_events, most_events);
        most_runs = ETP_MAX(block->n_runs, most_runs);
    }
    etp_op_row *rows = ETP_NEW_ARRAY(arena, etp_op_row, n_events);
    uint64_t *scratch = etp_arena_alloc_raw(arena, most_runs, sizeof *scratch);
    uint64_t *own = etp_arena_alloc_raw(arena, most_runs, sizeof *own);
    bool *is_operator = etp_arena_alloc_raw(arena, most_events, sizeof *is_operator);
    size_t n = 0;
    for (size_t b = 0; b < n_blocks; b++) {
        const etp_trace_block *block = etp_trace_block_at(trace, b);
        size_t first = n;
        etp_ops_mark(block, is_operator);
        for (size_t e = 0; e < block->n_events; e++) {
            const etp_trace_event *event = &block->events[e];
            bool rest = event->kind == ETP_EVENT_DELEGATE_CALL && !event->leaf &&
                        take_rest(block, is_operator, (uint32_t)e, own);
            if (is_operator[e] || rest) {
                is_operator[e] = true;
                rows[n] = (etp_op_row){.block = (uint32_t)b, .event = (uint32_t)e, .rest = rest};
                fill_row(rest ? own : etp_trace_durations(block, (uint32_t)e), block->n_runs,
                         &rows[n++], percentiles ? scratch : NULL);
            }
        }
        add_totals(block, rows + first, n - first, is_operator, out);
    }
    if (percentiles) {
        fill_spans(trace, arena, out);
    }
    out->rows = rows;
    out->n_rows = n;
    out->remainder_ns = out->execute_ns - out->operators_ns;
    return ETP_OK;
}

etp_status etp_ops_compute(const etp_trace *trace, etp_arena *arena, etp_op_table *out,
                           etp_error *err)
{
    ETP_GUARDED(arena, err, "the table of operators", fill(trace, true, arena, out));
}

etp_status etp_ops_means(const etp_trace *trace, etp_arena *arena, etp_op_table *out,
                         etp_error *err)
{
    ETP_GUARDED(arena, err, "the table of operators", fill(trace, false, arena, out));
}
