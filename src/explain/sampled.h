// SPDX-License-Identifier: Apache-2.0
// What the sampled launches of a run folder show, per arm: their files read, counted, and judged.
#ifndef ETP_EXPLAIN_SAMPLED_H
#define ETP_EXPLAIN_SAMPLED_H

#include "explain/kernels.h"
#include "store/store.h"

typedef struct etp_kernels_of_arm {
    const char *name, *level_name; // of the experiment; level NULL unknown
    const char *called;            // by people: the level where that tells the arms apart
    const char *prefix;            // "<experiment>/P" of its files
    const char *model;             // stem
    etp_level level;
    uint32_t threads;
    bool sampled;        // has a sampled launch that could be read
    const char *problem; // why not, when it should
    etp_kernels kernels;
    etp_proof proof; // of the samples alone
} etp_kernels_of_arm;

typedef struct etp_kernels_answer { // lives in the arena given to load
    const char *title;
    const char *altered;      // from etp_run_altered; the caller sets it
    etp_kernels_of_arm *arms; // as in the run
    size_t n_arms, n_sampled;
} etp_kernels_answer;

// What the CPU of RUN has; false where the folder does not say.
bool etp_run_cpu(const etp_run *run, etp_arena *arena, etp_isa_cpu *out);
// The level that an arm of RUN claims. ETP_LEVEL_NONE where it claims none.
etp_level etp_run_arm_level(const etp_run *run, const etp_run_arm *arm, etp_arena *arena);

// Reads the samples of every arm of RUN. Damaged files are a `problem` of their arm.
ETP_NODISCARD etp_status etp_kernels_load(const etp_run *run, etp_arena *arena,
                                          etp_kernels_answer *out, etp_error *err);

#endif
