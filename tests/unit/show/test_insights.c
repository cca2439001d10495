// SPDX-License-Identifier: Apache-2.0
// Bottlenecks, delegates against kernels outside, kernels that changed, latencies beside each
// other, and several runs in one report: made sessions whose figures are known by hand.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../folder.h"
#include "../made.h"
#include "base/path.h"
#include "kit/combined.h"
#include "unit.h"

static etp_ab_session *open_folder(const char *dir)
{
    etp_error err = ERROR_NONE;
    etp_ab_session *s = NULL;
    ASSERT_OK(etp_ab_open(&dir, 1, NULL, &s, &err), err);
    return s;
}

static etp_str markdown(const etp_report *r, etp_arena *arena)
{
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    etp_sink sink = etp_sink_strbuf(&text);
    assert_int_equal(etp_report_write(r, etp_write_md, NULL, &sink, NULL), ETP_OK);
    return etp_strbuf_str(&text);
}

static bool says(etp_str text, const char *words)
{
    return etp_str_find(text, etp_str_from(words)) < text.len;
}

static void must_say(etp_str text, const char *words)
{
    if (!says(text, words)) {
        fail_msg("no '%s' in\n%.*s", words, (int)text.len, text.ptr);
    }
}

static void near(double found, double expected) // the made blocks wobble by less than this
{
    if (!(fabs(found - expected) <= 0.004 * fabs(expected))) {
        fail_msg("%.9g, expected %.9g", found, expected);
    }
}

// sme2: 200 + 100 + 80 + 340 + 270 + 10 = 1000 µs; neon 1570 µs, so the whole gained 1.57.
static void bottlenecks_by_hand(void **state)
{
    static const struct {
        const char *label;
        etp_bottleneck_kind kind;
        double share;
    } k_expected[] = {
        {"native_layer_norm", ETP_BOTTLENECK_PORTABLE, 0.27},
        {"Transpose",         ETP_BOTTLENECK_MOVEMENT, 0.34},
        {"DWConv",            ETP_BOTTLENECK_LITTLE,   0.10},
        {"Fully Connected",   ETP_BOTTLENECK_LITTLE,   0.08},
        {"IGEMM",             ETP_BOTTLENECK_LARGE,    0.20},
    };
    made m = made_base();
    folder *f = *state;
    const etp_ab *ab = etp_ab_answer(made_open(&m, f));
    assert_string_equal(ab->arms[ab->bottleneck_arm].level_name, "sme2");
    assert_int_equal(ab->bottlenecks.n, 5);
    for (size_t i = 0; i < 5; i++) {
        const etp_ab_operator *op = &ab->operators[ab->bottlenecks.items[i]];
        assert_true(says(etp_str_from(op->label), k_expected[i].label));
        assert_int_equal(op->bottleneck.kind, k_expected[i].kind);
        near(op->bottleneck.share, k_expected[i].share);
    }
    etp_str md = markdown(etp_ab_report(ab, &f->arena), &f->arena);
    must_say(md,
             "> [!WARNING]\n> kernels outside delegates take 27.0 % of an inference (1 of them)");
    must_say(md, "> [!WARNING]\n> operators that only move or convert data take 34.0 % of an "
                 "inference (1 of them)");
}

// Of an arm without roofs. The first and the third run on SME, and nothing says what limits them.
static void reasons_by_hand(void **state)
{
    static const struct {
        const char *label, *why;
    } k_expected[] = {
        {"IGEMM",             NULL         },
        {"DWConv",            "off feature"},
        {"Fully Connected",   NULL         },
        {"Transpose",         "moves data" },
        {"Copy",              "small"      }, // moves data too, in less than a microsecond
        {"native_layer_norm", "portable"   },
    };
    made m = made_base();
    m.ops[5] = m.ops[4];
    m.ops[4] = (made_op){
        {"Copy (ND, X32) #1", "Copy (ND, X32) #1"},
        0, {0,                   0                  }
    };
    folder *f = *state;
    const etp_ab *ab = etp_ab_answer(made_open(&m, f));
    assert_int_equal(ab->n_operators, 6);
    for (size_t i = 0; i < 6; i++) {
        const etp_ab_operator *op = &ab->operators[i];
        const char *why = etp_why_name(op->why);
        assert_true(says(etp_str_from(op->label), k_expected[i].label));
        assert_string_equal(why ? why : "", k_expected[i].why ? k_expected[i].why : "");
    }
    etp_str md = markdown(etp_ab_report(ab, &f->arena), &f->arena);
    must_say(md, "| moves data |");
}

static size_t hot_operators(const made *m, const char *words, bool *out_said)
{
    folder f;
    folder_make(&f);
    etp_ab_session *s = made_open(m, &f);
    size_t n = etp_ab_answer(s)->bottlenecks.n;
    *out_said = says(markdown(etp_ab_report(etp_ab_answer(s), &f.arena), &f.arena), words);
    folder_remove(&f);
    return n;
}

static void thresholds(void **state)
{
    bool said;
    made m = made_base();
    m.ops[1].us[1] = 47; // of 947: 4.96 %
    assert_int_equal(hot_operators(&m, "kernels outside", &said), 4);
    m.ops[1].us[1] = 48; // of 948: 5.06 %
    assert_int_equal(hot_operators(&m, "kernels outside", &said), 5);
    m.ops[4].us[1] = 35; // of 713: 4.9 %
    assert_int_equal(hot_operators(&m, "> [!WARNING]\n> kernels outside", &said), 4);
    assert_false(said);
    m = made_base();
    m.ops[3].us[1] = 70; // of 730: 9.6 %, a bottleneck by itself, but not 10 % together
    assert_int_equal(hot_operators(&m, "> [!WARNING]\n> operators that only move", &said), 5);
    assert_false(said);
    hot_operators(&m, "> [!NOTE]\n> operators that only move or convert data take 9.6 %", &said);
    assert_true(said);
    m.ops[3].us[1] = 76; // of 736: 10.3 %
    hot_operators(&m, "> [!WARNING]\n> operators that only move", &said);
    assert_true(said);
    m.ops[4].name[0] = m.ops[4].name[1] = NULL;
    hot_operators(&m, "kernels outside delegates", &said);
    assert_false(said);
    for (int i = 0; i < MADE_OPS;
         i++) { // each in a call of its own with 10 µs of boundary: 8 of 216, 3.7 %
        m.ops[i] = (made_op){
            {"Add (ND) #1", "Add (ND) #1"},
            2 * i, {8,             8            }
        };
    }
    assert_int_equal(
        hot_operators(&m, "no operator takes more than 5 % of an inference; the longest, ", &said),
        0);
    assert_true(said);
    m.ops[3].us[1] = 12; // of 220: 5.5 %
    assert_int_equal(hot_operators(&m, "no operator takes more than 5 % of an inference", &said),
                     1);
    assert_false(said);
}

// A delegate that counts in units of its own, or a damaged dump: no part of the inference is known.
static void longer_than_the_whole(void **state)
{
    bool said;
    made m = made_base();
    m.execute_us = 170; // the transpose alone takes 340
    assert_int_equal(
        hot_operators(&m, "reach beyond it or are longer than the event: they are withheld", &said),
        0);
    assert_true(said);
    m.execute_us = 0; // as long as its parts
    assert_int_equal(hot_operators(&m, "longer than the event", &said), 5);
    assert_false(said);
}

// What gains less than the whole is said only when the whole gained and its figure stands.
static void lagging_needs_a_gain(void **state)
{
    folder *f = *state;
    made m = made_base();
    m.output[1] = 3; // outputs differ: withheld
    etp_ab_session *s = made_open(&m, f);
    for (size_t i = 0; i < etp_ab_answer(s)->bottlenecks.n; i++) {
        uint32_t op = etp_ab_answer(s)->bottlenecks.items[i];
        assert_int_not_equal(etp_ab_answer(s)->operators[op].bottleneck.kind,
                             ETP_BOTTLENECK_LITTLE);
    }
    etp_str md = markdown(etp_ab_report(etp_ab_answer(s), &f->arena), &f->arena);
    assert_false(says(md, "1.57×"));
    m = made_base();
    m.ops[0].us[1] = 800; // the whole got slower
    s = made_open(&m, f);
    for (size_t i = 0; i < etp_ab_answer(s)->bottlenecks.n; i++) {
        uint32_t op = etp_ab_answer(s)->bottlenecks.items[i];
        assert_int_not_equal(etp_ab_answer(s)->operators[op].bottleneck.kind,
                             ETP_BOTTLENECK_LITTLE);
    }
}

static void an_inference_is_split_exactly(void **state)
{
    made m = made_base();
    folder *f = *state;
    const etp_ab *ab = etp_ab_answer(made_open(&m, f));
    static const double k_delegated[] = {1290e3, 720e3};
    for (uint32_t a = 0; a < 2; a++) {
        const etp_ab_arm *arm = &ab->arms[a];
        near((double)arm->time_breakdown.delegated_ns, k_delegated[a]);
        near((double)arm->time_breakdown.portable_ns, 270e3);
        near((double)arm->time_breakdown.boundary_ns, 10e3);
        near((double)arm->time_breakdown.movement_ns, 340e3);
        assert_int_equal(arm->time_breakdown.delegated + arm->time_breakdown.portable +
                             arm->time_breakdown.movement + arm->time_breakdown.calls,
                         4 + 1 + 1 + 1);
        assert_int_equal(arm->time_breakdown.delegated_ns + arm->time_breakdown.portable_ns +
                             arm->time_breakdown.boundary_ns + arm->time_breakdown.framework_ns +
                             arm->time_breakdown.unexplained_ns,
                         arm->traced_ns);
        assert_int_equal(arm->traced_runs, MADE_BLOCKS * MADE_RUNS);
        near(arm->traced_median_ns, a ? 1000e3 : 1570e3);
    }
    etp_ab_kernels *names = NULL;
    assert_int_equal(etp_ab_portable_names(ab, &f->arena, &names), 1);
    assert_true(etp_str_eqz(names[0].now, "native_call_native_layer_norm.out") &&
                names[0].operators == 1);
    near((double)names[0].now_time.ns, 270e3);
}

static void kernels_that_changed(void **state)
{
    made m = made_base();
    folder *f = *state;
    m.ops[5] = (made_op){
        {"Clamp (NC) #1", NULL},
        0, {30,              0   }
    };
    m.ops[5].instruction = 2;
    m.ops[6] = (made_op){
        {NULL, "Pack LH (NC, X32) #1"},
        3, {0,    20                    }
    };
    etp_ab_session *s = made_open(&m, f);
    etp_ab_kernels *groups = NULL;
    size_t n = etp_ab_kernel_groups(etp_ab_answer(s), &f->arena, &groups);
    assert_int_equal(n, 5); // the transpose and the layer norm are what they were
    assert_true(etp_str_eqz(groups[0].before, "Convolution (NHWC, F32) IGEMM"));
    assert_true(etp_str_eqz(groups[0].now, "Convolution (NHWC, PF32) IGEMM"));
    assert_true(groups[0].operators == 1 && groups[0].state == ETP_ENGAGED);
    near((double)groups[0].before_time.ns, 800e3);
    near((double)groups[0].now_time.ns, 200e3);
    assert_int_equal(groups[1].reason, ETP_REASON_DEPTHWISE);
    etp_str md = markdown(etp_ab_report(etp_ab_answer(s), &f->arena), &f->arena);
    must_say(md, "`Convolution (NHWC, F32 → PF32) IGEMM`");
    must_say(md, "`Fully Connected (NC, F32 → PF32) GEMM`");
    must_say(md, "`Clamp (NC), only before`");
    must_say(md, "`Pack LH (NC, X32), only now`");
}

// Untraced 2 ms and 1 ms beside traced 1.57 ms and 1 ms: each under its own title.
static void latencies_are_labelled(void **state)
{
    made m = made_base();
    folder *f = *state;
    m.untraced_us[0] = 2000;
    m.untraced_us[1] = 1000;
    etp_ab_session *s = made_open(&m, f);
    etp_str md = markdown(etp_ab_report(etp_ab_answer(s), &f->arena), &f->arena);
    must_say(md, "\nLatency Comparison\n\n| experiment | arm | level | threads | untraced (ms) | "
                 "low (ms) | high (ms) | speedup | "
                 "ETDump mean (ms) | ETDump median (ms) | executions | ETDump speedup | tracer |");
    must_say(md, "| NEON | NEON | 1 | 2.00");
    must_say(md, " | – | 1.57");
    must_say(md, " | 32 | – | −21.5 % |");
    must_say(md, " | 2.00× | 1.00");
    must_say(md, " | 32 | 1.57× | ");
    must_say(md, "\nOperator Category Breakdown\n");
}

// ---- several runs ----

static const char *made_elsewhere(const made *m, folder *f, const char *from, const char *to)
{
    folder_make(f);
    const char *dir = made_write(m, f);
    etp_str text = folder_read(f, "run/manifest.json");
    size_t at = etp_str_find(text, etp_str_from(from));
    assert_true(at < text.len);
    char *changed = etp_arena_strdup(
        &f->arena, (etp_str){etp_arena_printf(&f->arena, "%.*s%s%.*s", (int)at, text.ptr, to,
                                              (int)(text.len - at - strlen(from)),
                                              text.ptr + at + strlen(from)),
                             text.len - strlen(from) + strlen(to)});
    assert_int_equal(
        etp_os_write_atomic(folder_path(f, "run/manifest.json"), etp_str_from(changed), NULL),
        ETP_OK);
    return dir;
}

static etp_combined combine(etp_ab_session *a, etp_ab_session *b, folder *f)
{
    const etp_ab *answers[] = {etp_ab_answer(a), etp_ab_answer(b)};
    etp_combined c;
    assert_int_equal(etp_combined_build(answers, 2, NULL, &f->arena, &c, NULL), ETP_OK);
    return c;
}

static bool notes_say(const etp_combined *c, const char *words)
{
    for (size_t i = 0; i < c->notes.n; i++) {
        if (says(etp_str_from(c->notes.items[i]), words)) {
            return true;
        }
    }
    return false;
}

static void platforms_side_by_side(void **state)
{
    folder f, g;
    made mac = made_base(), android = made_base();
    android.ops[0].us[1] = 400; // 1.57 ÷ 1.2 = 1.31
    etp_ab_session *a =
        open_folder(made_elsewhere(&mac, &f, "\"platform\": \"linux\"", "\"platform\": \"mac\""));
    etp_ab_session *b = open_folder(
        made_elsewhere(&android, &g, "\"platform\": \"linux\"", "\"platform\": \"android\""));
    etp_combined c = combine(a, b, &f);
    assert_string_equal(c.runs.items[0].run, "mac");
    assert_string_equal(c.runs.items[1].run, "android");
    assert_string_equal(c.title, "toy_xnnpack_fp32");
    assert_false(notes_say(&c, "different"));
    assert_true(notes_say(&c, "every run wants the same fixes, N1 to N4"));
    assert_false(notes_say(&c, "several runs"));
    etp_str md = markdown(etp_combined_report(&c, &f.arena), &f.arena);
    must_say(md, "mac: SME2 against NEON");
    must_say(
        md,
        "| mac | Convolution | CONV | 900.38 | 57.3 % | 300.00 | 30.0 % | 3.00× |"); // of 1570 and
                                                                                     // of 1000
    must_say(
        md,
        "| android | Convolution | CONV | 900.38 | 57.3 % | 500.12 | 41.7 % | 1.80× |"); // of 1200
    must_say(md, "| mac | op5 |");
    must_say(md, "| android | op5 |"); // the layer norm is a bottleneck of both
    must_say(md, "nothing is computed between them");
    must_say(md, "every run wants the same fixes, N1 to N4");
    assert_false(etp_os_is_file(folder_path(&f, "run/report.md"))); // and nothing is written
    etp_ab_close(a);
    etp_ab_close(b);
    folder_remove(&f);
    folder_remove(&g);
}

// Two fixes of one kind in a run are one that another run wants, too.
static void common_fixes_are_said_once(void **state)
{
    folder *f = *state;
    made m = made_base();
    etp_ab_session *s = made_open(&m, f);
    etp_ab one = *etp_ab_answer(s), two = one;
    etp_ab_fix fixes[] = {
        {.id = "N1", .kind = ETP_FIX_PRECISION},
        {.id = "N2", .kind = ETP_FIX_COPIES   },
        {.id = "N3", .kind = ETP_FIX_PRECISION}
    };
    one.fixes.items = two.fixes.items = fixes;
    one.fixes.n = 3;
    two.fixes.n = 2;
    one.platform = "mac";
    two.platform = "android";
    const etp_ab *answers[] = {&one, &two};
    etp_combined c;
    assert_int_equal(etp_combined_build(answers, 2, NULL, &f->arena, &c, NULL), ETP_OK);
    assert_int_equal(c.notes.n, 1);
    assert_string_equal(c.notes.items[0], "fixes that several runs want: N1 of mac = N1 of android "
                                          "· N2 of mac = N2 of android");
}

static void what_keeps_runs_apart_is_said(void **state)
{
    folder f, g;
    folder_make(&f);
    folder_make(&g);
    made one = made_base(), two = made_base();
    two.threads[0] = two.threads[1] = 4;
    etp_ab_session *a = made_open(&one, &f), *b = made_open(&two, &g);
    etp_combined c = combine(a, b, &f);
    // By the folders, from where they differ on.
    assert_string_equal(c.runs.items[0].run,
                        etp_arena_printf(&f.arena, "%s/run", etp_path_name(f.path)));
    assert_string_equal(c.runs.items[1].run,
                        etp_arena_printf(&f.arena, "%s/run", etp_path_name(g.path)));
    assert_true(notes_say(&c, "different numbers of threads"));
    assert_false(notes_say(&c, "different models"));
    // With 4 threads nobody asks for more of them; what both want has other numbers there.
    assert_false(notes_say(&c, "every run wants"));
    assert_true(notes_say(&c, etp_arena_printf(&f.arena, " · N3 of %s = N4 of %s",
                                               c.runs.items[0].run, c.runs.items[1].run)));
    folder_remove(&g);
    b = open_folder(made_elsewhere(&one, &g, "\"stem\": \"toy_xnnpack_fp32\"",
                                   "\"stem\": \"other_xnnpack_fp32\""));
    c = combine(a, b, &f);
    assert_string_equal(c.runs.items[1].run, "other_xnnpack_fp32");
    assert_string_equal(c.title, "2 runs");
    assert_true(notes_say(&c, "different models"));
    assert_false(notes_say(&c, "threads"));
    etp_ab_close(b);
    folder_remove(&f);
    folder_remove(&g);
}
