// SPDX-License-Identifier: Apache-2.0
// More threads than CPUs: they wait for each other, whatever else runs on the machine.
#include "base/number.h"
#include "store/store.h"

double etp_cpus_allowed(etp_str cpus, etp_str quota)
{
    uint64_t counted;
    double allowed, limit;
    if (!etp_parse_u64(cpus, &counted) || counted == 0) {
        return 0;
    }
    allowed = (double)counted;
    return etp_parse_double(quota, &limit) && limit > 0 && limit < allowed ? limit : allowed;
}

const char *etp_crowded_words(uint32_t threads, etp_str cpus, etp_str quota, etp_arena *arena)
{
    double allowed = etp_cpus_allowed(cpus, quota);
    if (allowed <= 0 || (double)threads <= allowed) {
        return NULL;
    }
    uint64_t counted = 0;
    bool limited = !etp_parse_u64(cpus, &counted) || allowed < (double)counted;
    return etp_arena_printf(arena, "%u thread%s on %s CPU%s%s", threads, etp_if(threads != 1, "s"),
                            ETP_DIGITS(allowed, 3), etp_if(allowed != 1, "s"),
                            etp_if(limited, " (quota)"));
}
