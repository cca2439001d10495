// SPDX-License-Identifier: Apache-2.0
// One sentence of an answer with the rows and the formula behind it.
#include "show/explanation.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/shell.h"
#include "compare/phases.h"
#include "document/rows.h"
#include "show/graph.h"
#include "show/json.h"
#include "show/times.h"

// Is it the one that is WANTED? What all kinds of sentences have goes to OUT.
static bool take(const char *wanted, const char *id, const char *text, const char *formula,
                 const char *const *evidence, size_t n, etp_explanation *out)
{
    if (strcmp(wanted, id) != 0) {
        return false;
    }
    out->id = id;
    out->text = text;
    out->formula = formula;
    out->evidence = evidence;
    out->n_evidence = n;
    return true;
}

// Ids of different lists do not overlap: F1, N1 and op1 have letters of their own, and causes are
// words.
static bool find(const etp_ab *ab, const char *id, etp_explanation *out)
{
    for (size_t i = 0; i < ab->judged.findings.n; i++) {
        const etp_ab_finding *f = &ab->judged.findings.items[i];
        if (take(id, f->id, f->text, f->formula, f->evidence, f->n_evidence, out)) {
            return true;
        }
    }
    for (size_t i = 0; i < ab->fixes.n; i++) {
        const etp_ab_fix *f = &ab->fixes.items[i];
        if (take(id, f->id, f->text, f->formula, f->evidence, f->n_evidence, out)) {
            out->recipe = f->recipe;
            out->fix = f;
            return true;
        }
    }
    for (size_t i = 0; i < ab->load_fixes.n; i++) {
        const etp_ab_load_fix *f = &ab->load_fixes.items[i];
        if (take(id, f->id, f->text, f->formula, f->evidence, 2, out)) {
            out->recipe = f->recipe;
            out->saves = f;
            return true;
        }
    }
    for (size_t i = 0; i < ab->judged.n_causes; i++) {
        const etp_ab_cause *c = &ab->judged.causes[i];
        if (take(id, etp_cause_id(c->cause), c->text, c->formula, &c->evidence, c->evidence != NULL,
                 out)) {
            return true;
        }
    }
    out->op = etp_ab_operator_of(ab, id);
    return out->op && take(id, out->op->id, out->op->label, NULL, &out->op->id, 1, out);
}

etp_status etp_explanation_find(const etp_ab *ab, const char *id, etp_explanation *out,
                                etp_error *err)
{
    *out = (etp_explanation){.ab = ab};
    if (!find(ab, id, out)) {
        return etp_fail(
            err, ETP_USAGE,
            "no sentence '%s' here; there are %zu findings (F1 …), %zu fixes (N1 …), %zu causes "
            "(thermal, tracer …) and %zu operators (op1 …)",
            id, ab->judged.findings.n, ab->fixes.n, ab->judged.n_causes, ab->n_operators);
    }
    // Of the ledgers what the evidence names: rows by their id, and all of a category by its name.
    for (size_t k = 0; k < ab->n_comparisons; k++) {
        const etp_ledger *l = &ab->ledgers[k];
        for (size_t i = 0; i < l->n; i++) {
            const etp_ledger_row *row = &l->items[i];
            const char *category =
                row->category == ETP_CATEGORY_COUNT ? row->id : etp_category_name(row->category);
            bool cited = false;
            for (size_t n = 0; n < out->n_evidence; n++) {
                cited = cited || strcmp(out->evidence[n], row->id) == 0 ||
                        strcmp(out->evidence[n], category) == 0;
            }
            if (cited) {
                const etp_ab_arm *of = &ab->arms[ab->comparisons[k].candidate];
                ETP_ADD(ab->arena, &out->rows, ((etp_cited_row){*row, of->name, k}));
            }
        }
    }
    return etp_arena_check(ab->arena, err, "the explanation");
}

// The shape of an operator's roofs is made for documents whose root is the answer (axes of arms):
// here the answer is a member of the root.
static const void *ab_of(const void *op, const etp_json_cursor *at)
{
    (void)op;
    return ((const etp_explanation *)at->object)->ab;
}

#define OF etp_cited_row
static const etp_field k_row_rows[] = {
    FIELD("candidate", TEXT, candidate, "of the comparison", .flags = ETP_SET),
    FIELD("id", TEXT, row.id, "that of the operator, where it is one"),
    FIELD("label", TEXT, row.label, "for people", .flags = ETP_SET),
    FIELD("baseline_ns", INT, row.baseline_ns, "in the baseline", .range = ETP_SIGNED),
    FIELD("candidate_ns", INT, row.candidate_ns, "in the candidate", .range = ETP_SIGNED),
    FIELD("delta_ns", INT, row.delta_ns, "candidate − baseline", .range = ETP_SIGNED),
};
static SHAPE_ON_ONE_LINE(k_row, k_row_rows);
#undef OF
#define OF etp_explanation
static const etp_field k_explanation_rows[] = {
    FIELD("id", TEXT, id, "of the finding, fix, cause or operator", .flags = ETP_SET),
    FIELD("text", TEXT, text, "its sentence"),
    FIELD("formula", TEXT, formula, "how its figures come about"),
    FIELD("recipe", TEXT, recipe, "of a fix: what to do"),
    LIST("evidence", TEXT, evidence, n_evidence, "ids of rows, operators, arms, comparisons",
         .flags = ETP_ONE_LINE),
    VECTOR("rows", OBJECT, rows, "of the ledgers, that the evidence names", .shape = &k_row),
    POINTER("saves", saves, &k_etp_ab_load_fix, "of a fix of loading", .flags = ETP_ABSENT),
    POINTER(NULL, op, &k_etp_ab_operator_roofs, "", .root = ab_of, .flags = ETP_ABSENT),
};
static SHAPE(k_explanation, k_explanation_rows);
#undef OF

const etp_document k_etp_explain_document = {"etprof.explain/1", "what explain prints",
                                             &k_explanation};

// "26.00 µs, 0.0092 % of a recorded inference: " of an arm; "" of an emulator, whose times are
// none.
enum { TAKES = 96 };
static const char *takes(const etp_ab *ab, const etp_ab_operator *op, uint32_t arm,
                         char buf[static TAKES])
{
    double ns = etp_known_ns(op->ns[arm]), share = ns / etp_known_ns(ab->arms[arm].traced_ns);
    char time[ETP_NUMBER_CHARS];
    if (ab->emulated || !isfinite(share)) {
        return "";
    }
    if (!(ns > 0)) {
        return "below what the clock resolves: ";
    }
    snprintf(buf, TAKES, "%s, %s %% of a recorded inference: ", etp_format_ns(ns, time),
             ETP_DIGITS(100 * share, 2));
    return buf;
}

// "net.py:12 blocks.0.norm"; NULL: not known.
static const char *source_of(const etp_ab_operator *op, etp_arena *arena)
{
    if (!op || !op->source_file) {
        return NULL;
    }
    return etp_arena_printf(arena, "%s:%u%s%s", op->source_file, op->source_line,
                            etp_if(op->module, " "), ETP_OR(op->module, ""));
}

// How much faster it got, against each other arm; sums of a group count as one.
static void operator_ratios(const etp_ab *ab, const etp_ab_operator *op, etp_keys *keys)
{
    for (size_t k = 0; k < ab->n_comparisons; k++) {
        const etp_ab_comparison *of = &ab->comparisons[k];
        const char *name = ab->arms[of->candidate].measured;
        const etp_ledger_row *row = etp_ab_ledger_row(ab, k, op->id);
        if (!etp_ab_told(ab, k)) {
            etp_keys_add(keys, ETP_WARN, "speedup", "%s withheld: %s", name,
                         etp_ab_withheld_text(of->withheld));
            continue;
        }
        if (!row || row->candidate_ns <= 0 || row->baseline_ns <= 0) {
            continue;
        }
        double ratio = (double)row->baseline_ns / (double)row->candidate_ns;
        // No ratio is given below what the clocks resolve, but bounds can be: the interval over the
        // blocks where there is one, else what cutting can have done at most on either side.
        if (!isfinite(op->speedup[k])) {
            double least =
                ratio / etp_cut_factor((double)row->candidate_ns, (double)row->truncation_ns[1]);
            double most =
                ratio * etp_cut_factor((double)row->baseline_ns, (double)row->truncation_ns[0]);
            const etp_ab_clocked_time before = etp_ab_operator_time(ab, op, of->baseline),
                                      after = etp_ab_operator_time(ab, op, of->candidate);
            bool clock = etp_ab_below_clock(ab, k, op->speedup[k], &before, &after);
            etp_keys_add(keys, ETP_PLAIN, "speedup", "with %s %s: anything from %s× to %s×", name,
                         clock ? "below what the clock resolves" : "differs by block",
                         ETP_DIGITS(isfinite(row->ratio_lo) ? row->ratio_lo : least, 3),
                         ETP_DIGITS(isfinite(row->ratio_hi) ? row->ratio_hi : most, 3));
        } else if (isfinite(row->ratio_lo)) {
            etp_keys_add(keys, ETP_PLAIN, "speedup", "%s with %s",
                         ETP_ESTIMATE(ratio, row->ratio_lo, row->ratio_hi, 3), name);
        } else {
            etp_keys_add(keys, ETP_PLAIN, "speedup",
                         "%.3f× with %s (no interval: fewer than 2 blocks)", ratio, name);
        }
    }
}

static void operator_keys(const etp_explanation *c, etp_report *r, etp_keys *keys, etp_arena *arena)
{
    const etp_ab *ab = c->ab;
    const etp_ab_operator *op = c->op;
    for (size_t i = 0; i < ab->n_arms; i++) {
        uint32_t a = ab->shown[i];
        char time[TAKES];
        if (op->rows[a]) {
            etp_keys_add(keys, ETP_PLAIN, ab->arms[a].measured, "%s%.*s", takes(ab, op, a, time),
                         ETP_STR_ARG(op->names[a]));
        }
    }
    etp_keys_add(keys, ETP_PLAIN, "category", "%s", etp_category_name(op->category));
    operator_ratios(ab, op, keys);
    etp_keys_add(keys, ETP_PLAIN, "aligned", "%s, confidence %.2f",
                 op->by_nodes ? "through the program" : "by names and order", op->confidence);
    static const char *const k_states[ETP_ENGAGEMENTS] = {"yes", "no", "unknown", "partly"};
    if (op->engaged.eligible) {
        const char *reason = etp_reason_text(op->engaged.reason);
        if (!reason && op->engaged.state == ETP_ENGAGEMENT_UNKNOWN) {
            reason = "nothing here tells";
        }
        etp_keys_add(keys, ETP_PLAIN, "engaged", "%s%s%s%s%s", k_states[op->engaged.state],
                     etp_if(reason, ": "), ETP_OR(reason, ""),
                     etp_if(op->engaged.evidence, "; from: "), ETP_OR(op->engaged.evidence, ""));
    }
    // The figures behind the verdict, per arm. The efficiency is spelled out as its quotient, so
    // that a reader can check it against the device.
    for (size_t i = 0; op->roofs && i < ab->n_arms; i++) {
        uint32_t a = ab->shown[i];
        const etp_roof_place *p = &op->roofs[a];
        if (p->verdict == ETP_ROOF_UNKNOWN) {
            etp_keys_add(keys, ETP_PLAIN, "roof", "%s: unknown, %s", ab->arms[a].measured,
                         p->missing);
            continue;
        }
        etp_keys_add(keys, ETP_PLAIN, "roof",
                     "%s: %s, %s %% = %s ÷ %s; the larger of arithmetic%s%s %s and memory %s",
                     ab->arms[a].measured, etp_roof_verdict_name(p->verdict),
                     ETP_DIGITS(100 * p->efficiency, 3), ETP_NS(p->roof_ns),
                     ETP_NS((double)op->ns[a]), etp_if(p->isa, " with "), ETP_OR(p->isa, ""),
                     ETP_NS(p->compute_ns), ETP_NS(p->memory_ns));
    }
    etp_ab_operator_facts(ab, op, r, keys, arena);
}

// What a fix or a finding rests on, where nothing is compared: by name, in the arm that fixes are
// of.
static void operators_named(const etp_explanation *c, etp_report *r, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "id", .title = "id"},
        {.key = "name", .title = "operator", .flags = ETP_COL_CODE},
        {.key = "ns", .title = "time", .kind = ETP_KIND_NS},
        {.key = "source", .title = "source", .flags = ETP_COL_CODE},
    };
    const etp_ab *ab = c->ab;
    uint32_t arm = ab->bottleneck_arm;
    etp_table *t = NULL;
    for (size_t i = 0; i < ab->n_operators && !c->op; i++) {
        const etp_ab_operator *op = &ab->operators[i];
        bool named = false;
        for (size_t k = 0; k < c->n_evidence; k++) {
            named = named || strcmp(op->id, c->evidence[k]) == 0;
        }
        if (named && op->rows[arm]) {
            if (!t) {
                t = etp_report_table(r, "operators", ab->arms[arm].measured, k_columns, 4);
            }
            ETP_ROW(t, etp_cell_z(op->id), etp_cell_str(op->names[arm]),
                    etp_cell_ns(ab->emulated ? ETP_NS_UNKNOWN : op->ns[arm]),
                    etp_cell_z(source_of(op, arena)));
        }
    }
}

const etp_report *etp_explanation_report(const etp_explanation *c, etp_arena *arena)
{
    const unsigned of = c->ab->n_comparisons > 1 ? 0 : ETP_COL_ABSENT; // which candidate it is
    unsigned sources = ETP_COL_ABSENT;                                 // an operator's own is a key
    for (size_t i = 0; i < c->rows.n && !c->op; i++) {
        if (source_of(etp_ab_operator_of(c->ab, c->rows.items[i].row.id), arena)) {
            sources = 0;
        }
    }
    const etp_column columns[] = {
        {.key = "id", .title = "id"},
        {.key = "label", .title = "row", .flags = ETP_COL_CODE},
        {.key = "baseline_ns", .title = "baseline", .kind = ETP_KIND_NS},
        {.key = "candidate_ns", .title = "candidate", .kind = ETP_KIND_NS},
        {.key = "delta_ns", .title = "difference", .kind = ETP_KIND_NS, .flags = ETP_COL_SIGNED},
        {.key = "candidate", .title = "of", .flags = of},
        {.key = "source", .title = "source", .flags = ETP_COL_CODE | sources},
    };
    etp_report *r = etp_report_create(arena, c->ab->title);
    etp_report_subtitle(r, "%s", c->id);
    etp_report_section(r, 1, "claim", c->text);
    etp_keys *keys = etp_report_keys(r, NULL);
    if (c->op) {
        operator_keys(c, r, keys, arena);
    }
    if (c->fix) {
        // What it would bring, and what does it.
        const etp_ab_fix *f = c->fix;
        const bool likely = f->expected_ns != ETP_NS_UNKNOWN;
        etp_keys_add(keys, ETP_PLAIN, "gain", "%s%sfrom %s to %s",
                     etp_if(likely, ETP_NS((double)f->expected_ns)),
                     etp_if(likely, " an inference expected, "), ETP_NS((double)f->lo_ns),
                     ETP_NS((double)f->hi_ns));
        if (f->by_command && c->ab->dir && !c->ab->bare) {
            etp_keys_add(keys, ETP_PLAIN, "apply", "%s",
                         etp_shell_command(arena, "etprof fix %s %s", c->ab->dir, f->id));
        }
    }
    if (c->formula) {
        etp_keys_add(keys, ETP_PLAIN, "formula", "%s", c->formula);
    }
    if (c->saves) {
        etp_keys_add(keys, ETP_PLAIN, "loading", "%s",
                     etp_ab_saved_words(c->saves->load_ns, false, arena));
        etp_keys_add(keys, ETP_PLAIN, "first inference", "%s",
                     etp_ab_saved_words(c->saves->first_ns, false, arena));
        etp_keys_add(keys, ETP_PLAIN, "dirty memory", "%s",
                     etp_ab_saved_words(c->saves->dirty_bytes, true, arena));
    }
    if (c->recipe) {
        etp_keys_add(keys, ETP_PLAIN, "recipe", "%s", c->recipe);
    }
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    for (size_t i = 0; i < c->n_evidence; i++) {
        etp_strbuf_printf(&text, "%s%s", etp_if(i, ", "), c->evidence[i]);
    }
    if (c->n_evidence && !c->op) { // an operator rests on itself
        etp_keys_add(keys, ETP_PLAIN, "rests on", "%s", etp_strbuf_str(&text).ptr);
    }
    if (c->ab->n_comparisons == 0) {
        operators_named(c, r, arena);
    }
    etp_table *t = c->rows.n ? etp_report_table(r, "rows", NULL, columns, 7) : NULL;
    for (size_t i = 0; i < c->rows.n; i++) {
        const etp_cited_row *cited = &c->rows.items[i];
        const etp_ledger_row *row = &cited->row;
        ETP_ROW(t, etp_cell_z(row->id), etp_cell_z(row->label), etp_cell_ns(row->baseline_ns),
                etp_cell_ns(row->candidate_ns),
                etp_ab_delta_cell(c->ab, cited->comparison, row->delta_ns),
                etp_cell_z(c->ab->arms[c->ab->comparisons[cited->comparison].candidate].measured),
                etp_cell_z(source_of(etp_ab_operator_of(c->ab, row->id), arena)));
    }
    return r;
}

// Everything that was judged, and the longest few operators: a program has hundreds, and a table
// has the ids of all.
const etp_report *etp_explanation_list(const etp_ab *ab, etp_arena *arena)
{
    etp_report *r = etp_report_create(arena, ab->title);
    etp_report_section(r, 1, "claims", "What can be explained");
    etp_keys *keys = etp_report_keys(r, NULL);
    static const char *const k_states[ETP_CAUSE_STATES] = {"not known", "ruled out", "suspect"};
    for (size_t i = 0; i < ab->fixes.n; i++) {
        etp_keys_add(keys, ETP_PLAIN, ab->fixes.items[i].id, "%s", ab->fixes.items[i].text);
    }
    for (size_t i = 0; i < ab->load_fixes.n; i++) {
        etp_keys_add(keys, ETP_PLAIN, ab->load_fixes.items[i].id, "%s",
                     ab->load_fixes.items[i].text);
    }
    for (size_t i = 0; i < ab->judged.findings.n; i++) {
        etp_keys_add(keys, ETP_PLAIN, ab->judged.findings.items[i].id, "%s",
                     ab->judged.findings.items[i].text);
    }
    for (size_t i = 0; i < ab->judged.n_causes; i++) {
        etp_keys_add(keys, ETP_PLAIN, etp_cause_id(ab->judged.causes[i].cause), "%s: %s",
                     k_states[ab->judged.causes[i].state], ab->judged.causes[i].text);
    }
    enum { SLOWEST = 5 };
    for (size_t i = 0; i < ab->n_operators && i < SLOWEST; i++) {
        const etp_ab_operator *op = &ab->operators[ab->by_time[i]];
        char time[TAKES];
        etp_keys_add(keys, ETP_PLAIN, op->id, "%s%s", takes(ab, op, ab->bottleneck_arm, time),
                     op->label);
    }
    if (ab->n_operators > SLOWEST) {
        etp_report_text(
            r, "And %zu more operators: 'etprof analyze FOLDER --format csv' has their ids.",
            ab->n_operators - SLOWEST);
    }
    if (ab->n_phases > 1) {
        etp_report_text(r, "That is %s. The same with --phase: %s.", ab->phase,
                        etp_ab_phase_words(ab, arena));
    }
    return r;
}
