// SPDX-License-Identifier: Apache-2.0
// Answers in the form that the writers of `convert` take.
#ifndef ETP_CLI_CONVERT_VIEWS_H
#define ETP_CLI_CONVERT_VIEWS_H

#include "compare/ab.h"
#include "convert/sides.h"
#include "inspect/ops.h"

// One per row of the answer's table, in its order: category, and what is known of the operator.
ETP_NODISCARD etp_status etp_convert_ops(const etp_ops_answer *ops, etp_arena *arena,
                                         etp_slice_op **out, etp_error *err);

// The rows of one comparison's ledger. ETP_UNKNOWN when one side has no dumps.
ETP_NODISCARD etp_status etp_convert_sides(const etp_ab *ab, size_t comparison, etp_arena *arena,
                                           etp_sides *out, etp_error *err);

#endif
