// SPDX-License-Identifier: Apache-2.0
// Building the report tree. Every string passes through clean() on its way in.
#include "report/report.h"

#include <assert.h>
#include <math.h>

#include "base/json.h"
#include "report/tree.h"

// ---- strings ----

// A copy of S in the report's arena that is safe to show; see report.h. Code keeps line breaks.
static etp_str clean(etp_report *r, etp_str s, bool code)
{
    if (s.len == 0) {
        return (etp_str){"", 0};
    }
    if (etp_is_harmless(s)) {
        char *copy = etp_arena_strdup(r->arena, s);
        return copy ? (etp_str){copy, s.len} : (etp_str){"", 0};
    }
    etp_strbuf out;
    etp_strbuf_init(&out, r->arena);
    etp_sink sink = etp_sink_strbuf(&out);
    etp_sink_shown(&sink, s, code);
    return etp_strbuf_str(&out);
}

static etp_str clean_z(etp_report *r, const char *z)
{
    return clean(r, etp_str_from(z), false);
}

etp_str etp_report_clean(etp_report *r, const char *z)
{
    return clean_z(r, z);
}

// Most texts fit on the stack, where their length comes out; only longer ones are formatted twice.
static etp_str ETP_PRINTF(2, 0) format(etp_report *r, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    char small[512];
    int n = vsnprintf(small, sizeof small, fmt, ap);
    etp_str out = {"", 0};
    if (n >= 0 && (size_t)n < sizeof small) {
        out = clean(r, (etp_str){small, (size_t)n}, false);
    } else if (n >= 0) {
        char *big = etp_arena_alloc_raw(r->arena, (size_t)n + 1, 1);
        if (big) {
            vsnprintf(big, (size_t)n + 1, fmt, again);
            out = clean(r, (etp_str){big, (size_t)n}, false);
        }
    } else {
        r->arena->failed = true; // a text that cannot be made is missing for good
    }
    va_end(again);
    return out;
}

// Without memory the bare id is better than none: the arena has remembered, and nothing of this
// report is written.
static etp_str id_within(etp_report *r, etp_str outer, const char *id)
{
    if (outer.len == 0) {
        return clean_z(r, id);
    }
    const char *text = etp_arena_printf(r->arena, "%.*s-%s", ETP_STR_ARG(outer), id);
    return clean_z(r, text ? text : id);
}

static etp_str part_id(etp_report *r, const char *id)
{
    return id_within(r, r->part, id);
}

// ---- report ----

etp_report *etp_report_create(etp_arena *arena, const char *title)
{
    etp_report *r = ETP_NEW(arena, etp_report);
    if (!r) {
        return NULL;
    }
    r->arena = arena;
    r->title = clean_z(r, title);
    r->subtitle = r->footer = r->json_id = r->json = r->part = (etp_str){"", 0};
    r->scope = r->scope_title = r->actions.none = (etp_str){"", 0};
    return r;
}

etp_arena *etp_report_arena(const etp_report *r)
{
    return r->arena;
}

etp_cell etp_cell_rounded_ns(double ns)
{
    return isfinite(ns) ? etp_cell_ns(llround(ns)) : etp_cell_missing();
}

void etp_report_subtitle(etp_report *r, const char *fmt, ...)
{
    if (r) {
        va_list ap;
        va_start(ap, fmt);
        r->subtitle = format(r, fmt, ap);
        va_end(ap);
    }
}

void etp_report_footer(etp_report *r, const char *fmt, ...)
{
    if (r) {
        va_list ap;
        va_start(ap, fmt);
        r->footer = format(r, fmt, ap);
        va_end(ap);
    }
}

// Of a part it is a block at its place, because a page may have many parts; that of the whole page
// stands at its end.
void etp_report_attach_json(etp_report *r, const char *id, etp_str json)
{
    etp_block *b = r && r->part.len ? etp_report_add_block(r, ETP_BLOCK_DATA) : NULL;
    if (b) {
        b->medium = ETP_ON_PAGE;
        b->id = part_id(r, id);
        b->text = json;
    } else if (r) {
        r->json_id = clean_z(r, id);
        r->json = json;
    }
}

void etp_report_headline(etp_report *r, const etp_headline *h)
{
    if (!r) {
        return;
    }
    etp_card card = {.label = clean_z(r, h->label),
                     .verdict = clean_z(r, h->verdict),
                     .interval = clean_z(r, h->interval),
                     .detail = clean_z(r, h->detail),
                     .severity = h->severity,
                     .kind = h->kind,
                     .value = h->value,
                     .lo = h->lo,
                     .hi = h->hi,
                     .reference = h->reference,
                     .has_ends = h->ends[0].name && h->ends[1].name,
                     .ends_kind = h->ends_kind,
                     .off_page = r->medium == ETP_OFF_PAGE};
    for (int i = 0; i < 2; i++) {
        card.ends[i].name = clean_z(r, h->ends[i].name);
        card.ends[i].value = h->ends[i].value;
        card.ends[i].lo = h->ends[i].lo;
        card.ends[i].hi = h->ends[i].hi;
        card.ends[i].note = clean_z(r, h->ends[i].note);
    }
    // Two lists, because other formats must not see those of the page; `off_page` keeps the reverse
    // from the page.
    etp_cards *list = r->medium == ETP_ON_PAGE ? &r->page_cards : &r->cards;
    ETP_ADD(r->arena, list, card);
}

// Of the page's first screen, or of the part that is open.
static etp_actions *actions_here(etp_report *r)
{
    if (r->part.len == 0) {
        return &r->actions;
    }
    etp_block *last = r->blocks.n ? &r->blocks.items[r->blocks.n - 1] : NULL;
    if (last && last->kind == ETP_BLOCK_ACTIONS) {
        return last->actions;
    }
    etp_actions *list = ETP_NEW(r->arena, etp_actions);
    etp_block *b = list ? etp_report_add_block(r, ETP_BLOCK_ACTIONS) : NULL;
    if (!b) {
        return NULL;
    }
    list->none = (etp_str){"", 0};
    b->medium = ETP_ON_PAGE;
    b->id = part_id(r, "next");
    b->actions = list;
    return list;
}

void etp_report_action(etp_report *r, const etp_action *a)
{
    etp_actions *list = r ? actions_here(r) : NULL;
    if (!list) {
        return;
    }
    etp_action_card card = {.id = etp_report_link(r, a->id),
                            .shown = clean_z(r, a->id),
                            .scope = r->scope,
                            .of = clean_z(r, a->of),
                            .text = clean_z(r, a->text),
                            .advice = clean_z(r, a->advice),
                            .command = clean_z(r, a->command),
                            .whole = a->whole,
                            .gain = a->gain,
                            .lo = a->lo,
                            .hi = a->hi,
                            .kind = a->kind};
    ETP_ADD(r->arena, list, card);
}

void etp_report_no_action(etp_report *r, const char *fmt, ...)
{
    etp_actions *list = r ? actions_here(r) : NULL;
    if (list) {
        va_list ap;
        va_start(ap, fmt);
        list->none = format(r, fmt, ap);
        va_end(ap);
    }
}

etp_medium etp_report_medium(etp_report *r, etp_medium medium)
{
    etp_medium before = r ? r->medium : ETP_EVERYWHERE;
    if (r) {
        r->medium = medium;
    }
    return before;
}

void etp_report_fact(etp_report *r, const char *label, const char *fmt, ...)
{
    if (!r) {
        return;
    }
    va_list ap;
    va_start(ap, fmt);
    etp_key_value fact = {.key = clean_z(r, label),
                          .value = format(r, fmt, ap),
                          .off_page = r->medium == ETP_OFF_PAGE};
    va_end(ap);
    etp_facts *list = r->medium == ETP_ON_PAGE ? &r->page_facts : &r->facts;
    ETP_ADD(r->arena, list, fact);
}

static etp_block *add_block(etp_report *r, etp_block_kind kind)
{
    etp_block block = {
        .kind = kind,
        .detail = r->detail_level > 0,
        .medium = r->medium,
        .tab = r->tab,
        .id = {"", 0},
        .scope = r->scope,
        .text = {"", 0},
        .caption = {"", 0}
    };
    if (!ETP_PUSH(r->arena, &r->blocks, block)) {
        return NULL;
    }
    return &r->blocks.items[r->blocks.n - 1];
}

etp_block *etp_report_add_block(etp_report *r, etp_block_kind kind)
{
    return add_block(r, kind);
}

etp_str etp_report_link(etp_report *r, const char *id)
{
    return id && *id ? id_within(r, r->scope, id) : (etp_str){"", 0};
}

void etp_report_scope(etp_report *r, const char *id, const char *title)
{
    if (r) {
        r->scope = clean_z(r, id);
        r->scope_title = clean_z(r, title);
    }
}

void etp_report_section(etp_report *r, int level, const char *id, const char *title)
{
    if (!r) {
        return;
    }
    assert(level == 1 || level == 2);
    // The author of a section does not know whether his answer is one of several.
    level = r->part.len ? 2 : level;
    // A section of the same or a higher rank ends the detail section that was open.
    if (level <= r->detail_level) {
        r->detail_level = 0;
    }
    // Copied before the block is added: adding may move the blocks, and copying may run out of
    // memory.
    etp_str clean_id = part_id(r, id), text = clean_z(r, title);
    etp_block *b = add_block(r, ETP_BLOCK_SECTION);
    if (b) {
        b->level = level;
        b->inner = r->inner;
        b->id = clean_id;
        b->text = text;
    }
}

void etp_report_tab(etp_report *r, const char *name)
{
    if (r && name) {
        ETP_ADD(r->arena, &r->tabs, clean_z(r, name));
    }
    if (r) {
        r->tab = name ? r->tabs.n : 0;
    }
}

void etp_report_fold(etp_report *r, const char *title)
{
    if (r) {
        etp_str text = clean_z(r, title);
        etp_block *b = add_block(r, ETP_BLOCK_FOLD);
        if (b) {
            b->medium = ETP_ON_PAGE;
            b->text = text;
        }
    }
}

void etp_report_drawer(etp_report *r, const char *id, const char *title)
{
    if (r) {
        etp_str clean_id = id_within(r, r->scope, id), text = clean_z(r, title);
        etp_block *b = add_block(r, ETP_BLOCK_DRAWER);
        if (b) {
            b->caption = r->scope_title;
            b->medium = ETP_ON_PAGE;
            b->id = clean_id;
            b->text = text;
        }
    }
}

void etp_report_inner(etp_report *r, bool inner)
{
    if (r) {
        r->inner = inner;
    }
}

void etp_report_begin_part(etp_report *r, const char *id, const char *title)
{
    if (r) {
        etp_report_end_part(r);
        etp_report_section(r, 1, id, title);
        if (r->blocks.n) {
            r->blocks.items[r->blocks.n - 1].part = true;
        }
        r->part = clean_z(r, id);
        etp_report_scope(r, id, title);
    }
}

bool etp_report_in_part(const etp_report *r)
{
    return r && r->part.len > 0;
}

void etp_report_parts(etp_report *r, const char *id, const char *title)
{
    if (r) {
        etp_report_section(r, 1, id, title);
        if (r->blocks.n) {
            r->blocks.items[r->blocks.n - 1].parts = true;
            r->blocks.items[r->blocks.n - 1].medium = ETP_ON_PAGE;
        }
    }
}

void etp_report_end_part(etp_report *r)
{
    if (r) {
        r->part = (etp_str){"", 0};
        etp_report_scope(r, NULL, NULL);
    }
}

// Without memory the last block is another one than the caller means.
void etp_report_section_whole(etp_report *r, const char *command)
{
    if (r && !r->arena->failed && r->blocks.n) {
        r->blocks.items[r->blocks.n - 1].caption = clean_z(r, command);
    }
}

void etp_report_section_is_detail(etp_report *r)
{
    if (!r || r->arena->failed || r->blocks.n == 0) { // there was no memory for the section
        return;
    }
    etp_block *b = &r->blocks.items[r->blocks.n - 1];
    assert(b->kind == ETP_BLOCK_SECTION);
    b->detail = true;
    if (r->detail_level == 0) { // a level-2 section inside a detail section changes nothing
        r->detail_level = b->level;
    }
}

static void ETP_PRINTF(3, 0)
    add_paragraph(etp_report *r, etp_severity severity, const char *fmt, va_list ap)
{
    etp_str text = format(r, fmt, ap);
    etp_block *b = add_block(r, ETP_BLOCK_TEXT);
    if (b) {
        b->severity = severity;
        b->text = text;
    }
}

void etp_report_text(etp_report *r, const char *fmt, ...)
{
    if (r) {
        va_list ap;
        va_start(ap, fmt);
        add_paragraph(r, ETP_PLAIN, fmt, ap);
        va_end(ap);
    }
}

void etp_report_note(etp_report *r, etp_severity severity, const char *fmt, ...)
{
    if (r) {
        va_list ap;
        va_start(ap, fmt);
        add_paragraph(r, severity == ETP_PLAIN ? ETP_INFO : severity, fmt, ap);
        va_end(ap);
    }
}

static etp_block *add_code(etp_report *r, const char *caption, etp_str text)
{
    // Writers end the last line themselves: a line break of the text's own would be a blank line.
    while (text.len && text.ptr[text.len - 1] == '\n') {
        text.len--;
    }
    etp_str clean_caption = clean_z(r, caption), code = clean(r, text, true);
    etp_block *b = add_block(r, ETP_BLOCK_CODE);
    if (b) {
        b->caption = clean_caption;
        b->text = code;
    }
    return b;
}

void etp_report_code(etp_report *r, const char *caption, etp_str text)
{
    if (r) {
        (void)add_code(r, caption, text);
    }
}

void etp_report_line(etp_report *r, const char *caption, const char *line)
{
    etp_block *b = r ? add_code(r, caption, etp_str_from(line)) : NULL;
    if (b) {
        b->line = true;
    }
}

void etp_report_listing(etp_report *r, etp_str text)
{
    etp_block *b = r ? add_code(r, NULL, text) : NULL;
    if (b) {
        b->wrapped = true;
    }
}

etp_keys *etp_report_keys(etp_report *r, const char *title)
{
    if (!r) {
        return NULL;
    }
    etp_keys *k = ETP_NEW(r->arena, etp_keys);
    etp_block *b = add_block(r, ETP_BLOCK_KEYS);
    if (!k || !b) {
        return NULL;
    }
    k->report = r;
    k->title = clean_z(r, title);
    b->keys = k;
    return k;
}

void etp_keys_add(etp_keys *k, etp_severity severity, const char *key, const char *fmt, ...)
{
    if (!k) {
        return;
    }
    etp_report *r = k->report;
    va_list ap;
    va_start(ap, fmt);
    etp_key_value pair = {.key = clean_z(r, key),
                          .value = format(r, fmt, ap),
                          .scope = r->scope,
                          .severity = severity};
    va_end(ap);
    ETP_ADD(r->arena, &k->pairs, pair);
}

// One digit a step keeps hundreds of histograms small; the script that draws them knows the form
// "from to steps digits".
void etp_keys_histogram(etp_keys *k, double lo, double hi, const uint64_t *counts, size_t n)
{
    if (!k || k->pairs.n == 0) {
        return;
    }
    uint64_t most = 1;
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        most = counts[i] > most ? counts[i] : most;
        used = counts[i] ? i + 1 : used;
    }
    etp_strbuf text;
    etp_strbuf_init(&text, k->report->arena);
    etp_strbuf_printf(&text, "%.0f %.0f %zu ", lo, hi, n);
    for (size_t i = 0; i < used; i++) { // what was seen once is seen
        double height = 9 * (double)counts[i] / (double)most;
        etp_strbuf_printf(&text, "%.0f", counts[i] ? fmax(height, 1) : 0);
    }
    k->pairs.items[k->pairs.n - 1].histogram = etp_strbuf_str(&text);
}

// ---- tables ----

static int default_decimals(etp_kind kind)
{
    return kind == ETP_KIND_RATIO ? 2 : kind == ETP_KIND_PERCENT ? 1 : 3;
}

etp_table *etp_report_table(etp_report *r, const char *id, const char *caption,
                            const etp_column *columns, size_t n_columns)
{
    if (!r) {
        return NULL;
    }
    if (n_columns == 0 || n_columns > ETP_TABLE_MAX_COLUMNS) { // writers have room for so many
        assert(!"a table as wide as its author's input: give it a row for each instead");
        r->arena->failed = true; // no report rather than one without a table
        return NULL;
    }
    etp_table *t = ETP_NEW(r->arena, etp_table);
    etp_column *copy = ETP_NEW_ARRAY(r->arena, etp_column, n_columns);
    etp_block *b = add_block(r, ETP_BLOCK_TABLE);
    if (!t || !copy || !b) {
        return NULL;
    }
    for (size_t i = 0; i < n_columns; i++) {
        const etp_column *in = &columns[i];
        copy[i] = *in;
        copy[i].key = clean_z(r, in->key).ptr;
        copy[i].title = clean_z(r, in->title ? in->title : in->key).ptr;
        copy[i].unit = in->unit ? clean_z(r, in->unit).ptr : NULL;
        copy[i].help = in->help ? clean_z(r, in->help).ptr : NULL;
        // Resolved once here, so that no writer has a default of its own.
        copy[i].decimals = in->decimals > 0 ? in->decimals : default_decimals(in->kind);
    }
    *t = (etp_table){.report = r,
                     .id = part_id(r, id),
                     .caption = clean_z(r, caption),
                     .columns = copy,
                     .n_columns = n_columns};
    b->table = t;
    return t;
}

void etp_table_limit(etp_table *t, size_t n)
{
    if (t) {
        t->limit = n;
    }
}

void etp_table_add_row(etp_table *t, const etp_cell *cells, size_t n)
{
    if (!t) {
        return;
    }
    assert(n == t->n_columns);
    etp_report *r = t->report;
    etp_cell *copy = ETP_NEW_ARRAY(r->arena, etp_cell, t->n_columns);
    if (!copy) {
        return;
    }
    for (size_t i = 0; i < n && i < t->n_columns; i++) {
        copy[i] = cells[i];
        if (copy[i].type == ETP_CELL_TEXT) {
            copy[i].v.text = clean(r, copy[i].v.text, false);
            copy[i].called = clean(r, copy[i].called, false);
        }
    }
    ETP_ADD(r->arena, &t->rows,
            ((etp_row){
                .cells = copy, .link = {"", 0},
                     .scope = r->scope
    }));
}

// In the scope that was open when the row was added, which another author may have left since.
void etp_table_row_link(etp_table *t, const char *id)
{
    if (t && t->rows.n) {
        etp_row *row = &t->rows.items[t->rows.n - 1];
        row->link = id_within(t->report, row->scope, id);
    }
}

void etp_table_row_is_total(etp_table *t)
{
    if (t && t->rows.n) {
        t->rows.items[t->rows.n - 1].total = true;
    }
}

// ---- charts ----

etp_chart *etp_report_chart(etp_report *r, etp_chart_kind chart, const char *id, const char *title,
                            etp_kind kind)
{
    if (!r) {
        return NULL;
    }
    etp_chart *c = ETP_NEW(r->arena, etp_chart);
    etp_block *b = add_block(r, ETP_BLOCK_CHART);
    if (!c || !b) {
        return NULL;
    }
    *c = (etp_chart){
        .report = r,
        .chart = chart,
        .kind = kind,
        .id = part_id(r, id),
        .title = clean_z(r, title),
        .description = {"", 0},
        .x_title = {"", 0},
        .y_title = {"", 0}
    };
    b->chart = c;
    return c;
}

void etp_chart_describe(etp_chart *c, const char *fmt, ...)
{
    if (c) {
        va_list ap;
        va_start(ap, fmt);
        c->description = format(c->report, fmt, ap);
        va_end(ap);
    }
}

void etp_chart_axes(etp_chart *c, const char *x_title, const char *y_title)
{
    if (c) {
        c->x_title = clean_z(c->report, x_title);
        c->y_title = clean_z(c->report, y_title);
    }
}

void etp_chart_series(etp_chart *c, const char *label)
{
    if (c) {
        // An entry has one value for every series, so all series are known before the first.
        assert(c->entries.n == 0);
        etp_report *r = c->report;
        ETP_ADD(r->arena, &c->series, clean_z(r, label));
    }
}

void etp_chart_series_colored(etp_chart *c, const char *label, unsigned color)
{
    if (c && c->series.n < ETP_CHART_COLORED) {
        c->colors[c->series.n] = color;
    }
    etp_chart_series(c, label);
}

// Copies N values, anything not finite becomes NAN. NULL in gives N times NAN.
// Writers then ask one question, isfinite, and an infinity of a division never reaches a scale.
static const double *copy_values(etp_report *r, const double *values, size_t n)
{
    double *copy = ETP_NEW_ARRAY(r->arena, double, n);
    if (!copy) {
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        copy[i] = values && isfinite(values[i]) ? values[i] : (double)NAN;
    }
    return copy;
}

// lo and hi are always arrays of n, so that writers index them without asking.
static void add_entry(etp_chart *c, etp_chart_entry e, const double *values, const double *lo,
                      const double *hi, size_t n)
{
    etp_report *r = c->report;
    e.values = copy_values(r, values, n);
    e.lo = copy_values(r, lo, n);
    e.hi = copy_values(r, hi, n);
    e.n_values = n;
    e.begins_group = c->next_begins_group;
    c->next_begins_group = false;
    if (e.values && e.lo && e.hi) {
        ETP_ADD(r->arena, &c->entries, e);
    }
}

void etp_chart_only_names(etp_chart *c)
{
    if (c) {
        c->only_names = true;
    }
}

void etp_chart_group(etp_chart *c)
{
    if (c) {
        c->next_begins_group = true;
    }
}

void etp_chart_row(etp_chart *c, const char *label, const double *values, size_t n)
{
    if (c) {
        // A series that could not be added for want of memory leaves the numbers apart.
        assert(n == c->series.n || c->report->arena->failed);
        etp_chart_entry e = {
            .label = clean_z(c->report, label), .note = {"", 0}
        };
        add_entry(c, e, values, NULL, NULL, n);
    }
}

void etp_chart_point(etp_chart *c, double x, const double *values, const double *lo,
                     const double *hi, size_t n)
{
    if (c) {
        assert((n == c->series.n || c->report->arena->failed) && isfinite(x));
        etp_chart_entry e = {
            .label = {"", 0},
              .note = {"", 0},
              .x = x
        };
        add_entry(c, e, values, lo, hi, n);
    }
}

void etp_chart_interval(etp_chart *c, const char *label, const char *note, double value, double lo,
                        double hi)
{
    if (c) {
        etp_chart_entry e = {.label = clean_z(c->report, label), .note = clean_z(c->report, note)};
        add_entry(c, e, &value, &lo, &hi, 1);
    }
}

void etp_chart_total(etp_chart *c, const char *label, double value)
{
    if (c) {
        etp_chart_entry e = {
            .label = clean_z(c->report, label), .note = {"", 0},
                  .role = ETP_ROLE_TOTAL
        };
        add_entry(c, e, &value, NULL, NULL, 1);
    }
}

void etp_chart_step(etp_chart *c, const char *label, const char *group, bool muted, double delta,
                    double lo, double hi)
{
    if (c) {
        etp_chart_entry e = {.label = clean_z(c->report, label),
                             .note = clean_z(c->report, group),
                             .role = ETP_ROLE_STEP,
                             .muted = muted};
        add_entry(c, e, &delta, &lo, &hi, 1);
    }
}
