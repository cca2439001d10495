// SPDX-License-Identifier: Apache-2.0
// Operators of one dump by the numbers that they have in every answer about it.
#include <stdlib.h>

#include "base/guard.h"
#include "explain/profile_rows.h"
#include "inspect/ops.h"

static int by_place(const void *pa, const void *pb)
{
    const etp_profile_place *place = pa;
    const etp_op_row *row = pb;
    return etp_order_then(ETP_ORDER(place->block, row->block), ETP_ORDER(place->event, row->event));
}

static etp_status number(etp_ops_answer *a, etp_arena *arena)
{
    // Operators of executions that other answers are about have the numbers of those; what is left
    // (other populations, another path of a branch) counts on behind them.
    uint32_t *of_row = ETP_NEW_ARRAY(arena, uint32_t, a->table.n_rows), unlogged = 0;
    etp_row_maker maker = {.arena = arena, .scratch = arena, .n_dumps = 1};
    for (uint32_t i = 0; i < etp_trace_block_count(a->trace); i++) {
        const etp_trace_block *block = etp_trace_block_at(a->trace, i);
        if (block->has_execute && !block->rare) {
            etp_rows_of_block(&maker, block, 0, i);
        }
    }
    const etp_profile p = {.rows = maker.rows.items, .n_rows = maker.rows.n};
    uint32_t *operators = ETP_NEW_ARRAY(arena, uint32_t, p.n_rows);
    uint32_t n = (uint32_t)etp_profile_operators(&p, arena, operators);
    a->ids = ETP_NEW_ARRAY(arena, const char *, a->table.n_rows);
    for (uint32_t i = 0; i < n; i++) {
        const etp_op_row *row = bsearch(p.rows[operators[i]].places.items, a->table.rows,
                                        a->table.n_rows, sizeof *row, by_place);
        if (row) {
            of_row[row - a->table.rows] = i + 1;
        }
    }
    for (size_t i = 0; i < a->table.n_rows; i++) {
        bool rest = a->table.rows[i].rest;
        uint32_t at = of_row[i];
        if (rest) {
            at = ++unlogged;
        } else if (at == 0) {
            at = ++n;
        }
        a->ids[i] = etp_arena_printf(arena, "%s%u", rest ? "unlogged" : "op", at);
    }
    return ETP_OK;
}

etp_status etp_ops_answer_build(const etp_trace *trace, const etp_program *program,
                                const etp_etrecord *record, const char *dump, etp_arena *arena,
                                etp_ops_answer *out, etp_error *err)
{
    ETP_TRY(etp_ops_unnumbered(trace, program, record, dump, arena, out, err));
    ETP_GUARDED(arena, err, "operators", number(out, arena));
}
