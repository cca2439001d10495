// SPDX-License-Identifier: Apache-2.0
// Names of the categories and of the five that Arm's kit reports.
#include <etprof/operators.h>

static const char *const k_names[ETP_CATEGORY_COUNT] = {
#define CATEGORY_TEXT(name, text, five) [ETP_CATEGORY_##name] = text,
    ETP_CATEGORY_MAP(CATEGORY_TEXT)
#undef CATEGORY_TEXT
};

static const etp_five k_fives[ETP_CATEGORY_COUNT] = {
#define CATEGORY_FIVE(name, text, five) [ETP_CATEGORY_##name] = ETP_FIVE_##five,
    ETP_CATEGORY_MAP(CATEGORY_FIVE)
#undef CATEGORY_FIVE
};

static const char *const k_five_names[ETP_FIVE_COUNT] = {
    [ETP_FIVE_CONV] = "CONV",
    [ETP_FIVE_GEMM] = "GEMM",
    [ETP_FIVE_DATA_MOVEMENT] = "Data Movement",
    [ETP_FIVE_ELEMENTWISE] = "Elementwise",
    [ETP_FIVE_OTHER] = "Other",
};

const char *etp_category_name(etp_category category)
{
    return (unsigned)category < ETP_CATEGORY_COUNT ? k_names[category] : "Other";
}

etp_five etp_category_five(etp_category category)
{
    return (unsigned)category < ETP_CATEGORY_COUNT ? k_fives[category] : ETP_FIVE_OTHER;
}

const char *etp_five_name(etp_five five)
{
    return (unsigned)five < ETP_FIVE_COUNT ? k_five_names[five] : "Other";
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
