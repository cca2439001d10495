// SPDX-License-Identifier: Apache-2.0
// What a sweep says in sentences: which factors depend on each other, where threads stop paying,
// and what to be careful about.
#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "document/document.h"
#include "study/sweep/sweep.h"

typedef struct speaker {
    etp_sweep *s;
    etp_arena *arena;
    // I, K and W are counted apart, so that a further warning does not rename the interactions.
    unsigned n_of[128]; // by letter of the id
} speaker;

static void say(speaker *w, char letter, etp_finding_severity severity, const char *text)
{
    etp_sweep_sentence x = {
        etp_arena_printf(w->arena, "%c%u", letter, ++w->n_of[(unsigned char)letter & 127]),
        severity, text};
    ETP_ADD(w->arena, &w->s->sentences, x);
}

// "vnni", "int8", "4 threads".
static const char *value_name(const speaker *w, etp_factor f, uint32_t at)
{
    switch (f) {
    case ETP_FACTOR_MODEL:
        return w->s->models[at].name;
    case ETP_FACTOR_LEVEL:
        return w->s->words[at];
    case ETP_FACTOR_THREADS:
        return etp_sweep_thread_words(w->s, at, w->arena);
    case ETP_FACTORS:
        break;
    }
    return "";
}

// "at vnni", "with int8", "with 4 threads".
static const char *condition(const speaker *w, etp_factor f, uint32_t at)
{
    const char *name = value_name(w, f, at);
    return etp_arena_printf(w->arena, "%s %s", f == ETP_FACTOR_LEVEL ? "at" : "with", name);
}

// "int8 is 2.10× [2.05, 2.15] faster than fp16", "int8 is no faster than fp16 (1.00×
// [0.99, 1.01])".
static const char *effect_words(const speaker *w, const char *who, bool plural, const char *than,
                                const etp_paired *p)
{
    const char *is = plural ? "are" : "is";
    if (p->verdict == ETP_VERDICT_FASTER || p->verdict == ETP_VERDICT_SLOWER) {
        double x = p->estimate, lo = p->lo, hi = p->hi;
        etp_ratio_as_said(p->verdict, &x, &lo, &hi);
        return etp_arena_printf(w->arena, "%s %s %s %s than %s", who, is,
                                ETP_ESTIMATE(x, lo, hi, 2), etp_verdict_name(p->verdict), than);
    }
    return etp_arena_printf(
        w->arena, "%s %s %s %s (%s)", who, is,
        p->verdict == ETP_VERDICT_SAME ? "no faster than" : "neither surely faster nor slower than",
        than, ETP_ESTIMATE(p->estimate, p->lo, p->hi, 2));
}

// The verdict of a ratio of ratios has been held against Holm's q and the sign flips already.
static bool established(const etp_interaction *x)
{
    return x->ratio.verdict == ETP_VERDICT_FASTER || x->ratio.verdict == ETP_VERDICT_SLOWER;
}

// With three factors one interaction comes once for each value of the third. That would be the same
// sentence many times, so the strongest is told and the others are named behind it.
static bool same_but_third(const etp_interaction *x, const etp_interaction *y)
{
    return x->a == y->a && x->b == y->b && x->a_at == y->a_at && x->b_at == y->b_at;
}

// The strongest of the interactions that differ in the third factor alone.
static bool strongest(const etp_factorial_result *r, size_t at)
{
    const etp_interaction *x = &r->interactions[at];
    for (size_t i = 0; i < r->n_interactions; i++) {
        const etp_interaction *y = &r->interactions[i];
        double more = fabs(y->ratio.paired.mean_ln) - fabs(x->ratio.paired.mean_ln);
        if (i != at && established(y) && same_but_third(x, y) &&
            // Of equals the first is the strongest: exactly one of them is told.
            (more > 0 || (more == 0 && i < at))) {
            return false;
        }
    }
    return true;
}

// " · the same with 1 thread, with 2 threads": where else it is established.
static const char *elsewhere(const speaker *w, size_t at)
{
    const etp_factorial_result *r = &w->s->result;
    const char *text = "";
    for (size_t i = 0; i < r->n_interactions; i++) {
        const etp_interaction *y = &r->interactions[i];
        if (i != at && established(y) && same_but_third(&r->interactions[at], y)) {
            const char *where = condition(w, y->c, y->c_at);
            text = etp_arena_printf(w->arena, "%s%s%s", text, text[0] ? ", " : " · also ", where);
        }
    }
    return text;
}

static void say_interaction(speaker *w, size_t at)
{
    const etp_interaction *x = &w->s->result.interactions[at];
    const uint32_t *reference = w->s->grid.reference;
    // Models that take different inputs are not compared with each other: the other factor is,
    // model by model.
    // ratio = a_effect[1] ÷ a_effect[0] = b_effect[1] ÷ b_effect[0]: an interaction may be told
    // from either side with the same figure.
    bool by_b = x->a == ETP_FACTOR_MODEL && !w->s->same_inputs;
    etp_factor who = by_b ? x->b : x->a, when = by_b ? x->a : x->b;
    uint32_t who_at = by_b ? x->b_at : x->a_at, when_at = by_b ? x->a_at : x->b_at;
    const etp_paired *effect = by_b ? x->b_effect : x->a_effect;
    const char *subject = value_name(w, who, who_at), *other = value_name(w, who, reference[who]);
    // "4 threads are", "int8 is".
    bool plural = who == ETP_FACTOR_THREADS;
    const char *first = effect_words(w, subject, plural, other, &effect[0]);
    const char *second = effect_words(w, plural ? "they" : "it", plural, other, &effect[1]);
    const char *at_first = condition(w, when, reference[when]),
               *at_second = condition(w, when, when_at);
    const char *third = w->s->grid.n[x->c] > 1 ? condition(w, x->c, x->c_at) : "";
    const char *also = elsewhere(w, at);
    say(w, 'I', ETP_SEVERITY_INFO,
        etp_arena_printf(w->arena, "%s%s%s %s; %s %s: ratio of ratios %.3f %s%s", third,
                         third[0] ? ": " : "", first, at_first, at_second, second,
                         x->ratio.paired.estimate,
                         ETP_INTERVAL(x->ratio.paired.lo, x->ratio.paired.hi, 3), also));
}

static void say_interactions(speaker *w)
{
    const etp_factorial_result *r = &w->s->result;
    bool *said = ETP_NEW_ARRAY(w->arena, bool, r->n_interactions + 1);
    for (;;) { // strongest first
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < r->n_interactions; i++) {
            bool candidate = established(&r->interactions[i]) && !said[i] && strongest(r, i);
            if (candidate &&
                (best == SIZE_MAX || fabs(r->interactions[i].ratio.paired.mean_ln) >
                                         fabs(r->interactions[best].ratio.paired.mean_ln))) {
                best = i;
            }
        }
        if (best == SIZE_MAX) {
            return;
        }
        said[best] = true;
        say_interaction(w, best);
    }
}

static const etp_thread_step *step_from(const etp_sweep *s, const etp_knee *k, uint32_t from)
{
    for (size_t i = 0; i < s->result.n_steps; i++) {
        const etp_thread_step *x = &s->result.steps[i];
        if (x->model == k->model && x->level == k->level && x->from == from) {
            return x;
        }
    }
    return NULL;
}

// FROM to TO is what the intervals leave open (etp_knee). Only when both are the same is the step
// named that no longer pays.
static void say_knee(speaker *w, const etp_knee *k)
{
    const etp_sweep *s = w->s;
    uint32_t last = s->grid.n[ETP_FACTOR_THREADS] - 1;
    const etp_thread_step *step = step_from(s, k, k->from);
    const char *cell =
        etp_arena_printf(w->arena, "%s %s", s->models[k->model].name, s->words[k->level]);
    double percent = 100 * s->grid.knee;
    if (step && step->effect.paired.blocks == 0) {
        return; // withheld, or not measured: said elsewhere
    }
    if (k->from != k->to) {
        say(w, 'K', ETP_SEVERITY_WARN,
            etp_arena_printf(
                w->arena,
                "%s: the knee lies between %u and %u threads; the intervals do not tell where",
                cell, (unsigned)s->threads[k->from], (unsigned)s->threads[k->to]));
        return;
    }
    // Without a step behind it the knee is the last count measured.
    if (k->from == last || !step) {
        say(w, 'K', ETP_SEVERITY_INFO,
            etp_arena_printf(w->arena, "%s: more threads pay (%s %% or more) up to the %u measured",
                             cell, ETP_DIGITS(percent, 6), (unsigned)s->threads[last]));
        return;
    }
    const etp_paired *p = &step->effect.paired;
    say(w, 'K', ETP_SEVERITY_INFO,
        etp_arena_printf(w->arena, "%s: %u %s enough: %u are %s as fast, and no more gain %s %%",
                         cell, (unsigned)s->threads[k->from],
                         s->threads[k->from] == 1 ? "thread is" : "threads are",
                         (unsigned)s->threads[step->to], ETP_ESTIMATE(p->estimate, p->lo, p->hi, 2),
                         ETP_DIGITS(percent, 6)));
}

// ---- warnings ----

// One sentence for all of them: beside other programs it is often every cell.
static void warn_of_waiting(speaker *w)
{
    const etp_sweep *s = w->s;
    const char *most = NULL;
    double waited = 0;
    uint32_t n = 0;
    for (uint32_t c = 0; c < s->n_cells; c++) {
        if (s->cells[c].withheld != ETP_WITHHELD_CONTENDED) {
            continue;
        }
        const etp_ab_arm *arm = &s->ab->arms[s->cells[c].arm];
        n++;
        most = arm->waited > waited ? arm->measured : most;
        waited = fmax(waited, arm->waited);
    }
    if (most) {
        say(w, 'W', ETP_SEVERITY_WARN,
            etp_arena_printf(
                w->arena,
                "other programs had the CPU for %.0f %% of the time of %s%s: no ratio is "
                "made of %s",
                100 * waited, most,
                n == 1 ? ""
                       : etp_arena_printf(w->arena, " and for less of %u more cell%s",
                                          (unsigned)n - 1, n == 2 ? "" : "s"),
                n == 1 ? "it" : "them"));
    }
}

static void warn_of_cells(speaker *w)
{
    const etp_sweep *s = w->s;
    for (uint32_t c = 0; c < s->n_cells; c++) {
        const etp_sweep_cell *cell = &s->cells[c];
        const char *name = cell->arm == ETP_NO_INDEX ? NULL : s->ab->arms[cell->arm].measured;
        uint32_t blocks = s->result.cells[c].blocks;
        if (name && cell->lost > 0) {
            say(w, 'W', ETP_SEVERITY_BAD,
                blocks ? etp_arena_printf(
                             w->arena,
                             "%s: %u launches lost (%s); it is compared over the %u blocks it has",
                             name, (unsigned)cell->lost, cell->lost_why, (unsigned)blocks)
                       : etp_arena_printf(w->arena,
                                          "%s: every launch was lost (%s): the cell stays empty",
                                          name, cell->lost_why));
        } else if (name && blocks == 0) {
            say(w, 'W', ETP_SEVERITY_WARN, etp_arena_printf(w->arena, "%s: not measured", name));
        }
        if (name && cell->withheld == ETP_WITHHELD_PROOF_FAILED) {
            say(w, 'W', ETP_SEVERITY_BAD,
                etp_arena_printf(w->arena,
                                 "%s: the evidence contradicts its level; no ratio is made of it",
                                 name));
        }
    }
}

// What concerns all ratios comes before what concerns one model, and that before single cells: the
// first screen shows the first few only. The control is not mentioned of an emulator, whose times
// are withheld in any case.
static void warn(speaker *w)
{
    const etp_sweep *s = w->s;
    if (s->ab->emulated) {
        say(w, 'W', ETP_SEVERITY_WARN,
            "an emulator's times say nothing about speed: every ratio is withheld");
    } else if (s->control_differs) {
        say(w, 'W', ETP_SEVERITY_BAD,
            "two equal baseline launches differed: this machine is too restless now, every "
            "ratio is withheld");
    }
    for (uint32_t m = 0; m < s->grid.n[ETP_FACTOR_MODEL]; m++) {
        if (s->models[m].differs) {
            say(w, 'W', ETP_SEVERITY_BAD,
                etp_arena_printf(
                    w->arena, "outputs of %s%s; ratios with %s are withheld", s->models[m].differs,
                    s->models[m].differing > 1
                        ? etp_arena_printf(w->arena, " (and %u more cells of this model)",
                                           (unsigned)s->models[m].differing - 1)
                        : "",
                    s->models[m].differing > 1 ? "them" : "it"));
        }
    }
    if (!s->same_inputs) {
        say(w, 'W', ETP_SEVERITY_INFO,
            "the models take different inputs: levels and threads are compared within "
            "each, their times are not "
            "compared with each other");
    }
    if (s->same_inputs && s->floats) {
        say(w, 'W', ETP_SEVERITY_INFO,
            etp_arena_printf(
                w->arena,
                "%s: inputs of the same shapes, so their times are compared; converting between "
                "the types is the application's and in none of them",
                s->floats));
    }
    if (s->result.n_speedups == 0 && s->result.n_steps == 0 && s->grid.n[ETP_FACTOR_MODEL] > 1) {
        say(w, 'W', ETP_SEVERITY_INFO,
            "one level and one thread count: nothing is compared here; 'etprof ab A.pte "
            "B.pte' compares models");
    }
    // The thread counts are sorted: the last is the largest.
    uint32_t most = s->threads[s->grid.n[ETP_FACTOR_THREADS] - 1];
    if (s->cpus > 0 && most > s->cpus) {
        say(w, 'W', ETP_SEVERITY_WARN,
            etp_arena_printf(
                w->arena,
                "%u threads on %u CPUs: those cells measure how the system shares its CPUs too",
                (unsigned)most, (unsigned)s->cpus));
    }
    warn_of_waiting(w);
    warn_of_cells(w);
}

void etp_sweep_say(etp_sweep *s, etp_arena *arena)
{
    speaker w = {.s = s, .arena = arena};
    warn(&w);
    say_interactions(&w);
    for (size_t i = 0; i < s->result.n_knees; i++) {
        say_knee(&w, &s->result.knees[i]);
    }
}
