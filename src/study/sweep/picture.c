// SPDX-License-Identifier: Apache-2.0
// The picture of a sweep: speedups by threads, or the times of one thread count as bars.
#include <math.h>
#include <stdio.h>

#include "study/sweep/sweep.h"

#define MAX_SERIES 12 // the chart has that many colours

static bool any_ratio(const etp_sweep *s)
{
    for (uint32_t c = 0; c < s->n_cells; c++) {
        if (isfinite(s->result.cells[c].relative.estimate)) {
            return true;
        }
    }
    return false;
}

// With several thread counts: a line per model and level over threads.
static void lines(const etp_sweep *s, etp_report *r, etp_arena *arena)
{
    const etp_factorial *g = &s->grid;
    // All ratios may be withheld (an emulator, a restless machine); the times are still a picture.
    bool ratios = any_ratio(s);
    uint32_t series = g->n[0] * g->n[1] < MAX_SERIES ? g->n[0] * g->n[1] : MAX_SERIES;
    etp_chart *c =
        etp_report_chart(r, ETP_CHART_LINES, ETP_SWEEP_CHART,
                         ratios ? "Speedup by threads and level" : "Time by threads and level",
                         ratios ? ETP_KIND_RATIO : ETP_KIND_NS);
    etp_chart_axes(c, "threads", ratios ? "speedup" : "time");
    if (ratios) {
        etp_chart_describe(
            c, "Over %s with %s of the same model, with 95 %% intervals.%s",
            s->words[g->reference[1]], etp_sweep_thread_words(s, g->reference[2], arena),
            g->n[0] * g->n[1] > MAX_SERIES ? " The first twelve series are shown." : "");
    } else {
        etp_chart_describe(c, "%s",
                           s->ab->emulated ? "Times of an emulator; they say nothing about speed."
                                           : "Untraced inference; ratios are withheld.");
    }
    double v[MAX_SERIES], lo[MAX_SERIES], hi[MAX_SERIES];
    for (uint32_t k = 0; k < series; k++) {
        const char *label =
            etp_arena_printf(arena, "%s %s", s->models[k / g->n[1]].name, s->words[k % g->n[1]]);
        etp_chart_series(c, label);
    }
    for (uint32_t t = 0; t < g->n[2]; t++) {
        for (uint32_t k = 0; k < series; k++) {
            const uint32_t at[ETP_FACTORS] = {k / g->n[1], k % g->n[1], t};
            const etp_factorial_cell *x = &s->result.cells[etp_cell_of(g, at)];
            v[k] = ratios ? x->relative.estimate : x->ns.estimate;
            lo[k] = ratios ? x->relative.lo : x->ns.lo;
            hi[k] = ratios ? x->relative.hi : x->ns.hi;
        }
        etp_chart_point(c, s->threads[t], v, lo, hi, series);
    }
}

static void bars(const etp_sweep *s, etp_report *r, etp_arena *arena)
{
    etp_chart *c = etp_report_chart(r, ETP_CHART_INTERVALS, ETP_SWEEP_CHART,
                                    "Time of one inference", ETP_KIND_NS);
    etp_chart_describe(c, "%s",
                       s->ab->emulated
                           ? "Times of an emulator; they say nothing about speed."
                           : "Untraced, with 95 % intervals; speedups are over the reference "
                             "level of the same model.");
    for (uint32_t k = 0; k < s->n_cells; k++) {
        const etp_sweep_cell *cell = &s->cells[k];
        const etp_factorial_cell *x = &s->result.cells[k];
        const char *label =
            etp_arena_printf(arena, "%s %s", s->models[cell->at[0]].name, s->words[cell->at[1]]);
        char note[32] = "";
        if (isfinite(x->relative.estimate) && cell->at[1] != s->grid.reference[1]) {
            snprintf(note, sizeof note, "%.2f×", x->relative.estimate);
        }
        if (isfinite(x->ns.estimate)) {
            etp_chart_interval(c, label, note[0] ? note : NULL, x->ns.estimate, x->ns.lo, x->ns.hi);
        }
    }
}

bool etp_sweep_has_times(const etp_sweep *s)
{
    for (uint32_t c = 0; c < s->n_cells; c++) {
        if (isfinite(s->result.cells[c].ns.estimate)) {
            return true;
        }
    }
    return false;
}

void etp_sweep_pictures(const etp_sweep *s, etp_report *r, etp_arena *arena)
{
    if (!etp_sweep_has_times(s)) {
        return;
    }
    etp_report_section(r, 1, "picture", "Picture");
    etp_report_section_is_detail(r);
    if (s->grid.n[ETP_FACTOR_THREADS] > 1) {
        lines(s, r, arena);
    } else {
        bars(s, r, arena);
    }
}
