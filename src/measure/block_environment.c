// SPDX-License-Identifier: Apache-2.0
// Heat around blocks: waiting until the device is cool enough, and noticing when it slows down.
#include "measure/block_environment.h"

#include <math.h>
#include <stdio.h>

#define LOOK_NS ((uint64_t)2000000000) // looking warms the device, too
#define NAP_NS ((uint64_t)100000000)   // a signal is noticed this late
#define CAP_FALL 0.01                  // of the clocks that the system allows

static bool throttles(const etp_os_state *now)
{
    return now->thermal_status > 0 && now->thermal_status != UINT64_MAX;
}

// A device that throttles counts as too hot whatever its sensor shows: what it allows is what
// matters.
static bool too_hot(const etp_session *s, const etp_os_state *now)
{
    return now->temperature_c > s->plan->settings.cool.celsius || throttles(now); // NAN: not above
}

// "45.0 C (soc)", "45.0 C (soc), thermal status 2", "thermal status 2".
static void describe(const etp_os_state *now, char *out, size_t cap)
{
    int used = 0;
    if (!isnan(now->temperature_c)) {
        used = snprintf(out, cap, "%.1f C (%s)%s", now->temperature_c, now->temperature_zone,
                        etp_if(throttles(now), ", "));
    }
    if (throttles(now) && used >= 0 && (size_t)used < cap) {
        snprintf(out + used, cap - (size_t)used, "thermal status %llu",
                 (unsigned long long)now->thermal_status);
    }
}

void etp_block_environment_begin(etp_session *s, etp_block_environment *e)
{
    s->device->ops->state(s->device, &e->start);
    if (s->plan->settings.cool.celsius <= 0) {
        return;
    }
    if (isnan(e->start.temperature_c) && e->start.thermal_status == UINT64_MAX) {
        etp_session_note(s, ETP_NOTE_TEMPERATURE_UNREADABLE,
                         "--cool could not be kept: the device reports no temperature");
        return;
    }
    uint64_t begin = etp_os_now_ns(), wait_ns = (uint64_t)(s->plan->settings.cool.wait_s * 1e9);
    bool told = false;
    char text[96] = "";
    while (too_hot(s, &e->start) && etp_session_interrupted(s) == 0) {
        uint64_t now = etp_os_now_ns();
        describe(&e->start, text, sizeof text);
        if (now - begin >= wait_ns) {
            etp_session_say(s, "block %u: still %s after %.0f s: starting anyway", e->block, text,
                            s->plan->settings.cool.wait_s);
            etp_session_note(s, ETP_NOTE_STARTED_HOT,
                             "a block began above the temperature of --cool, which the device did "
                             "not reach in time");
            break;
        }
        if (!told) {
            etp_session_say(s, "block %u: %s, waiting for %.1f C", e->block, text,
                            s->plan->settings.cool.celsius);
            told = true;
        }
        uint64_t next = now + LOOK_NS, last = begin + wait_ns;
        // In short pieces: a user who ends the session must not wait for a device to cool down.
        const uint64_t end = ETP_MIN(next, last);
        while (etp_os_now_ns() < end && etp_session_interrupted(s) == 0) {
            etp_os_sleep_ns(NAP_NS);
        }
        s->device->ops->state(s->device, &e->start);
    }
    e->cooled_ns = told ? etp_os_now_ns() - begin : 0;
}

void etp_block_environment_end(etp_session *s, etp_block_environment *e)
{
    s->device->ops->state(s->device, &e->end);
    // The highest that was ever allowed is the yardstick: a device may have begun the session
    // throttled.
    const etp_os_state *moments[] = {&e->start, &e->end};
    for (size_t i = 0; i < 2; i++) {
        uint64_t cap = moments[i]->freq_cap_khz;
        if (cap != UINT64_MAX) {
            s->highest_cap_khz = ETP_MAX(cap, s->highest_cap_khz);
        }
    }
    // Judged by the end of the block: heat builds up while it runs.
    double share = e->end.freq_cap_khz == UINT64_MAX || s->highest_cap_khz == 0
                       ? 1
                       : (double)e->end.freq_cap_khz / (double)s->highest_cap_khz;
    if (throttles(&e->end)) {
        etp_session_say(s, "block %u: the device throttles (thermal status %llu)", e->block,
                        (unsigned long long)e->end.thermal_status);
    } else if (share < 1 - CAP_FALL) {
        etp_session_say(s, "block %u: the device allows %.0f %% of the clocks it allowed before",
                        e->block, 100 * share);
    }
}
