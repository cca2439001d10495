// SPDX-License-Identifier: Apache-2.0
// Small words about phases: their times as tokens a second, whose drawers they are.
#include <math.h>

#include "base/number.h"
#include "show/report.h"

const char *etp_ab_phase_scope(size_t phase, etp_arena *arena)
{
    return etp_arena_printf(arena, "phase-%zu", phase + 1);
}

// Digits in groups below a million, as people read rates.
const char *etp_rate_text(double rate, etp_arena *arena)
{
    if (rate < 100) {
        return etp_arena_printf(arena, "%s", ETP_DIGITS(rate, 3));
    }
    unsigned long long whole = (unsigned long long)llround(rate);
    return whole < 1000 ? etp_arena_printf(arena, "%llu", whole)
                        : etp_arena_printf(arena, "%llu,%03llu", whole / 1000, whole % 1000);
}

const char *etp_ab_rates_text(const etp_ab *ab, const etp_ab_comparison *c, etp_arena *arena)
{
    double from = etp_ab_token_rate(ab, c->baseline), to = etp_ab_token_rate(ab, c->candidate);
    if (!isfinite(from) || !isfinite(to)) {
        return NULL;
    }
    const char *a = etp_rate_text(from, arena), *b = etp_rate_text(to, arena);
    return a && b ? etp_arena_printf(arena, "%s → %s tok/s", a, b) : NULL;
}
