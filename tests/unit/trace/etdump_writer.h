// SPDX-License-Identifier: Apache-2.0
// Makes ETDump files event by event, for tests and benchmarks.
#ifndef ETP_TESTS_ETDUMP_WRITER_H
#define ETP_TESTS_ETDUMP_WRITER_H

#include "../flatbuf/builder.h"

typedef struct dump_profile { // NULL strings and values equal to the schema's default are left out
    const char *name, *delegate_str;
    int32_t chain, instruction, delegate_id; // defaults: 0, -1, -1
    uint64_t start, end;
    const char *metadata; // "" is written as an empty vector
} dump_profile;

typedef struct dump_debug {
    const char *name, *delegate_str;
    uint64_t chain;
    int32_t instruction, delegate_id;
    etp_fbb_ref value;
} dump_debug;

typedef struct dump_writer {
    etp_fbb fbb;
    etp_arena *arena;
    struct {
        etp_fbb_ref *items;
        size_t n, cap;
    } runs, events, allocators;
} dump_writer;

dump_writer dump_begin(etp_arena *arena);
void dump_event(dump_writer *w, const dump_profile *e);
void dump_debug_event(dump_writer *w, const dump_debug *e);
void dump_allocation(dump_writer *w, int32_t allocator, uint64_t size);
void dump_empty_event(dump_writer *w); // an Event with no part set
void dump_allocator(dump_writer *w, const char *name);
// Ends the run that the events since the last call make up. NAME NULL: no name.
void dump_run(dump_writer *w, const char *name, int32_t bundled_input);
void dump_run_without_events(dump_writer *w, const char *name); // the list is absent
etp_bytes dump_finish(dump_writer *w, bool size_prefix);
etp_bytes dump_finish_version(dump_writer *w, bool size_prefix, uint32_t version);

// Values of debug events. IS_OUTPUT marks an output of the program.
etp_fbb_ref dump_int(dump_writer *w, int64_t v, bool is_output);
etp_fbb_ref dump_bool(dump_writer *w, bool v, bool is_output);
etp_fbb_ref dump_float(dump_writer *w, float v, bool is_output);
etp_fbb_ref dump_double(dump_writer *w, double v, bool is_output);
etp_fbb_ref dump_tensor(dump_writer *w, int8_t scalar_type, const int64_t *sizes, size_t n_dims,
                        int64_t offset, bool is_output);
// N equal tensors.
etp_fbb_ref dump_tensor_list(dump_writer *w, int8_t scalar_type, const int64_t *sizes,
                             size_t n_dims, int64_t offset, size_t n, bool is_output);

#endif
