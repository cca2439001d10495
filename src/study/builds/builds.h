// SPDX-License-Identifier: Apache-2.0
// The answer of `etprof ab --runner-a A --runner-b B`: two builds over several models, from a run
// folder. json.c and report.c only present it. docs/runners.md says what the parts mean.
#ifndef ETP_STUDY_BUILDS_BUILDS_H
#define ETP_STUDY_BUILDS_BUILDS_H

#include "document/fields.h"
#include "judge/open.h"
#include "report/report.h"
#include "stats/builds.h"

#define ETP_BUILDS_TABLE_MODELS "models"
#define ETP_BUILDS_POWER 0.9

typedef struct etp_builds_side {
    const char *path, *sha256;
    const char *executorch; // NULL unknown
    const char *text;
} etp_builds_side;

typedef struct etp_builds_model {
    const char *name; // short: what tells the models' file names apart
    const char *path;
    uint32_t arms[2]; // of A and B
    int64_t ns[2];    // untraced median, ETP_NS_UNKNOWN
    // Time of A ÷ time of B with its 95 % interval; p, q and within as in etp_builds_effect. NAN
    // without a ratio.
    double estimate, lo, hi, p, q, within;
    uint32_t blocks;
    int64_t blocks_to_find; // after which a difference of the margin is found, of ETP_BUILDS_POWER
                            // of sessions; ETP_NS_UNKNOWN
    etp_verdict verdict;    // of B
    etp_withheld withheld;  // no ratio is made of it
    int outputs;            // 1 agree, 0 differ, -1 not compared
    const char *lost[2];    // why too few launches of a build are left, NULL
    uint32_t n_operators, n_changed; // compared; of them changed
    const char *no_operators;        // why none is compared, NULL
    etp_ab_session *session;         // as if the two had been measured alone; NULL: no common block
    const etp_ab *ab;
} etp_builds_model;

typedef struct etp_builds_operator {
    uint32_t model;
    const char *id, *label; // id in the ledger of its model
    const char *only;       // "a" or "b": the other build has no such operator; NULL
    // Traced, per inference: with A, with B, B less A. p and q are NAN where it was not tested.
    int64_t ns[2], delta_ns;
    double estimate, lo, hi, p, q;
    etp_verdict verdict;
} etp_builds_operator;

typedef struct etp_builds {
    const etp_ab *ab; // device, grade, conditions
    etp_builds_side sides[2];
    bool same; // byte for byte
    etp_builds_model *models;
    size_t n_models;
    etp_builds_operator *operators; // changed ones first, then those of one build alone; by what
                                    // they cost or save
    // n_operators are all rows, n_compared those that were tested. One-sided ones are never tested.
    size_t n_operators, n_changed, n_one_sided, n_compared;
    etp_builds_effect mean; // blocks 0: below two models
    uint32_t n_mean;
    double models_lo, models_hi; // interval of the mean for models like these, NAN below three
    double margin;
    etp_interval control; // of the ratio
    uint32_t control_blocks;
} etp_builds;

bool etp_builds_is(const etp_ab_session *session); // does its folder compare builds?

// SESSION must outlive *out, which lives in ARENA; on success the caller closes it, after what was
// made of it has been written.
ETP_NODISCARD etp_status etp_builds_build(const etp_ab_session *session, etp_arena *arena,
                                          etp_builds *out, etp_error *err);
void etp_builds_close(etp_builds *b);

extern const etp_document k_etp_builds_document;
void etp_builds_json(const void *builds, etp_json *j); // etprof.builds/1
const etp_report *etp_builds_report(const etp_builds *b, etp_arena *arena);

#endif
