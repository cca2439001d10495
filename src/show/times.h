// SPDX-License-Identifier: Apache-2.0
// How long one operator took, as the HTML page tells it.
#ifndef ETP_SHOW_TIMES_H
#define ETP_SHOW_TIMES_H

#include "show/report.h"

// All it took in one recording of an arm: the sum over its executions.
int64_t etp_ab_recorded_ns(const etp_ab_operator *op, uint32_t arm, size_t dump);

// For a drawer: a line for each arm, with the interval over the recordings and how the single runs
// lie, and one for what was saved.
void etp_ab_time_keys(const etp_ab *ab, const etp_ab_operator *op, etp_keys *keys,
                      etp_arena *arena);

#endif
