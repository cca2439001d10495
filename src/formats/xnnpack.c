// SPDX-License-Identifier: Apache-2.0
// The XNNPACK payload reader: header, verification, typed nodes, values and constants.
#include <etprof/xnnpack.h>

#include <math.h>

#include "base/choice.h"
#include "base/guard.h"
#include "formats/xnnpack_schema.h"

#define MAX_RANK 16
// Without the padding behind it. The magic word stands where a FlatBuffer has its identifier.
#define HEADER_LENGTH 30
#define RECORD_SLACK (1u << 20)

typedef struct reader {
    etp_bytes payload;
    etp_bytes flatbuffer;
    etp_bytes constants; // data behind the flatbuffer, may be empty
    etp_fb_table root;
    etp_arena *arena;
    uint64_t budget;
    etp_xnn_graph *out;
    etp_error *err;
} reader;

const char *etp_xnn_type_name(int type)
{
    static const char *const k_names[ETP_XNN_TYPE_COUNT] = {
#define ETP_XNN_NAME_ROW(code, name, text) [code] = (text),
        ETP_XNN_NODE_MAP(ETP_XNN_NAME_ROW)
#undef ETP_XNN_NAME_ROW
    };
    return type > 0 && type < ETP_XNN_TYPE_COUNT ? k_names[type] : NULL;
}

const etp_xnn_value *etp_xnn_value_by_id(const etp_xnn_graph *graph, uint32_t id)
{
    if (id >= graph->n_ids || graph->index_by_id[id] == ETP_XNN_NO_ID) {
        return NULL;
    }
    return &graph->values[graph->index_by_id[id]];
}

static uint64_t position(const reader *r, etp_fb_table t)
{
    return etp_fb_position(r->flatbuffer, t);
}

// N zeroed records of SIZE bytes; what is built stays in proportion to the payload.
// Tables of a hostile payload can be shared, so that few bytes ask for many records.
static etp_status take(reader *r, const char *what, size_t n, size_t size, void *out_records)
{
    size_t bytes = 0;
    if (!etp_mul_size(n, size, &bytes) || bytes > r->budget) {
        return etp_fail_at(r->err, ETP_CORRUPT, r->payload.base,
                           "%zu %s are more than a payload of %zu bytes can describe", n, what,
                           r->payload.len);
    }
    r->budget -= bytes;
    void *records = etp_arena_alloc_array(r->arena, n, size);
    memcpy(out_records, &records, sizeof records);
    return ETP_OK;
}

// ---- header ----

// The header says where the graph ends and the constants behind it begin; without constants of its
// own a payload of an old exporter is the graph alone.
static etp_status read_header(reader *r)
{
    etp_bytes p = r->payload;
    r->flatbuffer = p;
    if (p.len < 8) {
        return etp_fail_at(r->err, ETP_CORRUPT, p.base + p.len,
                           "%zu bytes are too few for an XNNPACK payload", p.len);
    }
    if (memcmp(p.ptr + 4, "XH00", 4) != 0) {
        return ETP_OK; // the bare flatbuffer of old exporters
    }
    if (p.len < HEADER_LENGTH || etp_load_u16(p.ptr + 8) < HEADER_LENGTH) {
        return etp_fail_at(r->err, ETP_CORRUPT, p.base + 8,
                           "XNNPACK header of %u bytes in a payload of %zu bytes, expected %d",
                           p.len < 10 ? 0u : etp_load_u16(p.ptr + 8), p.len, HEADER_LENGTH);
    }
    // The fields of the header follow each other without alignment, behind a length of two bytes.
    uint32_t flatbuffer_offset = etp_load_u32(p.ptr + 10);
    uint32_t flatbuffer_size = etp_load_u32(p.ptr + 14);
    uint32_t constant_offset = etp_load_u32(p.ptr + 18);
    uint64_t constant_size = etp_load_u64(p.ptr + 22);
    ETP_TRY(etp_bytes_sub(p, flatbuffer_offset, flatbuffer_size, "XNNPACK graph", &r->flatbuffer,
                          r->err));
    if (constant_size > 0) { // offset may lie behind the end when there is nothing
        ETP_TRY(etp_bytes_sub(p, constant_offset, constant_size, "XNNPACK constant data",
                              &r->constants, r->err));
    }
    r->out->has_header = true;
    r->out->constant_bytes = constant_size;
    return ETP_OK;
}

// ---- constants ----

// Where the bytes lie has changed over the years: in the graph, then behind it at an offset, now in
// a segment of the program or in a .ptd, under a name that is their hash.
static etp_status read_constants(reader *r)
{
    etp_fb_vector v = etp_fb_vec(r->root, GRAPH_CONSTANTS);
    const bool old = v.n == 0; // the oldest form: each constant is a table of the graph itself
    v = old ? etp_fb_vec(r->root, GRAPH_OLD_CONSTANTS) : v;
    etp_xnn_constant *items = NULL;
    ETP_TRY(take(r, "constants", v.n, sizeof *items, &items));
    for (uint32_t i = 0; i < v.n; i++) {
        etp_fb_table t = etp_fb_vec_table(v, i);
        if (old) {
            items[i].data = etp_fb_vec_bytes(r->flatbuffer, etp_fb_vec(t, 0));
            items[i].size = items[i].data.len;
            continue;
        }
        uint64_t offset = etp_fb_u64(t, CONSTANT_OFFSET, 0);
        items[i].size = etp_fb_u64(t, CONSTANT_SIZE, 0);
        items[i].key = etp_fb_str(t, CONSTANT_KEY);
        if (i == 0 || offset == UINT64_MAX || items[i].key.len > 0) {
            continue; // entry 0 stands for "no constant"; named ones are elsewhere
        }
        if (etp_bytes_sub(r->constants, offset, items[i].size, "constant data", &items[i].data,
                          r->err) != ETP_OK) {
            return etp_fail_ctx(r->err, "constant %lu", (unsigned long)i);
        }
    }
    r->out->constants = items;
    r->out->n_constants = v.n;
    return ETP_OK;
}

// Index 0 means that there is no constant, also in a graph whose list of constants is empty.
static etp_status check_constant(reader *r, etp_fb_table t, uint32_t index)
{
    if (index != 0 && index >= r->out->n_constants) {
        return etp_fail_at(r->err, ETP_CORRUPT, position(r, t),
                           "constant %lu does not exist, there are %lu", (unsigned long)index,
                           (unsigned long)r->out->n_constants);
    }
    return ETP_OK;
}

// ---- values ----

// Scales are in the table (as float32, or bfloat16 in an old form of groups) or, today, a constant
// like weights. An unknown kind is no error: the value's type and shape can be told without it.
static etp_status read_quant(reader *r, etp_fb_table t, etp_quant *out)
{
    etp_fb_table q = etp_fb_table_field(t, QV_PARAMS);
    uint8_t type = q.ptr ? etp_fb_u8(t, QV_TYPE, 0) : 0;
    etp_fb_vector scales = {NULL, 0};
    switch (type) {
    case ETP_QUANT_PER_TENSOR:
        out->scale = etp_fb_f32(q, PER_TENSOR_SCALE, 0.0f);
        out->zero_point = etp_fb_i32(q, PER_TENSOR_ZERO, 0);
        break;
    case ETP_QUANT_PER_CHANNEL:
        scales = etp_fb_vec(q, PER_CHANNEL_SCALES);
        out->channel_dim = etp_fb_i32(q, PER_CHANNEL_DIM, 0);
        out->scale_constant = etp_fb_u32(q, PER_CHANNEL_BUFFER, 0);
        out->n_scales = etp_fb_u32(q, PER_CHANNEL_N, 0);
        break;
    case ETP_QUANT_PER_CHANNEL_GROUP:
        scales = etp_fb_vec(q, GROUP_SCALES);
        out->channel_dim = etp_fb_i32(q, GROUP_DIM, 0);
        out->group_size = etp_fb_i32(q, GROUP_SIZE, 0);
        out->scale_constant = etp_fb_u32(q, GROUP_BUFFER, 0);
        out->n_scales = etp_fb_u32(q, GROUP_N, 0);
        if (out->n_scales == 0) { // the deprecated bfloat16 vector
            out->n_scales = etp_fb_vec(q, GROUP_OLD_SCALES).n;
        }
        break;
    case ETP_QUANT_PER_TOKEN:
        out->n_nonbatch_dims = etp_fb_i32(q, 0, 0);
        break;
    default:
        return ETP_OK;
    }
    out->kind = (etp_quant_kind)type;
    out->inline_scales = (etp_i32s){scales.items, scales.n};
    if (scales.n > 0) {
        out->n_scales = scales.n;
    }
    return check_constant(r, q, out->scale_constant);
}

static etp_status read_value(reader *r, etp_fb_table t, etp_xnn_value *out)
{
    etp_fb_table v = etp_fb_table_field(t, VALUE_BODY);
    uint8_t type = v.ptr ? etp_fb_u8(t, VALUE_TYPE, 0) : 0;
    if (type == VALUE_QUANTISED) {
        ETP_TRY(read_quant(r, v, &out->quant));
        v = etp_fb_table_field(v, QV_TENSOR);
    }
    if ((type != VALUE_PLAIN && type != VALUE_QUANTISED) || !v.ptr) {
        return etp_fail_at(r->err, ETP_CORRUPT, position(r, t), "value of unknown kind %u", type);
    }
    out->datatype = etp_fb_i16(v, TV_DATATYPE, 0);
    out->dtype = etp_dtype_from_xnn(out->datatype);
    etp_fb_vector dims = etp_fb_vec(v, TV_DIMS);
    uint32_t rank = etp_fb_u32(v, TV_RANK, 0);
    // The rank has a field of its own beside the list: a larger one would read beyond it.
    if (rank > dims.n || rank > MAX_RANK) {
        return etp_fail_at(r->err, ETP_CORRUPT, position(r, v),
                           "value of %lu dimensions with %lu sizes (at most %d are allowed)",
                           (unsigned long)rank, (unsigned long)dims.n, MAX_RANK);
    }
    out->dims = (etp_i32s){dims.items, rank};
    out->constant = etp_fb_u32(v, TV_CONSTANT, 0);
    out->external_id = etp_fb_u32(v, TV_EXTERNAL, 0);
    out->flags = etp_fb_u32(v, TV_FLAGS, 0);
    out->id = etp_fb_u32(v, TV_ID, 0);
    return check_constant(r, v, out->constant);
}

// ---- nodes ----

// Tables of convolutions and of pooling begin with the same fields in the same order; pooling has
// fewer, and the rest stay 0.
static etp_status read_window(reader *r, etp_fb_table body, uint8_t n_fields, etp_xnn_node *out)
{
    etp_xnn_window *w = NULL;
    ETP_TRY(take(r, "windows", 1, sizeof *w, &w));
    uint32_t *const order[] = {&w->pad_top,    &w->pad_right,  &w->pad_bottom, &w->pad_left,
                               &w->kernel_h,   &w->kernel_w,   &w->stride_h,   &w->stride_w,
                               &w->dilation_h, &w->dilation_w, &w->group_in,   &w->group_out,
                               &w->groups,     &w->adjust_h,   &w->adjust_w};
    for (uint8_t i = 0; i < n_fields; i++) {
        *order[i] = etp_fb_u32(body, i, 0);
    }
    out->window = w;
    return ETP_OK;
}

static etp_i32s list_field(etp_fb_table body, uint8_t field)
{
    if (field == ETP_XNN_NO_FIELD) {
        return (etp_i32s){NULL, 0};
    }
    etp_fb_vector v = etp_fb_vec(body, field);
    return (etp_i32s){v.items, v.n};
}

static etp_status read_node(reader *r, etp_fb_table t, etp_xnn_node *out)
{
    etp_fb_table body = etp_fb_table_field(t, NODE_BODY);
    uint8_t type = body.ptr ? etp_fb_u8(t, NODE_TYPE, 0) : 0;
    out->type = (etp_xnn_type)type;
    out->debug_handle = etp_fb_u32(t, NODE_HANDLE, 0);
    out->min = -INFINITY;
    out->max = INFINITY;
    etp_fb_table limits = etp_fb_table_field(t, NODE_MIN_MAX);
    if (limits.ptr) {
        out->has_min_max = true;
        // A limit of 0, the lower one of every ReLU, equals the default and so is not in the file.
        out->min = etp_fb_f32(limits, 0, 0.0f);
        out->max = etp_fb_f32(limits, 1, 0.0f);
    }
    const etp_xnn_layout *layout = etp_xnn_layout_of(type);
    if (!layout) {
        return ETP_OK; // a newer node type: known to exist, nothing more
    }
    // After this, ids of a node can be looked up without asking, but for inputs that may be absent.
    for (uint8_t i = 0; i < layout->n_inputs; i++) {
        uint32_t id = etp_fb_u32(body, layout->inputs[i], 0);
        bool absent = id == ETP_XNN_NO_ID && (layout->optional >> i & 1) != 0;
        if (!absent && !etp_xnn_value_by_id(r->out, id)) {
            return etp_fail_at(r->err, ETP_CORRUPT, position(r, body),
                               "input value %lu does not exist", (unsigned long)id);
        }
        out->inputs[i] = id;
    }
    for (uint8_t i = 0; i < layout->n_outputs; i++) {
        out->outputs[i] = etp_fb_u32(body, layout->outputs[i], 0);
        if (!etp_xnn_value_by_id(r->out, out->outputs[i])) {
            return etp_fail_at(r->err, ETP_CORRUPT, position(r, body),
                               "output value %lu does not exist", (unsigned long)out->outputs[i]);
        }
    }
    out->n_inputs = layout->n_inputs;
    out->n_outputs = layout->n_outputs;
    out->flags = etp_fb_u32(body, layout->flags, 0);
    out->list = list_field(body, layout->list);
    out->list2 = list_field(body, layout->list2);
    if (layout->param != ETP_XNN_NO_FIELD) {
        out->param = etp_fb_f32(body, layout->param, 0.0f);
    }
    if (layout->axis != ETP_XNN_NO_FIELD) {
        out->axis = etp_fb_u32(body, layout->axis, 0);
    }
    if (layout->new_size != ETP_XNN_NO_FIELD) {
        out->new_height = etp_fb_u32(body, layout->new_size, 0);
        out->new_width = etp_fb_u32(body, layout->new_size + 1u, 0);
    }
    return layout->window ? read_window(r, body, layout->window, out) : ETP_OK;
}

static etp_status read_payload(etp_bytes payload, etp_arena *arena, etp_xnn_graph *out,
                               etp_error *err)
{
    *out = (etp_xnn_graph){0};
    etp_error local = {0};
    reader r = {.payload = payload, .arena = arena, .out = out, .err = ETP_OR(err, &local)};
    r.budget = 4 * (uint64_t)payload.len + RECORD_SLACK;
    r.constants.base = payload.base;
    ETP_TRY(read_header(&r));
    // Exporters write XN01; the runtime still takes XN00, and so does this reader.
    etp_bytes f = r.flatbuffer;
    if (f.len < 8 || memcmp(f.ptr + 4, "XN0", 3) != 0 || (f.ptr[7] != '0' && f.ptr[7] != '1')) {
        return etp_fail_at(r.err, ETP_UNSUPPORTED, f.base + (f.len < 8 ? 0 : 4),
                           "not an XNNPACK graph: identifier XN00 or XN01 is missing");
    }
    memcpy(out->identifier, f.ptr + 4, 4);
    out->flatbuffer_bytes = f.len;
    // Either of two identifiers was seen above, so the verifier is given none to check.
    etp_fb_options options = {.max_tables = f.len / 8 + 64};
    ETP_TRY(etp_fb_verify(f, &etp_xnn_schema, &options, &r.root, r.err));
    ETP_TRY(read_constants(&r));
    etp_fb_vector v = etp_fb_vec(r.root, GRAPH_VALUES);
    etp_xnn_value *values = NULL;
    ETP_TRY(take(&r, "values", v.n, sizeof *values, &values));
    for (uint32_t i = 0; i < v.n; i++) {
        if (read_value(&r, etp_fb_vec_table(v, i), &values[i]) != ETP_OK) {
            return etp_fail_ctx(r.err, "value %lu", (unsigned long)i);
        }
    }
    out->values = values;
    out->n_values = v.n;
    // Nodes name values by id, not by place. The index is made once, because every node looks up
    // several; its size must follow from the number of values, not from an id that a file may
    // choose.
    uint32_t n_ids = 0;
    for (uint32_t i = 0; i < v.n; i++) {
        if (values[i].id / 4 > v.n + 256) { // exporters number values from 0 without big gaps
            return etp_fail_at(r.err, ETP_CORRUPT, f.base, "value id %lu in a graph of %lu values",
                               (unsigned long)values[i].id, (unsigned long)v.n);
        }
        n_ids = values[i].id >= n_ids ? values[i].id + 1 : n_ids;
    }
    uint32_t *index = NULL;
    ETP_TRY(take(&r, "value ids", n_ids, sizeof *index, &index));
    for (uint32_t i = 0; i < n_ids; i++) {
        index[i] = ETP_XNN_NO_ID;
    }
    for (uint32_t i = 0; i < v.n; i++) {
        if (index[values[i].id] != ETP_XNN_NO_ID) {
            return etp_fail_at(r.err, ETP_CORRUPT, f.base, "two values have the id %lu",
                               (unsigned long)values[i].id);
        }
        index[values[i].id] = i;
    }
    out->index_by_id = index;
    out->n_ids = n_ids;
    v = etp_fb_vec(r.root, GRAPH_NODES);
    etp_xnn_node *nodes = NULL;
    ETP_TRY(take(&r, "nodes", v.n, sizeof *nodes, &nodes));
    for (uint32_t i = 0; i < v.n; i++) {
        if (read_node(&r, etp_fb_vec_table(v, i), &nodes[i]) != ETP_OK) {
            const char *name = etp_xnn_type_name((int)nodes[i].type);
            return etp_fail_ctx(r.err, "node %lu (%s)", (unsigned long)i, ETP_OR(name, "?"));
        }
    }
    out->nodes = nodes;
    out->n_nodes = v.n;
    out->n_externs = etp_fb_u32(r.root, GRAPH_EXTERNS, 0);
    etp_fb_vector inputs = etp_fb_vec(r.root, GRAPH_INPUTS);
    etp_fb_vector outputs = etp_fb_vec(r.root, GRAPH_OUTPUTS);
    out->input_ids = (etp_i32s){inputs.items, inputs.n};
    out->output_ids = (etp_i32s){outputs.items, outputs.n};
    return ETP_OK;
}

etp_status etp_xnn_read(etp_bytes payload, etp_arena *arena, etp_xnn_graph *out, etp_error *err)
{
    ETP_GUARDED(arena, err, "the XNNPACK payload", read_payload(payload, arena, out, err));
}
