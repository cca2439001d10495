// SPDX-License-Identifier: Apache-2.0
// What surrounded a block.
#include "measure/environment.h"

#include <math.h>

#include "base/json.h"

// Two readings that are rounded to a second are up to two apart by that alone.
#define CLOCK_JUMP_S 2.5 // wall against steady clock; both are rounded to a second

// Names and units of these members are those that docs/run-folder.md lists for environment.jsonl.
static void number_or_null(etp_json *j, const char *key, uint64_t v)
{
    etp_json_kv_u64_if(j, key, v, v != UINT64_MAX);
}

static void text_or_null(etp_json *j, const char *key, const char *z)
{
    etp_json_kv_z(j, key, z[0] ? z : NULL);
}

static void write_state(etp_json *j, const char *key, const etp_os_state *s)
{
    etp_json_key(j, key);
    etp_json_begin_object(j);
    etp_json_kv_u64(j, "time_ns", s->time_ns);
    etp_json_kv_double(j, "load1", s->load1); // NAN is written as null
    number_or_null(j, "memory_free_bytes", s->memory_free_bytes);
    etp_json_kv_double(j, "temperature_c", s->temperature_c);
    text_or_null(j, "temperature_zone", s->temperature_zone);
    number_or_null(j, "freq_min_khz", s->freq_min_khz);
    number_or_null(j, "freq_max_khz", s->freq_max_khz);
    etp_json_key(j, "core_khz");
    if (s->n_cores == 0) {
        etp_json_null(j);
    } else {
        etp_json_begin_array_inline(j);
        for (uint32_t i = 0; i < s->n_cores; i++) {
            if (s->core_khz[i] > 0) {
                etp_json_u64(j, s->core_khz[i]);
            } else {
                etp_json_null(j); // offline, or not told
            }
        }
        etp_json_end(j);
    }
    number_or_null(j, "freq_cap_khz", s->freq_cap_khz);
    number_or_null(j, "thermal_status",
                   s->thermal_status < 0 ? UINT64_MAX : (uint64_t)s->thermal_status);
    number_or_null(j, "battery_percent",
                   s->battery_percent < 0 ? UINT64_MAX : (uint64_t)s->battery_percent);
    number_or_null(j, "cpu_busy_ms", s->cpu_busy_ms);
    number_or_null(j, "cpu_steal_ms", s->cpu_steal_ms);
    text_or_null(j, "governor", s->governor);
    etp_json_kv_bool_if(j, "boost", s->boost > 0, s->boost >= 0);
    text_or_null(j, "power", s->power);
    etp_json_end(j);
}

etp_str etp_environment_line(const etp_run *run, const etp_block_environment *e, etp_arena *arena)
{
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    etp_sink sink = etp_sink_strbuf(&text);
    etp_json j;
    etp_json_init(&j, &sink, false);
    etp_json_begin_object(&j);
    etp_json_kv_z(&j, "type", "block");
    etp_json_kv_u64(&j, "block", e->block);
    etp_json_key(&j, "order");
    etp_json_begin_array(&j);
    for (uint32_t i = 0; i < e->n_arms; i++) {
        etp_json_str(&j, run->arms.items[e->order[i]].name);
    }
    etp_json_end(&j);
    etp_json_kv_i64_if(&j, "control_position", e->control_position, e->control_position >= 0);
    etp_json_kv_u64(&j, "cooled_ns", e->cooled_ns);
    etp_json_kv_i64(&j, "wall_start_s", e->wall_start);
    etp_json_kv_i64(&j, "wall_end_s", e->wall_end);
    number_or_null(&j, "slept_ns", etp_environment_slept_ns(e));
    etp_json_kv_double(&j, "clock_jump_s", etp_environment_jump_s(e));
    write_state(&j, "start", &e->start);
    write_state(&j, "end", &e->end);
    etp_json_end(&j);
    etp_json_end_document(&j);
    if (text.failed) {
        return ETP_STR("");
    }
    etp_str line = etp_strbuf_str(&text);
    // The writer of the folder adds the line break, of this line as of all others.
    line.len -= line.len > 0 && line.ptr[line.len - 1] == '\n';
    return line;
}

etp_status etp_environment_describe(etp_device *device, etp_arena *arena, etp_run *run,
                                    etp_error *err)
{
    etp_device_facts facts = {0};
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
    const char *found = cpu->counters && cpu->counters[0] ? cpu->counters : NULL;
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
    uint64_t slept =
        e->end.asleep_ns > e->start.asleep_ns ? e->end.asleep_ns - e->start.asleep_ns : 0;
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
