// SPDX-License-Identifier: Apache-2.0
// From which M on a level pays, of comparisons that are made up: what is said of each course of
// verdicts was written down by hand.
#include <string.h>

#include "base/sink.h"
#include "study/replay_sweep.h"
#include "unit.h"

#define SIZES 4

enum {
    U = ETP_VERDICT_UNKNOWN,
    F = ETP_VERDICT_FASTER,
    S = ETP_VERDICT_SLOWER,
    E = ETP_VERDICT_SAME
};

typedef struct fixture { // M = 1, 4, 8, 64 at avx2 and vnni
    etp_arena arena;
    etp_ab ab;
    etp_ab_arm arms[2 * SIZES];
    uint32_t shown[2 * SIZES];
    etp_ab_comparison first[2 * SIZES], within[SIZES];
    etp_sweep sweep;
    etp_replay of;
} fixture;

static const uint64_t k_m[SIZES] = {1, 4, 8, 64};

static etp_ab_comparison compared(uint32_t baseline, uint32_t candidate, int verdict)
{
    const double slower = verdict == S ? 0.5 : 1.0, estimate = verdict == F ? 2.0 : slower;
    return (etp_ab_comparison){.baseline = baseline,
                               .candidate = candidate,
                               .estimate = estimate,
                               .lo = estimate - 0.1,
                               .hi = estimate + 0.1,
                               .blocks = 6,
                               .margin = ETP_MARGIN_DEFAULT,
                               .verdict = (etp_verdict)verdict};
}

// MISSING: of the sizes, one that could not be made; SIZES: none.
static void make(fixture *f, const int verdicts[SIZES], size_t missing)
{
    static const char *const k_words[SIZES] = {"M=64", "4", "1", "8"};
    memset(f, 0, sizeof *f);
    assert_int_equal(etp_sweep_read(k_words, SIZES, &f->arena, &f->sweep, NULL), ETP_OK);
    f->of =
        (etp_replay){.name = "node 0", .type = "FullyConnected", .shapes = "", .model = "m.pte"};
    f->sweep.of = &f->of;
    f->sweep.m = 4;
    f->sweep.dir = "run";
    uint32_t n = 0;
    for (size_t i = 0; i < SIZES; i++) {
        assert_int_equal(f->sweep.sizes[i].m, k_m[i]);
        f->sweep.sizes[i].capsule = i == missing ? NULL : "capsule.pte";
        f->sweep.sizes[i].why = i == missing ? "it cannot be" : NULL;
        for (uint32_t k = 0; i != missing && k < 2; k++, n++) {
            f->arms[n] = (etp_ab_arm){.level = k ? ETP_LEVEL_VNNI : ETP_LEVEL_AVX2,
                                      .level_name = k ? "vnni" : "avx2",
                                      .threads = 1,
                                      .model = n / 2,
                                      .median_ns = 1000 * (int64_t)k_m[i]};
            f->shown[n] = n;
            // Each arm is held against the first of all: only within a model that says something.
            if (n > 0) {
                f->first[f->ab.n_comparisons++] = compared(0, n, n == 1 ? verdicts[i] : S);
            }
            if (k == 1 && n > 1) {
                f->within[f->ab.n_within++] = compared(n - 1, n, verdicts[i]);
            }
        }
    }
    f->ab.arms = f->arms;
    f->ab.n_arms = n;
    f->ab.shown = f->shown;
    f->ab.comparisons = f->first;
    f->ab.within = f->within;
}

static void check(const int verdicts[SIZES], size_t missing, uint64_t from, const char *text)
{
    fixture f;
    make(&f, verdicts, missing);
    assert_int_equal(etp_sweep_take(&f.ab, &f.arena, &f.sweep, NULL), ETP_OK);
    assert_int_equal(f.sweep.n_answers, 1);
    assert_int_equal(f.sweep.answers[0].from, from);
    assert_string_equal(f.sweep.answers[0].text, text);
    assert_string_equal(f.sweep.answers[0].level, "vnni");
    assert_string_equal(f.sweep.answers[0].over, "avx2");
    for (size_t i = 0; i < SIZES; i++) {
        const etp_sweep_size *size = &f.sweep.sizes[i];
        assert_int_equal(size->n_levels, i == missing ? 0 : 2);
        for (size_t k = 0; k < size->n_levels;
             k++) { // the level that others are held against first
            assert_string_equal(size->levels[k].level, k ? "vnni" : "avx2");
            assert_true(size->levels[k].ns == 1000.0 * (double)k_m[i]);
        }
    }
    etp_arena_dispose(&f.arena);
}

static void a_level_pays_from_where_it_is_faster_to_the_end(void **state)
{
    check((const int[]){S, E, F, F}, SIZES, 8,
          "VNNI pays over AVX2 from M = 8 on; at M = 4 the two are the same");
    check((const int[]){S, F, S, F}, SIZES, 64,
          "VNNI pays over AVX2 from M = 64 on; at M = 8 it is slower");
    check((const int[]){U, F, F, F}, SIZES, 4,
          "VNNI pays over AVX2 from M = 4 on; at M = 1 it is not known");
    check((const int[]){F, F, F, F}, SIZES, 1, "VNNI pays over AVX2 at every M measured, 1 to 64");
    check((const int[]){F, F, F, E}, SIZES, 0,
          "VNNI does not pay over AVX2 at M = 64: the two are the same");
    check((const int[]){F, F, F, U}, SIZES, 0,
          "Whether VNNI pays over AVX2 at M = 64 is not known");
    // A size that is missing takes no model.
    check((const int[]){S, F, F, F}, 1, 8,
          "VNNI pays over AVX2 from M = 8 on; at M = 1 it is slower");
}

static void what_is_withheld_says_why(void **state)
{
    fixture f;
    make(&f, (const int[]){F, F, F, U}, SIZES);
    f.within[SIZES - 2].withheld = ETP_WITHHELD_CONTENDED;
    assert_int_equal(etp_sweep_take(&f.ab, &f.arena, &f.sweep, NULL), ETP_OK);
    assert_string_equal(f.sweep.answers[0].text,
                        "Whether VNNI pays over AVX2 at M = 64 is not known: other programs had "
                        "the CPU while the arms were measured");
    etp_arena_dispose(&f.arena);
}

static void the_report_has_a_bar_for_each_size(void **state)
{
    fixture f;
    make(&f, (const int[]){S, E, F, F}, SIZES);
    assert_int_equal(etp_sweep_take(&f.ab, &f.arena, &f.sweep, NULL), ETP_OK);
    const etp_report *r = etp_sweep_report(&f.sweep, &f.arena);
    const etp_report_style style = {.width = 100, .unicode = true};
    etp_strbuf text;
    etp_strbuf_init(&text, &f.arena);
    etp_sink sink = etp_sink_strbuf(&text);
    assert_int_equal(etp_report_write(r, etp_write_text, &style, &sink, NULL), ETP_OK);
    const char *at = strstr(text.ptr, "How much faster VNNI is than AVX2");
    assert_non_null(at);
    static const char *const k_bars[] = {"M = 1 ", "M = 4 ", "M = 8 ", "M = 64"};
    for (size_t i = 0; i < SIZES; i++) {
        const char *bar = strstr(at, k_bars[i]);
        assert_non_null(bar);
        at = bar;
    }
    assert_non_null(strstr(at, "2.00×"));
    assert_non_null(strstr(at, "█"));
    etp_arena_dispose(&f.arena);
}

static void numbers_of_rows_are_read(void **state)
{
    static const char *const k_wrong[][2] = {
        {"1",   "2"  },
        {"M=",  "2"  },
        {"M=1", "M=2"},
        {"M=0", "1"  },
        {"N=1", "2"  },
        {"M=3", "3"  },
    };
    for (size_t i = 0; i < sizeof k_wrong / sizeof *k_wrong; i++) {
        etp_sweep s = {0};
        etp_error err = {0};
        assert_int_equal(etp_sweep_read(k_wrong[i], 2, *state, &s, &err), ETP_USAGE);
        assert_non_null(strstr(err.msg, "--sweep"));
    }
}
