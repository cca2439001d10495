// SPDX-License-Identifier: Apache-2.0
// Author of the report of two builds: one table for a pull request, and what changed in which
// model.
#include <math.h>
#include <stdio.h>

#include <etprof/version.h>

#include "base/number.h"
#include "document/document.h"
#include "show/report.h"
#include "study/builds/builds.h"

#define MOST_OPERATORS 20 // in text and in a comment; the tables have all

static etp_severity severity_of(etp_verdict v)
{
    return v == ETP_VERDICT_FASTER ? ETP_GOOD : v == ETP_VERDICT_SLOWER ? ETP_BAD : ETP_PLAIN;
}

// "1.2 % faster", "1.2 % slower", "equal ± 0.6 %". Either percentage is the slower build's time
// over the faster one's, so that A against B and B against A give the same number.
static const char *words(etp_arena *arena, etp_verdict v, double estimate, double within,
                         uint32_t blocks)
{
    const char *text = NULL;
    if (v == ETP_VERDICT_FASTER) {
        text = etp_arena_printf(arena, "%s %% faster", ETP_DIGITS(100 * (estimate - 1), 2));
    } else if (v == ETP_VERDICT_SLOWER) {
        text = etp_arena_printf(arena, "%s %% slower", ETP_DIGITS(100 * (1 / estimate - 1), 2));
    } else if (v == ETP_VERDICT_SAME) {
        text = etp_arena_printf(arena, "equal ± %s %%", ETP_DIGITS(100 * within, 2));
    } else if (blocks < ETP_MIN_BLOCKS) {
        text =
            etp_arena_printf(arena, "unknown: %u of %d blocks", (unsigned)blocks, ETP_MIN_BLOCKS);
    } else {
        text = etp_arena_printf(arena, "unknown ± %s %%", ETP_DIGITS(100 * within, 2));
    }
    return text ? text : "";
}

static const char *withheld_text(etp_withheld why)
{
    return why == ETP_WITHHELD_OUTPUTS_DIFFER ? "the builds' outputs differ beyond tolerance"
                                              : etp_ab_withheld_text(why);
}

// Why there is no ratio of a model, or too little of one; NULL: there is nothing to say.
// Lost launches come before what is withheld: without blocks there was nothing to withhold.
static const char *trouble(const etp_builds_model *m, etp_arena *arena)
{
    const char *lost = m->lost[0] ? m->lost[0] : m->lost[1];
    bool both = m->lost[0] && m->lost[1];
    const char *who = both ? "neither build" : m->lost[0] ? "A" : "B";
    if (lost && m->blocks == 0) {
        return etp_arena_printf(arena, "not measured: %s %s: %s", who,
                                both ? "ran it" : "did not run it", lost);
    }
    if (lost && m->blocks < ETP_MIN_BLOCKS) {
        return etp_arena_printf(arena, "unknown: %u of %d blocks: %s lost launches: %s",
                                (unsigned)m->blocks, ETP_MIN_BLOCKS, both ? "both builds" : who,
                                lost);
    }
    return m->withheld ? etp_arena_printf(arena, "withheld: %s", withheld_text(m->withheld)) : NULL;
}

// For the table; what stands behind it is told under the answer.
static const char *model_words(const etp_builds_model *m, etp_arena *arena)
{
    if (m->withheld) {
        return "withheld";
    }
    return m->blocks == 0 ? "not measured"
                          : words(arena, m->verdict, m->estimate, m->within, m->blocks);
}

// Of one model its own ratio, of several their geometric mean.
static void headline(const etp_builds *b, etp_report *r, etp_arena *arena)
{
    const etp_builds_model *m = &b->models[0];
    const etp_builds_effect *e = &b->mean;
    bool mean = b->n_models > 1;
    bool known = mean ? e->paired.blocks > 0 : m->blocks > 0;
    etp_verdict verdict = mean ? e->verdict : m->verdict;
    const char *why = trouble(m, arena);
    etp_headline h = {
        .label = "B against A",
        .verdict = !mean   ? (why ? why : model_words(m, arena))
                   : known ? words(arena, verdict, e->paired.estimate, e->within, e->paired.blocks)
                           : "unknown: fewer than two models have a ratio",
        // "equal" is plain: for a pull request that is neither good nor bad news.
        .severity = !known || verdict == ETP_VERDICT_UNKNOWN ? ETP_WARN : severity_of(verdict),
        .value = !known ? (double)NAN
                 : mean ? e->paired.estimate
                        : m->estimate,
        .lo = !known ? (double)NAN
              : mean ? e->paired.lo
                     : m->lo,
        .hi = !known ? (double)NAN
              : mean ? e->paired.hi
                     : m->hi,
        .kind = ETP_KIND_RATIO,
        .reference = 1,
        .interval = known ? etp_arena_printf(arena, "95 %% interval, %u blocks",
                                             (unsigned)(mean ? e->paired.blocks : m->blocks))
                          : NULL,
        .detail = mean ? etp_arena_printf(arena, "geometric mean of %u of %zu models",
                                          (unsigned)b->n_mean, b->n_models)
                       : m->name,
    };
    etp_report_headline(r, &h);
}

static void facts(const etp_builds *b, etp_report *r, etp_arena *arena)
{
    const etp_ab *ab = b->ab;
    const char *control = b->control_blocks > 1 ? etp_control_text(arena, &b->control, 2) : NULL;
    if (ab->subject) {
        etp_report_fact(r, "measured", "%s", ab->subject);
    }
    if (control) {
        etp_report_fact(r, "A/A control", "%s", control);
    }
    if (ab->precision > 0) {
        bool reached = ab->stopped == ETP_STOP_PRECISION;
        etp_report_fact(r, "precision", "±%s %% of every model %s",
                        ETP_DIGITS(100 * ab->precision, 3),
                        reached ? "reached; intervals are widened for looking" : "not reached");
    }
    etp_ab_end_facts(ab, r);
}

// A model that was not measured has no verdict, whatever its field says.
static size_t count(const etp_builds *b, etp_verdict v)
{
    size_t n = 0;
    for (size_t i = 0; i < b->n_models; i++) {
        n += b->models[i].verdict == v && b->models[i].blocks > 0;
    }
    return n;
}

static void notes(const etp_builds *b, etp_keys *keys)
{
    for (size_t i = 0; i < b->ab->judged.findings.n; i++) {
        const etp_ab_finding *f = &b->ab->judged.findings.items[i];
        if (f->kind == ETP_FINDING_TRACE_UNUSED || f->kind == ETP_FINDING_NOTE) {
            etp_keys_add(keys, etp_ab_severity_of(f->severity), "note", "%s", f->text);
        }
    }
}

static void answer(const etp_builds *b, etp_report *r, etp_arena *arena)
{
    etp_report_section(r, 1, "answer", "Answer");
    if (b->same) {
        etp_report_note(r, ETP_INFO,
                        "A and B are the same, byte for byte: whatever differs here is chance");
    }
    size_t faster = count(b, ETP_VERDICT_FASTER), slower = count(b, ETP_VERDICT_SLOWER);
    size_t same = count(b, ETP_VERDICT_SAME);
    etp_report_note(r,
                    slower   ? ETP_BAD
                    : faster ? ETP_GOOD
                             : ETP_INFO,
                    "of %zu model%s B makes %zu slower and %zu faster; %zu %s equal within %s %%; "
                    "%zu cannot be told",
                    b->n_models, b->n_models == 1 ? "" : "s", slower, faster, same,
                    same == 1 ? "is" : "are", ETP_DIGITS(100 * b->margin, 2),
                    b->n_models - slower - faster - same);
    if (b->n_compared > 0) {
        etp_report_note(r, b->n_changed ? ETP_WARN : ETP_INFO, "%zu of %zu operators changed%s",
                        b->n_changed, b->n_compared,
                        b->n_one_sided ? "; some are in one build alone" : "");
    }
    etp_keys *keys = etp_report_keys(r, NULL);
    for (int i = 0; i < 2; i++) {
        const etp_builds_side *s = &b->sides[i];
        etp_keys_add(keys, ETP_PLAIN, i ? "B" : "A", "%s%s%s (%.12s)", s->text ? s->text : "",
                     s->text ? ": " : "", s->path, s->sha256 ? s->sha256 : "");
    }
    for (size_t i = 0; i < b->n_models; i++) {
        const etp_builds_model *m = &b->models[i];
        const char *why = trouble(m, arena);
        if (why) {
            etp_keys_add(keys, m->outputs == 0 ? ETP_BAD : ETP_WARN, m->name, "%s", why);
        } else if (m->no_operators) {
            etp_keys_add(keys, ETP_WARN, m->name, "its operators are not compared: %s",
                         m->no_operators);
        }
    }
    notes(b, keys);
}

// One session measures all models in each block, so the most demanding one decides for all.
// How long a session must be, by the model that needs it most.
static void plan(const etp_builds *b, etp_report *r)
{
    const etp_builds_model *worst = NULL;
    for (size_t i = 0; i < b->n_models; i++) {
        const etp_builds_model *m = &b->models[i];
        // ETP_NS_UNKNOWN is below 0.
        if (m->blocks_to_find >= 0 && (!worst || m->blocks_to_find > worst->blocks_to_find)) {
            worst = m;
        }
    }
    if (worst) {
        etp_report_text(r,
                        "A difference of %s %% in any one model is found in 90 %% of sessions of "
                        "%lld blocks (--blocks), by how launches of %s scattered here.",
                        ETP_DIGITS(100 * b->margin, 2), (long long)worst->blocks_to_find,
                        worst->name);
    }
}

static void model_table(const etp_builds *b, etp_report *r, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "model", .title = "model", .flags = ETP_COL_CODE},
        {.key = "a_ns", .title = "A", .kind = ETP_KIND_NS},
        {.key = "b_ns", .title = "B", .kind = ETP_KIND_NS},
        {.key = "speedup", .title = "A ÷ B", .kind = ETP_KIND_RATIO, .decimals = 3},
        {.key = "lo", .title = "from", .kind = ETP_KIND_RATIO, .decimals = 3},
        {.key = "hi", .title = "to", .kind = ETP_KIND_RATIO, .decimals = 3},
        {.key = "q", .title = "q", .kind = ETP_KIND_DOUBLE},
        {.key = "verdict", .title = "B is"},
        {.key = "changed", .title = "changed", .kind = ETP_KIND_INT},
        {.key = "operators", .title = "of", .kind = ETP_KIND_INT},
        {.key = "blocks", .title = "blocks", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
    };
    const size_t n = sizeof k_columns / sizeof *k_columns;
    etp_report_section(r, 1, "models-section", "Models");
    etp_table *t = etp_report_table(r, ETP_BUILDS_TABLE_MODELS, NULL, k_columns, n);
    etp_table_limit(t, 0);
    for (size_t i = 0; i < b->n_models; i++) {
        const etp_builds_model *m = &b->models[i];
        ETP_ROW(t, etp_cell_z(m->name), etp_cell_ns(m->ns[0]), etp_cell_ns(m->ns[1]),
                etp_cell_gain(m->estimate, m->lo, m->hi), etp_cell_double(m->lo),
                etp_cell_double(m->hi), etp_cell_double(m->q),
                etp_cell_judged(etp_cell_z(model_words(m, arena)), severity_of(m->verdict)),
                m->n_operators ? etp_cell_u64(m->n_changed) : etp_cell_missing(),
                m->n_operators ? etp_cell_u64(m->n_operators) : etp_cell_missing(),
                etp_cell_u64(m->blocks));
    }
    const etp_builds_effect *e = &b->mean;
    if (b->n_models > 1 && e->paired.blocks > 0) {
        ETP_ROW(t, etp_cell_z("geometric mean"), etp_cell_missing(), etp_cell_missing(),
                etp_cell_gain(e->paired.estimate, e->paired.lo, e->paired.hi),
                etp_cell_double(e->paired.lo), etp_cell_double(e->paired.hi), etp_cell_double(e->q),
                etp_cell_judged(etp_cell_z(words(arena, e->verdict, e->paired.estimate, e->within,
                                                 e->paired.blocks)),
                                severity_of(e->verdict)),
                etp_cell_u64(b->n_changed), etp_cell_u64(b->n_compared),
                etp_cell_u64(e->paired.blocks));
        etp_table_row_is_total(t);
    }
    etp_report_text(
        r,
        "Untraced inferences in paired launches, A ÷ B with its 95 %% interval; above 1, B is "
        "faster. Faster or slower: q ≤ %s (Benjamini–Hochberg over the models%s), sign-flip "
        "p ≤ 0.05, the interval leaves out 1. ±: no farther from 1 does the interval reach.%s",
        ETP_DIGITS(ETP_BUILDS_MODELS_Q, 6), b->n_models > 1 ? " and their mean" : "",
        b->ab->emulated ? " These are times of an emulator." : "");
}

static void operator_table(const etp_builds *b, bool one_sided, etp_report *r)
{
    static const etp_column k_columns[] = {
        {.key = "model", .title = "model", .flags = ETP_COL_CODE},
        {.key = "operator", .title = "operator", .flags = ETP_COL_CODE},
        {.key = "a_ns", .title = "A", .kind = ETP_KIND_NS},
        {.key = "b_ns", .title = "B", .kind = ETP_KIND_NS},
        {.key = "delta_ns", .title = "B − A", .kind = ETP_KIND_NS, .flags = ETP_COL_SIGNED},
        {.key = "speedup", .title = "A ÷ B", .kind = ETP_KIND_RATIO, .decimals = 3},
        {.key = "lo", .title = "from", .kind = ETP_KIND_RATIO, .decimals = 3},
        {.key = "hi", .title = "to", .kind = ETP_KIND_RATIO, .decimals = 3},
        {.key = "q", .title = "q", .kind = ETP_KIND_DOUBLE},
    };
    etp_table *t = etp_report_table(r, one_sided ? "one-sided" : "changed", NULL, k_columns,
                                    sizeof k_columns / sizeof *k_columns);
    etp_table_limit(t, MOST_OPERATORS);
    for (size_t i = 0; i < b->n_operators; i++) {
        const etp_builds_operator *o = &b->operators[i];
        bool changed = o->verdict != ETP_VERDICT_UNKNOWN;
        if (one_sided ? !o->only : !changed) {
            continue;
        }
        ETP_ROW(t, etp_cell_z(b->models[o->model].name), etp_cell_z(o->label),
                etp_cell_ns(o->ns[0]), etp_cell_ns(o->ns[1]),
                etp_cell_judged(etp_cell_i64(o->delta_ns), severity_of(o->verdict)),
                etp_cell_judged(etp_cell_double(o->estimate), severity_of(o->verdict)),
                etp_cell_double(o->lo), etp_cell_double(o->hi), etp_cell_double(o->q));
    }
}

static void operators(const etp_builds *b, etp_report *r)
{
    if (b->n_changed > 0) {
        etp_report_section(r, 1, "changed-section", "Operators that changed");
        operator_table(b, false, r);
        etp_report_text(
            r,
            "Traced times per inference. q ≤ 0.05 (Benjamini–Yekutieli over all %zu operators of "
            "all models): of those listed, one in twenty is chance at most. Nothing was found of "
            "the others, which is not to say that they are equal.",
            b->n_compared);
    }
    if (b->n_one_sided > 0) {
        etp_report_section(r, 1, "one-sided-section", "Operators of one build alone");
        operator_table(b, true, r);
    }
}

// Of every pair of builds by itself: what disturbed one model need not have disturbed another.
static void suspects(const etp_builds *b, etp_report *r)
{
    etp_keys *keys = NULL;
    for (size_t i = 0; i < b->n_models; i++) {
        const etp_ab *ab = b->models[i].ab;
        for (size_t c = 0; ab && c < ab->judged.n_causes; c++) {
            const etp_ab_cause *x = &ab->judged.causes[c];
            // That the builds differ is what was asked, no other cause.
            if (x->state == ETP_CAUSE_SUSPECT && x->cause != ETP_CAUSE_BUILDS) {
                if (!keys) {
                    etp_report_section(r, 1, "suspects-section", "What else could have done it");
                    keys = etp_report_keys(r, NULL);
                }
                etp_keys_add(keys, ETP_WARN, b->models[i].name, "%s", x->text);
            }
        }
    }
}

const etp_report *etp_builds_report(const etp_builds *b, etp_arena *arena)
{
    etp_report *r = etp_report_create(arena, "Two builds");
    const etp_ab *ab = b->ab;
    etp_report_subtitle(r, "%zu model%s%s%s", b->n_models, b->n_models == 1 ? "" : "s",
                        ab->measured_at ? ", " : "", ab->measured_at ? ab->measured_at : "");
    headline(b, r, arena);
    facts(b, r, arena);
    answer(b, r, arena);
    model_table(b, r, arena);
    plan(b, r);
    operators(b, r);
    suspects(b, r);
    etp_report_footer(r, "etprof %s%s%s", ETP_VERSION, ab->command ? " · " : "",
                      ab->command ? ab->command : "");
    return r;
}
