// SPDX-License-Identifier: Apache-2.0
// The report of `etprof inspect`.
#include "inspect/inspect.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/path.h"

#define MANY_ROWS 20

// Of an empty whole 0, not NAN: a file without weights has shares of 0 %.
static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0.0;
}

// ---- programs ----

static void parts_table(const etp_inspect *in, etp_report *r)
{
    static const etp_column k_columns[] = {
        {.key = "what", .title = "part of the file"},
        {.key = "bytes", .title = "size", .kind = ETP_KIND_BYTES},
        {.key = "share", .title = "share", .kind = ETP_KIND_PERCENT, .flags = ETP_COL_BAR},
        {.key = "count", .title = "pieces", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
    };
    etp_table *t = etp_report_table(r, "parts", NULL, k_columns, 4);
    for (size_t i = 0; i < in->n_parts; i++) {
        const etp_inspect_part *p = &in->parts[i];
        ETP_ROW(t, etp_cell_z(p->what), etp_cell_u64(p->bytes),
                etp_cell_double(share(p->bytes, in->program->pte->file_size)),
                etp_cell_if(p->count, etp_cell_u64(p->count)));
    }
}

// "0:3 Conv2d, features.1" (delegate 0, node 3), with the method where there are several.
// Weights have long keys or none: who uses one first says more.
static const char *user_text(const etp_inspect *in, const etp_inspect_weight *w, etp_arena *arena)
{
    const etp_method *m = &in->program->methods[w->method];
    const etp_source *s = w->node ? etp_inspect_node_source(in, m, w->node) : NULL;
    etp_str method = in->program->n_methods > 1 ? m->name : (etp_str){0};
    const char *space = etp_if(method.len, " ");
    if (!w->node) {
        return etp_arena_printf(arena, "%.*s%skernels", ETP_STR_ARG(method), space);
    }
    etp_str module = s ? s->module : (etp_str){0};
    return etp_arena_printf(arena, "%.*s%s%" PRIu32 ":%" PRIu32 " %.*s%s%.*s", ETP_STR_ARG(method),
                            space, w->partition, w->node->index, ETP_STR_ARG(w->node->type_name),
                            etp_if(module.len, ", "), ETP_STR_ARG(module));
}

// Scales have a row of their own in the sums and none among the largest: a scale belongs to its
// weight, which is listed.
static void weights_tables(const etp_inspect *in, etp_report *r, etp_arena *arena)
{
    static const etp_column k_dtypes[] = {
        {.key = "dtype", .title = "weights by type"},
        {.key = "bytes", .title = "size", .kind = ETP_KIND_BYTES},
        {.key = "share", .title = "share", .kind = ETP_KIND_PERCENT, .flags = ETP_COL_BAR},
    };
    etp_table *t = etp_report_table(r, "weights", NULL, k_dtypes, 3);
    for (int d = 0; d < ETP_DTYPE_COUNT; d++) {
        if (in->by_dtype[d] > 0) {
            ETP_ROW(t, etp_cell_z(etp_dtype_name((etp_dtype)d)), etp_cell_u64(in->by_dtype[d]),
                    etp_cell_double(share(in->by_dtype[d], in->weight_bytes)));
        }
    }
    if (in->scale_bytes > 0) {
        ETP_ROW(t, etp_cell_z("scales"), etp_cell_u64(in->scale_bytes),
                etp_cell_double(share(in->scale_bytes, in->weight_bytes)));
    }
    static const etp_column k_largest[] = {
        {.key = "used_by", .title = "largest weights"},
        {.key = "shape", .title = "shape"},
        {.key = "bytes", .title = "size", .kind = ETP_KIND_BYTES},
        {.key = "share", .title = "share", .kind = ETP_KIND_PERCENT, .flags = ETP_COL_BAR},
        {.key = "name", .title = "name", .flags = ETP_COL_CODE | ETP_COL_MINOR},
    };
    t = etp_report_table(r, "largest", NULL, k_largest, 5);
    etp_table_limit(t, 8);
    for (size_t i = 0; i < in->n_weights; i++) {
        const etp_inspect_weight *w = &in->weights[i];
        char shape[ETP_SHAPE_CHARS];
        if (w->is_scale) {
            continue;
        }
        ETP_ROW(t, etp_cell_z(user_text(in, w, arena)), etp_cell_z(etp_shape_text(w->value, shape)),
                etp_cell_u64(w->bytes), etp_cell_double(share(w->bytes, in->weight_bytes)),
                etp_cell_if(w->name.len, etp_cell_str(w->name)));
    }
}

static void operators_table(const etp_inspect *in, etp_report *r)
{
    enum { COLUMNS = 5, TIMES = 2 };
    etp_column columns[COLUMNS + 1 + TIMES] = {
        {.key = "name", .title = "operator", .flags = ETP_COL_CODE},
        {.key = "delegated", .title = "delegated"},
        {.key = "calls", .title = "calls", .kind = ETP_KIND_INT},
        {.key = "macs", .title = "MACs", .kind = ETP_KIND_INT},
        {.key = "bytes", .title = "data moved", .kind = ETP_KIND_BYTES},
    };
    static const etp_column k_sizes = {.key = "bound", .title = "sizes"};
    static const etp_column k_times[TIMES] = {
        {.key = "ns", .title = "time", .kind = ETP_KIND_NS},
        {.key = "time_share", .title = "share", .kind = ETP_KIND_PERCENT, .flags = ETP_COL_BAR},
    };
    size_t n = COLUMNS;
    bool bound = false;
    for (size_t i = 0; i < in->n_operators; i++) {
        bound = bound || in->operators[i].bound;
    }
    if (bound) {
        columns[n++] = k_sizes;
    }
    const etp_inspect_times *times = in->times;
    uint64_t all = times ? times->undelegated_ns + times->delegated_ns + times->unmatched_ns : 0;
    for (size_t i = 0; times && i < TIMES; i++) {
        columns[n++] = k_times[i];
    }
    etp_table *t = etp_report_table(r, "operators", NULL, columns, n);
    etp_table_limit(t, 2 * MANY_ROWS);
    for (size_t i = 0; i < in->n_operators; i++) {
        const etp_inspect_operator *op = &in->operators[i];
        // With one call whose work is known the sums say something; without any they would be a 0
        // that looks like a result.
        bool known = op->unknown < op->calls;
        // Columns of times stand last, so that a program without a recording has the same table
        // without them.
        etp_cell cells[COLUMNS + 1 + TIMES] = {
            etp_cell_str(op->name),
            etp_cell_judged(etp_cell_z(etp_yes_no(op->delegated)),
                            op->delegated ? ETP_PLAIN : ETP_WARN),
            etp_cell_u64(op->calls),
            etp_cell_if(known, etp_cell_u64(op->macs)),
            etp_cell_if(known, etp_cell_u64(op->bytes)),
        };
        size_t at = COLUMNS;
        if (bound) {
            // Work that rests on the largest sizes of a program with dynamic ones is called so.
            cells[at++] = etp_cell_if(op->bound, etp_cell_z("at most"));
        }
        if (times) {
            cells[at++] = etp_cell_if(op->timed, etp_cell_u64(op->ns));
            cells[at++] = etp_cell_if(op->timed, etp_cell_double(share(op->ns, all)));
        }
        etp_table_add_row(t, cells, at);
    }
}

// MACs say how much arithmetic stays outside, bytes how much moving of data: a transpose outside a
// delegate has no MACs and may still be what is slow. Shares leave out what is unknown and say so.
static void undelegated_note(const etp_inspect *in, etp_report *r)
{
    uint64_t calls = 0, unknown = 0;
    double macs = 0, bytes = 0, all_macs = 0, all_bytes = 0; // of several operators: beyond 64 bits
    for (size_t i = 0; i < in->n_operators; i++) {
        const etp_inspect_operator *op = &in->operators[i];
        all_macs += (double)op->macs;
        all_bytes += (double)op->bytes;
        if (!op->delegated) {
            calls += op->calls;
            macs += (double)op->macs;
            bytes += (double)op->bytes;
            unknown += op->unknown;
        }
    }
    if (calls == 0) {
        etp_report_note(r, ETP_GOOD, "every operator runs inside a delegate");
        return;
    }
    if (!(all_bytes > 0)) {
        etp_report_note(r, ETP_WARN,
                        "%" PRIu64
                        " kernel call%s outside delegates, all operators of unknown work",
                        calls, etp_if(calls != 1, "s"));
        return;
    }
    char of_macs[40] = "";
    if (all_macs > 0 || unknown == 0) {
        snprintf(of_macs, sizeof of_macs, "%.1f %% of the MACs and ",
                 all_macs > 0 ? 100 * macs / all_macs : 0);
    }
    etp_report_note(r, ETP_WARN,
                    "%" PRIu64 " kernel call%s outside delegates: %s%.1f %% of the data moved%s",
                    calls, etp_if(calls != 1, "s"), of_macs, 100 * bytes / all_bytes,
                    etp_if(unknown, " (without those of unknown work)"));
}

// A payload that was not read has its problem in the notes; nodes, MACs and weights are missing
// then, while its size is known.
static void delegates_table(const etp_inspect *in, etp_report *r, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "method", .title = "method"},
        {.key = "index", .title = "#", .kind = ETP_KIND_INT},
        {.key = "id", .title = "backend", .flags = ETP_COL_CODE},
        {.key = "nodes", .title = "nodes", .kind = ETP_KIND_INT},
        {.key = "macs", .title = "MACs", .kind = ETP_KIND_INT},
        {.key = "weight_bytes", .title = "weights", .kind = ETP_KIND_BYTES},
        {.key = "bytes", .title = "blob", .kind = ETP_KIND_BYTES},
        {.key = "note", .title = "note", .flags = ETP_COL_MINOR},
    };
    if (in->program->n_partitions == 0) {
        return;
    }
    etp_report_section(r, 1, "delegates-section", "Delegates");
    etp_table *t = etp_report_table(r, "delegates", NULL, k_columns, 8);
    etp_table_limit(t, MANY_ROWS);
    for (uint32_t i = 0; i < in->program->n_methods; i++) {
        const etp_method *m = &in->program->methods[i];
        for (uint32_t k = 0; k < m->n_partitions; k++) {
            const etp_partition *p = &m->partitions[k];
            const char *note = p->problem;
            if (!note && p->same_blob_as != p->number) {
                note = etp_arena_printf(arena, "same blob as %" PRIu32, p->same_blob_as);
            } else if (!note && p->bound) {
                note = "MACs at most";
            } else if (!note && p->delegate->n_specs > 0) {
                note = etp_arena_printf(arena, "%" PRIu32 " compile specs", p->delegate->n_specs);
            }
            bool known = p->graph != NULL;
            ETP_ROW(t, etp_cell_str(m->name), etp_cell_u64(p->index), etp_cell_str(p->backend),
                    etp_cell_if(known, etp_cell_u64(p->n_nodes)),
                    etp_cell_if(known, etp_cell_u64(p->macs)),
                    etp_cell_if(known, etp_cell_u64(p->weight_bytes)), etp_cell_u64(p->blob.len),
                    etp_cell_judged(etp_cell_z(note), p->problem ? ETP_BAD : ETP_PLAIN));
        }
    }
}

static void operands(etp_keys *keys, const char *key, const etp_value *values, const uint32_t *ids,
                     uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        char shape[ETP_SHAPE_CHARS];
        const etp_value *v = &values[ids[i]];
        etp_keys_add(keys, ETP_PLAIN, key, "%s",
                     v->kind == ETP_EVALUE_TENSOR ? etp_shape_text(v, shape) : "not a tensor");
    }
}

static void method_section(const etp_inspect *in, const etp_method *m, etp_report *r,
                           etp_arena *arena)
{
    const char *title = etp_arena_printf(arena, "Method %.*s", ETP_STR_ARG(m->name));
    const char *id = etp_arena_printf(arena, "method-%" PRIu32, m->index);
    etp_report_section(r, 1, ETP_OR(id, "method"), ETP_OR(title, "Method"));
    etp_keys *keys = etp_report_keys(r, NULL);
    etp_keys_add(keys, ETP_PLAIN, "instructions",
                 "%" PRIu32 " kernel, %" PRIu32 " delegate, %" PRIu32 " move, %" PRIu32
                 " jump, %" PRIu32 " free",
                 m->n_of_kind[ETP_INSTR_KERNEL], m->n_of_kind[ETP_INSTR_DELEGATE],
                 m->n_of_kind[ETP_INSTR_MOVE], m->n_of_kind[ETP_INSTR_JUMP_FALSE],
                 m->n_of_kind[ETP_INSTR_FREE]);
    operands(keys, "input", m->values, m->inputs, m->n_inputs);
    operands(keys, "output", m->values, m->outputs, m->n_outputs);
    if (m->n_unknown_work > 0) {
        etp_keys_add(keys, ETP_WARN, "MACs",
                     "%" PRIu64 "%s, %" PRIu32 " operator%s of unknown work", m->macs,
                     etp_if(m->bound, " (at most)"), m->n_unknown_work,
                     etp_if(m->n_unknown_work != 1, "s"));
    } else {
        etp_keys_add(keys, ETP_PLAIN, "MACs", "%" PRIu64 "%s", m->macs,
                     etp_if(m->bound, " (at most)"));
    }
    // Entry 0 of the memory plan is reserved by the format.
    for (uint32_t i = 1; i < m->pte->planned_bytes.n; i++) {
        etp_keys_add(keys, ETP_PLAIN, "memory plan", "arena %" PRIu32 ": %s", i,
                     ETP_BYTES(etp_u64_at(m->pte->planned_bytes, i)));
    }
    etp_inspect_planned_report(m, &in->planned[m->index], keys, r, arena);
}

static void program_report(const etp_inspect *in, etp_report *r, etp_arena *arena)
{
    const etp_program *p = in->program;
    if (in->belonging.differs) {
        etp_report_note(r, ETP_WARN, "the record agrees with the program in %u of %u points: %s",
                        in->belonging.agreed, in->belonging.compared, in->belonging.differs);
    }
    for (uint32_t i = 0; i < p->n_methods; i++) {
        method_section(in, &p->methods[i], r, arena);
    }
    etp_report_section(r, 1, "size", "What makes it big");
    parts_table(in, r);
    if (in->shared_bytes > 0) {
        etp_report_text(r, "Sharing of blobs saves %s.", ETP_BYTES(in->shared_bytes));
    }
    if (in->n_weights > 0) {
        weights_tables(in, r, arena);
    }
    if (in->external_bytes > 0) {
        etp_report_text(r, "%s of %s of weights are in a data file (.ptd), not in this file.",
                        ETP_BYTES(in->external_bytes), ETP_BYTES(in->weight_bytes));
    }
    etp_report_section(r, 1, "operators-section", "Operators");
    undelegated_note(in, r);
    if (in->times) {
        const etp_inspect_times *times = in->times;
        uint64_t all = times->undelegated_ns + times->delegated_ns + times->unmatched_ns;
        etp_report_note(r, times->undelegated_ns ? ETP_WARN : ETP_GOOD,
                        "in an execution, operators outside delegates cost %s of %s (%.1f %%)",
                        ETP_NS((double)times->undelegated_ns), ETP_NS((double)all),
                        100 * share(times->undelegated_ns, all));
        if (times->doubt) {
            etp_report_note(r, ETP_WARN, "%s: %s", times->dump, times->doubt);
        }
        if (times->unmatched_ns > 0) {
            etp_report_text(
                r, "%s went to operators that a delegate inserted; they are not rows here.",
                ETP_NS((double)times->unmatched_ns));
        }
    }
    operators_table(in, r);
    delegates_table(in, r, arena);
}

// ---- the other files ----

static void record_report(const etp_etrecord *record, etp_report *r, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "debug_handle", .title = "handle",   .kind = ETP_KIND_INT },
        {.key = "op",           .title = "operator", .flags = ETP_COL_CODE},
        {.key = "source",       .title = "source",   .flags = ETP_COL_CODE},
        {.key = "module",       .title = "module",   .flags = ETP_COL_CODE},
    };
    for (uint32_t i = 0; i < record->n_methods; i++) {
        const etp_record_method *m = &record->methods[i];
        const char *id = etp_arena_printf(arena, "record-%" PRIu32, i);
        const char *title = etp_arena_printf(arena, "Method %.*s", ETP_STR_ARG(m->name));
        const char *table = etp_arena_printf(arena, "sources-%" PRIu32, i);
        etp_report_section(r, 1, ETP_OR(id, "record"), ETP_OR(title, "Method"));
        etp_table *t = etp_report_table(r, ETP_OR(table, "sources"), NULL, k_columns, 4);
        etp_table_limit(t, 2 * MANY_ROWS);
        for (uint32_t k = 0; k < m->n_sources; k++) {
            const etp_source *s = &m->sources[k];
            const char *where = s->file.len ? etp_arena_printf(arena, "%.*s:%" PRIu32,
                                                               ETP_STR_ARG(s->file), s->line)
                                            : NULL;
            ETP_ROW(t, etp_cell_u64(s->handle), etp_cell_str(s->op), etp_cell_z(where),
                    etp_cell_str(s->module));
        }
    }
}

static void trace_report(const etp_trace *trace, etp_report *r, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "name", .title = "block"},
        {.key = "runs", .title = "executions", .kind = ETP_KIND_INT},
        {.key = "events", .title = "events each", .kind = ETP_KIND_INT},
        {.key = "delegated", .title = "delegate operators", .kind = ETP_KIND_INT},
        {.key = "kernels", .title = "kernels", .kind = ETP_KIND_INT},
        {.key = "finished", .title = "finished"},
    };
    etp_report_section(r, 1, "blocks-section", "Event blocks");
    etp_table *t = etp_report_table(r, "blocks", NULL, k_columns, 6);
    for (size_t i = 0; i < etp_trace_block_count(trace); i++) {
        const etp_trace_block *b = etp_trace_block_at(trace, i);
        uint64_t delegated = 0, kernels = 0;
        for (uint32_t e = 0; e < b->n_events; e++) {
            delegated += b->events[e].kind == ETP_EVENT_DELEGATE_OP;
            kernels += b->events[e].kind == ETP_EVENT_NATIVE_CALL;
        }
        ETP_ROW(t, etp_cell_str(b->name), etp_cell_u64(b->n_runs), etp_cell_u64(b->n_events),
                etp_cell_u64(delegated), etp_cell_u64(kernels),
                etp_cell_z(b->has_execute ? "yes" : "no Method::execute"));
    }
    if (etp_trace_logs_tensors(trace)) {
        etp_report_note(r, ETP_WARN,
                        "the recording also logged tensors, so its times are not the program's");
    }
    etp_report_damage(trace, r, arena);
    etp_report_text(r, "`etprof ops` shows the operators with their times.");
}

const etp_report *etp_inspect_report(const etp_inspect *in, etp_arena *arena)
{
    static const char *const k_kinds[] = {"ExecuTorch program", "ETDump recording", "ETRecord",
                                          "bundled program",    "flat tensor file", "unknown file"};
    etp_report *r = etp_report_create(arena, etp_path_name(in->path));
    etp_report_subtitle(r, "%s, %s", k_kinds[in->kind], ETP_BYTES(in->size));
    if (in->bundled) {
        const etp_bundled *b = in->bundled;
        etp_report_section(r, 1, "bundle", "Bundle");
        etp_keys *keys = etp_report_keys(r, NULL);
        etp_keys_add(keys, ETP_PLAIN, "program", "%s", ETP_BYTES(b->program.len));
        for (uint32_t i = 0; i < b->n_suites; i++) {
            etp_keys_add(keys, ETP_PLAIN, "test cases", "%.*s: %" PRIu32,
                         ETP_STR_ARG(b->suites[i].method), b->suites[i].n_cases);
        }
        if (in->test_problem) {
            etp_report_note(r, ETP_BAD, "%s", in->test_problem);
        }
    }
    if (in->program) {
        program_report(in, r, arena);
    }
    if (in->ptd) {
        static const etp_column k_columns[] = {
            {.key = "name", .title = "tensor", .flags = ETP_COL_CODE},
            {.key = "dtype", .title = "type"},
            {.key = "rank", .title = "dimensions", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
            {.key = "size", .title = "size", .kind = ETP_KIND_BYTES},
        };
        etp_report_section(r, 1, "tensors-section", "Tensors");
        etp_table *t = etp_report_table(r, "tensors", NULL, k_columns, 4);
        etp_table_limit(t, 2 * MANY_ROWS);
        for (uint32_t i = 0; i < in->ptd->n_entries; i++) {
            const etp_flat_entry *e = &in->ptd->entries[i];
            ETP_ROW(t, etp_cell_str(e->key),
                    etp_cell_if(e->has_layout, etp_cell_z(etp_dtype_name(e->dtype))),
                    etp_cell_if(e->has_layout, etp_cell_u64(e->sizes.n)),
                    etp_cell_u64(e->data.len));
        }
    }
    if (in->kind == ETP_FILE_ETRECORD) {
        record_report(in->record, r, arena);
    }
    if (in->trace) {
        trace_report(in->trace, r, arena);
    }
    return r;
}
