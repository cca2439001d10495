// SPDX-License-Identifier: Apache-2.0
// The .pte reader, file level: header, segments, named data. Methods are in pte_method.c.
#include "base/guard.h"
#include "formats/pte_internal.h"
#include "formats/segments.h"

// The version of all programs so far; a change that older readers cannot follow would raise it.
#define NEWEST_VERSION 0
#define HEADER_AT 8
#define HEADER_MIN_LENGTH 24 // before segment_data_size was added
#define HEADER_FULL_LENGTH 32
// Beside twice the file's size: records are larger than the tables that they are made from, and a
// small file may be nothing but tables.
#define RECORD_SLACK (24u << 20)

bool etp_pte_probe(etp_bytes bytes)
{
    return bytes.len >= 8 && memcmp(bytes.ptr + 4, "ET12", 4) == 0;
}

const char *etp_pte_segment_kind_name(etp_pte_segment_kind kind)
{
    static const char *const k_names[] = {"other", "constant", "mutable", "delegate", "named"};
    return (unsigned)kind < ETP_FB_COUNT(k_names) ? k_names[kind] : "other";
}

uint32_t etp_pte_find_named(const etp_pte *pte, etp_str key)
{
    for (uint32_t i = 0; i < pte->n_named_data; i++) {
        if (etp_str_eq(pte->named_data[i].key, key)) {
            return pte->named_data[i].segment;
        }
    }
    return ETP_PTE_NO_SEGMENT;
}

// The optional header behind the identifier; without it the whole file is the flatbuffer.
// The exporter puts it there when there are segments. All that lies behind it in the file was moved
// by its length, which only the root offset had to know: the other offsets of a FlatBuffer are
// relative.
static etp_status read_header(etp_pte_reader *r)
{
    etp_bytes f = r->file;
    etp_pte *out = r->out;
    out->program_size = f.len;
    if (f.len < HEADER_AT + 8 || memcmp(f.ptr + HEADER_AT, "eh00", 4) != 0) {
        return ETP_OK;
    }
    uint64_t length = etp_load_u32(f.ptr + HEADER_AT + 4);
    if (length < HEADER_MIN_LENGTH || length > f.len - HEADER_AT) {
        return etp_fail_at(r->err, ETP_CORRUPT, f.base + HEADER_AT + 4,
                           "extended header of %llu bytes in a file of %zu bytes",
                           (unsigned long long)length, f.len);
    }
    // Magic word, length, size of the program, offset of the segments and, in newer files, their
    // size.
    const uint8_t *h = f.ptr + HEADER_AT;
    out->has_extended_header = true;
    out->program_size = etp_load_u64(h + 8);
    out->segment_base_offset = etp_load_u64(h + 16);
    if (length >= HEADER_FULL_LENGTH) {
        out->segment_data_size = etp_load_u64(h + 24);
    }
    if (out->program_size > f.len || out->program_size < HEADER_AT + length) {
        return etp_fail_at(r->err, ETP_CORRUPT, f.base + HEADER_AT + 8,
                           "program of %llu bytes in a file of %zu bytes: the file is cut off or "
                           "damaged",
                           (unsigned long long)out->program_size, f.len);
    }
    // A base of 0 says that there are no segments, not that they begin with the file.
    uint64_t base = out->segment_base_offset;
    if (base != 0 &&
        (base < out->program_size || base > f.len || out->segment_data_size > f.len - base)) {
        return etp_fail_at(r->err, ETP_CORRUPT, f.base + HEADER_AT + 16,
                           "segments at %llu with %llu bytes in a file of %zu bytes: the file is "
                           "cut off or damaged",
                           (unsigned long long)base, (unsigned long long)out->segment_data_size,
                           f.len);
    }
    return ETP_OK;
}

// Segment of a SubsegmentOffsets table; every offset in it lies inside the segment.
// How long each part is, the table does not say: that follows from the tensor which uses it.
static etp_status check_subsegments(etp_pte_reader *r, etp_fb_table t, etp_pte_segment_kind kind)
{
    uint32_t index = etp_fb_u32(t, SUBSEGMENT_INDEX, 0);
    etp_fb_vector offsets = etp_fb_vec(t, SUBSEGMENT_OFFSETS);
    if (offsets.n == 0 && r->out->n_segments == 0) {
        return ETP_OK; // written by exporters when there is no constant
    }
    ETP_TRY(etp_pte_check_index(r, t, "segment", index, r->out->n_segments));
    etp_pte_segment *s = &r->segments[index];
    for (uint32_t i = 0; i < offsets.n; i++) {
        // An offset at the very end is sound: exporters write the constant segment even when it is
        // empty, with its reserved entry 0 alone.
        if (etp_fb_vec_u64(offsets, i) > s->data.len) {
            return etp_fail_at(r->err, ETP_CORRUPT, etp_fb_position(r->program, t),
                               "%s data %lu starts at %llu in a segment of %zu bytes",
                               etp_pte_segment_kind_name(kind), (unsigned long)i,
                               (unsigned long long)etp_fb_vec_u64(offsets, i), s->data.len);
        }
    }
    s->kind = kind;
    s->users++;
    if (kind == ETP_PTE_SEGMENT_CONSTANT) {
        r->out->constant_segment = index;
    }
    return ETP_OK;
}

// Segments come first, because everything else points to them, and methods last, because their
// constants and delegates point to all of it.
static etp_status read_tables(etp_pte_reader *r)
{
    etp_pte *out = r->out;
    // read_header has seen that their base lies inside the file.
    etp_fb_vector v = etp_fb_vec(r->root, PROGRAM_SEGMENTS);
    ETP_TRY(etp_pte_take(r, r->root, "segments", v.n, sizeof *r->segments, &r->segments));
    // ExecuTorch takes a size of 0 for one that is not told: headers had none at first.
    etp_segments all = {r->file, out->segment_base_offset, out->segment_data_size,
                        out->segment_data_size > 0};
    for (uint32_t i = 0; i < v.n; i++) {
        etp_pte_segment *s = &r->segments[i];
        ETP_TRY(etp_segment_find(&all, etp_fb_vec_table(v, i), i, &s->data, r->err));
        s->offset = s->data.base - r->file.base;
    }
    out->segments = r->segments;
    out->n_segments = v.n;
    if (etp_fb_has(r->root, PROGRAM_CONSTANT_SEGMENT)) {
        ETP_TRY(check_subsegments(r, etp_fb_table_field(r->root, PROGRAM_CONSTANT_SEGMENT),
                                  ETP_PTE_SEGMENT_CONSTANT));
    }
    etp_fb_vector mutables = etp_fb_vec(r->root, PROGRAM_MUTABLE_SEGMENTS);
    for (uint32_t i = 0; i < mutables.n; i++) {
        ETP_TRY(check_subsegments(r, etp_fb_vec_table(mutables, i), ETP_PTE_SEGMENT_MUTABLE));
    }
    // A segment that is used in more than one way is called after the use that was read last.
    v = etp_fb_vec(r->root, PROGRAM_NAMED_DATA);
    etp_pte_named_data *items = NULL;
    ETP_TRY(etp_pte_take(r, r->root, "named data entries", v.n, sizeof *items, &items));
    for (uint32_t i = 0; i < v.n; i++) {
        etp_fb_table t = etp_fb_vec_table(v, i);
        items[i].key = etp_fb_str(t, NAMED_KEY);
        items[i].segment = etp_fb_u32(t, NAMED_SEGMENT, 0);
        ETP_TRY(etp_pte_check_index(r, t, "segment", items[i].segment, out->n_segments));
        r->segments[items[i].segment].kind = ETP_PTE_SEGMENT_NAMED;
        r->segments[items[i].segment].users++;
    }
    out->named_data = items;
    out->n_named_data = v.n;
    r->inline_data = etp_fb_vec(r->root, PROGRAM_INLINE_DATA);
    out->n_inline_data = r->inline_data.n;
    for (uint32_t i = 0; i < r->inline_data.n; i++) {
        out->inline_bytes += etp_fb_vec(etp_fb_vec_table(r->inline_data, i), 0).n;
    }
    out->n_constant_buffers = etp_fb_vec(r->root, PROGRAM_CONSTANT_BUFFER).n;

    etp_fb_vector plans = etp_fb_vec(r->root, PROGRAM_PLANS);
    etp_pte_method *methods = NULL;
    ETP_TRY(etp_pte_take(r, r->root, "methods", plans.n, sizeof *methods, &methods));
    for (uint32_t i = 0; i < plans.n; i++) {
        etp_fb_table plan = etp_fb_vec_table(plans, i);
        if (etp_pte_read_method(r, plan, &methods[i]) != ETP_OK) {
            etp_str name = etp_fb_str(plan, PLAN_NAME);
            return etp_fail_ctx(r->err, "method \"%.64s\"", name.len ? name.ptr : "");
        }
    }
    out->methods = methods;
    out->n_methods = plans.n;
    return ETP_OK;
}

static etp_status read_file(etp_bytes bytes, etp_arena *arena, etp_pte *out, etp_error *err)
{
    *out = (etp_pte){.file_size = bytes.len, .constant_segment = ETP_PTE_NO_SEGMENT};
    if (bytes.len < 8) {
        return etp_fail_at(err, ETP_CORRUPT, bytes.base + bytes.len,
                           "%zu bytes are too few for an ExecuTorch program (.pte)", bytes.len);
    }
    if (!etp_pte_probe(bytes)) {
        return etp_fail_at(err, ETP_UNSUPPORTED, bytes.base + 4,
                           "not an ExecuTorch program (.pte): the identifier \"ET12\" is missing");
    }
    etp_error local = {0}; // context is added to what is there, so something must be there
    etp_pte_reader r = {.file = bytes, .arena = arena, .out = out, .err = err ? err : &local};
    r.budget = 2 * (uint64_t)bytes.len + RECORD_SLACK;
    ETP_TRY(read_header(&r));
    r.program = (etp_bytes){bytes.ptr, (size_t)out->program_size, bytes.base};
    // Unless tables are shared, each visit costs the offset to a table and its own to the vtable.
    etp_fb_options options = {.identifier = "ET12", .max_tables = out->program_size / 8 + 64};
    ETP_TRY(etp_fb_verify(r.program, &etp_pte_schema, &options, &r.root, err));
    out->version = etp_fb_u32(r.root, PROGRAM_VERSION, 0);
    if (out->version > NEWEST_VERSION) {
        return etp_fail_at(err, ETP_UNSUPPORTED, etp_fb_position(r.program, r.root),
                           "program of schema version %lu, this build reads up to %d: "
                           "update etprof",
                           (unsigned long)out->version, NEWEST_VERSION);
    }
    return read_tables(&r);
}

etp_status etp_pte_read(etp_bytes bytes, etp_arena *arena, etp_pte *out, etp_error *err)
{
    ETP_GUARDED(arena, err, "the program", read_file(bytes, arena, out, err));
}
