// SPDX-License-Identifier: Apache-2.0
// Bundled programs (.bpte, identifier BP08): a .pte with test inputs and expected outputs.
//
// Ownership: arrays live in the caller's arena; data borrows from the file's bytes.
// Thread rule: immutable after reading.
#ifndef ETPROF_BUNDLED_H
#define ETPROF_BUNDLED_H

#include <etprof/pte.h>

ETP_C_BEGIN

typedef struct etp_bundled_value {
    etp_evalue_kind kind; // TENSOR, INT, BOOL, DOUBLE; OTHER for newer kinds
    union {
        int64_t i;
        bool b;
        double d;
        struct {
            etp_dtype dtype;
            etp_i32s sizes;
            etp_str dim_order;
            etp_bytes data;
        } tensor;
    } u;
} etp_bundled_value;

typedef struct etp_bundled_case {
    const etp_bundled_value *inputs, *expected;
    uint32_t n_inputs, n_expected;
} etp_bundled_case;

typedef struct etp_bundled_suite {
    etp_str method;
    const etp_bundled_case *cases;
    uint32_t n_cases;
} etp_bundled_suite;

typedef struct etp_bundled {
    uint32_t version;
    const etp_bundled_suite *suites;
    uint32_t n_suites;
    etp_bytes program; // the whole .pte
} etp_bundled;

// True when BYTES start like a .bpte; decides nothing about validity.
ETP_API bool etp_bundled_probe(etp_bytes bytes);
// Errors: ETP_CORRUPT, ETP_UNSUPPORTED, ETP_NOMEM.
ETP_API ETP_NODISCARD etp_status etp_bundled_read(etp_bytes bytes, etp_arena *arena,
                                                  etp_bundled *out, etp_error *err);

ETP_C_END

#endif
