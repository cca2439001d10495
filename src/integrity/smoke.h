// SPDX-License-Identifier: Apache-2.0
// The answer of `etprof smoke`: does the whole way from a model to a checked report work here?
#ifndef ETP_INTEGRITY_SMOKE_H
#define ETP_INTEGRITY_SMOKE_H

#include "document/fields.h"
#include "report/report.h"
#include "store/store.h"

typedef enum etp_smoke_id {
    ETP_SMOKE_MODEL,
    ETP_SMOKE_MEASURE,
    ETP_SMOKE_EVIDENCE,
    ETP_SMOKE_ANALYSE,
    ETP_SMOKE_REPORT,
    ETP_SMOKE_VALIDATE,
    ETP_SMOKE_DUMPS,
    ETP_SMOKE_IDS
} etp_smoke_id;

typedef struct etp_smoke_step {
    etp_smoke_id id;
    int ok;           // 1 yes, 0 no, -1 cannot be told here
    const char *text; // what was found
    const char *fix;  // NULL when ok
} etp_smoke_step;

typedef struct etp_smoke { // lives in the arena given to the functions below
    struct {
        etp_smoke_step *items;
        size_t n, cap;
    } steps;
    const char *folder; // run folder, NULL: none, or it was removed
    double seconds;
    size_t failed;
} etp_smoke;

// Writes down a step. TEXT is printf-shaped.
void etp_smoke_note(etp_smoke *s, etp_arena *arena, etp_smoke_id id, int ok, const char *fix,
                    const char *text, ...) ETP_PRINTF(6, 7);
// The step ended with WHY: it failed, unless memory ran out, which says nothing about the step.
ETP_NODISCARD etp_status etp_smoke_failed(etp_smoke *s, etp_arena *arena, etp_smoke_id id,
                                          const char *fix, const etp_error *why, etp_error *err);
// Everything after measuring: analyses DIR, writes its reports, validates them, reads the dumps
// alone. What goes wrong is a failed step, not an error, but for memory that ran out. WORK_ROOT as
// for etp_validate_path.
ETP_NODISCARD etp_status etp_smoke_examine(etp_smoke *s, const char *dir, const char *work_root,
                                           etp_arena *arena, etp_error *err);

void etp_smoke_json(const void *smoke, etp_json *j); // etprof.smoke/1
extern const etp_document k_etp_smoke_document;
const etp_report *etp_smoke_report(const etp_smoke *s, etp_arena *arena);

#endif
