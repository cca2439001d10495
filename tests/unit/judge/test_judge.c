// SPDX-License-Identifier: Apache-2.0
// Every sentence rests on data: a made session shows each finding and each cause, one change
// removes it, another changes its words. A kind without such a pair fails.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../folder.h"
#include "../made.h"
#include "elsewhere.h"
#include "judge/fixes/whatif.h"
#include "show/explanation.h"
#include "show/report.h"
#include "unit.h"

typedef void change(made *m);

// ---- findings ----

// The text of the first finding of KIND in the base changed by A, then by B; empty when there is
// none.
static const char *finding_of(etp_finding_kind kind, change *a, change *b)
{
    static char texts[4][1024];
    static int next;
    char *text = texts[next++ % 4];
    made m = made_base();
    folder f;
    folder_make(&f);
    if (a) {
        a(&m);
    }
    if (b) {
        b(&m);
    }
    const etp_ab *ab = etp_ab_answer(made_open(&m, &f));
    text[0] = 0;
    for (size_t i = 0; i < ab->judged.findings.n && !text[0]; i++) {
        const etp_ab_finding *x = &ab->judged.findings.items[i];
        if (x->kind == kind) {
            snprintf(text, sizeof texts[0], "%s", x->text);
            assert_non_null(x->formula);
            etp_explanation claim; // and it can be asked for
            assert_int_equal(etp_explanation_find(ab, x->id, &claim, NULL), ETP_OK);
            assert_string_equal(claim.formula, x->formula);
        }
    }
    folder_remove(&f);
    return text;
}

static void hook_of(made *m, uint64_t calls, uint64_t ps)
{
    m->hook_calls = calls;
    m->hook_ps = ps;
}
static void hook_dear(made *m)
{
    hook_of(m, 27, 400000);
}
static void hook_cheap(made *m)
{
    hook_of(m, 27, 180000);
} // 0.49 % of the faster arm
static void hook_dearer(made *m)
{
    hook_of(m, 81, 400000);
}

static void linear_equal(made *m)
{
    m->ops[2].us[1] = 50;
}
static void linear_little(made *m)
{
    m->ops[2].us[1] = 52;
}
static void linear_worse(made *m)
{
    m->ops[2].us[1] = 90;
}
static void transpose_short(made *m)
{
    m->ops[3].us[0] = m->ops[3].us[1] = 60;
}
static void transpose_long(made *m)
{
    m->ops[3].us[0] = m->ops[3].us[1] = 500;
}
static void depthwise_short(made *m)
{
    m->ops[1].us[0] = m->ops[1].us[1] = 20;
}
static void depthwise_long(made *m)
{
    m->ops[1].us[0] = m->ops[1].us[1] = 200;
}
static void convolution_equal(made *m)
{
    m->ops[0].us[1] = 800;
}
static void kernel_short(made *m)
{
    m->ops[4].us[0] = m->ops[4].us[1] = 50;
}
static void kernel_long(made *m)
{
    m->ops[4].us[0] = m->ops[4].us[1] = 900;
}
static void launch_astray(made *m)
{
    m->outlier = 3;
}
static void launch_in_line(made *m)
{
    m->outlier = 1;
}
static void tracer_dear(made *m)
{
    m->untraced_us[1] = 500;
}
static void tracer_dearer(made *m)
{
    m->untraced_us[1] = 250;
}
static void tracer_free(made *m)
{
    m->untraced_us[1] = 0;
}
static void clock_falls(made *m)
{
    m->khz[1] = 2500000;
}
static void clock_falls_far(made *m)
{
    m->khz[1] = 1500000;
}
static void clock_steady(made *m)
{
    m->khz[1] = m->khz[0];
}
static void loses_one(made *m)
{
    m->lost = true;
}
static void loses_none(made *m)
{
    m->lost = false;
}
static void loses_more(made *m)
{
    m->lost_more = 2;
}
static void both_lose(made *m)
{
    m->lost_other = 1;
}
static void sleeps(made *m)
{
    m->slept_ns = 3000000000;
}
static void sleeps_on(made *m)
{
    m->slept_ns = 7250000000;
}
static void never_sleeps(made *m) // as far as is told
{
    m->slept_ns = UINT64_MAX;
}
static void counted(made *m, double before, double after)
{
    m->ghz[0] = before;
    m->ghz[1] = after;
}
static void clock_below(made *m)
{
    counted(m, 3, 2.76);
}
static void clock_far_below(made *m)
{
    counted(m, 3, 2.4);
}
static void clock_the_same(made *m)
{
    counted(m, 3, 3);
}
static void busy_less(made *m)
{
    counted(m, 3, 3);
    m->threads[0] = m->threads[1] = 2; // one thread that waits has no ratio
    m->busy[1] = 0.7;
}
static void busy_much_less(made *m)
{
    m->busy[1] = 0.5;
}
static void busy_the_same(made *m)
{
    m->busy[1] = 1;
}
static void noted(made *m)
{
    m->note = "the clock jumped";
    m->note_id = NULL;
}
static void kernels_ours(made *m)
{
    m->note = "ours";
    m->note_id = "kernels_ours";
}
static void kernels_ours_else(made *m)
{
    m->note = "ours too";
    m->note_id = "kernels_ours";
}
static void kernels_lib(made *m)
{
    m->note = "theirs";
    m->note_id = "kernels_lib";
}
static void kernels_lib_else(made *m)
{
    m->note = "theirs too";
    m->note_id = "kernels_lib";
}
static void noted_else(made *m)
{
    m->note = "the machine slept";
}
static void not_noted(made *m)
{
    m->note = NULL;
}
static void outputs_differ(made *m)
{
    m->output[1] = 2;
}
static void outputs_differ_as_nan(made *m)
{
    m->output[1] = HUGE_VALF;
}
static void outputs_nan(made *m)
{
    m->nan_output = true;
}
static void outputs_infinite(made *m)
{
    m->output[0] = m->output[1] = -HUGE_VALF;
}
static void outputs_no_nan(made *m)
{
    m->nan_output = false;
}
static void outputs_agree(made *m)
{
    m->output[1] = 1;
}
static void outputs_broken(made *m)
{
    m->broken_output = true;
}
static void outputs_whole(made *m)
{
    m->broken_output = false;
}
static void waits(made *m)
{
    m->wait_ns = 300000000;
}
static void waits_little(made *m)
{
    m->wait_ns = 15000000;
}
static void waits_more(made *m)
{
    m->wait_ns = 30000000;
}
static void never_ends(made *m)
{
    m->no_execute = true;
}
static void ends(made *m)
{
    m->no_execute = false;
}
static void trace_torn(made *m)
{
    m->broken_trace = true;
}
static void trace_whole(made *m)
{
    m->broken_trace = false;
}
static void program_foreign(made *m)
{
    m->foreign_program = true;
}
static void program_none(made *m)
{
    m->foreign_program = false;
}
static void says_vnni(made *m)
{
    m->named[1] = "vnni";
}
static void says_sme1(made *m)
{
    m->named[1] = "sme1";
}
static void says_itself(made *m)
{
    m->named[1] = NULL;
}
static void samples_lost(made *m)
{
    m->broken_samples = true;
}
static void samples_none(made *m)
{
    m->broken_samples = false;
}

static void linear_in_groups(made *m)
{
    m->ops[2].name[0] = "Fully Connected (NC, QD8, F32, QB4W) GEMM #1";
    m->ops[2].name[1] = "Fully Connected (NC, QP8, F32, QB4W) GEMM #1";
}
static void linear_in_groups_longer(made *m)
{
    m->ops[2].us[1] = 180;
}
static void linear_per_channel(made *m)
{
    m->ops[2].name[0] = "Fully Connected (NC, QD8, F32, QC4W) GEMM #1";
    m->ops[2].name[1] = "Fully Connected (NC, QP8, F32, QC4W) GEMM #1";
}

static void two_releases(made *m)
{
    m->release[0] = "1.4.1";
    m->release[1] = "1.5.1";
}
static void one_release(made *m)
{
    m->release[0] = m->release[1] = NULL;
}

static const struct {
    etp_finding_kind kind;
    change *with;    // the base changed so has the finding; NULL: the base has it
    change *without; // and with this change on top it goes
    change *other;   // and with this one instead it says something else; NULL: it has no figure of
                     // its own
    const char *words;
} k_findings[] = {
    {ETP_FINDING_SLOWER,         NULL,             linear_equal,       linear_worse,
     "Fully Connected (NC, F32) GEMM #1 [0] got slower by 30."                                                             },
    {ETP_FINDING_SLOWER,         NULL,             linear_little,      NULL,
     "got slower by 30."                                                                                                   }, // 4 % of one operator is below its margin
    {ETP_FINDING_LAYOUT,         NULL,             transpose_short,    transpose_long,          "34 %"                     }, // 340 of 1000
    {ETP_FINDING_OFF_FEATURE,    NULL,             depthwise_short,    depthwise_long,
     "10 % of an inference stays off SME2: depthwise"                                                                      },
    {ETP_FINDING_SHIFT,          NULL,             convolution_equal,  transpose_long,
     "now Data movement is the largest part with 34 %"                                                                     },
    {ETP_FINDING_PORTABLE,       NULL,             kernel_short,       kernel_long,             "27 %"                     },
    {ETP_FINDING_LAYOUT,         NULL,             tracer_dearer,      NULL,                    "34 %"                     }, // mostly recording: no share
    {ETP_FINDING_PORTABLE,       NULL,             tracer_dearer,      NULL,                    "27 %"                     },
    {ETP_FINDING_STATISTICS,     launch_astray,    launch_in_line,     NULL,                    ""                         },
    {ETP_FINDING_TRACER,         tracer_dear,      tracer_free,        tracer_dearer,
     "+100."                                                                                                               }, // 1000 traced, 500 untraced
    {ETP_FINDING_THERMAL,        clock_falls,      clock_steady,       clock_falls_far,         "the clock fell by"        },
    {ETP_FINDING_CONTENTION,     waits,            waits_little,       waits_more,              "up to 30.0 %"             },
    {ETP_FINDING_LOST,           loses_one,        loses_none,         NULL,                    "crash: signal 11"         },
    {ETP_FINDING_ARM_FAILS,      loses_one,        both_lose,          loses_more,              "only SME2 fails: 1 of its"},
    {ETP_FINDING_CLOCK_EFFECT,   clock_below,      clock_the_same,     clock_far_below,
     "the clock takes 8 % [8, 8] of it (2.76 GHz against 3 GHz)"                                                           },
    {ETP_FINDING_WAITS,          busy_less,        busy_the_same,      busy_much_less,
     "0.7 CPUs at work against 1, which takes 30 % [30, 30]"                                                               },
    {ETP_FINDING_HOOK,           hook_dear,        hook_cheap,         hook_dearer,
     "takes 0.69 % of an inference of NEON"                                                                                }, // 27 × 400 ns of 1570 µs
    {ETP_FINDING_CLOCK,          sleeps,           never_sleeps,       sleeps_on,               "(block 5: 3 s asleep)"    },
    {ETP_FINDING_BUILDS,         two_releases,     one_release,        linear_worse,
     "what ExecuTorch 1.5.1 changed against ExecuTorch 1.4.1: an inference takes "                                         },
    {ETP_FINDING_KERNELS_OURS,   kernels_ours,     noted,              kernels_ours_else,       "ours"                     },
    {ETP_FINDING_KERNELS_LIB,    kernels_lib,      noted,              kernels_lib_else,        "theirs"                   },
    {ETP_FINDING_NOTE,           noted,            not_noted,          noted_else,              "the clock jumped"         },
    {ETP_FINDING_OUTPUTS,        outputs_differ,   outputs_agree,      outputs_differ_as_nan,
     "outputs of SME2: "                                                                                                   },
    {ETP_FINDING_OUTPUTS_NAN,    outputs_nan,      outputs_no_nan,     NULL,
     "1 of 1 elements are NaN on both sides"                                                                               },
    {ETP_FINDING_OUTPUTS_UNREAD, outputs_broken,   outputs_whole,      NULL,                    "not compared"             },
    {ETP_FINDING_NO_EXECUTION,   never_ends,       ends,               NULL,                    "SME2: no execution"       },
    {ETP_FINDING_TRACE_UNUSED,   trace_torn,       trace_whole,        NULL,                    "trace not used"           },
    {ETP_FINDING_PROGRAM_UNUSED, program_foreign,  program_none,       NULL,                    "names alone"              },
    // 200 and 280 of 380 µs.
    {ETP_FINDING_GROUPWISE,      linear_in_groups, linear_per_channel, linear_in_groups_longer,
     "53 % of the time of matrix multiplications is on SME2, and with one scale per channel 74 %"                          },
    {ETP_FINDING_MISNAMED,       says_vnni,        says_itself,        says_sme1,
     "linux_vnni_1 was measured at SME2, not at VNNI"                                                                      },
    {ETP_FINDING_SAMPLES_UNUSED, samples_lost,     samples_none,       NULL,                    "samples of SME2 not used" },
};

static void every_finding_rests_on_data(void **state)
{
    bool seen[ETP_FINDING_COUNT] = {false};
    for (size_t i = 0; i < sizeof k_findings / sizeof *k_findings; i++) {
        etp_finding_kind kind = k_findings[i].kind;
        const char *text = finding_of(kind, k_findings[i].with, NULL);
        expect_words(etp_finding_id(kind), text, k_findings[i].words);
        const char *gone = finding_of(kind, k_findings[i].with, k_findings[i].without);
        if (gone[0]) {
            fail_msg("%s: still there without its data: %s", etp_finding_id(kind), gone);
        }
        if (k_findings[i].other &&
            strcmp(text, finding_of(kind, k_findings[i].with, k_findings[i].other)) == 0) {
            fail_msg("%s: the same words for other data: %s", etp_finding_id(kind), text);
        }
        seen[kind] = true;
    }
    for (int k = 0; k < ETP_FINDING_COUNT; k++) {
        if (!seen[k] && !tested_elsewhere((etp_finding_kind)k)) {
            fail_msg("finding '%s' has no mutation", etp_finding_id((etp_finding_kind)k));
        }
    }
}

// ---- causes ----

static void zones_hot(made *m)
{
    m->celsius[1] = 95;
}
static void no_sensors(made *m)
{
    m->celsius[0] = m->celsius[1] = NAN;
    m->khz[0] = m->khz[1] = UINT64_MAX;
}
static void warm_without_clock(made *m)
{
    m->khz[0] = m->khz[1] = UINT64_MAX;
    m->celsius[1] = 80;
}
static void control_off(made *m)
{
    m->control = 1.3;
}
static void control_one_sided(made *m)
{
    // ln: about 0.06 ± 0.08, where a quarter of the effect is 0.11. Its half-width alone would rule
    // drift out.
    m->control = 0.94;
    m->control_wide = 0.09;
}
static void two_threads_wait(made *m)
{
    m->wait_ns = 1300000000; // of a launch of a second
    m->threads[0] = m->threads[1] = 2;
}
static void wait_unread(made *m)
{
    m->wait_ns = UINT64_MAX;
}
static void threads_two(made *m)
{
    m->threads[1] = 2;
}
static void runner_else(made *m)
{
    m->runner[1] = "22";
}
static void runner_unknown(made *m)
{
    m->runner[1] = "";
}
static void outputs_none(made *m)
{
    m->output[0] = m->output[1] = NAN;
}

static const struct {
    etp_cause cause;
    change *change;
    etp_cause_state state;
    const char *words;
} k_causes[] = {
    {ETP_CAUSE_THERMAL,    NULL,               ETP_CAUSE_RULED_OUT,
     "clock 0.0 % over the session, hottest zone 45 → at most 47 °C"                             },
    {ETP_CAUSE_THERMAL,    clock_falls,        ETP_CAUSE_SUSPECT,   "the clock fell by"             },
    {ETP_CAUSE_THERMAL,    zones_hot,          ETP_CAUSE_SUSPECT,   "95 °C"                        },
    {ETP_CAUSE_THERMAL,    no_sensors,         ETP_CAUSE_UNKNOWN,
     "temperature and clock are not readable here"                                                  },
    {ETP_CAUSE_THERMAL,    warm_without_clock, ETP_CAUSE_UNKNOWN,   "clock not readable here"       },
    {ETP_CAUSE_DRIFT,      NULL,               ETP_CAUSE_RULED_OUT, "(A/A control 0.00 % to 0.00 %)"},
    {ETP_CAUSE_DRIFT,      control_off,        ETP_CAUSE_SUSPECT,   "two equal arms differed"       },
    {ETP_CAUSE_DRIFT,      control_one_sided,  ETP_CAUSE_UNKNOWN,   "too wide beside the effect"    },
    {ETP_CAUSE_CONTENTION, NULL,               ETP_CAUSE_RULED_OUT, "up to 0.1 %"                   },
    {ETP_CAUSE_CONTENTION, waits,              ETP_CAUSE_SUSPECT,   "up to 30.0 %"                  },
    {ETP_CAUSE_CONTENTION, two_threads_wait,   ETP_CAUSE_SUSPECT,   "up to 100.0 %"                 },
    {ETP_CAUSE_CONTENTION, wait_unread,        ETP_CAUSE_UNKNOWN,   "not readable"                  },
    {ETP_CAUSE_TRACER,     NULL,               ETP_CAUSE_RULED_OUT, "where it adds most"            },
    {ETP_CAUSE_TRACER,     tracer_dear,        ETP_CAUSE_SUSPECT,   "+100."                         },
    {ETP_CAUSE_TRACER,     never_ends,         ETP_CAUSE_UNKNOWN,   "lacks"                         },
    {ETP_CAUSE_THREADS,    NULL,               ETP_CAUSE_RULED_OUT, "1 in every arm"                },
    {ETP_CAUSE_THREADS,    threads_two,        ETP_CAUSE_SUSPECT,   "different numbers"             },
    {ETP_CAUSE_BUILDS,     NULL,               ETP_CAUSE_RULED_OUT, "one runner"                    },
    {ETP_CAUSE_BUILDS,     runner_else,        ETP_CAUSE_SUSPECT,   "different runners"             },
    {ETP_CAUSE_BUILDS,     runner_unknown,     ETP_CAUSE_UNKNOWN,   "not recorded"                  },
    {ETP_CAUSE_OUTPUTS,    NULL,               ETP_CAUSE_RULED_OUT, "agree"                         },
    {ETP_CAUSE_OUTPUTS,    outputs_differ,     ETP_CAUSE_SUSPECT,   "differ"                        },
    {ETP_CAUSE_OUTPUTS,    outputs_nan,        ETP_CAUSE_UNKNOWN,   "not compared"                  },
    {ETP_CAUSE_OUTPUTS,    outputs_infinite,   ETP_CAUSE_UNKNOWN,   "not finite"                    },
    {ETP_CAUSE_OUTPUTS,    outputs_none,       ETP_CAUSE_UNKNOWN,   "not compared"                  },
};

static void every_cause_rests_on_data(void **state)
{
    bool seen[ETP_CAUSE_COUNT][ETP_CAUSE_STATES] = {{false}};
    for (size_t i = 0; i < sizeof k_causes / sizeof *k_causes; i++) {
        made m = made_base();
        if (k_causes[i].change) {
            k_causes[i].change(&m);
        }
        const etp_ab *ab = etp_ab_answer(made_open(&m, *state));
        assert_int_equal(ab->judged.n_causes, ETP_CAUSE_COUNT);
        const etp_ab_cause *c = &ab->judged.causes[k_causes[i].cause];
        if (c->state != k_causes[i].state || !strstr(c->text, k_causes[i].words)) {
            fail_msg("%s: %s, '%s'; expected %s, '%s'", etp_cause_id(c->cause),
                     etp_cause_state_name(c->state), c->text,
                     etp_cause_state_name(k_causes[i].state), k_causes[i].words);
        }
        etp_explanation claim;
        assert_int_equal(etp_explanation_find(ab, etp_cause_id(c->cause), &claim, NULL), ETP_OK);
        assert_non_null(claim.formula);
        seen[c->cause][c->state] = true;
    }
    for (int c = 0; c < ETP_CAUSE_COUNT; c++) { // each can be ruled out, and data can undo that
        if (!seen[c][ETP_CAUSE_RULED_OUT] || !seen[c][ETP_CAUSE_SUSPECT]) {
            fail_msg("cause '%s' has no mutation", etp_cause_id((etp_cause)c));
        }
    }
}

// ---- point by point ----

// What got slower stands first, and sending only it back gives what the sentence says.
static void slower_first_and_back(void **state)
{
    made m = made_base();
    folder *f = *state;
    const etp_ab *ab = etp_ab_answer(made_open(&m, f));
    etp_whatif w;
    const etp_ab_findings *found = &ab->judged.findings;
    assert_true(found->n > 0 && found->items[0].kind == ETP_FINDING_SLOWER);
    const char *back = etp_arena_printf(&f->arena, "back %s", found->items[0].evidence[0]);
    assert_int_equal(etp_whatif_build(ab, &back, 1, &w, NULL), ETP_OK);
    assert_int_equal(w.steps[0].operators, 1);
    assert_in_range(w.steps[0].gain_ns, 29500, 30500); // 80 → 50 µs, planted
    assert_true(w.now_ns - w.then_ns == w.steps[0].gain_ns && w.lo < w.speedup && w.speedup < w.hi);
    bool fix = false;
    for (size_t i = 0; i < ab->fixes.n; i++) {
        const etp_ab_fix *x = &ab->fixes.items[i];
        if (x->kind == ETP_FIX_SLOWER) {
            fix = x->lo_ns <= 30000 && x->hi_ns >= 30000 && strstr(x->recipe, back);
        }
    }
    assert_true(fix);
}

static bool report_says(const etp_ab *ab, folder *f, const char *words)
{
    etp_strbuf text;
    etp_strbuf_init(&text, &f->arena);
    etp_sink sink = etp_sink_strbuf(&text);
    etp_report_style how = {.width = 4000};
    assert_int_equal(
        etp_report_write(etp_ab_report(ab, &f->arena), etp_write_html, &how, &sink, NULL), ETP_OK);
    etp_str all = etp_strbuf_str(&text);
    return etp_str_find(all, etp_str_from(words)) < all.len;
}

// Portable against delegated: in the struct, in words, in a chart of its own, and in none of them
// when the kernel is gone from both arms.
static void shift_in_words(void **state)
{
    made m = made_base();
    folder *f = *state;
    m.ops[4].name[0] = "native_call_native_layer_norm.out"; // delegated afterwards
    m.ops[4].name[1] = NULL;
    etp_ab_session *s = made_open(&m, f);
    const etp_ab_comparison *c = &etp_ab_answer(s)->comparisons[0];
    assert_true(c->shift.moved && c->shift.before == ETP_CATEGORY_CONVOLUTION &&
                c->shift.after == ETP_CATEGORY_DATA_MOVEMENT);
    assert_true(fabs(c->shift.before_share - 900.0 / 1570) < 0.005 &&
                fabs(c->shift.after_share - 340.0 / 730) < 0.005);
    assert_true(fabs(c->shift.portable_before - 270.0 / 1570) < 0.005 &&
                c->shift.portable_after == 0);
    assert_true(report_says(etp_ab_answer(s), f,
                            "moved from Convolution (57 % of the time) to Data movement (47 %"));
    assert_true(report_says(etp_ab_answer(s), f, "outside delegates 17 % → 0 %"));
    assert_true(report_says(etp_ab_answer(s), f, "One inference by where the work is done"));
    m.ops[4].name[0] = NULL;
    m.ops[0].us[1] = 800; // and the convolution stays what it was
    s = made_open(&m, f);
    assert_true(report_says(etp_ab_answer(s), f, "stays Convolution"));
    assert_false(report_says(etp_ab_answer(s), f, "outside delegates"));
    assert_false(report_says(etp_ab_answer(s), f, "One inference by where the work is done"));
}

static const etp_ab_finding *drift_of(const etp_ab *ab)
{
    for (size_t i = 0; i < ab->judged.findings.n; i++) {
        if (strstr(ab->judged.findings.items[i].text, ": drift: ")) {
            return &ab->judged.findings.items[i];
        }
    }
    return NULL;
}

// Times that grow with the heat and with the falling clock say so; with a machine that stayed the
// same they say that; and when heat falls while times grow, heat is not what they follow.
static void drift_and_what_it_follows(void **state)
{
    static const struct {
        double drift, celsius[2];
        uint64_t khz[2];
        const char *words[2];
    } k_cases[] = {
        {0.02,
         {45, 61},
         {3000000, 2900000},
         {"follows the temperature (rank correlation +1.00)",
          "follows the clock (rank correlation −1.00)"}      },
        {0.02,
         {61, 45},
         {2900000, 3000000},
         {"does not follow the temperature (rank correlation −1.00)",
          "does not follow the clock (rank correlation +1.00)"}},
        {0.02,
         {45, 45},
         {UINT64_MAX, UINT64_MAX},
         {"the temperature did not change or cannot be read",
          "the clock did not change or cannot be read"}        },
        {0,    {45, 61}, {3000000, 2900000}, {NULL, NULL}      },
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        made m = made_base();
        m.drift = k_cases[i].drift;
        memcpy(m.celsius, k_cases[i].celsius, sizeof m.celsius);
        memcpy(m.khz, k_cases[i].khz, sizeof m.khz);
        etp_ab_session *s = made_open(&m, *state);
        const etp_ab_finding *x = drift_of(etp_ab_answer(s));
        assert_true((x != NULL) == (k_cases[i].words[0] != NULL));
        for (int k = 0; x && k < 2; k++) {
            if (!strstr(x->text, k_cases[i].words[k])) {
                fail_msg("%s", x->text);
            }
        }
        // 1.02, 1.04 … 1.16: ln grows by 0.0184 a block in the middle, 1.86 %
        assert_true(!x || fabs(etp_ab_answer(s)->arms[0].drift.per_block - 0.0186) < 0.001);
    }
}

static const etp_ab_finding *finding_in(const etp_ab *ab, etp_finding_kind kind)
{
    for (size_t i = 0; i < ab->judged.findings.n; i++) {
        if (ab->judged.findings.items[i].kind == kind) {
            return &ab->judged.findings.items[i];
        }
    }
    return NULL;
}

// The arms take 1570 and 1000 µs. With the clock that makes the cycles equal, all of the speedup is
// its; with a higher one, more than all; with a steady one none. More threads are no waiting.
static void speedup_or_clock(void **state)
{
    folder *f = *state;
    static const struct {
        double ghz[2], busy;
        uint32_t threads;
        const char *clock; // in the finding, NULL: there is none
        bool waits;
        double factors[3]; // cycles, clock, busy
    } k_cases[] = {
        {{2, 3.14},
         1,              1,
         "the speedup is a clock effect: cycles say 1× [0.999, 1], the clock adds 57 % [57, 57] to "
         "it",                                                                                     false,
         {1, 1.57, 1}                                                                                                         },
        {{2, 4},
         1,              1,
         "the speedup is a clock effect: cycles say 0.785× [0.784, 0.786], the clock adds 100 %", false,
         {0.785, 2, 1}                                                                                                        },
        {{3, 3},    1,   1, NULL,                                                                  false, {1.57, 1, 1}        },
        {{3, 3},    0.5, 2, NULL,                                                                  true,  {3.14, 1, 0.5}      },
        {{3, 3},    1.8, 2, NULL,                                                                  false, {1.57 / 1.8, 1, 1.8}},
        {{3, 0},    1,   1, NULL,                                                                  false, {0, 0, 0}           },
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        made m = made_base();
        counted(&m, k_cases[i].ghz[0], k_cases[i].ghz[1]);
        m.busy[1] = k_cases[i].busy;
        m.threads[1] = k_cases[i].threads;
        m.threads[0] = k_cases[i].waits ? 2 : 1;
        m.untraced_us[0] = 1570;
        m.untraced_us[1] = 1000;
        const etp_ab *ab = etp_ab_answer(made_open(&m, f));
        const etp_ab_finding *x = finding_in(ab, ETP_FINDING_CLOCK_EFFECT);
        if ((x != NULL) != (k_cases[i].clock != NULL) ||
            (x && !strstr(x->text, k_cases[i].clock))) {
            fail_msg("case %zu: %s", i, x ? x->text : "no finding");
        }
        assert_true((finding_in(ab, ETP_FINDING_WAITS) != NULL) == k_cases[i].waits);
        const etp_clock_split *split = &ab->counters.splits[0];
        const etp_paired *factors[3] = {&split->cycles, &split->clock, &split->busy};
        assert_int_equal(split->cycles.blocks, k_cases[i].ghz[1] > 0 ? MADE_BLOCKS : 0);
        for (int k = 0; k < 3 && split->cycles.blocks; k++) {
            if (!(fabs(factors[k]->estimate / k_cases[i].factors[k] - 1) < 0.001)) {
                fail_msg("case %zu, factor %d: %g", i, k, factors[k]->estimate);
            }
        }
        double product = split->cycles.mean_ln + split->clock.mean_ln + split->busy.mean_ln;
        assert_true(split->cycles.blocks == 0 ||
                    fabs(product - log(ab->comparisons[0].estimate)) < 1e-12);
        assert_true(report_says(ab, f, "Cycles and clock"));
    }
}

// The warm-up rule drops counts with times: clock and CPUs at work are those planted, exactly.
static void counts_of_the_kept_iterations(void **state)
{
    made m = made_base();
    counted(&m, 4, 2);
    m.warm = 3;
    const etp_ab *ab = etp_ab_answer(made_open(&m, *state));
    assert_int_equal(ab->arms[1].samples, 7 * MADE_BLOCKS); // 3 of 10 dropped
    assert_true(fabs(ab->counters.splits[0].busy.estimate - 1) < 1e-7);
    assert_true(fabs(ab->counters.splits[0].clock.estimate - 0.5) < 1e-6);
    assert_true(fabs(ab->counters.splits[0].cycles.mean_ln - log(2) -
                     log(ab->comparisons[0].estimate)) < 1e-6);
}
