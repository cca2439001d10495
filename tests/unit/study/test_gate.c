// SPDX-License-Identifier: Apache-2.0
// Rules of the gate on an answer made by hand.
#include <math.h>
#include <string.h>

#include "study/gate/gate.h"
#include "unit.h"

#define BLOCKS 8u

typedef struct fixture {
    etp_arena arena;
    etp_ab ab, old;
    etp_ab_arm arms[2], old_arms[2];
    etp_ab_comparison comparison;
    etp_ab_category category;
    double share[2];
    int64_t category_ns[2], category_cut_ns[2], op_ns[2];
    double category_speedup, category_lo, category_hi;
    const etp_profile_row *rows[2];
    etp_profile_rows merged[2];
    etp_ab_operator op;
    double values[BLOCKS * 2], old_values[BLOCKS * 2];
    etp_gate gate;
    etp_error err;
} fixture;

static const etp_ab_arm k_off = {
    .name = "off",
    .median_ns = 10000000,
    .lo_ns = 9.9e6,
    .hi_ns = 10.1e6,
    .costs = {[ETP_COST_LOAD] = 3000000,
              [ETP_COST_COLD_LOAD] = 8000000,
              [ETP_COST_FIRST] = ETP_NS_UNKNOWN,
              [ETP_COST_PEAK] = 50000000,
              [ETP_COST_DIRTY] = 30000000,
              [ETP_COST_CLEAN] = 9000000},
    .costs_lo = {2.9e6, 7e6, NAN, 49e6, 28e6, NAN},
    .costs_hi = {3.1e6, 9e6, NAN, 50e6, 33e6, NAN},
    .disk_bytes = 4096,
    .launches = 3,
    .expected = {.ok = -1},
};

static const etp_profile k_profile = {.execute_total_ns = 1}; // recorded, nothing of it hidden

// off 10 ms [9.9, 10.1], on 5 ms [4.9, 5.1]: 2.00 [1.95, 2.05].
static int set_up(void **state)
{
    static fixture f;
    f = (fixture){.err = {.offset = ETP_NO_OFFSET}};
    f.arms[0] = k_off;
    f.arms[0].profile = &k_profile;
    f.arms[1] = f.arms[0];
    f.arms[1].name = "on";
    f.arms[1].median_ns = 5000000;
    f.arms[1].lo_ns = 4.9e6;
    f.arms[1].hi_ns = 5.1e6;
    f.comparison = (etp_ab_comparison){
        .baseline = 0,
        .candidate = 1,
        .estimate = 2,
        .lo = 1.95,
        .hi = 2.05,
        .blocks = BLOCKS,
        .verdict = ETP_VERDICT_FASTER,
        .noise_floor = 0.008,
        .control = {1, 1 / 1.0079, 1.006}
    };
    f.share[0] = 0.2;
    f.share[1] = 0.31;
    f.category = (etp_ab_category){.category = etp_category_find(ETP_STR("Data movement")),
                                   .ns = f.category_ns,
                                   .truncation_ns = f.category_cut_ns,
                                   .speedup = &f.category_speedup,
                                   .lo = &f.category_lo,
                                   .hi = &f.category_hi,
                                   .share = f.share};
    f.category_ns[0] = 1900000, f.category_ns[1] = 1550000, f.category_cut_ns[1] = 100000;
    f.category_speedup = 1.25, f.category_lo = 1.2, f.category_hi = 1.4;
    f.op_ns[0] = ETP_NS_UNKNOWN, f.op_ns[1] = 180000;
    f.arms[0].traced_ns = 10000000, f.arms[1].traced_ns = 5000000;
    f.op = (etp_ab_operator){.id = "op3", .ns = f.op_ns, .rows = f.rows, .merged = f.merged};
    f.ab = (etp_ab){
        .arena = &f.arena,
        .title = "toy",
        .judged.grade = "B",
        .judged.grade_reason = "two sessions",
        .arms = f.arms,
        .n_arms = 2,
        .comparisons = &f.comparison,
        .n_comparisons = 1,
        .categories = &f.category,
        .n_categories = 1,
        .operators = &f.op,
        .n_operators = 1,
        .correctness = {.ok = 1},
        .block_values = f.values,
        .n_blocks = BLOCKS,
        .engagement = {.macs_share = 0.95,
                        .macs_lo = 0.95,
                        .macs_hi = 0.95,
                        .time_share = (double)NAN,
                        .time_lo = (double)NAN,
                        .time_hi = (double)NAN}
    };
    f.old = f.ab;
    memcpy(f.old_arms, f.arms, sizeof f.arms);
    f.old.arms = f.old_arms;
    f.old.block_values = f.old_values;
    for (unsigned b = 0; b < BLOCKS; b++) { // a little of spread, the same on both sides
        double spread = 1 + 0.001 * (b % 4);
        f.old_values[2 * b] = f.values[2 * b] = 10e6 * spread;
        f.old_values[2 * b + 1] = f.values[2 * b + 1] = 5e6 * spread;
    }
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    etp_arena_dispose(&((fixture *)*state)->arena);
    return 0;
}

static etp_gate_state ask(fixture *f, const char *rule, const etp_gate_options *options)
{
    static const etp_gate_options k_none = {0};
    etp_status st = etp_gate_build(&f->ab, &rule, rule ? 1 : 0, options ? options : &k_none,
                                   &f->arena, &f->gate, &f->err);
    if (st != ETP_OK) {
        fail_msg("%s: %s", rule ? rule : "(none)", f->err.msg);
    }
    return f->gate.state;
}

static const etp_gate_check *find(const fixture *f, const char *id)
{
    for (size_t i = 0; i < f->gate.checks.n; i++) {
        if (strcmp(f->gate.checks.items[i].id, id) == 0) {
            return &f->gate.checks.items[i];
        }
    }
    fail_msg("no check %s", id);
    return NULL;
}

static void an_interval_decides(void **state)
{
    assert_int_equal(etp_gate_judge(1.2, 1.4, true, 1.2), ETP_GATE_YES);
    assert_int_equal(etp_gate_judge(1.2, 1.4, true, 1.3), ETP_GATE_UNKNOWN);
    assert_int_equal(etp_gate_judge(1.2, 1.4, true, 1.5), ETP_GATE_NO);
    assert_int_equal(etp_gate_judge(1.2, 1.4, false, 1.4), ETP_GATE_YES);
    assert_int_equal(etp_gate_judge(1.2, 1.4, false, 1.3), ETP_GATE_UNKNOWN);
    assert_int_equal(etp_gate_judge(1.2, 1.4, false, 1.1), ETP_GATE_NO);
    assert_int_equal(etp_gate_judge((double)NAN, 1.4, false, 1.1), ETP_GATE_UNKNOWN);
}

static void every_metric_has_its_rule(void **state)
{
    static const struct {
        const char *rule;
        etp_gate_state state;
    } k_cases[] = {
        {"speedup >= 1.9",                               ETP_GATE_YES    },
        {"speedup on >= 2x",                             ETP_GATE_UNKNOWN},
        {"speedup on >= 2.1",                            ETP_GATE_NO     },
        {"latency on <= 5.2 ms",                         ETP_GATE_YES    },
        {"latency on <= 5000us",                         ETP_GATE_UNKNOWN},
        {"latency <= 0.0052 s",                          ETP_GATE_NO     }, // of both arms
        {"load <= 3.1ms",                                ETP_GATE_YES    },
        {"load <= 3 ms",                                 ETP_GATE_UNKNOWN}, // in its interval
        {"cold_load <= 9 ms",                            ETP_GATE_YES    },
        {"cold_load <= 8 ms",                            ETP_GATE_UNKNOWN}, // likewise
        {"load on <= 2.8 ms",                            ETP_GATE_NO     },
        {"first on <= 1 s",                              ETP_GATE_UNKNOWN}, // not recorded
        {"memory <= 50 MB",                              ETP_GATE_YES    },
        {"peak_memory <= 50MB",                          ETP_GATE_YES    },
        {"peak_memory <= 49.5 MB",                       ETP_GATE_UNKNOWN},
        {"dirty_memory on >= 27 MB",                     ETP_GATE_YES    },
        {"dirty_memory on <= 32 MB",                     ETP_GATE_UNKNOWN},
        {"dirty_memory on <= 27.9 MB",                   ETP_GATE_NO     },
        {"clean_memory <= 1 GB",                         ETP_GATE_UNKNOWN}, // of three launches
        {"disk <= 4 kB",                                 ETP_GATE_NO     },
        {"disk <= 4.1 kB",                               ETP_GATE_YES    },
        {"memory <= 46 MiB",                             ETP_GATE_NO     }, // 48.2 MB
        {"share Data movement <= 31 %",                  ETP_GATE_UNKNOWN}, // 31 %, or 2 % more
        {"share Data movement <= 33 %",                  ETP_GATE_YES    },
        {"share Data movement of on <= 30%",             ETP_GATE_NO     },
        {"share Data movement of off <= 0.2",            ETP_GATE_YES    },
        {"share Convolution <= 0",                       ETP_GATE_YES    }, // there is none
        {"category(\"Data movement\").share on <= 0.3",  ETP_GATE_NO     },
        {"category(\"Data movement\").share off <= 20%", ETP_GATE_YES    },
        {"category(\"Data movement\").ns on <= 1.6 ms",  ETP_GATE_UNKNOWN}, // 1.55, or 0.1 more
        {"category(\"Data movement\").ns on <= 1.7 ms",  ETP_GATE_YES    },
        {"category(\"Data movement\").ns on <= 1.5 ms",  ETP_GATE_NO     },
        {"category(\"Data movement\").speedup >= 1.2",   ETP_GATE_YES    },
        {"category(\"Data movement\").speedup >= 1.3",   ETP_GATE_UNKNOWN},
        {"category(\"Data movement\").speedup <= 1.1",   ETP_GATE_NO     },
        {"category(\"Convolution\").ns <= 0 ns",         ETP_GATE_YES    },
        {"category(\"Convolution\").speedup >= 1",       ETP_GATE_UNKNOWN},
        {"op3.ns on <= 0.2ms",                           ETP_GATE_YES    },
        {"op3.ns on >= 0.2ms",                           ETP_GATE_NO     },
        {"op3.ns off <= 1 s",                            ETP_GATE_UNKNOWN}, // the arm has no such operator
        {"op3.share on <= 5 %",                          ETP_GATE_YES    },
        {"op3.share on <= 0.03",                         ETP_GATE_NO     },
        {"noise <= 0.8 %",                               ETP_GATE_YES    },
        {"noise <= 0.5 %",                               ETP_GATE_NO     },
        {"engaged macs >= 95 %",                         ETP_GATE_YES    },
        {"engaged time >= 95 %",                         ETP_GATE_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        if (ask(*state, k_cases[i].rule, NULL) != k_cases[i].state) {
            fail_msg("%s: %d", k_cases[i].rule, ((fixture *)*state)->gate.state);
        }
    }
}

static void nonsense_is_refused(void **state)
{
    static const char *const k_bad[] = {"",
                                        "speedup",
                                        "speedup 1.3",
                                        "speedup > 1.3",
                                        "speedup >= fast",
                                        "speedup >= -1",
                                        "speedup >= 1.3 ms",
                                        "speedup nobody >= 1.3",
                                        "latency <= 5",
                                        "latency <= 5 MB",
                                        "memory <= 5",
                                        "share Nothing <= 5 %",
                                        "share Data movement of nobody <= 5 %",
                                        "engaged >= 5 %",
                                        "op4.ns <= 1 s",
                                        "op3.speedup >= 1",
                                        "op3 <= 1 ms",
                                        "op3.ns nobody <= 1 s",
                                        "op3.ns <= 5 MB",
                                        "decode.op3.ns <= 1 s",
                                        "category(\"Nothing\").ns <= 1 s",
                                        "category(\"Data movement\") <= 1 s",
                                        "category(\"Data movement\").time <= 1 s",
                                        "category(Convolution).ns <= 1 s",
                                        "beauty >= 5"};
    fixture *f = *state;
    const etp_gate_options none = {0};
    for (size_t i = 0; i < sizeof k_bad / sizeof *k_bad; i++) {
        etp_status st = etp_gate_build(&f->ab, &k_bad[i], 1, &none, &f->arena, &f->gate, &f->err);
        if (st != ETP_USAGE) {
            fail_msg("'%s' was taken", k_bad[i]);
        }
    }
}

// A part that is not known within a factor of two has bounds, which may decide.
static void bounds_without_a_figure_decide(void **state)
{
    fixture *f = *state;
    f->category_speedup = (double)NAN;
    f->category_lo = 2.3;
    f->category_hi = 6.1;
    assert_int_equal(ask(f, "category(\"Data movement\").speedup >= 1", NULL), ETP_GATE_YES);
    const char *found = find(f, "category(\"Data movement\").speedup:on")->found;
    assert_string_equal(found, "2.3\xC3\x97 to 6.1\xC3\x97");
    assert_int_equal(ask(f, "category(\"Data movement\").speedup >= 3", NULL), ETP_GATE_UNKNOWN);
    const char *fix = find(f, "category(\"Data movement\").speedup:on")->fix;
    assert_null(strstr(fix, "does not hold"));
    assert_int_equal(ask(f, "memory <= 1 MB", NULL), ETP_GATE_NO);
    assert_non_null(strstr(find(f, "memory:on")->fix, "etprof inspect"));
}

static void unsound_measurements_fail(void **state)
{
    fixture *f = *state;
    assert_int_equal(ask(f, "speedup >= 1.9", NULL), ETP_GATE_YES);
    f->arms[1].proof.truth = ETP_CONTRADICTED;
    assert_int_equal(ask(f, "speedup >= 1.9", NULL), ETP_GATE_NO);
    assert_int_equal(find(f, "proof:on")->state, ETP_GATE_NO);
    f->arms[1].proof.truth = ETP_CONFIRMED;
    f->ab.correctness.ok = 0;
    assert_int_equal(ask(f, "speedup >= 1.9", NULL), ETP_GATE_NO);
    f->ab.correctness.ok = 1;
    f->ab.block_lost = true;
    assert_int_equal(ask(f, "speedup >= 1.9", NULL), ETP_GATE_NO);
    f->ab.block_lost = false;
    f->comparison.withheld = ETP_WITHHELD_NOISE_FLOOR;
    assert_int_equal(ask(f, "speedup >= 1.9", NULL), ETP_GATE_UNKNOWN);
    assert_int_equal(ask(f, NULL, NULL), ETP_GATE_UNKNOWN);
}

// What the answer calls unknown passes no rule, however far from the limit the interval lies.
static void no_rule_passes_on_less_than_the_answer_says(void **state)
{
    fixture *f = *state;
    f->comparison.blocks = 3;
    f->comparison.verdict = ETP_VERDICT_UNKNOWN;
    assert_int_equal(ask(f, "speedup >= 1.3", NULL), ETP_GATE_UNKNOWN);
    f->comparison.blocks = ETP_MIN_BLOCKS;
    assert_int_equal(ask(f, "speedup >= 1.3", NULL), ETP_GATE_UNKNOWN); // sign-flip p above 0.05
    f->comparison.verdict = ETP_VERDICT_FASTER;
    assert_int_equal(ask(f, "speedup >= 1.3", NULL), ETP_GATE_YES);
    f->comparison.verdict =
        ETP_VERDICT_UNKNOWN; // neither faster nor the same, and clear of the limit
    f->comparison.lo = 0.98;
    f->comparison.hi = 1.04;
    assert_int_equal(ask(f, "speedup >= 0.95", NULL), ETP_GATE_YES);
    f->comparison.launches[0] = f->comparison.launches[1] = 5; // two sessions, too few launches
    assert_int_equal(ask(f, "speedup >= 0.95", NULL), ETP_GATE_UNKNOWN);
}

static bool has_check(const fixture *f, const char *id)
{
    for (size_t i = 0; i < f->gate.checks.n; i++) {
        if (strcmp(f->gate.checks.items[i].id, id) == 0) {
            return true;
        }
    }
    return false;
}

static void outputs_not_compared_are_not_said(void **state)
{
    fixture *f = *state;
    f->ab.correctness.ok = -1;
    assert_int_equal(ask(f, "speedup >= 1.5", NULL), ETP_GATE_YES);
    assert_false(has_check(f, "outputs"));
    f->ab.correctness.ok = 1;
    assert_int_equal(ask(f, "speedup >= 1.5", NULL), ETP_GATE_YES);
    assert_true(has_check(f, "outputs"));
    assert_false(has_check(f, "expected:on"));
    f->arms[1].expected.ok = 0;
    assert_int_equal(ask(f, "speedup >= 1.5", NULL), ETP_GATE_NO);
    assert_true(has_check(f, "outputs") && has_check(f, "expected:on"));
    assert_false(has_check(f, "expected:off"));
    f->arms[1].expected.ok = -1;
    f->ab.correctness.ok = 0; // of one arm: not what the inputs' author expects
    f->ab.n_arms = 1;
    f->ab.n_comparisons = 0;
    assert_int_equal(ask(f, "latency <= 11 ms", NULL), ETP_GATE_NO);
    assert_true(has_check(f, "outputs"));
}

static void without_rules_nothing_may_be_slower(void **state)
{
    fixture *f = *state;
    static const struct {
        etp_verdict verdict;
        etp_gate_state state;
    } k_cases[] = {
        {ETP_VERDICT_FASTER,  ETP_GATE_YES    },
        {ETP_VERDICT_SAME,    ETP_GATE_YES    },
        {ETP_VERDICT_UNKNOWN, ETP_GATE_UNKNOWN},
        {ETP_VERDICT_SLOWER,  ETP_GATE_NO     }
    };
    for (size_t i = 0; i < 4; i++) {
        f->comparison.verdict = k_cases[i].verdict;
        assert_int_equal(ask(f, NULL, NULL), k_cases[i].state);
    }
}

static void grades_have_an_order(void **state)
{
    const etp_gate_options c = {.min_grade = "C"}, b = {.min_grade = "B"}, a = {.min_grade = "A"};
    assert_int_equal(ask(*state, NULL, &c), ETP_GATE_YES);
    assert_int_equal(ask(*state, NULL, &b), ETP_GATE_YES);
    assert_int_equal(ask(*state, NULL, &a), ETP_GATE_NO);
}

static void earlier_measurements_are_held_against(void **state)
{
    fixture *f = *state;
    const etp_gate_options options = {.against = &f->old};
    assert_int_equal(ask(f, NULL, &options), ETP_GATE_YES);
    assert_true(fabs(find(f, "against:on")->value - 1) < 1e-9);
    for (unsigned b = 0; b < BLOCKS; b++) { // 4 % slower: within the margin of 5 %
        f->values[2 * b + 1] = f->old_values[2 * b + 1] * 1.04;
    }
    assert_int_equal(ask(f, NULL, &options), ETP_GATE_YES);
    for (unsigned b = 0; b < BLOCKS; b++) {
        f->values[2 * b + 1] = f->old_values[2 * b + 1] * 1.1;
    }
    assert_int_equal(ask(f, NULL, &options), ETP_GATE_NO);
    assert_true(fabs(find(f, "against:on")->value - 1.1) < 1e-3);
    assert_int_equal(find(f, "against:off")->state, ETP_GATE_YES);
    const etp_gate_options wide = {.against = &f->old, .margin = 0.2};
    assert_int_equal(ask(f, NULL, &wide), ETP_GATE_YES);
    for (unsigned b = 0; b < BLOCKS; b++) { // noise as large as the question
        f->values[2 * b + 1] = f->old_values[2 * b + 1] * (b % 2 ? 0.9 : 1.2);
    }
    assert_int_equal(ask(f, NULL, &options), ETP_GATE_UNKNOWN);
    f->ab.n_blocks = 5;
    assert_int_equal(ask(f, NULL, &options), ETP_GATE_UNKNOWN);
    f->ab.n_blocks = BLOCKS;
    f->old_arms[0].name = "x";
    f->old_arms[1].name = "y";
    assert_int_equal(etp_gate_build(&f->ab, NULL, 0, &options, &f->arena, &f->gate, &f->err),
                     ETP_USAGE);
}

// Neither more blocks nor another version of the program tell these.
static void what_would_settle_it_can_be_had(void **state)
{
    fixture *f = *state;
    f->ab.engagement.eligible = 24;
    assert_int_equal(ask(f, "engaged time >= 95 %", NULL), ETP_GATE_UNKNOWN);
    assert_non_null(strstr(find(f, "engaged:time")->fix, "--kernels"));
    f->ab.emulated = true;
    f->comparison.withheld = ETP_WITHHELD_EMULATED;
    assert_int_equal(ask(f, "speedup >= 1.3", NULL), ETP_GATE_UNKNOWN);
    assert_string_equal(find(f, "speedup:on")->fix,
                        "measure on a device: an emulator's times say nothing");
}

// More blocks make no speed of an emulator's times.
static void an_emulated_side_is_no_speed(void **state)
{
    fixture *f = *state;
    const etp_gate_options options = {.against = &f->old};
    f->old_arms[1].emulated = true;
    assert_int_equal(ask(f, NULL, &options), ETP_GATE_UNKNOWN);
    assert_string_equal(find(f, "against:on")->fix, "emulated: its times say nothing");
    assert_int_equal(find(f, "against:off")->state, ETP_GATE_YES);
}

static void junit_counts_and_escapes(void **state)
{
    fixture *f = *state;
    f->ab.title = "a<b>&\"c\"\x01";
    f->arms[1].proof.truth = ETP_CONTRADICTED;
    assert_int_equal(ask(f, "engaged time >= 95 %", NULL), ETP_GATE_NO);
    etp_str xml;
    assert_true(etp_gate_junit(&f->gate, &f->arena, &xml));
    assert_non_null(strstr(xml.ptr, "<testsuite name=\"a&lt;b&gt;&amp;&quot;c&quot; \" tests=\"5\" "
                                    "failures=\"1\" skipped=\"1\">"));
    assert_non_null(
        strstr(xml.ptr,
               "name=\"proof:on\"><failure message=\"contradicted, expected not contradicted\">"));
    assert_non_null(strstr(xml.ptr, "name=\"engaged:time\"><skipped message="));
}

#define SET_UP set_up
#define TEAR_DOWN tear_down
