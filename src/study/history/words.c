// SPDX-License-Identifier: Apache-2.0
// How figures, times and changes of a history are written.
#include <math.h>

#include "base/number.h"
#include "study/history/internal.h"

static bool is_time(const etp_history_series *s)
{
    return etp_str_ends(s->name, ETP_STR("_ns"));
}

etp_severity etp_history_judgement(const etp_history_series *s, const etp_history_change *c)
{
    // The name alone says what is good, also in tables of others; without one of these ends a
    // change is news, neither good nor bad.
    bool more_is_good = etp_str_ends(s->name, ETP_STR("_speedup")) ||
                        etp_str_ends(s->name, ETP_STR("_tokens_per_s"));
    if (!more_is_good && !is_time(s)) {
        return ETP_INFO;
    }
    return (c->after > c->before) == more_is_good ? ETP_GOOD : ETP_BAD;
}

// Ratios as all reports write them; of other numbers the unit is not known, only that five digits
// are more than a run repeats.
const char *etp_history_figure(const etp_history_series *s, double v, etp_arena *arena)
{
    char text[ETP_NUMBER_CHARS] = "–";
    if (isfinite(v) && etp_str_ends(s->name, ETP_STR("_speedup"))) {
        return etp_arena_printf(arena, "%.2f×", v);
    }
    if (isfinite(v)) {
        (void)(is_time(s) ? etp_format_ns(v, text) : etp_format_digits(v, 5, text));
    }
    return etp_arena_printf(arena, "%s", text);
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
                             const char *label, const char *words, const char *detail,
                             etp_report *r)
{
    etp_headline card = {.label = label ? label : "",
                         .verdict = words ? words : "",
                         .severity = etp_history_judgement(s, c),
                         .value = (double)NAN,
                         .lo = (double)NAN,
                         .hi = (double)NAN,
                         .reference = (double)NAN,
                         .detail = detail};
    etp_report_headline(r, &card);
}
