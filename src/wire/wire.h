// SPDX-License-Identifier: Apache-2.0
// The runner's protocol, version 1: one command a line on its stdin, one JSON
// object a line on its stdout. Shared by the runner and the tool. libc only.
//
// Every line carries "type". A session is: hello, load, then for each command
// its iter lines and exactly one done or error. An error before load is fatal
// and the runner exits with status 1; after an error the exit status is 1.
//
//   {"type":"hello","protocol":1,"pid":7,"nonce":"","executorch":"1.5.1","kind":"timed",
//    "threads":1,"mask":{"requested":"x86_64:...","hook":"cpuinfo_initialize",
//    "cleared":"x86_64:...","calls":2,"caller":"lib..."},"cpu":"x86_64:...","flags":"x86_64:...",
//    "memory":1,"stages":1,
//    "counters":{"events":"hardware","cache":"cache-misses","why":"","fix":""}}
//   {"type":"load","ns":1,"rss_bytes":1,"hook_calls":2,"epoch_ns":1,"method":"forward",
//    "inputs":1,"outputs":1,"kernels_ours":"llama::custom_sdpa.out",
//    "kernels_theirs":"llama::update_cache.out"}
//   {"type":"iter","i":0,"start_ns":1,"ns":1,"cpu_ns":1,"cycles":1,"instructions":1,
//    "cache_misses":1}
//   {"type":"done","cmd":"run","n":10,"bytes":0,"peak_rss_bytes":1,"hook_calls":27,
//    "hook_call_ps":400}
//   {"type":"done","cmd":"memory","n":1,"bytes":0,"peak_rss_bytes":9,"dirty_bytes":2,
//    "clean_bytes":3,"memory":{"program":1,"code":2,"unaccounted":2}}
//     of kind "memory" also "memory_load", "memory_first", "memory_peak" (base/memory_rows.h):
//     {"program":1,"code":2,"peak_bytes":9}
//   {"type":"part","what":"packing","delegate":1,"operation":2,"bytes":64,"ns":9,"faults":0}
//   {"type":"part","what":"creation","delegate":1,"ns":9,"faults":0,"workspace":1}
//   {"type":"error","code":"method","message":"..."}
// lines of `--roofs`, which come between hello and done (best and median 0: checked, not timed):
//   {"type":"roof","isa":"avx2","what":"fma_f32","unit":"op/s","threads":1,"bytes":0,"best":1,
//    "median":1,"again":1}
// and the only line of `--selftest`, "ok" being true, false or null (these names cannot tell):
//   {"type":"selftest","levels":[{"level":"vnni","ok":true,"linear":"Fully ...",
//    "conv":"Conv...","why":"..."}]}
//
// Times are CLOCK_MONOTONIC nanoseconds. "ns" of an iteration is Method::execute
// alone: inputs are put back in place before it, outside the measured time.
//
//   run N        N iterations. With kinds "traced" and "sampled" they are recorded as well.
//   dump FILE    the trace since the load or the last dump; the recording starts
//                afresh. `dump -` throws it away: after a warm-up it drops the
//                load block and the warm-up, so that only what follows is kept.
//   samples FILE with kind "sampled": the program counters taken during the runs since
//                the last time, as CSV (columns in runner/src/sampler.h)
//   outputs DIR  outputs of the last iteration as DIR/output-<i>.bin and DIR/outputs.json
//   memory       what of the process is resident now; only where the hello line has "memory"
//   With kind "memory" it is also read while loading and after the first inference, where it takes
//   time that nothing else may be told of; only where the hello line has "stages". ETPROF_KEPT of
//   its environment names mutable buffers: "2:0:4096" are 4096 bytes of planned memory 2.
//   With kind "cold" the program, its data and its cache of packed weights are dropped from the
//   page cache before the load; "cached_bytes" of the load line is what could not be dropped.
//   ledger       its parts one by one, from the start of the process to the end of the first
//   inference
//                (base/load_parts.h); of a launch of kind "traced", whose last command it is; only
//                where the hello line has "ledger"
//   quit         as does the end of the input
#ifndef ETP_WIRE_WIRE_H
#define ETP_WIRE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/load_parts.h"
#include "base/memory_rows.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ETP_WIRE_PROTOCOL 1
// Longest line in either direction, with its newline. Longer ones are errors.
#define ETP_WIRE_LINE_MAX 16384
// Most iterations of one `run`.
#define ETP_WIRE_RUN_MAX 1000000
#define ETP_WIRE_TEXT_MAX 1024
#define ETP_WIRE_WORD_MAX 64
#define ETP_WIRE_NAME_MAX 128

typedef enum etp_wire_type {
    ETP_WIRE_UNKNOWN = 0, // a well-formed object whose "type" we do not know: see `word`
    ETP_WIRE_HELLO,
    ETP_WIRE_LOAD,
    ETP_WIRE_ITER,
    ETP_WIRE_DONE,
    ETP_WIRE_ERROR,
    ETP_WIRE_SELFTEST,
    ETP_WIRE_ROOF,
    ETP_WIRE_PART
} etp_wire_type;

// What is absent from a line is zero or empty here, except what the type cannot
// do without (marked *), whose absence makes the line invalid.
typedef struct etp_wire_hello {
    uint64_t protocol; // *
    uint64_t pid;
    char nonce[ETP_WIRE_WORD_MAX +
               1]; // echo of ETPROF_NONCE: this line is from the process we started
    char executorch[ETP_WIRE_WORD_MAX + 1];
    char kind[ETP_WIRE_WORD_MAX + 1];
    uint64_t threads;
    struct {
        char requested[ETP_WIRE_TEXT_MAX]; // ETPROF_MASK, "" without one
        char hook[ETP_WIRE_WORD_MAX + 1];  // the function that was pre-empted
        char cleared[ETP_WIRE_TEXT_MAX];   // what was there before and is gone now
        uint64_t calls; // calls by an SDK library that were answered with the mask in force
        char caller[ETP_WIRE_WORD_MAX + 1]; // file name of the last such library
    } mask;
    char cpu[ETP_WIRE_TEXT_MAX];   // etp_isa_cpu text, nothing hidden
    char flags[ETP_WIRE_TEXT_MAX]; // the same as the SDK sees it, read back
    uint64_t memory, ledger;       // 1: it knows the command
    uint64_t stages;               // 1: and kind "memory"
    struct {
        char events[ETP_WIRE_WORD_MAX +
                    1]; // hardware, process (as the system counts, kernel included), software (no
                        // cycles), none; "" an older runner
        char cache[ETP_WIRE_WORD_MAX + 1]; // what cache_misses of an iteration counts; "" nothing
        char why[ETP_WIRE_NAME_MAX];       // with none: why
        char fix[ETP_WIRE_NAME_MAX];       // and what would allow it
    } counters;
} etp_wire_hello;

typedef struct etp_wire_load {
    uint64_t ns; // *
    uint64_t rss_bytes;
    uint64_t hook_calls;   // mask.calls again, now that the model is loaded
    uint64_t cached_bytes; // kind cold: of its files, still in the page cache when loading began
    uint64_t epoch_ns; // CLOCK_MONOTONIC at tick 0 of the recording: places it among iterations and
                       // samples
    char method[ETP_WIRE_TEXT_MAX];
    uint64_t inputs, outputs;
    char kernels_ours[ETP_WIRE_TEXT_MAX];   // operators it calls whose kernels are the runner's own
                                            // and not ExecuTorch's, ", " between
    char kernels_theirs[ETP_WIRE_TEXT_MAX]; // likewise of the library that it was given
} etp_wire_load;

// What was counted during an iteration, all threads; only with kind "timed". 0: not counted.
typedef struct etp_wire_counts {
    uint64_t cpu_ns; // CPU time, user and kernel
    uint64_t cycles, instructions,
        cache_misses;               // user space alone, unless counters.events is "process"
    uint64_t task_clock_ns, faults; // of software events
    uint64_t scaled; // 1: the counters had a part of the time only, what they saw was extrapolated
} etp_wire_counts;

typedef struct etp_wire_iter {
    uint64_t i;        // * counts from 0 over the whole launch
    uint64_t start_ns; // *
    uint64_t ns;       // *
    etp_wire_counts counts;
} etp_wire_iter;

typedef struct etp_wire_done {
    char cmd[ETP_WIRE_WORD_MAX + 1]; // run, dump, outputs, samples, memory; roofs
    uint64_t n;     // * iterations of this run; files of outputs; samples; 1 for dump, memory
    uint64_t bytes; // dump, outputs, samples: bytes written
    uint64_t peak_rss_bytes;
    uint64_t hook_calls; // run: by SDK libraries during the second execution (the first asks more)
    uint64_t hook_call_ps; // run: what the hook adds to a call since then, in picoseconds; 0 not
                           // measured
    uint64_t span_ns, wait_ns;         // run, roofs: how long it took, and for how long its threads
                                       // together were ready without a CPU; span_ns 0: not known
    uint64_t dirty_bytes, clean_bytes; // memory: resident pages that were written, and those of
                                       // files that were not; both 0: not known here
    etp_memory_rows memory;            // memory: who holds them; all 0: not known
    etp_memory_stages stages;          // memory of kind "memory": who held it when
} etp_wire_done;

typedef struct etp_wire_part {        // of what a process does; see base/load_parts.h
    char what[ETP_WIRE_WORD_MAX + 1]; // *
    uint64_t delegate;                // of XNNPACK, in the order of loading, from 1; 0: of none
    uint64_t operation;               // of it, that packs weights, from 1; 0: of none
    uint64_t bytes;                   // packed
    uint64_t ns;                      // *
    uint64_t faults;                  // page faults in it
    uint64_t workspace;               // that the delegate computes in, from 1; 0: not told
} etp_wire_part;
const char *etp_wire_part_word(etp_load_what what);
etp_load_what etp_wire_part_find(const char *word); // ETP_LOAD_WHATS: of a later version

typedef enum etp_wire_code {
    ETP_WIRE_CODE_OTHER, // of a later version
    ETP_WIRE_CODE_USAGE,
    ETP_WIRE_CODE_MASK,
    ETP_WIRE_CODE_LEVEL,
    ETP_WIRE_CODE_FILE,
    ETP_WIRE_CODE_NOT_PTE,
    ETP_WIRE_CODE_DATA,
    ETP_WIRE_CODE_METHOD,
    ETP_WIRE_CODE_INPUT,
    ETP_WIRE_CODE_MEMORY,
    ETP_WIRE_CODE_LOAD,
    ETP_WIRE_CODE_EXECUTE,
    ETP_WIRE_CODE_IO,
    ETP_WIRE_CODE_KIND,
    ETP_WIRE_CODE_CRASH, // the SDK got a fatal signal, of which the process then dies
    ETP_WIRE_CODE_ROOF,  // a loop of `--roofs` computed something else than it must
    ETP_WIRE_CODES
} etp_wire_code;
etp_wire_code etp_wire_code_find(const char *word);

typedef struct etp_wire_error {
    char code[ETP_WIRE_WORD_MAX + 1]; // * a word of etp_wire_code
    char message[ETP_WIRE_TEXT_MAX];  // *
} etp_wire_error;

typedef enum etp_wire_truth { ETP_WIRE_NULL = 0, ETP_WIRE_FALSE, ETP_WIRE_TRUE } etp_wire_truth;

typedef struct etp_wire_roof {        // see roofs/roofs.h
    char isa[ETP_WIRE_WORD_MAX + 1];  // "" what the C library does
    char what[ETP_WIRE_WORD_MAX + 1]; // *
    char unit[ETP_WIRE_WORD_MAX + 1]; // *
    uint64_t threads;                 // *
    uint64_t bytes;
    uint64_t best, median; // *
    uint64_t again;        // 0 unknown
} etp_wire_roof;

#define ETP_WIRE_LEVELS_MAX 8
#define ETP_WIRE_NAMES_MAX 1024
typedef struct etp_wire_level {
    char level[ETP_WIRE_WORD_MAX + 1]; // *
    etp_wire_truth ok;                 // *
    char linear[ETP_WIRE_NAME_MAX];    // operator name of the dynamic linear, "" if it did not run
    char conv[ETP_WIRE_NAME_MAX];      // and of the convolution
    char types[ETP_WIRE_NAMES_MAX];    // those of one operator per data type, "; " between
    char why[ETP_WIRE_TEXT_MAX];
} etp_wire_level;

typedef struct etp_wire_selftest {
    size_t count;
    etp_wire_level levels[ETP_WIRE_LEVELS_MAX];
} etp_wire_selftest;

typedef struct etp_wire_msg {
    etp_wire_type type;
    char word[ETP_WIRE_WORD_MAX + 1]; // the "type" as it was written
    union {
        etp_wire_hello hello;
        etp_wire_load load;
        etp_wire_iter iter;
        etp_wire_done done;
        etp_wire_error error;
        etp_wire_selftest selftest;
        etp_wire_roof roof;
        etp_wire_part part;
    } u;
} etp_wire_msg;

// Writes the line with its newline. Returns its length, 0 when `cap` is too small.
// Bytes that are not UTF-8 become U+FFFD.
size_t etp_wire_format(const etp_wire_msg *msg, char *buf, size_t cap);

// Reads one line of `len` bytes (a newline at its end is allowed). Strict JSON:
// UTF-8, no duplicate of a known key, no nesting beyond 8, integers within
// uint64. Unknown keys are skipped. On failure returns false and says why in
// `why` (at most why_cap bytes); `out` is then zero.
bool etp_wire_parse(const char *line, size_t len, etp_wire_msg *out, char *why, size_t why_cap);

typedef enum etp_wire_verb {
    ETP_WIRE_VERB_NONE = 0, // an empty line
    ETP_WIRE_RUN,
    ETP_WIRE_DUMP,
    ETP_WIRE_OUTPUTS,
    ETP_WIRE_SAMPLES,
    ETP_WIRE_MEMORY,
    ETP_WIRE_LEDGER,
    ETP_WIRE_QUIT
} etp_wire_verb;

typedef struct etp_wire_cmd {
    etp_wire_verb verb;
    uint64_t n;                   // run
    char path[ETP_WIRE_LINE_MAX]; // dump, outputs, samples; may hold blanks
} etp_wire_cmd;

bool etp_wire_cmd_parse(const char *line, size_t len, etp_wire_cmd *out, char *why, size_t why_cap);

#ifdef __cplusplus
}
#endif

#endif
