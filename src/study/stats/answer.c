// SPDX-License-Identifier: Apache-2.0
// Statistics of anybody's samples as a document and as a report.
#include "study/stats/answer.h"

#include <math.h>

#include "base/number.h"
#include "document/document.h"
#include "document/rows.h"
#include "show/counters.h"
#include "show/json.h"
#include "show/report.h"
#include "study/stats/samples.h"

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
    if (why != ETP_WITHHELD_NOT) {
        return why;
    }
    return etp_ab_noise_reason(c ? c->contention : ETP_CONTENTION_NONE,
                               answer->stats.control_differs);
}

// ---- document ----

enum { FLAGS = 3 }; // up to ETP_FLAG_DRIFT

typedef struct slow_causes {
    uint64_t of[ETP_SLOW_CAUSES];
} slow_causes;

// One experiment is compared with nothing.
// The document describes the first comparison at its top in any case; of a single experiment it is
// this one. It lies in no array: who counts from doc->stats.comparisons asks for it first.
static const etp_stats_comparison k_nothing = {
    .candidate = ETP_NO_INDEX,
    .paired = {.estimate = (double)NAN,
               .lo = (double)NAN,
               .hi = (double)NAN,
               .widening = 1,
               .sign_flip_p = (double)NAN,
               .verdict = ETP_VERDICT_UNKNOWN},
    .wilcoxon_p = (double)NAN,
    .unpaired = {.p = (double)NAN},
    .more_blocks = UINT32_MAX,
};

static etp_withheld withheld_of(const etp_stats_answer *a, const etp_stats_comparison *c)
{
    return stats_withheld(a, c == &k_nothing ? NULL : c);
}

// Figures of a comparison are told unless they are withheld.
static bool is_told(const void *value, const etp_json_cursor *at)
{
    (void)value;
    return withheld_of(at->root, at->object) == ETP_WITHHELD_NOT;
}

static bool is_told_unpaired(const void *comparison, const etp_json_cursor *at)
{
    return is_told(comparison, at) && is_unpaired(comparison);
}

static const char *flag_name(unsigned bit)
{
    return etp_stats_flag_name(1U << bit);
}

// NULL where the bit is not set, which ETP_SKIP leaves out of the list.
static const void *flag_of(unsigned flags, size_t bit, etp_made *made)
{
    return flags & 1U << bit ? MAKE(maybe, (int)bit) : NULL;
}

WORDS(k_flag, flag_name, unsigned, FLAGS)
LENGTH(k_flags, etp_stats_answer, FLAGS)
LENGTH(k_quantiles, etp_stats_answer, ETP_TAIL_QUANTILES)
KNOWN(is_known, int64_t, *it >= 0)
KNOWN(has_readings, struct etp_stats_link, it->n > 0)
KNOWN(has_control, etp_stats, it->control_blocks > 0)
#define COMPARISON(name, expression) FIND(name, etp_stats_comparison, etp_stats_answer, expression)
COMPARISON(baseline, &doc->names[doc->stats.baseline])
COMPARISON(candidate, it != &k_nothing ? &doc->names[it->candidate] : NULL)
COMPARISON(estimate, MAKE(real, ratio_of(it).estimate))
COMPARISON(lo, MAKE(real, ratio_of(it).lo))
COMPARISON(hi, MAKE(real, ratio_of(it).hi))
COMPARISON(confidence, &doc->stats.confidence)
COMPARISON(method, MAKE(maybe, is_unpaired(it) ? ETP_UNPAIRED_LAUNCHES : ETP_PAIRED_BLOCKS))
COMPARISON(verdict,
           MAKE(maybe, withheld_of(doc, it) ? ETP_VERDICT_UNKNOWN : (int)it->paired.verdict))
COMPARISON(margin, &doc->stats.margin)
COMPARISON(noise_floor, &doc->stats.noise_floor)
COMPARISON(withheld, MAKE(maybe, (int)withheld_of(doc, it)))
COMPARISON(comparison_flag, flag_of(it->flags, at->index, made))
COMPARISON(comparison_counters,
           it != &k_nothing
               // Counters have a split for each comparison, in their order.
               ? etp_counters_split_at(&doc->counters, (size_t)(it - doc->stats.comparisons))
               : NULL)
FIND(first, etp_stats_answer, etp_stats_answer,
     it->stats.n_comparisons > 0 ? it->stats.comparisons : &k_nothing)
// Names, slow iterations and counters of arms lie in arrays of their own, in the order of
// stats.arms: an arm's place there is its index.
#define ARM ((size_t)(it - doc->stats.arms))
FIND(arm_name, etp_stats_arm, etp_stats_answer, &doc->names[ARM])
FIND(arm_level, etp_stats_arm, etp_stats_answer,
     doc->levels[ARM].len > 0 ? &doc->levels[ARM] : NULL)
FIND(arm_flag, etp_stats_arm, etp_stats_answer, flag_of(it->flags, at->index, made))
FIND(arm_slow, etp_stats_arm, etp_stats_answer, doc->slow ? doc->slow[ARM] : NULL)
FIND(arm_counters, etp_stats_arm, etp_stats_answer, etp_counters_arm_at(&doc->counters, ARM))
FIND(arm_quantile, etp_stats_arm, etp_stats_answer, &it->quantiles[at->index])

#define OF etp_stats_comparison
static const etp_field k_speedup_rows[] = {
    COMPUTED("estimate", RATIO, estimate, "baseline ÷ candidate; null when withheld or unknown",
             .when = is_told),
    COMPUTED("lo", RATIO, lo, "low end of its interval", .when = is_told),
    COMPUTED("hi", RATIO, hi, "high end", .when = is_told),
    COMPUTED("confidence", RATIO, confidence, "of the interval", .range = ETP_ABOVE_0_TO_1,
             .flags = ETP_SET),
    FIELD("blocks", UINT, paired.blocks, "it rests on"),
    COMPUTED("method", WORD, method, "how it was computed", .words = &k_etp_method_words,
             .flags = ETP_SET),
    FIELD("widening", RATIO, paired.widening,
          "of the interval: looked at during the session, or measured on a virtual machine"),
};
static SHAPE_ON_ONE_LINE(k_speedup, k_speedup_rows);
static const etp_field k_unpaired_rows[] = {
    FIELD("mann_whitney_p", RATIO, unpaired.p, "of launches without pairs", .range = ETP_0_TO_1),
    FIELD("cliffs_delta", RATIO, unpaired.cliffs_delta, "likewise", .range = ETP_WITHIN_1),
};
static SHAPE(k_unpaired, k_unpaired_rows);
static const etp_field k_comparison_rows[] = {
    COMPUTED("baseline", STR, baseline, "an experiment", .flags = ETP_SET),
    COMPUTED("candidate", STR, candidate, "another; null: there is none"),
    GROUP("speedup", &k_speedup, "how much faster the candidate is"),
    FIELD("sign_flip_p", RATIO, paired.sign_flip_p, "of no difference, over the blocks",
          .when = is_told, .range = ETP_0_TO_1),
    FIELD("wilcoxon_p", RATIO, wilcoxon_p, "likewise, by ranks", .when = is_told,
          .range = ETP_0_TO_1),
    COMPUTED("verdict", WORD, verdict, "of the candidate", .words = &k_etp_verdict_words,
             .flags = ETP_SET),
    COMPUTED("margin", RATIO, margin, "smaller differences are the same", .flags = ETP_SET),
    COMPUTED("noise_floor", RATIO, noise_floor, "half-width of the control's interval of ln"),
    COMPUTED("withheld", WORD, withheld, "why no figure is given", .words = &k_etp_withheld_words),
    FIELD("more_blocks", UINT, more_blocks, "to expect before the verdict is known",
          .when = is_told, .flags = ETP_MAX_IS_NULL),
    GROUP(NULL, &k_unpaired, "", .when = is_told_unpaired, .flags = ETP_ABSENT),
    COMPUTED_PER("flags", WORD, comparison_flag, &k_flags, "what its samples look like",
                 .words = &k_flag, .flags = ETP_SKIP | ETP_ONE_LINE),
    COMPUTED("counters", OBJECT, comparison_counters, "the speedup as work, clock and waiting",
             .shape = &k_etp_counters_split, .when = is_told),
};
static SHAPE(k_comparison, k_comparison_rows);
#undef OF
#define OF slow_causes
// In the order in which they are tried: an iteration counts for the first cause that its launch
// fits, so that the counts add up to the slow iterations.
static const etp_field k_slow_rows[] = {
    FIELD("waited", UINT, of[ETP_SLOW_WAITED], "its launch was ready without a CPU"),
    FIELD("storage", UINT, of[ETP_SLOW_FAULTS], "it read from storage"),
    FIELD("clock", UINT, of[ETP_SLOW_CLOCK], "the clock was lower"),
    FIELD("migrated", UINT, of[ETP_SLOW_MIGRATED], "it moved between CPUs"),
    FIELD("interrupted", UINT, of[ETP_SLOW_SWITCHED], "something else took the CPU"),
    FIELD("unexplained", UINT, of[ETP_SLOW_UNEXPLAINED], "nothing of these"),
    FIELD("no_record", UINT, of[ETP_SLOW_NO_RECORD], "nothing was recorded"),
};
static SHAPE_ON_ONE_LINE(k_slow, k_slow_rows);
#undef OF
#define OF etp_tail_quantile
static const etp_field k_quantile_rows[] = {
    FIELD("q", RATIO, q, "0.5, 0.9, 0.99", .range = ETP_0_TO_1, .flags = ETP_SET),
    FIELD("ns", INT, ns, "of the kept iterations", .when = is_known),
    FIELD("lo_ns", INT, lo_ns, "low end of its interval", .when = is_known),
    FIELD("hi_ns", INT, hi_ns, "high end", .when = is_known),
};
static SHAPE_ON_ONE_LINE(k_quantile, k_quantile_rows);
#undef OF
#define OF etp_stats_arm
static const etp_field k_arm_rows[] = {
    COMPUTED("name", STR, arm_name, "of the experiment", .flags = ETP_SET),
    COMPUTED("level", STR, arm_level, "CPU-feature level that ran; null: unknown",
             .flags = ETP_LATER),
    FIELD("launches", UINT, launches, "timed ones in complete blocks"),
    FIELD("iterations", UINT, iterations, "their kept iterations"),
    FIELD("warmup_dropped", UINT, warmup_dropped, "iterations that the warm-up rule left out"),
    FIELD("median_ns", INT, median_ns, "geometric mean of the launches' medians", .when = is_known),
    FIELD("launches_warmup", UINT, warmups, "that became faster"),
    FIELD("launches_slowdown", UINT, slowdowns, "that became slower"),
    FIELD("tail_share", RATIO, tail_share, "of its iterations, far above their launch's median",
          .range = ETP_0_TO_1),
    FIELD("drift_per_block", RATIO, drift_per_block, "relative change (Theil–Sen)",
          .range = ETP_SIGNED),
    FIELD("drift_p", RATIO, drift_p, "of no trend (Mann–Kendall)", .range = ETP_0_TO_1),
    COMPUTED_PER("flags", WORD, arm_flag, &k_flags, "what its samples look like", .words = &k_flag,
                 .flags = ETP_SKIP | ETP_ONE_LINE),
    COMPUTED("slow_iterations", OBJECT, arm_slow, "by cause; null: a table does not tell",
             .shape = &k_slow),
    COMPUTED("counters", OBJECT, arm_counters, "what the processor counted, per inference",
             .shape = &k_etp_counters_arm),
    COMPUTED_PER("quantiles", OBJECT, arm_quantile, &k_quantiles, "of an iteration",
                 .shape = &k_quantile),
};
static SHAPE_ON_ONE_LINE(k_arm, k_arm_rows);
#undef OF
#define OF struct etp_stats_link
static const etp_field k_link_rows[] = {
    FIELD("rho", RATIO, rho, "rank correlation (Spearman)", .range = ETP_WITHIN_1),
    FIELD("p", RATIO, p, "of none", .range = ETP_0_TO_1),
    FIELD("blocks", UINT, n, "with a reading"),
};
static SHAPE_ON_ONE_LINE(k_link, k_link_rows);
#undef OF
#define OF etp_stats
static const etp_field k_control_rows[] = {ETP_CONTROL_ROWS};
static SHAPE_ON_ONE_LINE(k_control, k_control_rows);
#undef OF
#define OF etp_stats_answer
static const etp_field k_drift_rows[] = {
    FIELD("per_block", RATIO, stats.drift_per_block, "relative change of the blocks' means",
          .range = ETP_SIGNED),
    FIELD("p", RATIO, stats.drift_p, "of no trend (Mann–Kendall)", .range = ETP_0_TO_1),
    FIELD("temperature", OBJECT, temperature, "over the blocks", .shape = &k_link,
          .when = has_readings),
    FIELD("clock", OBJECT, clock, "likewise", .shape = &k_link, .when = has_readings),
};
static SHAPE_ON_ONE_LINE(k_drift, k_drift_rows);
static const etp_field k_answer_rows[] = {
    FIELD("phase", TEXT, phase, "of the session that this is about; absent without phases",
          .flags = ETP_ABSENT),
    FIELD("altered", TEXT, altered, "which raw file of the folder is not what was recorded",
          .flags = ETP_ABSENT),
    COMPUTED(NULL, OBJECT, first, "", .shape = &k_comparison),
    FIELD("blocks", UINT, stats.blocks, "complete ones"),
    FIELD("blocks_dropped", UINT, stats.blocks_dropped, "incomplete ones"),
    FIELD("control", OBJECT, stats, "the A/A control", .shape = &k_control, .when = has_control),
    GROUP("drift", &k_drift, "of the session"),
    LIST("arms", OBJECT, stats.arms, stats.n_arms, "experiments", .shape = &k_arm),
    LIST("comparisons", OBJECT, stats.comparisons, stats.n_comparisons,
         "every other experiment against the baseline", .shape = &k_comparison),
};
static SHAPE(k_answer, k_answer_rows);
#undef OF

const etp_document k_etp_stats_document = {"etprof.stats/1", "what stats prints", &k_answer};

// ---- report ----

// From the strongest reason to say nothing down to the plain verdict.
static const char *verdict_text(const etp_stats_answer *a, const etp_stats_comparison *c,
                                etp_arena *arena)
{
    const etp_paired *p = &c->paired;
    if (stats_withheld(a, c)) {
        // A bare table knows no other reason than its control.
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
    return etp_verdict_words(arena, p->verdict, p->lo, p->hi, p->blocks, a->stats.margin);
}

static void add_headline(const etp_stats_answer *a, const etp_stats_comparison *c, etp_report *r,
                         etp_arena *arena)
{
    const etp_stats *s = &a->stats;
    bool hidden = stats_withheld(a, c) != ETP_WITHHELD_NOT;
    etp_interval ratio = ratio_of(c);
    const int64_t before = s->arms[c->baseline].median_ns, after = s->arms[c->candidate].median_ns;
    const bool known = before >= 0 && after >= 0;
    const char *text = verdict_text(a, c, arena);
    const char *label =
        etp_arena_printf(arena, "%.*s against %.*s", ETP_STR_ARG(a->called[c->candidate]),
                         ETP_STR_ARG(a->called[c->baseline]));
    etp_headline h = {
        .label = label,
        .verdict = text,
        .severity = hidden ? ETP_WARN : etp_ab_severity_of_verdict(c->paired.verdict),
        .value = etp_value_if(!hidden, ratio.estimate),
        .lo = etp_value_if(!hidden, ratio.lo),
        .hi = etp_value_if(!hidden, ratio.hi),
        .interval =
            hidden || c->paired.blocks < 2
                ? NULL
                : etp_arena_printf(arena, "%s %% interval, %u blocks",
                                   ETP_DIGITS(100 * s->confidence, 6), (unsigned)c->paired.blocks),
        .detail = known ? etp_arena_printf(arena, "%s → %s", ETP_NS((double)before),
                                           ETP_NS((double)after))
                        : "? → ?",
    };
    if (is_unpaired(c) && !hidden) {
        h.interval = etp_z_if(isfinite(ratio.lo), "Hodges–Lehmann interval of launches, unpaired");
        h.detail =
            etp_arena_printf(arena, "Mann–Whitney p %s, Cliff's delta %s",
                             ETP_DIGITS(c->unpaired.p, 3), ETP_CHANGE(c->unpaired.cliffs_delta, 2));
    }
    etp_report_headline(r, &h);
}

static etp_cell name_cell(const etp_stats_answer *a, uint32_t arm)
{
    etp_cell c = etp_cell_str(a->names[arm]);
    c.called = etp_str_eq(a->names[arm], a->called[arm]) ? (etp_str){"", 0} : a->called[arm];
    return c;
}

static etp_cell level_cell(const etp_stats_answer *a, uint32_t arm)
{
    return etp_cell_if(a->levels[arm].len > 0, etp_cell_str(a->levels[arm]));
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
        {.key = "baseline_level", .title = "baseline's level", .flags = ETP_COL_MINOR},
        {.key = "candidate_level", .title = "candidate's level", .flags = ETP_COL_MINOR},
    };
    enum { LEVELS = 2, COLUMNS = sizeof k_columns / sizeof *k_columns };
    bool told = false; // by a table without that column none is
    for (uint32_t i = 0; i < a->stats.n_arms; i++) {
        told = told || a->levels[i].len > 0;
    }
    etp_table *t =
        etp_report_table(r, "comparisons", NULL, k_columns, told ? COLUMNS : COLUMNS - LEVELS);
    for (uint32_t i = 0; i < a->stats.n_comparisons; i++) {
        const etp_stats_comparison *c = &a->stats.comparisons[i];
        const etp_paired *p = &c->paired;
        etp_withheld withheld = stats_withheld(a, c);
        // Added to a figure it takes it away or leaves it as it is.
        double gone = withheld ? (double)NAN : 0;
        etp_interval ratio = ratio_of(c);
        const char *verdict = is_unpaired(c) ? "unpaired"
                                             : etp_verdict_cell(arena, p->verdict, p->lo, p->hi,
                                                                p->blocks, a->stats.margin);
        const etp_cell cells[COLUMNS] = {name_cell(a, c->baseline),
                                         name_cell(a, c->candidate),
                                         etp_cell_double(ratio.estimate + gone),
                                         etp_cell_double(ratio.lo + gone),
                                         etp_cell_double(ratio.hi + gone),
                                         etp_cell_z(withheld ? "withheld" : verdict),
                                         etp_cell_u64(p->blocks),
                                         etp_cell_double(p->sign_flip_p + gone),
                                         etp_cell_double(c->wilcoxon_p + gone),
                                         etp_cell_z(etp_withheld_name(withheld)),
                                         level_cell(a, c->baseline),
                                         level_cell(a, c->candidate)};
        etp_table_add_row(t, cells, told ? COLUMNS : COLUMNS - LEVELS);
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
        // quantiles[] is P50, P90, P99 (ETP_TAIL_QUANTILES of them).
        ETP_ROW(t, name_cell(a, i), known_ns(arm->median_ns), known_ns(arm->quantiles[1].ns),
                known_ns(arm->quantiles[2].ns), etp_cell_u64(arm->launches),
                etp_cell_u64(arm->iterations), etp_cell_u64(arm->warmup_dropped),
                etp_cell_u64(arm->slowdowns), etp_cell_double(arm->tail_share),
                etp_cell_double(arm->drift_per_block));
    }
}

// Only what is hardly chance: with a dozen blocks a correlation of 0.4 means nothing.
static void link_note(const char *what, const struct etp_stats_link *link, etp_report *r)
{
    if (link->n > 0 && link->p <= 0.05) {
        etp_report_note(r, ETP_INFO,
                        "times of the blocks %s with %s (Spearman %s, p %s, %zu blocks); the pairs "
                        "cancel what both arms share",
                        link->rho > 0 ? "rise" : "fall", what, ETP_CHANGE(link->rho, 2),
                        ETP_DIGITS(link->p, 2), link->n);
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
        // Drift is only told: pairs cancel it. The other flags doubt the interval.
        for (unsigned bit = 1; bit <= ETP_FLAG_DRIFT; bit <<= 1) {
            if (s->arms[i].flags & bit) {
                etp_report_note(r, bit == ETP_FLAG_DRIFT ? ETP_INFO : ETP_WARN, "%.*s: %s",
                                ETP_STR_ARG(a->called[i]), etp_stats_flag_words(bit));
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
    for (uint32_t i = 0; a->slow && i < a->stats.n_arms; i++) {
        etp_strbuf text;
        uint64_t all = 0;
        etp_strbuf_init(&text, arena);
        for (size_t c = 0; c < ETP_SLOW_CAUSES; c++) {
            uint64_t n = a->slow[i][c];
            all += n;
            if (n > 0) {
                etp_strbuf_printf(&text, "%s%llu %s", etp_if(text.len, ", "), (unsigned long long)n,
                                  etp_slow_cause_name((etp_slow_cause)c));
            }
        }
        if (all > 0 && !text.failed) {
            etp_report_note(
                r, ETP_INFO,
                "%.*s: %llu slow iteration%s, kept; by what is recorded of the launches: %s",
                ETP_STR_ARG(a->called[i]), (unsigned long long)all, etp_if(all != 1, "s"),
                text.ptr);
        }
    }
    if (s->n_arms == 1) {
        etp_report_note(r, ETP_INFO, "one experiment: there is nothing to compare it with");
    }
}

const etp_report *etp_stats_report(const etp_stats_answer *a, etp_arena *arena)
{
    const etp_stats *s = &a->stats;
    etp_report *r = etp_report_create(arena, "statistics of samples");
    const char *phase = etp_sample_phase_words(a->phase, a->phases, arena);
    etp_report_subtitle(r, "%s%s", a->source, ETP_OR(phase, ""));
    for (uint32_t i = 0; i < s->n_comparisons; i++) {
        add_headline(a, &s->comparisons[i], r, arena);
    }
    const char *control = isfinite(s->noise_floor) ? etp_control_text(arena, &s->control) : NULL;
    if (control) {
        etp_report_fact(r, "A/A control", "%s, %u blocks", control, (unsigned)s->control_blocks);
    } else {
        etp_report_fact(r, "A/A control", "unknown (no control launches)");
    }
    etp_report_fact(r, "margin", "%s %%", ETP_DIGITS(100 * s->margin, 6));
    etp_report_fact(r, "blocks", "%u complete, %u dropped", (unsigned)s->blocks,
                    (unsigned)s->blocks_dropped);
    // The factor depends on the number of blocks; comparisons of one session hardly differ in it.
    if (s->n_comparisons > 0 && s->comparisons[0].paired.widening > 1) {
        etp_report_fact(r, "intervals",
                        "wider by %.1f %%: looked at before the end, or a virtual machine",
                        100 * (s->comparisons[0].paired.widening - 1));
    }
    if (isfinite(s->drift_per_block)) {
        etp_report_fact(r, "drift", "%s: %s %% per block, p = %s",
                        s->drift_p <= ETP_TREND_P ? "shown" : "not shown",
                        ETP_CHANGE(100 * s->drift_per_block, 2), ETP_DIGITS(s->drift_p, 2));
    }
    etp_report_section(r, 1, "comparisons", "Comparisons");
    if (a->altered) {
        etp_report_note(r, ETP_BAD, "%s", a->altered);
    }
    add_notes(a, r, arena);
    comparisons_table(a, r, arena);
    etp_report_section(r, 1, "arms", "Experiments");
    arms_table(a, r);
    etp_counters_names *names = ETP_NEW_ARRAY(arena, etp_counters_names, s->n_comparisons + 1);
    for (uint32_t i = 0; names && i < s->n_comparisons; i++) {
        const etp_stats_comparison *c = &s->comparisons[i];
        names[i] = (etp_counters_names){etp_arena_strdup(arena, a->called[c->baseline]),
                                        etp_arena_strdup(arena, a->called[c->candidate]),
                                        c->baseline,
                                        c->candidate,
                                        stats_withheld(a, c) != ETP_WITHHELD_NOT,
                                        s->margin};
    }
    if (names) {
        etp_counters_section(&a->counters, names, s->n_comparisons, r, arena);
    }
    etp_report_section(r, 1, "blocks", "Blocks");
    // All blocks that were seen, also those that lack an arm: exp(NAN) draws no dot.
    double *values = ETP_NEW_ARRAY(arena, double, s->n_arms);
    etp_chart *chart =
        etp_report_chart(r, ETP_CHART_BLOCKS, "blocks", "Launches by block", ETP_KIND_NS);
    if (values) {
        etp_chart_describe(chart,
                           "Each dot is one launch: the median of its iterations. Lines join the "
                           "launches of one block.");
        if (s->n_comparisons > 0 && stats_withheld(a, &s->comparisons[0]) != ETP_WITHHELD_NOT) {
            etp_chart_no_ratio(chart);
        }
        for (uint32_t i = 0; i < s->n_arms; i++) {
            etp_chart_series(chart, etp_arena_strdup(arena, a->called[i]));
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
    return r;
}
