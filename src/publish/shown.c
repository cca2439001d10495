// SPDX-License-Identifier: Apache-2.0
// Which document and which report a session gets.
#include "publish/shown.h"

#include "compare/phases.h"
#include "show/json.h"
#include "show/report.h"
#include "show/screen.h"

static const etp_report *report_of(const etp_ab *ab, const etp_ab_showing *how, etp_arena *arena)
{
    if (how->document) {
        return NULL;
    }
    // The answer belongs to the session, so a title of the user's goes into a copy.
    etp_ab titled = *ab;
    titled.title = ETP_OR(how->title, ab->title);
    if (how->price) {
        return etp_ab_price_report(&titled, arena);
    }
    return how->proof ? etp_ab_proof_report(ab, arena) : etp_ab_report(&titled, arena);
}

static etp_answer answer_of(const etp_ab *ab, const etp_ab_showing *how, etp_arena *arena)
{
    return (etp_answer){
        .document = &k_etp_ab_document,
        .data = ab,
        .csv_table = how->price ? ETP_AB_TABLE_PRICE : ETP_AB_TABLE_OPERATORS,
        .brief = how->brief,
        .report = report_of(ab, how, arena),
        .screen = how->brief && !how->proof && !how->price ? etp_ab_screen(ab, arena) : NULL,
        .write_screen = etp_screen_write,
    };
}

etp_status etp_ab_show(const etp_ab_session *session, const etp_ab_showing *how, etp_arena *arena,
                       etp_answer *out, etp_error *err)
{
    // A phase by itself is a comparison, whatever the session is.
    if (how->phase) {
        // The answer of the first phase holds those of all; here it is shown without them.
        const etp_ab *ab;
        etp_ab *alone = ETP_NEW(arena, etp_ab);
        ETP_NEED(alone, err, "a phase");
        ETP_TRY(etp_ab_of_phase(etp_ab_answer(session), how->phase, &ab, err));
        *alone = *ab;
        alone->n_phases = 0;
        *out = answer_of(alone, how, arena);
        return ETP_OK;
    }
    *out = answer_of(etp_ab_answer(session), how, arena);
    return etp_arena_check(etp_ab_answer(session)->arena, err, "report"); // parts are made in it
}

etp_status etp_combined_show(etp_ab_session *const *sessions, size_t n, const char *title,
                             bool document, etp_arena *arena, etp_combined_shown *out,
                             etp_error *err)
{
    *out = (etp_combined_shown){0};
    const etp_ab **answers = ETP_NEW_ARRAY(arena, const etp_ab *, n + 1);
    ETP_NEED(answers, err, "report");
    for (size_t i = 0; i < n; i++) {
        answers[i] = etp_ab_answer(sessions[i]);
    }
    ETP_TRY(etp_combined_build(answers, n, title, arena, &out->combined, err));
    out->answer = (etp_answer){
        .document = &k_etp_combined_document,
        .data = &out->combined,
        .csv_table = ETP_COMBINED_TABLE,
        .report = document ? NULL : etp_combined_report(&out->combined, arena),
    };
    return ETP_OK;
}
