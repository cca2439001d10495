// SPDX-License-Identifier: Apache-2.0
// Does an answer bear a sentence out? Strict: a figure is confirmed only when the answer's own,
// rounded as the sentence rounds, is the same.
#ifndef ETP_JUDGE_CLAIM_H
#define ETP_JUDGE_CLAIM_H

#include "compare/ab.h"
#include "document/fields.h"
#include "report/report.h"

#define ETP_CLAIM_LIMIT 300 // bytes of a sentence

typedef enum etp_claim_state {
    ETP_CLAIM_CONFIRMED,
    ETP_CLAIM_CONTRADICTED,
    ETP_CLAIM_NOT_IN_DATA // no such thing, withheld, inside an interval but not the figure itself
} etp_claim_state;

typedef enum etp_claim_unit {
    ETP_CLAIM_NO_FIGURE,
    ETP_CLAIM_OF_NS,
    ETP_CLAIM_OF_RATIO
} etp_claim_unit;

typedef struct etp_claim {
    const char *sentence; // as given
    etp_claim_state state;
    const char *source;         // id or name of what it is about, NULL: nothing was found
    etp_claim_unit unit;        // of the figures below
    double said, found, lo, hi; // NAN: none
    const char *why;            // one sentence, with what the answer says instead
} etp_claim;

// Texts live in ARENA; SENTENCE is borrowed. ETP_USAGE: it is empty or too long.
ETP_NODISCARD etp_status etp_claim_check(const etp_ab *ab, const char *sentence, etp_arena *arena,
                                         etp_claim *out, etp_error *err);
const char *etp_claim_state_name(etp_claim_state state); // "confirmed"
extern const etp_document k_etp_claim_document;          // of etp_claim
void etp_claim_json(const void *claim, etp_json *j);
const etp_report *etp_claim_report(const etp_claim *claim, etp_arena *arena);

#endif
