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

etp_str etp_report_clean(etp_report *r, const char *z)
{
    return clean(r, etp_str_from(z), false);
}

// Most texts fit on the stack, where their length comes out; only longer ones are formatted twice.
etp_str etp_report_format(etp_report *r, const char *fmt, va_list ap)
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
etp_str etp_report_id_within(etp_report *r, etp_str outer, const char *id)
{
    if (outer.len == 0) {
        return etp_report_clean(r, id);
    }
    const char *text = etp_arena_printf(r->arena, "%.*s-%s", ETP_STR_ARG(outer), id);
    return etp_report_clean(r, ETP_OR(text, id));
}

etp_str etp_report_part_id(etp_report *r, const char *id)
{
    return etp_report_id_within(r, r->part, id);
}

// ---- report ----

etp_report *etp_report_create(etp_arena *arena, const char *title)
{
    etp_report *r = ETP_NEW(arena, etp_report);
    if (!r) {
        return NULL;
    }
    r->arena = arena;
    r->title = etp_report_clean(r, title);
    r->subtitle = r->json_id = r->json = r->part = (etp_str){"", 0};
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
        r->subtitle = etp_report_format(r, fmt, ap);
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

etp_block *etp_report_add_block(etp_report *r, etp_block_kind kind)
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
    return ETP_PUSH(r->arena, &r->blocks, block) ? &r->blocks.items[r->blocks.n - 1] : &r->spare;
}

etp_str etp_report_link(etp_report *r, const char *id)
{
    return id && *id ? etp_report_id_within(r, r->scope, id) : (etp_str){"", 0};
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
    etp_str clean_id = etp_report_part_id(r, id), text = etp_report_clean(r, title);
    etp_block *b = etp_report_add_block(r, ETP_BLOCK_SECTION);
    b->level = level;
    b->inner = r->inner;
    b->id = clean_id;
    b->text = text;
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

void etp_report_section_is_folded(etp_report *r)
{
    if (r && !r->arena->failed && r->blocks.n > 0) {
        assert(r->blocks.items[r->blocks.n - 1].kind == ETP_BLOCK_SECTION);
        r->blocks.items[r->blocks.n - 1].folded = !r->inner;
    }
}

static void ETP_PRINTF(3, 0)
    add_paragraph(etp_report *r, etp_severity severity, const char *fmt, va_list ap)
{
    etp_str text = etp_report_format(r, fmt, ap);
    etp_block *b = etp_report_add_block(r, ETP_BLOCK_TEXT);
    b->severity = severity;
    b->text = text;
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
    etp_str clean_caption = etp_report_clean(r, caption), code = clean(r, text, true);
    etp_block *b = etp_report_add_block(r, ETP_BLOCK_CODE);
    b->caption = clean_caption;
    b->text = code;
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
    if (r) {
        add_code(r, caption, etp_str_from(line))->line = true;
    }
}

void etp_report_listing(etp_report *r, etp_str text)
{
    if (r) {
        add_code(r, NULL, text)->wrapped = true;
    }
}

etp_keys *etp_report_keys(etp_report *r, const char *title)
{
    if (!r) {
        return NULL;
    }
    etp_keys *k = ETP_NEW(r->arena, etp_keys);
    if (!k) {
        return NULL;
    }
    k->report = r;
    k->title = etp_report_clean(r, title);
    etp_report_add_block(r, ETP_BLOCK_KEYS)->keys = k;
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
    etp_key_value pair = {.key = etp_report_clean(r, key),
                          .value = etp_report_format(r, fmt, ap),
                          .scope = r->scope,
                          .severity = severity};
    va_end(ap);
    ETP_ADD(r->arena, &k->pairs, pair);
}

// ---- tables ----

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
    if (!t || !copy) {
        return NULL;
    }
    size_t n = 0;
    uint32_t absent = 0;
    for (size_t i = 0; i < n_columns; i++) {
        const etp_column *in = &columns[i];
        if (in->flags & ETP_COL_ABSENT) {
            absent |= (uint32_t)1 << i;
            continue;
        }
        etp_column *out = &copy[n++];
        *out = *in;
        out->key = etp_report_clean(r, in->key).ptr;
        out->title = etp_report_clean(r, ETP_OR(in->title, in->key)).ptr;
        out->unit = in->unit ? etp_report_clean(r, in->unit).ptr : NULL;
        out->help = in->help ? etp_report_clean(r, in->help).ptr : NULL;
        // Resolved once here, so that no writer has a default of its own.
        int usual = in->kind == ETP_KIND_PERCENT ? 1 : 3;
        usual = in->kind == ETP_KIND_RATIO ? 2 : usual;
        out->decimals = in->decimals > 0 ? in->decimals : usual;
    }
    *t = (etp_table){.report = r,
                     .id = etp_report_part_id(r, id),
                     .caption = etp_report_clean(r, caption),
                     .columns = copy,
                     .n_columns = n,
                     .absent = absent};
    etp_report_add_block(r, ETP_BLOCK_TABLE)->table = t;
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
    etp_report *r = t->report;
    etp_cell *copy = ETP_NEW_ARRAY(r->arena, etp_cell, t->n_columns);
    if (!copy) {
        return;
    }
    size_t at = 0;
    for (size_t i = 0; i < n && at < t->n_columns; i++) {
        if (t->absent >> i & 1) {
            continue;
        }
        etp_cell *out = &copy[at++];
        *out = cells[i];
        if (out->type == ETP_CELL_TEXT) {
            out->v.text = clean(r, out->v.text, false);
            out->called = clean(r, out->called, false);
        }
    }
    assert(at == t->n_columns);
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
        row->link = etp_report_id_within(t->report, row->scope, id);
    }
}

void etp_table_row_is_total(etp_table *t)
{
    if (t && t->rows.n) {
        t->rows.items[t->rows.n - 1].total = true;
    }
}
