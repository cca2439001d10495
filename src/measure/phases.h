// SPDX-License-Identifier: Apache-2.0
// Phases: what a model does at different moments of its use, each measured by itself: steps that
// the runner follows (runner/src/steps.h), made for each model.
#ifndef ETP_MEASURE_PHASES_H
#define ETP_MEASURE_PHASES_H

#include "measure/inputs.h"
#include "measure/session.h"
#include "measure/steps.h"

// From --shape, or from --prefill and --decode (the usual contract of a text decoder,
// forward(tokens [1,n], start or positions), recognised from the program). The seed draws the
// tokens. INPUTS are the first model's: files of the shapes that --shape gives are what its inputs
// hold. What the runner follows is written into WORK_DIR. What cannot be run is refused here,
// before anything is launched: ETP_USAGE, ETP_UNSUPPORTED.
ETP_NODISCARD etp_status etp_phases_make(const etp_settings *settings, const etp_inputs *inputs,
                                         const char *const *model_paths, size_t n_models,
                                         const char *work_dir, etp_arena *arena,
                                         etp_planned_phase **out, uint32_t *n_out, etp_error *err);

// phases_decoder.c: of PATH, which PROGRAM was read from, the phases of --prefill and --decode.
ETP_NODISCARD etp_status etp_phases_decoder(const etp_settings *settings,
                                            const etp_program *program, const char *path,
                                            etp_arena *arena, etp_steps *out, etp_error *err);

// Does the program in MODEL take tokens and their place as a text decoder does? False as well when
// it cannot be read. METHOD as of etp_decoder_read. *out_bounded: it tells how long its cache is.
bool etp_phases_suit(const char *model, const char *method, bool *out_bounded);

// N iterations as whole repetitions of PHASE (NULL: none), at least one.
uint64_t etp_phase_whole(const etp_planned_phase *phase, uint64_t n);

#endif
