// SPDX-License-Identifier: Apache-2.0
// What changes brought where they were measured, as shares of what their formula estimates. The
// table is made from the rows "tuning" of bench/fixes/table.tsv whose interval is no wider than the
// estimate, and the test factors holds it against them.
#ifndef ETP_JUDGE_FIXES_FACTORS_H
#define ETP_JUDGE_FIXES_FACTORS_H

#include <stddef.h>

typedef struct etp_fix_factor {
    const char *change; // as in `etprof export --apply CHANGE`; "int8", "xnnpack"
    size_t cases;
    double least, usual; // smallest and median measured gain ÷ estimate
} etp_fix_factor;

// Share of the estimate that is taken as a floor: below the least of the cases, as the next one may
// bring less.
static inline double etp_fix_factor_floor(const etp_fix_factor *factor)
{
    return factor->least * (factor->cases > 2 ? 0.8 : 0.5);
}

// NULL when the change was never measured.
const etp_fix_factor *etp_fix_factor_of(const char *change);

#endif
