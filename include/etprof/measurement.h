// SPDX-License-Identifier: Apache-2.0
// Runs a session as `etprof ab` does: launches of models at CPU-feature levels, block by block,
// into a run folder, which <etprof/analysis.h> opens.
//
//   etp_measurement_create ─► …_run ─► …_about ─► …_destroy
//                               ▲
//                               └─ …_cancel, by any other thread
//
// Structs that the caller allocates begin with `struct_size`; see <etprof/analysis.h>. Words in
// options mean what the options of `etprof ab` of that name mean (docs/options.md).
//
// Files: the run folder, temporary ones in `work_dir`, and .etprof/ in the working directory of the
// process (what was found out about devices). Child processes are started and ended; none is left
// behind in any case. Nothing is printed, no signal handler is changed and no environment variable
// is read: what the tool takes from the environment are options here.
//
// Ownership: options are copied. Thread rule: create, run, about and destroy are for one thread at
// a time; cancel may be called by any thread and from a signal handler between create and destroy.
// Several measurements may run at once, but what runs beside one disturbs its times. Callbacks are
// called on the thread of etp_measurement_run.
#ifndef ETPROF_MEASUREMENT_H
#define ETPROF_MEASUREMENT_H

#include <stdbool.h>

#include <etprof/bytes.h>
#include <etprof/error.h>

ETP_C_BEGIN

typedef struct etp_measurement etp_measurement;

typedef struct etp_measurement_options { // zero or NULL: the default
    size_t struct_size;
    const char *const *models; // paths of .pte files, at least one
    size_t n_models;
    const char *const *levels; // none: the best against plain SIMD
    size_t n_levels;
    const uint32_t *threads; // none: 1
    size_t n_threads;
    const char *baseline; // level or arm that the others are compared with
    const char *device;   // "local", "adb:SERIAL", "ssh:HOST", "qemu:CPU"
    const char *runner;   // etprof's runner or its bundle; NULL: the one installed with the library
    const char *folder;   // run folder wanted; NULL: out_<model>/runs/<platform>
    bool exact_folder;    // it must be empty or new; else a taken one becomes <folder>.2
    bool no_trace;        // latency alone
    bool kernels;         // also sample which kernels ran
    uint32_t blocks;      // 0: 10; with precision at most
    double budget_s;      // stop after the last whole block that fits
    double precision;     // stop when every interval is this narrow, relative: 0.01
    uint64_t warmup, iterations; // per launch; 0: found out
    uint64_t seed;               // of order and inputs; 0: drawn
    double timeout_s;            // longest silence of a runner
    // Inputs NULL: those that an export left beside the first model, else random ones.
    const char *method, *inputs, *data, *cpus;
    const char *work_dir;    // temporary files; NULL: .etprof/work
    const char *state_dir;   // of the user, where is noted what was measured here; NULL: nothing is
    const char *search_path; // where adb, ssh and emulators are looked for: PATH
    const char *qemu, *ssh_config, *android_serial;
    // A run folder whose interrupted session goes on, with its own plan: neither models nor what
    // the plan holds can be given then. With `trust` what it names is used although another
    // machine made it (docs/trust.md).
    const char *resume;
    bool trust;
    bool cold_loads; // each arm loads once more in each block, with a cold page cache
} etp_measurement_options;

typedef struct etp_measurement_progress { // borrowed during the callback
    size_t struct_size;                   // as the library knows it
    etp_str stage;                        // "selftest", "pilot", "block"
    etp_str arm;                          // being launched; empty between launches
    etp_str launch_kind;                  // "timed", "traced", "control" …
    uint32_t block, blocks;               // current (from 1), planned; 0 outside blocks
    uint32_t launch, launches;            // ended so far, expected in all
    double elapsed_s, remaining_s;        // remaining NAN while unknown
} etp_measurement_progress;

typedef struct etp_measurement_callbacks { // NULL where nothing is wanted
    size_t struct_size;
    void *ctx;
    void (*progress)(void *ctx, const etp_measurement_progress *progress);
    void (*message)(void *ctx, etp_str text); // one line worth telling: the folder, a lost launch
} etp_measurement_callbacks;

typedef struct etp_measurement_summary {
    size_t struct_size;
    etp_str folder;  // what was measured is in there; empty: nothing
    etp_str stopped; // what ended it: "precision", "budget", "blocks"; empty: none of them
    bool cancelled;
    bool restored;        // the device's settings are what they were
    uint32_t blocks;      // whole ones in the folder
    uint32_t blocks_lost; // of them without one or more launches
    uint32_t launches, launches_lost;
    uint64_t wall_ns;
} etp_measurement_summary;

// ETP_USAGE: no models and nothing to resume, or both; a struct_size that is not set. CALLBACKS may
// be NULL.
ETP_API ETP_NODISCARD etp_status etp_measurement_create(const etp_measurement_options *options,
                                                        const etp_measurement_callbacks *callbacks,
                                                        etp_measurement **out, etp_error *err);
// Measures; returns when it is done, once for each measurement. ETP_OK also when launches were lost
// or it was cancelled after a block (etp_measurement_about tells). Errors: ETP_USAGE, ETP_CORRUPT,
// ETP_UNSUPPORTED (the request), ETP_ENVIRONMENT, ETP_DEVICE (the device, no runner), ETP_CHILD
// (every launch failed), ETP_INTERRUPTED (cancelled before it began), ETP_IO, ETP_NOMEM.
ETP_API ETP_NODISCARD etp_status etp_measurement_run(etp_measurement *measurement, etp_error *err);
// The running launch is ended, its block left out; what is whole stays in the folder. NULL is fine.
ETP_API void etp_measurement_cancel(etp_measurement *measurement);
ETP_API ETP_NODISCARD etp_status etp_measurement_about(const etp_measurement *measurement,
                                                       etp_measurement_summary *out,
                                                       etp_error *err);
ETP_API void etp_measurement_destroy(etp_measurement *measurement); // NULL is fine

ETP_C_END

#endif
