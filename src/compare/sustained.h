// SPDX-License-Identifier: Apache-2.0
// What a device keeps up: the ratio in the first minute of a long session against that in the last.
#ifndef ETP_COMPARE_SUSTAINED_H
#define ETP_COMPARE_SUSTAINED_H

#include <stddef.h>

#include <etprof/arena.h>

#define ETP_SUSTAINED_S 60.0        // either end of a session
#define ETP_SUSTAINED_LEAST_S 180.0 // of a session that has two ends

typedef struct etp_ab_end { // blocks that began in the first or in the last minute
    size_t blocks;
    double estimate, lo, hi; // ratio with its 95 % interval; NAN below ETP_MIN_BLOCKS blocks
    double temperature_c;    // mean of the hottest zone; NAN not read
    double clock_khz;        // mean of the fastest clock; NAN not read
} etp_ab_end;

typedef struct etp_ab_sustained {
    double seconds; // from the first block's begin to the last one's; 0: below LEAST_S, or unknown
    etp_ab_end first, last;
    bool changed; // the two intervals do not meet
    bool turned;  // who was faster is slower
} etp_ab_sustained;

// "1.52× [1.49, 1.55] in the first minute, 1.31× [1.27, 1.35] in the last of 10.0 min (61 → 78 °C,
// clock 3.4 → 2.7 GHz)"; NULL where S says nothing.
const char *etp_ab_sustained_words(const etp_ab_sustained *s, etp_arena *arena);

#endif
