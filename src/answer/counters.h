// SPDX-License-Identifier: Apache-2.0
// What the processor counted, of a run folder: per arm what an inference costs, per comparison the
// speedup as work, clock and waiting. For `ab` and `stats` alike.
#ifndef ETP_ANSWER_COUNTERS_H
#define ETP_ANSWER_COUNTERS_H

#include <etprof/stats.h>

#include "base/json.h"
#include "report/report.h"
#include "store/store.h"

typedef struct etp_counters_arm { // of an inference: exp(mean over the blocks of the launch
                                  // values); NAN not counted
    uint32_t blocks;              // with counted launches
    double time_ns, cpu_ns, cycles, instructions, cache_misses;
    double clock_ghz, busy, per_cycle; // cycles ÷ CPU time; CPU time ÷ time; instructions ÷ cycle
} etp_counters_arm;

typedef struct etp_counters {
    const char *events;       // "hardware", "process"; NULL: nothing was counted
    const char *cache;        // what cache_misses counts, NULL
    uint64_t scaled, counted; // iterations: extrapolated, all
    const char *why, *fix; // where nothing was counted: why, and what would allow it; NULL not told
    etp_counters_arm *arms;  // as the statistics' arms
    etp_clock_split *splits; // as the statistics' comparisons; cycles.blocks 0: not known
} etp_counters;

// From the timed launches, with the warm-up that ST dropped. NAN and 0 blocks where a launch was
// not counted.
ETP_NODISCARD etp_status etp_counters_build(const etp_run *run, const etp_stats *st,
                                            etp_arena *arena, etp_counters *out, etp_error *err);

// Members: "counters" of an arm and of a comparison, null where not counted.
void etp_counters_arm_json(const etp_counters *c, uint32_t arm, etp_json *j);
void etp_counters_split_json(const etp_counters *c, uint32_t comparison, bool withheld,
                             etp_json *j);

typedef struct etp_counters_names {
    const char *baseline, *candidate;
    uint32_t baseline_arm, candidate_arm;
    bool withheld;
} etp_counters_names; // of a comparison

// The section "Cycles and clock"; nothing where the folder does not tell.
void etp_counters_section(const etp_counters *c, const etp_counters_names *comparisons, size_t n,
                          etp_report *r, etp_arena *arena);

#endif
