// SPDX-License-Identifier: Apache-2.0
// One operator by itself with other numbers of rows: from which M on does a level pay? Of one
// session that measured a capsule of each size at each level.
#ifndef ETP_STUDY_REPLAY_SWEEP_H
#define ETP_STUDY_REPLAY_SWEEP_H

#include "study/replay.h"

typedef struct etp_sweep_level { // the operator with so many rows, at one level
    const char *level;           // NULL unknown
    const char *word;            // as a sentence calls it: "VNNI"
    uint32_t threads;
    double ns, lo, hi;              // an inference of the capsule, untraced; NAN unknown
    etp_replay_time operator_alone; // of its recordings
    const char *over;               // level that it is held against, NULL: none
    const char *over_word;
    double estimate, ratio_lo, ratio_hi; // how much faster; NAN not given
    uint32_t blocks;
    double margin;
    etp_verdict verdict;
    etp_withheld withheld;
} etp_sweep_level;

typedef struct etp_sweep_size {
    uint64_t m;
    const char *capsule, *shapes; // NULL: it could not be made
    const char *why;              // likewise
    uint64_t bytes;
    etp_sweep_level *levels;
    size_t n_levels;
} etp_sweep_size;

typedef struct etp_sweep_answer { // of one level and thread count
    const char *level, *over;
    uint32_t threads;
    uint64_t from; // the least M at which it is faster, and at all larger ones; 0: none
    const char *text;
} etp_sweep_answer;

typedef struct etp_sweep { // lives in the arena given
    const etp_replay *of;  // operator, type, model, weights, command
    uint64_t m;            // of the operator in the model
    const char *dir;       // run folder, NULL: not measured
    etp_sweep_size *sizes; // by M
    size_t n_sizes;
    etp_sweep_answer *answers;
    size_t n_answers;
} etp_sweep;

// "M=1,2,4" as the option's list has it: its numbers in their order, each once. ETP_USAGE.
ETP_NODISCARD etp_status etp_sweep_read(const char *const *words, size_t n, etp_arena *arena,
                                        etp_sweep *out, etp_error *err);
// The levels of all sizes, and what follows. AB has the capsules as its models, in the order of the
// sizes that could be made.
ETP_NODISCARD etp_status etp_sweep_take(const etp_ab *ab, etp_arena *arena, etp_sweep *out,
                                        etp_error *err);

extern const etp_document k_etp_replay_sweep_document; // of etp_sweep
const etp_report *etp_sweep_report(const etp_sweep *sweep, etp_arena *arena);

#endif
