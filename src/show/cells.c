// SPDX-License-Identifier: Apache-2.0
// Every cell of models x levels or builds x threads, where a session has several of two of them and
// more arms than headlines could tell: a row for each model and thread count, a column for each
// level or build, and what the best of them brings there.
#include <math.h>

#include "base/number.h"
#include "compare/phases.h"
#include "show/report.h"
#include "show/screen.h"

enum {
    FEW_ARMS = 4,      // up to which each comparison has a headline
    SHOWN_COLUMNS = 3, // of times; the last one of the screen is the speedup
    SHOWN_ROWS = 10
};

typedef struct cells {
    const etp_ab_arm *columns[SHOWN_COLUMNS]; // the first of each level, build and cache
    size_t n_columns;
    bool models, threads, builds; // more than one of them
} cells;

static bool is_of(const etp_ab_arm *c, const etp_ab_arm *a)
{
    return c->level == a->level && c->build == a->build && c->cache == a->cache;
}

// FALSE: AB has no cells that a table of the screen could hold.
static bool find_cells(const etp_ab *ab, cells *out)
{
    *out = (cells){.n_columns = 0};
    for (size_t i = 0; i < ab->n_arms; i++) {
        const etp_ab_arm *a = &ab->arms[ab->shown ? ab->shown[i] : i];
        size_t at = 0;
        while (at < out->n_columns && !is_of(out->columns[at], a)) {
            at++;
        }
        if (at == SHOWN_COLUMNS) {
            return false;
        }
        if (at == out->n_columns) {
            out->columns[out->n_columns++] = a;
        }
        out->models = out->models || a->model != ab->arms[0].model;
        out->threads = out->threads || a->threads != ab->arms[0].threads;
        out->builds = out->builds || a->build != ab->arms[0].build;
    }
    return ab->n_arms > FEW_ARMS && out->models + out->threads + (out->n_columns > 1) > 1 &&
           !ab->bare && !ab->emulated;
}

bool etp_ab_has_cells(const etp_ab *ab)
{
    cells c;
    return find_cells(ab, &c);
}

static const char *label_of(const etp_ab *ab, const cells *c, const etp_ab_arm *a, etp_arena *arena)
{
    const char *phase = ETP_OR(ab->phase, "");
    const char *model = c->models ? etp_ab_model_word(ab, a->model, arena) : "";
    const char *threads = "";
    if (c->threads) {
        threads = etp_arena_printf(arena, "%u thread%s", a->threads, etp_if(a->threads != 1, "s"));
    }
    return etp_arena_printf(arena, "%s%s%s%s%s", phase,
                            etp_if(phase[0] && (model[0] || threads[0]), " · "), model,
                            etp_if(model[0] && threads[0], ", "), threads);
}

// Of the arms with the model and threads of FIRST: their times, and the largest speedup of a level
// over the baseline's.
static void add_row(const etp_ab *ab, const cells *c, const etp_ab_arm *first,
                    const etp_screen_unit *unit, etp_screen *s, etp_arena *arena)
{
    etp_screen_row row = {
        .label = label_of(ab, c, first, arena), .figures = {"", "", "", NULL}
    };
    const etp_ab_comparison *best = NULL;
    bool withheld = false;
    for (size_t i = 0; i < ab->n_arms; i++) {
        const etp_ab_arm *a = &ab->arms[i];
        for (size_t l = 0; etp_ab_same_group(a, first) && l < c->n_columns; l++) {
            if (is_of(c->columns[l], a)) {
                row.figures[l] = a->median_ns == ETP_NS_UNKNOWN
                                     ? NULL
                                     : etp_screen_in_unit(unit, (double)a->median_ns, arena);
            }
        }
    }
    for (size_t i = 0; i < ab->n_comparisons + ab->n_within; i++) {
        const etp_ab_comparison *x = etp_ab_comparison_at(ab, i);
        bool here = etp_ab_same_group(&ab->arms[x->candidate], first);
        withheld = withheld || (here && x->withheld);
        if (here && etp_ab_is_within(ab, x) && !x->withheld && isfinite(x->estimate)) {
            best = best && best->estimate >= x->estimate ? best : x;
        }
    }
    if (best) {
        row.figures[ETP_SCREEN_FIGURES - 1] = etp_arena_printf(arena, "%.2f×", best->estimate);
        row.severity = etp_ab_severity_of_verdict(best->verdict);
        bool faster = best->verdict == ETP_VERDICT_FASTER;
        row.bar = faster ? best->estimate : 0;
        row.note = row.short_note = faster ? NULL : etp_verdict_name(best->verdict);
    } else if (withheld && c->n_columns > 1) {
        row.note = row.short_note = "withheld";
    } else if (c->n_columns == 1) {
        row.figures[ETP_SCREEN_FIGURES - 1] = "";
    }
    etp_screen_add(s, &row);
}

bool etp_ab_cell_grid(const etp_ab *ab, etp_screen *s, etp_arena *arena)
{
    cells c;
    if (!find_cells(ab, &c)) {
        return false;
    }
    double longest = 0;
    size_t rows = 0;
    for (size_t p = 0; p < etp_ab_answers(ab); p++) {
        const etp_ab *one = etp_ab_answer_at(ab, p);
        for (size_t i = 0; i < one->n_arms; i++) {
            longest = fmax(longest, etp_known_ns(one->arms[i].median_ns));
        }
    }
    const etp_screen_unit unit = etp_screen_unit_among(longest, 0);
    const char *columns[ETP_SCREEN_FIGURES] = {"", "", "", etp_if(c.n_columns > 1, "speedup")};
    for (size_t l = 0; l < c.n_columns; l++) {
        // Not a feature: what ran, the marks say.
        const etp_ab_arm *x = c.columns[l];
        columns[l] = etp_level_get(x->level)->name;
        if (c.builds) {
            columns[l] = etp_ab_build_called(x, arena);
        } else if (x->cache) {
            columns[l] = etp_ab_cache_called(x, arena);
        }
    }
    etp_screen_grid(s, "Every cell", unit.name, columns);
    for (size_t p = 0; p < etp_ab_answers(ab); p++) {
        const etp_ab *one = etp_ab_answer_at(ab, p);
        for (size_t i = 0; i < one->n_arms; i++) {
            const etp_ab_arm *a = &one->arms[i];
            bool met = false;
            for (size_t k = 0; k < i; k++) {
                met = met || etp_ab_same_group(&one->arms[k], a);
            }
            if (!met && rows++ < SHOWN_ROWS) {
                add_row(one, &c, a, &unit, s, arena);
            }
        }
    }
    if (rows > SHOWN_ROWS) {
        etp_screen_remark(s, ETP_PLAIN,
                          etp_arena_printf(arena, "and %zu more rows: --full", rows - SHOWN_ROWS));
    }
    return true;
}
