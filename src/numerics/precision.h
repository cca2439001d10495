// SPDX-License-Identifier: Apache-2.0
// Two programs of one model in different precisions: what each operator that multiplies loses, and
// what it gains in time.
//
// Both programs are cut behind the operator and run on the same inputs; what they hand out is
// compared as the numbers that it stands for. `snr_db` of a row is measured in that way and holds
// everything that was lost up to there; `loss_db` is what it lost on the way from its operands.
// What would be gained where operators stay in the baseline's precision is estimated: of the noise
// at the end the part that began in them is taken away (numerics/noise.h).
#ifndef ETP_NUMERICS_PRECISION_H
#define ETP_NUMERICS_PRECISION_H

#include "document/fields.h"
#include "numerics/graph.h"
#include "report/report.h"

typedef struct etp_arms etp_arms; // arms.h

// Asks PyTorch what REQUEST, a file, says (python/etprof/reference.py).
typedef etp_status etp_numerics_ask(void *ctx, const char *request, etp_error *err);

typedef struct etp_precision_row { // an operator that multiplies
    uint32_t place;                // in the baseline's order of execution, from 0
    const char *name, *partner;    // "node 3 (Conv2d) of delegate 0", in either program
    const char *module;            // of the model; NULL: no record beside a program tells
    const char *dtype, *weights;   // of the candidate: its result, its weights; NULL: none
    const char *why;               // nothing is said of its numbers: a sentence
    uint64_t elements;
    double max_abs, max_rel, snr_db, cosine;
    bool exact_operands; // they are inputs of the method
    double operands_db;  // their SNR; NAN: exact, or not known
    double loss_db;      // that it adds; NAN likewise
    double noise;        // that it adds: power ÷ that of its result; NAN: not known
    double share;        // of the noise of the whole outputs that began here, estimated
    double baseline_ns, candidate_ns, speedup;
} etp_precision_row;

typedef struct etp_precision_keep { // these operators and those of the rows above stay
    uint32_t operators;             // how many
    const char *name;               // the one that is added
    const char *module;
    double share;  // of the noise of the whole outputs
    double snr_db; // of the whole outputs, estimated
    double ns;     // of an execution, more or less; NAN: not known
} etp_precision_keep;

typedef struct etp_precision { // lives in the arena given
    const char *baseline, *candidate;
    bool eager;                              // the baseline is PyTorch, in the candidate's types
    double snr_db, max_abs, max_rel, cosine; // of the whole outputs: of the worst of them
    double baseline_ns, candidate_ns;        // of a traced execution
    double waited;                           // for a CPU, share of the time; NAN: not known
    const char *untimed;                     // why there are no times, NULL: there are
    uint32_t multiplying;                    // operators of the baseline that multiply
    uint32_t unpaired; // of them: which one of the candidate's it is, cannot be told
    const char *first_unpaired;
    uint32_t launches;
    const char *command; // that makes and measures a program in which the operators of `keep` stay;
    const char *no_command; // NULL: why there is none
    etp_error_graph graph;  // of the baseline
    struct {
        etp_precision_row *items; // by place
        size_t n, cap;
    } rows;
    struct {
        etp_precision_keep *items; // the largest share first
        size_t n, cap;
    } keep;
} etp_precision;

// The programs of ARMS are opened and their operators listed; DIFFER says where those are others.
// ETP_USAGE: the programs are not of one model, for all that can be told. The arena of ARMS is
// guarded.
ETP_NODISCARD etp_status etp_precision_measure(etp_arms *arms, const char *differ,
                                               etp_precision *out);
// Modules of the rows, by a record beside a program. precision_source.c
ETP_NODISCARD etp_status etp_precision_modules(etp_arms *arms, etp_precision *out);
// The command of `keep`, by what the export noted beside the candidate. precision_source.c
ETP_NODISCARD etp_status etp_precision_command(etp_arms *arms, etp_precision *out);

extern const etp_document k_etp_precision_document; // of etp_precision
// PAGE: with pictures of the HTML page.
const etp_report *etp_precision_report(const etp_precision *precision, bool page, etp_arena *arena);

#endif
