// SPDX-License-Identifier: Apache-2.0
// The one author of etprof.builds/1 documents.
#include "show/json.h"
#include "document/document.h"
#include "document/rows.h"
#include "study/builds/builds.h"

FIND(operator_model, etp_builds_operator, etp_builds, MAKE(text, doc->models[it->model].name))
KNOWN(has_mean, etp_builds_effect, it->paired.blocks > 0)
// Of the others nothing is claimed; operators_compared counts those that were tested.
KNOWN(is_shown, etp_builds_operator, it->verdict != ETP_VERDICT_UNKNOWN || it->only)

KNOWN(has_control, etp_builds, it->control_blocks > 0)
FIND(grade, etp_builds, etp_builds, &it->ab->judged.grade)
FIND(state, etp_builds, etp_builds, &it->ab->state)

#define OF etp_builds_side
static const etp_field k_side_rows[] = {
    FIELD("path", TEXT, path, "bundle or program", .flags = ETP_SET),
    FIELD("sha256", TEXT, sha256, "over all its files"),
    FIELD("executorch", TEXT, executorch, "version it was built with"),
    FIELD("text", TEXT, text, "what is known of it"),
};
static SHAPE(k_side, k_side_rows);
#undef OF

#define OF etp_builds_model
static const etp_field k_model_rows[] = {
    FIELD("model", TEXT, name, "what tells the file names apart", .flags = ETP_SET),
    FIELD("path", TEXT, path, "as recorded"),
    FIELD("a_ns", NS, ns[0], "untraced median with A"),
    FIELD("b_ns", NS, ns[1], "untraced median with B"),
    ESTIMATE("time of A ÷ time of B; null: withheld or not measured"),
    FIELD("blocks", UINT, blocks, "that have both"),
    // A count, written as a time is, because ETP_NS_UNKNOWN of either is null.
    FIELD("blocks_to_find", NS, blocks_to_find,
          "of a session that finds a difference of the margin in 90 % of cases; null: unknown"),
    FIELD("p", RATIO, p, "of no difference"),
    FIELD("q", RATIO, q, "over the models and their mean (Benjamini–Hochberg)"),
    FIELD("verdict", WORD, verdict, "of B", .words = &k_etp_verdict_words),
    FIELD("within", RATIO, within, "farthest that the interval reaches from 1"),
    FIELD("withheld", WORD, withheld, "why no ratio is given", .words = &k_etp_withheld_words),
    FIELD("outputs_agree", MAYBE, outputs, "null: not compared"),
    FIELD("a_lost", TEXT, lost[0], "why launches with A were lost, when too few were left"),
    FIELD("b_lost", TEXT, lost[1], "the same with B"),
    FIELD("operators", UINT, n_operators, "compared"),
    FIELD("changed", UINT, n_changed, "of them"),
    FIELD("no_operators", TEXT, no_operators, "why none is compared"),
};
static SHAPE(k_model, k_model_rows);
#undef OF

#define OF etp_builds_effect
static const etp_field k_mean_rows[] = {
    FIELD("estimate", RATIO, paired.estimate, "geometric mean of the models' ratios"),
    FIELD("lo", RATIO, paired.lo, "low end of its 95 % interval"),
    FIELD("hi", RATIO, paired.hi, "high end"),
    FIELD("blocks", UINT, paired.blocks, "that have all of them"),
    FIELD("p", RATIO, p, "of no difference"),
    FIELD("q", RATIO, q, "over the models and their mean (Benjamini–Hochberg)"),
    FIELD("verdict", WORD, verdict, "of B", .words = &k_etp_verdict_words),
    FIELD("within", RATIO, within, "farthest that the interval reaches from 1"),
};
static SHAPE(k_mean, k_mean_rows);
#undef OF

#define OF etp_builds_operator
static const etp_field k_operator_rows[] = {
    MADE("model", TEXT, operator_model, "", .flags = ETP_SET),
    FIELD("id", TEXT, id, "in the ledger of its model", .flags = ETP_SET),
    FIELD("label", TEXT, label, "", .flags = ETP_SET),
    FIELD("only", TEXT, only, "a, b: the other build has no such operator"),
    FIELD("a_ns", NS, ns[0], "traced, per inference, with A"),
    FIELD("b_ns", NS, ns[1], "with B"),
    FIELD("delta_ns", NS, delta_ns, "B less A", .range = ETP_SIGNED),
    ESTIMATE("time of A ÷ time of B"),
    FIELD("p", RATIO, p, "of no difference"),
    FIELD("q", RATIO, q, "over all operators of all models (Benjamini–Yekutieli)"),
    FIELD("verdict", WORD, verdict, "of B", .words = &k_etp_verdict_words),
};
static SHAPE_ON_ONE_LINE(k_operator, k_operator_rows);
#undef OF

#define OF etp_builds
static const etp_field k_control_rows[] = {ETP_CONTROL_ROWS};
static SHAPE_ON_ONE_LINE(k_control, k_control_rows);
static const etp_field k_rows[] = {
    FIELD("a", OBJECT, sides[0], "the baseline", .shape = &k_side),
    FIELD("b", OBJECT, sides[1], "what is held against it", .shape = &k_side),
    FIELD("same_build", BOOL, same, "byte for byte: an A/A comparison"),
    MADE("grade", TEXT, grade, "how much the arms have in common", .flags = ETP_SET),
    MADE("state", WORD, state, "of the session", .words = &k_etp_run_state_words),
    FIELD("margin", RATIO, margin, "what lies within is the same"),
    GROUP("control", &k_control, "one build twice", .when = has_control),
    LIST("models", OBJECT, models, n_models, "in the order given", .shape = &k_model),
    FIELD("mean", OBJECT, mean, "over the models; null below two", .shape = &k_mean,
          .when = has_mean),
    FIELD("mean_models", UINT, n_mean, "in the mean"),
    FIELD("models_lo", RATIO, models_lo, "the mean for models like these (bootstrap): low end"),
    FIELD("models_hi", RATIO, models_hi, "high end; null below three models"),
    FIELD("operators_compared", UINT, n_compared, "over all models"),
    FIELD("operators_changed", UINT, n_changed, "of them, at q ≤ 0.05"),
    LIST("operators", OBJECT, operators, n_operators, "that changed, or that one build has alone",
         .shape = &k_operator, .when = is_shown),
};
static SHAPE(k_builds, k_rows);
#undef OF
const etp_document k_etp_builds_document = {"etprof.builds/1", "What ab says of two builds",
                                            &k_builds};

void etp_builds_json(const void *builds, etp_json *j)
{
    etp_document_write(j, &k_etp_builds_document, builds, builds);
}
