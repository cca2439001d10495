// SPDX-License-Identifier: Apache-2.0
// Clocks and containment of what delegates log, and the check that parts fit into their wholes.
#include "trace/settle.h"

#include <stdlib.h>

#include "base/guard.h"
#include "base/number.h"
#include "base/order.h"
#include "formats/etdump_view.h"
#include "operators/delegates.h"

// Where parts exceed their whole in at most this part of the executions, those are damaged; where
// in more, the parts are not by the clock of the whole.
#define ODD_RUNS 4
// Beyond this and so many times the usual, what no part of an event accounts for is a clock that
// jumped, or a device that slept; the first executions may set much up.
#define JUMP_NS(run) ((run) < 2 ? 60000000000 : 1000000000)
#define JUMP_FROM(run) ((run) < 2 ? 10000 : 1000)
// One event in microseconds and nanoseconds by turns, in calls of one length.
#define TURNS_RATIO 1000.0
#define TURNS_GAP 100
#define TURNS_SAME 1.2

typedef struct state {
    const etp_settle *s;
    etp_arena *scratch;
    size_t n;
    uint32_t run;           // the first sound execution
    uint64_t *start, *end;  // its times, NULL: not recorded
    uint8_t *clock;         // etp_span_clock
    bool *flat, *bad;       // by event; by execution
    uint32_t *first, *next; // parts of an event: index + 1
    uint64_t *sum;          // by execution
    bool long_runs;         // some event is longer than JUMP_NS of its execution
} state;

// ---- what the file says of the first sound execution ----

static void read_times_of(state *t, uint32_t index)
{
    etp_etdump_run run = etp_etdump_run_at(&t->s->trace->dump, index);
    size_t k = 0;
    for (size_t i = 0; i < run.n_events && k < t->n; i++) {
        etp_fb_table p = etp_ed_profile_table(&run, i);
        if (p.ptr) {
            t->start[k] = etp_fb_u64(p, ETP_ED_PROFILE_START, 0);
            t->end[k] = etp_fb_u64(p, ETP_ED_PROFILE_END, 0);
            k++;
        }
    }
}

static void read_times(state *t)
{
    const etp_trace_block *b = t->s->block;
    for (size_t r = b->n_runs; r-- > 0;) {
        t->run = t->bad[r] ? t->run : b->runs[r];
    }
    if (b->n_runs > 0 && t->run < t->s->trace->dump.n_runs) { // else from a table
        t->start = etp_arena_alloc_array(t->scratch, t->n, sizeof *t->start);
        t->end = etp_arena_alloc_array(t->scratch, t->n, sizeof *t->end);
        read_times_of(t, t->run);
    }
}

static uint32_t place(const state *t, uint32_t event)
{
    return t->s->block->in_file ? t->s->block->in_file[event] : event;
}

// SLACK: how far it may begin before and end after. A counter of 32 bits that wraps in the whole
// wraps in the part, before or behind it.
static bool lies_inside(const state *t, uint32_t part, uint32_t whole, uint64_t slack)
{
    uint32_t p = place(t, part), w = place(t, whole);
    bool begun = t->start[w] <= t->start[p] || t->start[w] - t->start[p] <= slack;
    bool over = t->end[p] <= t->end[w] || t->end[p] - t->end[w] <= slack;
    bool wraps = t->start[p] > t->end[p];
    return t->start[w] > t->end[w] && !wraps ? begun || over
                                             : begun && over && (!wraps || t->start[w] > t->end[w]);
}

static bool time_inside(const state *t, uint32_t part, uint32_t whole)
{
    return lies_inside(t, part, whole, 0);
}

// ---- calls, loading ----

static bool in_loading(const state *t, uint32_t event)
{
    const etp_trace_event *events = t->s->events;
    uint32_t p = events[event].parent;
    while (p != ETP_NO_INDEX && events[p].kind == ETP_EVENT_DELEGATE_OP) {
        p = events[p].parent;
    }
    return p != ETP_NO_INDEX && events[p].kind == ETP_EVENT_LOAD;
}

// A method is loaded in the block that the file begins with, or in one that the caller opened: an
// inference opens its own.
static bool only_loads(const state *t)
{
    if (etp_str_eqz(t->s->block->name, "Execute")) {
        return false;
    }
    for (size_t i = 0; i < t->n; i++) {
        etp_event_kind k = t->s->events[i].kind;
        if (k != ETP_EVENT_DELEGATE_OP && k != ETP_EVENT_LOAD) {
            return false;
        }
    }
    return true;
}

// Spans that a backend names without a delegate's id are its own all the same: the runtime logs
// nothing but native calls inside a call. False when no delegate logged anything.
static bool find_calls(state *t)
{
    etp_trace_event *events = t->s->events;
    bool any = false, loads = only_loads(t);
    for (uint32_t i = (uint32_t)t->n; i-- > 0;) {
        etp_trace_event *e = &events[i];
        uint32_t p = e->parent;
        bool direct = p != ETP_NO_INDEX && events[p].kind == ETP_EVENT_DELEGATE_CALL;
        e->call = p == ETP_NO_INDEX ? ETP_NO_INDEX : direct ? p : events[p].call;
        if (e->kind == ETP_EVENT_OTHER && direct) {
            e->kind = ETP_EVENT_DELEGATE_OP;
            e->delegated = true;
        }
        any = any || e->kind == ETP_EVENT_DELEGATE_OP;
    }
    for (uint32_t i = 0; any && i < t->n; i++) {
        events[i].at_load = events[i].kind == ETP_EVENT_DELEGATE_OP && (loads || in_loading(t, i));
    }
    return any;
}

// ---- beside the inference ----

// By its start and end it is over before WHOLE begins, or begins after it.
static bool is_beside(const state *t, uint32_t event, uint32_t whole)
{
    uint32_t p = place(t, event), w = place(t, whole);
    return t->start[p] <= t->end[p] && (t->end[p] <= t->start[w] || t->start[p] >= t->end[w]);
}

static bool logged_in_execute(const state *t, uint32_t event)
{
    const etp_trace_event *e = &t->s->events[event];
    return e->kind == ETP_EVENT_DELEGATE_OP && e->call == ETP_NO_INDEX &&
           (e->parent == ETP_NO_INDEX || e->parent == t->s->block->execute);
}

// Whether a delegate whose names tell no clock logs by that of the runtime, as far as an event
// inside the inference shows.
static bool any_inside(const state *t)
{
    uint32_t execute = t->s->block->execute;
    for (uint32_t i = 0; i < t->n; i++) {
        const etp_trace_event *e = &t->s->events[i];
        if (e->kind == ETP_EVENT_DELEGATE_OP && t->start[place(t, i)] > 0 &&
            etp_delegate_span(e->name).clock == ETP_SPAN_BY_TIMES && time_inside(t, i, execute)) {
            return true;
        }
    }
    return false;
}

// When the runtime was last heard of before that execution; 0: never.
static uint64_t heard_before(const state *t)
{
    uint64_t last = 0;
    if (t->run > 0) {
        etp_etdump_run before = etp_etdump_run_at(&t->s->trace->dump, t->run - 1);
        for (size_t i = 0; i < before.n_events; i++) {
            etp_etdump_profile p;
            bool runtimes = etp_etdump_profile_of(etp_etdump_event_at(&before, i), &p) &&
                            p.delegate_id == -1 && p.delegate_id_str.len == 0;
            last = runtimes && p.end > last ? p.end : last;
        }
    }
    return last;
}

// What a delegate logs by the runtime's clock, but outside the inference, is of its load: it may be
// loaded late.
static void find_beside(state *t)
{
    bool asked = false, inside = false;
    uint64_t heard = 0;
    for (uint32_t i = 0; t->start && t->s->block->has_execute && i < t->n; i++) {
        etp_span_clock clock = etp_delegate_span(t->s->events[i].name).clock;
        if (!logged_in_execute(t, i) || !is_beside(t, i, t->s->block->execute) ||
            clock >= ETP_SPAN_OWN_NS) {
            continue;
        }
        if (!asked) {
            inside = any_inside(t);
            heard = heard_before(t);
            asked = true;
        }
        if (clock == ETP_SPAN_RUNTIME || inside || (heard > 0 && t->start[place(t, i)] >= heard)) {
            t->s->events[i].at_load = true;
            t->s->events[i].parent = ETP_NO_INDEX;
        }
    }
}

// ---- clocks ----

// A span outside the event that it was logged in is by another clock, and no file says of which
// unit: microseconds of a late counter look like few nanoseconds. So is one from 0, whatever else
// began there, and one whose counter wraps where that of the event does not.
static etp_span_clock clock_by_times(const state *t, uint32_t event)
{
    uint32_t whole = t->s->events[event].parent;
    uint32_t p = place(t, event);
    bool inside = !t->start || whole == ETP_NO_INDEX || time_inside(t, event, whole) ||
                  (t->start[p] > 0 && t->start[p] <= t->end[p] && !is_beside(t, event, whole));
    return inside ? ETP_SPAN_RUNTIME : ETP_SPAN_OWN;
}

static void find_clocks(state *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->s->events[i].kind == ETP_EVENT_DELEGATE_OP) {
            etp_span span = etp_delegate_span(t->s->events[i].name);
            bool by_times = span.clock == ETP_SPAN_BY_TIMES;
            t->flat[i] = span.flat;
            t->clock[i] = (uint8_t)(by_times ? clock_by_times(t, i) : span.clock);
        }
    }
}

// ---- containment ----

// By a clock of its own as well, when its unit was told; not where each span begins at 0.
static bool nests(const state *t, uint32_t event)
{
    return t->s->events[event].kind == ETP_EVENT_DELEGATE_OP && !t->flat[event] && t->start &&
           (t->clock[event] == ETP_SPAN_RUNTIME ||
            (t->s->delegate.den > 0 && t->start[place(t, event)] > 0));
}

static bool is_part_of(const state *t, uint32_t part, uint32_t whole)
{
    const etp_trace_event *p = &t->s->events[part], *w = &t->s->events[whole];
    if (p->parent != w->parent || p->kind != ETP_EVENT_DELEGATE_OP) {
        return false;
    }
    const char *within = etp_delegate_span(p->name).within;
    return (within && etp_str_eqz(w->name, within)) ||
           (nests(t, part) && t->clock[part] == t->clock[whole] && time_inside(t, part, whole));
}

// Events are in the order in which they ended, so that a whole takes the newest that nothing holds
// yet. What has no length is a part of nothing: its whole would be a whole for nothing.
static void find_containment(state *t, etp_span_clock clock)
{
    uint32_t *open = etp_arena_alloc_raw(t->scratch, t->n, sizeof *open);
    size_t n_open = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        bool whole = nests(t, i) && t->clock[i] == clock;
        if (whole && t->start[place(t, i)] == t->end[place(t, i)]) {
            continue;
        }
        while (whole && n_open > 0 && is_part_of(t, open[n_open - 1], i)) {
            t->s->events[open[--n_open]].parent = i;
        }
        // What neither nests by this clock nor has a place that its name tells would part those
        // around it.
        if (whole || etp_delegate_span(t->s->events[i].name).within) {
            open[n_open++] = i;
        }
    }
}

typedef struct stretch {
    uint64_t start, end;
    uint32_t parent;
    uint8_t clock;
} stretch;

static int by_place(const void *pa, const void *pb)
{
    const stretch *a = pa, *b = pb;
    if (a->parent != b->parent || a->clock != b->clock) {
        return a->parent != b->parent ? (a->parent > b->parent) - (a->parent < b->parent)
                                      : a->clock - b->clock;
    }
    return (a->start > b->start) - (a->start < b->start);
}

static bool has_place(const state *t, uint32_t event)
{
    const etp_trace_event *e = &t->s->events[event];
    return nests(t, event) && !e->at_load && e->parent != ETP_NO_INDEX;
}

// Begins before or ends after what it is a part of, by the same clock.
static bool crosses(const state *t, uint32_t event)
{
    uint32_t whole = t->s->events[event].parent;
    uint8_t of = t->s->events[whole].kind == ETP_EVENT_DELEGATE_OP ? t->clock[whole]
                                                                   : (uint8_t)ETP_SPAN_RUNTIME;
    return of == t->clock[event] && !lies_inside(t, event, whole, t->s->step);
}

// Marks in WITHHELD what has such parts in the execution whose times are read. V: room for all. Of
// a counter that wraps in one of them places tell nothing.
static void find_crossing(const state *t, stretch *v, bool *withheld)
{
    size_t n = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        const etp_trace_event *e = &t->s->events[i];
        bool span = has_place(t, i), call = e->kind == ETP_EVENT_DELEGATE_CALL;
        if (span || (call && e->parent != ETP_NO_INDEX)) {
            uint32_t at = place(t, i);
            uint8_t clock = span ? t->clock[i] : (uint8_t)ETP_SPAN_RUNTIME;
            withheld[e->parent] = withheld[e->parent] || (span && crosses(t, i));
            v[n++] = (stretch){t->start[at], t->end[at], e->parent, clock};
        }
    }
    qsort(v, n, sizeof *v, by_place);
    uint64_t last = 0;
    for (size_t i = 0; i < n; i++) {
        bool first = i == 0 || v[i].parent != v[i - 1].parent || v[i].clock != v[i - 1].clock;
        bool wraps = v[i].start > v[i].end;
        withheld[v[i].parent] = withheld[v[i].parent] || (!first && v[i].start < last);
        last = first || v[i].end > last ? v[i].end : last;
        last = wraps ? 0 : last;
    }
}

// Spans that ran side by side, lie in one that was logged before them or reach beyond what they are
// a part of are more than the time that passed: which of them it was spent in, nobody knows.
static void find_overlaps(state *t)
{
    stretch *v = etp_arena_alloc_raw(t->scratch, t->n, sizeof *v);
    bool *withheld = etp_arena_alloc_array(t->scratch, t->n + 1, sizeof *withheld), any = false;
    for (uint32_t i = 0; i < t->n; i++) {
        any = any || has_place(t, i);
    }
    for (size_t r = t->s->block->n_runs; any && r-- > 0;) { // the first sound one is read last
        if (!t->bad[r]) {
            read_times_of(t, t->s->block->runs[r]);
            find_crossing(t, v, withheld);
        }
    }
    for (uint32_t i = 0; any && i < t->n; i++) {
        if (has_place(t, i) && withheld[t->s->events[i].parent]) {
            t->s->events[i].apart = ETP_APART_SUM;
        }
    }
}

// ---- other clocks ----

static void list_parts(state *t)
{
    const etp_trace_event *events = t->s->events;
    memset(t->first, 0, t->n * sizeof *t->first);
    for (uint32_t i = (uint32_t)t->n; i-- > 0;) {
        uint32_t p = events[i].parent;
        if (p != ETP_NO_INDEX) {
            t->next[i] = t->first[p];
            t->first[p] = i + 1;
        }
    }
}

// Ticks as recorded, for what was multiplied by the runtime's ratio.
static void read_ticks(state *t, const bool *wanted)
{
    const etp_etdump *dump = &t->s->trace->dump;
    const etp_trace_block *b = t->s->block;
    if (b->n_runs == 0 || b->runs[0] >= dump->n_runs) {
        return; // from a table
    }
    uint32_t *event_at = etp_arena_alloc_raw(t->scratch, t->n, sizeof *event_at);
    for (uint32_t i = 0; i < t->n; i++) {
        event_at[place(t, i)] = i;
    }
    for (size_t r = 0; r < b->n_runs; r++) {
        etp_etdump_run run = etp_etdump_run_at(dump, b->runs[r]);
        size_t k = 0;
        for (size_t i = 0; i < run.n_events && k < t->n; i++) {
            etp_fb_table p = etp_ed_profile_table(&run, i);
            if (!p.ptr) {
                continue;
            }
            uint32_t event = event_at[k++];
            uint64_t ticks = 0;
            if (wanted[event] && etp_etdump_elapsed(etp_fb_u64(p, ETP_ED_PROFILE_START, 0),
                                                    etp_fb_u64(p, ETP_ED_PROFILE_END, 0), &ticks)) {
                t->s->columns[event * b->n_runs + r] = ticks;
            }
        }
    }
}

// Where some names say cycles, the unit that was told is that of these or that of the others.
static bool to_nanoseconds(state *t, uint32_t event, bool some_say_cycles)
{
    uint64_t *d = t->s->columns + event * t->s->block->n_runs;
    uint64_t ns = 0;
    bool says = etp_delegate_says_cycles(t->s->events[event].name);
    bool fits = t->s->delegate.den > 0 && (!some_say_cycles || says == t->s->cycles);
    for (size_t r = 0; fits && r < t->s->block->n_runs; r++) {
        fits = t->bad[r] || etp_unit_scale(d[r], t->s->delegate, &ns);
    }
    for (size_t r = 0; fits && r < t->s->block->n_runs; r++) {
        fits = t->bad[r] || etp_unit_scale(d[r], t->s->delegate, &d[r]);
    }
    return fits;
}

// A call that has parts by its own clock cannot take others beside them: both would be its whole.
static bool has_runtimes(const state *t, uint32_t whole)
{
    for (uint32_t at = t->first[whole]; at; at = t->next[at - 1]) {
        const etp_trace_event *e = &t->s->events[at - 1];
        if (e->kind == ETP_EVENT_DELEGATE_OP && !e->apart && t->clock[at - 1] < ETP_SPAN_OWN_NS) {
            return true;
        }
    }
    return false;
}

// A counter of another origin whose ticks, read as nanoseconds, make more than half of their call
// and no more than all of it counts nanoseconds, as ExecuTorch's own tools take it. Microseconds
// would make a thousandth of the call. One that begins at 0 does not count from an origin.
static bool counts_nanoseconds(const state *t, uint32_t whole)
{
    size_t n_runs = t->s->block->n_runs;
    bool fits = t->s->delegate.den == 0;
    for (size_t r = 0; fits && r < n_runs; r++) {
        const uint64_t length = t->s->columns[whole * n_runs + r];
        uint64_t sum = 0;
        for (uint32_t at = t->first[whole]; fits && at; at = t->next[at - 1]) {
            if (t->clock[at - 1] == ETP_SPAN_OWN) {
                uint64_t ticks = t->s->columns[(at - 1) * n_runs + r];
                fits = t->start && t->start[place(t, at - 1)] > 0 && ticks <= length - sum &&
                       !etp_delegate_says_cycles(t->s->events[at - 1].name);
                sum += fits ? ticks : 0;
            }
        }
        fits = t->bad[r] || (fits && sum >= length / 2);
    }
    return fits;
}

static void settle_clocks(state *t)
{
    etp_trace_event *events = t->s->events;
    bool *own = etp_arena_alloc_array(t->scratch, t->n, sizeof *own), any = false, cycles = false;
    for (uint32_t i = 0; i < t->n; i++) {
        own[i] = events[i].kind == ETP_EVENT_DELEGATE_OP && t->clock[i] >= ETP_SPAN_OWN_NS;
        any = any || own[i];
        cycles = cycles || (own[i] && etp_delegate_says_cycles(events[i].name));
    }
    if (!any) {
        return;
    }
    read_ticks(t, own);
    list_parts(t);
    uint32_t parent = ETP_NO_INDEX;
    bool beside = false, as_ns = false;
    for (uint32_t i = 0; i < t->n; i++) {
        if (!own[i]) {
            continue;
        }
        if (events[i].parent != parent) {
            parent = events[i].parent;
            beside = parent != ETP_NO_INDEX && has_runtimes(t, parent);
            as_ns = parent != ETP_NO_INDEX && counts_nanoseconds(t, parent);
        }
        if (events[i].apart) {
            continue;
        }
        bool known = t->clock[i] == ETP_SPAN_OWN_NS || as_ns || to_nanoseconds(t, i, cycles);
        events[i].apart = known && !beside ? ETP_APART_NOT : ETP_APART_CLOCK;
    }
}

// ---- two units by turns ----

// Of those executions that give EVENT so many ticks, the mean of what it is a part of.
static double mean_around(const state *t, uint32_t event, uint64_t least, uint64_t most)
{
    size_t n_runs = t->s->block->n_runs, n = 0;
    const uint64_t *d = t->s->columns + event * n_runs;
    double sum = 0;
    for (size_t r = 0; r < n_runs; r++) {
        bool counts = !t->bad[r] && d[r] >= least && d[r] <= most;
        sum += counts ? (double)t->s->columns[t->s->events[event].parent * n_runs + r] : 0;
        n += counts;
    }
    return sum / (double)n;
}

// In part of the executions a thousand times as many ticks as in the others, in calls that take as
// long: neither number is a time.
static bool takes_turns(const state *t, uint32_t event, uint64_t *v)
{
    size_t n_runs = t->s->block->n_runs, n = 0, at = 0;
    for (size_t r = 0; r < n_runs; r++) {
        if (!t->bad[r]) {
            v[n++] = t->s->columns[event * n_runs + r];
        }
    }
    qsort(v, n, sizeof *v, etp_order_u64);
    for (size_t i = 1; i < n; i++) {
        at = v[i - 1] > 0 && v[i] / v[i - 1] >= TURNS_GAP ? i : at;
    }
    if (at < 2 || n - at < 2 || at * ODD_RUNS < n || (n - at) * ODD_RUNS < n) {
        return false;
    }
    double ratio = (double)v[at + (n - at) / 2] / (double)v[at / 2];
    double few = mean_around(t, event, 0, v[at - 1]),
           many = mean_around(t, event, v[at], UINT64_MAX);
    return ratio > TURNS_RATIO / 1.5 && ratio < TURNS_RATIO * 1.5 && few < many * TURNS_SAME &&
           many < few * TURNS_SAME;
}

static void find_turns(state *t)
{
    uint64_t *v = etp_arena_alloc_raw(t->scratch, t->s->block->n_runs, sizeof *v);
    for (uint32_t i = 0; i < t->n; i++) {
        etp_trace_event *e = &t->s->events[i];
        if (e->kind == ETP_EVENT_DELEGATE_OP && !e->at_load && e->parent != ETP_NO_INDEX &&
            etp_delegate_span(e->name).clock == ETP_SPAN_BY_TIMES && takes_turns(t, i, v)) {
            e->apart = ETP_APART_TICKS;
        }
    }
}

// ---- sums ----

// Those by a clock of their own first, then what else delegates logged, then what the runtime did.
static void withhold_parts(state *t, uint32_t whole)
{
    bool any = false;
    for (int k = 0; k < 3 && !any; k++) {
        for (uint32_t at = t->first[whole]; at; at = t->next[at - 1]) {
            etp_trace_event *e = &t->s->events[at - 1];
            bool logged = e->kind == ETP_EVENT_DELEGATE_OP;
            int turn = !logged ? 2 : t->clock[at - 1] >= ETP_SPAN_OWN_NS ? 0 : 1;
            if (!e->apart && turn == k) {
                e->apart = ETP_APART_SUM;
                any = true;
            }
        }
    }
}

// With an event its parts are apart. From here on none of them is in the tree, and their times are
// ticks, whatever a unit made of them that does not fit.
static void take_apart(state *t)
{
    etp_trace_event *events = t->s->events;
    bool *apart = etp_arena_alloc_array(t->scratch, t->n, sizeof *apart), any = false;
    for (size_t i = t->n; i-- > 0;) {
        uint32_t p = events[i].parent;
        if (!events[i].apart && p != ETP_NO_INDEX) {
            events[i].apart = events[p].apart;
        }
    }
    for (size_t i = 0; i < t->n; i++) {
        apart[i] = events[i].apart != ETP_APART_NOT;
        any = any || apart[i];
        if (apart[i]) {
            events[i].kind = ETP_EVENT_APART;
            events[i].parent = ETP_NO_INDEX;
        }
    }
    if (any) {
        read_ticks(t, apart);
    }
}

// Executions in which the parts of WHOLE are longer than it. Rounded cells are made to fit.
static size_t count_longer(state *t, uint32_t whole)
{
    size_t n_runs = t->s->block->n_runs, longer = 0, parts = 0;
    uint64_t *w = t->s->columns + whole * n_runs;
    memset(t->sum, 0, n_runs * sizeof *t->sum);
    for (uint32_t at = t->first[whole]; at; at = t->next[at - 1]) {
        const uint64_t *d = t->s->columns + (at - 1) * n_runs;
        for (size_t r = 0; !t->s->events[at - 1].apart && r < n_runs; r++) {
            t->sum[r] += d[r];
        }
        parts++;
    }
    for (size_t r = 0; r < n_runs; r++) {
        if (t->sum[r] > w[r] && t->sum[r] - w[r] <= t->s->slack_ns * (parts + 1)) {
            w[r] = t->sum[r];
        }
        longer += !t->bad[r] && t->sum[r] > w[r];
    }
    return longer;
}

static void note_damage(state *t, size_t run, uint32_t event, uint32_t whole)
{
    size_t n_runs = t->s->block->n_runs;
    const uint64_t *columns = t->s->columns;
    uint64_t ns = columns[event * n_runs + run];
    if (t->bad[run]) {
        return;
    }
    t->bad[run] = true;
    ETP_ADD(t->s->arena, &t->s->trace->damage,
            ((etp_trace_damage){
                .run = t->s->block->runs[run],
                .name = t->s->events[event].name,
                .ns = ns == ETP_BACKWARDS_NS ? ETP_NS_UNKNOWN
                      : ns > INT64_MAX       ? INT64_MAX
                                             : (int64_t)ns,
                .whole_ns = whole == ETP_NO_INDEX ? 0 : columns[whole * n_runs + run],
            }));
}

static uint32_t longest_part(const state *t, uint32_t whole, size_t run)
{
    size_t n_runs = t->s->block->n_runs;
    uint32_t longest = whole;
    for (uint32_t at = t->first[whole]; at; at = t->next[at - 1]) {
        bool counts = !t->s->events[at - 1].apart;
        if (counts && (longest == whole || t->s->columns[(at - 1) * n_runs + run] >
                                               t->s->columns[longest * n_runs + run])) {
            longest = at - 1;
        }
    }
    return longest;
}

static size_t count_sound(const state *t)
{
    size_t sound = 0;
    for (size_t r = 0; r < t->s->block->n_runs; r++) {
        sound += !t->bad[r];
    }
    return sound;
}

static void check_whole(state *t, uint32_t whole)
{
    size_t n_runs = t->s->block->n_runs, longer = count_longer(t, whole);
    if (longer == 0) {
        return;
    }
    if (longer * ODD_RUNS <= count_sound(t)) {
        for (size_t r = 0; r < n_runs; r++) {
            if (t->sum[r] > t->s->columns[whole * n_runs + r]) {
                note_damage(t, r, longest_part(t, whole, r), whole);
            }
        }
        return;
    }
    withhold_parts(t, whole);
    check_whole(t, whole);
}

// Before clocks are told: no unit makes a time of these, and no other execution is judged by them.
// Where a delegate's event ends before it starts in many executions, its ticks are odd, not they.
static void check_lengths(state *t)
{
    size_t n_runs = t->s->block->n_runs;
    for (uint32_t i = 0; i < t->n; i++) {
        uint64_t *d = t->s->columns + i * n_runs;
        size_t back = 0;
        for (size_t r = 0; t->s->events[i].delegated && r < n_runs; r++) {
            back += d[r] == ETP_BACKWARDS_NS;
        }
        bool odd = back > 1 && back * ODD_RUNS > n_runs;
        t->s->events[i].apart = odd ? ETP_APART_TICKS : ETP_APART_NOT;
        for (size_t r = 0; r < n_runs; r++) {
            if (d[r] > ETP_LONGEST_NS && !(odd && d[r] == ETP_BACKWARDS_NS)) {
                note_damage(t, r, i, ETP_NO_INDEX);
            }
            d[r] = d[r] == ETP_BACKWARDS_NS ? 0 : d[r];
            t->long_runs = t->long_runs || d[r] > JUMP_NS(r);
        }
    }
}

// Of EVENT without its parts, behind check_whole.
static void check_jumps(state *t, uint32_t event)
{
    size_t n_runs = t->s->block->n_runs, n = 0, jumps = 0;
    const uint64_t *d = t->s->columns + event * n_runs;
    uint64_t *own = etp_arena_alloc_raw(t->scratch, n_runs, sizeof *own);
    count_longer(t, event);
    for (size_t r = 0; r < n_runs; r++) {
        if (!t->bad[r]) {
            own[n++] = d[r] - t->sum[r];
        }
    }
    if (n == 0) {
        return;
    }
    qsort(own, n, sizeof *own, etp_order_u64);
    bool *jumped = ETP_NEW_ARRAY(t->scratch, bool, n_runs);
    for (size_t r = 0; r < n_runs; r++) {
        uint64_t self = t->bad[r] ? 0 : d[r] - t->sum[r];
        jumped[r] = self > JUMP_NS(r) && self > JUMP_FROM(r) * own[(n - 1) / 2];
        jumps += jumped[r];
    }
    for (size_t r = 0; jumps * ODD_RUNS <= n && r < n_runs; r++) {
        if (jumped[r]) {
            note_damage(t, r, event, ETP_NO_INDEX);
        }
    }
}

static void drop_damaged(state *t)
{
    etp_trace_block *b = t->s->block;
    size_t kept = 0, n_runs = b->n_runs;
    for (size_t r = 0; r < n_runs; r++) {
        kept += !t->bad[r];
    }
    if (kept == n_runs) {
        return;
    }
    uint64_t *to = t->s->columns;
    for (size_t i = 0; i < t->n; i++) {
        for (size_t r = 0; r < n_runs; r++) {
            if (!t->bad[r]) {
                *to++ = t->s->columns[i * n_runs + r];
            }
        }
    }
    for (size_t r = 0, k = 0; r < n_runs; r++) {
        if (!t->bad[r]) {
            t->s->runs[k++] = t->s->runs[r];
        }
    }
    b->n_runs = kept;
}

static void mark_leaves(state *t)
{
    etp_trace_event *events = t->s->events;
    for (size_t i = 0; i < t->n; i++) {
        events[i].leaf = true;
    }
    for (size_t i = 0; i < t->n; i++) {
        if (events[i].parent != ETP_NO_INDEX) {
            events[events[i].parent].leaf = false;
        }
    }
}

void etp_settle_block(const etp_settle *s)
{
    etp_arena scratch;
    etp_arena_scratch(&scratch, s->arena);
    size_t n = s->block->n_events, n_runs = s->block->n_runs;
    state t = {
        .s = s,
        .scratch = &scratch,
        .n = n,
        .clock = etp_arena_alloc_array(&scratch, n, sizeof *t.clock),
        .flat = etp_arena_alloc_array(&scratch, n, sizeof *t.flat),
        .bad = etp_arena_alloc_array(&scratch, n_runs, sizeof *t.bad),
        .first = etp_arena_alloc_array(&scratch, n, sizeof *t.first),
        .next = etp_arena_alloc_array(&scratch, n, sizeof *t.next),
        .sum = etp_arena_alloc_array(&scratch, n_runs, sizeof *t.sum),
    };
    check_lengths(&t);
    if (find_calls(&t)) {
        read_times(&t);
        find_beside(&t);
        find_clocks(&t);
        find_containment(&t, ETP_SPAN_RUNTIME);
        find_containment(&t, ETP_SPAN_OWN);
        find_overlaps(&t);
        settle_clocks(&t);
        find_turns(&t);
    }
    list_parts(&t);
    for (uint32_t i = 0; i < n; i++) {
        if (t.first[i]) {
            check_whole(&t, i);
        }
    }
    for (uint32_t i = 0; t.long_runs && i < n; i++) {
        if (!s->events[i].apart) {
            check_jumps(&t, i);
        }
    }
    take_apart(&t);
    drop_damaged(&t);
    mark_leaves(&t);
    etp_arena_dispose(&scratch);
}
