// SPDX-License-Identifier: Apache-2.0
// Latency statistics with the keys and definitions of Arm's kit. Descriptive only: no verdict of
// etprof rests on them.
#include "kit/parts.h"

#include <math.h>
#include <stdlib.h>

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
        m.min = ns[i] < m.min ? ns[i] : m.min;
        m.max = ns[i] > m.max ? ns[i] : m.max;
    }
    m.mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) {
        squares += (ns[i] - m.mean) * (ns[i] - m.mean);
    }
    m.median = etp_median(ns, n);
    if (n > 1) { // of one value there is no spread; the kit wrote NaN, which is no JSON
        m.sd = sqrt(squares / (double)(n - 1));
        m.cv_percent = m.mean > 0 ? 100 * (m.sd / m.mean) : (double)NAN;
    }
    return m;
}

static void put_ms(etp_json *j, const char *key, double ns)
{
    etp_json_kv_double(j, key, ns / 1e6);
}

// What the kit does not count as outlier: within 1.5 interquartile ranges of the quartiles.
typedef struct fences {
    double lo, hi;
} fences;

static void write_outliers(const etp_kit_series *x, fences f, etp_json *j)
{
    size_t n = 0;
    etp_json_key(j, "outliers");
    etp_json_begin_object(j);
    etp_json_key(j, "values");
    etp_json_begin_array_inline(j);
    for (size_t i = 0; i < x->n; i++) {
        double v = (double)x->ns[i];
        if (v < f.lo || v > f.hi) {
            etp_json_double(j, v / 1e6);
            n++;
        }
    }
    etp_json_end(j);
    etp_json_kv_u64(j, "count", n);
    etp_json_kv_ratio(j, "percentage", 100 * ((double)n / (double)x->n));
    etp_json_key(j, "bounds");
    etp_json_begin_object_inline(j);
    put_ms(j, "lower", f.lo);
    put_ms(j, "upper", f.hi);
    etp_json_end(j);
    etp_json_end(j);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Mean without ⌊part · n⌋ values at either end. SORTED ascending.
static double trimmed_mean(const double *sorted, size_t n, double part)
{
    size_t cut = (size_t)(part * (double)n);
    double sum = 0;
    for (size_t i = cut; i < n - cut; i++) {
        sum += sorted[i];
    }
    return sum / (double)(n - 2 * cut);
}

static void write_latencies(const etp_kit_series *x, etp_json *j)
{
    etp_json_key(j, "latencies_ms");
    etp_json_begin_array_inline(j);
    for (size_t i = 0; i < x->n; i++) {
        etp_json_double(j, (double)x->ns[i] / 1e6);
    }
    etp_json_end(j);
    etp_json_key(j, "run_indices");
    etp_json_begin_array_inline(j);
    for (size_t i = 0; i < x->n; i++) {
        etp_json_i64(j, x->run ? x->run[i] : (int64_t)i);
    }
    etp_json_end(j);
}

static void write_moments(const etp_kit_moments *m, bool with_range, etp_json *j)
{
    etp_json_kv_u64(j, "count", m->n);
    put_ms(j, "mean_ms", m->mean);
    put_ms(j, "median_ms", m->median);
    put_ms(j, "std_dev_ms", m->sd);
    etp_json_kv_ratio(j, "cv_percent", m->cv_percent);
    if (with_range) {
        put_ms(j, "min_ms", m->min);
        put_ms(j, "max_ms", m->max);
    }
}

// What the kit has no keys for: where the figures come from, and the untraced ones beside them.
static void write_ours(const etp_kit *kit, const etp_kit_arm *arm, etp_json *j)
{
    const etp_ab_arm *a = arm->arm;
    etp_json_kv_z(j, "experiment", a->name);
    etp_json_kv_z(j, "level", a->level_name);
    etp_json_kv_u64_if(j, "threads", a->threads, a->threads);
    etp_json_kv_z(j, "source", "Method::execute of the traced launches");
    etp_json_key(j, "latencies_ns");
    etp_json_begin_array_inline(j);
    for (size_t i = 0; i < arm->n_runs; i++) {
        etp_json_u64(j, arm->latency_ns[i]);
    }
    etp_json_end(j);
    etp_json_key(j, "untraced");
    if (!kit->run || a->median_ns == ETP_NS_UNKNOWN) {
        etp_json_null(j);
        return;
    }
    etp_json_begin_object_inline(j);
    etp_json_kv_i64(j, "median_ns", a->median_ns);
    etp_json_kv_u64(j, "launches", a->launches);
    etp_json_kv_u64(j, "iterations", a->samples);
    etp_json_end(j);
}

etp_status etp_kit_robust_of(const etp_kit_series *x, etp_arena *scratch, etp_kit_robust *out,
                             etp_error *err)
{
    *out = (etp_kit_robust){0};
    size_t n = x->n, kept = 0;
    double *sorted = ETP_NEW_ARRAY(scratch, double, n);
    double *work = ETP_NEW_ARRAY(scratch, double, n);
    ETP_NEED(sorted && work, err, "robust statistics");
    for (size_t i = 0; i < n; i++) {
        sorted[i] = (double)x->ns[i];
    }
    if (n == 0) {
        return etp_fail(err, ETP_UNKNOWN, "no finished execution");
    }
    qsort(sorted, n, sizeof *sorted, ascending);
    memcpy(work, sorted, n * sizeof *work);
    out->all = etp_kit_describe(work, n);
    out->sorted = sorted;
    double q1 = etp_quantile(sorted, n, 0.25), q3 = etp_quantile(sorted, n, 0.75);
    out->lo = q1 - 1.5 * (q3 - q1);
    out->hi = q3 + 1.5 * (q3 - q1);
    for (size_t i = 0; i < n; i++) {
        if (sorted[i] >= out->lo && sorted[i] <= out->hi) {
            work[kept++] = sorted[i];
        }
    }
    out->kept = etp_kit_describe(work, kept);
    out->trimmed_5 = trimmed_mean(sorted, n, 0.05);
    out->trimmed_10 = trimmed_mean(sorted, n, 0.1);
    return ETP_OK;
}

void etp_kit_robust_keys(const etp_kit_series *x, const etp_kit_robust *r, etp_json *j)
{
    write_moments(&r->all, true, j);
    etp_json_key(j, "percentiles");
    etp_json_begin_object_inline(j);
    static const unsigned k_percents[] = {50, 75, 90, 95, 99};
    for (size_t i = 0; i < sizeof k_percents / sizeof *k_percents; i++) {
        char key[8];
        snprintf(key, sizeof key, "p%u", k_percents[i]);
        put_ms(j, key, etp_quantile(r->sorted, x->n, k_percents[i] / 100.0));
    }
    etp_json_end(j);
    write_outliers(x, (fences){r->lo, r->hi}, j);
    put_ms(j, "trimmed_mean_5_ms", r->trimmed_5);
    put_ms(j, "trimmed_mean_10_ms", r->trimmed_10);
    etp_json_key(j, "robust_stats");
    etp_json_begin_object(j);
    write_moments(&r->kept, false, j);
    etp_json_end(j);
    write_latencies(x, j);
    etp_json_kv_z(j, "name", x->name);
}

etp_status etp_kit_robust_stats(const etp_kit *kit, const etp_kit_arm *arm, etp_sink *sink,
                                etp_arena *scratch, etp_error *err)
{
    const char *stem = etp_arena_printf(scratch, "%s_exec_all_runs_timeline", arm->stem);
    ETP_NEED(stem, err, "robust statistics");
    etp_kit_series x = {.name = stem, .ns = arm->latency_ns, .n = arm->n_runs};
    etp_kit_robust r;
    ETP_TRY(etp_kit_robust_of(&x, scratch, &r, err));
    etp_json j;
    etp_json_init(&j, sink, true);
    etp_json_begin_object(&j);
    etp_kit_robust_keys(&x, &r, &j);
    write_ours(kit, arm, &j);
    etp_json_end(&j);
    etp_json_end_document(&j);
    return ETP_OK;
}
