// SPDX-License-Identifier: Apache-2.0
// ETDump files for tests, by the field numbers of ExecuTorch's schema.
#include "etdump_writer.h"

#include <stdlib.h>

enum { ED_INT = 1, ED_BOOL, ED_FLOAT, ED_DOUBLE, ED_TENSOR, ED_TENSOR_LIST };

dump_writer dump_begin(etp_arena *arena)
{
    dump_writer w = {.arena = arena};
    etp_fbb_init(&w.fbb, arena);
    return w;
}

static void keep(bool pushed)
{
    if (!pushed) {
        abort(); // a test machine without memory
    }
}

static etp_fbb_ref text(dump_writer *w, const char *z)
{
    return z ? etp_fbb_str(&w->fbb, etp_str_from(z)) : 0;
}

static void add_event(dump_writer *w, unsigned part, etp_fbb_ref ref)
{
    etp_fbb_begin(&w->fbb);
    etp_fbb_add_ref(&w->fbb, part, ref);
    keep(ETP_PUSH(w->arena, &w->events, etp_fbb_end(&w->fbb)));
}

static void add_i32(etp_fbb *b, unsigned id, int32_t v, int32_t def)
{
    if (v != def) {
        etp_fbb_add(b, id, 4, (uint32_t)v);
    }
}

void dump_event(dump_writer *w, const dump_profile *e)
{
    etp_fbb *b = &w->fbb;
    etp_fbb_ref name = text(w, e->name), delegate = text(w, e->delegate_str);
    etp_fbb_ref metadata = e->metadata ? etp_fbb_vec(b, e->metadata, strlen(e->metadata), 1, 0) : 0;
    etp_fbb_begin(b);
    etp_fbb_add(b, 6, 8, e->start);
    etp_fbb_add(b, 7, 8, e->end);
    etp_fbb_add_ref(b, 0, name);
    add_i32(b, 1, e->chain, 0);
    add_i32(b, 2, e->instruction, -1);
    add_i32(b, 3, e->delegate_id, -1);
    etp_fbb_add_ref(b, 4, delegate);
    etp_fbb_add_ref(b, 5, metadata);
    add_event(w, 0, etp_fbb_end(b));
}

void dump_debug_event(dump_writer *w, const dump_debug *e)
{
    etp_fbb *b = &w->fbb;
    etp_fbb_ref name = text(w, e->name), delegate = text(w, e->delegate_str);
    etp_fbb_begin(b);
    if (e->chain) {
        etp_fbb_add(b, 0, 8, e->chain);
    }
    add_i32(b, 1, e->instruction, -1);
    etp_fbb_add_ref(b, 2, e->value);
    add_i32(b, 3, e->delegate_id, -1);
    etp_fbb_add_ref(b, 4, delegate);
    etp_fbb_add_ref(b, 5, name);
    add_event(w, 2, etp_fbb_end(b));
}

void dump_allocation(dump_writer *w, int32_t allocator, uint64_t size)
{
    etp_fbb_begin(&w->fbb);
    etp_fbb_add(&w->fbb, 1, 8, size);
    add_i32(&w->fbb, 0, allocator, 0);
    add_event(w, 1, etp_fbb_end(&w->fbb));
}

void dump_empty_event(dump_writer *w)
{
    add_event(w, 0, 0);
}

void dump_allocator(dump_writer *w, const char *name)
{
    etp_fbb_ref ref = text(w, name);
    etp_fbb_begin(&w->fbb);
    etp_fbb_add_ref(&w->fbb, 0, ref);
    keep(ETP_PUSH(w->arena, &w->allocators, etp_fbb_end(&w->fbb)));
}

static void add_run(dump_writer *w, const char *name, int32_t bundled_input, etp_fbb_ref events)
{
    etp_fbb *b = &w->fbb;
    etp_fbb_ref allocators =
        w->allocators.n ? etp_fbb_vec_refs(b, w->allocators.items, w->allocators.n) : 0;
    etp_fbb_ref name_ref = text(w, name);
    etp_fbb_begin(b);
    etp_fbb_add_ref(b, 0, name_ref);
    add_i32(b, 1, bundled_input, -1);
    etp_fbb_add_ref(b, 2, allocators);
    etp_fbb_add_ref(b, 3, events);
    keep(ETP_PUSH(w->arena, &w->runs, etp_fbb_end(b)));
    w->events.n = 0;
    w->allocators.n = 0;
}

void dump_run(dump_writer *w, const char *name, int32_t bundled_input)
{
    add_run(w, name, bundled_input, etp_fbb_vec_refs(&w->fbb, w->events.items, w->events.n));
}

void dump_run_without_events(dump_writer *w, const char *name)
{
    add_run(w, name, -1, 0);
}

etp_bytes dump_finish_version(dump_writer *w, bool size_prefix, uint32_t version)
{
    etp_fbb *b = &w->fbb;
    etp_fbb_ref runs = etp_fbb_vec_refs(b, w->runs.items, w->runs.n);
    etp_fbb_begin(b);
    if (version) {
        etp_fbb_add(b, 0, 4, version);
    }
    etp_fbb_add_ref(b, 1, runs);
    return etp_fbb_finish(b, etp_fbb_end(b), "ED00", size_prefix);
}

etp_bytes dump_finish(dump_writer *w, bool size_prefix)
{
    return dump_finish_version(w, size_prefix, 0);
}

// ---- values ----

static etp_fbb_ref scalar(dump_writer *w, size_t width, uint64_t bits)
{
    etp_fbb_begin(&w->fbb);
    etp_fbb_add(&w->fbb, 0, width, bits);
    return etp_fbb_end(&w->fbb);
}

static etp_fbb_ref value(dump_writer *w, unsigned type, unsigned field, etp_fbb_ref ref,
                         bool is_output)
{
    etp_fbb_ref output = is_output ? scalar(w, 1, 1) : 0;
    etp_fbb_begin(&w->fbb);
    etp_fbb_add(&w->fbb, 0, 1, type);
    etp_fbb_add_ref(&w->fbb, field, ref);
    etp_fbb_add_ref(&w->fbb, 7, output);
    return etp_fbb_end(&w->fbb);
}

etp_fbb_ref dump_int(dump_writer *w, int64_t v, bool is_output)
{
    return value(w, ED_INT, 3, scalar(w, 8, (uint64_t)v), is_output);
}

etp_fbb_ref dump_bool(dump_writer *w, bool v, bool is_output)
{
    return value(w, ED_BOOL, 6, scalar(w, 1, v), is_output);
}

etp_fbb_ref dump_float(dump_writer *w, float v, bool is_output)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return value(w, ED_FLOAT, 4, scalar(w, 4, bits), is_output);
}

etp_fbb_ref dump_double(dump_writer *w, double v, bool is_output)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return value(w, ED_DOUBLE, 5, scalar(w, 8, bits), is_output);
}

static etp_fbb_ref tensor(dump_writer *w, int8_t scalar_type, const int64_t *sizes, size_t n_dims,
                          int64_t offset)
{
    etp_fbb_ref v = etp_fbb_vec(&w->fbb, sizes, n_dims, 8, 0);
    etp_fbb_begin(&w->fbb);
    etp_fbb_add(&w->fbb, 3, 8, (uint64_t)offset);
    etp_fbb_add_ref(&w->fbb, 1, v);
    etp_fbb_add_ref(&w->fbb, 2, v); // strides: unused by readers here
    etp_fbb_add(&w->fbb, 0, 1, (uint8_t)scalar_type);
    return etp_fbb_end(&w->fbb);
}

etp_fbb_ref dump_tensor(dump_writer *w, int8_t scalar_type, const int64_t *sizes, size_t n_dims,
                        int64_t offset, bool is_output)
{
    return value(w, ED_TENSOR, 1, tensor(w, scalar_type, sizes, n_dims, offset), is_output);
}

etp_fbb_ref dump_tensor_list(dump_writer *w, int8_t scalar_type, const int64_t *sizes,
                             size_t n_dims, int64_t offset, size_t n, bool is_output)
{
    etp_fbb_ref refs[16];
    for (size_t i = 0; i < n && i < 16; i++) {
        refs[i] = tensor(w, scalar_type, sizes, n_dims, offset);
    }
    etp_fbb_ref v = etp_fbb_vec_refs(&w->fbb, refs, n < 16 ? n : 16);
    etp_fbb_begin(&w->fbb);
    etp_fbb_add_ref(&w->fbb, 0, v);
    return value(w, ED_TENSOR_LIST, 2, etp_fbb_end(&w->fbb), is_output);
}
