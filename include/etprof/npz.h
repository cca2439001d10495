// SPDX-License-Identifier: Apache-2.0
// numpy's array files (.npy, formats 1 to 3) and archives of them (.npz, stored or deflated).
//
// Ownership: an array of a .npy borrows its data from the file's bytes; those of a .npz and all
// names live in the caller's arena. Thread rule: immutable after reading.
#ifndef ETPROF_NPZ_H
#define ETPROF_NPZ_H

#include <etprof/arena.h>
#include <etprof/dtype.h>
#include <etprof/error.h>

ETP_C_BEGIN

#define ETP_NPY_MAX_DIMS 16

typedef struct etp_npy {
    etp_str name; // in the archive, without ".npy"; "" for a file of its own
    etp_dtype dtype;
    bool fortran; // the first dimension runs fastest
    uint32_t n_dims;
    uint64_t sizes[ETP_NPY_MAX_DIMS];
    uint64_t elements;
    etp_bytes data; // little-endian, exactly elements × element size
} etp_npy;

// The header is parsed strictly: a dictionary of exactly descr, fortran_order and shape.
// ETP_CORRUPT with the byte position, ETP_UNSUPPORTED (big-endian, objects, structures, text, a
// newer format).
ETP_API ETP_NODISCARD etp_status etp_npy_read(etp_bytes bytes, etp_npy *out, etp_error *err);

// The arrays of an archive as positional arguments: by number when all are called arr_0, arr_1 …
// (np.savez(file, a, b)), else in the order of the archive (np.savez(file, x=a, y=b)). LIMIT bounds
// the unpacked bytes of all of them. ETP_CORRUPT also for names that come twice, missing numbers
// and entries that are not arrays.
ETP_API ETP_NODISCARD etp_status etp_npz_read(etp_bytes bytes, uint64_t limit, etp_arena *arena,
                                              const etp_npy **out, size_t *out_n, etp_error *err);

ETP_C_END

#endif
