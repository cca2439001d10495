// SPDX-License-Identifier: Apache-2.0
// Rows of a bare dump: one session of one arm. Its times are traced ones.
#include <stdio.h>

#include <etprof/etdump.h>
#include <etprof/operators.h>

#include "convert/fleet_source.h"
#include "trace/ops.h"

typedef struct dump { // a source and the run that its dump stands for
    etp_run run;
    etp_run_arm arm;
    etp_run_model model;
    etp_fleet_rows_of rows;
    const etp_trace *trace;
    etp_op_table ops;
    uint64_t executions;
    etp_dump_memory *memory;
} dump;

// The clock's value when execution RUN of BLOCK began; 0 when the file does not tell.
static uint64_t start_of(const dump *d, const etp_trace_block *block, size_t run)
{
    const etp_etdump *file = etp_trace_dump(d->trace);
    if (!file || block->runs[run] >= file->n_runs) {
        return 0;
    }
    etp_etdump_run r = etp_etdump_run_at(file, block->runs[run]);
    for (size_t i = r.n_events; i-- > 0;) { // it is written when it ends, after all others
        etp_etdump_profile p;
        if (etp_etdump_profile_of(etp_etdump_event_at(&r, i), &p) &&
            etp_str_eqz(p.name, "Method::execute")) {
            return p.start;
        }
    }
    return 0;
}

// ---- operators: the same names in dump after dump ----

// A fleet has thousands of dumps of the same operators. What a name's category is, and where its
// texts stand in the batch at work, is kept from dump to dump; a new batch makes the places void.
typedef struct etp_dump_text { // where a text is among its column's
    uint32_t batch, at;        // in which batch that was, of etp_kept_rows.made; 0: in none
} etp_dump_text;

typedef struct etp_dump_name {
    etp_str name;
    const char *category, *five;
    uint32_t batch; // in which the places below are
    struct {
        uint32_t label, category, five, names;
    } at;
} etp_dump_name;

void etp_dump_memory_dispose(etp_dump_memory *memory)
{
    etp_arena_dispose(&memory->arena);
    *memory = (etp_dump_memory){0};
}

typedef struct name_key {
    const etp_dump_memory *memory;
    etp_str name;
} name_key;

static bool same_name(const void *ctx, uint32_t position)
{
    const name_key *k = ctx;
    return etp_str_eq(k->memory->names.items[position].name, k->name);
}

// NULL: out of memory.
static etp_dump_name *remembered(etp_dump_memory *m, etp_str name)
{
    const name_key key = {m, name};
    uint64_t hash = etp_hash_bytes(ETP_HASH_START, name.ptr, name.len);
    uint32_t at = etp_index_find(&m->index, hash, same_name, &key);
    if (at == ETP_NO_INDEX) {
        etp_category category = etp_op_category(name);
        char *copy = etp_arena_strdup(&m->arena, name);
        const etp_dump_name made = {
            .name = {copy, name.len},
            .category = etp_category_name(category),
            .five = etp_kit_category_name(etp_kit_category_of(category)),
        };
        at = (uint32_t)m->names.n;
        if (!copy || !ETP_PUSH(&m->arena, &m->names, made) ||
            !etp_index_insert(&m->index, &m->arena, hash, at)) {
            return NULL;
        }
    }
    return &m->names.items[at];
}

// Gives the text's place.
static uint32_t put_text(etp_batch *b, etp_str s)
{
    etp_batch_text(b, s);
    return b->columns[b->at - 1].last;
}

static void put_id(dump *d, const etp_op_row *row, uint32_t batch, etp_batch *b)
{
    etp_dump_memory *m = d->memory;
    while (row->block == 0 && m->ids.n <= row->event) {
        if (!ETP_PUSH(&m->arena, &m->ids, (etp_dump_text){0})) {
            break; // it is looked up then
        }
    }
    etp_dump_text *known =
        row->block == 0 && row->event < m->ids.n ? &m->ids.items[row->event] : NULL;
    if (known && known->batch == batch) {
        etp_batch_text_at(b, known->at);
        return;
    }
    char id[32];
    snprintf(id, sizeof id, "%u.%u", row->block, row->event);
    uint32_t at = put_text(b, etp_str_from(id));
    if (known && !b->failed) {
        *known = (etp_dump_text){batch, at};
    }
}

static etp_status put_operator(dump *d, const etp_op_row *row, etp_kept_rows *rows, etp_error *err)
{
    etp_batch *b = etp_kept_room(&rows[ETP_FLEET_OPERATORS], err);
    if (!b) {
        return ETP_NOMEM;
    }
    const etp_trace_event *e = &etp_trace_block_at(d->trace, row->block)->events[row->event];
    uint32_t batch = rows[ETP_FLEET_OPERATORS].made;
    etp_dump_name *name = remembered(d->memory, e->name);
    ETP_NEED(name, err, "names of operators");
    etp_table_keys(&d->rows.folder, 0, b);
    put_id(d, row, batch, b);
    bool placed = name->batch == batch && e->name.len > 0;
    if (placed) {
        etp_batch_text_at(b, name->at.label);
        etp_batch_text_at(b, name->at.category);
        etp_batch_text_at(b, name->at.five);
    } else {
        etp_batch_text_if(b, e->name);
        name->at.label = b->columns[b->at - 1].last;
        name->at.category = put_text(b, etp_str_from(name->category));
        name->at.five = put_text(b, etp_str_from(name->five));
    }
    etp_batch_bool(b, etp_ops_is_delegated(e));
    etp_batch_i64_if(b, (uint64_t)e->chain, e->chain >= 0);
    etp_batch_i64_if(b, (uint64_t)e->instruction, e->instruction >= 0);
    if (placed) {
        etp_batch_text_at(b, name->at.names);
    } else {
        etp_batch_text_if(b, e->name);
        name->at.names = b->columns[b->at - 1].last;
        name->batch = b->failed ? 0 : batch;
    }
    etp_batch_i64_if(b, row->mean_ns, true);
    // What follows in the table comes from an analysis, which a dump alone has none of.
    etp_batch_rest_null(b);
    return etp_batch_end_row(b, err);
}

static etp_status put_all(dump *d, etp_kept_rows *rows, etp_error *err)
{
    ETP_TRY(etp_fleet_begin(d->rows.source, &d->run, &d->rows, err));
    d->rows.folder.rows.path = d->rows.source->path;
    ETP_TRY(etp_ops_means(d->trace, &d->rows.folder.arena, &d->ops, err));
    for (size_t k = 0; k < etp_trace_block_count(d->trace); k++) {
        const etp_trace_block *b = etp_trace_block_at(d->trace, k);
        for (size_t i = 0; b->has_execute && i < b->n_runs; i++) {
            const etp_run_sample s = {
                // A dump is one process, which is one launch of one block.
                .block = 1,
                .launch = 1,
                .iteration = (uint32_t)d->executions++,
                .phase = ETP_PHASE_TRACED,
                .start_ns = start_of(d, b, i),
                .duration_ns = etp_trace_durations(b, b->execute)[i],
            };
            etp_batch *batch = etp_kept_room(&rows[ETP_FLEET_SAMPLES], err);
            ETP_TRY(batch ? etp_table_put_sample(&d->rows.folder, &s, batch, err) : ETP_NOMEM);
        }
    }
    for (size_t i = 0; i < d->ops.n_rows; i++) {
        ETP_TRY(put_operator(d, &d->ops.rows[i], rows, err));
    }
    etp_batch *j = etp_kept_room(&rows[ETP_FLEET_SESSIONS], err);
    if (!j) {
        return ETP_NOMEM;
    }
    etp_table_session_keys(&d->rows.folder, j);
    etp_batch_text(j, etp_str_from(d->rows.source->kind));
    for (int i = 0; i < 7; i++) { // state to grade_reason: a dump tells nothing of them
        etp_batch_null(j);
    }
    etp_batch_i64(j, 1);
    etp_batch_i64(j, 1);
    etp_batch_rest_null(j);
    ETP_TRY(etp_batch_end_row(j, err));
    j = etp_kept_room(&rows[ETP_FLEET_ARMS], err);
    if (!j) {
        return ETP_NOMEM;
    }
    uint64_t whole = d->ops.execute_ns > 0 ? (uint64_t)d->ops.execute_ns : 0;
    etp_table_keys(&d->rows.folder, 0, j);
    etp_batch_bool(j, true);
    etp_batch_i64(j, 1);
    etp_batch_i64(j, (int64_t)d->executions);
    etp_batch_null(j);
    etp_batch_i64_if(j, d->ops.executions > 0 ? whole / d->ops.executions : 0,
                     d->ops.executions > 0);
    etp_batch_rest_null(j);
    return etp_batch_end_row(j, err);
}

etp_status etp_fleet_put_dump(etp_kept_rows *rows, etp_dump_memory *memory,
                              const etp_fleet_source *source, const etp_trace *trace,
                              etp_error *err)
{
    dump d = {.trace = trace, .rows = {.source = source}, .memory = memory};
    // A dump has no manifest. Rows are written from one all the same, so it gets one of a single
    // model and arm, named by the folders of its path, else by the file.
    const etp_source_labels *labels = &source->labels;
    d.arm = (etp_run_arm){
        .name = labels->experiment.len > 0 ? labels->experiment : labels->stem,
        .level = labels->level,
        .threads = labels->threads,
    };
    d.model = (etp_run_model){.stem = labels->model.len > 0 ? labels->model : labels->stem};
    d.run = (etp_run){.state = ETP_RUN_FINISHED};
    d.run.arms.items = &d.arm;
    d.run.models.items = &d.model;
    d.run.arms.n = d.run.models.n = 1;
    etp_status status = put_all(&d, rows, err);
    etp_fleet_end(&d.rows);
    return status;
}
