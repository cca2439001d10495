// SPDX-License-Identifier: Apache-2.0
// A script of phases: which methods of a program are called in which order, with what, and which of
// these calls are measured by themselves. Somebody writes one as a document (etprof.script/1, read
// by script.c); --prefill, --decode, --depth and --shape become one (phases.c). script_steps.c
// makes of it what the runner follows.
#ifndef ETP_MEASURE_SCRIPT_H
#define ETP_MEASURE_SCRIPT_H

#include <etprof/program.h>

#include "document/fields.h"
#include "store/store.h"

#define ETP_SCRIPT_PHASES 64u       // of a script, those that only prepare included
#define ETP_SCRIPT_CALLS 100000u    // of a phase, with all that comes before it
#define ETP_SCRIPT_WRITTEN 4000000u // numbers that one phase's script has in all
#define ETP_SCRIPT_OWN UINT64_MAX   // of a number: not given

typedef enum etp_script_fill {
    ETP_FILL_VALUES,   // numbers, or one for all elements
    ETP_FILL_TOKENS,   // drawn for each place of a text
    ETP_FILL_POSITION, // counted up
    ETP_FILL_ONES,
    ETP_FILL_RANDOM,
    ETP_FILL_FILE,  // raw little-endian values
    ETP_FILL_OUTPUT // what an earlier call left
} etp_script_fill;
#define ETP_SCRIPT_FILLS (ETP_FILL_OUTPUT + 1)

typedef struct etp_script_input {
    uint64_t index;
    etp_script_fill fill;
    etp_str shape; // "1x64"; empty: as the program has it
    etp_str dtype; // empty: likewise
    struct {
        double *items;
        size_t n, cap;
    } values;
    uint64_t seed, below; // ETP_SCRIPT_OWN: the session's; the vocabulary
    uint64_t start;       // tokens, position: of the first repeat
    uint64_t advance;     // of each further one; ETP_SCRIPT_OWN: the number of elements
    etp_str file;         // relative to the script
    etp_str from;         // phase whose last call left it; empty: the call before
    uint64_t output;
} etp_script_input;

typedef struct etp_script_step {
    etp_str method;
    uint64_t repeat; // ETP_SCRIPT_OWN: once
    struct {
        etp_script_input *items;
        size_t n, cap;
    } inputs; // the others are filled as --inputs says
} etp_script_step;

typedef struct etp_script_phase {
    etp_str name;
    etp_str after; // phase that comes before a repetition of this one, once; empty: none
    int measured;  // 0: it only prepares others
    etp_phase_kind kind;
    uint64_t tokens; // of a call, 0: no text
    uint64_t depth;  // tokens in the cache before
    uint64_t prompt; // of which this is a chunk, 0: none
    struct {
        etp_script_step *items;
        size_t n, cap;
    } steps;
    const char *word; // part of the arms' names; NULL: made of the name
} etp_script_phase;

typedef struct etp_script {
    bool share; // methods share their mutable buffers
    struct {
        etp_script_phase *items;
        size_t n, cap;
    } phases;
    const char *folder; // that files are relative to
} etp_script;

extern const etp_document k_etp_script_document;

// Reads PATH. ETP_USAGE says what is wrong with it, and where.
ETP_NODISCARD etp_status etp_script_read(const char *path, etp_arena *arena, etp_script *out,
                                         etp_error *err);
// Its text alone, which has no folder yet: ETP_CORRUPT says what is wrong with it.
ETP_NODISCARD etp_status etp_script_read_text(etp_str text, etp_arena *arena, etp_script *out,
                                              etp_error *err);
// The phase of that name before UNTIL, phases.n when there is none.
size_t etp_script_find(const etp_script *script, etp_str name, size_t until);

// What the runner follows for phase AT of SCRIPT with PROGRAM, which MODEL names in messages:
// the calls before (once), those of a repetition, and the mutable buffers to put back. All that can
// be known of it is checked. *calls: of a repetition.
ETP_NODISCARD etp_status etp_script_steps(const etp_script *script, size_t at,
                                          const etp_program *program, const char *model,
                                          uint64_t seed, etp_arena *arena, etp_str *out,
                                          uint64_t *calls, etp_error *err);

// What a manifest says of the calls (program/call.h reads it). script_sizes.c
typedef struct etp_script_call { // what all calls of a phase have in common
    const char *method;          // empty: they differ, or the sizes are not known before
    const char *inputs;          // sizes of those that can differ: "0=1x64,1=64"; empty: none
    const char *start;           // mean of the first element of input 1; empty: not known
} etp_script_call;

ETP_NODISCARD etp_status etp_script_call_of(const etp_script_phase *phase,
                                            const etp_program *program, etp_arena *arena,
                                            etp_script_call *out, etp_error *err);

#endif
