// SPDX-License-Identifier: Apache-2.0
// The bytes of a file of any size, for the readers that take bytes.
//
// A large file is mapped, not read; one that is kept compressed (zstd: recordings in a run folder,
// P.etdump.zst) is read and unpacked. A program that shortens a mapped file ends the process that
// looks at it (SIGBUS, the system's rule); etprof itself replaces files, it never shortens them.
// Thread rule: immutable after open, any number of readers.
#ifndef ETPROF_MAPPING_H
#define ETPROF_MAPPING_H

#include <etprof/bytes.h>

ETP_C_BEGIN

typedef struct etp_mapping etp_mapping;

// Errors: ETP_IO when it cannot be read, ETP_UNSUPPORTED when it is not a regular file or unpacks
// to a thousand times its size, ETP_CORRUPT when it cannot be unpacked, ETP_NOMEM.
ETP_API ETP_NODISCARD etp_status etp_mapping_open(const char *path, etp_mapping **out,
                                                  etp_error *err);
// Borrowed until etp_mapping_close.
ETP_API etp_bytes etp_mapping_bytes(const etp_mapping *mapping);
ETP_API void etp_mapping_close(etp_mapping *mapping); // NULL is fine

ETP_C_END

#endif
