// SPDX-License-Identifier: Apache-2.0
// What a device can do at most, measured once per state of it and remembered.
#ifndef ETP_SESSION_ROOFS_H
#define ETP_SESSION_ROOFS_H

#include "measure/roofs.h"

#define ETP_ROOFS_CACHE ".etprof/roofs" // in the working directory
#define ETP_ROOFS_SECONDS 6             // for each thread count, by default
#define ETP_ROOFS_DAYS 30               // for which they are remembered

typedef struct etp_roofs_answer {
    etp_roof_table table;
    bool cached;       // measured earlier; not part of the document
    const char *doubt; // why they were not kept: etp_roofs_doubt; NULL: they were
} etp_roofs_answer;

// Takes the roofs of DEVICE (NULL: this machine) in its present clock state from CACHE_DIR, or
// measures them and puts them there. FRESH measures in any case; what other thread counts had is
// kept. A cache that cannot be read, is of another state or too old, is as good as none. Nothing is
// kept under emulation and of a busy machine.
ETP_NODISCARD etp_status etp_roofs_of(etp_device *device, const char *cache_dir,
                                      const etp_roofs_options *options, bool fresh,
                                      etp_arena *arena, etp_roofs_answer *out, etp_error *err);
// The same from the cache alone; out->table.n is 0 when there is nothing for this state.
ETP_NODISCARD etp_status etp_roofs_cached(etp_device *device, const char *cache_dir,
                                          etp_arena *arena, etp_roofs_answer *out, etp_error *err);
// Puts what was measured into the cache, and adds to it what the cache has of other thread counts.
ETP_NODISCARD etp_status etp_roofs_keep(etp_roofs_answer *answer, const char *cache_dir,
                                        etp_arena *arena, etp_error *err);
ETP_NODISCARD etp_status etp_roofs_document(const etp_roofs_answer *answer, etp_arena *arena,
                                            etp_str *out, etp_error *err);

#endif
