// SPDX-License-Identifier: Apache-2.0
// A session that is open: how it was asked for, what it holds, its end.
//
// A session object keeps the dumps mapped while the answer borrows from them.
#ifndef ETP_COMPARE_OPENED_H
#define ETP_COMPARE_OPENED_H

#include <etprof/stats.h>

#include "compare/ab.h"
#include "store/store.h"

typedef struct etp_ab_session etp_ab_session;

typedef struct etp_ab_options {
    const char *baseline;  // name of an arm, NULL: the rule of baselines
    double margin;         // 0: the default
    const char *program;   // .pte of bare dumps, NULL: none; run folders hold their own
    const char *record;    // .etrecord to go with it, NULL
    etp_trace_units units; // of bare dumps
    const char *roofs;     // etprof.roofs/1 document, NULL: that of the run folder
    bool two_sides;        // exactly two paths, each one arm; the first is the baseline
    bool as_is;            // a folder's files are not held against their hashes
    const char *names[2];  // what to call the two sides, NULL: by their files
    struct {               // of a run folder two arms or a later phase alone
        // A session that is open already and stays so; NULL: the first phase, with all others in
        // its phases.
        const etp_ab_session *whole;
        bool is_phase;         // a later one of its phases; else two arms
        uint32_t phase;        // its number
        uint32_t arms[2];      // the baseline first
        etp_withheld withheld; // why their ratio is withheld in any case
    } part;
} etp_ab_options;

// Samples of the committed blocks, in the form the statistics take them; arms are those of the run.
void etp_ab_samples_of(const etp_run *run, etp_arena *arena, etp_sample **out);
// Of each arm's timed launches, the share of their time that they waited for a CPU as the system
// counts it; NAN unknown.
const double *etp_ab_waited_of(const etp_run *run, etp_arena *arena);
// How they are analysed: by the session's seed, and wider where it stopped by a precision.
etp_stats_options etp_ab_stats_options(const etp_run *run, uint32_t baseline, double margin);
const etp_ab *etp_ab_answer(const etp_ab_session *session);
// The run folder's raw contents; NULL for bare dumps.
const etp_run *etp_ab_run(const etp_ab_session *session);
void etp_ab_close(etp_ab_session *session); // NULL is fine

#endif
