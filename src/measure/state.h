// SPDX-License-Identifier: Apache-2.0
// State of a running session, shared by the files that run it: session.c begins and ends it,
// blocks.c decides what is launched next, stop.c when it is enough, sampling.c how long program
// counters are sampled, task.c launches and keeps what comes of it, progress.c tells the user.
#ifndef ETP_MEASURE_STATE_H
#define ETP_MEASURE_STATE_H

#include <etprof/stats.h>

#include "measure/launch.h"
#include "measure/pilot.h"
#include "measure/sampled.h"

typedef struct etp_arm_cost { // as the timed launch of a block shows it
    double each_ns;           // of an iteration; 0: the arm has no timed launch in this block
    double rest_ns;           // of the launch that is no iteration: start, load, warm-up
} etp_arm_cost;

typedef struct etp_arm_state {
    etp_arm_counts counts;
    const char *model;        // path on the device
    const char *inputs;       // as the runner takes them
    const char *steps;        // path on the device, NULL: the method alone
    const char *kept;         // its mutable buffers (etp_method_kept); NULL: not yet looked at
    const char *packed_cache; // "warm:FILE" on the device; NULL: not asked for, or not yet
    bool succeeded;           // at least once
    bool tells_stages;        // its runner does
    bool dead;                // given up
    etp_status refusal;       // what the runner said of an arm that never worked; ETP_OK: nothing
    const char *refusal_text;
    bool has_outputs;
    bool has_again; // a second launch was held against them
    uint32_t outputs_block;
    uint64_t outputs_warmup, outputs_iterations; // of the launch that they are of; 0: not known
    uint32_t lost_in_row;
    etp_run_wait waited;                                  // of its iterations in the blocks so far
    etp_arm_cost cost;                                    // known where sampling was weighed
    uint64_t sampled_wall_ns;                             // of the last sampled launch; 0: none
    uint64_t timed_wall_ns, traced_wall_ns, cold_wall_ns; // of the last in a block; 0: none
} etp_arm_state;

typedef struct etp_mapped {
    bool by_some, not_by_all;
} etp_mapped;

typedef struct etp_watched_file {
    const char *path;
    etp_os_mark mark;
    char sha256[ETP_SHA256_HEX_CHARS]; // "": it could not be read
    etp_mapped *mapped;                // by launches of each arm
} etp_watched_file;

typedef struct etp_watched_place {
    const char *path;
    int number; // as etp_os_moves has it
} etp_watched_place;

typedef struct etp_session {
    etp_device *device;
    const etp_session_plan *plan;
    etp_session_view *view;
    etp_arena arena; // until the end
    etp_arena block_arena;
    etp_run run;
    etp_run_writer writer;
    bool writing;
    bool cut_short;      // a signal or the end of the budget came in the middle of the last block
    bool all_timed;      // the last block has the timed launch of each arm: the answer counts it
    bool out_of_time;    // it was the budget
    uint32_t incomplete; // blocks of the resumed session that lack an arm
    etp_arm_state *arms;
    const char *data, *kernels_lib, *tokenizer; // paths on the device, or NULL
    uint64_t start_ns;
    etp_run_wait waited;      // of the timed launches of blocks
    etp_run_wait lately;      // of the iterations since the last block began
    uint64_t patience_ns;     // left to wait for a quieter moment
    uint64_t highest_cap_khz; // of the clocks that the device allowed, over the session
    struct {
        uint64_t each_ns;  // in the model, of one sampled launch
        uint64_t limit_ns; // wall time of all of them together; 0: as --kernels always has it
        uint64_t spent_ns; // of it
    } sampling;
    etp_sampled_libraries libraries;
    uint32_t next_launch;
    uint32_t positions; // of launches in the current block so far
    // Launch values (ln) of the committed blocks, n_arms each; NAN where an arm is missing.
    struct {
        double *items;
        size_t n, cap;
    } values;
    // And all their launches, by block: how they scatter tells how many blocks it takes.
    struct {
        etp_launch_stats *items;
        size_t n, cap;
    } learned, traced;
    // the current block
    struct {
        etp_run_sample *items;
        size_t n, cap;
    } samples;
    struct {
        etp_run_launch *items;
        size_t n, cap;
    } launches;
    etp_str kernels_ours, kernels_theirs; // of all programs so far, ", " between
    struct {
        etp_watched_file *items; // that launches read where they lie
        size_t n, cap;
    } watched;
    struct {
        etp_watched_place *items; // they, and the folders above them
        size_t n, cap;
    } places;
    etp_os_moves moves;
} etp_session;

typedef struct etp_task {          // one launch to make
    uint32_t arm, block, position; // block 0: pilot
    etp_launch_kind kind;
    uint32_t nth; // sampled: which of the arm's in its block, from 1; 0: the only one
} etp_task;

// ---- builds.c ----

const char *etp_session_runner_hash(const etp_session *s, uint32_t arm);

// ---- unchanged.c ----

// LOCAL is read by launches as THERE, its path on the device.
void etp_session_watch(etp_session *s, const char *local, const char *there);
// Likewise the libraries that the program or library at PATH brings.
ETP_NODISCARD etp_status etp_session_watch_needed(etp_session *s, const char *path, etp_error *err);
// Likewise the files of a runner. ETP_ENVIRONMENT when it has no longer the hash that the manifest
// has, which is HASH for those of a BUNDLE; empty: none.
ETP_NODISCARD etp_status etp_session_watch_bundle(etp_session *s, const etp_bundle *bundle,
                                                  etp_str hash, etp_error *err);
ETP_NODISCARD etp_status etp_session_watch_foreign(etp_session *s, const etp_foreign *foreign,
                                                   etp_error *err);
// ETP_ENVIRONMENT when a file that was hashed is another one since, asked once it was copied.
ETP_NODISCARD etp_status etp_session_as_planned(const etp_session *s, etp_error *err);
// Which of the files that are watched a launch of ARM has mapped, of a SESSION.
void etp_session_before_end(void *session, const etp_planned_arm *arm, int64_t pid);
// ETP_ENVIRONMENT when one of them is not the file that it was, or was not in a launch.
ETP_NODISCARD etp_status etp_session_unchanged(etp_session *s, etp_error *err);

// ---- progress.c ----

void etp_session_say(etp_session *s, const char *fmt, ...) ETP_PRINTF(2, 3);
// What people read for an arm: "VNNI", "decode @0: VNNI, 2 threads"; its name where the level and
// the threads do not tell it from the others. BUF is used for what is put together.
const char *etp_session_arm_words(const etp_session_plan *plan, uint32_t arm,
                                  char buf[static ETP_CANDIDATE_CHARS]);
// ETP_NOMEM where memory ran out: asked before a launch, after it and before a block is committed.
ETP_NODISCARD etp_status etp_session_memory(const etp_session *s, etp_error *err);
// Once per id; TEXT must outlive the session.
void etp_session_note(etp_session *s, etp_note note, const char *text);
void etp_session_show(etp_session *s, const char *stage, const etp_task *t); // T NULL: no launch
int etp_session_interrupted(void *session);
// Wall time that one more launch of ARM, one more block will take; 0 while nothing is known.
uint64_t etp_session_launch_ns(const etp_session *s, uint32_t arm, etp_launch_kind kind);
uint64_t etp_session_block_ns(const etp_session *s, bool control);
uint32_t etp_session_launches_of_block(const etp_session *s); // without the control's
// Is ARM launched with a cold page cache, too?
bool etp_session_is_cold(const etp_session *s, uint32_t arm);

// ---- task.c ----

// Launches and keeps what comes of it: rows in s->samples and s->launches, files in the folder, a
// loss in s->run.lost. Errors end the session; a launch that went wrong is no error (o->ok).
ETP_NODISCARD etp_status etp_session_pilot_launch(etp_session *s, const etp_task *t,
                                                  uint32_t attempt, etp_launch_outcome *o,
                                                  etp_error *err);
ETP_NODISCARD etp_status etp_session_launch(etp_session *s, const etp_task *t,
                                            etp_launch_outcome *o, etp_error *err);

// ---- sampling.c ----

// The sampled launches of the first block, one of each arm in ORDER: when they are asked for, or
// nobody said no and they take little. POSITION is that of the first of them.
ETP_NODISCARD etp_status etp_session_sample(etp_session *s, uint32_t block, const uint32_t *order,
                                            uint32_t position, etp_error *err);
// After the block that sampled for the first time: more of it, until enough is known.
ETP_NODISCARD etp_status etp_session_sample_more(etp_session *s, uint32_t block, etp_error *err);

// ---- blocks.c ----

ETP_NODISCARD etp_status etp_session_pilot(etp_session *s, etp_error *err);
ETP_NODISCARD etp_status etp_session_blocks(etp_session *s, etp_error *err);

// ---- stop.c ----

// Takes the launch values of samples that were committed.
ETP_NODISCARD etp_status etp_session_take_values(etp_session *s, const etp_run_sample *samples,
                                                 size_t n, etp_error *err);
// Is every comparison as narrow as was asked for? Always false without a precision.
bool etp_session_precise(const etp_session *s);
// What is going to be launched and how long it takes; before the first block.
void etp_session_say_plan(etp_session *s);
// ETP_USAGE when the budget has no room for a block.
ETP_NODISCARD etp_status etp_session_check_budget(const etp_session *s, etp_error *err);
// Is there room in the budget for NS more? In the first block always, where no trial priced it.
bool etp_session_has_time(const etp_session *s, uint32_t block, uint64_t ns);
// That it ended within BLOCK.
void etp_session_say_budget(etp_session *s, uint32_t block);
void etp_session_ratio_so_far(etp_session *s);
// How far it has come, after the blocks at which that is worth a line. EACH_NS is of one block.
void etp_session_say_precision(etp_session *s, double each_ns);

// ---- resume.c ----

// Fills s->run and s->arms from the folder to go on with, after checking that model, runner, CPU
// and arms are the same.
ETP_NODISCARD etp_status etp_session_resume(etp_session *s, etp_error *err);

#endif
