// SPDX-License-Identifier: Apache-2.0
// How figures, times and changes of a history are written.
#include <math.h>

#include "base/number.h"
#include "study/history/internal.h"

static const struct {
    const char *end, *word;
} k_units[ETP_SERIES_UNITS] = {
    [ETP_SERIES_TIME] = {"_ns",           "time"    },
    [ETP_SERIES_SPEEDUP] = {"_speedup",      "speedup" },
    [ETP_SERIES_RATE] = {"_tokens_per_s", "tokens/s"},
};

etp_series_unit etp_series_unit_of(etp_str name, etp_str *out_stem)
{
    *out_stem = name;
    for (etp_series_unit u = ETP_SERIES_OTHER + 1; u < ETP_SERIES_UNITS; u++) {
        const etp_str end = etp_str_from(k_units[u].end);
        if (etp_str_ends(name, end)) {
            out_stem->len -= end.len;
            return u;
        }
    }
    return ETP_SERIES_OTHER;
}

const char *etp_series_unit_end(etp_series_unit unit)
{
    return k_units[unit].end;
}

const char *etp_series_unit_word(etp_series_unit unit)
{
    return k_units[unit].word;
}

etp_severity etp_history_judgement(const etp_history_series *s, const etp_history_change *c)
{
    // The name alone says what is good, also in tables of others; without one of these ends a
    // change is news, neither good nor bad.
    return s->unit == ETP_SERIES_OTHER                              ? ETP_INFO
           : (c->after > c->before) == (s->unit != ETP_SERIES_TIME) ? ETP_GOOD
                                                                    : ETP_BAD;
}

// Ratios as all reports write them; of other numbers the unit is not known, only that five digits
// are more than a run repeats.
const char *etp_history_figure(const etp_history_series *s, double v, etp_arena *arena)
{
    if (!isfinite(v)) {
        return "–";
    }
    return s->unit == ETP_SERIES_SPEEDUP
               ? etp_arena_printf(arena, "%.2f×", v)
               : etp_arena_printf(arena, "%s",
                                  s->unit == ETP_SERIES_TIME ? ETP_NS(v) : ETP_DIGITS(v, 5));
}

// "2026-01-07 06:00" of "2026-01-07T06:00:00Z"; other texts as they are.
etp_str etp_history_shown_time(etp_str time, etp_arena *arena)
{
    static const char k_form[] = "0000-00-00T00:00";
    bool fits = time.len >= sizeof k_form - 1;
    for (size_t i = 0; fits && i < sizeof k_form - 1; i++) {
        fits =
            k_form[i] == '0' ? time.ptr[i] >= '0' && time.ptr[i] <= '9' : time.ptr[i] == k_form[i];
    }
    const char *text = fits ? etp_arena_printf(arena, "%.10s %.5s", time.ptr, time.ptr + 11) : NULL;
    return text ? etp_str_from(text) : time;
}

// "7.9 % more": of times and of ratios alike, because "faster" is a ratio of times elsewhere.
const char *etp_history_change_words(const etp_history_change *c, etp_arena *arena)
{
    double relative = c->after / c->before - 1;
    return isfinite(relative) ? etp_arena_printf(arena, "%.1f %% %s", 100 * fabs(relative),
                                                 relative > 0 ? "more" : "less")
                              : "changed";
}

void etp_history_change_card(const etp_history_series *s, const etp_history_change *c,
                             const char *label, const char *figures, etp_report *r,
                             etp_arena *arena)
{
    const char *words = etp_history_change_words(c, arena);
    const char *detail = c->also.len ? etp_arena_printf(arena, "%s · changed there too: %.*s",
                                                        figures, ETP_STR_ARG(c->also))
                                     : figures;
    etp_headline card = {.label = label,
                         .verdict = words,
                         .severity = etp_history_judgement(s, c),
                         .value = (double)NAN,
                         .lo = (double)NAN,
                         .hi = (double)NAN,
                         .reference = (double)NAN,
                         .detail = detail};
    etp_report_headline(r, &card);
}

// Below the cards of changes instead of in each of them.
void etp_history_beside_fact(size_t n_alone, size_t n_cards, etp_report *r)
{
    if (n_alone > 0) {
        etp_report_fact(r, "besides", "nothing else is known to have changed %s",
                        n_alone == n_cards ? "there" : "where no card says so");
    }
}
