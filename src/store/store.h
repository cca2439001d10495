// SPDX-License-Identifier: Apache-2.0
// The run folder: the one truth about a session. etp_run_writer adds to it block by block,
// etp_run_open gives it back; docs/run-folder.md describes the files.
//
// What has been committed survives any death of the process: a block counts when the manifest, the
// last file to be written for it, says so, and the reader ignores everything after that.
//
// Blocks are numbered from 1, launches from 1 over the whole session, iterations from 0 within a
// launch (warm-up included). Times are nanoseconds, sizes bytes.
#ifndef ETP_STORE_STORE_H
#define ETP_STORE_STORE_H

#include "base/index.h"
#include "base/load_parts.h"
#include "base/memory_rows.h"
#include "base/sha256.h"
#include "os/os.h"
#include "store/settings.h"

#include <etprof/arena.h>
#include <etprof/etrecord.h>

#define ETP_RUN_SCHEMA "etprof.run/1"
#define ETP_RUN_MANIFEST "manifest.json"
#define ETP_RUN_SAMPLES "samples.csv"
#define ETP_RUN_ENVIRONMENT "environment.jsonl"
#define ETP_RUN_DERIVED "derived.json"
#define ETP_RUN_LOCK "session.lock" // there while a session writes into the folder
#define ETP_RUN_ROOFS "roofs.json"  // of the device; may be missing
#define ETP_RUN_PROGRAMS "program"  // folder of what is kept of the models
#define ETP_RUN_EXPECTED ETP_RUN_PROGRAMS "/expected" // outputs that the inputs came with, if any

typedef enum etp_run_state {
    ETP_RUN_NO_SESSION, // recordings alone; its name is NULL
    ETP_RUN_RUNNING,
    ETP_RUN_FINISHED,
    ETP_RUN_INTERRUPTED,
    ETP_RUN_STATES
} etp_run_state;

typedef enum etp_run_stop { // what ended a session
    ETP_STOP_OTHER,         // none of the rules: a signal, or nothing left to measure
    ETP_STOP_PRECISION,     // every interval is as narrow as was asked for
    ETP_STOP_BUDGET,
    ETP_STOP_BLOCKS, // all that were planned
} etp_run_stop;

typedef enum etp_launch_kind { // of a process
    ETP_LAUNCH_TIMED,
    ETP_LAUNCH_TRACED,
    ETP_LAUNCH_CONTROL, // one more baseline launch: the A/A control
    ETP_LAUNCH_SAMPLED,
    ETP_LAUNCH_COLD,   // its files are dropped from the page cache first; only its load counts
    ETP_LAUNCH_MEMORY, // who holds memory is read at each stage; nothing else of it counts
    ETP_LAUNCH_KINDS
} etp_launch_kind;

typedef enum etp_phase { // of an iteration
    ETP_PHASE_WARMUP,
    ETP_PHASE_TIMED,
    ETP_PHASE_TRACED,
    ETP_PHASE_SAMPLED,
    ETP_PHASE_CONTROL,
    ETP_PHASES
} etp_phase;

typedef enum etp_phase_kind { // of calls that arms make again and again
    ETP_PHASE_OF_PREFILL,     // of a text decoder: the tokens of a prompt
    ETP_PHASE_OF_DECODE,      // and token by token
    ETP_PHASE_OF_SHAPE,       // one of the sizes of --shape
    ETP_PHASE_KINDS
} etp_phase_kind;

typedef enum etp_lost_reason { // why a launch gave nothing
    ETP_LOST_CRASH,            // ended by a signal or with a status that says nothing
    ETP_LOST_HANG,             // no answer within the time
    ETP_LOST_GARBAGE,          // the answer is not the protocol
    ETP_LOST_MASK,             // the level's mask was not in force
    ETP_LOST_ERROR,            // the runner said why: detail
    ETP_LOST_START,            // could not be started
    ETP_LOST_FILE,             // its trace or outputs are missing, empty or too large
    ETP_LOST_CONNECTION,       // the device went away: nobody knows how the launch ended
    ETP_LOST_REASONS
} etp_lost_reason;

typedef enum etp_samples_end { // why no more program counters of an arm were sampled
    ETP_SAMPLES_NOT_TOLD,
    ETP_SAMPLES_KNOWN,    // what ran is known
    ETP_SAMPLES_BUDGET,   // the rest of it is for blocks
    ETP_SAMPLES_PART,     // more would take over a third of the session; also of none at all
    ETP_SAMPLES_BOUND,    // the most launches
    ETP_SAMPLES_NO_GAIN,  // more would not tell more
    ETP_SAMPLES_OFF,      // from here on none at all: --kernels never
    ETP_SAMPLES_UNTRACED, // --no-trace
    ETP_SAMPLES_DEVICE,   // it cannot
    ETP_SAMPLES_RUNNER,   // of others
    ETP_SAMPLES_BLOCKS,   // the budget would not hold enough of them
    ETP_SAMPLES_ENDS
} etp_samples_end;

typedef enum etp_packed_cache { // XNNPACK's cache of packed weights, as an arm was asked for it
    ETP_CACHE_UNSAID,
    ETP_CACHE_OFF,
    ETP_CACHE_COLD, // written by each launch
    ETP_CACHE_WARM, // read
    ETP_CACHE_STATES
} etp_packed_cache;

typedef enum etp_counter_events { // what a runner counts
    ETP_EVENTS_NONE,
    ETP_EVENTS_HARDWARE, // of user space
    ETP_EVENTS_SOFTWARE, // of the kernel, for tests
    ETP_EVENTS_PROCESS,  // of the whole process, kernel included
    ETP_EVENTS_KINDS
} etp_counter_events;

// Static texts as in the files; NULL only of what an enum says of nothing, its first. The
// finders give the enum's count for unknown text.
const char *etp_run_state_name(etp_run_state state);
const char *etp_run_stop_name(etp_run_stop stop); // "" of ETP_STOP_OTHER
const char *etp_launch_kind_name(etp_launch_kind kind);
const char *etp_phase_name(etp_phase phase);
const char *etp_phase_kind_name(etp_phase_kind kind);
const char *etp_load_what_name(etp_load_what what);
const char *etp_lost_reason_name(etp_lost_reason reason);
const char *etp_samples_end_name(etp_samples_end end);
const char *etp_counter_events_name(etp_counter_events events);
const char *etp_packed_cache_name(etp_packed_cache cache);
bool etp_packed_cache_find(etp_str s, etp_packed_cache *out);
bool etp_counter_events_find(etp_str s, etp_counter_events *out);

typedef struct etp_run_recipe { // of the exporter
    etp_str name;
    uint64_t places; // of the model that it would change
} etp_run_recipe;

typedef struct etp_run_model {
    etp_str path;   // as the user gave it, made absolute
    etp_str stem;   // file name without ".pte"
    etp_str sha256; // hex
    uint64_t bytes;
    struct {
        etp_str *items;
        size_t n, cap;
    } command; // words that export it again; none: not known
    struct {
        etp_run_recipe *items;
        size_t n, cap;
    } recipes; // those that the exporter was asked for; none: not known
} etp_run_model;

typedef struct etp_run_phase { // what arms did again and again; an iteration is one call of it
    etp_str name;              // "prefill 64", "decode @256"
    etp_phase_kind kind;
    uint64_t tokens; // of an iteration; 0: no text
    uint64_t depth;  // tokens in the cache before
    uint64_t prompt; // tokens of the prompt that it is a chunk of; 0: none
    uint64_t calls;  // of a repetition, before which mutable buffers are put back
    uint64_t
        clock_ns; // resolution of an iteration's time where a runner of others told it; 0: none
    // Of all calls; empty: they differ, or an older folder. Mean of the places where they begin.
    etp_str method, inputs, start;
    etp_str steps_sha256; // of the calls, of all models; empty: not known
} etp_run_phase;

typedef struct etp_run_build { // of two that are held against each other
    etp_str path;              // of a bundle's folder, or of a program
    etp_str sha256;            // hex, over all its files
    etp_str executorch;        // version it was built with, "" unknown
    etp_str text;              // what is known of it, for people
    etp_str wheel_sha256;      // hex, of the published wheel that it is of, "" none or unknown
    bool own;                  // etprof's runner; else an executor_runner of others
} etp_run_build;

typedef struct etp_run_arm {
    etp_str name;  // the experiment: folder and column of samples.csv; unique
    etp_str level; // "sme2"; "" when the runner's own choice was left alone
    uint32_t threads;
    uint32_t model; // index in models
    uint32_t phase; // index in phases, 0 without any
    uint32_t side;  // index in builds, 0 without any
    etp_packed_cache cache;
    etp_str runner_sha256; // hex, "" unknown
    etp_str runner, build; // path of a runner that is not etprof's and what its file shows; "" ours
    etp_str prefix;        // P of the files: <stem>_<experiment>_t<threads>
    bool emulated;
    uint64_t warmup, iterations, traced; // per launch, fixed by the pilot
    etp_samples_end sampling;
} etp_run_arm;

typedef struct etp_run_sample {
    uint32_t arm, block, launch, iteration;
    etp_phase phase;
    uint64_t start_ns, duration_ns;
} etp_run_sample;

typedef struct etp_run_counts { // during one iteration, all threads; 0: not counted
    uint64_t cpu_ns, cycles, instructions, cache_misses;
} etp_run_counts;

typedef struct etp_run_part { // of what a process does up to the end of its first inference
    etp_load_what what;
    uint64_t delegate, operation; // of XNNPACK in the order of loading, what it packs; from 1, or 0
    uint64_t bytes, ns, faults;
    uint64_t workspace; // that the delegate computes in, likewise from 1
} etp_run_part;
#define ETP_RUN_MAX_PARTS 32768

// One process that did its job. Unknown numbers are 0.
typedef struct etp_run_launch {
    uint32_t arm, block, launch;
    uint32_t position; // in its block's order, from 0
    etp_launch_kind kind;
    uint64_t pid, start_ns, wall_ns; // spawn to exit
    uint64_t load_ns;                // loading the program, weight packing included
    uint64_t cached_bytes; // cold: of its files, in the page cache all the same when it began
    uint64_t first_ns;     // first inference of the process
    uint64_t rss_bytes;    // after loading
    uint64_t peak_rss_bytes;
    uint64_t dirty_bytes, clean_bytes; // resident after the measured iterations: pages that were
                                       // written, and those of files that were not
    etp_memory_rows memory;            // who holds them; code 0: not known
    etp_memory_stages memory_at;       // kind memory
    struct {
        etp_run_part *items;
        size_t n, cap;
    } parts; // one after another; none: not known
    uint64_t user_ns, system_ns;
    uint64_t minor_faults, major_faults, voluntary_switches, involuntary_switches;
    uint64_t env_pad_bytes; // by which its environment was made larger, drawn anew for each launch
    uint64_t wait_ns, migrations; // ready but without a CPU, moved between CPUs; UINT64_MAX unknown
    uint64_t run_span_ns, run_wait_ns; // the same in the measured iterations alone, as the runner
                                       // tells; span 0: unknown
    uint64_t cycles, instructions, fast_cycles,
        energy_nj;                   // of the process before its end; 0 unknown
    struct {                         // by the runner, iteration by iteration; none: n is 0
        const etp_run_counts *items; // of iteration 0 and up, warm-up included
        uint32_t n;
        uint32_t scaled; // iterations in which the counters had a part of the time only
        etp_counter_events events;
        etp_str cache; // what cache misses are counted, "" none
    } counted;
    // What the runner says about its mask, text forms of isa.h:
    etp_str mask_requested, mask_hook, mask_cleared, mask_caller, flags;
    etp_str cpus_allowed; // of its threads, from /proc; empty: not asked or not readable
    uint64_t hook_calls;  // by SDK libraries, answered with the mask in force
    struct {              // what hiding features adds to an execution; call_ps is 0: not measured
        uint64_t calls, call_ps; // questions of one execution, picoseconds added to each
    } hook_cost;
} etp_run_launch;

// What the machine was doing at one moment. What could not be read is NAN or UINT64_MAX.
typedef struct etp_run_moment {
    uint64_t time_ns;
    double load1;
    uint64_t memory_free_bytes;
    double temperature_c;                // hottest zone
    etp_str temperature_zone;            // empty: not read
    uint64_t freq_min_khz, freq_max_khz; // slowest and fastest CPU
    const uint32_t *core_khz;            // by number, 0 not read
    uint32_t n_cores;
    uint64_t freq_cap_khz;   // Σ of what the system allowed
    uint64_t thermal_status; // of Android
    uint64_t battery_percent, cpu_busy_ms, cpu_steal_ms;
    etp_str governor, power; // empty: not read
    int boost;               // -1: not read
} etp_run_moment;

// The reader leaves out what nobody asks for again: order, control and wall clock, the names and
// single clocks of the moments.
typedef struct etp_run_block {
    uint32_t block;
    const uint32_t *order; // arm indices as launched
    uint32_t n_order;
    uint32_t control_position; // ETP_NO_INDEX: no control launch
    uint64_t cooled_ns;        // waited for the start temperature
    int64_t wall_start_s, wall_end_s;
    uint64_t slept_ns;   // the machine was suspended; UINT64_MAX unknown
    double clock_jump_s; // the wall clock was set meanwhile
    etp_run_moment start, end;
} etp_run_block;

typedef struct etp_run_lost {
    uint32_t arm, block, launch;
    etp_launch_kind kind;
    etp_lost_reason reason;
    uint32_t attempt; // 1 = the first try
    bool recovered;   // a later try of the same launch succeeded: the block is not lost
    etp_str detail;   // one line for people
} etp_run_lost;

typedef struct etp_run_dump {
    uint32_t arm, block;
    etp_str path; // relative to the folder
} etp_run_dump;

typedef struct etp_run_file {
    etp_str path; // relative to the folder
    etp_str sha256;
    uint64_t bytes;
} etp_run_file;

typedef struct etp_run_fact { // of the device: "cpu" → "Intel(R) …"
    etp_str key, value;
} etp_run_fact;

typedef enum etp_note { // what a session can notice
    ETP_NOTE_OTHER,     // of a later version
    ETP_NOTE_SLEPT,
    ETP_NOTE_CLOCK_JUMP,
    ETP_NOTE_CPU_CONTENDED,
    ETP_NOTE_KERNELS_OURS,
    ETP_NOTE_KERNELS_LIB,
    ETP_NOTE_ARM_GIVEN_UP,
    ETP_NOTE_AFFINITY_NOT_KEPT,
    ETP_NOTE_SME_UNITS_SHARED,
    ETP_NOTE_STARTED_HOT,
    ETP_NOTE_TEMPERATURE_UNREADABLE,
    ETP_NOTE_BUILDS_SAME,
    ETP_NOTE_BUILDS_PYTHON,
    ETP_NOTE_RUNNER_TRACERS_DIFFER,
    ETP_NOTE_RUNNER_NO_TRACER,
    ETP_NOTE_RUNNER_ALWAYS_TRACES,
    ETP_NOTE_RUNNER_NO_XNNPACK,
    ETP_NOTE_RUNNER_NO_SME,
    ETP_NOTE_RUNNER_BUILDS_DIFFER,
    ETP_NOTE_RUNNER_CLOCK,
    ETP_NOTE_RUNNER_WHOLE,
    ETP_NOTE_RUNNER_MEAN_ONLY,
    ETP_NOTE_NOT_WATCHED,
    ETP_NOTES
} etp_note;

typedef struct etp_run_note {
    etp_str id, text; // id: kept as it was read
} etp_run_note;

const char *etp_note_name(etp_note note);
bool etp_note_find(etp_str s, etp_note *out);
etp_note etp_run_note_kind(const etp_run_note *note);

typedef struct etp_run_named { // what the runner's self-test called operators of every data type at
    etp_str level, names;      // a level, "; " between
} etp_run_named;

#define ETP_RUN_NAMED_LEVELS 8

// SHA-256, hex, of what a session reads beside its models; "," between those of several files.
// Empty: the session has no such file, or its folder is older and kept no hash.
typedef struct etp_run_hashes {
    etp_str data, inputs, kernels_lib, tokenizer; // of the files that the settings name
    uint64_t data_bytes;                          // of the first; 0: none, or an older folder
    etp_str bundle;                               // of all files of the runner's
} etp_run_hashes;

// Texts and arrays borrow from the arena given to etp_run_open (reader) or from the caller
// (writer).
typedef struct etp_run {
    etp_str dir;          // reader: as given to etp_run_open
    etp_str named_sha256; // reader: hex, of the manifest without what a session finds out
    etp_run_state state;
    etp_str tool_version;
    etp_str generated_at; // ISO 8601, UTC
    etp_str platform;     // "linux", "mac", "android"
    etp_str config;       // path of the config that asked for it, "" none
    etp_str command;      // the command line that repeats it, "" unknown
    struct {
        etp_str version, sha;
        bool present, dirty;
    } executorch;
    etp_str device_spec; // "local", "qemu"
    etp_str device_cpu;  // isa.h text of what the CPU has
    bool emulated;
    struct {
        etp_run_fact *items;
        size_t n, cap;
    } facts;
    struct {
        etp_run_model *items;
        size_t n, cap;
    } models;

    // plan
    etp_settings settings; // blocks: the goal; with a budget the most that could be
    etp_run_hashes hashes;
    uint32_t control_blocks;
    uint32_t baseline; // index of the baseline arm; with phases, of the first
    struct {
        etp_run_phase *items; // none: the method alone
        size_t n, cap;
    } phases;
    struct {
        etp_run_build *items; // two, the first is the baseline; none: builds are not compared
        size_t n, cap;
    } builds;
    struct {
        etp_run_arm *items;
        size_t n, cap;
    } arms;
    struct { // order[block − 1] = arm indices as launched, n_arms each
        uint32_t *items;
        size_t n, cap;
    } order;

    // results
    uint32_t blocks_done; // blocks 1 … blocks_done are in the folder
    int signal;           // that interrupted the session, 0
    etp_run_stop stopped;
    struct {
        etp_run_lost *items;
        size_t n, cap;
    } lost;
    struct {
        etp_str *items; // names of what could not be read from this machine
        size_t n, cap;
    } unreadable;
    struct {
        etp_run_file *items; // raw files, complete once finished
        size_t n, cap;
    } files;
    etp_run_note notes[16];
    size_t n_notes;

    // read from samples.csv, environment.jsonl and the experiments' folders
    struct {
        etp_run_sample *items;
        size_t n, cap;
    } samples;
    struct {
        etp_run_launch *items;
        size_t n, cap;
    } launches;
    struct {
        etp_run_block *items; // as they ran
        size_t n, cap;
    } blocks;
    struct {
        etp_run_dump *items; // by arm, then block
        size_t n, cap;
    } dumps;
    uint64_t samples_ignored; // rows after the last whole block, or a torn last row
    bool selftest_ok;         // the runner proved that masking works with this SDK
    etp_str selftest;         // its words, "" when it was not run
    etp_run_named names[ETP_RUN_NAMED_LEVELS];
    size_t n_names;
} etp_run;

// ---- reading ----

// A run folder's members are regular files and folders beneath it: no links, which lead out of it,
// and no FIFOs or devices, which never end. ETP_UNSUPPORTED otherwise. Whatever opens or continues
// a folder asks this first; the folder itself may be named through a link.
ETP_NODISCARD etp_status etp_run_check_members(const char *dir, etp_error *err);
// Trust: a folder from elsewhere is data. What it says should be started, contacted and read when
// it is measured again counts when a session of this user wrote the same manifest before, but for
// what sessions find out (named.c has the list). STATE_DIR is the user's own ("…/state/etprof");
// NULL: none, and nothing is trusted.
ETP_NODISCARD etp_status etp_run_trust(const char *state_dir, const etp_run *run, etp_error *err);
bool etp_run_trusted(const char *state_dir, const etp_run *run);
// Weights, a tokenizer or inputs that it names and that are not files of the folder itself; NULL:
// none. Of these no hash is known: a folder of somebody else could give any file to a runner by
// them.
const char *etp_run_outside(const etp_run *run, etp_arena *arena);
// Are models, weights, inputs, library of kernels and tokenizer what was measured? ETP_USAGE when a
// hash differs, ETP_IO.
ETP_NODISCARD etp_status etp_run_inputs_are(const etp_run *run, etp_arena *arena, etp_error *err);
// "the device ssh:board, the program /x/runner, the model /y.pte": what that would be. NULL when
// out of memory.
const char *etp_run_names_used(const etp_run *run, etp_arena *arena);

// ---- named baselines ----

typedef enum etp_baseline_state {
    ETP_BASELINE_NONE,       // nothing has that name
    ETP_BASELINE_SAME,       // the folder is where it was and has the manifest it had
    ETP_BASELINE_MOVED,      // no run folder is there any more
    ETP_BASELINE_CHANGED,    // a run folder is there, with another manifest
    ETP_BASELINE_UNREADABLE, // the note is none of ours
} etp_baseline_state;
typedef struct etp_baseline {
    const char *name, *dir; // DIR: NULL when the note is unreadable
    char sha256[65];        // of the manifest as it was saved
    etp_baseline_state state;
} etp_baseline;
typedef struct etp_baselines { // by name
    etp_baseline *items;
    size_t n, cap;
} etp_baselines;
// Could NAME be given? ETP_USAGE: a bad name, or no STATE_DIR (NULL) to keep it in.
ETP_NODISCARD etp_status etp_baseline_check(const char *state_dir, const char *name,
                                            etp_error *err);
bool etp_baseline_name_ok(const char *name);
// DIR, a finished run, gets NAME, which another one may have had.
ETP_NODISCARD etp_status etp_baseline_save(const char *state_dir, const char *name, const char *dir,
                                           etp_arena *arena, etp_error *err);
// ETP_BASELINE_NONE when nothing has that name, also when it could be none.
ETP_NODISCARD etp_status etp_baseline_find(const char *state_dir, const char *name,
                                           etp_arena *arena, etp_baseline *out, etp_error *err);
ETP_NODISCARD etp_status etp_baseline_list(const char *state_dir, etp_arena *arena,
                                           etp_baselines *out, etp_error *err);
// The name goes, the folder stays.
ETP_NODISCARD etp_status etp_baseline_remove(const char *state_dir, const char *name,
                                             etp_arena *arena, etp_error *err);

// True when DIR holds a manifest of ours.
bool etp_run_is(const char *dir);
// Says so where it does not: ETP_USAGE, or ETP_IO where there is nothing of that name.
ETP_NODISCARD etp_status etp_run_expect(const char *dir, etp_error *err);
// Reads a run folder in any state. ETP_CORRUPT with a byte position, ETP_UNSUPPORTED (a newer
// schema, or somebody else's manifest), ETP_IO, ETP_NOMEM. Every path in it was checked to stay
// inside the folder; files it names may be missing.
ETP_NODISCARD etp_status etp_run_open(const char *dir, etp_arena *arena, etp_run *out,
                                      etp_error *err);
typedef struct etp_run_found_item {
    const char *dir;
    etp_str generated_at; // empty when the manifest cannot be read
    etp_run_state state;
    bool readable;
} etp_run_found_item;
typedef struct etp_run_found { // newest first; by the time of measuring, not by that of the files
    etp_run_found_item *items;
    size_t n, cap;
} etp_run_found;
// The run folders in PATH and in PATH/runs: those of a folder like out_<model>. Where there are
// none, and no recordings either, those of all folders PATH/out_*.
ETP_NODISCARD etp_status etp_run_find_below(const char *path, etp_arena *arena, etp_run_found *out,
                                            etp_error *err);
// Those that were wanted as PATH: PATH, PATH.2, PATH.3 … (see etp_run_create_folder).
ETP_NODISCARD etp_status etp_run_find_named(const char *path, etp_arena *arena, etp_run_found *out,
                                            etp_error *err);
// The manifest alone: samples, launches, blocks and dumps of *out stay empty.
ETP_NODISCARD etp_status etp_run_open_manifest(const char *dir, etp_arena *arena, etp_run *out,
                                               etp_error *err);

// The block of that number; NULL: the run has none.
const etp_run_block *etp_run_block_of(const etp_run *run, uint32_t number);
// The rows of a run folder one at a time, for who must not hold them all. What etp_run_open leaves
// out is left out here too; an absent file of a folder without blocks has no rows.
typedef struct etp_run_rows { // fields are private; zeroed is closed
    const etp_run *run;
    const char *path;
    etp_file file;
    etp_arena arena, row_arena; // row_arena: of one row, or of some
    etp_str text;               // what is left of it (launches)
    uint64_t line, at;
    void *csv;
} etp_run_rows;
// Both borrow RUN until etp_run_rows_close, which also has to follow a failure.
ETP_NODISCARD etp_status etp_run_samples_open(etp_run_rows *rows, const etp_run *run,
                                              etp_error *err);
ETP_NODISCARD etp_status etp_run_launches_open(etp_run_rows *rows, const etp_run *run,
                                               etp_error *err);
ETP_NODISCARD etp_status etp_run_sample_next(etp_run_rows *rows, etp_run_sample *out, bool *more,
                                             etp_error *err);
// Texts of *out live until the next call.
ETP_NODISCARD etp_status etp_run_launch_next(etp_run_rows *rows, etp_run_launch *out, bool *more,
                                             etp_error *err);
void etp_run_rows_close(etp_run_rows *rows);
// The record of one launch; NULL: there is none.
const etp_run_launch *etp_run_timed_launch(const etp_run *run, uint32_t block, uint32_t launch);
// What the device said of itself under KEY; empty: nothing.
etp_str etp_run_fact_of(const etp_run *run, const char *key);
// Measured on a virtual machine: programs beside it take turns with it, and nothing here sees them.
bool etp_run_has_neighbours(const etp_run *run);
// Whether intervals are widened (etp_sequential_widening): for neighbours, or because results were
// known when it was decided to go on.
bool etp_run_is_widened(const etp_run *run);
// From the facts "cpus" and "cpu_quota": CPUs' worth of time that a run may use; 0 unknown.
double etp_cpus_allowed(etp_str cpus, etp_str quota);
// "8 threads on 2 CPUs": more threads than that; NULL: not so, or not known.
const char *etp_crowded_words(uint32_t threads, etp_str cpus, etp_str quota, etp_arena *arena);
// What was read at a block's start and end as one figure: the mean, or the one that was read.
double etp_run_between(double start, double end);

// Waiting for a CPU: Σ over the launches that a figure rests on. Only launches whose waiting was
// readable count. One thread that waits holds up the others, so the threads' waiting is added up
// and held against the time of the launches, not against the time of all threads.
typedef struct etp_run_wait {
    uint64_t wait_ns, wall_ns;
} etp_run_wait;
void etp_run_wait_add(etp_run_wait *sum, const etp_run_launch *launch);
// At most this share of the time was lost to waiting, 0…1; NAN when nothing was readable.
double etp_run_wait_share(const etp_run_wait *sum);
// Is a raw file not what was recorded? *out says which, as people read it; NULL: none. Answers are
// the same wherever the folder lies.
ETP_NODISCARD etp_status etp_run_altered(const etp_run *run, etp_arena *arena, const char **out,
                                         etp_error *err);
// Is the file at PATH what F says? Of a session that did not end, rows behind those that F counts
// do not matter: no block vouches for them, and no reader takes them. RUN may be NULL.
ETP_NODISCARD etp_status etp_run_file_is(const etp_run *run, const etp_run_file *f,
                                         const char *path, bool *out, etp_error *err);
// Has the manifest the hash of the samples, once there are any?
bool etp_run_has_hashes(const etp_run *run);
// Compares every raw file with the manifest's hash. *out_bad (may be NULL) names the first that
// differs; ETP_NO when one does, is missing or has none (etp_run_has_hashes).
ETP_NODISCARD etp_status etp_run_check_files(const etp_run *run, etp_arena *arena,
                                             const char **out_bad, etp_error *err);

typedef struct etp_run_derived { // derived.json; zeroed when there is none
    etp_run_file *items;         // by name
    size_t n, cap;
    etp_str manifest_sha256; // of manifest.json when the last of them was computed; empty: not said
    bool plain;              // the file has exactly the bytes that are written for this content
} etp_run_derived;
// ETP_CORRUPT when it cannot be read.
ETP_NODISCARD etp_status etp_run_derived_read(const char *dir, etp_arena *arena,
                                              etp_run_derived *out, etp_error *err);
// Blocks are added: the manifest that derived.json names is no longer the session's. The next files
// that are made name the new one.
ETP_NODISCARD etp_status etp_run_manifest_moves_on(const char *dir, etp_error *err);
// Raw files have fixed names, or names like what a launch leaves behind.
bool etp_run_is_raw(etp_str relative);
// The choices that the folder's report.json was made with: NULL and 0 where it does not tell.
ETP_NODISCARD etp_status etp_run_report_options(const char *dir, etp_arena *arena,
                                                const char **out_baseline, double *out_margin,
                                                etp_error *err);

// Index of the arm, tried first at HINT; ETP_NO_INDEX: no such arm.
uint32_t etp_run_arm_find(const etp_run *run, etp_str name, uint32_t hint);
// Paths inside the folder, NUL-terminated, NULL on out of memory.
const char *etp_run_path(etp_arena *arena, const char *dir, etp_str relative);
// Can NAME be that of a file or folder in it?
bool etp_run_name_ok(etp_str name);
const char *etp_run_dump_name(etp_arena *arena, const etp_run_arm *arm, uint32_t block,
                              const char *suffix); // "exp/P.etdump", "exp/P_b2.log"
// What launches leave may lie in the folder compressed: NAME or NAME with ETP_OS_PACKED behind it,
// whichever is there (NAME when neither is). NULL on out of memory.
const char *etp_run_stored(etp_arena *arena, const char *dir, const char *name);
// Of the NTH sampled launch (from 1) of an arm in a block: "exp/P.samples", "exp/P_r2.samples".
const char *etp_run_sampled_name(etp_arena *arena, const etp_run_arm *arm, uint32_t block,
                                 uint32_t nth, const char *suffix);
const char *etp_run_outputs_name(etp_arena *arena, const etp_run_arm *arm);
// Of a second launch with the same inputs: there where its bytes are others.
const char *etp_run_outputs_again_name(etp_arena *arena, const etp_run_arm *arm);

// "program/<stem><suffix>" of a model of the run; suffixes are ".pte" and ".sources.csv".
const char *etp_run_program_name(etp_arena *arena, const etp_run *run, size_t model,
                                 const char *suffix);
// Reads a .sources.csv into a record that has sources and instructions of kernels only. Texts live
// in ARENA.
ETP_NODISCARD etp_status etp_run_read_sources(etp_str text, etp_arena *arena, etp_etrecord *out,
                                              etp_error *err);

// Reads how the program BYTES of the file MODEL was exported into OUT, from the export.json beside
// it. OUT's sha256 is that of BYTES; empty: it is calculated, if there is such a file. A file that
// is missing, broken or without this program leaves OUT as it is. ETP_NOMEM.
ETP_NODISCARD etp_status etp_run_read_export(const char *model, etp_bytes bytes, etp_arena *arena,
                                             etp_run_model *out, etp_error *err);

// ---- writing ----

// "<model>" of "<model>_<backend>_<precision>", a name as our exporter gives; others stay whole.
etp_str etp_run_model_name(etp_str stem);
// Where a session of MODEL goes by default: [out_<model>]/runs/<platform>; relative to the model's
// own out_ folder when it lies in one, else to the working directory.
const char *etp_run_default_dir(etp_arena *arena, const char *model_path, const char *platform);
// Makes the folder. Without EXACT a taken name becomes <name>.2, .3 …; with it an existing folder
// must be empty (ETP_USAGE otherwise). *out_dir is what was made.
ETP_NODISCARD etp_status etp_run_create_folder(const char *wanted, bool exact, etp_arena *arena,
                                               const char **out_dir, etp_error *err);

// One session at a time writes into a folder: to be held from before the folder is read or begun
// until after etp_run_finish. ETP_USAGE when another process has it; what a killed one left is
// taken over. Release with etp_os_lock_release.
ETP_NODISCARD etp_status etp_run_lock(const char *dir, etp_arena *arena, etp_os_lock *out,
                                      etp_error *err);
// Removes the lock that a killed session left; one that is held stays, and so does one in a folder
// that cannot be written to.
void etp_run_remove_dead_lock(const char *dir, etp_arena *arena);

typedef struct etp_run_tail { // what is committed of a file that grows
    uint64_t bytes;
    etp_sha256 hash;
} etp_run_tail;
typedef struct etp_run_writer { // fields are private
    const char *dir;
    etp_arena *arena;
    etp_run *run;
    etp_run_tail samples, environment;
    etp_index recorded; // of run->files, by path
    bool without_level; // samples.csv was begun by an older etprof
} etp_run_writer;

// Begins a folder made by etp_run_create_folder: writes the manifest with state "running". RUN is
// borrowed and read again by every later call; the caller keeps it up to date (lost, order, facts
// …).
ETP_NODISCARD etp_status etp_run_begin(const char *dir, etp_arena *arena, etp_run *run,
                                       etp_run_writer *out, etp_error *err);
// Continues a folder that etp_run_open has read and etp_run_altered found as it was recorded: cuts
// off what was not committed.
ETP_NODISCARD etp_status etp_run_resume(const char *dir, etp_arena *arena, etp_run *run,
                                        etp_run_writer *out, etp_error *err);
// Keeps what explanations need of the model at PATH: the program with its weights left out (a file
// of the same size whose weights are holes), and the sources of RECORD (may be NULL). *out_note
// is a line worth telling when the program could not be kept, else NULL.
ETP_NODISCARD etp_status etp_run_keep_program(etp_run_writer *w, size_t model, const char *path,
                                              const etp_etrecord *record, const char **out_note,
                                              etp_error *err);
// The ETRecord that lies beside a model under its name; NULL: none.
const char *etp_run_record_beside(const char *model, etp_arena *arena);
// Keeps the roofs of the device, an etprof.roofs/1 document.
ETP_NODISCARD etp_status etp_run_keep_roofs(etp_run_writer *w, etp_str document, etp_error *err);
// The line of a block for environment.jsonl, without newline, in ARENA; empty on out of memory.
etp_str etp_run_block_line(const etp_run *run, const etp_run_block *b, etp_arena *arena);
// Makes the next block durable: its samples, launches and free-form environment lines (each a JSON
// object without newline), then the manifest with blocks_done + 1 and the hash of every raw file.
ETP_NODISCARD etp_status etp_run_commit(etp_run_writer *w, const etp_run_sample *samples,
                                        size_t n_samples, const etp_run_launch *launches,
                                        size_t n_launches, const etp_str *environment,
                                        size_t n_environment, etp_error *err);
// Keeps CONTENT, what a launch left, as the file NAME of the folder DIR: compressed when that is
// worth it and SETTINGS do not ask for plain files.
#define ETP_RUN_PACK_BYTES ((size_t)128 << 10) // smaller ones stay as they are
ETP_NODISCARD etp_status etp_run_keep_file(const etp_settings *settings, const char *dir,
                                           const char *name, etp_str content, etp_error *err);
// More launches of the block that was committed last.
ETP_NODISCARD etp_status etp_run_commit_more(etp_run_writer *w, const etp_run_sample *samples,
                                             size_t n_samples, const etp_run_launch *launches,
                                             size_t n_launches, etp_error *err);
// Writes the last manifest, with the kit's results[]. Files that a commit recorded keep that hash.
ETP_NODISCARD etp_status etp_run_finish(etp_run_writer *w, etp_run_state state, etp_error *err);

// Removes what killed processes left half-written in a run folder: files that never got their
// names.
void etp_run_remove_leftovers(const char *dir, etp_arena *arena);

// Derived files change together: each is made beside its place, and at the end all get their names
// and derived.json their hashes, so that who is stopped before leaves the folder as it was. On a
// folder of any state; the names of raw files are refused.
typedef struct etp_run_deriving { // fields are private
    const char *dir;
    etp_arena *arena;
    struct {
        etp_run_file *items;
        size_t n, cap;
    } made;
} etp_run_deriving;
void etp_run_derive_begin(const char *dir, etp_arena *arena, etp_run_deriving *out);
ETP_NODISCARD etp_status etp_run_derive(etp_run_deriving *d, const char *relative, etp_str content,
                                        etp_error *err);
// The same for content that is made in pieces; see etp_os_replace_by.
ETP_NODISCARD etp_status etp_run_derive_by(etp_run_deriving *d, const char *relative,
                                           etp_os_fill *fill, void *ctx, etp_error *err);
// SO_FAR: how the making went; what was made is removed unless ETP_OK, and SO_FAR returned.
ETP_NODISCARD etp_status etp_run_derive_end(etp_run_deriving *d, etp_status so_far, etp_error *err);
// True when PATH is a file of a run folder's record: raw, or one whose hash derived.json has. Who
// writes tables of something else into a run folder leaves such files as they are.
bool etp_run_records(const char *path, etp_arena *arena);
#endif
