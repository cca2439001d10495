// SPDX-License-Identifier: Apache-2.0
// The answer of `etprof verify`: is a run folder what was recorded, and do its raw files still give
// its derived files?
#ifndef ETP_INTEGRITY_VERIFY_H
#define ETP_INTEGRITY_VERIFY_H

#include "document/fields.h"
#include "report/report.h"
#include "store/store.h"

typedef enum etp_verify_state {
    ETP_VERIFY_OK,
    ETP_VERIFY_CLOSE,   // derived: as written, and recomputed within 1e-6
    ETP_VERIFY_ALTERED, // not what the recorded hash says
    ETP_VERIFY_MISSING,
    ETP_VERIFY_ADDED,      // nobody recorded it
    ETP_VERIFY_DIFFERS,    // derived: as written, but the raw files do not give it
    ETP_VERIFY_UNRECORDED, // raw: of a block that did not end, so there is no hash
    ETP_VERIFY_BESIDE,     // a table that the kit's tools write, not of this session
    ETP_VERIFY_STATES
} etp_verify_state;
const char *etp_verify_state_name(etp_verify_state state);

typedef struct etp_verify_file {
    const char *path; // relative to the folder
    bool raw;
    etp_verify_state state;
} etp_verify_file;

typedef struct etp_verify { // lives in the arena given to etp_verify_folder
    const char *dir;        // not part of documents
    const char *session;    // "finished", …
    struct {
        etp_verify_file *items; // raw files as in the manifest, then derived ones by name
        size_t n, cap;
    } files;
    size_t n_of[ETP_VERIFY_STATES];
} etp_verify;

// ETP_CORRUPT and the like when the folder cannot be read at all. WORK_ROOT: a temporary folder is
// made in there and removed again; the run folder is only read.
ETP_NODISCARD etp_status etp_verify_folder(const char *dir, const char *work_root, etp_arena *arena,
                                           etp_verify *out, etp_error *err);
// 1 as recorded, 0 not, -1 the session did not end and nothing else is wrong.
int etp_verify_verdict(const etp_verify *v);
// Equal text, except for numbers that differ by at most 1e-6 of the larger.
bool etp_verify_same_but_rounding(etp_str a, etp_str b);

extern const etp_document k_etp_verify_document; // of etp_verify
// Without FULL only files that are not as recorded are listed.
const etp_report *etp_verify_report(const etp_verify *v, bool full, etp_arena *arena);

#endif
