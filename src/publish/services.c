// SPDX-License-Identifier: Apache-2.0
// Figures of a session for services of others: names and units are theirs, estimates and
// intervals ours. What is withheld or unknown is left out, never written as a number.
#include "publish/services.h"

#include <math.h>
#include <stddef.h>

#include "base/json.h"
#include "base/number.h"

// The comparison whose candidate ARM is; NULL: none, or it is withheld.
static const etp_archive_comparison *given(const etp_archive_session *s, size_t arm)
{
    for (size_t i = 0; i < s->comparisons.n; i++) {
        const etp_archive_comparison *c = &s->comparisons.items[i];
        if (c->candidate == arm && c->withheld.len == 0 && isfinite(c->estimate)) {
            return c;
        }
    }
    return NULL;
}

static etp_str baseline_of(const etp_archive_session *s, const etp_archive_comparison *c)
{
    return c->baseline < s->arms.n ? s->arms.items[c->baseline].experiment : (etp_str){0};
}

// ---- PyTorch's benchmark database ----

// The database's extra_info holds texts alone, so numbers are written as such.
static void kv_number(etp_json *j, const char *key, double v) // a map of texts
{
    char buf[ETP_NUMBER_CHARS];
    if (isfinite(v)) {
        etp_json_kv_z(j, key, etp_format_double(v, buf));
    }
}

static void kv_known(etp_json *j, const char *key, etp_str s)
{
    if (s.len) {
        etp_json_kv_str(j, key, s);
    }
}

// Keys that the schema requires and a session does not know are empty texts.
static void hud_head(etp_json *j, const etp_archive_session *s, const etp_archive_arm *arm)
{
    char buf[ETP_NUMBER_CHARS];
    etp_json_key(j, "benchmark");
    etp_json_begin_object(j);
    etp_json_kv_z(j, "name", "ExecuTorch");
    etp_json_kv_z(j, "mode", "inference");
    etp_json_kv_z(j, "dtype", "");
    etp_json_key(j, "extra_info");
    etp_json_begin_object(j);
    etp_json_kv_z(j, "tool", "etprof");
    etp_json_kv_str(j, "run_id", s->run_id);
    etp_json_kv_str(j, "generated_at", s->generated_at);
    kv_known(j, "grade", s->grade);
    etp_json_end(j);
    etp_json_end(j);
    etp_json_key(j, "model");
    etp_json_begin_object(j);
    etp_json_kv_str(j, "name", arm->model);
    etp_json_kv_z(j, "type", "OSS model");
    etp_json_kv_z(j, "backend", "");
    etp_json_key(j, "extra_info");
    etp_json_begin_object(j);
    kv_known(j, "sha256", arm->model_sha256);
    etp_json_kv_str(j, "arm", arm->experiment);
    kv_known(j, "level", arm->level);
    kv_known(j, "phase", arm->phase);
    etp_json_kv_str(j, "threads", etp_format_u64(arm->threads, buf));
    etp_json_end(j);
    etp_json_end(j);
}

static void hud_tail(etp_json *j, const etp_archive_session *s)
{
    etp_json_key(j, "runners");
    etp_json_begin_array(j);
    etp_json_begin_object(j);
    etp_json_kv_str(j, "name", s->device);
    etp_json_kv_str(j, "type", s->platform);
    etp_json_kv_str(j, "cpu_info", s->cpu);
    etp_json_end(j);
    etp_json_end(j);
    etp_json_key(j, "dependencies");
    etp_json_begin_object(j);
    etp_json_key(j, "executorch");
    etp_json_begin_object(j);
    etp_json_kv_z(j, "repo", "pytorch/executorch");
    etp_json_kv_str(j, "version", s->executorch);
    etp_json_end(j);
    etp_json_end(j);
}

typedef struct hud_metric {
    const char *name;
    const double *values; // in ns, bytes …
    size_t n;
    double per, lo, hi; // shown is VALUE / PER, 1 for ratios and rates; LO, HI of the interval
    const etp_archive_comparison *compared;
} hud_metric;

// Times and sizes are whole nanoseconds and bytes, as everywhere; a mean of logarithms is none yet.
static double in_unit(double v, double per)
{
    return per == 1 ? v : round(v) / per;
}

// A metric of which nothing is known has no record: the format cannot say so.
static void hud_record(etp_json *j, const etp_archive_session *s, const etp_archive_arm *arm,
                       hud_metric m)
{
    size_t n = 0;
    for (size_t i = 0; i < m.n; i++) {
        n += isfinite(m.values[i]) ? 1 : 0;
    }
    if (n == 0) {
        return;
    }
    etp_json_begin_object(j);
    hud_head(j, s, arm);
    etp_json_key(j, "metric");
    etp_json_begin_object(j);
    etp_json_kv_z(j, "name", m.name);
    etp_json_key(j, "benchmark_values");
    etp_json_begin_array_inline(j);
    for (size_t i = 0; i < m.n; i++) {
        if (isfinite(m.values[i])) {
            etp_json_double(j, in_unit(m.values[i], m.per));
        }
    }
    etp_json_end(j);
    etp_json_kv_u64(j, "target_value", 0);
    etp_json_key(j, "extra_info");
    etp_json_begin_object(j);
    kv_number(j, "lo", in_unit(m.lo, m.per));
    kv_number(j, "hi", in_unit(m.hi, m.per));
    if (m.compared) {
        etp_json_kv_str(j, "baseline", baseline_of(s, m.compared));
        kv_known(j, "verdict", m.compared->verdict);
    }
    etp_json_end(j);
    etp_json_end(j);
    hud_tail(j, s);
    etp_json_end(j);
}

void etp_service_hud(const etp_archive_session *s, etp_sink *sink)
{
    const double none = (double)NAN;
    etp_json j;
    etp_json_init(&j, sink, true);
    etp_json_begin_array(&j);
    for (size_t i = 0; i < s->arms.n; i++) {
        const etp_archive_arm *a = &s->arms.items[i];
        const etp_archive_comparison *c = given(s, i);
        hud_record(&j, s, a,
                   (hud_metric){"avg_inference_latency(ms)", a->block_ns, a->n_blocks, 1e6,
                                a->lo_ns, a->hi_ns, NULL});
        hud_record(&j, s, a,
                   (hud_metric){"model_load_time(ms)", &a->load_ns, 1, 1e6, none, none, NULL});
        hud_record(&j, s, a,
                   (hud_metric){"peak_inference_mem_usage(mb)", &a->peak_rss_bytes, 1, 1024 * 1024,
                                none, none, NULL});
        hud_record(&j, s, a,
                   (hud_metric){"token_per_sec", &a->tokens_per_s, 1, 1, none, none, NULL});
        if (c) {
            hud_record(&j, s, a, (hud_metric){"speedup", &c->estimate, 1, 1, c->lo, c->hi, c});
        }
    }
    etp_json_end(&j);
    etp_json_end_document(&j);
}

// ---- github-action-benchmark ----

// Whole nanoseconds to the last digit, a ratio with six.
static const char *end_of(double v, char buf[static ETP_NUMBER_CHARS])
{
    return v == round(v) ? etp_format_double(v, buf) : etp_format_ratio(v, buf);
}

// The action knows a figure by its name from one commit to the next, so the name says all that
// makes it another figure.
static void github_entry(etp_json *j, const etp_archive_session *s, const etp_archive_arm *arm,
                         const char *what, const char *unit, double value, double lo, double hi,
                         etp_str baseline, etp_arena *arena)
{
    char low[ETP_NUMBER_CHARS], high[ETP_NUMBER_CHARS];
    if (!isfinite(value)) {
        return;
    }
    etp_strbuf name, extra;
    etp_strbuf_init(&name, arena);
    etp_strbuf_init(&extra, arena);
    etp_strbuf_printf(&name, "%.*s/%.*s/t%llu/%s", ETP_STR_ARG(arm->model),
                      ETP_STR_ARG(arm->experiment), (unsigned long long)arm->threads, what);
    etp_strbuf_printf(&extra, "%.*s\n%.*s\nExecuTorch %.*s", ETP_STR_ARG(s->device),
                      ETP_STR_ARG(s->cpu), ETP_STR_ARG(s->executorch));
    if (baseline.len) {
        etp_strbuf_printf(&extra, "\nover %.*s", ETP_STR_ARG(baseline));
    }
    etp_json_begin_object(j);
    etp_json_kv_str(j, "name", etp_strbuf_str(&name));
    etp_json_kv_z(j, "unit", unit);
    etp_json_kv_double(j, "value", value);
    // The action does not read the interval: it is for people.
    if (isfinite(lo) && isfinite(hi)) {
        etp_strbuf range;
        etp_strbuf_init(&range, arena);
        etp_strbuf_printf(&range, "[%s, %s]", end_of(lo, low), end_of(hi, high));
        etp_json_kv_str(j, "range", etp_strbuf_str(&range));
    }
    etp_json_kv_str(j, "extra", etp_strbuf_str(&extra));
    etp_json_end(j);
}

// A file of the action has one direction, hence two kinds.
void etp_service_github(const etp_archive_session *s, bool bigger, etp_arena *arena, etp_sink *sink)
{
    const etp_str none = {0};
    etp_json j;
    etp_json_init(&j, sink, true);
    etp_json_begin_array(&j);
    for (size_t i = 0; i < s->arms.n; i++) {
        const etp_archive_arm *a = &s->arms.items[i];
        const etp_archive_comparison *c = given(s, i);
        if (!bigger) {
            github_entry(&j, s, a, "latency", "ns", a->median_ns, round(a->lo_ns), round(a->hi_ns),
                         none, arena);
            continue;
        }
        github_entry(&j, s, a, "tokens", "tok/s", a->tokens_per_s, (double)NAN, (double)NAN, none,
                     arena);
        if (c) {
            github_entry(&j, s, a, "speedup", "x", c->estimate, c->lo, c->hi, baseline_of(s, c),
                         arena);
        }
    }
    etp_json_end(&j);
    etp_json_end_document(&j);
}

// ---- OpenMetrics ----

// OpenMetrics escapes these three characters in a label's value, and no others.
static void label(etp_sink *sink, const char *name, etp_str value, bool first)
{
    etp_sink_printf(sink, "%s%s=\"", first ? "" : ",", name);
    for (size_t i = 0; i < value.len; i++) {
        char c = value.ptr[i];
        if (c == '\n') {
            etp_sink_z(sink, "\\n");
            continue;
        }
        if (c == '"' || c == '\\') {
            etp_sink_char(sink, '\\');
        }
        etp_sink_char(sink, c);
    }
    etp_sink_char(sink, '"');
}

typedef struct family {
    const char *name, *unit, *help; // the name ends in the unit, where it has one
    size_t offset;                  // of the figure, in etp_archive_arm or etp_archive_comparison
    double per;                     // as of in_unit
} family;
#define ARM(member) offsetof(etp_archive_arm, member)
#define COMPARISON(member) offsetof(etp_archive_comparison, member)

static double figure_of(family f, const void *object)
{
    return in_unit(*(const double *)(const void *)((const char *)object + f.offset), f.per);
}

static void family_head(etp_sink *sink, family f)
{
    etp_sink_printf(sink, "# TYPE %s gauge\n", f.name);
    if (f.unit) {
        etp_sink_printf(sink, "# UNIT %s %s\n", f.name, f.unit);
    }
    etp_sink_printf(sink, "# HELP %s %s\n", f.name, f.help);
}

// What is not known has no point: a monitor shows a gap, not a zero.
static void point(etp_sink *sink, family f, const etp_archive_session *s,
                  const etp_archive_arm *arm, etp_str baseline, double v)
{
    char buf[ETP_NUMBER_CHARS];
    if (!isfinite(v)) {
        return;
    }
    etp_sink_printf(sink, "%s{", f.name);
    label(sink, "model", arm->model, true);
    label(sink, "arm", arm->experiment, false);
    label(sink, "level", arm->level, false);
    label(sink, "phase", arm->phase, false);
    label(sink, "threads", etp_format_u64(arm->threads, buf), false);
    label(sink, "device", s->device, false);
    label(sink, "cpu", s->cpu, false);
    if (baseline.len) {
        label(sink, "baseline", baseline, false);
    }
    etp_sink_printf(sink, "} %s\n", etp_format_double(v, buf));
}

void etp_service_openmetrics(const etp_archive_session *s, etp_sink *sink)
{
    static const family k_arm[] = {
        {"etprof_latency_seconds",       "seconds", "Untraced latency of an inference, median.",
         ARM(median_ns),                                                                                              1e9},
        {"etprof_latency_lower_seconds", "seconds", "Lower end of its 95 % interval.",             ARM(lo_ns),
         1e9                                                                                                             },
        {"etprof_latency_upper_seconds", "seconds", "Upper end of its 95 % interval.",             ARM(hi_ns),
         1e9                                                                                                             },
        {"etprof_load_seconds",          "seconds", "Loading the program and its method, median.",
         ARM(load_ns),                                                                                                1e9},
        {"etprof_first_seconds",         "seconds", "First inference of a process, median.",       ARM(first_ns),
         1e9                                                                                                             },
        {"etprof_peak_memory_bytes",     "bytes",   "Peak resident memory of the process.",
         ARM(peak_rss_bytes),                                                                                         1  },
        {"etprof_token_rate",            NULL,      "Tokens a second.",                            ARM(tokens_per_s), 1  },
    };
    static const family k_speedup[] = {
        {"etprof_speedup_ratio",       "ratio", "Latency of the baseline over that of the arm.",
         COMPARISON(estimate),                                                                                   1},
        {"etprof_speedup_lower_ratio", "ratio", "Lower end of its 95 % interval.",               COMPARISON(lo),
         1                                                                                                        },
        {"etprof_speedup_upper_ratio", "ratio", "Upper end of its 95 % interval.",               COMPARISON(hi),
         1                                                                                                        },
    };
    // All points of a family have to follow its heading, so the loop over arms is the inner one.
    for (size_t f = 0; f < sizeof k_arm / sizeof *k_arm; f++) {
        family_head(sink, k_arm[f]);
        for (size_t i = 0; i < s->arms.n; i++) {
            const etp_archive_arm *arm = &s->arms.items[i];
            point(sink, k_arm[f], s, arm, (etp_str){0}, figure_of(k_arm[f], arm));
        }
    }
    for (size_t f = 0; f < sizeof k_speedup / sizeof *k_speedup; f++) {
        family_head(sink, k_speedup[f]);
        for (size_t i = 0; i < s->arms.n; i++) {
            const etp_archive_comparison *c = given(s, i);
            if (c) {
                point(sink, k_speedup[f], s, &s->arms.items[i], baseline_of(s, c),
                      figure_of(k_speedup[f], c));
            }
        }
    }
    etp_sink_z(sink, "# TYPE etprof_session info\n# HELP etprof_session What was measured with "
                     "what.\netprof_session_info{");
    label(sink, "run_id", s->run_id, true);
    label(sink, "generated_at", s->generated_at, false);
    label(sink, "executorch", s->executorch, false);
    label(sink, "etprof", s->etprof, false);
    label(sink, "grade", s->grade, false);
    etp_sink_z(sink, "} 1\n# EOF\n");
}
