// SPDX-License-Identifier: Apache-2.0
// A run folder as one file: a ustar archive compressed with zstd, which `tar --zstd` reads too.
#ifndef ETP_STORE_PACK_H
#define ETP_STORE_PACK_H

#include "store/store.h"

// Budgets of unpacking: an archive that asks for more is refused.
#define ETP_PACK_MAX_FILES 100000u
#define ETP_PACK_MAX_BYTES ((uint64_t)16 << 30)

typedef struct etp_pack_count {
    uint32_t files;
    uint64_t bytes; // of their contents
} etp_pack_count;

// Writes every file of the run folder DIR into FILE (replacing it). Same folder, same bytes.
ETP_NODISCARD etp_status etp_run_pack(const char *dir, const char *file, etp_pack_count *out,
                                      etp_error *err);
// Unpacks FILE into the folder DIR, which must be new or empty. Only regular files with plain names
// below DIR are made, none twice, within the budgets; anything else is ETP_CORRUPT and nothing is
// left. So is an archive without a run folder's manifest.
ETP_NODISCARD etp_status etp_run_unpack(const char *file, const char *dir, etp_pack_count *out,
                                        etp_error *err);

#endif
