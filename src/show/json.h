// SPDX-License-Identifier: Apache-2.0
// The document etprof.ab/1, and parts of it that others have too.
#ifndef ETP_SHOW_JSON_H
#define ETP_SHOW_JSON_H

#include "compare/ab.h"
#include "document/fields.h"

extern const etp_document k_etp_ab_document; // of etp_ab
// Writes the whole document of an etp_ab. The caller checks the sink.

// Shapes of etp_ab: objects; members without an object of their own.
extern const etp_shape k_etp_ab_tool, k_etp_ab_device, k_etp_ab_stop, k_etp_ab_environment;
extern const etp_shape k_etp_ab_findings; // "findings", "ruled_out", "not_ruled_out"
// Of etp_ab_correctness; of etp_ab_comparison: all of it, the states alone.
extern const etp_words k_etp_run_state_words;
extern const etp_shape k_etp_ab_agreement, k_etp_ab_comparison, k_etp_ab_extra_ratios;
// Of etp_ab_operator: "roof", left out without roofs.
extern const etp_shape k_etp_ab_operator_roofs;
extern const etp_shape k_etp_ab_load_fix, k_etp_ab_load_fixes; // load_fixes.c
extern const etp_shape k_etp_ab_loading;                       // loading.c
extern const etp_shape k_etp_ab_proof;                         // of etp_proof: proof_rows.c
bool etp_ab_has_load_fixes(const void *ab, const etp_json_cursor *at);
// Why a figure is withheld, how a ratio was computed, how bad a finding is.
extern const etp_words k_etp_withheld_words, k_etp_method_words, k_etp_severity_words;

#endif
