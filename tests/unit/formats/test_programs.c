// SPDX-License-Identifier: Apache-2.0
// .pte, XNNPACK payload, .bpte and .ptd, field by field against flatc's JSON of the same files.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../corpus.h"
#include "golden.h"
#include "unit.h"

#include <etprof/bundled.h>
#include <etprof/flat_tensor.h>
#include <etprof/xnnpack.h>

static const char k_data[] = ETP_TEST_SOURCE_DIR "/tests/data";

// ---- names of enums as flatc prints them ----

static etp_dtype scalar_type(const char *name)
{
    static const struct {
        const char *name;
        etp_dtype dtype;
    } k_names[] = {
        {"BYTE",   ETP_DTYPE_UINT8  },
        {"CHAR",   ETP_DTYPE_INT8   },
        {"SHORT",  ETP_DTYPE_INT16  },
        {"INT",    ETP_DTYPE_INT32  },
        {"LONG",   ETP_DTYPE_INT64  },
        {"HALF",   ETP_DTYPE_FLOAT16},
        {"FLOAT",  ETP_DTYPE_FLOAT32},
        {"DOUBLE", ETP_DTYPE_FLOAT64},
        {"BOOL",   ETP_DTYPE_BOOL   }
    };
    for (size_t i = 0; i < sizeof k_names / sizeof *k_names; i++) {
        if (strcmp(name, k_names[i].name) == 0) {
            return k_names[i].dtype;
        }
    }
    fail_msg("unexpected scalar type %s", name);
    return ETP_DTYPE_UNKNOWN;
}

static etp_evalue_kind value_kind(const char *name)
{
    static const char *const k_names[] = {
        "",       "Null",    "Int",        "Bool",     "Double",     "Tensor",
        "String", "IntList", "DoubleList", "BoolList", "TensorList", "OptionalTensorList"};
    for (size_t i = 0; i < sizeof k_names / sizeof *k_names; i++) {
        if (strcmp(name, k_names[i]) == 0) {
            return (etp_evalue_kind)i;
        }
    }
    fail_msg("unexpected value type %s", name);
    return ETP_EVALUE_OTHER;
}

// ---- program.fbs ----

static void check_tensor(const json_t *j, const etp_pte_tensor *t)
{
    assert_int_equal(t->dtype, scalar_type(golden_string(j, "scalar_type")));
    golden_ids(json_object_get(j, "sizes"), t->sizes);
    const json_t *order = json_object_get(j, "dim_order");
    assert_int_equal(t->dim_order.len, json_array_size(order));
    for (size_t i = 0; i < t->dim_order.len; i++) {
        assert_true(t->dim_order.ptr[i] == json_number_value(json_array_get(order, i)));
    }
    assert_true(t->storage_offset == golden_number(j, "storage_offset"));
    assert_true(t->data_buffer_index == golden_number(j, "data_buffer_idx"));
    const char *dynamism = golden_string(j, "shape_dynamism");
    assert_int_equal(t->dynamism,
                     strcmp(dynamism, "STATIC") == 0 ? ETP_SHAPE_STATIC : ETP_SHAPE_DYNAMIC_BOUND);
    const json_t *allocation = json_object_get(j, "allocation_info");
    assert_int_equal(t->has_allocation, allocation != NULL);
    if (allocation) {
        assert_true(t->memory_id == golden_number(allocation, "memory_id"));
        assert_true((double)t->memory_offset ==
                    golden_number(allocation, "memory_offset_low") +
                        golden_number(allocation, "memory_offset_high") * 4294967296.0);
    }
    const json_t *extra = json_object_get(j, "extra_tensor_info");
    golden_str(extra, "fully_qualified_name", t->fqn);
    bool external = strcmp(golden_string(extra, "location"), "EXTERNAL") == 0;
    assert_int_equal(t->location == ETP_PTE_DATA_EXTERNAL, external);
    if (t->location == ETP_PTE_DATA_CONSTANT) {
        assert_int_equal(t->data.len, t->nbytes);
    }
}

static void check_value(const json_t *j, const etp_evalue *v)
{
    const json_t *val = json_object_get(j, "val");
    const json_t *items = json_object_get(val, "items");
    assert_int_equal(v->kind, value_kind(golden_string(j, "val_type")));
    switch (v->kind) {
    case ETP_EVALUE_INT:
        assert_true((double)v->u.i == golden_number(val, "int_val"));
        break;
    case ETP_EVALUE_BOOL:
        assert_true(v->u.b == (golden_number(val, "bool_val") != 0));
        break;
    case ETP_EVALUE_DOUBLE:
        if (json_is_string(json_object_get(val, "double_val"))) { // "inf", "-inf", "nan"
            double want = strtod(golden_string(val, "double_val"), NULL);
            assert_true(v->u.d == want || (isnan(v->u.d) && isnan(want)));
        } else {
            assert_true(v->u.d == golden_number(val, "double_val"));
        }
        break;
    case ETP_EVALUE_STRING:
        golden_str(val, "string_val", v->u.s);
        break;
    case ETP_EVALUE_INT_LIST:
        assert_int_equal(v->u.list.n, json_array_size(items));
        for (size_t i = 0; i < v->u.list.n; i++) {
            assert_true((double)etp_u64_at(v->u.list, i) ==
                        json_number_value(json_array_get(items, i)));
        }
        break;
    case ETP_EVALUE_TENSOR_LIST:
        golden_ids(items, v->u.tensors);
        break;
    case ETP_EVALUE_TENSOR:
        check_tensor(val, v->u.tensor);
        break;
    case ETP_EVALUE_NULL:
        break;
    default:
        fail_msg("no expectation for value kind %d", v->kind);
    }
}

static void check_instruction(const json_t *j, const etp_pte_instruction *in)
{
    const char *type = golden_string(j, "instr_args_type");
    const json_t *args = json_object_get(j, "instr_args");
    if (strcmp(type, "KernelCall") == 0) {
        assert_int_equal(in->kind, ETP_INSTR_KERNEL);
        assert_true(in->index == golden_number(args, "op_index"));
        golden_ids(json_object_get(args, "args"), in->args);
    } else if (strcmp(type, "DelegateCall") == 0) {
        assert_int_equal(in->kind, ETP_INSTR_DELEGATE);
        assert_true(in->index == golden_number(args, "delegate_index"));
        golden_ids(json_object_get(args, "args"), in->args);
    } else {
        fail_msg("no expectation for instruction %s", type);
    }
}

static void check_frames(const json_t *traces, const etp_pte_chain *c)
{
    if (json_array_size(traces) == 0) {
        assert_null(c->stacktraces);
        return;
    }
    for (size_t i = 0; i < json_array_size(traces); i++) {
        const json_t *items = json_object_get(json_array_get(traces, i), "items");
        assert_int_equal(c->stacktraces[i].n, json_array_size(items));
        for (size_t k = 0; k < c->stacktraces[i].n; k++) {
            const json_t *f = json_array_get(items, k);
            golden_str(f, "filename", c->stacktraces[i].items[k].file);
            golden_str(f, "name", c->stacktraces[i].items[k].name);
            golden_str(f, "context", c->stacktraces[i].items[k].context);
            assert_true(c->stacktraces[i].items[k].line == golden_number(f, "lineno"));
        }
    }
}

static void check_method(const json_t *j, const etp_pte *pte, const etp_pte_method *m)
{
    golden_str(j, "name", m->name);
    golden_str(json_object_get(j, "container_meta_type"), "encoded_inp_str", m->input_spec);
    const json_t *values = json_object_get(j, "values");
    assert_int_equal(m->n_values, json_array_size(values));
    for (size_t i = 0; i < m->n_values; i++) {
        check_value(json_array_get(values, i), &m->values[i]);
    }
    golden_ids(json_object_get(j, "inputs"), m->inputs);
    golden_ids(json_object_get(j, "outputs"), m->outputs);
    const json_t *chains = json_object_get(j, "chains");
    assert_int_equal(m->n_chains, json_array_size(chains));
    for (size_t c = 0; c < m->n_chains; c++) {
        const json_t *chain = json_array_get(chains, c);
        const json_t *list = json_object_get(chain, "instructions");
        assert_int_equal(m->chains[c].n_instructions, json_array_size(list));
        for (size_t i = 0; i < m->chains[c].n_instructions; i++) {
            check_instruction(json_array_get(list, i), &m->chains[c].instructions[i]);
        }
        check_frames(json_object_get(chain, "stacktrace"), &m->chains[c]);
    }
    const json_t *operators = json_object_get(j, "operators");
    assert_int_equal(m->n_operators, json_array_size(operators));
    for (size_t i = 0; i < m->n_operators; i++) {
        golden_str(json_array_get(operators, i), "name", m->operators[i].name);
        golden_str(json_array_get(operators, i), "overload", m->operators[i].overload);
    }
    const json_t *delegates = json_object_get(j, "delegates");
    assert_int_equal(m->n_delegates, json_array_size(delegates));
    for (size_t i = 0; i < m->n_delegates; i++) {
        const json_t *d = json_array_get(delegates, i);
        const json_t *processed = json_object_get(d, "processed");
        bool in_segment = strcmp(golden_string(processed, "location"), "SEGMENT") == 0;
        golden_str(d, "id", m->delegates[i].id);
        assert_int_equal(m->delegates[i].in_segment, in_segment);
        assert_true(m->delegates[i].data_index == golden_number(processed, "index"));
        assert_int_equal(m->delegates[i].n_specs,
                         json_array_size(json_object_get(d, "compile_specs")));
        if (in_segment) {
            assert_ptr_equal(m->delegates[i].data.ptr,
                             pte->segments[m->delegates[i].data_index].data.ptr);
        }
    }
    const json_t *sizes = json_object_get(j, "non_const_buffer_sizes");
    assert_int_equal(m->planned_bytes.n, json_array_size(sizes));
    for (size_t i = 0; i < m->planned_bytes.n; i++) {
        assert_true((double)etp_u64_at(m->planned_bytes, i) ==
                    json_number_value(json_array_get(sizes, i)));
    }
}

static void check_segments(const json_t *j, const etp_pte *pte)
{
    const json_t *segments = json_object_get(j, "segments");
    assert_int_equal(pte->n_segments, json_array_size(segments));
    for (size_t i = 0; i < pte->n_segments; i++) {
        const json_t *s = json_array_get(segments, i);
        assert_true((double)pte->segments[i].data.len == golden_number(s, "size"));
        assert_true((double)(pte->segments[i].offset - pte->segment_base_offset) ==
                    golden_number(s, "offset"));
    }
    const json_t *named = json_object_get(j, "named_data");
    assert_int_equal(pte->n_named_data, json_array_size(named));
    for (size_t i = 0; i < pte->n_named_data; i++) {
        const json_t *n = json_array_get(named, i);
        golden_str(n, "key", pte->named_data[i].key);
        assert_true(pte->named_data[i].segment == golden_number(n, "segment_index"));
        assert_int_equal(pte->segments[pte->named_data[i].segment].kind, ETP_PTE_SEGMENT_NAMED);
        assert_int_equal(etp_pte_find_named(pte, pte->named_data[i].key),
                         pte->named_data[i].segment);
    }
}

// ---- XNNPACK's schema.fbs ----

static void check_quant(const json_t *j, const etp_quant *q)
{
    const char *type = golden_string(j, "quant_params_type");
    const json_t *p = json_object_get(j, "quant_params");
    if (strcmp(type, "PerTensorQuant") == 0) {
        assert_int_equal(q->kind, ETP_QUANT_PER_TENSOR);
        // flatc prints six decimals
        assert_true(fabs((double)q->scale - golden_number(p, "scale")) <= 0.6e-6);
        assert_true(q->zero_point == golden_number(p, "zero_point"));
    } else if (strcmp(type, "PerChannelQuant") == 0) {
        assert_int_equal(q->kind, ETP_QUANT_PER_CHANNEL);
        assert_true(q->channel_dim == golden_number(p, "channel_dim"));
        assert_true(q->scale_constant == golden_number(p, "scale_buffer_idx"));
        assert_true(q->n_scales == golden_number(p, "num_scales"));
    } else if (strcmp(type, "PerTokenDynamicQuant") == 0) {
        assert_int_equal(q->kind, ETP_QUANT_PER_TOKEN);
        assert_true(q->n_nonbatch_dims == golden_number(p, "num_nonbatch_dims"));
    } else {
        fail_msg("no expectation for %s", type);
    }
}

static void check_xnn_value(const json_t *j, const etp_xnn_value *v)
{
    const json_t *t = json_object_get(j, "xvalue_union");
    if (strcmp(golden_string(j, "xvalue_union_type"), "XNNQuantizedTensorValue") == 0) {
        check_quant(t, &v->quant);
        t = json_object_get(t, "tensor_value");
    } else {
        assert_int_equal(v->quant.kind, ETP_QUANT_NONE);
    }
    static const struct {
        const char *name;
        etp_dtype dtype;
    } k_types[] = {
        {"xnn_datatype_fp32",    ETP_DTYPE_FLOAT32},
        {"xnn_datatype_fp16",    ETP_DTYPE_FLOAT16},
        {"xnn_datatype_qint8",   ETP_DTYPE_QINT8  },
        {"xnn_datatype_qcint8",  ETP_DTYPE_QCINT8 },
        {"xnn_datatype_qcint32", ETP_DTYPE_QCINT32},
        {"xnn_datatype_qdint8",  ETP_DTYPE_QDINT8 }
    };
    bool known = false;
    for (size_t i = 0; i < sizeof k_types / sizeof *k_types; i++) {
        if (strcmp(golden_string(t, "datatype"), k_types[i].name) == 0) {
            assert_int_equal(v->dtype, k_types[i].dtype);
            known = true;
        }
    }
    assert_true(known);
    golden_ids(json_object_get(t, "dims"), v->dims);
    assert_true(v->constant == golden_number(t, "constant_buffer_idx"));
    assert_true(v->external_id == golden_number(t, "external_id"));
    assert_true(v->flags == golden_number(t, "flags"));
    assert_true(v->id == golden_number(t, "id_out"));
}

// Ids by their names in the schema, in the order of etp_xnn_node.
static void check_xnn_ids(const json_t *u, const etp_xnn_node *n)
{
    static const char *const k_in[] = {
        "input_id",  "input1_id", "query_id",  "key_id",    "value_id",  "scale_id", "mask_id",
        "input2_id", "filter_id", "input3_id", "input4_id", "input5_id", "bias_id"};
    static const char *const k_out[] = {"output_id", "output_value_id", "output_index_id"};
    uint32_t n_in = 0, n_out = 0;
    for (size_t i = 0; i < sizeof k_in / sizeof *k_in; i++) {
        if (json_object_get(u, k_in[i]) && n_in < n->n_inputs) {
            assert_true(n->inputs[n_in++] == golden_number(u, k_in[i]));
        }
    }
    for (size_t i = 0; i < sizeof k_out / sizeof *k_out; i++) {
        if (json_object_get(u, k_out[i])) {
            assert_true(n->outputs[n_out++] == golden_number(u, k_out[i]));
        }
    }
    assert_int_equal(n_in, n->n_inputs);
    assert_int_equal(n_out, n->n_outputs);
}

static void check_xnn_window(const json_t *u, const etp_xnn_window *w)
{
    if (!json_object_get(u, "kernel_height")) {
        assert_null(w);
        return;
    }
    assert_true(w->pad_top == golden_number(u, "padding_top"));
    assert_true(w->pad_left == golden_number(u, "padding_left"));
    assert_true(w->kernel_h == golden_number(u, "kernel_height"));
    assert_true(w->kernel_w == golden_number(u, "kernel_width"));
    assert_true(w->stride_h == golden_number(u, "subsampling_height"));
    assert_true(w->dilation_w == golden_number(u, "dilation_width"));
    assert_true(w->group_in == golden_number(u, "group_input_channels"));
    assert_true(w->group_out == golden_number(u, "group_output_channels"));
    assert_true(w->groups == golden_number(u, "groups"));
    assert_true(w->adjust_w == golden_number(u, "adjustment_width"));
}

static double limit(const json_t *j, const char *key)
{
    const char *text = golden_string(j, key);
    return text[0] ? strtod(text, NULL) : golden_number(j, key);
}

static void check_xnn_node(const json_t *j, const etp_xnn_node *n)
{
    const char *type = golden_string(j, "xnode_union_type");
    const json_t *u = json_object_get(j, "xnode_union");
    assert_string_equal(etp_xnn_type_name((int)n->type), type + 3); // behind "XNN"
    assert_true(n->debug_handle == golden_number(j, "debug_handle"));
    check_xnn_ids(u, n);
    check_xnn_window(u, n->window);
    assert_true(n->flags == golden_number(u, "flags"));
    const json_t *limits = json_object_get(j, "output_min_max");
    assert_int_equal(n->has_min_max, limits != NULL);
    if (limits) {
        assert_true((double)n->min == limit(limits, "output_min"));
        assert_true((double)n->max == limit(limits, "output_max"));
    }
    const char *const lists[] = {"perm", "new_shape", "offsets"};
    for (size_t i = 0; i < 3; i++) {
        if (json_object_get(u, lists[i])) {
            golden_ids(json_object_get(u, lists[i]), n->list);
        }
    }
    if (json_object_get(u, "sizes")) {
        golden_ids(json_object_get(u, "sizes"), n->list2);
    }
}

static void check_payload(const json_t *j, const etp_pte *pte, etp_bytes blob, bool external)
{
    etp_arena arena = {0};
    etp_xnn_graph g;
    etp_error err = {0};
    ASSERT_OK(etp_xnn_read(blob, &arena, &g, &err), err);
    assert_true(g.has_header);
    assert_string_equal(g.identifier, "XN01");
    assert_true(g.n_externs == golden_number(j, "num_externs"));
    const json_t *nodes = json_object_get(j, "xnodes");
    assert_int_equal(g.n_nodes, json_array_size(nodes));
    for (size_t i = 0; i < g.n_nodes; i++) {
        check_xnn_node(json_array_get(nodes, i), &g.nodes[i]);
    }
    const json_t *values = json_object_get(j, "xvalues");
    assert_int_equal(g.n_values, json_array_size(values));
    for (size_t i = 0; i < g.n_values; i++) {
        check_xnn_value(json_array_get(values, i), &g.values[i]);
        assert_ptr_equal(etp_xnn_value_by_id(&g, g.values[i].id), &g.values[i]);
    }
    assert_null(etp_xnn_value_by_id(&g, g.n_ids));
    const json_t *constants = json_object_get(j, "constant_data");
    assert_int_equal(g.n_constants, json_array_size(constants));
    for (size_t i = 1; i < g.n_constants; i++) {
        const json_t *c = json_array_get(constants, i);
        golden_str(c, "named_key", g.constants[i].key);
        assert_true((double)g.constants[i].size == golden_number(c, "size"));
        uint32_t segment = etp_pte_find_named(pte, g.constants[i].key);
        assert_int_equal(segment == ETP_PTE_NO_SEGMENT, external);
    }
    golden_ids(json_object_get(j, "input_ids"), g.input_ids);
    golden_ids(json_object_get(j, "output_ids"), g.output_ids);
    etp_arena_dispose(&arena);
}

// ---- whole files ----

// PAYLOADS: folder of flatc's JSON of the payloads, NULL when there is none.
static void check_pte(const char *path, const char *golden, const char *payloads)
{
    etp_file file;
    etp_arena arena = {0};
    etp_error err = {0};
    etp_pte pte;
    print_message("%s\n", path);
    json_t *j = golden_load(golden);
    assert_non_null(j);
    golden_open(path, &file);
    ASSERT_OK(etp_pte_read(file.bytes, &arena, &pte, &err), err);
    assert_true(pte.version == golden_number(j, "version"));
    const json_t *plans = json_object_get(j, "execution_plan");
    assert_int_equal(pte.n_methods, json_array_size(plans));
    check_segments(j, &pte);
    const json_t *inline_data = json_object_get(j, "backend_delegate_data");
    assert_int_equal(pte.n_inline_data, json_array_size(inline_data));
    for (size_t i = 0; i < pte.n_methods; i++) {
        check_method(json_array_get(plans, i), &pte, &pte.methods[i]);
        for (uint32_t d = 0; payloads && d < pte.methods[i].n_delegates; d++) {
            const char *name =
                etp_arena_printf(&arena, "%s/%s.%.*s.xnn%u.json.gz", payloads,
                                 strrchr(path, '/') + 1, ETP_STR_ARG(pte.methods[i].name), d);
            json_t *payload = golden_load(name);
            assert_non_null(payload);
            check_payload(payload, &pte, pte.methods[i].delegates[d].data,
                          strstr(path, "external") != NULL);
            json_decref(payload);
        }
    }
    json_decref(j);
    etp_arena_dispose(&arena);
    etp_file_close(&file);
}

static void check_ptd(const char *path, const char *golden)
{
    etp_file file;
    etp_arena arena = {0};
    etp_error err = {0};
    etp_flat_tensor ptd;
    json_t *j = golden_load(golden);
    assert_non_null(j);
    golden_open(path, &file);
    if (etp_flat_tensor_read(file.bytes, &arena, &ptd, &err) != ETP_OK) {
        fail_msg("%s: %s", path, err.msg);
    }
    const json_t *named = json_object_get(j, "named_data");
    assert_int_equal(ptd.n_entries, json_array_size(named));
    assert_int_equal(ptd.n_segments, json_array_size(json_object_get(j, "segments")));
    for (size_t i = 0; i < ptd.n_entries; i++) {
        const json_t *n = json_array_get(named, i);
        const json_t *layout = json_object_get(n, "tensor_layout");
        const json_t *segment = json_array_get(json_object_get(j, "segments"),
                                               (size_t)golden_number(n, "segment_index"));
        golden_str(n, "key", ptd.entries[i].key);
        assert_true((double)ptd.entries[i].data.len == golden_number(segment, "size"));
        assert_true((double)(ptd.entries[i].data.base - ptd.segment_base_offset) ==
                    golden_number(segment, "offset"));
        assert_int_equal(ptd.entries[i].has_layout, layout != NULL);
        if (layout) {
            assert_int_equal(ptd.entries[i].dtype,
                             scalar_type(golden_string(layout, "scalar_type")));
            golden_ids(json_object_get(layout, "sizes"), ptd.entries[i].sizes);
        }
        assert_ptr_equal(etp_flat_tensor_find(&ptd, ptd.entries[i].key), &ptd.entries[i]);
    }
    assert_null(etp_flat_tensor_find(&ptd, ETP_STR("no such key")));
    json_decref(j);
    etp_arena_dispose(&arena);
    etp_file_close(&file);
}

static void check_bytes(const json_t *array, etp_bytes data)
{
    assert_int_equal(data.len, json_array_size(array));
    for (size_t i = 0; i < data.len; i++) {
        assert_true(data.ptr[i] == json_number_value(json_array_get(array, i)));
    }
}

static void check_bundled_values(const json_t *list, const etp_bundled_value *values, uint32_t n)
{
    assert_int_equal(n, json_array_size(list));
    for (size_t i = 0; i < n; i++) {
        const json_t *v = json_array_get(list, i);
        const json_t *val = json_object_get(v, "val");
        assert_int_equal(values[i].kind, value_kind(golden_string(v, "val_type")));
        assert_int_equal(values[i].kind, ETP_EVALUE_TENSOR);
        assert_int_equal(values[i].u.tensor.dtype, scalar_type(golden_string(val, "scalar_type")));
        golden_ids(json_object_get(val, "sizes"), values[i].u.tensor.sizes);
        check_bytes(json_object_get(val, "data"), values[i].u.tensor.data);
    }
}

static void check_bpte(const char *path, const char *golden)
{
    etp_file file;
    etp_arena arena = {0};
    etp_error err = {0};
    etp_bundled b;
    json_t *j = golden_load(golden);
    assert_non_null(j);
    golden_open(path, &file);
    if (etp_bundled_read(file.bytes, &arena, &b, &err) != ETP_OK) {
        fail_msg("%s: %s", path, err.msg);
    }
    assert_true(b.version == golden_number(j, "version"));
    const json_t *suites = json_object_get(j, "method_test_suites");
    assert_int_equal(b.n_suites, json_array_size(suites));
    for (size_t i = 0; i < b.n_suites; i++) {
        const json_t *suite = json_array_get(suites, i);
        const json_t *cases = json_object_get(suite, "test_cases");
        golden_str(suite, "method_name", b.suites[i].method);
        assert_int_equal(b.suites[i].n_cases, json_array_size(cases));
        for (size_t c = 0; c < b.suites[i].n_cases; c++) {
            const json_t *one = json_array_get(cases, c);
            const etp_bundled_case *got = &b.suites[i].cases[c];
            check_bundled_values(json_object_get(one, "inputs"), got->inputs, got->n_inputs);
            check_bundled_values(json_object_get(one, "expected_outputs"), got->expected,
                                 got->n_expected);
        }
    }
    check_bytes(json_object_get(j, "program"), b.program);
    etp_pte inner;
    assert_int_equal(etp_pte_read(b.program, &arena, &inner, &err), ETP_OK);
    json_decref(j);
    etp_arena_dispose(&arena);
    etp_file_close(&file);
}

typedef void check_fn(const char *path, const char *golden);

static size_t check_all(const char *dir, const char *goldens, const char *suffix, check_fn *check)
{
    etp_arena arena = {0};
    golden_files files = {0};
    golden_list(dir, suffix, &arena, &files);
    for (size_t i = 0; i < files.n; i++) {
        const char *name = strrchr(files.items[i], '/') + 1;
        check(files.items[i], etp_arena_printf(&arena, "%s/%s.json.gz", goldens, name));
    }
    etp_arena_dispose(&arena);
    return files.n;
}

static void check_pte_only(const char *path, const char *golden)
{
    check_pte(path, golden, NULL);
}

static void fixtures_match_flatc(void **state)
{
    assert_true(check_all(k_data, k_data, ".pte", check_pte_only) >= 4);
    assert_true(check_all(k_data, k_data, ".ptd", check_ptd) >= 1);
    assert_true(check_all(k_data, k_data, ".bpte", check_bpte) >= 1);
}

static char g_payloads[512]; // set before the walk: the check function has no context

static void check_pte_with_payloads(const char *path, const char *golden)
{
    check_pte(path, golden, g_payloads);
}

static void corpus_matches_flatc(void **state)
{
    const char *dir = need_corpus();
    char models[512];
    snprintf(models, sizeof models, "%s/models", dir);
    snprintf(g_payloads, sizeof g_payloads, "%s/pte", dir);
    assert_true(check_all(models, g_payloads, ".pte", check_pte_with_payloads) >= 17);
    assert_true(check_all(models, g_payloads, ".ptd", check_ptd) >= 2);
    assert_true(check_all(models, g_payloads, ".bpte", check_bpte) >= 1);
}

// ---- what files of other kinds say ----

static void wrong_files_are_refused(void **state)
{
    etp_arena *arena = *state;
    etp_error err = {0};
    etp_pte pte;
    etp_xnn_graph graph;
    etp_bundled bundled;
    etp_flat_tensor ptd;
    const uint8_t text[] = "this is not a model, only some text";
    etp_bytes bytes = {text, sizeof text, 0};
    assert_int_equal(etp_pte_read(bytes, arena, &pte, &err), ETP_UNSUPPORTED);
    assert_non_null(strstr(err.msg, "ET12"));
    assert_int_equal(err.offset, 4);
    assert_int_equal(etp_xnn_read(bytes, arena, &graph, &err), ETP_UNSUPPORTED);
    assert_int_equal(etp_bundled_read(bytes, arena, &bundled, &err), ETP_UNSUPPORTED);
    assert_int_equal(etp_flat_tensor_read(bytes, arena, &ptd, &err), ETP_UNSUPPORTED);
    bytes.len = 0;
    assert_int_equal(etp_pte_read(bytes, arena, &pte, NULL), ETP_CORRUPT);
    assert_int_equal(etp_xnn_read(bytes, arena, &graph, NULL), ETP_CORRUPT);
    assert_int_equal(etp_bundled_read(bytes, arena, &bundled, NULL), ETP_CORRUPT);
    assert_int_equal(etp_flat_tensor_read(bytes, arena, &ptd, NULL), ETP_CORRUPT);
}

static void dtypes_know_their_size(void **state)
{
    uint64_t bytes = 0;
    assert_true(etp_dtype_bytes(ETP_DTYPE_FLOAT32, 3, &bytes));
    assert_int_equal(bytes, 12);
    assert_true(etp_dtype_bytes(ETP_DTYPE_QCINT4, 3, &bytes));
    assert_int_equal(bytes, 2);
    assert_false(etp_dtype_bytes(ETP_DTYPE_UNKNOWN, 1, &bytes));
    assert_false(etp_dtype_bytes(ETP_DTYPE_FLOAT32, UINT64_MAX / 8, &bytes));
    assert_int_equal(etp_dtype_from_scalar_type(6), ETP_DTYPE_FLOAT32);
    assert_int_equal(etp_dtype_from_scalar_type(-1), ETP_DTYPE_UNKNOWN);
    assert_int_equal(etp_dtype_from_scalar_type(127), ETP_DTYPE_UNKNOWN);
    assert_int_equal(etp_dtype_from_xnn(10), ETP_DTYPE_QBINT4);
    assert_string_equal(etp_dtype_name(ETP_DTYPE_QDINT8), "qdint8");
}

#define RESULT corpus_result // where no corpus is, the test is skipped
