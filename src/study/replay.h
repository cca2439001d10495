// SPDX-License-Identifier: Apache-2.0
// One operator by itself: its time in a model and in a capsule of it (cut/cut.h), level by level,
// of one session that measured both.
#ifndef ETP_STUDY_REPLAY_H
#define ETP_STUDY_REPLAY_H

#include "compare/ab.h"
#include "cut/cut.h"
#include "document/fields.h"
#include "report/report.h"

typedef struct etp_replay_time { // of an execution; lo and hi over the blocks, NAN below two
    double ns, lo, hi;           // all NAN: its recordings do not name the operator
    const char *name;            // of the operator as it ran, NULL likewise
} etp_replay_time;

// How the operator is measured outside its model, from what is least to what is most like it.
typedef enum etp_replay_way {
    ETP_REPLAY_ALONE, // the capsule, again and again
    ETP_REPLAY_COLD,  // as much is handed over in between as the model has besides
    ETP_REPLAY_AMONG, // likewise, with the nodes around it
    ETP_REPLAY_WAYS
} etp_replay_way;

typedef struct etp_replay_program {
    const char *path; // NULL: it cannot be made
    uint32_t node;    // the operator's number among its nodes
} etp_replay_program;

typedef struct etp_replay_row {
    const char *level; // NULL unknown
    uint32_t threads;
    etp_replay_time model, times[ETP_REPLAY_WAYS];
    double waited;      // for a CPU, share of the time of the arm that waited most; NAN unknown
    int agrees;         // 1, 0; −1 not known
    etp_replay_way way; // the first that agrees; WAYS: none
    const char *why;    // that of the capsule differs, or it is not known
} etp_replay_row;

typedef struct etp_replay {  // lives in the arena given
    const char *name, *type; // "node 3 (Conv2d) of delegate 0", "Conv2d"
    const char *shapes;      // "float32[1,8,8,16], … → float32[1,8,8,32]"
    const char *model, *capsule;
    etp_replay_program programs[ETP_REPLAY_WAYS]; // the capsule's first
    uint64_t bytes;                               // of the capsule
    bool real_weights;                            // else their elements in another order
    size_t outside; // tensors that the capsule needs of the model's .ptd files, as they are
    const char *command;
    etp_replay_row *rows; // in the order of a report
    size_t n_rows;
} etp_replay;

// "0:3": node 3 of delegate 0 of METHOD. ETP_USAGE says what there is.
ETP_NODISCARD etp_status etp_replay_place(const etp_method *method, const char *word,
                                          etp_cut_place *out, etp_error *err);
// Of operator ID ("op12") of an answer: its model and the word that etp_replay_place takes.
ETP_NODISCARD etp_status etp_replay_operator(const etp_ab *ab, const char *id, etp_arena *arena,
                                             const char **out_model, const char **out_word,
                                             etp_error *err);
// Bytes of what a model has besides the operator: other weights, and the operands of the largest.
uint64_t etp_replay_besides(const etp_cut_place *at);
// The rows: AB has the model as its first program and OUT's programs behind it. OUT has the rest.
ETP_NODISCARD etp_status etp_replay_take(const etp_ab *ab, const etp_cut_place *at,
                                         etp_arena *arena, etp_replay *out, etp_error *err);
const char *etp_replay_shapes(const etp_cut_place *at, etp_arena *arena);
// Of the operator in a capsule that PROFILE (NULL: there is none) is of.
etp_replay_time etp_replay_alone(const etp_profile *profile, etp_arena *arena);
extern const etp_shape k_etp_replay_time;

extern const etp_document k_etp_replay_document; // of etp_replay
const etp_report *etp_replay_report(const etp_replay *replay, etp_arena *arena);
// For an issue of a kernel's author, Markdown.
etp_str etp_replay_issue(const etp_replay *replay, etp_arena *arena);

#endif
