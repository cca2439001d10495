// SPDX-License-Identifier: Apache-2.0
// Latency statistics with the keys and definitions of Arm's kit. Descriptive only: no verdict of
// etprof rests on them.
#include "kit/parts.h"

#include <math.h>
#include <stdlib.h>

#include "base/order.h"
#include "document/rows.h"

// The mean is taken first and squares are of the differences from it: sums of squares of
// nanoseconds would cancel each other in a double.
etp_kit_moments etp_kit_describe(double *ns, size_t n)
{
    etp_kit_moments m = {n, NAN, NAN, NAN, NAN, NAN, NAN};
    if (n == 0) {
        return m;
    }
    double sum = 0, squares = 0;
    m.min = m.max = ns[0];
    for (size_t i = 0; i < n; i++) {
        sum += ns[i];
        m.min = ETP_MIN(ns[i], m.min);
        m.max = ETP_MAX(ns[i], m.max);
    }
    m.mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) {
        squares += (ns[i] - m.mean) * (ns[i] - m.mean);
    }
    m.median = etp_median(ns, n);
    if (n > 1) { // of one value there is no spread; the kit wrote NaN, which is no JSON
        m.sd = sqrt(squares / (double)(n - 1));
        m.cv_percent = 100 * etp_share(m.sd, m.mean);
    }
    return m;
}

// Mean without ⌊part · n⌋ values at either end. SORTED etp_order_double.
// As scipy.stats.trim_mean, which the kit calls.
static double trimmed_mean(const double *sorted, size_t n, double part)
{
    size_t cut = (size_t)(part * (double)n);
    double sum = 0;
    for (size_t i = cut; i < n - cut; i++) {
        sum += sorted[i];
    }
    // Parts are at most a tenth, so of one value or more at least one is left.
    return sum / (double)(n - 2 * cut);
}

etp_kit_robust etp_kit_robust_of(const etp_kit_series *x, etp_arena *scratch)
{
    size_t n = x->n, kept = 0;
    double *sorted = ETP_NEW_ARRAY(scratch, double, n);
    double *work = ETP_NEW_ARRAY(scratch, double, n);
    for (size_t i = 0; i < n; i++) {
        sorted[i] = (double)x->ns[i];
    }
    qsort(sorted, n, sizeof *sorted, etp_order_double);
    memcpy(work, sorted, n * sizeof *work);
    // Finding a median reorders, and percentiles are taken of `sorted` as late as the file is
    // written: so it gets a copy.
    etp_kit_robust out = {.of = *x, .all = etp_kit_describe(work, n), .sorted = sorted};
    // Tukey's fences, as the kit draws them.
    double q1 = etp_quantile(sorted, n, 0.25), q3 = etp_quantile(sorted, n, 0.75);
    out.lo = q1 - 1.5 * (q3 - q1);
    out.hi = q3 + 1.5 * (q3 - q1);
    for (size_t i = 0; i < n; i++) {
        if (sorted[i] >= out.lo && sorted[i] <= out.hi) {
            work[kept++] = sorted[i];
        }
    }
    out.kept = etp_kit_describe(work, kept);
    out.trimmed_5 = trimmed_mean(sorted, n, 0.05);
    out.trimmed_10 = trimmed_mean(sorted, n, 0.1);
    return out;
}

// ---- documents ----

typedef struct robust_file {
    etp_kit_robust robust;
    const etp_kit *kit;
    const etp_kit_arm *arm;
} robust_file;

#define MS(name, type, member) FIND(name, type, void, MAKE(real, it->member / 1e6))
// Between order statistics, linearly: numpy's default, which the kit uses.
#define PERCENTILE(name, part) \
    FIND(name, etp_kit_robust, void, MAKE(real, etp_quantile(it->sorted, it->of.n, part) / 1e6))
MS(mean_ms, etp_kit_moments, mean)
MS(median_ms, etp_kit_moments, median)
MS(std_dev_ms, etp_kit_moments, sd)
MS(min_ms, etp_kit_moments, min)
MS(max_ms, etp_kit_moments, max)
MS(lower_ms, etp_kit_robust, lo)
MS(upper_ms, etp_kit_robust, hi)
MS(trimmed_5_ms, etp_kit_robust, trimmed_5)
MS(trimmed_10_ms, etp_kit_robust, trimmed_10)
PERCENTILE(p50, 0.5)
PERCENTILE(p75, 0.75)
PERCENTILE(p90, 0.9)
PERCENTILE(p95, 0.95)
PERCENTILE(p99, 0.99)
ITS_LENGTH(k_runs, etp_kit_robust, it->of.n)
FIND(latency_ms, etp_kit_robust, void, MAKE(real, (double)it->of.ns[at->index] / 1e6))
FIND(run_index, etp_kit_robust, void,
     MAKE(integer, it->of.run ? it->of.run[at->index] : (int64_t)at->index))
FIND(outliers, etp_kit_robust, void, MAKE(number, it->of.n - it->kept.n))
FIND(outlier_percentage, etp_kit_robust, void,
     MAKE(real, 100 * ((double)(it->of.n - it->kept.n) / (double)it->of.n)))
// By value in the order of the runs; NULL leaves a cell out.
static const void *outlier_ms(const etp_json_cursor *at, etp_made *made)
{
    const etp_kit_robust *r = at->object;
    double ns = (double)r->of.ns[at->index];
    return ns < r->lo || ns > r->hi ? MAKE(real, ns / 1e6) : NULL;
}
FIND(source, etp_kit_arm, void, MAKE(text, "Method::execute of the traced launches"))
FIND(untraced, robust_file, void,
     it->kit->run && it->arm->arm->median_ns != ETP_NS_UNKNOWN ? it->arm->arm : NULL)

#define OF etp_kit_moments
#define MOMENTS(least, known)                                                        \
    FIELD("count", UINT, n, "of executions", .range = least),                        \
        COMPUTED("mean_ms", NUMBER, mean_ms, "", .flags = known),                    \
        COMPUTED("median_ms", NUMBER, median_ms, "", .flags = known),                \
        COMPUTED("std_dev_ms", NUMBER, std_dev_ms, "null: one value has no spread"), \
        FIELD("cv_percent", RATIO, cv_percent, "standard deviation ÷ mean")
static const etp_field k_all_rows[] = {
    MOMENTS(ETP_FROM_1, ETP_SET),
    COMPUTED("min_ms", NUMBER, min_ms, "", .flags = ETP_SET),
    COMPUTED("max_ms", NUMBER, max_ms, "", .flags = ETP_SET),
};
static SHAPE(k_all, k_all_rows);
static const etp_field k_kept_rows[] = {MOMENTS(ETP_FROM_0, 0)};
static SHAPE(k_kept, k_kept_rows);
#undef OF
#define OF etp_kit_robust
static const etp_field k_percentile_rows[] = {
    COMPUTED("p50", NUMBER, p50, "", .flags = ETP_SET),
    COMPUTED("p75", NUMBER, p75, "", .flags = ETP_SET),
    COMPUTED("p90", NUMBER, p90, "", .flags = ETP_SET),
    COMPUTED("p95", NUMBER, p95, "", .flags = ETP_SET),
    COMPUTED("p99", NUMBER, p99, "", .flags = ETP_SET),
};
static SHAPE_ON_ONE_LINE(k_percentiles, k_percentile_rows);
static const etp_field k_bound_rows[] = {
    COMPUTED("lower", NUMBER, lower_ms, "1.5 interquartile ranges below the first quartile",
             .range = ETP_SIGNED, .flags = ETP_SET),
    COMPUTED("upper", NUMBER, upper_ms, "above the third", .range = ETP_SIGNED, .flags = ETP_SET),
};
static SHAPE_ON_ONE_LINE(k_bounds, k_bound_rows);
static const etp_field k_outlier_rows[] = {
    COMPUTED_PER("values", NUMBER, outlier_ms, &k_runs, "in ms", .flags = ETP_SKIP | ETP_ONE_LINE),
    COMPUTED("count", UINT, outliers, "of them", .flags = ETP_SET),
    COMPUTED("percentage", RATIO, outlier_percentage, "of the executions", .flags = ETP_SET),
    GROUP("bounds", &k_bounds, "in ms; what lies outside"),
};
static SHAPE(k_outliers, k_outlier_rows);
static const etp_field k_robust_rows[] = {
    FIELD(NULL, OBJECT, all, "", .shape = &k_all),
    GROUP("percentiles", &k_percentiles, "in ms"),
    GROUP("outliers", &k_outliers, "by the kit's rule"),
    COMPUTED("trimmed_mean_5_ms", NUMBER, trimmed_5_ms, "without 5 % at either end",
             .flags = ETP_SET),
    COMPUTED("trimmed_mean_10_ms", NUMBER, trimmed_10_ms, "without 10 %", .flags = ETP_SET),
    FIELD("robust_stats", OBJECT, kept, "without outliers", .shape = &k_kept),
    COMPUTED_PER("latencies_ms", NUMBER, latency_ms, &k_runs, "by run", .least = 1,
                 .flags = ETP_SKIP | ETP_ONE_LINE),
    COMPUTED_PER("run_indices", INT, run_index, &k_runs, "of these", .range = ETP_SIGNED,
                 .flags = ETP_SKIP | ETP_ONE_LINE),
    FIELD("name", TEXT, of.name, "of the timeline", .flags = ETP_SET),
};
SHAPE(k_etp_kit_robust, k_robust_rows);
#undef OF
// What the kit has no keys for: where the figures come from, and the untraced ones beside them.
#define OF etp_ab_arm
static const etp_field k_experiment_rows[] = {
    FIELD("experiment", TEXT, name, "", .flags = ETP_SET),
    FIELD("level", TEXT, level_name, "CPU-feature level; null: unknown"),
    FIELD("threads", UINT, threads, "of the runner", .flags = ETP_ZERO),
};
static SHAPE(k_experiment, k_experiment_rows);
static const etp_field k_untraced_rows[] = {
    FIELD("median_ns", NS, median_ns, "untraced inference", .flags = ETP_SET),
    FIELD("launches", UINT, launches, "it rests on"),
    FIELD("iterations", UINT, samples, "of these"),
};
static SHAPE_ON_ONE_LINE(k_untraced, k_untraced_rows);
#undef OF
#define OF etp_kit_arm
static const etp_field k_arm_rows[] = {
    POINTER(NULL, arm, &k_experiment, ""),
    COMPUTED("source", TEXT, source, "of the figures", .flags = ETP_SET),
    LIST("latencies_ns", UINT, latency_ns, n_runs, "exact", .flags = ETP_ONE_LINE),
};
static SHAPE(k_arm, k_arm_rows);
#undef OF
#define OF robust_file
static const etp_field k_file_rows[] = {
    FIELD(NULL, OBJECT, robust, "", .shape = &k_etp_kit_robust),
    POINTER(NULL, arm, &k_arm, "", .flags = ETP_LATER),
    COMPUTED("untraced", OBJECT, untraced, "untraced launches of a session", .shape = &k_untraced,
             .flags = ETP_LATER),
};
static SHAPE(k_file, k_file_rows);
#undef OF

const etp_document k_etp_robust_stats_document = {
    "robust_stats.json", "…_robust_stats.json: statistics of Method::execute", &k_file};

etp_status etp_kit_robust_stats(const etp_kit *kit, const etp_kit_arm *arm, etp_sink *sink,
                                etp_arena *scratch, etp_error *err)
{
    // The kit computes this file from that table and takes the name from it. Ours keeps the name
    // also in a folder without the table.
    const char *stem = etp_arena_printf(scratch, "%s_exec_all_runs_timeline", arm->stem);
    const etp_kit_series x = {.name = stem, .ns = arm->latency_ns, .n = arm->n_runs};
    const robust_file file = {.kit = kit, .arm = arm, .robust = etp_kit_robust_of(&x, scratch)};
    (void)err;
    etp_json j;
    etp_json_init(&j, sink, true);
    etp_object_write(&j, &k_file, &file, &file);
    etp_json_end_document(&j);
    return ETP_OK;
}
