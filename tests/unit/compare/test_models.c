// SPDX-License-Identifier: Apache-2.0
// Which two arms are of different models, by operators and multiply-accumulates written down here.
#include <string.h>

#include "compare/session.h"
#include "unit.h"

enum { MOST = 32 };

// "cccg": three convolutions and a matrix product; every other letter multiplies nothing. MACS of
// those that multiply, all alike from the last one on; 0: not known.
typedef struct net {
    const char *operators, *sha256;
    uint64_t macs[MOST];
} net;

typedef struct made_profile {
    etp_profile profile;
    etp_profile_row rows[MOST];
    etp_row_facts of_rows[MOST];
    etp_profile_facts facts;
} made_profile;

static void make(made_profile *m, const net *n)
{
    *m = (made_profile){.facts = {.rows = m->of_rows}};
    size_t product = 0;
    for (size_t i = 0; n->operators[i]; i++) {
        const char c = n->operators[i];
        m->rows[i] = (etp_profile_row){.kind = ETP_ROW_OPERATOR};
        const etp_category other = c == 'g' ? ETP_CATEGORY_GEMM : ETP_CATEGORY_ELEMENTWISE;
        m->rows[i].parsed.category = c == 'c' ? ETP_CATEGORY_CONVOLUTION : other;
        uint64_t macs = 0;
        if (c == 'c' || c == 'g') {
            macs = n->macs[product];
            product += n->macs[product + 1] > 0;
        }
        m->of_rows[i].op.work = (etp_work){.known = macs > 0, .macs = macs};
    }
    m->profile.rows = m->rows;
    m->profile.n_rows = strlen(n->operators);
    m->profile.facts = &m->facts;
}

static bool told_apart(const net *x, const net *y)
{
    static made_profile a, b;
    make(&a, x);
    make(&b, y);
    const etp_ab_model models[] = {{.sha256 = x->sha256}, {.sha256 = y->sha256}};
    const etp_ab_arm arms[] = {
        {.measured = "X", .model = 0, .profile = &a.profile},
        {.measured = "Y", .model = 1, .profile = &b.profile},
    };
    const etp_ab_comparison comparison = {.baseline = 0, .candidate = 1};
    etp_arena arena = {0};
    const etp_ab ab = {.arena = &arena,
                       .models = models,
                       .n_models = 2,
                       .arms = arms,
                       .n_arms = 2,
                       .comparisons = &comparison,
                       .n_comparisons = 1};
    const char *text = etp_ab_unrelated(&ab);
    assert_true(!text || strncmp(text, "X and Y are of two different models", 35) == 0);
    etp_arena_dispose(&arena);
    return text != NULL;
}

static void different_models(void **state)
{
    static const struct {
        net x, y;
        bool apart;
    } k_cases[] = {
        // names alone: 1 of 10 products
        {{"cgeee", "a", {0}},             {"gggggggggg", "b", {0}},                             true },
        {{"cgeee", NULL, {0}},            {"gggggggggg", NULL, {0}},                            true },
        // half of the larger one's
        {{"cc", "a", {0}},                {"cccc", "b", {0}},                                   false},
        // one program, whatever its recordings logged
        {{"cgeee", "a", {0}},             {"gggggggggg", "a", {0}},                             false},
        // a side without products: a delegate that logs nothing
        {{"ee", "a", {0}},                {"cccc", "b", {0}},                                   false},
        // another width: as many products, all of another size
        {{"cccg", "a", {90, 80, 70, 60}}, {"cccg", "b", {45, 40, 35, 30}},                      false},
        // rewritten in parts: 900 of 1,000 multiply-accumulates as before, many small ones new
        {{"cc", "a", {900, 100}},         {"ccccc", "b", {900, 25}},                            false},
        // few products, none as large: 20 of 1,000 are common
        {{"cc", "a", {900, 20}},          {"ccccccc", "b", {190, 180, 170, 160, 150, 130, 20}}, true },
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        if (told_apart(&k_cases[i].x, &k_cases[i].y) != k_cases[i].apart ||
            told_apart(&k_cases[i].y, &k_cases[i].x) != k_cases[i].apart) {
            fail_msg("case %zu", i);
        }
    }
}
