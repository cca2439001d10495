// SPDX-License-Identifier: Apache-2.0
// How much of several answers the HTML page has: they share its bytes. Each may have as much as the
// others; what one does not need goes to those that need more. An answer that needs more than it
// may have keeps what is small, then as many rows of its tables as there is room for.
#include <stdlib.h>

#include "report/html_parts.h"

enum { LEAST_ROWS = 12 }; // of a table that is cut

typedef struct span { // blocks from .. to − 1 of an answer, or of one drawer
    size_t from, to, bytes;
    size_t group; // drawers: of which answer
} span;

typedef struct spans {
    span *items;
    size_t n;
} spans;

typedef struct order {
    size_t block, least, bytes;
} order;

static int by_least(const void *pa, const void *pb)
{
    const order *a = pa, *b = pb;
    return etp_order_then(ETP_ORDER(a->least, b->least), ETP_ORDER(a->block, b->block));
}

static int by_size(const void *pa, const void *pb)
{
    const size_t *a = pa, *b = pb;
    return ETP_ORDER(*a, *b);
}

// The most that each of N may have, so that all together have at most TOTAL. SIZES: are sorted.
// From the smallest on: whoever needs less than an equal share of what is left gets all of it, and
// the rest is shared anew among the others. SIZE_MAX: there is enough for all.
static size_t share(size_t *sizes, size_t n, size_t total)
{
    if (n) {
        qsort(sizes, n, sizeof *sizes, by_size);
    }
    for (size_t i = 0; i < n; i++) {
        if (sizes[i] > total / (n - i)) {
            return total / (n - i);
        }
        total -= sizes[i];
    }
    return SIZE_MAX;
}

static size_t least_of(const etp_block *b, size_t bytes)
{
    size_t rows = b->kind == ETP_BLOCK_TABLE ? b->table->rows.n : 0;
    // By the mean row; two more stand for caption and header.
    return rows > LEAST_ROWS ? bytes / (rows + 2) * (LEAST_ROWS + 2) : bytes;
}

// Headings always stay. What is small is kept first, so that the answer keeps as many of its
// sections as there is room for, each with the begin of its tables; what is left then lengthens
// tables.
static void cut(const etp_report *r, const size_t *sizes, const span *s, size_t most, order *list,
                size_t *rows)
{
    size_t n = 0, used = 0;
    for (size_t i = s->from; i < s->to; i++) {
        const etp_block *b = &r->blocks.items[i];
        list[n++] = (order){i, b->kind == ETP_BLOCK_SECTION ? 0 : least_of(b, sizes[i]), sizes[i]};
    }
    qsort(list, n, sizeof *list, by_least);
    for (size_t k = 0; k < n; k++) {
        if (list[k].least > most - used) {
            rows[list[k].block] = 0;
            continue;
        }
        used += list[k].least;
    }
    for (size_t k = 0; k < n; k++) { // what is left, to the tables
        const etp_block *b = &r->blocks.items[list[k].block];
        if (rows[list[k].block] == 0 || list[k].least == list[k].bytes ||
            b->kind == ETP_BLOCK_SECTION) {
            continue;
        }
        size_t more = list[k].bytes - list[k].least;
        if (more <= most - used) {
            used += more;
        } else {
            size_t row = list[k].bytes / (b->table->rows.n + 2) + 1;
            rows[list[k].block] = LEAST_ROWS + (most - used) / row;
            used = most;
        }
    }
}

static void choose_drawers(const spans *drawers, size_t *scratch, size_t *rows,
                           etp_html_budget *out)
{
    size_t groups = 0;
    for (size_t i = 0; i < drawers->n; i++) {
        groups = drawers->items[i].group + 1;
        scratch[groups - 1] = 0;
    }
    for (size_t i = 0; i < drawers->n; i++) {
        scratch[drawers->items[i].group] += drawers->items[i].bytes;
    }
    size_t most = share(scratch, groups, ETP_HTML_DRAWER_BYTES), used = 0;
    out->drawers = drawers->n;
    for (size_t i = 0; i < drawers->n; i++) {
        const span *s = &drawers->items[i];
        used = i && s->group == s[-1].group ? used : 0;
        if (s->bytes <= most - used) { // the longest operators come first
            used += s->bytes;
            continue;
        }
        out->drawers_left++;
        for (size_t k = s->from; k < s->to; k++) {
            rows[k] = 0;
        }
    }
}

void etp_html_choose(const etp_report *r, const size_t *sizes, etp_arena *arena,
                     etp_html_budget *out)
{
    size_t n = r->blocks.n;
    spans answers = {ETP_NEW_ARRAY(arena, span, n + 1), 0},
          drawers = {ETP_NEW_ARRAY(arena, span, n + 1), 0};
    order *list = ETP_NEW_ARRAY(arena, order, n + 1);
    size_t *rows = ETP_NEW_ARRAY(arena, size_t, n + 1),
           *scratch = ETP_NEW_ARRAY(arena, size_t, n + 1);
    for (size_t i = 0; i < n; i++) {
        rows[i] = SIZE_MAX;
    }
    // The answers, which are parts or tabs (within a tab parts do not count), and the drawers,
    // which stand behind them. Drawers of one scope follow each other, so a new scope begins a new
    // group.
    size_t tab = 0, groups = 0;
    span *open = NULL;
    for (size_t i = 0; i < n; i++) {
        const etp_block *b = &r->blocks.items[i];
        bool section = b->kind == ETP_BLOCK_SECTION;
        if (b->kind == ETP_BLOCK_DRAWER) {
            const span *last = drawers.n ? &drawers.items[drawers.n - 1] : NULL;
            groups += !last || !etp_str_eq(r->blocks.items[last->from].scope, b->scope);
            open = &drawers.items[drawers.n++];
            *open = (span){.from = i, .group = groups - 1};
        } else if ((b->tab && b->tab != tab) || (!b->tab && b->part && section)) {
            open = &answers.items[answers.n++];
            *open = (span){.from = i};
        } else if ((section && b->level == 1 && !b->tab) ||
                   (section && open && r->blocks.items[open->from].kind == ETP_BLOCK_DRAWER)) {
            open = NULL;
        }
        tab = b->tab;
        if (open) {
            open->to = i + 1;
            open->bytes += sizes[i];
        }
    }
    *out = (etp_html_budget){.rows = rows, .answers = answers.n};
    if (answers.n < 2) {
        return;
    }
    for (size_t i = 0; i < answers.n; i++) {
        scratch[i] = answers.items[i].bytes;
    }
    size_t most = share(scratch, answers.n, ETP_HTML_ANSWER_BYTES);
    for (size_t i = 0; i < answers.n; i++) {
        if (answers.items[i].bytes > most) {
            cut(r, sizes, &answers.items[i], most, list, rows);
        }
    }
    choose_drawers(&drawers, scratch, rows, out);
}
