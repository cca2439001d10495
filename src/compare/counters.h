// SPDX-License-Identifier: Apache-2.0
// What the processor counted, of a run folder: per arm what an inference costs, per comparison the
// speedup as work, clock and waiting. For `ab` and `stats` alike.
#ifndef ETP_COMPARE_COUNTERS_H
#define ETP_COMPARE_COUNTERS_H

#include <etprof/stats.h>

#include "store/store.h"

typedef struct etp_counters_arm { // of an inference: exp(mean over the blocks of the launch
                                  // values); NAN not counted
    etp_counter_events events;    // as below
    const char *cache;
    uint32_t blocks; // with counted launches
    double time_ns, cpu_ns, cycles, instructions, cache_misses;
    double clock_ghz, busy, per_cycle; // cycles ÷ CPU time; CPU time ÷ time; instructions ÷ cycle
} etp_counters_arm;

typedef struct etp_counters {
    etp_counter_events events; // NONE: nothing was counted
    const char *cache;         // what cache_misses counts, NULL
    uint64_t scaled, counted;  // iterations: extrapolated, all
    const char *why, *fix; // where nothing was counted: why, and what would allow it; NULL not told
    etp_counters_arm *arms;  // as the statistics' arms
    etp_clock_split *splits; // as the statistics' comparisons; cycles.blocks 0: not known
} etp_counters;

// From the timed launches, with the warm-up that ST dropped. NAN and 0 blocks where a launch was
// not counted.
ETP_NODISCARD etp_status etp_counters_build(const etp_run *run, const etp_stats *st,
                                            etp_arena *arena, etp_counters *out, etp_error *err);

#endif
