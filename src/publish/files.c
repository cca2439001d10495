// SPDX-License-Identifier: Apache-2.0
// Writing the derived files of a run folder.
#include "publish/files.h"

#include "compare/phases.h"
#include "inspect/kernels/kernels.h"
#include "kit/files.h"
#include "show/json.h"
#include "show/report.h"

typedef struct writer {
    etp_run_deriving *to;
    etp_arena *arena;
    const etp_report *report;
    const etp_arena *answer; // of the session: parts of a report are made in it
} writer;

static etp_status render(const writer *w, const char *name, etp_report_writer *format,
                         const char *select, etp_error *err)
{
    etp_strbuf buf;
    etp_strbuf_init(&buf, w->arena);
    etp_sink sink = etp_sink_strbuf(&buf);
    ETP_TRY(etp_arena_check(w->answer, err, name));
    etp_report_style style = {.unicode = true, .select = select};
    ETP_TRY(etp_report_write(w->report, format, &style, &sink, err));
    return etp_run_derive(w->to, name, etp_strbuf_str(&buf), err);
}

// The pictures of AB's report, each name behind PREFIX.
static etp_status write_pictures(const etp_ab *ab, const etp_report *report, const char *prefix,
                                 writer *w, etp_error *err)
{
    const char *latency = etp_arena_printf(w->arena, "%slatency_comparison.svg", prefix),
               *stacked = etp_arena_printf(w->arena, "%soperator_breakdown_stacked.svg", prefix);
    ETP_NEED(latency && stacked, err, "pictures");
    w->report = report;
    // A session that was interrupted before its first block has no time to draw.
    bool timed = false;
    for (size_t i = 0; i < ab->n_arms; i++) {
        timed = timed || ab->arms[i].median_ns != ETP_NS_UNKNOWN ||
                ab->arms[i].traced_ns != ETP_NS_UNKNOWN;
    }
    if (timed) {
        ETP_TRY(render(w, latency, etp_write_svg, ETP_AB_CHART_LATENCY, err));
    }
    if (ab->n_categories) {
        ETP_TRY(render(w, stacked, etp_write_svg, ETP_AB_CHART_BREAKDOWN, err));
    }
    return ETP_OK;
}

static etp_status write_all(const etp_ab_session *session, writer *w, etp_error *err)
{
    const etp_ab *ab = etp_ab_answer(session);
    etp_str text = etp_document_text(&k_etp_ab_document, ab, ab, true, w->arena);
    ETP_NEED(text.len, err, "report.json");
    ETP_TRY(etp_run_derive(w->to, "report.json", text, err));
    w->report = etp_ab_report(ab, w->arena);
    ETP_TRY(render(w, "report.html", etp_write_html, NULL, err));
    ETP_TRY(render(w, "report.md", etp_write_md, NULL, err));
    ETP_TRY(write_pictures(ab, w->report, "", w, err));
    // The first phase's have the names of a session without any.
    for (size_t i = 1; i < ab->n_phases; i++) {
        const etp_ab *one = ab->phases[i];
        const char *word = etp_ab_phase_file_word(one->phase, w->arena);
        const char *prefix = word ? etp_arena_printf(w->arena, "%s_", word) : NULL;
        ETP_NEED(prefix, err, "pictures");
        ETP_TRY(write_pictures(one, etp_ab_report(one, w->arena), prefix, w, err));
    }
    return ETP_OK;
}

etp_status etp_ab_write_files(const etp_ab_session *session, const char *dir, etp_error *err)
{
    etp_arena arena = {0};
    etp_run_deriving deriving;
    writer w = {.to = &deriving, .arena = &arena, .answer = etp_ab_answer(session)->arena};
    // What a killed process left half written would stay beside the new files for good.
    etp_run_remove_leftovers(dir, &arena);
    etp_run_derive_begin(dir, &arena, &deriving);
    etp_status st = write_all(session, &w, err);
    etp_kernels_answer kernels;
    if (st == ETP_OK) {
        st = etp_kernels_load(etp_ab_run(session), &arena, &kernels, err);
    }
    if (st == ETP_OK) {
        st = etp_kernels_write_files(&kernels, &deriving, &arena, err);
    }
    if (st == ETP_OK) {
        st = etp_kit_derive_files(session, &deriving, err);
    }
    // After a failure too: what was written so far lies beside its names and is taken away.
    st = etp_run_derive_end(&deriving, st, err);
    etp_arena_dispose(&arena);
    return st == ETP_OK ? ETP_OK : etp_fail_ctx(err, "%s", dir);
}
