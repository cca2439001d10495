// SPDX-License-Identifier: Apache-2.0
// Containment by times: where an event lies, what it is a part of, and which of them cross.
#include "trace/containment.h"

#include <stdlib.h>

#include "base/guard.h"
#include "base/number.h"
#include "operators/delegates.h"

#define COLD_RUNS 2 // may set up

// ---- places ----

// SLACK: how far it may begin before and end after. A counter of 32 bits that wraps in the whole
// wraps in the part, before or behind it.
static bool lies_inside(const etp_settling *t, uint32_t part, uint32_t whole, uint64_t slack)
{
    const etp_ticks p = t->times[part], w = t->times[whole];
    bool begun = w.start <= p.start || w.start - p.start <= slack;
    bool over = p.end <= w.end || p.end - w.end <= slack;
    bool wraps = p.start > p.end, around = w.start > w.end;
    return around && !wraps ? begun || over : begun && over && (!wraps || around);
}

bool etp_settling_inside(const etp_settling *t, uint32_t part, uint32_t whole)
{
    return lies_inside(t, part, whole, 0);
}

bool etp_settling_beside(const etp_settling *t, uint32_t event, uint32_t whole)
{
    const etp_ticks p = t->times[event], w = t->times[whole];
    return p.start <= p.end && (p.end <= w.start || p.start >= w.end);
}

// ---- executions that are left out ----

void etp_settling_leave_out(etp_settling *t, size_t run, uint32_t event, uint32_t whole,
                            bool crosses)
{
    size_t n_runs = t->s->block->n_runs;
    const uint64_t *columns = t->s->columns;
    uint64_t ns = columns[event * n_runs + run];
    const int64_t most = ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
    if (t->bad[run]) {
        return;
    }
    t->bad[run] = true;
    ETP_ADD(t->s->arena, &t->s->trace->damage,
            ((etp_trace_damage){
                .run = t->s->block->runs[run],
                .name = t->s->events[event].name,
                .ns = ns == ETP_BACKWARDS_NS ? ETP_NS_UNKNOWN : most,
                .whole_ns = whole == ETP_NO_INDEX ? 0 : columns[whole * n_runs + run],
                .crosses = crosses,
            }));
}

// ---- containment ----

// By a clock of its own as well, when its unit was told; not where each span begins at 0.
static bool nests(const etp_settling *t, uint32_t event)
{
    return t->s->events[event].kind == ETP_EVENT_DELEGATE_OP && !t->flat[event] && t->times &&
           (t->clock[event] == ETP_SPAN_RUNTIME ||
            (t->s->delegate.den > 0 && t->times[event].start > 0));
}

typedef struct nested {
    int64_t start, end;
    uint32_t parent, event;
} nested;

// Wholes before their parts; of equal spans the one that was logged last is the whole.
static int by_start(const void *pa, const void *pb)
{
    const nested *a = pa, *b = pb;
    return etp_order_then(
        ETP_ORDER(a->parent, b->parent),
        etp_order_then(ETP_ORDER(a->start, b->start),
                       etp_order_then(ETP_ORDER(b->end, a->end), ETP_ORDER(b->event, a->event))));
}

// Of a counter of 32 bits that wraps in a call, what it counted before has the larger numbers.
static int64_t unwrapped(uint64_t ticks, bool wraps)
{
    return (int64_t)ticks - (wraps && ticks > UINT32_MAX / 2 ? (int64_t)UINT32_MAX + 1 : 0);
}

static bool wraps(const etp_settling *t, uint32_t event)
{
    return event != ETP_NO_INDEX && t->times[event].start > t->times[event].end;
}

// What has no length is a part of nothing: its whole would be a whole for nothing.
static void contain_by_times(etp_settling *t, etp_span_clock clock, nested *v, nested *open)
{
    bool *wrapped = etp_arena_alloc_array(t->scratch, t->n + 1, sizeof *wrapped);
    etp_trace_event *events = t->s->events;
    size_t n = 0, n_open = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        if (nests(t, i) && t->clock[i] == clock) {
            uint32_t p = events[i].parent;
            size_t call = p == ETP_NO_INDEX ? t->n : p;
            wrapped[call] = wrapped[call] || wraps(t, i) || wraps(t, p);
        }
    }
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t p = events[i].parent;
        if (nests(t, i) && t->clock[i] == clock && t->times[i].start != t->times[i].end) {
            bool over = wrapped[p == ETP_NO_INDEX ? t->n : p];
            v[n++] = (nested){unwrapped(t->times[i].start, over), unwrapped(t->times[i].end, over),
                              p, i};
        }
    }
    qsort(v, n, sizeof *v, by_start);
    for (size_t i = 0; i < n; i++) {
        while (n_open > 0 &&
               (open[n_open - 1].parent != v[i].parent || open[n_open - 1].end < v[i].end)) {
            n_open--;
        }
        if (n_open > 0) {
            events[v[i].event].parent = open[n_open - 1].event;
        }
        open[n_open++] = v[i];
    }
}

// PARENTS: as the execution R has them, from those of BEFORE.
static void contain_as_in(etp_settling *t, size_t r, const uint32_t *before, uint32_t *parents)
{
    nested *v = etp_arena_alloc_raw(t->scratch, 2 * t->n, sizeof *v);
    for (uint32_t i = 0; i < t->n; i++) {
        t->s->events[i].parent = before[i];
    }
    if (t->times) {
        t->times = t->s->rows[r];
        contain_by_times(t, ETP_SPAN_RUNTIME, v, v + t->n);
        contain_by_times(t, ETP_SPAN_OWN, v, v + t->n);
    }
    // What no time places, and has a name that tells: in the next one of that name in its call.
    etp_trace_event *events = t->s->events;
    for (uint32_t i = 0; i < t->n; i++) {
        const char *within = events[i].kind == ETP_EVENT_DELEGATE_OP
                                 ? etp_delegate_span(events[i].name).within
                                 : NULL;
        uint32_t p = events[i].parent;
        if (!within || (p != ETP_NO_INDEX && events[p].kind == ETP_EVENT_DELEGATE_OP)) {
            continue;
        }
        uint32_t at = i + 1;
        while (at < t->n && events[at].call == events[i].call &&
               events[at].kind == ETP_EVENT_DELEGATE_OP && !etp_str_eqz(events[at].name, within)) {
            at++;
        }
        if (at < t->n && events[at].kind == ETP_EVENT_DELEGATE_OP &&
            events[at].call == events[i].call) {
            events[i].parent = at;
        }
    }
    for (uint32_t i = 0; i < t->n; i++) {
        parents[i] = t->s->events[i].parent;
    }
}

void etp_settling_contain(etp_settling *t)
{
    const size_t size = t->n * sizeof(uint32_t);
    uint32_t *before = etp_arena_alloc_raw(t->scratch, 4 * t->n, sizeof *before);
    uint32_t *first = before + t->n, *last = first + t->n, *middle = last + t->n, *found = first;
    const size_t n = t->n_sound, r[3] = {t->sound[0], t->sound[n / 2], t->sound[n ? n - 1 : 0]};
    for (uint32_t i = 0; i < t->n; i++) {
        before[i] = t->s->events[i].parent;
    }
    contain_as_in(t, r[0], before, first);
    if (t->times && n > 2) {
        contain_as_in(t, r[2], before, last);
        if (memcmp(first, last, size) != 0) {
            contain_as_in(t, r[1], before, middle);
            found = memcmp(middle, last, size) == 0 ? last : first;
        }
    }
    for (uint32_t i = 0; i < t->n; i++) {
        t->s->events[i].parent = found[i];
    }
    if (t->times) {
        t->run = found == first ? r[0] : r[2];
        t->times = t->s->rows[t->run];
    }
}

typedef struct stretch {
    uint64_t start, end;
    uint32_t parent;
    uint8_t clock;
    bool logged; // by a delegate
} stretch;

static int by_place(const void *pa, const void *pb)
{
    const stretch *a = pa, *b = pb;
    if (a->parent != b->parent || a->clock != b->clock) {
        return etp_order_then(ETP_ORDER(a->parent, b->parent), a->clock - b->clock);
    }
    return ETP_ORDER(a->start, b->start);
}

bool etp_settling_is_runtimes(etp_event_kind kind)
{
    return kind == ETP_EVENT_DELEGATE_CALL || kind == ETP_EVENT_OPERATOR_CALL ||
           kind == ETP_EVENT_NATIVE_CALL;
}

// Which of what a whole holds cross each other or it: those that delegates logged, the runtime's.
enum { CROSS_LOGGED = 1, CROSS_RUNTIMES = 2 };

static bool has_place(const etp_settling *t, uint32_t event)
{
    const etp_trace_event *e = &t->s->events[event];
    bool logged = e->kind == ETP_EVENT_DELEGATE_OP;
    return e->parent != ETP_NO_INDEX && !e->at_load && !e->apart &&
           (logged ? nests(t, event) || (t->flat[event] && t->clock[event] == ETP_SPAN_RUNTIME)
                   : etp_settling_is_runtimes(e->kind) && t->times[event].start > 0);
}

// Begins before or ends after what it is a part of, by the same clock. Where operators are logged
// one by one, by sums of their times, only those beside their call do.
static bool crosses(const etp_settling *t, uint32_t event)
{
    uint32_t whole = t->s->events[event].parent;
    uint8_t of = t->s->events[whole].kind == ETP_EVENT_DELEGATE_OP ? t->clock[whole]
                                                                   : (uint8_t)ETP_SPAN_RUNTIME;
    return of == t->clock[event] && !lies_inside(t, event, whole, t->s->step) &&
           (!t->flat[event] || etp_settling_beside(t, event, whole));
}

// FOUND: what crosses in the execution whose times are read, by whole. V: room for all. Of a
// counter that wraps in one of them places tell nothing.
static void find_crossing(const etp_settling *t, stretch *v, uint8_t *found)
{
    size_t n = 0;
    memset(found, 0, t->n);
    for (uint32_t i = 0; i < t->n; i++) {
        const etp_trace_event *e = &t->s->events[i];
        const etp_ticks at = t->times[i];
        if (has_place(t, i)) {
            bool logged = e->kind == ETP_EVENT_DELEGATE_OP;
            if (crosses(t, i)) {
                found[e->parent] |= logged ? CROSS_LOGGED : CROSS_RUNTIMES;
            }
            if (!t->flat[i] && at.start != at.end) { // what takes no time crosses nothing
                v[n++] = (stretch){at.start, at.end, e->parent, t->clock[i], logged};
            }
        }
    }
    qsort(v, n, sizeof *v, by_place);
    const stretch *last = NULL;
    for (size_t i = 0; i < n; i++) {
        bool first = !last || v[i].parent != last->parent || v[i].clock != last->clock;
        if (!first && last->start <= last->end && v[i].start < last->end) {
            found[v[i].parent] |= v[i].logged || last->logged ? CROSS_LOGGED : CROSS_RUNTIMES;
        }
        last = first || v[i].start > v[i].end || v[i].end > last->end ? &v[i] : last;
    }
}

// Spans that ran side by side or reach beyond what they are a part of are more than the time that
// passed: which of them it was spent in, nobody knows. Executions in which they do so are left out
// where they are few, and where a delegate does so only while it sets up, the first ones.
void etp_settling_cross(etp_settling *t)
{
    const etp_trace_block *b = t->s->block;
    stretch *v = etp_arena_alloc_raw(t->scratch, t->n, sizeof *v);
    uint8_t *found = etp_arena_alloc_array(t->scratch, t->n, sizeof *found);
    size_t *late = etp_arena_alloc_array(t->scratch, t->n, sizeof *late), sound = 0;
    size_t *odd = etp_arena_alloc_array(t->scratch, t->n, sizeof *odd);
    size_t *crossed = etp_arena_alloc_array(t->scratch, t->n, sizeof *crossed);
    bool any = false;
    for (size_t r = 0; t->times && r < b->n_runs; r++) {
        if (!t->bad[r]) {
            t->times = t->s->rows[r];
            find_crossing(t, v, found);
            for (uint32_t i = 0; i < t->n; i++) {
                crossed[i] += (found[i] & CROSS_LOGGED) != 0;
                late[i] += (found[i] & CROSS_LOGGED) && r >= COLD_RUNS;
                odd[i] += (found[i] & CROSS_RUNTIMES) != 0;
                any = any || found[i];
            }
            sound++;
        }
    }
    uint8_t *withheld = etp_arena_alloc_array(t->scratch, t->n, sizeof *withheld);
    for (size_t r = 0; any && r < b->n_runs; r++) {
        if (t->bad[r]) {
            continue;
        }
        t->times = t->s->rows[r];
        find_crossing(t, v, found);
        for (uint32_t i = 0; i < t->n; i++) {
            bool set_up = late[i] == 0 && b->n_runs > COLD_RUNS;
            bool logged = crossed[i] * ETP_ODD_RUNS > sound && !set_up;
            bool runtimes = odd[i] * ETP_ODD_RUNS > sound;
            withheld[i] |=
                found[i] & (uint8_t)((logged ? CROSS_LOGGED : 0) | (runtimes ? CROSS_RUNTIMES : 0));
            if (found[i] & ~withheld[i]) {
                etp_settling_leave_out(t, r, i, ETP_NO_INDEX, true);
            }
        }
    }
    for (uint32_t i = 0; any && i < t->n; i++) {
        if (has_place(t, i)) {
            bool logged = t->s->events[i].kind == ETP_EVENT_DELEGATE_OP;
            bool is = withheld[t->s->events[i].parent] & (logged ? CROSS_LOGGED : CROSS_RUNTIMES);
            t->s->events[i].apart = is ? ETP_APART_SUM : ETP_APART_NOT;
        }
    }
    if (t->times) {
        t->times = t->s->rows[t->run];
    }
}
