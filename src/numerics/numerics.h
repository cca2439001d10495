// SPDX-License-Identifier: Apache-2.0
// The first operator, inside the delegate, where two arms part: by bisection over prefixes of their
// programs, log2 n launches of each. Outputs are held against each other as a session does
// (measure/outputs.h); arms that differ in nothing but their weights must give the same bits.
//
// An operator is blamed only where its operands are the same in both arms: byte for byte, or
// because it ran alone on those of the baseline.
#ifndef ETP_NUMERICS_NUMERICS_H
#define ETP_NUMERICS_NUMERICS_H

#include "document/fields.h"
#include "measure/session.h"
#include "numerics/precision.h"
#include "report/report.h"

typedef enum etp_numerics_verdict {
    ETP_NUMERICS_UNKNOWN,
    ETP_NUMERICS_AGREE, // the outputs do: nobody is blamed
    ETP_NUMERICS_PART,  // an operator makes another output of the same operands
    ETP_NUMERICS_GROW   // none does: small differences grow until they are no longer small
} etp_numerics_verdict;

typedef struct etp_numerics_row { // one operator's output, in both arms
    uint32_t place;               // in the order of execution, from 0
    const char *name;             // "node 3 (Conv2d) of delegate 0"
    const char *dtype;
    uint64_t elements, mismatched; // mismatched: outside the tolerance
    bool alone;                    // on the baseline's operands, without what leads there
    bool within, same_bits;
    double max_abs, max_rel, snr_db, cosine;
    double baseline_ns, candidate_ns; // of an execution; NAN: not measured, or not known
} etp_numerics_row;

typedef struct etp_numerics { // lives in the arena given
    const char *baseline, *candidate;
    etp_numerics_verdict verdict;
    bool exact;         // the rule: the same bits; else the tolerance of a session's outputs
    const char *parts;  // name of the operator: PART, or where GROW first passes the tolerance
    const char *why;    // UNKNOWN: a sentence
    uint32_t operators; // of the method
    uint32_t not_cut;   // of them: what they make cannot be handed out
    uint32_t launches;
    double waited;         // for a CPU, share of the time in which times were measured; NAN: none
    const char *untimed;   // why there are no times; NULL: there are, or none were asked for
    etp_error_graph graph; // of the baseline
    const etp_precision *precision; // two programs of other operators or types: this instead
    struct {
        etp_numerics_row *items; // by place
        size_t n, cap;
    } rows;
} etp_numerics;

typedef struct etp_numerics_options {
    etp_numerics_ask *ask; // NULL, or the arms are the last of the plan and PyTorch
    void *ask_ctx;
    bool every; // operator is compared, with its times; else those that the search needs
} etp_numerics_options;

// The two arms of PLAN. ETP_USAGE: it has more or others; ETP_CHILD: a launch failed.
ETP_NODISCARD etp_status etp_numerics_measure(etp_device *device, const etp_session_plan *plan,
                                              const etp_session_view *view,
                                              const etp_numerics_options *options, etp_arena *arena,
                                              etp_numerics *out, etp_error *err);

extern const etp_document k_etp_numerics_document; // of etp_numerics
typedef enum etp_numerics_form {
    ETP_NUMERICS_TEXT,
    ETP_NUMERICS_PAGE, // with the graph
    ETP_NUMERICS_TABLE // the table alone is read, empty or not
} etp_numerics_form;
const etp_report *etp_numerics_report(const etp_numerics *numerics, etp_numerics_form form,
                                      etp_arena *arena);

#endif
