// SPDX-License-Identifier: Apache-2.0
// The members that several documents share.
#include "document/document.h"

#include <inttypes.h>
#include <math.h>

#include "base/number.h"
#include "document/rows.h"

SHARED_WORDS(k_etp_verdict_words, etp_verdict_name, etp_verdict, ETP_VERDICT_SAME + 1)

void etp_checks_add(etp_checks *checks, etp_arena *arena, etp_check c)
{
    c.fix = c.ok == 1 ? NULL : c.fix;
    ETP_ADD(arena, checks, c);
}

void etp_ns_member(etp_json *j, const char *key, int64_t ns)
{
    etp_json_kv_i64_if(j, key, ns, ns != ETP_NS_UNKNOWN);
}

bool etp_control_is_wide(const etp_interval *control)
{
    return control->lo < 0.5 || control->hi > 2;
}

const char *etp_control_text(etp_arena *arena, const etp_interval *control)
{
    if (etp_control_is_wide(control)) {
        return "not known within a factor of two";
    }
    return etp_arena_printf(arena, "%s %% to %s %%", ETP_CHANGE(100 * (control->lo - 1), 2),
                            ETP_CHANGE(100 * (control->hi - 1), 2));
}

void etp_ratio_as_said(etp_verdict verdict, double *speedup, double *lo, double *hi)
{
    if (verdict == ETP_VERDICT_SLOWER) {
        double least = 1 / *hi;
        *speedup = 1 / *speedup;
        *hi = 1 / *lo;
        *lo = least;
    }
}

// Why an interval of enough blocks tells nothing, in a word and as a sentence.
static const char *why_unknown(etp_arena *arena, double lo, double hi, double margin, bool sentence)
{
    if (lo > 1 + margin || hi < 1 / (1 + margin)) {
        return sentence ? "unknown: clear of the margin, but not of the noise" : "unknown: noise";
    }
    // As narrow as what is the same may be: it lies in the wrong place.
    if (hi / lo <= (1 + margin) * (1 + margin)) {
        return sentence
                   ? etp_arena_printf(arena,
                                      "unknown: between %s %% and %s %%, the margin of %s %% "
                                      "lies inside",
                                      ETP_CHANGE(100 * (lo - 1), 1), ETP_CHANGE(100 * (hi - 1), 1),
                                      ETP_DIGITS(100 * margin, 3))
                   : "unknown: at margin";
    }
    return sentence ? "unknown: the interval is too wide to tell" : "unknown: wide";
}

const char *etp_verdict_words(etp_arena *arena, etp_verdict verdict, double lo, double hi,
                              uint64_t blocks, double margin)
{
    if (verdict != ETP_VERDICT_UNKNOWN) {
        return etp_verdict_name(verdict);
    }
    if (!isfinite(lo)) {
        return "unknown: no interval";
    }
    if (blocks == 0) { // of two sessions
        return "unknown: the launches were not paired";
    }
    return blocks < ETP_MIN_BLOCKS
               ? etp_arena_printf(arena, "unknown (%" PRIu64 " of at least %d blocks)", blocks,
                                  ETP_MIN_BLOCKS)
               : why_unknown(arena, lo, hi, margin, true);
}

const char *etp_verdict_cell(etp_arena *arena, etp_verdict verdict, double lo, double hi,
                             uint64_t blocks, double margin)
{
    if (verdict != ETP_VERDICT_UNKNOWN || !isfinite(lo)) {
        return etp_verdict_words(arena, verdict, lo, hi, blocks, margin);
    }
    if (blocks == 0) {
        return "unknown: not paired";
    }
    return blocks < ETP_MIN_BLOCKS
               ? etp_arena_printf(arena, "unknown: %" PRIu64 " of %d", blocks, ETP_MIN_BLOCKS)
               : why_unknown(arena, lo, hi, margin, false);
}
