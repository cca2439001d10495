// SPDX-License-Identifier: Apache-2.0
// What the program says about the rows of a profile: node, shapes, work, source. With it rows of
// two arms align by what they compute instead of by what they are called.
#ifndef ETP_EXPLAIN_NODES_H
#define ETP_EXPLAIN_NODES_H

#include "explain/profile.h"
#include <etprof/join.h>
#include <etprof/stats.h>

typedef struct etp_row_facts {
    etp_op_facts op;       // as etp_join_facts gives them
    double confidence;     // that instruction and node are right; 0 when nothing is claimed
    uint32_t method;       // ETP_NO_INDEX when the recording does not fit the program
    const uint32_t *nodes; // nodes whose work the operator did, ascending
    uint32_t n_nodes;
    bool inserted; // added by the runtime, the program has no node for it
    bool has_source;
    etp_source source;
} etp_row_facts;

typedef struct etp_profile_facts {
    const etp_program *program;
    etp_row_facts *rows; // parallel to the profile's
    const char *problem; // why nothing could be joined, else NULL
    const char *differs; // the first operator that the program has not run as it was recorded
    double identity;     // least of the blocks', as etp_join has it
    const char *doubt;   // the first of them, likewise
    bool any_delegate;   // the joined program has delegates at all
} etp_profile_facts;

// TRACES as given to etp_profile_build. RECORD may be NULL. A recording that does not fit the
// program is no error: see `problem`.
ETP_NODISCARD etp_status etp_profile_join(etp_profile *profile, const etp_trace *const *traces,
                                          const etp_program *program, const etp_etrecord *record,
                                          etp_arena *arena, etp_error *err);

// The row of the call at CHAIN and INSTRUCTION that did the work of NODE, and of *OUT_NODES in all;
// of ETP_NO_INDEX, a kernel, the call itself. NULL: nobody knows, or P is NULL.
const etp_profile_row *etp_profile_row_of(const etp_profile *p, uint32_t chain,
                                          uint32_t instruction, uint32_t node, uint32_t *out_nodes);
// What an execution usually spends in ROW, mean over the dumps; NAN where ROW is NULL or was too
// short for its clock.
etp_interval etp_profile_typical(const etp_profile *p, const etp_profile_row *row,
                                 etp_arena *arena);

#endif
