// SPDX-License-Identifier: Apache-2.0
// Samples from wherever the user has them: a CSV, a run folder, a text.
#ifndef ETP_STUDY_STATS_SAMPLES_H
#define ETP_STUDY_STATS_SAMPLES_H

#include <etprof/stats.h>

#include "store/store.h"
#include "study/stats/answer.h"

typedef struct etp_sample_file {
    const char *name; // for people: the path, or "standard input"
    etp_sample_table table;
    const char *dir;    // the run folder; NULL: a table
    const etp_run *run; // likewise
    const char *phase;  // of a session of several that these are of, as people name it; else NULL
    const char *others; // the names of all of its phases
    const char *asked;  // of a run folder: the experiment that makes its answer have this baseline
    uint32_t baseline;  // by the rule of etp_choose_baseline
} etp_sample_file;

#define ETP_SAMPLES_LIMIT ((size_t)2 << 30) // bytes of a CSV

// GIVEN: the CSV itself, PATH then being what to call it; NULL: PATH is the file, the run folder or
// its samples.csv. WANTED names the baseline, NULL leaves it to the rule. PHASE: of a session of
// several phases, as people name it; NULL: the first. Everything lives in ARENA.
ETP_NODISCARD etp_status etp_sample_file_read(const char *path, const etp_str *given,
                                              const char *wanted, const char *phase,
                                              etp_arena *arena, etp_sample_file *out,
                                              etp_error *err);
// " · decode@0 of prefill16, decode@0" behind the source; nothing without phases. NULL on out of
// memory.
const char *etp_sample_phase_words(const char *phase, const char *others, etp_arena *arena);
// The answer of `etprof stats` about them. MARGIN 0: the default. Borrows PATH and GIVEN.
ETP_NODISCARD etp_status etp_stats_answer_build(const char *path, const etp_str *given,
                                                const char *baseline, const char *phase,
                                                double margin, etp_arena *arena,
                                                etp_stats_answer *out, etp_error *err);

#endif
