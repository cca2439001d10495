// SPDX-License-Identifier: Apache-2.0
// Operators below round roofs, by hand: one for each verdict, the terms of a roof one by one, and
// what has none.
#include <math.h>

#include "explain/roof.h"
#include "roofs/roofs.h"
#include "unit.h"

#define G UINT64_C(1000000000)
#define OPS(isa, what, gops, threads) \
    {isa, what, ETP_ROOF_OP_S, threads, 0, (gops) * G, (gops) * G, 0}
#define BYTES(what, size, gb) {"", what, ETP_ROOF_BYTE_S, 1, size, (gb) * G, (gb) * G, 0}

static etp_roof k_items[] = {
    OPS("avx2", ETP_ROOF_FMA_F32, 100, 1),
    OPS("avx512", ETP_ROOF_FMA_F32, 200, 1),
    OPS("avx512-vnni", ETP_ROOF_DOT_I8, 800, 1),
    OPS("avx2", ETP_ROOF_DOT_I8, 300, 1),
    OPS("neon", ETP_ROOF_FMA_F32, 50, 1),
    OPS("neon-fp16", ETP_ROOF_FMA_F16, 100, 1),
    OPS("sme", ETP_ROOF_FMA_F32, 2000, 1),
    OPS("sme", ETP_ROOF_FMA_F16, 2000, 1),
    OPS("neon", ETP_ROOF_FMA_F32, 80, 4),
    BYTES(ETP_ROOF_READ, 16384, 100),
    BYTES(ETP_ROOF_READ, 1048576, 50),
    BYTES(ETP_ROOF_WRITE, 16384, 40),
    BYTES(ETP_ROOF_WRITE, 1048576, 20),
    BYTES(ETP_ROOF_COPY, 16384, 30),
    BYTES(ETP_ROOF_COPY, 1048576, 10),
    {"", ETP_ROOF_REGION, ETP_ROOF_NS, 1, 0, 200, 300, 0},
    {"", ETP_ROOF_TIMER,  ETP_ROOF_NS, 1, 0, 20,  30,  0},
};
static const etp_roof_table k_roofs = {.items = k_items, .n = sizeof k_items / sizeof *k_items};

static etp_roof_place placed(const etp_roof_work *w)
{
    etp_roof_place p;
    etp_roof_place_of(&k_roofs, w, &p);
    return p;
}

static void near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * fabs(expected))) {
        fail_msg("%.12g, expected %.12g", found, expected);
    }
}

// A multiplication of float on AVX-512: 1e6 products, 2e6 operations at 200 a nanosecond: 10 µs.
static const etp_roof_work k_product = {
    .ns = 12500,
    .macs = 1000000,
    .in_bytes = 8000,
    .out_bytes = 4000,
    .calls = 1,
    .type = ETP_ROOF_F32,
    .delegated = true,
    .level = ETP_LEVEL_AVX512,
    .threads = 1,
};
// 1 MiB to 1 MiB: reading 21 µs, writing 52 µs, copying 105 µs.
static const etp_roof_work k_copy = {
    .ns = 131072,
    .in_bytes = 1048576,
    .out_bytes = 1048576,
    .calls = 1,
    .level = ETP_LEVEL_AVX512,
    .threads = 1,
};

static void one_fixture_for_each_verdict(void **state)
{
    etp_roof_work w = k_product;
    etp_roof_place p = placed(&w);
    near(p.compute_ns, 10000);
    near(p.memory_ns, 4000.0 / 30); // copying what is both read and written
    near(p.roof_ns, 10000);
    near(p.efficiency, 0.8);
    near(p.overhead_ns, 1200); // a region and XNNPACK's microsecond
    assert_string_equal(p.isa, "avx512");
    assert_int_equal(p.verdict, ETP_ROOF_COMPUTE_BOUND);
    w.ns = 20000; // 0.5 is near
    assert_int_equal(placed(&w).verdict, ETP_ROOF_COMPUTE_BOUND);
    w.ns = 20001;
    assert_int_equal(placed(&w).verdict, ETP_ROOF_INEFFICIENT);
    w.ns = 9500; // 10000 ÷ 9500 = 1.0526
    assert_int_equal(placed(&w).verdict, ETP_ROOF_ABOVE_ROOF);
    w.ns = 9600; // 1.0417 may be noise
    assert_int_equal(placed(&w).verdict, ETP_ROOF_COMPUTE_BOUND);
    w.ns = 2400; // twice its fixed costs; without that rule above the roof
    assert_int_equal(placed(&w).verdict, ETP_ROOF_OVERHEAD_BOUND);
    w = k_copy;
    p = placed(&w);
    near(p.memory_ns, 104857.6);
    near(p.efficiency, 0.8);
    near(p.overhead_ns, 230);
    assert_int_equal(p.verdict, ETP_ROOF_MEMORY_BOUND);
    w.in_bytes = w.out_bytes =
        1000000; // a copy of that needs less than was measured with 1 MiB: 30 a nanosecond
    near(placed(&w).memory_ns, 50000); // so writing decides
    w = k_copy;
    w.ns = 1000000;
    assert_int_equal(placed(&w).verdict, ETP_ROOF_INEFFICIENT); // it only moves data
    w.ops = 250000;                                             // and an exponential each
    assert_int_equal(placed(&w).verdict, ETP_ROOF_BELOW_BANDWIDTH);
    for (int v = 1; v < ETP_ROOF_VERDICTS; v++) {
        assert_non_null(etp_roof_verdict_name((etp_roof_verdict)v));
    }
    assert_null(etp_roof_verdict_name(ETP_ROOF_UNKNOWN));
}

static void levels_types_and_units(void **state)
{
    const etp_roof_kernel PRODUCT = ETP_ROOF_KERNEL_PRODUCT, DEPTHWISE = ETP_ROOF_KERNEL_DEPTHWISE,
                          QUINT8 = ETP_ROOF_KERNEL_QUINT8;
    const struct {
        etp_roof_type type;
        etp_level level;
        bool matrix;
        etp_roof_kernel kernel;
        double compute_ns; // of 1e6 products; 0 none
        const char *isa;
    } k_cases[] = {
        {ETP_ROOF_F32,       ETP_LEVEL_AVX2,   false, PRODUCT,   20000,           "avx2"       },
        {ETP_ROOF_F32,       ETP_LEVEL_VNNI,   false, PRODUCT,   10000,           "avx512"     },
        {ETP_ROOF_I8,        ETP_LEVEL_VNNI,   false, PRODUCT,   2500,            "avx512-vnni"},
        {ETP_ROOF_I8,        ETP_LEVEL_AVX512, false, PRODUCT,   2000000.0 / 300, "avx2"       },
        {ETP_ROOF_I8,        ETP_LEVEL_SSE,    false, PRODUCT,   0,               NULL         }, // none was measured that SSE may use
        {ETP_ROOF_F16,       ETP_LEVEL_AVX512, false, PRODUCT,   10000,
         "avx512"                                                                              }, // computed in single precision
        {ETP_ROOF_F16,       ETP_LEVEL_NEON,   false, PRODUCT,   20000,           "neon-fp16"  },
        {ETP_ROOF_F16,       ETP_LEVEL_BASE,   false, PRODUCT,   40000,           "neon"       },
        {ETP_ROOF_F32,       ETP_LEVEL_SME2,   true,  PRODUCT,   1000,            "sme"        },
        {ETP_ROOF_F32,       ETP_LEVEL_SME2,   false, PRODUCT,   40000,           "neon"       }, // it could not run there
        {ETP_ROOF_F32,       ETP_LEVEL_NEON,   true,  PRODUCT,   40000,           "neon"       }, // hidden
        // XNNPACK's configurations: avx512skx_mul32, avx2_mul32 and mla8 have products in lanes of
        // 32 or 16 bits
        {ETP_ROOF_I8,        ETP_LEVEL_VNNI,   false, DEPTHWISE, 10000,           "avx512"     },
        {ETP_ROOF_I8,        ETP_LEVEL_AVX2,   false, DEPTHWISE, 20000,           "avx2"       },
        {ETP_ROOF_I8,        ETP_LEVEL_SME2,   true,  DEPTHWISE, 40000,           "neon"       },
        {ETP_ROOF_F32,       ETP_LEVEL_VNNI,   false, DEPTHWISE, 10000,           "avx512"     },
        {ETP_ROOF_F32,       ETP_LEVEL_SME2,   true,  DEPTHWISE, 40000,
         "neon"                                                                                }, // even if somebody asked for the matrix unit
        {ETP_ROOF_F16,       ETP_LEVEL_VNNI,   false, DEPTHWISE, 20000,
         "avx2"                                                                                }, // fma3; AVX512-FP16 is not among these roofs
        {ETP_ROOF_F16,       ETP_LEVEL_SME2,   true,  DEPTHWISE, 20000,           "neon-fp16"  },
        {ETP_ROOF_I8,        ETP_LEVEL_VNNI,   false, QUINT8,    2000000.0 / 300,
         "avx2"                                                                                }, // 7x16c8__avx512skx; avx512's is not among these
        {ETP_ROOF_I8,        ETP_LEVEL_SME2,   true,  QUINT8,    40000,           "neon"       }, // 4x16__neon_mlal_lane
        {ETP_ROOF_TYPE_NONE, ETP_LEVEL_SME2,   true,  PRODUCT,   0,               NULL         },
    };
    for (size_t i = 0; i < sizeof k_cases / sizeof *k_cases; i++) {
        etp_roof_work w = k_product;
        w.type = k_cases[i].type;
        w.level = k_cases[i].level;
        w.matrix = k_cases[i].matrix;
        w.kernel = k_cases[i].kernel;
        etp_roof_place p = placed(&w);
        if (k_cases[i].isa == NULL) {
            assert_int_equal(p.verdict, ETP_ROOF_UNKNOWN);
            assert_non_null(p.missing);
            assert_true(isnan(p.roof_ns) && isnan(p.efficiency));
            continue;
        }
        near(p.compute_ns, k_cases[i].compute_ns);
        assert_string_equal(p.isa, k_cases[i].isa);
    }
}

static void working_sets_calls_and_threads(void **state)
{
    etp_roof_work w = {
        .ns = 1e6, .in_bytes = 16000, .calls = 1, .level = ETP_LEVEL_NONE, .threads = 1};
    near(placed(&w).memory_ns, 160); // smaller than all: the smallest
    w.in_bytes = 1000000;
    near(placed(&w).memory_ns, 10000); // not yet the larger one's speed
    w.in_bytes = 1048576;
    near(placed(&w).memory_ns, 1048576.0 / 50);
    w.calls = 3;
    near(placed(&w).memory_ns, 3 * 1048576.0 / 50);
    near(placed(&w).overhead_ns, 3 * 230.0);
    w.calls = 1;
    w.in_bytes = w.out_bytes = UINT64_MAX; // hostile shapes
    assert_true(isfinite(placed(&w).memory_ns));
    w.threads = 4; // arithmetic was measured with four, memory was not
    assert_int_equal(placed(&w).verdict, ETP_ROOF_UNKNOWN);
    w.threads = 0;
    assert_int_equal(placed(&w).verdict, ETP_ROOF_UNKNOWN);
    w = k_product;
    w.ns = 0;
    assert_int_equal(placed(&w).verdict, ETP_ROOF_UNKNOWN);
    assert_non_null(placed(&w).missing);
    etp_roof_table none = {0};
    etp_roof_place p;
    etp_roof_place_of(&none, &k_product, &p);
    assert_int_equal(p.verdict, ETP_ROOF_UNKNOWN);
}

static void one_reading(void **state)
{
    near(etp_roof_read_ns(&k_roofs, 1, 16384), 163.84);     // 16 KiB at 100 bytes a nanosecond
    near(etp_roof_read_ns(&k_roofs, 1, 1048576), 20971.52); // 1 MiB at 50
    near(etp_roof_read_ns(&k_roofs, 1, 131072), 1966.08);   // half way in sizes: 0.015 ns a byte
    near(etp_roof_read_ns(&k_roofs, 1, 1000), 10);          // below the smallest, above the largest
    near(etp_roof_read_ns(&k_roofs, 1, 10000000), 200000);
    near(etp_roof_read_ns(&k_roofs, 4, 131072), 0); // memory was not measured with four
    // A decoder of 15M on an AMD EPYC, by hand: 15187968 weights of 4 bits with a scale of two
    // bytes for 32 of them, and 6 layers x 2 caches of 512 x 6 x 48 float32. One thread reads 4 MiB
    // at 99.533414203, 16 MiB at 68.832086145 bytes a nanosecond; ln(15621120 / 4 MiB) / ln 4 =
    // 0.94846.
    etp_roof items[] = {
        {"avx512", ETP_ROOF_READ,  ETP_ROOF_BYTE_S, 1, 4194304,  99533414203, 1, 0},
        {"avx512", ETP_ROOF_READ,  ETP_ROOF_BYTE_S, 1, 16777216, 68832086145, 1, 0},
        {"avx512", ETP_ROOF_READ,  ETP_ROOF_BYTE_S, 1, 67108864, 33057712324, 1, 0},
        {"",       ETP_ROOF_WRITE, ETP_ROOF_BYTE_S, 1, 8388608,  5000000000,  1, 0},
    };
    const uint64_t token = 15187968 / 2 + 15187968 / 32 * 2 + 6 * 2 * 512 * 6 * 48 * 4;
    assert_int_equal(token, 15621120);
    const double ns = etp_roof_read_ns(&(etp_roof_table){.items = items, .n = 4}, 1, token);
    assert_true(ns > 223300 && ns < 223400);
}
