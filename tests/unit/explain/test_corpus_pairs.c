// SPDX-License-Identifier: Apache-2.0
// Real pairs of recordings: ledgers close, every convolution and matrix multiplication has an
// engagement row, verdicts are as XNNPACK's kernel table says, and other data gives other words.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../corpus.h"
#include "judge/open.h"
#include "unit.h"

typedef struct pair {
    const char *model, *baseline, *candidate;
    uint32_t eligible, engaged, off; // by hand from the node types and sme2's table of kernels
    etp_reason reason;               // of the largest group that stayed off
} pair;

// mobilenet_v3_small: 41 Conv2d, 11 DepthwiseConv2d, 2 FullyConnected. Its fp16 1×1 convolutions
// keep fp32 weights; toy_cnn has 3 + 1 Conv2d (one 1×1), one depthwise, one linear.
static const pair k_pairs[] = {
    {"mobilenet_v3_small_xnnpack_fp32", "arm64_neon",   "arm64_sme2", 54, 43, 11,
     ETP_REASON_DEPTHWISE                                                                          },
    {"mobilenet_v3_small_xnnpack_int8", "arm64_neon",   "arm64_sme1", 54, 43, 11,
     ETP_REASON_DEPTHWISE                                                                          },
    {"mobilenet_v3_small_xnnpack_fp16", "arm64_neon",   "arm64_sme2", 54, 3,  51,
     ETP_REASON_FP16_FP32_WEIGHTS                                                                  },
    {"vit_tiny_xnnpack_fp32",           "arm64_neon",   "arm64_sme2", 20, 20, 0,  ETP_REASON_NONE  },
    {"toy_cnn_xnnpack_fp32",            "arm64_sme2",   "arm64_neon", 5,  0,  5,  ETP_REASON_MASKED},
    {"toy_cnn_xnnpack_fp32",            "x86_noavx512", "x86_full",   5,  0,  0,  ETP_REASON_NONE  },
    {"vit_tiny_xnnpack_int8",           "x86_sse",      "x86_full",   20, 0,  0,  ETP_REASON_NONE  },
};

static void check(const etp_ab *ab, const pair *p)
{
    const etp_ledger *l = &ab->ledgers[0];
    int64_t sum = 0;
    for (size_t i = 0; i < l->n; i++) {
        sum += l->items[i].delta_ns;
    }
    assert_true(l->n > 0 && sum == l->delta_ns);
    assert_true(l->delta_ns == ab->arms[1].traced_ns - ab->arms[0].traced_ns);
    for (size_t i = 0; i < ab->n_operators; i++) {
        const etp_ab_operator *op = &ab->operators[i];
        bool asked = etp_kit_category_of(op->category) == ETP_KIT_CATEGORY_CONV ||
                     etp_kit_category_of(op->category) == ETP_KIT_CATEGORY_GEMM;
        assert_true(op->engaged.eligible == asked);
        assert_true(!asked || op->engaged.state == ETP_ENGAGED || op->engaged.reason);
        assert_true(!asked || op->macs != ETP_AB_NO_MACS);
        assert_true(op->by_nodes || !op->rows[0] || !op->rows[1]);
    }
    assert_int_equal(ab->engagement.eligible, p->eligible);
    assert_int_equal(ab->engagement.engaged, p->engaged);
    assert_int_equal(ab->engagement.off, p->off);
    if (p->reason != ETP_REASON_NONE) {
        uint32_t most = 0;
        for (size_t i = 0; i < ab->engagement.n_reasons; i++) {
            const etp_reason reason = ab->engagement.reasons[i];
            most = reason == p->reason ? ab->engagement.off_for[reason].operators : most;
        }
        assert_true(most * 2 > p->off);
    }
}

static etp_ab_session *open_pair_with(const char *model, const char *baseline,
                                      const char *candidate, bool program)
{
    static char dumps[2][1024], pte[1024];
    const char *const paths[2] = {dumps[0], dumps[1]}, *dir = need_corpus();
    etp_ab_options how = {.program = program ? pte : NULL, .two_sides = true};
    etp_ab_session *session = NULL;
    etp_error err = {0};
    snprintf(dumps[0], sizeof dumps[0], "%s/dumps/%s.%s.etdump", dir, model, baseline);
    snprintf(dumps[1], sizeof dumps[1], "%s/dumps/%s.%s.etdump", dir, model, candidate);
    snprintf(pte, sizeof pte, "%s/models/%s.pte", dir, model);
    if (etp_ab_open(paths, 2, &how, &session, &err) != ETP_OK) {
        fail_msg("%s: %s", model, err.msg);
    }
    return session;
}

static etp_ab_session *open_pair(const char *model, const char *baseline, const char *candidate)
{
    return open_pair_with(model, baseline, candidate, true);
}

// What each model is: its nodes by type, and which of them sme2's table lets run on SME. ON and OFF
// are of an SME arm; what is neither keeps one name at every level (QP8).
typedef struct recorded {
    const char *name;
    uint32_t convs, depthwise, linears, products;
    uint32_t on, off;
    bool no_x86; // recorded at one x86 level only
} recorded;

static const recorded k_models[] = {
    // fp32: all but depthwise.
    {"toy_cnn_xnnpack_fp32",            3,  1,  1,  0, 4,  1,  false},
    {"mobilenet_v3_small_xnnpack_fp32", 41, 11, 2,  0, 43, 11, false},
    {"vit_tiny_xnnpack_fp32",           1,  0,  13, 6, 20, 0,  false},
    // Static int8, one scale per channel: the same; the attention of the int8 model is fp32.
    {"toy_cnn_xnnpack_int8",            3,  1,  1,  0, 4,  1,  false},
    {"mobilenet_v3_small_xnnpack_int8", 41, 11, 2,  0, 43, 11, false},
    {"vit_tiny_xnnpack_int8",           1,  0,  13, 6, 20, 0,  false},
    // fp16: 1×1 convolutions (1 of 3, 40 of 41) run as linears with fp32 weights, which have no
    // kernel.
    {"toy_cnn_xnnpack_fp16",            3,  1,  1,  0, 3,  2,  false},
    {"mobilenet_v3_small_xnnpack_fp16", 41, 11, 2,  0, 3,  51, false},
    // Dynamic int8: QP8 on NEON and SME alike.
    {"mlp_xnnpack_int8dyn",             0,  0,  3,  0, 0,  0,  true },
};

// Each level against each other of its family: 6 × 9 + 12 × 8 pairs.
static void every_pair(void **state)
{
    static const char *const k_levels[] = {"arm64_sme2", "arm64_sme1",   "arm64_neon", "x86_full",
                                           "x86_novnni", "x86_noavx512", "x86_sse"};
    size_t pairs = 0;
    for (size_t m = 0; m < sizeof k_models / sizeof *k_models; m++) {
        const recorded *x = &k_models[m];
        uint32_t all = x->convs + x->depthwise + x->linears + x->products, told = x->on + x->off;
        for (size_t b = 0; b < 7; b++) {
            for (size_t c = 0; c < 7; c++) {
                bool arm = b < 3 && c < 3;
                if (b == c || (b < 3) != (c < 3) || (!arm && x->no_x86)) {
                    continue;
                }
                bool on_sme = arm && c < 2;
                pair expected = {x->name,
                                 k_levels[b],
                                 k_levels[c],
                                 all,
                                 on_sme ? x->on : 0,
                                 on_sme ? x->off : 0,
                                 ETP_REASON_NONE};
                if (arm && !on_sme) {
                    expected.off = told;
                }
                etp_ab_session *s = open_pair(x->name, k_levels[b], k_levels[c]);
                check(etp_ab_answer(s), &expected);
                assert_int_equal(etp_ab_answer(s)->engagement.unknown,
                                 all - expected.engaged - expected.off);
                etp_ab_close(s);
                pairs++;
            }
        }
    }
    assert_int_equal(pairs, 6 * 9 + 12 * 8);
}

// ---- verdicts that were worked out from the Inspector's tables ----

enum {
    MODEL,
    BASELINE,
    CANDIDATE,
    BASELINE_NS,
    CANDIDATE_NS,
    BEFORE,
    BEFORE_SHARE,
    AFTER,
    AFTER_SHARE,
    PORTABLE,
    ON_SME,
    TIME_ON_SME,
    MACS_ON_SME,
    LONGER,
    FINDINGS,
    FIELDS
};

static bool split(char *line, const char *fields[FIELDS])
{
    size_t n = 0;
    line[strcspn(line, "\n")] = '\0';
    for (char *at = line; at && n < FIELDS; n++) {
        char *tab = strchr(at, '\t');
        fields[n] = at;
        if (tab) {
            *tab++ = '\0';
        }
        at = tab;
    }
    return n == FIELDS;
}

// The sentences that depend on times and names alone, in their order: "layout portable".
static void sentences(const etp_ab *ab, char *out, size_t size)
{
    out[0] = '\0';
    for (size_t i = 0; i < ab->judged.findings.n; i++) {
        etp_finding_kind kind = ab->judged.findings.items[i].kind;
        size_t len = strlen(out);
        if (kind == ETP_FINDING_OFF_FEATURE) {
            snprintf(out + len, size - len, "%soff_feature=%s", len ? " " : "",
                     etp_reason_id(ab->engagement.reasons[0]));
        } else if (kind == ETP_FINDING_LAYOUT || kind == ETP_FINDING_PORTABLE ||
                   kind == ETP_FINDING_SHIFT) {
            snprintf(out + len, size - len, "%s%s", len ? " " : "", etp_finding_id(kind));
        }
    }
    snprintf(out + strlen(out), size - strlen(out), "%s", out[0] ? "" : "-");
}

// Is each word of B one of A, and their number the same? Findings are ranked by time, the table is
// not.
static bool same_words(const char *a, const char *b)
{
    char spaced[260], word[64];
    snprintf(spaced, sizeof spaced, " %s ", a);
    for (const char *at = b; *at;) {
        int n = (int)strcspn(at, " ");
        snprintf(word, sizeof word, " %.*s ", n, at);
        if (!strstr(spaced, word)) {
            return false;
        }
        at += n + (at[n] == ' ');
    }
    return strlen(a) == strlen(b);
}

// "-": cannot be told.
static bool is_share(double found, const char *expected)
{
    return strcmp(expected, "-") == 0 ? isnan(found) : fabs(found - strtod(expected, NULL)) < 2e-6;
}

// Operators of one launch each that take longer in every iteration; "-": the lists differ.
static bool counts_longer(const etp_ledger *l, const char *expected)
{
    unsigned long n = 0;
    for (size_t i = 0; i < l->n; i++) {
        n += l->items[i].each_longer;
    }
    return strcmp(expected, "-") == 0 || n == strtoul(expected, NULL, 10);
}

static void check_verdict(const etp_ab *ab, const char *const *f, bool program)
{
    const etp_ab_comparison *c = &ab->comparisons[0];
    char said[256];
    sentences(ab, said, sizeof said);
    bool same = fabs((double)ab->arms[0].traced_ns - strtod(f[BASELINE_NS], NULL)) <= 0.6 &&
                fabs((double)ab->arms[1].traced_ns - strtod(f[CANDIDATE_NS], NULL)) <= 0.6 &&
                fabs(c->shift.before_share - strtod(f[BEFORE_SHARE], NULL)) < 2e-5 &&
                fabs(c->shift.after_share - strtod(f[AFTER_SHARE], NULL)) < 2e-5 &&
                fabs(c->shift.portable_after - strtod(f[PORTABLE], NULL)) < 2e-6 &&
                strcmp(etp_ab_part_name(c->shift.before), f[BEFORE]) == 0 &&
                strcmp(etp_ab_part_name(c->shift.after), f[AFTER]) == 0 &&
                ab->engagement.engaged == strtoul(f[ON_SME], NULL, 10) &&
                is_share(ab->engagement.time_share, f[TIME_ON_SME]) &&
                is_share(ab->engagement.macs_share, program ? f[MACS_ON_SME] : "-") &&
                counts_longer(&ab->ledgers[0], f[LONGER]) && same_words(said, f[FINDINGS]) &&
                ab->comparisons[0].verdict == ETP_VERDICT_UNKNOWN;
    if (!same) {
        fail_msg("%s, %s to %s: %lld to %lld ns, %s %.6f to %s %.6f, portable %.6f, %u on SME, "
                 "%.6f of the time, %.6f of the MACs, %s",
                 f[MODEL], f[BASELINE], f[CANDIDATE], (long long)ab->arms[0].traced_ns,
                 (long long)ab->arms[1].traced_ns, etp_ab_part_name(c->shift.before),
                 c->shift.before_share, etp_ab_part_name(c->shift.after), c->shift.after_share,
                 c->shift.portable_after, ab->engagement.engaged, ab->engagement.time_share,
                 ab->engagement.macs_share, said);
    }
}

static void verdicts_of_the_inspector(void **state)
{
    need_corpus();
    FILE *file = fopen(ETP_TEST_SOURCE_DIR "/tests/data/verdicts.tsv", "r");
    const char *fields[FIELDS];
    char line[512];
    size_t pairs = 0;
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file)); // titles
    while (fgets(line, sizeof line, file)) {
        assert_true(split(line, fields));
        for (int program = 0; program < 2;
             program++) { // these sentences rest on names and times alone
            etp_ab_session *s =
                open_pair_with(fields[MODEL], fields[BASELINE], fields[CANDIDATE], program);
            check_verdict(etp_ab_answer(s), fields, program);
            etp_ab_close(s);
        }
        pairs++;
    }
    fclose(file);
    assert_int_equal(pairs, 6 * 9 + 12 * 8);
}

static const etp_ab_finding *find(const etp_ab *ab, const char *words)
{
    for (size_t i = 0; i < ab->judged.findings.n; i++) {
        if (strstr(ab->judged.findings.items[i].text, words)) {
            return &ab->judged.findings.items[i];
        }
    }
    return NULL;
}

static void real_pairs(void **state)
{
    for (size_t i = 0; i < sizeof k_pairs / sizeof *k_pairs; i++) {
        etp_ab_session *s = open_pair(k_pairs[i].model, k_pairs[i].baseline, k_pairs[i].candidate);
        check(etp_ab_answer(s), &k_pairs[i]);
        etp_ab_close(s);
    }
}

// The sentence about fp32 weights is there because of them, and goes with the names that
// carry it: the other way round the level is masked, without SME names nothing is claimed.
static void other_data_other_words(void **state)
{
    const char *model = "mobilenet_v3_small_xnnpack_fp16";
    etp_ab_session *s = open_pair(model, "arm64_neon", "arm64_sme2");
    const etp_ab_finding *f = find(etp_ab_answer(s), "fp16 with fp32 weights");
    assert_non_null(f);
    assert_non_null(f->formula);
    assert_int_equal(f->n_evidence, 40); // 54 less 11 depthwise, less 3 with PF16 names
    etp_ab_close(s);
    s = open_pair(model, "arm64_neon", "arm64_neon");
    assert_null(find(etp_ab_answer(s), "fp16 with fp32 weights"));
    assert_null(find(etp_ab_answer(s), "bottleneck moved"));
    etp_ab_close(s);
    s = open_pair("vit_tiny_xnnpack_fp32", "arm64_neon", "arm64_sme2");
    assert_null(find(etp_ab_answer(s), "stay off"));
    etp_ab_close(s);
}

#define RESULT corpus_result // where no corpus is, the test is skipped
