// SPDX-License-Identifier: Apache-2.0
// The document etprof.ab/1: the tables of its members. Keys are added, never renamed, within this
// major version.
#include "show/json.h"

#include <math.h>

#include <etprof/version.h>

#include "compare/phases.h"
#include "compare/why.h"
#include "document/ab_rows.h"
#include "document/document.h"
#include "document/memory.h"
#include "document/rows.h"
#include "inspect/ops.h"
#include "show/counters.h"
#include "show/first_token.h"

// ---- words, axes, values that no struct holds, and what is known ----
// The tables below name these functions and lists; the macros that make them are in
// document/rows.h. A member that is not in a struct (a ratio of two members, the name behind an
// index) has a FIND of its own, so that no struct holds what can be computed.

TEXT_OF(arm_name, etp_ab, i < doc->n_arms ? doc->arms[i].name : NULL)
TEXT_OF(model_path, etp_ab, i < doc->n_models ? doc->models[i].path : NULL)
// A number that stands for a text of this document: how many there are differs from answer to
// answer, so the schema lists none (0).
static const etp_words k_arm_name = {arm_name, 0}, k_model_path = {model_path, 0};

// Rows of a ledger that are no operator have ETP_CATEGORY_COUNT.
static const char *category_name(etp_category category)
{
    return category == ETP_CATEGORY_COUNT ? NULL : etp_category_name(category);
}
static const char *five_of(etp_category category)
{
    return etp_kit_category_name(etp_kit_category_of(category));
}
static const char *engaged_name(etp_engagement state)
{
    const char *word = etp_ab_engaged_word(state);
    return ETP_OR(word, "unknown");
}
// A session that ended for another reason has null here: what ended it is no rule.
static const char *stop_name(etp_run_stop stop)
{
    return stop == ETP_STOP_OTHER ? NULL : etp_run_stop_name(stop);
}
static const char *aligned_name(int by_nodes)
{
    return by_nodes ? "program" : "names";
}
WORDS(k_category_words, category_name, etp_category, ETP_CATEGORY_COUNT)
WORDS(k_five, five_of, etp_category, ETP_CATEGORY_COUNT)
WORDS(k_engaged, engaged_name, etp_engagement, ETP_ENGAGEMENTS)
WORDS(k_packed_cache_words, etp_packed_cache_name, etp_packed_cache, ETP_CACHE_STATES)
WORDS(k_stop, stop_name, etp_run_stop, ETP_STOP_BLOCKS + 1)
WORDS(k_aligned, aligned_name, int, 2)
SHARED_WORDS(k_etp_withheld_words, etp_withheld_name, etp_withheld, ETP_WITHHELD_COUNT)
SHARED_WORDS(k_etp_method_words, etp_ab_method_name, etp_ab_method, ETP_TRACED_MEANS + 1)
WORDS(k_row_kind, etp_row_kind_name, etp_row_kind, ETP_ROW_UNEXPLAINED + 1)
WORDS(k_reason, etp_reason_text, etp_reason, 0)
WORDS(k_reason_id, etp_reason_id, etp_reason, ETP_REASON_COUNT)
WORDS(k_roof_verdict, etp_roof_verdict_name, etp_roof_verdict, ETP_ROOF_VERDICTS)
WORDS(k_why, etp_why_name, etp_why, ETP_WHYS)
WORDS(k_hot_words, etp_bottleneck_kind_name, etp_bottleneck_kind, ETP_BOTTLENECK_KINDS)
WORDS(k_finding, etp_finding_id, etp_finding_kind, ETP_FINDING_COUNT)
SHARED_WORDS(k_etp_severity_words, etp_severity_name, etp_finding_severity, ETP_SEVERITY_BAD + 1)
WORDS(k_cause, etp_cause_id, etp_cause, ETP_CAUSE_COUNT)
WORDS(k_phase_kind, etp_phase_kind_name, etp_phase_kind, ETP_PHASE_KINDS)
SHARED_WORDS(k_etp_run_state_words, etp_run_state_name, etp_run_state, ETP_RUN_STATES)
WORDS(k_cause_state, etp_cause_state_name, etp_cause_state, ETP_CAUSE_STATES)
WORDS(k_samples_end, etp_samples_end_name, etp_samples_end, ETP_SAMPLES_ENDS)
WORDS(k_fix, etp_fix_id, etp_fix_kind, ETP_FIX_COUNT)

AXIS(k_arms_axis, etp_ab, doc->n_arms, doc->arms[i].name)
AXIS(k_device_axis, etp_ab, doc->n_device, doc->device[i].key)
AXIS(k_grade_axis, etp_ab, doc->judged.n_grade_facts, doc->judged.grade_facts[i].key)
LENGTH(k_comparisons_axis, etp_ab, doc->n_comparisons)

FIND(version, etp_ab, etp_ab, MAKE(text, ETP_VERSION))
FIND(device_fact, etp_ab, etp_ab, &doc->device[at->index].value)
FIND(grade_fact, etp_ab, etp_ab, &doc->judged.grade_facts[at->index].value)
// The grade is of the answer; each comparison repeats it, because tables have rows of comparisons
// alone.
FIND(grade, etp_ab_comparison, etp_ab, &doc->judged.grade)
FIND(confidence, etp_ab_comparison, etp_ab, MAKE(real, ETP_CONFIDENCE))
FIND(arm_counters, etp_ab_arm, etp_ab,
     etp_counters_arm_at(&doc->counters, (size_t)(it - doc->arms)))
// Factors of a withheld speedup would give the speedup away.
FIND(comparison_counters, etp_ab_comparison, etp_ab,
     it->withheld ? NULL : etp_counters_split_at(&doc->counters, (size_t)(it - doc->comparisons)))
FIND(operator_bytes, etp_row_facts, etp_ab,
     it->op.work.known && !it->op.work.bound ? &it->op.work.bytes : NULL)
FIND(aligned_by, etp_ab_operator, etp_ab, MAKE(maybe, it->by_nodes))
FIND(doubtful, etp_ab_operator, etp_ab, MAKE(yes, it->confidence < ETP_ALIGN_DOUBTFUL))
// Ledgers stand in the order of the comparisons.
FIND(ledger_baseline, etp_ledger, etp_ab,
     &doc->arms[doc->comparisons[it - doc->ledgers].baseline].name)
FIND(ledger_candidate, etp_ledger, etp_ab,
     &doc->arms[doc->comparisons[it - doc->ledgers].candidate].name)
FIND(shift_candidate, etp_ab_comparison, etp_ab, &doc->arms[it->candidate].name)
FIND(shift_before, etp_ab_comparison, etp_ab,
     isfinite(it->shift.before_share + it->shift.after_share)
         ? MAKE(text, etp_ab_part_name(it->shift.before))
         : NULL)
FIND(shift_after, etp_ab_comparison, etp_ab,
     isfinite(it->shift.before_share + it->shift.after_share)
         ? MAKE(text, etp_ab_part_name(it->shift.after))
         : NULL)
FIND(bottleneck_arm, uint32_t, etp_ab, &doc->arms[doc->bottleneck_arm].name)
FIND(hot_id, uint32_t, etp_ab, &doc->operators[*it].id)
FIND(hot_kind, uint32_t, etp_ab, &doc->operators[*it].bottleneck.kind)
FIND(hot_ns, uint32_t, etp_ab, &doc->operators[*it].ns[doc->bottleneck_arm])
FIND(hot_share, uint32_t, etp_ab, &doc->operators[*it].bottleneck.share)
// With the three times beside it exactly traced_ns.
FIND(rest_ns, etp_ab_arm, etp_ab,
     it->profile
         ? MAKE(integer, it->time_breakdown.framework_ns + it->time_breakdown.unexplained_ns)
         : NULL)
// On the scale of the headline: each operator's share of the traced inference, of the untraced one.
// Nothing can gain more than the inference it is part of, so gains and operators are told on one
// scale (docs/explain.md, *one scale*).
static const void *untraced_ns(const etp_json_cursor *at, etp_made *made)
{
    const etp_ab *ab = at->root;
    const etp_ab_arm *arm = &ab->arms[at->index];
    int64_t ns = ((const etp_ab_operator *)at->object)->ns[at->index];
    if (arm->median_ns <= 0 || arm->traced_ns <= 0 || ns == ETP_NS_UNKNOWN || ab->emulated) {
        return NULL;
    }
    return MAKE(integer, llround((double)ns * ((double)arm->median_ns / (double)arm->traced_ns)));
}

KNOWN(is_positive, double, *it > 0)
KNOWN(has_hook, etp_ab_arm,
      it->masking_cost.call_ns > 0) // not of bare recordings, runners of others
KNOWN(has_cache, etp_packed_cache, *it != ETP_CACHE_UNSAID)
KNOWN(has_loading, etp_ab_arm, it->load.n > 0)
KNOWN(has_memory, etp_memory_rows, it->code > 0)
KNOWN(has_stage, etp_memory_stage, it->rows.code > 0)
KNOWN(has_interval, etp_ab_arm, isfinite(it->hi_ns - it->lo_ns))
KNOWN(has_blocks, etp_paired, it->blocks > 0)
KNOWN(has_drift, etp_ab_arm, it->drift.known)
KNOWN(has_control, etp_ab_comparison, it->control_blocks > 0)
KNOWN(has_rows, etp_ledger, it->n > 0)
KNOWN(is_pair, etp_ledger_row, it->pair != ETP_NO_INDEX)
KNOWN(has_source, etp_ab_operator, it->source_file != NULL)
KNOWN(has_samples, etp_engage, it->sure > 0)
KNOWN(was_sampled, etp_ab_engagement, it->sampled > 0 || it->sampling)
KNOWN(is_ruled_out, etp_ab_cause, it->state == ETP_CAUSE_RULED_OUT)
KNOWN(is_not_ruled_out, etp_ab_cause, it->state != ETP_CAUSE_RULED_OUT)
// VALUE is the member that is written, not the arm: the arm is the object around it.
static bool has_profile(const void *value, const etp_json_cursor *at)
{
    (void)value;
    return ((const etp_ab_arm *)at->object)->profile != NULL;
}

// ---- the session ----

#define OF etp_ab
static const etp_field k_tool_rows[] = {
    COMPUTED("version", TEXT, version, "that wrote the document", .flags = ETP_SET),
    FIELD("measured_by", TEXT, tool_version, "version that measured; null: bare recordings"),
};
SHAPE_ON_ONE_LINE(k_etp_ab_tool, k_tool_rows);
static const etp_field k_device_rows[] = {
    FIELD("platform", TEXT, platform, "linux, mac or android"),
    FIELD("emulated", BOOL, emulated, "an emulator ran it: times mean nothing"),
    COMPUTED_PER(NULL, TEXT, device_fact, &k_device_axis,
                 "what else the device told: cpu, kernel, …"),
};
SHAPE(k_etp_ab_device, k_device_rows);
static const etp_field k_stop_rows[] = {
    FIELD("reason", WORD, stopped, "what ended the session; null: neither of these",
          .words = &k_stop),
    FIELD("precision", RATIO, precision, "asked for, relative", .when = is_positive),
};
SHAPE_ON_ONE_LINE(k_etp_ab_stop, k_stop_rows);
static const etp_field k_executorch_rows[] = {
    FIELD("version", TEXT, executorch_version, "of the runner's ExecuTorch"),
    FIELD("sha", TEXT, executorch_sha, "its git commit"),
};
static SHAPE_ON_ONE_LINE(k_executorch, k_executorch_rows);
#undef OF
#define OF etp_ab_model
static const etp_field k_model_rows[] = {
    FIELD("path", TEXT, path, "as recorded", .flags = ETP_SET),
    FIELD("sha256", TEXT, sha256, "of the file"),
};
static SHAPE_ON_ONE_LINE(k_model, k_model_rows);
#undef OF

// ---- arms ----

static bool is_true(const void *member, const etp_json_cursor *at)
{
    (void)at;
    return *(const bool *)member;
}

#define OF etp_ab_correctness
static const etp_field k_agreement_rows[] = {
    FIELD("ok", TRISTATE, ok, "within the tolerance; null: not compared"),
    FIELD("max_abs", RATIO, max_abs, "largest difference"),
    FIELD("max_rel", RATIO, max_rel, "largest relative difference"),
    FIELD("cosine", RATIO, cosine, "least cosine similarity", .range = ETP_SIGNED),
    FIELD("argmax", RATIO, argmax, "least share of rows whose largest element is the same",
          .range = ETP_0_TO_1, .flags = ETP_LATER),
    FIELD("not_finite", BOOL, not_finite, "an output is NaN or infinite in every place",
          .when = is_true, .flags = ETP_ABSENT | ETP_LATER),
    FIELD("constant", BOOL, constant,
          "no output of the reference varies, so that agreement proves nothing", .when = is_true,
          .flags = ETP_ABSENT | ETP_LATER),
    FIELD("not_deterministic", BOOL, random,
          "an arm's outputs differ from its own with the same inputs; no two arms were compared",
          .when = is_true, .flags = ETP_ABSENT | ETP_LATER),
};
SHAPE_ON_ONE_LINE(k_etp_ab_agreement, k_agreement_rows);
#undef OF

#define OF etp_paired
static const etp_field k_ratio_rows[] = {
    ESTIMATE("geometric mean over the blocks"),
    FIELD("blocks", UINT, blocks, "it rests on", .range = ETP_FROM_1),
};
static SHAPE_ON_ONE_LINE(k_ratio, k_ratio_rows);
static const etp_field k_judged_rows[] = {
    GROUP(NULL, &k_ratio, ""),
    FIELD("verdict", WORD, verdict, "of the candidate", .words = &k_etp_verdict_words),
};
static SHAPE_ON_ONE_LINE(k_judged, k_judged_rows);
#undef OF
#define OF etp_ab_arm
static const etp_field k_drift_rows[] = {
    FIELD("per_block", RATIO, drift.per_block, "relative change (Theil–Sen)", .range = ETP_SIGNED),
    FIELD("p", RATIO, drift.p, "of no trend (Mann–Kendall)", .range = ETP_0_TO_1),
    FIELD("with_temperature", RATIO, drift.with_temperature, "rank correlation over the blocks",
          .range = ETP_SIGNED),
    FIELD("with_clock", RATIO, drift.with_clock, "likewise", .range = ETP_SIGNED),
};
static SHAPE_ON_ONE_LINE(k_drift, k_drift_rows);
static const etp_field k_hook_rows[] = {
    FIELD("calls", RATIO, masking_cost.calls, "questions of the SDK in an inference",
          .flags = ETP_SET),
    FIELD("call_ns", RATIO, masking_cost.call_ns, "added to each", .flags = ETP_SET),
    FIELD("share", RATIO, masking_cost.share, "of the untraced median"),
};
static SHAPE(k_hook, k_hook_rows);
static const etp_field k_interval_rows[] = {
    FIELD("lo", ROUNDED, lo_ns, "at least"),
    FIELD("hi", ROUNDED, hi_ns, "at most"),
};
static SHAPE_ON_ONE_LINE(k_interval, k_interval_rows);
// The .def files are read twice, here and where Parquet and Arrow have their columns
// (document/ab_rows.h): a key cannot be in one and be missing in the other.
FIND(build_letter, etp_ab_arm, etp_ab, it->build ? etp_made_text(made, "%c", it->build) : NULL)
static const etp_field k_arm_rows[] = {
#include "document/ab_arm.def"
};
static SHAPE(k_arm, k_arm_rows);

// Of each arm, also one without a recording: its times are null then, its counts 0.
static const etp_field k_delegation_rows[] = {
    FIELD("arm", TEXT, name, "", .flags = ETP_SET),
    FIELD("delegated_ns", INT, time_breakdown.delegated_ns, "operators of delegates",
          .when = has_profile),
    FIELD("portable_ns", INT, time_breakdown.portable_ns, "kernels outside", .when = has_profile),
    FIELD("boundary_ns", INT, time_breakdown.boundary_ns, "delegate calls less their operators",
          .when = has_profile, .range = ETP_SIGNED),
    COMPUTED("rest_ns", NS, rest_ns, "framework, and what no rule explains", .range = ETP_SIGNED),
    FIELD("movement_ns", INT, time_breakdown.movement_ns, "part of the first two: data that moves",
          .when = has_profile),
    FIELD("operators", UINT, time_breakdown.delegated, "of delegates"),
    FIELD("kernels", UINT, time_breakdown.portable, "outside"),
    FIELD("calls", UINT, time_breakdown.calls, "of delegates"),
};
static SHAPE_ON_ONE_LINE(k_delegation, k_delegation_rows);
#undef OF

// ---- comparisons ----

#undef OF
#define OF etp_ab_comparison
#define END_ROWS(end)                                                                \
    FIELD("estimate", RATIO, sustained.ratio[end].estimate,                          \
          "baseline ÷ candidate; null below six blocks"),                            \
        FIELD("lo", RATIO, sustained.ratio[end].lo, "low end of its 95 % interval"), \
        FIELD("hi", RATIO, sustained.ratio[end].hi, "high end"),                     \
        FIELD("blocks", UINT, sustained.blocks[end], "that began in that minute"),   \
        FIELD("temperature_c", NUMBER, sustained.temperature_c[end],                 \
              "mean of the hottest thermal zone", .range = ETP_SIGNED),              \
        FIELD("clock_khz", NUMBER, sustained.clock_khz[end], "mean of the fastest CPU")
static const etp_field k_first_rows[] = {END_ROWS(0)}, k_last_rows[] = {END_ROWS(1)};
static SHAPE_ON_ONE_LINE(k_first, k_first_rows);
static SHAPE_ON_ONE_LINE(k_last, k_last_rows);
static const etp_field k_sustained_rows[] = {
    FIELD("seconds", NUMBER, sustained.seconds, "from the first block to the last",
          .flags = ETP_SET),
    GROUP("first", &k_first, "minute of the session"),
    GROUP("last", &k_last, "minute of the session"),
    FIELD("changed", BOOL, sustained.changed, "the two intervals do not meet"),
    FIELD("turned", BOOL, sustained.turned, "the faster arm became the slower one"),
};
static SHAPE(k_sustained, k_sustained_rows);
KNOWN(is_long, etp_ab_comparison, it->sustained.seconds > 0)
static const etp_field k_speedup_rows[] = {
    ESTIMATE("baseline ÷ candidate; null when withheld or unknown"),
    COMPUTED("confidence", RATIO, confidence, "of the interval", .range = ETP_ABOVE_0_TO_1,
             .flags = ETP_SET),
    FIELD("blocks", UINT, blocks, "it rests on"),
    FIELD("method", WORD, method, "how it was computed", .words = &k_etp_method_words),
    // No column: how sure it is, in one more way.
    FIELD("widening", RATIO, widening,
          "of the interval: looked at during the session, or measured on a virtual machine",
          .range = ETP_FROM_1, .flags = ETP_SET | ETP_NO_COLUMN),
};
static SHAPE_ON_ONE_LINE(k_speedup, k_speedup_rows);
static const etp_field k_within_rows[] = {
    FIELD("baseline", WORD, baseline, "an arm", .words = &k_arm_name),
    FIELD("candidate", WORD, candidate, "another", .words = &k_arm_name),
    GROUP("speedup", &k_speedup, "as in comparisons"),
    FIELD("verdict", WORD, verdict, "of the candidate", .words = &k_etp_verdict_words),
    FIELD("withheld", WORD, withheld, "why no figure is given", .words = &k_etp_withheld_words),
};
static SHAPE_ON_ONE_LINE(k_within, k_within_rows);
// The interval of two equal arms, as every document has it (document/document.h).
static const etp_field k_control_rows[] = {
    ETP_CONTROL_ROWS,
};
static SHAPE_ON_ONE_LINE(k_control, k_control_rows);
static const etp_field k_states_rows[] = {
    FIELD("load", OBJECT, costs[ETP_COST_LOAD], "ratio of loading times", .shape = &k_judged,
          .when = has_blocks),
    FIELD("cold_load", OBJECT, costs[ETP_COST_COLD_LOAD], "of loading with a cold page cache",
          .shape = &k_judged, .when = has_blocks, .flags = ETP_LATER),
    FIELD("first", OBJECT, costs[ETP_COST_FIRST], "of first inferences", .shape = &k_judged,
          .when = has_blocks),
    FIELD("peak_rss", OBJECT, costs[ETP_COST_PEAK], "of peak memory", .shape = &k_judged,
          .when = has_blocks),
    FIELD("dirty", OBJECT, costs[ETP_COST_DIRTY], "of dirty memory", .shape = &k_judged,
          .when = has_blocks, .flags = ETP_LATER),
    FIELD("clean", OBJECT, costs[ETP_COST_CLEAN], "of clean memory", .shape = &k_judged,
          .when = has_blocks, .flags = ETP_LATER),
    COMPUTED("counters", OBJECT, comparison_counters, "the speedup as work, clock and waiting",
             .shape = &k_etp_counters_split),
};
SHAPE(k_etp_ab_extra_ratios, k_states_rows);
static const etp_field k_comparison_rows[] = {
#include "document/ab_comparison.def"
};
SHAPE(k_etp_ab_comparison, k_comparison_rows);
#undef OF

// ---- ledgers ----

#define OF etp_ledger_row
// Only of operators: a sum (boundary, framework) has no clock of its own.
static const etp_field k_cut_rows[] = {
    FIELD("baseline_cut_ns", INT, truncation_ns[0], "most that the clocks can have cut off"),
    FIELD("candidate_cut_ns", INT, truncation_ns[1], "likewise"),
};
static SHAPE(k_cut, k_cut_rows);
static const etp_field k_row_rows[] = {
    FIELD("id", TEXT, id, "that of the operator, where it is one", .flags = ETP_SET),
    FIELD("label", TEXT, label, "for people", .flags = ETP_SET),
    FIELD("kind", WORD, kind, "`one_sided`: the other side did not log it", .words = &k_row_kind),
    FIELD("category", WORD, category, "null: no operator", .words = &k_category_words,
          .flags = ETP_MAX_IS_NULL),
    FIELD("baseline_ns", INT, baseline_ns, "in the baseline", .range = ETP_SIGNED),
    FIELD("candidate_ns", INT, candidate_ns, "in the candidate", .range = ETP_SIGNED),
    FIELD("delta_ns", INT, delta_ns, "candidate − baseline", .range = ETP_SIGNED),
    FIELD("lo_ns", NS, lo_ns, "low end of its 95 % interval over the blocks", .range = ETP_SIGNED),
    FIELD("hi_ns", NS, hi_ns, "high end", .range = ETP_SIGNED),
    FIELD("ratio_lo", RATIO, ratio_lo, "low end of the interval of baseline ÷ candidate",
          .range = ETP_SIGNED),
    FIELD("ratio_hi", RATIO, ratio_hi, "high end", .range = ETP_SIGNED),
    FIELD("q", RATIO, q, "of no difference, over the ledger's operators (Benjamini–Hochberg)",
          .range = ETP_0_TO_1),
    FIELD("each_longer", BOOL, each_longer,
          "without blocks: each iteration of the candidate is longer than each of the baseline"),
    FIELD("bound_ns", NS, bound_ns, "most that truncated clocks can have moved here",
          .range = ETP_SIGNED),
    GROUP(NULL, &k_cut, "", .when = is_pair, .flags = ETP_ABSENT),
};
static SHAPE_ON_ONE_LINE(k_row, k_row_rows);
#undef OF
#define OF etp_ledger
static const etp_field k_ledger_rows[] = {
    COMPUTED("baseline", TEXT, ledger_baseline, "an arm", .flags = ETP_SET),
    COMPUTED("candidate", TEXT, ledger_candidate, "another", .flags = ETP_SET),
    FIELD("baseline_ns", INT, baseline_ns, "sum of the rows, exactly", .range = ETP_SIGNED),
    FIELD("candidate_ns", INT, candidate_ns, "likewise", .range = ETP_SIGNED),
    FIELD("delta_ns", INT, delta_ns, "likewise", .range = ETP_SIGNED),
    LIST("rows", OBJECT, items, n, "from one time to the other", .shape = &k_row),
};
static SHAPE(k_ledger, k_ledger_rows);
#undef OF

// ---- categories and operators ----

#define OF etp_ab_category
static const etp_field k_category_arm_rows[] = {
    AT("ns", NS, ns, "in an inference; null without a recording"),
    AT("cut_ns", NS, truncation_ns, "most that the clocks can have cut off"),
    AT("share", RATIO, share, "of traced_ns"),
    AT("share_most", RATIO, most,
       "with time that may be of the category too: not logged, or of operators of a delegate whose "
       "names are not understood"),
    AT("ceiling", RATIO, ceiling, "speedup of the whole if this took no time (Amdahl)"),
};
static SHAPE_ON_ONE_LINE(k_category_arm, k_category_arm_rows);
static const etp_field k_category_rows[] = {
    FIELD("category", WORD, category, "of operators", .words = &k_category_words),
    FIELD("five", WORD, category, "the kit's category", .words = &k_five),
    GROUP_PER("arms", &k_arms_axis, &k_category_arm, "by arm"),
    PER("speedup", RATIO, speedup, &k_comparisons_axis,
        "by comparison; null also below what the clocks resolve", .flags = ETP_ONE_LINE),
    PER("speedup_lo", RATIO, lo, &k_comparisons_axis, "low end of its 95 % interval",
        .flags = ETP_ONE_LINE),
    PER("speedup_hi", RATIO, hi, &k_comparisons_axis, "high end", .flags = ETP_ONE_LINE),
};
static SHAPE(k_category_shape, k_category_rows);
#undef OF

// Not a row of the table: the keys are names of arms, and a value is the list of all rows that an
// arm needed for the work.
static void write_names(etp_json *j, const etp_json_cursor *at)
{
    const etp_ab *ab = at->root;
    const etp_ab_operator *op = at->object;
    etp_json_begin_object_inline(j);
    for (size_t a = 0; a < ab->n_arms; a++) {
        etp_json_key(j, ab->arms[a].name);
        etp_json_begin_array_inline(j);
        if (op->names[a].len) {
            etp_json_str(j, op->names[a]);
        }
        for (size_t k = 0; k < op->merged[a].n; k++) {
            etp_json_str(j, op->merged[a].items[k]->name);
        }
        etp_json_end(j);
    }
    etp_json_end(j);
}

#define OF etp_engage
static const etp_field k_samples_rows[] = {
    FIELD("samples", UINT, sure, "program counters inside it"),
    FIELD("samples_on", UINT, on, "those in the feature's code"),
};
static SHAPE(k_samples, k_samples_rows);
static const etp_field k_engage_rows[] = {
    FIELD("state", WORD, state, "on the feature that is compared", .words = &k_engaged),
    FIELD("evidence", TEXT, evidence, "what the state rests on"),
    // No column: the words of reason_id.
    FIELD("reason", WORD, reason, "why not, or why it is not known", .words = &k_reason,
          .flags = ETP_ZERO | ETP_NO_COLUMN),
    FIELD("reason_id", WORD, reason, "the same as an id", .words = &k_reason_id),
    // No column: what the state rests on.
    GROUP(NULL, &k_samples, "", .when = has_samples, .flags = ETP_ABSENT | ETP_NO_COLUMN),
};
static SHAPE_ON_ONE_LINE(k_engage, k_engage_rows);
#undef OF
#define OF etp_row_facts
static const etp_field k_facts_rows[] = {
    FIELD("node_type", STR, op.node_type, "of the delegate's node", .flags = ETP_EMPTY),
    LIST("nodes", UINT, nodes, n_nodes, "whose work it did", // no column: a list
         .flags = ETP_ONE_LINE | ETP_NO_COLUMN),
    FIELD(NULL, OBJECT, op, "", .shape = &k_etp_op_tensors),
    COMPUTED("bytes", UINT, operator_bytes, "operands, weights and results"),
};
static SHAPE(k_facts, k_facts_rows);
#undef OF
// A roof that an operator was not held against is not told.
// The members are asked by value, which is a double; what decides is the verdict beside it.
static bool has_verdict(const void *value, const etp_json_cursor *at)
{
    (void)value;
    return ((const etp_roof_place *)at->object)->verdict != ETP_ROOF_UNKNOWN;
}

#define OF etp_roof_place
static const etp_field k_roof_rows[] = {
    FIELD("roof_ns", ROUNDED, roof_ns, "the larger of the next two", .when = has_verdict),
    FIELD("compute_ns", ROUNDED, compute_ns, "least time of the arithmetic", .when = has_verdict),
    FIELD("memory_ns", ROUNDED, memory_ns, "of the memory traffic", .when = has_verdict),
    FIELD("overhead_ns", ROUNDED, overhead_ns, "fixed costs of its calls", .when = has_verdict),
    FIELD("efficiency", RATIO, efficiency, "roof_ns ÷ time"),
    FIELD("isa", TEXT, isa, "of the arithmetic's roof"),
    FIELD("verdict", WORD, verdict, "null: no roof for it", .words = &k_roof_verdict),
    FIELD("missing", TEXT, missing, "why there is none"),
};
static SHAPE_ON_ONE_LINE(k_roof, k_roof_rows);
#undef OF
#define OF etp_ab_operator
static const etp_field k_source_rows[] = {
    FIELD("file", TEXT, source_file, "of the model", .flags = ETP_SET),
    FIELD("line", UINT, source_line, ""),
    FIELD("module", TEXT, module, ""),
};
static SHAPE_ON_ONE_LINE(k_source, k_source_rows);
static const etp_field k_operator_roofs_rows[] = {
    PER("roof", OBJECT, roofs, &k_arms_axis, "below the roofs of the device", .shape = &k_roof,
        .flags = ETP_ABSENT),
};
SHAPE(k_etp_ab_operator_roofs, k_operator_roofs_rows);
static const etp_field k_operator_rows[] = {
#include "document/ab_operator.def"
};
static SHAPE(k_operator, k_operator_rows);
#undef OF

// ---- bottlenecks, engagement ----

#define OF etp_ab_comparison
#define SHARE(key, member, what) FIELD(key, RATIO, member, what, .range = ETP_0_TO_1)
static const etp_field k_shift_rows[] = {
    COMPUTED("candidate", TEXT, shift_candidate, "an arm", .flags = ETP_SET),
    COMPUTED("before", TEXT, shift_before, "largest part of the baseline"),
    COMPUTED("after", TEXT, shift_after, "largest part of the candidate"),
    FIELD(
        "moved", BOOL, shift.moved,
        "false with two names: as good as equal in one of the arms, or nothing is told of the two"),
    SHARE("before_share", shift.before_share, "of the baseline"),
    SHARE("after_share", shift.after_share, "of the candidate"),
    SHARE("before_is", shift.before_is, "share of `before` in the candidate"),
    SHARE("after_was", shift.after_was, "share of `after` in the baseline"),
    SHARE("portable_before", shift.portable_before, "kernels outside delegates"),
    SHARE("portable_after", shift.portable_after, "likewise"),
};
static SHAPE_ON_ONE_LINE(k_shift, k_shift_rows);
#undef OF
#define OF uint32_t
static const etp_field k_hot_rows[] = {
    COMPUTED("operator", TEXT, hot_id, "its id", .flags = ETP_SET),
    COMPUTED("arm", TEXT, bottleneck_arm, "that runs now", .flags = ETP_SET),
    COMPUTED("why", WORD, hot_kind, "it is worth a look", .words = &k_hot_words, .flags = ETP_SET),
    COMPUTED("ns", NS, hot_ns, "in that arm"),
    COMPUTED("share", RATIO, hot_share, "of Method::execute", .range = ETP_0_TO_1),
};
static SHAPE_ON_ONE_LINE(k_hot, k_hot_rows);
#undef OF
#define OF etp_reason
FIND(off_reason, etp_reason, etp_ab, it)
FIND(off_operators, etp_reason, etp_ab, MAKE(number, doc->engagement.off_for[*it].operators))
FIND(off_ns, etp_reason, etp_ab, &doc->engagement.off_for[*it].ns)
static const etp_field k_off_rows[] = {
    COMPUTED("reason_id", WORD, off_reason, "", .words = &k_reason_id),
    COMPUTED("reason", WORD, off_reason, "in words", .words = &k_reason, .flags = ETP_ZERO),
    COMPUTED("operators", UINT, off_operators, "that stayed off for it", .flags = ETP_SET),
    COMPUTED("ns", INT, off_ns, "their time in the candidate", .flags = ETP_SET),
};
static SHAPE_ON_ONE_LINE(k_off, k_off_rows);
#undef OF
#define OF etp_ab_engagement
static const etp_field k_sampling_rows[] = {
    FIELD("launches", UINT, sampled, "that sampled the arm"),
    FIELD("ended", WORD, sampling, "why there were no more, or none", .words = &k_samples_end),
};
static SHAPE_ON_ONE_LINE(k_sampling, k_sampling_rows);
static const etp_field k_engagement_rows[] = {
    FIELD("feature", TEXT, feature_name, "null: nothing is compared"),
    FIELD("arm", WORD, arm, "that is judged", .words = &k_arm_name, .flags = ETP_MAX_IS_NULL),
    FIELD("eligible", UINT, eligible, "operators that could be on it"),
    FIELD("engaged", UINT, engaged, "operators on it"),
    FIELD("row_kernel", UINT, row_kernels, "of these: one row, which keeps the unit mostly idle"),
    FIELD("not", UINT, off, "operators that stayed off"),
    FIELD("unknown", UINT, unknown, "operators of which nothing tells"),
    SHARE("macs_share", macs_share, "of all eligible MACs, on it"),
    SHARE("time_share", time_share, "of all eligible time, on it"),
    SHARE("macs_lo", macs_lo, "at least"),
    SHARE("macs_hi", macs_hi, "at most"),
    SHARE("macs_known", macs_known, "of all eligible MACs, known"),
    SHARE("time_lo", time_lo, "at least"),
    SHARE("time_hi", time_hi, "at most"),
    SHARE("time_known", time_known, "of all eligible time, known"),
    GROUP("sampling", &k_sampling, "of program counters", .when = was_sampled, .flags = ETP_ABSENT),
    ARRAY("reasons", OBJECT, reasons, n_reasons, "of those that stayed off, longest first",
          .shape = &k_off),
};
static SHAPE(k_engagement, k_engagement_rows);
#undef OF

// ---- findings, causes, fixes ----

#define OF etp_ab_finding
static const etp_field k_finding_rows[] = {
    FIELD("id", TEXT, id, "F1, F2, …", .flags = ETP_SET),
    FIELD("kind", WORD, kind, "what it is about", .words = &k_finding),
    FIELD("severity", WORD, severity, "", .words = &k_etp_severity_words),
    FIELD("text", TEXT, text, "for people", .flags = ETP_SET),
    LIST("evidence", TEXT, evidence, n_evidence, "ids of rows, operators, arms, comparisons",
         .flags = ETP_ONE_LINE),
    FIELD("formula", TEXT, formula, "how its figures come about"),
};
static SHAPE(k_finding_shape, k_finding_rows);
#undef OF
#define OF etp_ab_cause
static const etp_field k_ruled_out_rows[] = {
    FIELD("id", WORD, cause, "", .words = &k_cause),
    FIELD("text", TEXT, text, "what rules it out", .flags = ETP_SET),
};
static SHAPE_ON_ONE_LINE(k_ruled_out, k_ruled_out_rows);
static const etp_field k_cause_rows[] = {
    FIELD("id", WORD, cause, "", .words = &k_cause),
    FIELD("state", WORD, state, "", .words = &k_cause_state),
    FIELD("text", TEXT, text, "what suggests it, or why it is unknown", .flags = ETP_SET),
};
static SHAPE_ON_ONE_LINE(k_cause_shape, k_cause_rows);
#undef OF
#define OF etp_ab_fix
static const etp_field k_gain_rows[] = {
    FIELD("lo", INT, lo_ns, "at least", .range = ETP_SIGNED),
    FIELD("expected", NS, expected_ns, "likely", .range = ETP_SIGNED),
    FIELD("hi", INT, hi_ns, "at most", .range = ETP_SIGNED),
};
static SHAPE_ON_ONE_LINE(k_gain, k_gain_rows);
KNOWN(was_asked, int64_t, *it >= 0)
static const etp_field k_fix_rows[] = {
#include "document/ab_fix.def"
};
static SHAPE(k_fix_shape, k_fix_rows);
#undef OF
#define OF etp_run_lost
FIND(lost_arm, etp_run_lost, etp_ab, &doc->arms[it->arm].name)
FIND(lost_text, etp_run_lost, etp_ab, &doc->lost_texts[it - doc->lost])
static const etp_field k_lost_rows[] = {
    COMPUTED("arm", TEXT, lost_arm, "", .flags = ETP_SET),
    FIELD("block", UINT, block, "0: the pilot"),
    FIELD("recovered", BOOL, recovered, "a later try succeeded"),
    COMPUTED("text", TEXT, lost_text, "why it gave nothing"),
};
static SHAPE_ON_ONE_LINE(k_lost, k_lost_rows);
#undef OF

// ---- phases ----

// What a function writes cannot be described by rows, so its schema is written by hand beside it.
#define ETP_RATES_SCHEMA                                                     \
    "{\"type\": \"array\", \"items\": {\"type\": \"object\", "               \
    "\"required\": [\"name\", \"level\", \"median_ns\", \"tokens_per_s\"], " \
    "\"properties\": {\"name\": {\"type\": \"string\"}, "                    \
    "\"level\": {\"type\": [\"string\", \"null\"]}, "                        \
    "\"median_ns\": {\"type\": [\"integer\", \"null\"]}, "                   \
    "\"tokens_per_s\": {\"type\": [\"number\", \"null\"], \"minimum\": 0}}}}"

// A document of a session without phases looks as it did before there were any.
KNOWN(has_phases, etp_ab, it->n_phases > 0)

static const etp_ab *answer_of(const etp_json_cursor *phase)
{
    const etp_ab *ab = phase->root;
    return etp_ab_answer_at(ab, (size_t)((const etp_run_phase *)phase->object - ab->phased));
}

static void write_rates(etp_json *j, const etp_json_cursor *at)
{
    const etp_ab *ab = answer_of(at);
    etp_json_begin_array(j);
    for (uint32_t i = 0; i < ab->n_arms; i++) {
        int64_t ns = ab->arms[i].median_ns;
        etp_json_begin_object_inline(j);
        etp_json_kv_z(j, "name", ab->arms[i].name);
        etp_json_kv_z(j, "level", ab->arms[i].level_name);
        etp_json_key(j, "median_ns");
        if (ns == ETP_NS_UNKNOWN) {
            etp_json_null(j);
        } else {
            etp_json_i64(j, ns);
        }
        etp_json_kv_ratio(j, "tokens_per_s", etp_ab_token_rate(ab, i));
        etp_json_end(j);
    }
    etp_json_end(j);
}

// The first phase is the document itself: written again inside, it would never end.
static void write_phase(etp_json *j, const etp_json_cursor *at)
{
    const etp_ab *ab = answer_of(at);
    if (ab == at->root) {
        etp_json_null(j);
        return;
    }
    etp_document_write(j, &k_etp_ab_document, ab, ab);
}

// ---- the document ----

#define OF etp_ab
static const etp_field k_findings_rows[] = {
    VECTOR("findings", OBJECT, judged.findings, "what stands out, with its evidence",
           .shape = &k_finding_shape),
    ARRAY("ruled_out", OBJECT, judged.causes, judged.n_causes, "what did not make the difference",
          .shape = &k_ruled_out, .when = is_ruled_out),
    ARRAY("not_ruled_out", OBJECT, judged.causes, judged.n_causes, "what could have made it",
          .shape = &k_cause_shape, .when = is_not_ruled_out),
};
SHAPE(k_etp_ab_findings, k_findings_rows);
#undef OF
#define OF etp_run_phase
static const etp_field k_phase_rows[] = {
    FIELD("name", STR, name, "prefill 64, decode @256", .flags = ETP_SET),
    FIELD("kind", WORD, kind, "what the calls are", .words = &k_phase_kind),
    FIELD("tokens", UINT, tokens, "of an iteration, which is one call; 0: no text"),
    FIELD("depth", UINT, depth, "tokens in the cache before"),
    FIELD("prompt", UINT, prompt, "tokens of the prompt that it is a chunk of; 0: none"),
    FIELD("calls", UINT, calls, "of a repetition"),
    FIELD("clock_ns", UINT, clock_ns,
          "step of the clock that a runner of others timed a call with; absent: nanoseconds",
          .flags = ETP_ABSENT | ETP_ZERO | ETP_LATER),
    WRITTEN("arms", write_rates, ETP_RATES_SCHEMA, "their times, and tokens a second"),
    WRITTEN("document", write_phase,
            "{\"oneOf\": [{\"type\": \"null\"}, {\"$ref\": \"ab.schema.json\"}]}",
            "its etprof.ab/1; null of the first, which this document is about"),
};
static SHAPE(k_phase, k_phase_rows);
#undef OF
#define OF etp_ab
static const etp_field k_phases_rows[] = {
    LIST("phases", OBJECT, phased, n_phases, "of the session; absent without", .shape = &k_phase,
         .flags = ETP_LATER),
    WRITTEN("first_tokens", etp_ab_first_tokens_write, ETP_FIRST_TOKENS_SCHEMA,
            "of each prompt: the sum over its chunks", .flags = ETP_LATER),
};
static SHAPE(k_phases, k_phases_rows);
static const etp_field k_ab_rows[] = {
    GROUP("tool", &k_etp_ab_tool, "versions of etprof"),
    LIST("models", OBJECT, models, n_models, "that were measured", .shape = &k_model),
    GROUP("device", &k_etp_ab_device, "that ran them"),
    GROUP("executorch", &k_executorch, "that ran them"),
    FIELD("grade", TEXT, judged.grade, "A to D: how much the arms have in common",
          .flags = ETP_SET),
    FIELD("grade_reason", TEXT, judged.grade_reason, "why not A"),
    COMPUTED_PER("grade_facts", TEXT, grade_fact, &k_grade_axis, "what the arms have in common",
                 .flags = ETP_ONE_LINE),
    FIELD("state", WORD, state, "of the session; null: bare recordings",
          .words = &k_etp_run_state_words),
    GROUP("stop", &k_etp_ab_stop, "of the session"),
    LIST("arms", OBJECT, arms, n_arms, "what was measured against each other", .shape = &k_arm),
    LIST("comparisons", OBJECT, comparisons, n_comparisons, "each other arm against the baseline",
         .shape = &k_etp_ab_comparison),
    LIST("within", OBJECT, within, n_within,
         "of several models or thread counts each level within them, where comparisons have no "
         "such pair",
         .shape = &k_within, .flags = ETP_ABSENT),
    LIST("ledgers", OBJECT, ledgers, n_comparisons, "likewise, of arms with recordings",
         .shape = &k_ledger, .when = has_rows),
    LIST("categories", OBJECT, categories, n_categories, "those that occur",
         .shape = &k_category_shape),
    LIST("operators", OBJECT, operators, n_operators, "in the order of the program",
         .shape = &k_operator),
    FIELD("program_problem", TEXT, program_problem, "why operators are not joined to a program",
          .flags = ETP_LATER),
    LIST("bottlenecks", OBJECT, comparisons, n_comparisons, "where it was and is, by comparison",
         .shape = &k_shift),
    VECTOR("hot_operators", OBJECT, bottlenecks, "with more than 5 % of an inference",
           .shape = &k_hot),
    LIST("delegation", OBJECT, arms, n_arms, "where each arm's traced_ns went",
         .shape = &k_delegation),
    FIELD("engagement", OBJECT, engagement, "of the candidate of the first comparison",
          .shape = &k_engagement),
    GROUP(NULL, &k_etp_ab_findings, ""),
    VECTOR("next_fixes", OBJECT, fixes, "what to change, likely ones first", .shape = &k_fix_shape),
    GROUP(NULL, &k_etp_ab_load_fixes, "", .when = etp_ab_has_load_fixes, .flags = ETP_ABSENT),
    FIELD("correctness", OBJECT, correctness, "outputs of the arms against each other",
          .shape = &k_etp_ab_agreement),
    LIST("lost", OBJECT, lost, n_lost, "launches that gave nothing", .shape = &k_lost),
    GROUP("environment", &k_etp_ab_environment, "what surrounded the blocks"),
    FIELD("phase", TEXT, phase, "that this is about; absent without phases",
          .flags = ETP_ABSENT | ETP_LATER),
    GROUP(NULL, &k_phases, "", .when = has_phases, .flags = ETP_ABSENT),
};
static SHAPE(k_ab, k_ab_rows);
#undef OF
const etp_document k_etp_ab_document = {
    "etprof.ab/1", "report.json and what ab, run, analyze, compare print", &k_ab};
