// SPDX-License-Identifier: Apache-2.0
// The answer of `etprof inspect --tensor`: the values a recording logged, with figures of their
// contents when the debug buffer is given.
#ifndef ETP_INSPECT_TENSORS_H
#define ETP_INSPECT_TENSORS_H

#include <etprof/dtype.h>
#include <etprof/etdump.h>

#include "document/fields.h"
#include "report/report.h"

#define ETP_LOGGED_HEAD 4 // first values that are shown

typedef struct etp_logged_value { // one tensor or scalar
    size_t run;                   // RunData in the file
    int64_t chain;                // −1 for outputs of the program
    int32_t instruction;
    etp_str delegate; // operator inside a delegate, empty otherwise
    bool is_output;
    etp_etdump_value_type type; // of this value: TENSOR, INT, BOOL, FLOAT, DOUBLE, NULL
    uint32_t position;          // in a list of tensors, else 0
    double scalar;              // INT, BOOL, FLOAT, DOUBLE
    etp_dtype dtype;            // TENSOR, as are the following
    const int64_t *sizes;
    size_t rank;
    int64_t offset;        // in the buffer, −1 when nothing was logged
    bool has_data;         // the buffer was given and holds it: the rest is valid
    uint64_t elements;     // all of them
    uint64_t n_nan, n_inf; // left out of the next four
    double min, max, mean, sum;
    double head[ETP_LOGGED_HEAD];
    uint32_t n_head;
} etp_logged_value;

typedef struct etp_inspect_tensors {
    const char *path;
    bool has_buffer;
    const etp_logged_value *values; // file order
    size_t n_values;
} etp_inspect_tensors;

// BUFFER: the debug buffer file, ptr NULL when there is none. Errors: ETP_CORRUPT (also a tensor
// that lies outside the buffer), ETP_UNSUPPORTED, ETP_NOMEM.
ETP_NODISCARD etp_status etp_inspect_tensors_read(const char *path, etp_bytes dump,
                                                  etp_bytes buffer, etp_arena *arena,
                                                  etp_inspect_tensors *out, etp_error *err);
extern const etp_document k_etp_inspect_tensors_document; // of etp_inspect_tensors
const etp_report *etp_inspect_tensors_report(const etp_inspect_tensors *tensors, etp_arena *arena);

#endif
