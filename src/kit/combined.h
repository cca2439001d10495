// SPDX-License-Identifier: Apache-2.0
// One report over several runs: platforms, devices, models. Each run's figures are its own; nothing
// is computed between runs, because nothing paired them.
#ifndef ETP_KIT_COMBINED_H
#define ETP_KIT_COMBINED_H

#include "document/fields.h"
#include "show/report.h"

typedef struct etp_combined {
    const char *title;
    etp_ab_views runs;   // as given
    etp_ab_views phases; // the same, with each phase of one: rows of tables, and parts of the page
    struct {
        const char *
            *items; // what keeps them from being like for like, and what they have in common
        size_t n, cap;
    } notes;
    etp_arena *arena;
} etp_combined;

#define ETP_COMBINED_TABLE "latencies" // the table for CSV

// ANSWERS[n], at least one, must outlive the result, which lives in ARENA. TITLE NULL: by the
// models.
ETP_NODISCARD etp_status etp_combined_build(const etp_ab *const *answers, size_t n,
                                            const char *title, etp_arena *arena, etp_combined *out,
                                            etp_error *err);
const etp_report *etp_combined_report(const etp_combined *c, etp_arena *arena);
extern const etp_document k_etp_combined_document; // of etp_combined

#endif
