// SPDX-License-Identifier: Apache-2.0
// The words of the run folder's enums.
#include "store/internal.h"

static const char *const k_states[] = {"running", "finished", "interrupted"};
static const char *const k_kinds[] = {"timed", "traced", "control", "sampled", "resident"};
static const char *const k_phases[] = {"warmup",  "timed",   "traced",
                                       "sampled", "control", "resident"};
static const char *const k_reasons[] = {"crash", "hang",  "garbage", "mask",
                                        "error", "start", "file",    "connection"};

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const char *name_of(const char *const *names, size_t n, size_t i)
{
    return i < n ? names[i] : "?";
}

const char *etp_run_state_name(etp_run_state state)
{
    return name_of(k_states, COUNT(k_states), (size_t)state);
}

const char *etp_launch_kind_name(etp_launch_kind kind)
{
    return name_of(k_kinds, COUNT(k_kinds), (size_t)kind);
}

const char *etp_phase_name(etp_phase phase)
{
    return name_of(k_phases, COUNT(k_phases), (size_t)phase);
}

const char *etp_lost_reason_name(etp_lost_reason reason)
{
    return name_of(k_reasons, COUNT(k_reasons), (size_t)reason);
}

static bool find(const char *const *names, size_t n, etp_str s, size_t *out)
{
    for (size_t i = 0; i < n; i++) {
        if (etp_str_eqz(s, names[i])) {
            *out = i;
            return true;
        }
    }
    return false;
}

bool etp_run_state_find(etp_str s, etp_run_state *out)
{
    size_t i;
    bool ok = find(k_states, COUNT(k_states), s, &i);
    *out = ok ? (etp_run_state)i : ETP_RUN_RUNNING;
    return ok;
}

bool etp_launch_kind_find(etp_str s, etp_launch_kind *out)
{
    size_t i;
    bool ok = find(k_kinds, COUNT(k_kinds), s, &i);
    *out = ok ? (etp_launch_kind)i : ETP_LAUNCH_TIMED;
    return ok;
}

bool etp_phase_find(etp_str s, etp_phase *out)
{
    size_t i;
    bool ok = find(k_phases, COUNT(k_phases), s, &i);
    *out = ok ? (etp_phase)i : ETP_PHASE_WARMUP;
    return ok;
}

bool etp_lost_reason_find(etp_str s, etp_lost_reason *out)
{
    size_t i;
    bool ok = find(k_reasons, COUNT(k_reasons), s, &i);
    *out = ok ? (etp_lost_reason)i : ETP_LOST_CRASH;
    return ok;
}
