// SPDX-License-Identifier: Apache-2.0
// The first screen of an answer in a terminal. Everything here stands in the report with its
// figures; this chooses what decides.
#include "show/screen.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/shell.h"
#include "compare/phases.h"
#include "document/document.h"
#include "show/first_token.h"
#include "show/graph.h"
#include "show/report.h"

enum {
    SHOWN_HEADLINES = 6,
    BESIDE_CELLS = 3, // headlines: the table of cells has the others
    SHOWN_CATEGORIES = 5,
    SHOWN_STEPS = 3,
    SHOWN_WARNINGS = 4,
    WITH_TIMES = 3 // headlines of a session of phases: the others are a line each
};

// ---- how much faster ----

typedef struct pair_of_times {
    double from, to; // ns
    bool known, traced;
} pair_of_times;

static pair_of_times times_of(const etp_ab *ab, const etp_ab_comparison *c)
{
    const etp_ab_arm *a = &ab->arms[c->baseline], *b = &ab->arms[c->candidate];
    // Both ends of one kind: an untraced time against a traced one would be no pair.
    bool traced = a->median_ns == ETP_NS_UNKNOWN || b->median_ns == ETP_NS_UNKNOWN;
    double from = etp_known_ns(traced ? a->traced_ns : a->median_ns);
    double to = etp_known_ns(traced ? b->traced_ns : b->median_ns);
    return (pair_of_times){from, to, !ab->emulated && isfinite(from) && isfinite(to), traced};
}

// "first token 3.0 → 1.0 ms" of the prompt that a phase begins; NULL for others.
// A prompt may be cut into phases of several lengths; the time to the first token is that of all
// its calls, and is said with the phase that begins it.
static const char *first_token(const etp_ab *whole, const etp_ab *ab, const etp_ab_comparison *c,
                               double common, etp_arena *arena)
{
    const etp_run_phase *p = ab->phased;
    if (!p || p->prompt == 0 || p->depth > 0) {
        return NULL;
    }
    int64_t from = etp_ab_first_token(whole, p->prompt, c->baseline);
    int64_t to = etp_ab_first_token(whole, p->prompt, c->candidate);
    if (from == ETP_NS_UNKNOWN || to == ETP_NS_UNKNOWN) {
        return NULL;
    }
    const char *times = etp_screen_from_to((double)from, (double)to, common, "", arena);
    bool all = p->calls * p->tokens == p->prompt; // else what follows is needed for it too
    if (!times) {
        return NULL;
    }
    return all ? etp_arena_printf(arena, "first token %s", times)
               : etp_arena_printf(arena, "first token of %" PRIu64 ": %s", p->prompt, times);
}

// "Data movement 45 %": what most of a later phase's time is; the table below is the first one's.
static const char *mostly(const etp_ab *ab, etp_arena *arena)
{
    const etp_ab_comparison *c = ab->n_comparisons ? &ab->comparisons[0] : NULL;
    return c && !ab->emulated && isfinite(c->shift.after_share) && !etp_ab_recording_hides(ab)
               ? etp_arena_printf(arena, "%s %.0f %%", etp_ab_part_name(c->shift.after),
                                  100 * c->shift.after_share)
               : NULL;
}

// BRIEF: without times, and without an interval that decides nothing. AB is WHOLE or one of its
// phases. COMMON: the unit of all headlines' times; 0: each its own.
static void headline(const etp_ab *whole, const etp_ab *ab, const etp_ab_comparison *c, bool brief,
                     double common, etp_screen *s, etp_arena *arena)
{
    const char *base = ab->arms[c->baseline].measured, *cand = ab->arms[c->candidate].measured;
    bool slower = !c->withheld && c->verdict == ETP_VERDICT_SLOWER;
    double x = c->estimate, lo = c->lo, hi = c->hi;
    // Only "slower" turns the ratio round; what is undecided stays baseline ÷ candidate.
    etp_ratio_as_said(slower ? ETP_VERDICT_SLOWER : ETP_VERDICT_UNKNOWN, &x, &lo, &hi);
    const char *parts[ETP_SCREEN_PARTS] = {NULL};
    const char *words = NULL;
    const pair_of_times t = times_of(ab, c);
    if (t.known && !c->withheld) {
        parts[0] =
            etp_screen_from_to(t.from, t.to, common, etp_if(t.traced, " traced, mean"), arena);
    }
    if (c->withheld) {
        words = etp_arena_printf(arena, "no speedup of %s over %s is given", cand, base);
    } else if (c->verdict == ETP_VERDICT_FASTER || slower) {
        words = etp_arena_printf(arena, "%s is %.2f× %s than %s", cand, x,
                                 slower ? "slower" : "faster", base);
    } else if (c->verdict == ETP_VERDICT_SAME) {
        words = etp_arena_printf(arena, "%s is as fast as %s", cand, base);
    } else {
        const char *noise = etp_ab_noise_words(c, arena), *why = "no verdict without blocks";
        if (!ab->bare) {
            why = noise ? noise
                        : etp_verdict_words(arena, c->verdict, c->lo, c->hi, c->blocks, c->margin);
        }
        if (why && isfinite(c->estimate)) {
            words =
                etp_arena_printf(arena, "%s against %s: %.2f×, %s", cand, base, c->estimate, why);
        } else if (why) {
            words = etp_arena_printf(arena, "%s against %s: %s", cand, base, why);
        }
    }
    if (!c->withheld && isfinite(lo) && isfinite(hi)) {
        parts[1] = etp_interval_tells(lo, hi)
                       ? etp_arena_printf(arena, "95 %% %s", ETP_INTERVAL(lo, hi, 2))
                       : "no interval yet";
    }
    const char *rates = c->withheld ? NULL : etp_ab_rates_text(ab, c, arena);
    if (rates && parts[0]) {
        const char *first = first_token(whole, ab, c, common, arena);
        parts[0] = etp_arena_printf(arena, "%s · %s", rates, first ? first : parts[0]);
    }
    if (words && ab->phase) {
        words = etp_arena_printf(arena, "%s: %s", ab->phase, words);
    }
    // Of more phases than have times there is no room: the screen ends after thirty lines.
    bool room = etp_ab_answers(whole) <= WITH_TIMES && c == &ab->comparisons[0];
    parts[2] = ab != whole && room ? mostly(ab, arena) : NULL;
    parts[2] = parts[2] || c->withheld ? parts[2] : etp_ab_sustained_words(c, arena);
    // Of a brief headline the interval is all that is left, and it is worth its place only where it
    // decided something.
    if (brief) {
        bool decided = c->verdict != ETP_VERDICT_UNKNOWN;
        parts[0] = decided ? parts[1] : NULL;
        parts[1] = parts[2] = NULL;
    }
    etp_screen_headline(s, c->withheld ? ETP_WARN : etp_ab_severity_of_verdict(c->verdict), words,
                        parts);
}

// The answer to TITLE is of one phase: the first.
static const char *of_phase(const etp_ab *ab, const char *title, etp_arena *arena)
{
    return ab->n_phases > 1 ? etp_arena_printf(arena, "%s, in %s", title, ab->phase) : title;
}

// What the only arm takes; of a phase, with its name.
static void time_alone(const etp_ab *ab, etp_screen *s, etp_arena *arena)
{
    if (ab->n_arms != 1 || ab->arms[0].traced_ns == ETP_NS_UNKNOWN) {
        return;
    }
    const etp_ab_arm *a = &ab->arms[0];
    bool traced = a->median_ns == ETP_NS_UNKNOWN;
    const char *parts[ETP_SCREEN_PARTS] = {NULL};
    if (!traced && isfinite(a->lo_ns) && isfinite(a->hi_ns)) {
        parts[0] = etp_arena_printf(arena, "95 %% [%s, %s]", ETP_NS(a->lo_ns), ETP_NS(a->hi_ns));
    }
    if (isfinite(a->waited)) {
        parts[1] = etp_arena_printf(arena, "waited for a CPU %.1f %%", 100 * a->waited);
    }
    etp_screen_headline(s, ETP_INFO,
                        etp_arena_printf(arena, "%s%s%s takes %s an inference%s",
                                         ETP_OR(ab->phase, ""), etp_if(ab->phase, ": "),
                                         a->measured,
                                         ETP_NS((double)(traced ? a->traced_ns : a->median_ns)),
                                         etp_if(traced, ", traced")),
                        parts);
}

// All comparisons of all phases in one list: the screen has thirty lines, whatever there is to say.
static void headlines(const etp_ab *ab, etp_screen *s, etp_arena *arena)
{
    const bool cells = etp_ab_has_cells(ab);
    const size_t most = cells ? BESIDE_CELLS : SHOWN_HEADLINES;
    size_t n = 0;
    // One unit, so that phases and arms compare at a glance.
    double shortest = (double)INFINITY, longest = 0;
    for (size_t p = 0; p < etp_ab_answers(ab); p++) {
        const etp_ab *one = etp_ab_answer_at(ab, p);
        for (size_t i = 0; i < one->n_comparisons; i++) {
            pair_of_times t = times_of(one, &one->comparisons[i]);
            shortest = t.known ? fmin(shortest, fmin(t.from, t.to)) : shortest;
            longest = t.known ? fmax(longest, fmax(t.from, t.to)) : longest;
        }
    }
    const double common = etp_common_unit(shortest, longest, etp_screen_unit_among(longest, 0).ns);
    for (size_t p = 0; p < etp_ab_answers(ab); p++) {
        const etp_ab *one = etp_ab_answer_at(ab, p);
        bool grid = etp_ab_tells_features(one); // which has them
        size_t found;
        const etp_ab_comparison *const *all = etp_ab_all_comparisons(one, arena, &found);
        for (size_t i = 0; i < found && !grid; i++, n++) {
            if (n < most) {
                headline(ab, one, all[i], ab->n_phases > 1 && n >= WITH_TIMES, common, s, arena);
            }
        }
    }
    if (n > most) {
        etp_screen_remark(s, ETP_PLAIN, etp_arena_printf(arena, "and %zu more: --full", n - most));
    }
    unsigned said = 0;
    for (size_t p = 0; p < etp_ab_answers(ab); p++) {
        etp_screen_open_questions(etp_ab_answer_at(ab, p), &said, s);
    }
    for (size_t p = 0; n == 0 && p < etp_ab_answers(ab); p++) {
        time_alone(etp_ab_answer_at(ab, p), s, arena);
    }
}

// "To settle it: etprof rerun DIR". One command is enough on a screen: that of the first comparison
// that is open.
static void settle(const etp_ab *ab, etp_screen *s, etp_arena *arena)
{
    for (size_t p = 0; p < etp_ab_answers(ab); p++) {
        const etp_ab *one = etp_ab_answer_at(ab, p);
        for (size_t i = 0; i < one->n_comparisons; i++) {
            const char *command = etp_ab_settle_command(one, &one->comparisons[i], arena);
            if (command) {
                etp_screen_remark(s, ETP_PLAIN,
                                  etp_arena_printf(arena, "To settle it: %s", command));
                return;
            }
        }
    }
}

// ---- where it came from ----

typedef struct part {
    const char *label;
    int64_t before, after; // AFTER alone without a comparison
    double speedup;
    bool bottleneck;
    etp_ab_clocked_time was, is; // the least of both, and what clocks can have cut off them
    bool large;                  // a fifth of either whole, or the bottleneck: it has a row
    const char *open; // why what was saved, or the time of the only arm, is not known; NULL: it is
} part;

typedef struct parts {
    const etp_ab *ab;
    part items[ETP_CATEGORY_COUNT + 1];
    size_t n;
    int64_t before, after; // the whole inference
    etp_screen_unit unit;
} parts;

static int64_t saved(const part *p)
{
    return p->before - p->after;
}

// What is large, then the larger change; of one arm, the larger time.
static int by_change(const void *x, const void *y)
{
    const part *p = x, *q = y;
    int order = etp_order_then(q->large - p->large, ETP_ORDER(llabs(saved(q)), llabs(saved(p))));
    return etp_order_then(order, strcmp(p->label, q->label));
}

// What was saved first, what was lost last, so that the column "saved" reads from plus to minus.
static int by_saved(const void *x, const void *y)
{
    const part *p = x, *q = y;
    return etp_order_then(ETP_ORDER(saved(q), saved(p)), strcmp(p->label, q->label));
}

// Where nothing is held against each other: the larger time first.
static int by_time(const void *x, const void *y)
{
    const part *a = x, *b = y;
    return etp_order_then(ETP_ORDER(b->after, a->after), strcmp(a->label, b->label));
}

// Of a pair what was saved; of one arm its time.
static const char *below_clock(bool pair, const etp_ab_clocked_time *was,
                               const etp_ab_clocked_time *is)
{
    bool below = pair ? etp_ab_change_below_clock(was, is) : etp_ab_time_below_clock(is);
    return etp_z_if(below, "below the clock");
}

// A speedup that clocks resolve and that is not given is one that blocks do not bear.
static const char *blocks_differ(const etp_ab *ab, const etp_ab_category *c)
{
    return etp_z_if(etp_ab_told(ab, 0) && isnan(c->speedup[0]) && isfinite(c->lo[0]),
                    "differs by block");
}

static bool known(int64_t ns)
{
    return ns != ETP_NS_UNKNOWN;
}

// Categories of the first comparison, or of the only arm, whose BEFORE is 0. False: no traces.
// Several arms without a comparison have no two sides that a table could show.
static bool read_parts(const etp_ab *ab, parts *out)
{
    bool pair = ab->n_comparisons > 0;
    uint32_t base = pair ? ab->comparisons[0].baseline : 0;
    uint32_t cand = pair ? ab->comparisons[0].candidate : 0;
    *out = (parts){.ab = ab};
    if (ab->emulated || ab->n_arms == 0 || (!pair && ab->n_arms > 1) ||
        !known(ab->arms[base].traced_ns) || !known(ab->arms[cand].traced_ns)) {
        return false;
    }
    out->before = pair ? ab->arms[base].traced_ns : 0;
    out->after = ab->arms[cand].traced_ns;
    out->unit = etp_screen_unit_among(fmax((double)out->before, (double)out->after), 0);
    for (size_t i = 0; i < ab->n_categories; i++) {
        const etp_ab_category *c = &ab->categories[i];
        if (!known(c->ns[base]) || !known(c->ns[cand])) {
            continue;
        }
        bool shift = pair && isfinite(ab->comparisons[0].shift.after_share) &&
                     ab->comparisons[0].shift.after == (int)c->category;
        out->items[out->n++] = (part){
            .label = etp_category_name(c->category),
            .before = pair ? c->ns[base] : 0,
            .after = c->ns[cand],
            .was = {pair ? c->ns[base] : 0, pair ? c->truncation_ns[base] : 0},
            .is = {c->ns[cand],            c->truncation_ns[cand]           },
            .speedup = pair ? c->speedup[0] : (double)NAN,
            .bottleneck = shift,
            .large =
                shift || c->ns[cand] >= out->after / 5 || (pair && c->ns[base] >= out->before / 5),
        };
        part *p = &out->items[out->n - 1];
        p->open = below_clock(pair, &p->was, &p->is);
        p->open = p->open || !pair ? p->open : blocks_differ(ab, c);
        p->open = pair && ab->logged_unlike[0] ? "not logged alike" : p->open;
        // Nothing was seen of it on either side: it is there, so it took something.
        p->open = pair && p->before == 0 && p->after == 0 ? "below the clock" : p->open;
    }
    return out->n > 0;
}

static const char *times(etp_arena *arena, double ratio)
{
    const int decimals = ratio < 9.95;
    return isfinite(ratio) && ratio > 0 ? etp_arena_printf(arena, "%.*f×", decimals, ratio) : NULL;
}

// A row of the comparison (before, after, speedup, saved), or of one arm alone (time, share): the
// grid is the same.
static void add_part(const parts *all, const part *p, bool total, etp_screen *s, etp_arena *arena)
{
    const etp_ab *ab = all->ab;
    double change = (double)saved(p);
    etp_screen_row row = {.label = p->label, .total = total};
    if (ab->n_comparisons) {
        // Colour is for changes that a reader can act on: one per cent of the inference.
        bool told = etp_ab_told(ab, 0), much = fabs(change) >= 0.01 * (double)all->before;
        row.figures[0] = etp_screen_in_unit(&all->unit, (double)p->before, arena);
        row.figures[1] = etp_screen_in_unit(&all->unit, (double)p->after, arena);
        row.figures[2] = told ? times(arena, p->speedup) : "";
        row.figures[3] = told ? etp_screen_in_unit(&all->unit, change, arena) : "";
        row.figures[3] = told && p->open ? "–" : row.figures[3];
        row.bar = total || !told || p->open ? 0 : fmax(change, 0);
        row.note = row.short_note = told || etp_ab_time_below_clock(&p->is) ? p->open : NULL;
        if (told && much && !total && !p->open) {
            row.severity = change > 0 ? ETP_GOOD : ETP_BAD;
        }
    } else {
        double most = (double)(p->open ? p->is.ns + p->is.truncation_ns : p->after);
        most = fmin(most, (double)all->after);
        const char *sign = etp_if(p->open, "up to ");
        row.figures[0] =
            etp_arena_printf(arena, "%s%s", sign, etp_screen_in_unit(&all->unit, most, arena));
        row.figures[1] = all->after > 0 ? etp_arena_printf(arena, "%s%.0f %%", sign,
                                                           100 * most / (double)all->after)
                                        : "–"; // nothing has no parts
        row.note = row.short_note = p->open;
        row.figures[2] = row.figures[3] = "";
        row.bar = total || p->open ? 0 : (double)p->after;
    }
    if (p->bottleneck && ab->n_comparisons) {
        const double share = (double)p->after / (double)all->after;
        row.note = etp_arena_printf(
            arena, "%.0f %% ← %s", 100 * share,
            ab->comparisons[0].shift.moved && etp_ab_told(ab, 0) ? "new bottleneck" : "bottleneck");
        row.short_note = etp_arena_printf(arena, "%.0f %% ←", 100 * share);
    }
    if (total) {
        row.note = "mean, with recording on";
        row.short_note = "recorded";
    }
    etp_screen_add(s, &row);
}

// Five, less one for each headline after the first, but three at least.
static size_t categories_shown(const etp_ab *ab)
{
    enum { LEAST = 3 };
    size_t headlines = 0;
    for (size_t p = 0; p < etp_ab_answers(ab); p++) {
        headlines += etp_ab_answer_at(ab, p)->n_comparisons;
    }
    size_t more = ETP_LESS(headlines, 1), most = SHOWN_CATEGORIES - LEAST;
    return SHOWN_CATEGORIES - ETP_MIN(more, most);
}

// P is what is left of NS beside all that others' clocks can have cut off, which is in NS.
static void lies_within(int64_t ns, etp_ab_clocked_time *p)
{
    p->truncation_ns = ETP_MIN(p->truncation_ns, ns);
    p->ns = ns - p->truncation_ns;
}

static void where(const etp_ab *ab, etp_screen *s, etp_arena *arena)
{
    parts all;
    if (etp_ab_tells_features(ab)) { // its arms are one feature each: no two of them say it all
        etp_ab_feature_grid(ab, s, arena);
        return;
    }
    if (etp_ab_cell_grid(ab, s, arena) || etp_ab_recording_hides(ab) || !read_parts(ab, &all)) {
        return;
    }
    const char *columns[ETP_SCREEN_FIGURES] = {all.unit.name, "share", "", ""};
    bool told = etp_ab_told(ab, 0);
    if (ab->n_comparisons) {
        const etp_ab_comparison *c = &ab->comparisons[0];
        const char *base = ab->arms[c->baseline].measured, *cand = ab->arms[c->candidate].measured;
        // Longer names would widen the columns at the cost of the bars; the headline has them.
        bool brief = strlen(base) <= 10 && strlen(cand) <= 10;
        columns[0] = brief ? base : "before";
        columns[1] = brief ? cand : "after";
        columns[2] = etp_if(told, "speedup");
        columns[3] = etp_if(told, "saved");
    }
    const char *title = of_phase(ab, etp_ab_where_title(ab), arena);
    const char *pair = etp_ab_pair_of_table(ab, arena);
    title = pair ? etp_arena_printf(arena, "%s: %s", title, pair) : title;
    etp_screen_grid(s, title, ab->n_comparisons ? all.unit.name : NULL, columns);
    qsort(all.items, all.n, sizeof *all.items, told ? by_change : by_time);
    // One more is shown rather than put away: "Everything else" would take its line anyhow.
    size_t most = categories_shown(ab), shown = all.n <= most + 1 ? all.n : most;
    qsort(all.items, shown, sizeof *all.items, told ? by_saved : by_time);
    part rest = {.label = "Everything else",
                 .before = all.before,
                 .after = all.after,
                 .speedup = (double)NAN};
    for (size_t i = 0; i < shown; i++) {
        add_part(&all, &all.items[i], false, s, arena);
        rest.before -= all.items[i].before;
        rest.after -= all.items[i].after;
        rest.was.truncation_ns += all.items[i].was.truncation_ns;
        rest.is.truncation_ns += all.items[i].is.truncation_ns;
    }
    // What clocks cut off the rows above lies here.
    lies_within(rest.before, &rest.was);
    lies_within(rest.after, &rest.is);
    rest.open = below_clock(ab->n_comparisons > 0, &rest.was, &rest.is);
    rest.open = ab->n_comparisons && ab->logged_unlike[0] ? "not logged alike" : rest.open;
    rest.bottleneck = ab->n_comparisons && ab->comparisons[0].shift.after == ETP_AB_OUTSIDE &&
                      isfinite(ab->comparisons[0].shift.after_share);
    add_part(&all, &rest, false, s, arena);
    // A ratio of wholes that are partly recording is another one than the headline's.
    bool given = told && all.after > 0 && !(fabs(etp_ab_recording_adds(ab)) > ETP_RECORDING_MUCH);
    const part whole = {.label = "Whole inference",
                        .before = all.before,
                        .after = all.after,
                        .speedup = etp_value_if(given, (double)all.before / (double)all.after)};
    add_part(&all, &whole, true, s, arena);
}

// ---- what to do next ----

// What a step saves, likely or at most.
static double gain_ns(const etp_ab_fix *f)
{
    return (double)(f->expected_ns != ETP_NS_UNKNOWN ? f->expected_ns : f->hi_ns);
}

// "−0.77 ms (28 %)", "at most 0.35 ms", "under 0.01 ms (0 %)"
static const char *gain_text(const etp_ab_fix *f, const etp_screen_unit *u, etp_arena *arena)
{
    double ns = gain_ns(f), least = pow(10, -u->decimals);
    bool likely = f->expected_ns != ETP_NS_UNKNOWN, visible = fabs(ns) / u->ns >= least / 2;
    const char *time = visible ? etp_screen_in_unit(u, ns, arena)
                               : etp_arena_printf(arena, "%.*f", u->decimals, least);
    const char *sign = likely ? "−" : "at most ";
    if (!visible) {
        sign = "under ";
    }
    return likely
               ? etp_arena_printf(arena, "%s%s %s (%.0f %%)", sign, time, u->name, 100 * f->share)
               : etp_arena_printf(arena, "%s%s %s", sign, time, u->name);
}

static void next(const etp_ab *ab, etp_screen *s, etp_arena *arena)
{
    // One unit for all steps, that of the table above them where there is one, so that they are
    // compared at a glance; and digits that a decision needs.
    parts all;
    double largest = read_parts(ab, &all) ? fmax((double)all.before, (double)all.after) : 0;
    for (size_t i = 0; i < ab->fixes.n && i < SHOWN_STEPS; i++) {
        largest = fmax(largest, fabs(gain_ns(&ab->fixes.items[i])));
    }
    etp_screen_unit u = etp_screen_unit_among(largest, 0);
    u.decimals--;
    // The run folder as a word of a command.
    const char *dir = ab->dir && !ab->bare ? etp_shell_command(arena, "%s", ab->dir) : NULL;
    for (size_t i = 0, shown = 0; i < ab->fixes.n && shown < SHOWN_STEPS; i++) {
        const etp_ab_fix *f = &ab->fixes.items[i];
        if (!etp_ab_fix_pays(ab, f)) {
            continue;
        }
        shown++;
        const char *command = etp_ab_fix_command(f, ETP_OR(dir, "DIR"), arena);
        const char *gain = etp_ab_recording_hides(ab) ? NULL : gain_text(f, &u, arena);
        // The gain stands in a column, so the time of what it is about is left out.
        const char *splits =
            f->count == 1 ? ", which splits a partition" : ", which split partitions";
        etp_screen_step(
            s, of_phase(ab, "What to do next", arena), f->id, gain,
            etp_arena_printf(arena, "%zu %s%s", f->count, f->subject, etp_if(f->splits, splits)),
            ETP_OR(command, f->advice), command != NULL);
    }
}

// ---- why to trust it ----

static void mark(etp_screen *s, etp_severity severity, const char *text)
{
    etp_screen_trust(s, severity, text);
}

// Four arms at most: the marks are lines of a screen. Where there are more, those that are not
// proven come first. "Clean": nothing above its level ran in the arm, which is what a baseline has
// to prove.
static void mark_levels(const etp_ab *ab, etp_screen *s, etp_arena *arena)
{
    enum { MOST = 4 };
    const etp_ab_engagement *e = &ab->engagement;
    const etp_ab_arm *arms[MOST];
    size_t n = 0;
    const bool one_level = etp_ab_models_at_one_level(ab); // what ran is all there is to show
    for (int proven = 0; proven < 2; proven++) {
        for (size_t i = 0; i < ab->n_arms && n < MOST; i++) {
            size_t k = (i + 1) % ab->n_arms; // the baseline is shown first: it goes last
            const etp_ab_arm *a = &ab->arms[ab->shown ? ab->shown[k] : k];
            bool is = a->proof.truth == ETP_CONFIRMED;
            if (ab->n_arms <= MOST ? proven == 0 : is == (proven == 1)) {
                arms[n++] = a;
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        const etp_ab_arm *a = arms[i];
        uint32_t at = (uint32_t)(a - ab->arms);
        // It hides nothing: what could be in it that should not be?
        bool best = a->level == ETP_LEVEL_BEST_X86_64 || a->level == ETP_LEVEL_BEST_AARCH64;
        // "VNNI"; what tells the arm from others where several have its level.
        bool plain = a->level == ETP_LEVEL_NONE || etp_ab_level_is_shared(ab, at);
        const char *name = plain ? a->measured : a->level_called;
        const char *instead = etp_ab_ran_instead(ab, a);
        const char *seen = one_level ? etp_ab_code_seen(a) : NULL;
        if (a->proof.truth == ETP_CONTRADICTED) {
            mark(s, ETP_BAD, etp_arena_printf(arena, "%s did NOT run as such", name));
        } else if (a->level == ETP_LEVEL_NONE && a->proof.truth != ETP_CONFIRMED) {
            continue; // dumps: no level was claimed
        } else if (a->proof.truth != ETP_CONFIRMED && instead) {
            const etp_level_info *level = etp_level_get(a->level);
            mark(s, ETP_GOOD,
                 etp_arena_printf(arena, "%s ran at level %s, no %s seen", instead, level->name,
                                  level->word));
        } else if (a->proof.truth != ETP_CONFIRMED && seen) {
            mark(s, ETP_GOOD, etp_arena_printf(arena, "%s ran %s code", name, seen));
        } else if (a->proof.truth != ETP_CONFIRMED) {
            mark(s, ETP_PLAIN,
                 etp_arena_printf(arena, "%s not proven: %s", name, etp_ab_unproven(ab, a)));
        } else if ((at == ab->baseline && ab->n_arms > 1 && !best &&
                    !etp_ab_level_is_shared(ab, at)) ||
                   etp_level_hides_one(a->level)) {
            mark(s, ETP_GOOD, etp_arena_printf(arena, "%s arm clean", name));
        } else if (at == e->arm && e->feature_name && e->engaged) {
            bool same = strcmp(name, e->feature_name) == 0;
            mark(s, ETP_GOOD,
                 etp_arena_printf(arena, "%s ran (%s%s%u of %u matrix operators)", name,
                                  etp_if(!same, e->feature_name), etp_if(!same, " in "), e->engaged,
                                  e->eligible));
        } else {
            mark(s, ETP_GOOD, etp_arena_printf(arena, "%s ran", name));
        }
    }
}

static void mark_outputs(const etp_ab *ab, etp_screen *s)
{
    const etp_ab_correctness *c = &ab->correctness;
    if (c->ok < 0 && c->not_finite) {
        mark(s, ETP_BAD, "outputs NOT finite");
        return;
    }
    if (c->ok < 0 && c->constant) {
        mark(s, ETP_BAD, "outputs prove nothing");
        return;
    }
    if (c->ok < 0 && c->random) {
        mark(s, ETP_WARN, "not deterministic");
        return;
    }
    if (c->ok == 0) {
        mark(s, ETP_BAD, "outputs DIFFER");
    } else if (c->ok == 1 && isfinite(c->cosine)) { // without a cosine no element was compared
        bool apart = etp_ab_programs_apart(ab);
        const char *words = c->max_abs == 0 ? "outputs equal" : "outputs agree";
        mark(s, apart ? ETP_PLAIN : ETP_GOOD, apart ? "outputs agree within each program" : words);
    } else if (ab->n_arms > 1 && !ab->bare) {
        mark(s, ETP_PLAIN, "outputs not compared");
    }
    for (size_t i = 0; i < ab->n_arms; i++) {
        if (ab->arms[i].expected.ok == 0) {
            mark(s, ETP_BAD, "outputs NOT as expected");
            return;
        }
    }
}

// Findings of the KINDS, or the bad ones, as far as there is room: one of a kind is enough.
// Bad ones are asked for by no kinds at all, and told first; the lists then leave them out.
static void remarks(const etp_ab *ab, const etp_finding_kind *kinds, size_t n_kinds, size_t *n,
                    etp_screen *s, etp_arena *arena)
{
    for (size_t i = 0; i < ab->judged.findings.n && *n < SHOWN_WARNINGS; i++) {
        const etp_ab_finding *f = &ab->judged.findings.items[i];
        bool bad = f->severity == ETP_SEVERITY_BAD, told = n_kinds == 0 && bad;
        for (size_t k = 0; k < n_kinds; k++) {
            told = told || (!bad && f->kind == kinds[k]);
        }
        for (size_t k = 0; k < i; k++) {
            told = told && ab->judged.findings.items[k].kind != f->kind;
        }
        if (told) {
            etp_screen_remark(s, etp_ab_severity_of(f->severity),
                              etp_arena_printf(arena, "%s %s", f->id, f->text));
            (*n)++;
        }
    }
}

// What would make a reader doubt and has no mark. Figures that are false, and kernels that are
// not ExecuTorch's, are said whatever else there is.
static void warnings(const etp_ab *ab, etp_screen *s, etp_arena *arena)
{
    static const etp_finding_kind k_whose[] = {ETP_FINDING_BUILDS, ETP_FINDING_KERNELS_OURS,
                                               ETP_FINDING_KERNELS_LIB};
    static const etp_finding_kind k_kinds[] = {
        ETP_FINDING_LOST,           ETP_FINDING_ARM_FAILS,      ETP_FINDING_MISNAMED,
        ETP_FINDING_PROGRAM_UNUSED, ETP_FINDING_TRACE_UNUSED,   ETP_FINDING_TRACE_DAMAGED,
        ETP_FINDING_OWN_CLOCK,      ETP_FINDING_PARTS_EXCEED,   ETP_FINDING_TENSORS_LOGGED,
        ETP_FINDING_MODES,          ETP_FINDING_OUTPUTS_UNREAD, ETP_FINDING_OUTPUTS_NAN,
        ETP_FINDING_OUTPUTS_RANDOM, ETP_FINDING_NO_EXECUTION,   ETP_FINDING_PARTLY_LOGGED,
        ETP_FINDING_SAMPLES_UNUSED, ETP_FINDING_MEAN_OF_FEW,    ETP_FINDING_PROGRAM_DIFFERS,
        ETP_FINDING_NOT_LOGGED,     ETP_FINDING_LEFT_OUT,
    };
    size_t n = 0;
    parts all;
    const char *title = of_phase(ab, etp_ab_where_title(ab), arena);
    const char *left = read_parts(ab, &all) ? etp_ab_left_out(ab, title, arena) : NULL;
    if (left) {
        etp_screen_remark(s, ETP_WARN, etp_arena_printf(arena, "%s (--full has it)", left));
    }
    remarks(ab, NULL, 0, &n, s, arena);
    for (size_t i = 0; i < ab->n_arms; i++) {
        const etp_ab_arm *a = &ab->arms[i];
        const etp_proof_line *why = NULL;
        for (size_t k = 0; k < a->proof.lines.n && !why; k++) {
            why = a->proof.lines.items[k].contradicts ? &a->proof.lines.items[k] : NULL;
        }
        if (why && n++ < SHOWN_WARNINGS) {
            etp_screen_remark(s, ETP_BAD,
                              etp_arena_printf(arena, "%s: %s", a->measured, why->text));
        }
    }
    remarks(ab, k_whose, sizeof k_whose / sizeof *k_whose, &n, s, arena);
    etp_screen_keep_remarks(s);
    remarks(ab, k_kinds, sizeof k_kinds / sizeof *k_kinds, &n, s, arena);
}

// Commands that can be copied as they stand: the folder's name is quoted for a shell.
static void more(const etp_ab *ab, etp_screen *s, etp_arena *arena)
{
    if (ab->bare || !ab->dir) {
        etp_screen_more(s, "More", "--full shows every section", false);
        return;
    }
    if (ab->emulated) {
        etp_screen_more(s, "Proof", etp_shell_command(arena, "etprof analyze %s --proof", ab->dir),
                        true);
    }
    // The files are written when a session ends: one that runs, or was killed, may have none.
    if (ab->state == ETP_RUN_RUNNING) {
        etp_screen_more(s, "Report", etp_shell_command(arena, "etprof analyze %s --renew", ab->dir),
                        true);
    } else {
        etp_screen_more(s, "Report", etp_arena_printf(arena, "%s/report.html", ab->dir), false);
    }
    const char *phase = etp_ab_phase_option(ab, arena), *id = NULL;
    if (ab->judged.findings.n > 0) {
        id = ab->judged.findings.items[0].id;
    }
    for (size_t i = ab->fixes.n; i-- > 0;) {
        id = etp_ab_fix_pays(ab, &ab->fixes.items[i]) ? ab->fixes.items[i].id : id;
    }
    const char *full = etp_shell_command(arena, "etprof analyze %s", ab->dir);
    const char *ask = id ? etp_shell_command(arena, "etprof explain %s %s", id, ab->dir) : NULL;
    if (full && phase) {
        bool several = ab->n_phases > 1; // each of the others has a screen of its own
        const char *other = several ? etp_ab_phase_option(ab->phases[1], arena) : NULL;
        if (other) {
            etp_screen_more(s, "More", etp_arena_printf(arena, "%s%s", full, other), true);
        }
        etp_screen_more(s, etp_if(!other, "More"),
                        etp_arena_printf(arena, "%s%s --full", full, phase), true);
    }
    if (ask && phase) {
        etp_screen_more(s, "", etp_arena_printf(arena, "%s%s", ask, phase), true);
    }
    const etp_ab_fix *first = NULL; // that a command applies; 'etprof fix' takes no phases
    for (size_t i = 0; i < ab->fixes.n && !first && !ab->phase; i++) {
        const etp_ab_fix *f = &ab->fixes.items[i];
        first = f->by_command && etp_ab_fix_pays(ab, f) ? f : NULL;
    }
    if (first) {
        etp_screen_more(s, "", etp_shell_command(arena, "etprof fix %s %s", ab->dir, first->id),
                        true);
    }
}

// In the order in which a reader asks.
const etp_screen *etp_ab_screen(const etp_ab *ab, etp_arena *arena)
{
    const char *title = ETP_OR(ab->subject, ab->title);
    uint32_t blocks = ab->n_comparisons && !ab->bare ? ab->comparisons[0].blocks : 0;
    if (blocks > 0) {
        title = etp_arena_printf(arena, "%s · %u block%s", title, blocks, etp_if(blocks != 1, "s"));
    }
    etp_screen *s = etp_screen_create(arena, title);
    if (ab->unrelated) {
        static const char *const k_none[ETP_SCREEN_PARTS] = {NULL};
        etp_screen_headline(s, ETP_WARN, ab->unrelated, k_none);
    }
    headlines(ab, s, arena);
    etp_ab_cache_gains(ab, s, arena);
    settle(ab, s, arena);
    warnings(ab, s, arena);
    etp_ab_price_remarks(ab, s, arena);
    where(ab, s, arena);
    next(ab, s, arena);
    etp_screen_mark_noise(ab, s, arena);
    mark_levels(ab, s, arena);
    mark_outputs(ab, s);
    etp_screen_mark_causes(ab, s, arena);
    more(ab, s, arena);
    return s;
}
