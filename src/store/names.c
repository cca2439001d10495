// SPDX-License-Identifier: Apache-2.0
// The words of the run folder's enums: a table for each.
#include "store/internal.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const char *name_of(const char *const *names, size_t n, size_t i)
{
    return i < n ? names[i] : "?";
}

static bool find(const char *const *names, size_t n, etp_str s, size_t *out)
{
    for (size_t i = 0; i < n; i++) {
        if (names[i] && etp_str_eqz(s, names[i])) {
            *out = i;
            return true;
        }
    }
    *out = 0;
    return false;
}

#define NAMES(set, ...)                                         \
    static const char *const k_##set[] = {__VA_ARGS__};         \
    const char *etp_##set##_name(etp_##set value)               \
    {                                                           \
        return name_of(k_##set, COUNT(k_##set), (size_t)value); \
    }
// From the name back to the value; what is not found is the first.
#define FIND(set)                                       \
    bool etp_##set##_find(etp_str s, etp_##set *out)    \
    {                                                   \
        size_t i;                                       \
        bool ok = find(k_##set, COUNT(k_##set), s, &i); \
        *out = (etp_##set)i;                            \
        return ok;                                      \
    }

NAMES(run_state, NULL, "running", "finished", "interrupted")
NAMES(run_stop, "", "precision", "budget", "blocks")
NAMES(launch_kind, "timed", "traced", "control", "sampled", "cold", "memory")
#define PART_WORD(name, word, title, what) word,
NAMES(load_what, ETP_LOAD_PARTS(PART_WORD))
#undef PART_WORD
NAMES(phase, "warmup", "timed", "traced", "sampled", "control")
FIND(phase)
NAMES(phase_kind, "prefill", "decode", "shape")
NAMES(lost_reason, "crash", "hang", "garbage", "mask", "error", "start", "file", "connection")
NAMES(samples_end, NULL, "known", "budget", "part", "bound", "no_gain", "off", "untraced", "device",
      "runner", "blocks")
NAMES(packed_cache, NULL, "off", "cold", "warm")
FIND(packed_cache)
NAMES(counter_events, NULL, "hardware", "software", "process")
FIND(counter_events)
NAMES(note, NULL, "slept", "clock_jump", "cpu_contended", "kernels_ours", "kernels_lib",
      "arm_given_up", "affinity_not_kept", "sme_units_shared", "started_hot",
      "temperature_unreadable", "builds_same", "builds_python", "runner_tracers_differ",
      "runner_no_tracer", "runner_always_traces", "runner_no_xnnpack", "runner_no_sme",
      "runner_builds_differ", "runner_clock", "runner_whole", "runner_mean_only", "not_watched")
FIND(note)

etp_note etp_run_note_kind(const etp_run_note *note)
{
    etp_note kind;
    (void)etp_note_find(note->id, &kind);
    return kind;
}
