// SPDX-License-Identifier: Apache-2.0
// ETDump files: schema, framing and views.
#include <etprof/dtype.h>
#include <etprof/etdump.h>

#include "base/choice.h"
#include "base/unicode.h"
#include "formats/etdump_view.h"
#include "formats/schema.h"

// The version of all files so far; a change that older readers cannot follow would raise it.
#define KNOWN_VERSION 0

// ---- schema ----

// The tables of etdump_schema_flatcc.fbs. A field that equals its default is not in the file; the
// defaults are not all 0 and stand where a field is read (chain_index 0, instruction_id and the
// delegate's id -1).
static const etp_fb_field k_tensor_fields[] = {
    [ETP_ED_TENSOR_SCALAR_TYPE] = SCALAR("scalar_type", 1),
    [ETP_ED_TENSOR_SIZES] = VECTOR("sizes", 8),
    [ETP_ED_TENSOR_STRIDES] = VECTOR("strides", 8),
    [ETP_ED_TENSOR_OFFSET] = SCALAR("offset", 8),
};
SCHEMA(tensor, "Tensor");

static const etp_fb_field k_tensor_list_fields[] = {
    TABLES("tensors", &k_tensor),
};
SCHEMA(tensor_list, "TensorList");

static const etp_fb_field k_float_fields[] = {SCALAR("float_val", 4)};
SCHEMA(float, "Float");

static const etp_fb_field k_value_fields[] = {
    [ETP_ED_VALUE_TYPE] = SCALAR("val", 1),
    [ETP_ED_VALUE_TENSOR] = TABLE("tensor", &k_tensor),
    [ETP_ED_VALUE_TENSOR_LIST] = TABLE("tensor_list", &k_tensor_list),
    [ETP_ED_VALUE_INT] = TABLE("int_value", &etp_int_schema),
    [ETP_ED_VALUE_FLOAT] = TABLE("float_value", &k_float),
    [ETP_ED_VALUE_DOUBLE] = TABLE("double_value", &etp_double_schema),
    [ETP_ED_VALUE_BOOL] = TABLE("bool_value", &etp_bool_schema),
    [ETP_ED_VALUE_OUTPUT] = TABLE("output", &etp_bool_schema),
};
SCHEMA(value, "Value");

static const etp_fb_field k_debug_fields[] = {
    [ETP_ED_DEBUG_CHAIN] = SCALAR("chain_index", 8),
    [ETP_ED_DEBUG_INSTRUCTION] = SCALAR("instruction_id", 4),
    [ETP_ED_DEBUG_ENTRY] = TABLE("debug_entry", &k_value),
    [ETP_ED_DEBUG_DELEGATE_INT] = SCALAR("delegate_debug_id_int", 4),
    [ETP_ED_DEBUG_DELEGATE_STR] = STRING("delegate_debug_id_str"),
    [ETP_ED_DEBUG_NAME] = STRING("name"),
};
SCHEMA(debug, "DebugEvent");

static const etp_fb_field k_allocation_fields[] = {
    SCALAR("allocator_id", 4),
    SCALAR("allocation_size", 8),
};
SCHEMA(allocation, "AllocationEvent");

// The two times are all that differs between two executions of one method.
static const etp_fb_field k_profile_fields[] = {
    [ETP_ED_PROFILE_NAME] = STRING("name"),
    [ETP_ED_PROFILE_CHAIN] = SCALAR("chain_index", 4),
    [ETP_ED_PROFILE_INSTRUCTION] = SCALAR("instruction_id", 4),
    [ETP_ED_PROFILE_DELEGATE_INT] = SCALAR("delegate_debug_id_int", 4),
    [ETP_ED_PROFILE_DELEGATE_STR] = STRING("delegate_debug_id_str"),
    [ETP_ED_PROFILE_METADATA] = VECTOR("delegate_debug_metadata", 1),
    [ETP_ED_PROFILE_START] = {"start_time", ETP_FB_SCALAR, .width = 8, .varies = true},
    [ETP_ED_PROFILE_END] = {"end_time",   ETP_FB_SCALAR, .width = 8, .varies = true},
};
SCHEMA(profile, "ProfileEvent");

static const etp_fb_field k_event_fields[] = {
    [ETP_ED_EVENT_PROFILE] = TABLE("profile_event", &k_profile),
    [ETP_ED_EVENT_ALLOCATION] = TABLE("allocation_event", &k_allocation),
    [ETP_ED_EVENT_DEBUG] = TABLE("debug_event", &k_debug),
};
SCHEMA(event, "Event");

static const etp_fb_field k_allocator_fields[] = {
    STRING("name"),
};
SCHEMA(allocator, "Allocator");

static const etp_fb_field k_run_fields[] = {
    [ETP_ED_RUN_NAME] = STRING("name"),
    [ETP_ED_RUN_BUNDLED_INPUT] = SCALAR("bundled_input_index", 4),
    [ETP_ED_RUN_ALLOCATORS] = TABLES("allocators", &k_allocator),
    [ETP_ED_RUN_EVENTS] = TABLES("events", &k_event),
};
SCHEMA(run, "RunData");

// Every execution has a run of its own, and executions of one method mostly log the same events in
// the same order: a long recording repeats itself but for times.
static const etp_fb_field k_etdump_fields[] = {
    [ETP_ED_VERSION] = SCALAR("version", 4),
    [ETP_ED_RUN_DATA] = {"run_data", ETP_FB_VECTOR_TABLE, .repeats = true, .table = &k_run},
};
SCHEMA(etdump, "ETDump");

// ---- framing ----

static bool has_at(etp_bytes b, size_t at, const char id[4])
{
    return b.len >= at + 4 && memcmp(b.ptr + at, id, 4) == 0;
}

// What people give by mistake is mostly another file of the same export, or a dump that flatc has
// turned into JSON. To name it helps more than to say what is missing.
static etp_status fail_not_etdump(etp_bytes b, etp_error *err)
{
    static const struct {
        size_t at;
        char id[4];
        const char *what;
    } k_others[] = {
        {4, {'E', 'T', '1', '2'},  "an ExecuTorch program (.pte)"},
        {4, {'B', 'P', '0', '8'},  "a bundled program (.bpte)"   },
        {4, {'F', 'T', '0', '1'},  "a flat tensor file (.ptd)"   },
        {0, {'P', 'K', 3, 4},      "a zip archive (an ETRecord?)"},
        // Indented as flatc does it, which Inspector runs on a dump.
        {0, {'{', '\n', ' ', ' '}, "JSON"                        },
    };
    if (b.len == 0) {
        return etp_fail_at(err, ETP_CORRUPT, b.base, "empty file, expected an ETDump");
    }
    for (size_t i = 0; i < sizeof k_others / sizeof *k_others; i++) {
        if (has_at(b, k_others[i].at, k_others[i].id)) {
            return etp_fail_at(err, ETP_UNSUPPORTED, b.base + k_others[i].at,
                               "expected an ETDump, this is %s", k_others[i].what);
        }
    }
    // Size prefix, root offset and identifier are 4 bytes each.
    if (b.len < 12) {
        return etp_fail_at(err, ETP_CORRUPT, b.base + b.len, "%zu bytes are too few for an ETDump",
                           b.len);
    }
    etp_str text = {(const char *)b.ptr, ETP_MIN(b.len, 512)};
    if (etp_str_find(text, ETP_STR("event_block_name")) < text.len) {
        return etp_fail_at(
            err, ETP_UNSUPPORTED, b.base,
            "this is a table of ExecuTorch's Inspector, which has lost what encloses "
            "what; give the .etdump that it was made from");
    }
    const char *wide = etp_unicode_wide(text);
    if (wide) {
        return etp_fail_at(err, ETP_UNSUPPORTED, b.base,
                           "this is a text in %s; give the .etdump that it was made from", wide);
    }
    if (etp_str_find(text, ETP_STR("run_index")) < text.len &&
        etp_str_find(text, ETP_STR("duration_ms")) < text.len) {
        return etp_fail_at(err, ETP_UNSUPPORTED, b.base,
                           "this is a timeline, a table of executions ('etprof compare' and "
                           "'etprof stats' read those); give the .etdump that it was made from");
    }
    return etp_fail_at(err, ETP_UNSUPPORTED, b.base + 4,
                       "not an ETDump: no identifier \"ED00\" at byte 4 or 8");
}

// The runtime writes a size prefix, executorch.devtools' own serializer none, and nothing in the
// file says which. An identifier at byte 8 behind a prefix that does not count the rest of the file
// is looked at last: that file was cut off or grew, and is told so.
static etp_status find_framing(etp_bytes b, etp_etdump_framing *out, etp_error *err)
{
    if (has_at(b, 8, "ED00") && etp_load_u32(b.ptr) == b.len - 4) {
        *out = ETP_ETDUMP_PREFIXED;
        return ETP_OK;
    }
    if (has_at(b, 4, "ED00")) {
        *out = ETP_ETDUMP_PLAIN;
        return ETP_OK;
    }
    if (has_at(b, 8, "ED00")) {
        unsigned long long want = etp_load_u32(b.ptr);
        return etp_fail_at(err, ETP_CORRUPT, b.base,
                           "size prefix says %llu bytes follow, found %zu%s", want, b.len - 4,
                           etp_if(want > b.len - 4, " (the file is cut off)"));
    }
    return fail_not_etdump(b, err);
}

etp_status etp_etdump_open(etp_bytes bytes, etp_etdump *out, etp_error *err)
{
    return etp_ed_open(bytes, NULL, out, err);
}

etp_status etp_ed_open(etp_bytes bytes, etp_fb_repeats *repeats, etp_etdump *out, etp_error *err)
{
    etp_etdump_framing framing = ETP_ETDUMP_PLAIN;
    ETP_TRY(find_framing(bytes, &framing, err));
    bool prefixed = framing == ETP_ETDUMP_PREFIXED;
    // The runtime aligns from the first byte of the prefix, so a file whose prefix was cut off has
    // its 8-byte fields at 4 mod 8; nothing in the file tells it from a plain one.
    const etp_fb_options options = {
        .identifier = "ED00",
        .root_at = prefixed ? 4 : 0,
        .max_align = prefixed ? 0 : 4,
        .repeats = repeats,
    };
    etp_fb_table root;
    ETP_TRY(etp_fb_verify(bytes, &k_etdump, &options, &root, err));
    uint32_t version = etp_fb_u32(root, ETP_ED_VERSION, 0);
    if (version > KNOWN_VERSION) {
        return etp_fail_at(err, ETP_UNSUPPORTED, etp_fb_position(bytes, root),
                           "ETDump version %lu, this etprof reads up to %d", (unsigned long)version,
                           KNOWN_VERSION);
    }
    etp_fb_vector runs = etp_fb_vec(root, ETP_ED_RUN_DATA);
    *out = (etp_etdump){
        .bytes = bytes,
        .framing = framing,
        .version = version,
        .n_runs = runs.n,
        .at_runs = runs.items,
    };
    return ETP_OK;
}

// ---- views ----

// <etprof/etdump.h> shows nothing of the FlatBuffers reader, so its structs hold a vector as
// pointer and number, and the views make a vector of them again. The number fits 32 bits: it came
// from such a vector.
etp_etdump_run etp_etdump_run_at(const etp_etdump *dump, size_t index)
{
    etp_fb_table t =
        etp_fb_vec_table((etp_fb_vector){dump->at_runs, (uint32_t)dump->n_runs}, index);
    etp_fb_vector events = etp_fb_vec(t, ETP_ED_RUN_EVENTS);
    etp_fb_vector allocators = etp_fb_vec(t, ETP_ED_RUN_ALLOCATORS);
    return (etp_etdump_run){
        .offset = etp_fb_position(dump->bytes, t),
        .name = etp_fb_str(t, ETP_ED_RUN_NAME),
        .bundled_input = etp_fb_i32(t, ETP_ED_RUN_BUNDLED_INPUT, -1),
        .has_events = events.items != NULL,
        .n_events = events.n,
        .n_allocators = allocators.n,
        .at_events = events.items,
        .at_allocators = allocators.items,
    };
}

etp_etdump_event etp_etdump_event_at(const etp_etdump_run *run, size_t index)
{
    etp_fb_vector events = {run->at_events, (uint32_t)run->n_events};
    etp_fb_table t = etp_fb_vec_table(events, index);
    return (etp_etdump_event){
        .at_profile = etp_fb_table_field(t, ETP_ED_EVENT_PROFILE).ptr,
        .at_allocation = etp_fb_table_field(t, ETP_ED_EVENT_ALLOCATION).ptr,
        .at_debug = etp_fb_table_field(t, ETP_ED_EVENT_DEBUG).ptr,
    };
}

etp_str etp_etdump_allocator_name(const etp_etdump_run *run, size_t index)
{
    etp_fb_vector v = {run->at_allocators, (uint32_t)run->n_allocators};
    return etp_fb_str(etp_fb_vec_table(v, index), 0);
}

bool etp_etdump_profile_of(etp_etdump_event event, etp_etdump_profile *out)
{
    if (!event.at_profile) {
        return false;
    }
    etp_fb_table t = etp_fb_table_at(event.at_profile);
    etp_fb_vector metadata = etp_fb_vec(t, ETP_ED_PROFILE_METADATA);
    *out = (etp_etdump_profile){
        .name = etp_fb_str(t, ETP_ED_PROFILE_NAME),
        .chain_index = etp_fb_i32(t, ETP_ED_PROFILE_CHAIN, 0),
        .instruction_id = etp_fb_i32(t, ETP_ED_PROFILE_INSTRUCTION, -1),
        .delegate_id = etp_fb_i32(t, ETP_ED_PROFILE_DELEGATE_INT, -1),
        .delegate_id_str = etp_fb_str(t, ETP_ED_PROFILE_DELEGATE_STR),
        .delegate_metadata = {metadata.items, metadata.n, 0},
        .start = etp_fb_u64(t, ETP_ED_PROFILE_START, 0),
        .end = etp_fb_u64(t, ETP_ED_PROFILE_END, 0),
    };
    return true;
}

bool etp_etdump_allocation_of(etp_etdump_event event, etp_etdump_allocation *out)
{
    if (!event.at_allocation) {
        return false;
    }
    etp_fb_table t = etp_fb_table_at(event.at_allocation);
    *out = (etp_etdump_allocation){etp_fb_i32(t, 0, 0), etp_fb_u64(t, 1, 0)};
    return true;
}

static etp_etdump_tensor tensor_view(etp_fb_table t)
{
    etp_fb_vector sizes = etp_fb_vec(t, ETP_ED_TENSOR_SIZES);
    etp_fb_vector strides = etp_fb_vec(t, ETP_ED_TENSOR_STRIDES);
    return (etp_etdump_tensor){
        .scalar_type = etp_fb_i8(t, ETP_ED_TENSOR_SCALAR_TYPE, 0),
        .n_dims = sizes.n,
        .n_strides = strides.n,
        .buffer_offset = etp_fb_i64(t, ETP_ED_TENSOR_OFFSET, 0),
        .at_sizes = sizes.items,
        .at_strides = strides.items,
    };
}

// A Value is no union in this schema: it has a type, and one field for each type. Nothing makes a
// writer keep the two together, so a type whose field is missing is told as Null.
static etp_etdump_value value_view(etp_fb_table t)
{
    // By type, the field that has its value.
    static const uint8_t k_field_of[] = {
        [ETP_ETDUMP_INT] = ETP_ED_VALUE_INT,
        [ETP_ETDUMP_BOOL] = ETP_ED_VALUE_BOOL,
        [ETP_ETDUMP_FLOAT] = ETP_ED_VALUE_FLOAT,
        [ETP_ETDUMP_DOUBLE] = ETP_ED_VALUE_DOUBLE,
        [ETP_ETDUMP_TENSOR] = ETP_ED_VALUE_TENSOR,
        [ETP_ETDUMP_TENSOR_LIST] = ETP_ED_VALUE_TENSOR_LIST,
    };
    etp_etdump_value out = {.type = ETP_ETDUMP_NULL};
    out.is_output = etp_fb_bool(etp_fb_table_field(t, ETP_ED_VALUE_OUTPUT), 0, false);
    unsigned type = etp_fb_u8(t, ETP_ED_VALUE_TYPE, 0);
    // The schema has a type for texts, but no field that could hold one.
    if (type == ETP_ETDUMP_STRING) {
        out.type = ETP_ETDUMP_STRING;
        return out;
    }
    if (type == 0 || type >= sizeof k_field_of || !etp_fb_has(t, k_field_of[type])) {
        return out;
    }
    out.type = (etp_etdump_value_type)type;
    etp_fb_table v = etp_fb_table_field(t, k_field_of[type]);
    switch (out.type) {
    case ETP_ETDUMP_INT:
        out.i = etp_fb_i64(v, 0, 0);
        break;
    case ETP_ETDUMP_BOOL:
        out.b = etp_fb_bool(v, 0, false);
        break;
    case ETP_ETDUMP_FLOAT:
        out.d = (double)etp_fb_f32(v, 0, 0);
        break;
    case ETP_ETDUMP_DOUBLE:
        out.d = etp_fb_f64(v, 0, 0);
        break;
    case ETP_ETDUMP_TENSOR:
        out.tensor = tensor_view(v);
        break;
    default: {
        etp_fb_vector list = etp_fb_vec(v, 0);
        out.n_tensors = list.n;
        out.at_tensors = list.items;
        break;
    }
    }
    return out;
}

bool etp_etdump_debug_of(const etp_etdump *dump, etp_etdump_event event, etp_etdump_debug *out)
{
    if (!event.at_debug) {
        return false;
    }
    etp_fb_table t = etp_fb_table_at(event.at_debug);
    etp_fb_table value = etp_fb_table_field(t, ETP_ED_DEBUG_ENTRY);
    *out = (etp_etdump_debug){
        .offset = etp_fb_position(dump->bytes, t),
        .name = etp_fb_str(t, ETP_ED_DEBUG_NAME),
        // Without a sign, unlike that of a profile event: −1 comes as 2^64 − 1.
        .chain_index = etp_fb_u64(t, ETP_ED_DEBUG_CHAIN, 0),
        .instruction_id = etp_fb_i32(t, ETP_ED_DEBUG_INSTRUCTION, -1),
        .delegate_id = etp_fb_i32(t, ETP_ED_DEBUG_DELEGATE_INT, -1),
        .delegate_id_str = etp_fb_str(t, ETP_ED_DEBUG_DELEGATE_STR),
        .has_value = value.ptr != NULL,
        .value = value_view(value),
    };
    return true;
}

etp_etdump_tensor etp_etdump_value_tensor(const etp_etdump_value *value, size_t index)
{
    etp_fb_vector v = {value->at_tensors, (uint32_t)value->n_tensors};
    return tensor_view(etp_fb_vec_table(v, index));
}

static uint64_t element_bytes(int scalar_type) // 0: not a type of whole bytes
{
    unsigned bits = etp_dtype_bits(etp_dtype_from_scalar_type(scalar_type));
    return bits % 8 == 0 ? bits / 8 : 0;
}

etp_status etp_etdump_tensor_data(const etp_etdump_tensor *t, etp_bytes buffer, etp_bytes *out,
                                  etp_error *err)
{
    uint64_t len = element_bytes(t->scalar_type);
    if (len == 0) {
        return etp_fail(err, ETP_UNSUPPORTED, "tensor of scalar type %d, which has no known size",
                        t->scalar_type);
    }
    bool fits = true;
    // The runtime writes the offset −1 for an empty tensor, so it is answered before the offset is
    // looked at.
    for (size_t i = 0; i < t->n_dims; i++) { // a 0 anywhere makes the tensor empty
        if (etp_etdump_tensor_size(t, i) == 0) {
            *out = (etp_bytes){NULL, 0, buffer.base};
            return ETP_OK;
        }
    }
    // Each size is held against what is left of the buffer, so the product cannot overflow.
    for (size_t i = 0; i < t->n_dims && fits; i++) {
        int64_t size = etp_etdump_tensor_size(t, i);
        fits = size > 0 && (uint64_t)size <= buffer.len / len;
        len *= fits ? (uint64_t)size : 1;
    }
    if (!fits || len > buffer.len || t->buffer_offset < 0 ||
        (uint64_t)t->buffer_offset > buffer.len - len) {
        return etp_fail(err, ETP_CORRUPT,
                        "tensor at offset %lld lies outside the debug buffer of %zu bytes",
                        (long long)t->buffer_offset, buffer.len);
    }
    *out = (etp_bytes){buffer.ptr + t->buffer_offset, (size_t)len,
                       buffer.base + (uint64_t)t->buffer_offset};
    return ETP_OK;
}
