// SPDX-License-Identifier: Apache-2.0
// Operators of one dump: the answer.
#include "inspect/ops.h"

#include <math.h>

#include "base/guard.h"

const etp_trace_block *etp_ops_block(const etp_ops_answer *a, const etp_op_row *row)
{
    return etp_trace_block_at(a->trace, row->block);
}

const etp_trace_event *etp_ops_event(const etp_ops_answer *a, const etp_op_row *row)
{
    return &etp_ops_block(a, row)->events[row->event];
}

// A program that fits no block with operators is another one's. Blocks without operators (loading)
// fit none.
static etp_status need_a_fit(const etp_ops_answer *a, etp_error *err)
{
    const char *why = NULL;
    for (size_t i = 0; i < a->table.n_rows; i++) {
        const etp_join *join = &a->joins[a->table.rows[i].block];
        if (join->method != ETP_NO_INDEX) {
            return ETP_OK;
        }
        why = ETP_OR(why, join->reason);
    }
    return why ? etp_join_refuse(a->dump, why, err) : ETP_OK;
}

// Rows of the table know their block and event, and joins are per block: facts, confidence and
// sources are turned into one value for each row here, so that the document can index them alike.
static etp_status join_program(etp_ops_answer *a, const etp_etrecord *record, etp_arena *arena,
                               etp_error *err)
{
    size_t n_blocks = etp_trace_block_count(a->trace);
    etp_source *sources = ETP_NEW_ARRAY(arena, etp_source, a->table.n_rows);
    etp_join *joins = ETP_NEW_ARRAY(arena, etp_join, n_blocks);
    a->facts = ETP_NEW_ARRAY(arena, etp_op_facts, a->table.n_rows);
    for (size_t i = 0; i < n_blocks; i++) {
        ETP_TRY(etp_join_block(a->program, etp_trace_block_at(a->trace, i), arena, &joins[i], err));
    }
    a->joins = joins;
    ETP_TRY(need_a_fit(a, err));
    if (record) {
        etp_record_belongs(a->program, record, arena, &a->record);
        ETP_TRY(etp_belonging_need(&a->record, err));
    }
    for (size_t i = 0; i < a->table.n_rows; i++) {
        const etp_op_row *row = &a->table.rows[i];
        etp_join_facts(a->program, &joins[row->block], row->event, &a->facts[i]);
        a->names[i].category = etp_op_facts_category(&a->names[i], &a->facts[i]);
        a->confidence[i] =
            joins[row->block].events[row->event].confidence * joins[row->block].identity;
        if (!etp_join_source(a->program, &joins[row->block], row->event, record, &sources[i])) {
            sources[i] = (etp_source){0};
        } else if (record) {
            a->confidence[i] *= etp_belonging_share(&a->record);
        }
    }
    a->sources = sources;
    return ETP_OK;
}

static etp_status build(const etp_etrecord *record, etp_arena *arena, etp_ops_answer *out,
                        etp_error *err)
{
    ETP_TRY(etp_ops_compute(out->trace, arena, &out->table, err));
    out->names = ETP_NEW_ARRAY(arena, etp_op_name, out->table.n_rows);
    out->confidence = ETP_NEW_ARRAY(arena, double, out->table.n_rows);
    for (size_t i = 0; i < out->table.n_rows; i++) {
        etp_op_parse(etp_ops_event(out, &out->table.rows[i])->name, &out->names[i]);
        out->confidence[i] = NAN;
    }
    return out->program ? join_program(out, record, arena, err) : ETP_OK;
}

etp_status etp_ops_unnumbered(const etp_trace *trace, const etp_program *program,
                              const etp_etrecord *record, const char *dump, etp_arena *arena,
                              etp_ops_answer *out, etp_error *err)
{
    *out = (etp_ops_answer){
        .dump = dump, .trace = trace, .program = program, .cycles = etp_trace_counts_cycles(trace)};
    ETP_GUARDED(arena, err, "operators", build(record, arena, out, err));
}

// Rows of the document can read members without asking whether there is a program: unknown is
// unknown, for whatever reason.
const etp_op_facts *etp_ops_facts(const etp_ops_answer *a, size_t row)
{
    static const etp_op_facts k_none = {.weight_bytes = ETP_BYTES_UNKNOWN, .debug_handle = -1};
    return a->facts ? &a->facts[row] : &k_none;
}

size_t etp_ops_populations(const etp_trace *trace)
{
    return etp_trace_block_count(trace) ? etp_trace_block_at(trace, 0)->n_populations : 0;
}

const char *etp_ops_doubt(const etp_ops_answer *a)
{
    const char *doubt = NULL;
    for (size_t i = 0; a->joins && !doubt && i < etp_trace_block_count(a->trace); i++) {
        doubt = a->joins[i].doubt;
    }
    return doubt;
}

bool etp_ops_is_bound(const etp_ops_answer *a)
{
    bool bound = false;
    for (size_t i = 0; !bound && a->facts && i < a->table.n_rows; i++) {
        bound = a->facts[i].work.known && a->facts[i].work.bound;
    }
    return bound;
}

double etp_ops_execute_ns(const etp_trace_block *b)
{
    return b->has_execute ? (double)etp_trace_total_ns(b, b->execute) : 0;
}
