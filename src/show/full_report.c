// SPDX-License-Identifier: Apache-2.0
// The whole report of an answer: its sections in their order.
#include <string.h>

#include "compare/phases.h"
#include "show/report.h"

// Every model; a session is named after its first.
static const char *title_of(const etp_ab *ab, etp_arena *arena)
{
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    for (size_t i = 0; i < ab->n_models; i++) {
        const char *stem = ab->models[i].stem;
        etp_strbuf_printf(&text, "%s%s", etp_if(i && stem, ", "), ETP_OR(stem, ""));
    }
    return ab->n_models > 1 && text.len ? etp_strbuf_str(&text).ptr : ab->title;
}

// One tree for all formats. Where the page tells the same otherwise (an interactive table, a
// drawer), both stand here, each for its medium.
const etp_report *etp_ab_report(const etp_ab *ab, etp_arena *arena)
{
    const etp_ab_views one = {&(struct etp_ab_view){.ab = ab}, 1};
    etp_report *r = etp_report_create(arena, title_of(ab, arena));
    // What was measured on what, without the model's name above it.
    if (ab->unrelated) { // before any figure
        etp_report_subtitle(r, "%s%s%s", ab->unrelated, etp_if(ab->subject, " · "),
                            etp_if(ab->subject, ab->where));
    } else if (ab->subject) {
        bool named = ab->n_models > 0 && ab->where[0]; // by the title
        etp_report_subtitle(r, "%s", named ? ab->where : ab->subject);
    } else if (ab->n_comparisons) {
        etp_report_subtitle(r, "%s against %s%s", ab->arms[ab->comparisons[0].candidate].measured,
                            ab->arms[ab->baseline].measured,
                            etp_if(ab->n_comparisons > 1, " and others"));
    }
    if (ab->n_phases > 0) {
        etp_ab_phase_cards(ab, r, arena);
    } else {
        etp_ab_headline_cards(one.items, r, arena);
    }
    etp_report_medium(r, ETP_ON_PAGE);
    etp_ab_pictures(ab, r);
    etp_report_medium(r, ETP_EVERYWHERE);
    etp_ab_facts(ab, r, arena);
    if (ab->n_phases > 0) {
        etp_ab_phase_section(ab, r, arena);
    }
    etp_ab_phase_first_tab(ab, r);
    etp_report_medium(r, ETP_OFF_PAGE);
    etp_report_section(r, 1, "answer", ab->n_phases > 1 ? ab->phase : "Answer");
    etp_ab_answer_lines(ab, r, arena);
    etp_ab_reason_sections(ab, r, arena);
    etp_report_medium(r, ETP_ON_PAGE);
    etp_ab_page_findings(ab, "etprof whatif DIR", r, arena);
    etp_report_medium(r, ETP_EVERYWHERE);
    etp_ab_blocks_section(ab, false, r);
    etp_report_inner(r, true);
    etp_ab_states_section(ab, r, arena);
    etp_ab_counters_section(ab, r, arena);
    if (ab->n_phases < 2) { // else of all phases, behind them
        etp_ab_environment_section(ab, r, arena);
    }
    etp_report_inner(r, false);
    etp_ab_evidence_section(ab, r);
    if (ab->n_phases > 1) {
        etp_ab_phase_parts(ab, r, arena);
        etp_ab_environment_section(ab, r, arena);
    }
    etp_ab_reproduce_section(ab, r, arena);
    etp_report_medium(r, ETP_ON_PAGE);
    // Of the answer, and of each later phase: the first one is the answer's own.
    size_t n = etp_ab_answers(ab);
    struct etp_ab_view *views = ETP_NEW_ARRAY(arena, struct etp_ab_view, n);
    for (size_t i = 0; views && i < n; i++) {
        views[i] = (struct etp_ab_view){.ab = etp_ab_answer_at(ab, i),
                                        .run = n > 1 ? ab->phases[i]->phase : NULL,
                                        .scope = i ? etp_ab_phase_scope(i, arena) : NULL};
    }
    etp_ab_drawers(&(etp_ab_views){views, views ? n : 0}, r, arena);
    return r;
}
