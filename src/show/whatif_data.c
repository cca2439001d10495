// SPDX-License-Identifier: Apache-2.0
// What the page's script needs to recompute an inference as `etprof whatif` does: times of
// operators by recording.
#include "show/whatif_data.h"

#include <math.h>

#include "base/json.h"

#define LEAST_SHARE 0.0005 // of an inference; operators below it change nothing that is shown

static int64_t sum_ns(const etp_ab_operator *op, uint32_t arm, size_t dump)
{
    int64_t sum = op->rows[arm] ? op->rows[arm]->per_dump_ns[dump] : 0;
    for (size_t i = 0; i < op->merged.n; i++) {
        sum += op->merged.items[i].arm == arm ? op->merged.items[i].row->per_dump_ns[dump] : 0;
    }
    return sum;
}

static int64_t total_ns(const etp_ab_operator *op, uint32_t arm)
{
    int64_t sum = op->rows[arm] ? op->rows[arm]->total_ns : 0;
    for (size_t i = 0; i < op->merged.n; i++) {
        sum += op->merged.items[i].arm == arm ? op->merged.items[i].row->total_ns : 0;
    }
    return sum;
}

// [executions, nanoseconds] over all recordings, then of each.
static void executions(etp_json *j, const char *key, const etp_profile *p)
{
    etp_json_key(j, key);
    etp_json_begin_array_inline(j);
    etp_json_u64(j, p->executions);
    etp_json_i64(j, p->execute_total_ns);
    for (size_t d = 0; d < p->n_dumps; d++) {
        etp_json_u64(j, p->per_dump_executions[d]);
        etp_json_i64(j, p->per_dump_execute_ns[d]);
    }
    etp_json_end(j);
}

static void times(etp_json *j, const char *key, const etp_ab *ab, const etp_ab_operator *op,
                  uint32_t arm)
{
    etp_json_key(j, key);
    etp_json_begin_array_inline(j);
    etp_json_i64(j, total_ns(op, arm));
    for (size_t d = 0; d < ab->arms[arm].profile->n_dumps; d++) {
        etp_json_i64(j, sum_ns(op, arm, d));
    }
    etp_json_end(j);
}

// Half of a 95 % interval ÷ the standard error of its mean, of N values.
static double interval_factor(size_t n, etp_arena *arena)
{
    double *x = ETP_NEW_ARRAY(arena, double, n), ss = 0;
    if (!x || n < 2) {
        return NAN;
    }
    for (size_t i = 0; i < n; i++) {
        x[i] = (double)i - ((double)n - 1) / 2;
        ss += x[i] * x[i];
    }
    etp_interval ci = etp_mean_interval(x, n, ETP_CONFIDENCE);
    return (ci.hi - ci.lo) / 2 / sqrt(ss / (double)(n - 1) / (double)n);
}

static bool worth_it(const etp_ab *ab, const etp_ab_operator *op, uint32_t arm)
{
    const etp_profile *p = ab->arms[arm].profile;
    return op->rows[arm] && (double)total_ns(op, arm) >= LEAST_SHARE * (double)p->execute_total_ns;
}

static void operators(etp_json *j, const etp_ab *ab, uint32_t arm, bool compared)
{
    etp_json_key(j, "operators");
    etp_json_begin_array(j);
    for (size_t i = 0; i < ab->n_operators; i++) {
        const etp_ab_operator *op = &ab->operators[ab->by_time[i]];
        if (!worth_it(ab, op, arm)) {
            continue;
        }
        etp_json_begin_object_inline(j);
        etp_json_kv_z(j, "id", op->id);
        times(j, "ns", ab, op, arm);
        if (compared) {
            times(j, "before", ab, op, ab->baseline);
        }
        if (op->roofs && op->roofs[arm].verdict != ETP_ROOF_UNKNOWN) {
            etp_json_kv_double(j, "roof", op->roofs[arm].roof_ns);
        }
        etp_json_end(j);
    }
    etp_json_end(j);
}

static void fixes(etp_json *j, const etp_ab *ab)
{
    etp_json_key(j, "fixes");
    etp_json_begin_array(j);
    for (size_t i = 0; i < ab->fixes.n; i++) {
        const etp_ab_fix *f = &ab->fixes.items[i];
        etp_json_begin_object_inline(j);
        etp_json_kv_z(j, "id", f->id);
        etp_json_kv_i64(j, "lo", f->lo_ns);
        if (f->expected_ns != ETP_NS_UNKNOWN) {
            etp_json_kv_i64(j, "expected", f->expected_ns);
        }
        etp_json_kv_i64(j, "hi", f->hi_ns);
        etp_json_key(j, "of");
        etp_json_begin_array_inline(j);
        for (size_t k = 0; k < f->n_evidence; k++) {
            etp_json_z(j, f->evidence[k]);
        }
        etp_json_end(j);
        etp_json_end(j);
    }
    etp_json_end(j);
}

void etp_ab_whatif_section(const etp_ab *ab, etp_report *r, etp_arena *arena)
{
    uint32_t arm = ab->n_comparisons ? ab->comparisons[0].candidate : ab->baseline;
    const etp_profile *p = ab->n_arms ? ab->arms[arm].profile : NULL;
    const etp_profile *base = ab->n_arms ? ab->arms[ab->baseline].profile : NULL;
    bool compared = arm != ab->baseline && base;
    if (!p || ab->emulated || ab->n_operators == 0 || p->execute_total_ns <= 0) {
        return;
    }
    bool pairs = arm == ab->baseline || (base && base->n_dumps == p->n_dumps);
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    etp_sink sink = etp_sink_strbuf(&text);
    etp_json j;
    etp_json_init(&j, &sink, false);
    etp_json_begin_object(&j);
    etp_json_kv_z(&j, "arm", ab->arms[arm].measured);
    etp_json_kv_z(&j, "baseline", compared ? ab->arms[ab->baseline].measured : NULL);
    executions(&j, "inference", p);
    if (compared) {
        executions(&j, "before", base);
    }
    double factor = pairs ? interval_factor(p->n_dumps, arena) : (double)NAN;
    if (isfinite(factor)) {
        etp_json_key(&j, "factor");
        etp_json_double(&j, factor);
    }
    fixes(&j, ab);
    operators(&j, ab, arm, compared);
    etp_json_end(&j);
    etp_json_end_document(&j);
    etp_report_section(r, 1, "whatif", "What if");
    etp_report_text(r,
                    "An inference of %s recomputed by addition of measured times, with operators "
                    "taken out, as they were before, or at their roof: the arithmetic of 'etprof "
                    "whatif'. Fixes count with their likely gain, their floor and their ceiling.",
                    ab->arms[arm].measured);
    if (!text.failed) {
        etp_report_attach_json(r, "whatif-data", etp_strbuf_str(&text));
    }
}
