// SPDX-License-Identifier: Apache-2.0
// What a session refuses before anything is launched, and how arms get their names.
#include <sys/stat.h>

#define ROOT "plan-test"
#include "session_fixture.h"

#include "measure/foreign.h"
#include "measure/pilot.h"

static etp_status plan_error(fixture *f, const etp_session_plan_options *o, etp_error *err)
{
    etp_session_plan plan;
    return etp_session_plan_make(o, f->device, &f->cpu, &f->arena, &plan, err);
}

// One feature off each: the arms, and that all are compared with the one that hides nothing.
static void features_are_hidden_one_by_one(void **state)
{
    fixture *f = *state;
    etp_error err;
    etp_session_plan plan;
    const char *model = write_model(f, "");
    static const char *const k_hide[] = {"sme2", "i8mm"}, *const k_other[] = {"nope"},
                             *const k_elsewhere[] = {"avx512fp16"}, *const k_each = "each";
    etp_session_plan_options o = {.models = &model, .n_models = 1, .hide = k_hide, .n_hide = 2};
    assert_int_equal(etp_session_plan_make(&o, f->device, &f->cpu, &f->arena, &plan, &err), ETP_OK);
    static const char *const k_levels[] = {"best", "-sme2", "-i8mm"};
    assert_int_equal(plan.n_arms, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_string_equal(plan.arms[i].level_name, k_levels[i]);
    }
    assert_int_equal(plan.baseline, 0);
    assert_string_equal(plan.arms[0].mask, "aarch64:hwcap=0x0,hwcap2=0x0");
    assert_string_equal(plan.arms[2].mask, "aarch64:hwcap=0x0,hwcap2=0x2200");
    o.n_hide = 1; // one alone is what the best is compared with
    assert_int_equal(etp_session_plan_make(&o, f->device, &f->cpu, &f->arena, &plan, &err), ETP_OK);
    assert_int_equal(plan.baseline, 1);
    o.hide = k_other;
    assert_int_equal(plan_error(f, &o, &err), ETP_USAGE);
    assert_non_null(strstr(err.msg, "no feature nope; this CPU has: sme2, sme"));
    o.hide = k_elsewhere;
    assert_int_equal(plan_error(f, &o, &err), ETP_ENVIRONMENT);
    // Flags of the processor, as masks print them, by the feature that they belong to.
    assert_int_equal(etp_isa_feature_of_flag("avx512f"), ETP_HAS_AVX512);
    assert_int_equal(etp_isa_feature_of_flag("avx512cd"), ETP_HAS_AVX512);
    assert_int_equal(etp_isa_feature_of_flag("fma3"), ETP_HAS_FMA);
    assert_int_equal(etp_isa_feature_of_flag("avx512"), ETP_HAS_COUNT);
    etp_isa_mask mask = etp_level_mask(ETP_LEVEL_WITHOUT_I8MM); // a runner without code for I8MM
    etp_isa_cpu usable = etp_isa_cpu_masked(&f->cpu.cpu, &mask);
    o.hide = &k_hide[1];
    o.usable = &usable;
    assert_int_equal(plan_error(f, &o, &err), ETP_ENVIRONMENT);
    assert_non_null(strstr(err.msg, "hiding i8mm changes nothing: this runner's XNNPACK has no "
                                    "code for it; it has code for: sme2"));
    o.usable = NULL;
    o.hide = &k_each;
    assert_int_equal(etp_session_plan_make(&o, f->device, &f->cpu, &f->arena, &plan, &err), ETP_OK);
    assert_true(plan.n_arms > 3 && plan.baseline == 0);
    for (uint32_t i = 1; i < plan.n_arms; i++) { // what the CPU has, and no more
        etp_isa_feature hidden = etp_level_without(plan.arms[i].level);
        assert_true(hidden < ETP_HAS_COUNT && etp_isa_has(&f->cpu.cpu, hidden));
    }
}

static void bad_plans_are_refused_before_anything_starts(void **state)
{
    fixture *f = *state;
    etp_error err;
    const char *model = write_model(f, "");
    const char *levels[2] = {"sme2", "neon"};
    etp_session_plan_options o = {.models = &model, .n_models = 1, .levels = levels, .n_levels = 2};
    levels[1] = "fast";
    assert_int_equal(plan_error(f, &o, &err), ETP_USAGE);
    assert_non_null(strstr(err.msg, "unknown level fast; aarch64 has: sme2, sme1, neon"));
    levels[1] = "avx2";
    assert_int_equal(plan_error(f, &o, &err), ETP_ENVIRONMENT);
    assert_non_null(strstr(err.msg, "this processor has no level avx2"));
    levels[1] = "sme2";
    assert_int_equal(plan_error(f, &o, &err), ETP_USAGE);
    assert_non_null(strstr(err.msg, "given twice"));
    levels[1] = "-bf16x";
    assert_int_equal(plan_error(f, &o, &err), ETP_USAGE);
    levels[1] = "neon";
    o.baseline = "sme3";
    assert_int_equal(plan_error(f, &o, &err), ETP_USAGE);
    o.baseline = "sme2"; // a level names its arm
    assert_int_equal(plan_error(f, &o, &err), ETP_OK);
    o.settings.inputs = "ones,nowhere.bin";
    assert_int_equal(plan_error(f, &o, &err), ETP_IO);
    o.settings.inputs = NULL;
    const char *missing = "nowhere.pte";
    o.models = &missing;
    assert_int_equal(plan_error(f, &o, &err), ETP_IO);
    static const struct {
        const char *bytes;
        size_t len;
        etp_status status;
        const char *says;
    } k_files[] = {
        {"",             0,  ETP_CORRUPT,     "is empty"                 },
        {"abc",          3,  ETP_CORRUPT,     "it has only 3 bytes"      },
        {"0000ED000000", 12, ETP_CORRUPT,     "an ETDump"                },
        {"0000ET990000", 12, ETP_UNSUPPORTED, "program format 'ET99'"    },
        {"hello world!", 12, ETP_CORRUPT,     "not an ExecuTorch program"}
    };
    for (size_t i = 0; i < sizeof k_files / sizeof *k_files; i++) {
        const char *path = etp_arena_printf(&f->arena, "%s/bad.pte", f->dir);
        assert_int_equal(
            etp_os_write_atomic(path, (etp_str){k_files[i].bytes, k_files[i].len}, NULL), ETP_OK);
        o.models = &path;
        assert_int_equal(plan_error(f, &o, &err), k_files[i].status);
        assert_non_null(strstr(err.msg, k_files[i].says));
    }
}

static void several_models_and_threads_make_distinct_arms(void **state)
{
    fixture *f = *state;
    const char *a = write_model(f, "");
    const char *b = etp_arena_printf(&f->arena, "%s/other.pte", f->dir);
    assert_int_equal(etp_os_write_atomic(b, ETP_STR("xxxxET12xxxx"), NULL), ETP_OK);
    const char *models[] = {a, b};
    const uint32_t threads[] = {1, 4};
    const etp_session_plan_options o = {
        .models = models, .n_models = 2, .threads = threads, .n_threads = 2};
    etp_session_plan plan;
    assert_int_equal(etp_session_plan_make(&o, f->device, &f->cpu, &f->arena, &plan, NULL), ETP_OK);
    assert_int_equal(plan.n_arms, 4); // the best level alone: models and threads are the question
    const char *p = etp_platform_name(f->device->info.platform);
    assert_string_equal(plan.arms[3].name, etp_arena_printf(&f->arena, "other_%s_sme2_t4", p));
    assert_string_equal(plan.arms[3].prefix,
                        etp_arena_printf(&f->arena, "other_other_%s_sme2_t4_t4", p));
    assert_int_equal(plan.baseline, 0);
}

static void a_runner_that_is_no_runner_is_told(void **state)
{
    fixture *f = *state;
    etp_error err;
    etp_device *d;
    etp_device_cpu cpu;
    etp_device_options o = {.runner = "/bin/echo", .work_root = ROOT "/work"};
    assert_int_equal(etp_device_open(&o, &d, &err), ETP_OK);
    assert_int_equal(etp_session_probe(d, 0, NULL, &f->arena, &cpu, &err), ETP_CHILD);
    assert_non_null(strstr(err.msg, "does not speak etprof's protocol"));
    etp_device_close(d);
    o.runner = "/bin/false";
    assert_int_equal(etp_device_open(&o, &d, &err), ETP_OK);
    assert_int_equal(etp_session_probe(d, 0, NULL, &f->arena, &cpu, &err), ETP_ENVIRONMENT);
    assert_non_null(strstr(err.msg, "does not start (status 1)"));
    etp_device_close(d);
    o.runner = "/dev/null/none"; // a place that cannot be made
    assert_int_equal(etp_device_open(&o, &d, &err), ETP_ENVIRONMENT);
    o.runner = NULL;
    assert_int_equal(etp_device_open(&o, &d, &err), ETP_ENVIRONMENT);
    assert_non_null(strstr(err.msg, "scripts/build-runner"));
    o.spec = "toaster";
    assert_int_equal(etp_device_open(&o, &d, &err), ETP_USAGE);
}

// Asked by whoever embeds a session: the signals of this process are not theirs.
static int stop_now(void *ctx)
{
    unsigned *asked = ctx;
    return ++*asked > 1 ? SIGINT : 0;
}

static void a_silent_probe_ends_when_the_session_is_to_end(void **state)
{
    fixture *f = *state;
    etp_error err;
    etp_device *d;
    etp_device_cpu cpu;
    unsigned asked = 0;
    const etp_session_view view = {.ctx = &asked, .interrupted = stop_now};
    const char *silent = etp_arena_printf(&f->arena, "%s/silent", f->dir);
    const etp_device_options o = {.runner = silent, .work_root = ROOT "/work"};
    assert_int_equal(etp_os_write_atomic(silent, ETP_STR("#!/bin/sh\nexec sleep 50\n"), NULL),
                     ETP_OK);
    assert_int_equal(chmod(silent, 0755), 0);
    assert_int_equal(etp_device_open(&o, &d, &err), ETP_OK);
    uint64_t begin = etp_os_now_ns();
    assert_int_equal(etp_foreign_probe(d, &view, &f->arena, &cpu, &err), ETP_INTERRUPTED);
    asked = 0;
    assert_int_equal(etp_session_probe(d, 0, &view, &f->arena, &cpu, &err), ETP_INTERRUPTED);
    assert_true(etp_os_now_ns() - begin < 20000000000u);
    etp_device_close(d);
}

// 0.2 s of a microsecond each, however many launches there are.
static void a_short_model_warms_up_as_long(void **state)
{
    etp_launch_iteration each[20];
    double scratch[10];
    etp_launch_outcome trial = {.iterations = each, .n_warmup = 10, .n_iterations = 10};
    const etp_session_plan plan = {.n_arms = 2, .blocks = 1000000};
    for (size_t i = 0; i < 20; i++) {
        each[i] = (etp_launch_iteration){i * 1000, 1000};
    }
    assert_int_equal(etp_pilot_counts(&plan, &trial, scratch).warmup, 200000);
}
