// SPDX-License-Identifier: Apache-2.0
// Private to the files that build an etp_ab.
#ifndef ETP_ANSWER_AB_SESSION_H
#define ETP_ANSWER_AB_SESSION_H

#include "answer/ab_build.h"
#include "os/os.h"

typedef struct etp_ab_dump {
    const char *path;
    uint32_t arm;
    uint32_t block; // from 1; order within the arm for bare dumps
    etp_file file;
    etp_trace *trace; // NULL when it could not be read
    const char *problem;
} etp_ab_dump;

struct etp_ab_session {
    etp_arena arena;
    etp_run run;
    bool has_run;
    etp_stats stats;
    bool has_stats;
    struct {
        etp_ab_dump *items;
        size_t n, cap;
    } dumps;
    etp_alignment *alignments; // parallel to ab.comparisons
    etp_ab ab;
};

// ab_load.c: opens the dumps of ab.arms and sums them into profiles.
ETP_NODISCARD etp_status etp_ab_load_dumps(etp_ab_session *s, etp_error *err);
// Collects bare dumps from paths, one arm each (P_b<k>.etdump joins its P.etdump).
ETP_NODISCARD etp_status etp_ab_collect_dumps(etp_ab_session *s, const char *const *paths,
                                              size_t n_paths, etp_error *err);
// ab_compare.c: ledgers, categories, operators, shifts from profiles and comparisons.
ETP_NODISCARD etp_status etp_ab_explain(etp_ab_session *s, etp_error *err);
// ab_words.c: grade, findings, what was ruled out.
ETP_NODISCARD etp_status etp_ab_judge(etp_ab_session *s, etp_error *err);

// Adds a finding with the next id; EVIDENCE is one reference or NULL. TEXT NULL means out of memory.
ETP_NODISCARD etp_status etp_ab_find(etp_ab_session *s, const char *severity, const char *evidence,
                                     const char *text, etp_error *err);

#endif
