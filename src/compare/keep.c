// SPDX-License-Identifier: Apache-2.0
// Puts into an answer what the stages returned of its arms, for who runs them: no stage writes
// there.
#include <string.h>

#include "compare/session.h"

void etp_ab_keep_described(etp_ab_session *s, const etp_ab_described *described)
{
    s->ab = described->ab;
    s->arms = described->arms;
}

void etp_ab_keep_order(etp_ab_session *s, const etp_ab_order *order)
{
    s->ab.baseline = order->baseline;
    s->ab.shown = order->shown;
}

void etp_ab_keep_traces(etp_ab_session *s, const etp_ab_traced *arms)
{
    for (size_t i = 0; i < s->ab.n_arms; i++) {
        const etp_profile *p = arms[i].profile;
        s->arms[i].profile = p;
        s->arms[i].n_dumps = arms[i].n_dumps;
        if (arms[i].level && !s->arms[i].level_name) {
            s->arms[i].level_name = arms[i].level;
            etp_level level = etp_level_find(ETP_ISA_NONE, arms[i].level);
            bool both = level == ETP_LEVEL_BEST_AARCH64; // "best" does not name its family
            s->arms[i].level = both ? ETP_LEVEL_NONE : level;
        }
        s->arms[i].traced_ns = arms[i].ns;
        s->arms[i].traced_mean_ns = arms[i].mean_ns;
        s->arms[i].traced_median_ns = arms[i].median_ns;
        s->arms[i].traced_runs = arms[i].runs;
        s->arms[i].traced_kept = arms[i].kept;
        s->arms[i].time_breakdown = arms[i].time_breakdown;
        s->arms[i].tensors_logged = arms[i].tensors;
        s->arms[i].several_lengths = arms[i].lengths;
        s->ab.program_problem =
            p && p->facts && p->facts->problem ? p->facts->problem : s->ab.program_problem;
    }
}

void etp_ab_keep_times(etp_ab_session *s, const etp_ab_times *times)
{
    s->ab.block_values = times->block_values;
    s->ab.n_blocks = times->n_blocks;
    for (size_t i = 0; i < s->ab.n_arms; i++) {
        s->arms[i].launches = times->arms[i].launches;
        s->arms[i].samples = times->arms[i].samples;
        s->arms[i].spread = times->arms[i].spread;
        s->arms[i].median_ns = times->arms[i].median_ns;
        s->arms[i].lo_ns = times->arms[i].lo_ns;
        s->arms[i].hi_ns = times->arms[i].hi_ns;
        s->arms[i].waited = times->arms[i].waited;
        s->arms[i].interrupted = times->arms[i].interrupted;
    }
}

void etp_ab_keep_launched(etp_ab_session *s, const etp_ab_launched *arms)
{
    for (size_t i = 0; i < s->ab.n_arms; i++) {
        memcpy(s->arms[i].costs, arms[i].costs, sizeof arms[i].costs);
        s->arms[i].cached_bytes = arms[i].cached_bytes;
        s->arms[i].memory = arms[i].memory;
        s->arms[i].load = arms[i].load;
        memcpy(s->arms[i].costs_lo, arms[i].costs_lo, sizeof arms[i].costs_lo);
        memcpy(s->arms[i].costs_hi, arms[i].costs_hi, sizeof arms[i].costs_hi);
        s->arms[i].masking_cost = arms[i].masking_cost;
        s->arms[i].proof = arms[i].proof;
        s->arms[i].kernels = arms[i].kernels;
    }
}

void etp_ab_keep_outputs(etp_ab_session *s, const etp_ab_outputs *outputs)
{
    s->ab.correctness = outputs->all;
    for (size_t i = 0; i < s->ab.n_arms; i++) {
        s->arms[i].expected = outputs->arms[i].expected;
        s->arms[i].outputs_differ = outputs->arms[i].differ;
    }
}
