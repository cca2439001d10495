// SPDX-License-Identifier: Apache-2.0
// Author of the report of an etp_ab: one tree for terminal, HTML, Markdown, CSV and the pictures.
#ifndef ETP_SHOW_REPORT_H
#define ETP_SHOW_REPORT_H

#include "compare/ab.h"
#include "compare/bottlenecks.h"
#include "report/report.h"

// Ids of charts and tables that callers select.
#define ETP_AB_CHART_LATENCY "latency"
#define ETP_AB_CHART_BREAKDOWN "breakdown"
#define ETP_AB_TABLE_OPERATORS "operators"
#define ETP_AB_TABLE_PRICE "price"

// Of the column "why" in tables of operators.
#define ETP_AB_WHY_HELP "why it takes its time: the first reason that is known"

// The report lives in ARENA; the answer may go afterwards.
const etp_report *etp_ab_report(const etp_ab *ab, etp_arena *arena);

// What ran where: operator names of all arms side by side, no times. For emulated runs and reviews.
const etp_report *etp_ab_proof_report(const etp_ab *ab, etp_arena *arena);

// "43.2 ms saved, 95 % [40.1 ms, 46.0 ms]"
const char *etp_ab_saved_words(etp_interval saved, bool bytes, etp_arena *arena);
// What changes of loading save, as a section; nothing without any. In load_fixes.c.
void etp_ab_load_fix_section(const etp_ab *ab, etp_report *r);
// From the start of each arm's process to the end of its first inference, part by part, and what
// was packed for which operator. In loading.c.
void etp_ab_loading_tables(const etp_ab *ab, size_t *n, etp_report *r, etp_arena *arena);
// What the arms cost: a row for each cost, a column for each arm. In price.c.
const etp_report *etp_ab_price_report(const etp_ab *ab, etp_arena *arena);

// Lines "proof": what the evidence says of each arm.
void etp_ab_proof_keys(const etp_ab *ab, etp_keys *keys, etp_arena *arena);

// How a sentence and a verdict are shown.
etp_severity etp_ab_severity_of(etp_finding_severity s);
etp_severity etp_ab_severity_of_verdict(etp_verdict v);

// Line "engaged": how much of the model runs on the feature; nothing where none is compared.
void etp_ab_engaged_key(const etp_ab *ab, etp_keys *keys, etp_arena *arena);

// One answer, or those of several runs side by side.
// Sections that compare several runs take views; for one answer it is a list of one, so each
// section is written once.
typedef struct etp_ab_views {
    const struct etp_ab_view {
        const etp_ab *ab;
        const char *run;   // its name among several
        const char *scope; // of its drawers, etp_report_scope; NULL alone
    } *items;
    size_t n;
} etp_ab_views;

// All comparisons as a reader asks: levels within a model, then the others.
const etp_ab_comparison *const *etp_ab_all_comparisons(const etp_ab *ab, etp_arena *arena,
                                                       size_t *out_n);

// "fp32 at AVX2 to fp32 at AVX-512": what a table of two arms is of, where there are more; NULL
// where the headline says it.
const char *etp_ab_pair_of_table(const etp_ab *ab, etp_arena *arena);

// Cards of an answer's comparisons, and where the bottleneck was and is in one of them.
void etp_ab_headline_cards(const struct etp_ab_view *view, etp_report *r, etp_arena *arena);
void etp_ab_shift_key(const etp_ab *ab, size_t comparison, etp_keys *keys);

// How many operators of the only arm took less than their clock can have cut off.
void etp_ab_short_note(const etp_ab *ab, etp_report *r);
// What each CPU feature brings, where one at a time is hidden; else nothing. In features.c.
void etp_ab_feature_table(const etp_ab *ab, etp_report *r);

// Sessions of several phases, in phases.c: a card each, the table of all, and what the later ones
// are as parts of the report. "2,556 → 9,200 tok/s", NULL where nothing is told.
void etp_ab_phase_cards(const etp_ab *ab, etp_report *r, etp_arena *arena);
void etp_ab_phase_section(const etp_ab *ab, etp_report *r, etp_arena *arena);
void etp_ab_phase_parts(const etp_ab *ab, etp_report *r, etp_arena *arena);
// On the page each phase is a tab. The first one is the answer's own, so it is no part: its tab is
// opened before its sections.
void etp_ab_phase_first_tab(const etp_ab *ab, etp_report *r);
const char *etp_ab_phase_scope(size_t phase, etp_arena *arena); // "phase-2" of the second
const char *etp_rate_text(double rate, etp_arena *arena);       // "2,556"
const char *etp_ab_rates_text(const etp_ab *ab, const etp_ab_comparison *c, etp_arena *arena);

// Sections of either, in insights.c.
// "Where it came from is left out: recording adds 667 %, so …": NULL where the parts are told.
// TITLE: NULL for that of the answer alone.
const char *etp_ab_left_out(const etp_ab *ab, const char *title, etp_arena *arena); // pictures.c
const char *etp_ab_where_title(const etp_ab *ab); // "Where it came from"
// Where the parts are left out, what follows is folded away, with what recording has of it.
void etp_ab_fold_recorded(const etp_ab *ab, etp_report *r);
// Worth a line: one per cent of an inference, and more than sending single operators back.
bool etp_ab_fix_pays(const etp_ab *ab, const etp_ab_fix *f); // page.c
// The two pictures, before the page's first section; nothing where tabs or parts have their own.
void etp_ab_pictures(const etp_ab *ab, etp_report *r);
bool etp_ab_pictures_first(const etp_ab *ab, const etp_report *r); // are they there?
void etp_ab_latency_chart(const etp_ab_views *v, etp_report *r);   // pictures.c
etp_chart *etp_ab_breakdown_chart(const etp_ab_views *v, etp_report *r);
void etp_ab_category_table(const etp_ab_views *v, etp_report *r);
void etp_ab_latency_table(const etp_ab_views *v, etp_report *r);
const char *etp_ab_fixes_of(const etp_ab *ab, const char *operator_id, etp_arena *arena);
// A warning where an operator takes longer than the inference that it is part of; was there one?
bool etp_ab_clock_note(const etp_ab *ab, const char *who, etp_report *r);
void etp_ab_delegation_chart(const etp_ab *ab, etp_report *r); // sections.c
void etp_ab_hot_section(const etp_ab_views *v, etp_report *r, etp_arena *arena);
void etp_ab_split_section(const etp_ab_views *v, etp_report *r, etp_arena *arena);
void etp_ab_kernel_section(const etp_ab_views *v, etp_report *r, etp_arena *arena);
void etp_ab_fix_section(const etp_ab_views *v, etp_report *r);

// The lines of the section "Answer": why, what moved, what is slower, what proves it, what else
// could have made it.
void etp_ab_answer_lines(const etp_ab *ab, etp_report *r, etp_arena *arena);
// What only the HTML page has, around its findings: what decides comes first. In page.c.
// WHATIF: the command of its section "What if", NULL: none.
void etp_ab_page_findings(const etp_ab *ab, const char *whatif, etp_report *r,
                          etp_arena *arena); // report.c
void etp_ab_page_first(const etp_ab *ab, etp_report *r, etp_arena *arena);
void etp_ab_page_more(const etp_ab *ab, const char *whatif, etp_report *r, etp_arena *arena);
// An answer as a part among others: its lines and reasons, in HTML what its own page has. In
// full_report.c.
void etp_ab_as_part(const etp_ab *ab, etp_report *r, etp_arena *arena);
// Several answers: what to do next in any of them, what concerns most of an inference first.
void etp_ab_page_actions(const etp_ab_views *v, etp_report *r, etp_arena *arena);
void etp_ab_waterfall(const etp_ab *ab, size_t comparison, etp_report *r); // sections.c
// Rows of the ledger that are told together, as one: of a category, or (ETP_CATEGORY_COUNT) of a
// kind. TIES: with those that lead from the recording to the headline. Their number. In sections.c.
size_t etp_ab_step_of(const etp_ab *ab, size_t comparison, etp_category category, etp_row_kind kind,
                      bool ties, etp_ledger_row *out);
// The colour of a category in every picture and table, 1 … 16. In pictures.c.
unsigned etp_ab_category_color(etp_category category);
const char *etp_ab_level_word(const etp_ab_arm *a); // "VNNI"; NULL: not recorded
// What stands below the headlines, and the last section: how to measure this again.
void etp_ab_facts(const etp_ab *ab, etp_report *r, etp_arena *arena);
void etp_ab_reproduce_section(const etp_ab *ab, etp_report *r, etp_arena *arena);
// The sections on where the time goes, what to do about it, the ledger and the operators.
void etp_ab_reason_sections(const etp_ab *ab, etp_report *r, etp_arena *arena);

// The drawers of all answers, in the HTML page alone: the last section. In drawers.c.
void etp_ab_drawers(const etp_ab_views *v, etp_report *r, etp_arena *arena);

// Tables of so many arms that each gets a row instead of columns.
void etp_ab_long_category_table(const etp_ab *ab, etp_report *r);
// Of operators, behind their times: roofs of ARM, why, engagement, name.
enum { ETP_AB_OPERATOR_TAIL = 6 };
void etp_ab_operator_tail(const etp_ab *ab, etp_column *out);
void etp_ab_operator_tail_cells(const etp_ab *ab, const etp_ab_operator *op, uint32_t arm,
                                etp_cell *out);
void etp_ab_long_operator_table(const etp_ab *ab, etp_report *r);
void etp_ab_long_name_table(const etp_ab *ab, etp_report *r);

// Sections, in sections.c.
void etp_ab_category_section(const etp_ab *ab, etp_report *r);
// Its table, with columns for each arm; PAGE: as the page has it, with what is outside operators.
void etp_ab_category_columns(const etp_ab *ab, bool page, etp_report *r);
// Of an arm's times, in tables as wide as there are arms: in nanoseconds, which its name says.
etp_column etp_ab_time_column(const etp_ab *ab, const etp_ab_arm *arm);
etp_column etp_ab_share_column(const etp_ab *ab, const etp_ab_arm *arm);
// Of comparison AT; with several each is named after its candidate.
etp_column etp_ab_speedup_column(const etp_ab *ab, size_t at);
void etp_ab_ledger_section(const etp_ab *ab, etp_report *r);
void etp_ab_operator_section(const etp_ab *ab, etp_report *r);
// How fast each state of an arm is against the others' and against its own. In price.c.
void etp_ab_states_section(const etp_ab *ab, etp_report *r, etp_arena *arena);
// Who holds the memory of the arms; *N: tables so far. In holders.c.
void etp_ab_memory_tables(const etp_ab *ab, size_t *n, size_t *stages, etp_report *r,
                          etp_arena *arena);
// On the page, of each program of the arms: which tensors have their planned memory when. In
// plan_pictures.c.
void etp_ab_plan_pictures(const etp_ab *ab, etp_report *r, etp_arena *arena);
void etp_ab_counters_section(const etp_ab *ab, etp_report *r, etp_arena *arena); // counters.c
// TIMES_ABOVE: the page has the arms' times in another table.
void etp_ab_blocks_section(const etp_ab *ab, bool times_above, etp_report *r);
void etp_ab_evidence_section(const etp_ab *ab, etp_report *r);

// What surrounded the blocks, and what could not be read, in environment.c; nothing without a
// session.
void etp_ab_environment_section(const etp_ab *ab, etp_report *r, etp_arena *arena);

#endif
