// SPDX-License-Identifier: Apache-2.0
// A measuring session: etp_session_plan_make says what will be launched, etp_session_measure
// launches it block by block on a device and leaves a run folder. Nothing is analysed here; readers
// of the folder do that.
#ifndef ETP_MEASURE_SESSION_H
#define ETP_MEASURE_SESSION_H

#include "device/device.h"
#include "isa/isa.h"
#include "measure/inputs.h"
#include "store/store.h"

#define ETP_DEFAULT_BLOCKS 10
#define ETP_BUDGET_BLOCKS 100 // most blocks of a session that only has a budget or a precision

// ---- asking the device ----

// What the runner says about the CPU it runs on, nothing hidden. Texts live in ARENA.
typedef struct etp_device_cpu {
    etp_isa_cpu cpu;
    const char *text;       // isa.h form
    const char *executorch; // version the runner was built with
    const char *counters,
        *counters_fix; // "hardware", "none: why …", "" not told; what would allow it, "" nothing
} etp_device_cpu;
typedef struct etp_session_view etp_session_view; // below; of it `interrupted` is asked here
ETP_NODISCARD etp_status etp_session_probe(etp_device *device, double timeout_s,
                                           const etp_session_view *view, etp_arena *arena,
                                           etp_device_cpu *out, etp_error *err);

// ---- planning ----

typedef struct etp_session_plan_options { // zeroed = the defaults
    const char *const *models;            // paths of .pte files; at least one
    size_t n_models;
    const char *const *levels; // none: the best level against plain SIMD; with several models the
                               // best alone
    size_t n_levels;
    const char *const *level_names; // of their arms, in place of <platform>_<level>; NULL, or NULL
                                    // in it: none
    // Features, each of which is hidden alone in an arm of its own; "each": every one that this CPU
    // can be without.
    const char *const *hide;
    size_t n_hide;
    const etp_isa_cpu *usable; // the CPU without what the runner has no code for; NULL: unknown
    const uint32_t *threads;   // none: 1
    size_t n_threads;
    const etp_packed_cache *caches; // none: as the runner has it
    size_t n_caches;
    const char *const
        *names; // experiment names, one per arm in the order phases × models × levels × threads;
    size_t n_names;        // none: <platform>_<level>…
    const char *baseline;  // name of an experiment or level; NULL: the rule of design "Levels"
    etp_settings settings; // inputs NULL: random:0; cpus as etp_cpus_resolve makes it of words
    bool no_control;       // without the A/A control
    double timeout_s;      // longest silence of a runner; 0: 60, emulated 600
    double patience_s;     // in all, to wait for a quieter moment; 0: begin at once
    const char *const
        *runners;     // stock executor_runners instead of the device's: one, at every level, or
    size_t n_runners; // one per level, which then is what the build is said to be; or of two builds
    const char *const *builds; // two, each of which runs every model; NULL: builds are not compared
} etp_session_plan_options;

typedef struct etp_foreign etp_foreign; // measure/foreign.h

// What is done again and again in a launch; see measure/phases.h.
typedef struct etp_planned_phase {
    etp_run_phase run;  // as the manifest has it
    const char *word;   // part of the arms' names: "decode256"
    const char **files; // script of each model, local
} etp_planned_phase;

typedef struct etp_planned_arm {
    const char *name;   // experiment
    const char *prefix; // P of its files
    etp_level level;
    const char *level_name;
    char mask[ETP_ISA_TEXT_MAX]; // ETPROF_MASK
    uint32_t threads;
    uint32_t model;
    uint32_t phase; // of the plan's, 0 without any
    uint32_t side;  // of the plan's builds, 0 without any
    etp_packed_cache cache;
    const etp_bundle *bundle; // etprof's runner of another build; NULL: the device's
    etp_foreign *foreign;     // somebody else's runner; NULL: the device's own
} etp_planned_arm;

typedef struct etp_planned_file {
    const char *path;   // absolute
    const char *sha256; // hex
    etp_os_mark mark;   // as it was before it was hashed
} etp_planned_file;

typedef struct etp_session_plan { // lives in the arena given to etp_session_plan_make
    etp_run_model *models;
    size_t n_models;
    const char **model_paths; // local, absolute
    etp_planned_arm *arms;    // phase by phase, the same in each
    uint32_t n_arms;
    uint32_t baseline; // of the first phase
    etp_planned_phase *phases;
    uint32_t n_phases;       // 0: the method alone
    etp_run_build builds[2]; // arms come in pairs, the baseline's build first
    uint32_t n_builds;       // 0: builds are not compared
    uint32_t blocks, control_blocks;
    bool blocks_exact;     // asked for: lost blocks are not made up for
    etp_settings settings; // seed drawn, blocks and inputs chosen, paths absolute
    etp_run_hashes hashes;
    struct {
        etp_planned_file *items; // whose hashes the manifest has
        size_t n, cap;
    } files;
    uint64_t timeout_ns;
    uint64_t patience_ns; // in all, to wait for a quieter moment
    etp_device_cpu cpu;
    etp_inputs *inputs; // of each model
    struct {
        etp_note note;
        const char *text;
    } runner_notes[6]; // what foreign runners mean for the comparison
    size_t n_runner_notes;
    // Where it goes.
    const char *dir;     // made by etp_run_create_folder, held by etp_run_lock
    const char *config;  // path of the config that asked for it, NULL
    const char *command; // the line that repeats the session, NULL
    etp_str roofs; // of the device, an etprof.roofs/1 document to keep in the folder; empty: none
    const char *state_dir; // of the user: notes there that the folder is this machine's; NULL:
                           // nobody notes it
    const char *cache_dir; // for self-tests of emulated devices; NULL: not cached
    bool no_selftest;
    etp_run *resume; // the folder `dir` as etp_run_open read it: go on with it; NULL: a new session
} etp_session_plan;

// Opens the builds of OPTIONS, gives them to the arms of OUT and says in out->runner_notes what
// they are; does nothing without.
ETP_NODISCARD etp_status etp_builds_plan(const etp_session_plan_options *options,
                                         const etp_device *device, etp_arena *arena,
                                         etp_session_plan *out, etp_error *err);
// The phase of ARM, NULL without any; and the arm that it is compared with.
const etp_planned_phase *etp_session_phase_of(const etp_session_plan *plan, uint32_t arm);
uint32_t etp_session_baseline_of(const etp_session_plan *plan, uint32_t arm);
// Is it launched once more in the blocks of the A/A control? The baseline is, that of each phase.
bool etp_session_is_control(const etp_session_plan *plan, uint32_t arm);

// Do the BYTES of PATH look like a program that can be measured? The error says what they are.
ETP_NODISCARD etp_status etp_model_check(const char *path, etp_bytes bytes, etp_error *err);
// Checks everything that can be known before the first launch: files exist and are programs, levels
// exist (ETP_USAGE) and can be had on this CPU (ETP_ENVIRONMENT), names are unique.
ETP_NODISCARD etp_status etp_session_plan_make(const etp_session_plan_options *options,
                                               const etp_device *device, const etp_device_cpu *cpu,
                                               etp_arena *arena, etp_session_plan *out,
                                               etp_error *err);

// The options that plan the session of RUN once more: same arms, seed, method and inputs. *out
// borrows from RUN and ARENA. With etp_session_plan.resume it goes on where it stopped; without,
// it is repeated from the beginning. ETP_UNSUPPORTED when the arms of RUN are not models × levels ×
// threads.
ETP_NODISCARD etp_status etp_plan_options_of(const etp_run *run, etp_arena *arena,
                                             etp_session_plan_options *out, etp_error *err);

// ---- running ----

#define ETP_CANDIDATE_CHARS 64 // longer words are cut

#define ETP_SAMPLING_GOAL 0.9     // of the operators' time: enough
#define ETP_SAMPLING_LAUNCHES 10u // of an arm, at most
#define ETP_SAMPLING_PART 3u      // of the budget one such part, at most

struct etp_session_view { // a session as its caller follows it: zeroed but for what he gives
    // Given; all may be NULL.
    void *ctx;
    void (*progress)(void *ctx, const etp_session_view *so_far);
    // One line worth telling: a lost launch, time and precision to expect …
    void (*message)(void *ctx, const char *text);
    int (*interrupted)(void *ctx); // signal number that wants the session to end, 0 none;
                                   // NULL: etp_os_interrupted
    // Fills, of each of the N arms, the shares of the time of those operators whose kernels are
    // asked about: SHARE is what the samples in DIR, the run folder, cover, and REACHABLE what
    // TIMES as many would; they stay NAN where nothing is asked. TOO_FEW: they are too few to judge
    // its level by, and TIMES as many would do. Returns false where this is unknown. Without this
    // function each arm is sampled in one launch.
    bool (*coverage)(void *ctx, const char *dir, double times, double *share, double *reachable,
                     bool *too_few, size_t n);

    // So far, and in the end.
    const char *dir;          // the run folder; NULL when there is none
    const char *not_restored; // why the device's settings could not be set back; NULL: they are
    etp_run_state state;
    int signal;           // that ended it, 0
    uint32_t blocks;      // in the folder, without one that a signal cut short; known in the end
    uint32_t blocks_lost; // of them without one or more launches
    uint32_t launches;
    etp_run_stop stopped;   // what ended it
    uint32_t launches_lost; // pilots too; not those that only could not be started at the first try
    uint64_t wall_ns;       // of the session
    uint64_t launch_wall_ns; // Σ over launches, spawn to exit

    // Now, for `progress`.
    const char *stage;              // "selftest", "pilot", "block"
    uint32_t block, planned_blocks; // from 1, 0 outside blocks
    uint32_t expected_launches;     // in all
    const char *arm;                // being launched
    etp_launch_kind kind;
    double elapsed_s, remaining_s; // remaining NAN while unknown
    // The first arm that has a ratio so far, by what tells it from its reference: "VNNI", "prefill
    // 64: 2 threads"; its name where neither level nor threads do. Empty: none has a ratio.
    char candidate[ETP_CANDIDATE_CHARS];
    double ratio, lo, hi; // of it to what it is compared with; lo and hi NAN: one block
    bool disturbed;       // one of the two waited for a CPU: no ratio is told
};

// Runs PLAN. ETP_OK also when launches were lost or a signal ended it: VIEW and the folder say so.
// Errors mean that no block could be measured (ETP_CHILD when every try failed, or what the runner
// said about model, method or inputs), or that the folder cannot be written (ETP_IO). The folder
// keeps what there was, with state "interrupted"; when the request itself was wrong and nothing was
// measured (ETP_USAGE, ETP_CORRUPT, ETP_UNSUPPORTED, ETP_ENVIRONMENT) it is removed. No process is
// left in any case. Resuming: ETP_USAGE when the session is finished, or when model, runner or CPU
// are not what they were; blocks that are incomplete are made up for.
ETP_NODISCARD etp_status etp_session_measure(etp_device *device, const etp_session_plan *plan,
                                             etp_session_view *view, etp_error *err);

#endif
