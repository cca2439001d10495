// SPDX-License-Identifier: Apache-2.0
// A session of several phases: all of them at a glance, then each as if it were alone.
#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "compare/phases.h"
#include "document/document.h"
#include "show/first_token.h"
#include "show/report.h"

void etp_ab_phase_cards(const etp_ab *ab, etp_report *r, etp_arena *arena)
{
    for (size_t i = 0; i < ab->n_phases; i++) {
        const struct etp_ab_view view = {.ab = ab->phases[i], .run = ab->phases[i]->phase};
        etp_ab_headline_cards(&view, r, arena);
    }
}

static etp_cell time_cell(const etp_ab *ab, uint32_t arm)
{
    int64_t ns = ab->arms[arm].median_ns;
    return ns == ETP_NS_UNKNOWN || ab->emulated ? etp_cell_missing() : etp_cell_ns(ns);
}

// N leaves out the clock's column where the runner's clock counts nanoseconds.
static void phase_row(const etp_ab *ab, size_t at, etp_table *t, size_t n, etp_arena *arena)
{
    const etp_ab_comparison *c = &ab->comparisons[at];
    bool told = c->withheld == ETP_WITHHELD_NOT;
    const char *verdict = etp_verdict_words(arena, c->verdict, c->lo, c->hi, c->blocks, c->margin);
    const etp_cell cells[] = {etp_cell_z(ab->phase),
                              etp_cell_z(ab->arms[c->candidate].measured),
                              etp_cell_z(ab->arms[c->baseline].measured),
                              etp_cell_double(etp_value_if(told, c->estimate)),
                              etp_cell_double(etp_value_if(told, c->lo)),
                              etp_cell_double(etp_value_if(told, c->hi)),
                              etp_cell_double(etp_ab_token_rate(ab, c->baseline)),
                              etp_cell_double(etp_ab_token_rate(ab, c->candidate)),
                              time_cell(ab, c->baseline),
                              time_cell(ab, c->candidate),
                              etp_cell_z(told ? verdict : etp_ab_withheld_text(c->withheld)),
                              etp_cell_ns((int64_t)ab->phased->clock_ns)};
    etp_table_add_row(t, cells, n);
}

static void first_token_table(const etp_ab *ab, etp_report *r)
{
    static const etp_column k_columns[] = {
        {.key = "prompt", .title = "prompt", .kind = ETP_KIND_INT},
        {.key = "candidate", .title = "arm"},
        {.key = "baseline", .title = "against"},
        {.key = "before_ns", .title = "before", .kind = ETP_KIND_NS},
        {.key = "after_ns", .title = "after", .kind = ETP_KIND_NS},
        {.key = "ratio", .title = "ratio", .kind = ETP_KIND_RATIO},
    };
    uint64_t prompts[ETP_AB_PROMPTS];
    size_t n = etp_ab_prompts(ab, prompts);
    if (n == 0) {
        return;
    }
    etp_table *t = etp_report_table(
        r, "first_token", "Time to the first token: the prompt's calls, without a tokenizer",
        k_columns, sizeof k_columns / sizeof *k_columns);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < ab->n_comparisons; k++) {
            // A ratio of sums, without an interval: the phases it is made of were not paired with
            // each other.
            const etp_ab_comparison *c = &ab->comparisons[k];
            int64_t from = etp_ab_first_token(ab, prompts[i], c->baseline);
            int64_t to = etp_ab_first_token(ab, prompts[i], c->candidate);
            bool known = from != ETP_NS_UNKNOWN && to > 0 && !c->withheld;
            ETP_ROW(t, etp_cell_u64(prompts[i]), etp_cell_z(ab->arms[c->candidate].measured),
                    etp_cell_z(ab->arms[c->baseline].measured), etp_cell_ns(from), etp_cell_ns(to),
                    etp_cell_double(etp_value_if(known, (double)from / (double)to)));
        }
    }
}

void etp_ab_phase_section(const etp_ab *ab, etp_report *r, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "phase", .title = "phase"},
        {.key = "candidate", .title = "arm"},
        {.key = "baseline", .title = "against"},
        {.key = "speedup", .title = "speedup", .kind = ETP_KIND_RATIO, .flags = ETP_COL_BAR},
        {.key = "low", .title = "from", .kind = ETP_KIND_RATIO},
        {.key = "high", .title = "to", .kind = ETP_KIND_RATIO},
        {.key = "rate_before",
         .title = "before",
         .kind = ETP_KIND_DOUBLE,
         .unit = "tok/s",
         .decimals = 1},
        {.key = "rate_after",
         .title = "after",
         .kind = ETP_KIND_DOUBLE,
         .unit = "tok/s",
         .decimals = 1},
        {.key = "before_ns", .title = "a call before", .kind = ETP_KIND_NS},
        {.key = "after_ns", .title = "a call after", .kind = ETP_KIND_NS},
        {.key = "verdict", .title = "verdict", .flags = ETP_COL_MINOR},
        {.key = "clock_ns", .title = "clock", .kind = ETP_KIND_NS}, // of a runner of others
    };
    // One runner, one clock: the first phase speaks for all.
    size_t n_columns = sizeof k_columns / sizeof *k_columns - (ab->phased->clock_ns == 0);
    uint64_t prompts[ETP_AB_PROMPTS];
    // On the page the cards above have the ratios: the section stands there only where it says
    // more.
    bool clocks = ab->phased->clock_ns != 0, first_tokens = etp_ab_prompts(ab, prompts) > 0;
    etp_medium medium = etp_report_medium(r, ETP_OFF_PAGE); // whose headlines say it
    if (clocks || first_tokens) {
        etp_report_medium(r, medium);
    }
    etp_report_section(r, 1, "phases", "Phases");
    etp_report_medium(r, clocks ? medium : ETP_OFF_PAGE);
    etp_table *t = etp_report_table(
        r, "phases", "Each phase against the same phase of the baseline", k_columns, n_columns);
    for (size_t i = 0; i < ab->n_phases; i++) {
        for (size_t k = 0; k < ab->phases[i]->n_comparisons; k++) {
            phase_row(ab->phases[i], k, t, n_columns, arena);
        }
    }
    etp_report_medium(r, medium);
    first_token_table(ab, r);
}

void etp_ab_phase_first_tab(const etp_ab *ab, etp_report *r)
{
    if (ab->n_phases > 1) {
        etp_report_tab(r, ab->phase);
        etp_report_medium(r, ETP_ON_PAGE);
        etp_report_section(r, 1, "phase-1", ab->phase);
        etp_report_section_whole(r, "etprof analyze DIR --full");
        etp_report_medium(r, ETP_EVERYWHERE);
    }
}

void etp_ab_as_part(const etp_ab *ab, etp_report *r, etp_arena *arena)
{
    etp_medium medium = etp_report_medium(r, ETP_OFF_PAGE);
    etp_ab_answer_lines(ab, r, arena);
    etp_ab_reason_sections(ab, r, arena);
    etp_report_medium(r, ETP_ON_PAGE);
    const char *option = etp_ab_phase_option(ab, arena);
    const char *whatif =
        ab->later_phase && option ? etp_arena_printf(arena, "etprof whatif DIR%s", option) : NULL;
    etp_ab_page_findings(ab, whatif, r, arena);
    etp_report_medium(r, medium);
}

void etp_ab_phase_parts(const etp_ab *ab, etp_report *r, etp_arena *arena)
{
    for (size_t i = 1; i < ab->n_phases; i++) {
        const etp_ab *one = ab->phases[i];
        const char *id = etp_ab_phase_scope(i, arena);
        etp_report_tab(r, one->phase);
        etp_report_begin_part(r, ETP_OR(id, ""), one->phase);
        etp_report_section_whole(r, "etprof analyze DIR --full");
        etp_ab_as_part(one, r, arena);
        etp_ab_blocks_section(one, false, r);
        etp_report_inner(r, true);
        etp_ab_states_section(one, r, arena);
        etp_ab_counters_section(one, r, arena);
        etp_report_inner(r, false);
        etp_ab_evidence_section(one, r);
        etp_report_end_part(r);
    }
    etp_report_tab(r, NULL);
}
