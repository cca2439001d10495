// SPDX-License-Identifier: Apache-2.0
// Private to the files that judge: each reads what was compared and adds to what is returned.
#ifndef ETP_JUDGE_JUDGE_H
#define ETP_JUDGE_JUDGE_H

#include "compare/session.h"

// judge.c: grade, findings, causes.
ETP_NODISCARD etp_status etp_ab_judge(const etp_ab_session *s, etp_ab *out, etp_error *err);
// fixes/fixes.c: what to do next; of OUT, which has none.
ETP_NODISCARD etp_status etp_ab_next_fixes(const etp_ab *ab, etp_ab *out, etp_error *err);
// packing.c: what a file of packed weights saved in arms that were measured with and without one;
// where none was, a finding with the command that measures it.
void etp_ab_find_load_fixes(const etp_ab *ab, etp_ab *out);
void etp_ab_packing_finding(const etp_ab_session *s, etp_ab_findings *to);
// grade.c: how much the arms have in common.
void etp_ab_grade(const etp_ab_session *s, etp_ab *out);
// ruled_out.c: what else could have made the difference; suspects become findings.
void etp_ab_weigh_causes(const etp_ab_session *s, etp_ab *out);

// fixes/roofs.c: the roofs that conclusions may rest on, NULL: none; arms that are faster than
// theirs.
const struct etp_roof_table *etp_ab_sound_roofs(const etp_ab *ab);
void etp_ab_above_roof_findings(const etp_ab_session *s, etp_ab_findings *to);
// language.c: 4-bit weights in groups where the feature is SME.
void etp_ab_groupwise_finding(const etp_ab_session *s, etp_ab_findings *to);
// How far a call of a language model with one token is from what memory allows.
void etp_ab_decode_finding(const etp_ab_session *s, etp_ab_findings *to);
// What the program of a text decoder with a cache costs beside that; more of it in decoder.c.
void etp_ab_program_findings(const etp_ab_session *s, etp_ab_findings *to);
// Bytes of weights that multiply; those that are only copied or looked up (an embedding reads one
// row) are left out.
uint64_t etp_ab_multiplied_weights(const etp_method *m);
uint64_t etp_ab_add_bytes(uint64_t a, uint64_t b); // passes over what is not known
void etp_ab_decoder_findings(const etp_ab *ab, const etp_method *m, uint64_t cache,
                             etp_ab_findings *to);
// How many tokens of a prompt a call should take, when several numbers were measured.
void etp_ab_chunk_finding(const etp_ab_session *s, etp_ab_findings *to);

// builds.c: what the second of two builds changed, in a sentence.
void etp_ab_builds_findings(const etp_ab_session *s, etp_ab_findings *to);

// conditions.c
void etp_ab_hook_findings(const etp_ab_session *s, etp_ab_findings *to);
void etp_ab_clock_findings(const etp_ab_session *s, size_t at, etp_ab_findings *to);
const char *etp_ab_drift_words(const etp_ab *ab, const etp_ab_comparison *c);

#endif
