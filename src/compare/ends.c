// SPDX-License-Identifier: Apache-2.0
// What lies between the two clocks of a traced launch: the runner's iteration and the recording's
// Method::execute.
#include <math.h>

#include "compare/session.h"

// Takes from each iteration the execution that it was. False when they do not correspond one to
// one.
static bool less_executions(const etp_trace *trace, double *v, size_t n)
{
    const etp_trace_block *only = NULL;
    for (size_t i = 0; i < etp_trace_block_count(trace); i++) {
        const etp_trace_block *b = etp_trace_block_at(trace, i);
        if (b->has_execute && only) {
            return false; // which execution of which kind came when is not known here
        }
        only = b->has_execute ? b : only;
    }
    if (!only || only->n_runs != n || n == 0) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        v[i] -= (double)etp_trace_durations(only, only->execute)[i];
    }
    return true;
}

void etp_ab_take_ends(const etp_ab_session *s, int64_t *call_overhead_ns)
{
    double *v = ETP_NEW_ARRAY(s->ab.arena, double, s->run.samples.n + 1);
    double *sum = ETP_NEW_ARRAY(s->ab.arena, double, s->ab.n_arms + 1);
    size_t *n = ETP_NEW_ARRAY(s->ab.arena, size_t, s->ab.n_arms + 1);
    for (size_t d = 0; d < s->in.dumps.n; d++) {
        const etp_ab_dump *dump = &s->in.dumps.items[d];
        size_t count = 0;
        if (!dump->trace || dump->arm >= s->ab.n_arms) {
            continue;
        }
        // Durations of the launch's traced iterations, in order; none: not recorded.
        for (size_t i = 0; i < s->run.samples.n; i++) {
            const etp_run_sample *r = &s->run.samples.items[i];
            if (r->phase == ETP_PHASE_TRACED && r->arm == dump->arm && r->block == dump->block) {
                v[count++] = (double)r->duration_ns;
            }
        }
        if (!less_executions(dump->trace, v, count)) {
            sum[dump->arm] = (double)NAN;
            continue;
        }
        sum[dump->arm] += etp_median(v, count); // differences first, then the centre
        n[dump->arm]++;
    }
    for (size_t a = 0; a < s->ab.n_arms; a++) {
        double around = etp_share(sum[a], (double)n[a]);
        call_overhead_ns[a] = around >= 0 ? llround(around) : ETP_NS_UNKNOWN;
    }
}
