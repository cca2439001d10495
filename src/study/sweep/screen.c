// SPDX-License-Identifier: Apache-2.0
// The first screen of a sweep in a terminal: the fastest cell of each model, every cell, why to
// trust it, where to read more. The report has the rest.
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/shell.h"
#include "document/document.h"
#include "show/screen.h"
#include "study/sweep/sweep.h"

enum {
    SHOWN_MODELS = 5, // of all phases: each has a headline
    SHOWN_LEVELS = 3, // columns of times
    SHOWN_ROWS = 10,
    SHOWN_INTERACTIONS = 1,
    SHOWN_KNEES = 2
};

// In whole nanoseconds: a mean of logarithms is 999999.99 where every launch took 1 ms.
static double time_ns(const etp_sweep *s, uint32_t cell)
{
    return round(s->result.cells[cell].ns.estimate);
}

typedef struct times {
    const etp_sweep *s;
    bool columns;  // a level each; else a row each
    double common; // ns of the unit of all; 0: they are too far apart, each has its own
    etp_screen_unit unit;
} times;

static times times_of(const etp_sweep *s)
{
    double least = (double)INFINITY, most = 0;
    for (uint32_t c = 0; c < s->n_cells; c++) {
        double ns = time_ns(s, c);
        least = isfinite(ns) ? fmin(least, ns) : least;
        most = isfinite(ns) ? fmax(most, ns) : most;
    }
    const double common = etp_common_unit(least, most, etp_screen_unit_among(most, 0).ns);
    return (times){.s = s,
                   .columns = s->grid.n[ETP_FACTOR_LEVEL] <= SHOWN_LEVELS,
                   .common = common,
                   .unit = etp_screen_unit_among(most, common)};
}

// ---- the fastest ----

// "VNNI with 2 threads"; what all cells have alike is not said.
static const char *place(const etp_sweep *s, const uint32_t at[ETP_FACTORS], etp_arena *arena)
{
    const char *level = s->words[at[ETP_FACTOR_LEVEL]];
    uint32_t n = s->threads[at[ETP_FACTOR_THREADS]];
    if (s->grid.n[ETP_FACTOR_THREADS] == 1) {
        return level;
    }
    return etp_arena_printf(arena, "%s with %u %s", level, n, n == 1 ? "thread" : "threads");
}

// "prefill 16 · int8: "
static const char *whose(const etp_sweep *s, uint32_t model, etp_arena *arena)
{
    const char *phase = etp_sweep_phase_name(s);
    bool several = s->grid.n[ETP_FACTOR_MODEL] > 1;
    return etp_arena_printf(arena, "%s%s%s%s", phase ? phase : "",
                            phase ? (several ? " · " : ": ") : "",
                            several ? s->models[model].name : "", several ? ": " : "");
}

static const char *rates(const etp_sweep *s, uint32_t from, uint32_t to, etp_arena *arena)
{
    double a = etp_sweep_token_rate(s, from), b = etp_sweep_token_rate(s, to);
    if (!isfinite(a) || !isfinite(b)) {
        return "";
    }
    const char *before = etp_rate_text(a, arena), *after = etp_rate_text(b, arena);
    return etp_arena_printf(arena, "%s → %s tok/s · ", before, after);
}

// "VNNI is 3.39× faster than AVX2", with the verdict that the ratio has.
static const char *ratio_words(const etp_paired *p, const char *here, const char *there,
                               double margin, etp_arena *arena)
{
    double ratio = p->estimate, lo = p->lo, hi = p->hi;
    etp_ratio_as_said(p->verdict, &ratio, &lo, &hi);
    if (p->verdict == ETP_VERDICT_FASTER || p->verdict == ETP_VERDICT_SLOWER) {
        return etp_arena_printf(arena, "%s is %.2f× %s than %s", here, ratio,
                                etp_verdict_name(p->verdict), there);
    }
    if (p->verdict == ETP_VERDICT_SAME) {
        return etp_arena_printf(arena, "%s is as fast as %s", here, there);
    }
    const char *why = etp_verdict_words(arena, p->verdict, p->lo, p->hi, p->blocks, margin);
    return etp_arena_printf(arena, "%s against %s: %.2f×, %s", here, there, ratio, why);
}

static void headline(const etp_sweep *s, uint32_t cell, bool best, etp_screen *out,
                     etp_arena *arena)
{
    const uint32_t *at = s->cells[cell].at;
    const uint32_t base[ETP_FACTORS] = {at[ETP_FACTOR_MODEL], s->grid.reference[ETP_FACTOR_LEVEL],
                                        s->grid.reference[ETP_FACTOR_THREADS]};
    const uint32_t reference = etp_cell_of(&s->grid, base);
    const etp_paired *p = &s->result.cells[cell].relative;
    const char *here = place(s, at, arena), *there = place(s, base, arena);
    const char *of = whose(s, at[ETP_FACTOR_MODEL], arena), *words = NULL;
    const char *parts[ETP_SCREEN_PARTS] = {NULL, NULL, best ? "the fastest of all" : NULL};
    double from = time_ns(s, reference), to = time_ns(s, cell);
    if (cell == reference) {
        char time[ETP_NUMBER_CHARS];
        words = etp_arena_printf(arena, "%s is the fastest", here);
        parts[0] = etp_arena_printf(arena, "%s", etp_format_ns(to, time));
    } else {
        words = ratio_words(p, here, there, s->grid.margin, arena);
        const char *both = etp_screen_from_to(from, to, times_of(s).common, "", arena);
        parts[0] = etp_arena_printf(arena, "%s%s", rates(s, reference, cell, arena), both);
        double ratio = p->estimate, lo = p->lo, hi = p->hi;
        etp_ratio_as_said(p->verdict, &ratio, &lo, &hi);
        parts[1] = !isfinite(lo) || !isfinite(hi) ? NULL
                   : etp_interval_tells(lo, hi)
                       ? etp_arena_printf(arena, "95 %% %s", ETP_INTERVAL(lo, hi, 2))
                       : "no interval yet";
    }
    etp_severity severity = cell == reference ? ETP_INFO
                            : p->verdict == ETP_VERDICT_UNKNOWN
                                ? ETP_WARN
                                : etp_ab_severity_of_verdict(p->verdict);
    etp_screen_headline(out, severity, etp_arena_printf(arena, "%s%s", of, words), parts);
    const char *rivals = etp_sweep_rivals(s, cell, best, arena);
    if (rivals) {
        etp_screen_remark(out, ETP_PLAIN,
                          etp_arena_printf(arena, "%s%s cannot be told from %s", of, here, rivals));
    }
}

// Why no cell of a model is the fastest.
static void no_winner(const etp_sweep *s, uint32_t model, etp_screen *out, etp_arena *arena)
{
    static const char *const k_none[ETP_SCREEN_PARTS] = {NULL};
    etp_withheld why = etp_sweep_doubt(s, model);
    const char *of = whose(s, model, arena);
    etp_screen_headline(
        out, ETP_WARN,
        etp_arena_printf(arena, "%s%s", of,
                         why ? "the fastest is unknown" : "not enough was measured"),
        k_none);
    if (why) {
        etp_screen_remark(out, ETP_WARN, etp_ab_withheld_text(why));
    }
}

static void headlines(const etp_sweep *whole, etp_screen *out, etp_arena *arena)
{
    size_t shown = 0, more = 0;
    bool open = false;
    for (size_t p = 0; p < etp_sweep_n_phases(whole); p++) {
        const etp_sweep *s = etp_sweep_phase(whole, p);
        const uint32_t winner = etp_sweep_winner(s), models = s->grid.n[ETP_FACTOR_MODEL];
        for (uint32_t m = 0; m < models; m++) {
            uint32_t cell = etp_sweep_fastest(s, m);
            bool best = models > 1 && cell == winner && cell != ETP_NO_INDEX;
            open = open || cell == ETP_NO_INDEX;
            if (shown == SHOWN_MODELS) {
                more++;
                continue;
            }
            shown++;
            if (cell == ETP_NO_INDEX) {
                no_winner(s, m, out, arena);
            } else {
                headline(s, cell, best, out, arena);
            }
        }
    }
    if (more) {
        etp_screen_remark(out, ETP_PLAIN, etp_arena_printf(arena, "and %zu more: --full", more));
    }
    if (open) {
        etp_ab_settle(whole->ab, out, arena);
    }
}

// What somebody has to know before a figure is used, then what the figures show.
static void remarks(const etp_sweep *s, etp_screen *out, etp_arena *arena)
{
    static const struct {
        char letter;
        size_t most;
    } k_kinds[] = {
        {'W', SIZE_MAX          },
        {'I', SHOWN_INTERACTIONS},
        {'K', SHOWN_KNEES       }
    };
    size_t more = 0;
    for (size_t k = 0; k < sizeof k_kinds / sizeof *k_kinds; k++) {
        size_t n = 0;
        for (size_t i = 0; i < s->sentences.n; i++) {
            const etp_sweep_sentence *x = &s->sentences.items[i];
            if (x->id[0] != k_kinds[k].letter) {
                continue;
            }
            if (n++ < k_kinds[k].most) {
                etp_screen_remark(out, etp_ab_severity_of(x->severity),
                                  etp_arena_printf(arena, "%s %s", x->id, x->text));
            } else {
                more++;
            }
        }
        if (k == 0) {
            etp_screen_keep_remarks(out);
        }
    }
    if (more) {
        etp_screen_remark(out, ETP_PLAIN,
                          etp_arena_printf(arena, "and %zu more sentences: --full", more));
    }
}

// ---- every cell ----

static const char *time_of(const times *t, const uint32_t at[ETP_FACTORS], etp_arena *arena)
{
    double ns = time_ns(t->s, etp_cell_of(&t->s->grid, at));
    char text[ETP_NUMBER_CHARS];
    return !isfinite(ns)      ? NULL
           : !(t->common > 0) ? etp_arena_printf(arena, "%s", etp_format_ns(ns, text))
                              : etp_screen_in_unit(&t->unit, ns, arena);
}

static const etp_cell_speedup *speedup_of(const etp_sweep *s, const uint32_t at[ETP_FACTORS])
{
    for (size_t i = 0; i < s->result.n_speedups; i++) {
        if (memcmp(s->result.speedups[i].at, at, sizeof s->result.speedups[i].at) == 0) {
            return &s->result.speedups[i];
        }
    }
    return NULL;
}

// The speedup of the cell in the last column, with a bar or why there is none.
static void add_speedup(const etp_effect *e, etp_withheld withheld, etp_screen_row *row,
                        etp_arena *arena)
{
    double ratio = e ? e->paired.estimate : (double)NAN;
    row->figures[ETP_SCREEN_FIGURES - 1] =
        isfinite(ratio) ? etp_arena_printf(arena, "%.2f×", ratio) : NULL;
    if (withheld) {
        row->note = row->short_note = "withheld";
    } else if (e && isfinite(ratio) && e->verdict == ETP_VERDICT_FASTER) {
        row->bar = ratio;
        row->severity = ETP_GOOD;
    } else if (e && isfinite(ratio)) {
        row->severity = e->verdict == ETP_VERDICT_SLOWER ? ETP_BAD : ETP_PLAIN;
        row->note = row->short_note = etp_verdict_name(e->verdict);
    }
}

static const char *label_of(const times *t, const uint32_t at[ETP_FACTORS], etp_arena *arena)
{
    const etp_sweep *s = t->s;
    uint32_t n = s->threads[at[ETP_FACTOR_THREADS]];
    const char *model = s->grid.n[ETP_FACTOR_MODEL] > 1 ? s->models[at[ETP_FACTOR_MODEL]].name : "";
    const char *level = t->columns ? "" : s->words[at[ETP_FACTOR_LEVEL]];
    const char *threads = s->grid.n[ETP_FACTOR_THREADS] > 1 || !(model[0] || level[0])
                              ? etp_arena_printf(arena, "%u %s", n, n == 1 ? "thread" : "threads")
                              : "";
    return threads ? etp_arena_printf(arena, "%s%s%s%s%s", model,
                                      model[0] && (level[0] || threads[0]) ? ", " : "", level,
                                      level[0] && threads[0] ? ", " : "", threads)
                   : NULL;
}

// Of one model and number of threads: the times of all levels, and the largest speedup among them.
static void add_levels(const times *t, uint32_t model, uint32_t threads, etp_screen *out,
                       etp_arena *arena)
{
    const etp_sweep *s = t->s;
    const uint32_t first[ETP_FACTORS] = {model, 0, threads};
    etp_screen_row row = {
        .label = label_of(t, first, arena), .figures = {"", "", ""}
    };
    const etp_cell_speedup *best = NULL;
    etp_withheld withheld = ETP_WITHHELD_NOT;
    for (uint32_t l = 0; l < s->grid.n[ETP_FACTOR_LEVEL]; l++) {
        const uint32_t at[ETP_FACTORS] = {model, l, threads};
        const etp_cell_speedup *x = speedup_of(s, at);
        row.figures[l] = time_of(t, at, arena);
        withheld = withheld ? withheld : etp_sweep_withheld(s, at);
        bool larger = x && isfinite(x->effect.paired.estimate) &&
                      (!best || x->effect.paired.estimate > best->effect.paired.estimate);
        best = larger ? x : best;
    }
    add_speedup(best ? &best->effect : NULL, best ? ETP_WITHHELD_NOT : withheld, &row, arena);
    etp_screen_add(out, &row);
}

static void add_cell(const times *t, const uint32_t at[ETP_FACTORS], etp_screen *out,
                     etp_arena *arena)
{
    const etp_cell_speedup *x = speedup_of(t->s, at);
    etp_screen_row row = {
        .label = label_of(t, at, arena), .figures = {time_of(t, at, arena), "", ""}
    };
    add_speedup(x ? &x->effect : NULL, etp_sweep_withheld(t->s, at), &row, arena);
    etp_screen_add(out, &row);
}

// Over the models, at the fewest threads.
static void add_means(const times *t, etp_screen *out, etp_arena *arena)
{
    const etp_sweep *s = t->s;
    const uint32_t threads = s->grid.reference[ETP_FACTOR_THREADS], n = s->threads[threads];
    for (size_t i = 0; i < s->result.n_means; i++) {
        const etp_level_mean *m = &s->result.means[i];
        bool levels = s->grid.n[ETP_FACTOR_LEVEL] > 2, counts = s->grid.n[ETP_FACTOR_THREADS] > 1;
        const char *of =
            counts ? etp_arena_printf(arena, ", %u %s", n, n == 1 ? "thread" : "threads") : "";
        etp_screen_row row = {
            .total = true, .figures = {"", "", ""}
        };
        row.label = etp_arena_printf(arena, "Geometric mean%s%s%s", levels ? ", " : "",
                                     levels ? s->words[m->level] : "", of);
        if (m->threads == threads && m->effect.paired.blocks) {
            add_speedup(&m->effect, ETP_WITHHELD_NOT, &row, arena);
            row.bar = 0; // longer bars than the rows' own would shorten those
            etp_screen_add(out, &row);
        }
    }
}

static void cells(const etp_sweep *s, etp_screen *out, etp_arena *arena)
{
    const uint32_t *n = s->grid.n;
    const times t = times_of(s);
    const char *columns[ETP_SCREEN_FIGURES] = {"time", "", "", "speedup"};
    const uint32_t each = t.columns ? 1 : n[ETP_FACTOR_LEVEL];
    size_t all = (size_t)n[ETP_FACTOR_MODEL] * n[ETP_FACTOR_THREADS] * each, shown = 0;
    if (s->ab->emulated || !etp_sweep_has_times(s)) {
        return;
    }
    for (uint32_t l = 0; l < n[ETP_FACTOR_LEVEL] && t.columns; l++) {
        columns[l] = s->words[l];
    }
    const char *phase = etp_sweep_phase_name(s);
    etp_screen_grid(out, phase ? etp_arena_printf(arena, "Every cell, in %s", phase) : "Every cell",
                    !(t.common > 0) ? NULL : t.unit.name, columns);
    for (uint32_t m = 0; m < n[ETP_FACTOR_MODEL]; m++) {
        for (uint32_t k = 0; k < n[ETP_FACTOR_THREADS]; k++) {
            for (uint32_t l = 0; l < each && shown < SHOWN_ROWS; l++, shown++) {
                const uint32_t at[ETP_FACTORS] = {m, l, k};
                if (t.columns) {
                    add_levels(&t, m, k, out, arena);
                } else {
                    add_cell(&t, at, out, arena);
                }
            }
        }
    }
    if (shown < all) {
        const etp_screen_row more = {
            .label = etp_arena_printf(arena, "and %zu more: --full", all - shown),
            .figures = {"", "", "", ""}
        };
        etp_screen_add(out, &more);
    }
    add_means(&t, out, arena);
}

// ---- why to trust it ----

static void mark_levels(const etp_sweep *s, etp_screen *out, etp_arena *arena)
{
    for (uint32_t l = s->grid.n[ETP_FACTOR_LEVEL]; l-- > 0;) {
        static const etp_severity k_marks[] = {ETP_PLAIN, ETP_GOOD, ETP_BAD};
        static const char *const k_says[] = {"not proven", "ran", "did NOT run as such"};
        const char *why = NULL;
        const etp_truth truth = etp_sweep_proof(s, l, &why);
        etp_screen_mark(out, "Trust", k_marks[truth],
                        etp_arena_printf(arena, "%s %s%s%s", s->words[l], k_says[truth],
                                         why ? ": " : "", why ? why : ""));
    }
}

static void mark_outputs(const etp_sweep *s, etp_screen *out)
{
    bool compared = false, differ = false, not_finite = false, constant = false;
    for (uint32_t m = 0; m < s->grid.n[ETP_FACTOR_MODEL]; m++) {
        compared = compared || s->models[m].correctness.ok >= 0;
        differ = differ || s->models[m].correctness.ok == 0;
        not_finite = not_finite || s->models[m].correctness.not_finite;
        constant = constant || s->models[m].correctness.constant;
    }
    if (differ || not_finite || constant) {
        etp_screen_mark(out, "Trust", ETP_BAD,
                        differ       ? "outputs DIFFER"
                        : not_finite ? "outputs NOT finite"
                                     : "outputs prove nothing");
        return;
    }
    etp_screen_mark(out, "Trust", compared ? ETP_GOOD : ETP_PLAIN,
                    compared ? "outputs agree" : "outputs not compared");
}

// The gravest of what the pairs say.
static void mark_causes(const etp_sweep *s, etp_screen *out, etp_arena *arena)
{
    for (etp_cause cause = 0; cause < ETP_CAUSE_COUNT; cause++) {
        size_t n[ETP_CAUSE_STATES] = {0};
        for (size_t i = 0; i < s->n_pairs; i++) {
            const etp_ab_judgement *j = &s->pairs[i].ab->judged;
            for (size_t c = 0; c < j->n_causes; c++) {
                n[j->causes[c].state] += j->causes[c].cause == cause;
            }
        }
        etp_cause_state state = n[ETP_CAUSE_SUSPECT]   ? ETP_CAUSE_SUSPECT
                                : n[ETP_CAUSE_UNKNOWN] ? ETP_CAUSE_UNKNOWN
                                                       : ETP_CAUSE_RULED_OUT;
        bool said = n[ETP_CAUSE_SUSPECT] + n[ETP_CAUSE_UNKNOWN] + n[ETP_CAUSE_RULED_OUT] > 0;
        const char *text =
            said && cause != ETP_CAUSE_THREADS ? etp_screen_cause(cause, state) : NULL;
        if (text && n[state] < s->n_pairs) {
            text = etp_arena_printf(arena, "%s (%zu/%zu pairs)", text, n[state], s->n_pairs);
        }
        if (cause == ETP_CAUSE_DRIFT && s->control_blocks > 1) {
            // One cell is repeated; another may be less steady.
            text = etp_screen_control(&s->control, arena);
            text = s->n_cells > 2 ? etp_arena_printf(arena, "%s of %s", text,
                                                     s->ab->arms[s->ab->baseline].measured)
                                  : text;
            state = said ? state : s->control_differs ? ETP_CAUSE_SUSPECT : ETP_CAUSE_UNKNOWN;
        }
        if (text) {
            etp_screen_mark(out, "Trust", etp_screen_cause_severity(state), text);
        }
    }
}

const etp_screen *etp_sweep_screen(const etp_sweep *s, etp_arena *arena)
{
    const uint32_t m = s->grid.n[ETP_FACTOR_MODEL], l = s->grid.n[ETP_FACTOR_LEVEL],
                   n = s->grid.n[ETP_FACTOR_THREADS];
    etp_screen *out = etp_screen_create(
        arena, etp_arena_printf(arena, "%u model%s × %u level%s × %u thread count%s · %zu block%s",
                                m, m == 1 ? "" : "s", l, l == 1 ? "" : "s", n, n == 1 ? "" : "s",
                                s->blocks, s->blocks == 1 ? "" : "s"));
    headlines(s, out, arena);
    remarks(s, out, arena);
    cells(s, out, arena);
    mark_levels(s, out, arena);
    mark_outputs(s, out);
    if (!s->ab->emulated) {
        mark_causes(s, out, arena);
    }
    etp_screen_more(out, "Report", etp_arena_printf(arena, "%s/report.html", s->ab->dir), false);
    etp_screen_more(out, "More", etp_shell_command(arena, "etprof analyze %s --full", s->ab->dir),
                    true);
    return out;
}
