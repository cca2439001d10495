// SPDX-License-Identifier: Apache-2.0
// Judges a measurement by rules.
#include "study/gate/gate.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/guard.h"
#include "base/number.h"
#include "compare/phases.h"
#include "study/gate/members.h"

typedef enum metric {
    SPEEDUP,
    LATENCY,
    LOAD,
    COLD_LOAD,
    FIRST,
    MEMORY,
    PEAK_MEMORY, // the same
    DIRTY_MEMORY,
    CLEAN_MEMORY,
    DISK,
    SHARE,
    NOISE,
    ENGAGED,
    RATE,
    METRICS,
    MEMBER = METRICS // of an operator or a category, not of k_metrics
} metric;

#define NO_COST ETP_COSTS // what is none of an arm's costs
static const char k_large[] = "etprof inspect says what makes a program large";

static const struct {
    const char *name;
    etp_gate_unit dim;
    etp_cost cost;
    const char *next; // what to do where the answer is no; NULL: as of times
} k_metrics[METRICS] = {
    [SPEEDUP] = {"speedup",      ETP_GATE_RATIO,    NO_COST,            NULL   },
    [LATENCY] = {"latency",      ETP_GATE_TIME,     NO_COST,            NULL   },
    [LOAD] = {"load",         ETP_GATE_TIME,     ETP_COST_LOAD,      NULL   },
    [COLD_LOAD] = {"cold_load",    ETP_GATE_TIME,     ETP_COST_COLD_LOAD, NULL   },
    [FIRST] = {"first",        ETP_GATE_TIME,     ETP_COST_FIRST,     NULL   },
    [MEMORY] = {"memory",       ETP_GATE_BYTES,    ETP_COST_PEAK,      k_large},
    [PEAK_MEMORY] = {"peak_memory",  ETP_GATE_BYTES,    ETP_COST_PEAK,      k_large},
    [DIRTY_MEMORY] = {"dirty_memory", ETP_GATE_BYTES,    ETP_COST_DIRTY,     k_large},
    [CLEAN_MEMORY] = {"clean_memory", ETP_GATE_BYTES,    ETP_COST_CLEAN,     k_large},
    [DISK] = {"disk",         ETP_GATE_BYTES,    NO_COST,            k_large},
    [SHARE] = {"share",        ETP_GATE_PERCENT,  NO_COST,            NULL   },
    [NOISE] = {"noise",        ETP_GATE_PERCENT,  NO_COST,
                 "quieten the machine (etprof doctor says what disturbs it)"   },
    [ENGAGED] = {"engaged",      ETP_GATE_PERCENT,  NO_COST,            NULL   },
    [RATE] = {"rate",         ETP_GATE_A_SECOND, NO_COST,            NULL   },
};

static const char k_blanks[] = " \t\n\v\f\r"; // as isspace in the C locale

static const char k_rule_forms[] =
    "rules are 'speedup [ARM] >= 1.3', 'latency [ARM] <= 5 ms', 'load', 'cold_load', 'first' "
    "likewise, "
    "'peak_memory [ARM] <= 60 MB', 'dirty_memory', 'clean_memory', 'disk' likewise, 'share "
    "CATEGORY [of ARM] <= 30 %', 'noise <= 1 %', "
    "'engaged macs|time >= 90 %', 'rate [ARM] >= 2000 tok/s', 'op35.ns [ARM] <= 0.2 ms', "
    "'category(\"Data movement\").share [ARM] <= 30 %'; in front of any a phase: "
    "'decode.speedup >= 1.3', 'decode@256.latency <= 5 ms'";

typedef struct rule {
    const char *text;
    etp_str phase; // "decode", "decode@256"; ptr NULL: every phase
    metric metric;
    etp_str subject; // between the metric and the sign; empty: all there are
    bool at_least;
    double limit; // ns, bytes or a plain ratio
    etp_gate_member member;
} rule;

static etp_gate_unit unit_of(const rule *r)
{
    return r->metric == MEMBER ? r->member.unit : k_metrics[r->metric].dim;
}

// [PHASE.]METRIC [SUBJECT] SIGN VALUE. The sign is looked for first, because a subject may have
// blanks in it: "Data movement of linux_vnni".
static etp_status parse(const char *text, rule *out, etp_error *err)
{
    static const char *const k_wanted[] = {"a ratio like 1.3", "a time like 5 ms",
                                           "a size like 60 MB", "a share like 30 %",
                                           "tokens a second like 2000"};
    *out = (rule){.text = text, .metric = METRICS};
    etp_str all = etp_str_trim(etp_str_from(text), k_blanks);
    size_t most = etp_str_find(all, ETP_STR("<=")), least = etp_str_find(all, ETP_STR(">="));
    // etp_str_find gives the length where there is none, so the smaller one is the sign.
    size_t at = ETP_MIN(most, least);
    size_t word = 0, used;
    ETP_TRY(
        etp_gate_member_parse(text, (etp_str){all.ptr, at}, &out->member, &out->phase, &used, err));
    while (word < at && !isspace((unsigned char)all.ptr[word])) {
        word++;
    }
    size_t name = word; // behind the last dot: a phase may have some in its name
    while (name > 0 && all.ptr[name - 1] != '.') {
        name--;
    }
    for (size_t m = 0; used == 0 && m < METRICS; m++) {
        out->metric = etp_str_eqz((etp_str){all.ptr + name, word - name}, k_metrics[m].name)
                          ? (metric)m
                          : out->metric;
    }
    if (used > 0) {
        word = used;
    } else if (name > 0) {
        out->phase = (etp_str){all.ptr, name - 1};
    }
    if (at == all.len || (used == 0 && out->metric == METRICS)) {
        return etp_fail(err, ETP_USAGE, "'%s' is not a rule: %s", text, k_rule_forms);
    }
    out->at_least = at == least;
    out->subject = etp_str_trim((etp_str){all.ptr + word, at - word}, k_blanks);
    if (!etp_gate_limit_parse((etp_str){all.ptr + at + 2, all.len - at - 2}, unit_of(out),
                              &out->limit)) {
        return etp_fail(err, ETP_USAGE, "'%s': behind %.2s comes %s", text, all.ptr + at,
                        k_wanted[unit_of(out)]);
    }
    return ETP_OK;
}

// One check of a rule. What makes a figure unknown does so whatever its interval says.
static void add_figure(etp_gate *g, const etp_ab *ab, const rule *r, const char *of,
                       const etp_gate_figure *figure)
{
    etp_gate_unit dim = unit_of(r);
    etp_gate_figure told = *figure;
    const etp_gate_figure *f = &told;
    etp_gate_state alone = etp_gate_judge(f->lo, f->hi, r->at_least, r->limit);
    if (!f->unknown && f->others && alone != ETP_GATE_UNKNOWN &&
        alone != etp_gate_judge(f->others_lo, f->others_hi, r->at_least, r->limit)) {
        told.unknown = f->others;
    }
    etp_str name = r->metric == MEMBER ? r->member.name : etp_str_from(k_metrics[r->metric].name);
    etp_gate_check c = {
        .id = etp_arena_printf(g->arena, "%.*s:%s", ETP_STR_ARG(name), of),
        .expected = etp_arena_printf(g->arena, "%s %s", r->at_least ? ">=" : "<=",
                                     etp_gate_figure_words(g->arena, dim, r->limit)),
        .found = etp_gate_interval_words(g->arena, dim, f->value, f->lo, f->hi),
        .value = f->value,
        .lo = f->lo,
        .hi = f->hi,
        .limit = r->limit,
        .state =
            f->unknown ? ETP_GATE_UNKNOWN : etp_gate_judge(f->lo, f->hi, r->at_least, r->limit),
    };
    bool bounded = isfinite(f->lo) && isfinite(f->hi);
    if (!f->unknown && !isfinite(f->value) && !bounded) {
        c.found = ab->bare ? "unknown: recordings do not contain it"
                           : "unknown: not recorded in this folder";
    }
    // Both sides of a limit that is missed by less than the digits shown.
    if (c.state == ETP_GATE_NO && f->value != r->limit &&
        strcmp(etp_gate_figure_words(g->arena, dim, f->value),
               etp_gate_figure_words(g->arena, dim, r->limit)) == 0) {
        c.found = etp_arena_printf(g->arena, "%s (%s against %s)", c.found,
                                   ETP_DIGITS(f->value, 10), ETP_DIGITS(r->limit, 10));
    }
    if (f->unknown) {
        c.found = etp_arena_printf(g->arena, "%s (%s)", c.found, f->unknown);
    }
    bool within = c.state == ETP_GATE_UNKNOWN && !f->unknown; // the limit is in the interval
    if (within && f->cut) {
        c.found = etp_arena_printf(g->arena, "unknown: %s; its clock resolves no finer", c.found);
    }
    if (within && f->hidden) {
        c.fix = "of the rest no category is known: delegates did not log it, it is withheld, or "
                "their names are not understood; etprof ops lists it";
    } else if (within && f->cut) {
        c.fix = "a larger input or batch makes its operators longer than the clock's step";
    } else if (c.state == ETP_GATE_UNKNOWN && (f->unknown || isfinite(f->value) || bounded)) {
        c.fix = etp_gate_to_settle(g, ab, f, r->limit);
    } else if (c.state == ETP_GATE_UNKNOWN && r->metric == ENGAGED && ab->engagement.eligible > 0) {
        c.fix = "operator names do not show what ran: --kernels always samples it";
    } else if (c.state == ETP_GATE_UNKNOWN) {
        c.fix = ab->bare
                    ? "etprof ab MODEL.pte measures it"
                    : "the folder does not hold this figure; measure it again with this version";
    } else if (c.state == ETP_GATE_NO) {
        const char *next = r->metric < METRICS ? k_metrics[r->metric].next : NULL;
        c.fix = ETP_OR(next, "etprof analyze says where the time went, and what to fix first");
    }
    etp_gate_add(g, c);
}

// By its name, or as answers call it.
static bool is_of(const rule *r, const etp_ab_arm *arm)
{
    return r->subject.len == 0 || etp_str_eqz(r->subject, arm->name) ||
           etp_str_eqz(r->subject, arm->measured);
}

static etp_status no_such(const rule *r, const etp_ab *ab, etp_error *err)
{
    // For the message alone: as many arms as fit.
    char names[400] = "";
    for (size_t p = 0; p < etp_ab_answers(ab); p++) {
        const etp_ab *part = etp_ab_answer_at(ab, p);
        for (size_t i = 0; i < part->n_arms && strlen(names) + 40 < sizeof names; i++) {
            size_t at = strlen(names);
            snprintf(names + at, sizeof names - at, "%s%.36s", etp_if(at, ", "),
                     part->arms[i].name);
        }
    }
    return r->subject.len == 0
               ? etp_fail(err, ETP_USAGE, "'%s': the folder compares no arms; it has %s", r->text,
                          names)
               : etp_fail(err, ETP_USAGE,
                          "'%s': the folder has no '%.*s' of that kind; its arms are %s", r->text,
                          ETP_STR_ARG(r->subject), names);
}

// Why the answer itself says less of this comparison than its interval; NULL: it does not. A rule
// must not pass on that.
static const char *unsettled(const etp_ab_comparison *c, etp_arena *arena)
{
    if (c->withheld) {
        return etp_arena_printf(arena, "withheld: %s", etp_withheld_name(c->withheld));
    }
    const char *noise = etp_ab_noise_words(c, arena);
    if (noise) {
        return noise;
    }
    bool paired = c->launches[0] == 0;
    // Sides of two sessions have launches instead of blocks; the weaker side decides.
    size_t weaker = ETP_MIN(c->launches[0], c->launches[1]);
    size_t n = paired ? c->blocks : weaker;
    if (n < ETP_MIN_BLOCKS) {
        return etp_arena_printf(arena, "%zu of at least %d %s", n, ETP_MIN_BLOCKS,
                                paired ? "blocks" : "launches on each side");
    }
    // The interval alone would say faster or slower, the verdict does not: sign flips contradicted
    // it.
    bool apart = log(c->lo) > log1p(c->margin) || log(c->hi) < -log1p(c->margin);
    return etp_z_if(apart && c->verdict == ETP_VERDICT_UNKNOWN,
                    "the interval and the second test do not agree");
}

// Equal launches that differ as much as the figure and the limit do decide nothing.
static const char *beside_limit(const etp_ab_comparison *c, double limit, etp_arena *arena)
{
    double reach = etp_interval_reach(&c->control); // NAN: no control
    bool inside = c->verdict != ETP_VERDICT_SAME && fabs(log(c->estimate / limit)) <= reach;
    return inside ? etp_arena_printf(arena, "noise ±%s %%; the limit is inside it",
                                     ETP_DIGITS(100 * expm1(reach), 2))
                  : NULL;
}

// What a level brings within another model has the baseline in its name: its candidate is judged
// against the session's too.
static const char *judged_name(const etp_ab *ab, size_t i, etp_arena *arena)
{
    const etp_ab_comparison *c = etp_ab_comparison_at(ab, i);
    const char *name = ab->arms[c->candidate].name;
    return i < ab->n_comparisons
               ? name
               : etp_arena_printf(arena, "%s against %s", name, ab->arms[c->baseline].name);
}

// Where arms are compared within several models or thread counts, what is between those is judged
// only where a rule names its arm: int8 against fp32 is another question.
static bool is_beside(const etp_ab *ab, const etp_ab_comparison *c)
{
    return ab->n_within > 0 && !etp_ab_is_within(ab, c);
}

static void check_comparisons(etp_gate *g, const etp_ab *ab, const rule *r)
{
    const size_t within = r->metric == SPEEDUP ? ab->n_within : 0;
    for (size_t i = 0; i < ab->n_comparisons + within; i++) {
        const etp_ab_comparison *c = etp_ab_comparison_at(ab, i);
        const char *name = judged_name(ab, i, g->arena);
        bool asked = r->subject.len > 0 || r->metric == NOISE || !is_beside(ab, c);
        if (!is_of(r, &ab->arms[c->candidate]) || !asked) {
            continue;
        }
        if (r->metric == NOISE) {
            // The control is the baseline's: of an arm that waited for others it says nothing.
            const double noise = expm1(etp_interval_reach(&c->control));
            const bool others =
                c->withheld == ETP_WITHHELD_CONTENDED || c->withheld == ETP_WITHHELD_CROWDED;
            add_figure(g, ab, r, name,
                       &(etp_gate_figure){.value = noise,
                                          .lo = noise,
                                          .hi = noise,
                                          .unknown = others ? unsettled(c, g->arena) : NULL,
                                          .settles = etp_ab_settle_command(ab, c, g->arena)});
        } else {
            const char *why = unsettled(c, g->arena);
            etp_gate_figure f = {.value = c->estimate,
                                 .lo = c->lo,
                                 .hi = c->hi,
                                 .unknown = ETP_OR(why, beside_limit(c, r->limit, g->arena)),
                                 .settles = why ? etp_ab_settle_command(ab, c, g->arena)
                                                : etp_ab_quieter_command(ab, c, g->arena)};
            add_figure(g, ab, r, name, &f);
        }
    }
}

// ETP_NS_UNKNOWN or less: NAN makes the check unknown.
static double known(int64_t v)
{
    return v == ETP_NS_UNKNOWN || v < 0 ? (double)NAN : (double)v;
}

static void check_arm(etp_gate *g, const etp_ab *ab, uint32_t arm, const rule *r)
{
    const etp_ab_arm *a = &ab->arms[arm];
    const etp_cost cost = k_metrics[r->metric].cost;
    etp_gate_figure f = {.value = (double)NAN};
    if (cost != NO_COST) {
        // A median of few launches has no interval, and then no answer.
        f = (etp_gate_figure){
            .value = known(a->costs[cost]), .lo = a->costs_lo[cost], .hi = a->costs_hi[cost]};
        if (isfinite(f.value) && !isfinite(f.hi - f.lo)) {
            f.unknown = etp_arena_printf(g->arena, "%" PRIu64 " of at least %d launches",
                                         a->launches, ETP_MIN_BLOCKS);
            f.settles = etp_ab_extend_command(ab, ETP_MIN_BLOCKS, g->arena);
        }
    } else if (r->metric == DISK) { // no estimate
        f.value = f.lo = f.hi = known(a->disk_bytes);
    } else if (r->metric == LATENCY) { // one block gives no interval, and then no answer
        f = (etp_gate_figure){.value = known(a->median_ns), .lo = a->lo_ns, .hi = a->hi_ns};
    } else if (r->metric == RATE) {
        // Tokens a second are tokens ÷ time: the interval of the latency, turned over.
        double v = etp_ab_token_rate(ab, arm), time = known(a->median_ns);
        f = (etp_gate_figure){.value = v, .lo = v * time / a->hi_ns, .hi = v * time / a->lo_ns};
    }
    // What makes times doubtful does not change how many bytes there are; and waiting only
    // lengthens, so that a limit that is kept with it is kept without.
    const bool bytes = k_metrics[r->metric].dim == ETP_GATE_BYTES;
    const bool waited = !a->emulated && !a->tensors_logged && a->waited > ETP_WAIT_MOST;
    const bool kept = waited && (r->metric == RATE ? r->at_least && f.lo >= r->limit
                                                   : !r->at_least && f.hi <= r->limit);
    const char *why = bytes || kept ? NULL : etp_gate_arm_unknown(ab, arm, g->arena);
    if (why) {
        f.unknown = why;
    }
    if (!f.settles || why) {
        f.settles = etp_ab_again_command(ab, g->arena);
    }
    add_figure(g, ab, r, a->name, &f);
}

static etp_status check_member(etp_gate *g, const etp_ab *ab, const rule *r, etp_error *err)
{
    etp_gate_figures all;
    ETP_TRY(etp_gate_member_figures(r->text, &r->member, ab, g->arena, &all, err));
    for (size_t i = 0; i < all.n; i++) {
        const etp_gate_figure *f = &all.items[i];
        const etp_ab_arm *arm = &ab->arms[f->arm];
        if (is_of(r, arm)) {
            const char *name =
                r->metric == SHARE
                    ? etp_arena_printf(g->arena, "%.*s:%s", ETP_STR_ARG(r->member.of), arm->name)
                    : arm->name;
            add_figure(g, ab, r, name, f);
        }
    }
    return ETP_OK;
}

// "Data movement", "Data movement of linux_vnni".
static etp_status check_share(etp_gate *g, const etp_ab *ab, const rule *r, etp_error *err)
{
    rule member = *r;
    size_t of = etp_str_find(r->subject, ETP_STR(" of "));
    member.member = etp_gate_share_of(etp_str_trim((etp_str){r->subject.ptr, of}, k_blanks));
    member.subject = (etp_str){0};
    if (of < r->subject.len) {
        member.subject =
            etp_str_trim((etp_str){r->subject.ptr + of + 4, r->subject.len - of - 4}, k_blanks);
    }
    return check_member(g, ab, &member, err);
}

static etp_status check_engaged(etp_gate *g, const etp_ab *ab, const rule *r, etp_error *err)
{
    bool macs = etp_str_eqz(r->subject, "macs");
    if (!macs && !etp_str_eqz(r->subject, "time")) {
        return etp_fail(err, ETP_USAGE, "'%s': engaged of what? 'engaged macs' or 'engaged time'",
                        r->text);
    }
    const etp_ab_engagement *e = &ab->engagement;
    double v = macs ? e->macs_share : e->time_share, lo = macs ? e->macs_lo : e->time_lo;
    // Where some operators cannot be told, the share is an interval from "none of them" to "all".
    const etp_gate_figure f = {
        .value = isfinite(v) ? v : lo, .lo = lo, .hi = macs ? e->macs_hi : e->time_hi};
    add_figure(g, ab, r, macs ? "macs" : "time", &f);
    return ETP_OK;
}

static etp_status check_answer(etp_gate *g, const etp_ab *ab, const rule *r, etp_error *err)
{
    switch (r->metric) {
    case SPEEDUP:
    case NOISE:
        check_comparisons(g, ab, r);
        return ETP_OK;
    case SHARE:
        return check_share(g, ab, r, err);
    case ENGAGED:
        return check_engaged(g, ab, r, err);
    case MEMBER:
        return check_member(g, ab, r, err);
    default:
        for (uint32_t i = 0; i < ab->n_arms; i++) {
            if (is_of(r, &ab->arms[i])) {
                check_arm(g, ab, i, r);
            }
        }
        return ETP_OK;
    }
}

static bool is_about(const rule *r, const etp_run_phase *phase, const char *word)
{
    return !r->phase.ptr || (phase && (etp_str_eqz(r->phase, etp_phase_kind_name(phase->kind)) ||
                                       etp_str_eqz(r->phase, word)));
}

// Of each phase that it is about. A rule that judges nothing is an error: a misspelt arm is no yes.
static etp_status check_rule(etp_gate *g, const etp_ab *ab, const rule *r, etp_error *err)
{
    size_t before = g->checks.n, parts = 0;
    if (r->metric == MEMBER && !r->member.category && ab->n_phases && !r->phase.ptr) {
        return etp_fail(err, ETP_USAGE,
                        "'%s': each phase numbers its operators: name the phase, as in "
                        "'decode@256.op35.ns <= 0.2 ms'; its phases are %s",
                        r->text, etp_ab_phase_words(ab, g->arena));
    }
    for (size_t i = 0; i < etp_ab_answers(ab); i++) {
        const etp_ab *part = etp_ab_answer_at(ab, i);
        g->phase = part->phase;
        const char *word = g->phase ? etp_ab_phase_word(g->phase, g->arena) : "";
        if (is_about(r, part->phased, word)) {
            parts++;
            ETP_TRY(check_answer(g, part, r, err));
        }
    }
    if (parts == 0 && ab->n_phases) {
        return etp_fail(err, ETP_USAGE, "'%s': the folder has no phase '%.*s'; its phases are %s",
                        r->text, ETP_STR_ARG(r->phase), etp_ab_phase_words(ab, g->arena));
    }
    if (parts == 0) {
        return etp_fail(
            err, ETP_USAGE,
            "'%s': the folder has no phases (it was measured without --prefill and --decode)",
            r->text);
    }
    return g->checks.n > before ? ETP_OK : no_such(r, ab, err);
}

// A check of no figure.
static void add_state(etp_gate *g, const char *id, const char *expected, etp_gate_state state,
                      const char *found, const char *fix)
{
    const double none = (double)NAN;
    etp_gate_add(g, (etp_gate_check){.id = id,
                                     .expected = expected,
                                     .state = state,
                                     .found = found,
                                     .fix = fix,
                                     .value = none,
                                     .lo = none,
                                     .hi = none,
                                     .limit = none});
}

// As add_state, of what can only be so or not.
static void add_truth(etp_gate *g, const char *id, const char *expected, bool ok, const char *found,
                      const char *fix)
{
    add_state(g, id, expected, ok ? ETP_GATE_YES : ETP_GATE_NO, found, etp_z_if(!ok, fix));
}

// What cannot be proven is not contradicted: the comparison stands, and the gate says yes.
static void check_proofs(etp_gate *g, const etp_ab *ab)
{
    for (size_t i = 0; i < ab->n_arms; i++) {
        etp_truth truth = ab->arms[i].proof.truth;
        add_truth(g, etp_arena_printf(g->arena, "proof:%s", ab->arms[i].name), "not contradicted",
                  truth != ETP_CONTRADICTED, etp_truth_name(truth),
                  "the arm did not run at its level: etprof analyze DIR --proof");
    }
}

// Where outputs were not compared (dumps hold none, a runner of others gives none, two programs are
// two tasks, one arm has nobody to agree with) nothing is asked of them and nothing is said.
static void check_outputs(etp_gate *g, const etp_ab *ab)
{
    int ok = ab->correctness.ok;
    const char *mute = etp_ab_outputs_mute(&ab->correctness);
    const char *agree =
        etp_ab_programs_apart(ab) ? "agree within each program" : "agree within tolerance";
    if (ok >= 0) {
        add_truth(g, "outputs", "no difference", ok, ok ? agree : "differ",
                  "the outputs differ, so the speedup does not count: see outputs in the report");
    } else if (mute) {
        add_state(
            g, "outputs", "no difference", ETP_GATE_UNKNOWN, mute,
            "give inputs that the model can compute with, and weights that its outputs depend "
            "on: --inputs FILE");
    }
}

// Arms that agree with each other may all be wrong: asked where the inputs came with the answers.
static void check_expected(etp_gate *g, const etp_ab *ab)
{
    for (size_t i = 0; i < ab->n_arms; i++) {
        int ok = ab->arms[i].expected.ok;
        if (ok >= 0) {
            add_truth(g, etp_arena_printf(g->arena, "expected:%s", ab->arms[i].name),
                      "outputs as the inputs expect", ok,
                      ok ? "agree within tolerance" : "not as expected",
                      "the inputs' expectations are of other weights, or the model is wrong");
        }
    }
}

// Bare dumps were not measured by blocks.
static void check_complete(etp_gate *g, const etp_ab *ab)
{
    static const char k_fix[] = "etprof ab --resume DIR measures what is missing";
    if (ab->bare) {
        return;
    }
    if (ab->block_lost || !etp_ab_is_unfinished(ab)) {
        add_truth(g, "complete", "no block lost", !ab->block_lost,
                  ab->block_lost ? "a block was lost" : "every block", k_fix);
    } else {
        add_state(g, "complete", "no block lost", ETP_GATE_UNKNOWN, "the session is not finished",
                  k_fix);
    }
}

// What is asked when nothing is: no comparison is slower.
static void check_verdicts(etp_gate *g, const etp_ab *ab)
{
    for (size_t i = 0; i < ab->n_comparisons + ab->n_within; i++) {
        const etp_ab_comparison *c = etp_ab_comparison_at(ab, i);
        bool unknown = c->withheld || c->verdict == ETP_VERDICT_UNKNOWN;
        if (is_beside(ab, c)) {
            continue;
        }
        etp_gate_state known = c->verdict == ETP_VERDICT_SLOWER ? ETP_GATE_NO : ETP_GATE_YES;
        etp_gate_check check = {
            .id = etp_arena_printf(g->arena, "verdict:%s", judged_name(ab, i, g->arena)),
            .found = etp_arena_printf(
                g->arena, "%s: %s",
                c->withheld ? etp_withheld_name(c->withheld) : etp_verdict_name(c->verdict),
                etp_gate_interval_words(g->arena, ETP_GATE_RATIO, c->estimate, c->lo, c->hi)),
            .expected = "not slower than the baseline",
            .state = unknown ? ETP_GATE_UNKNOWN : known,
            .value = c->estimate,
            .lo = c->lo,
            .hi = c->hi,
            .limit = (double)NAN};
        if (check.state == ETP_GATE_UNKNOWN) {
            const char *settles = etp_ab_settle_command(ab, c, g->arena);
            check.fix = ETP_OR(settles, "see in the report what withholds it");
        } else if (check.state == ETP_GATE_NO) {
            check.fix = "etprof analyze says which operators lose";
        }
        etp_gate_add(g, check);
    }
}

// ---- an earlier measurement ----

// "linux_vnni, linux_avx2"
static const char *names_of(const etp_ab *ab, etp_arena *arena)
{
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    for (size_t i = 0; i < ab->n_arms; i++) {
        etp_strbuf_printf(&text, "%s%s", etp_if(i, ", "), ab->arms[i].name);
    }
    return etp_strbuf_str(&text).ptr;
}

static etp_status check_against(etp_gate *g, const etp_ab *ab, etp_error *err)
{
    const etp_gate_options *o = g->options;
    size_t before = g->checks.n;
    double margin = o->margin > 0 ? o->margin : ETP_GATE_MARGIN;
    if (!ab->block_values || !o->against->block_values) {
        return etp_fail(err, ETP_USAGE,
                        "bare dumps have no untraced latency: both must be run folders");
    }
    for (size_t p = 0; p < etp_ab_answers(ab); p++) {
        for (size_t q = 0; q < etp_ab_answers(o->against); q++) {
            g->phase = etp_ab_answer_at(ab, p)->phase;
            ETP_TRY(etp_gate_against(g, etp_ab_answer_at(ab, p), etp_ab_answer_at(o->against, q),
                                     margin, err));
        }
    }
    if (g->checks.n == before) {
        return etp_fail(
            err, ETP_USAGE,
            "no arm of the run (%s) can be paired with one arm of the earlier run (%s): "
            "neither by name nor by level and threads",
            names_of(ab, g->arena), names_of(o->against, g->arena));
    }
    return ETP_OK;
}

// " against AVX2" for " against linux_avx2".
static const char *called_against(const etp_ab *ab, const char *rest, etp_arena *arena)
{
    static const char k_against[] = " against ";
    const size_t n = sizeof k_against - 1;
    for (size_t i = 0; strncmp(rest, k_against, n) == 0 && i < ab->n_arms; i++) {
        if (strcmp(rest + n, ab->arms[i].name) == 0) {
            return etp_arena_printf(arena, "%s%s", k_against, ab->arms[i].measured);
        }
    }
    return rest;
}

// "speedup:VNNI" for "speedup:linux_vnni".
// What people read has the words of the report; ids keep the arm's name, because scripts rely on
// it.
static void call(etp_gate *g, const etp_ab *ab, etp_gate_check *c)
{
    etp_str id = etp_str_from(c->id);
    c->called = c->id;
    for (size_t p = 0; p < etp_ab_answers(ab); p++) {
        const etp_ab *part = etp_ab_answer_at(ab, p);
        for (size_t i = 0; i < part->n_arms; i++) {
            etp_str name = etp_str_from(part->arms[i].name);
            size_t at = etp_str_find(id, name), end = at + name.len;
            if (at > 0 && end <= id.len && id.ptr[at - 1] == ':' &&
                (end == id.len || id.ptr[end] == '@' || id.ptr[end] == ' ')) {
                c->called =
                    etp_arena_printf(g->arena, "%.*s%s%s", (int)at, id.ptr, part->arms[i].measured,
                                     called_against(part, id.ptr + end, g->arena));
                return;
            }
        }
    }
}

static etp_status build(const etp_ab *ab, const char *const *rules, size_t n, etp_gate *out,
                        etp_error *err)
{
    const etp_gate_options *options = out->options;
    for (size_t i = 0; i < etp_ab_answers(ab); i++) {
        out->phase = etp_ab_answer_at(ab, i)->phase;
        check_proofs(out, etp_ab_answer_at(ab, i));
        check_outputs(out, etp_ab_answer_at(ab, i));
        check_expected(out, etp_ab_answer_at(ab, i));
        check_complete(out, etp_ab_answer_at(ab, i));
        etp_ab_add_doubts(etp_ab_answer_at(ab, i), out->arena, &out->noticed);
    }
    out->phase = NULL;
    if (options->altered) { // that a folder is what was recorded goes without saying
        add_truth(out, "recorded", "raw files as recorded", false, options->altered,
                  "etprof verify DIR");
    }
    if (options->min_grade) {
        const char *least = options->min_grade, *reason = ab->judged.grade_reason;
        add_truth(out, "grade", etp_arena_printf(out->arena, "%s or better", least),
                  ab->judged.grade[0] <= least[0],
                  etp_arena_printf(out->arena, "%s: %s", ab->judged.grade, ETP_OR(reason, "")),
                  "measure the arms in one session with one runner: etprof ab");
    }
    for (size_t i = 0; i < n; i++) {
        rule r;
        ETP_TRY(parse(rules[i], &r, err));
        ETP_TRY(check_rule(out, ab, &r, err));
    }
    if (options->against) {
        ETP_TRY(check_against(out, ab, err));
        // --against is a question of its own: without rules it does not ask for verdicts besides.
    } else if (n == 0) {
        for (size_t i = 0; i < etp_ab_answers(ab); i++) {
            out->phase = etp_ab_answer_at(ab, i)->phase;
            check_verdicts(out, etp_ab_answer_at(ab, i));
        }
    }
    // One no decides even where others are unknown: no further measurement can mend it.
    bool no = false, unknown = false;
    for (size_t i = 0; i < out->checks.n; i++) {
        call(out, ab, &out->checks.items[i]);
        no = no || out->checks.items[i].state == ETP_GATE_NO;
        unknown = unknown || out->checks.items[i].state == ETP_GATE_UNKNOWN;
    }
    out->state = unknown ? ETP_GATE_UNKNOWN : ETP_GATE_YES;
    out->state = no ? ETP_GATE_NO : out->state;
    return ETP_OK;
}

etp_status etp_gate_build(const etp_ab *ab, const char *const *rules, size_t n,
                          const etp_gate_options *options, etp_arena *arena, etp_gate *out,
                          etp_error *err)
{
    const char *title = ab->n_models > 1 && ab->subject ? ab->subject : ab->title;
    *out = (etp_gate){.arena = arena, .options = options, .title = title, .dir = ab->dir};
    ETP_GUARDED(arena, err, "the gate's checks", build(ab, rules, n, out, err));
}
