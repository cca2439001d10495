// SPDX-License-Identifier: Apache-2.0
// What proves the level of an arm, as members of etprof.ab/1.
#include "document/rows.h"
#include "show/json.h"

// In the order of line_says.
static const char *says_name(int says)
{
    static const char *const k_names[] = {"nothing", "confirmed", "contradicted"};
    return k_names[says];
}
WORDS(k_says, says_name, int, 3)
WORDS(k_proof_kind, etp_proof_kind_name, etp_proof_kind, ETP_PROOF_KINDS)
FIND(proof_ok, etp_proof, etp_ab,
     MAKE(maybe, it->truth == ETP_UNPROVEN ? -1 : it->truth == ETP_CONFIRMED))
FIND(proof_note, etp_proof, etp_ab, MAKE(text, etp_proof_names_note(it)))
FIND(line_says, etp_proof_line, etp_ab, MAKE(maybe, it->contradicts ? 2 : it->supports))

#define OF etp_proof_line
static const etp_field k_line_rows[] = {
    FIELD("kind", WORD, kind, "what it is", .words = &k_proof_kind),
    FIELD("text", TEXT, text, "one line for people", .flags = ETP_SET),
    COMPUTED("says", WORD, line_says, "about the claimed level", .words = &k_says,
             .flags = ETP_SET),
};
static SHAPE_ON_ONE_LINE(k_line, k_line_rows);
#undef OF
#define OF etp_proof
static const etp_field k_proof_rows[] = {
    COMPUTED("ok", TRISTATE, proof_ok, "whether the level was in force; null: not proven"),
    // No column: why the proof is what it is, the report of that session.
    FIELD("by_table", BOOL, by_table, "operator names were judged, this build was not asked",
          .flags = ETP_LATER | ETP_NO_COLUMN),
    COMPUTED("note", TEXT, proof_note, "what to keep in mind then",
             .flags = ETP_LATER | ETP_NO_COLUMN),
    VECTOR("evidence", OBJECT, lines, "what the proof rests on", .shape = &k_line,
           .flags = ETP_NO_COLUMN),
};
SHAPE(k_etp_ab_proof, k_proof_rows);
#undef OF
