// SPDX-License-Identifier: Apache-2.0
// What the screens of a terminal say alike: times in one unit, causes in two words.
#include <math.h>

#include "base/number.h"
#include "document/document.h"
#include "show/screen.h"

etp_screen_unit etp_screen_unit_among(double largest_ns, double common)
{
    double by = common > 0 ? common : largest_ns;
    etp_screen_unit u = by >= 1e9   ? (etp_screen_unit){1e9, 0, "s"}
                        : by >= 1e6 ? (etp_screen_unit){1e6, 0, "ms"}
                                    : (etp_screen_unit){1e3, 0, "µs"};
    double v = largest_ns / u.ns;
    u.decimals = v >= 100 ? 1 : v >= 10 ? 2 : 3;
    return u;
}

const char *etp_screen_in_unit(const etp_screen_unit *u, double ns, etp_arena *arena)
{
    char buf[ETP_NUMBER_CHARS];
    const char *change = etp_format_change(ns / u->ns, u->decimals, buf);
    return etp_arena_printf(arena, "%s", change + (*change == '+'));
}

const char *etp_screen_from_to(double from, double to, double common, const char *what,
                               etp_arena *arena)
{
    etp_screen_unit u = etp_screen_unit_among(fmax(from, to), common);
    const char *x = etp_screen_in_unit(&u, from, arena), *y = etp_screen_in_unit(&u, to, arena);
    return x && y ? etp_arena_printf(arena, "%s → %s %s%s", x, y, u.name, what) : NULL;
}

const char *etp_screen_control(const etp_interval *control, etp_arena *arena)
{
    char lo[ETP_NUMBER_CHARS], hi[ETP_NUMBER_CHARS];
    return etp_control_is_wide(control)
               ? "A/A not known within 2×"
               : etp_arena_printf(arena, "A/A %s to %s %%",
                                  etp_format_change(100 * (control->lo - 1), 1, lo),
                                  etp_format_change(100 * (control->hi - 1), 1, hi));
}

const char *etp_screen_cause(etp_cause cause, etp_cause_state state)
{
    // By state: not known, ruled out, suspect.
    static const char *const k_words[ETP_CAUSE_COUNT][ETP_CAUSE_STATES] = {
        [ETP_CAUSE_THERMAL] = {"heat not readable",        "no throttling", "it throttled"           },
        [ETP_CAUSE_CONTENTION] = {"other programs not known", "quiet machine",
                               "other programs ran"                                                  },
        [ETP_CAUSE_TRACER] = {NULL,                       NULL,            "recording slows it much"},
        [ETP_CAUSE_THREADS] = {NULL,                       NULL,            "thread counts differ"   },
        [ETP_CAUSE_BUILDS] = {NULL,                       "one binary",    "different binaries"     },
    };
    return k_words[cause][state];
}

etp_severity etp_screen_cause_severity(etp_cause_state state)
{
    static const etp_severity k_severity[ETP_CAUSE_STATES] = {ETP_PLAIN, ETP_GOOD, ETP_WARN};
    return k_severity[state];
}
