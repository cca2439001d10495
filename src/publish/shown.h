// SPDX-License-Identifier: Apache-2.0
// What a session is shown as: its comparisons, or the operator names that prove them.
#ifndef ETP_PUBLISH_SHOWN_H
#define ETP_PUBLISH_SHOWN_H

#include "document/answer.h"
#include "judge/open.h"
#include "kit/combined.h"

typedef struct etp_ab_showing { // zeroed: comparisons, every section
    bool brief;                 // the short form in text
    bool proof;                 // operator names side by side instead of times
    bool price;                 // what the arms cost instead
    bool document;              // JSON alone is wanted: no report is made
    const char *phase;          // that of a session of several alone, NULL: all
    const char *title;          // of the report, NULL: the model's
} etp_ab_showing;

// *out lives in ARENA and borrows from SESSION.
ETP_NODISCARD etp_status etp_ab_show(const etp_ab_session *session, const etp_ab_showing *how,
                                     etp_arena *arena, etp_answer *out, etp_error *err);

// Several sessions as one.
typedef struct etp_combined_shown {
    etp_answer answer;
    etp_combined combined;
} etp_combined_shown;

// *out lives in ARENA and borrows from SESSIONS. TITLE NULL: by the models. DOCUMENT: JSON alone is
// wanted.
ETP_NODISCARD etp_status etp_combined_show(etp_ab_session *const *sessions, size_t n,
                                           const char *title, bool document, etp_arena *arena,
                                           etp_combined_shown *out, etp_error *err);

#endif
