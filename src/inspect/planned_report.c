// SPDX-License-Identifier: Apache-2.0
// What is shown of a method's planned memory: how much is in use when, and who holds the most.
#include <inttypes.h>

#include "base/guard.h"
#include "base/number.h"
#include "inspect/inspect.h"

enum { MOST_ROWS = 20 };

// Where nothing has a size, shares are 0.
static double of_the_most(const etp_inspect_planned *p, uint64_t bytes)
{
    return p->live[p->peak] ? (double)bytes / (double)p->live[p->peak] : 0.0;
}

static void held_table(const etp_method *m, const etp_inspect_planned *p, etp_report *r,
                       etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "shape", .title = "held at the peak"},
        {.key = "bytes", .title = "size", .kind = ETP_KIND_BYTES},
        {.key = "share", .title = "share", .kind = ETP_KIND_PERCENT, .flags = ETP_COL_BAR},
        {.key = "from", .title = "from"},
        {.key = "to", .title = "to"},
    };
    const char *id = etp_arena_printf(arena, "held-%" PRIu32, m->index);
    etp_table *t = etp_report_table(r, id, NULL, k_columns, 5);
    etp_table_limit(t, 8);
    size_t n;
    const etp_planned **held = etp_planned_largest(p, p->peak, arena, &n);
    for (size_t i = 0; i < n; i++) {
        char shape[ETP_SHAPE_CHARS];
        ETP_ROW(t, etp_cell_z(etp_shape_text(held[i]->value, shape)), etp_cell_u64(held[i]->bytes),
                etp_cell_double(of_the_most(p, held[i]->bytes)),
                etp_cell_z(etp_planned_from(m, held[i], arena)),
                etp_cell_z(etp_planned_to(m, held[i], arena)));
    }
}

static etp_status report_plan(const etp_method *m, const etp_inspect_planned *p, etp_keys *keys,
                              etp_report *r, etp_arena *arena)
{
    if (p->untold) {
        etp_keys_add(keys, ETP_PLAIN, "in use", "not known: %s", p->untold);
    }
    if (p->kept_bytes > 0) {
        etp_keys_add(keys, ETP_PLAIN, "kept", "%s from call to call", ETP_BYTES(p->kept_bytes));
    }
    if (p->n_live == 0) {
        return ETP_OK;
    }
    etp_keys_add(keys, ETP_PLAIN, "in use", "at most %s, at instruction %s",
                 ETP_BYTES(p->live[p->peak]), etp_planned_at(m, p->peak, arena));
    // As many rows as fit a screen: each is the instruction that has most in use of as many in
    // turn.
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
        ETP_ROW(t, etp_cell_z(etp_planned_at(m, most, arena)), etp_cell_u64(p->live[most]),
                etp_cell_double(of_the_most(p, p->live[most])));
    }
    held_table(m, p, r, arena);
    return ETP_OK;
}

static etp_status guarded(const etp_method *m, const etp_inspect_planned *p, etp_keys *keys,
                          etp_report *r, etp_arena *arena, etp_error *err)
{
    ETP_GUARDED(arena, err, "planned memory", report_plan(m, p, keys, r, arena));
}

void etp_inspect_planned_report(const etp_method *m, const etp_inspect_planned *p, etp_keys *keys,
                                etp_report *r, etp_arena *arena)
{
    if (guarded(m, p, keys, r, arena, NULL) != ETP_OK) {
        return; // the report knows that its arena ran out
    }
}
