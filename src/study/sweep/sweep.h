// SPDX-License-Identifier: Apache-2.0
// The answer of `etprof sweep`: a factorial of models, levels and threads, from its run folder.
// json.c and report.c only present it. docs/measure.md says what the parts mean.
#ifndef ETP_STUDY_SWEEP_SWEEP_H
#define ETP_STUDY_SWEEP_SWEEP_H

#include <etprof/program.h>

#include "document/fields.h"
#include "judge/open.h"
#include "measure/session.h"
#include "report/screen.h"
#include "show/report.h"
#include "stats/factorial.h"

#define ETP_SWEEP_CHART "sweep"
#define ETP_SWEEP_TABLE_CELLS "cells"

typedef struct etp_sweep_model {
    const char *name;               // short: what tells the models' file names apart
    etp_ab_correctness correctness; // its cells against its cell at the reference level and threads
    uint32_t differing;             // cells whose outputs differ
    const char *differs;            // the first of them and how, NULL
} etp_sweep_model;

typedef struct etp_sweep_cell {
    uint32_t at[ETP_FACTORS]; // model, level, threads
    uint32_t arm;             // ETP_NO_INDEX: the plan has no such cell
    uint32_t lost;            // timed launches that gave nothing
    const char *lost_why;     // of the last of them, NULL
    bool differs;             // its outputs from those of its model's reference cell
    etp_withheld withheld;    // no ratio is made of it: as etp_ab_comparison.withheld
} etp_sweep_cell;

typedef struct etp_sweep_sentence {
    const char *id; // "I1" interactions, "K1" knees, "W1" warnings
    etp_finding_severity severity;
    const char *text;
} etp_sweep_sentence;

typedef struct etp_sweep_pair { // a level against the baseline's, same model and threads
    uint32_t at[ETP_FACTORS];
    const char *label;       // "int8, 2 threads: avx512 against avx2"
    etp_ab_session *session; // as if the two had been measured alone
    const etp_ab *ab;
} etp_sweep_pair;

typedef struct etp_sweep {
    const etp_ab *ab; // arms, device, proof, grade
    etp_sweep_model *models;
    const char **levels; // lowest first
    const char **words;  // what people call them: "NEON"
    uint32_t *threads;   // ascending
    etp_factorial grid;
    etp_factorial_result result;
    etp_sweep_cell *cells; // [models × levels × threads]
    uint32_t n_cells;
    bool same_inputs;     // of all models: their times may be compared with each other
    const char *floats;   // how their inputs' types differ nevertheless: "fp16 takes float16, int8
                          // float32"; NULL
    double noise_floor;   // half-width of the A/A control's interval of ln, NAN unknown
    etp_interval control; // of the ratio
    uint32_t control_blocks;
    bool control_differs;
    uint32_t cpus; // of the device, 0 unknown
    etp_sweep_pair
        *pairs; // in the order of result.speedups; those without a common block are left out
    size_t n_pairs;
    struct etp_sweep *later; // of the session's other phases, as if each had been swept alone
    size_t n_later;
    size_t blocks; // most that a ratio rests on; where there is none, that a cell has
    struct {
        etp_sweep_sentence *items;
        size_t n, cap;
    } sentences;
} etp_sweep;

// SESSION must be of a run folder whose plan is a sweep, and outlive *out, which lives in ARENA; on
// success the caller closes it, after what was made of it has been written.
ETP_NODISCARD etp_status etp_sweep_build(const etp_ab_session *session, etp_arena *arena,
                                         etp_sweep *out, etp_error *err);
void etp_sweep_close(etp_sweep *s);
// The first is S itself; one without phases. Its name, NULL: there are none.
size_t etp_sweep_n_phases(const etp_sweep *s);
const etp_sweep *etp_sweep_phase(const etp_sweep *s, size_t i);
const char *etp_sweep_phase_name(const etp_sweep *s);
// "1 thread", "4 threads": of the thread count at AT in `threads`. Empty on out of memory.
const char *etp_sweep_thread_words(const etp_sweep *s, uint32_t at, etp_arena *arena);
// Tokens a second of a cell, NAN where nothing is told.
double etp_sweep_token_rate(const etp_sweep *s, uint32_t cell);
// The fastest cell of all, ETP_NO_INDEX: not known of a model, or their times are not compared.
// It is picked by its estimate alone: cells whose intervals overlap may well be as fast.
uint32_t etp_sweep_winner(const etp_sweep *s);
// The fastest cell of a model, ETP_NO_INDEX: none may be judged, or one that waited was faster.
uint32_t etp_sweep_fastest(const etp_sweep *s, uint32_t model);
// Why the fastest of a model is not known: cells that waited before what else is withheld;
// ETP_WITHHELD_NOT: all may be judged.
etp_withheld etp_sweep_doubt(const etp_sweep *s, uint32_t model);
// "neon with 1 thread (1.05 ms)": cells whose interval reaches into that of CELL, which was picked
// by its estimate alone. Of all models when ALL. NULL: none.
const char *etp_sweep_rivals(const etp_sweep *s, uint32_t cell, bool all, etp_arena *arena);
// Answers of the pairs of WHOLE; called by etp_sweep_build, under its guard.
ETP_NODISCARD etp_status etp_sweep_open_pairs(etp_sweep *s, const etp_ab_session *whole,
                                              etp_arena *arena, etp_error *err);
// NULL when that speedup has no pair.
const etp_sweep_pair *etp_sweep_pair_at(const etp_sweep *s, const uint32_t at[ETP_FACTORS]);
// Sentences of interactions, knees and what to be careful about; likewise.
void etp_sweep_say(etp_sweep *s, etp_arena *arena);

// Whether all cells of a level ran at it; contradicted where one did not. *OUT_WHY says of neither
// why; NULL else.
etp_truth etp_sweep_proof(const etp_sweep *s, uint32_t level, const char **out_why);

// Why no ratio is made of the cells of one contrast.
etp_withheld etp_sweep_withheld(const etp_sweep *s, const uint32_t at[ETP_FACTORS]);

typedef enum etp_sweep_inputs {
    ETP_SWEEP_OTHER_INPUTS, // other shapes, another number, or integers where the other has none:
                            // other work
    ETP_SWEEP_OTHER_FLOATS, // the same shapes, one in float16 where the other has float32: the same
                            // work
    ETP_SWEEP_SAME_INPUTS
} etp_sweep_inputs;
etp_sweep_inputs etp_sweep_match_inputs(const etp_method *a, const etp_method *b);
// Before a sweep is measured: PLAN gets a knee, and its thread counts rise. *ALIKE: inputs of one
// model fit all, to the type; *NOTE: what to tell of models whose times will not be compared, NULL.
// ETP_USAGE: a thread count comes twice, or the files of PLAN's inputs do not fit all; programs
// that cannot be read are the plan's to refuse.
ETP_NODISCARD etp_status etp_sweep_prepare(etp_session_plan_options *plan, etp_arena *arena,
                                           bool *alike, const char **note, etp_error *err);

// At least one cell was measured: there is a chart.
bool etp_sweep_has_times(const etp_sweep *s);
// That chart, in a section of its own; nothing where nothing was measured. Called by
// etp_sweep_report.
void etp_sweep_pictures(const etp_sweep *s, etp_report *r, etp_arena *arena);

extern const etp_document k_etp_sweep_document; // of etp_sweep
void etp_sweep_json(const void *sweep, etp_json *j);
// The answers of the pairs as a report shows them, phase by phase; no items without memory.
etp_ab_views etp_sweep_views(const etp_sweep *s, etp_arena *arena); // pairs.c
// What its part and drawers begin with, and the command that shows it alone.
const char *etp_sweep_pair_scope(size_t phase, size_t pair, etp_arena *arena);
const char *etp_sweep_pair_command(const etp_sweep_pair *p, etp_arena *arena);
// Cards of the fastest cell of each model, of several phases the fastest cell of each phase; called
// by etp_sweep_report. FALSE: there is one ratio at most, and no card of it.
bool etp_sweep_winners(const etp_sweep *s, etp_report *r, etp_arena *arena);
const etp_report *etp_sweep_report(const etp_sweep *s, etp_arena *arena);
// What a terminal shows first. NULL on out of memory.
const etp_screen *etp_sweep_screen(const etp_sweep *s, etp_arena *arena);

#endif
