// SPDX-License-Identifier: Apache-2.0
// Flat tensor files (.ptd, identifier FT01): named tensors kept outside a .pte.
//
// Ownership: arrays live in the caller's arena; data borrows from the file's bytes.
// Thread rule: immutable after reading.
#ifndef ETPROF_FLAT_TENSOR_H
#define ETPROF_FLAT_TENSOR_H

#include <etprof/pte.h>

ETP_C_BEGIN

typedef struct etp_flat_entry {
    etp_str key;
    uint32_t segment;
    bool has_layout; // the next three are known
    etp_dtype dtype;
    etp_i32s sizes;
    etp_str dim_order;
    etp_bytes data; // the entry's segment
} etp_flat_entry;

typedef struct etp_flat_tensor {
    uint64_t file_size;
    uint32_t version;
    uint64_t segment_base_offset, segment_data_size;
    const etp_bytes *segments;
    uint32_t n_segments;
    const etp_flat_entry *entries;
    uint32_t n_entries;
} etp_flat_tensor;

// True when BYTES start like a .ptd; decides nothing about validity.
ETP_API bool etp_flat_tensor_probe(etp_bytes bytes);
// Errors: ETP_CORRUPT, ETP_UNSUPPORTED, ETP_NOMEM.
ETP_API ETP_NODISCARD etp_status etp_flat_tensor_read(etp_bytes bytes, etp_arena *arena,
                                                      etp_flat_tensor *out, etp_error *err);
// NULL: there is no entry of that name.
ETP_API const etp_flat_entry *etp_flat_tensor_find(const etp_flat_tensor *file, etp_str key);

ETP_C_END

#endif
