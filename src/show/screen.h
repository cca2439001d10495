// SPDX-License-Identifier: Apache-2.0
// Author of the screen of an etp_ab: how much faster, where it came from, what to do next, why to
// trust it, where to read more.
#ifndef ETP_SHOW_SCREEN_H
#define ETP_SHOW_SCREEN_H

#include "compare/ab.h"
#include "report/screen.h"

// Times of one table or pair: 4.772 in units of 1e6 ns, "ms".
typedef struct etp_screen_unit {
    double ns;
    int decimals;
    const char *name;
} etp_screen_unit;
// COMMON: ns of the unit that others beside it have (etp_common_unit); 0: its own.
etp_screen_unit etp_screen_unit_among(double largest_ns, double common);
const char *etp_screen_in_unit(const etp_screen_unit *u, double ns, etp_arena *arena);
// "4.772 → 2.755 ms" and WHAT.
const char *etp_screen_from_to(double from, double to, double common, const char *what,
                               etp_arena *arena);
const char *etp_screen_noise(const etp_ab *ab, etp_arena *arena); // NULL: not known
void etp_screen_mark_noise(const etp_ab *ab, etp_screen *s, etp_arena *arena);
bool etp_ab_level_is_shared(const etp_ab *ab, uint32_t arm); // with another arm
// What most samples of an arm's kernels are in, "AVX-512 VNNI"; NULL: too few, or unknown.
const char *etp_ab_code_seen(const etp_ab_arm *a);
// Why nothing proves the level of an arm whose proof is neither confirmed nor contradicted.
const char *etp_ab_unproven(const etp_ab *ab, const etp_ab_arm *a);
// A mark of trust for each cause that a reader would ask about, and for clocks and recordings.
void etp_screen_mark_causes(const etp_ab *ab, etp_screen *s, etp_arena *arena);

// Where etp_ab_tells_features: what each feature brings, the share of the time without it. In
// features.c.
void etp_ab_feature_grid(const etp_ab *ab, etp_screen *s, etp_arena *arena);

// More than four arms, with several of two of models, levels (three at most) and threads; no
// builds, emulator or bare recordings.
bool etp_ab_has_cells(const etp_ab *ab);
// Their times and what the best level brings; FALSE: AB has none. In cells.c.
bool etp_ab_cell_grid(const etp_ab *ab, etp_screen *s, etp_arena *arena);

// Remarks on why there is no verdict, each reason once: bit i of *SAID is that of etp_withheld i.
void etp_screen_open_questions(const etp_ab *ab, unsigned *said, etp_screen *s);

// In price.c: what arms with a cache of packed weights load faster and write less.
void etp_ab_cache_gains(const etp_ab *ab, etp_screen *s, etp_arena *arena);
// At most two remarks: where loading or memory of an arm is clearly more than the baseline's.
void etp_ab_price_remarks(const etp_ab *ab, etp_screen *s, etp_arena *arena);

// Lives in ARENA, borrows from AB. NULL on out of memory.
const etp_screen *etp_ab_screen(const etp_ab *ab, etp_arena *arena);

#endif
