// SPDX-License-Identifier: Apache-2.0
// A whole session from what a user asks for to a run folder: open the device, set it up, ask it,
// plan, measure its roofs, make and lock the folder, measure, set the device back. Says what
// happens through callbacks and prints nothing, so that any program can run one.
#ifndef ETP_SESSION_SESSION_H
#define ETP_SESSION_SESSION_H

#include "measure/session.h"

#define ETP_PREPARE_DIR "devices" // journals of --prepare, in the user's state

// What the user and the machine offer; texts may be NULL where there is nothing.
typedef struct etp_place {
    const char *program;       // path of this executable: runners and etprof-launch lie beside it
    const char *runner, *qemu; // instead of the defaults
    const char *ssh_config, *android_serial, *search_path;
    bool no_wait;          // for a quieter moment
    const char *work_dir;  // for temporary files
    const char *state_dir; // of the user: journals, and notes of what was measured here
} etp_place;

// The rows CALL of store/options.def are fields of the options. Zero: not given.
#define ETP_CALLED_PLAN(type, field)
#define ETP_CALLED_REQUESTED(type, field)
#define ETP_CALLED_CALL(type, field) ETP_C_##type field;

typedef struct etp_session_options {
#define OPTION(where, field, type, ...) ETP_CALLED_##where(type, field)
#include "store/options.def"
    etp_session_plan_options plan; // its timeout is `timeout`
    const char *dir;               // run folder wanted; NULL: out_<model>/runs/<platform>
    bool exact;                    // it must be empty or new; else a taken one becomes <dir>.2
    const char *config;            // path of the config that asked for it, NULL
    const char *command;           // the line that repeats it, NULL
    // Settles in PLAN what depends on the device, once it is known; NULL: nothing does.
    etp_status (*settle)(void *ctx, const etp_device *device, const etp_device_cpu *cpu,
                         etp_session_plan_options *plan, etp_error *err);
    void *settle_ctx;
    // Does something else with the plan, and there is no run folder; NULL: it is measured.
    etp_status (*instead)(void *ctx, etp_device *device, const etp_session_plan *plan,
                          const etp_session_view *view, etp_error *err);
    void *instead_ctx;
    bool inputs_beside; // where none are asked for: those that an export left beside the model
    etp_run *going_on;  // the folder `dir` as it was read: go on with it; NULL: a new session
    etp_place place;
} etp_session_options;

// VIEW says what happened in any case; texts in it live in ARENA. Errors: those of opening the
// device, of etp_session_plan_make and of etp_session_measure. ETP_OK also when launches were lost
// or a signal ended it.
ETP_NODISCARD etp_status etp_session_run(const etp_session_options *options, etp_session_view *view,
                                         etp_arena *arena, etp_error *err);

// ---- once more ----

// Measures with the plan of the run folder options->dir: RESUME goes on with it, and adds the
// blocks, budget or precision in options->plan.settings to a finished session, which must say one
// of them; else it is repeated in a folder beside it. No device is the folder's, `trust` starts,
// contacts and reads what the folder names, whoever made it. ETP_USAGE when there is nothing to go
// on with, when what it names may not be used (docs/trust.md), or when a model is not the one that
// was measured; nothing was opened, started or read for it then but the models.
ETP_NODISCARD etp_status etp_session_run_again(const etp_session_options *options, bool resume,
                                               etp_session_view *view, etp_arena *arena,
                                               etp_error *err);

// ---- parts that others need alone ----

// Opens the device of SPEC with RUNNER (NULL: the defaults).
ETP_NODISCARD etp_status etp_session_open_device(const etp_place *place, const char *spec,
                                                 const char *runner, double timeout_s,
                                                 etp_device **out, etp_error *err);
// RUNNER, or two builds A and B: they and a stock executor_runner go into PLAN; *out_runner is what
// is left for the device.
ETP_NODISCARD etp_status etp_session_runners(const char *runner, const char *a, const char *b,
                                             etp_arena *arena, etp_session_plan_options *plan,
                                             const char **out_runner, etp_error *err);

#endif
