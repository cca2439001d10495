// SPDX-License-Identifier: Apache-2.0
// Units of ticks.
#ifndef ETP_TRACE_UNIT_H
#define ETP_TRACE_UNIT_H

#include <etprof/trace.h>

typedef struct etp_ratio { // nanoseconds = ticks × num ÷ den
    uint64_t num, den;
} etp_ratio;

// OPTION names where TEXT is from. ETP_USAGE.
ETP_NODISCARD etp_status etp_unit_parse(const char *text, const char *option, etp_ratio *out,
                                        etp_error *err);

// INT64_MAX where that does not hold the result.
uint64_t etp_unit_scale(uint64_t ticks, etp_ratio unit);

// Whether in part of the executions TICKS are a thousand times as many as in the others, AROUND as
// long: then neither number is a time. SCRATCH: room for N_RUNS.
bool etp_unit_takes_turns(const uint64_t *ticks, const uint64_t *around, const bool *left_out,
                          size_t n_runs, uint64_t *scratch);

#endif
