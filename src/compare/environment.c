// SPDX-License-Identifier: Apache-2.0
// What surrounded the blocks of a session, and what of it could not be read.
#include <math.h>

#include "compare/session.h"

static double known(uint64_t v)
{
    return etp_value_if(v != UINT64_MAX, (double)v);
}

void etp_ab_take_environment(const etp_run *run, etp_ab *out)
{
    etp_ab_conditions *blocks = ETP_NEW_ARRAY(out->arena, etp_ab_conditions, run->blocks.n + 1);
    uint64_t *pad = out->environment.pad;
    out->environment.blocks = blocks;
    out->environment.n_blocks = run->blocks.n;
    out->environment.unreadable = run->unreadable.items;
    out->environment.n_unreadable = run->unreadable.n;
    for (size_t i = 0; i < run->launches.n; i++) {
        uint64_t bytes = run->launches.items[i].env_pad_bytes;
        pad[0] = i == 0 || bytes < pad[0] ? bytes : pad[0];
        pad[1] = ETP_MAX(bytes, pad[1]);
    }
    for (size_t i = 0; i < run->blocks.n; i++) {
        const etp_run_block *in = &run->blocks.items[i];
        const etp_run_moment *a = &in->start, *z = &in->end;
        double wall_ms = (known(z->time_ns) - known(a->time_ns)) / 1e6;
        etp_ab_conditions b = {
            .block = in->block,
            .load1 = etp_run_between(a->load1, z->load1),
            .cpus_busy = etp_share(known(z->cpu_busy_ms) - known(a->cpu_busy_ms), wall_ms),
            .cpus_stolen = etp_share(known(z->cpu_steal_ms) - known(a->cpu_steal_ms), wall_ms),
            .temperature_c = fmax(a->temperature_c, z->temperature_c),
            .clock_khz = fmin(known(a->freq_max_khz), known(z->freq_max_khz)), // passes over a NAN
            .memory_free_bytes = fmin(known(a->memory_free_bytes), known(z->memory_free_bytes)),
            .slept_ns = known(in->slept_ns),
            .governor = a->governor,
            .power = a->power,
            .boost = a->boost,
        };
        etp_run_wait waited = {0};
        for (size_t k = 0; k < run->launches.n; k++) {
            const etp_run_launch *l = &run->launches.items[k];
            if (l->block != b.block) {
                continue;
            }
            etp_run_wait_add(&waited, l);
            b.migrations += known(l->migrations);
            b.interrupted += (double)l->involuntary_switches;
            b.minor_faults += (double)l->minor_faults;
            b.major_faults += (double)l->major_faults;
        }
        b.waited_share = etp_run_wait_share(&waited);
        blocks[i] = b;
    }
}
