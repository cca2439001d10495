// SPDX-License-Identifier: Apache-2.0
// The reader of flat tensor files (.ptd).
#include <etprof/flat_tensor.h>

#include "base/guard.h"
#include "formats/pte_schema.h"
#include "formats/schema.h"
#include "formats/segments.h"

// A .ptd is built as a .pte: identifier, a header spliced in behind it, tables, then the segments.
#define HEADER_AT 8
#define HEADER_LENGTH 40
#define NEWEST_VERSION 0

enum { FILE_VERSION, FILE_SEGMENTS, FILE_NAMED };
enum { ENTRY_KEY, ENTRY_SEGMENT, ENTRY_LAYOUT };
enum { LAYOUT_TYPE, LAYOUT_SIZES, LAYOUT_DIM_ORDER };

static const etp_fb_field k_layout_fields[] = {SCALAR("scalar_type", 1), VECTOR("sizes", 4),
                                               VECTOR("dim_order", 1)};
SCHEMA(layout, "TensorLayout");
static const etp_fb_field k_entry_fields[] = {STRING("key"), SCALAR("segment_index", 4),
                                              TABLE("tensor_layout", &k_layout)};
SCHEMA(entry, "NamedData");
static const etp_fb_field k_file_fields[] = {SCALAR("version", 4),
                                             TABLES("segments", &etp_data_segment_schema),
                                             TABLES("named_data", &k_entry)};
SCHEMA(file, "FlatTensor");

bool etp_flat_tensor_probe(etp_bytes bytes)
{
    return bytes.len >= 8 && memcmp(bytes.ptr + 4, "FT01", 4) == 0;
}

const etp_flat_entry *etp_flat_tensor_find(const etp_flat_tensor *file, etp_str key)
{
    for (uint32_t i = 0; i < file->n_entries; i++) {
        if (etp_str_eq(file->entries[i].key, key)) {
            return &file->entries[i];
        }
    }
    return NULL;
}

static etp_status read_entry(etp_bytes f, etp_fb_table t, const etp_flat_tensor *file,
                             etp_flat_entry *out, etp_error *err)
{
    out->key = etp_fb_str(t, ENTRY_KEY);
    out->segment = etp_fb_u32(t, ENTRY_SEGMENT, 0);
    if (out->segment >= file->n_segments) {
        return etp_fail_at(err, ETP_CORRUPT, etp_fb_position(f, t),
                           "segment %lu does not exist, there are %lu", (unsigned long)out->segment,
                           (unsigned long)file->n_segments);
    }
    out->data = file->segments[out->segment];
    etp_fb_table layout = etp_fb_table_field(t, ENTRY_LAYOUT);
    if (layout.ptr) {
        etp_fb_vector sizes = etp_fb_vec(layout, LAYOUT_SIZES);
        etp_fb_vector order = etp_fb_vec(layout, LAYOUT_DIM_ORDER);
        out->has_layout = true;
        out->dtype = etp_dtype_from_scalar_type(etp_fb_i8(layout, LAYOUT_TYPE, 0));
        out->sizes = (etp_i32s){sizes.items, sizes.n};
        out->dim_order = (etp_str){(const char *)order.items, order.n};
    }
    return ETP_OK;
}

static etp_status read_file(etp_bytes bytes, etp_arena *arena, etp_flat_tensor *out, etp_error *err)
{
    *out = (etp_flat_tensor){.file_size = bytes.len};
    if (!etp_flat_tensor_probe(bytes)) {
        return etp_fail_at(err, bytes.len < 8 ? ETP_CORRUPT : ETP_UNSUPPORTED, bytes.base,
                           "not a flat tensor file (.ptd): the identifier \"FT01\" is missing");
    }
    // The flatbuffer starts at byte 0 although the header speaks of an offset: root offset and
    // identifier stay in front of the header, everything else lies behind it.
    if (bytes.len < HEADER_AT + HEADER_LENGTH || memcmp(bytes.ptr + HEADER_AT, "FH01", 4) != 0) {
        return etp_fail_at(err, ETP_CORRUPT, bytes.base + HEADER_AT,
                           "flat tensor file without its header (FH01)");
    }
    // Magic word, length, offset and size of the tables, offset and size of the segments.
    const uint8_t *h = bytes.ptr + HEADER_AT;
    uint64_t length = etp_load_u32(h + 4);
    uint64_t offset = etp_load_u64(h + 8);
    uint64_t size = etp_load_u64(h + 16);
    out->segment_base_offset = etp_load_u64(h + 24);
    out->segment_data_size = etp_load_u64(h + 32);
    if (length < HEADER_LENGTH || offset > bytes.len || size > bytes.len - offset) {
        return etp_fail_at(err, ETP_CORRUPT, bytes.base + HEADER_AT,
                           "header of %llu bytes, tables at %llu with %llu bytes in a file of %zu "
                           "bytes: the file is cut off or damaged",
                           (unsigned long long)length, (unsigned long long)offset,
                           (unsigned long long)size, bytes.len);
    }
    uint64_t base = out->segment_base_offset;
    if (base > bytes.len || out->segment_data_size > bytes.len - base) {
        return etp_fail_at(err, ETP_CORRUPT, bytes.base + HEADER_AT + 24,
                           "segments at %llu with %llu bytes in a file of %zu bytes: the file is "
                           "cut off or damaged",
                           (unsigned long long)base, (unsigned long long)out->segment_data_size,
                           bytes.len);
    }
    etp_bytes flatbuffer = {bytes.ptr, (size_t)(offset + size), bytes.base};
    // A record is less than 100 bytes and costs at least one table: 1/16 keeps all of them within
    // some six times the tables' size, however often a hostile file shares them.
    etp_fb_options options = {.identifier = "FT01", .max_tables = flatbuffer.len / 16 + 64};
    etp_fb_table root;
    ETP_TRY(etp_fb_verify(flatbuffer, &k_file, &options, &root, err));
    out->version = etp_fb_u32(root, FILE_VERSION, 0);
    if (out->version > NEWEST_VERSION) {
        return etp_fail_at(err, ETP_UNSUPPORTED, etp_fb_position(bytes, root),
                           "flat tensor file of version %lu, this build reads up to %d",
                           (unsigned long)out->version, NEWEST_VERSION);
    }
    etp_fb_vector v = etp_fb_vec(root, FILE_SEGMENTS);
    etp_bytes *segments = ETP_NEW_ARRAY(arena, etp_bytes, v.n);
    etp_segments all = {bytes, base, out->segment_data_size, true};
    for (uint32_t i = 0; i < v.n; i++) {
        ETP_TRY(etp_segment_find(&all, etp_fb_vec_table(v, i), i, &segments[i], err));
    }
    out->segments = segments;
    out->n_segments = v.n;
    v = etp_fb_vec(root, FILE_NAMED);
    etp_flat_entry *entries = ETP_NEW_ARRAY(arena, etp_flat_entry, v.n);
    for (uint32_t i = 0; i < v.n; i++) {
        ETP_TRY(read_entry(bytes, etp_fb_vec_table(v, i), out, &entries[i], err));
    }
    out->entries = entries;
    out->n_entries = v.n;
    return ETP_OK;
}

etp_status etp_flat_tensor_read(etp_bytes bytes, etp_arena *arena, etp_flat_tensor *out,
                                etp_error *err)
{
    ETP_GUARDED(arena, err, "the data file", read_file(bytes, arena, out, err));
}
