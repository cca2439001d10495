// SPDX-License-Identifier: Apache-2.0
// Everything an ETDump file holds, as it is in the file. For durations, grouping and nesting use
// trace.h, which is built on this.
//
//   etp_etdump dump;
//   ETP_TRY(etp_etdump_open(bytes, &dump, err));
//   for (size_t r = 0; r < dump.n_runs; r++) {
//       etp_etdump_run run = etp_etdump_run_at(&dump, r);
//       for (size_t e = 0; e < run.n_events; e++) {
//           etp_etdump_event event = etp_etdump_event_at(&run, e);
//           etp_etdump_profile p;
//           if (etp_etdump_profile_of(event, &p)) { … p.end - p.start … }
//
// Ownership: all values borrow from the bytes given to etp_etdump_open; nothing is allocated.
// Absent strings have ptr NULL, present but empty ones do not. Fields called at_… are private.
// Thread rule: immutable, any number of readers.
#ifndef ETPROF_ETDUMP_H
#define ETPROF_ETDUMP_H

#include <etprof/bytes.h>
#include <etprof/error.h>

ETP_C_BEGIN

typedef enum etp_etdump_framing {
    ETP_ETDUMP_PREFIXED, // 4 bytes of size first: what the runtime writes
    ETP_ETDUMP_PLAIN     // none: what executorch.devtools' serializer writes, or prefix cut off
} etp_etdump_framing;

typedef struct etp_etdump {
    etp_bytes bytes;
    etp_etdump_framing framing;
    uint32_t version; // 0 in all known files
    size_t n_runs;
    const uint8_t *at_runs;
} etp_etdump;

typedef struct etp_etdump_run { // RunData
    uint64_t offset;            // in the file
    etp_str name;               // "Execute", "Default", …
    int32_t bundled_input;      // -1 when none
    bool has_events;            // false: the list is absent, which Inspector treats unlike empty
    size_t n_events;
    size_t n_allocators;
    const uint8_t *at_events, *at_allocators;
} etp_etdump_run;

typedef struct etp_etdump_event { // exactly one part is set in files of the runtime
    const uint8_t *at_profile, *at_allocation, *at_debug; // NULL when not set
} etp_etdump_event;

typedef struct etp_etdump_profile { // ProfileEvent; times are ticks of the device's clock
    etp_str name;
    int32_t chain_index;    // -1 for events of the framework
    int32_t instruction_id; // -1 when none
    int32_t delegate_id;    // -1 when none
    etp_str delegate_id_str;
    etp_bytes delegate_metadata;
    uint64_t start, end; // end < start: the device's 32-bit counter wrapped
} etp_etdump_profile;

typedef struct etp_etdump_allocation { // AllocationEvent
    int32_t allocator_id;              // 1-based index into the run's allocators
    uint64_t size_bytes;
} etp_etdump_allocation;

typedef enum etp_etdump_value_type {
    ETP_ETDUMP_NULL,
    ETP_ETDUMP_INT,
    ETP_ETDUMP_BOOL,
    ETP_ETDUMP_FLOAT,
    ETP_ETDUMP_DOUBLE,
    ETP_ETDUMP_TENSOR,
    ETP_ETDUMP_TENSOR_LIST,
    ETP_ETDUMP_STRING // the schema has the type but no place for its text
} etp_etdump_value_type;

typedef struct etp_etdump_tensor {
    int8_t scalar_type; // ExecuTorch ScalarType
    size_t n_dims, n_strides;
    int64_t buffer_offset; // in the debug buffer file; -1 for an empty tensor
    const uint8_t *at_sizes, *at_strides;
} etp_etdump_tensor;

typedef struct etp_etdump_value {
    etp_etdump_value_type type; // what the file says; a type without its value is ETP_ETDUMP_NULL
    bool is_output;             // an output of the program, logged after Method::execute
    bool b;
    int64_t i;
    double d; // FLOAT and DOUBLE
    etp_etdump_tensor tensor;
    size_t n_tensors; // TENSOR_LIST
    const uint8_t *at_tensors;
} etp_etdump_value;

typedef struct etp_etdump_debug { // DebugEvent
    uint64_t offset;              // in the file
    etp_str name;
    uint64_t chain_index; // 2^64 - 1 stands for -1
    int32_t instruction_id;
    int32_t delegate_id;
    etp_str delegate_id_str;
    bool has_value;
    etp_etdump_value value;
} etp_etdump_debug;

// Verifies BYTES completely and fills *OUT, which borrows from them. Errors: ETP_CORRUPT with the
// byte position, ETP_UNSUPPORTED (not an ETDump, newer version).
ETP_API ETP_NODISCARD etp_status etp_etdump_open(etp_bytes bytes, etp_etdump *out, etp_error *err);

// INDEX < n is the caller's promise in all of these.
ETP_API etp_etdump_run etp_etdump_run_at(const etp_etdump *dump, size_t index);
ETP_API etp_etdump_event etp_etdump_event_at(const etp_etdump_run *run, size_t index);
ETP_API etp_str etp_etdump_allocator_name(const etp_etdump_run *run, size_t index);

// False when the event has no such part.
ETP_API bool etp_etdump_profile_of(etp_etdump_event event, etp_etdump_profile *out);
ETP_API bool etp_etdump_allocation_of(etp_etdump_event event, etp_etdump_allocation *out);
ETP_API bool etp_etdump_debug_of(const etp_etdump *dump, etp_etdump_event event,
                                 etp_etdump_debug *out);

ETP_API etp_etdump_tensor etp_etdump_value_tensor(const etp_etdump_value *value, size_t index);
static inline int64_t etp_etdump_tensor_size(const etp_etdump_tensor *t, size_t dim)
{
    return (int64_t)etp_load_u64(t->at_sizes + 8 * dim);
}
static inline int64_t etp_etdump_tensor_stride(const etp_etdump_tensor *t, size_t dim)
{
    return (int64_t)etp_load_u64(t->at_strides + 8 * dim);
}
// Bytes of the tensor's elements inside the debug buffer BUFFER. ETP_CORRUPT when it does not fit
// there, ETP_UNSUPPORTED for an element type without a size.
ETP_API ETP_NODISCARD etp_status etp_etdump_tensor_data(const etp_etdump_tensor *t,
                                                        etp_bytes buffer, etp_bytes *out,
                                                        etp_error *err);

// Ticks from START to END when the counter is 64 bits wide or wrapped once at 32 bits; false when
// END is before START in any other way: a clock that went back is nearer to START that way round.
static inline bool etp_etdump_elapsed(uint64_t start, uint64_t end, uint64_t *out_ticks)
{
    if (end >= start) {
        *out_ticks = end - start;
        return true;
    }
    *out_ticks = (end + ((uint64_t)1 << 32)) - start;
    return start <= UINT32_MAX && *out_ticks < (uint64_t)1 << 31;
}

ETP_C_END

#endif
