// SPDX-License-Identifier: Apache-2.0
// The document etprof.inspect/1.
#include "inspect/inspect.h"

#include "document/rows.h"
#include "inspect/ops.h"

// ---- values: what goes in and out ----

static const char *value_kind_name(etp_evalue_kind kind)
{
    static const char *const k_names[] = {
        "none",   "null",     "int",         "bool",      "double",      "tensor",
        "string", "int_list", "double_list", "bool_list", "tensor_list", "optional_tensor_list",
        "other"};
    return k_names[kind];
}
WORDS(k_value_kind, value_kind_name, etp_evalue_kind, ETP_EVALUE_OTHER + 1)

static const char *quant_name(etp_quant_kind kind)
{
    static const char *const k_names[] = {NULL, "per_channel", "per_tensor", "per_token",
                                          "per_channel_group"};
    return k_names[kind];
}
WORDS(k_quant_kind, quant_name, etp_quant_kind, ETP_QUANT_PER_CHANNEL_GROUP + 1)
WORDS(k_dtype, etp_dtype_name, etp_dtype, 0)

// A KNOWN is asked by the rows that name it in `.when`: where it says no, the member is null, or
// left out with ETP_ABSENT. So one table serves values of several kinds.
KNOWN(is_tensor, etp_value, it->kind == ETP_EVALUE_TENSOR)
KNOWN(is_no_tensor, etp_value, it->kind != ETP_EVALUE_TENSOR)
KNOWN(is_true, bool, *it)
KNOWN(is_quantised, etp_quant_kind, *it != ETP_QUANT_NONE)
KNOWN(has_one_scale, etp_value, it->quant.kind == ETP_QUANT_PER_TENSOR)
FIND(scale_of, etp_value, etp_inspect, MAKE(real, (double)it->quant.scale))

#define OF etp_value
static const etp_field k_scale_rows[] = {
    COMPUTED("scale", NUMBER, scale_of, "of all elements", .range = ETP_SIGNED),
    FIELD("zero_point", INT, quant.zero_point, "likewise", .range = ETP_SIGNED),
};
static SHAPE(k_scale, k_scale_rows);
static const etp_field k_other_rows[] = {
    FIELD("kind", WORD, kind, "of what is not a tensor", .words = &k_value_kind),
};
static SHAPE(k_other, k_other_rows);
static const etp_field k_tensor_rows[] = {
    FIELD("dtype", WORD, dtype, "of a tensor", .words = &k_dtype, .flags = ETP_SET),
    LIST("shape", INT, dims, rank, "of it", .flags = ETP_ONE_LINE, .range = ETP_SIGNED),
    FIELD("bytes", UINT, bytes, "of its storage", .flags = ETP_MAX_IS_NULL),
    FIELD("upper_bound", BOOL, dynamic, "true: dynamic, the shape is the largest", .when = is_true,
          .flags = ETP_ABSENT),
    FIELD("constant", BOOL, constant, "true: data of the file", .when = is_true,
          .flags = ETP_ABSENT),
    FIELD("quantization", WORD, quant.kind, "of its elements", .words = &k_quant_kind,
          .when = is_quantised, .flags = ETP_ABSENT),
    GROUP(NULL, &k_scale, "", .when = has_one_scale, .flags = ETP_ABSENT),
};
static SHAPE(k_tensor, k_tensor_rows);
static const etp_field k_value_rows[] = {
    GROUP(NULL, &k_other, "", .when = is_no_tensor, .flags = ETP_ABSENT),
    GROUP(NULL, &k_tensor, "", .when = is_tensor, .flags = ETP_ABSENT),
};
static SHAPE_ON_ONE_LINE(k_value, k_value_rows);
#undef OF

// ---- methods ----

ITS_LENGTH(k_method_inputs, etp_method, it->n_inputs)
ITS_LENGTH(k_method_outputs, etp_method, it->n_outputs)
ITS_LENGTH(k_planned, etp_method, it->pte->planned_bytes.n > 0 ? it->pte->planned_bytes.n - 1 : 0)
FIND(method_input, etp_method, etp_inspect, &it->values[it->inputs[at->index]])
FIND(method_output, etp_method, etp_inspect, &it->values[it->outputs[at->index]])
// Entry 0 of the file is reserved.
FIND(planned_bytes, etp_method, etp_inspect,
     MAKE(number, etp_u64_at(it->pte->planned_bytes, at->index + 1)))

KNOWN(is_known, etp_inspect_planned, it->n_live > 0)
FIND(peak_bytes, etp_inspect_planned, etp_inspect, &it->live[it->peak])
FIND(method_memory, etp_method, etp_inspect, &doc->planned[it->index])
FIND(buffer_value, etp_planned, etp_inspect, MAKE(number, it->value->id))
#define OF etp_planned
static const etp_field k_buffer_rows[] = {
    COMPUTED("value", UINT, buffer_value, "of the method's values", .flags = ETP_SET),
    FIELD("bytes", UINT, bytes, "of it"),
    FIELD("arena", UINT, arena, "that it lies in"),
    FIELD("offset", UINT, offset, "in there"),
    FIELD("first", UINT, first, "instruction that needs it, counted over all chains"),
    FIELD("last", UINT, last, "likewise"),
    FIELD("kept", BOOL, kept, "from call to call: a cache, a state"),
};
static SHAPE_ON_ONE_LINE(k_buffer, k_buffer_rows);
#undef OF
#define OF etp_inspect_planned
static const etp_field k_in_use_rows[] = {
    COMPUTED("peak_bytes", UINT, peak_bytes, "in use at most", .flags = ETP_SET),
    FIELD("peak_instruction", UINT, peak, "the first at which that is so"),
    FIELD("kept_bytes", UINT, kept_bytes, "of buffers that are kept from call to call"),
    LIST("live_bytes", UINT, live, n_live, "in use while each instruction runs",
         .flags = ETP_ONE_LINE),
    LIST("buffers", OBJECT, buffers, n_buffers, "by arena and offset", .shape = &k_buffer),
};
static SHAPE(k_in_use, k_in_use_rows);
static const etp_field k_memory_rows[] = {
    GROUP(NULL, &k_in_use, "", .when = is_known, .flags = ETP_ABSENT),
    FIELD("untold", TEXT, untold, "why it is not known"),
};
static SHAPE(k_memory, k_memory_rows);
#undef OF
#define OF etp_method
static const etp_field k_instruction_rows[] = {
    FIELD("kernel", UINT, n_of_kind[ETP_INSTR_KERNEL], "calls of kernels"),
    FIELD("delegate", UINT, n_of_kind[ETP_INSTR_DELEGATE], "calls of delegates"),
    FIELD("move", UINT, n_of_kind[ETP_INSTR_MOVE], ""),
    FIELD("jump", UINT, n_of_kind[ETP_INSTR_JUMP_FALSE], ""),
    FIELD("free", UINT, n_of_kind[ETP_INSTR_FREE], ""),
};
static SHAPE_ON_ONE_LINE(k_instructions, k_instruction_rows);
static const etp_field k_method_rows[] = {
    FIELD("name", STR, name, "of the method"),
    GROUP("instructions", &k_instructions, "how many of each kind"),
    COMPUTED_PER("inputs", OBJECT, method_input, &k_method_inputs, "in order", .shape = &k_value),
    COMPUTED_PER("outputs", OBJECT, method_output, &k_method_outputs, "in order",
                 .shape = &k_value),
    FIELD("macs", UINT, macs, "multiplications with addition, of what is known"),
    FIELD("bound", BOOL, bound, "macs are at most these: they rest on upper bounds of shapes",
          .flags = ETP_LATER),
    FIELD("unknown_work", UINT, n_unknown_work, "calls and nodes whose work is unknown"),
    COMPUTED_PER("planned_bytes", UINT, planned_bytes, &k_planned, "memory that was planned",
                 .flags = ETP_ONE_LINE | ETP_SET),
    COMPUTED("memory", OBJECT, method_memory, "planned memory, and which instructions need it",
             .shape = &k_memory, .flags = ETP_LATER | ETP_SET),
};
static SHAPE(k_method, k_method_rows);
#undef OF

// ---- delegates and their nodes ----

// The method with partition NUMBER of the program, which becomes its number in the method.
// Partitions are numbered over all methods, in the methods' order. NUMBER must be below the
// program's n_partitions: nothing stops the walk before the last method.
static const etp_method *method_with(const etp_inspect *in, size_t *number)
{
    const etp_method *m = in->program->methods;
    for (; *number >= m->n_partitions; m++) {
        *number -= m->n_partitions;
    }
    return m;
}

static const etp_partition *partition_at(const etp_inspect *in, size_t number)
{
    const etp_method *m = method_with(in, &number);
    return &m->partitions[number];
}

// A partition does not point back to its method.
static const etp_method *method_of(const etp_inspect *in, const etp_partition *partition)
{
    size_t number = partition->number;
    return method_with(in, &number);
}

LENGTH(k_partitions, etp_inspect, doc->program->n_partitions)
FIND(partition, etp_program, etp_inspect, partition_at(doc, at->index))
FIND(partition_method, etp_partition, etp_inspect, &method_of(doc, it)->name)
FIND(partition_weights, etp_partition, etp_inspect, it->graph ? &it->weight_bytes : NULL)
FIND(partition_macs, etp_partition, etp_inspect, it->graph ? &it->macs : NULL)
// A partition is its own first user; the document says only which earlier one it shares with.
FIND(same_blob_as, etp_partition, etp_inspect,
     it->same_blob_as != it->number ? MAKE(number, it->same_blob_as) : NULL)

// Of a node, which lies in a partition.
#define PARTITION ((const etp_partition *)at->outer->object)
ITS_LENGTH(k_node_inputs, etp_node, it->n_inputs)
ITS_LENGTH(k_node_outputs, etp_node, it->n_outputs)
FIND(node_input, etp_node, etp_inspect, &PARTITION->values[it->inputs[at->index]])
FIND(node_output, etp_node, etp_inspect, &PARTITION->values[it->outputs[at->index]])
FIND(node_macs, etp_node, etp_inspect, it->work.known ? &it->work.macs : NULL)
FIND(node_ops, etp_node, etp_inspect, it->work.known ? &it->work.ops : NULL)
FIND(node_bytes, etp_node, etp_inspect, it->work.known ? &it->work.bytes : NULL)
FIND(node_handle, etp_node, etp_inspect, it->debug_handle >= 0 ? &it->debug_handle : NULL)
FIND(node_source, etp_node, etp_inspect,
     etp_inspect_node_source(doc, method_of(doc, PARTITION), it))
#undef PARTITION

#define OF etp_node
static const etp_field k_node_rows[] = {
    FIELD("id", UINT, index, "in the delegate's payload"),
    FIELD("type", STR, type_name, "of the operator"),
    COMPUTED_PER("inputs", OBJECT, node_input, &k_node_inputs, "in order", .shape = &k_value),
    COMPUTED_PER("outputs", OBJECT, node_output, &k_node_outputs, "in order", .shape = &k_value),
    COMPUTED("macs", UINT, node_macs, "multiplications with addition"),
    COMPUTED("ops", UINT, node_ops, "other arithmetic"),
    COMPUTED("bytes", UINT, node_bytes, "every operand and result moved once"),
    FIELD("bound", BOOL, work.bound, "true: macs, ops and bytes are at most these", .when = is_true,
          .flags = ETP_ABSENT),
    FIELD("problem", TEXT, work.problem, "why its work is unknown", .flags = ETP_ABSENT),
    FIELD("weight_bytes", UINT, weight_bytes, "constants among the inputs, with their scales"),
    COMPUTED("debug_handle", INT, node_handle, "by which a record knows it"),
    COMPUTED("source", OBJECT, node_source, "where it comes from", .shape = &k_etp_source),
};
static SHAPE(k_node, k_node_rows);
#undef OF
#define OF etp_pte_compile_spec
static const etp_field k_spec_rows[] = {
    FIELD("key", STR, key, "of the setting"),
    FIELD("bytes", UINT, value.len, "of its value"),
};
static SHAPE_ON_ONE_LINE(k_spec, k_spec_rows);
#undef OF
#define OF etp_pte_delegate
static const etp_field k_specs_rows[] = {
    LIST("compile_specs", OBJECT, specs, n_specs, "settings of the delegate", .shape = &k_spec),
};
static SHAPE(k_specs, k_specs_rows);
#undef OF
#define OF etp_partition
static const etp_field k_partition_rows[] = {
    COMPUTED("method", STR, partition_method, "that it belongs to", .flags = ETP_SET),
    FIELD("index", UINT, index, "in the method's delegates"),
    FIELD("id", STR, backend, "of the backend"),
    FIELD("bytes", UINT, blob.len, "of its payload"),
    COMPUTED("weight_bytes", UINT, partition_weights, "constants, each once"),
    COMPUTED("macs", UINT, partition_macs, "of its nodes with known work"),
    FIELD("bound", BOOL, bound, "true: macs are at most these", .when = is_true,
          .flags = ETP_ABSENT),
    COMPUTED("same_blob_as", UINT, same_blob_as,
             "an earlier partition of the program with the same bytes"),
    POINTER(NULL, delegate, &k_specs, ""),
    FIELD("problem", TEXT, problem, "why its payload was not read", .flags = ETP_ABSENT),
    LIST("nodes", OBJECT, nodes, n_nodes, "in the payload's order", .shape = &k_node),
};
static SHAPE(k_partition, k_partition_rows);
#undef OF

// ---- the program as a whole ----

FIND(operator_macs, etp_inspect_operator, etp_inspect, it->unknown < it->calls ? &it->macs : NULL)
FIND(operator_bytes, etp_inspect_operator, etp_inspect, it->unknown < it->calls ? &it->bytes : NULL)
FIND(operator_ns, etp_inspect_operator, etp_inspect, it->timed ? &it->ns : NULL)

// Keys that depend on the data (types that occur) cannot be rows, so this member is written by a
// function and brings its schema along.
static void dtypes_json(etp_json *j, const etp_json_cursor *at)
{
    const etp_inspect *in = at->object;
    etp_json_begin_object_inline(j);
    for (int d = 0; d < ETP_DTYPE_COUNT; d++) {
        if (in->by_dtype[d] > 0) {
            etp_json_kv_u64(j, etp_dtype_name((etp_dtype)d), in->by_dtype[d]);
        }
    }
    etp_json_end(j);
}

WORDS(k_segment_kind, etp_pte_segment_kind_name, etp_pte_segment_kind, ETP_PTE_SEGMENT_NAMED + 1)

#define OF etp_inspect_operator
static const etp_field k_operator_rows[] = {
    FIELD("name", STR, name, "of the operator; the backend's where we cannot look into it"),
    FIELD("calls", UINT, calls, "when every method runs once"),
    FIELD("delegated", BOOL, delegated, "to a backend"),
    COMPUTED("macs", UINT, operator_macs, "of all calls"),
    COMPUTED("bytes", UINT, operator_bytes, "likewise"),
    FIELD("bound", BOOL, bound, "true: macs and bytes are at most these", .when = is_true,
          .flags = ETP_ABSENT),
    FIELD("unknown_work", UINT, unknown, "calls whose work is unknown"),
    COMPUTED("ns", UINT, operator_ns, "of all calls in the recording, mean of an execution"),
};
static SHAPE_ON_ONE_LINE(k_operator, k_operator_rows);
#undef OF
#define OF etp_inspect_times
static const etp_field k_times_rows[] = {
    FIELD("dump", TEXT, dump, "the recording, as given", .flags = ETP_SET),
    FIELD("undelegated_ns", UINT, undelegated_ns, "of kernels, mean of an execution"),
    FIELD("delegated_ns", UINT, delegated_ns, "of delegates' operators"),
    FIELD("unmatched_ns", UINT, unmatched_ns, "of operators that the program does not name"),
};
static SHAPE_ON_ONE_LINE(k_times, k_times_rows);
#undef OF
#define OF etp_pte_segment
static const etp_field k_segment_rows[] = {
    FIELD("kind", WORD, kind, "what it is for", .words = &k_segment_kind),
    FIELD("offset", UINT, offset, "from the start of the file"),
    FIELD("size", UINT, data.len, "in bytes"),
    FIELD("users", UINT, users, "delegates or names that refer to it"),
};
static SHAPE_ON_ONE_LINE(k_segment, k_segment_rows);
#undef OF
#define OF etp_pte
static const etp_field k_segments_rows[] = {
    LIST("segments", OBJECT, segments, n_segments, "of the file", .shape = &k_segment),
};
static SHAPE(k_segments, k_segments_rows);
#undef OF
#define OF etp_inspect_part
static const etp_field k_part_rows[] = {
    FIELD("what", TEXT, what, "these bytes are", .flags = ETP_SET),
    FIELD("bytes", UINT, bytes, "all parts add up to the file's size"),
    FIELD("count", UINT, count, "of such parts"),
};
static SHAPE_ON_ONE_LINE(k_part, k_part_rows);
#undef OF
#define OF etp_program
static const etp_field k_methods_rows[] = {
    LIST("methods", OBJECT, methods, n_methods, "in the file's order", .shape = &k_method),
    COMPUTED_PER("delegates", OBJECT, partition, &k_partitions, "of all methods",
                 .shape = &k_partition),
};
static SHAPE(k_methods, k_methods_rows);
// The key NULL puts the members of the inner struct into the object around it: documents are flat
// where C structs point to each other.
static const etp_field k_pte_rows[] = {POINTER(NULL, pte, &k_segments, "")};
static SHAPE(k_pte, k_pte_rows);
#undef OF
#define OF etp_inspect
static const etp_field k_weights_rows[] = {
    FIELD("bytes", UINT, weight_bytes, "of all constants, scales included"),
    WRITTEN("by_dtype", dtypes_json,
            "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\",\"minimum\":0}}",
            "of these without their scales"),
    FIELD("scale_bytes", UINT, scale_bytes, "scales of quantisation"),
    FIELD("external_bytes", UINT, external_bytes, "of these, kept outside the file"),
    FIELD("count", UINT, n_weights, "of constants"),
};
static SHAPE(k_weights, k_weights_rows);
static const etp_field k_program_rows[] = {
    POINTER(NULL, program, &k_methods, ""),
    LIST("operators", OBJECT, operators, n_operators, "by name, over all methods",
         .shape = &k_operator),
    POINTER("times", times, &k_times, "with a recording: where its time went"),
    POINTER(NULL, program, &k_pte, ""),
    LIST("parts", OBJECT, parts, n_parts, "what the bytes of the file are", .shape = &k_part),
    FIELD("shared_bytes", UINT, shared_bytes, "saved: payloads that are used several times"),
    GROUP("weights", &k_weights, "constants of the program"),
};
static SHAPE(k_program, k_program_rows);
#undef OF

// ---- other files ----

static void shape_json(etp_json *j, const etp_json_cursor *at)
{
    const etp_flat_entry *e = at->object;
    if (!e->has_layout) {
        etp_json_null(j);
        return;
    }
    etp_json_begin_array_inline(j);
    for (uint32_t d = 0; d < e->sizes.n; d++) {
        etp_json_i64(j, etp_i32_at(e->sizes, d));
    }
    etp_json_end(j);
}
FIND(entry_dtype, etp_flat_entry, etp_inspect,
     it->has_layout ? MAKE(text, etp_dtype_name(it->dtype)) : NULL)

// Of one execution: a block is the list of events that each of its runs has.
static uint64_t events_of(const etp_trace_block *b, etp_event_kind kind)
{
    uint64_t n = 0;
    for (size_t e = 0; e < b->n_events; e++) {
        n += b->events[e].kind == kind;
    }
    return n;
}
LENGTH(k_blocks, etp_inspect, etp_trace_block_count(doc->trace))
FIND(block_at, etp_inspect, etp_inspect, etp_trace_block_at(doc->trace, at->index))
FIND(delegate_operators, etp_trace_block, etp_inspect,
     MAKE(number, events_of(it, ETP_EVENT_DELEGATE_OP)))
FIND(delegate_calls, etp_trace_block, etp_inspect,
     MAKE(number, events_of(it, ETP_EVENT_DELEGATE_CALL)))
FIND(kernels, etp_trace_block, etp_inspect, MAKE(number, events_of(it, ETP_EVENT_NATIVE_CALL)))

#define OF etp_bundled_suite
static const etp_field k_suite_rows[] = {
    FIELD("method", STR, method, "that is tested"),
    FIELD("cases", UINT, n_cases, "of inputs and outputs"),
};
static SHAPE_ON_ONE_LINE(k_suite, k_suite_rows);
#undef OF
#define OF etp_bundled
static const etp_field k_bundled_rows[] = {
    LIST("test_suites", OBJECT, suites, n_suites, "beside the program", .shape = &k_suite),
    FIELD("program_bytes", UINT, program.len, "of the .pte in it"),
};
static SHAPE(k_bundled, k_bundled_rows);
#undef OF
#define OF etp_flat_entry
static const etp_field k_entry_rows[] = {
    FIELD("name", STR, key, "of the tensor"),
    FIELD("offset", UINT, data.base, "from the start of the file"),
    FIELD("size", UINT, data.len, "in bytes"),
    COMPUTED("dtype", TEXT, entry_dtype, "where the file says it"),
    WRITTEN("shape", shape_json, "{\"type\":[\"array\",\"null\"],\"items\":{\"type\":\"integer\"}}",
            "likewise"),
};
static SHAPE_ON_ONE_LINE(k_entry, k_entry_rows);
#undef OF
#define OF etp_flat_tensor
static const etp_field k_ptd_rows[] = {
    LIST("tensors", OBJECT, entries, n_entries, "of the file", .shape = &k_entry),
};
static SHAPE(k_ptd, k_ptd_rows);
#undef OF
#define OF etp_source
static const etp_field k_record_source_rows[] = {
    FIELD("debug_handle", UINT, handle, "by which programs and recordings refer to it"),
    FIELD("op", STR, op, "operator of the edge graph"),
    FIELD("file", STR, file, "of the innermost frame outside installed packages"),
    FIELD("line", UINT, line, "0: unknown"),
    FIELD("module", STR, module, "its path in the model"),
    FIELD("module_type", STR, module_type, "its class"),
};
static SHAPE_ON_ONE_LINE(k_record_source, k_record_source_rows);
#undef OF
#define OF etp_record_method
static const etp_field k_record_method_rows[] = {
    FIELD("method", STR, name, "of the program"),
    FIELD("instructions", UINT, n_instructions, "with a handle"),
    LIST("sources", OBJECT, sources, n_sources, "by handle", .shape = &k_record_source),
};
static SHAPE(k_record_method, k_record_method_rows);
#undef OF
#define OF etp_record_entry
static const etp_field k_archive_rows[] = {
    FIELD("name", STR, name, "of the entry"),
    FIELD("size", UINT, size, "in bytes"),
};
static SHAPE_ON_ONE_LINE(k_archive, k_archive_rows);
#undef OF
#define OF etp_etrecord
static const etp_field k_record_rows[] = {
    LIST("records", OBJECT, methods, n_methods, "of a record: one for each method",
         .shape = &k_record_method),
    LIST("entries", OBJECT, entries, n_entries, "of the archive", .shape = &k_archive),
};
static SHAPE(k_record, k_record_rows);
#undef OF
ITS_LENGTH(k_executions, etp_trace_block, it->has_execute ? it->n_runs : 0)
LENGTH(k_damaged, etp_inspect, etp_trace_damage_count(doc->trace))
FIND(damage_at, etp_inspect, etp_inspect, etp_trace_damage_at(doc->trace, at->index))
FIND(execution, etp_trace_block, etp_inspect,
     MAKE(number, etp_trace_durations(it, it->execute)[at->index]))
#define OF etp_trace_block
static const etp_field k_block_rows[] = {
    FIELD("name", STR, name, "of the block"),
    FIELD("runs", UINT, n_runs, "executions"),
    FIELD("events", UINT, n_events, "of an execution"),
    COMPUTED("delegate_operators", UINT, delegate_operators, "of these", .flags = ETP_SET),
    COMPUTED("delegate_calls", UINT, delegate_calls, "of these", .flags = ETP_SET),
    COMPUTED("kernels", UINT, kernels, "of these", .flags = ETP_SET),
    FIELD("has_execute", BOOL, has_execute, "a Method::execute in each execution"),
    COMPUTED_PER("execute_ns", UINT, execution, &k_executions, "of that, execution by execution"),
};
static SHAPE_ON_ONE_LINE(k_block, k_block_rows);
#undef OF

// ---- the document ----

WORDS(k_file_kind, etp_file_kind_name, etp_file_kind, ETP_FILE_UNKNOWN)
KNOWN(has_program, etp_inspect, it->program)
KNOWN(has_trace, etp_inspect, it->trace)
// A record that was given beside a program only tells where its operators come from.
KNOWN(is_record, etp_inspect, it->kind == ETP_FILE_ETRECORD)

#define OF etp_inspect
static const etp_field k_trace_rows[] = {
    COMPUTED_PER("blocks", OBJECT, block_at, &k_blocks, "of a recording", .shape = &k_block),
    COMPUTED_PER("damaged", OBJECT, damage_at, &k_damaged,
                 "executions that are left out: their clock jumped",
                 .shape = &k_etp_trace_damage_shape),
};
static SHAPE(k_trace, k_trace_rows);
static const etp_field k_record_part_rows[] = {POINTER(NULL, record, &k_record, "")};
static SHAPE(k_record_part, k_record_part_rows);
static const etp_field k_rows[] = {
    FIELD("file", TEXT, path, "as given", .flags = ETP_SET),
    FIELD("kind", WORD, kind, "of the file", .words = &k_file_kind),
    FIELD("size", UINT, size, "in bytes"),
    GROUP(NULL, &k_program, "", .when = has_program, .flags = ETP_ABSENT),
    POINTER(NULL, bundled, &k_bundled, "", .flags = ETP_ABSENT),
    FIELD("test_problem", TEXT, test_problem,
          "the first tensor of a test case whose data are not those of its shape",
          .flags = ETP_ABSENT),
    POINTER(NULL, ptd, &k_ptd, "", .flags = ETP_ABSENT),
    GROUP(NULL, &k_record_part, "", .when = is_record, .flags = ETP_ABSENT),
    GROUP(NULL, &k_trace, "", .when = has_trace, .flags = ETP_ABSENT),
};
static SHAPE(k_inspect, k_rows);
#undef OF
const etp_document k_etp_inspect_document = {"etprof.inspect/1", "What inspect prints of a file",
                                             &k_inspect};
