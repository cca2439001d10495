// SPDX-License-Identifier: Apache-2.0
// The report for a terminal: headline, wrapped paragraphs, aligned lists. Tables and charts have
// files of their own.
#include "report/text.h"

#include <math.h>

#include "base/json.h"

static const char k_bold[] = "1";
static const char k_dim[] = "2";

// "1.50× faster  [1.48, 1.53]  VNNI against AVX2", on as many lines as it needs.
// What follows the verdict decides whether the line is broken within it, so all widths are known
// before anything is written.
static void write_card_head(etp_text *o, const etp_card *card)
{
    char value[ETP_VIEW_CHARS] = "", lo[ETP_VIEW_CHARS], hi[ETP_VIEW_CHARS];
    char interval[2 * ETP_VIEW_CHARS + 8] = "";
    etp_view v = etp_view_for(ETP_KIND_RATIO, 0, NULL, 0), bare = etp_view_bare(&v);
    const char *sgr = k_etp_sgr_severity[card->severity];
    if (isfinite(card->value)) {
        etp_view_value(&v, card->value, value);
    }
    if (isfinite(card->lo) && isfinite(card->hi)) {
        snprintf(interval, sizeof interval, "  [%s, %s]", etp_view_number(&bare, card->lo, lo),
                 etp_view_number(&bare, card->hi, hi));
    }
    size_t before = etp_width(etp_str_from(value)) + (*value != '\0');
    size_t at = before + etp_width(card->verdict) + etp_width(etp_str_from(interval));
    bool broken = at > o->width;
    etp_text_sgr(o, k_bold);
    etp_text_sgr(o, sgr);
    etp_text_putz(o, value);
    etp_sink_repeat(o->sink, ' ', *value != '\0');
    if (broken) {
        etp_text_wrap(o, card->verdict, before, 2);
    } else {
        etp_text_put(o, card->verdict);
    }
    etp_text_plain(o, k_bold);
    etp_text_putz(o, interval);
    bool same_line = !broken && at + 2 + etp_width(card->label) <= o->width;
    if (card->label.len) {
        etp_text_putz(o, same_line || broken ? "  " : "\n  ");
        etp_text_wrap(o, card->label, same_line ? at + 2 : 2, 2);
    } else if (!broken || *interval) {
        etp_sink_char(o->sink, '\n');
    }
}

static void write_facts(etp_text *o, const etp_report *r)
{
    size_t at = 0;
    bool any = false;
    for (size_t i = 0; i < r->facts.n; i++) {
        const etp_key_value *fact = &r->facts.items[i];
        if (fact->on_page) {
            continue;
        }
        etp_sink_z(o->sink, etp_if(!any, "\n"));
        any = true;
        size_t w = etp_width(fact->key) + 1 + etp_width(fact->value);
        if (at && at + 3 + w > o->width) {
            etp_sink_char(o->sink, '\n');
            at = 0;
        }
        if (at) {
            etp_text_putz(o, " · ");
            at += 3;
        }
        etp_text_sgr(o, k_dim);
        etp_text_put(o, fact->key);
        etp_text_plain(o, k_dim);
        etp_sink_char(o->sink, ' ');
        if (w > o->width) {
            etp_text_wrap(o, fact->value, etp_width(fact->key) + 1, 2);
        } else {
            etp_text_put(o, fact->value);
        }
        at = w > o->width ? 0 : at + w;
    }
    if (at) {
        etp_sink_char(o->sink, '\n');
    }
}

// The width of the keys, the same in lists that follow each other.
static size_t key_column(const etp_report *r, size_t block)
{
    size_t width = 0;
    while (block > 0 && r->blocks.items[block - 1].kind == ETP_BLOCK_KEYS) {
        block--;
    }
    for (; block < r->blocks.n && r->blocks.items[block].kind == ETP_BLOCK_KEYS; block++) {
        const etp_keys *k = r->blocks.items[block].keys;
        for (size_t i = 0; i < k->pairs.n; i++) {
            size_t w = etp_width(k->pairs.items[i].key);
            width = ETP_MAX(w, width);
        }
    }
    // A single long key must not push all values to the right.
    return ETP_MIN(width, 24);
}

static void write_keys(etp_text *o, const etp_keys *k, size_t key_width)
{
    if (k->title.len) {
        etp_text_wrap(o, k->title, 0, 0);
    }
    for (size_t i = 0; i < k->pairs.n; i++) {
        const etp_key_value *p = &k->pairs.items[i];
        const char *sgr = p->severity == ETP_PLAIN ? k_bold : k_etp_sgr_severity[p->severity];
        etp_text_sgr(o, sgr);
        etp_text_cell(o, p->key, key_width, false);
        etp_text_plain(o, sgr);
        etp_text_putz(o, "  ");
        etp_text_wrap(o, p->value, key_width + 2, key_width + 2);
    }
}

static void write_note(etp_text *o, const etp_block *b)
{
    static const char *const k_word[] = {"", "note: ", "ok: ", "warning: ", "problem: "};
    const char *word = k_word[b->severity], *sgr = k_etp_sgr_severity[b->severity];
    etp_text_sgr(o, sgr);
    etp_text_putz(o, word);
    etp_text_plain(o, sgr);
    etp_text_wrap(o, b->text, strlen(word), 0);
}

static void write_code(etp_text *o, const etp_block *b)
{
    if (b->caption.len) {
        etp_text_wrap(o, b->caption, 0, 0);
    }
    etp_str s = b->text;
    while (s.len) {
        size_t n = etp_str_find(s, ETP_STR("\n"));
        etp_str line = {s.ptr, n};
        size_t indent = 4;
        while (b->wrapped && line.len > 0 && line.ptr[0] == ' ') {
            line = (etp_str){line.ptr + 1, line.len - 1};
            indent++;
        }
        etp_sink_repeat(o->sink, ' ', indent);
        // The line keeps its own indentation and goes on four columns further in, so that nesting
        // can still be seen.
        if (b->wrapped) {
            etp_text_wrap(o, line, indent, indent + 4);
        } else {
            etp_text_put(o, line);
            etp_sink_char(o->sink, '\n');
        }
        s = n < s.len ? (etp_str){s.ptr + n + 1, s.len - n - 1} : (etp_str){s.ptr + n, 0};
    }
}

static void write_block(etp_text *o, const etp_report *r, size_t block)
{
    const etp_block *b = &r->blocks.items[block];
    switch (b->kind) {
    case ETP_BLOCK_SECTION:
        etp_text_sgr(o, k_bold);
        etp_text_wrap(o, b->text, 0, 0);
        etp_text_plain(o, k_bold);
        if (b->level == 1) {
            size_t w = etp_width(b->text);
            etp_text_rule(o, ETP_MIN(w, o->width));
        }
        break;
    case ETP_BLOCK_TEXT:
        write_note(o, b);
        break;
    case ETP_BLOCK_CODE:
        write_code(o, b);
        break;
    case ETP_BLOCK_KEYS:
        write_keys(o, b->keys, key_column(r, block));
        break;
    case ETP_BLOCK_TABLE:
        etp_text_table(o, b->table);
        break;
    case ETP_BLOCK_CHART:
        b->chart->text(o, b->chart);
        break;
    case ETP_BLOCK_FOLD: // a terminal has it below its title
        etp_text_wrap(o, b->text, 0, 0);
        break;
    case ETP_BLOCK_DRAWER: // of the page alone
    case ETP_BLOCK_PICTURE:
    case ETP_BLOCK_ACTIONS:
    case ETP_BLOCK_DATA:
        break;
    }
}

etp_status etp_write_text(const etp_report *r, const etp_report_style *style, etp_arena *arena,
                          etp_sink *sink, etp_error *err)
{
    (void)err;
    // Narrower terminals get lines of 40 columns, which they break themselves.
    int width = ETP_OR(style->width, 80);
    etp_text o = {.sink = sink,
                  .width = (size_t)ETP_MAX(width, 40),
                  .color = style->color,
                  .unicode = style->unicode};
    etp_strbuf_init(&o.scratch, arena);
    etp_text_sgr(&o, k_bold);
    etp_text_wrap(&o, r->title, 0, 0);
    etp_text_plain(&o, k_bold);
    if (r->subtitle.len) {
        etp_text_wrap(&o, r->subtitle, 0, 0);
    }
    for (size_t i = 0; i < r->cards.n; i++) {
        const etp_card *card = &r->cards.items[i];
        if (card->on_page) {
            continue;
        }
        etp_sink_char(o.sink, '\n');
        write_card_head(&o, card);
        if (card->interval.len) {
            etp_text_sgr(&o, k_dim);
            etp_text_wrap(&o, card->interval, 0, 0);
            etp_text_plain(&o, k_dim);
        }
        if (card->detail.len) {
            etp_text_wrap(&o, card->detail, 0, 0);
        }
    }
    write_facts(&o, r);
    bool after_heading = false;
    for (size_t i = 0; i < r->blocks.n; i++) {
        const etp_block *b = &r->blocks.items[i];
        if (!etp_block_shown(b, style, ETP_OFF_PAGE)) {
            continue;
        }
        // A heading stands directly above what it heads.
        if (!after_heading) {
            etp_sink_char(sink, '\n');
        }
        write_block(&o, r, i);
        after_heading = b->kind == ETP_BLOCK_SECTION;
    }
    return ETP_OK;
}
