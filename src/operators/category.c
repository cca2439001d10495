// SPDX-License-Identifier: Apache-2.0
// Names of the categories and of the five that Arm's kit reports.
#include <etprof/operators.h>

static const char *const k_names[ETP_CATEGORY_COUNT] = {
#define CATEGORY_TEXT(name, text, five) [ETP_CATEGORY_##name] = text,
    ETP_CATEGORY_MAP(CATEGORY_TEXT)
#undef CATEGORY_TEXT
};

static const etp_kit_category k_fives[ETP_CATEGORY_COUNT] = {
#define CATEGORY_FIVE(name, text, five) [ETP_CATEGORY_##name] = ETP_KIT_CATEGORY_##five,
    ETP_CATEGORY_MAP(CATEGORY_FIVE)
#undef CATEGORY_FIVE
};

static const char *const k_kit_names[ETP_KIT_CATEGORY_COUNT] = {
    [ETP_KIT_CATEGORY_CONV] = "CONV",
    [ETP_KIT_CATEGORY_GEMM] = "GEMM",
    [ETP_KIT_CATEGORY_DATA_MOVEMENT] = "Data Movement",
    [ETP_KIT_CATEGORY_ELEMENTWISE] = "Elementwise",
    [ETP_KIT_CATEGORY_OTHER] = "Other",
};

const char *etp_category_name(etp_category category)
{
    return (unsigned)category < ETP_CATEGORY_COUNT ? k_names[category] : "Other";
}

etp_kit_category etp_kit_category_of(etp_category category)
{
    return (unsigned)category < ETP_CATEGORY_COUNT ? k_fives[category] : ETP_KIT_CATEGORY_OTHER;
}

bool etp_category_multiplies(etp_category category)
{
    return category == ETP_CATEGORY_CONVOLUTION || category == ETP_CATEGORY_GEMM ||
           category == ETP_CATEGORY_ATTENTION;
}

const char *etp_kit_category_name(etp_kit_category category)
{
    return (unsigned)category < ETP_KIT_CATEGORY_COUNT ? k_kit_names[category] : "Other";
}

etp_category etp_category_find(etp_str name)
{
    for (unsigned i = 0; i < ETP_CATEGORY_COUNT; i++) {
        if (etp_str_eqz(name, k_names[i])) {
            return (etp_category)i;
        }
    }
    return ETP_CATEGORY_COUNT;
}
