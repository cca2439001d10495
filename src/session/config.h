// SPDX-License-Identifier: Apache-2.0
// The JSON that `etprof run` carries out: that of Arm's kit with its documents' aliases and ours.
// docs/measure.md describes every key.
#ifndef ETP_SESSION_CONFIG_H
#define ETP_SESSION_CONFIG_H

#include "session/arguments.h"

#define ETP_CONFIG_EXPERIMENTS 64 // at most
#define ETP_CONFIG_THREADS 16     // at most, counts of an experiment
#define ETP_CONFIG_RUNS 10        // of an experiment that names none: the kit's promise

typedef enum etp_config_role { // what the name says about the level
    ETP_ROLE_NONE,
    ETP_ROLE_ON,  // the best level of the machine
    ETP_ROLE_OFF, // plain SIMD
} etp_config_role;

typedef struct etp_config_experiment {
    const char *name;
    const char *level; // explicit, or a level's name within the experiment's; NULL: see role
    etp_config_role role;
    const char *runner_path; // NULL: not given
    bool xnntrace;
    uint64_t runs, warmup; // 0: not given
    const uint32_t *threads;
    size_t n_threads;
    const char *cpus; // as the runner takes it, NULL: not pinned
    uint64_t at;      // byte position, for messages
} etp_config_experiment;

typedef struct etp_config_side {
    const char *experiment;
    uint32_t threads;
} etp_config_side;

typedef struct etp_config_pair {
    etp_config_side baseline, candidate;
} etp_config_pair;

typedef struct etp_config { // texts live in the arena
    const char *path;
    const char *model, *output_root;                   // as written
    const char *fallback_model, *fallback_output_root; // used when the model is not there
    etp_session_options arguments; // the keys that are options of a session by the same name
    struct {
        etp_config_experiment *items;
        size_t n, cap;
    } experiments;
    struct {
        etp_config_pair *items;
        size_t n, cap;
    } pairs;
} etp_config;

// Reads and checks the whole file. ETP_CORRUPT with the byte position of what is wrong: no JSON,
// unknown or contradictory keys, wrong types, placeholders that were left in.
ETP_NODISCARD etp_status etp_config_read(const char *path, etp_arena *arena, etp_config *out,
                                         etp_error *err);

typedef struct etp_config_new {
    const char *model;
    const char *program;  // etprof's own path: the runner beside it says which levels there are
    const char *platform; // mac, android or linux; NULL: this machine's
    const char *path;     // NULL: <model>_<platform>.json, _trace in it
    bool trace;           // experiments that gather evidence of kernels, no latency
} etp_config_new;
// Writes a new config to *OUT; the same once more is no error. ETP_USAGE when another file is
// there.
ETP_NODISCARD etp_status etp_config_write_new(const etp_config_new *what, etp_arena *arena,
                                              const char **out, etp_error *err);

#endif
