// SPDX-License-Identifier: Apache-2.0
// Whole sessions against a fake runner: what it plants must be in the run folder, what it breaks
// must cost that launch and nothing else. Expected numbers are worked out by hand.
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/outputs.h"

#define ROOT "session-test"
#include "session_fixture.h"

// Blocks that a busy machine makes long leave time to sample, unasked, which is another session.
static const etp_session_plan_options k_small = {.settings.blocks = 3,
                                                 .settings.no_kernels = true,
                                                 .settings.warmup = 2,
                                                 .settings.iterations = 5,
                                                 .settings.traced = 3,
                                                 .no_control = true,
                                                 .timeout_s = 5};

static void a_session_records_what_was_planted(void **state)
{
    fixture *f = *state;
    const etp_session_plan_options opts = {
        .settings.blocks = 8, .settings.warmup = 2, .settings.iterations = 5, .settings.traced = 3};
    outcome o = session(f, "base sme2 1000000\nbase neon 2500000\nwarm neon 2 300\n", &opts);
    assert_int_equal(o.status, ETP_OK);
    const etp_run *run = &o.run;
    assert_int_equal(run->state, ETP_RUN_FINISHED);
    assert_int_equal(run->blocks_done, 8);
    assert_int_equal(run->lost.n, 0);
    assert_int_equal(run->arms.n, 2);
    const char *platform = etp_platform_name(f->device->info.platform);
    assert_true(
        etp_str_eqz(run->arms.items[0].name, etp_arena_printf(&f->arena, "%s_sme2_on", platform)));
    assert_true(
        etp_str_eqz(run->arms.items[1].name, etp_arena_printf(&f->arena, "%s_sme2_off", platform)));
    assert_int_equal(run->baseline, 1); // the one named …off
    // 8 blocks × 2 arms × (timed 2+5, traced 2+3) and in the first 6 a control of 2+5
    assert_int_equal(run->samples.n, 8 * 2 * (7 + 5) + 6 * 7);
    assert_int_equal(run->launches.n, 8 * 4 + 6);
    assert_int_equal(run->dumps.n, 16);
    assert_int_equal(count_samples(run, 0, 0, ETP_PHASE_TIMED), 40);
    assert_int_equal(count_samples(run, 0, 0, ETP_PHASE_CONTROL), 0);
    assert_int_equal(count_samples(run, 1, 0, ETP_PHASE_CONTROL), 30);
    assert_int_equal(count_samples(run, 1, 7, ETP_PHASE_CONTROL), 0);
    assert_int_equal(count_samples(run, 1, 0, ETP_PHASE_TRACED), 24);
    assert_int_equal(count_samples(run, 1, 0, ETP_PHASE_WARMUP), 8 * 4 + 6 * 2);
    for (size_t i = 0; i < run->samples.n; i++) {
        const etp_run_sample *s = &run->samples.items[i];
        uint64_t slower = s->phase == ETP_PHASE_WARMUP ? 7500000 : 2500000;
        assert_int_equal(s->duration_ns, s->arm == 0 ? 1000000 : slower);
        assert_true((s->phase == ETP_PHASE_WARMUP) == (s->iteration < 2));
    }
    for (uint32_t b = 0; b < 8; b += 2) { // even blocks reverse the one before
        assert_int_equal(run->order.items[2 * b], run->order.items[2 * b + 3]);
        assert_int_equal(run->order.items[2 * b + 1], run->order.items[2 * b + 2]);
    }
    assert_true(run->launches.items[0].hook_calls == 3);
    assert_true(run->launches.items[0].hook_cost.calls == 27 &&
                run->launches.items[0].hook_cost.call_ps == 400);
    assert_true(run->launches.items[0].load_ns == 7000000);
    assert_true(etp_str_eqz(run->launches.items[0].mask_hook, "getauxval"));
    assert_true(run->selftest_ok);
    assert_int_equal(etp_run_check_files(run, &f->arena, NULL, NULL), ETP_OK);
    assert_string_equal(f->messages, "");
}

static void launches_follow_the_seeded_order(void **state)
{
    static const char *const k_levels[] = {"sme2", "sme1", "neon"};
    etp_session_plan_options opts = {
        .settings.blocks = 6, .settings.warmup = 1, .settings.iterations = 1, .settings.traced = 1};
    opts.levels = k_levels;
    opts.n_levels = 3;
    outcome o = session(*state, "", &opts);
    assert_int_equal(o.status, ETP_OK);
    for (uint32_t block = 1; block <= 6; block++) {
        uint32_t timed = 0, traced = 0, last_position = 0;
        const uint32_t *order = &o.run.order.items[3 * (block - 1)];
        for (size_t i = 0; i < o.run.launches.n; i++) {
            const etp_run_launch *l = &o.run.launches.items[i];
            if (l->block != block) {
                continue;
            }
            assert_true(l->position >= last_position);
            last_position = l->position;
            if (l->kind == ETP_LAUNCH_TIMED) {
                assert_int_equal(traced, 0); // all timed launches come first
                assert_int_equal(l->arm, order[timed++]);
            } else if (l->kind == ETP_LAUNCH_TRACED) {
                assert_int_equal(l->arm, order[traced++]);
            } else {
                assert_int_equal(l->arm, o.run.baseline);
            }
        }
        assert_int_equal(timed, 3);
        assert_int_equal(traced, 3);
        assert_int_equal(last_position, 6);
    }
}

static void the_pilot_fixes_the_counts(void **state)
{
    const etp_session_plan_options opts = {.settings.blocks = 1, .no_control = true};
    outcome o = session(*state, "base sme2 1000000\nbase neon 20000000\n", &opts);
    assert_int_equal(o.status, ETP_OK);
    // 1 ms: warm-up 0.2 s = 200; timed 3.2 × 0.2 s = 0.64 s = 640; traced at most 50.
    assert_int_equal(o.run.arms.items[0].warmup, 200);
    assert_int_equal(o.run.arms.items[0].iterations, 640);
    assert_int_equal(o.run.arms.items[0].traced, 50);
    // 20 ms: warm-up 10; timed 0.64 s = 32; traced as many.
    assert_int_equal(o.run.arms.items[1].warmup, 10);
    assert_int_equal(o.run.arms.items[1].iterations, 32);
    assert_int_equal(o.run.arms.items[1].traced, 32);
}

static void slow_and_fast_models_stay_within_limits(void **state)
{
    const etp_session_plan_options opts = {
        .settings.blocks = 1, .no_control = true, .settings.no_trace = true};
    outcome o = session(*state, "base sme2 100000\nbase neon 900000000\n", &opts);
    assert_int_equal(o.status, ETP_OK);
    assert_int_equal(o.run.arms.items[0].warmup, 2000);
    // Of the 2000 those at the ends: nobody reads the others.
    assert_int_equal(count_samples(&o.run, 0, 1, ETP_PHASE_WARMUP), 1000);
    assert_int_equal(o.run.arms.items[0].iterations, 1000); // at most
    assert_int_equal(o.run.arms.items[1].warmup, 3);        // at least
    assert_int_equal(o.run.arms.items[1].iterations, 10);   // 3.2 × 2.7 s would be 9.6
    assert_int_equal(o.run.dumps.n, 0);
}

static bool alive(uint64_t pid)
{
    return kill((pid_t)pid, 0) == 0;
}

// One launch of block 2 goes wrong in each of the ways; everything else must be there.
static void a_bad_launch_costs_that_launch(void **state)
{
    static const struct {
        const char *what, *kind;
        etp_lost_reason reason;
        const char *detail;
    } k_cases[] = {
        {"crash",         "timed",  ETP_LOST_CRASH,   "signal 11: the fake is about to crash"       },
        {"exit3",         "timed",  ETP_LOST_CRASH,   "status 3: the fake gives up"                 },
        {"late_exit",     "timed",  ETP_LOST_CRASH,   "status 9"                                    },
        {"hang",          "timed",  ETP_LOST_HANG,    "no answer for"                               },
        {"silent",        "traced", ETP_LOST_HANG,    "while starting"                              },
        {"garbage",       "timed",  ETP_LOST_GARBAGE, "in \"Segmentation nonsense {]\""             },
        {"longline",      "timed",  ETP_LOST_GARBAGE, "a line of more than 16384 bytes"             },
        {"skip",          "timed",  ETP_LOST_GARBAGE, "iteration 4 after 3"                         },
        {"backwards",     "timed",  ETP_LOST_GARBAGE, "iteration 4 starts before the last one ended"},
        {"short",         "timed",  ETP_LOST_GARBAGE, "asked for 2 iterations, got 1"               },
        {"wrong_nonce",   "timed",  ETP_LOST_GARBAGE, "not from the process that was started"       },
        {"wrong_pid",     "timed",  ETP_LOST_GARBAGE, "the runner reports pid"                      },
        {"protocol",      "timed",  ETP_LOST_GARBAGE, "protocol 2, not 1"                           },
        {"ignore_mask",   "timed",  ETP_LOST_MASK,    "the runner ignores its mask"                 },
        {"pretend_mask",  "timed",  ETP_LOST_MASK,    "the mask is not in force"                    },
        {"no_calls",      "timed",  ETP_LOST_MASK,    "no library of the SDK asked"                 },
        {"error:execute", "timed",  ETP_LOST_ERROR,   "the fake was told to refuse"                 },
        {"error:mask",    "timed",  ETP_LOST_MASK,    "the fake was told to refuse"                 },
        {"no_dump",       "traced", ETP_LOST_FILE,    "trace is missing"                            },
        {"bad_dump",      "traced", ETP_LOST_FILE,    "trace is not an ETDump (18 bytes)"           },
    };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        etp_session_plan_options opts = k_small;
        opts.timeout_s = 2; // much longer than any launch of the fake, also on a busy machine
        const char *model = etp_arena_printf(&f->arena, "%s/fake_xnnpack_fp32.pte.count", f->dir);
        assert_int_equal(etp_os_unlink(model, NULL), ETP_OK);
        // neon, whose mask hides something, so that ignoring it shows
        outcome o = session(
            f, etp_arena_printf(&f->arena, "on neon %s 2 %s\n", k_cases[i].kind, k_cases[i].what),
            &opts);
        print_message("  %s: %s\n", k_cases[i].what,
                      o.run.lost.n ? (const char *)o.run.lost.items[0].detail.ptr : "nothing lost");
        assert_int_equal(o.status, ETP_OK);
        assert_int_equal(o.result.state, ETP_RUN_FINISHED);
        assert_int_equal(o.result.blocks_lost, 1);
        assert_int_equal(o.run.blocks_done, 3);
        assert_int_equal(o.run.lost.n, 1);
        const etp_run_lost *l = &o.run.lost.items[0];
        assert_int_equal(l->arm, 1);
        assert_int_equal(l->block, 2);
        assert_int_equal(l->reason, k_cases[i].reason);
        assert_false(l->recovered);
        const char *detail = etp_arena_strdup(&f->arena, l->detail);
        assert_non_null(strstr(detail, k_cases[i].detail));
        bool timed = strcmp(k_cases[i].kind, "timed") == 0;
        assert_int_equal(l->kind, timed ? ETP_LAUNCH_TIMED : ETP_LAUNCH_TRACED);
        assert_int_equal(count_samples(&o.run, 1, 2, ETP_PHASE_TIMED), timed ? 0 : 5);
        assert_int_equal(count_samples(&o.run, 1, 2, ETP_PHASE_TRACED), 0);
        assert_int_equal(count_samples(&o.run, 0, 0, ETP_PHASE_TIMED), 15);
        assert_int_equal(count_samples(&o.run, 0, 0, ETP_PHASE_TRACED), 9);
        assert_int_equal(count_samples(&o.run, 1, 1, ETP_PHASE_TIMED), 5);
        assert_int_equal(count_samples(&o.run, 1, 3, ETP_PHASE_TIMED), 5);
        assert_int_equal(o.run.dumps.n, 5);
        for (size_t k = 0; k < o.run.launches.n; k++) {
            assert_false(alive(o.run.launches.items[k].pid));
        }
        assert_int_equal(etp_run_check_files(&o.run, &f->arena, NULL, NULL), ETP_OK);
    }
}

static void lost_blocks_are_made_up_for_within_reason(void **state)
{
    fixture *f = *state;
    etp_session_plan_options opts = k_small;
    opts.settings.blocks = 0; // 10, not exact
    outcome o = session(f, "on neon timed 2 crash\n", &opts);
    assert_int_equal(o.status, ETP_OK);
    assert_int_equal(o.run.blocks_done, 11);
    assert_int_equal(o.run.settings.blocks, 10);
    assert_non_null(strstr(f->messages, "NEON: timed launch lost (crash)")); // no experiment's name
    assert_null(strstr(f->messages, "_neon:"));
}

static void an_arm_that_always_fails_ends_the_session(void **state)
{
    fixture *f = *state;
    etp_session_plan_options opts = k_small;
    opts.settings.blocks = 10;
    outcome o = session(f, "on sme2 * * crash\n", &opts);
    assert_int_equal(o.status, ETP_OK); // neon was measured: a folder with losses, not an error
    assert_int_equal(o.run.blocks_done, 3);
    assert_int_equal(o.run.lost.n, 3);
    bool noted = false;
    for (size_t i = 0; i < o.run.n_notes; i++) {
        noted = noted || etp_str_eqz(o.run.notes[i].id, "arm_given_up");
    }
    assert_true(noted);
    assert_non_null(strstr(f->messages, "SME2: given up after 3 lost blocks"));
    assert_null(strstr(f->messages, "_sme2:"));
    assert_int_equal(count_samples(&o.run, 1, 0, ETP_PHASE_TIMED), 15);

    o = session(f, "on * * * crash\n", &opts);
    assert_int_equal(o.status, ETP_CHILD);
    assert_non_null(
        strstr(o.err.msg, "cannot be measured (crash): the runner was ended by signal 11"));
    assert_null(strstr(o.err.msg, "linux_"));
    assert_int_equal(o.run.state, ETP_RUN_INTERRUPTED);
    assert_int_equal(o.run.blocks_done, 0);
}

static void a_pilot_that_fails_spares_the_other_arm(void **state)
{
    fixture *f = *state;
    const etp_session_plan_options opts = {.settings.blocks = 8, .no_control = true};
    outcome o = session(f, "base * 50000000\non sme2 * * exit3\n", &opts);
    assert_int_equal(o.status, ETP_OK);
    assert_int_equal(o.run.lost.n, 2); // two tries
    assert_int_equal(o.run.lost.items[0].block, 0);
    assert_int_equal(o.run.lost.items[1].attempt, 2);
    assert_int_equal(o.run.blocks_done, 3); // nothing to compare: a few of the arm that works
    assert_int_equal(count_samples(&o.run, 0, 0, ETP_PHASE_TIMED), 0);
    assert_true(count_samples(&o.run, 1, 0, ETP_PHASE_TIMED) > 0);

    o = session(f, "on * * * exit3\n", &opts);
    assert_int_equal(o.status, ETP_CHILD);
    assert_int_equal(o.run.lost.n, 4);
    assert_int_equal(o.run.blocks_done, 0);
}

// A model that does not load at one level only says something about that level.
static void a_refusal_at_one_level_spares_the_other(void **state)
{
    static const char *const k_codes[] = {"load", "level", "mask"};
    static const char *const k_levels[] = {"sme2", "neon"};
    fixture *f = *state;
    for (size_t i = 0; i < 6; i++) {
        outcome o = session(
            f, etp_arena_printf(&f->arena, "on %s * * error:%s\n", k_levels[i % 2], k_codes[i / 2]),
            &k_small);
        assert_int_equal(o.status, ETP_OK);
        assert_int_equal(o.run.lost.n, 1); // and not tried again
        assert_int_equal(o.run.lost.items[0].arm, i % 2);
        assert_int_equal(o.run.blocks_done, 3);
        assert_int_equal(count_samples(&o.run, 1 - i % 2, 0, ETP_PHASE_TIMED), 15);
    }
}

static void two_good_arms_go_on_without_the_third(void **state)
{
    static const char *const k_levels[] = {"sme2", "sme1", "neon"};
    etp_session_plan_options opts = {
        .settings.blocks = 2, .no_control = true, .levels = k_levels, .n_levels = 3};
    outcome o = session(*state, "base * 50000000\non sme1 * * exit3\n", &opts);
    assert_int_equal(o.status, ETP_OK);
    assert_int_equal(o.run.blocks_done, 2);
    assert_int_equal(count_samples(&o.run, 1, 0, ETP_PHASE_TIMED), 0);
    assert_true(count_samples(&o.run, 0, 0, ETP_PHASE_TIMED) > 0);
    assert_true(count_samples(&o.run, 2, 0, ETP_PHASE_TIMED) > 0);
}

static void what_the_runner_says_about_the_model_is_final(void **state)
{
    static const struct {
        const char *code;
        etp_status status;
        uint32_t launches; // one; one per arm when it might be the level's fault
    } k_cases[] = {
        {"method",  ETP_USAGE,       1},
        {"not_pte", ETP_CORRUPT,     1},
        {"input",   ETP_USAGE,       1},
        {"file",    ETP_IO,          1},
        {"load",    ETP_UNSUPPORTED, 2},
        {"level",   ETP_ENVIRONMENT, 2},
        {"mask",    ETP_ENVIRONMENT, 2}
    };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        outcome o = session(f, etp_arena_printf(&f->arena, "on * * * error:%s\n", k_cases[i].code),
                            &k_small);
        assert_int_equal(o.status, k_cases[i].status);
        assert_string_equal(o.err.msg, "the fake was told to refuse");
        assert_int_equal(o.result.launches, k_cases[i].launches); // not tried again and again
        assert_string_equal(f->messages, "");                     // the error says it
        assert_true(etp_os_is_dir(o.dir) ==
                    (o.status == ETP_IO)); // a wrong request leaves no folder
    }
}

static void an_interruption_keeps_what_was_measured(void **state)
{
    fixture *f = *state;
    f->stop_after = 6; // block 2 has 2 of its 4 launches
    outcome o = session(f, "", &k_small);
    assert_int_equal(o.status, ETP_OK);
    assert_int_equal(o.result.state, ETP_RUN_INTERRUPTED);
    assert_int_equal(o.result.signal, SIGINT);
    assert_int_equal(o.run.state, ETP_RUN_INTERRUPTED);
    assert_int_equal(o.run.signal, SIGINT);
    assert_int_equal(o.run.blocks_done, 2);
    assert_int_equal(o.result.blocks, 1);
    assert_int_equal(o.run.launches.n, 6);
    assert_int_equal(o.run.lost.n, 0);
    assert_int_equal(count_samples(&o.run, 0, 2, ETP_PHASE_TIMED), 5);
    assert_int_equal(count_samples(&o.run, 1, 2, ETP_PHASE_TIMED), 5);
    assert_int_equal(count_samples(&o.run, 0, 2, ETP_PHASE_TRACED), 0);
    assert_int_equal(etp_run_check_files(&o.run, &f->arena, NULL, NULL), ETP_OK);
}

static etp_status go_on(fixture *f, outcome *o, etp_session_plan_options *opts)
{
    etp_session_plan plan;
    etp_status st = etp_plan_options_of(&o->run, &f->arena, opts, &o->err);
    assert_int_equal(st, ETP_OK);
    opts->timeout_s = 5;
    st = etp_session_plan_make(opts, f->device, &f->cpu, &f->arena, &plan, &o->err);
    assert_int_equal(st, ETP_OK);
    plan.dir = o->dir;
    plan.resume = &o->run;
    o->result = (etp_session_view){
        .ctx = f, .progress = on_progress, .message = on_message, .interrupted = on_interrupted};
    st = etp_session_measure(f->device, &plan, &o->result, &o->err);
    etp_run back;
    assert_int_equal(etp_run_open(o->dir, &f->arena, &back, NULL), ETP_OK);
    o->run = back;
    return st;
}

static void an_interrupted_session_goes_on_as_planned(void **state)
{
    fixture *f = *state;
    outcome whole, o;
    etp_session_plan_options opts = {.settings.blocks = 6,
                                     .settings.warmup = 2,
                                     .settings.iterations = 5,
                                     .settings.traced = 3,
                                     .settings.seed = 7,
                                     .timeout_s = 5};
    whole = session(f, "", &opts);
    f->begun = 0;
    f->stop_after = 8; // 5 launches a block (control included): in the middle of block 2
    o = session(f, "", &opts);
    assert_int_equal(o.run.state, ETP_RUN_INTERRUPTED);
    assert_int_equal(o.run.blocks_done, 2);
    assert_int_equal(o.result.blocks, 1);
    f->stop_after = 0;
    assert_int_equal(go_on(f, &o, &opts), ETP_OK);
    assert_int_equal(o.run.state, ETP_RUN_FINISHED);
    // Block 2 has three of its five launches, no traced one: one more makes up for it.
    assert_int_equal(count_samples(&o.run, 0, 2, ETP_PHASE_TRACED), 0);
    assert_int_equal(o.run.blocks_done, 6 + 1);
    for (uint32_t b = 1; b <= o.run.blocks_done; b++) {
        assert_true(b == 2 || count_samples(&o.run, 0, b, ETP_PHASE_TIMED) == 5);
        assert_true(b == 2 || count_samples(&o.run, 1, b, ETP_PHASE_TIMED) == 5);
    }
    assert_memory_equal(o.run.order.items, whole.run.order.items, 12 * sizeof(uint32_t));
    for (size_t i = 1; i < o.run.launches.n; i++) { // no number twice
        assert_true(o.run.launches.items[i].launch > o.run.launches.items[i - 1].launch);
    }
    assert_int_equal(etp_run_check_files(&o.run, &f->arena, NULL, NULL), ETP_OK);
    assert_int_equal(go_on(f, &o, &opts), ETP_USAGE); // it is finished
    assert_non_null(strstr(o.err.msg, "is finished"));
}

static void a_session_does_not_go_on_with_another_model(void **state)
{
    fixture *f = *state;
    etp_session_plan_options opts = k_small;
    f->stop_after = 6;
    outcome o = session(f, "", &opts);
    f->stop_after = 0;
    write_model(f, "base sme2 5\n");
    assert_int_equal(go_on(f, &o, &opts), ETP_USAGE);
    assert_string_equal(o.err.msg, "a model changed since this session began: start a new one");
    assert_int_equal(o.run.blocks_done, 2);
    assert_int_equal(o.run.state, ETP_RUN_INTERRUPTED);
}

static void a_talkative_runner_is_cut_short(void **state)
{
    fixture *f = *state;
    etp_session_plan_options opts = k_small;
    opts.timeout_s = 5; // a busy machine may be silent for a second
    uint64_t start = etp_os_now_ns();
    outcome o = session(f, "on * * * spam\n", &opts); // 100,000 lines on stderr stop nothing
    assert_int_equal(o.status, ETP_OK);
    assert_int_equal(o.run.lost.n, 0);
    assert_true(etp_os_now_ns() - start < 60000000000u);
    const char *log =
        etp_run_path(&f->arena, o.dir,
                     etp_str_from(etp_run_dump_name(&f->arena, &o.run.arms.items[0], 1, ".log")));
    etp_str text;
    assert_int_equal(etp_os_read_text(log, 1 << 20, &f->arena, &text, NULL), ETP_OK);
    // The lines of the protocol, then of stderr the beginning.
    size_t stderr_at = etp_str_find(text, ETP_STR("line 0 of"));
    assert_true(etp_str_starts(text, ETP_STR("{\"type\":\"hello\"")));
    assert_int_equal(text.len - stderr_at, 256 << 10);
}

static void helpers_of_a_runner_do_not_outlive_it(void **state)
{
    fixture *f = *state;
    etp_session_plan_options opts = k_small;
    opts.settings.blocks = 1;
    session(f, "on sme2 timed 1 orphan\n", &opts);
    etp_str text;
    const char *path = etp_arena_printf(&f->arena, "%s/fake_xnnpack_fp32.pte.orphan", f->dir);
    assert_int_equal(etp_os_read_text(path, 100, &f->arena, &text, NULL), ETP_OK);
    char state_of[64], line[256] = "";
    snprintf(state_of, sizeof state_of, "/proc/%.*s/stat", ETP_STR_ARG(text));
    for (int i = 0; i < 200; i++) {
        FILE *file = fopen(state_of, "re");
        line[0] = '\0';
        if (file) {
            if (!fgets(line, sizeof line, file)) {
                line[0] = '\0';
            }
            fclose(file);
        }
        if (line[0] == '\0' || strstr(line, ") Z ")) {
            return;
        }
        etp_os_sleep_ns(5000000);
    }
    fail_msg("still there: %s", line);
}

static void ctrl_c_ends_a_hang_at_once(void **state)
{
    fixture *f = *state;
    const char *wanted = etp_arena_printf(&f->arena, "%s/hang", f->dir);
    const char *model = write_model(f, "on neon timed 2 hang\n");
    pid_t child = fork();
    if (child == 0) {
        etp_session_plan_options opts = k_small;
        static const char *const k_levels[] = {"sme2", "neon"};
        opts.models = &model;
        opts.n_models = 1;
        opts.levels = k_levels;
        opts.n_levels = 2;
        opts.timeout_s = 300;
        etp_session_plan plan;
        etp_session_view result = {0};
        const char *dir;
        signal(SIGINT, SIG_DFL); // a script's `&` starts us with it ignored
        bool ok =
            etp_os_catch_signals(NULL) == ETP_OK &&
            etp_session_plan_make(&opts, f->device, &f->cpu, &f->arena, &plan, NULL) == ETP_OK &&
            etp_run_create_folder(wanted, true, &f->arena, &dir, NULL) == ETP_OK;
        plan.dir = wanted;
        ok = ok && etp_session_measure(f->device, &plan, &result, NULL) == ETP_OK;
        _exit(ok && result.signal == SIGINT ? 0 : 1);
    }
    etp_run run = {0};
    for (int k = 0; k < 6000 && run.blocks_done == 0; k++) { // block 1 is there, block 2 hangs
        etp_os_sleep_ns(10000000);
        if (etp_run_open(wanted, &f->arena, &run, NULL) != ETP_OK) {
            run.blocks_done = 0;
        }
    }
    etp_os_sleep_ns(500000000);
    uint64_t start = etp_os_now_ns();
    kill(child, SIGINT);
    int status = 0;
    waitpid(child, &status, 0);
    assert_true(etp_os_now_ns() - start < 30000000000u); // on a busy machine too
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(etp_run_open(wanted, &f->arena, &run, NULL), ETP_OK);
    assert_int_equal(run.state, ETP_RUN_INTERRUPTED);
    assert_int_equal(run.signal, SIGINT);
    assert_int_equal(count_samples(&run, 1, 1, ETP_PHASE_TIMED), 5);
}

static void a_full_disk_is_told_and_keeps_whole_blocks(void **state)
{
    etp_session_plan_options opts = k_small;
    opts.settings.blocks = 20;
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit old, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 16000; // environment.jsonl passes this after some blocks
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    // a busy machine: long enough to be sampled beside
    outcome o = session(*state, "wall timed 1 400\n", &opts);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(o.status, ETP_IO);
    assert_non_null(strstr(o.err.msg, "cannot write"));
    assert_true(o.run.blocks_done > 0 && o.run.blocks_done < 20);
    assert_int_equal(count_samples(&o.run, 0, 0, ETP_PHASE_TIMED), 5 * o.run.blocks_done);
    assert_int_equal(o.run.samples_ignored, 0);
}

// A clock that the test sets: the state of the machine after each look at it.
static struct {
    etp_device_vtable ops;
    void (*real)(etp_device *d, etp_os_state *out);
    unsigned looks;
} s_clock;

static void state_with_sleep(etp_device *d, etp_os_state *out)
{
    s_clock.real(d, out);
    // Look 1 describes the machine, 2 and 3 begin and end block 1, and so on. Block 2 sleeps 10 s.
    out->asleep_ns = ++s_clock.looks >= 5 ? 10000000000u : 1000000; // less than can be told apart
}

static void sleep_is_marked_in_its_block(void **state)
{
    fixture *f = *state;
    s_clock.ops = *f->device->ops;
    s_clock.real = s_clock.ops.state;
    s_clock.ops.state = state_with_sleep;
    s_clock.looks = 0;
    f->device->ops = &s_clock.ops;
    outcome o = session(f, "", &k_small);
    assert_int_equal(o.status, ETP_OK);
    assert_int_equal(o.run.blocks_done, 3); // and nothing is thrown away
    assert_int_equal(count_samples(&o.run, 0, 2, ETP_PHASE_TIMED), 5);
    assert_int_equal(o.run.blocks.items[0].slept_ns, 0);
    assert_int_equal(o.run.blocks.items[1].slept_ns, 9999000000);
    assert_int_equal(o.run.blocks.items[2].slept_ns, 0);
    // The steady clock stood still and the wall clock, which this test cannot move, did not go on:
    // to us it was set back by those 10 s.
    assert_true(o.run.blocks.items[1].clock_jump_s < -8.9 &&
                o.run.blocks.items[1].clock_jump_s > -11.1);
    assert_true(o.run.blocks.items[0].clock_jump_s == 0 && o.run.blocks.items[2].clock_jump_s == 0);
    assert_non_null(strstr(f->messages, "block 2: the machine slept for 10 s"));
    assert_true(o.run.n_notes >= 2 && etp_str_eqz(o.run.notes[0].id, "slept"));
}

static void killing_the_tool_loses_no_block(void **state)
{
    fixture *f = *state;
    // The fake's launches are short, so that kills hit every part of the loop.
    for (uint64_t i = 0; i < 12; i++) {
        const char *wanted = etp_arena_printf(&f->arena, "%s/killed/%u", f->dir, (unsigned)i);
        pid_t child = fork();
        if (child == 0) {
            static const char *const k_levels[] = {"sme2", "neon"};
            const char *model = write_model(f, "");
            etp_session_plan_options opts = {.models = &model,
                                             .n_models = 1,
                                             .levels = k_levels,
                                             .n_levels = 2,
                                             .settings.blocks = 30,
                                             .settings.warmup = 1,
                                             .settings.iterations = 2,
                                             .settings.traced = 1};
            etp_session_plan plan;
            etp_session_view result = {0};
            const char *dir;
            if (etp_session_plan_make(&opts, f->device, &f->cpu, &f->arena, &plan, NULL) ==
                    ETP_OK &&
                etp_run_create_folder(wanted, true, &f->arena, &dir, NULL) == ETP_OK) {
                plan.dir = dir;
                etp_status st = etp_session_measure(f->device, &plan, &result, NULL);
                (void)st;
            }
            _exit(0);
        }
        etp_run run = {0};
        etp_error err = {0};
        for (int k = 0; k < 6000 && run.blocks_done == 0; k++) { // it has begun
            etp_os_sleep_ns(10000000);
            if (etp_run_open(wanted, &f->arena, &run, NULL) != ETP_OK) {
                run.blocks_done = 0;
            }
        }
        etp_os_sleep_ns(i * 13700000);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        if (etp_run_open(wanted, &f->arena, &run, &err) != ETP_OK) {
            fail_msg("after kill %u: %s", (unsigned)i, err.msg);
        }
        assert_int_equal(run.state, ETP_RUN_RUNNING);
        assert_true(run.blocks_done >= 1);
        assert_int_equal(count_samples(&run, 0, 0, ETP_PHASE_TIMED), 2 * run.blocks_done);
        assert_int_equal(count_samples(&run, 1, 0, ETP_PHASE_TIMED), 2 * run.blocks_done);
        assert_int_equal(run.dumps.n, 2 * run.blocks_done);
        if (i % 12 == 11) { // and what was left can be finished
            outcome o = {.run = run, .dir = wanted};
            etp_session_plan_options opts;
            assert_int_equal(go_on(f, &o, &opts), ETP_OK);
            assert_int_equal(o.run.state, ETP_RUN_FINISHED);
            assert_int_equal(o.run.blocks_done, 30);
            assert_int_equal(count_samples(&o.run, 0, 0, ETP_PHASE_TIMED), 60);
            assert_int_equal(o.run.dumps.n, 60);
            assert_int_equal(o.run.samples_ignored, 0);
        }
    }
}

static void a_budget_ends_the_session_after_a_whole_block(void **state)
{
    etp_session_plan_options opts = k_small;
    opts.settings.blocks = 0;
    opts.settings.budget_s = 0.000001;
    outcome o = session(*state, "", &opts);
    assert_int_equal(o.status, ETP_OK);
    assert_int_equal(o.run.state, ETP_RUN_FINISHED);
    assert_int_equal(o.run.blocks_done, 1); // the first one is always made
    assert_int_equal(o.run.settings.blocks, ETP_BUDGET_BLOCKS);
}

static void outputs_of_the_arms_are_kept_and_compared(void **state)
{
    fixture *f = *state;
    outcome o = session(f, "", &k_small);
    const char *a = etp_run_path(
        &f->arena, o.dir, etp_str_from(etp_run_outputs_name(&f->arena, &o.run.arms.items[0])));
    const char *b = etp_run_path(
        &f->arena, o.dir, etp_str_from(etp_run_outputs_name(&f->arena, &o.run.arms.items[1])));
    etp_outputs_comparison c;
    assert_int_equal(etp_outputs_compare(a, b, ETP_OUTPUTS_FLOAT32, &f->arena, &c, NULL), ETP_OK);
    assert_true(c.ok);
    o = session(f, "on neon traced * other_output\n", &k_small);
    a = etp_run_path(&f->arena, o.dir,
                     etp_str_from(etp_run_outputs_name(&f->arena, &o.run.arms.items[0])));
    b = etp_run_path(&f->arena, o.dir,
                     etp_str_from(etp_run_outputs_name(&f->arena, &o.run.arms.items[1])));
    assert_int_equal(etp_outputs_compare(a, b, ETP_OUTPUTS_FLOAT32, &f->arena, &c, NULL), ETP_OK);
    assert_false(c.ok);
    assert_true(c.max_abs == 3.0); // 2 against 5
}

// A device whose connection the user ends while a trace is on its way.
static fixture *s_pulling;
static unsigned s_pulls;
static const etp_device_vtable *s_real_ops;

static etp_status pull_ended_by_the_user(etp_device *d, const char *remote, const char *local,
                                         etp_error *err)
{
    if (++s_pulls < 4) {
        return s_real_ops->pull(d, remote, local, err);
    }
    s_pulling->stop_after = 1; // from now on, as the signal would
    return etp_fail(err, ETP_INTERRUPTED, "interrupted");
}

static void an_interrupted_pull_loses_nothing(void **state)
{
    fixture *f = *state;
    etp_device_vtable ops = *f->device->ops;
    s_real_ops = f->device->ops;
    s_pulling = f;
    s_pulls = 0;
    ops.pull = pull_ended_by_the_user;
    f->device->ops = &ops;
    outcome o = session(f, "", &k_small);
    f->device->ops = s_real_ops;
    assert_int_equal(o.status, ETP_OK);
    assert_int_equal(o.result.state, ETP_RUN_INTERRUPTED);
    assert_int_equal(o.result.launches_lost, 0);
    assert_int_equal(o.run.lost.n, 0);
}

// Each level has a name that is the beginning of one of the other's, so whichever comes first.
static void kernels_are_told_by_whole_names(void **state)
{
    fixture *f = *state;
    outcome o = session(f,
                        "kernels sme2 a::add.out_mode, a::mul.out\n"
                        "kernels neon a::add.out, a::mul.out_mode, a::mul.out\n",
                        &k_small);
    assert_int_equal(o.status, ETP_OK);
    etp_str said = ETP_STR("");
    for (size_t i = 0; i < o.run.n_notes; i++) {
        said = etp_str_eqz(o.run.notes[i].id, "kernels_ours") ? o.run.notes[i].text : said;
    }
    const char *expected = o.run.order.items[0] == 0
                               ? "a::add.out_mode, a::mul.out, a::add.out, a::mul.out_mode"
                               : "a::add.out, a::mul.out_mode, a::mul.out, a::add.out_mode";
    expected = etp_arena_printf(
        &f->arena, "%s are etprof's own kernels; their time is not ExecuTorch's", expected);
    assert_string_equal(etp_arena_strdup(&f->arena, said), expected);
}
