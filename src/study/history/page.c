// SPDX-License-Identifier: Apache-2.0
// The page of a history: its last changes, one small chart for each figure, those that changed
// first.
#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "isa/isa.h"
#include "study/history/internal.h"

// Figures beyond these are in the table alone.
#define MAX_CHARTS 60

typedef struct shown { // a series of the page
    const etp_history_series *series;
    const etp_history_series *rate; // tokens a second of the same times; NULL: none
    const char *name;
    size_t at; // in the history
} shown;

typedef struct list {
    shown *items;
    size_t n;
} list;

// "m0_linux_sme2" of "m0_linux_sme2_ns".
static etp_str stem(const etp_history_series *s)
{
    etp_str stem;
    (void)etp_series_unit_of(s->name, &stem);
    return stem.len ? stem : s->name;
}

// The figures of one arm have one stem and different ends.
static const etp_history_series *of_stem(const etp_history *h, etp_str of, etp_series_unit unit)
{
    for (size_t i = 0; i < h->series.n; i++) {
        const etp_history_series *s = &h->series.items[i];
        if (s->unit == unit && etp_str_eq(stem(s), of)) {
            return s;
        }
    }
    return NULL;
}

// ---- names ----

// The next word of a name between "_", from *AT on; empty: there is none.
static etp_str next_word(etp_str name, size_t *at)
{
    while (*at < name.len && name.ptr[*at] == '_') {
        (*at)++;
    }
    size_t begin = *at;
    while (*at < name.len && name.ptr[*at] != '_') {
        (*at)++;
    }
    return (etp_str){name.ptr + begin, *at - begin};
}

static bool has_word(etp_str name, etp_str word)
{
    size_t at = 0;
    for (etp_str w = next_word(name, &at); w.len; w = next_word(name, &at)) {
        if (etp_str_eq(w, word)) {
            return true;
        }
    }
    return false;
}

// What every series has in its name (the model, the platform) tells nothing apart.
static bool in_all(const etp_history *h, etp_str word)
{
    for (size_t i = 0; i < h->series.n; i++) {
        if (!has_word(stem(&h->series.items[i]), word)) {
            return false;
        }
    }
    return true;
}

// "decode0" is what files call "decode @0".
static bool is_phase(etp_str word, etp_str phase)
{
    size_t at = 0;
    for (size_t i = 0; i < phase.len; i++) {
        if (phase.ptr[i] != ' ' && phase.ptr[i] != '@') {
            if (at == word.len || word.ptr[at++] != phase.ptr[i]) {
                return false;
            }
        }
    }
    return at == word.len;
}

// "SME2, prefill 16": the words that are not those of every series, levels as people call them.
static const char *short_name(const etp_history *h, const etp_history_series *s, etp_arena *arena)
{
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    const etp_str name = stem(s);
    size_t at = 0;
    for (etp_str w = next_word(name, &at); w.len; w = next_word(name, &at)) {
        if (in_all(h, w) || (s->phase.len && is_phase(w, s->phase))) {
            continue;
        }
        const char *z = etp_arena_strdup(arena, w);
        etp_level level = z ? etp_level_find(ETP_ISA_NONE, z) : ETP_LEVEL_NONE;
        etp_strbuf_appendz(&text, text.len ? " " : "");
        if (level != ETP_LEVEL_NONE) {
            etp_strbuf_appendz(&text, etp_level_get(level)->word);
        } else {
            etp_strbuf_append(&text, w);
        }
    }
    if (s->phase.len) {
        etp_strbuf_printf(&text, "%s%.*s", text.len ? ", " : "", ETP_STR_ARG(s->phase));
    }
    if (s->unit == ETP_SERIES_SPEEDUP) {
        etp_strbuf_printf(&text, "%sspeedup", text.len ? ", " : "");
    } else if (s->unit == ETP_SERIES_RATE) {
        etp_strbuf_printf(&text, "%stokens a second", text.len ? ", " : "");
    }
    if (text.len == 0) {
        etp_strbuf_append(&text, name);
    }
    return etp_strbuf_str(&text).ptr;
}

// Short names that are not told apart are the series' own.
// All keep their full names as soon as two short ones are alike: half short and half long would
// look like two kinds of figures.
static void name_all(const etp_history *h, list *l, etp_arena *arena)
{
    bool told_apart = true;
    for (size_t i = 0; i < l->n; i++) {
        const char *name = short_name(h, l->items[i].series, arena);
        l->items[i].name = name ? name : "";
        for (size_t k = 0; k < i && told_apart; k++) {
            told_apart = strcmp(l->items[i].name, l->items[k].name) != 0;
        }
    }
    for (size_t i = 0; i < l->n && !told_apart; i++) {
        const char *name = etp_arena_strdup(arena, l->items[i].series->name);
        l->items[i].name = name ? name : "";
    }
}

// ---- what is shown in which order ----

// In tenths of a per cent, as it is shown.
// Two changes that are shown alike must not seem to be in the wrong order.
static double last_size(const etp_history_series *s)
{
    const etp_history_change *c = s->n_changes ? &s->changes[s->n_changes - 1] : NULL;
    double size = c ? round(1000 * fabs(c->after / c->before - 1)) : 0;
    return isfinite(size) ? size : 0;
}

// What changed last stands first, the larger change before the smaller; then as they were.
static int by_change(const void *pa, const void *pb)
{
    const shown *a = pa, *b = pb;
    size_t x = a->series->n_changes, y = b->series->n_changes;
    // Series that never changed come last; the page folds them away.
    if (!x != !y) {
        return x ? -1 : 1;
    }
    size_t from = x ? a->series->changes[x - 1].run : 0, to = y ? b->series->changes[y - 1].run : 0;
    if (from != to) {
        return from > to ? -1 : 1;
    }
    double p = last_size(a->series), q = last_size(b->series);
    return p != q ? (p < q) - (p > q) : (a->at > b->at) - (a->at < b->at);
}

// Tokens a second are the times again: they stand beside those, and have no row of their own.
static list all_of(const etp_history *h, etp_arena *arena)
{
    list l = {ETP_NEW_ARRAY(arena, shown, h->series.n + 1), 0};
    for (size_t i = 0; l.items && i < h->series.n; i++) {
        const etp_history_series *s = &h->series.items[i];
        if (s->unit != ETP_SERIES_RATE || !of_stem(h, stem(s), ETP_SERIES_TIME)) {
            bool times = s->unit == ETP_SERIES_TIME;
            l.items[l.n++] = (shown){s, times ? of_stem(h, stem(s), ETP_SERIES_RATE) : NULL, "", i};
        }
    }
    name_all(h, &l, arena);
    if (l.n > 0) {
        qsort(l.items, l.n, sizeof *l.items, by_change);
    }
    return l;
}

// Runs before a series began, or after it ended, have no value of it.
static double last_known(const etp_history *h, const etp_history_series *s)
{
    for (size_t k = h->runs.n; s && k > 0; k--) {
        if (!isnan(s->values[k - 1])) {
            return s->values[k - 1];
        }
    }
    return NAN;
}

static double first_known(const etp_history *h, const etp_history_series *s)
{
    for (size_t k = 0; k < h->runs.n; k++) {
        if (!isnan(s->values[k])) {
            return s->values[k];
        }
    }
    return NAN;
}

// ---- first screen ----

static void change_card(const etp_history *h, const shown *x, etp_report *r, etp_arena *arena)
{
    const etp_history_change *c = &x->series->changes[x->series->n_changes - 1];
    const etp_str at = etp_history_shown_time(h->runs.items[c->run].time, arena);
    const char *label = etp_arena_printf(arena, "%s, since %.*s", x->name, ETP_STR_ARG(at));
    const char *figures =
        etp_arena_printf(arena, "%s → %s, p %s%s", etp_history_figure(x->series, c->before, arena),
                         etp_history_figure(x->series, c->after, arena), c->p < 1e-6 ? "< " : "",
                         c->p < 1e-6 ? "0.000001" : ETP_DIGITS(c->p, 2));
    etp_history_change_card(x->series, c, label, figures, r, arena);
}

void etp_history_page_first(const etp_history *h, etp_report *r, etp_arena *arena)
{
    const list l = all_of(h, arena);
    size_t i = 0, changes = 0, alone = 0;
    for (; i < l.n && l.items[i].series->n_changes; i++) {
        const etp_history_series *s = l.items[i].series;
        change_card(h, &l.items[i], r, arena);
        changes += s->n_changes;
        alone += s->changes[s->n_changes - 1].also.len == 0;
    }
    etp_history_beside_fact(alone, i, r);
    etp_report_fact(r, "changes", "%zu in %zu figure%s", changes, l.n, l.n == 1 ? "" : "s");
    etp_report_fact(r, "looked for", "at least %s %%, p ≤ %s, E-divisive",
                    ETP_DIGITS(100 * h->min_change, 6), ETP_DIGITS(ETP_HISTORY_MAX_P, 6));
    if (i == 0) {
        etp_headline card = {.label = etp_arena_printf(arena, "%zu figures over %zu run%s", l.n,
                                                       h->runs.n, h->runs.n == 1 ? "" : "s"),
                             .verdict =
                                 h->runs.n < 6 ? "too few runs to find a change" : "no change",
                             .severity = ETP_INFO,
                             .value = (double)NAN,
                             .lo = (double)NAN,
                             .hi = (double)NAN,
                             .reference = (double)NAN};
        etp_report_headline(r, &card);
    }
}

// ---- charts and tables ----

static void chart(const etp_history *h, const shown *x, etp_report *r, etp_arena *arena)
{
    const etp_history_series *s = x->series;
    const char *id = etp_arena_printf(arena, "series-%zu", x->at + 1);
    static const etp_kind k_kinds[ETP_SERIES_UNITS] = {ETP_KIND_DOUBLE, ETP_KIND_NS, ETP_KIND_RATIO,
                                                       ETP_KIND_DOUBLE};
    etp_chart *c = etp_report_chart(r, ETP_CHART_TREND, id, x->name, k_kinds[s->unit]);
    double sum = 0;
    size_t n = 0, next = 0;
    for (size_t i = 0; i < h->runs.n; i++) {
        sum += isnan(s->values[i]) ? 0 : s->values[i];
        n += isnan(s->values[i]) ? 0 : 1;
    }
    // Without a change there is one segment, whose mean is that of all runs.
    double level = s->n_changes > 0 ? s->changes[0].before : sum / (double)n;
    for (size_t i = 0; i < h->runs.n; i++) {
        const etp_str at = etp_history_shown_time(h->runs.items[i].time, arena);
        if (next < s->n_changes && s->changes[next].run == i) {
            level = s->changes[next++].after;
        }
        etp_chart_moment(c, etp_arena_strdup(arena, at), s->values[i], level);
    }
    if (s->n_changes) {
        etp_chart_judge(c, etp_history_judgement(s, &s->changes[s->n_changes - 1]));
    }
}

static void changes_table(const etp_history *h, const list *l, etp_report *r, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "series", .title = "figure"},
        {.key = "time", .title = "from"},
        {.key = "before", .title = "before", .flags = ETP_COL_FIGURES},
        {.key = "after", .title = "after", .flags = ETP_COL_FIGURES},
        {.key = "change", .title = "change", .kind = ETP_KIND_PERCENT, .flags = ETP_COL_SIGNED},
        {.key = "also_changed", .title = "what else changed there"},
    };
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++) {
        n += l->items[i].series->n_changes > 1;
    }
    if (n == 0) {
        return;
    }
    etp_report_section(r, 1, "changes", "Earlier changes");
    etp_table *t =
        etp_report_table(r, "changes", NULL, k_columns, sizeof k_columns / sizeof *k_columns);
    for (size_t i = 0; i < l->n; i++) {
        const etp_history_series *s = l->items[i].series;
        for (size_t k = 0; k + 1 < s->n_changes; k++) { // the last one is a card
            const etp_history_change *c = &s->changes[k];
            ETP_ROW(t, etp_cell_z(l->items[i].name),
                    etp_cell_str(etp_history_shown_time(h->runs.items[c->run].time, arena)),
                    etp_cell_z(etp_history_figure(s, c->before, arena)),
                    etp_cell_z(etp_history_figure(s, c->after, arena)),
                    etp_cell_judged(etp_cell_double(c->after / c->before - 1),
                                    etp_history_judgement(s, c)),
                    c->also.len ? etp_cell_str(c->also) : etp_cell_missing());
        }
    }
}

static void figures_table(const etp_history *h, const list *l, etp_report *r, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "figure", .title = "figure"},
        {.key = "runs", .title = "runs", .kind = ETP_KIND_INT},
        {.key = "first", .title = "first", .flags = ETP_COL_FIGURES},
        {.key = "last", .title = "last", .flags = ETP_COL_FIGURES},
        {.key = "difference",
         .title = "last against first",
         .kind = ETP_KIND_PERCENT,
         .flags = ETP_COL_SIGNED},
        {.key = "changes", .title = "changes", .kind = ETP_KIND_INT},
        {.key = "series", .title = "its column in --format csv", .flags = ETP_COL_CODE},
        {.key = "rate", .title = "last", .unit = "tok/s", .kind = ETP_KIND_DOUBLE, .decimals = 1},
    };
    bool rates = false;
    for (size_t i = 0; i < l->n; i++) {
        rates = rates || l->items[i].rate;
    }
    etp_report_section(r, 1, "figures", "First and last");
    const size_t n = sizeof k_columns / sizeof *k_columns - !rates;
    etp_table *t = etp_report_table(r, "series", NULL, k_columns, n);
    for (size_t i = 0; i < l->n; i++) {
        const shown *x = &l->items[i];
        double first = first_known(h, x->series), last = last_known(h, x->series);
        const etp_cell cells[] = {
            etp_cell_z(x->name),
            etp_cell_u64(x->series->n_known),
            etp_cell_z(etp_history_figure(x->series, first, arena)),
            etp_cell_z(etp_history_figure(x->series, last, arena)),
            etp_cell_double(last / first - 1),
            etp_cell_u64(x->series->n_changes),
            etp_cell_str(x->series->name),
            etp_cell_double(last_known(h, x->rate)),
        };
        etp_table_add_row(t, cells, n);
    }
}

// by_change puts series with changes first, so CHANGED is where the fold begins.
void etp_history_page(const etp_history *h, etp_report *r, etp_arena *arena)
{
    const list l = all_of(h, arena);
    size_t changed = 0, drawn = l.n < MAX_CHARTS ? l.n : MAX_CHARTS;
    while (changed < l.n && l.items[changed].series->n_changes) {
        changed++;
    }
    etp_report_section(r, 1, "series", changed ? "What changed" : "Over the runs");
    etp_report_text(r, "A dot for each run, a line for the mean between two changes. The scales do "
                       "not begin at 0: each shows at least a tenth more and less than its mean.");
    for (size_t i = 0; i < drawn; i++) {
        if (i == changed) {
            etp_report_fold(r, etp_arena_printf(arena, "%zu without a change", l.n - changed));
        }
        chart(h, &l.items[i], r, arena);
    }
    if (drawn < l.n) {
        etp_report_text(r, "The first %zu of %zu are drawn; the table has all.", drawn, l.n);
    }
    changes_table(h, &l, r, arena);
    figures_table(h, &l, r, arena);
}
