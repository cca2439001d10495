// SPDX-License-Identifier: Apache-2.0
// The answer of `etprof stats`: the session analysis of a sample table, with names.
#ifndef ETP_ANSWER_STATS_H
#define ETP_ANSWER_STATS_H

#include <etprof/stats.h>

#include "base/json.h"
#include "report/report.h"

typedef struct etp_stats_answer {
    const char *source; // file as given, "-" for standard input; not part of documents
    const etp_str *names; // [stats.n_arms]
    etp_stats stats;
} etp_stats_answer;

// NULL, or why the headline of this comparison is not given ("noise_floor").
const char *etp_stats_withheld(const etp_stats_answer *answer);
void etp_stats_json(const void *answer, etp_json *j); // etprof.stats/1
const etp_report *etp_stats_report(const etp_stats_answer *answer, etp_arena *arena);

#endif
