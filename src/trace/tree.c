// SPDX-License-Identifier: Apache-2.0
// What an event is and what contains it. Events are appended when they end, so an event follows
// its parts: walking in file order, a containing event takes over the newest events that nobody
// contains yet, as far back as they can be its parts.
#include "trace/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/choice.h"
#include "base/guard.h"
#include "operators/delegates.h"

static etp_event_kind kind_of(const etp_trace_event *e)
{
    // The names that ExecuTorch's runtime gives to its own events.
    static const struct {
        etp_str name;
        etp_event_kind kind;
    } k_names[] = {
        {{"OPERATOR_CALL", 13},        ETP_EVENT_OPERATOR_CALL},
        {{"DELEGATE_CALL", 13},        ETP_EVENT_DELEGATE_CALL},
        {{"Method::execute", 15},      ETP_EVENT_EXECUTE      },
        {{"Method::init", 12},         ETP_EVENT_LOAD         },
        {{"Program::load_method", 20}, ETP_EVENT_LOAD         },
        {{"JF_CALL", 7},               ETP_EVENT_CONTROL      },
        {{"MOVE_CALL", 9},             ETP_EVENT_CONTROL      },
        {{"FREE_CALL", 9},             ETP_EVENT_CONTROL      },
    };
    // First, because a backend may call an operator as it likes, also "DELEGATE_CALL".
    if (e->delegated) {
        return ETP_EVENT_DELEGATE_OP;
    }
    for (size_t i = 0; i < sizeof k_names / sizeof *k_names; i++) {
        if (etp_str_eq(e->name, k_names[i].name)) {
            return k_names[i].kind;
        }
    }
    return etp_str_starts(e->name, ETP_STR("native_call_")) ? ETP_EVENT_NATIVE_CALL
                                                            : ETP_EVENT_OTHER;
}

static bool is_step(const etp_trace_event *e)
{
    return e->kind == ETP_EVENT_OTHER && etp_str_eqz(e->name, "Method::step");
}

static bool is_load_method(const etp_trace_event *e)
{
    return e->kind == ETP_EVENT_LOAD && etp_str_eqz(e->name, "Program::load_method");
}

// Can PART, a finished event, lie inside WHOLE, which ended later?
static bool contains(const etp_trace_event *whole, const etp_trace_event *part)
{
    bool same_instruction = whole->chain == part->chain && whole->instruction == part->instruction;
    switch (whole->kind) {
    case ETP_EVENT_EXECUTE:
        // A block is opened when an execution starts, so all before its end is part of it.
        return part->kind != ETP_EVENT_EXECUTE && part->kind != ETP_EVENT_LOAD && !is_step(part);
    case ETP_EVENT_OPERATOR_CALL:
    case ETP_EVENT_DELEGATE_CALL:
        // The same instruction comes again in loops: an earlier call of it is no part of this one.
        return same_instruction &&
               (part->kind == ETP_EVENT_NATIVE_CALL || part->kind == ETP_EVENT_DELEGATE_OP ||
                (part->kind == ETP_EVENT_OTHER && !is_step(part)));
    // Method::init lies in Program::load_method, and neither in another one of its kind.
    case ETP_EVENT_LOAD:
        return !is_load_method(part) && (is_load_method(whole) || part->kind != ETP_EVENT_LOAD);
    // Method::step runs one instruction of a method and stands in a block that the caller opened.
    case ETP_EVENT_OTHER:
        return is_step(whole) && same_instruction && !is_step(part);
    default:
        return false;
    }
}

void etp_tree_build(etp_trace_event *events, size_t n, uint32_t *scratch)
{
    size_t n_open = 0; // scratch[0 .. n_open): events that nothing contains so far
    for (size_t i = 0; i < n; i++) {
        etp_trace_event *e = &events[i];
        e->kind = kind_of(e);
        e->parent = ETP_NO_INDEX;
        e->leaf = true;
        // It stops at the first event that cannot be a part: what lies before that one ended even
        // earlier.
        while (n_open > 0 && contains(e, &events[scratch[n_open - 1]])) {
            events[scratch[--n_open]].parent = (uint32_t)i;
            e->leaf = false;
        }
        scratch[n_open++] = (uint32_t)i;
    }
}

static bool same_instruction(const etp_trace_event *a, const etp_trace_event *b)
{
    return a->chain == b->chain && a->instruction == b->instruction;
}

// ---- order ----

// How many of the same call may stand between a span and those that are logged after it.
#define LOGGED_BEHIND 8

// Where the event at AT of ORDER is a part of, shortly before it in the same call; AT: nowhere.
static size_t whole_before(const etp_trace_event *events, const uint32_t *order, size_t at,
                           const char *within)
{
    for (size_t i = at; i-- > 0 && at - i <= LOGGED_BEHIND;) {
        const etp_trace_event *e = &events[order[i]];
        if (!e->delegated || !same_instruction(e, &events[order[at]])) {
            return at; // another call
        }
        if (etp_str_eqz(e->name, within)) {
            return i;
        }
    }
    return at;
}

// By the end, of equal ends the one that began last: parts before their whole.
typedef struct span {
    etp_ticks times;
    int rank;    // of equal times: what is in what by its kind
    uint32_t at; // before it was sorted
    uint32_t event;
} span;

static int by_end(const void *pa, const void *pb)
{
    const span *a = pa, *b = pb;
    return etp_order_then(
        ETP_ORDER(a->times.end, b->times.end),
        etp_order_then(ETP_ORDER(b->times.start, a->times.start),
                       etp_order_then(ETP_ORDER(a->rank, b->rank), ETP_ORDER(a->at, b->at))));
}

static int rank_of(const etp_trace_event *e)
{
    switch (kind_of(e)) {
    case ETP_EVENT_DELEGATE_OP:
        return 0;
    case ETP_EVENT_NATIVE_CALL:
        return 1;
    case ETP_EVENT_OPERATOR_CALL:
    case ETP_EVENT_DELEGATE_CALL:
        return 3;
    case ETP_EVENT_EXECUTE:
        return 4;
    default:
        return 2;
    }
}

typedef struct call_list {
    const uint32_t *items; // delegates' calls, in file order
    size_t n;
} call_list;

// The call that span AT was logged in: the one around its times, else the next of its instruction,
// else the last one before it. ETP_NO_INDEX: there is none.
static uint32_t call_of(const etp_trace_event *events, const etp_ticks *times, call_list calls,
                        uint32_t at)
{
    uint32_t found = ETP_NO_INDEX;
    for (size_t i = 0; i < calls.n; i++) {
        uint32_t c = calls.items[i];
        if (same_instruction(&events[c], &events[at])) {
            if (times[c].start <= times[at].start && times[at].end <= times[c].end) {
                return c;
            }
            found = found == ETP_NO_INDEX || found < at ? c : found;
        }
    }
    return found;
}

// Whether events of the runtime, which does one thing after the other, lie in each other or beside
// each other, by end. OPEN: room for all.
static bool nest(const span *v, size_t n, etp_ticks *open)
{
    size_t n_open = 0;
    for (size_t i = 0; i < n; i++) {
        if (v[i].rank == 0) {
            continue;
        }
        while (n_open > 0 && open[n_open - 1].start >= v[i].times.start) {
            n_open--;
        }
        if (n_open > 0 && open[n_open - 1].end > v[i].times.start) {
            return false;
        }
        open[n_open++] = v[i].times;
    }
    return true;
}

// Whether the runtime's events stand in the order of their ends, each call behind what it logged.
static bool in_order(const etp_trace_event *events, const etp_ticks *times, size_t n,
                     call_list calls)
{
    uint64_t last = 0;
    for (size_t i = 0; i < n; i++) {
        if (!events[i].delegated) {
            if (times[i].end < last) {
                return false;
            }
            last = times[i].end;
        }
    }
    for (size_t k = 0; k < calls.n; k++) {
        uint32_t next = calls.items[k] + 1;
        if (next < n && events[next].delegated &&
            same_instruction(&events[next], &events[next - 1]) &&
            call_of(events, times, calls, next) < next) {
            return false;
        }
    }
    return true;
}

// The runtime logs an event when it ends. A file that has them in another order, by start for
// instance, is put into this one, where all of its times are sound.
static bool order_runtimes(const etp_trace_event *events, size_t n, const etp_ticks *times,
                           etp_arena *scratch, uint32_t *order)
{
    uint32_t *at_calls = etp_arena_alloc_raw(scratch, n, sizeof *at_calls);
    call_list calls = {at_calls, 0};
    bool placed_apart = false; // who writes durations alone lets all begin at one time
    for (size_t i = 0; i < n; i++) {
        if (!events[i].delegated && times[i].start > times[i].end) {
            return false; // the counter wrapped, or is damaged
        }
        placed_apart = placed_apart || times[i].start != times[0].start;
        if (kind_of(&events[i]) == ETP_EVENT_DELEGATE_CALL) {
            at_calls[calls.n++] = (uint32_t)i;
        }
    }
    if (!placed_apart || in_order(events, times, n, calls)) {
        return false;
    }
    span *v = etp_arena_alloc_raw(scratch, n, sizeof *v); // a delegate's with the times of its call
    uint32_t of = ETP_NO_INDEX;
    for (uint32_t i = 0; i < n; i++) {
        bool same = i > 0 && events[i].delegated && events[i - 1].delegated &&
                    same_instruction(&events[i], &events[i - 1]);
        if (!events[i].delegated) {
            of = i;
        } else if (!same) {
            of = call_of(events, times, calls, i);
        }
        if (of == ETP_NO_INDEX) {
            return false; // of loading, or of a caller
        }
        v[i] = (span){times[of], rank_of(&events[i]), i, i};
    }
    qsort(v, n, sizeof *v, by_end);
    bool nests = nest(v, n, etp_arena_alloc_raw(scratch, n, sizeof *times));
    for (size_t i = 0; nests && i < n; i++) {
        order[i] = v[i].event;
    }
    return nests;
}

// Whether places of its clock can tell: those of other clocks and of one by one stay where they
// are.
static bool is_placed(const etp_trace_event *e, etp_ticks t)
{
    etp_span s = etp_delegate_span(e->name);
    return s.clock < ETP_SPAN_OWN_NS && !s.flat && t.start > 0 && t.start <= t.end;
}

// Sorts the spans of one call, [from, to) of ORDER, when one was logged before another that ended
// earlier. V: room for all.
static bool order_call(const etp_trace_event *events, const etp_ticks *times, uint32_t *order,
                       size_t from, size_t to, span *v)
{
    size_t n = 0;
    bool sorted = true;
    for (size_t i = from; i < to; i++) {
        uint32_t e = order[i];
        if (is_placed(&events[e], times[e])) {
            v[n] = (span){times[e], 0, (uint32_t)i, e};
            sorted = sorted && (n == 0 || by_end(&v[n - 1], &v[n]) < 0);
            n++;
        }
    }
    if (sorted) {
        return false;
    }
    qsort(v, n, sizeof *v, by_end);
    for (size_t i = from, k = 0; i < to; i++) {
        if (is_placed(&events[order[i]], times[order[i]])) {
            order[i] = v[k++].event;
        }
    }
    return true;
}

static bool order_by_times(const etp_trace_event *events, size_t n, const etp_ticks *times,
                           etp_arena *scratch, uint32_t *order)
{
    span *v = etp_arena_alloc_raw(scratch, n, sizeof *v);
    bool moved = false;
    for (size_t i = 0, to = 0; i < n; i = to) {
        const etp_trace_event *first = &events[order[i]];
        to = i + 1;
        while (to < n && first->delegated && events[order[to]].delegated &&
               same_instruction(&events[order[to]], first)) {
            to++;
        }
        moved = (to - i > 1 && order_call(events, times, order, i, to, v)) || moved;
    }
    return moved;
}

bool etp_tree_order(const etp_trace_event *events, size_t n, const etp_ticks *times,
                    etp_arena *scratch, uint32_t *order)
{
    for (size_t i = 0; i < n; i++) {
        order[i] = (uint32_t)i;
    }
    bool moved = order_runtimes(events, n, times, scratch, order);
    moved = order_by_times(events, n, times, scratch, order) || moved;
    for (size_t i = 0; i < n; i++) {
        const uint32_t e = order[i];
        const char *within = events[e].delegated ? etp_delegate_span(events[e].name).within : NULL;
        size_t at = within ? whole_before(events, order, i, within) : i;
        if (at != i) {
            memmove(&order[at + 1], &order[at], (i - at) * sizeof *order);
            order[at] = e;
            moved = true;
        }
    }
    return moved;
}
