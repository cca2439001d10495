// SPDX-License-Identifier: Apache-2.0
// More threads than SME units, and launches that ran on other CPUs than they were told.
#include "measure/cores.h"
#include "unit.h"

static const char *note_of(const char *level, uint32_t threads, const char *cpus,
                           const char *clusters, const char *smidr, bool emulated)
{
    static etp_arena arena;
    etp_session_view silent = {0};
    etp_arena_dispose(&arena);
    arena = (etp_arena){0};
    etp_planned_arm arms[] = {
        {.name = "on",  .level_name = level,  .threads = threads},
        {.name = "off", .level_name = "neon", .threads = 8      }
    };
    etp_session_plan plan = {.arms = arms, .n_arms = 2, .settings.cpus = cpus};
    etp_device device = {.info = {.emulated = emulated}};
    etp_session s = {.device = &device, .plan = &plan, .view = &silent};
    const etp_run_fact facts[] = {
        {ETP_STR("cpus"),     ETP_STR("8")          },
        {ETP_STR("clusters"), etp_str_from(clusters)},
        {ETP_STR("smidr"),    etp_str_from(smidr)   }
    };
    for (size_t i = 0; i < 3; i++) {
        assert_true(ETP_PUSH(&s.arena, &s.run.facts, facts[i]));
    }
    etp_cores_units(&s);
    const char *text = s.run.n_notes ? etp_arena_strdup(&arena, s.run.notes[0].text) : NULL;
    etp_arena_dispose(&s.arena);
    return text;
}

#define TWO "cpus 0 1 2 3 4 5 up to 3000000 kHz; cpus 6 7 up to 4000000 kHz"
#define TWO_UNITS "0:0x0000000041006001 6:0x0000000041006002"

static void units(void **state)
{
    assert_null(note_of("neon", 8, NULL, TWO, TWO_UNITS, false)); // no SME, no units
    assert_null(note_of("sme2", 1, NULL, TWO, TWO_UNITS, false));
    assert_null(note_of("sme2", 2, NULL, TWO, TWO_UNITS, false));
    assert_non_null(strstr(note_of("sme2", 3, NULL, TWO, TWO_UNITS, false),
                           "3 threads at an SME level on 2 SME units"));
    assert_non_null(strstr(note_of("sme1", 2, "6-7", TWO, TWO_UNITS, false),
                           "2 threads at an SME level on 1 SME unit "));
    // The device does not tell its units: as many as clusters are no surprise, more are.
    assert_null(note_of("sme2", 2, NULL, TWO, "", false));
    assert_non_null(strstr(note_of("sme2", 3, NULL, TWO, "", false), "does not tell how many"));
    assert_non_null(strstr(note_of("sme2", 2, "0-3", TWO, "", false), "does not tell how many"));
    assert_non_null(strstr(note_of("sme2", 2, NULL, "", "", false), "does not tell how many"));
    assert_null(note_of("sme2", 8, NULL, TWO, TWO_UNITS, true));
}

static bool noted(const char *cpus, const char *allowed)
{
    etp_session_view silent = {0};
    etp_planned_arm arm = {.name = "on"};
    etp_session_plan plan = {.arms = &arm, .n_arms = 1, .settings.cpus = cpus};
    etp_session s = {.plan = &plan, .view = &silent};
    etp_cores_check(&s, 0, etp_str_from(allowed));
    return s.run.n_notes > 0;
}

static void affinity(void **state)
{
    assert_false(noted(NULL, "0-7"));
    assert_false(noted("4-7", "4-7"));
    assert_false(noted("4-7", "4-5 6-7")); // threads of different lists
    assert_false(noted("4-7", ""));        // not readable: nothing is claimed
    assert_true(noted("4-7", "4,6"));      // CPUs that are named and not allowed
    assert_true(noted("4-7", "0-7"));
    assert_true(noted("4-7", "4-7 0-3"));
    assert_true(noted("4-7", "all"));
}
