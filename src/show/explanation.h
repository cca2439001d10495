// SPDX-License-Identifier: Apache-2.0
// The answer of `etprof explain ID`: one sentence with the rows and the formula behind it.
#ifndef ETP_SHOW_EXPLANATION_H
#define ETP_SHOW_EXPLANATION_H

#include "compare/ab.h"
#include "document/fields.h"
#include "report/report.h"

typedef struct etp_cited_row { // of a ledger
    etp_ledger_row row;
    const char *candidate; // name of the arm
    size_t comparison;
} etp_cited_row;

typedef struct etp_explanation { // a finding, a fix, something ruled out, or an operator
    const etp_ab *ab;
    const char *id, *text, *formula, *recipe; // the last two may be NULL
    const char *const *evidence;
    size_t n_evidence;
    const etp_ab_operator *op;    // the operator itself, else NULL
    const etp_ab_fix *fix;        // the fix itself, else NULL
    const etp_ab_load_fix *saves; // likewise, of loading
    struct {
        etp_cited_row *items; // that the evidence names
        size_t n, cap;
    } rows;
} etp_explanation;

// ETP_USAGE with the known ids when there is no such sentence.
ETP_NODISCARD etp_status etp_explanation_find(const etp_ab *ab, const char *id,
                                              etp_explanation *out, etp_error *err);
// What there is to explain: ids with their sentences.
const etp_report *etp_explanation_list(const etp_ab *ab, etp_arena *arena);
extern const etp_document k_etp_explain_document; // of etp_explanation
const etp_report *etp_explanation_report(const etp_explanation *c, etp_arena *arena);

#endif
