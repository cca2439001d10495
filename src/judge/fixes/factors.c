// SPDX-License-Identifier: Apache-2.0
// The measured cases behind the likely gains and floors of next fixes.
#include "judge/fixes/factors.h"

#include <string.h>

static const etp_fix_factor k_factors[] = {
    {"align-padding",       1, 0.67, 0.67},
    {"decompose-attention", 3, 1.01, 1.02},
    {"fold-conv-bn",        1, 0.90, 0.90},
    {"fold-transposes",     1, 0.92, 0.92},
    {"gelu-tanh",           1, 1.03, 1.03},
    {"int8",                9, 0.61, 1.05},
    {"keep-dims",           4, 0.94, 1.04},
    {"layer-norm",          6, 0.39, 0.80},
    {"unbind-views",        1, 0.61, 0.61},
    {"xnnpack",             1, 1.01, 1.01},
};

const etp_fix_factor *etp_fix_factor_of(const char *change)
{
    for (size_t i = 0; change && i < sizeof k_factors / sizeof *k_factors; i++) {
        if (strcmp(k_factors[i].change, change) == 0) {
            return &k_factors[i];
        }
    }
    return NULL;
}
