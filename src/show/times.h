// SPDX-License-Identifier: Apache-2.0
// How long one operator took, in a drawer of the HTML page.
#ifndef ETP_SHOW_TIMES_H
#define ETP_SHOW_TIMES_H

#include "show/report.h"

// A line for each arm, with the interval over the recordings and how the single runs lie, and one
// for what was saved.
void etp_ab_time_keys(const etp_ab *ab, const etp_ab_operator *op, etp_keys *keys,
                      etp_arena *arena);

#endif
