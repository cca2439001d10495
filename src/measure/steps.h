// SPDX-License-Identifier: Apache-2.0
// Phases as calls: which method of a program is called how often and with what, and which of these
// calls are measured by themselves. --prefill, --decode and --shape become phases
// (phases.c); steps.c makes of them what the runner follows.
#ifndef ETP_MEASURE_STEPS_H
#define ETP_MEASURE_STEPS_H

#include <etprof/program.h>

#include "store/store.h"

#define ETP_STEPS_PHASES 64u       // those that only prepare included
#define ETP_STEPS_CALLS 100000u    // of a phase, with all that comes before it
#define ETP_STEPS_WRITTEN 4000000u // numbers in the text of one phase

typedef enum etp_steps_fill {
    ETP_FILL_TOKENS,   // drawn for each place of a text
    ETP_FILL_POSITION, // counted up
    ETP_FILL_ONES,
    ETP_FILL_RANDOM,
    ETP_FILL_FILE // that of --inputs
} etp_steps_fill;

typedef struct etp_steps_input {
    uint64_t index;
    etp_steps_fill fill;
    etp_str shape;    // "1x64"
    uint64_t seed;    // tokens, random
    uint64_t below;   // tokens: the vocabulary
    uint64_t start;   // tokens, position: of the first repeat
    uint64_t advance; // of each further one
} etp_steps_input;

typedef struct etp_step { // calls of the phase's method
    uint64_t repeat;
    struct {
        etp_steps_input *items;
        size_t n, cap;
    } inputs; // the others are filled as --inputs says
} etp_step;

typedef struct etp_steps_phase {
    etp_str name;
    const etp_method *method;
    bool measured; // false: it only prepares the next one, once before its repetitions
    etp_phase_kind kind;
    uint64_t tokens; // of a call, 0: no text
    uint64_t depth;  // tokens in the cache before
    uint64_t prompt; // of which this is a chunk, 0: none
    struct {
        etp_step *items;
        size_t n, cap;
    } steps;
    const char *word; // part of the arms' names; NULL: made of the name
} etp_steps_phase;

typedef struct etp_steps {
    etp_steps_phase *items;
    size_t n, cap;
} etp_steps;

// What the runner follows for phase AT with PROGRAM, which MODEL names in messages: the calls of a
// phase that prepares it (once), those of a repetition, and the mutable buffers to put back. All
// that can be known of it is checked. *calls: of a repetition.
ETP_NODISCARD etp_status etp_steps_text(const etp_steps *steps, size_t at,
                                        const etp_program *program, const char *model,
                                        etp_arena *arena, etp_str *out, uint64_t *calls,
                                        etp_error *err);

// What a manifest says of the calls (program/call.h reads it). steps_sizes.c
typedef struct etp_steps_call { // what all calls of a phase have in common
    const char *method;         // empty: the sizes differ
    const char *inputs;         // sizes of those that can differ: "0=1x64,1=64"; empty: none
    const char *start;          // mean of the first element of input 1; empty: not known
} etp_steps_call;

ETP_NODISCARD etp_status etp_steps_call_of(const etp_steps_phase *phase, etp_arena *arena,
                                           etp_steps_call *out, etp_error *err);

#endif
