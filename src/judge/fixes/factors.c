// SPDX-License-Identifier: Apache-2.0
// The measured cases behind the likely gains and floors of next fixes.
#include "judge/fixes/factors.h"

static const etp_fix_factor k_factors[] = {
    {ETP_CHANGE_ALIGN_PADDING,       2,  0.67, 0.87},
    {ETP_CHANGE_DECOMPOSE_ATTENTION, 3,  1.01, 1.02},
    {ETP_CHANGE_FOLD_CONV_BN,        2,  0.90, 0.93},
    {ETP_CHANGE_FOLD_TRANSPOSES,     2,  0.92, 1.09},
    {ETP_CHANGE_GELU_TANH,           1,  1.03, 1.03},
    {ETP_CHANGE_INT8,                12, 0.61, 1.05},
    {ETP_CHANGE_KEEP_DIMS,           4,  0.94, 1.04},
    {ETP_CHANGE_LAYER_NORM,          7,  0.39, 0.85},
    {ETP_CHANGE_UNBIND_VIEWS,        1,  0.61, 0.61},
    {ETP_CHANGE_XNNPACK,             2,  1.00, 1.00},
};

const char *etp_fix_change_name(etp_fix_change change)
{
#define WORD_OF(name, word) word,
    static const char *const k_names[ETP_CHANGES] = {NULL, ETP_FIX_RECIPES(WORD_OF) "int8",
                                                     "xnnpack"};
    return k_names[change];
}

const etp_fix_factor *etp_fix_factor_of(etp_fix_change change)
{
    for (size_t i = 0; i < sizeof k_factors / sizeof *k_factors; i++) {
        if (k_factors[i].change == change) {
            return &k_factors[i];
        }
    }
    return NULL;
}
