// SPDX-License-Identifier: Apache-2.0
// What changes brought where they were measured, as shares of what their formula estimates. The
// table is made from the rows "tuning" and "made" of bench/fixes/table.tsv whose interval is no
// wider than the estimate; a change that only networks made for it have has none. The test factors
// holds it against them.
#ifndef ETP_JUDGE_FIXES_FACTORS_H
#define ETP_JUDGE_FIXES_FACTORS_H

#include <stddef.h>

// What `etprof export --apply` takes; the test recipes_exist holds this against the exporter.
#define ETP_FIX_RECIPES(X)                        \
    X(ALIGN_CHANNELS, "align-channels")           \
    X(ALIGN_PADDING, "align-padding")             \
    X(ALIGN_STRIDES, "align-strides")             \
    X(CHANNELS_LAST, "channels-last")             \
    X(DECOMPOSE_ATTENTION, "decompose-attention") \
    X(FOLD_CONV_BN, "fold-conv-bn")               \
    X(FOLD_EXPAND, "fold-expand")                 \
    X(FOLD_TRANSPOSES, "fold-transposes")         \
    X(GELU_TANH, "gelu-tanh")                     \
    X(KEEP_DIMS, "keep-dims")                     \
    X(KEEP_GEMV, "keep-gemv")                     \
    X(LAYER_NORM, "layer-norm")                   \
    X(LAYER_NORM_LINEAR, "layer-norm-linear")     \
    X(PER_OP, "per-op")                           \
    X(UNBIND_VIEWS, "unbind-views")

typedef enum etp_fix_change {
    ETP_CHANGE_NONE, // no command does it
#define ETP_CHANGE_OF(name, word) ETP_CHANGE_##name,
    ETP_FIX_RECIPES(ETP_CHANGE_OF)
#undef ETP_CHANGE_OF
        ETP_CHANGE_RECIPES, // those before it
    ETP_CHANGE_INT8 = ETP_CHANGE_RECIPES,
    ETP_CHANGE_XNNPACK,
    ETP_CHANGES
} etp_fix_change;
const char *etp_fix_change_name(etp_fix_change change); // "fold-expand"

typedef struct etp_fix_factor {
    etp_fix_change change;
    size_t cases;
    double least, usual; // smallest and median measured gain ÷ estimate
} etp_fix_factor;

// NULL when the change was never measured.
const etp_fix_factor *etp_fix_factor_of(etp_fix_change change);

#endif
