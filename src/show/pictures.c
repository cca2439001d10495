// SPDX-License-Identifier: Apache-2.0
// The two pictures that are shown around: latency and its breakdown. Arms of one model and thread
// count stand together, the lowest level first, and a ratio is one within its group.
#include <math.h>
#include <stdlib.h>

#include "show/report.h"

typedef struct bar {
    const struct etp_ab_view *view;
    const etp_ab *ab;
    uint32_t arm, at; // index in arms; position in what is shown
    bool begins_group;
    const etp_ab_arm *first; // of its group
} bar;

typedef struct bars {
    bar *items;
    size_t n;
    bool groups; // more than one
} bars;

// Arms of one group differ by their level alone. Dumps tell neither model nor threads, so all of
// them are one group.
static bool same_group(const bar *a, const bar *b)
{
    const etp_ab_arm *x = &a->ab->arms[a->arm], *y = &b->ab->arms[b->arm];
    return a->ab == b->ab && (a->ab->bare || (etp_ab_same_group(x, y)));
}

// Runs stay in their order; within one by model, threads, then from the lowest level up. Dumps keep
// their order.
static int by_group(const void *pa, const void *pb)
{
    const bar *a = pa, *b = pb;
    const etp_ab_arm *x = &a->ab->arms[a->arm], *y = &b->ab->arms[b->arm];
    if (a->view != b->view) {
        return ETP_ORDER(a->view, b->view);
    }
    if (!a->ab->bare && x->model != y->model) {
        return ETP_ORDER(x->model, y->model);
    }
    if (!a->ab->bare && x->threads != y->threads) {
        return ETP_ORDER(x->threads, y->threads);
    }
    if (!a->ab->bare && x->level != y->level) { // within a family the best comes first
        return ETP_ORDER(y->level, x->level);
    }
    return ETP_ORDER(a->at, b->at);
}

// Both pictures have the same bars in the same order, so that they can be laid side by side.
static bars collect(const etp_ab_views *views, etp_report *r)
{
    bars out = {0};
    size_t most = 0;
    for (size_t v = 0; v < views->n; v++) {
        most += views->items[v].ab->n_arms;
    }
    out.items = r ? ETP_NEW_ARRAY(etp_report_arena(r), bar, most + 1) : NULL;
    for (size_t v = 0; v < views->n && out.items; v++) {
        const etp_ab *ab = views->items[v].ab;
        for (uint32_t i = 0; i < ab->n_arms; i++) {
            out.items[out.n++] =
                (bar){.view = &views->items[v], .ab = ab, .arm = ab->shown[i], .at = i};
        }
    }
    if (out.n > 0) {
        qsort(out.items, out.n, sizeof *out.items, by_group);
    }
    for (size_t i = 0; i < out.n; i++) {
        bar *b = &out.items[i];
        b->begins_group = i == 0 || !same_group(b - 1, b);
        b->first = b->begins_group ? &b->ab->arms[b->arm] : b[-1].first;
        out.groups = out.groups || (i > 0 && b->begins_group);
    }
    return out;
}

static const char *label_of(const bar *b, etp_report *r)
{
    const char *what = b->ab->arms[b->arm].measured;
    return b->view->run ? etp_arena_printf(etp_report_arena(r), "%s: %s", b->view->run, what)
                        : what;
}

// "toy_cnn on AMD EPYC, 1 thread. ": what all bars have in common.
static const char *common(const etp_ab_views *views)
{
    return views->n == 1 ? views->items[0].ab->subject : NULL;
}

// Untraced where it was measured; the chart's description says which of the two it is.
static int64_t latency_of(const etp_ab_arm *a)
{
    return a->median_ns != ETP_NS_UNKNOWN ? a->median_ns : a->traced_ns;
}

// Of the arm against the first of its group. With two arms that is the headline; a withheld one is
// none here either.
// The order of bars is by level, so the first of a group need not be the session's baseline.
static void ratio_note(const bar *b, char *note, size_t cap, etp_arena *arena)
{
    const etp_ab *ab = b->ab;
    const etp_ab_arm *a = &ab->arms[b->arm];
    for (size_t i = 0; i < ab->n_comparisons + ab->n_within; i++) {
        const etp_ab_comparison *c = etp_ab_comparison_at(ab, i);
        if (c->withheld) {
            return; // nothing of this session is shown as a ratio
        }
        if (c->candidate == b->arm && &ab->arms[c->baseline] == b->first && isfinite(c->estimate)) {
            const char *text = etp_interval_tells(c->lo, c->hi)
                                   ? ETP_ESTIMATE(c->estimate, c->lo, c->hi, 2)
                                   : etp_arena_printf(arena, "%.2f×", c->estimate);
            snprintf(note, cap, "%s", ETP_OR(text, ""));
            return;
        }
    }
    // A ratio that no comparison of the session has (two candidates of one group) is one of
    // medians, where nothing speaks against either arm.
    bool sound =
        !ab->emulated && !ab->bare && !a->outputs_differ && a->proof.truth != ETP_CONTRADICTED;
    if (sound && ab->n_comparisons > 0 && a != b->first && a->median_ns > 0 &&
        b->first->median_ns > 0) {
        snprintf(note, cap, "%.2f×", (double)b->first->median_ns / (double)a->median_ns);
    }
}

const char *etp_ab_where_title(const etp_ab *ab)
{
    return etp_ab_told(ab, 0) ? "Where it came from" : "Where it goes";
}

const char *etp_ab_left_out(const etp_ab *ab, const char *title, etp_arena *arena)
{
    const double adds = etp_ab_recording_adds(ab);
    title = title ? title : etp_ab_where_title(ab);
    if (!etp_ab_recording_hides(ab)) {
        return NULL;
    }
    return adds >= ETP_RECORDING_MOST
               ? etp_arena_printf(arena, "%s is not shown: recording adds %.0f %% to an inference",
                                  title, 100 * adds)
               : etp_arena_printf(arena,
                                  "%s is not shown: what recording adds to an inference is unknown",
                                  title);
}

void etp_ab_fold_recorded(const etp_ab *ab, etp_report *r)
{
    if (etp_ab_recording_hides(ab)) {
        etp_report_fold(r, etp_ab_recording_adds(ab) >= ETP_RECORDING_MOST
                               ? "Recorded times, mostly the cost of recording"
                               : "Recorded times, with the unknown cost of recording");
    }
}

void etp_ab_latency_chart(const etp_ab_views *views, etp_report *r)
{
    bars all = collect(views, r);
    const char *what = common(views);
    const etp_ab *first = views->n ? views->items[0].ab : NULL;
    etp_chart *c = NULL;
    for (size_t i = 0; i < all.n; i++) {
        const bar *b = &all.items[i];
        const etp_ab_arm *a = &b->ab->arms[b->arm];
        char note[64] = "";
        if (latency_of(a) == ETP_NS_UNKNOWN) {
            continue;
        }
        if (!c) {
            c = etp_report_chart(r, ETP_CHART_INTERVALS, ETP_AB_CHART_LATENCY,
                                 "Latency of one inference", ETP_KIND_NS);
            const char *times = "Untraced: geometric mean of the launches' medians.";
            if (views->n > 1) {
                times = "Untraced where it was measured, else Method::execute of the recording.";
            } else if (first->bare) {
                times = "Traced: mean of Method::execute.";
            } else if (first->emulated) {
                times = "Times of an emulator; they say nothing about speed.";
            }
            etp_chart_describe(
                c, "%s%s%s%s", ETP_OR(what, ""), etp_if(what, ". "), times,
                etp_if(all.groups, " Ratios are within each group, to its first bar."));
        }
        if (b->begins_group && all.groups) {
            etp_chart_group(c);
        }
        ratio_note(b, note, sizeof note, etp_report_arena(r));
        if (views->n > 1 && a->median_ns == ETP_NS_UNKNOWN) {
            snprintf(note, sizeof note, "traced");
        }
        etp_chart_interval(c, b->at, label_of(b, r), etp_z_if(note[0], note), (double)latency_of(a),
                           a->lo_ns, a->hi_ns);
    }
}

// Time of a category in an arm; NAN: it has none of it, as another run may have.
static double time_of(const bar *b, etp_category category)
{
    for (size_t k = 0; k < b->ab->n_categories; k++) {
        if (b->ab->categories[k].category == category) {
            return etp_known_ns(b->ab->categories[k].ns[b->arm]);
        }
    }
    return NAN;
}

const char *etp_ab_level_word(const etp_ab_arm *a)
{
    bool named = a->level == ETP_LEVEL_NONE || etp_level_is_said(a->level_name);
    return named ? a->level_name : etp_level_get(a->level)->word;
}

unsigned etp_ab_category_color(etp_category category)
{
    static const unsigned char k_colors[ETP_CATEGORY_COUNT] = {
        [ETP_CATEGORY_CONVOLUTION] = 1, [ETP_CATEGORY_GEMM] = 2,
        [ETP_CATEGORY_ATTENTION] = 9,   [ETP_CATEGORY_DATA_MOVEMENT] = 3,
        [ETP_CATEGORY_QUANTIZE] = 4,    [ETP_CATEGORY_ELEMENTWISE] = 5,
        [ETP_CATEGORY_ACTIVATION] = 10, [ETP_CATEGORY_NORMALIZATION] = 6,
        [ETP_CATEGORY_POOLING] = 11,    [ETP_CATEGORY_REDUCTION] = 12,
        [ETP_CATEGORY_RESIZE] = 7,      [ETP_CATEGORY_EMBEDDING] = 13,
        [ETP_CATEGORY_SEARCH] = 14,     [ETP_CATEGORY_FILL] = 15,
        [ETP_CATEGORY_CONTROL] = 16,    [ETP_CATEGORY_OTHER] = 19,
        [ETP_CATEGORY_UNLOGGED] = 20,
    };
    return k_colors[category];
}

etp_chart *etp_ab_breakdown_chart(const etp_ab_views *views, etp_report *r)
{
    bars all = collect(views, r);
    const char *what = common(views);
    etp_category shown[ETP_CATEGORY_COUNT];
    size_t n = 0;
    bool has[ETP_CATEGORY_COUNT] = {false}, emulated = false;
    for (size_t v = 0; v < views->n; v++) {
        const etp_ab *ab = views->items[v].ab;
        emulated = emulated || ab->emulated;
        for (size_t k = 0; k < ab->n_categories; k++) {
            etp_category category = ab->categories[k].category;
            if (!has[category]) {
                shown[n++] = category;
            }
            has[category] = true;
        }
    }
    etp_chart *c = etp_report_chart(r, ETP_CHART_STACKED, ETP_AB_CHART_BREAKDOWN,
                                    "One inference by operator category", ETP_KIND_NS);
    etp_chart_describe(
        c, "%s%sMean time of one traced inference by operator category, one bar per arm.%s",
        ETP_OR(what, ""), etp_if(what, ". "), etp_if(emulated, " Times of an emulator."));
    if (views->n == 1 && r) {
        etp_chart_lacks(c, etp_ab_left_out(views->items[0].ab, NULL, etp_report_arena(r)));
    }
    for (size_t k = 0; k < n; k++) {
        etp_chart_series_colored(c, etp_category_name(shown[k]), etp_ab_category_color(shown[k]));
    }
    etp_chart_series_colored(c, "Outside operators", 8);
    for (size_t i = 0; i < all.n; i++) {
        const bar *b = &all.items[i];
        double values[ETP_CATEGORY_COUNT + 1], rest = (double)b->ab->arms[b->arm].traced_ns;
        if (b->begins_group && all.groups) {
            etp_chart_group(c);
        }
        if (!b->ab->arms[b->arm].profile || etp_ab_recording_hides(b->ab)) {
            continue;
        }
        for (size_t k = 0; k < n; k++) {
            values[k] = time_of(b, shown[k]);
            rest -= etp_known_or_0(values[k]);
        }
        // Clocks that disagree can leave less than nothing.
        values[n] = ETP_MAX(rest, 0);
        etp_chart_row(c, label_of(b, r), values, n + 1);
    }
    return c;
}

bool etp_ab_pictures_first(const etp_ab *ab, const etp_report *r)
{
    return ab->n_phases < 2 && ab->n_categories > 0 && !etp_report_in_part(r);
}

// Of two arms the headline has the bars, and what to do next stays on the first screen.
void etp_ab_pictures(const etp_ab *ab, etp_report *r)
{
    const etp_ab_views one = {&(struct etp_ab_view){.ab = ab}, 1};
    if (etp_ab_pictures_first(ab, r)) {
        if (ab->n_arms > 2) {
            etp_ab_latency_chart(&one, r);
        }
        etp_chart_only_names(etp_ab_breakdown_chart(&one, r));
    }
}
