// SPDX-License-Identifier: Apache-2.0
// The drawers of the HTML page.
#ifndef ETP_SHOW_DRAWERS_H
#define ETP_SHOW_DRAWERS_H

#include "show/report.h"

#define ETP_AB_DRAWERS 600 // operators that have one: the longest

// A section of drawers: of each fix, finding and operator, under its id.
void etp_ab_drawers(const etp_ab *ab, etp_report *r, etp_arena *arena);

#endif
