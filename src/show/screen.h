// SPDX-License-Identifier: Apache-2.0
// Author of the screen of an etp_ab: how much faster, where it came from, what to do next, why to
// trust it, where to read more.
#ifndef ETP_SHOW_SCREEN_H
#define ETP_SHOW_SCREEN_H

#include "compare/ab.h"
#include "report/screen.h"

// Lives in ARENA, borrows from AB. NULL on out of memory.
const etp_screen *etp_ab_screen(const etp_ab *ab, etp_arena *arena);

#endif
