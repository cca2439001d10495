// SPDX-License-Identifier: Apache-2.0
// Matching of operator rows: longest common subsequence by key inside each instruction.
#include "explain/align.h"
#include "base/choice.h"
#include "base/guard.h"
#include "base/index.h"
#include "explain/nodes.h"

#define MAX_CELLS ((size_t)4 << 20) // of one subsequence table; larger ones are matched in order

typedef struct op_list { // operator rows of one profile, by instruction, then file order
    const etp_profile *profile;
    uint32_t *rows;
    uint32_t *instruction; // of each row, counted up from 0
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
    bool joined;               // both profiles to one program
    bool counted;              // one side's instructions are counted, not read: compare counts
} aligner;

static const etp_profile_row *row_at(const op_list *list, size_t i)
{
    return &list->profile->rows[list->rows[i]];
}

static void list_operators(const etp_profile *p, etp_arena *scratch, op_list *out)
{
    *out = (op_list){.profile = p, .rows = ETP_NEW_ARRAY(scratch, uint32_t, p->n_rows)};
    out->n = etp_profile_operators(p, scratch, out->rows);
    out->instruction = ETP_NEW_ARRAY(scratch, uint32_t, out->n);
    for (size_t i = 1; i < out->n; i++) {
        bool next = etp_profile_by_place(row_at(out, i), row_at(out, i - 1)) != 0;
        out->instruction[i] = out->instruction[i - 1] + next;
    }
}

static span next_instruction(const op_list *list, size_t from)
{
    span s = {from, from};
    while (s.to < list->n && list->instruction[s.to] == list->instruction[from]) {
        s.to++;
    }
    return s;
}

static void push(aligner *a, uint32_t baseline, uint32_t candidate, double confidence)
{
    ETP_ADD(a->arena, a->out,
            ((etp_aligned_pair){baseline, candidate, confidence, ETP_NO_INDEX, false}));
}

// What the program says of a row; NULL when the arms are not joined to one and the same program.
static const etp_row_facts *facts_of(const aligner *a, const op_list *list,
                                     const etp_profile_row *row)
{
    return a->joined ? &list->profile->facts->rows[row - list->profile->rows] : NULL;
}

static bool share_node(const etp_row_facts *x, const etp_row_facts *y)
{
    uint32_t i = 0, j = 0;
    while (i < x->n_nodes && j < y->n_nodes) {
        if (x->nodes[i] == y->nodes[j]) {
            return true;
        }
        if (x->nodes[i] < y->nodes[j]) {
            i++;
        } else {
            j++;
        }
    }
    return false;
}

static bool same_nodes(const etp_row_facts *x, const etp_row_facts *y)
{
    bool same = x->n_nodes == y->n_nodes;
    for (uint32_t i = 0; same && i < x->n_nodes; i++) {
        same = x->nodes[i] == y->nodes[i];
    }
    return same;
}

static bool same_place(const etp_profile_row *x, const etp_profile_row *y)
{
    return etp_profile_by_place(x, y) == 0 && x->occurrence == y->occurrence;
}

// How well two rows fit: 0 not at all; more when also the kind of kernel and the counter agree,
// most when they did the same nodes of the program.
static uint32_t fit(const aligner *a, const etp_profile_row *x, const etp_profile_row *y)
{
    const etp_row_facts *fx = facts_of(a, &a->base, x), *fy = facts_of(a, &a->cand, y);
    if (fx && fx->n_nodes > 0 && fy->n_nodes > 0) {
        if (!same_place(x, y) || !share_node(fx, fy)) {
            return 0;
        }
        // Of several that share nodes the pair is the one whose names agree too.
        return 100u + etp_op_same_key(&x->parsed, &y->parsed) * 50u + same_nodes(fx, fy) * 20u;
    }
    if (fx && fx->inserted != fy->inserted && (fx->n_nodes > 0 || fy->n_nodes > 0)) {
        return 0;
    }
    if (x->kind != y->kind || !etp_op_same_key(&x->parsed, &y->parsed)) {
        return 0;
    }
    return 4u + etp_str_eq(x->parsed.ukernel, y->parsed.ukernel) +
           (x->parsed.counter == y->parsed.counter);
}

typedef struct key_counts { // how often each key occurs in two spans
    etp_index index;
    struct key_count {
        const etp_op_name *op;
        size_t n[2];
    } *items;
    size_t n, cap;
} key_counts;

typedef struct key_of {
    const key_counts *counts;
    const etp_op_name *op;
} key_of;

static bool same_key(const void *ctx, uint32_t position)
{
    const key_of *key = ctx;
    return etp_op_same_key(key->counts->items[position].op, key->op);
}

static uint64_t hash_of(const etp_op_name *op)
{
    char text[256];
    size_t n = etp_op_key(op, text, sizeof text);
    return etp_hash_bytes(ETP_HASH_START, text, n < sizeof text ? n : sizeof text - 1);
}

static void count_keys(key_counts *counts, const op_list *list, span s, int side,
                       etp_arena *scratch)
{
    for (size_t i = s.from; i < s.to; i++) {
        const key_of key = {counts, &row_at(list, i)->parsed};
        uint64_t hash = hash_of(key.op);
        uint32_t at = etp_index_find(&counts->index, hash, same_key, &key);
        if (at == ETP_NO_INDEX) {
            at = (uint32_t)counts->n;
            ETP_ADD(scratch, counts, ((struct key_count){.op = key.op}));
            etp_index_insert(&counts->index, scratch, hash, at);
        }
        counts->items[at].n[side]++;
    }
}

static double confidence_of(const aligner *a, const key_counts *counts, const etp_profile_row *row,
                            const etp_profile_row *other)
{
    const etp_row_facts *fx = facts_of(a, &a->base, row), *fy = facts_of(a, &a->cand, other);
    if (fx && fx->n_nodes > 0 && fy->n_nodes > 0) {
        double least = ETP_MIN(fx->confidence, fy->confidence);
        return same_nodes(fx, fy) ? least : least * 0.95;
    }
    // Where a key is more frequent on one side, the odd one out may be any of them.
    const key_of key = {counts, &row->parsed};
    const struct key_count *found =
        &counts->items[etp_index_find(&counts->index, hash_of(key.op), same_key, &key)];
    bool as_frequent = found->n[0] == found->n[1];
    return a->matched_confidence * (as_frequent ? 1.0 : 0.6);
}

static void align_spans(aligner *a, span b, span c)
{
    size_t n = b.to - b.from, m = c.to - c.from;
    uint32_t *scores = NULL;
    if (n + 1 <= MAX_CELLS / (m + 1)) {
        scores = ETP_NEW_ARRAY(&a->scratch, uint32_t, (n + 1) * (m + 1));
        // scores[i * (m + 1) + j]: best total fit of base[i…] with cand[j…].
        for (size_t i = n; i-- > 0;) {
            for (size_t j = m; j-- > 0;) {
                uint32_t *cell = &scores[i * (m + 1) + j];
                uint32_t f = fit(a, row_at(&a->base, b.from + i), row_at(&a->cand, c.from + j));
                uint32_t both = f ? f + cell[m + 2] : 0;
                uint32_t best = ETP_MAX(cell[m + 1], cell[1]);
                *cell = ETP_MAX(both, best);
            }
        }
    }
    key_counts counts = {0};
    count_keys(&counts, &a->base, b, 0, &a->scratch);
    count_keys(&counts, &a->cand, c, 1, &a->scratch);
    size_t i = 0, j = 0;
    while (i < n || j < m) {
        uint32_t base_row = i < n ? a->base.rows[b.from + i] : ETP_NO_INDEX;
        uint32_t cand_row = j < m ? a->cand.rows[c.from + j] : ETP_NO_INDEX;
        bool pair = false, drop_base = i < n;
        if (i < n && j < m) {
            const etp_profile_row *row = row_at(&a->base, b.from + i);
            uint32_t f = fit(a, row, row_at(&a->cand, c.from + j));
            const uint32_t *cell = scores ? &scores[i * (m + 1) + j] : NULL;
            pair = f && (!cell || *cell == f + cell[m + 2]);
            drop_base = !cell || *cell == cell[m + 1];
            if (pair) {
                const etp_profile_row *other = row_at(&a->cand, c.from + j);
                push(a, base_row, cand_row, confidence_of(a, &counts, row, other));
                const etp_row_facts *fx = facts_of(a, &a->base, row);
                bool kernel = fx && row->kind == ETP_ROW_PORTABLE && same_place(row, other);
                a->out->items[a->out->n - 1].by_nodes = fx && (kernel || fx->n_nodes > 0);
                i++;
                j++;
                continue;
            }
        }
        // By names alone nobody knows whether it is gone, new, or merged into a neighbour.
        double alone = a->joined ? a->matched_confidence : 0.6 * a->matched_confidence;
        push(a, drop_base ? base_row : ETP_NO_INDEX, drop_base ? ETP_NO_INDEX : cand_row, alone);
        i += drop_base;
        j += !drop_base;
    }
}

// Of counted instructions all that can be compared is what they are: a delegate, or which kernel.
static bool same_instruction(const aligner *a, const etp_profile_row *x, const etp_profile_row *y)
{
    if (!a->counted) {
        return etp_profile_by_place(x, y) == 0;
    }
    return x->kind == y->kind &&
           (x->kind == ETP_ROW_OPERATOR || etp_op_same_key(&x->parsed, &y->parsed));
}

static bool same_skeleton(const aligner *a, const op_list *x, const op_list *y)
{
    size_t i = 0, j = 0;
    while (i < x->n && j < y->n) {
        if (!same_instruction(a, row_at(x, i), row_at(y, j))) {
            return false;
        }
        i = next_instruction(x, i).to;
        j = next_instruction(y, j).to;
    }
    return i == x->n && j == y->n;
}

static void run(aligner *a, const etp_profile *baseline, const etp_profile *candidate)
{
    list_operators(baseline, &a->scratch, &a->base);
    list_operators(candidate, &a->scratch, &a->cand);
    a->counted = baseline->places_guessed || candidate->places_guessed;
    a->out->same_skeleton = same_skeleton(a, &a->base, &a->cand);
    if (!a->out->same_skeleton) { // different programs, or control flow: match the whole lists
        a->matched_confidence = 0.5;
        a->joined = false;
        align_spans(a, (span){0, a->base.n}, (span){0, a->cand.n});
        return;
    }
    // Names and order alone: what XNNPACK merged or inserted can only be guessed.
    double by_name = a->counted ? 0.8 : 0.9;
    a->matched_confidence = a->joined ? 1.0 : by_name;
    span b = {0, 0}, c = {0, 0};
    while (b.to < a->base.n) {
        b = next_instruction(&a->base, b.to);
        c = next_instruction(&a->cand, c.to);
        align_spans(a, b, c);
    }
}

// One-sided rows whose nodes another pair's operator did in the other arm become part of that
// group.
static void merge_one_sided(aligner *a, size_t from, size_t to)
{
    etp_aligned_pair *pairs = a->out->items;
    for (size_t i = from; i < to; i++) {
        bool vanished = pairs[i].candidate == ETP_NO_INDEX;
        if (!vanished && pairs[i].baseline != ETP_NO_INDEX) {
            continue;
        }
        const op_list *own = vanished ? &a->base : &a->cand,
                      *other = vanished ? &a->cand : &a->base;
        const etp_profile_row *row =
            &own->profile->rows[vanished ? pairs[i].baseline : pairs[i].candidate];
        const etp_row_facts *facts = facts_of(a, own, row);
        for (size_t k = from; facts->n_nodes > 0 && k < to; k++) {
            uint32_t there = vanished ? pairs[k].candidate : pairs[k].baseline;
            const etp_profile_row *owner =
                there == ETP_NO_INDEX ? NULL : &other->profile->rows[there];
            const etp_row_facts *owner_facts = owner ? facts_of(a, other, owner) : NULL;
            if (owner && same_place(owner, row) && share_node(owner_facts, facts)) {
                pairs[i].into = (uint32_t)k;
                pairs[i].by_nodes = true;
                pairs[i].confidence = 0.95 * ETP_MIN(facts->confidence, owner_facts->confidence);
                // Of two equal operators in a row, either may have been merged, into either
                // neighbour.
                if (etp_op_same_key(&row->parsed, &owner->parsed)) {
                    pairs[i].confidence *= 0.65;
                    pairs[k].confidence *= 0.65;
                }
                break;
            }
        }
    }
    // A one-sided row is nobody's group when it was merged itself.
    for (size_t i = from; i < to; i++) {
        if (pairs[i].into != ETP_NO_INDEX && pairs[pairs[i].into].into != ETP_NO_INDEX) {
            pairs[i].into =
                pairs[pairs[i].into].into == i ? ETP_NO_INDEX : pairs[pairs[i].into].into;
        }
    }
}

void etp_align(const etp_profile *baseline, const etp_profile *candidate, etp_arena *arena,
               etp_alignment *out)
{
    *out = (etp_alignment){0};
    aligner a = {.arena = arena, .out = out};
    a.joined = baseline->facts && candidate->facts &&
               baseline->facts->program == candidate->facts->program && !baseline->facts->problem &&
               !candidate->facts->problem;
    etp_arena_scratch(&a.scratch, arena);
    run(&a, baseline, candidate);
    size_t from = 0;
    for (size_t i = 0; a.joined && i <= a.out->n; i++) {
        const etp_aligned_pair *p = i < a.out->n ? &a.out->items[i] : NULL;
        const etp_aligned_pair *q = i > from ? &a.out->items[i - 1] : NULL;
        const etp_profile_row *x = NULL, *y = NULL;
        if (p && q) {
            x = p->baseline != ETP_NO_INDEX ? &a.base.profile->rows[p->baseline]
                                            : &a.cand.profile->rows[p->candidate];
            y = q->baseline != ETP_NO_INDEX ? &a.base.profile->rows[q->baseline]
                                            : &a.cand.profile->rows[q->candidate];
        }
        if (q && (!p || etp_profile_by_place(x, y) != 0)) {
            merge_one_sided(&a, from, i);
            from = i;
        }
    }
    etp_arena_dispose(&a.scratch);
}

static uint32_t root_of(uint32_t *parent, uint32_t row)
{
    while (parent[row] != row) {
        parent[row] = parent[parent[row]];
        row = parent[row];
    }
    return row;
}

// Later pairs whose baseline rows belong to an earlier pair's group join it.
static void follow(etp_alignment *a, uint32_t *parent, uint32_t *lead, size_t n_rows)
{
    for (size_t r = 0; r < n_rows; r++) {
        lead[r] = ETP_NO_INDEX;
    }
    for (uint32_t i = 0; i < a->n; i++) {
        etp_aligned_pair *p = &a->items[i];
        if (p->baseline != ETP_NO_INDEX && p->into == ETP_NO_INDEX) {
            uint32_t root = root_of(parent, p->baseline);
            if (lead[root] == ETP_NO_INDEX) {
                lead[root] = i;
            } else {
                p->into = lead[root];
            }
        }
    }
    for (size_t i = 0; i < a->n; i++) { // members of what has just joined
        uint32_t into = a->items[i].into;
        if (into != ETP_NO_INDEX && a->items[into].into != ETP_NO_INDEX) {
            a->items[i].into = a->items[into].into;
        }
    }
}

void etp_align_agree(etp_alignment *alignments, size_t n, size_t n_rows, etp_arena *arena)
{
    etp_arena scratch;
    etp_arena_scratch(&scratch, arena);
    uint32_t *parent = ETP_NEW_ARRAY(&scratch, uint32_t, n_rows);
    uint32_t *lead = ETP_NEW_ARRAY(&scratch, uint32_t, n_rows);
    for (uint32_t r = 0; r < n_rows; r++) {
        parent[r] = r;
    }
    for (size_t k = 0; k < n; k++) {
        for (size_t i = 0; i < alignments[k].n; i++) {
            const etp_aligned_pair *p = &alignments[k].items[i];
            const etp_aligned_pair *q =
                p->into == ETP_NO_INDEX ? NULL : &alignments[k].items[p->into];
            if (q && p->baseline != ETP_NO_INDEX && q->baseline != ETP_NO_INDEX) {
                parent[root_of(parent, p->baseline)] = root_of(parent, q->baseline);
            }
        }
    }
    for (size_t k = 0; k < n; k++) {
        follow(&alignments[k], parent, lead, n_rows);
    }
    etp_arena_dispose(&scratch);
}
