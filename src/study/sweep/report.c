// SPDX-License-Identifier: Apache-2.0
// Author of the report of a sweep.
#include <math.h>
#include <stdio.h>

#include <etprof/version.h>

#include "base/number.h"
#include "document/document.h"
#include "show/report.h"
#include "study/sweep/sweep.h"

#define MAX_NOTES 8 // sentences of one kind; the rest is in the tables

static etp_severity severity_of(etp_verdict v)
{
    return v == ETP_VERDICT_FASTER ? ETP_GOOD : v == ETP_VERDICT_SLOWER ? ETP_BAD : ETP_PLAIN;
}

// ---- first screen ----

static const char *verdict_cell(const etp_effect *e, double margin, etp_arena *arena)
{
    return etp_verdict_cell(arena, e->verdict, e->paired.lo, e->paired.hi, e->paired.blocks,
                            margin);
}

static void card(const char *label, const etp_effect *e, double margin, etp_withheld withheld,
                 const char *detail, etp_report *r, etp_arena *arena)
{
    const char *verdict =
        withheld ? etp_arena_printf(arena, "withheld: %s", etp_ab_withheld_text(withheld))
                 : etp_verdict_words(arena, e->verdict, e->paired.lo, e->paired.hi,
                                     e->paired.blocks, margin);
    // An interval of few blocks may reach from 0.02 to 700: the verdict says how few they are.
    unsigned n = (unsigned)e->paired.blocks;
    bool unknown = e->verdict == ETP_VERDICT_UNKNOWN,
         given = isfinite(e->paired.lo) && (!unknown || n >= ETP_MIN_BLOCKS);
    etp_headline h = {
        .label = label,
        .verdict = verdict,
        .severity = withheld || unknown ? ETP_WARN : severity_of(e->verdict),
        .value = e->paired.estimate,
        .lo = given ? e->paired.lo : (double)NAN,
        .hi = given ? e->paired.hi : (double)NAN,
        .kind = ETP_KIND_RATIO,
        .reference = 1,
        .interval = given ? etp_arena_printf(arena, "95 %% interval, %u blocks", n) : NULL,
        .detail = detail,
    };
    etp_ratio_as_said(withheld ? ETP_VERDICT_UNKNOWN : e->verdict, &h.value, &h.lo, &h.hi);
    etp_report_headline(r, &h);
}

// "avx2 against sse", "decode @0 · avx2 against sse"
static const char *against(const etp_sweep *s, uint32_t level, etp_arena *arena)
{
    const char *phase = etp_sweep_phase_name(s);
    return etp_arena_printf(arena, "%s%s%s against %s", phase ? phase : "", phase ? " · " : "",
                            s->words[level], s->words[s->grid.reference[ETP_FACTOR_LEVEL]]);
}

// Why there is no mean over the models of that level and thread count: one that is withheld leaves
// none of it. The first of them is told.
static etp_withheld mean_withheld(const etp_sweep *s, const etp_level_mean *m)
{
    etp_withheld why = ETP_WITHHELD_NOT;
    for (uint32_t i = 0; i < s->grid.n[ETP_FACTOR_MODEL] && m->effect.paired.blocks == 0 && !why;
         i++) {
        const uint32_t at[ETP_FACTORS] = {i, m->level, m->threads};
        why = etp_sweep_withheld(s, at);
    }
    return why;
}

// One card per level at the lowest thread count: the geometric mean over the models, or the only
// model's.
static void headlines(const etp_sweep *s, etp_report *r, etp_arena *arena)
{
    const etp_factorial *g = &s->grid;
    const char *threads = etp_sweep_thread_words(s, g->reference[ETP_FACTOR_THREADS], arena);
    for (size_t i = 0; i < s->result.n_means; i++) {
        const etp_level_mean *m = &s->result.means[i];
        if (m->threads == g->reference[ETP_FACTOR_THREADS]) {
            card(against(s, m->level, arena), &m->effect, s->grid.margin, mean_withheld(s, m),
                 etp_arena_printf(arena, "geometric mean of %u models, %s", (unsigned)g->n[0],
                                  threads),
                 r, arena);
        }
    }
    for (size_t i = 0; i < s->result.n_speedups && s->result.n_means == 0; i++) {
        const etp_cell_speedup *x = &s->result.speedups[i];
        if (x->at[ETP_FACTOR_THREADS] == g->reference[ETP_FACTOR_THREADS]) {
            card(against(s, x->at[1], arena), &x->effect, s->grid.margin,
                 etp_sweep_withheld(s, x->at), threads, r, arena);
        }
    }
}

// One control launch gives no interval.
static void facts(const etp_sweep *s, etp_report *r, etp_arena *arena)
{
    etp_report_fact(r, "design", "%s: %s", s->ab->judged.grade, s->ab->judged.grade_reason);
    const char *control = s->control_blocks > 1 ? etp_control_text(arena, &s->control, 2) : NULL;
    if (control) {
        etp_report_fact(r, "A/A control", "%s of %s", control,
                        s->ab->arms[s->ab->baseline].measured);
    }
    if (s->ab->precision > 0) {
        bool reached = s->ab->stopped == ETP_STOP_PRECISION;
        etp_report_fact(r, "precision", "±%s %% of every speedup %s",
                        ETP_DIGITS(100 * s->ab->precision, 3),
                        reached ? "reached; intervals are widened for looking" : "not reached");
    }
    etp_ab_end_facts(s->ab, r);
}

static bool said_before(const etp_sweep *s, size_t phase, const etp_sweep_sentence *x)
{
    for (size_t p = 0; p < phase; p++) {
        const etp_sweep *one = etp_sweep_phase(s, p);
        for (size_t i = 0; i < one->sentences.n; i++) {
            if (strcmp(one->sentences.items[i].text, x->text) == 0) {
                return true;
            }
        }
    }
    return false;
}

// Of all phases; what is true of several is said of the first, if it warns of the whole session.
static void sentences(const etp_sweep *s, char letter, etp_report *r)
{
    size_t shown = 0, more = 0, phases = etp_sweep_n_phases(s);
    for (size_t p = 0; p < phases; p++) {
        const etp_sweep *one = etp_sweep_phase(s, p);
        const char *name = etp_sweep_phase_name(one);
        // Each phase has room of its own: the first must not use up what the others have to say.
        size_t most = shown + (phases > 2 ? MAX_NOTES / 2 : MAX_NOTES);
        for (size_t i = 0; i < one->sentences.n; i++) {
            const etp_sweep_sentence *x = &one->sentences.items[i];
            if (x->id[0] != letter || (letter == 'W' && said_before(s, p, x))) {
                continue;
            }
            if (shown < most) {
                etp_report_note(r, etp_ab_severity_of(x->severity), "%s %s%s%s", x->id,
                                name && letter != 'W' ? name : "",
                                name && letter != 'W' ? ": " : "", x->text);
                shown++;
            } else {
                more++;
            }
        }
    }
    if (more) {
        etp_report_note(r, ETP_INFO, "and %zu more of these in the tables", more);
    }
}

static bool any_interaction(const etp_sweep *s)
{
    for (size_t i = 0; i < s->sentences.n; i++) {
        if (s->sentences.items[i].id[0] == 'I') {
            return true;
        }
    }
    return false;
}

// What may have made a difference, and which pairs it touches: of the first three the words of
// each, since their figures differ. What is said alike of all stands once.
static void suspects(const etp_sweep *s, etp_keys *keys)
{
    enum { SHOWN = 3 };
    for (etp_cause cause = 0; cause < ETP_CAUSE_COUNT; cause++) {
        const char *texts[SHOWN], *labels[SHOWN];
        size_t hits = 0;
        bool alike = true;
        for (size_t i = 0; i < s->n_pairs; i++) {
            const etp_ab_judgement *j = &s->pairs[i].ab->judged;
            for (size_t c = 0; c < j->n_causes; c++) {
                const etp_ab_cause *x = &j->causes[c];
                if (x->cause != cause || x->state != ETP_CAUSE_SUSPECT) {
                    continue;
                }
                if (hits < SHOWN) {
                    texts[hits] = x->text;
                    labels[hits] = s->pairs[i].label;
                }
                alike = hits == 0 || (alike && strcmp(texts[0], x->text) == 0);
                hits++;
            }
        }
        if (hits == s->n_pairs && hits > 1 && alike) {
            etp_keys_add(keys, ETP_WARN, "suspect", "%s (in all %zu pairs)", texts[0], hits);
            continue;
        }
        for (size_t i = 0; i < hits && i < SHOWN; i++) {
            etp_keys_add(keys, ETP_WARN, i ? "" : "suspect", "%s: %s", labels[i], texts[i]);
        }
        if (hits > SHOWN) {
            etp_keys_add(keys, ETP_WARN, "", "likewise in %zu more of %zu pairs", hits - SHOWN,
                         s->n_pairs);
        }
    }
}

// That no interaction was found is news only where one could have been found: below ETP_MIN_BLOCKS
// nothing is judged and nothing is said. Not found is not excluded: the sentence differs.
static void no_interaction(const etp_sweep *s, etp_report *r)
{
    bool judged = false;
    size_t none = 0;
    const char *phase = etp_sweep_phase_name(s);
    for (size_t i = 0; i < s->result.n_interactions; i++) {
        none += s->result.interactions[i].ratio.verdict == ETP_VERDICT_SAME;
        judged = judged || s->result.interactions[i].ratio.paired.blocks >= ETP_MIN_BLOCKS;
    }
    if (!judged || any_interaction(s)) {
        return;
    }
    if (none == s->result.n_interactions) {
        etp_report_note(
            r, ETP_INFO,
            "%s%sno interaction: over %zu blocks each factor does the same, within the margin, "
            "whatever the others are",
            phase ? phase : "", phase ? ": " : "", s->blocks);
    } else {
        etp_report_note(r, ETP_INFO,
                        "%s%sno interaction is established over %zu blocks; %zu of %zu are not "
                        "excluded either",
                        phase ? phase : "", phase ? ": " : "", s->blocks,
                        s->result.n_interactions - none, s->result.n_interactions);
    }
}

static void unproven_levels(const etp_sweep *s, etp_keys *keys)
{
    const char *key = "not proven";
    for (uint32_t l = 0; l < s->grid.n[ETP_FACTOR_LEVEL]; l++) {
        const char *why = NULL;
        (void)etp_sweep_proof(s, l, &why);
        if (why) {
            etp_keys_add(keys, ETP_PLAIN, key, "%s: %s", s->words[l], why);
            key = "";
        }
    }
}

static void soundness(const etp_sweep *s, etp_report *r, etp_arena *arena)
{
    etp_keys *keys = etp_report_keys(r, NULL);
    for (uint32_t m = 0; m < s->grid.n[ETP_FACTOR_MODEL]; m++) {
        const etp_ab_correctness *c = &s->models[m].correctness;
        if (etp_ab_outputs_mute(c)) {
            etp_keys_add(keys, ETP_BAD, m ? "" : "outputs", "%s: %s", s->models[m].name,
                         etp_ab_outputs_mute(c));
        } else if (c->ok >= 0) {
            etp_keys_add(
                keys, c->ok ? ETP_GOOD : ETP_BAD, m ? "" : "outputs",
                "%s: %s (largest difference %s, relative %s, cosine %.6f)", s->models[m].name,
                c->ok ? "agree within tolerance in all its cells"
                      : etp_arena_printf(arena, "DIFFER beyond tolerance in %u of its cells",
                                         (unsigned)s->models[m].differing),
                ETP_DIGITS(c->max_abs, 3), ETP_DIGITS(c->max_rel, 3), c->cosine);
        }
    }
    etp_ab_proof_keys(s->ab, keys, arena);
    unproven_levels(s, keys);
    suspects(s, keys);
}

static void screen(const etp_sweep *s, etp_report *r, etp_arena *arena)
{
    etp_report_section(r, 1, "answer", "Answer");
    sentences(s, 'W', r);
    sentences(s, 'I', r);
    for (size_t i = 0; i < etp_sweep_n_phases(s); i++) {
        no_interaction(etp_sweep_phase(s, i), r);
    }
    sentences(s, 'K', r);
    soundness(s, r, arena);
}

// ---- tables ----

static const etp_cell_speedup *speedup_at(const etp_sweep *s, const uint32_t at[ETP_FACTORS])
{
    for (size_t i = 0; i < s->result.n_speedups; i++) {
        if (memcmp(s->result.speedups[i].at, at, sizeof s->result.speedups[i].at) == 0) {
            return &s->result.speedups[i];
        }
    }
    return NULL;
}

// Indexed by etp_truth.
static const char *proof_word(const etp_ab_arm *arm)
{
    static const char *const k_words[] = {"mask only", "confirmed", "CONTRADICTED"};
    return arm ? k_words[arm->proof.truth] : NULL;
}

#define CELL_COLUMNS 16

// Rows are built with all columns and cut down afterwards, so that k_columns and the cells of
// cell_row stay aligned by index.
static bool is_of_phases(size_t column) // phase and rate: of sessions with phases alone
{
    return column == 0 || column == 4;
}

static void cell_row(const etp_sweep *s, const uint32_t at[ETP_FACTORS], bool phases, etp_table *t,
                     etp_arena *arena)
{
    uint32_t c = etp_cell_of(&s->grid, at);
    const etp_factorial_cell *x = &s->result.cells[c];
    const etp_cell_speedup *up = speedup_at(s, at);
    const etp_ab_arm *arm = s->cells[c].arm == ETP_NO_INDEX ? NULL : &s->ab->arms[s->cells[c].arm];
    const etp_withheld withheld = etp_sweep_withheld(s, at);
    double gone = (double)NAN;
    const etp_cell cells[CELL_COLUMNS] = {
        etp_cell_z(etp_sweep_phase_name(s)),
        etp_cell_z(s->models[at[ETP_FACTOR_MODEL]].name),
        etp_cell_u64(s->threads[at[ETP_FACTOR_THREADS]]),
        etp_cell_called(s->levels[at[ETP_FACTOR_LEVEL]], s->words[at[ETP_FACTOR_LEVEL]]),
        etp_cell_double(etp_sweep_token_rate(s, c)),
        etp_cell_rounded_ns(x->ns.estimate),
        etp_cell_rounded_ns(x->ns.lo),
        etp_cell_rounded_ns(x->ns.hi),
        up ? etp_cell_gain(up->effect.paired.estimate, up->effect.paired.lo, up->effect.paired.hi)
           : etp_cell_missing(),
        etp_cell_double(up ? up->effect.paired.lo : gone),
        etp_cell_double(up ? up->effect.paired.hi : gone),
        up ? etp_cell_judged(etp_cell_called(verdict_cell(&up->effect, s->grid.margin, arena),
                                             withheld ? "withheld" : NULL),
                             severity_of(up->effect.verdict))
           : etp_cell_z("reference"),
        etp_cell_double(up ? up->effect.q : gone),
        etp_cell_u64(x->blocks),
        etp_cell_z(proof_word(arm)),
        etp_cell_called(etp_withheld_name(withheld), etp_ab_withheld_text(withheld)),
    };
    etp_cell shown[CELL_COLUMNS];
    size_t n = 0;
    for (size_t i = 0; i < CELL_COLUMNS; i++) {
        if (phases || !is_of_phases(i)) {
            shown[n++] = cells[i];
        }
    }
    etp_table_add_row(t, shown, n);
}

// Models x levels x threads, of all phases in one table.
static void cell_table(const etp_sweep *s, etp_report *r, etp_arena *arena)
{
    static const etp_column k_columns[CELL_COLUMNS] = {
        {.key = "phase", .title = "phase", .flags = ETP_COL_CHOICE},
        {.key = "model", .title = "model", .flags = ETP_COL_CODE},
        {.key = "threads", .title = "threads", .kind = ETP_KIND_INT},
        {.key = "level", .title = "level"},
        {.key = "rate", .title = "tok/s", .kind = ETP_KIND_DOUBLE, .decimals = 1},
        {.key = "time_ns", .title = "time", .kind = ETP_KIND_NS, .flags = ETP_COL_BAR},
        {.key = "lo_ns", .title = "low", .kind = ETP_KIND_NS, .flags = ETP_COL_MINOR},
        {.key = "hi_ns", .title = "high", .kind = ETP_KIND_NS, .flags = ETP_COL_MINOR},
        {.key = "speedup", .title = "speedup", .kind = ETP_KIND_RATIO},
        {.key = "lo", .title = "from", .kind = ETP_KIND_RATIO},
        {.key = "hi", .title = "to", .kind = ETP_KIND_RATIO},
        {.key = "verdict", .title = "verdict"},
        {.key = "q", .title = "q", .kind = ETP_KIND_DOUBLE, .flags = ETP_COL_MINOR},
        {.key = "blocks", .title = "blocks", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
        {.key = "proof", .title = "proof", .flags = ETP_COL_MINOR},
        {.key = "withheld", .title = "withheld", .flags = ETP_COL_MINOR},
    };
    const etp_factorial *g = &s->grid;
    etp_report_section(r, 1, "cells-section", "Cells");
    etp_report_text(
        r,
        "Untraced inference, geometric mean of the launches' medians with its 95 %% interval; "
        "speedup over %s of the same model and threads, paired by block, verdicts at "
        "q ≤ 0.05 (Benjamini–Hochberg).%s",
        s->words[g->reference[ETP_FACTOR_LEVEL]],
        s->ab->emulated ? " These are times of an emulator." : "");
    bool phases = s->ab->phase != NULL;
    etp_column columns[CELL_COLUMNS];
    size_t n = 0;
    for (size_t i = 0; i < CELL_COLUMNS; i++) {
        if (phases || !is_of_phases(i)) {
            columns[n++] = k_columns[i];
        }
    }
    etp_table *t = etp_report_table(r, ETP_SWEEP_TABLE_CELLS, NULL, columns, n);
    etp_table_limit(t, 0);
    for (size_t p = 0; p < etp_sweep_n_phases(s); p++) {
        for (uint32_t m = 0; m < g->n[0]; m++) {
            for (uint32_t threads = 0; threads < g->n[2]; threads++) {
                for (uint32_t level = 0; level < g->n[1]; level++) { // compared: stand together
                    const uint32_t at[ETP_FACTORS] = {m, level, threads};
                    cell_row(etp_sweep_phase(s, p), at, phases, t, arena);
                }
            }
        }
    }
}

// "4", "2 to 4", "8 or more": the last one where more threads paid as far as was measured.
static const char *knee_word(const etp_sweep *s, const etp_knee *k, etp_arena *arena)
{
    uint32_t last = s->grid.n[ETP_FACTOR_THREADS] - 1;
    if (k->from == k->to && k->from == last) {
        return etp_arena_printf(arena, "%u or more", (unsigned)s->threads[last]);
    }
    if (k->from == k->to) {
        return etp_arena_printf(arena, "%u", (unsigned)s->threads[k->from]);
    }
    return etp_arena_printf(arena, "%u to %u", (unsigned)s->threads[k->from],
                            (unsigned)s->threads[k->to]);
}

// A row for each thread count instead of a column.
static void long_thread_map(const etp_sweep *s, etp_report *r, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "model", .title = "model", .flags = ETP_COL_CODE},
        {.key = "level", .title = "level"},
        {.key = "threads", .title = "threads", .kind = ETP_KIND_INT},
        {.key = "speedup", .title = "speedup", .kind = ETP_KIND_RATIO},
        {.key = "knee", .title = "knee"},
    };
    const etp_factorial *g = &s->grid;
    etp_table *t = etp_report_table(r, "threads", NULL, k_columns, 5);
    etp_table_limit(t, 0);
    for (size_t i = 0; i < s->result.n_knees; i++) {
        const etp_knee *k = &s->result.knees[i];
        for (uint32_t x = 0; x < g->n[2]; x++) {
            const uint32_t at[ETP_FACTORS] = {k->model, k->level, x};
            double v = s->result.cells[etp_cell_of(g, at)].relative.estimate;
            ETP_ROW(t, etp_cell_z(s->models[k->model].name),
                    etp_cell_called(s->levels[k->level], s->words[k->level]),
                    etp_cell_u64(s->threads[x]), etp_cell_double(v),
                    etp_cell_z(isfinite(v) ? knee_word(s, k, arena) : NULL));
        }
    }
}

static void thread_map(const etp_sweep *s, etp_report *r, etp_arena *arena)
{
    const etp_factorial *g = &s->grid;
    if (s->result.n_knees == 0) {
        return;
    }
    etp_report_section(r, 1, "threads-section", "Threads and levels");
    etp_report_text(
        r,
        "Speedup over %s with %s of the same model. The knee is the thread count beyond which no "
        "measured count is %s %% faster, by its 95 %% interval.",
        s->words[g->reference[1]], etp_sweep_thread_words(s, g->reference[2], arena),
        ETP_DIGITS(100 * g->knee, 6));
    // Model, level and knee stand beside the thread counts.
    if (g->n[2] + 3 > ETP_TABLE_MAX_COLUMNS) {
        long_thread_map(s, r, arena);
        return;
    }
    etp_column columns[ETP_TABLE_MAX_COLUMNS] = {
        {.key = "model", .title = "model", .flags = ETP_COL_CODE},
        {.key = "level", .title = "level"}
    };
    size_t n = 2;
    for (uint32_t t = 0; t < g->n[2]; t++) {
        const char *title = etp_sweep_thread_words(s, t, arena);
        columns[n++] = (etp_column){.key = title, .title = title, .kind = ETP_KIND_RATIO};
    }
    columns[n++] = (etp_column){.key = "knee", .title = "knee"};
    etp_table *t = etp_report_table(r, "threads", NULL, columns, n);
    etp_table_limit(t, 0);
    for (size_t i = 0; i < s->result.n_knees; i++) {
        const etp_knee *k = &s->result.knees[i];
        etp_cell cells[ETP_TABLE_MAX_COLUMNS] = {
            etp_cell_z(s->models[k->model].name),
            etp_cell_called(s->levels[k->level], s->words[k->level])};
        bool known = false;
        // n is the thread counts and those three.
        for (uint32_t x = 0; x + 3 < n; x++) {
            const uint32_t at[ETP_FACTORS] = {k->model, k->level, x};
            double v = s->result.cells[etp_cell_of(g, at)].relative.estimate;
            cells[2 + x] = etp_cell_double(v);
            known = known || isfinite(v);
        }
        cells[n - 1] = etp_cell_z(known ? knee_word(s, k, arena) : NULL);
        etp_table_add_row(t, cells, n);
    }
}

static void mean_table(const etp_sweep *s, etp_report *r, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "level", .title = "level"},
        {.key = "threads", .title = "threads", .kind = ETP_KIND_INT},
        {.key = "speedup", .title = "geometric mean", .kind = ETP_KIND_RATIO},
        {.key = "lo", .title = "from", .kind = ETP_KIND_RATIO},
        {.key = "hi", .title = "to", .kind = ETP_KIND_RATIO},
        {.key = "verdict", .title = "verdict"},
        {.key = "over_models_lo",
         .title = "over models from",
         .kind = ETP_KIND_RATIO,
         .flags = ETP_COL_MINOR},
        {.key = "over_models_hi", .title = "to", .kind = ETP_KIND_RATIO, .flags = ETP_COL_MINOR},
    };
    if (s->result.n_means == 0) {
        return;
    }
    etp_report_section(r, 1, "means-section", "Geometric mean over the models");
    etp_report_text(r,
                    "The interval is that of these %u models. The one over models (bootstrap, from "
                    "three models "
                    "up) is for models like these; it is wide when they differ.",
                    (unsigned)s->grid.n[0]);
    etp_table *t =
        etp_report_table(r, "means", NULL, k_columns, sizeof k_columns / sizeof *k_columns);
    for (size_t i = 0; i < s->result.n_means; i++) {
        const etp_level_mean *m = &s->result.means[i];
        ETP_ROW(t, etp_cell_called(s->levels[m->level], s->words[m->level]),
                etp_cell_u64(s->threads[m->threads]),
                etp_cell_gain(m->effect.paired.estimate, m->effect.paired.lo, m->effect.paired.hi),
                etp_cell_double(m->effect.paired.lo), etp_cell_double(m->effect.paired.hi),
                etp_cell_z(verdict_cell(&m->effect, s->grid.margin, arena)),
                etp_cell_double(m->models_lo), etp_cell_double(m->models_hi));
    }
}

static const char *value_word(const etp_sweep *s, etp_factor f, uint32_t at, etp_arena *arena)
{
    return f == ETP_FACTOR_MODEL   ? s->models[at].name
           : f == ETP_FACTOR_LEVEL ? s->words[at]
                                   : etp_sweep_thread_words(s, at, arena);
}

static void interaction_table(const etp_sweep *s, etp_report *r, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "of", .title = "effect of"},
        {.key = "with", .title = "depends on"},
        {.key = "at", .title = "at", .flags = ETP_COL_MINOR},
        {.key = "reference", .title = "at its reference", .kind = ETP_KIND_RATIO},
        {.key = "value", .title = "there", .kind = ETP_KIND_RATIO},
        {.key = "ratio", .title = "ratio of ratios", .kind = ETP_KIND_RATIO, .decimals = 3},
        {.key = "lo", .title = "from", .kind = ETP_KIND_RATIO, .decimals = 3},
        {.key = "hi", .title = "to", .kind = ETP_KIND_RATIO, .decimals = 3},
        {.key = "q", .title = "q (Holm)", .kind = ETP_KIND_DOUBLE},
        {.key = "established", .title = "established"},
    };
    if (s->result.n_interactions == 0) {
        return;
    }
    etp_report_section(r, 1, "interactions-section", "Interactions");
    etp_report_section_is_detail(r);
    etp_report_text(
        r,
        "Does one factor do more or less where another one is changed? A ratio of ratios of 1 says "
        "no. "
        "Established: q ≤ 0.05 by Holm over all %zu, sign-flip p ≤ 0.05, and its 95 %% interval "
        "beyond the margin of %s %%.",
        s->result.n_interactions, ETP_DIGITS(100 * s->grid.margin, 6));
    etp_table *t =
        etp_report_table(r, "interactions", NULL, k_columns, sizeof k_columns / sizeof *k_columns);
    etp_table_limit(t, 24);
    for (size_t i = 0; i < s->result.n_interactions; i++) {
        const etp_interaction *x = &s->result.interactions[i];
        bool yes = x->ratio.verdict == ETP_VERDICT_FASTER || x->ratio.verdict == ETP_VERDICT_SLOWER;
        ETP_ROW(t, etp_cell_z(value_word(s, x->a, x->a_at, arena)),
                etp_cell_z(value_word(s, x->b, x->b_at, arena)),
                etp_cell_z(value_word(s, x->c, x->c_at, arena)),
                etp_cell_double(x->a_effect[0].estimate), etp_cell_double(x->a_effect[1].estimate),
                etp_cell_double(x->ratio.paired.estimate), etp_cell_double(x->ratio.paired.lo),
                etp_cell_double(x->ratio.paired.hi), etp_cell_double(x->ratio.q),
                etp_cell_z(yes ? "yes"
                           : x->ratio.verdict == ETP_VERDICT_SAME
                               ? "none"
                               : verdict_cell(&x->ratio, s->grid.margin, arena)));
    }
}

// ---- each pair as `ab` shows it ----

// A row for each cause that some pair cannot rule out, and how often it is ruled out.
static void cause_table(const etp_sweep *s, etp_report *r)
{
    static const etp_column k_columns[] = {
        {.key = "cause", .title = "other cause"},
        {.key = "ruled_out", .title = "ruled out in", .kind = ETP_KIND_INT},
        {.key = "suspect", .title = "suspect in", .kind = ETP_KIND_INT},
        {.key = "unknown", .title = "unknown in", .kind = ETP_KIND_INT},
        {.key = "text", .title = "for example"},
    };
    if (s->n_pairs == 0) {
        return;
    }
    etp_report_section(r, 1, "causes-section", "Other causes");
    etp_report_section_is_detail(r);
    etp_report_text(r,
                    "What else could have made the differences, over %zu %s; each pair's own words "
                    "are in its part below.",
                    s->n_pairs, s->n_pairs == 1 ? "pair" : "pairs");
    etp_table *t =
        etp_report_table(r, "causes", NULL, k_columns, sizeof k_columns / sizeof *k_columns);
    for (etp_cause cause = 0; cause < ETP_CAUSE_COUNT; cause++) {
        uint64_t n[ETP_CAUSE_STATES] = {0};
        // A suspect's words are worth more to the reader than those of a pair where it was ruled
        // out.
        const etp_ab_cause *shown = NULL; // the gravest
        for (size_t i = 0; i < s->n_pairs; i++) {
            const etp_ab *ab = s->pairs[i].ab;
            for (size_t c = 0; c < ab->judged.n_causes; c++) {
                const etp_ab_cause *x = &ab->judged.causes[c];
                if (x->cause == cause) {
                    n[x->state]++;
                    bool graver =
                        shown && x->state == ETP_CAUSE_SUSPECT && shown->state != ETP_CAUSE_SUSPECT;
                    shown = !shown || graver ? x : shown;
                }
            }
        }
        if (shown) {
            etp_cell suspect = etp_cell_u64(n[ETP_CAUSE_SUSPECT]);
            ETP_ROW(t, etp_cell_z(etp_cause_id(cause)), etp_cell_u64(n[ETP_CAUSE_RULED_OUT]),
                    n[ETP_CAUSE_SUSPECT] ? etp_cell_judged(suspect, ETP_WARN) : suspect,
                    etp_cell_u64(n[ETP_CAUSE_UNKNOWN]), etp_cell_z(shown->text));
        }
    }
}

// A later phase: what the first one has on the page itself.
// The cells of all phases stand in the one table above, so a part has none of its own.
static void phase_part(const etp_sweep *s, size_t number, etp_report *r, etp_arena *arena)
{
    char id[32];
    snprintf(id, sizeof id, "phase-%zu", number);
    etp_report_begin_part(r, id, etp_sweep_phase_name(s));
    soundness(s, r, arena);
    etp_sweep_pictures(s, r, arena);
    thread_map(s, r, arena);
    mean_table(s, r, arena);
    interaction_table(s, r, arena);
    cause_table(s, r);
    etp_report_end_part(r);
}

// The speedup is that of the sweep, whose verdict pays for the number of ratios in it; the rest is
// what the pair's own answer says.
static void parts(const etp_sweep *s, size_t phase, etp_report *r, etp_arena *arena)
{
    for (size_t i = 0; i < s->n_pairs; i++) {
        const etp_sweep_pair *p = &s->pairs[i];
        const etp_cell_speedup *x = speedup_at(s, p->at);
        etp_withheld withheld = etp_sweep_withheld(s, p->at);
        const char *id = etp_sweep_pair_scope(phase, i, arena);
        etp_report_begin_part(r, id, p->label);
        etp_report_section_whole(r, etp_sweep_pair_command(p, arena));
        etp_report_section_is_detail(r);
        if (x && !withheld && isfinite(x->effect.paired.estimate)) {
            double speedup = x->effect.paired.estimate, lo = x->effect.paired.lo,
                   hi = x->effect.paired.hi;
            etp_ratio_as_said(x->effect.verdict, &speedup, &lo, &hi);
            etp_keys_add(etp_report_keys(r, NULL), severity_of(x->effect.verdict), "speedup",
                         "%s: %s, %u blocks", verdict_cell(&x->effect, s->grid.margin, arena),
                         ETP_ESTIMATE(speedup, lo, hi, 2), (unsigned)x->effect.paired.blocks);
        } else if (withheld) {
            etp_keys_add(etp_report_keys(r, NULL), ETP_WARN, "speedup", "withheld: %s",
                         etp_ab_withheld_text(withheld));
        }
        etp_ab_as_part(p->ab, r, arena);
        etp_ab_counters_section(p->ab, r, arena);
        etp_report_end_part(r);
    }
}

static void reproducibility(const etp_sweep *s, etp_report *r)
{
    etp_report_section(r, 1, "reproduce", "Reproduce");
    if (s->ab->command) {
        etp_report_line(r, "The command that measures this again", s->ab->command);
    }
    etp_report_text(
        r,
        "etprof %s, design %s. Everything here can be derived again from the raw files of the run "
        "folder: etprof verify. Other pairs than these: etprof compare FOLDER:ARM FOLDER:ARM.",
        s->ab->tool_version ? s->ab->tool_version : ETP_VERSION, s->ab->judged.grade);
}

const etp_report *etp_sweep_report(const etp_sweep *s, etp_arena *arena)
{
    etp_report *r = etp_report_create(arena, "sweep");
    const char *phases =
        s->n_later ? etp_arena_printf(arena, " × %zu phases", etp_sweep_n_phases(s)) : "";
    const uint32_t m = (uint32_t)s->grid.n[0], l = (uint32_t)s->grid.n[1],
                   n = (uint32_t)s->grid.n[2];
    etp_report_subtitle(r, "%u model%s × %u level%s × %u thread count%s%s, %zu blocks", m,
                        m == 1 ? "" : "s", l, l == 1 ? "" : "s", n, n == 1 ? "" : "s",
                        phases ? phases : "", s->blocks);
    // With several phases a card per phase is enough: their speedups are in the table.
    bool told = etp_sweep_winners(s, r, arena);
    for (size_t i = 0; i < etp_sweep_n_phases(s) && (!told || s->n_later == 0); i++) {
        headlines(etp_sweep_phase(s, i), r, arena);
    }
    facts(s, r, arena);
    etp_report_medium(r, ETP_ON_PAGE);
    const etp_ab_views pairs = etp_sweep_views(s, arena);
    etp_ab_page_actions(&pairs, r, arena);
    etp_report_medium(r, ETP_OFF_PAGE);
    // In text the sentences come before the figures; the page shows the table and the picture first
    // and repeats the screen behind them, each on its own medium.
    screen(s, r, arena);
    etp_report_medium(r, ETP_EVERYWHERE);
    cell_table(s, r, arena); // on the page the figures come first
    etp_sweep_pictures(s, r, arena);
    etp_report_medium(r, ETP_ON_PAGE);
    screen(s, r, arena);
    etp_report_medium(r, ETP_EVERYWHERE);
    thread_map(s, r, arena);
    etp_report_inner(r, true);
    mean_table(s, r, arena);
    interaction_table(s, r, arena);
    etp_report_inner(r, false);
    etp_ab_blocks_section(s->ab, true, r);
    etp_report_inner(r, true);
    if (pairs.items) {
        etp_ab_states_section(&(etp_ab_views){pairs.items, s->n_pairs}, s->ab, r, arena);
    }
    etp_ab_environment_section(s->ab, r, arena);
    cause_table(s, r);
    etp_report_inner(r, false);
    for (size_t i = 1; i < etp_sweep_n_phases(s); i++) {
        phase_part(etp_sweep_phase(s, i), i + 1, r, arena);
    }
    etp_report_parts(r, "each", "Pair by pair");
    for (size_t i = 0; i < etp_sweep_n_phases(s); i++) {
        parts(etp_sweep_phase(s, i), i, r, arena);
    }
    etp_ab_evidence_section(s->ab, r);
    reproducibility(s, r);
    etp_report_medium(r, ETP_ON_PAGE);
    if (pairs.n) {
        etp_ab_drawers(&pairs, r, arena);
    }
    return r;
}
