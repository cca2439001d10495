// SPDX-License-Identifier: Apache-2.0
// The answer of `etprof validate`: are a folder's or a file's documents well formed, and do their
// numbers agree with each other? The Python package asks it (python/etprof/validate); here is what
// it looks like. (`verify` asks whether they are still what was measured.)
#ifndef ETP_INTEGRITY_VALIDATION_H
#define ETP_INTEGRITY_VALIDATION_H

#include "document/document.h"
#include "report/report.h"

typedef struct etp_validation { // lives in the arena given to the functions below
    const char *what;           // was looked at: "file", "run folder", "setup"
    etp_checks checks;          // by file, then as checked
    size_t failed;              // required and not ok
} etp_validation;

// TEXT is the document that the package writes.
ETP_NODISCARD etp_status etp_validation_read(etp_str text, etp_arena *arena, etp_validation *out,
                                             etp_error *err);
// CHECKS of this machine (etp_doctor) as a validation.
void etp_validate_setup(const etp_checks *checks, etp_arena *arena, etp_validation *out);

extern const etp_document k_etp_validate_document; // of etp_validation
const etp_report *etp_validate_report(const etp_validation *v, etp_arena *arena);

#endif
