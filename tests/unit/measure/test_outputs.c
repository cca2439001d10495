// SPDX-License-Identifier: Apache-2.0
// Comparison of outputs: values worked out by hand, hostile folders refused.
#include <math.h>

#include "measure/outputs.h"
#include "os/os.h"
#include "unit.h"

#define ROOT "outputs-test"

static int set_up(void **state)
{
    static etp_arena arena;
    arena = (etp_arena){0};
    *state = &arena;
    return 0;
}

static int tear_down(void **state)
{
    etp_arena_dispose(*state);
    return etp_os_remove_tree(ROOT, NULL) == ETP_OK ? 0 : -1;
}

static const char *make(etp_arena *arena, const char *name, const char *dtype, const char *shape,
                        const void *data, size_t len)
{
    const char *dir = etp_arena_printf(arena, ROOT "/%s", name);
    assert_int_equal(etp_os_mkdirs(dir, NULL), ETP_OK);
    const char *list = etp_arena_printf(
        arena,
        "{\"outputs\":[{\"index\":0,\"file\":\"output-0.bin\",\"dtype\":\"%s\",\"shape\":%s}]}",
        dtype, shape);
    assert_int_equal(etp_os_write_atomic(etp_arena_printf(arena, "%s/outputs.json", dir),
                                         etp_str_from(list), NULL),
                     ETP_OK);
    assert_int_equal(etp_os_write_atomic(etp_arena_printf(arena, "%s/output-0.bin", dir),
                                         (etp_str){data, len}, NULL),
                     ETP_OK);
    return dir;
}

static void floats_differ_by_hand(void **state)
{
    etp_arena *arena = *state;
    const float a[4] = {3, 4, 0, -10}, b[4] = {3, 4, 0, -10.05f};
    const char *x = make(arena, "a", "float32", "[2,2]", a, sizeof a);
    const char *y = make(arena, "b", "float32", "[2,2]", b, sizeof b);
    etp_outputs_comparison c;
    assert_int_equal(etp_outputs_compare(x, y, ETP_OUTPUTS_FLOAT32, arena, &c, NULL), ETP_OK);
    assert_false(c.ok); // 0.05 > 0.001 × 10 + 0.001 × 10.05
    assert_int_equal(c.outputs[0].mismatched, 1);
    assert_true(fabs(c.max_abs - 0.05) < 1e-6);
    assert_true(fabs(c.max_rel - 0.05 / 10.05) < 1e-6);
    // (9 + 16 + 100.5) ÷ √(125 × (25 + 101.0025))
    assert_true(fabs(c.cosine - 125.5 / sqrt(125.0 * 126.0025)) < 1e-7);
    assert_true(c.outputs[0].max_magnitude == 10);
    assert_non_null(strstr(c.why, "1 of 4 elements differ"));
    assert_int_equal(etp_outputs_compare(x, y, ETP_OUTPUTS_FLOAT16, arena, &c, NULL), ETP_OK);
    assert_true(c.ok); // 0.05 ≤ 0.02 × 10 + …
}

// Beside a largest element of 10 a zero may be D where D ≤ T × 10 + T × D: just so, and a bit more.
static void each_precision_has_its_bound(void **state)
{
    etp_arena *arena = *state;
    static const struct {
        etp_output_precision precision;
        float within, outside;
    } k_cases[] = {
        {ETP_OUTPUTS_FLOAT32, 0.01f,  0.0102f},
        {ETP_OUTPUTS_FLOAT16, 0.204f, 0.205f },
        {ETP_OUTPUTS_INT8,    1.11f,  1.12f  }
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        for (int out = 0; out < 2; out++) {
            const float a[4] = {3, 4, 0, -10};
            const float b[4] = {3, 4, out ? k_cases[i].outside : k_cases[i].within, -10};
            const char *x = make(arena, "a", "float32", "[4]", a, sizeof a);
            const char *y = make(arena, "b", "float32", "[4]", b, sizeof b);
            etp_outputs_comparison c;
            assert_int_equal(etp_outputs_compare(x, y, k_cases[i].precision, arena, &c, NULL),
                             ETP_OK);
            assert_int_equal(c.ok, !out);
        }
    }
}

static void nan_and_infinity_are_not_overlooked(void **state)
{
    etp_arena *arena = *state;
    const float a[3] = {1, NAN, INFINITY}, same[3] = {1, NAN, INFINITY},
                b[3] = {NAN, NAN, INFINITY};
    const char *x = make(arena, "a", "float32", "[3]", a, sizeof a);
    const char *s = make(arena, "s", "float32", "[3]", same, sizeof same);
    const char *y = make(arena, "b", "float32", "[3]", b, sizeof b);
    etp_outputs_comparison c;
    assert_int_equal(etp_outputs_compare(x, s, ETP_OUTPUTS_FLOAT32, arena, &c, NULL), ETP_OK);
    assert_true(c.ok);
    assert_int_equal(etp_outputs_compare(x, y, ETP_OUTPUTS_INT8, arena, &c, NULL), ETP_OK);
    assert_false(c.ok);
    assert_int_equal(c.outputs[0].nan_a, 1);
    assert_int_equal(c.outputs[0].nan_b, 2);
    assert_true(isinf(c.max_abs));
}

// Zeros agree with zeros, and one value everywhere with itself, whatever was computed.
static void outputs_that_do_not_vary_are_told(void **state)
{
    etp_arena *arena = *state;
    static const struct {
        float a[4];
        const char *dtype, *shape;
        size_t n, varied;
    } k_cases[] = {
        {{0, 0, 0, 0}, "float32", "[2,2]", 4, 0},
        {{3, 3, 3, 3}, "float32", "[4]",   4, 0},
        {{3, 3, 3, 4}, "float32", "[4]",   4, 1},
        {{0},          "float32", "[1]",   1, 0},
        {{3},          "float32", "[1]",   1, 1}, // a single number is one that was computed
        {{0},          "int32",   "[1]",   1, 1}, // the first class
        {{0},          "int32",   "[2]",   2, 0},
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        size_t size = k_cases[i].n * sizeof(float);
        const char *x = make(arena, "a", k_cases[i].dtype, k_cases[i].shape, k_cases[i].a, size);
        etp_outputs_comparison c;
        assert_int_equal(etp_outputs_compare(x, x, ETP_OUTPUTS_FLOAT32, arena, &c, NULL), ETP_OK);
        assert_true(c.ok);
        assert_int_equal(c.varied, k_cases[i].varied);
    }
}

// Nothing finite is nothing compared: of a kind or mixed, in one output of several.
static void outputs_without_a_finite_element_are_told(void **state)
{
    etp_arena *arena = *state;
    const float low[3] = {-INFINITY, -INFINITY, -INFINITY}, mixed[3] = {NAN, INFINITY, -INFINITY},
                masked[3] = {1, -INFINITY, -INFINITY};
    const char *x = make(arena, "a", "float32", "[3]", low, sizeof low);
    const char *m = make(arena, "m", "float32", "[3]", mixed, sizeof mixed);
    const char *k = make(arena, "k", "float32", "[3]", masked, sizeof masked);
    etp_outputs_comparison c;
    assert_int_equal(etp_outputs_compare(x, x, ETP_OUTPUTS_FLOAT32, arena, &c, NULL), ETP_OK);
    assert_int_equal(c.not_finite, 1);
    assert_int_equal(etp_outputs_compare(m, m, ETP_OUTPUTS_FLOAT32, arena, &c, NULL), ETP_OK);
    assert_int_equal(c.not_finite, 1);
    assert_int_equal(etp_outputs_compare(k, k, ETP_OUTPUTS_FLOAT32, arena, &c, NULL), ETP_OK);
    assert_true(c.ok && c.not_finite == 0); // a mask of attention is no defect
    assert_int_equal(etp_outputs_compare(x, m, ETP_OUTPUTS_FLOAT32, arena, &c, NULL), ETP_OK);
    assert_false(c.ok);
}

static void noise_under_one_large_element_is_not_within(void **state)
{
    etp_arena *arena = *state;
    float a[1000], b[1000];
    for (int i = 0; i < 1000; i++) {
        a[i] = i % 2 ? 0.09f : -0.09f;
        b[i] = -a[i] * 0.05f;
    }
    a[0] = b[0] = 1;
    const char *x = make(arena, "a", "float32", "[1000]", a, sizeof a);
    const char *y = make(arena, "b", "float32", "[1000]", b, sizeof b);
    etp_outputs_comparison c;
    assert_int_equal(etp_outputs_compare(x, y, ETP_OUTPUTS_INT8, arena, &c, NULL), ETP_OK);
    assert_int_equal(c.outputs[0].mismatched, 0);
    assert_false(c.ok);
    assert_true(c.cosine < 0.5);
}

static void every_type_is_decoded(void **state)
{
    etp_arena *arena = *state;
    static const struct {
        const char *dtype;
        size_t size;
        uint8_t a[8], b[8];
        double diff;
    } k_cases[] = {
        {"float16",  2, {0x00, 0x3c},                                     {0x00, 0xbe}, 2.5                   }, // 1 and −1.5
        {"float16",  2, {0x01, 0x00},                                     {0x00, 0x00}, 5.9604644775390625e-08}, // smallest subnormal
        {"bfloat16", 2, {0x80, 0x3f},                                     {0x40, 0x40}, 2                     }, // 1 and 3
        {"float64",  8, {0, 0, 0, 0, 0, 0, 0xf0, 0x3f},                   {0},          1                     }, // 1 and 0
        {"int8",     1, {0xff},                                           {0x02},       3                     }, // −1 and 2
        {"uint8",    1, {0xff},                                           {0x02},       253                   },
        {"int16",    2, {0xfe, 0xff},                                     {0x01, 0x00}, 3                     }, // −2 and 1
        {"int32",    4, {0, 0, 0, 0x80},                                  {0},          2147483648.0          },
        {"uint32",   4, {0, 0, 0, 0x80},                                  {0},          2147483648.0          },
        {"int64",    8, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, {0},          1                     },
        {"bool",     1, {1},                                              {0},          1                     },
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        const char *x = make(arena, "a", k_cases[i].dtype, "[1]", k_cases[i].a, k_cases[i].size);
        const char *y = make(arena, "b", k_cases[i].dtype, "[1]", k_cases[i].b, k_cases[i].size);
        etp_outputs_comparison c;
        assert_int_equal(etp_outputs_compare(x, y, ETP_OUTPUTS_FLOAT32, arena, &c, NULL), ETP_OK);
        assert_true(c.max_abs == k_cases[i].diff);
        assert_false(c.ok);
    }
}

static void quantised_steps_are_allowed_only_for_quantised_models(void **state)
{
    etp_arena *arena = *state;
    const int8_t a[2] = {10, 20}, b[2] = {12, 18}, far[2] = {13, 20};
    const char *x = make(arena, "a", "int8", "[2]", a, 2),
               *y = make(arena, "b", "int8", "[2]", b, 2);
    const char *z = make(arena, "c", "int8", "[2]", far, 2);
    etp_outputs_comparison c;
    assert_int_equal(etp_outputs_compare(x, y, ETP_OUTPUTS_INT8, arena, &c, NULL), ETP_OK);
    assert_true(c.ok);
    assert_int_equal(etp_outputs_compare(x, z, ETP_OUTPUTS_INT8, arena, &c, NULL), ETP_OK);
    assert_false(c.ok);
    assert_int_equal(etp_outputs_compare(x, y, ETP_OUTPUTS_FLOAT32, arena, &c, NULL), ETP_OK);
    assert_false(c.ok);
}

static void integers_stand_for_numbers(void **state)
{
    etp_arena *arena = *state;
    const float a[4] = {3, 4, 0, -10};
    const int8_t same[4] = {7, 9, 1, -19}, off[4] = {8, 9, 1, -19}; // halves, from 1 on
    const uint16_t half[4] = {0x4200, 0x4400, 0, 0xc900};
    const char *x = make(arena, "a", "float32", "[4]", a, sizeof a);
    const etp_outputs_side real = {.dir = x},
                           equal = {make(arena, "b", "int8", "[4]", same, 4), 0.5, 1},
                           apart = {make(arena, "c", "int8", "[4]", off, 4), 0.5, 1},
                           halves = {.dir = make(arena, "d", "float16", "[4]", half, 8)},
                           short_one = {.dir = make(arena, "e", "int8", "[2]", off, 2)};
    etp_outputs_comparison c;
    assert_int_equal(etp_outputs_numbers(&real, &equal, arena, &c, NULL), ETP_OK);
    assert_true(c.n == 1 && c.max_abs == 0 && c.cosine > 0.999999 && isinf(c.outputs[0].snr_db));
    assert_int_equal(etp_outputs_numbers(&equal, &halves, arena, &c, NULL), ETP_OK);
    assert_true(c.n == 1 && c.max_abs == 0);
    assert_int_equal(etp_outputs_numbers(&real, &apart, arena, &c, NULL), ETP_OK);
    assert_true(c.max_abs == 0.5 && c.max_rel == 0.5 / 3.5);
    assert_true(fabs(c.outputs[0].snr_db - 10 * log10(125 / 0.25)) < 1e-9); // 9 + 16 + 100
    assert_true(c.outputs[0].rounding == 0);                                // all are halves
    // In steps of 4 from 0 on: 4, 4, 0, and of −10, exactly between, the even −8.
    const etp_outputs_side coarse = {apart.dir, 4, 0};
    assert_int_equal(etp_outputs_numbers(&real, &coarse, arena, &c, NULL), ETP_OK);
    assert_true(fabs(c.outputs[0].rounding - (1 + 4) / 125.0) < 1e-12);
    const etp_outputs_side narrow = {apart.dir, 0.0625, 0}; // from −8 to 7.9375
    assert_int_equal(etp_outputs_numbers(&real, &narrow, arena, &c, NULL), ETP_OK);
    assert_true(fabs(c.outputs[0].rounding - 4 / 125.0) < 1e-12);
    assert_int_equal(etp_outputs_numbers(&real, &short_one, arena, &c, NULL), ETP_OK);
    assert_true(c.n == 0 && c.why != NULL);
}

static void other_shapes_are_a_difference(void **state)
{
    etp_arena *arena = *state;
    const float a[4] = {1, 2, 3, 4};
    const char *x = make(arena, "a", "float32", "[2,2]", a, sizeof a);
    const char *y = make(arena, "b", "float32", "[4]", a, sizeof a);
    etp_outputs_comparison c;
    assert_int_equal(etp_outputs_compare(x, y, ETP_OUTPUTS_FLOAT32, arena, &c, NULL), ETP_OK);
    assert_false(c.ok);
    assert_int_equal(c.n, 0);
    assert_true(isnan(c.max_abs));
    assert_non_null(strstr(c.why, "differs in type or shape: float32 4 against float32 2×2"));
}

static void hostile_folders_are_refused(void **state)
{
    etp_arena *arena = *state;
    const float a[4] = {1, 2, 3, 4};
    const char *good = make(arena, "a", "float32", "[4]", a, sizeof a);
    etp_outputs_comparison c;
    etp_error err;
    const char *bad = make(arena, "bad", "float32", "[5]", a, sizeof a); // file too short
    assert_int_equal(etp_outputs_compare(bad, bad, ETP_OUTPUTS_FLOAT32, arena, &c, &err),
                     ETP_CORRUPT);
    assert_non_null(strstr(err.msg, "has 16 bytes, its shape needs 20"));
    static const char *const k_lists[] = {
        "",
        "{",
        "[]",
        "{\"outputs\":3}",
        "{\"outputs\":[1]}",
        "{\"outputs\":[{\"file\":\"../../secret\",\"dtype\":\"float32\",\"shape\":[4]}]}",
        "{\"outputs\":[{\"file\":\"output-0.bin/../x.bin\",\"dtype\":\"float32\",\"shape\":[4]}]}",
        "{\"outputs\":[{\"file\":\"output-0.bin\",\"dtype\":\"float33\",\"shape\":[4]}]}",
        "{\"outputs\":[{\"file\":\"output-0.bin\",\"dtype\":\"float32\",\"shape\":[-4]}]}",
        ("{\"outputs\":[{\"file\":\"output-0.bin\",\"dtype\":\"float32\",\"shape\":["
         "4611686018427387904,4]}]}"),
        "{\"outputs\":[],\"outputs\":[]}"};
    for (size_t i = 0; i < sizeof k_lists / sizeof *k_lists; i++) {
        assert_int_equal(
            etp_os_write_atomic(ROOT "/bad/outputs.json", etp_str_from(k_lists[i]), NULL), ETP_OK);
        assert_int_equal(etp_outputs_compare(good, bad, ETP_OUTPUTS_FLOAT32, arena, &c, &err),
                         ETP_CORRUPT);
    }
    assert_int_equal(etp_outputs_compare(good, ROOT "/none", ETP_OUTPUTS_FLOAT32, arena, &c, &err),
                     ETP_IO);
}

#define SET_UP set_up
#define TEAR_DOWN tear_down
