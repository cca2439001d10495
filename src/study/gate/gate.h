// SPDX-License-Identifier: Apache-2.0
// The answer of `etprof gate`: is this measurement good enough to go on? Every check says yes, no
// or unknown; one no makes the gate say no, else one unknown makes it unknown.
#ifndef ETP_STUDY_GATE_GATE_H
#define ETP_STUDY_GATE_GATE_H

#include "compare/ab.h"
#include "document/fields.h"
#include "judge/open.h"
#include "report/report.h"

// Sessions of different days differ by the machine's state too, not only by chance.
#define ETP_GATE_MARGIN 0.05

typedef enum etp_gate_state { ETP_GATE_UNKNOWN, ETP_GATE_YES, ETP_GATE_NO } etp_gate_state;

typedef struct etp_gate_check {
    const char *id;       // "speedup:linux_vnni", "proof:linux_vnni", "outputs",
                          // "latency:linux_avx2@base", "decode@256.speedup:linux_vnni_decode256"
    const char *called;   // the id for people: "speedup:VNNI"
    const char *phase;    // "decode @256"; NULL: the session has none, or it is about all
    const char *found;    // "1.52 [1.51, 1.52]"
    const char *expected; // ">= 1.3"
    const char *fix;      // what to do next, NULL when the answer is yes
    etp_gate_state state;
    double value, lo, hi; // of a figure with a limit, NAN otherwise; times in ns, memory in bytes
    double limit;
} etp_gate_check;

typedef struct etp_gate { // lives in the arena given to etp_gate_build
    etp_arena *arena;
    const struct etp_gate_options *options; // the caller's, while the gate is built
    const char *title, *dir;
    const char *phase; // that is being looked at
    struct {
        etp_gate_check *items;
        size_t n, cap;
    } checks;
    etp_gate_state state;
    etp_texts noticed;
} etp_gate;

typedef struct etp_gate_options {
    const char *min_grade; // "A" … "D", NULL: any
    const etp_ab *against; // an earlier measurement, NULL: none
    double margin;         // of the comparison with it, 0: ETP_GATE_MARGIN
    const char *altered;   // of either, that it is not what was recorded (etp_run_altered); or NULL
} etp_gate_options;

// RULES: "METRIC [SUBJECT] >= VALUE" or "<=", METRIC one of speedup, latency, load, first, memory,
// share, noise, engaged, rate, or a member of an operator or a category (members.h); "PHASE.METRIC
// …" is about phases of that kind ("decode.speedup") or about one ("decode@256.speedup"), else
// about each. Without rules and without an earlier measurement: no comparison is slower. Always
// checked: proofs, outputs, lost blocks. ETP_USAGE for a rule that cannot be understood or names
// what AB does not have.
ETP_NODISCARD etp_status etp_gate_build(const etp_ab *ab, const char *const *rules, size_t n,
                                        const etp_gate_options *options, etp_arena *arena,
                                        etp_gate *out, etp_error *err);

// A value with its interval against a limit: yes when all of [LO, HI] keeps it, no when none does.
etp_gate_state etp_gate_judge(double lo, double hi, bool at_least, double limit);

extern const etp_document k_etp_gate_document; // of etp_gate
const etp_report *etp_gate_report(const etp_gate *gate, etp_arena *arena);
// JUnit XML: one test case a check; no = failure, unknown = skipped. FALSE on out of memory.
bool etp_gate_junit(const etp_gate *gate, etp_arena *arena, etp_str *out);

#endif
