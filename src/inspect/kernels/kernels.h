// SPDX-License-Identifier: Apache-2.0
// The answer of `etprof kernels`: what the sampled launches of a run folder show, per arm.
#ifndef ETP_INSPECT_KERNELS_KERNELS_H
#define ETP_INSPECT_KERNELS_KERNELS_H

#include "document/fields.h"
#include "explain/sampled.h"
#include "report/report.h"
#include "store/store.h"

extern const etp_document k_etp_kernels_document; // of etp_kernels_answer
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
