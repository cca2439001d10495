// SPDX-License-Identifier: Apache-2.0
// Compares the ratios of two sessions of one plan.
#include "study/rerun.h"
#include "compare/phases.h"

#include <math.h>
#include <string.h>

#include "base/guard.h"
#include "base/number.h"
#include "document/document.h"
#include "document/rows.h"

static const char *verdict_name(etp_rerun_verdict v)
{
    static const char *const k_names[] = {"unknown", "reproduced", "not"};
    return k_names[v];
}

// Variance of the mean log ratio, back from its t interval. An interval that was widened for a stop
// rule gives too much, which makes the answer unknown more often and wrong less often.
static double variance(const etp_rerun_ratio *r)
{
    double half = (log(r->hi) - log(r->lo)) / 2;
    double se = half / etp_t_quantile(0.5 + ETP_CONFIDENCE / 2, (double)r->blocks - 1);
    return se * se;
}

etp_rerun_verdict etp_rerun_judge(const etp_rerun_ratio *first, const etp_rerun_ratio *second,
                                  double margin, etp_rerun_ratio *out_change)
{
    *out_change = (etp_rerun_ratio){NAN, NAN, NAN, 0};
    // Below two blocks there is no interval; the comparison with 0 also refuses NAN.
    if (first->blocks < 2 || second->blocks < 2 || !(first->lo > 0) || !(second->lo > 0)) {
        return ETP_RERUN_UNKNOWN;
    }
    double d = log(second->estimate) - log(first->estimate);
    double v1 = variance(first), v2 = variance(second), k1 = first->blocks - 1,
           k2 = second->blocks - 1;
    double half = 0;
    if (v1 + v2 > 0) { // Welch–Satterthwaite
        double df = (v1 + v2) * (v1 + v2) / (v1 * v1 / k1 + v2 * v2 / k2);
        half = etp_t_quantile(0.5 + ETP_CONFIDENCE / 2, df) * sqrt(v1 + v2);
    }
    *out_change = (etp_rerun_ratio){exp(d), exp(d - half), exp(d + half), 0};
    double most = log1p(margin);
    if (d - half >= -most && d + half <= most) {
        return ETP_RERUN_REPRODUCED;
    }
    return d - half > most || d + half < -most ? ETP_RERUN_NOT : ETP_RERUN_UNKNOWN;
}

static const etp_ab_comparison *find(const etp_ab *ab, const char *baseline, const char *candidate)
{
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        const etp_ab_comparison *c = &ab->comparisons[i];
        if (strcmp(ab->arms[c->baseline].name, baseline) == 0 &&
            strcmp(ab->arms[c->candidate].name, candidate) == 0) {
            return c;
        }
    }
    return NULL;
}

static etp_rerun_ratio ratio_of(const etp_ab_comparison *c)
{
    return (etp_rerun_ratio){c->estimate, c->lo, c->hi, c->blocks};
}

static void judge_row(const etp_ab_comparison *c1, const etp_ab_comparison *c2, double margin,
                      etp_arena *arena, etp_rerun_row *row)
{
    // The verdict stays ETP_RERUN_UNKNOWN, which is 0, until both sessions have a ratio to compare.
    row->first = ratio_of(c1);
    row->change = row->second = (etp_rerun_ratio){NAN, NAN, NAN, 0};
    if (!c2) {
        row->why = "the second session has no such comparison";
        return;
    }
    row->second = ratio_of(c2);
    // A ratio that its own session does not stand by cannot be reproduced or fail to be.
    if (c1->withheld || c2->withheld) {
        row->why = etp_arena_printf(arena, "the %s session withholds it: %s",
                                    c1->withheld ? "first" : "second",
                                    etp_withheld_name(ETP_OR(c1->withheld, c2->withheld)));
        return;
    }
    row->verdict = etp_rerun_judge(&row->first, &row->second, margin, &row->change);
    if (row->verdict == ETP_RERUN_UNKNOWN) {
        row->why = isfinite(row->change.estimate)
                       ? "the interval of the change reaches across the margin"
                       : "fewer than 2 complete blocks";
    }
}

// By names, not by position: the second session may have been given its phases in another order,
// and the arms of each phase have names of their own.
static const etp_ab_comparison *find_in_all(const etp_ab *ab, const etp_rerun_row *row)
{
    const etp_ab_comparison *found = NULL;
    for (size_t i = 0; i < etp_ab_answers(ab) && !found; i++) {
        found = find(etp_ab_answer_at(ab, i), row->baseline, row->candidate);
    }
    return found;
}

static etp_status compare(const etp_ab *first, const etp_ab *second, etp_arena *arena,
                          etp_rerun *out)
{
    size_t n = 0;
    for (size_t i = 0; i < etp_ab_answers(first); i++) {
        n += etp_ab_answer_at(first, i)->n_comparisons;
    }
    out->rows = ETP_NEW_ARRAY(arena, etp_rerun_row, n + 1);
    for (size_t i = 0; i < etp_ab_answers(first); i++) {
        const etp_ab *phase = etp_ab_answer_at(first, i);
        for (size_t k = 0; k < phase->n_comparisons; k++) {
            const etp_ab_comparison *c = &phase->comparisons[k];
            // There is a row for each comparison of all phases of the first session. Names are
            // copied: sessions may be closed before the answer is shown.
            etp_rerun_row *row = &out->rows[out->n_rows++];
            *row = (etp_rerun_row){
                .baseline = etp_arena_strdup(arena, etp_str_from(phase->arms[c->baseline].name)),
                .candidate = etp_arena_strdup(arena, etp_str_from(phase->arms[c->candidate].name))};
            judge_row(c, find_in_all(second, row), out->margin, arena, row);
        }
    }
    // Without comparisons there is nothing that could have been reproduced.
    bool any_not = false, all = n > 0;
    for (size_t i = 0; i < n; i++) {
        any_not = any_not || out->rows[i].verdict == ETP_RERUN_NOT;
        all = all && out->rows[i].verdict == ETP_RERUN_REPRODUCED;
    }
    out->verdict = all ? ETP_RERUN_REPRODUCED : ETP_RERUN_UNKNOWN;
    out->verdict = any_not ? ETP_RERUN_NOT : out->verdict;
    const char *a = first->bundles_sha256, *b = second->bundles_sha256;
    out->other_runner = a && b && strcmp(a, b) != 0;
    for (size_t i = 0; i < first->n_arms && i < second->n_arms; i++) {
        a = first->arms[i].runner_sha256;
        b = second->arms[i].runner_sha256;
        // A runner without a known hash may be another one.
        out->other_runner = out->other_runner || !a || !b || strcmp(a, b) != 0;
    }
    return ETP_OK;
}

etp_status etp_rerun_compare(const etp_ab *first, const etp_ab *second, double margin,
                             etp_arena *arena, etp_rerun *out, etp_error *err)
{
    *out = (etp_rerun){.margin = margin > 0 ? margin : ETP_RERUN_MARGIN};
    ETP_GUARDED(arena, err, "the comparison", compare(first, second, arena, out));
}

WORDS(k_verdicts, verdict_name, etp_rerun_verdict, ETP_RERUN_NOT + 1)
FIND(same_runner, etp_rerun, etp_rerun, MAKE(yes, !it->other_runner))

#define OF etp_rerun_ratio
static const etp_field k_ratio_rows[] = {
    ESTIMATE("speedup, or the ratio of two"),
    FIELD("blocks", UINT, blocks, "", .flags = ETP_ABSENT | ETP_ZERO),
};
static SHAPE_ON_ONE_LINE(k_ratio, k_ratio_rows);
#undef OF
#define OF etp_rerun_row
static const etp_field k_row_rows[] = {
    FIELD("baseline", TEXT, baseline, "an arm", .flags = ETP_SET),
    FIELD("candidate", TEXT, candidate, "another", .flags = ETP_SET),
    FIELD("first", OBJECT, first, "of the first session", .shape = &k_ratio),
    FIELD("second", OBJECT, second, "of the second", .shape = &k_ratio),
    FIELD("change", OBJECT, change, "second ÷ first", .shape = &k_ratio),
    FIELD("verdict", WORD, verdict, "", .words = &k_verdicts),
    FIELD("why", TEXT, why, "it is unknown"),
};
static SHAPE(k_row, k_row_rows);
#undef OF
#define OF etp_rerun
static const etp_field k_rows[] = {
    FIELD("verdict", WORD, verdict, "of all comparisons", .words = &k_verdicts),
    FIELD("margin", RATIO, margin, "of the change", .flags = ETP_SET),
    COMPUTED("same_runner", BOOL, same_runner, "as in the first session", .flags = ETP_SET),
    LIST("comparisons", OBJECT, rows, n_rows, "as in the first session", .shape = &k_row),
};
static SHAPE(k_rerun, k_rows);
#undef OF
const etp_document k_etp_rerun_document = {"etprof.rerun/1", "What rerun prints", &k_rerun};

const etp_report *etp_rerun_report(const etp_rerun *rerun, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "comparison", .title = "comparison", .flags = ETP_COL_CODE},
        {.key = "first", .title = "first", .kind = ETP_KIND_RATIO, .decimals = 3},
        {.key = "second", .title = "second", .kind = ETP_KIND_RATIO, .decimals = 3},
        {.key = "change", .title = "second ÷ first", .kind = ETP_KIND_RATIO, .decimals = 3},
        {.key = "lo", .title = "from", .kind = ETP_KIND_RATIO, .decimals = 3},
        {.key = "hi", .title = "to", .kind = ETP_KIND_RATIO, .decimals = 3},
        {.key = "verdict", .title = "verdict"},
        {.key = "why", .title = "why"},
    };
    // Indexed by etp_rerun_verdict, as the names are.
    static const etp_severity k_severity[] = {ETP_WARN, ETP_GOOD, ETP_BAD};
    static const char *const k_said[] = {"unknown, each row says why", "reproduced",
                                         "not reproduced"};
    etp_report *r = etp_report_create(arena, "rerun");
    etp_report_section(r, 1, "comparisons", "Speedups of both sessions");
    etp_report_note(r, k_severity[rerun->verdict], "%s: margin %s %%", k_said[rerun->verdict],
                    ETP_DIGITS(100 * rerun->margin, 3));
    if (rerun->other_runner) {
        etp_report_note(r, ETP_WARN, "the sessions ran different runners");
    }
    etp_table *t = etp_report_table(r, "comparisons", NULL, k_columns, 8);
    for (size_t i = 0; i < rerun->n_rows; i++) {
        const etp_rerun_row *row = &rerun->rows[i];
        const char *name = etp_arena_printf(arena, "%s against %s", row->candidate, row->baseline);
        ETP_ROW(t, etp_cell_z(name), etp_cell_double(row->first.estimate),
                etp_cell_double(row->second.estimate), etp_cell_double(row->change.estimate),
                etp_cell_double(row->change.lo), etp_cell_double(row->change.hi),
                etp_cell_judged(etp_cell_z(verdict_name(row->verdict)), k_severity[row->verdict]),
                etp_cell_z(row->why));
    }
    return r;
}
