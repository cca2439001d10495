// SPDX-License-Identifier: Apache-2.0
// The settings of options.def as rows.
#include "store/settings.h"

#define ROW(field, type, key, limit, requested) \
    {key, ETP_SETTING_##type, requested, offsetof(etp_settings, field), limit},
#define ROW_PLAN(...) ROW(__VA_ARGS__, false)
#define ROW_REQUESTED(...) ROW(__VA_ARGS__, true)
#define ROW_CALL(...)

const etp_setting k_etp_settings[] = {
#define OPTION(where, field, type, key, limit, ...) ROW_##where(field, type, key, limit)
#include "store/options.def"
    {0},
};
