// SPDX-License-Identifier: Apache-2.0
// What several etprof.* documents say, said in one way: checks, estimates, times.
#ifndef ETP_DOCUMENT_DOCUMENT_H
#define ETP_DOCUMENT_DOCUMENT_H

#include <etprof/arena.h>
#include <etprof/stats.h>

#include "document/fields.h"

typedef struct etp_check {
    const char *id; // "json.truncated": what was asked, in one or two words
    int ok;         // 1 yes, 0 no, -1 cannot be told
    bool required;  // false: worth knowing, does not make the answer no
    const char *found, *expected;
    const char *fix; // NULL: nothing to do
    const char
        *file; // that was asked about, relative to its folder; NULL: the folder, or the machine
} etp_check;

typedef struct etp_checks {
    etp_check *items;
    size_t n, cap;
} etp_checks;

// What was found to be fine needs no fix.
void etp_checks_add(etp_checks *checks, etp_arena *arena, etp_check c);

// The members of a check, in a table of rows.h; "file" may stand after "id".
#define ETP_CHECK_ID FIELD("id", TEXT, id, "what was asked", .flags = ETP_SET)
#define ETP_CHECK_ROWS                                                                            \
    FIELD("ok", TRISTATE, ok, "null: cannot be told here"),                                       \
        FIELD("required", BOOL, required, "without it, the answer is no"),                        \
        FIELD("found", TEXT, found, "", .flags = ETP_SET), FIELD("expected", TEXT, expected, ""), \
        FIELD("fix", TEXT, fix, "what to do next")

// A whole number of nanoseconds (or bytes), null for ETP_NS_UNKNOWN.
void etp_ns_member(etp_json *j, const char *key, int64_t ns);

extern const etp_words k_etp_verdict_words;
// The members "estimate", "lo", "hi" of a ratio with its interval, in a table of rows.h.
#define ESTIMATE(what)                        \
    FIELD("estimate", RATIO, estimate, what), \
        FIELD("lo", RATIO, lo, "low end of its 95 % interval"), FIELD("hi", RATIO, hi, "high end")
// Those of an A/A control, from the members `control` and `control_blocks` of a struct.
#define ETP_CONTROL_ROWS                                                   \
    FIELD("estimate", RATIO, control.estimate, "ratio of two equal arms"), \
        FIELD("lo", RATIO, control.lo, "low end of its 95 % interval"),    \
        FIELD("hi", RATIO, control.hi, "high end"),                        \
        FIELD("blocks", UINT, control_blocks, "with a control launch")

// Both ends of the A/A control's interval, "-14.0 % to +5.2 %": its middle is not 0. NULL on out of
// memory.
bool etp_control_is_wide(const etp_interval *control); // its digits say nothing
const char *etp_control_text(etp_arena *arena, const etp_interval *control);

// SPEEDUP and its interval as they stand before the word of VERDICT: of "slower" the inverse
// ("2.00× slower").
void etp_ratio_as_said(etp_verdict verdict, double *speedup, double *lo, double *hi);
// VERDICT for a reader: "unknown" says why. LO and HI are the interval's ends, NAN without one.
// NULL on out of memory.
const char *etp_verdict_words(etp_arena *arena, etp_verdict verdict, double lo, double hi,
                              uint64_t blocks, double margin);

// The same for a cell of a table, which has the blocks and the interval beside it: "unknown: 2 of
// 6".
const char *etp_verdict_cell(etp_arena *arena, etp_verdict verdict, double lo, double hi,
                             uint64_t blocks, double margin);

#endif
