// SPDX-License-Identifier: Apache-2.0
// Slow iterations are never dropped; where records of their launch show a cause, it is named.
#include "stats/internal.h"

#include <math.h>

#define WAITED_SHARE 0.01 // of a launch's time, ready but without a CPU
#define CLOCK_LOW 0.98    // of USUAL_CLOCK

etp_slow_cause etp_slow_cause_of(const etp_launch_record *r, uint64_t slow, double usual_clock)
{
    if (r->waited_share >= WAITED_SHARE) {
        return ETP_SLOW_WAITED;
    }
    if (r->major_faults > 0) {
        return ETP_SLOW_FAULTS;
    }
    if (r->clock < CLOCK_LOW * usual_clock) {
        return ETP_SLOW_CLOCK;
    }
    if (r->migrations > 0) {
        return ETP_SLOW_MIGRATED;
    }
    if (slow > 0 && r->switches >= (double)slow) {
        return ETP_SLOW_SWITCHED;
    }
    // NAN compares false: what was not recorded explains nothing
    bool any = isfinite(r->waited_share) || isfinite(r->major_faults) || isfinite(r->clock) ||
               isfinite(r->migrations) || isfinite(r->switches);
    return any ? ETP_SLOW_UNEXPLAINED : ETP_SLOW_NO_RECORD;
}

const char *etp_slow_cause_name(etp_slow_cause cause)
{
    static const char *const k_names[ETP_SLOW_CAUSES] = {
        "waited for a CPU", "read from storage", "lower clock", "moved between CPUs",
        "interrupted",      "no cause recorded", "no record",
    };
    return k_names[cause];
}
