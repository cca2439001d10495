// SPDX-License-Identifier: Apache-2.0
// Heat around blocks: waiting until the device is cool enough, and noticing when it slows down.
#include "measure/weather.h"

#include <math.h>

#define LOOK_NS ((uint64_t)2000000000) // looking warms the device, too
#define NAP_NS ((uint64_t)100000000)   // a signal is noticed this late
#define CAP_FALL 0.01                  // of the clocks that the system allows

static bool too_hot(const etp_session *s, const etp_os_state *now)
{
    return now->temperature_c > s->plan->cool_c || now->thermal_status > 0; // a NAN is not above
}

static void nap(etp_session *s, uint64_t end)
{
    while (etp_os_now_ns() < end && etp_session_interrupted(s) == 0) {
        etp_os_sleep_ns(NAP_NS);
    }
}

void etp_weather_begin(etp_session *s, etp_block_environment *e)
{
    s->device->ops->state(s->device, &e->start);
    if (s->plan->cool_c <= 0) {
        return;
    }
    if (isnan(e->start.temperature_c) && e->start.thermal_status < 0) {
        etp_session_note(s, "temperature_unreadable", "--cool could not be kept: the device tells no temperature");
        return;
    }
    uint64_t begin = etp_os_now_ns(), wait_ns = (uint64_t)(s->plan->cool_wait_s * 1e9);
    bool told = false;
    while (too_hot(s, &e->start) && etp_session_interrupted(s) == 0) {
        uint64_t now = etp_os_now_ns();
        if (now - begin >= wait_ns) {
            etp_session_say(s, "block %u: still %.1f C (%s) after %.0f s: begun all the same", e->block,
                            e->start.temperature_c, e->start.temperature_zone, s->plan->cool_wait_s);
            etp_session_note(s, "started_hot", "a block began above the temperature of --cool, which the device did "
                                               "not reach in time");
            break;
        }
        if (!told) {
            etp_session_say(s, "block %u: %.1f C (%s), waiting for %.1f C", e->block, e->start.temperature_c,
                            e->start.temperature_zone, s->plan->cool_c);
            told = true;
        }
        uint64_t next = now + LOOK_NS, last = begin + wait_ns;
        nap(s, next < last ? next : last);
        s->device->ops->state(s->device, &e->start);
    }
    e->cooled_ns = etp_os_now_ns() - begin;
}

void etp_weather_end(etp_session *s, etp_block_environment *e)
{
    s->device->ops->state(s->device, &e->end);
    const etp_os_state *moments[] = {&e->start, &e->end};
    for (size_t i = 0; i < 2; i++) {
        uint64_t cap = moments[i]->freq_cap_khz;
        if (cap != UINT64_MAX) {
            s->highest_cap_khz = cap > s->highest_cap_khz ? cap : s->highest_cap_khz;
        }
    }
    double share = e->end.freq_cap_khz == UINT64_MAX || s->highest_cap_khz == 0
                       ? 1
                       : (double)e->end.freq_cap_khz / (double)s->highest_cap_khz;
    if (e->end.thermal_status > 0) {
        etp_session_say(s, "block %u: the device throttles (thermal status %d)", e->block, e->end.thermal_status);
    } else if (share < 1 - CAP_FALL) {
        etp_session_say(s, "block %u: the device allows %.0f %% of the clocks it allowed before", e->block, 100 * share);
    }
}
