// SPDX-License-Identifier: Apache-2.0
// One short session of the real runner on a real model, when the bundle has been built.
#include <stdio.h>

#include "measure/outputs.h"
#include "measure/session.h"
#include "unit.h"

#define ROOT "real-runner-test"

static etp_arena s_arena;
static etp_device *s_device;

// Both levels gave the same outputs.
static void assert_outputs_agree(const char *dir, const etp_run *run)
{
    etp_outputs_comparison c;
    const char *a = etp_run_path(&s_arena, dir,
                                 etp_str_from(etp_run_outputs_name(&s_arena, &run->arms.items[0])));
    const char *b = etp_run_path(&s_arena, dir,
                                 etp_str_from(etp_run_outputs_name(&s_arena, &run->arms.items[1])));
    assert_int_equal(etp_outputs_compare(a, b, ETP_OUTPUTS_FLOAT32, &s_arena, &c, NULL), ETP_OK);
    assert_true(c.ok);
}

static void a_real_model_is_measured(void **state)
{
    etp_error err = {0};
    etp_device_cpu cpu;
    if (etp_session_probe(s_device, 0, NULL, &s_arena, &cpu, &err) != ETP_OK) {
        fail_msg("probe: %s", err.msg);
    }
    const char *model = ETP_TEST_SOURCE_DIR "/tests/data/linear_xnnpack_fp32.pte";
    etp_level best = etp_isa_best(&cpu.cpu), plain = etp_isa_plain(&cpu.cpu);
    const char *const levels[] = {etp_level_get(best)->name,
                                  etp_level_get(plain != ETP_LEVEL_NONE ? plain : best)->name};
    const etp_session_plan_options o = {.models = &model,
                                        .n_models = 1,
                                        .levels = levels,
                                        .n_levels = plain != ETP_LEVEL_NONE ? 2 : 1,
                                        .settings.blocks = 2,
                                        .settings.warmup = 3,
                                        .settings.iterations = 10,
                                        .settings.traced = 4};
    etp_session_plan plan;
    if (etp_session_plan_make(&o, s_device, &cpu, &s_arena, &plan, &err) != ETP_OK) {
        fail_msg("plan: %s", err.msg);
    }
    const char *dir;
    assert_int_equal(etp_run_create_folder(ROOT "/run", true, &s_arena, &dir, &err), ETP_OK);
    plan.dir = dir;
    etp_session_view result = {0};
    if (etp_session_measure(s_device, &plan, &result, &err) != ETP_OK) {
        fail_msg("session: %s", err.msg);
    }
    etp_run run;
    if (etp_run_open(dir, &s_arena, &run, &err) != ETP_OK) {
        fail_msg("folder: %s", err.msg);
    }
    assert_int_equal(run.state, ETP_RUN_FINISHED);
    assert_int_equal(run.lost.n, 0);
    assert_true(run.selftest_ok);
    assert_int_equal(run.dumps.n, 2 * plan.n_arms);
    // 2 blocks of (3+10 timed, 3+4 traced) per arm and the baseline's controls of 3+10
    assert_int_equal(run.samples.n, 2 * plan.n_arms * 20 + (plan.n_arms > 1 ? 2 * 13 : 0));
    for (size_t i = 0; i < run.launches.n; i++) {
        assert_true(run.launches.items[i].hook_calls > 0);
        assert_true(run.launches.items[i].load_ns > 0);
        assert_true(run.launches.items[i].peak_rss_bytes > 0);
    }
    if (plan.n_arms > 1) {
        assert_outputs_agree(dir, &run);
    }
}

int main(void)
{
    etp_os_facts facts;
    etp_os_facts_read(&facts);
    const char *bundle =
        etp_arena_printf(&s_arena, ETP_TEST_SOURCE_DIR "/build/bundle/%s", facts.triple);
    if (!etp_os_is_dir(bundle)) {
        printf("skipped: no runner bundle in build/bundle/%s (scripts/build-runner %s)\n",
               facts.triple, facts.triple);
        return 77;
    }
    etp_error err = {0};
    const etp_device_options o = {.runner = bundle, .work_root = ROOT "/work"};
    if (etp_device_open(&o, &s_device, &err) != ETP_OK) {
        printf("%s\n", err.msg);
        return 1;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_real_model_is_measured)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    etp_device_close(s_device);
    etp_status st = etp_os_remove_tree(ROOT, NULL);
    etp_arena_dispose(&s_arena);
    return failed + (st != ETP_OK);
}
