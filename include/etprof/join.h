// SPDX-License-Identifier: Apache-2.0
// The join of a recording to its program: the events of a trace block → instruction, partition,
// node, and what the program says about each.
//
// Ownership: a join lives in the arena it was made in and borrows from the program. Thread rule:
// immutable once made, any number of readers.
#ifndef ETPROF_JOIN_H
#define ETPROF_JOIN_H

#include <etprof/operators.h>
#include <etprof/program.h>
#include <etprof/trace.h>

ETP_C_BEGIN

typedef struct etp_join_event {
    uint32_t instruction; // index of etp_method.instructions, ETP_NO_INDEX when none
    uint32_t partition;   // index of etp_method.partitions, ETP_NO_INDEX when none
    uint32_t node;        // delegate operators: the node that names the operator, else ETP_NO_INDEX
    const uint32_t *nodes; // all nodes whose work this operator did (fused ones too), ascending
    uint32_t n_nodes;
    bool inserted;     // delegate operators: added by the runtime, the program has no node for it
    double confidence; // 0…1 that instruction and node are right; 0 when nothing is claimed
} etp_join_event;

#define ETP_JOIN_BELONGS 0.9
// Identity from which a program of other layers would have been noticed: ten names and calls agree.
#define ETP_JOIN_TELLS 0.99

typedef struct etp_join {
    uint32_t method;            // index of etp_program.methods, ETP_NO_INDEX when no method fits
    const uint32_t *candidates; // all methods that fit equally well, ascending
    uint32_t n_candidates;
    // Several methods fit and the recording cannot say which one ran. `method` is then the first,
    // events claim only what holds for all of them, and etp_join_facts leaves out what differs.
    bool ambiguous;
    bool complete; // every kernel and delegate call of the method appears (no branch, no failure)
    const char *reason; // what differs where no method fits, NULL otherwise; lives in the arena
    // Of the kernels and delegate operators whose names say something, the share that the method
    // can have run. Below ETP_JOIN_BELONGS no method fits, unless a single one differs and as many
    // do not; below 1 `differs` has the first that does.
    double agreement;
    const char *differs;
    // How sure it is that this program ran, by how much agrees with it: below 1, since a recording
    // holds no sizes, and a wider model of the same layers has the same names. The events'
    // confidence does not have it.
    double identity;
    const char *doubt;            // what differs, or what agrees and does not tell, for people
    const etp_join_event *events; // one per event of the block
    uint32_t n_events;
} etp_join;

// Joins BLOCK to PROGRAM; the result lives in ARENA and borrows from PROGRAM. Never fails for want
// of a match (see `reason`); errors: ETP_NOMEM.
ETP_API ETP_NODISCARD etp_status etp_join_block(const etp_program *program,
                                                const etp_trace_block *block, etp_arena *arena,
                                                etp_join *out, etp_error *err);

// ETP_USAGE: RECORDING is not of the program, because of `reason`.
ETP_API ETP_NODISCARD etp_status etp_join_refuse(const char *recording, const char *reason,
                                                 etp_error *err);

typedef struct etp_op_facts { // what the program says about one event
    etp_str node_type;        // "Conv2d", or a kernel's "aten::mean.out"; empty when unknown
    etp_str backend;          // of delegate operators and calls; empty otherwise
    const etp_value *values;  // what inputs and outputs index
    const uint32_t *inputs, *outputs;
    uint32_t n_inputs, n_outputs; // 0 when unknown or different between candidates
    uint64_t weight_bytes;        // ETP_BYTES_UNKNOWN when unknown
    etp_work work;                // of all fused nodes together
    int64_t debug_handle;         // −1 when none
} etp_op_facts;

ETP_API void etp_join_facts(const etp_program *program, const etp_join *join, uint32_t event,
                            etp_op_facts *out);

// The category of an event of that name. Facts know better than the name where a change of the
// memory order changes the data type too (Quantize/convert), and what a call was that recorded no
// name of its own (the runtime's own scalar kernels are control flow).
ETP_API etp_category etp_op_facts_category(const etp_op_name *name, const etp_op_facts *facts);

// Python source of one event: by RECORD (may be NULL), else by the stack traces of the program
// itself. False when unknown, or different between candidates.
ETP_API bool etp_join_source(const etp_program *program, const etp_join *join, uint32_t event,
                             const etp_etrecord *record, etp_source *out);

ETP_C_END

#endif
