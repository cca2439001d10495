// SPDX-License-Identifier: Apache-2.0
// Members of operators and categories that rules of a gate can be about: op35.ns,
// category("Data movement").share.
#ifndef ETP_STUDY_GATE_MEMBERS_H
#define ETP_STUDY_GATE_MEMBERS_H

#include "compare/ab.h"
#include "study/gate/gate.h"

typedef enum etp_gate_unit {
    ETP_GATE_RATIO,
    ETP_GATE_TIME,
    ETP_GATE_BYTES,
    ETP_GATE_PERCENT,
    ETP_GATE_A_SECOND
} etp_gate_unit;

typedef struct etp_gate_member {
    etp_str name;  // "op35.ns", "category(\"Data movement\").share"
    etp_str of;    // "op35", "Data movement"
    bool category; // else an operator
    size_t row;    // of the table of members
    etp_gate_unit unit;
} etp_gate_member;

typedef struct etp_gate_figure {
    double value, lo, hi; // NAN unknown
    uint32_t arm;         // of the comparison: the candidate
    const char *unknown;  // why it cannot be told whatever the figures are; NULL: it can
    const char *settles;  // what would tell it then; NULL: nothing is known to
    // Of executions that the figure is not of: other durations, or left out. NAN: none.
    double others_lo, others_hi;
    const char *others; // why it cannot be told where they answer otherwise
    bool cut;           // as wide as it is because of what clocks resolve
    bool hidden;        // up to `hi` because of parts of no known category, or withheld ones
} etp_gate_figure;

typedef struct etp_gate_figures {
    etp_gate_figure *items;
    size_t n, cap;
} etp_gate_figures;

// The member that HEAD, what stands before the sign of TEXT, begins with, behind a phase with a dot
// or without. *used: its bytes; 0: HEAD names no operator and no category. ETP_USAGE: it names one,
// and a member that there is not.
ETP_NODISCARD etp_status etp_gate_member_parse(const char *text, etp_str head, etp_gate_member *out,
                                               etp_str *phase, size_t *used, etp_error *err);
// TEXT, a limit with its unit, as UNIT wants it. False for one of another kind too: 5 ms is no
// speedup.
bool etp_gate_limit_parse(etp_str text, etp_gate_unit unit, double *out);
// category("CATEGORY").share
etp_gate_member etp_gate_share_of(etp_str category);
// Why nothing that was measured of an arm's time can be judged; NULL: it can.
const char *etp_gate_arm_unknown(const etp_ab *ab, uint32_t arm, etp_arena *arena);
// Its figure for each arm, or for each comparison of AB. ETP_USAGE: AB has no such operator, or
// there is no such category.
ETP_NODISCARD etp_status etp_gate_member_figures(const char *text, const etp_gate_member *member,
                                                 const etp_ab *ab, etp_arena *arena,
                                                 etp_gate_figures *out, etp_error *err);

// "1.52×", "4.77 ms", "30 %"; "unknown" where V is not finite.
const char *etp_gate_figure_words(etp_arena *arena, etp_gate_unit unit, double v);
// The same with [LO, HI] behind it where they are known and not V itself; without V their range.
const char *etp_gate_interval_words(etp_arena *arena, etp_gate_unit unit, double v, double lo,
                                    double hi);
// A ratio of two times, baseline first, as the change of the second: "+20.0 % time [+19.0 %, …]".
const char *etp_gate_change_words(etp_arena *arena, double ratio, double lo, double hi);

// checks.c: adds a check; its id names the gate's phase.
void etp_gate_add(etp_gate *g, etp_gate_check check);
// What would bring an answer to a check that has none.
const char *etp_gate_to_settle(etp_gate *g, const etp_ab *ab, const etp_gate_figure *f,
                               double limit);
// against.c: each arm of AB against its counterpart in OLD, a measurement of another session; both
// are one phase. An arm without one gets no check.
ETP_NODISCARD etp_status etp_gate_against(etp_gate *g, const etp_ab *ab, const etp_ab *old,
                                          double margin, etp_error *err);

#endif
