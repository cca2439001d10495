// SPDX-License-Identifier: Apache-2.0
// ExecuTorch's program.fbs as tables for the verifier. Order of the fields = field ids.
#include "formats/pte_schema.h"

#include "formats/schema.h"

// Tables stand after those that they name. Fields behind the last one listed were added by newer
// exporters, and nothing reads them.

static const etp_fb_field k_frame_fields[] = {STRING("filename"), SCALAR("lineno", 4),
                                              STRING("name"), STRING("context")};
SCHEMA(frame, "Frame");
static const etp_fb_field k_frame_list_fields[] = {TABLES("items", &k_frame)};
SCHEMA(frame_list, "FrameList");

// Instructions.
static const etp_fb_field k_kernel_call_fields[] = {SCALAR("op_index", 4), VECTOR("args", 4)};
SCHEMA(kernel_call, "KernelCall");
static const etp_fb_field k_delegate_call_fields[] = {SCALAR("delegate_index", 4),
                                                      VECTOR("args", 4)};
SCHEMA(delegate_call, "DelegateCall");
static const etp_fb_field k_move_call_fields[] = {SCALAR("move_from", 4), SCALAR("move_to", 4)};
SCHEMA(move_call, "MoveCall");
static const etp_fb_field k_jump_call_fields[] = {SCALAR("cond_value_index", 4),
                                                  SCALAR("destination_instruction", 4)};
SCHEMA(jump_call, "JumpFalseCall");
static const etp_fb_field k_free_call_fields[] = {SCALAR("value_index", 4)};
SCHEMA(free_call, "FreeCall");
// Order = the union's type codes, from 0 (none) on.
static const etp_fb_schema *const k_instruction_tables[] = {
    NULL, &k_kernel_call, &k_delegate_call, &k_move_call, &k_jump_call, &k_free_call};
static const etp_fb_members k_instruction_members = ETP_FB_MEMBERS(k_instruction_tables);
static const etp_fb_field k_instruction_fields[] = {SCALAR("instr_args_type", 1),
                                                    UNION("instr_args", &k_instruction_members)};
SCHEMA(instruction, "Instruction");
static const etp_fb_field k_chain_fields[] = {VECTOR("inputs", 4), VECTOR("outputs", 4),
                                              TABLES("instructions", &k_instruction),
                                              TABLES("stacktrace", &k_frame_list)};
SCHEMA(chain, "Chain");

// Values.
static const etp_fb_field k_allocation_fields[] = {
    SCALAR("memory_id", 4), SCALAR("memory_offset_low", 4), SCALAR("memory_offset_high", 4)};
SCHEMA(allocation, "AllocationDetails");
static const etp_fb_field k_extra_fields[] = {
    SCALAR("mutable_data_segments_idx", 8), STRING("fully_qualified_name"), SCALAR("location", 1)};
SCHEMA(extra, "ExtraTensorInfo");
static const etp_fb_field k_tensor_fields[] = {SCALAR("scalar_type", 1),
                                               SCALAR("storage_offset", 4),
                                               VECTOR("sizes", 4),
                                               VECTOR("dim_order", 1),
                                               SCALAR("requires_grad", 1),
                                               SCALAR("data_buffer_idx", 4),
                                               TABLE("allocation_info", &k_allocation),
                                               SCALAR("layout", 1),
                                               SCALAR("shape_dynamism", 1),
                                               TABLE("extra_tensor_info", &k_extra)};
SCHEMA(tensor, "Tensor");
static const etp_fb_schema k_null = ETP_FB_SCHEMA_EMPTY("Null");
static const etp_fb_field k_int_fields[] = {SCALAR("int_val", 8)};
const etp_fb_schema etp_int_schema = ETP_FB_SCHEMA("Int", k_int_fields);
static const etp_fb_field k_bool_fields[] = {SCALAR("bool_val", 1)};
const etp_fb_schema etp_bool_schema = ETP_FB_SCHEMA("Bool", k_bool_fields);
static const etp_fb_field k_double_fields[] = {SCALAR("double_val", 8)};
const etp_fb_schema etp_double_schema = ETP_FB_SCHEMA("Double", k_double_fields);
static const etp_fb_field k_string_fields[] = {STRING("string_val")};
SCHEMA(string, "String");
// What has the same layout shares a table: IntList and DoubleList, TensorList and
// OptionalTensorList.
static const etp_fb_field k_list64_fields[] = {VECTOR("items", 8)};
SCHEMA(list64, "IntList or DoubleList");
static const etp_fb_field k_bool_list_fields[] = {VECTOR("items", 1)};
SCHEMA(bool_list, "BoolList");
static const etp_fb_field k_tensor_list_fields[] = {VECTOR("items", 4)};
SCHEMA(tensor_list, "TensorList");
static const etp_fb_schema *const k_evalue_tables[] = {
    NULL,      &k_null,   &etp_int_schema, &etp_bool_schema, &etp_double_schema, &k_tensor,
    &k_string, &k_list64, &k_list64,       &k_bool_list,     &k_tensor_list,     &k_tensor_list};
static const etp_fb_members k_evalue_members = ETP_FB_MEMBERS(k_evalue_tables);
static const etp_fb_field k_evalue_fields[] = {SCALAR("val_type", 1),
                                               UNION("val", &k_evalue_members)};
SCHEMA(evalue, "EValue");

// Operators and delegates.
static const etp_fb_field k_operator_fields[] = {STRING("name"), STRING("overload")};
SCHEMA(operator, "Operator");
static const etp_fb_field k_reference_fields[] = {SCALAR("location", 1), SCALAR("index", 4)};
SCHEMA(reference, "BackendDelegateDataReference");
static const etp_fb_field k_spec_fields[] = {STRING("key"), VECTOR("value", 1)};
SCHEMA(spec, "CompileSpec");
static const etp_fb_field k_delegate_fields[] = {STRING("id"), TABLE("processed", &k_reference),
                                                 TABLES("compile_specs", &k_spec)};
SCHEMA(delegate, "BackendDelegate");

// The plan and the program.
static const etp_fb_field k_meta_fields[] = {STRING("encoded_inp_str"), STRING("encoded_out_str")};
SCHEMA(meta, "ContainerMetadata");
static const etp_fb_field k_plan_fields[] = {
    STRING("name"),
    TABLE("container_meta_type", &k_meta),
    TABLES("values", &k_evalue),
    VECTOR("inputs", 4),
    VECTOR("outputs", 4),
    TABLES("chains", &k_chain),
    TABLES("operators", &k_operator),
    TABLES("delegates", &k_delegate),
    VECTOR("non_const_buffer_sizes", 8),
    IGNORED("non_const_buffer_device"),
};
SCHEMA(plan, "ExecutionPlan");
// Buffer and BackendDelegateInlineData.
static const etp_fb_field k_bytes_fields[] = {VECTOR("data", 1)};
SCHEMA(bytes, "Buffer");
static const etp_fb_field k_segment_fields[] = {SCALAR("offset", 8), SCALAR("size", 8)};
const etp_fb_schema etp_data_segment_schema = ETP_FB_SCHEMA("DataSegment", k_segment_fields);
static const etp_fb_field k_subsegments_fields[] = {SCALAR("segment_index", 4),
                                                    VECTOR("offsets", 8)};
SCHEMA(subsegments, "SubsegmentOffsets");
static const etp_fb_field k_named_fields[] = {STRING("key"), SCALAR("segment_index", 4)};
SCHEMA(named, "NamedData");
static const etp_fb_field k_program_fields[] = {
    SCALAR("version", 4),
    TABLES("execution_plan", &k_plan),
    TABLES("constant_buffer", &k_bytes),
    TABLES("backend_delegate_data", &k_bytes),
    TABLES("segments", &etp_data_segment_schema),
    TABLE("constant_segment", &k_subsegments),
    TABLES("mutable_data_segments", &k_subsegments),
    TABLES("named_data", &k_named),
};
const etp_fb_schema etp_pte_schema = ETP_FB_SCHEMA("Program", k_program_fields);
