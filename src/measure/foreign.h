// SPDX-License-Identifier: Apache-2.0
// Runners that others built: stock ExecuTorch executor_runners. What their files show, how they are
// started at a level (through etprof-launch, which stands in for the bundle of the device), and
// what their logs say. Sessions know them as arms with `foreign` set.
#ifndef ETP_MEASURE_FOREIGN_H
#define ETP_MEASURE_FOREIGN_H

#include "measure/launch.h"

typedef enum etp_known { ETP_KNOWN_NOT, ETP_KNOWN_NO, ETP_KNOWN_YES } etp_known;

typedef enum etp_foreign_flag { // of executor_runner; old releases lack some
    ETP_FOREIGN_MODEL_PATH,
    ETP_FOREIGN_NUM_EXECUTIONS,
    ETP_FOREIGN_ETDUMP_PATH,
    ETP_FOREIGN_CPU_THREADS,
    ETP_FOREIGN_INPUTS,
    ETP_FOREIGN_OUTPUT_FILE,
    ETP_FOREIGN_METHOD_NAME,
    ETP_FOREIGN_PRINT_OUTPUT,
    ETP_FOREIGN_DATA_PATH,
    ETP_FOREIGN_FLAGS
} etp_foreign_flag;

struct etp_foreign {   // one build; texts live in the arena given to inspect
    const char *path;  // absolute, here
    const char *there; // on the device; set by the session
    char sha256[65];
    uint64_t bytes;
    bool is_elf; // else nothing below but `flags` is known
    const char *machine, *build_id, *compiler, *command_line; // "" unknown
    bool is_static, has_symbols;
    etp_known tracer; // writes ETDumps
    etp_known xnnpack;
    etp_known sme;     // holds code that starts streaming mode (arm64)
    etp_known logging; // says how long an inference took
    bool flags[ETP_FOREIGN_FLAGS];
    const char *summary; // one line of all that
};

// ETP_IO, ETP_ENVIRONMENT when it is not executable.
ETP_NODISCARD etp_status etp_foreign_inspect(const char *path, etp_arena *arena, etp_foreign *out,
                                             etp_error *err);
// Does the program take executor_runner's flags? False when it cannot be read.
bool etp_foreign_is(const char *path);
// In what the files of two builds differ beyond their bytes: "compiler: GCC 12 and clang 19; ...".
// "" nothing that shows.
const char *etp_foreign_differences(const etp_foreign *a, const etp_foreign *b, etp_arena *arena);

// Gives the arms of OUT their runners and says in out->runner_notes what that means. Errors are
// what cannot come to good: a build for another processor, without timing lines, without a flag
// that is needed.
// Adds what a reader of the session must know about its runners; TEXT NULL: nothing. ID and TEXT
// are kept as they are.
void etp_plan_note(etp_session_plan *plan, const char *id, const char *text);
ETP_NODISCARD etp_status etp_foreign_plan(const etp_session_plan_options *options,
                                          const etp_device *device, etp_arena *arena,
                                          etp_session_plan *out, etp_error *err);

// ---- its log ----

typedef struct etp_foreign_log {
    etp_arena *arena;
    uint64_t executions; // that were requested
    struct {
        etp_launch_iteration *items;
        size_t n, cap;
    } iterations;
    uint64_t load_ns, total_ns, total_n, threads; // 0: it did not say
    bool failed;                                  // out of memory
    char wrong[160];                              // what contradicts the request, "" nothing
    struct {                                      // of stdout and stderr
        char text[512];
        size_t n;
        bool skipping; // the rest of a line that is too long
    } lines[2];
} etp_foreign_log;

// Takes a piece of output as it comes, NOW being its time; stream 0 is stdout.
void etp_foreign_log_feed(etp_foreign_log *log, unsigned stream, const char *text, size_t len,
                          uint64_t now_ns);

// ---- launching ----

// Makes DEVICE start etprof-launch, which lies in its bundle, instead of etprof's own runner.
ETP_NODISCARD etp_status etp_foreign_prepare(etp_device *device, etp_error *err);

// Asks etprof-launch on the device which CPU there is.
ETP_NODISCARD etp_status etp_foreign_probe(etp_device *device, etp_arena *arena,
                                           etp_device_cpu *out, etp_error *err);
// As etp_launch_run, for an arm with `foreign`.
ETP_NODISCARD etp_status etp_foreign_run(etp_device *device, const etp_launch_request *request,
                                         etp_arena *arena, etp_launch_outcome *out, etp_error *err);
// Writes outputs.json into DIR, which holds output-<i>.bin as executor_runner writes them, from
// what the program at MODEL says of its outputs. Outputs whose size is another are left out.
ETP_NODISCARD etp_status etp_foreign_list_outputs(const char *dir, const char *model,
                                                  const char *method, etp_arena *arena,
                                                  etp_error *err);

#endif
