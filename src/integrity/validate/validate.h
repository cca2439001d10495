// SPDX-License-Identifier: Apache-2.0
// The answer of `etprof validate`: are a folder's or a file's documents well formed, and do their
// numbers agree with each other? (`verify` asks whether they are still what was measured.)
#ifndef ETP_INTEGRITY_VALIDATE_VALIDATE_H
#define ETP_INTEGRITY_VALIDATE_VALIDATE_H

#include "document/document.h"
#include "report/report.h"

typedef enum etp_validated {
    ETP_VALIDATED_PATH, // that does not exist
    ETP_VALIDATED_FILE,
    ETP_VALIDATED_RUN,
    ETP_VALIDATED_KIT,
    ETP_VALIDATED_DUMPS,
    ETP_VALIDATED_FILES,
    ETP_VALIDATED_FOLDER, // of nothing that is known
    ETP_VALIDATED_SETUP,
    ETP_VALIDATED_KINDS
} etp_validated;

typedef struct etp_validation { // lives in the arena given to the functions below
    etp_validated what;
    etp_checks checks; // by file, then as checked
    size_t failed;     // required and not ok
    size_t files;      // that were looked at
} etp_validation;

// Checks what lies at PATH; what is wrong with it is in *out, not an error. WORK_ROOT: a temporary
// folder is made in there and removed again; PATH is only read.
ETP_NODISCARD etp_status etp_validate_path(const char *path, const char *work_root,
                                           etp_arena *arena, etp_validation *out, etp_error *err);
// CHECKS of this machine (etp_doctor) as a validation.
void etp_validate_setup(const etp_checks *checks, etp_arena *arena, etp_validation *out);

void etp_validate_json(const void *validation, etp_json *j); // etprof.validate/1
extern const etp_document k_etp_validate_document;
const etp_report *etp_validate_report(const etp_validation *v, etp_arena *arena);

#endif
