// SPDX-License-Identifier: Apache-2.0
// Latencies from timeline CSVs, ours or of Arm's kit: robust statistics and the comparison of two,
// with the kit's definitions. Descriptions, no verdict.
#ifndef ETP_KIT_LATENCY_H
#define ETP_KIT_LATENCY_H

#include "kit/parts.h"
#include "report/report.h"

// Every "Method::execute" of a timeline is one execution. The kit adds up those of one run index.
// Two counts of one table: `ns` has each execution by itself, `kit_ms` what the kit makes of them.
typedef struct etp_kit_timeline {
    const char *model_id;
    etp_str level; // that ran, of all its executions; empty: unknown, or several
    uint64_t *ns;  // by run index, then as in the file
    int64_t *run;
    size_t n;
    double *kit_ms; // as the kit counts: one per run index, the sum of its cells
    int64_t *kit_run;
    size_t kit_n;
} etp_kit_timeline;
// TEXT needs the columns name, duration_ms, run_index. ETP_UNSUPPORTED when it has them not,
// ETP_UNKNOWN without a Method::execute, ETP_CORRUPT with line and column.
ETP_NODISCARD etp_status etp_kit_timeline_read(etp_str text, etp_arena *arena,
                                               etp_kit_timeline *out, etp_error *err);
bool etp_kit_is_timeline(etp_str text); // by its header

typedef struct etp_kit_latencies { // the answer: one or two
    const char *names[2];          // of people
    size_t summed[2]; // latencies that the kit's rule of adding up would leave, when fewer
    etp_kit_robust robust[2];
    size_t n;
} etp_kit_latencies;
ETP_NODISCARD etp_status etp_kit_latencies_of(const etp_kit_timeline *timelines,
                                              const char *const *stems, const char *const *names,
                                              size_t n, etp_arena *arena, etp_kit_latencies *out,
                                              etp_error *err);
// Of etp_kit_latencies: what is printed; the file about two.
extern const etp_document k_etp_latency_document, k_etp_robust_comparison_document;
const etp_report *etp_kit_latencies_report(const etp_kit_latencies *x, etp_arena *arena);
// <stem>_robust_stats.json of each, and <stem>_vs_<stem>_robust_comparison.json of two, into DIR.
ETP_NODISCARD etp_status etp_kit_latencies_write(const etp_kit_latencies *x, const char *dir,
                                                 etp_kit_kept *kept, etp_arena *arena,
                                                 etp_error *err);

#endif
