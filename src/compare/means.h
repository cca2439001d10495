// SPDX-License-Identifier: Apache-2.0
// One inference of an arm as whole nanoseconds that add up.
#ifndef ETP_COMPARE_MEANS_H
#define ETP_COMPARE_MEANS_H

#include "compare/ab.h"

// Means per inference as whole nanoseconds that add up to execute_ns exactly.
typedef struct etp_means {
    int64_t *row_ns; // [profile->n_rows] ETP_NS_UNKNOWN for rows that are no operator
    int64_t category_ns[ETP_CATEGORY_COUNT];
    int64_t category_cut_ns[ETP_CATEGORY_COUNT]; // most that their clocks can have cut off
    size_t category_rows[ETP_CATEGORY_COUNT];    // operators
    int64_t boundary_ns, framework_ns, unexplained_ns;
    int64_t execute_ns; // mean Method::execute
} etp_means;
#define ETP_MEANS_ALL_DUMPS SIZE_MAX
#define ETP_MEANS_KEPT \
    (SIZE_MAX - 1) // all of them, but of their executions those alone that the ledger is about
// Over all executions of one dump of the profile or of all of them; zeroed when there is no
// execution.
ETP_NODISCARD etp_status etp_means_of(const etp_profile *profile, size_t dump, etp_arena *arena,
                                      etp_means *out, etp_error *err);

#endif
