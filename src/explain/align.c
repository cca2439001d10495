// SPDX-License-Identifier: Apache-2.0
// Matching of operator rows: longest common subsequence by key inside each instruction.
#include "explain/align.h"

#include <stdlib.h>

#define MAX_CELLS ((size_t)4 << 20) // of one subsequence table; larger ones are matched in order

typedef struct op_list { // operator rows of one profile, by instruction, then file order
    const etp_profile *profile;
    uint32_t *rows;
    size_t n;
} op_list;

typedef struct span {
    size_t from, to; // positions in op_list.rows
} span;

typedef struct aligner {
    op_list base, cand;
    etp_arena *arena;
    etp_arena scratch;
    etp_alignment *out;
    double matched_confidence; // of a pair whose key is as frequent on both sides
} aligner;

static const etp_profile_row *row_at(const op_list *list, size_t i)
{
    return &list->profile->rows[list->rows[i]];
}

static int compare_place(const etp_profile_row *a, const etp_profile_row *b)
{
    if (a->chain != b->chain) {
        return a->chain < b->chain ? -1 : 1;
    }
    return (a->instruction > b->instruction) - (a->instruction < b->instruction);
}

typedef struct sort_item {
    const etp_profile_row *row;
    uint32_t index;
} sort_item;

static int by_place_then_order(const void *pa, const void *pb)
{
    const sort_item *a = pa, *b = pb;
    int c = compare_place(a->row, b->row);
    return c ? c : (a->index > b->index) - (a->index < b->index);
}

static bool is_operator(const etp_profile_row *row)
{
    return row->kind == ETP_ROW_OPERATOR || row->kind == ETP_ROW_PORTABLE;
}

static bool list_operators(const etp_profile *p, etp_arena *scratch, op_list *out)
{
    sort_item *items = ETP_NEW_ARRAY(scratch, sort_item, p->n_rows);
    *out = (op_list){.profile = p, .rows = ETP_NEW_ARRAY(scratch, uint32_t, p->n_rows)};
    if (!items || !out->rows) {
        return false;
    }
    for (uint32_t i = 0; i < p->n_rows; i++) {
        if (is_operator(&p->rows[i])) {
            items[out->n++] = (sort_item){&p->rows[i], i};
        }
    }
    qsort(items, out->n, sizeof *items, by_place_then_order);
    for (size_t i = 0; i < out->n; i++) {
        out->rows[i] = items[i].index;
    }
    return true;
}

static span next_instruction(const op_list *list, size_t from)
{
    span s = {from, from};
    while (s.to < list->n && compare_place(row_at(list, s.to), row_at(list, from)) == 0) {
        s.to++;
    }
    return s;
}

static bool push(aligner *a, uint32_t baseline, uint32_t candidate, double confidence)
{
    return ETP_PUSH(a->arena, a->out, ((etp_pair){baseline, candidate, confidence}));
}

// How well two rows fit: 0 not at all; more when also the kind of kernel and the counter agree.
static uint32_t fit(const etp_profile_row *x, const etp_profile_row *y)
{
    if (x->kind != y->kind || !etp_op_same_key(&x->parsed, &y->parsed)) {
        return 0;
    }
    return 4u + etp_str_eq(x->parsed.ukernel, y->parsed.ukernel) +
           (x->parsed.counter == y->parsed.counter);
}

static size_t count_key(const op_list *list, span s, const etp_op_name *op)
{
    size_t n = 0;
    for (size_t i = s.from; i < s.to; i++) {
        n += etp_op_same_key(&row_at(list, i)->parsed, op);
    }
    return n;
}

static double confidence_of(const aligner *a, span b, span c, const etp_profile_row *row)
{
    // Where a key is more frequent on one side, the odd one out may be any of them.
    bool as_frequent =
        count_key(&a->base, b, &row->parsed) == count_key(&a->cand, c, &row->parsed);
    return a->matched_confidence * (as_frequent ? 1.0 : 0.6);
}

// scores[i * (m + 1) + j]: best total fit of base[i…] with cand[j…].
static void fill_scores(const aligner *a, span b, span c, uint32_t *scores)
{
    size_t m = c.to - c.from;
    for (size_t i = b.to - b.from; i-- > 0;) {
        for (size_t j = m; j-- > 0;) {
            uint32_t *cell = &scores[i * (m + 1) + j];
            uint32_t f = fit(row_at(&a->base, b.from + i), row_at(&a->cand, c.from + j));
            uint32_t both = f ? f + cell[m + 2] : 0;
            uint32_t best = cell[m + 1] > cell[1] ? cell[m + 1] : cell[1];
            *cell = both > best ? both : best;
        }
    }
}

static bool align_spans(aligner *a, span b, span c)
{
    size_t n = b.to - b.from, m = c.to - c.from;
    uint32_t *scores = NULL;
    if (n + 1 <= MAX_CELLS / (m + 1)) {
        scores = ETP_NEW_ARRAY(&a->scratch, uint32_t, (n + 1) * (m + 1));
        if (!scores) {
            return false;
        }
        fill_scores(a, b, c, scores);
    }
    size_t i = 0, j = 0;
    while (i < n || j < m) {
        uint32_t base_row = i < n ? a->base.rows[b.from + i] : ETP_NO_INDEX;
        uint32_t cand_row = j < m ? a->cand.rows[c.from + j] : ETP_NO_INDEX;
        bool pair = false, drop_base = i < n;
        if (i < n && j < m) {
            const etp_profile_row *row = row_at(&a->base, b.from + i);
            uint32_t f = fit(row, row_at(&a->cand, c.from + j));
            const uint32_t *cell = scores ? &scores[i * (m + 1) + j] : NULL;
            pair = f && (!cell || *cell == f + cell[m + 2]);
            drop_base = !cell || *cell == cell[m + 1];
            if (pair) {
                if (!push(a, base_row, cand_row, confidence_of(a, b, c, row))) {
                    return false;
                }
                i++;
                j++;
                continue;
            }
        }
        if (!push(a, drop_base ? base_row : ETP_NO_INDEX, drop_base ? ETP_NO_INDEX : cand_row,
                  a->matched_confidence)) {
            return false;
        }
        i += drop_base;
        j += !drop_base;
    }
    return true;
}

static bool same_skeleton(const op_list *x, const op_list *y)
{
    size_t i = 0, j = 0;
    while (i < x->n && j < y->n) {
        if (compare_place(row_at(x, i), row_at(y, j)) != 0) {
            return false;
        }
        i = next_instruction(x, i).to;
        j = next_instruction(y, j).to;
    }
    return i == x->n && j == y->n;
}

static bool run(aligner *a, const etp_profile *baseline, const etp_profile *candidate)
{
    if (!list_operators(baseline, &a->scratch, &a->base) ||
        !list_operators(candidate, &a->scratch, &a->cand)) {
        return false;
    }
    a->out->same_skeleton = same_skeleton(&a->base, &a->cand);
    if (!a->out->same_skeleton) { // different programs, or control flow: match the whole lists
        a->matched_confidence = 0.5;
        return align_spans(a, (span){0, a->base.n}, (span){0, a->cand.n});
    }
    a->matched_confidence = 1.0;
    span b = {0, 0}, c = {0, 0};
    while (b.to < a->base.n) {
        b = next_instruction(&a->base, b.to);
        c = next_instruction(&a->cand, c.to);
        if (!align_spans(a, b, c)) {
            return false;
        }
    }
    return true;
}

etp_status etp_align(const etp_profile *baseline, const etp_profile *candidate, etp_arena *arena,
                     etp_alignment *out, etp_error *err)
{
    *out = (etp_alignment){0};
    aligner a = {.arena = arena, .out = out};
    bool ok = run(&a, baseline, candidate);
    etp_arena_dispose(&a.scratch);
    return ok ? ETP_OK : etp_fail_nomem(err, "alignment");
}
