// SPDX-License-Identifier: Apache-2.0
// What surrounded a block.
#include "measure/environment.h"

#include <math.h>

// Two readings that are rounded to a second are up to two apart by that alone.
#define CLOCK_JUMP_S 2.5 // wall against steady clock; both are rounded to a second

// Borrows from S.
static etp_run_moment moment_of(const etp_os_state *s)
{
    return (etp_run_moment){
        .time_ns = s->time_ns,
        .load1 = s->load1,
        .memory_free_bytes = s->memory_free_bytes,
        .temperature_c = s->temperature_c,
        .temperature_zone = etp_str_from(s->temperature_zone),
        .freq_min_khz = s->freq_min_khz,
        .freq_max_khz = s->freq_max_khz,
        .core_khz = s->core_khz,
        .n_cores = s->n_cores,
        .freq_cap_khz = s->freq_cap_khz,
        .thermal_status = s->thermal_status,
        .battery_percent = s->battery_percent,
        .cpu_busy_ms = s->cpu_busy_ms,
        .cpu_steal_ms = s->cpu_steal_ms,
        .governor = etp_str_from(s->governor),
        .boost = s->boost,
        .power = etp_str_from(s->power),
    };
}

etp_run_block etp_environment_block(const etp_block_environment *e)
{
    return (etp_run_block){
        .block = e->block,
        .order = e->order,
        .n_order = e->n_arms,
        .control_position = e->control_position,
        .cooled_ns = e->cooled_ns,
        .wall_start_s = e->wall_start,
        .wall_end_s = e->wall_end,
        .slept_ns = etp_environment_slept_ns(e),
        .clock_jump_s = etp_environment_jump_s(e),
        .start = moment_of(&e->start),
        .end = moment_of(&e->end),
    };
}

etp_status etp_environment_describe(etp_device *device, etp_arena *arena, etp_run *run,
                                    etp_error *err)
{
    etp_details facts = {0};
    ETP_TRY(device->ops->probe(device, arena, &facts, err));
    for (size_t i = 0; i < facts.n; i++) {
        etp_run_fact f = {etp_str_from(facts.items[i].key), etp_str_from(facts.items[i].value)};
        ETP_ADD(arena, &run->facts, f);
    }
    etp_os_state state;
    device->ops->state(device, &state);
    for (size_t i = 0; i < state.n_unreadable; i++) {
        ETP_ADD(arena, &run->unreadable, etp_str_from(state.unreadable[i]));
    }
    // A reader must tell "there was no waiting" from "nobody could see it": what cannot be read is
    // named once for the session.
    // Page faults and context switches come with a process's end; these only where /proc has them.
    etp_process_sched sched;
    etp_process_sched_read(etp_os_self_pid(), &sched);
    if (sched.wait_ns == UINT64_MAX) {
        ETP_ADD(arena, &run->unreadable, ETP_STR("time without a cpu"));
    }
    if (sched.migrations == UINT64_MAX) {
        ETP_ADD(arena, &run->unreadable, ETP_STR("migrations"));
    }
    return ETP_OK;
}

void etp_environment_counters(const etp_device_cpu *cpu, etp_arena *arena, etp_run *run)
{
    const char *found = etp_z_if(cpu->counters && cpu->counters[0], cpu->counters);
    etp_counter_events events;
    // Counters of the kernel alone (page faults, switches) are no cycle counters: they cannot tell
    // work from clock.
    bool counts =
        etp_counter_events_find(etp_str_from(found), &events) && events != ETP_EVENTS_SOFTWARE;
    const etp_run_fact facts[] = {
        {ETP_STR("counters"),     etp_str_from(found)            },
        {ETP_STR("counters_fix"), etp_str_from(cpu->counters_fix)}
    };
    for (size_t i = 0; i < 2; i++) {
        if (facts[i].value.len > 0) {
            ETP_ADD(arena, &run->facts, facts[i]);
        }
    }
    if (!counts) {
        ETP_ADD(arena, &run->unreadable, ETP_STR("cycle counters"));
    }
}

uint64_t etp_environment_slept_ns(const etp_block_environment *e)
{
    if (e->start.asleep_ns == UINT64_MAX || e->end.asleep_ns == UINT64_MAX) {
        return UINT64_MAX;
    }
    uint64_t slept = ETP_LESS(e->end.asleep_ns, e->start.asleep_ns);
    return slept >= ETP_SLEPT_NS ? slept : 0;
}

double etp_environment_jump_s(const etp_block_environment *e)
{
    double wall = (double)(e->wall_end - e->wall_start);
    double steady = (double)(e->end.time_ns - e->start.time_ns) / 1e9;
    uint64_t slept = etp_environment_slept_ns(e);
    // The steady clock stands still while the machine sleeps, and the wall clock does not.
    double jump = wall - steady - (slept == UINT64_MAX ? 0 : (double)slept / 1e9);
    return fabs(jump) > CLOCK_JUMP_S ? jump : 0;
}
