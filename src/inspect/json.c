// SPDX-License-Identifier: Apache-2.0
// The document etprof.inspect/1.
#include "inspect/inspect.h"

static void work_json(const etp_work *w, etp_json *j)
{
    static const char *const k_keys[] = {"macs", "ops", "bytes"};
    const uint64_t values[] = {w->macs, w->ops, w->bytes};
    for (int i = 0; i < 3; i++) {
        etp_json_kv_u64_if(j, k_keys[i], values[i], w->known);
    }
    if (w->problem) {
        etp_json_kv_z(j, "problem", w->problem);
    }
}

static const char *quant_name(etp_quant_kind kind)
{
    static const char *const k_names[] = {NULL, "per_channel", "per_tensor", "per_token",
                                          "per_channel_group"};
    return k_names[kind];
}

static void value_json(const etp_value *v, etp_json *j)
{
    static const char *const k_kinds[] = {
        "none",   "null",     "int",         "bool",      "double",      "tensor",
        "string", "int_list", "double_list", "bool_list", "tensor_list", "optional_tensor_list",
        "other"};
    etp_json_begin_object_inline(j);
    if (v->kind != ETP_EVALUE_TENSOR) {
        etp_json_kv_z(j, "kind", k_kinds[v->kind]);
        etp_json_end(j);
        return;
    }
    etp_json_kv_z(j, "dtype", etp_dtype_name(v->dtype));
    etp_json_key(j, "shape");
    etp_json_begin_array_inline(j);
    for (uint32_t i = 0; i < v->rank; i++) {
        etp_json_i64(j, v->dims[i]);
    }
    etp_json_end(j);
    etp_json_kv_u64_if(j, "bytes", v->bytes, v->bytes != ETP_BYTES_UNKNOWN);
    if (v->dynamic) {
        etp_json_kv_bool(j, "upper_bound", true);
    }
    if (v->constant) {
        etp_json_kv_bool(j, "constant", true);
    }
    if (quant_name(v->quant.kind)) {
        etp_json_kv_z(j, "quantization", quant_name(v->quant.kind));
    }
    if (v->quant.kind == ETP_QUANT_PER_TENSOR) {
        etp_json_kv_double(j, "scale", (double)v->quant.scale);
        etp_json_kv_i64(j, "zero_point", v->quant.zero_point);
    }
    etp_json_end(j);
}

static void values_json(etp_json *j, const char *key, const etp_value *values, const uint32_t *ids,
                        uint32_t n)
{
    etp_json_key(j, key);
    etp_json_begin_array(j);
    for (uint32_t i = 0; i < n; i++) {
        value_json(&values[ids[i]], j);
    }
    etp_json_end(j);
}

static void source_json(const etp_source *s, etp_json *j)
{
    etp_json_key(j, "source");
    if (!s) {
        etp_json_null(j);
        return;
    }
    etp_json_begin_object_inline(j);
    etp_json_kv_str(j, "file", s->file);
    etp_json_kv_u64(j, "line", s->line);
    etp_json_kv_str(j, "module", s->module);
    etp_json_end(j);
}

static void method_json(const etp_method *m, etp_json *j)
{
    etp_json_begin_object(j);
    etp_json_kv_str(j, "name", m->name);
    etp_json_key(j, "instructions");
    etp_json_begin_object_inline(j);
    etp_json_kv_u64(j, "kernel", m->n_of_kind[ETP_INSTR_KERNEL]);
    etp_json_kv_u64(j, "delegate", m->n_of_kind[ETP_INSTR_DELEGATE]);
    etp_json_kv_u64(j, "move", m->n_of_kind[ETP_INSTR_MOVE]);
    etp_json_kv_u64(j, "jump", m->n_of_kind[ETP_INSTR_JUMP_FALSE]);
    etp_json_kv_u64(j, "free", m->n_of_kind[ETP_INSTR_FREE]);
    etp_json_end(j);
    values_json(j, "inputs", m->values, m->inputs, m->n_inputs);
    values_json(j, "outputs", m->values, m->outputs, m->n_outputs);
    etp_json_kv_u64(j, "macs", m->macs);
    etp_json_kv_u64(j, "unknown_work", m->n_unknown_work);
    etp_json_key(j, "planned_bytes"); // entry 0 of the file is reserved and left out
    etp_json_begin_array_inline(j);
    for (uint32_t i = 1; i < m->pte->planned_bytes.n; i++) {
        etp_json_u64(j, etp_u64_at(m->pte->planned_bytes, i));
    }
    etp_json_end(j);
    etp_json_end(j);
}

static void node_json(const etp_inspect *in, const etp_method *m, const etp_partition *p,
                      const etp_node *n, etp_json *j)
{
    etp_json_begin_object(j);
    etp_json_kv_u64(j, "id", n->index);
    etp_json_kv_str(j, "type", n->type_name);
    values_json(j, "inputs", p->values, n->inputs, n->n_inputs);
    values_json(j, "outputs", p->values, n->outputs, n->n_outputs);
    work_json(&n->work, j);
    etp_json_kv_u64(j, "weight_bytes", n->weight_bytes);
    etp_json_kv_u64_if(j, "debug_handle", (uint64_t)n->debug_handle, n->debug_handle >= 0);
    source_json(etp_inspect_node_source(in, m, n), j);
    etp_json_end(j);
}

static void delegate_json(const etp_inspect *in, const etp_method *m, const etp_partition *p,
                          etp_json *j)
{
    etp_json_begin_object(j);
    etp_json_kv_str(j, "method", m->name);
    etp_json_kv_u64(j, "index", p->index);
    etp_json_kv_str(j, "id", p->backend);
    etp_json_kv_u64(j, "bytes", p->blob.len);
    etp_json_kv_u64_if(j, "weight_bytes", p->weight_bytes, p->graph != NULL);
    etp_json_kv_u64_if(j, "macs", p->macs, p->graph != NULL);
    etp_json_kv_u64_if(j, "same_blob_as", p->same_blob_as, p->same_blob_as != p->number);
    etp_json_key(j, "compile_specs");
    etp_json_begin_array(j);
    for (uint32_t i = 0; i < p->delegate->n_specs; i++) {
        etp_json_begin_object_inline(j);
        etp_json_kv_str(j, "key", p->delegate->specs[i].key);
        etp_json_kv_u64(j, "bytes", p->delegate->specs[i].value.len);
        etp_json_end(j);
    }
    etp_json_end(j);
    if (p->problem) {
        etp_json_kv_z(j, "problem", p->problem);
    }
    etp_json_key(j, "nodes");
    etp_json_begin_array(j);
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        node_json(in, m, p, &p->nodes[i], j);
    }
    etp_json_end(j);
    etp_json_end(j);
}

static void operators_json(const etp_inspect *in, etp_json *j)
{
    etp_json_key(j, "operators");
    etp_json_begin_array(j);
    for (size_t i = 0; i < in->n_operators; i++) {
        const etp_inspect_operator *op = &in->operators[i];
        etp_json_begin_object_inline(j);
        etp_json_kv_str(j, "name", op->name);
        etp_json_kv_u64(j, "calls", op->calls);
        etp_json_kv_bool(j, "delegated", op->delegated);
        etp_json_kv_u64_if(j, "macs", op->macs, op->unknown < op->calls);
        etp_json_kv_u64_if(j, "bytes", op->bytes, op->unknown < op->calls);
        etp_json_kv_u64(j, "unknown_work", op->unknown);
        etp_json_kv_u64_if(j, "ns", op->ns, op->timed);
        etp_json_end(j);
    }
    etp_json_end(j);
}

static void times_json(const etp_inspect_times *times, etp_json *j)
{
    etp_json_key(j, "times");
    if (!times) {
        etp_json_null(j);
        return;
    }
    etp_json_begin_object_inline(j);
    etp_json_kv_z(j, "dump", times->dump);
    etp_json_kv_u64(j, "undelegated_ns", times->undelegated_ns);
    etp_json_kv_u64(j, "delegated_ns", times->delegated_ns);
    etp_json_kv_u64(j, "unmatched_ns", times->unmatched_ns);
    etp_json_end(j);
}

static void segments_json(const etp_inspect *in, etp_json *j)
{
    const etp_pte *pte = in->program->pte;
    etp_json_key(j, "segments");
    etp_json_begin_array(j);
    for (uint32_t i = 0; i < pte->n_segments; i++) {
        etp_json_begin_object_inline(j);
        etp_json_kv_z(j, "kind", etp_pte_segment_kind_name(pte->segments[i].kind));
        etp_json_kv_u64(j, "offset", pte->segments[i].offset);
        etp_json_kv_u64(j, "size", pte->segments[i].data.len);
        etp_json_kv_u64(j, "users", pte->segments[i].users);
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_key(j, "parts");
    etp_json_begin_array(j);
    for (size_t i = 0; i < in->n_parts; i++) {
        etp_json_begin_object_inline(j);
        etp_json_kv_z(j, "what", in->parts[i].what);
        etp_json_kv_u64(j, "bytes", in->parts[i].bytes);
        etp_json_kv_u64(j, "count", in->parts[i].count);
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_kv_u64(j, "shared_bytes", in->shared_bytes);
}

static void weights_json(const etp_inspect *in, etp_json *j)
{
    etp_json_key(j, "weights");
    etp_json_begin_object(j);
    etp_json_kv_u64(j, "bytes", in->weight_bytes);
    etp_json_key(j, "by_dtype");
    etp_json_begin_object_inline(j);
    for (int d = 0; d < ETP_DTYPE_COUNT; d++) {
        if (in->by_dtype[d] > 0) {
            etp_json_kv_u64(j, etp_dtype_name((etp_dtype)d), in->by_dtype[d]);
        }
    }
    etp_json_end(j);
    etp_json_kv_u64(j, "scale_bytes", in->scale_bytes);
    etp_json_kv_u64(j, "external_bytes", in->external_bytes);
    etp_json_kv_u64(j, "count", in->n_weights);
    etp_json_end(j);
}

static void program_json(const etp_inspect *in, etp_json *j)
{
    const etp_program *p = in->program;
    etp_json_key(j, "methods");
    etp_json_begin_array(j);
    for (uint32_t i = 0; i < p->n_methods; i++) {
        method_json(&p->methods[i], j);
    }
    etp_json_end(j);
    etp_json_key(j, "delegates");
    etp_json_begin_array(j);
    for (uint32_t i = 0; i < p->n_methods; i++) {
        for (uint32_t k = 0; k < p->methods[i].n_partitions; k++) {
            delegate_json(in, &p->methods[i], &p->methods[i].partitions[k], j);
        }
    }
    etp_json_end(j);
    operators_json(in, j);
    times_json(in->times, j);
    segments_json(in, j);
    weights_json(in, j);
}

static void bundled_json(const etp_bundled *b, etp_json *j)
{
    etp_json_key(j, "test_suites");
    etp_json_begin_array(j);
    for (uint32_t i = 0; i < b->n_suites; i++) {
        etp_json_begin_object_inline(j);
        etp_json_kv_str(j, "method", b->suites[i].method);
        etp_json_kv_u64(j, "cases", b->suites[i].n_cases);
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_kv_u64(j, "program_bytes", b->program.len);
}

static void ptd_json(const etp_flat_tensor *ptd, etp_json *j)
{
    etp_json_key(j, "tensors");
    etp_json_begin_array(j);
    for (uint32_t i = 0; i < ptd->n_entries; i++) {
        const etp_flat_entry *e = &ptd->entries[i];
        etp_json_begin_object_inline(j);
        etp_json_kv_str(j, "name", e->key);
        etp_json_kv_u64(j, "offset", e->data.base);
        etp_json_kv_u64(j, "size", e->data.len);
        etp_json_key(j, "dtype");
        if (e->has_layout) {
            etp_json_z(j, etp_dtype_name(e->dtype));
        } else {
            etp_json_null(j);
        }
        etp_json_key(j, "shape");
        if (e->has_layout) {
            etp_json_begin_array_inline(j);
            for (uint32_t d = 0; d < e->sizes.n; d++) {
                etp_json_i64(j, etp_i32_at(e->sizes, d));
            }
            etp_json_end(j);
        } else {
            etp_json_null(j);
        }
        etp_json_end(j);
    }
    etp_json_end(j);
}

static void record_json(const etp_etrecord *r, etp_json *j)
{
    etp_json_key(j, "records");
    etp_json_begin_array(j);
    for (uint32_t i = 0; i < r->n_methods; i++) {
        const etp_record_method *m = &r->methods[i];
        etp_json_begin_object(j);
        etp_json_kv_str(j, "method", m->name);
        etp_json_kv_u64(j, "instructions", m->n_instructions);
        etp_json_key(j, "sources");
        etp_json_begin_array(j);
        for (uint32_t k = 0; k < m->n_sources; k++) {
            const etp_source *s = &m->sources[k];
            etp_json_begin_object_inline(j);
            etp_json_kv_u64(j, "debug_handle", s->handle);
            etp_json_kv_str(j, "op", s->op);
            etp_json_kv_str(j, "file", s->file);
            etp_json_kv_u64(j, "line", s->line);
            etp_json_kv_str(j, "module", s->module);
            etp_json_kv_str(j, "module_type", s->module_type);
            etp_json_end(j);
        }
        etp_json_end(j);
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_key(j, "entries");
    etp_json_begin_array(j);
    for (uint32_t i = 0; i < r->n_entries; i++) {
        etp_json_begin_object_inline(j);
        etp_json_kv_str(j, "name", r->entries[i].name);
        etp_json_kv_u64(j, "size", r->entries[i].size);
        etp_json_end(j);
    }
    etp_json_end(j);
}

static void trace_json(const etp_trace *t, etp_json *j)
{
    etp_json_key(j, "blocks");
    etp_json_begin_array(j);
    for (size_t i = 0; i < etp_trace_block_count(t); i++) {
        const etp_trace_block *b = etp_trace_block_at(t, i);
        uint64_t delegated = 0, kernels = 0, calls = 0;
        for (uint32_t e = 0; e < b->n_events; e++) {
            delegated += b->events[e].kind == ETP_EVENT_DELEGATE_OP ? 1 : 0;
            kernels += b->events[e].kind == ETP_EVENT_NATIVE_CALL ? 1 : 0;
            calls += b->events[e].kind == ETP_EVENT_DELEGATE_CALL ? 1 : 0;
        }
        etp_json_begin_object_inline(j);
        etp_json_kv_str(j, "name", b->name);
        etp_json_kv_u64(j, "runs", b->n_runs);
        etp_json_kv_u64(j, "events", b->n_events);
        etp_json_kv_u64(j, "delegate_operators", delegated);
        etp_json_kv_u64(j, "delegate_calls", calls);
        etp_json_kv_u64(j, "kernels", kernels);
        etp_json_kv_bool(j, "has_execute", b->has_execute);
        etp_json_end(j);
    }
    etp_json_end(j);
}

void etp_inspect_json(const void *data, etp_json *j)
{
    const etp_inspect *in = data;
    etp_json_begin_object(j);
    etp_json_kv_z(j, "schema", "etprof.inspect/1");
    etp_json_kv_z(j, "file", in->path);
    etp_json_kv_z(j, "kind", etp_file_kind_name(in->kind));
    etp_json_kv_u64(j, "size", in->size);
    if (in->program) {
        program_json(in, j);
    }
    if (in->bundled) {
        bundled_json(in->bundled, j);
    }
    if (in->ptd) {
        ptd_json(in->ptd, j);
    }
    if (in->kind == ETP_FILE_ETRECORD) {
        record_json(in->record, j);
    }
    if (in->trace) {
        trace_json(in->trace, j);
    }
    etp_json_end(j);
    etp_json_end_document(j);
}
