// SPDX-License-Identifier: Apache-2.0
// The first cards of a sweep: the fastest cell of each model, the fastest of all first, with its
// ratio over the model's reference cell.
#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "document/document.h"
#include "show/report.h"
#include "study/sweep/sweep.h"

#define MAX_CARDS 6  // one for each model; the tables have all
#define MAX_RIVALS 3 // named in one card

typedef struct winner {
    uint32_t cell; // ETP_NO_INDEX: no cell of the model may be judged
    double ns;     // INFINITY without one
} winner;

// A cell whose ratio over its model's reference cannot be given cannot win either: its card would
// show a time without saying what it is worth.
static bool judged(const etp_sweep *s, uint32_t cell)
{
    const etp_factorial_cell *x = &s->result.cells[cell];
    return s->cells[cell].withheld == ETP_WITHHELD_NOT && isfinite(x->ns.estimate) &&
           isfinite(x->relative.estimate);
}

// None where a cell that waited for other programs took less time: waiting makes it slower, so it
// might win. A cell that is withheld for what it computes, or where, does not compete.
static winner fastest_of(const etp_sweep *s, uint32_t model)
{
    winner best = {ETP_NO_INDEX, (double)INFINITY};
    double least = (double)INFINITY;
    for (uint32_t c = 0; c < s->n_cells; c++) {
        double ns = s->result.cells[c].ns.estimate;
        if (s->cells[c].at[ETP_FACTOR_MODEL] != model || !isfinite(ns)) {
            continue;
        }
        if (judged(s, c) && ns < best.ns) {
            best = (winner){c, ns};
        }
        least = s->cells[c].withheld == ETP_WITHHELD_CONTENDED && ns < least ? ns : least;
    }
    return best.ns > least ? (winner){ETP_NO_INDEX, (double)INFINITY} : best;
}

// Equal times in the order of the cells, so that the same folder gives the same page.
static int by_time(const void *a, const void *b)
{
    const winner *x = a, *y = b;
    return x->ns != y->ns ? (x->ns < y->ns ? -1 : 1) : x->cell < y->cell ? -1 : x->cell > y->cell;
}

// "sme2 with 4 threads"
static const char *place(const etp_sweep *s, const uint32_t at[ETP_FACTORS], etp_arena *arena)
{
    return etp_arena_printf(arena, "%s with %s", s->words[at[ETP_FACTOR_LEVEL]],
                            etp_sweep_thread_words(s, at[ETP_FACTOR_THREADS], arena));
}

static const char *shown_ns(double ns, etp_arena *arena)
{
    return etp_arena_printf(arena, "%s", ETP_NS(ns));
}

const char *etp_sweep_rivals(const etp_sweep *s, uint32_t cell, bool all, etp_arena *arena)
{
    const etp_interval *mine = &s->result.cells[cell].ns;
    uint32_t model = s->cells[cell].at[ETP_FACTOR_MODEL];
    size_t n = 0;
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    for (uint32_t c = 0; c < s->n_cells; c++) {
        const etp_interval *its = &s->result.cells[c].ns;
        uint32_t other = s->cells[c].at[ETP_FACTOR_MODEL];
        if (c == cell || !judged(s, c) || (other != model && !all) || !(its->lo <= mine->hi)) {
            continue;
        }
        if (n++ < MAX_RIVALS) {
            const char *time = shown_ns(its->estimate, arena);
            const char *where = place(s, s->cells[c].at, arena);
            etp_strbuf_printf(&text, "%s%s%s%s (%s)", n == 1 ? "" : ", ",
                              other != model ? s->models[other].name : "",
                              other != model ? " at " : "", where ? where : "", time ? time : "");
        }
    }
    if (n > MAX_RIVALS) {
        etp_strbuf_printf(&text, " and %zu more", n - MAX_RIVALS);
    }
    return n > 0 && !text.failed ? etp_strbuf_str(&text).ptr : NULL;
}

// The ratio is over the model's own cell at the references, never over another model's: only cells
// of one model do the same work for certain. The reference itself may win; its card has no ratio,
// because 1 by construction would look like a measurement.
static void card(const etp_sweep *s, const winner *w, bool first, etp_report *r, etp_arena *arena)
{
    const etp_sweep_cell *cell = &s->cells[w->cell];
    const etp_factorial_cell *x = &s->result.cells[w->cell];
    const uint32_t base[ETP_FACTORS] = {cell->at[ETP_FACTOR_MODEL],
                                        s->grid.reference[ETP_FACTOR_LEVEL],
                                        s->grid.reference[ETP_FACTOR_THREADS]};
    uint32_t at = etp_cell_of(&s->grid, base);
    const etp_interval *reference = &s->result.cells[at].ns;
    bool is_reference = at == w->cell;
    const char *here = place(s, cell->at, arena), *there = place(s, base, arena);
    const char *time = shown_ns(x->ns.estimate, arena);
    const char *other = shown_ns(reference->estimate, arena);
    if (!here || !there || !time || !other) {
        return;
    }
    etp_strbuf detail;
    etp_strbuf_init(&detail, arena);
    double rate = etp_sweep_token_rate(s, w->cell);
    etp_strbuf_printf(&detail, "%s%s", first ? "the fastest of all: " : "", time);
    if (isfinite(rate)) {
        const char *words = etp_rate_text(rate, arena);
        etp_strbuf_printf(&detail, " (%s tok/s)", words ? words : "");
    }
    if (!is_reference) {
        etp_strbuf_printf(&detail, " against %s at %s", other, there);
    }
    const char *rivals = etp_sweep_rivals(s, w->cell, first, arena);
    etp_strbuf_printf(&detail, "%s%s", rivals ? " · cannot be told from " : "",
                      rivals ? rivals : "");
    const etp_paired *p = &x->relative;
    etp_verdict verdict = is_reference ? ETP_VERDICT_SAME : p->verdict;
    const char *words =
        is_reference ? "fastest"
                     : etp_verdict_words(arena, verdict, p->lo, p->hi, p->blocks, s->grid.margin);
    const char *phase = etp_sweep_phase_name(s);
    const char *label =
        etp_arena_printf(arena, "%s%s%s: %s%s", phase ? phase : "", phase ? " · " : "",
                         s->models[cell->at[ETP_FACTOR_MODEL]].name, here,
                         is_reference ? ", the reference itself" : "");
    double none = (double)NAN;
    etp_headline h = {
        .label = label,
        .verdict = words,
        .severity = verdict == ETP_VERDICT_UNKNOWN ? ETP_WARN : etp_ab_severity_of_verdict(verdict),
        .value = is_reference ? none : p->estimate,
        .lo = is_reference ? none : p->lo,
        .hi = is_reference ? none : p->hi,
        .kind = ETP_KIND_RATIO,
        .reference = is_reference ? none : 1,
        .interval = !is_reference && isfinite(p->lo)
                        ? etp_arena_printf(arena, "95 %% interval, %u blocks", (unsigned)p->blocks)
                        : NULL,
        .detail = etp_strbuf_str(&detail).ptr,
    };
    // "slower" is shown with the inverse ratio, here as in every other report.
    etp_ratio_as_said(verdict, &h.value, &h.lo, &h.hi);
    etp_report_headline(r, &h);
}

// Why no cell of a model is the fastest, in the place of its card.
static void unknown_card(const etp_sweep *s, uint32_t model, etp_report *r, etp_arena *arena)
{
    const char *phase = etp_sweep_phase_name(s);
    double none = (double)NAN;
    etp_withheld why = etp_sweep_doubt(s, model);
    etp_headline h = {
        .label = etp_arena_printf(arena, "%s%s%s: the fastest is unknown", phase ? phase : "",
                                  phase ? " · " : "", s->models[model].name),
        .verdict = "unknown",
        .severity = ETP_WARN,
        .value = none,
        .lo = none,
        .hi = none,
        .kind = ETP_KIND_RATIO,
        .reference = none,
        .detail = why ? etp_ab_withheld_text(why) : "not enough was measured",
    };
    etp_report_headline(r, &h);
}

etp_withheld etp_sweep_doubt(const etp_sweep *s, uint32_t model)
{
    etp_withheld why = ETP_WITHHELD_NOT;
    for (uint32_t c = 0; c < s->n_cells && why != ETP_WITHHELD_CONTENDED; c++) {
        const etp_sweep_cell *cell = &s->cells[c];
        bool more = why == ETP_WITHHELD_NOT || cell->withheld == ETP_WITHHELD_CONTENDED;
        why = cell->at[ETP_FACTOR_MODEL] == model && more ? cell->withheld : why;
    }
    return why;
}

uint32_t etp_sweep_fastest(const etp_sweep *s, uint32_t model)
{
    return fastest_of(s, model).cell;
}

// No winner while one model is unknown: it might have been the fastest.
uint32_t etp_sweep_winner(const etp_sweep *s)
{
    uint32_t n = s->grid.n[ETP_FACTOR_MODEL];
    winner best = {ETP_NO_INDEX, (double)INFINITY};
    for (uint32_t m = 0; m < n; m++) {
        winner w = fastest_of(s, m);
        if (w.cell == ETP_NO_INDEX || (n > 1 && !s->same_inputs)) {
            return ETP_NO_INDEX;
        }
        best = w.ns < best.ns ? w : best;
    }
    return best.cell;
}

// Of a phase among several: the fastest of all alone, where there is one.
static void phase_winners(const etp_sweep *s, bool several, etp_report *r, etp_arena *arena)
{
    uint32_t n = s->grid.n[ETP_FACTOR_MODEL];
    winner *winners = ETP_NEW_ARRAY(arena, winner, n);
    if (!winners) {
        return;
    }
    uint32_t known = 0;
    for (uint32_t m = 0; m < n; m++) {
        winner w = fastest_of(s, m);
        if (w.cell != ETP_NO_INDEX) {
            winners[known++] = w;
        } else if (m < MAX_CARDS) {
            unknown_card(s, m, r, arena);
        }
    }
    bool ranked = s->same_inputs && known == n; // else a model's time is no model's rank
    if (ranked) {
        qsort(winners, known, sizeof *winners, by_time);
    }
    uint32_t most = several && ranked ? 1 : MAX_CARDS;
    for (uint32_t i = 0; i < known && i < most; i++) {
        card(s, &winners[i], ranked && i == 0 && n > 1, r, arena);
    }
    // Of a phase among several nothing is said of the rest: the card is that of the fastest of all.
    if (known > MAX_CARDS && most == MAX_CARDS) {
        etp_report_fact(r, "models", "%u, of which %d are above", (unsigned)known, MAX_CARDS);
    }
}

bool etp_sweep_winners(const etp_sweep *s, etp_report *r, etp_arena *arena)
{
    const etp_factorial *g = &s->grid;
    if (g->n[ETP_FACTOR_MODEL] == 1 && g->n[ETP_FACTOR_LEVEL] * g->n[ETP_FACTOR_THREADS] <= 2) {
        return false; // one ratio at most, which has its card
    }
    for (size_t i = 0; i < etp_sweep_n_phases(s); i++) {
        phase_winners(etp_sweep_phase(s, i), s->n_later > 0, r, arena);
    }
    return true;
}
