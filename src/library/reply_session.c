// SPDX-License-Identifier: Apache-2.0
// Replies about samples, and about sessions that are recomputed.
#include "compare/phases.h"
#include "judge/fixes/whatif.h"
#include "judge/open.h"
#include "library/reply.h"
#include "library/reply_files.h"
#include "study/stats/samples.h"

// ---- samples ----

static const etp_report *report_stats(const void *about, etp_arena *arena)
{
    return etp_stats_report(about, arena);
}

etp_status etp_reply_stats(const etp_question *q, etp_reply *r, etp_error *err)
{
    etp_stats_answer *stats = ETP_NEW(&r->arena, etp_stats_answer);
    ETP_NEED(stats, err, "statistics");
    r->answer =
        (etp_answer){.document = &k_etp_stats_document, .data = stats, .csv_table = "comparisons"};
    r->report = report_stats;
    return etp_stats_answer_build(q->paths[0], NULL, q->baseline, q->phase, q->margin, &r->arena,
                                  stats, err);
}

// ---- what if ----

static void close_session(etp_reply *r)
{
    etp_ab_close(r->session);
}

static const etp_report *report_whatif(const void *about, etp_arena *arena)
{
    return etp_whatif_report(about, arena);
}

etp_status etp_reply_whatif(const etp_question *q, etp_reply *r, etp_error *err)
{
    if (q->n_changes == 0) {
        return etp_fail(err, ETP_USAGE, "a change is missing, for example 'drop transpose*'");
    }
    etp_whatif *w = ETP_NEW(&r->arena, etp_whatif);
    ETP_NEED(w, err, "what if");
    const etp_ab_options how = {
        .baseline = q->baseline,
        .program = q->program,
        .roofs = q->roofs,
        .units = {q->source_unit, q->delegate_unit},
    };
    r->close = close_session;
    ETP_TRY(etp_ab_open(q->paths, q->n_paths, &how, &r->session, err));
    r->answer = (etp_answer){.document = &k_etp_whatif_document, .data = w};
    r->report = report_whatif;
    const etp_ab *ab;
    ETP_TRY(etp_ab_of_phase(etp_ab_answer(r->session), q->phase, &ab, err));
    return etp_whatif_build(ab, q->changes, q->n_changes, w, err);
}
