// SPDX-License-Identifier: Apache-2.0
// Operators of one dump: the answer, its document and its report.
#include "inspect/ops.h"

#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/path.h"

#define MOST_OF_EXECUTE 1.01 // ticks are truncated event by event

static const etp_trace_block *block_of(const etp_ops_answer *a, const etp_op_row *row)
{
    return etp_trace_block_at(a->trace, row->block);
}

static const etp_trace_event *event_of(const etp_ops_answer *a, const etp_op_row *row)
{
    return &block_of(a, row)->events[row->event];
}

static etp_status join_program(etp_ops_answer *a, const etp_etrecord *record, etp_arena *arena,
                               etp_error *err)
{
    size_t n_blocks = etp_trace_block_count(a->trace);
    etp_source *sources = ETP_NEW_ARRAY(arena, etp_source, a->table.n_rows);
    etp_join *joins = ETP_NEW_ARRAY(arena, etp_join, n_blocks);
    a->facts = ETP_NEW_ARRAY(arena, etp_op_facts, a->table.n_rows);
    ETP_NEED(joins && a->facts && sources, err, "operators");
    for (size_t i = 0; i < n_blocks; i++) {
        ETP_TRY(etp_join_block(a->program, etp_trace_block_at(a->trace, i), arena, &joins[i], err));
    }
    a->joins = joins;
    for (size_t i = 0; i < a->table.n_rows; i++) {
        const etp_op_row *row = &a->table.rows[i];
        etp_join_facts(a->program, &joins[row->block], row->event, &a->facts[i]);
        a->names[i].category = etp_op_facts_category(&a->names[i], &a->facts[i]);
        a->confidence[i] = joins[row->block].events[row->event].confidence;
        if (!etp_join_source(a->program, &joins[row->block], row->event, record, &sources[i])) {
            sources[i] = (etp_source){0};
        }
    }
    a->sources = sources;
    return ETP_OK;
}

etp_status etp_ops_answer_build(const etp_trace *trace, const etp_program *program,
                                const etp_etrecord *record, const char *dump, etp_arena *arena,
                                etp_ops_answer *out, etp_error *err)
{
    *out = (etp_ops_answer){.dump = dump, .trace = trace, .program = program};
    ETP_TRY(etp_ops_compute(trace, arena, &out->table, err));
    out->names = ETP_NEW_ARRAY(arena, etp_op_name, out->table.n_rows);
    out->confidence = ETP_NEW_ARRAY(arena, double, out->table.n_rows);
    ETP_NEED(out->names && out->confidence, err, "operators");
    for (size_t i = 0; i < out->table.n_rows; i++) {
        etp_op_parse(event_of(out, &out->table.rows[i])->name, &out->names[i]);
        out->confidence[i] = NAN;
    }
    return program ? join_program(out, record, arena, err) : ETP_OK;
}

// ---- document ----

static void blocks_json(const etp_ops_answer *a, etp_json *j)
{
    etp_json_key(j, "blocks");
    etp_json_begin_array(j);
    for (size_t i = 0; i < etp_trace_block_count(a->trace); i++) {
        const etp_trace_block *b = etp_trace_block_at(a->trace, i);
        const etp_join *join = a->joins ? &a->joins[i] : NULL;
        etp_json_begin_object_inline(j);
        etp_json_kv_str(j, "name", b->name);
        etp_json_key(j, "method");
        if (join && join->method != ETP_NO_INDEX && !join->ambiguous) {
            etp_json_str(j, a->program->methods[join->method].name);
        } else {
            etp_json_null(j);
        }
        etp_json_kv_bool(j, "method_ambiguous", join && join->ambiguous);
        etp_json_kv_u64(j, "runs", b->n_runs);
        etp_json_end(j);
    }
    etp_json_end(j);
}

void etp_tensors_json(const etp_value *values, const uint32_t *which, uint32_t n, etp_json *j)
{
    etp_json_begin_array_inline(j);
    for (uint32_t i = 0; i < n; i++) {
        const etp_value *v = &values[which[i]];
        if (v->kind != ETP_EVALUE_TENSOR) {
            continue;
        }
        etp_json_begin_object_inline(j);
        etp_json_kv_z(j, "dtype", etp_dtype_name(v->dtype));
        etp_json_key(j, "shape");
        etp_json_begin_array_inline(j);
        for (uint32_t d = 0; d < v->rank; d++) {
            etp_json_i64(j, v->dims[d]);
        }
        etp_json_end(j);
        etp_json_end(j);
    }
    etp_json_end(j);
}

static void node_json(const etp_ops_answer *a, size_t i, etp_json *j)
{
    const etp_op_row *row = &a->table.rows[i];
    const etp_op_facts *f = a->facts ? &a->facts[i] : NULL;
    const etp_join_event *e = a->joins ? &a->joins[row->block].events[row->event] : NULL;
    etp_json_key(j, "node");
    if (e && e->node != ETP_NO_INDEX) {
        etp_json_u64(j, e->node);
    } else {
        etp_json_null(j);
    }
    etp_json_key(j, "node_type");
    if (f && f->node_type.len) {
        etp_json_str(j, f->node_type);
    } else {
        etp_json_null(j);
    }
    int64_t handle = f ? f->debug_handle : -1;
    if (handle < 0 && a->sources && a->sources[i].handle > 0) {
        handle = a->sources[i].handle; // kernels have theirs in the record only
    }
    etp_json_kv_i64_if(j, "debug_handle", handle, handle >= 0);
    etp_json_key(j, "inputs");
    etp_tensors_json(f ? f->values : NULL, f ? f->inputs : NULL, f ? f->n_inputs : 0, j);
    etp_json_key(j, "outputs");
    etp_tensors_json(f ? f->values : NULL, f ? f->outputs : NULL, f ? f->n_outputs : 0, j);
    static const char *const k_keys[] = {"weight_bytes", "macs", "bytes"};
    for (int k = 0; k < 3; k++) {
        bool known = f && (k == 0 ? f->weight_bytes != ETP_BYTES_UNKNOWN : f->work.known);
        etp_json_key(j, k_keys[k]);
        if (known) {
            etp_json_u64(j, k == 0 ? f->weight_bytes : k == 1 ? f->work.macs : f->work.bytes);
        } else {
            etp_json_null(j);
        }
    }
}

static void operator_json(const etp_ops_answer *a, size_t i, etp_json *j)
{
    const etp_op_row *row = &a->table.rows[i];
    const etp_trace_event *e = event_of(a, row);
    const etp_op_facts *f = a->facts ? &a->facts[i] : NULL;
    etp_category category = a->names[i].category;
    etp_json_begin_object(j);
    etp_json_key(j, "id");
    char id[32];
    snprintf(id, sizeof id, "op%zu", i + 1);
    etp_json_z(j, id);
    etp_json_kv_u64(j, "block", row->block);
    etp_json_kv_i64(j, "chain", e->chain);
    etp_json_kv_i64(j, "instruction", e->instruction);
    etp_json_kv_str(j, "name", e->name);
    etp_json_kv_bool(j, "delegated", e->delegated);
    etp_json_key(j, "backend");
    if (f && f->backend.len) {
        etp_json_str(j, f->backend);
    } else {
        etp_json_null(j);
    }
    etp_json_kv_z(j, "category", etp_category_name(category));
    etp_json_kv_z(j, "five", etp_kit_category_name(etp_kit_category_of(category)));
    etp_json_kv_u64(j, "calls", row->calls);
    etp_json_key(j, "ns");
    etp_json_begin_object_inline(j);
    etp_json_kv_u64(j, "min", row->min_ns);
    etp_json_kv_u64(j, "p50", row->p50_ns);
    etp_json_kv_u64(j, "p90", row->p90_ns);
    etp_json_kv_u64(j, "mean", row->mean_ns);
    etp_json_kv_u64(j, "max", row->max_ns);
    etp_json_kv_u64(j, "total", row->total_ns);
    etp_json_end(j);
    node_json(a, i, j);
    etp_json_key(j, "source");
    if (a->sources && a->sources[i].file.len > 0) {
        etp_json_begin_object_inline(j);
        etp_json_kv_str(j, "file", a->sources[i].file);
        etp_json_kv_u64(j, "line", a->sources[i].line);
        etp_json_kv_str(j, "module", a->sources[i].module);
        etp_json_end(j);
    } else {
        etp_json_null(j);
    }
    etp_json_kv_ratio(j, "confidence", a->confidence[i]);
    etp_json_end(j);
}

void etp_ops_json(const void *data, etp_json *j)
{
    const etp_ops_answer *a = data;
    const etp_op_table *t = &a->table;
    etp_json_begin_object(j);
    etp_json_kv_z(j, "schema", "etprof.ops/1");
    etp_json_kv_z(j, "dump", a->dump);
    blocks_json(a, j);
    etp_json_key(j, "operators");
    etp_json_begin_array(j);
    for (size_t i = 0; i < t->n_rows; i++) {
        operator_json(a, i, j);
    }
    etp_json_end(j);
    etp_json_key(j, "totals");
    etp_json_begin_object(j);
    etp_json_kv_u64(j, "executions", t->executions);
    etp_json_kv_i64(j, "execute_ns", t->execute_ns);
    etp_json_kv_i64(j, "operators_ns", t->operators_ns);
    etp_json_kv_i64(j, "remainder_ns", t->remainder_ns);
    etp_json_key(j, "macs");
    uint64_t macs = 0;
    bool any = false;
    for (size_t i = 0; a->facts && i < t->n_rows; i++) {
        if (a->facts[i].work.known) {
            macs += a->facts[i].work.macs;
            any = true;
        }
    }
    if (any) {
        etp_json_u64(j, macs);
    } else {
        etp_json_null(j);
    }
    etp_json_kv_ratio(j, "delegated_share",
                      t->operators_ns > 0 ? (double)t->delegated_ns / (double)t->operators_ns
                                          : (double)NAN);
    etp_json_end(j);
    etp_json_end(j);
    etp_json_end_document(j);
}

// ---- report ----

typedef struct by_total {
    uint64_t total;
    size_t row;
} by_total;

static int longest_first(const void *pa, const void *pb)
{
    const by_total *a = pa, *b = pb;
    if (a->total != b->total) {
        return a->total > b->total ? -1 : 1;
    }
    return (a->row > b->row) - (a->row < b->row);
}

// "model.py:26 blocks.0.attn", NULL when unknown.
static const char *source_text(const etp_ops_answer *a, size_t row, etp_arena *arena)
{
    const etp_source *s = a->sources ? &a->sources[row] : NULL;
    if (!s || s->file.len == 0) {
        return NULL;
    }
    size_t slash = s->file.len;
    while (slash > 0 && s->file.ptr[slash - 1] != '/') {
        slash--;
    }
    return etp_arena_printf(arena, "%.*s:%u%s%.*s", (int)(s->file.len - slash), s->file.ptr + slash,
                            s->line, s->module.len ? " " : "", ETP_STR_ARG(s->module));
}

static void operator_table(const etp_ops_answer *a, etp_report *r, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "name", .title = "operator", .flags = ETP_COL_CODE},
        {.key = "instruction", .title = "instr", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
        {.key = "category", .title = "category"},
        {.key = "share", .title = "share", .kind = ETP_KIND_PERCENT, .flags = ETP_COL_BAR},
        {.key = "p50_ns", .title = "p50", .kind = ETP_KIND_NS},
        {.key = "mean_ns", .title = "mean", .kind = ETP_KIND_NS},
        {.key = "p90_ns", .title = "p90", .kind = ETP_KIND_NS, .flags = ETP_COL_MINOR},
        {.key = "max_ns", .title = "max", .kind = ETP_KIND_NS, .flags = ETP_COL_MINOR},
        {.key = "calls", .title = "calls", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
        {.key = "delegated", .title = "delegated", .flags = ETP_COL_MINOR},
        {.key = "block", .title = "block", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
        {.key = "macs", .title = "MACs", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
        {.key = "source", .title = "source", .flags = ETP_COL_MINOR | ETP_COL_CODE},
    };
    const etp_op_table *t = &a->table;
    by_total *order = ETP_NEW_ARRAY(arena, by_total, t->n_rows);
    if (!order) {
        return; // the report has noticed too
    }
    for (size_t i = 0; i < t->n_rows; i++) {
        order[i] = (by_total){t->rows[i].total_ns, i};
    }
    qsort(order, t->n_rows, sizeof *order, longest_first);
    etp_table *table = etp_report_table(r, "operators", NULL, k_columns, 13);
    etp_table_limit(table, 25);
    for (size_t k = 0; k < t->n_rows; k++) {
        size_t i = order[k].row;
        const etp_op_row *row = &t->rows[i];
        const etp_trace_event *e = event_of(a, row);
        bool macs = a->facts && a->facts[i].work.known;
        ETP_ROW(table, etp_cell_str(e->name), etp_cell_i64(e->instruction),
                etp_cell_z(etp_category_name(a->names[i].category)),
                etp_cell_double(t->execute_ns > 0 ? (double)row->total_ns / (double)t->execute_ns
                                                  : (double)NAN),
                etp_cell_u64(row->p50_ns), etp_cell_u64(row->mean_ns), etp_cell_u64(row->p90_ns),
                etp_cell_u64(row->max_ns), etp_cell_u64(row->calls),
                etp_cell_z(e->delegated ? "yes" : "no"), etp_cell_u64(row->block),
                macs ? etp_cell_u64(a->facts[i].work.macs) : etp_cell_missing(),
                etp_cell_z(source_text(a, i, arena)));
    }
}

static void category_table(const etp_ops_answer *a, etp_report *r)
{
    static const etp_column k_columns[] = {
        {.key = "category", .title = "category"},
        {.key = "five", .title = "group"},
        {.key = "total_ns", .title = "total", .kind = ETP_KIND_NS},
        {.key = "share", .title = "share", .kind = ETP_KIND_PERCENT, .flags = ETP_COL_BAR},
        {.key = "operators", .title = "operators", .kind = ETP_KIND_INT},
    };
    etp_table *table = etp_report_table(r, "categories", NULL, k_columns, 5);
    for (int c = 0; c < ETP_CATEGORY_COUNT; c++) {
        uint64_t total = 0, n = 0;
        for (size_t i = 0; i < a->table.n_rows; i++) {
            if ((int)a->names[i].category == c) {
                total += a->table.rows[i].total_ns;
                n++;
            }
        }
        if (n) {
            double share =
                a->table.execute_ns > 0 ? (double)total / (double)a->table.execute_ns : (double)NAN;
            ETP_ROW(table, etp_cell_z(etp_category_name((etp_category)c)),
                    etp_cell_z(etp_kit_category_name(etp_kit_category_of((etp_category)c))),
                    etp_cell_u64(total), etp_cell_double(share), etp_cell_u64(n));
        }
    }
}

const etp_report *etp_ops_report(const etp_ops_answer *a, etp_arena *arena)
{
    const etp_op_table *t = &a->table;
    etp_report *r = etp_report_create(arena, etp_path_name(a->dump));
    etp_report_section(r, 1, "totals", "Totals");
    etp_keys *keys = etp_report_keys(r, NULL);
    for (size_t i = 0; i < etp_trace_block_count(a->trace); i++) {
        const etp_trace_block *b = etp_trace_block_at(a->trace, i);
        const etp_join *join = a->joins ? &a->joins[i] : NULL;
        etp_str method = join && join->method != ETP_NO_INDEX
                             ? a->program->methods[join->method].name
                             : (etp_str){0};
        etp_keys_add(keys, ETP_PLAIN, "block", "%zu %.*s: %zu executions of %zu events%s%.*s%s", i,
                     ETP_STR_ARG(b->name), b->n_runs, b->n_events, method.len ? ", method " : "",
                     ETP_STR_ARG(method),
                     join && join->ambiguous ? " (or another that looks alike)" : "");
    }
    if (t->executions) {
        double n = (double)t->executions;
        char text[ETP_NUMBER_CHARS];
        etp_keys_add(keys, ETP_PLAIN, "Method::execute", "%s, mean of %zu executions",
                     etp_format_ns((double)t->execute_ns / n, text), t->executions);
        etp_keys_add(keys, ETP_PLAIN, "operators", "%s, of which %.1f %% delegated",
                     etp_format_ns((double)t->operators_ns / n, text),
                     t->operators_ns > 0 ? 100 * (double)t->delegated_ns / (double)t->operators_ns
                                         : 0.0);
        etp_keys_add(keys, ETP_PLAIN, "remainder", "%s (delegate boundary, framework, truncation)",
                     etp_format_ns((double)t->remainder_ns / n, text));
        if (t->execute_ns > 0 &&
            (double)t->operators_ns > MOST_OF_EXECUTE * (double)t->execute_ns) {
            etp_report_note(r, ETP_WARN,
                            "the operators take longer than the inference that they are part of "
                            "(%.3g times): they ran side by side, "
                            "the delegate's clock is not the runtime's, or the dump is damaged",
                            (double)t->operators_ns / (double)t->execute_ns);
        }
    } else {
        etp_report_note(r, ETP_WARN,
                        "no execution has a Method::execute event: shares are unknown");
    }
    etp_report_section(r, 1, "categories-section", "Categories");
    category_table(a, r);
    etp_report_section(r, 1, "operators-section", "Operators");
    operator_table(a, r, arena);
    return r;
}
