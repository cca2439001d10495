// SPDX-License-Identifier: Apache-2.0
// Which of several arms the others are compared with.
#include "stats/internal.h"

static etp_status by_request(const etp_arm_name *arms, size_t n, etp_str name, const char *origin,
                             uint32_t *out, etp_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (etp_str_eq(arms[i].name, name)) {
            *out = (uint32_t)i;
            return ETP_OK;
        }
    }
    return etp_fail(err, ETP_USAGE, "%s: no arm is named '%.*s'; the first is '%.*s'", origin,
                    ETP_STR_ARG(name), ETP_STR_ARG(arms[0].name));
}

etp_status etp_choose_baseline(const etp_arm_name *arms, size_t n, etp_str wanted,
                               etp_str compare_baseline, uint32_t *out, etp_error *err)
{
    *out = 0;
    if (n == 0) {
        return etp_fail(err, ETP_USAGE, "there are no arms to compare");
    }
    if (wanted.len > 0) {
        return by_request(arms, n, wanted, "baseline", out, err);
    }
    if (compare_baseline.len > 0) {
        return by_request(arms, n, compare_baseline, "compare_pairs", out, err);
    }
    for (size_t i = 0; i < n; i++) {
        if (etp_str_ends(arms[i].name, ETP_STR("off"))) {
            *out = (uint32_t)i;
            return ETP_OK;
        }
    }
    int lowest = -1;
    for (size_t i = 0; i < n; i++) {
        if (arms[i].level_rank > lowest) { // ranks count from the best level
            lowest = arms[i].level_rank;
            *out = (uint32_t)i;
        }
    }
    return ETP_OK;
}
