// SPDX-License-Identifier: Apache-2.0
// Where launches may run, and what their cores share.
#include "measure/cores.h"

#include "base/number.h"
#include "device/clusters.h"

// SME is not in each core: a unit serves the cores of a cluster. Threads beyond the units queue for
// them, so a slow result says nothing about the kernels.
void etp_cores_units(etp_session *s)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < s->plan->n_arms; i++) {
        const etp_planned_arm *a = &s->plan->arms[i];
        bool sme = a->level_name && strncmp(etp_level_unsaid(a->level_name), "sme", 3) == 0;
        most = sme && a->threads > most ? a->threads : most;
    }
    if (most < 2 || s->device->info.emulated) { // an emulator has no units, and no speed
        return;
    }
    etp_topology t;
    etp_cpu_set set;
    uint64_t cpus = 0;
    bool pinned =
        s->plan->settings.cpus && etp_cpu_set_parse(etp_str_from(s->plan->settings.cpus), &set);
    bool counted = etp_parse_u64(etp_run_fact_of(&s->run, "cpus"), &cpus) && cpus <= ETP_CPUS_MAX;
    const etp_cpu_set *within = pinned ? &set : NULL;
    etp_topology_parse(etp_run_fact_of(&s->run, "clusters"), &t);
    // 0: the registers that tell it (SMIDR_EL1) could not be read. Then clusters are the next best
    // guess, and the text says that it is one.
    uint32_t units =
        counted ? etp_sme_units(etp_run_fact_of(&s->run, "smidr"), within, (uint32_t)cpus) : 0;
    // WITHIN NULL: of all of them, where nothing is pinned.
    uint32_t clusters = 0;
    for (size_t i = 0; i < t.n; i++) {
        clusters += !within || etp_cpu_set_meets(&t.clusters[i].cpus, within);
    }
    const char *text = NULL;
    if (units > 0 && most > units) {
        text = etp_arena_printf(
            &s->arena,
            "%u threads at an SME level on %u SME unit%s (SMIDR_EL1): threads wait for each other",
            most, units, etp_if(units != 1, "s"));
    } else if (units == 0 && most > ETP_MAX(clusters, 1)) {
        text = etp_arena_printf(
            &s->arena,
            "%u threads at an SME level: cores of a cluster share one or two SME units, and the "
            "device does not tell how many it has; more threads than units wait for each other",
            most);
    } else {
        return;
    }
    etp_session_note(s, ETP_NOTE_SME_UNITS_SHARED, text);
    if (text) {
        etp_session_say(s, "%s", text);
    }
}

const char *etp_cores_crowded(etp_session *s)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < s->plan->n_arms; i++) {
        most = ETP_MAX(s->plan->arms[i].threads, most);
    }
    return s->device->info.emulated
               ? NULL
               : etp_crowded_words(most, etp_run_fact_of(&s->run, "cpus"),
                                   etp_run_fact_of(&s->run, "cpu_quota"), &s->arena);
}

// A request to pin is advice that a system may refuse (cpusets of Android): what the kernel says of
// the running threads counts.
void etp_cores_check(etp_session *s, uint32_t arm, etp_str allowed)
{
    char words[ETP_CANDIDATE_CHARS];
    etp_cpu_set wanted, found = {0};
    if (!s->plan->settings.cpus || allowed.len == 0 ||
        !etp_cpu_set_parse(etp_str_from(s->plan->settings.cpus), &wanted)) {
        return;
    }
    if (!etp_cpu_set_parse(allowed, &found) || !etp_cpu_set_within(&found, &wanted)) {
        etp_session_say(s, "%s: its threads may run on CPUs %.*s, not only on %s",
                        etp_session_arm_words(s->plan, arm, words), ETP_STR_ARG(allowed),
                        s->plan->settings.cpus);
        etp_session_note(s, ETP_NOTE_AFFINITY_NOT_KEPT,
                         "threads of a runner were allowed on other CPUs than --cpus names "
                         "(cpus_allowed in environment.jsonl)");
    } else if (!etp_cpu_set_within(&wanted, &found)) {
        size_t before = s->run.n_notes;
        etp_session_note(s, ETP_NOTE_AFFINITY_NOT_KEPT,
                         "--cpus names CPUs that the threads of a runner may not run on "
                         "(cpus_allowed in environment.jsonl)");
        if (s->run.n_notes > before) {
            etp_session_say(s, "of the CPUs %s the runner's threads may run on %.*s only",
                            s->plan->settings.cpus, ETP_STR_ARG(allowed));
        }
    }
}
