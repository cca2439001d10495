// SPDX-License-Identifier: Apache-2.0
// Engagement through the whole answer: one made session per reason to stay off the feature, with
// its shares in text, JSON and report; and what got slower, in sessions and in two compared sides.
#include <math.h>
#include <string.h>

#include "../folder.h"
#include "../made.h"
#include "judge/fixes/whatif.h"
#include "show/json.h"
#include "show/report.h"
#include "unit.h"

static etp_str written(const etp_ab *ab, folder *f, etp_report_writer *format)
{
    etp_strbuf text;
    etp_strbuf_init(&text, &f->arena);
    etp_sink sink = etp_sink_strbuf(&text);
    etp_report_style how = {.width = 4000};
    assert_int_equal(etp_report_write(etp_ab_report(ab, &f->arena), format, &how, &sink, NULL),
                     ETP_OK);
    return etp_strbuf_str(&text);
}

static json_t *engagement_json(const etp_ab *ab, folder *f, json_t **whole)
{
    etp_strbuf text;
    etp_json j;
    etp_strbuf_init(&text, &f->arena);
    etp_sink sink = etp_sink_strbuf(&text);
    etp_json_init(&j, &sink, true);
    etp_document_write(&j, &k_etp_ab_document, ab, ab);
    *whole = json_loadb(etp_strbuf_str(&text).ptr, text.len, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(*whole);
    json_t *engagement = json_object_get(*whole, "engagement");
    assert_non_null(engagement);
    return engagement;
}

static void says(const etp_ab *ab, folder *f, const char *words)
{
    for (int k = 0; k < 2; k++) {
        etp_str all = written(ab, f, k ? etp_write_html : etp_write_text);
        if (etp_str_find(all, etp_str_from(words)) == all.len) {
            fail_msg("%s does not say '%s'", k ? "the report" : "the text", words);
        }
    }
}

// ---- one fixture per reason ----

// 1 ms: 500 µs of a convolution, 250 of the operator in question, 240 of a transpose, 10 of the
// boundary.
typedef struct fixture {
    const char *reason;        // id
    const char *before, *name; // of the operator, at the baseline and at the candidate
    const char *level[2], *cpu;
    const char *convolution; // at the candidate: PF32 where SME runs
    double on;               // share of the time on the feature
    unsigned off;            // operators
    const char *words;
} fixture;

#define CONV "Convolution (NHWC, F32) IGEMM #1"
#define CONV_SME "Convolution (NHWC, PF32) IGEMM #1"
#define LINEAR(types) "Fully Connected (NC, " types ") GEMM #1"
#define NEON_TO_SME2 {"neon", "sme2"}, NULL, CONV_SME, 0.5, 1

static const fixture k_fixtures[] = {
    {"depthwise", "Convolution (NHWC, F32) DWConv #1", "Convolution (NHWC, F32) DWConv #1",
     NEON_TO_SME2, "1 off: depthwise convolution"},
    {"blockwise_4bit", LINEAR("QD8, F32, QB4W"), LINEAR("QP8, F32, QB4W"), NEON_TO_SME2,
     "1 off: 4-bit weights with a scale per block"},
    {"per_tensor_weights", LINEAR("QS8"), LINEAR("QS8"), NEON_TO_SME2,
     "1 off: int8 weights with one scale for all"},
    {"quint8", "Convolution (NHWC, QU8) IGEMM #1", "Convolution (NHWC, QU8) IGEMM #1", NEON_TO_SME2,
     "1 off: quint8"},
    {"fp16_fp32_weights", LINEAR("F16"), LINEAR("F16"), NEON_TO_SME2,
     "1 off: fp16 with fp32 weights"},
    {"not_delegated", "native_call_addmm.out", "native_call_addmm.out", NEON_TO_SME2,
     "1 off: not delegated"},
    {"level_masked",
     LINEAR("PF32"),
     LINEAR("F32"),
     {"sme2", "neon"},
     NULL, CONV,
     0, 2,
     "2 off: the level hides"},
    {"kernel_hides",
     LINEAR("F32"),
     LINEAR("F32"),
     {"base", "neon"},
     "aarch64:hwcap=0xffffffff,hwcap2=0x2000,midr=0x410fd8c0,kernel=6.12", CONV,
     0, 2,
     "2 off: the operating system does not offer SME"},
    {"not_built",
     LINEAR("F32"),
     LINEAR("F32"),
     {"neon", "sme2"},
     NULL, CONV,
     0, 2,
     "2 off: would have to run on SME and does not"},
};

static made made_fixture(const fixture *x)
{
    made m = made_base();
    memset(m.ops, 0, sizeof m.ops);
    bool kernel = strncmp(x->name, "native_call_", 12) == 0;
    const char *conv = x->before[0] && strcmp(x->level[0], "sme2") == 0 ? CONV_SME : CONV;
    m.ops[0] = (made_op){
        {conv, x->convolution},
        0, {500,  500           }
    };
    m.ops[1] = (made_op){
        {"Transpose (ND, X32) #1", "Transpose (ND, X32) #1"},
        0, {240,                      240                     }
    };
    m.ops[2] = (made_op){
        {x->before, x->name},
        kernel ? 1 : 0, {250,       250    }
    };
    m.level[0] = x->level[0];
    m.level[1] = x->level[1];
    m.cpu = x->cpu;
    return m;
}

static void check_fixture(const fixture *x, folder *f)
{
    made m = made_fixture(x);
    const etp_ab *ab = etp_ab_answer(made_open(&m, f));
    const etp_ab_engagement *e = &ab->engagement;
    bool found = false;
    for (size_t i = 0; i < ab->n_operators; i++) {
        const etp_ab_operator *op = &ab->operators[i];
        if (etp_str_eqz(op->names[e->arm], x->name)) {
            const char *id = etp_reason_id(op->engaged.reason);
            found = op->engaged.state == ETP_NOT_ENGAGED && id && strcmp(id, x->reason) == 0;
            if (!found) {
                fail_msg("%s: state %d, reason %s", x->name, (int)op->engaged.state,
                         id ? id : "none");
            }
        }
    }
    assert_true(found && e->eligible == 2 && e->off == x->off && e->engaged == 2 - x->off);
    assert_true(fabs(e->time_share - x->on) < 0.002 && isnan(e->macs_share)); // no program
    json_t *whole, *j = engagement_json(ab, f, &whole);
    assert_true(fabs(json_number_value(json_object_get(j, "time_share")) - x->on) < 0.002);
    assert_true(json_is_null(json_object_get(j, "macs_share")));
    json_t *reason = json_array_get(json_object_get(j, "reasons"), 0);
    assert_string_equal(json_string_value(json_object_get(reason, "reason_id")), x->reason);
    assert_int_equal(json_integer_value(json_object_get(reason, "operators")), x->off);
    json_decref(whole);
    says(ab, f, x->words);
    says(ab, f,
         x->on > 0 ? "50 % of the time, 1 of 2 convolutions"
                   : "0 % of the time, 0 of 2 convolutions");
}

static void every_reason_through_the_answer(void **state)
{
    for (size_t i = 0; i < sizeof k_fixtures / sizeof *k_fixtures; i++) {
        check_fixture(&k_fixtures[i], *state);
    }
}

// Without the kernel's fault there is nothing to say of SME: a core without it, a core unknown.
// Of 500 µs of convolutions on SME and 250 µs of a linear layer: 500 ÷ 750 and 750 ÷ 750.
static void groups_keep_four_bits_off_sme(void **state)
{
    folder *f = *state;
    for (size_t i = 0; i < sizeof k_fixtures / sizeof *k_fixtures; i++) {
        bool grouped = strcmp(k_fixtures[i].reason, "blockwise_4bit") == 0;
        made m = made_fixture(&k_fixtures[i]);
        const etp_ab *ab = etp_ab_answer(made_open(&m, f));
        size_t n = 0;
        for (size_t k = 0; k < ab->judged.findings.n; k++) {
            n += ab->judged.findings.items[k].kind == ETP_FINDING_GROUPWISE;
        }
        assert_int_equal(n, grouped);
        if (grouped) {
            says(ab, f,
                 "67 % of the time of matrix multiplications is on SME2, and with one scale per "
                 "channel "
                 "100 % could be");
        }
    }
}

static void a_core_without_sme_is_not_accused(void **state)
{
    static const char *const k_cpus[] = {
        "aarch64:hwcap=0xffffffff,hwcap2=0x2000,midr=0x410fd0c1,kernel=6.12",
        "aarch64:hwcap=0xffffffff,hwcap2=0x2000,midr=0x0,kernel=6.12", "nonsense"};
    for (size_t i = 0; i < 3; i++) {
        fixture x = k_fixtures[7];
        assert_string_equal(x.reason, "kernel_hides");
        x.cpu = k_cpus[i];
        made m = made_fixture(&x);
        etp_ab_session *s = made_open(&m, *state);
        assert_null(etp_ab_answer(s)->engagement.feature_name);
        assert_int_equal(etp_ab_answer(s)->engagement.off, 0);
    }
}

// ---- shares of work, by hand ----

static const made_op k_toy[] = {
    {{"Transpose (ND, X32) #1", "Transpose (ND, X32) #1"},                      0, {10, 10}  },
    {{CONV, CONV_SME},                                                          0, {100, 100}},
    {{"Convolution (NHWC, F32) IGEMM #2", "Convolution (NHWC, PF32) IGEMM #2"}, 0, {300, 200}},
    {{"Convolution (NHWC, F32) IGEMM #3", CONV},                                0, {300, 300}},
    {{"Mean (ND) #1", "Mean (ND) Reduce2 #1"},                                  0, {50, 50}  },
    {{"Transpose (ND, X32) #2", "Transpose (ND, X32) #2"},                      0, {10, 10}  },
    {{"Copy (NC, X32) #1", "Copy (NC, X32) #1"},                                0, {10, 10}  },
    {{LINEAR("F32"), LINEAR("PF32")},                                           0, {110, 110}},
};

// toy_cnn: 3→32 3×3 to 48², 32→64 3×3 to 24², 64→128 3×3 to 12² (said to stay off), linear 128→1000
// of one row.
static void macs_and_rows(void **state)
{
    const double on = 48. * 48 * 32 * 27 + 24. * 24 * 64 * 288 + 128000, off = 12. * 12 * 128 * 576;
    made m = made_base();
    folder *f = *state;
    memset(m.ops, 0, sizeof m.ops);
    memcpy(m.ops, k_toy, sizeof k_toy);
    m.program = ETP_TEST_SOURCE_DIR "/examples/models/toy_cnn_xnnpack_fp32.pte";
    const etp_ab *ab = etp_ab_answer(made_open(&m, f));
    const etp_ab_engagement *e = &ab->engagement;
    if (ab->program_problem) {
        fail_msg("%s", ab->program_problem);
    }
    assert_true(fabs(e->macs_share - on / (on + off)) < 1e-9);
    assert_true(fabs(e->time_share - 410. / 800) < 0.002); // 790 µs and 10 of the boundary
    assert_int_equal(e->engaged, 3);
    assert_int_equal(e->row_kernels, 1);
    says(ab, f,
         "55 % of MACs, 51 % of the time, 3 of 4 convolutions and matrix multiplications on SME2 "
         "(1 with a row kernel: M = 1)");
    json_t *whole, *j = engagement_json(ab, f, &whole);
    assert_true(fabs(json_number_value(json_object_get(j, "macs_share")) - on / (on + off)) < 1e-5);
    assert_int_equal(json_integer_value(json_object_get(j, "row_kernel")), 1);
    json_decref(whole);
}

// ---- got slower, in two compared sides ----

static void slower_in(folder *f, const char *a, const char *b, bool expected)
{
    const char *const sides[] = {a, b};
    etp_ab_options how = {.two_sides = true};
    etp_error err = ERROR_NONE;
    etp_ab_session *s = NULL;
    ASSERT_OK(etp_ab_open(sides, 2, &how, &s, &err), err);
    const etp_ab *ab = etp_ab_answer(s);
    bool first =
        ab->judged.findings.n > 0 && ab->judged.findings.items[0].kind == ETP_FINDING_SLOWER;
    assert_int_equal(first, expected);
    if (expected) {
        const char *text = ab->judged.findings.items[0].text;
        etp_whatif w;
        const char *back =
            etp_arena_printf(&f->arena, "back %s", ab->judged.findings.items[0].evidence[0]);
        assert_int_equal(etp_whatif_build(ab, &back, 1, &w, NULL), ETP_OK);
        assert_in_range(w.steps[0].gain_ns, 29500, 30500); // 80 → 50 µs, planted
        // Either clock cuts off up to a microsecond; the headline is of what is not recorded.
        const double now = (double)w.now_ns, then = (double)w.then_ns;
        assert_true(w.lo <= now / (then + 1000) && w.hi >= now / (then - 1000));
        const etp_ab_arm *base = &ab->arms[ab->baseline], *arm = &ab->arms[w.arm];
        const double left = then * (double)arm->median_ns / (double)arm->traced_ns;
        assert_true(arm->median_ns != arm->traced_ns); // else nothing would be tested
        assert_true(fabs(w.against_baseline * left / (double)base->median_ns - 1) < 1e-4);
        assert_non_null(strstr(text, "GEMM #1 [0] got slower by 30."));
        assert_non_null(strstr(text, "with its old time alone: 1"));
        assert_null(strstr(text, "whatif DIR")); // there is no one folder
        says(ab, f, "GEMM #1 [0] got slower by 30.");
    } else {
        says(ab, f, "no operator beyond its noise");
    }
    etp_ab_close(s);
}

static void slower_in_compared_sides(void **state)
{
    folder *f = *state;
    for (int lost = 1; lost >= 0; lost--) {
        made m = made_base();
        m.ops[2].us[1] = lost ? 80 : 50;
        made_open(&m, f);
        const char *dir = folder_path(f, "run");
        slower_in(f, etp_arena_printf(&f->arena, "%s:linux_neon_0", dir), // arms of a session
                  etp_arena_printf(&f->arena, "%s:linux_sme2_1", dir), lost);
        slower_in(f, etp_arena_printf(&f->arena, "%s/linux_neon_0", dir), // folders of dumps
                  etp_arena_printf(&f->arena, "%s/linux_sme2_1", dir), lost);
    }
}

// 600 ns known, 250 with 1 sample, 100 with 0, 40 that no sample can tell, 10 of no interest: of
// 990 600/990 are known; (1 + 1) × 5 = 10 samples reach 850/990, (0 + 1) × 10 all but the 40.
static void more_samples_reach_so_much(void **state)
{
    int64_t ns[5] = {600, 250, 100, 40, 10};
    etp_ab_operator ops[5] = {0};
    for (size_t i = 0; i < 5; i++) {
        ops[i].ns = &ns[i];
        ops[i].engaged =
            (etp_engage){.eligible = i < 4,
                         .state = i ? ETP_ENGAGEMENT_UNKNOWN : ETP_ENGAGED,
                         .reason = i == 3 ? ETP_REASON_DISAGREE : ETP_REASON_FEW_SAMPLES,
                         .seen = i == 1};
    }
    etp_ab ab = {.operators = ops, .n_operators = 5};
    assert_true(isnan(etp_ab_engage_reach(&ab, 0))); // no feature, nothing asked
    ab.engagement.feature_name = "VNNI";
    assert_float_equal(etp_ab_engage_reach(&ab, 0), 600.0 / 990, 1e-9);
    assert_float_equal(etp_ab_engage_reach(&ab, 4.9), 600.0 / 990, 1e-9);
    assert_float_equal(etp_ab_engage_reach(&ab, 5), 850.0 / 990, 1e-9);
    assert_float_equal(etp_ab_engage_reach(&ab, 10), 950.0 / 990, 1e-9);
}
