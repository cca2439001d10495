// SPDX-License-Identifier: Apache-2.0
// Other programs on the CPUs: noticed in the launches, waited for before a block is spent on them.
#include "measure/quiet.h"

#include <math.h>

#include <etprof/stats.h>

#include "base/number.h"

#define LOOK_NS ((uint64_t)250000000) // a system counts its CPUs' work in steps of 10 ms
#define NAP_NS ((uint64_t)50000000)   // a signal is noticed this late
#define QUIET 0.1 // of the CPUs in use by others: this session's launches fit in

// One thread that does not run waits. Of several the system's own figure is known on this machine
// only.
void etp_quiet_add(const etp_session *s, uint32_t arm, const etp_launch_outcome *o,
                   etp_run_wait *sum)
{
    const etp_run_launch *r = &o->record;
    if (s->plan->arms[arm].threads != 1 || r->counted.n == 0) {
        etp_run_wait_add(sum, r);
        return;
    }
    for (uint64_t i = o->n_warmup; i < r->counted.n; i++) {
        uint64_t ns = o->iterations[i].ns, cpu = r->counted.items[i].cpu_ns;
        if (cpu > 0) {
            sum->wall_ns += ns;
            sum->wait_ns += ETP_LESS(ns, cpu);
        }
    }
}

// CPUs in use while this session is idle; NAN where the device does not tell.
static double busy_cpus(etp_session *s)
{
    etp_os_state before, after;
    s->device->ops->state(s->device, &before);
    for (uint64_t end = etp_os_now_ns() + LOOK_NS; etp_os_now_ns() < end;) {
        etp_os_sleep_ns(NAP_NS);
        if (etp_session_interrupted(s) != 0) {
            return (double)NAN;
        }
    }
    s->device->ops->state(s->device, &after);
    if (before.cpu_busy_ms == UINT64_MAX || after.cpu_busy_ms == UINT64_MAX ||
        after.cpu_busy_ms < before.cpu_busy_ms || after.time_ns <= before.time_ns) {
        return (double)NAN;
    }
    return (double)(after.cpu_busy_ms - before.cpu_busy_ms) * 1e6 /
           (double)(after.time_ns - before.time_ns);
}

void etp_quiet_wait(etp_session *s, uint32_t block)
{
    bool waited = etp_run_wait_share(&s->lately) > ETP_WAIT_MUCH; // NAN: not known
    s->lately = (etp_run_wait){0};
    uint64_t cpus = 0;
    if (!waited || s->patience_ns == 0 || !etp_parse_u64(etp_run_fact_of(&s->run, "cpus"), &cpus)) {
        return;
    }
    uint64_t start = etp_os_now_ns(), passed = 0;
    bool said = false;
    double busy = busy_cpus(s);
    while (busy > QUIET * (double)cpus && passed < s->patience_ns) {
        if (!said) {
            etp_session_say(
                s,
                "block %u: other programs use %.1f CPUs, this session may use %llu; "
                "waiting up to %.0f s for a quieter moment (ETPROF_NO_WAIT=1: measure now)",
                block, busy, (unsigned long long)cpus, (double)s->patience_ns / 1e9);
            said = true;
        }
        busy = busy_cpus(s);
        passed = etp_os_now_ns() - start;
    }
    if (said) {
        etp_session_say(s,
                        busy > QUIET * (double)cpus
                            ? "block %u: other programs still use the CPUs after %.0f s; "
                              "measuring, but the ratio may be withheld"
                            : "block %u: quiet after %.0f s",
                        block, (double)passed / 1e9);
    }
    s->patience_ns -= ETP_MIN(passed, s->patience_ns);
}
