// SPDX-License-Identifier: Apache-2.0
// Recomputing an inference by addition: operators run one after another.
#include "judge/fixes/whatif.h"

#include <math.h>
#include <string.h>

#include <etprof/stats.h>

#include "base/guard.h"
#include "base/number.h"
#include "base/utf8.h"
#include "compare/bottlenecks.h"
#include "document/document.h"
#include "document/rows.h"

#define MAX_STEPS 64

// * and ?, without regard to case. Linear in pattern × text.
static bool glob(etp_str pattern, etp_str text)
{
    size_t p = 0, t = 0, star = SIZE_MAX, mark = 0;
    while (t < text.len) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = p++;
            mark = t;
        } else if (p < pattern.len &&
                   (pattern.ptr[p] == '?' || etp_lower(pattern.ptr[p]) == etp_lower(text.ptr[t]))) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++mark;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*') {
        p++;
    }
    return p == pattern.len;
}

static bool matches(const etp_ab *ab, const etp_ab_operator *op, etp_str pattern)
{
    // A pattern that names a category that occurs means its operators and no others: "conv*" is
    // Convolution, not Convert.
    bool any = false;
    for (size_t i = 0; !any && i < ab->n_operators; i++) {
        any = glob(pattern, etp_str_from(etp_category_name(ab->operators[i].category)));
    }
    if (any) {
        return glob(pattern, etp_str_from(etp_category_name(op->category)));
    }
    if (glob(pattern, etp_str_from(op->id)) || glob(pattern, etp_str_from(op->label))) {
        return true;
    }
    for (size_t a = 0; a < ab->n_arms; a++) {
        if (op->rows[a] &&
            (glob(pattern, op->names[a]) || glob(pattern, op->rows[a]->parsed.family))) {
            return true;
        }
    }
    return false;
}

typedef enum change_kind {
    CHANGE_DROP,
    CHANGE_BACK,
    CHANGE_SCALE,
    CHANGE_ROOF,
    CHANGE_THREADS,
    CHANGE_FIX
} change_kind;

typedef struct change {
    change_kind kind;
    etp_str pattern;
    double factor;    // SCALE
    uint64_t threads; // THREADS
} change;

// What is left of each operator: the baseline's time, or its roof, or neither. Changes come in the
// order in which they were asked for: one replaces what was said of an operator before, but
// `scale`, which works on what is left.
typedef struct redo {
    const etp_ab *ab;
    uint32_t arm;
    uint32_t in;    // arm whose times are added up: that of another thread count, else the same
    double *factor; // per operator: share of its time (of the baseline's, when back) that is left
    bool *back;     // per operator: the baseline's time instead
    double *faster; // per operator: this many times faster than its roof instead, NAN none
    // Gains of fixes as shares of an inference, which hold for recorded and for untraced ones.
    double fixed, fixed_lo, fixed_hi;
    bool open; // of one of them nothing but the range is known
    bool fixes;
    bool *touched, twice; // per operator: by a change so far; by a fix besides
} redo;

static etp_status parse(const char *text, change *out, etp_error *err)
{
    etp_str tokens[4], rest = etp_str_from(text);
    uint64_t number;
    size_t n = 0;
    while (n < 4 && etp_str_part(&rest, ' ', &tokens[n])) {
        n++;
    }
    *out = (change){0};
    if (n == 2 && etp_str_eqz(tokens[0], "drop")) {
        *out = (change){.kind = CHANGE_DROP, .pattern = tokens[1]};
    } else if (n == 2 && etp_str_eqz(tokens[0], "back")) {
        *out = (change){.kind = CHANGE_BACK, .pattern = tokens[1]};
    } else if (n == 2 && etp_str_eqz(tokens[0], "fix")) {
        *out = (change){.kind = CHANGE_FIX, .pattern = tokens[1]};
    } else if (n == 1 && tokens[0].len > 1 && tokens[0].ptr[0] == 'N' &&
               etp_parse_u64((etp_str){tokens[0].ptr + 1, tokens[0].len - 1}, &number)) {
        *out = (change){.kind = CHANGE_FIX, .pattern = tokens[0]};
    } else if (n == 3 && etp_str_eqz(tokens[0], "scale")) {
        *out = (change){.kind = CHANGE_SCALE, .pattern = tokens[1]};
        if (!etp_parse_double(tokens[2], &out->factor) || !(out->factor > 0)) {
            return etp_fail(err, ETP_USAGE, "'%s': how many times faster? a number above 0", text);
        }
    } else if (n == 2 && etp_str_eqz(tokens[0], "threads")) {
        out->kind = CHANGE_THREADS;
        if (!etp_parse_u64(tokens[1], &out->threads) || out->threads == 0) {
            return etp_fail(err, ETP_USAGE, "'%s': a thread count is a number above 0", text);
        }
    } else if (n == 2 && etp_str_eqz(tokens[1], "at-roof")) {
        *out = (change){.kind = CHANGE_ROOF, .pattern = tokens[0]};
    } else {
        return etp_fail(err, ETP_USAGE,
                        "'%s' is not a change; changes are: fix N1, drop GLOB, back GLOB, scale "
                        "GLOB N, GLOB at-roof, threads N",
                        text);
    }
    return ETP_OK;
}

// Mean over the executions of DUMP (SIZE_MAX: of all) of an operator's rows in an arm.
static double op_mean(const etp_ab *ab, const etp_ab_operator *op, uint32_t arm, size_t dump)
{
    const etp_profile *p = ab->arms[arm].profile;
    uint64_t n = dump == SIZE_MAX ? p->executions : p->per_dump_executions[dump];
    return n ? (double)etp_ab_recorded_ns(op, arm, dump) / (double)n : (double)NAN;
}

static double execute_mean(const etp_profile *p, size_t dump)
{
    return dump == SIZE_MAX
               ? (double)p->execute_total_ns / (double)p->executions
               : (double)p->per_dump_execute_ns[dump] / (double)p->per_dump_executions[dump];
}

// Inference time after all changes so far.
static double total(const redo *w, size_t dump)
{
    const etp_ab *ab = w->ab;
    double sum = execute_mean(ab->arms[w->in].profile, dump) * (1 - w->fixed);
    for (size_t i = 0; i < ab->n_operators; i++) {
        double now = op_mean(ab, &ab->operators[i], w->in, dump);
        if (w->back[i]) {
            sum += op_mean(ab, &ab->operators[i], ab->baseline, dump) * w->factor[i] - now;
        } else if (isfinite(w->faster[i])) {
            sum -= fmax(0, now - ab->operators[i].roofs[w->in].roof_ns / w->faster[i]);
        } else if (w->factor[i] != 1) {
            sum -= now * (1 - w->factor[i]);
        }
    }
    return sum;
}

// Times of another arm count for this one only where the two are held against each other.
static etp_status told(const etp_ab *ab, uint32_t arm, const char *text, etp_error *err)
{
    const etp_ab_comparison *c = etp_ab_comparison_of(ab, arm);
    if (ab->unrelated) {
        return etp_fail(err, ETP_UNKNOWN, "'%s': %s", text, ab->unrelated);
    }
    if (c && c->withheld) {
        return etp_fail(err, ETP_UNKNOWN, "'%s': %s against %s is withheld: %s", text,
                        ab->arms[arm].name, ab->arms[c->baseline].name,
                        etp_ab_withheld_text(c->withheld));
    }
    return ETP_OK;
}

// From here on the times of the arm that ran with so many threads count; what was asked before
// holds there.
static etp_status use_threads(redo *w, const change *c, const char *text, size_t *out_operators,
                              etp_error *err)
{
    const etp_ab *ab = w->ab;
    const etp_ab_arm *own = &ab->arms[w->arm], *arms = ab->arms;
    uint32_t in = 0;
    while (in < ab->n_arms && !(arms[in].threads == c->threads && arms[in].level == own->level &&
                                arms[in].model == own->model && arms[in].profile)) {
        in++;
    }
    if (w->fixes) {
        return etp_fail(err, ETP_USAGE, "'%s': a fix is of %s, and not of other thread counts",
                        text, ab->arms[w->arm].measured);
    }
    if (in == ab->n_arms) {
        return etp_fail(err, ETP_USAGE,
                        "'%s': no arm of this level ran with that many threads; measure one with "
                        "etprof ab --threads",
                        text);
    }
    for (size_t i = 0; i < ab->n_operators; i++) {
        if (isfinite(w->faster[i]) && ab->operators[i].rows[in] &&
            !isfinite(ab->operators[i].roofs[in].roof_ns)) {
            return etp_fail(
                err, ETP_USAGE, "'%s': there is no roof of %s for %s (%s); leave its at-roof out",
                text, ab->operators[i].id, ab->arms[in].name, ab->operators[i].roofs[in].missing);
        }
    }
    ETP_TRY(told(ab, w->arm, text, err));
    ETP_TRY(told(ab, in, text, err));
    w->in = in;
    *out_operators = ab->n_operators;
    return ETP_OK;
}

// A fix is of one arm, and its gain of an inference of it. Where only its range is known the sums
// go on with the middle of it, which nothing tells.
static etp_status use_fix(redo *w, const change *c, const char *text, size_t *out_operators,
                          etp_error *err)
{
    const etp_ab *ab = w->ab;
    const etp_ab_fix *fix = NULL;
    for (size_t i = 0; i < ab->fixes.n && !fix; i++) {
        fix = etp_str_eqz(c->pattern, ab->fixes.items[i].id) ? &ab->fixes.items[i] : NULL;
    }
    for (size_t i = 0; i < ab->load_fixes.n && !fix; i++) {
        if (etp_str_eqz(c->pattern, ab->load_fixes.items[i].id)) {
            return etp_fail(err, ETP_USAGE,
                            "'%s' changes loading and memory, not an inference; 'etprof explain "
                            "%s DIR' has what it saves",
                            text, ab->load_fixes.items[i].id);
        }
    }
    if (!fix) {
        return etp_fail(err, ETP_USAGE, "'%s': no such fix here; there are %zu (N1 ...)", text,
                        ab->fixes.n);
    }
    if (w->in != w->arm) {
        return etp_fail(err, ETP_USAGE, "'%s' is of %s, and not of other thread counts", text,
                        ab->arms[w->arm].measured);
    }
    const etp_ab_arm *arm = &ab->arms[w->arm];
    double inference = arm->median_ns != ETP_NS_UNKNOWN && arm->median_ns > 0
                           ? (double)arm->median_ns
                           : (double)arm->traced_ns;
    double likely = fix->expected_ns != ETP_NS_UNKNOWN
                        ? (double)fix->expected_ns
                        : ((double)fix->lo_ns + (double)fix->hi_ns) / 2;
    w->open = w->open || fix->expected_ns == ETP_NS_UNKNOWN;
    w->fixed += likely / inference;
    w->fixed_lo += (double)fix->lo_ns / inference;
    w->fixed_hi += (double)fix->hi_ns / inference;
    w->fixes = true;
    for (size_t i = 0; i < ab->n_operators; i++) {
        for (size_t k = 0; k < fix->n_evidence; k++) {
            if (strcmp(ab->operators[i].id, fix->evidence[k]) == 0) {
                (*out_operators)++;
                w->twice = w->twice || w->touched[i];
                w->touched[i] = true;
            }
        }
    }
    return ETP_OK;
}

static etp_status apply(redo *w, const change *c, const char *text, size_t *out_operators,
                        etp_error *err)
{
    const etp_ab *ab = w->ab;
    *out_operators = 0;
    if (c->kind == CHANGE_THREADS) {
        return use_threads(w, c, text, out_operators, err);
    }
    if (c->kind == CHANGE_FIX) {
        return use_fix(w, c, text, out_operators, err);
    }
    if (c->kind == CHANGE_BACK && w->arm == ab->baseline) {
        return etp_fail(err, ETP_USAGE, "'%s': there is no baseline to go back to", text);
    }
    if (c->kind == CHANGE_BACK) {
        ETP_TRY(told(ab, w->arm, text, err));
    }
    if (c->kind == CHANGE_ROOF && !ab->roofs) {
        return etp_fail(
            err, ETP_USAGE,
            "'%s': no roofs were measured on this device; 'etprof roofs' measures them for the "
            "next session, "
            "for "
            "what was measured without them name a file with --roofs-file (etprof roofs --format "
            "json)",
            text);
    }
    size_t unknown = 0;
    for (size_t i = 0; i < ab->n_operators; i++) {
        const etp_ab_operator *op = &ab->operators[i];
        if (!op->rows[w->in] || !matches(ab, op, c->pattern)) {
            continue;
        }
        bool has_roof = op->roofs && op->roofs[w->in].verdict != ETP_ROOF_UNKNOWN;
        bool lacks_roof = c->kind == CHANGE_ROOF && !has_roof;
        if (lacks_roof || (c->kind == CHANGE_BACK && !etp_ab_goes_back(ab, op, w->in))) {
            unknown++;
            continue;
        }
        (*out_operators)++;
        w->twice = w->twice || (w->fixes && w->touched[i]);
        w->touched[i] = true;
        if (c->kind == CHANGE_SCALE) { // on top of what was asked before
            w->faster[i] *= c->factor; // NAN stays
            w->factor[i] /= c->factor;
        } else {
            w->faster[i] = c->kind == CHANGE_ROOF ? 1 : (double)NAN;
            w->back[i] = c->kind == CHANGE_BACK;
            w->factor[i] = c->kind != CHANGE_DROP;
        }
    }
    if (*out_operators == 0 && unknown > 0 && c->kind == CHANGE_BACK) {
        return etp_fail(err, ETP_UNKNOWN,
                        "'%s': no operator it matches was logged in both %s and %s", text,
                        ab->arms[ab->baseline].measured, ab->arms[w->in].measured);
    }
    if (*out_operators == 0 && unknown > 0) {
        return etp_fail(
            err, ETP_USAGE,
            "'%s': there is no roof for any of the %zu operators it matches (their work needs the "
            "program, "
            "their level and thread count a measured roof; 'etprof explain op1' says which)",
            text, unknown);
    }
    if (*out_operators == 0) {
        return etp_fail(err, ETP_USAGE, "'%s' matches no operator of %s", text,
                        ab->arms[w->in].name);
    }
    return ETP_OK;
}

static void intervals(const redo *w, etp_whatif *out)
{
    const etp_profile *p = w->ab->arms[w->arm].profile;
    const etp_profile *base = w->ab->arms[w->ab->baseline].profile;
    bool pairs = w->ab->arms[w->in].profile->n_dumps == p->n_dumps &&
                 (w->arm == w->ab->baseline || (base && base->n_dumps == p->n_dumps));
    double *ln = ETP_NEW_ARRAY(w->ab->arena, double, p->n_dumps);
    size_t n = 0;
    for (size_t d = 0; pairs && d < p->n_dumps; d++) {
        double ratio = execute_mean(p, d) / total(w, d);
        if (isfinite(ratio) && ratio > 0) {
            ln[n++] = log(ratio);
        }
    }
    out->lo = out->hi = NAN;
    out->blocks = n;
    if (n >= 2) {
        etp_interval ci = etp_mean_interval(ln, n, ETP_CONFIDENCE);
        out->lo = exp(ci.lo);
        out->hi = exp(ci.hi);
    }
}

// The truth of an operator lies between its time and that plus what its clock cut off, which is in
// the delegate's call and stays there: then may be less by what is taken off, more by what is put
// on. No ratio is told where the two are more than half of what is left. page.js does the same.
static void hold_against_clocks(const redo *w, double then, etp_whatif *out)
{
    double less = 0, more = 0;
    for (size_t i = 0; i < w->ab->n_operators; i++) {
        const etp_ab_operator *op = &w->ab->operators[i];
        bool other = w->back[i] || isfinite(w->faster[i]);
        double own = (double)etp_ab_operator_time(w->ab, op, w->in).truncation_ns;
        double base = (double)etp_ab_operator_time(w->ab, op, w->ab->baseline).truncation_ns;
        less += own * (other ? 1 : fmax(0, 1 - w->factor[i]));
        if (w->back[i]) {
            more += base * w->factor[i];
        } else if (!other) {
            more += own * fmax(0, w->factor[i] - 1);
        }
    }
    out->lo *= then / (then + more);
    out->hi *= then / (then - less);
    if (less + more > then / 2) {
        out->unresolved = true;
        out->speedup = out->lo = out->hi = out->against_baseline = (double)NAN;
    }
}

// As nanoseconds, of which two can be subtracted.
static bool fits(double ns)
{
    return fabs(ns) < 4.6e18;
}

static etp_status build(const etp_ab *ab, const char *const *expressions, size_t n, etp_whatif *out,
                        etp_error *err)
{
    uint32_t arm = etp_ab_subject(ab);
    redo w = {.ab = ab, .arm = arm, .in = arm};
    *out = (etp_whatif){.ab = ab,
                        .arm = arm,
                        .against_baseline = NAN,
                        .least_ns = ETP_NS_UNKNOWN,
                        .most_ns = ETP_NS_UNKNOWN};
    if (ab->n_arms == 0 || !ab->arms[arm].profile) {
        return etp_fail(err, ETP_UNKNOWN, "there is no trace to recompute");
    }
    if (ab->emulated) {
        return etp_fail(err, ETP_UNKNOWN, "times of an emulator cannot be recomputed into others");
    }
    if (n > MAX_STEPS) {
        return etp_fail(err, ETP_USAGE, "more than %d changes at once", MAX_STEPS);
    }
    etp_ab_add_doubts(ab, ab->arena, &out->noticed);
    w.factor = ETP_NEW_ARRAY(ab->arena, double, ab->n_operators);
    w.back = ETP_NEW_ARRAY(ab->arena, bool, ab->n_operators);
    w.faster = ETP_NEW_ARRAY(ab->arena, double, ab->n_operators);
    w.touched = ETP_NEW_ARRAY(ab->arena, bool, ab->n_operators);
    out->steps = ETP_NEW_ARRAY(ab->arena, etp_whatif_step, n);
    for (size_t i = 0; i < ab->n_operators; i++) {
        w.factor[i] = 1;
        w.faster[i] = (double)NAN;
    }
    if (!fits(total(&w, SIZE_MAX))) {
        return etp_fail(err, ETP_UNSUPPORTED,
                        "the recorded times of an inference exceed 146 years");
    }
    out->now_ns = llround(total(&w, SIZE_MAX));
    double before = total(&w, SIZE_MAX);
    const double now = before;
    for (size_t i = 0; i < n; i++) {
        change c;
        etp_whatif_step *step = &out->steps[out->n_steps++];
        step->expression = expressions[i];
        ETP_TRY(parse(expressions[i], &c, err));
        w.open = false;
        ETP_TRY(apply(&w, &c, expressions[i], &step->operators, err));
        out->open = out->open || w.open;
        out->uses_roofs = out->uses_roofs || c.kind == CHANGE_ROOF;
        double after = total(&w, SIZE_MAX);
        if (!fits(after)) {
            return etp_fail(err, ETP_USAGE, "'%s': with it an inference takes more than 146 years",
                            expressions[i]);
        }
        step->gain_ns = w.open ? ETP_NS_UNKNOWN : llround(before) - llround(after);
        before = after;
    }
    out->then_ns = llround(before);
    if (w.fixes) { // what a fix brings is less sure than what was measured
        double whole = execute_mean(ab->arms[w.arm].profile, SIZE_MAX);
        out->fixes = true;
        out->twice = w.twice;
        out->least_ns = llround(before - whole * (w.fixed_hi - w.fixed));
        out->most_ns = llround(before + whole * (w.fixed - w.fixed_lo));
    }
    if (out->open) {
        out->then_ns = ETP_NS_UNKNOWN;
    }
    out->speedup = etp_value_if(before > 0 && !out->open, now / before);
    const etp_profile *base = ab->arms[ab->baseline].profile;
    if (arm != ab->baseline && etp_ab_told(ab, 0) && base && before > 0 && !out->open) {
        out->against_baseline = execute_mean(base, SIZE_MAX) / before *
                                etp_ab_untraced(&ab->arms[ab->baseline]) /
                                etp_ab_untraced(&ab->arms[w.in]);
    }
    out->lo = out->hi = (double)NAN;
    if (!w.fixes) {
        intervals(&w, out);
        hold_against_clocks(&w, before, out);
    }
    out->waited = ab->arms[arm].waited > ETP_WAIT_MOST; // time without a CPU is in the operators'
    if (out->waited) {
        out->speedup = out->lo = out->hi = out->against_baseline = (double)NAN;
    }
    return ETP_OK;
}

etp_status etp_whatif_build(const etp_ab *ab, const char *const *expressions, size_t n,
                            etp_whatif *out, etp_error *err)
{
    ETP_GUARDED(ab->arena, err, "what if", build(ab, expressions, n, out, err));
}

FIND(arm_name, etp_whatif, etp_whatif, MAKE(text, it->ab->arms[it->arm].name))
FIND(method, etp_whatif, etp_whatif,
     MAKE(text, it->uses_roofs ? "plain addition of traced times and roofs"
                               : "plain addition of traced times"))

FIND(waited_share, etp_whatif, etp_whatif, MAKE(real, it->ab->arms[it->arm].waited))

#define OF etp_whatif_step
static const etp_field k_step_rows[] = {
    FIELD("expression", TEXT, expression, "as given", .flags = ETP_SET),
    FIELD("operators", UINT, operators, "that it touched"),
    FIELD("gain_ns", NS, gain_ns, "of an inference; null: a fix of which only the range is known",
          .range = ETP_SIGNED),
};
static SHAPE_ON_ONE_LINE(k_step, k_step_rows);
#undef OF
#define OF etp_whatif
static const etp_field k_speedup_rows[] = {
    FIELD("estimate", RATIO, speedup, "now ÷ then"),
    FIELD(
        "lo", RATIO, lo,
        "low end of its 95 % interval, as much wider as clocks cut off what is changed; null with "
        "fixes, which have a range"),
    FIELD("hi", RATIO, hi, "high end"),
    FIELD("blocks", UINT, blocks, "it rests on"),
};
static SHAPE_ON_ONE_LINE(k_speedup, k_speedup_rows);
static const etp_field k_rows[] = {
    COMPUTED("arm", TEXT, arm_name, "that is asked about", .flags = ETP_SET),
    COMPUTED("method", TEXT, method, "how it was computed", .flags = ETP_SET),
    FIELD("now_ns", INT, now_ns, "traced inference"),
    FIELD("then_ns", NS, then_ns, "likewise; null: between `least_ns` and `most_ns`",
          .range = ETP_SIGNED),
    FIELD("least_ns", NS, least_ns, "then, when all fixes reach their ceilings; null: no fix",
          .range = ETP_SIGNED, .flags = ETP_LATER),
    FIELD("most_ns", NS, most_ns, "then, when all fixes bring their floors", .range = ETP_SIGNED,
          .flags = ETP_LATER),
    GROUP("speedup", &k_speedup, "of the change"),
    FIELD("against_baseline", RATIO, against_baseline,
          "baseline ÷ then, both as without recording where that is known, as headlines"),
    COMPUTED("waited_share", RATIO, waited_share,
             "of the arm's time that it waited for a CPU; above 0.05 no ratio is given",
             .range = ETP_0_TO_1, .flags = ETP_LATER),
    LIST("steps", OBJECT, steps, n_steps, "in order", .shape = &k_step),
    VECTOR("noticed", TEXT, noticed, "what is wrong with the recordings",
           .flags = ETP_SET | ETP_LATER),
};
static SHAPE(k_whatif, k_rows);
#undef OF
const etp_document k_etp_whatif_document = {"etprof.whatif/1", "What whatif prints", &k_whatif};

const etp_report *etp_whatif_report(const etp_whatif *w, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "expression", .title = "change", .flags = ETP_COL_CODE},
        {.key = "operators", .title = "operators", .kind = ETP_KIND_INT},
        {.key = "gain_ns", .title = "gain", .kind = ETP_KIND_NS, .flags = ETP_COL_SIGNED},
    };
    etp_report *r = etp_report_create(arena, w->ab->title);
    etp_report_subtitle(r, "what if, for %s", w->ab->arms[w->arm].measured);
    etp_report_section(r, 1, "whatif", "What if");
    etp_keys *keys = etp_report_keys(r, NULL);
    if (w->open) {
        etp_keys_add(keys, ETP_PLAIN, "inference", "%s → %s to %s (traced)",
                     ETP_NS((double)w->now_ns), ETP_NS((double)w->least_ns),
                     ETP_NS((double)w->most_ns));
        etp_keys_add(keys, ETP_PLAIN, "speedup", "unknown: of a fix only the range is known");
    } else {
        etp_keys_add(keys, ETP_PLAIN, "inference", "%s → %s (traced)", ETP_NS((double)w->now_ns),
                     ETP_NS((double)w->then_ns));
    }
    const double waited = w->ab->arms[w->arm].waited;
    if (w->waited) {
        etp_keys_add(keys, ETP_WARN, "speedup",
                     "unknown: other programs ran beside the arm, which waited for a CPU for %.0f "
                     "%% of its time; measure again on a quiet machine",
                     100 * waited);
    } else if (w->unresolved) {
        etp_keys_add(keys, ETP_PLAIN, "speedup",
                     "unknown: below what the clock of what is changed resolves");
    } else if (w->fixes && !w->open) {
        etp_keys_add(keys, ETP_PLAIN, "speedup", "%.3f×, %s to %s by the ranges of the fixes",
                     w->speedup, ETP_NS((double)w->least_ns), ETP_NS((double)w->most_ns));
    } else if (isfinite(w->lo)) {
        etp_keys_add(keys, ETP_PLAIN, "speedup", "%s (%zu blocks)",
                     ETP_ESTIMATE(w->speedup, w->lo, w->hi, 3), w->blocks);
    } else if (!w->open && !(isfinite(w->speedup) && w->speedup > 0)) {
        etp_keys_add(keys, ETP_PLAIN, "speedup", "unknown: no time was recorded");
    } else if (!w->open) {
        etp_keys_add(keys, ETP_PLAIN, "speedup", "%.3f× (no interval: fewer than 2 blocks)",
                     w->speedup);
    }
    if (isfinite(w->against_baseline)) {
        bool untraced = w->ab->arms[w->arm].median_ns != ETP_NS_UNKNOWN;
        etp_keys_add(keys, ETP_PLAIN, "altogether", "%.3f× against %s%s", w->against_baseline,
                     w->ab->arms[w->ab->baseline].measured,
                     etp_if(untraced, ", without recording"));
    }
    if (w->twice) {
        etp_keys_add(keys, ETP_WARN, "not a sum",
                     "some changes are about the same operators: their gains do not add up");
    }
    etp_keys_add(keys, ETP_PLAIN, "by",
                 "plain addition of measured times: operators run one after "
                 "another; caches and clocks are assumed unchanged");
    if (w->uses_roofs) {
        etp_keys_add(keys, ETP_PLAIN, "at-roof",
                     "the least time possible on %s, for operators whose roof is known: a "
                     "ceiling; the interval holds the noise of the times, not that of the roofs",
                     etp_ab_roofs_device(w->ab));
    }
    etp_table *t = etp_report_table(r, "steps", NULL, k_columns, 3);
    for (size_t i = 0; i < w->n_steps; i++) {
        ETP_ROW(t, etp_cell_z(w->steps[i].expression), etp_cell_u64(w->steps[i].operators),
                etp_cell_ns(w->steps[i].gain_ns));
    }
    for (size_t i = 0; i < w->noticed.n; i++) {
        etp_report_note(r, ETP_WARN, "%s", w->noticed.items[i]);
    }
    return r;
}
