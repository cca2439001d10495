// SPDX-License-Identifier: Apache-2.0
// How long a session samples program counters, asked and unasked, against a fake runner. Expected
// numbers are worked out by hand.
#define ROOT "sampling-test"
#include "session_fixture.h"

static const etp_session_plan_options k_small = {.settings.blocks = 3,
                                                 .settings.warmup = 2,
                                                 .settings.iterations = 5,
                                                 .settings.traced = 3,
                                                 .no_control = true,
                                                 .timeout_s = 5};

// One arm is asked about; the other one is sampled once.
static void sampling_goes_on_until_enough_is_known(void **state)
{
    static const struct {
        double shares[12], reachable[12], budget_s;
        unsigned launches; // of the arm
        const char *why;
    } k_cases[] = {
        {{0.95},                                             {0.95},      0,     1,  "known"  },
        {{0.5, 0.8, 0.9},                                    {1, 1, 1},   0,     3,  "known"  },
        {{0.5, 0.7, 0.7},                                    {1, 1, 0.7}, 0,     3,  "no_gain"},
        {{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1},
         {1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
         0,                                                                      10,
         "bound"                                                                              },
        {{0.5},                                              {1},         0.001, 1,  "budget" },
    };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        etp_session_plan_options opts = k_small;
        opts.settings.blocks = 2;
        opts.settings.kernels = true;
        opts.settings.budget_s = k_cases[i].budget_s;
        f->shares = k_cases[i].shares;
        f->reachable = k_cases[i].reachable;
        f->rounds = 0;
        outcome o = session(f, "base sme2 1000000\nbase neon 2000000\n", &opts);
        assert_int_equal(o.status, ETP_OK);
        assert_int_equal(o.run.lost.n, 0);
        unsigned of[2] = {0, 0};
        for (size_t k = 0; k < o.run.launches.n; k++) {
            const etp_run_launch *l = &o.run.launches.items[k];
            of[l->arm] += l->kind == ETP_LAUNCH_SAMPLED && l->block == 1;
        }
        assert_int_equal(of[0], 1);
        assert_int_equal(of[1], k_cases[i].launches);
        assert_string_equal(etp_samples_end_name(o.run.arms.items[1].sampling), k_cases[i].why);
        assert_int_equal(o.run.arms.items[0].sampling, ETP_SAMPLES_NOT_TOLD);
        // Asked with what the most launches would be, against those made: 10/1, 10/2 …
        assert_true(f->times[0] == 10 && (f->rounds < 2 || f->times[1] == 5));
        assert_int_equal(o.run.blocks_done, k_cases[i].budget_s > 0 ? 1 : 2);
        const char *last = etp_run_sampled_name(&f->arena, &o.run.arms.items[1], 1,
                                                k_cases[i].launches, ".samples");
        assert_true(etp_os_is_file(etp_run_path(&f->arena, o.dir, etp_str_from(last))));
        assert_int_equal(etp_run_check_files(&o.run, &f->arena, NULL, NULL), ETP_OK);
    }
    f->shares = NULL;
}

// What ran is known for nearly all operators, but the samples are too few to judge the level by:
// both arms are sampled until they are not.
static void too_few_samples_are_not_the_end(void **state)
{
    static const double k_shares[] = {0.95, 0.95, 0.95}, k_reachable[] = {0.95, 0.95, 0.95};
    static const bool k_few[] = {true, true, false};
    fixture *f = *state;
    etp_session_plan_options opts = k_small;
    opts.settings.kernels = true;
    f->shares = k_shares;
    f->reachable = k_reachable;
    f->few = k_few;
    f->rounds = 0;
    outcome o = session(f, "base sme2 1000000\nbase neon 2000000\n", &opts);
    assert_int_equal(o.status, ETP_OK);
    unsigned of[2] = {0, 0};
    for (size_t k = 0; k < o.run.launches.n; k++) {
        of[o.run.launches.items[k].arm] += o.run.launches.items[k].kind == ETP_LAUNCH_SAMPLED;
    }
    assert_int_equal(of[0], 3);
    assert_int_equal(of[1], 3);
    assert_string_equal(etp_samples_end_name(o.run.arms.items[1].sampling), "known");
    f->shares = NULL;
    f->few = NULL;
}

// A block of two arms at 100 ms takes 2 × (7 + 5) × 0.1 s = 2.4 s, and a sampled launch 0.2 s more
// than what it samples. Worked out by hand: a third of the blocks' time or of the budget is the
// most, 3 s of samples the goal, 1 s the least, in steps of a tenth; 30 are 3 s.
static void sampling_is_unasked_where_it_takes_little(void **state)
{
    static const struct {
        etp_settings set;
        unsigned iterations; // of each sampled launch; 0: none
        const char *why;
    } k_cases[] = {
        {{.blocks = 10},                     30, "known"   }, // 6.4 of 8 s
        {{.blocks = 4},                      12, "known"   }, // 3.0 of 3.2 s
        {{.blocks = 2},                      0,  "part"    }, // 2.4 of 1.6 s
        {{.blocks = 2, .kernels = true},     0,  "known"   }, // asked for: see below
        {{.blocks = 10, .no_kernels = true}, 0,  "off"     },
        {{.blocks = 10, .no_trace = true},   0,  "untraced"},
        {{.blocks = 10, .budget_s = 30},     30, "known"   }, // 6.4 of 10 s
        {{.blocks = 10, .budget_s = 12},     0,  "blocks"  }, // six take 14.4 s
        {{.blocks = 10, .budget_s = 3.6},    0,  "blocks"  },
        {{.blocks = 1, .budget_s = 6},       0,  "part"    }, // 2.4 of 2 s
    };
    static const double k_shares[] = {0.95}, k_reachable[] = {1};
    fixture *f = *state;
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        etp_session_plan_options opts = k_small;
        uint64_t expected = k_cases[i].set.kernels ? 100 : k_cases[i].iterations; // 100: not known
        unsigned sampled = 0;
        opts.settings = k_cases[i].set;
        opts.settings.warmup = 2;
        opts.settings.iterations = 5;
        opts.settings.traced = 3;
        f->shares = k_shares;
        f->reachable = k_reachable;
        f->rounds = 0;
        outcome o = session(f, "base sme2 100000000\nbase neon 100000000\n", &opts);
        assert_int_equal(o.status, ETP_OK);
        for (size_t k = 0; k < o.run.samples.n; k++) {
            sampled += o.run.samples.items[k].phase == ETP_PHASE_SAMPLED;
        }
        assert_int_equal(sampled, 2 * expected);
        assert_string_equal(etp_samples_end_name(o.run.arms.items[1].sampling), k_cases[i].why);
        assert_int_equal(o.run.arms.items[0].sampling != ETP_SAMPLES_NOT_TOLD, expected == 0);
        assert_true(o.run.settings.no_kernels == k_cases[i].set.no_kernels);
    }
    f->shares = NULL;
}
