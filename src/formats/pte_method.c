// SPDX-License-Identifier: Apache-2.0
// The .pte reader, method level: values, instructions, operators, delegates of one plan.
#include "formats/pte_internal.h"

#define MAX_RANK 16 // ExecuTorch's own limit

// ---- values ----

// The initial contents of a tensor: OFFSETS entry INDEX of segment t.
static etp_status subsegment_data(etp_pte_reader *r, etp_fb_table tensor, etp_fb_table t,
                                  etp_pte_tensor *out)
{
    uint32_t index = out->data_buffer_index;
    etp_fb_vector offsets = etp_fb_vec(t, SUBSEGMENT_OFFSETS);
    ETP_TRY(etp_pte_check_index(r, tensor, "constant", index, offsets.n));
    if (out->nbytes == UINT64_MAX) {
        return ETP_OK;
    }
    // check_subsegments has looked at the segment index and at every offset.
    etp_bytes segment = r->segments[etp_fb_u32(t, SUBSEGMENT_INDEX, 0)].data;
    uint64_t offset = etp_fb_vec_u64(offsets, index);
    return etp_bytes_sub(segment, offset, out->nbytes, "constant", &out->data, r->err);
}

// The format has no field that says where a tensor's data is. It follows from what else is there,
// in this order: a place in another file, then planned memory (with initial contents when it names
// a buffer, too), then a constant. Buffer 0 stands for none.
static etp_status tensor_location(etp_pte_reader *r, etp_fb_table t, etp_pte_tensor *out)
{
    etp_fb_table extra = etp_fb_table_field(t, TENSOR_EXTRA);
    etp_fb_table allocation = etp_fb_table_field(t, TENSOR_ALLOCATION);
    bool is_external = false;
    uint64_t mutable_index = 0;
    if (extra.ptr) {
        out->fqn = etp_fb_str(extra, EXTRA_NAME);
        // Locations are 0, in a segment of this file, and 1, in a .ptd under this name.
        is_external = etp_fb_i8(extra, EXTRA_LOCATION, 0) == 1;
        mutable_index = etp_fb_u64(extra, EXTRA_MUTABLE_SEGMENT, 0);
    }
    if (allocation.ptr) {
        out->has_allocation = true;
        out->memory_id = etp_fb_u32(allocation, ALLOCATION_ID, 0);
        out->memory_offset = etp_fb_u32(allocation, ALLOCATION_LOW, 0) |
                             (uint64_t)etp_fb_u32(allocation, ALLOCATION_HIGH, 0) << 32;
    }
    if (is_external) {
        out->location = ETP_PTE_DATA_EXTERNAL;
    } else if (out->has_allocation && out->data_buffer_index == 0) {
        out->location = ETP_PTE_DATA_PLANNED;
    } else if (out->has_allocation) {
        etp_fb_vector mutables = etp_fb_vec(r->root, PROGRAM_MUTABLE_SEGMENTS);
        out->location = ETP_PTE_DATA_MUTABLE;
        if (mutable_index >= mutables.n) {
            return etp_fail_at(r->err, ETP_CORRUPT, etp_fb_position(r->program, t),
                               "mutable segment %llu does not exist, there are %lu",
                               (unsigned long long)mutable_index, (unsigned long)mutables.n);
        }
        return subsegment_data(r, t, etp_fb_vec_table(mutables, (size_t)mutable_index), out);
    } else if (out->data_buffer_index > 0) {
        out->location = ETP_PTE_DATA_CONSTANT;
        // Before there were segments, each constant was a buffer inside the FlatBuffer.
        etp_fb_table constants = etp_fb_table_field(r->root, PROGRAM_CONSTANT_SEGMENT);
        if (etp_fb_vec(constants, SUBSEGMENT_OFFSETS).n > 0) {
            return subsegment_data(r, t, constants, out);
        }
        etp_fb_vector buffers = etp_fb_vec(r->root, PROGRAM_CONSTANT_BUFFER);
        ETP_TRY(etp_pte_check_index(r, t, "constant", out->data_buffer_index, buffers.n));
        etp_fb_vector data = etp_fb_vec(etp_fb_vec_table(buffers, out->data_buffer_index), 0);
        out->data = etp_fb_vec_bytes(r->program, data);
    } else {
        out->location = ETP_PTE_DATA_NONE;
    }
    return ETP_OK;
}

static etp_status read_tensor(etp_pte_reader *r, etp_fb_table t, const etp_pte_tensor **out_tensor)
{
    etp_pte_tensor *out = NULL;
    ETP_TRY(etp_pte_take(r, t, "tensors", 1, sizeof *out, &out));
    out->scalar_type = etp_fb_i8(t, TENSOR_SCALAR_TYPE, 0);
    out->dtype = etp_dtype_from_scalar_type(out->scalar_type);
    out->storage_offset = etp_fb_i32(t, TENSOR_STORAGE_OFFSET, 0);
    etp_fb_vector order = etp_fb_vec(t, TENSOR_DIM_ORDER);
    out->dim_order = (etp_str){(const char *)order.items, order.n};
    out->data_buffer_index = etp_fb_u32(t, TENSOR_DATA_BUFFER, 0);
    // A kind that is newer than we are is taken for the one that promises least.
    uint8_t dynamism = etp_fb_u8(t, TENSOR_DYNAMISM, 0);
    out->dynamism =
        dynamism > ETP_SHAPE_DYNAMIC_BOUND ? ETP_SHAPE_DYNAMIC_UNBOUND : (etp_dynamism)dynamism;
    // A size that does not fit 64 bits is no reason to refuse the program, most of which can be
    // told all the same: it is unknown, and nothing is read through it.
    uint64_t elements = 1;
    bool fits = true;
    out->sizes = etp_pte_i32s(etp_fb_vec(t, TENSOR_SIZES));
    if (out->sizes.n > MAX_RANK) {
        return etp_fail_at(r->err, ETP_CORRUPT, etp_fb_position(r->program, t),
                           "tensor with %lu dimensions, ExecuTorch allows %d",
                           (unsigned long)out->sizes.n, MAX_RANK);
    }
    for (uint32_t i = 0; i < out->sizes.n; i++) {
        int32_t size = etp_i32_at(out->sizes, i);
        if (size < 0) {
            return etp_fail_at(r->err, ETP_CORRUPT, etp_fb_position(r->program, t),
                               "tensor with a dimension of %ld elements", (long)size);
        }
        if (size > 0 && elements > UINT64_MAX / (uint64_t)size) {
            fits = false;
        }
        elements *= (uint64_t)size;
    }
    if (!fits || !etp_dtype_bytes(out->dtype, elements, &out->nbytes)) {
        out->nbytes = UINT64_MAX;
    }
    ETP_TRY(tensor_location(r, t, out));
    *out_tensor = out;
    return ETP_OK;
}

// Values of a kind that is newer than we are stay as what they are, ETP_EVALUE_OTHER: a program is
// read for what it can tell, and most of it never touches the new kind.
static etp_status read_value(etp_pte_reader *r, etp_fb_table t, etp_evalue *out)
{
    etp_fb_table v = etp_fb_table_field(t, UNION_VALUE);
    out->code = v.ptr ? etp_fb_u8(t, UNION_TYPE, 0) : 0;
    out->kind = out->code < ETP_EVALUE_OTHER ? (etp_evalue_kind)out->code : ETP_EVALUE_OTHER;
    etp_fb_vector items;
    switch (out->kind) {
    case ETP_EVALUE_INT:
        out->u.i = etp_fb_i64(v, 0, 0);
        break;
    case ETP_EVALUE_BOOL:
        out->u.b = etp_fb_bool(v, 0, false);
        break;
    case ETP_EVALUE_DOUBLE:
        out->u.d = etp_fb_f64(v, 0, 0.0);
        break;
    case ETP_EVALUE_STRING:
        out->u.s = etp_fb_str(v, 0);
        break;
    // One byte each, so a text holds them; all other items have four or eight.
    case ETP_EVALUE_BOOL_LIST:
        items = etp_fb_vec(v, 0);
        out->u.s = (etp_str){(const char *)items.items, items.n};
        break;
    case ETP_EVALUE_INT_LIST:
    case ETP_EVALUE_DOUBLE_LIST:
        items = etp_fb_vec(v, 0);
        out->u.list = (etp_64s){items.items, items.n};
        break;
    case ETP_EVALUE_TENSOR_LIST:
    case ETP_EVALUE_OPTIONAL_TENSOR_LIST:
        out->u.tensors = etp_pte_i32s(etp_fb_vec(v, 0));
        break;
    case ETP_EVALUE_TENSOR:
        return read_tensor(r, v, &out->u.tensor);
    case ETP_EVALUE_NONE:
    case ETP_EVALUE_NULL:
    case ETP_EVALUE_OTHER:
        break;
    }
    return ETP_OK;
}

// Lists refer to other values, so they are checked when all values are known.
// Those of integers, too: a size may be computed at run time, so an IntList holds indices of Int
// values. Lists of doubles and booleans hold the numbers themselves.
static etp_status check_lists(etp_pte_reader *r, etp_fb_vector tables, const etp_pte_method *m)
{
    for (uint32_t i = 0; i < m->n_values; i++) {
        const etp_evalue *v = &m->values[i];
        etp_fb_table t = etp_fb_vec_table(tables, i);
        if (v->kind == ETP_EVALUE_INT_LIST) {
            for (uint32_t k = 0; k < v->u.list.n; k++) {
                ETP_TRY(etp_pte_check_index(r, t, "list item's value",
                                            (int64_t)etp_u64_at(v->u.list, k), m->n_values));
            }
        } else if (v->kind == ETP_EVALUE_TENSOR_LIST ||
                   v->kind == ETP_EVALUE_OPTIONAL_TENSOR_LIST) {
            for (uint32_t k = 0; k < v->u.tensors.n; k++) {
                int32_t item = etp_i32_at(v->u.tensors, k);
                // The exporter's word for an optional tensor that is not given.
                if (item == -1 && v->kind == ETP_EVALUE_OPTIONAL_TENSOR_LIST) {
                    continue;
                }
                ETP_TRY(etp_pte_check_index(r, t, "list item's value", item, m->n_values));
            }
        }
    }
    return ETP_OK;
}

static etp_status read_values(etp_pte_reader *r, etp_fb_table plan, etp_pte_method *m)
{
    etp_fb_vector v = etp_fb_vec(plan, PLAN_VALUES);
    etp_evalue *values = NULL;
    ETP_TRY(etp_pte_take(r, plan, "values", v.n, sizeof *values, &values));
    for (uint32_t i = 0; i < v.n; i++) {
        if (read_value(r, etp_fb_vec_table(v, i), &values[i]) != ETP_OK) {
            return etp_fail_ctx(r->err, "value %lu", (unsigned long)i);
        }
    }
    m->values = values;
    m->n_values = v.n;
    return check_lists(r, v, m);
}

// ---- instructions ----

// Whoever walks instructions later indexes with these numbers and asks nothing: each is held
// against the number of what it points to here, once.
static etp_status check_values(etp_pte_reader *r, etp_fb_table at, const char *what, etp_i32s v,
                               uint32_t n_values)
{
    for (uint32_t i = 0; i < v.n; i++) {
        ETP_TRY(etp_pte_check_index(r, at, what, etp_i32_at(v, i), n_values));
    }
    return ETP_OK;
}

static etp_status read_call(etp_pte_reader *r, etp_fb_table t, const char *what, uint32_t n_targets,
                            const etp_pte_method *m, etp_pte_instruction *out)
{
    int32_t index = etp_fb_i32(t, CALL_INDEX, 0);
    ETP_TRY(etp_pte_check_index(r, t, what, index, n_targets));
    out->index = (uint32_t)index;
    out->args = etp_pte_i32s(etp_fb_vec(t, CALL_ARGS));
    return check_values(r, t, "argument value", out->args, m->n_values);
}

// MoveCall and JumpFalseCall have the same layout: a value, and where it goes or what it decides.
static etp_status read_pair(etp_pte_reader *r, etp_fb_table t, const etp_pte_method *m,
                            uint64_t n_targets, etp_pte_instruction *out)
{
    int32_t first = etp_fb_i32(t, 0, 0);
    int32_t second = etp_fb_i32(t, 1, 0);
    ETP_TRY(etp_pte_check_index(r, t, "value", first, m->n_values));
    ETP_TRY(etp_pte_check_index(r, t, "target", second, n_targets));
    out->index = (uint32_t)first;
    out->target = (uint32_t)second;
    return ETP_OK;
}

static etp_status read_instruction(etp_pte_reader *r, etp_fb_table t, const etp_pte_method *m,
                                   uint32_t n_instructions, etp_pte_instruction *out)
{
    etp_fb_table v = etp_fb_table_field(t, UNION_VALUE);
    uint8_t code = v.ptr ? etp_fb_u8(t, UNION_TYPE, 0) : 0;
    out->kind = code < ETP_INSTR_OTHER ? (etp_instruction_kind)code : ETP_INSTR_OTHER;
    switch (out->kind) {
    case ETP_INSTR_KERNEL:
        return read_call(r, v, "operator", m->n_operators, m, out);
    case ETP_INSTR_DELEGATE:
        return read_call(r, v, "delegate", m->n_delegates, m, out);
    case ETP_INSTR_MOVE:
        return read_pair(r, v, m, m->n_values, out);
    case ETP_INSTR_JUMP_FALSE: // the end of the chain is a valid destination
        return read_pair(r, v, m, (uint64_t)n_instructions + 1, out);
    case ETP_INSTR_FREE: {
        int32_t value = etp_fb_i32(v, 0, 0);
        ETP_TRY(etp_pte_check_index(r, v, "value", value, m->n_values));
        out->index = (uint32_t)value;
        return ETP_OK;
    }
    case ETP_INSTR_NONE:
    case ETP_INSTR_OTHER:
        break;
    }
    return ETP_OK;
}

static etp_status read_chain(etp_pte_reader *r, etp_fb_table t, const etp_pte_method *m,
                             etp_pte_chain *out)
{
    out->inputs = etp_pte_i32s(etp_fb_vec(t, CHAIN_INPUTS));
    out->outputs = etp_pte_i32s(etp_fb_vec(t, CHAIN_OUTPUTS));
    ETP_TRY(check_values(r, t, "chain input", out->inputs, m->n_values));
    ETP_TRY(check_values(r, t, "chain output", out->outputs, m->n_values));
    etp_fb_vector v = etp_fb_vec(t, CHAIN_INSTRUCTIONS);
    etp_pte_instruction *instructions = NULL;
    ETP_TRY(etp_pte_take(r, t, "instructions", v.n, sizeof *instructions, &instructions));
    for (uint32_t i = 0; i < v.n; i++) {
        if (read_instruction(r, etp_fb_vec_table(v, i), m, v.n, &instructions[i]) != ETP_OK) {
            return etp_fail_ctx(r->err, "instruction %lu", (unsigned long)i);
        }
    }
    out->instructions = instructions;
    out->n_instructions = v.n;
    // Only programs that were exported for debugging have them, and then each instruction has its
    // own.
    v = etp_fb_vec(t, CHAIN_STACKTRACE);
    etp_pte_frames *traces = NULL;
    if (v.n == 0) {
        return ETP_OK;
    }
    if (v.n != out->n_instructions) {
        return etp_fail_at(r->err, ETP_CORRUPT, etp_fb_position(r->program, t),
                           "%lu stack traces for %lu instructions", (unsigned long)v.n,
                           (unsigned long)out->n_instructions);
    }
    ETP_TRY(etp_pte_take(r, t, "stack traces", v.n, sizeof *traces, &traces));
    for (uint32_t i = 0; i < v.n; i++) {
        etp_fb_table list = etp_fb_vec_table(v, i);
        etp_fb_vector items = etp_fb_vec(list, 0);
        etp_pte_frame *frames = NULL;
        ETP_TRY(etp_pte_take(r, list, "stack frames", items.n, sizeof *frames, &frames));
        for (uint32_t k = 0; k < items.n; k++) {
            etp_fb_table f = etp_fb_vec_table(items, k);
            frames[k] = (etp_pte_frame){etp_fb_str(f, FRAME_FILE), etp_fb_str(f, FRAME_NAME),
                                        etp_fb_str(f, FRAME_CONTEXT), etp_fb_i32(f, FRAME_LINE, 0)};
        }
        traces[i] = (etp_pte_frames){frames, items.n};
    }
    out->stacktraces = traces;
    return ETP_OK;
}

// ---- operators, delegates, the method ----

// A payload lies in a segment of its own or, of older exporters, inside the FlatBuffer.
static etp_status read_delegate(etp_pte_reader *r, etp_fb_table t, etp_pte_delegate *out)
{
    out->id = etp_fb_str(t, DELEGATE_ID);
    etp_fb_table reference = etp_fb_table_field(t, DELEGATE_PROCESSED);
    if (!reference.ptr) {
        return etp_fail_at(r->err, ETP_CORRUPT, etp_fb_position(r->program, t),
                           "delegate without data");
    }
    // Locations are 0, in the FlatBuffer, and 1, in a segment.
    out->in_segment = etp_fb_i8(reference, REFERENCE_LOCATION, 0) == 1;
    out->data_index = etp_fb_u32(reference, REFERENCE_INDEX, 0);
    if (out->in_segment) {
        ETP_TRY(etp_pte_check_index(r, reference, "segment", out->data_index, r->out->n_segments));
        etp_pte_segment *s = &r->segments[out->data_index];
        s->kind = ETP_PTE_SEGMENT_DELEGATE;
        // Identical blobs are stored once, so one segment may serve several delegates.
        s->users++;
        out->data = s->data;
    } else {
        ETP_TRY(etp_pte_check_index(r, reference, "inline delegate data", out->data_index,
                                    r->inline_data.n));
        etp_fb_vector data = etp_fb_vec(etp_fb_vec_table(r->inline_data, out->data_index), 0);
        out->data = etp_fb_vec_bytes(r->program, data);
    }
    etp_fb_vector v = etp_fb_vec(t, DELEGATE_SPECS);
    etp_pte_compile_spec *specs = NULL;
    ETP_TRY(etp_pte_take(r, t, "compile specs", v.n, sizeof *specs, &specs));
    for (uint32_t i = 0; i < v.n; i++) {
        etp_fb_table spec = etp_fb_vec_table(v, i);
        specs[i].key = etp_fb_str(spec, SPEC_KEY);
        specs[i].value = etp_fb_vec_bytes(r->program, etp_fb_vec(spec, SPEC_VALUE));
    }
    out->specs = specs;
    out->n_specs = v.n;
    return ETP_OK;
}

// Chains come last: their instructions are held against the numbers of values, operators and
// delegates.
etp_status etp_pte_read_method(etp_pte_reader *r, etp_fb_table plan, etp_pte_method *m)
{
    etp_fb_table meta = etp_fb_table_field(plan, PLAN_META);
    m->name = etp_fb_str(plan, PLAN_NAME);
    if (meta.ptr) {
        m->input_spec = etp_fb_str(meta, META_INPUTS);
        m->output_spec = etp_fb_str(meta, META_OUTPUTS);
    }
    ETP_TRY(read_values(r, plan, m));
    m->inputs = etp_pte_i32s(etp_fb_vec(plan, PLAN_INPUTS));
    m->outputs = etp_pte_i32s(etp_fb_vec(plan, PLAN_OUTPUTS));
    ETP_TRY(check_values(r, plan, "input value", m->inputs, m->n_values));
    ETP_TRY(check_values(r, plan, "output value", m->outputs, m->n_values));
    etp_fb_vector v = etp_fb_vec(plan, PLAN_OPERATORS);
    etp_pte_operator *operators = NULL;
    ETP_TRY(etp_pte_take(r, plan, "operators", v.n, sizeof *operators, &operators));
    for (uint32_t i = 0; i < v.n; i++) {
        etp_fb_table t = etp_fb_vec_table(v, i);
        operators[i].name = etp_fb_str(t, OPERATOR_NAME);
        operators[i].overload = etp_fb_str(t, OPERATOR_OVERLOAD);
    }
    m->operators = operators;
    m->n_operators = v.n;
    v = etp_fb_vec(plan, PLAN_DELEGATES);
    etp_pte_delegate *delegates = NULL;
    ETP_TRY(etp_pte_take(r, plan, "delegates", v.n, sizeof *delegates, &delegates));
    for (uint32_t i = 0; i < v.n; i++) {
        if (read_delegate(r, etp_fb_vec_table(v, i), &delegates[i]) != ETP_OK) {
            return etp_fail_ctx(r->err, "delegate %lu", (unsigned long)i);
        }
    }
    m->delegates = delegates;
    m->n_delegates = v.n;
    // Entry 0, which the format reserves, is kept: places in the list are then the memory ids that
    // tensors have.
    v = etp_fb_vec(plan, PLAN_BUFFER_SIZES);
    for (uint32_t i = 0; i < v.n; i++) {
        if (etp_fb_vec_i64(v, i) < 0) {
            return etp_fail_at(r->err, ETP_CORRUPT, etp_fb_position(r->program, plan),
                               "planned arena %lu of %lld bytes", (unsigned long)i,
                               (long long)etp_fb_vec_i64(v, i));
        }
    }
    m->planned_bytes = (etp_64s){v.items, v.n};
    v = etp_fb_vec(plan, PLAN_CHAINS);
    etp_pte_chain *chains = NULL;
    ETP_TRY(etp_pte_take(r, plan, "chains", v.n, sizeof *chains, &chains));
    for (uint32_t i = 0; i < v.n; i++) {
        ETP_TRY(read_chain(r, etp_fb_vec_table(v, i), m, &chains[i]));
    }
    m->chains = chains;
    m->n_chains = v.n;
    return ETP_OK;
}
