// SPDX-License-Identifier: Apache-2.0
// The answer in the structs of <etprof/analysis.h>. Nothing is computed here.
#include "library/handle.h"
#include "library/sized.h"
#include "show/report.h"

_Static_assert(ETP_UNKNOWN_NS == ETP_NS_UNKNOWN, "one way to say an unknown time");

// Results have texts with a length. Of NULL it makes the empty one, which is how an unknown text
// looks there.
static etp_str text(const char *z)
{
    return etp_str_from(z);
}

// The answer behind ANALYSIS, when it has an item INDEX.
static etp_status item(const etp_analysis *analysis, const char *what, uint32_t index, size_t n,
                       etp_error *err)
{
    if (!analysis) {
        return etp_fail(err, ETP_USAGE, "no analysis");
    }
    return index < n ? ETP_OK : etp_fail(err, ETP_USAGE, "no %s %u: there are %zu", what, index, n);
}

// Without an analysis an empty answer: item(), which is asked next, is the one that complains.
static const etp_ab *answer_of(const etp_analysis *analysis)
{
    static const etp_ab k_none = {0};
    return analysis ? etp_ab_answer(analysis->session) : &k_none;
}

etp_status etp_analysis_about(const etp_analysis *analysis, etp_analysis_summary *out,
                              etp_error *err)
{
    ETP_TRY(item(analysis, "analysis", 0, 1, err));
    const etp_ab *ab = answer_of(analysis);
    const etp_analysis_summary result = {
        .title = text(ab->title),
        .folder = text(ab->dir),
        .state = text(etp_run_state_name(ab->state)),
        .grade = text(ab->judged.grade),
        .grade_reason = text(ab->judged.grade_reason),
        .baseline = ab->baseline,
        .arms = (uint32_t)ab->n_arms,
        .comparisons = (uint32_t)ab->n_comparisons,
        .operators = (uint32_t)ab->n_operators,
        .findings = (uint32_t)ab->judged.findings.n,
        .bare = ab->bare,
        .emulated = ab->emulated,
        .outputs = (int8_t)ab->correctness.ok,
        .launch_lost = ab->block_lost,
    };
    return etp_result_give(&result, sizeof result, ETP_SIZE_TO(etp_analysis_summary, launch_lost),
                           out, "etp_analysis_summary", err);
}

etp_status etp_analysis_arm(const etp_analysis *analysis, uint32_t index, etp_arm_result *out,
                            etp_error *err)
{
    const etp_ab *ab = answer_of(analysis);
    ETP_TRY(item(analysis, "arm", index, ab->n_arms, err));
    const etp_ab_arm *arm = &ab->arms[index];
    const etp_arm_result result = {
        .name = text(arm->name),
        .measured = text(arm->measured),
        .level = text(arm->level_name),
        .model = text(arm->model < ab->n_models ? ab->models[arm->model].stem : NULL),
        .proof = text(etp_truth_name(arm->proof.truth)),
        .threads = arm->threads,
        .launches = arm->launches,
        .samples = arm->samples,
        .median_ns = arm->median_ns,
        .lo_ns = arm->lo_ns,
        .hi_ns = arm->hi_ns,
        .traced_ns = arm->traced_ns,
        .load_ns = arm->costs[ETP_COST_LOAD],
        .first_ns = arm->costs[ETP_COST_FIRST],
        .peak_rss_bytes = arm->costs[ETP_COST_PEAK],
        .dirty_bytes = arm->costs[ETP_COST_DIRTY],
        .clean_bytes = arm->costs[ETP_COST_CLEAN],
        .disk_bytes = arm->disk_bytes,
    };
    return etp_result_give(&result, sizeof result, ETP_SIZE_TO(etp_arm_result, peak_rss_bytes), out,
                           "etp_arm_result", err);
}

etp_status etp_analysis_comparison(const etp_analysis *analysis, uint32_t index,
                                   etp_comparison_result *out, etp_error *err)
{
    const etp_ab *ab = answer_of(analysis);
    ETP_TRY(item(analysis, "comparison", index, ab->n_comparisons, err));
    const etp_ab_comparison *c = &ab->comparisons[index];
    const etp_comparison_result result = {
        .baseline = c->baseline,
        .candidate = c->candidate,
        .speedup = c->estimate,
        .lo = c->lo,
        .hi = c->hi,
        .verdict = c->verdict,
        .verdict_text = text(etp_verdict_name(c->verdict)),
        .withheld = text(etp_withheld_name(c->withheld)),
        .withheld_text = text(c->withheld ? etp_ab_withheld_text(c->withheld) : NULL),
        .method = text(etp_ab_method_name(c->method)),
        .blocks = c->blocks,
        .margin = c->margin,
        .noise_floor = c->noise_floor,
    };
    return etp_result_give(&result, sizeof result, ETP_SIZE_TO(etp_comparison_result, noise_floor),
                           out, "etp_comparison_result", err);
}

etp_status etp_analysis_operator(const etp_analysis *analysis, uint32_t index,
                                 etp_operator_result *out, etp_error *err)
{
    const etp_ab *ab = answer_of(analysis);
    ETP_TRY(item(analysis, "operator", index, ab->n_operators, err));
    const etp_ab_operator *op = &ab->operators[index];
    const etp_operator_result result = {
        .id = text(op->id),
        .label = text(op->label),
        .category = op->category,
        .delegated = op->delegated,
        .chain = op->chain,
        .instruction = op->instruction,
        .source_file = text(op->source_file),
        .source_line = op->source_line,
    };
    return etp_result_give(&result, sizeof result, ETP_SIZE_TO(etp_operator_result, source_line),
                           out, "etp_operator_result", err);
}

// Name and time of an operator are told for each arm: an operator may be called otherwise in each,
// or be missing (an empty name).
etp_status etp_analysis_operator_in(const etp_analysis *analysis, uint32_t index, uint32_t arm,
                                    etp_str *out_name, int64_t *out_ns, etp_error *err)
{
    const etp_ab *ab = answer_of(analysis);
    ETP_TRY(item(analysis, "operator", index, ab->n_operators, err));
    ETP_TRY(item(analysis, "arm", arm, ab->n_arms, err));
    if (out_name) {
        *out_name = ab->operators[index].names[arm];
    }
    if (out_ns) {
        *out_ns = ab->operators[index].ns[arm];
    }
    return ETP_OK;
}

etp_status etp_analysis_finding(const etp_analysis *analysis, uint32_t index,
                                etp_finding_result *out, etp_error *err)
{
    const etp_ab *ab = answer_of(analysis);
    ETP_TRY(item(analysis, "finding", index, ab->judged.findings.n, err));
    const etp_ab_finding *f = &ab->judged.findings.items[index];
    const etp_finding_result result = {
        .id = text(f->id),
        .kind = text(etp_finding_id(f->kind)),
        .severity = text(etp_severity_name(f->severity)),
        .text = text(f->text),
    };
    return etp_result_give(&result, sizeof result, ETP_SIZE_TO(etp_finding_result, text), out,
                           "etp_finding_result", err);
}
