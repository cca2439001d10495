// SPDX-License-Identifier: Apache-2.0
// Two operands that are run folders: paired or not, verdicts and grades by hand.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../folder.h"
#include "judge/open.h"
#include "kit/files.h"
#include "unit.h"

#define BLOCKS 8u

typedef struct plan { // of a session
    const char *name, *day, *runner, *cpu, *sha;
    uint64_t seed;
    double noise;   // of the A/A control, ±
    uint64_t ns[2]; // of the arms linux_off and linux_on
    uint32_t threads;
    bool sampled;
} plan;

static void add_arm(folder *f, etp_run *run, const plan *p, const char *name, const char *level)
{
    etp_run_arm arm = {.name = etp_str_from(name),
                       .level = etp_str_from(level),
                       .threads = p->threads,
                       .runner_sha256 = etp_str_from(p->runner),
                       .prefix = etp_str_from(etp_arena_printf(&f->arena, "toy_%s_t1", name)),
                       .warmup = 0,
                       .iterations = 1,
                       .traced = 3};
    assert_true(ETP_PUSH(&f->arena, &run->arms, arm));
    assert_int_equal(
        etp_os_mkdirs(folder_path(f, etp_arena_printf(&f->arena, "%s/%s", p->name, name)), NULL),
        ETP_OK);
    const char *dump = etp_run_dump_name(&f->arena, &arm, 1, ".etdump");
    folder_copy(f, ETP_TEST_SOURCE_DIR "/tests/data/mixed_xnnpack_fp32.etdump",
                etp_arena_printf(&f->arena, "%s/%s", p->name, dump));
}

// Block b takes every arm 0.1 % longer than the one before: the drift cancels in pairs only.
static const char *make_session(folder *f, const plan *p)
{
    etp_run_writer w;
    etp_run run = {.platform = ETP_STR("linux"),
                   .generated_at = etp_str_from(p->day),
                   .settings.seed = p->seed,
                   .tool_version = ETP_STR("0.1.0"),
                   .device_cpu = etp_str_from(p->cpu),
                   .settings.blocks = BLOCKS,
                   .control_blocks = 6};
    const char *dir = folder_path(f, p->name);
    etp_run_model model = {
        .path = ETP_STR("/m/toy.pte"), .stem = ETP_STR("toy"), .sha256 = etp_str_from(p->sha)};
    assert_int_equal(etp_os_mkdirs(dir, NULL), ETP_OK);
    assert_true(ETP_PUSH(&f->arena, &run.models, model));
    add_arm(f, &run, p, "linux_off", "avx2");
    add_arm(f, &run, p, "linux_on", "vnni");
    for (uint32_t i = 0; i < 2 * BLOCKS; i++) {
        assert_true(ETP_PUSH(&f->arena, &run.order, i % 2));
    }
    assert_int_equal(etp_run_begin(dir, &f->arena, &run, &w, NULL), ETP_OK);
    for (uint32_t b = 1; b <= BLOCKS; b++) {
        double slow = 1 + 0.001 * b;
        etp_run_sample s[3];
        size_t n = 0;
        for (uint32_t a = 0; a < 2; a++) {
            s[n++] = (etp_run_sample){
                a, b, 3 * b + a, 0, ETP_PHASE_TIMED, 1, (uint64_t)llround((double)p->ns[a] * slow)};
        }
        if (b <= 6) {
            double off = 1 + (b % 2 ? p->noise : -p->noise);
            s[n++] = (etp_run_sample){0,
                                      b,
                                      3 * b + 2,
                                      0,
                                      ETP_PHASE_CONTROL,
                                      1,
                                      (uint64_t)llround((double)p->ns[0] * slow * off)};
        }
        etp_run_launch sampled[2] = {
            {.arm = 0, .block = b, .launch = 100, .kind = ETP_LAUNCH_SAMPLED},
            {.arm = 1, .block = b, .launch = 101, .kind = ETP_LAUNCH_SAMPLED}
        };
        size_t n_sampled = p->sampled && b == 1 ? 2 : 0;
        assert_int_equal(etp_run_commit(&w, s, n, sampled, n_sampled, NULL, 0, NULL), ETP_OK);
    }
    assert_int_equal(etp_run_finish(&w, ETP_RUN_FINISHED, NULL), ETP_OK);
    return dir;
}

// Sampled program counters inside the first linear: what of them is in SSE, AVX2 and VNNI code.
static void sample_arm(folder *f, const char *dir, const char *arm, const unsigned of[3])
{
#define LIB "libexecutorch_backend_xnnpack.so"
    static const char k_code[] = "module,machine,build_id,start,end,bounds,symbol,code\n" LIB
                                 ",x86_64,abcd,0x1000,0x1010,unwind,,0f58c1c3\n" LIB
                                 ",x86_64,abcd,0x1010,0x1020,unwind,,c5f458c2c3\n" LIB
                                 ",x86_64,abcd,0x1020,0x1030,symbol,xnn_qs8_qc8w_gemm_minmax_"
                                 "ukernel_4x8__avx512vnni,62f2754850c2c3\n";
    etp_strbuf b;
    etp_strbuf_init(&b, &f->arena);
    etp_strbuf_appendz(&b,
                       "time_ns,thread,module,address,symbol,streaming,iteration,chain,instruction,"
                       "operator,sure\n");
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned n = 0; n < of[i]; n++) {
            etp_strbuf_printf(&b, "%u,7,%s,0x%x,,,3,0,0,\"Fully Connected (NC, F32) GEMM #1\",1\n",
                              n, LIB, 0x1000 + 16 * i);
        }
    }
    const char *at = etp_arena_printf(&f->arena, "%s/%s/toy_%s_t1", dir, arm, arm);
    assert_int_equal(etp_os_write_atomic(etp_arena_printf(&f->arena, "%s.samples", at),
                                         etp_strbuf_str(&b), NULL),
                     ETP_OK);
    assert_int_equal(
        etp_os_write_atomic(etp_arena_printf(&f->arena, "%s.code", at), etp_str_from(k_code), NULL),
        ETP_OK);
#undef LIB
}

static const plan k_base = {
    "one", "2026-01-02T03:04:05Z", "aaaa", "avx2 fma", "5a", 7,
    0.001, {200000000, 100000000},
     1,      false
};

static etp_ab_session *open_sides(const char *x, const char *y)
{
    const char *const paths[2] = {x, y};
    etp_ab_options how = {.two_sides = true};
    etp_ab_session *session = NULL;
    etp_error err = ERROR_NONE;
    ASSERT_OK(etp_ab_open(paths, 2, &how, &session, &err), err);
    return session;
}

static const char *arm_of(folder *f, const char *dir, const char *arm)
{
    return etp_arena_printf(&f->arena, "%s:%s", dir, arm);
}

static void closes(const etp_ab *ab)
{
    const etp_ledger *l = &ab->ledgers[0];
    int64_t sum = 0;
    for (size_t i = 0; i < l->n; i++) {
        sum += l->items[i].delta_ns;
    }
    assert_true(l->n > 0 && sum == l->delta_ns);
    assert_true(l->baseline_ns == ab->arms[0].median_ns &&
                l->candidate_ns == ab->arms[1].median_ns);
}

static void pairs_of_one_session(void **state)
{
    folder *f = *state;
    const char *dir = make_session(f, &k_base);
    etp_ab_session *s = open_sides(arm_of(f, dir, "linux_off"), arm_of(f, dir, "vnni"));
    const etp_ab *ab = etp_ab_answer(s);
    const etp_ab_comparison *c = &ab->comparisons[0];
    assert_string_equal(ab->judged.grade, "A");
    assert_int_equal(c->method, ETP_PAIRED_BLOCKS);
    assert_int_equal(c->verdict, ETP_VERDICT_FASTER);
    assert_int_equal(c->blocks, BLOCKS);
    assert_true(fabs(c->estimate - 2) < 1e-6 && fabs(c->lo - 2) < 1e-5 && fabs(c->hi - 2) < 1e-5);
    assert_true(fabs(c->sign_flip_p - 2.0 / 256) < 1e-12); // all 8 signs equal
    assert_int_equal(c->withheld, ETP_WITHHELD_NOT);
    closes(ab);
    etp_ab_close(s);
    // The other way round the control is of the candidate: the session's noise floor still counts.
    s = open_sides(arm_of(f, dir, "linux_on"), arm_of(f, dir, "linux_off"));
    assert_int_equal(etp_ab_answer(s)->comparisons[0].verdict, ETP_VERDICT_SLOWER);
    assert_true(etp_ab_answer(s)->comparisons[0].noise_floor > 0.0005);
    etp_ab_close(s);
    s = open_sides(arm_of(f, dir, "linux_on"), arm_of(f, dir, "linux_on"));
    assert_true(etp_ab_answer(s)->comparisons[0].estimate == 1);
    assert_string_not_equal(etp_ab_answer(s)->arms[0].name, etp_ab_answer(s)->arms[1].name);
    etp_ab_close(s);
}

static void two_sessions(void **state)
{
    static const struct {
        const char *day, *runner, *cpu, *sha;
        double noise;
        uint64_t on_ns;
        uint32_t threads;
        const char *grade, *words, *verdict;
    } k_cases[] = {
        {"2026-01-02T13:00:00Z", "aaaa", "avx2 fma", "5a", 0.001, 100000000, 1, "B",
         "the same build, two sessions of one day",                                                    "faster"},
        {"2026-01-02T13:00:00Z", "bbbb", "avx2 fma", "5a", 0.001, 100000000, 1, "C",
         "different builds, two sessions of one day",                                                  "faster"},
        {"2026-01-02T13:00:00Z", "",     "avx2 fma", "5a", 0.001, 100000000, 1, "C", "unknown builds",
         "faster"                                                                                              },
        {"2026-01-03T03:04:05Z", "aaaa", "avx2 fma", "5a", 0.001, 100000000, 1, "D",
         "different days, the same build",                                                             "faster"},
        {"2026-01-02T13:00:00Z", "aaaa", "avx2",     "5a", 0.001, 100000000, 1, "D",
         "different machines",                                                                         "faster"},
        {"2026-01-03T03:04:05Z", "bbbb", "avx2",     "5a", 0.001, 100000000, 1, "D",
         "different days and machines, different builds",                                              "faster"},
        {"2026-01-02T13:00:00Z", "aaaa", "avx2 fma", "77", 0.001, 100000000, 1, "B",
         "models differ too",                                                                          "faster"},
        {"2026-01-02T13:00:00Z", "aaaa", "avx2 fma", "5a", 0.001, 100000000, 4, "B",
         "thread counts differ too",                                                                   "faster"},
        {"2026-01-02T13:00:00Z", "aaaa", "avx2 fma", "5a", 0.001, 400000000, 1, "B", "two sessions",
         "slower"                                                                                              },
        // Within the noise of the sessions, or too close: never a verdict, never "same".
        {"2026-01-02T13:00:00Z", "aaaa", "avx2 fma", "5a", 0.9,   100000000, 1, "B", "two sessions",
         "unknown"                                                                                             },
        {"2026-01-02T13:00:00Z", "aaaa", "avx2 fma", "5a", 0.001, 200000000, 1, "B", "two sessions",
         "unknown"                                                                                             },
        {"2026-01-02T13:00:00Z", "aaaa", "avx2 fma", "5a", 0.001, 198500000, 1, "B", "two sessions",
         "unknown"                                                                                             },
    };
    folder *f = *state;
    const char *one = make_session(f, &k_base);
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        plan p = {
            etp_arena_printf(&f->arena, "other%zu", i),
            k_cases[i].day,
            k_cases[i].runner,
            k_cases[i].cpu,
            k_cases[i].sha,
            100 + i,
            k_cases[i].noise,
            {200000000, k_cases[i].on_ns},
            k_cases[i].threads,
            false
        };
        const char *two = make_session(f, &p);
        etp_ab_session *s = open_sides(arm_of(f, one, "linux_off"), arm_of(f, two, "linux_on"));
        const etp_ab *ab = etp_ab_answer(s);
        const etp_ab_comparison *c = &ab->comparisons[0];
        assert_string_equal(ab->judged.grade, k_cases[i].grade);
        if (!strstr(ab->judged.grade_reason, k_cases[i].words)) {
            fail_msg("case %zu: %s", i, ab->judged.grade_reason);
        }
        assert_int_equal(c->method, ETP_UNPAIRED_LAUNCHES);
        assert_string_equal(etp_verdict_name(c->verdict), k_cases[i].verdict);
        double ratio = 200000000.0 / (double)k_cases[i].on_ns;
        if (c->withheld) { // the other session's control reaches as far as half of the effect
            assert_int_equal(c->withheld, ETP_WITHHELD_NOISE_FLOOR);
            assert_true(k_cases[i].noise > 0.1 && isnan(c->estimate));
            etp_ab_close(s);
            continue;
        }
        assert_true(fabs(c->estimate / ratio - 1) < 1e-6); // the blocks drift alike: medians cancel
        if (ratio == 2) { // 8 against 8, all on one side: 2 ÷ C(16, 8)
            assert_true(fabs(c->mann_whitney_p - 2.0 / 12870) < 1e-9);
            assert_true(c->lo < 2 && c->lo > 1.99 && c->hi > 2 && c->hi < 2.01);
        }
        closes(ab);
        etp_ab_close(s);
    }
}

// The linear has one name at every level; the code that ran in it tells.
static void samples_decide(void **state)
{
    folder *f = *state;
    plan p = k_base;
    p.sampled = true;
    const char *dir = make_session(f, &p);
    sample_arm(f, dir, "linux_off", (const unsigned[]){5, 35, 0});
    sample_arm(f, dir, "linux_on", (const unsigned[]){10, 0, 30});
    etp_ab_session *s = open_sides(arm_of(f, dir, "linux_off"), arm_of(f, dir, "linux_on"));
    const etp_ab *ab = etp_ab_answer(s);
    const etp_ab_operator *op = &ab->operators[0];
    assert_int_equal(op->engaged.state, ETP_ENGAGED);
    assert_non_null(strstr(op->engaged.evidence,
                           "30 of 40 program counters sampled inside it are in VNNI code"));
    assert_non_null(strstr(op->engaged.evidence, "ukernel_4x8__avx512vnni (AVX-512 VNNI)"));
    assert_int_equal(ab->engagement.engaged, 2);
    op = &ab->operators[2]; // not sampled, of the same kernel
    assert_true(op->engaged.state == ETP_ENGAGED && op->engaged.pooled && op->engaged.sure == 0);
    assert_non_null(
        strstr(op->engaged.evidence,
               "30 of 40 program counters sampled inside operators of the same kernel"));
    etp_ab_close(s);
    s = open_sides(arm_of(f, dir, "linux_on"), arm_of(f, dir, "linux_off"));
    op = &etp_ab_answer(s)->operators[0];
    assert_int_equal(op->engaged.state, ETP_NOT_ENGAGED);
    assert_int_equal(op->engaged.reason, ETP_REASON_FLOAT32); // whatever the level hides
    assert_non_null(strstr(op->engaged.evidence, "0 of 40"));
    etp_ab_close(s);
}

static void refusals(void **state)
{
    folder *f = *state;
    const char *dir = make_session(f, &k_base);
    const struct {
        const char *operand, *words;
    } cases[] = {
        {dir, "holds 2 arms (linux_off, linux_on)"},
        {arm_of(f, dir, "sme2"), "its arms are linux_off, linux_on"},
        {arm_of(f, dir, ""), "its arms are linux_off, linux_on"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const paths[2] = {arm_of(f, dir, "linux_on"), cases[i].operand};
        etp_ab_options how = {.two_sides = true};
        etp_ab_session *session = NULL;
        etp_error err = ERROR_NONE;
        assert_int_equal(etp_ab_open(paths, 2, &how, &session, &err), ETP_USAGE);
        if (!strstr(err.msg, cases[i].words)) {
            fail_msg("%s", err.msg);
        }
    }
}
