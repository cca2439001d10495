// SPDX-License-Identifier: Apache-2.0
// What is shown of a method's planned memory: how much is in use when, and who holds the most.
#include <inttypes.h>
#include <stdlib.h>

#include "base/number.h"
#include "inspect/inspect.h"

enum { MOST_ROWS = 20 };

// Where nothing has a size, shares are 0.
static double of_the_most(const etp_inspect_planned *p, uint64_t bytes)
{
    return p->live[p->peak] ? (double)bytes / (double)p->live[p->peak] : 0.0;
}

// "12 aten::mean.out"
static const char *instruction_text(const etp_method *m, uint32_t at, etp_arena *arena)
{
    etp_str op = m->instructions[at].op;
    return etp_arena_printf(arena, "%" PRIu32 " %.*s", at, op.len ? (int)op.len : 5,
                            op.len ? op.ptr : "moves");
}

// As many rows as fit a screen: each is the instruction that has most in use of as many in turn.
static void in_use_table(const etp_method *m, const etp_inspect_planned *p, etp_report *r,
                         etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "instruction", .title = "memory in use at"},
        {.key = "bytes", .title = "size", .kind = ETP_KIND_BYTES},
        {.key = "share", .title = "of the most", .kind = ETP_KIND_PERCENT, .flags = ETP_COL_BAR},
    };
    const char *id = etp_arena_printf(arena, "in-use-%" PRIu32, m->index);
    etp_table *t = etp_report_table(r, id, NULL, k_columns, 3);
    const uint32_t n = (uint32_t)p->n_live, step = (n + MOST_ROWS - 1) / MOST_ROWS;
    for (uint32_t from = 0; from < n; from += step) {
        uint32_t most = from;
        for (uint32_t at = from; at < n && at < from + step; at++) {
            most = p->live[at] > p->live[most] ? at : most;
        }
        ETP_ROW(t, etp_cell_z(instruction_text(m, most, arena)), etp_cell_u64(p->live[most]),
                etp_cell_double(of_the_most(p, p->live[most])));
    }
}

static int by_bytes(const void *a, const void *b)
{
    const etp_inspect_buffer *x = *(const etp_inspect_buffer *const *)a,
                             *y = *(const etp_inspect_buffer *const *)b;
    if (x->bytes != y->bytes) {
        return x->bytes < y->bytes ? 1 : -1;
    }
    return (x->value->id > y->value->id) - (x->value->id < y->value->id);
}

static void held_table(const etp_method *m, const etp_inspect_planned *p, etp_report *r,
                       etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "shape", .title = "held at the most"},
        {.key = "bytes", .title = "size", .kind = ETP_KIND_BYTES},
        {.key = "share", .title = "share", .kind = ETP_KIND_PERCENT, .flags = ETP_COL_BAR},
        {.key = "from", .title = "from"},
        {.key = "to", .title = "to"},
    };
    const char *id = etp_arena_printf(arena, "held-%" PRIu32, m->index);
    etp_table *t = etp_report_table(r, id, NULL, k_columns, 5);
    etp_table_limit(t, 8);
    const etp_inspect_buffer **held =
        ETP_NEW_ARRAY(arena, const etp_inspect_buffer *, p->n_buffers);
    size_t n = 0;
    for (size_t i = 0; held && i < p->n_buffers; i++) {
        if (p->buffers[i].first <= p->peak && p->peak <= p->buffers[i].last) {
            held[n++] = &p->buffers[i];
        }
    }
    if (n > 1) {
        qsort(held, n, sizeof *held, by_bytes);
    }
    for (size_t i = 0; i < n; i++) {
        const etp_inspect_buffer *b = held[i];
        char shape[ETP_SHAPE_CHARS];
        const char *from = instruction_text(m, b->first, arena);
        const char *to = instruction_text(m, b->last, arena);
        if (b->kept) {
            from = "an earlier call";
            to = "the next call";
        } else {
            from = b->given ? "input" : from;
            to = b->handed ? "output" : to;
        }
        ETP_ROW(t, etp_cell_z(etp_shape_text(b->value, shape)), etp_cell_u64(b->bytes),
                etp_cell_double(of_the_most(p, b->bytes)), etp_cell_z(from), etp_cell_z(to));
    }
}

void etp_inspect_planned_report(const etp_method *m, const etp_inspect_planned *p, etp_keys *keys,
                                etp_report *r, etp_arena *arena)
{
    if (p->untold) {
        etp_keys_add(keys, ETP_PLAIN, "in use", "not known: %s", p->untold);
    }
    if (p->kept_bytes > 0) {
        etp_keys_add(keys, ETP_PLAIN, "kept", "%s from call to call", ETP_BYTES(p->kept_bytes));
    }
    if (p->n_live > 0) {
        etp_keys_add(keys, ETP_PLAIN, "in use", "at most %s, at instruction %s",
                     ETP_BYTES(p->live[p->peak]), instruction_text(m, p->peak, arena));
        in_use_table(m, p, r, arena);
        held_table(m, p, r, arena);
    }
}
