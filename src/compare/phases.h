// SPDX-License-Identifier: Apache-2.0
// Which phase of a session is meant, as people name them.
#ifndef ETP_COMPARE_PHASES_H
#define ETP_COMPARE_PHASES_H

#include "compare/ab.h"

// "decode@256" of "decode @256": a name that is one word. NULL on out of memory.
const char *etp_ab_phase_word(const char *name, etp_arena *arena);
// "decode256" of "decode @256", as in the names of its experiments and files. NULL likewise.
const char *etp_ab_phase_file_word(const char *name, etp_arena *arena);
// The names of all of AB's phases, for an error. NULL on out of memory.
const char *etp_ab_phase_words(const etp_ab *ab, etp_arena *arena);

// The answers of AB: those of its phases, the first of which is AB itself; AB alone without any.
size_t etp_ab_answers(const etp_ab *ab);
const etp_ab *etp_ab_answer_at(const etp_ab *ab, size_t i);

// The answer of the phase that is ASKED for by its name, with or without blanks, or by its kind
// where only one has it ("prefill"); NULL: AB itself. *OUT lives with AB. ETP_USAGE: none, or
// several.
ETP_NODISCARD etp_status etp_ab_of_phase(const etp_ab *ab, const char *asked, const etp_ab **out,
                                         etp_error *err);
// Of a run folder with phases, which one is ASKED for in the same way; NULL: the first.
ETP_NODISCARD etp_status etp_ab_find_run_phase(const etp_run *run, const char *asked,
                                               etp_arena *arena, uint32_t *out, etp_error *err);
// RUN keeps the arms of PHASE; others are compared with that of the level, threads and model of
// LIKE.
ETP_NODISCARD etp_status etp_ab_run_take_phase(etp_run *run, uint32_t phase,
                                               const etp_run_arm *like, etp_arena *arena,
                                               etp_error *err);
// What a command about AB's folder has to say besides: " --phase decode@256" where AB is a later
// phase of its session, else nothing. NULL on out of memory.
const char *etp_ab_phase_option(const etp_ab *ab, etp_arena *arena);

#endif
