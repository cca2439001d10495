// SPDX-License-Identifier: Apache-2.0
// The answer of `etprof kernels`: what the sampled launches of a run folder show, per arm.
#ifndef ETP_INSPECT_KERNELS_KERNELS_H
#define ETP_INSPECT_KERNELS_KERNELS_H

#include "document/fields.h"
#include "explain/kernels.h"
#include "report/report.h"
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
    etp_kernels_of_arm *arms; // as in the run
    size_t n_arms, n_sampled;
} etp_kernels_answer;

// Reads the samples of every arm of RUN. Damaged files are a `problem` of their arm.
ETP_NODISCARD etp_status etp_kernels_load(const etp_run *run, etp_arena *arena,
                                          etp_kernels_answer *out, etp_error *err);

extern const etp_document k_etp_kernels_document; // of etp_kernels_answer
void etp_kernels_json(const void *answer, etp_json *j);
const etp_report *etp_kernels_report(const etp_kernels_answer *answer, etp_arena *arena);
#define ETP_KERNELS_TABLE "kernels" // the table for CSV
// Present and absent kernels side by side, as Arm's kit shows them; GEMM: only those of matrix
// multiplications and convolutions.
const etp_report *etp_kernels_view(const etp_kernels_answer *answer, bool gemm, etp_arena *arena);
// What kind of micro-kernel F is ("gemm", "dwconv"): by its name, else by its operator; "" unknown.
etp_str etp_kernel_kind(const etp_kernels *k, const etp_kernel *f);
// Writes kernel_view.md, kernel_view_gemm.md and each arm's P_kernels.csv with what else TO
// writes; nothing without samples.
ETP_NODISCARD etp_status etp_kernels_write_files(const etp_kernels_answer *answer,
                                                 etp_run_deriving *to, etp_arena *arena,
                                                 etp_error *err);

#endif
