// SPDX-License-Identifier: Apache-2.0
// The reasons of the column "why" in tables of operators. docs/statistics.md has the rules in
// words.
#ifndef ETP_COMPARE_WHY_H
#define ETP_COMPARE_WHY_H

// Why an operator takes its time in the arm that runs now: the first that holds.
typedef enum etp_why {
    ETP_WHY_UNKNOWN,
    ETP_WHY_SMALL,    // fixed costs may be half of its time
    ETP_WHY_PORTABLE, // a kernel outside delegates
    ETP_WHY_MOVEMENT, // moves or converts data
    ETP_WHY_MEMORY,   // near the roof of memory
    ETP_WHY_OFF,      // could use the feature and does not
    ETP_WHY_COMPUTE,  // near the roof of arithmetic
    ETP_WHY_BELOW,    // far below both
    ETP_WHYS
} etp_why;
const char *etp_why_name(etp_why why); // "memory-bound"; NULL for UNKNOWN

#endif
