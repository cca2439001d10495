// SPDX-License-Identifier: Apache-2.0
// The roofs of a device as a file: in a cache, in a run folder (ETP_RUN_ROOFS), or named by the
// user.
#ifndef ETP_STORE_ROOFS_FILE_H
#define ETP_STORE_ROOFS_FILE_H

#include "roofs/roofs.h"
#include "store/store.h"

#define ETP_ROOFS_SCHEMA "etprof.roofs/1"

extern const etp_document k_etp_roofs_document; // of etp_roof_table
// ETP_CORRUPT with what is wrong; nothing in TEXT is trusted. Texts live in ARENA.
ETP_NODISCARD etp_status etp_roofs_read(etp_str text, etp_arena *arena, etp_roof_table *out,
                                        etp_error *err);
// Why the roofs of T say less than the device can do: beside other programs (waited) or where
// passes differed they were too low. WAITED_MOST: the share that they may have waited
// (ETP_WAIT_MOST). Static; NULL: nothing speaks against them.
const char *etp_roofs_doubt(const etp_roof_table *t, double waited_most);

#endif
