// SPDX-License-Identifier: Apache-2.0
// Statistics of anybody's samples as a document and as a report.
#include "study/stats/stats.h"

#include <math.h>

#include "base/number.h"
#include "document/document.h"
#include "show/counters.h"
#include "show/report.h"

// Launch by launch without blocks: kept apart by name, and never a verdict.
static bool is_unpaired(const etp_stats_comparison *c)
{
    return c && c->paired.blocks == 0 && isfinite(c->unpaired.p);
}

static etp_interval ratio_of(const etp_stats_comparison *c)
{
    if (is_unpaired(c)) {
        return (etp_interval){exp(c->unpaired.shift), exp(c->unpaired.lo), exp(c->unpaired.hi)};
    }
    return (etp_interval){c->paired.estimate, c->paired.lo, c->paired.hi};
}

// Why the figures of comparison C are not given.
static etp_withheld stats_withheld(const etp_stats_answer *answer, const etp_stats_comparison *c)
{
    etp_withheld why = c && answer->withheld ? answer->withheld[c->candidate] : ETP_WITHHELD_NOT;
    return why != ETP_WITHHELD_NOT         ? why
           : answer->stats.control_differs ? ETP_WITHHELD_NOISE_FLOOR
                                           : ETP_WITHHELD_NOT;
}

// ---- document ----

static void speedup_json(const etp_stats_answer *a, const etp_stats_comparison *c, etp_json *j)
{
    bool hidden = stats_withheld(a, c) != ETP_WITHHELD_NOT;
    etp_interval ratio = {(double)NAN, (double)NAN, (double)NAN};
    if (c && !hidden) {
        ratio = ratio_of(c);
    }
    etp_speedup_member(
        j, "speedup",
        &(etp_speedup_facts){
            ratio.estimate, ratio.lo, ratio.hi, a->stats.confidence, c ? c->paired.blocks : 0,
            etp_ab_method_name(is_unpaired(c) ? ETP_UNPAIRED_LAUNCHES : ETP_PAIRED_BLOCKS),
            c ? c->paired.widening : 1});
}

static void flags_json(unsigned flags, etp_json *j)
{
    etp_json_key(j, "flags");
    etp_json_begin_array_inline(j);
    for (unsigned bit = 1; bit <= ETP_FLAG_DRIFT; bit <<= 1) {
        if (flags & bit) {
            etp_json_z(j, etp_stats_flag_name(bit));
        }
    }
    etp_json_end(j);
}

// The members of one comparison; C is NULL when there is only one experiment.
static void comparison_json(const etp_stats_answer *a, const etp_stats_comparison *c, etp_json *j)
{
    etp_withheld withheld = stats_withheld(a, c);
    etp_json_kv_str(j, "baseline", a->names[a->stats.baseline]);
    etp_json_key(j, "candidate");
    if (c) {
        etp_json_str(j, a->names[c->candidate]);
    } else {
        etp_json_null(j);
    }
    speedup_json(a, c, j);
    etp_json_kv_ratio(j, "sign_flip_p", c && !withheld ? c->paired.sign_flip_p : (double)NAN);
    etp_json_kv_ratio(j, "wilcoxon_p", c && !withheld ? c->wilcoxon_p : (double)NAN);
    etp_json_kv_z(j, "verdict",
                  etp_verdict_name(c && !withheld ? c->paired.verdict : ETP_VERDICT_UNKNOWN));
    etp_json_kv_ratio(j, "margin", a->stats.margin);
    etp_json_kv_ratio(j, "noise_floor", a->stats.noise_floor);
    etp_json_kv_z(j, "withheld", etp_withheld_name(withheld));
    etp_json_key(j, "more_blocks");
    if (c && !withheld && c->more_blocks != UINT32_MAX) {
        etp_json_u64(j, c->more_blocks);
    } else {
        etp_json_null(j);
    }
    if (is_unpaired(c) && !withheld) {
        etp_json_kv_ratio(j, "mann_whitney_p", c->unpaired.p);
        etp_json_kv_ratio(j, "cliffs_delta", c->unpaired.cliffs_delta);
    }
    flags_json(c ? c->flags : 0, j);
    etp_object_member(j, "counters", &k_etp_counters_split,
                      withheld || !c
                          ? NULL
                          : etp_counters_split_at(&a->counters, (size_t)(c - a->stats.comparisons)),
                      a);
}

static void ns_json(etp_json *j, const char *key, int64_t ns)
{
    etp_json_kv_i64_if(j, key, ns, ns >= 0);
}

static void slow_json(const etp_stats_answer *a, uint32_t arm, etp_json *j)
{
    static const char *const k_keys[ETP_SLOW_CAUSES] = {
        "waited", "storage", "clock", "migrated", "interrupted", "unexplained", "no_record",
    };
    etp_json_key(j, "slow_iterations");
    if (!a->slow) {
        etp_json_null(j);
        return;
    }
    etp_json_begin_object_inline(j);
    for (size_t i = 0; i < ETP_SLOW_CAUSES; i++) {
        etp_json_kv_u64(j, k_keys[i], a->slow[arm][i]);
    }
    etp_json_end(j);
}

static void link_json(const char *key, const struct etp_stats_link *link, etp_json *j)
{
    etp_json_key(j, key);
    if (link->n == 0) {
        etp_json_null(j);
        return;
    }
    etp_json_begin_object_inline(j);
    etp_json_kv_ratio(j, "rho", link->rho);
    etp_json_kv_ratio(j, "p", link->p);
    etp_json_kv_u64(j, "blocks", link->n);
    etp_json_end(j);
}

static void arm_json(const etp_stats_answer *a, uint32_t i, etp_json *j)
{
    const etp_stats_arm *arm = &a->stats.arms[i];
    etp_json_begin_object_inline(j);
    etp_json_kv_str(j, "name", a->names[i]);
    etp_json_kv_u64(j, "launches", arm->launches);
    etp_json_kv_u64(j, "iterations", arm->iterations);
    etp_json_kv_u64(j, "warmup_dropped", arm->warmup_dropped);
    ns_json(j, "median_ns", arm->median_ns);
    etp_json_kv_u64(j, "launches_warmup", arm->warmups);
    etp_json_kv_u64(j, "launches_slowdown", arm->slowdowns);
    etp_json_kv_ratio(j, "tail_share", arm->tail_share);
    etp_json_kv_ratio(j, "drift_per_block", arm->drift_per_block);
    etp_json_kv_ratio(j, "drift_p", arm->drift_p);
    flags_json(arm->flags, j);
    slow_json(a, i, j);
    etp_object_member(j, "counters", &k_etp_counters_arm, etp_counters_arm_at(&a->counters, i), a);
    etp_json_key(j, "quantiles");
    etp_json_begin_array(j);
    for (size_t k = 0; k < ETP_TAIL_QUANTILES; k++) {
        etp_json_begin_object_inline(j);
        etp_json_kv_ratio(j, "q", arm->quantiles[k].q);
        ns_json(j, "ns", arm->quantiles[k].ns);
        ns_json(j, "lo_ns", arm->quantiles[k].lo_ns);
        ns_json(j, "hi_ns", arm->quantiles[k].hi_ns);
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_end(j);
}

void etp_stats_json(const void *data, etp_json *j)
{
    const etp_stats_answer *a = data;
    const etp_stats *s = &a->stats;
    etp_json_begin_object(j);
    etp_json_kv_z(j, "schema", "etprof.stats/1");
    comparison_json(a, s->n_comparisons > 0 ? &s->comparisons[0] : NULL, j);
    etp_json_kv_u64(j, "blocks", s->blocks);
    etp_json_kv_u64(j, "blocks_dropped", s->blocks_dropped);
    etp_control_member(j, &s->control, s->control_blocks);
    etp_json_key(j, "drift");
    etp_json_begin_object_inline(j);
    etp_json_kv_ratio(j, "per_block", s->drift_per_block);
    etp_json_kv_ratio(j, "p", s->drift_p);
    link_json("temperature", &a->temperature, j);
    link_json("clock", &a->clock, j);
    etp_json_end(j);
    etp_json_key(j, "arms");
    etp_json_begin_array(j);
    for (uint32_t i = 0; i < s->n_arms; i++) {
        arm_json(a, i, j);
    }
    etp_json_end(j);
    etp_json_key(j, "comparisons");
    etp_json_begin_array(j);
    for (uint32_t i = 0; i < s->n_comparisons; i++) {
        etp_json_begin_object(j);
        comparison_json(a, &s->comparisons[i], j);
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_end(j);
    etp_json_end_document(j);
}

// ---- report ----

static const char *verdict_text(const etp_stats_answer *a, const etp_stats_comparison *c,
                                etp_arena *arena)
{
    const etp_paired *p = &c->paired;
    if (stats_withheld(a, c)) {
        return a->withheld ? etp_arena_printf(arena, "withheld: %s",
                                              etp_ab_withheld_text(stats_withheld(a, c)))
                           : "withheld: two equal baseline launches differed";
    }
    if (is_unpaired(c)) {
        return "unknown: no complete block, launches compared without pairs";
    }
    if (p->blocks == 0) {
        return "unknown: no complete block";
    }
    if (p->blocks < ETP_MIN_BLOCKS) {
        return etp_arena_printf(arena, "unknown (%u of at least %d blocks)", (unsigned)p->blocks,
                                ETP_MIN_BLOCKS);
    }
    if (p->verdict == ETP_VERDICT_UNKNOWN && c->more_blocks != UINT32_MAX) {
        return etp_arena_printf(arena, "unknown (about %u more blocks would tell)",
                                (unsigned)c->more_blocks);
    }
    return etp_verdict_words(arena, p->verdict, p->lo, p->blocks);
}

static void add_headline(const etp_stats_answer *a, const etp_stats_comparison *c, etp_report *r,
                         etp_arena *arena)
{
    const etp_stats *s = &a->stats;
    bool hidden = stats_withheld(a, c) != ETP_WITHHELD_NOT;
    etp_interval ratio = ratio_of(c);
    char before[ETP_NUMBER_CHARS] = "?", after[ETP_NUMBER_CHARS] = "?";
    const char *text = verdict_text(a, c, arena);
    const char *label =
        etp_arena_printf(arena, "%.*s against %.*s", ETP_STR_ARG(a->names[c->candidate]),
                         ETP_STR_ARG(a->names[c->baseline]));
    if (s->arms[c->baseline].median_ns >= 0 && s->arms[c->candidate].median_ns >= 0) {
        (void)etp_format_ns((double)s->arms[c->baseline].median_ns, before);
        (void)etp_format_ns((double)s->arms[c->candidate].median_ns, after);
    }
    etp_headline h = {
        .label = label ? label : "",
        .verdict = text ? text : "",
        .severity = hidden ? ETP_WARN : etp_ab_severity_of_verdict(c->paired.verdict),
        .value = hidden ? (double)NAN : ratio.estimate,
        .lo = hidden ? (double)NAN : ratio.lo,
        .hi = hidden ? (double)NAN : ratio.hi,
        .kind = ETP_KIND_RATIO,
        .reference = 1,
        .interval = hidden || c->paired.blocks < 2
                        ? NULL
                        : etp_arena_printf(arena, "%g %% interval, %u blocks", 100 * s->confidence,
                                           (unsigned)c->paired.blocks),
        .detail = etp_arena_printf(arena, "%s → %s", before, after),
    };
    if (is_unpaired(c)) {
        h.interval = isfinite(ratio.lo) ? "Hodges–Lehmann interval of launches, unpaired" : NULL;
        h.detail = etp_arena_printf(arena, "Mann–Whitney p %.3g, Cliff's delta %+.2f",
                                    c->unpaired.p, c->unpaired.cliffs_delta);
    }
    etp_report_headline(r, &h);
}

static void add_facts(const etp_stats_answer *a, etp_report *r, etp_arena *arena)
{
    const etp_stats *s = &a->stats;
    const char *control = isfinite(s->noise_floor) ? etp_control_text(arena, &s->control) : NULL;
    if (control) {
        etp_report_fact(r, "A/A control", "%s, %u blocks", control, (unsigned)s->control_blocks);
    } else {
        etp_report_fact(r, "A/A control", "unknown (no control launches)");
    }
    etp_report_fact(r, "margin", "%g %%", 100 * s->margin);
    etp_report_fact(r, "blocks", "%u complete, %u dropped", (unsigned)s->blocks,
                    (unsigned)s->blocks_dropped);
    if (s->n_comparisons > 0 && s->comparisons[0].paired.widening > 1) {
        etp_report_fact(r, "intervals", "wider by %.1f %% for looking at the result before the end",
                        100 * (s->comparisons[0].paired.widening - 1));
    }
    if (isfinite(s->drift_per_block)) {
        etp_report_fact(r, "drift", "%+.2f %% per block (p %.2g)", 100 * s->drift_per_block,
                        s->drift_p);
    }
}

static void comparisons_table(const etp_stats_answer *a, etp_report *r, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "baseline", .title = "baseline", .flags = ETP_COL_CODE},
        {.key = "candidate", .title = "candidate", .flags = ETP_COL_CODE},
        {.key = "estimate", .title = "speedup", .kind = ETP_KIND_RATIO, .decimals = 3},
        {.key = "lo", .title = "from", .kind = ETP_KIND_RATIO, .decimals = 3},
        {.key = "hi", .title = "to", .kind = ETP_KIND_RATIO, .decimals = 3},
        {.key = "verdict", .title = "verdict"},
        {.key = "blocks", .title = "blocks", .kind = ETP_KIND_INT},
        {.key = "sign_flip_p",
         .title = "sign-flip p",
         .kind = ETP_KIND_DOUBLE,
         .decimals = 4,
         .flags = ETP_COL_MINOR},
        {.key = "wilcoxon_p",
         .title = "Wilcoxon p",
         .kind = ETP_KIND_DOUBLE,
         .decimals = 4,
         .flags = ETP_COL_MINOR},
        {.key = "withheld", .title = "withheld"},
    };
    etp_table *t =
        etp_report_table(r, "comparisons", NULL, k_columns, sizeof k_columns / sizeof *k_columns);
    for (uint32_t i = 0; i < a->stats.n_comparisons; i++) {
        const etp_stats_comparison *c = &a->stats.comparisons[i];
        const etp_paired *p = &c->paired;
        etp_withheld withheld = stats_withheld(a, c);
        double gone = withheld ? (double)NAN : 0;
        etp_interval ratio = ratio_of(c);
        ETP_ROW(t, etp_cell_str(a->names[c->baseline]), etp_cell_str(a->names[c->candidate]),
                etp_cell_double(ratio.estimate + gone), etp_cell_double(ratio.lo + gone),
                etp_cell_double(ratio.hi + gone),
                etp_cell_z(withheld ? "withheld"
                           : is_unpaired(c)
                               ? "unpaired"
                               : etp_verdict_cell(arena, p->verdict, p->lo, p->blocks)),
                etp_cell_u64(p->blocks), etp_cell_double(p->sign_flip_p + gone),
                etp_cell_double(c->wilcoxon_p + gone), etp_cell_z(etp_withheld_name(withheld)));
    }
}

static etp_cell known_ns(int64_t ns)
{
    return ns < 0 ? etp_cell_missing() : etp_cell_ns(ns);
}

static void arms_table(const etp_stats_answer *a, etp_report *r)
{
    static const etp_column k_columns[] = {
        {.key = "name", .title = "experiment", .flags = ETP_COL_CODE},
        {.key = "median_ns", .title = "median", .kind = ETP_KIND_NS},
        {.key = "p90_ns", .title = "P90", .kind = ETP_KIND_NS, .flags = ETP_COL_MINOR},
        {.key = "p99_ns", .title = "P99", .kind = ETP_KIND_NS, .flags = ETP_COL_MINOR},
        {.key = "launches", .title = "launches", .kind = ETP_KIND_INT},
        {.key = "iterations", .title = "iterations", .kind = ETP_KIND_INT},
        {.key = "warmup_dropped", .title = "warm-up dropped", .kind = ETP_KIND_INT},
        {.key = "launches_slowdown",
         .title = "launches that slowed down",
         .kind = ETP_KIND_INT,
         .flags = ETP_COL_MINOR},
        {.key = "tail_share",
         .title = "slow iterations",
         .kind = ETP_KIND_PERCENT,
         .flags = ETP_COL_MINOR},
        {.key = "drift_per_block",
         .title = "drift per block",
         .kind = ETP_KIND_PERCENT,
         .decimals = 3,
         .flags = ETP_COL_MINOR | ETP_COL_SIGNED},
    };
    etp_table *t =
        etp_report_table(r, "arms", NULL, k_columns, sizeof k_columns / sizeof *k_columns);
    for (uint32_t i = 0; i < a->stats.n_arms; i++) {
        const etp_stats_arm *arm = &a->stats.arms[i];
        ETP_ROW(t, etp_cell_str(a->names[i]), known_ns(arm->median_ns),
                known_ns(arm->quantiles[1].ns), known_ns(arm->quantiles[2].ns),
                etp_cell_u64(arm->launches), etp_cell_u64(arm->iterations),
                etp_cell_u64(arm->warmup_dropped), etp_cell_u64(arm->slowdowns),
                etp_cell_double(arm->tail_share), etp_cell_double(arm->drift_per_block));
    }
}

static void link_note(const char *what, const struct etp_stats_link *link, etp_report *r)
{
    if (link->n > 0 && link->p <= 0.05) {
        etp_report_note(
            r, ETP_INFO,
            "times of the blocks %s with %s (Spearman %+.2f, p %.2g, %zu blocks); the pairs "
            "cancel what both arms share",
            link->rho > 0 ? "rise" : "fall", what, link->rho, link->p, link->n);
    }
}

static void slow_notes(const etp_stats_answer *a, etp_report *r, etp_arena *arena)
{
    for (uint32_t i = 0; a->slow && i < a->stats.n_arms; i++) {
        etp_strbuf text;
        uint64_t all = 0;
        etp_strbuf_init(&text, arena);
        for (size_t c = 0; c < ETP_SLOW_CAUSES; c++) {
            uint64_t n = a->slow[i][c];
            all += n;
            if (n > 0) {
                etp_strbuf_printf(&text, "%s%llu %s", text.len ? ", " : "", (unsigned long long)n,
                                  etp_slow_cause_name((etp_slow_cause)c));
            }
        }
        if (all > 0 && !text.failed) {
            etp_report_note(
                r, ETP_INFO,
                "%.*s: %llu slow iteration%s, kept; by what is recorded of the launches: %s",
                ETP_STR_ARG(a->names[i]), (unsigned long long)all, all == 1 ? "" : "s", text.ptr);
        }
    }
}

static void add_notes(const etp_stats_answer *a, etp_report *r, etp_arena *arena)
{
    const etp_stats *s = &a->stats;
    if (s->control_differs) {
        etp_report_note(
            r, ETP_WARN,
            "the A/A control found a difference between equal launches (%.4f to %.4f): "
            "something besides the arms changed during the session, no headline is given",
            s->control.lo, s->control.hi);
    }
    for (uint32_t i = 0; i < s->n_arms; i++) {
        for (unsigned bit = 1; bit <= ETP_FLAG_DRIFT; bit <<= 1) {
            if (s->arms[i].flags & bit) {
                etp_report_note(r, bit == ETP_FLAG_DRIFT ? ETP_INFO : ETP_WARN, "%.*s: %s",
                                ETP_STR_ARG(a->names[i]), etp_stats_flag_name(bit));
            }
        }
    }
    for (uint32_t i = 0; i < s->n_comparisons; i++) {
        if (is_unpaired(&s->comparisons[i])) {
            etp_report_note(r, ETP_WARN,
                            "no block holds all experiments: whatever changed between their "
                            "launches (heat, load) is in this ratio");
            break;
        }
    }
    link_note("temperature", &a->temperature, r);
    link_note("the clock", &a->clock, r);
    slow_notes(a, r, arena);
    if (s->n_arms == 1) {
        etp_report_note(r, ETP_INFO, "one experiment: there is nothing to compare it with");
    }
}

static void blocks_chart(const etp_stats_answer *a, etp_report *r, etp_arena *arena)
{
    const etp_stats *s = &a->stats;
    double *values = ETP_NEW_ARRAY(arena, double, s->n_arms);
    etp_chart *chart =
        etp_report_chart(r, ETP_CHART_BLOCKS, "blocks", "Launches by block", ETP_KIND_NS);
    if (!values) {
        return;
    }
    etp_chart_describe(chart,
                       "Each dot is one launch: the median of its iterations. Lines join the "
                       "launches of one block.");
    for (uint32_t i = 0; i < s->n_arms; i++) {
        char *name = etp_arena_strdup(arena, a->names[i]);
        etp_chart_series(chart, name ? name : "");
    }
    for (uint32_t b = 0; b < s->n_blocks_seen; b++) {
        char label[ETP_NUMBER_CHARS];
        (void)snprintf(label, sizeof label, "%u", (unsigned)s->block_numbers[b]);
        for (uint32_t i = 0; i < s->n_arms; i++) {
            values[i] = exp(s->value_ln[(size_t)b * s->n_arms + i]);
        }
        etp_chart_row(chart, label, values, s->n_arms);
    }
}

static void counters_section(const etp_stats_answer *a, etp_report *r, etp_arena *arena)
{
    etp_counters_names *names =
        ETP_NEW_ARRAY(arena, etp_counters_names, a->stats.n_comparisons + 1);
    for (uint32_t i = 0; names && i < a->stats.n_comparisons; i++) {
        const etp_stats_comparison *c = &a->stats.comparisons[i];
        names[i] =
            (etp_counters_names){etp_arena_strdup(arena, a->names[c->baseline]),
                                 etp_arena_strdup(arena, a->names[c->candidate]), c->baseline,
                                 c->candidate, stats_withheld(a, c) != ETP_WITHHELD_NOT};
    }
    if (names) {
        etp_counters_section(&a->counters, names, a->stats.n_comparisons, r, arena);
    }
}

const etp_report *etp_stats_report(const etp_stats_answer *a, etp_arena *arena)
{
    etp_report *r = etp_report_create(arena, "statistics of samples");
    etp_report_subtitle(r, "%s", a->source);
    for (uint32_t i = 0; i < a->stats.n_comparisons; i++) {
        add_headline(a, &a->stats.comparisons[i], r, arena);
    }
    add_facts(a, r, arena);
    etp_report_section(r, 1, "comparisons", "Comparisons");
    add_notes(a, r, arena);
    comparisons_table(a, r, arena);
    etp_report_section(r, 1, "arms", "Experiments");
    arms_table(a, r);
    counters_section(a, r, arena);
    etp_report_section(r, 1, "blocks", "Blocks");
    blocks_chart(a, r, arena);
    return r;
}
