// SPDX-License-Identifier: Apache-2.0
// Building what only answers have: headlines and facts, actions, and how the HTML page is parted.
#include <math.h>

#include "report/tree.h"

// Of a part it is a block at its place, because a page may have many parts; that of the whole page
// stands at its end.
void etp_report_attach_json(etp_report *r, const char *id, etp_str json)
{
    if (r && r->part.len) {
        etp_block *b = etp_report_add_block(r, ETP_BLOCK_DATA);
        b->medium = ETP_ON_PAGE;
        b->id = etp_report_part_id(r, id);
        b->text = json;
    } else if (r) {
        r->json_id = etp_report_clean(r, id);
        r->json = json;
    }
}

void etp_report_headline(etp_report *r, const etp_headline *h)
{
    if (!r) {
        return;
    }
    etp_card card = {.label = etp_report_clean(r, h->label),
                     .verdict = etp_report_clean(r, h->verdict),
                     .interval = etp_report_clean(r, h->interval),
                     .detail = etp_report_clean(r, h->detail),
                     .severity = h->severity,
                     .value = h->value,
                     .lo = h->lo,
                     .hi = h->hi,
                     .has_ends = h->ends[0].name && h->ends[1].name,
                     .on_page = r->medium == ETP_ON_PAGE};
    for (int i = 0; i < 2; i++) {
        card.ends[i].name = etp_report_clean(r, h->ends[i].name);
        card.ends[i].value = h->ends[i].value;
        card.ends[i].lo = h->ends[i].lo;
        card.ends[i].hi = h->ends[i].hi;
        card.ends[i].note = etp_report_clean(r, h->ends[i].note);
    }
    ETP_ADD(r->arena, &r->cards, card);
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
    if (!list) {
        return NULL;
    }
    etp_block *b = etp_report_add_block(r, ETP_BLOCK_ACTIONS);
    list->none = (etp_str){"", 0};
    b->medium = ETP_ON_PAGE;
    b->id = etp_report_part_id(r, "next");
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
                            .shown = etp_report_clean(r, a->id),
                            .scope = r->scope,
                            .of = etp_report_clean(r, a->of),
                            .text = etp_report_clean(r, a->text),
                            .advice = etp_report_clean(r, a->advice),
                            .command = etp_report_clean(r, a->command),
                            .whole = a->whole,
                            .gain = a->gain,
                            .lo = a->lo,
                            .hi = a->hi};
    ETP_ADD(r->arena, list, card);
}

void etp_report_no_action(etp_report *r, const char *fmt, ...)
{
    etp_actions *list = r ? actions_here(r) : NULL;
    if (list) {
        va_list ap;
        va_start(ap, fmt);
        list->none = etp_report_format(r, fmt, ap);
        va_end(ap);
    }
}

void etp_report_fact(etp_report *r, const char *label, const char *fmt, ...)
{
    if (!r) {
        return;
    }
    va_list ap;
    va_start(ap, fmt);
    etp_key_value fact = {.key = etp_report_clean(r, label),
                          .value = etp_report_format(r, fmt, ap),
                          .on_page = r->medium == ETP_ON_PAGE};
    va_end(ap);
    ETP_ADD(r->arena, &r->facts, fact);
}

void etp_report_scope(etp_report *r, const char *id, const char *title)
{
    if (r) {
        r->scope = etp_report_clean(r, id);
        r->scope_title = etp_report_clean(r, title);
    }
}

void etp_report_tab(etp_report *r, const char *name)
{
    if (r && name) {
        ETP_ADD(r->arena, &r->tabs, etp_report_clean(r, name));
    }
    if (r) {
        r->tab = name ? r->tabs.n : 0;
    }
}

void etp_report_fold(etp_report *r, const char *title)
{
    if (r) {
        etp_str text = etp_report_clean(r, title);
        etp_report_add_block(r, ETP_BLOCK_FOLD)->text = text;
    }
}

void etp_report_drawer(etp_report *r, const char *id, const char *title)
{
    if (r) {
        etp_str clean_id = etp_report_id_within(r, r->scope, id), text = etp_report_clean(r, title);
        etp_block *b = etp_report_add_block(r, ETP_BLOCK_DRAWER);
        b->caption = r->scope_title;
        b->medium = ETP_ON_PAGE;
        b->id = clean_id;
        b->text = text;
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
        r->part = etp_report_clean(r, id);
        etp_report_scope(r, id, title);
    }
}

bool etp_report_in_part(const etp_report *r)
{
    return r && r->part.len > 0;
}

void etp_report_parts(etp_report *r, const char *title)
{
    if (r) {
        etp_report_section(r, 1, "each", title);
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
        r->blocks.items[r->blocks.n - 1].caption = etp_report_clean(r, command);
    }
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
        most = ETP_MAX(counts[i], most);
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
