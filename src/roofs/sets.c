// SPDX-License-Identifier: Apache-2.0
// The instruction sets that roofs are measured with, and at which CPU-feature level each may be
// used.
#include <string.h>

#include "base/choice.h"
#include "roofs/roofs.h"

// Linux numbering, which isa.h uses on every system.
#define FP16 (UINT64_C(1) << 9 | UINT64_C(1) << 10)
#define DOTPROD (UINT64_C(1) << 20)
#define I8MM (UINT64_C(1) << 13)
#define SME (UINT64_C(1) << 23)
#define SME2 (UINT64_C(1) << 37)

static const etp_roof_set k_sets[] = {
    {.isa = "sse", .family = ETP_ISA_X86_64},
    {.isa = "ssse3", .family = ETP_ISA_X86_64, .flags = "ssse3"},
    {.isa = "avx2", .family = ETP_ISA_X86_64, .flags = "avx2,fma3"},
    {.isa = "avx512",
     .id = ETP_ROOF_ISA_AVX512,
     .family = ETP_ISA_X86_64,
     .flags = "avx512f,avx512bw"},
    {.isa = "avx512-vnni",
     .id = ETP_ROOF_ISA_VNNI,
     .family = ETP_ISA_X86_64,
     .flags = "avx512f,avx512bw,avx512vnni"},
    {.isa = "avx512-fp16", .family = ETP_ISA_X86_64, .flags = "avx512f,avx512bw,avx512fp16"},
    {.isa = "neon", .family = ETP_ISA_AARCH64},
    {.isa = "neon-fp16", .family = ETP_ISA_AARCH64, .hwcap = FP16},
    {.isa = "dotprod", .family = ETP_ISA_AARCH64, .hwcap = DOTPROD},
    {.isa = "i8mm", .family = ETP_ISA_AARCH64, .hwcap2 = I8MM},
    {.isa = "sme", .family = ETP_ISA_AARCH64, .hwcap2 = SME, .matrix = true},
    {.isa = "sme2", .family = ETP_ISA_AARCH64, .hwcap2 = SME | SME2, .matrix = true},
};

const etp_roof_set *etp_roof_set_find(const char *isa)
{
    for (size_t i = 0; i < sizeof k_sets / sizeof *k_sets; i++) {
        if (strcmp(k_sets[i].isa, isa) == 0) {
            return &k_sets[i];
        }
    }
    return NULL;
}

// Whether every flag of the set is (WANTED) or none of them is (!WANTED) in FLAGS.
static bool flags_are(const etp_roof_set *set, const etp_x86_set *flags, bool wanted)
{
    const char *at = ETP_OR(set->flags, "");
    while (*at) {
        size_t n = strcspn(at, ",");
        int index = etp_x86_flag_find(at, n);
        if ((index >= 0 && etp_x86_has(flags, (size_t)index)) != wanted) {
            return false;
        }
        at += n + (at[n] == ',');
    }
    return true;
}

bool etp_roof_set_on(const etp_roof_set *set, const etp_isa_cpu *cpu)
{
    return set->family == cpu->family && (cpu->hwcap & set->hwcap) == set->hwcap &&
           (cpu->hwcap2 & set->hwcap2) == set->hwcap2 && flags_are(set, &cpu->x86, true);
}

bool etp_roof_set_at(const etp_roof_set *set, etp_level level)
{
    const etp_level_info *info = etp_level_get(level);
    if (!info) {
        return true;
    }
    etp_isa_mask mask = etp_level_mask(level);
    return info->family == set->family && (mask.hwcap & set->hwcap) == 0 &&
           (mask.hwcap2 & set->hwcap2) == 0 && flags_are(set, &mask.x86, false);
}
