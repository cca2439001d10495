// SPDX-License-Identifier: Apache-2.0
// Clocks and containment of what delegates log, and the check that parts fit into their wholes.
#include "trace/settle.h"

#include <math.h>
#include <stdlib.h>

#include "base/guard.h"
#include "base/number.h"
#include "base/order.h"
#include "operators/delegates.h"
#include "trace/containment.h"

// Beyond this and so many times the usual, what no part of an event accounts for is a clock that
// jumped, or a device that slept; the first executions may set much up.
#define JUMP_NS(run) ((run) < 2 ? 60000000000 : 1000000000)
#define JUMP_FROM(run) ((run) < 2 ? 10000 : 1000)

// ---- calls, loading ----

static bool in_loading(const etp_settling *t, uint32_t event)
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
static bool only_loads(const etp_settling *t)
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
static bool find_calls(etp_settling *t)
{
    etp_trace_event *events = t->s->events;
    bool any = false, loads = only_loads(t);
    for (uint32_t i = (uint32_t)t->n; i-- > 0;) {
        etp_trace_event *e = &events[i];
        uint32_t p = e->parent;
        bool direct = p != ETP_NO_INDEX && events[p].kind == ETP_EVENT_DELEGATE_CALL;
        e->call = p;
        if (p != ETP_NO_INDEX && !direct) {
            e->call = events[p].call;
        }
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

static bool logged_in_execute(const etp_settling *t, uint32_t event)
{
    const etp_trace_event *e = &t->s->events[event];
    return e->kind == ETP_EVENT_DELEGATE_OP && e->call == ETP_NO_INDEX &&
           (e->parent == ETP_NO_INDEX || e->parent == t->s->block->execute);
}

// Whether a delegate whose names tell no clock logs by that of the runtime, as far as an event
// inside the inference shows.
static bool any_inside(const etp_settling *t)
{
    uint32_t execute = t->s->block->execute;
    for (uint32_t i = 0; i < t->n; i++) {
        const etp_trace_event *e = &t->s->events[i];
        if (e->kind == ETP_EVENT_DELEGATE_OP && t->times[i].start > 0 &&
            etp_delegate_span(e->name).clock == ETP_SPAN_BY_TIMES &&
            etp_settling_inside(t, i, execute)) {
            return true;
        }
    }
    return false;
}

// When the runtime was last heard of before that execution; 0: never.
static uint64_t heard_before(const etp_settling *t)
{
    uint64_t last = 0;
    const uint32_t run = t->s->block->runs[t->run];
    if (run > 0) {
        etp_etdump_run before = etp_etdump_run_at(&t->s->trace->dump, run - 1);
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
static void find_beside(etp_settling *t)
{
    bool asked = false, inside = false;
    uint64_t heard = 0;
    for (uint32_t i = 0; t->times && t->s->block->has_execute && i < t->n; i++) {
        etp_span_clock clock = etp_delegate_span(t->s->events[i].name).clock;
        if (!logged_in_execute(t, i) || !etp_settling_beside(t, i, t->s->block->execute) ||
            clock >= ETP_SPAN_OWN_NS) {
            continue;
        }
        if (!asked) {
            inside = any_inside(t);
            heard = heard_before(t);
            asked = true;
        }
        if (clock == ETP_SPAN_RUNTIME || inside || (heard > 0 && t->times[i].start >= heard)) {
            t->s->events[i].at_load = true;
            t->s->events[i].parent = ETP_NO_INDEX;
        }
    }
}

// ---- clocks ----

// A span outside the event that it was logged in is by another clock, and no file says of which
// unit: microseconds of a late counter look like few nanoseconds. So is one from 0, whatever else
// began there, and one whose counter wraps where that of the event does not.
static bool is_by_another(const etp_settling *t, uint32_t event)
{
    uint32_t whole = t->s->events[event].parent;
    const etp_ticks at = t->times[event];
    return whole != ETP_NO_INDEX && !etp_settling_inside(t, event, whole) &&
           (at.start == 0 || at.start > at.end || etp_settling_beside(t, event, whole));
}

// Whether the unit that was told is that of EVENT. Where some names say cycles, it is that of these
// or that of the others.
static bool is_told(const etp_settling *t, uint32_t event, bool some_say_cycles)
{
    bool says = etp_delegate_says_cycles(t->s->events[event].name);
    return t->s->delegate.den > 0 && (!some_say_cycles || says == t->s->cycles);
}

// Ticks of a delegate's clock may happen to lie inside a call of another clock: the unit that was
// told is theirs as long as the call is long enough for it.
static bool fits_told(const etp_settling *t, uint32_t event)
{
    uint32_t whole = t->s->events[event].parent;
    uint64_t ticks = 0;
    return t->times && whole != ETP_NO_INDEX &&
           etp_etdump_elapsed(t->times[event].start, t->times[event].end, &ticks) &&
           etp_unit_scale(ticks, t->s->delegate) <=
               t->s->columns[whole * t->s->block->n_runs + t->run];
}

// Where a name does not tell, the most of the executions do.
static void find_clocks(etp_settling *t)
{
    uint32_t *own = etp_arena_alloc_array(t->scratch, t->n, sizeof *own);
    bool cycles = false, open = false;
    for (uint32_t i = 0; i < t->n; i++) {
        t->clock[i] = ETP_SPAN_RUNTIME;
        if (t->s->events[i].kind == ETP_EVENT_DELEGATE_OP) {
            etp_span span = etp_delegate_span(t->s->events[i].name);
            t->flat[i] = span.flat;
            t->clock[i] = (uint8_t)span.clock;
            open = open || span.clock == ETP_SPAN_BY_TIMES;
            cycles = cycles || etp_delegate_says_cycles(t->s->events[i].name);
        }
    }
    if (open && t->times) {
        // OWN: of each event, in how many of the sound executions its times are of another clock.
        for (size_t k = 0; k < t->n_sound; k++) {
            t->times = t->s->rows[t->sound[k]];
            for (uint32_t i = 0; i < t->n; i++) {
                own[i] += t->s->events[i].kind == ETP_EVENT_DELEGATE_OP && is_by_another(t, i);
            }
        }
        t->times = t->s->rows[t->run];
    }
    for (uint32_t i = 0; open && i < t->n; i++) {
        if (t->clock[i] == ETP_SPAN_BY_TIMES) {
            bool told = is_told(t, i, cycles) && fits_told(t, i);
            bool other = told || 2 * (size_t)own[i] > t->n_sound;
            t->clock[i] = other ? ETP_SPAN_OWN : ETP_SPAN_RUNTIME;
        }
    }
}

// ---- other clocks ----

static void list_parts(etp_settling *t)
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
static void read_ticks(etp_settling *t, const bool *wanted)
{
    const size_t n_runs = t->s->block->n_runs;
    for (uint32_t i = 0; t->s->rows && i < t->n; i++) {
        for (size_t r = 0; wanted[i] && r < n_runs; r++) {
            const etp_ticks at = t->s->rows[r][i];
            uint64_t ticks = 0;
            if (etp_etdump_elapsed(at.start, at.end, &ticks) && ticks <= ETP_LONGEST_NS) {
                t->s->columns[i * n_runs + r] = ticks;
            }
        }
    }
}

static bool to_nanoseconds(etp_settling *t, uint32_t event, bool some_say_cycles)
{
    uint64_t *d = t->s->columns + event * t->s->block->n_runs;
    bool fits = is_told(t, event, some_say_cycles);
    for (size_t r = 0; fits && r < t->s->block->n_runs; r++) {
        fits = t->bad[r] || etp_unit_scale(d[r], t->s->delegate) <= ETP_LONGEST_NS;
    }
    for (size_t r = 0; fits && r < t->s->block->n_runs; r++) {
        d[r] = t->bad[r] ? d[r] : etp_unit_scale(d[r], t->s->delegate);
    }
    return fits;
}

// A call that has parts by its own clock cannot take others beside them: both would be its whole.
static bool has_runtimes(const etp_settling *t, uint32_t whole)
{
    for (uint32_t at = t->first[whole]; at; at = t->next[at - 1]) {
        const etp_trace_event *e = &t->s->events[at - 1];
        if (e->kind == ETP_EVENT_DELEGATE_OP && !e->apart && t->clock[at - 1] < ETP_SPAN_OWN_NS) {
            return true;
        }
    }
    return false;
}

// Whether, from the first execution to the last, the clock of EVENT counted as many ticks as passed
// nanoseconds. One that begins at 0 does not count from an origin, and executions right behind each
// other are too near: what an event's place in its call may vary would be as much.
static bool goes_on(const etp_settling *t, uint32_t event, uint32_t whole)
{
    if (!t->times || t->s->step == 0 || t->times[event].start == 0) {
        return false;
    }
    const uint64_t *d = t->s->columns + whole * t->s->block->n_runs;
    uint64_t from = t->times[event].start, to = t->latest[event].start;
    uint64_t ticks = to - from, most = to | from;
    double ns_of_tick = (double)ETP_STEP_NS / (double)t->s->step, call = (double)d[0];
    double passed = (double)(t->latest[whole].start - t->times[whole].start) * ns_of_tick;
    double counted = (double)ticks;
    if (most <= UINT32_MAX) { // it may have wrapped
        counted = (double)(uint32_t)ticks;
        counted += 4294967296.0 * round((passed - counted) / 4294967296.0);
    }
    return passed >= 4 * call && fabs(counted - passed) <= call / 4 + passed / 1000;
}

// A counter of another origin whose ticks, read as nanoseconds, make more than half of their call
// and no more than all of it counts nanoseconds, as ExecuTorch's own tools take it, if it goes on
// as the runtime's clock does. Microseconds would make a thousandth of the call.
static bool counts_nanoseconds(const etp_settling *t, uint32_t whole)
{
    size_t n_runs = t->s->block->n_runs;
    bool fits = t->s->delegate.den == 0;
    for (size_t r = 0; fits && r < n_runs; r++) {
        const uint64_t length = t->s->columns[whole * n_runs + r];
        uint64_t sum = 0;
        for (uint32_t at = t->first[whole]; fits && at; at = t->next[at - 1]) {
            if (t->clock[at - 1] == ETP_SPAN_OWN) {
                uint64_t ticks = t->s->columns[(at - 1) * n_runs + r];
                fits = (r > 0 || goes_on(t, at - 1, whole)) && ticks <= length - sum &&
                       !etp_delegate_says_cycles(t->s->events[at - 1].name);
                sum += fits ? ticks : 0;
            }
        }
        fits = t->bad[r] || (fits && sum >= length / 2);
    }
    return fits;
}

static void settle_clocks(etp_settling *t)
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

static void find_turns(etp_settling *t)
{
    size_t n_runs = t->s->block->n_runs;
    uint64_t *v = etp_arena_alloc_raw(t->scratch, n_runs, sizeof *v);
    for (uint32_t i = 0; i < t->n; i++) {
        etp_trace_event *e = &t->s->events[i];
        if (e->kind == ETP_EVENT_DELEGATE_OP && !e->at_load && e->parent != ETP_NO_INDEX &&
            etp_delegate_span(e->name).clock == ETP_SPAN_BY_TIMES &&
            etp_unit_takes_turns(t->s->columns + i * n_runs, t->s->columns + e->parent * n_runs,
                                 t->bad, n_runs, v)) {
            e->apart = ETP_APART_TICKS;
        }
    }
}

// ---- sums ----

// With an event its parts are apart. From here on none of them is in the tree, and their times are
// ticks, whatever a unit made of them that does not fit.
static void take_apart(etp_settling *t)
{
    etp_trace_event *events = t->s->events;
    bool *apart = etp_arena_alloc_array(t->scratch, t->n, sizeof *apart), any = false;
    for (size_t i = 0; i < t->n; i++) { // parts may stand on either side of their whole
        uint32_t p = events[i].parent;
        while (p != ETP_NO_INDEX && !events[p].apart) {
            p = events[p].parent;
        }
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
static size_t count_longer(etp_settling *t, uint32_t whole)
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

static uint32_t longest_part(const etp_settling *t, uint32_t whole, size_t run)
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

static size_t count_sound(const etp_settling *t)
{
    size_t sound = 0;
    for (size_t r = 0; r < t->s->block->n_runs; r++) {
        sound += !t->bad[r];
    }
    return sound;
}

static void check_whole(etp_settling *t, uint32_t whole)
{
    size_t n_runs = t->s->block->n_runs, longer = count_longer(t, whole);
    if (longer == 0) {
        return;
    }
    if (longer * ETP_ODD_RUNS <= count_sound(t)) {
        for (size_t r = 0; r < n_runs; r++) {
            if (t->sum[r] > t->s->columns[whole * n_runs + r]) {
                etp_settling_leave_out(t, r, longest_part(t, whole, r), whole, false);
            }
        }
        return;
    }
    // Those by a clock of their own first, then what else delegates logged, then what the runtime
    // did.
    bool any = false;
    for (int k = 0; k < 3 && !any; k++) {
        for (uint32_t at = t->first[whole]; at; at = t->next[at - 1]) {
            etp_trace_event *e = &t->s->events[at - 1];
            bool logged = e->kind == ETP_EVENT_DELEGATE_OP;
            int own = t->clock[at - 1] < ETP_SPAN_OWN_NS, turn = logged ? own : 2;
            if (!e->apart && turn == k) {
                e->apart = ETP_APART_SUM;
                any = true;
            }
        }
    }
    check_whole(t, whole);
}

// Before clocks are told: no unit makes a time of these, and no other execution is judged by them.
// Where a delegate's event ends before it starts in many executions, or lasts for days in
// all, its ticks are odd, not they.
static void check_lengths(etp_settling *t)
{
    size_t n_runs = t->s->block->n_runs;
    for (uint32_t i = 0; i < t->n; i++) {
        uint64_t *d = t->s->columns + i * n_runs;
        size_t back = 0, ages = 0;
        for (size_t r = 0; t->s->events[i].delegated && r < n_runs; r++) {
            back += d[r] == ETP_BACKWARDS_NS;
            ages += d[r] > ETP_BACKWARDS_NS;
        }
        bool odd = (back > 1 && back * ETP_ODD_RUNS > n_runs) || ages == n_runs;
        t->s->events[i].apart = odd ? ETP_APART_TICKS : ETP_APART_NOT;
        for (size_t r = 0; r < n_runs; r++) {
            if (d[r] > ETP_LONGEST_NS && !odd) {
                etp_settling_leave_out(t, r, i, ETP_NO_INDEX, false);
            }
            d[r] = d[r] == ETP_BACKWARDS_NS || (odd && d[r] > ETP_LONGEST_NS) ? 0 : d[r];
            t->long_runs = t->long_runs || d[r] > JUMP_NS(r);
        }
    }
}

// Of EVENT without its parts, behind check_whole.
static void check_jumps(etp_settling *t, uint32_t event)
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
    for (size_t r = 0; jumps * ETP_ODD_RUNS <= n && r < n_runs; r++) {
        if (jumped[r]) {
            etp_settling_leave_out(t, r, event, ETP_NO_INDEX, false);
        }
    }
}

static void drop_damaged(etp_settling *t)
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

// Of the first sound execution, and of the last one.
static void take_times(etp_settling *t)
{
    const size_t n_runs = t->s->block->n_runs;
    t->sound = etp_arena_alloc_array(t->scratch, n_runs + 1, sizeof *t->sound);
    for (size_t r = 0; r < n_runs; r++) {
        if (!t->bad[r]) {
            t->sound[t->n_sound++] = r;
        }
    }
    if (t->s->rows && t->n_sound > 0) {
        t->run = t->sound[0];
        t->times = t->s->rows[t->run];
        t->latest = t->s->rows[t->sound[t->n_sound - 1]];
    }
}

void etp_settle_block(const etp_settle *s)
{
    etp_arena scratch;
    etp_arena_scratch(&scratch, s->arena);
    size_t n = s->block->n_events, n_runs = s->block->n_runs;
    etp_settling t = {
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
    bool logged = find_calls(&t);
    take_times(&t);
    if (logged) {
        find_beside(&t);
    }
    // What the runtime logged behind the inference and by its times began behind it is no part of
    // it.
    for (uint32_t i = 0; t.times && t.s->block->has_execute && i < t.n; i++) {
        etp_trace_event *e = &t.s->events[i];
        if (etp_settling_is_runtimes(e->kind) && e->parent == ETP_NO_INDEX &&
            etp_settling_beside(&t, i, t.s->block->execute)) {
            e->apart = ETP_APART_SUM;
        }
    }
    find_clocks(&t);
    if (logged) {
        etp_settling_contain(&t);
        for (uint32_t i = 0; i < n; i++) { // sums take parts before their wholes
            uint32_t p = s->events[i].parent;
            if (p != ETP_NO_INDEX && p < i && s->events[p].kind == ETP_EVENT_DELEGATE_OP) {
                s->events[p].apart = ETP_APART_SUM;
            }
        }
    }
    etp_settling_cross(&t);
    if (logged) {
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
    etp_trace_event *events = t.s->events;
    for (size_t i = 0; i < t.n; i++) {
        events[i].leaf = true;
    }
    for (size_t i = 0; i < t.n; i++) {
        if (events[i].parent != ETP_NO_INDEX) {
            events[events[i].parent].leaf = false;
        }
    }
    etp_arena_dispose(&scratch);
}
