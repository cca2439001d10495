// SPDX-License-Identifier: Apache-2.0
// What the page's script needs to recompute an inference as `etprof whatif` does: times of
// operators by recording.
#include "show/whatif_data.h"

#include <math.h>

#include "document/rows.h"
#include "show/times.h"

#define LEAST_SHARE 0.0005 // of an inference; operators below it change nothing that is shown

typedef struct page_times {
    int64_t *items;
    size_t n;
} page_times;

// `before` is for the change "back to the baseline", `roof_ns` for "at its roof".
typedef struct page_operator {
    const char *id;
    page_times ns, before;
    int64_t truncation_ns, cut_before_ns;
    double roof_ns; // NAN
} page_operator;

typedef struct page_data {
    const char *arm, *baseline, *command;
    page_times inference, before;
    double factor; // NAN
    double scale;
    const etp_ab_fix *fixes;
    size_t n_fixes;
    page_operator *operators;
    size_t n_operators;
} page_data;

static int64_t total_ns(const etp_ab_operator *op, uint32_t arm)
{
    int64_t sum = op->rows[arm] ? op->rows[arm]->total_ns : 0;
    for (size_t i = 0; i < op->merged[arm].n; i++) {
        sum += op->merged[arm].items[i]->total_ns;
    }
    return sum;
}

// [executions, nanoseconds] over all recordings, then of each.
static void executions(const etp_profile *p, page_times *out, etp_arena *arena)
{
    out->items = ETP_NEW_ARRAY(arena, int64_t, 2 * (p->n_dumps + 1));
    for (size_t d = 0; out->items && d <= p->n_dumps; d++) { // the total first
        out->items[2 * d] = (int64_t)(d ? p->per_dump_executions[d - 1] : p->executions);
        out->items[2 * d + 1] = d ? p->per_dump_execute_ns[d - 1] : p->execute_total_ns;
        out->n = 2 * d + 2;
    }
}

// The sum of all first, so that the script adds up whole numbers and rounds once.
static void times(const etp_ab *ab, const etp_ab_operator *op, uint32_t arm, page_times *out,
                  etp_arena *arena)
{
    size_t n = ab->arms[arm].profile->n_dumps;
    out->items = ETP_NEW_ARRAY(arena, int64_t, n + 1);
    for (size_t d = 0; out->items && d <= n; d++) {
        out->items[d] = d ? etp_ab_recorded_ns(op, arm, d - 1) : total_ns(op, arm);
        out->n = d + 1;
    }
}

// Half of a 95 % interval ÷ the standard error of its mean, of N values.
// The script has no t distribution: this factor is the same for any N values, so it is computed
// once here, from values that are only there to have a spread.
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

static void operators(const etp_ab *ab, uint32_t arm, bool compared, page_data *out,
                      etp_arena *arena)
{
    out->operators = ETP_NEW_ARRAY(arena, page_operator, ab->n_operators);
    for (size_t i = 0; out->operators && i < ab->n_operators; i++) {
        const etp_ab_operator *op = &ab->operators[ab->by_time[i]];
        const etp_profile *p = ab->arms[arm].profile;
        if (!op->rows[arm] ||
            (double)total_ns(op, arm) < LEAST_SHARE * (double)p->execute_total_ns) {
            continue;
        }
        page_operator *o = &out->operators[out->n_operators++];
        o->id = op->id;
        times(ab, op, arm, &o->ns, arena);
        o->truncation_ns = etp_ab_operator_time(ab, op, arm).truncation_ns;
        if (compared && etp_ab_goes_back(ab, op, arm)) {
            times(ab, op, ab->baseline, &o->before, arena);
            o->cut_before_ns = etp_ab_operator_time(ab, op, ab->baseline).truncation_ns;
        }
        bool roof = op->roofs && op->roofs[arm].verdict != ETP_ROOF_UNKNOWN;
        o->roof_ns = roof ? op->roofs[arm].roof_ns : (double)NAN;
    }
}

// ---- document ----

#define OF etp_ab_fix
static const etp_field k_fix_rows[] = {
    FIELD("id", TEXT, id, "a fix of `next_fixes`", .flags = ETP_SET),
    FIELD("lo", NS, lo_ns, "gain per inference: floor, nanoseconds", .range = ETP_SIGNED,
          .flags = ETP_SET),
    FIELD("expected", NS, expected_ns, "likely", .range = ETP_SIGNED, .flags = ETP_ABSENT),
    FIELD("hi", NS, hi_ns, "ceiling", .range = ETP_SIGNED, .flags = ETP_SET),
    LIST("of", TEXT, evidence, n_evidence, "what it rests on: operators, rows of the ledger",
         .flags = ETP_SET | ETP_ONE_LINE),
};
static SHAPE_ON_ONE_LINE(k_fix, k_fix_rows);
#undef OF
#define OF page_operator
static const etp_field k_operator_rows[] = {
    FIELD("id", TEXT, id, "an operator of `operators`", .flags = ETP_SET),
    LIST("ns", INT, ns.items, ns.n,
         "nanoseconds over all executions of the arm's recordings, then of each recording",
         .flags = ETP_ONE_LINE),
    LIST("before", INT, before.items, before.n,
         "likewise of the baseline; empty without one, or where that did not log it",
         .flags = ETP_ONE_LINE),
    FIELD("cut", INT, truncation_ns, "most that the clocks can have cut off it in an inference"),
    FIELD("cut_before", INT, cut_before_ns, "likewise of the baseline"),
    FIELD("roof", NUMBER, roof_ns, "least time the device could do it in, nanoseconds",
          .flags = ETP_ABSENT),
};
static SHAPE_ON_ONE_LINE(k_operator, k_operator_rows);
#undef OF
#define OF page_data
static const etp_field k_rows[] = {
    FIELD("arm", TEXT, arm, "whose inference is recomputed", .flags = ETP_SET),
    FIELD("baseline", TEXT, baseline, "what it is compared with; null: a single arm"),
    FIELD("command", TEXT, command, "what prints the same, up to the changes; null: nothing does"),
    LIST("inference", INT, inference.items, inference.n,
         "executions and nanoseconds of `Method::execute`: over all recordings of the arm, then of "
         "each",
         .flags = ETP_ONE_LINE),
    LIST("before", INT, before.items, before.n, "likewise of the baseline; empty without one",
         .flags = ETP_ONE_LINE),
    FIELD("factor", NUMBER, factor,
          "half of a 95 % t interval ÷ standard error of a mean over the recordings",
          .flags = ETP_ABSENT),
    FIELD("scale", NUMBER, scale,
          "time of an inference without recording ÷ with it, which turns recorded times into those "
          "that the page tells; 1: no time without recording is known",
          .flags = ETP_SET),
    LIST("fixes", OBJECT, fixes, n_fixes, "as `next_fixes` of `etprof.ab/1`", .shape = &k_fix),
    LIST("operators", OBJECT, operators, n_operators, "from 0.05 % of an inference, longest first",
         .shape = &k_operator),
};
static SHAPE(k_page, k_rows);
#undef OF
const etp_document k_etp_page_document = {
    "etprof.page/1", "What the script of report.html computes What if from, in the page itself",
    &k_page};

void etp_ab_whatif_section(const etp_ab *ab, const char *command, etp_report *r, etp_arena *arena)
{
    uint32_t arm = ab->bottleneck_arm;
    const etp_profile *p = ab->n_arms ? ab->arms[arm].profile : NULL;
    const etp_profile *base = ab->n_arms ? ab->arms[ab->baseline].profile : NULL;
    bool compared = arm != ab->baseline && base && etp_ab_told(ab, 0) && !ab->unrelated;
    if (!p || ab->emulated || ab->n_operators == 0 || p->execute_total_ns <= 0 ||
        ab->arms[arm].waited > ETP_WAIT_MOST) {
        return;
    }
    // Recordings of two arms are paired by block; with different numbers of them nothing tells
    // which belongs to which, and no interval is given.
    bool pairs = arm == ab->baseline || (base && base->n_dumps == p->n_dumps);
    page_data data = {.arm = ab->arms[arm].measured,
                      .command = command,
                      .baseline = compared ? ab->arms[ab->baseline].measured : NULL,
                      .factor = pairs ? interval_factor(p->n_dumps, arena) : (double)NAN,
                      .scale = etp_ab_untraced(&ab->arms[arm]),
                      .fixes = ab->fixes.items,
                      .n_fixes = ab->fixes.n};
    executions(p, &data.inference, arena);
    if (compared) {
        executions(base, &data.before, arena);
    }
    operators(ab, arm, compared, &data, arena);
    etp_str text = etp_document_text(&k_etp_page_document, &data, &data, false, arena);
    etp_report_section(r, 1, "whatif", "What if");
    etp_report_section_is_folded(r);
    etp_report_text(r,
                    "An inference of %s recomputed by addition of measured times, with operators "
                    "taken out, as they were before, or at their roof: the arithmetic of 'etprof "
                    "whatif'%s. Fixes count with their likely gain, their floor and their ceiling.",
                    ab->arms[arm].measured,
                    etp_if(data.scale != 1, ", in times without recording"));
    if (text.len > 0 && data.inference.items && data.operators) {
        etp_report_attach_json(r, "whatif-data", text);
    }
}
