// SPDX-License-Identifier: Apache-2.0
// What an event is and what contains it. Events are appended when they end, so an event follows
// its parts: walking in file order, a containing event takes over the newest events that nobody
// contains yet, as far back as they can be its parts.
#include "trace/tree.h"

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

// Where the event that AT is a part of stands, shortly before it in the same call; AT: nowhere.
static size_t whole_before(const etp_trace_event *events, size_t at, const char *within)
{
    for (size_t i = at; i-- > 0 && at - i <= LOGGED_BEHIND;) {
        const etp_trace_event *e = &events[i];
        if (!e->delegated || !same_instruction(e, &events[at])) {
            return at; // another call
        }
        if (etp_str_eqz(e->name, within)) {
            return i;
        }
    }
    return at;
}

bool etp_tree_order(etp_trace_event *events, size_t n, uint32_t *in_file)
{
    bool moved = false;
    for (size_t i = 0; i < n; i++) {
        const char *within = events[i].delegated ? etp_delegate_span(events[i].name).within : NULL;
        size_t at = within ? whole_before(events, i, within) : i;
        in_file[i] = (uint32_t)i;
        if (at == i) {
            continue;
        }
        const etp_trace_event e = events[i];
        memmove(&events[at + 1], &events[at], (i - at) * sizeof *events);
        memmove(&in_file[at + 1], &in_file[at], (i - at) * sizeof *in_file);
        events[at] = e;
        in_file[at] = (uint32_t)i;
        moved = true;
    }
    return moved;
}
