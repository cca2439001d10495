// SPDX-License-Identifier: Apache-2.0
// Joining the rows of a profile to the program.
#include "explain/nodes.h"

#include <math.h>

#include "trace/ops.h"

typedef struct joined_block {
    uint32_t dump, block;
    etp_join join;
} joined_block;

typedef struct joiner {
    const etp_trace *const *traces;
    const etp_program *program;
    etp_arena *arena;
    struct {
        joined_block *items;
        size_t n, cap;
    } blocks;
} joiner;

// Rows come from few blocks: nearly all from the first.
static etp_status join_of(joiner *j, const etp_profile_row *row, const etp_join **out,
                          etp_error *err)
{
    const etp_profile_place *at = &row->places.items[0];
    for (size_t i = j->blocks.n; i-- > 0;) {
        if (j->blocks.items[i].dump == at->dump && j->blocks.items[i].block == at->block) {
            *out = &j->blocks.items[i].join;
            return ETP_OK;
        }
    }
    joined_block b = {.dump = at->dump, .block = at->block};
    ETP_TRY(etp_join_block(j->program, etp_trace_block_at(j->traces[at->dump], at->block), j->arena,
                           &b.join, err));
    ETP_ADD(j->arena, &j->blocks, b);
    *out = &j->blocks.items[j->blocks.n - 1].join;
    return ETP_OK;
}

etp_status etp_profile_join(etp_profile *profile, const etp_trace *const *traces,
                            const etp_program *program, const etp_etrecord *record,
                            etp_arena *arena, etp_error *err)
{
    joiner j = {.traces = traces, .program = program, .arena = arena};
    etp_profile_facts *facts = ETP_NEW(arena, etp_profile_facts);
    facts->program = program;
    facts->identity = 1;
    facts->rows = ETP_NEW_ARRAY(arena, etp_row_facts, profile->n_rows);
    for (uint32_t m = 0; m < program->n_methods; m++) {
        facts->any_delegate = facts->any_delegate || program->methods[m].n_partitions > 0;
    }
    if (profile->places_guessed) {
        facts->problem = "the timeline does not say which instruction an event belongs to";
    }
    for (size_t i = 0; i < profile->n_rows && !profile->places_guessed; i++) {
        etp_profile_row *row = &profile->rows[i];
        const etp_join *join = NULL;
        ETP_TRY(join_of(&j, row, &join, err));
        facts->problem = ETP_OR(facts->problem, join->reason);
        facts->differs = ETP_OR(facts->differs, join->differs);
        if (!join->reason) {
            facts->doubt = ETP_OR(facts->doubt, join->doubt);
            facts->identity = fmin(facts->identity, join->identity);
        }
        etp_row_facts *out = &facts->rows[i];
        const uint32_t event = row->places.items[0].event;
        const etp_join_event *e = &join->events[event];
        etp_join_facts(program, join, event, &out->op);
        out->confidence = e->confidence;
        out->method = join->method;
        out->nodes = e->nodes;
        out->n_nodes = e->n_nodes;
        out->inserted = e->inserted;
        out->has_source = etp_join_source(program, join, event, record, &out->source);
        if (row->silent && out->op.backend.len > 0) {
            row->name = etp_ops_unlogged(out->op.backend, arena);
            etp_op_parse(row->name, &row->parsed);
        }
        row->parsed.category = etp_op_facts_category(&row->parsed, &out->op);
    }
    profile->facts = facts;
    return ETP_OK;
}

const etp_profile_row *etp_profile_row_of(const etp_profile *p, uint32_t chain,
                                          uint32_t instruction, uint32_t node, uint32_t *out_nodes)
{
    for (size_t i = 0; p && p->facts && i < p->n_rows; i++) {
        const etp_profile_row *row = &p->rows[i];
        const etp_row_facts *facts = &p->facts->rows[i];
        bool here = row->chain == (int32_t)chain && row->instruction == (int32_t)instruction;
        *out_nodes = facts->n_nodes;
        if (here && node == ETP_NO_INDEX && row->kind == ETP_ROW_PORTABLE) {
            return row;
        }
        for (uint32_t k = 0; here && row->delegated && k < facts->n_nodes; k++) {
            if (facts->nodes[k] == node) {
                return row;
            }
        }
    }
    return NULL;
}

etp_interval etp_profile_typical(const etp_profile *p, const etp_profile_row *row, etp_arena *arena)
{
    double *x = row ? ETP_NEW_ARRAY(arena, double, p->n_dumps) : NULL;
    size_t n = 0;
    for (size_t d = 0; row && d < p->n_dumps; d++) {
        x[n] = row->per_dump_typical_ns[d];
        n += x[n] > 0;
    }
    return n ? etp_mean_interval(x, n, ETP_CONFIDENCE)
             : (etp_interval){(double)NAN, (double)NAN, (double)NAN};
}
