// SPDX-License-Identifier: Apache-2.0
// Which events of executions are one row of a profile.
#include "explain/profile_rows.h"

#include <stdlib.h>

#include "base/choice.h"
#include "base/guard.h"
#include "trace/ops.h"

typedef struct key_query {
    const etp_row_key_entry *keys;
    etp_row_key key;
} key_query;

static bool same_key(const void *ctx, uint32_t position)
{
    const key_query *q = ctx;
    const etp_row_key *k = &q->keys[position].key;
    return k->event == q->key.event && k->kind == q->key.kind && k->chain == q->key.chain &&
           k->instruction == q->key.instruction && etp_str_eq(k->name, q->key.name);
}

const char *etp_row_kind_name(etp_row_kind kind)
{
    static const char *const k_names[] = {"operator",  "inserted", "vanished",
                                          "one_sided", "portable", "boundary",
                                          "framework", "tracer",   "unexplained"};
    return k_names[kind];
}

etp_row_kind etp_row_kind_of(const etp_trace_event *e)
{
    switch (e->kind) {
    case ETP_EVENT_DELEGATE_OP: // of spans in each other, those that hold others are what is around
        return e->leaf ? ETP_ROW_OPERATOR : ETP_ROW_BOUNDARY;
    case ETP_EVENT_NATIVE_CALL:
        return ETP_ROW_PORTABLE;
    case ETP_EVENT_OPERATOR_CALL:
        return e->leaf ? ETP_ROW_PORTABLE : ETP_ROW_FRAMEWORK;
    case ETP_EVENT_DELEGATE_CALL: // a call of which nothing is known but its time is all operator
        return e->leaf ? ETP_ROW_OPERATOR : ETP_ROW_BOUNDARY;
    case ETP_EVENT_EXECUTE:
    case ETP_EVENT_CONTROL:
        return ETP_ROW_FRAMEWORK;
    case ETP_EVENT_LOAD:
    case ETP_EVENT_OTHER:
    case ETP_EVENT_APART:
        break;
    }
    return ETP_ROW_UNEXPLAINED;
}

static uint32_t new_row(etp_row_maker *b, const etp_trace_event *e, uint32_t occurrence)
{
    bool silent = etp_ops_is_silent(e);
    etp_profile_row row = {
        .name = silent ? etp_ops_unlogged((etp_str){0}, b->arena) : e->name,
        .kernel = e->kernel,
        .event = e->kind,
        .kind = etp_row_kind_of(e),
        .delegated = e->delegated || silent,
        .silent = silent,
        .chain = e->chain,
        .instruction = e->instruction,
        .occurrence = occurrence,
        .call = ETP_NO_INDEX,
        .whole_us = true,
        .per_dump_ns = ETP_NEW_ARRAY(b->arena, int64_t, b->n_dumps),
        .per_dump_all_ns = ETP_NEW_ARRAY(b->arena, int64_t, b->n_dumps),
        .per_dump_typical_ns = ETP_NEW_ARRAY(b->arena, double, b->n_dumps),
    };
    etp_op_parse(row.name, &row.parsed);
    ETP_ADD(b->arena, &b->rows, row);
    ETP_ADD(b->scratch, &b->next, ETP_NO_INDEX);
    return (uint32_t)(b->rows.n - 1);
}

// The row of event E, which may be the n-th of its key in this block.
static uint32_t row_of(etp_row_maker *b, const etp_trace_event *e)
{
    key_query q = {
        b->keys.items, {e->kind, etp_row_kind_of(e), e->chain, e->instruction, e->name}
    };
    int32_t head[4] = {(int32_t)q.key.event, (int32_t)q.key.kind, e->chain, e->instruction};
    uint64_t hash = etp_hash_bytes(ETP_HASH_START, head, sizeof head);
    hash = etp_hash_bytes(hash, e->name.ptr, e->name.len);
    uint32_t at = etp_index_find(&b->index, hash, same_key, &q);
    if (at == ETP_NO_INDEX) {
        etp_row_key_entry entry = {
            .key = q.key, .first_row = new_row(b, e, 0), .cursor_block = b->block_serial};
        entry.cursor = entry.first_row;
        ETP_ADD(b->scratch, &b->keys, entry);
        etp_index_insert(&b->index, b->scratch, hash, (uint32_t)(b->keys.n - 1));
        return entry.cursor;
    }
    etp_row_key_entry *entry = &b->keys.items[at];
    if (entry->cursor_block != b->block_serial) {
        entry->cursor_block = b->block_serial;
        entry->cursor = entry->first_row;
    } else if (b->next.items[entry->cursor] != ETP_NO_INDEX) {
        entry->cursor = b->next.items[entry->cursor];
    } else {
        uint32_t fresh = new_row(b, e, b->rows.items[entry->cursor].occurrence + 1);
        b->next.items[entry->cursor] = fresh;
        entry->cursor = fresh;
    }
    return entry->cursor;
}

uint32_t *etp_rows_of_block(etp_row_maker *b, const etp_trace_block *block, uint32_t dump,
                            uint32_t index)
{
    uint32_t *rows = ETP_NEW_ARRAY(b->scratch, uint32_t, block->n_events);
    bool *inside = ETP_NEW_ARRAY(b->scratch, bool, block->n_events);
    b->block_serial++;
    // Parents follow their parts in file order, so one backward pass tells what is inside.
    for (uint32_t e = (uint32_t)block->n_events; e-- > 0;) {
        uint32_t parent = block->events[e].parent;
        inside[e] = e == block->execute || (parent != ETP_NO_INDEX && inside[parent]);
    }
    for (uint32_t e = 0; e < block->n_events; e++) {
        rows[e] = inside[e] ? row_of(b, &block->events[e]) : ETP_NO_INDEX;
        if (inside[e]) {
            etp_profile_place place = {dump, index, e};
            ETP_ADD(b->arena, &b->rows.items[rows[e]].places, place);
        }
    }
    for (uint32_t e = 0; e < block->n_events; e++) {
        uint32_t call = block->events[e].call;
        if (inside[e] && call != ETP_NO_INDEX) {
            b->rows.items[rows[e]].call = rows[call];
        }
    }
    return rows;
}

int etp_profile_by_place(const etp_profile_row *a, const etp_profile_row *b)
{
    return etp_order_then(ETP_ORDER(a->chain, b->chain), ETP_ORDER(a->instruction, b->instruction));
}

static int by_place_then_order(const void *pa, const void *pb)
{
    const etp_profile_row *const *a = pa, *const *b = pb;
    int c = etp_profile_by_place(*a, *b);
    return etp_order_then(c, ETP_ORDER(*a, *b)); // both are of one array
}

size_t etp_profile_operators(const etp_profile *p, etp_arena *arena, uint32_t *out)
{
    const etp_profile_row **order = ETP_NEW_ARRAY(arena, const etp_profile_row *, p->n_rows);
    size_t n = 0;
    for (size_t i = 0; i < p->n_rows; i++) {
        if (etp_row_is_operator(p->rows[i].kind)) {
            order[n++] = &p->rows[i];
        }
    }
    qsort(order, n, sizeof *order, by_place_then_order);
    for (size_t i = 0; i < n; i++) {
        out[i] = (uint32_t)(order[i] - p->rows);
    }
    return n;
}
