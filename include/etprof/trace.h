// SPDX-License-Identifier: Apache-2.0
// The executions of an ETDump as columns.
//
//   bytes ── etp_trace_open ──► etp_trace: event blocks, each a group of executions (RunData) with
//   equal event lists; per event one column of durations, one entry per execution.
//
// Unlike ExecuTorch's Inspector nothing is merged or lost: an event that occurs twice in one
// execution is two events here, and methods with different event lists are different blocks.
// Events are in file order, in which an event follows what it contains (events are appended when
// they end).
//
// Times are nanoseconds (ticks × num ÷ den of the options; the file does not hold the ratio).
// Ownership: everything an etp_trace gives out borrows from it and from the bytes it was opened on
// until etp_trace_close. Thread rule: immutable after open, any number of readers.
#ifndef ETPROF_TRACE_H
#define ETPROF_TRACE_H

#include <etprof/arena.h>
#include <etprof/bytes.h>
#include <etprof/error.h>

ETP_C_BEGIN

typedef struct etp_trace etp_trace;

typedef enum etp_event_kind {
    ETP_EVENT_EXECUTE,       // "Method::execute"
    ETP_EVENT_OPERATOR_CALL, // "OPERATOR_CALL", wraps a native_call
    ETP_EVENT_NATIVE_CALL,   // "native_call_…": a portable kernel
    ETP_EVENT_DELEGATE_CALL, // "DELEGATE_CALL"
    ETP_EVENT_DELEGATE_OP,   // an operator inside a delegate
    ETP_EVENT_CONTROL,       // "JF_CALL", "MOVE_CALL", "FREE_CALL"
    ETP_EVENT_LOAD,          // "Program::load_method", "Method::init"
    ETP_EVENT_OTHER,         // anything else, e.g. "Method::step" or a user's own event
    ETP_EVENT_APART          // its time cannot be held against that of others: see etp_apart
} etp_event_kind;

// Why an event's time is not part of any other's. Its durations are ticks as recorded.
typedef enum etp_apart {
    ETP_APART_NOT,
    ETP_APART_CLOCK, // a delegate's own clock, whose unit the recording does not hold
    ETP_APART_SUM, // it crosses its neighbours or the event it is a part of, or is longer with them
    ETP_APART_TICKS, // no unit makes its ticks a time: backwards, or in two units by turns
    ETP_APARTS
} etp_apart;

typedef struct etp_trace_event { // equal in every execution of its block
    etp_str name;                // the delegate's id string, else ProfileEvent.name, else the
                                 // delegate's integer id in decimal; may be empty
    etp_event_kind kind;
    bool delegated;             // the file gave a delegate debug id
    int32_t chain, instruction; // as in the file; -1 for framework events' chain
    int32_t delegate_id;        // integer delegate id, -1 when none
    uint32_t parent; // index of the containing event in the block, ETP_NO_INDEX at the top
    bool leaf;       // no event of the block has it as parent
    uint32_t call;   // the DELEGATE_CALL that it lies in or, APART, was logged in; ETP_NO_INDEX
    bool at_load;    // a delegate's event from loading, outside every inference
    etp_apart apart; // NOT unless its kind is APART
    etp_str kernel;  // symbol of what ran, where the delegate logged it; len 0: it did not
} etp_trace_event;

typedef struct etp_trace_block {
    etp_str name; // "Execute", "Default", …
    const etp_trace_event *events;
    size_t n_events;
    const uint32_t *runs; // index of each execution's RunData in the file, ascending
    size_t n_runs;
    const uint64_t *durations_ns; // [event * n_runs + run]; all of a file sum up to < 2^63
    bool has_execute;             // exactly one Method::execute per execution
    uint32_t execute;             // its index in events, ETP_NO_INDEX when !has_execute
    int64_t bundled_input;        // -1 when none
    // From etp_trace_tell_modes: which of the recording's populations of executions (of one
    // method, with inputs of one length) these are of. Times are added up within one alone; paths
    // of a branch are blocks of one population.
    uint32_t population, n_populations;
    // Of another population than the most frequent, of equally many the longest; or of the first
    // executions, which set up what later ones of it use.
    bool rare;
    const uint32_t *in_file; // [n_events] the event's number among those of its RunData; NULL:
                             // its own index
} etp_trace_block;

// An execution that is left out of its block: the clock jumped in it, or what a delegate logged
// while it set itself up cannot be added.
typedef struct etp_trace_damage {
    uint32_t run;      // its RunData
    etp_str name;      // of the event that shows it
    int64_t ns;        // how long the event claims to last; INT64_MIN: it ends before it starts
    uint64_t whole_ns; // the event that it lies in; 0: none, it is too long for anything
    bool crosses;      // it is not long: its parts overlap or reach beyond it
} etp_trace_damage;

// What a tick is, as people write it: "ns", "us", "ms", "s" or "cycles:168000000" (of so many Hz).
typedef struct etp_trace_units {
    const char *source;   // of the runtime; NULL: by the ratio of the options
    const char *delegate; // of delegates' clocks whose unit the recording does not hold; NULL
} etp_trace_units;

typedef struct etp_trace_options { // a zeroed struct means the defaults
    uint64_t ticks_num, ticks_den; // ns = ticks × num ÷ den; 0 means 1
    const etp_allocator *alloc;    // NULL: the C library's
    uint64_t last;                 // only so many executions, the last of the file; 0: all
    etp_trace_units units;
} etp_trace_options;

// Verifies BYTES as an ETDump (size-prefixed or plain) and groups it. BYTES must outlive *out.
// Errors: ETP_CORRUPT with the byte position, ETP_UNSUPPORTED (not an ETDump, newer version),
// ETP_NOMEM; ETP_USAGE for a unit that is none.
ETP_API ETP_NODISCARD etp_status etp_trace_open(etp_bytes bytes, const etp_trace_options *options,
                                                etp_trace **out, etp_error *err);
ETP_API void etp_trace_close(etp_trace *trace); // NULL is fine
// Tells populations of executions apart: of several methods, of inputs of several lengths. A block
// that is several by its time, or by what was loaded before it, becomes one for each, the fastest
// first: at most once, before blocks are asked for. After ETP_NOMEM TRACE can only be closed.
ETP_API ETP_NODISCARD etp_status etp_trace_tell_modes(etp_trace *trace, etp_error *err);

ETP_API size_t etp_trace_block_count(const etp_trace *trace);
ETP_API const etp_trace_block *etp_trace_block_at(const etp_trace *trace, size_t index);

// False when chains and instructions were counted up from the order of events, because the source
// (a table that does not hold them) could not tell.
ETP_API bool etp_trace_places_known(const etp_trace *trace);

// True when its ticks are cycles of a microcontroller at a rate that nobody told: "nanoseconds" are
// cycles then.
ETP_API bool etp_trace_counts_cycles(const etp_trace *trace);
// ETP_UNSUPPORTED, with what to do, when it does.
ETP_API ETP_NODISCARD etp_status etp_trace_need_time(const etp_trace *trace, etp_error *err);

// Whether tensors were logged inside an execution: then its times are not the program's.
ETP_API bool etp_trace_logs_tensors(const etp_trace *trace);

// Whether delegates log what they do in some executions of a method alone.
ETP_API bool etp_trace_partly_logged(const etp_trace *trace);

// What --delegate-unit can be for events by an unknown clock: "cycles:HZ" where their names say
// cycles, else "ns, us or cycles:HZ"; NULL: there are none.
ETP_API const char *etp_trace_unit_choice(const etp_trace *trace);

// Executions with a damaged clock, in the order of the file. Their blocks do not have them.
// etp_trace_need_sound: ETP_CORRUPT when there are any.
ETP_API ETP_NODISCARD etp_status etp_trace_need_sound(const etp_trace *trace, etp_error *err);
ETP_API size_t etp_trace_damage_count(const etp_trace *trace);
ETP_API const etp_trace_damage *etp_trace_damage_at(const etp_trace *trace, size_t index);
// "the clock jumped (x in run 3 claims 922 s, inside 71 µs)".
ETP_API const char *etp_trace_damage_claim(const etp_trace_damage *damage, etp_arena *arena);

// The file itself, with what is not a profile event: debug values, allocations, start ticks
// (etdump.h).
ETP_API const struct etp_etdump *etp_trace_dump(const etp_trace *trace);

// Column of one event: n_runs durations.
static inline const uint64_t *etp_trace_durations(const etp_trace_block *block, uint32_t event)
{
    return block->durations_ns + (size_t)event * block->n_runs;
}

// Of all its executions.
static inline uint64_t etp_trace_total_ns(const etp_trace_block *block, uint32_t event)
{
    const uint64_t *d = etp_trace_durations(block, event);
    uint64_t total = 0;
    for (size_t r = 0; r < block->n_runs; r++) {
        total += d[r];
    }
    return total;
}

// Duration of EVENT in RUN minus the durations of the events it directly contains. Negative when
// the parts add up to more than the whole (clocks of different resolution).
ETP_API int64_t etp_trace_exclusive_ns(const etp_trace_block *block, uint32_t event, size_t run);

// OUT (n_events): the event of the block by its number among the profile events of its RunData.
static inline void etp_trace_file_order(const etp_trace_block *block, uint32_t *out)
{
    for (uint32_t i = 0; i < block->n_events; i++) {
        out[block->in_file ? block->in_file[i] : i] = i;
    }
}

// What the Inspector would show for the operator inside a delegate: "Add (ND) #1" → "Add (ND)" and
// 1; 0 when the name has no counter.
ETP_API etp_str etp_trace_base_name(etp_str name, uint32_t *out_counter);

ETP_C_END

#endif
