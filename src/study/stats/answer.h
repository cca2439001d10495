// SPDX-License-Identifier: Apache-2.0
// The answer of `etprof stats`: the session analysis of a sample table, with names.
#ifndef ETP_STUDY_STATS_ANSWER_H
#define ETP_STUDY_STATS_ANSWER_H

#include <etprof/stats.h>

#include "compare/ab.h"
#include "document/fields.h"
#include "report/report.h"
#include "store/store.h"

typedef struct etp_stats_answer {
    const char *source;    // file as given, "-" for standard input; not part of documents
    const etp_str *names;  // [stats.n_arms]
    const etp_str *levels; // [stats.n_arms] that ran; empty: not known
    const etp_str *called; // what people read instead: of a run folder by what was measured
    const char *altered;   // of a run folder, as etp_run_altered has it
    // of a session of several that this is about, and the names of all; else NULL
    const char *phase, *phases;
    etp_stats stats;
    // What a run folder knows besides; NULL and NAN for bare tables. Set by etp_stats_take_records.
    uint64_t (*slow)[ETP_SLOW_CAUSES]; // [stats.n_arms], slow iterations by cause
    struct etp_stats_link {
        double rho, p; // Spearman, of the block means
        size_t n;      // blocks with a reading; 0: none
    } temperature, clock;
    etp_counters counters;  // zeroed for bare tables
    etp_withheld *withheld; // [stats.n_arms] by candidate, why its session withholds it. Set
                            // by etp_stats_take_withheld; NULL for bare tables
} etp_stats_answer;

// Adds what RUN recorded: causes of slow iterations, temperature and clock, what the processor
// counted. Launches are found by block and number.
ETP_NODISCARD etp_status etp_stats_take_records(etp_stats_answer *answer, const etp_run *run,
                                                etp_arena *arena, etp_error *err);

// What the session of a run folder withholds stays withheld: AB is its answer, same baseline and
// experiments. ETP_CORRUPT where it has another number of them. Called under a guard of ARENA.
ETP_NODISCARD etp_status etp_stats_take_withheld(etp_stats_answer *answer, const etp_ab *ab,
                                                 etp_arena *arena, etp_error *err);

extern const etp_document k_etp_stats_document; // of etp_stats_answer
const etp_report *etp_stats_report(const etp_stats_answer *answer, etp_arena *arena);

#endif
