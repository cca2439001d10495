// SPDX-License-Identifier: Apache-2.0
// Tables over all experiments: categories, operators, end-to-end latency, comparison.
#include "kit/parts.h"

#include <math.h>
#include <stdlib.h>

#include "base/csv.h"
#include "document/layouts.h"

static double percent_of(const etp_kit_arm *arm, int64_t ns)
{
    int64_t whole = arm->mean.execute_ns;
    bool known = ns != ETP_NS_UNKNOWN && whole > 0;
    return etp_value_if(known, 100 * ((double)ns / (double)whole));
}

// experiment, threads, level: the first of our own columns in tables over all experiments.
// The kit's tables are of one experiment each; ours are of all, so the lines have to say which.
static void put_experiment(etp_sink *s, const etp_kit_arm *arm)
{
    etp_kit_put_text(s, etp_str_from(arm->arm->name));
    etp_kit_put_ns(s, ETP_OR(arm->arm->threads, ETP_NS_UNKNOWN));
    etp_kit_put_level(s, arm);
}

// ---- categories ----

typedef struct ranked {
    int64_t ns;
    uint32_t index;
} ranked;

// Ties go by place, since qsort keeps no order and the same raw files must give the same bytes.
static int slowest_first(const void *pa, const void *pb)
{
    const ranked *a = pa, *b = pb;
    return etp_order_then(ETP_ORDER(b->ns, a->ns), ETP_ORDER(a->index, b->index));
}

static void arm_categories(const etp_kit_arm *arm, etp_sink *s)
{
    const etp_profile *p = arm->arm->profile;
    ranked order[ETP_CATEGORY_COUNT];
    size_t n = 0;
    for (uint32_t c = 0; c < ETP_CATEGORY_COUNT; c++) {
        if (arm->mean.category_rows[c]) {
            order[n++] = (ranked){arm->mean.category_ns[c], c};
        }
    }
    qsort(order, n, sizeof *order, slowest_first);
    for (size_t i = 0; i < n; i++) {
        etp_category c = (etp_category)order[i].index;
        int64_t total = 0; // of all executions together, as the kit has it in total_ms
        for (size_t k = 0; k < p->n_rows; k++) {
            bool mine = etp_row_is_operator(p->rows[k].kind) && p->rows[k].parsed.category == c;
            total += mine ? p->rows[k].all_ns : 0;
        }
        etp_sink_z(s, etp_category_name(c));
        etp_kit_put_ms(s, total);
        etp_kit_put_ms(s, order[i].ns);
        etp_kit_put_ratio(s, percent_of(arm, order[i].ns));
        etp_sink_printf(s, ",%zu", arm->mean.category_rows[c]);
        put_experiment(s, arm);
        etp_sink_printf(s, ",%s,%lld,mean of all executions\n",
                        etp_kit_category_name(etp_kit_category_of(c)), (long long)order[i].ns);
    }
}

etp_status etp_kit_category_summary(const etp_kit *kit, const etp_kit_arm *none, etp_sink *sink,
                                    etp_arena *scratch, etp_error *err)
{
    (void)none, (void)scratch, (void)err;
    etp_layout_header(sink, ETP_LAYOUT_CATEGORIES);
    for (size_t i = 0; i < kit->n_arms; i++) {
        if (kit->arms[i].arm->profile) {
            arm_categories(&kit->arms[i], sink);
        }
    }
    return ETP_OK;
}

// ---- operators ----

// What the kit has no group for.
static bool is_other(etp_category c)
{
    return c == ETP_CATEGORY_OTHER || c == ETP_CATEGORY_EMBEDDING || c == ETP_CATEGORY_SEARCH ||
           c == ETP_CATEGORY_FILL || c == ETP_CATEGORY_CONTROL || c == ETP_CATEGORY_UNLOGGED;
}

// Operators of one experiment, slowest first, at most LIMIT. OTHERS: only those that the kit has no
// group for.
static void arm_operators(const etp_kit_arm *arm, bool others, size_t limit, etp_sink *sink,
                          etp_arena *scratch)
{
    const etp_profile *p = arm->arm->profile;
    if (!p) {
        return;
    }
    ranked *order = ETP_NEW_ARRAY(scratch, ranked, p->n_rows);
    size_t n = 0;
    for (uint32_t i = 0; i < p->n_rows; i++) {
        // Rows that are no operator have none: containers would stand beside what they contain.
        if (arm->mean.row_ns[i] != ETP_NS_UNKNOWN &&
            (!others || is_other(p->rows[i].parsed.category))) {
            order[n++] = (ranked){arm->mean.row_ns[i], i};
        }
    }
    qsort(order, n, sizeof *order, slowest_first);
    for (size_t i = 0; i < n && i < limit; i++) {
        const uint32_t index = order[i].index;
        const etp_profile_row *row = &arm->arm->profile->rows[index];
        etp_category c = row->parsed.category;
        int64_t ns = arm->mean.row_ns[index];
        etp_csv_text(sink, row->name);
        etp_sink_printf(sink, ",%s", etp_category_name(c));
        etp_kit_put_ms(sink, row->all_ns);
        etp_kit_put_ms(sink, ns);
        etp_kit_put_ratio(sink, percent_of(arm, ns));
        etp_sink_printf(sink, ",%llu", (unsigned long long)row->calls);
        put_experiment(sink, arm);
        etp_sink_printf(sink, ",%s,%lld,%ld,%ld,%lu,%s",
                        etp_kit_category_name(etp_kit_category_of(c)), (long long)ns,
                        (long)row->chain, (long)row->instruction, (unsigned long)row->occurrence,
                        etp_row_kind_name(row->kind));
        etp_kit_put_backend(sink, arm, row->delegated);
        etp_sink_char(sink, '\n');
    }
}

static etp_status operators(const etp_kit *kit, bool others, size_t limit, etp_sink *sink,
                            etp_arena *scratch)
{
    etp_layout_header(sink, ETP_LAYOUT_OPERATORS);
    for (size_t i = 0; i < kit->n_arms; i++) {
        arm_operators(&kit->arms[i], others, limit, sink, scratch);
    }
    return ETP_OK;
}

etp_status etp_kit_operator_details(const etp_kit *kit, const etp_kit_arm *none, etp_sink *sink,
                                    etp_arena *scratch, etp_error *err)
{
    (void)none, (void)err;
    return operators(kit, false, SIZE_MAX, sink, scratch);
}

etp_status etp_kit_other_top_ops(const etp_kit *kit, const etp_kit_arm *none, etp_sink *sink,
                                 etp_arena *scratch, etp_error *err)
{
    (void)none, (void)err;
    return operators(kit, true, 2, sink, scratch); // the kit keeps two
}

// ---- end to end ----

// First the kit's columns, of all traced executions, as it counts them; then parts that add up to
// the mean of those that the profile takes, and the untraced median with its interval.
static void latency_line(const etp_kit_arm *arm, etp_sink *s)
{
    const etp_profile *p = arm->arm->profile;
    uint64_t lo = UINT64_MAX, hi = 0, total = 0;
    for (size_t i = 0; i < arm->n_runs; i++) {
        total += arm->latency_ns[i];
        lo = ETP_MIN(arm->latency_ns[i], lo);
        hi = ETP_MAX(arm->latency_ns[i], hi);
    }
    etp_csv_text(s, etp_str_from(arm->stem));
    etp_sink_printf(s, ",%zu", arm->n_runs);
    if (p && arm->n_runs > 0) {
        etp_kit_put_ms(s, (int64_t)total);
        etp_kit_put_ms(s, llround((double)total / (double)arm->n_runs));
        etp_kit_put_ms(s, (int64_t)lo);
        etp_kit_put_ms(s, (int64_t)hi);
    } else {
        etp_sink_z(s, ",,,,");
    }
    put_experiment(s, arm);
    int64_t parts[] = {arm->mean.execute_ns, 0, arm->mean.boundary_ns, arm->mean.framework_ns,
                       arm->mean.unexplained_ns};
    for (int c = 0; c < ETP_CATEGORY_COUNT; c++) {
        parts[1] += arm->mean.category_ns[c];
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        etp_kit_put_ns(s, p ? parts[i] : ETP_NS_UNKNOWN);
    }
    etp_kit_put_ns(s, arm->arm->median_ns);
    bool interval = isfinite(arm->arm->lo_ns) && isfinite(arm->arm->hi_ns);
    etp_kit_put_ns(s, interval ? llround(arm->arm->lo_ns) : ETP_NS_UNKNOWN);
    etp_kit_put_ns(s, interval ? llround(arm->arm->hi_ns) : ETP_NS_UNKNOWN);
    etp_sink_char(s, '\n');
}

etp_status etp_kit_e2e_latency(const etp_kit *kit, const etp_kit_arm *none, etp_sink *sink,
                               etp_arena *scratch, etp_error *err)
{
    (void)none, (void)scratch, (void)err;
    etp_layout_header(sink, ETP_LAYOUT_LATENCY);
    for (size_t i = 0; i < kit->n_arms; i++) {
        latency_line(&kit->arms[i], sink);
    }
    return ETP_OK;
}

// ---- comparison ----

static void put_named(etp_sink *sink, const etp_kit_arm *arm, const char *suffix,
                      etp_arena *scratch)
{
    const char *name = etp_arena_printf(scratch, "%s%s", arm->arm->name, suffix);
    etp_kit_put_text(sink, etp_str_from(name));
}

// All columns are the answer's, of the executions around the median: a mean of all holds those
// that other programs cut, and two such means make a ratio that the answer's interval excludes.
static void put_ms(const etp_kit_arm *arm, const etp_ab_category *c, etp_sink *sink)
{
    if (c->ns[arm->index] != ETP_NS_UNKNOWN) {
        etp_kit_put_ms(sink, c->ns[arm->index]);
    } else {
        etp_sink_char(sink, ',');
    }
}

static void put_percent(const etp_kit_arm *arm, const etp_ab_category *c, etp_sink *sink)
{
    etp_kit_put_ratio(sink, 100 * c->share[arm->index]);
}

static void put_speedup(const etp_kit *kit, const etp_kit_arm *arm, const etp_ab_category *c,
                        etp_sink *sink)
{
    const etp_ab_comparison *of = etp_ab_comparison_of(kit->ab, arm->index);
    etp_kit_put_ratio(sink, of ? c->speedup[of - kit->ab->comparisons] : (double)NAN);
}

static void comparison_line(const etp_kit *kit, const etp_ab_category *c, etp_sink *sink)
{
    const etp_kit_arm *base = &kit->arms[0], *first = &kit->arms[1];
    etp_sink_z(sink, etp_category_name(c->category));
    put_ms(base, c, sink);
    put_ms(first, c, sink);
    put_speedup(kit, first, c, sink);
    put_percent(base, c, sink);
    put_percent(first, c, sink);
    for (size_t i = 2; i < kit->n_arms; i++) {
        put_ms(&kit->arms[i], c, sink);
        put_speedup(kit, &kit->arms[i], c, sink);
        put_percent(&kit->arms[i], c, sink);
    }
    etp_sink_printf(sink, ",%s", etp_kit_category_name(etp_kit_category_of(c->category)));
    for (size_t i = 0; i < kit->n_arms; i++) {
        etp_kit_put_ns(sink, c->ns[kit->arms[i].index]);
    }
    etp_sink_z(sink, ",mean of the executions around the median");
    for (size_t i = 0; i < kit->n_arms; i++) {
        etp_kit_put_level(sink, &kit->arms[i]);
    }
    etp_sink_char(sink, '\n');
}

etp_status etp_kit_comparison(const etp_kit *kit, const etp_kit_arm *none, etp_sink *sink,
                              etp_arena *scratch, etp_error *err)
{
    (void)none, (void)err;
    // The kit's columns stand for the baseline and the first candidate; every further candidate
    // adds three of its own.
    const etp_kit_arm *base = &kit->arms[0];
    etp_sink_z(sink, "category");
    put_named(sink, base, "_ms", scratch);
    put_named(sink, &kit->arms[1], "_ms", scratch);
    etp_sink_z(sink, ",speedup");
    put_named(sink, base, "_pct", scratch);
    put_named(sink, &kit->arms[1], "_pct", scratch);
    for (size_t i = 2; i < kit->n_arms; i++) {
        put_named(sink, &kit->arms[i], "_ms", scratch);
        put_named(sink, &kit->arms[i], "_speedup", scratch);
        put_named(sink, &kit->arms[i], "_pct", scratch);
    }
    etp_sink_z(sink, ",five");
    for (size_t i = 0; i < kit->n_arms; i++) {
        put_named(sink, &kit->arms[i], "_ns", scratch);
    }
    etp_sink_z(sink, ",average");
    for (size_t i = 0; i < kit->n_arms; i++) {
        put_named(sink, &kit->arms[i], "_level", scratch);
    }
    etp_sink_char(sink, '\n');
    for (size_t i = 0; i < kit->ab->n_categories; i++) {
        comparison_line(kit, &kit->ab->categories[i], sink);
    }
    return ETP_OK;
}
