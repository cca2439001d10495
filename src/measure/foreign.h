// SPDX-License-Identifier: Apache-2.0
// Runners that others built: stock ExecuTorch executor_runners. What their files show, how they are
// started (through etprof-launch, which stands in for the bundle of the device), and what their
// logs say. Sessions know them as arms with `foreign` set.
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
    ETP_FOREIGN_TOKENIZER_PATH, // these of llama_main
    ETP_FOREIGN_PROMPT,
    ETP_FOREIGN_MAX_NEW_TOKENS,
    ETP_FOREIGN_SEQ_LEN,
    ETP_FOREIGN_TEMPERATURE,
    ETP_FOREIGN_IGNORE_EOS,
    ETP_FOREIGN_WARMUP,
    ETP_FOREIGN_DATA_PATHS,
    ETP_FOREIGN_FLAGS
} etp_foreign_flag;

typedef enum etp_foreign_kind {
    ETP_FOREIGN_EXECUTOR, // executor_runner: repeats an inference, and logs each one's time
    ETP_FOREIGN_TEXT      // llama_main: answers a prompt, and prints its statistics once
} etp_foreign_kind;

struct etp_foreign {   // one build; texts live in the arena given to inspect
    const char *path;  // absolute, here
    const char *there; // on the device; set by the session
    char sha256[65];   // of the file; with libraries of its own over all of them
    uint64_t bytes;    // of the file
    size_t n_libraries;
    bool is_elf; // else nothing below but `flags` is known
    const char *machine, *build_id, *compiler, *command_line; // "" unknown
    bool is_static, has_symbols;
    etp_known tracer; // writes ETDumps
    etp_known xnnpack;
    etp_known sme;     // holds code that starts streaming mode (arm64)
    etp_known logging; // says how long an inference took
    bool flags[ETP_FOREIGN_FLAGS];
    etp_foreign_kind kind;
    const char *summary; // one line of all that
    struct {             // TEXT: what its tokenizer makes of a prompt, learned in the first launch
        bool letters;    // "aaa"; else "a a a"
        int64_t extra;   // tokens beyond the letters of a prompt
    } prompt;
};

// ETP_IO, ETP_ENVIRONMENT when it is not executable. TOKENIZER: one is given, so it is a runner of
// language models; else what its file shows.
ETP_NODISCARD etp_status etp_foreign_inspect(const char *path, bool tokenizer, etp_arena *arena,
                                             etp_foreign *out, etp_error *err);
// The shared libraries that the program PATH (absolute) brings: what it and they need, found by
// RPATH, RUNPATH or beside it, without the system's; in the order of the search. None of what is no
// ELF.
ETP_NODISCARD etp_status etp_foreign_libraries(const char *path, etp_arena *arena,
                                               const char *const **out, size_t *n, etp_error *err);
// Does the program take executor_runner's flags? False when it cannot be read.
bool etp_foreign_is(const char *path);
// In what the files of two builds differ beyond their bytes: "compiler: GCC 12 and clang 19; ...".
// "" nothing that shows.
const char *etp_foreign_differences(const etp_foreign *a, const etp_foreign *b, etp_arena *arena);

// Adds what a reader of the session must know about its runners; TEXT NULL: nothing. ID and TEXT
// are kept as they are.
void etp_plan_note(etp_session_plan *plan, etp_note note, const char *text);
// Gives the arms of OUT their runners and says in out->runner_notes what that means. Errors are
// what cannot come to good: a build for another processor, without timing lines, without a flag
// that is needed.
ETP_NODISCARD etp_status etp_foreign_plan(const etp_session_plan_options *options, etp_arena *arena,
                                          etp_session_plan *p, etp_error *err);

// ---- runners of language models: llama_main, TextLLMRunner ----

#define ETP_FOREIGN_CLOCK_NS 1000000u // their statistics count whole milliseconds

typedef struct etp_foreign_stats {           // one answer, as "PyTorchObserver {...}" tells it
    uint64_t prompt_tokens, new_tokens;      // the first new one is the prefill's, not counted
    uint64_t load_ms, prefill_ms, decode_ms; // prefill with the tokenizer, decode with the sampling
    uint64_t ended_ns;                       // when its line came
} etp_foreign_stats;

// Reads what follows "PyTorchObserver " in a line. False: WHY says what is wrong.
bool etp_foreign_stats_read(etp_str text, etp_foreign_stats *out, char *why, size_t why_cap);

// Settles prefill and decode in SET for a runner of language models; ETP_USAGE says what
// such a runner cannot be asked.
ETP_NODISCARD etp_status etp_foreign_text_settle(etp_settings *set, etp_arena *arena,
                                                 etp_error *err);
// After the phases were made: which of them such a runner can tell, and with which clock.
ETP_NODISCARD etp_status etp_foreign_text_phases(etp_session_plan *plan, etp_arena *arena,
                                                 etp_error *err);

// Is PHASE a decode step's? Else a prompt's.
bool etp_foreign_decodes(const etp_planned_phase *phase);

// ---- its log ----

typedef struct etp_foreign_log {
    etp_arena *arena;
    uint64_t executions; // that were requested
    struct {
        etp_launch_iteration *items;
        size_t n, cap;
    } iterations;
    uint64_t load_ns, total_ns, total_n, threads; // 0: it did not say
    etp_foreign_kind kind;
    struct {
        etp_foreign_stats *items;
        size_t n, cap;
    } answers;       // TEXT
    char wrong[300]; // what contradicts the request, "" nothing
    char bad[200];   // what is wrong with its statistics, "" nothing
    struct {         // of stdout and stderr
        char text[4096];
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
ETP_NODISCARD etp_status etp_foreign_probe(etp_device *device, const etp_session_view *view,
                                           etp_arena *arena, etp_device_cpu *out, etp_error *err);
// As etp_launch_run, for an arm with `foreign`.
ETP_NODISCARD etp_status etp_foreign_run(etp_device *device, const etp_launch_request *request,
                                         etp_arena *arena, etp_launch_outcome *out, etp_error *err);

// Writes outputs.json into DIR, which holds output-<i>.bin as executor_runner writes them, from
// what the program at MODEL says of its outputs. Outputs whose size is another are left out.
ETP_NODISCARD etp_status etp_foreign_list_outputs(const char *dir, const char *model,
                                                  const char *method, etp_arena *arena,
                                                  etp_error *err);

#endif
