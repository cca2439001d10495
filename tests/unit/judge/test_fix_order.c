// SPDX-License-Identifier: Apache-2.0
// Which fixes are offered at a level, and which comes first: made sessions whose times are planted.
#include <stdlib.h>
#include <string.h>

#include "../folder.h"
#include "../made.h"
#include "unit.h"

#include "judge/judge.h"

// XNNPACK's int8 kernels for AVX2 widen to 16 bits. Products of 16 to 256 took 1.1 to 2 times as
// long as in float32 there, depthwise convolutions of 9 taps 1.6 to 2.1 times (five networks).
static void int8_is_offered_where_it_helps(void **state)
{
    static const struct {
        const char *level;
        bool offered;
    } k_levels[] = {
        {"avx2", false},
        {"vnni", true },
    };
    for (size_t i = 0; i < sizeof k_levels / sizeof *k_levels; i++) {
        made m = made_base();
        made_op ops[] = {
            {{"Fully Connected (NC, F32) GEMM #1", "Fully Connected (NC, F32) GEMM #1"},
             0, {400, 300}},
            {{"Convolution (NHWC, F32) DWConv #1", "Convolution (NHWC, F32) DWConv #1"},
             0, {200, 180}}
        };
        memset(m.ops, 0, sizeof m.ops);
        memcpy(m.ops, ops, sizeof ops);
        m.level[0] = "sse";
        m.level[1] = k_levels[i].level;
        m.cpus = "1";
        const etp_ab *ab = etp_ab_answer(made_open(&m, *state));
        bool offered = false;
        for (size_t k = 0; k < ab->fixes.n; k++) {
            offered = offered || ab->fixes.items[k].kind == ETP_FIX_PRECISION;
        }
        assert_int_equal(offered, k_levels[i].offered);
    }
}

// A layer norm of six per cent, which a command takes into the delegate, stands before half of the
// time in products that quantisation left in floats, for which there is none.
static void what_a_command_does_comes_first(void **state)
{
    made m = made_base();
    made_op ops[] = {
        {{"Convolution (NHWC, QC8) IGEMM #1", "Convolution (NHWC, QC8) IGEMM #1"},               0, {300, 200}},
        {{"Batch Matrix Multiply (NC, F32) GEMM #1", "Batch Matrix Multiply (NC, F32) GEMM #1"},
         0,                                                                                         {280, 280}},
        {{"Batch Matrix Multiply (NC, F32) GEMM #2", "Batch Matrix Multiply (NC, F32) GEMM #2"},
         0,                                                                                         {270, 270}},
        {{"Softmax (NC, F32) #1", "Softmax (NC, F32) #1"},                                       0, {180, 180}},
        {{"native_call_native_layer_norm.out", "native_call_native_layer_norm.out"},             1, {57, 57}  }
    };
    memset(m.ops, 0, sizeof m.ops);
    memcpy(m.ops, ops, sizeof ops);
    m.level[0] = "avx2";
    m.level[1] = "vnni";
    m.cpus = "1";
    m.stem = "vit_xnnpack_int8";
    const etp_ab *ab = etp_ab_answer(made_open(&m, *state));
    const etp_ab_fix *norm = &ab->fixes.items[0], *products = &ab->fixes.items[1];
    assert_int_equal(norm->kind, ETP_FIX_DELEGATE);
    assert_non_null(strstr(norm->recipe, "--apply layer-norm"));
    assert_true(norm->by_command && norm->concerns_ns > 56000 && norm->concerns_ns < 70000);
    assert_int_equal(products->kind, ETP_FIX_PRECISION);
    assert_true(llabs(products->concerns_ns - 550000) < 6000 && products->lo_ns == 0);
    assert_non_null(strstr(products->text, "2 convolutions and matrix products left in float32"));
    assert_null(strstr(products->recipe, "--dtype int8")); // it was exported so
    assert_false(products->by_command);
}
