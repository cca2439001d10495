// SPDX-License-Identifier: Apache-2.0
// Did an arm really run at the level it claims? Three-valued: the operator names of its traces
// confirm it, contradict it, or cannot tell for this model.
//
// Names prove a kernel family, no more: PF32, PF16 and PQS8 mean SME (1 or 2), QDU8 with QC8W
// means VNNI;
// QP8 and everything else say nothing. That holds for one XNNPACK; what they mean in the build that
// ran is learned from it (etp_name_book).
#ifndef ETP_EXPLAIN_PROOF_H
#define ETP_EXPLAIN_PROOF_H

#include "explain/profile.h"
#include "isa/isa.h"

typedef enum etp_truth { ETP_UNPROVEN, ETP_CONFIRMED, ETP_CONTRADICTED } etp_truth;
const char *etp_truth_name(etp_truth truth); // "unproven", "confirmed", "contradicted"

typedef enum etp_proof_kind {
    ETP_PROOF_MASK,     // what the runner hid
    ETP_PROOF_SELFTEST, // that hiding works there
    ETP_PROOF_NAMES,    // of operators in the recordings
    ETP_PROOF_SYMBOLS,  // of micro-kernels in the recordings
    ETP_PROOF_SAMPLES,  // program counters
    ETP_PROOF_KINDS
} etp_proof_kind;
const char *etp_proof_kind_name(etp_proof_kind kind); // "mask"

typedef struct etp_proof_line {
    etp_proof_kind kind;
    const char *text; // one line for people
    bool supports, contradicts;
} etp_proof_line;

typedef struct etp_proof {
    etp_truth truth;
    bool by_table; // names were judged, and what they mean in the build that ran was not asked
    struct {
        etp_proof_line *items;
        size_t n, cap;
    } lines;
} etp_proof;

// Whether an operator of this name must change its kernel when an SME level is in force: float and
// static int8 convolutions (not depthwise), fully connected and batch matrix multiply. False also
// for everything whose name does not show enough to be sure.
bool etp_op_must_use_sme(const etp_op_name *op);
bool etp_op_has_dtype(const etp_op_name *op, const char *token); // "QS8"

// Judges PROFILE, the traces of an arm that claims LEVEL, by its operator names and appends a line.
// BOOK and CPU may be NULL: not known.
void etp_proof_from_names(const etp_profile *profile, etp_level level, const etp_name_book *book,
                          const etp_isa_cpu *cpu, etp_arena *arena, etp_proof *proof);
// May AMX kernels have run at the level, so that a name without VNNI shows nothing? With AMX in the
// CPU and hidden, only names learned from the runner say no.
bool etp_names_may_be_amx(etp_level level, const etp_name_book *book, const etp_isa_cpu *cpu);
// What to say beside a proof by names that rests on the table alone, NULL when it does not.
const char *etp_proof_names_note(const etp_proof *proof);
// Appends evidence of another kind that has been judged elsewhere.
void etp_proof_add(etp_proof *proof, etp_arena *arena, etp_proof_line line);

#endif
