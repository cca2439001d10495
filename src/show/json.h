// SPDX-License-Identifier: Apache-2.0
// Author of etprof.ab/1.
#ifndef ETP_SHOW_JSON_H
#define ETP_SHOW_JSON_H

#include "base/json.h"
#include "compare/ab.h"

// Writes the whole document. The caller checks the sink.
void etp_ab_json(const etp_ab *ab, etp_json *j);
// The same object within another document.
void etp_ab_json_value(const etp_ab *ab, etp_json *j);
// "roof" of an operator, an object with one member for each arm; nothing without roofs.
void etp_ab_operator_roofs_json(etp_json *j, const etp_ab *ab, const etp_ab_operator *op);

// Members that a document on the same session begins with: "tool", "device", "stop".
void etp_ab_tool_json(etp_json *j, const etp_ab *ab);
void etp_ab_device_json(etp_json *j, const etp_ab *ab);
void etp_ab_stop_json(etp_json *j, const etp_ab *ab);
// Members "resident", "load", "first", "peak_rss" of a comparison.
void etp_ab_states_json(etp_json *j, const etp_ab_comparison *c);
// Members "findings", "ruled_out", "not_ruled_out".
void etp_ab_findings_json(etp_json *j, const etp_ab *ab);
// Member "environment": what surrounded the blocks.
void etp_ab_environment_json(etp_json *j, const etp_ab *ab);
// One member of "comparisons"; for documents that repeat it.
void etp_ab_comparison_json(const etp_ab *ab, const etp_ab_comparison *c, etp_json *j);

#endif
