// SPDX-License-Identifier: Apache-2.0
// How long one operator took, as the HTML page tells it, and whether that changed.
#ifndef ETP_SHOW_TIMES_H
#define ETP_SHOW_TIMES_H

#include "show/report.h"

// For a drawer: a line for each arm, with the interval over the recordings and how the single runs
// lie, and one for what was saved.
void etp_ab_time_keys(const etp_ab *ab, const etp_ab_operator *op, etp_keys *keys,
                      etp_arena *arena);

// Of an operator; NULL: it has none.
const etp_ledger_row *etp_ab_ledger_row(const etp_ab *ab, size_t comparison, const char *id);
// Whether an operator became faster (ETP_GOOD) or slower (ETP_BAD) beyond doubt.
etp_severity etp_ab_row_change(const etp_ledger_row *row);
// [n_operators] whether the operator became faster or slower beyond doubt; NULL where no times are
// compared.
const etp_severity *etp_ab_operator_changes(const etp_ab *ab, size_t comparison, etp_arena *arena);

// The text of a time in a column that holds other things too; not finite is missing.
etp_cell etp_ab_time_cell(etp_arena *arena, double ns);

// DELTA_NS of a ledger's row, where differences of that comparison are given.
etp_cell etp_ab_delta_cell(const etp_ab *ab, size_t comparison, int64_t delta_ns);

#endif
