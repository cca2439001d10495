// SPDX-License-Identifier: Apache-2.0
// The figures of a gate's checks as people read them.
#include <math.h>

#include "base/number.h"
#include "study/gate/members.h"

const char *etp_gate_figure_words(etp_arena *arena, etp_gate_unit dim, double v)
{
    if (!isfinite(v)) {
        return "unknown";
    }
    switch (dim) {
    case ETP_GATE_TIME:
        return etp_arena_strdup(arena, etp_str_from(ETP_NS(v)));
    case ETP_GATE_BYTES:
        return etp_arena_strdup(arena, etp_str_from(ETP_BYTES((uint64_t)v)));
    case ETP_GATE_PERCENT:
        return etp_arena_printf(arena, "%s %%", ETP_DIGITS(100 * v, 3));
    case ETP_GATE_A_SECOND:
        return etp_arena_printf(arena, "%s tok/s", ETP_DIGITS(v, 5));
    case ETP_GATE_RATIO:
        break;
    }
    return etp_arena_printf(arena, "%s\xC3\x97", ETP_DIGITS(v, 4));
}

const char *etp_gate_interval_words(etp_arena *arena, etp_gate_unit dim, double v, double lo,
                                    double hi)
{
    if (!isfinite(v) && isfinite(lo) && isfinite(hi)) { // not known within a factor of two
        return etp_arena_printf(arena, "%s to %s", etp_gate_figure_words(arena, dim, lo),
                                etp_gate_figure_words(arena, dim, hi));
    }
    const char *value = etp_gate_figure_words(arena, dim, v);
    // A figure whose ends are itself has no interval worth printing.
    if (!isfinite(lo) || !isfinite(hi) || (lo == v && hi == v)) {
        return value;
    }
    return etp_arena_printf(arena, "%s [%s, %s]", value, etp_gate_figure_words(arena, dim, lo),
                            etp_gate_figure_words(arena, dim, hi));
}

// ETP_GATE_RATIO of two times, baseline first, as the change of the second: "+20.0 % time".
static const char *change(etp_arena *arena, double ratio)
{
    return isfinite(ratio) ? etp_arena_printf(arena, "%s %%", ETP_CHANGE(100 * (ratio - 1), 1))
                           : "unknown";
}

const char *etp_gate_change_words(etp_arena *arena, double ratio, double lo, double hi)
{
    const char *is = change(arena, ratio);
    return isfinite(ratio) ? etp_arena_printf(arena, "%s time [%s, %s]", is, change(arena, lo),
                                              change(arena, hi))
                           : is;
}
