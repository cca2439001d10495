// SPDX-License-Identifier: Apache-2.0
// The table of levels, the masks that follow from it, and which levels a given
// CPU offers.
#include "isa/internal.h"
#include "isa/isa.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct row {
    etp_level_info info;
    // Hidden at this level in addition to what the level above hides.
    uint64_t hwcap, hwcap2;
    const char *x86;  // flag names separated by commas
    const char *says; // the same in words
    // What a CPU must have for the level to mean anything on it.
    uint64_t needs_hwcap, needs_hwcap2;
    const char *needs_x86;
    const char *needs_says;
} row;

// Within a family from best to lowest; the order is that of etp_level.
static const row k_rows[] = {
    {.info = {ETP_LEVEL_SME2, ETP_ISA_AARCH64, "sme2", "SME2", "SME2"},
     .needs_hwcap2 = ETP_HWCAP2_SME | ETP_HWCAP2_SME2,
     .needs_says = "SME2"},
    // SME2, SME2P1, I16I32, BI32I32, B16B16, F16F16 (37-42), LUTV2 and the FP8
    // family (57-62); in HWCAP the SME2.2 group (42-47).
    {.info = {ETP_LEVEL_SME1, ETP_ISA_AARCH64, "sme1", "SME without SME2", "SME"},
     .hwcap = UINT64_C(0x0000fc0000000000),
     .hwcap2 = UINT64_C(0x7e0007e000000000),
     .says = "SME2",
     .needs_hwcap2 = ETP_HWCAP2_SME,
     .needs_says = "SME"},
    // SME and its first-generation extensions (23-30).
    {.info = {ETP_LEVEL_NEON, ETP_ISA_AARCH64, "neon", "NEON, no SME", "NEON"},
     .hwcap2 = UINT64_C(0x000000007f800000),
     .says = "SME",
     .needs_hwcap = ETP_HWCAP_ASIMD,
     .needs_says = "NEON"},
    // I8MM, BF16 and their SVE forms (9, 12-14), EBF16 (32, 33).
    {.info = {ETP_LEVEL_DOTPROD, ETP_ISA_AARCH64, "dotprod", "NEON with dot products, no I8MM",
              "NEON dotprod"},
     .hwcap2 = UINT64_C(0x0000000300007200),
     .says = "I8MM, BF16",
     .needs_hwcap = ETP_HWCAP_ASIMDDP,
     .needs_says = "dot products"},
    // FPHP, ASIMDHP (9, 10), ASIMDDP (20), ASIMDFHM (23): what is left is Armv8.0.
    {.info = {ETP_LEVEL_BASE, ETP_ISA_AARCH64, "base", "Armv8.0 NEON", "Armv8.0 NEON"},
     .hwcap = UINT64_C(0x0000000000900600),
     .says = "dot products, fp16 arithmetic",
     .needs_hwcap = ETP_HWCAP_ASIMD,
     .needs_says = "NEON"},
    {.info = {ETP_LEVEL_VNNI, ETP_ISA_X86_64, "vnni", "AVX-512 with VNNI", "VNNI"},
     .needs_x86 = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni",
     .needs_says = "AVX-512 VNNI"},
    {.info = {ETP_LEVEL_AVX512, ETP_ISA_X86_64, "avx512", "AVX-512 without VNNI", "AVX-512"},
     .x86 = "avx512vnni,gfni,avx512bf16,avx512fp16,amx_bf16,amx_tile,amx_int8,amx_fp16",
     .needs_x86 = "avx512f,avx512bw,avx512dq,avx512vl",
     .needs_says = "AVX-512"},
    {.info = {ETP_LEVEL_AVX2, ETP_ISA_X86_64, "avx2", "AVX2 with FMA", "AVX2"},
     .x86 = "avx512f,avx512pf,avx512er,avx512cd,avx512dq,avx512bw,avx512vl,avx512ifma,avx512vbmi,"
            "avx512vbmi2,avx512bitalg,avx512vpopcntdq,avx512vp2intersect,avx512_4vnniw,"
            "avx512_4fmaps,avx10_1,avx10_2", .needs_x86 = "avx,avx2,fma3",
     .needs_says = "AVX2"},
    {.info = {ETP_LEVEL_SSE, ETP_ISA_X86_64, "sse", "SSE only", "SSE"},
     .x86 = "avx,f16c,fma3,avx2,avxvnni",
     .needs_says = "SSE"},
};

#define ROWS (sizeof k_rows / sizeof k_rows[0])

static const row *row_of(etp_level level)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (k_rows[i].info.level == level) {
            return &k_rows[i];
        }
    }
    return NULL;
}

const etp_level_info *etp_level_get(etp_level level)
{
    const row *r = row_of(level);
    return r != NULL ? &r->info : NULL;
}

etp_level etp_level_find(etp_isa_family family, const char *name)
{
    for (size_t i = 0; i < ROWS; i++) {
        const etp_level_info *info = &k_rows[i].info;
        if ((family == ETP_ISA_NONE || info->family == family) && strcmp(info->name, name) == 0) {
            return info->level;
        }
    }
    return ETP_LEVEL_NONE;
}

size_t etp_level_list(etp_isa_family family, etp_level out[ETP_LEVEL_COUNT])
{
    size_t n = 0;
    for (size_t i = 0; i < ROWS; i++) {
        if (k_rows[i].info.family == family) {
            out[n++] = k_rows[i].info.level;
        }
    }
    return n;
}

static etp_x86_set set_of(const char *names)
{
    etp_x86_set set = {
        {0, 0}
    };
    while (names != NULL && *names != '\0') {
        size_t len = strcspn(names, ",");
        int index = etp_x86_flag_find(names, len);
        if (index >= 0) {
            etp_x86_add(&set, (size_t)index);
        }
        names += len;
        names += *names == ',';
    }
    return set;
}

etp_isa_mask etp_level_mask(etp_level level)
{
    etp_isa_mask mask = {0};
    const row *last = row_of(level);
    if (last == NULL) {
        return mask;
    }
    mask.family = last->info.family;
    // Each row hides something more than the one above it: a level's mask is the sum down to its
    // row.
    for (const row *r = k_rows; r <= last; r++) {
        if (r->info.family == mask.family) {
            etp_x86_set set = set_of(r->x86);
            mask.hwcap |= r->hwcap;
            mask.hwcap2 |= r->hwcap2;
            mask.x86.bits[0] |= set.bits[0];
            mask.x86.bits[1] |= set.bits[1];
        }
    }
    return mask;
}

static bool same_mask(const etp_isa_mask *a, const etp_isa_mask *b)
{
    return a->family == b->family && a->hwcap == b->hwcap && a->hwcap2 == b->hwcap2 &&
           a->x86.bits[0] == b->x86.bits[0] && a->x86.bits[1] == b->x86.bits[1];
}

etp_level etp_isa_mask_level(const etp_isa_mask *mask)
{
    for (size_t i = 0; i < ROWS; i++) {
        etp_isa_mask m = etp_level_mask(k_rows[i].info.level);
        if (same_mask(&m, mask)) {
            return k_rows[i].info.level;
        }
    }
    return ETP_LEVEL_NONE;
}

etp_isa_cpu etp_isa_cpu_masked(const etp_isa_cpu *cpu, const etp_isa_mask *mask)
{
    etp_isa_cpu left = *cpu;
    if (cpu->family == mask->family) {
        left.hwcap &= ~mask->hwcap;
        left.hwcap2 &= ~mask->hwcap2;
        left.x86.bits[0] &= ~mask->x86.bits[0];
        left.x86.bits[1] &= ~mask->x86.bits[1];
    }
    return left;
}

static bool has_needs(const etp_isa_cpu *cpu, const row *r)
{
    etp_x86_set x86 = set_of(r->needs_x86);
    return cpu->family == r->info.family && (cpu->hwcap & r->needs_hwcap) == r->needs_hwcap &&
           (cpu->hwcap2 & r->needs_hwcap2) == r->needs_hwcap2 &&
           (cpu->x86.bits[0] & x86.bits[0]) == x86.bits[0] &&
           (cpu->x86.bits[1] & x86.bits[1]) == x86.bits[1];
}

#define MIDR_IMPLEMENTER_PART UINT32_C(0xff00fff0)

// Cores for which cpuinfo reports dot products and fp16 arithmetic from the MIDR
// alone, whatever HWCAP says: hiding the bits changes nothing there.
static bool forced_by_midr(uint32_t midr)
{
    static const uint32_t k_cores[] = {
        0x4100d050, 0x4100d060, 0x4100d0a0, 0x4100d0b0, 0x4100d0c0, 0x4100d0d0,
        0x4100d0e0, 0x4100d400, 0x4100d490, 0x4100d4a0, 0x4100d4f0, 0x4800d400,
        0x51008020, 0x51008030, 0x51008040, 0x51008050, 0x53000030, 0x53000040,
    };
    for (size_t i = 0; i < sizeof k_cores / sizeof k_cores[0]; i++) {
        if ((midr & MIDR_IMPLEMENTER_PART) == k_cores[i]) {
            return true;
        }
    }
    return false;
}

// Arm C1-Nano, -Pro, -Ultra and -Premium always have SME2 beside them.
static bool is_sme_core(uint32_t midr)
{
    static const uint32_t k_cores[] = {0x4100d8a0, 0x4100d8b0, 0x4100d8c0, 0x4100d900};
    for (size_t i = 0; i < sizeof k_cores / sizeof k_cores[0]; i++) {
        if ((midr & MIDR_IMPLEMENTER_PART) == k_cores[i]) {
            return true;
        }
    }
    return false;
}

bool etp_isa_hides_sme(const etp_isa_cpu *cpu)
{
    return cpu->family == ETP_ISA_AARCH64 && (cpu->hwcap2 & ETP_HWCAP2_SME) == 0 &&
           is_sme_core(cpu->midr);
}

static void say(etp_level_state *state, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

static void say(etp_level_state *state, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(state->how, sizeof state->how, format, args);
    va_end(args);
}

static void say_missing(etp_level_state *state, const etp_isa_cpu *cpu, const row *r)
{
    bool sme = r->info.level == ETP_LEVEL_SME2 || r->info.level == ETP_LEVEL_SME1;
    bool old_kernel = cpu->kernel_major == 6 && cpu->kernel_minor >= 12 && cpu->kernel_minor <= 15;
    if (cpu->family != r->info.family) {
        say(state, "an %s level; this CPU is %s", etp_isa_family_name(r->info.family),
            etp_isa_family_name(cpu->family));
    } else if (sme && etp_isa_hides_sme(cpu)) {
        say(state, "the core has SME2 but the kernel hides it%s",
            old_kernel ? ": 6.12 to 6.15 are built without SME, use 6.16 or later" : "");
    } else if (sme && (cpu->hwcap2 & ETP_HWCAP2_SME) == 0 && old_kernel) {
        say(state, "no %s shown; kernel %u.%u is built without SME and would hide it",
            r->needs_says, (unsigned)cpu->kernel_major, (unsigned)cpu->kernel_minor);
    } else {
        say(state, "this CPU has no %s", r->needs_says);
    }
}

// "hides a, b, c": the x86 flags that the CPU has and the mask takes.
static void say_hidden_x86(etp_level_state *state, const etp_isa_cpu *cpu, const etp_isa_mask *mask)
{
    size_t at = 0;
    for (size_t i = 0; i < ETP_X86_FLAGS; i++) {
        if (!etp_x86_has(&mask->x86, i) || !etp_x86_has(&cpu->x86, i)) {
            continue;
        }
        const char *name = etp_x86_flag_name(i);
        size_t room = sizeof state->how - at;
        if (strlen(name) + 12 > room) {
            (void)snprintf(state->how + at, room, ", ...");
            return;
        }
        at += (size_t)snprintf(state->how + at, room, "%s%s", at == 0 ? "hides " : ", ", name);
    }
}

static void say_hidden_aarch64(etp_level_state *state, etp_level level)
{
    const row *last = row_of(level);
    size_t at = 0;
    for (const row *r = k_rows; r <= last; r++) {
        if (r->says != NULL && at < sizeof state->how) {
            at += (size_t)snprintf(state->how + at, sizeof state->how - at, "%s%s",
                                   at == 0 ? "hides " : ", ", r->says);
        }
    }
}

etp_level_state etp_level_state_of(const etp_isa_cpu *cpu, etp_level level)
{
    etp_level_state state = {0};
    const row *r = row_of(level);
    if (r == NULL) {
        say(&state, "no such level");
        return state;
    }
    if (!has_needs(cpu, r)) {
        say_missing(&state, cpu, r);
        return state;
    }
    state.available = true;

    const row *above = NULL; // the next better level this CPU has
    // The last one found is the nearest: rows are sorted from best to lowest.
    for (const row *b = k_rows; b < r; b++) {
        if (b->info.family == r->info.family && has_needs(cpu, b)) {
            above = b;
        }
    }
    if (above == NULL) {
        state.switchable = true;
        say(&state, "the best this CPU has, nothing need be hidden");
        return state;
    }
    etp_isa_mask mask = etp_level_mask(level), mask_above = etp_level_mask(above->info.level);
    etp_isa_cpu left = etp_isa_cpu_masked(cpu, &mask),
                left_above = etp_isa_cpu_masked(cpu, &mask_above);
    if (left.hwcap == left_above.hwcap && left.hwcap2 == left_above.hwcap2 &&
        left.x86.bits[0] == left_above.x86.bits[0] && left.x86.bits[1] == left_above.x86.bits[1]) {
        say(&state, "the same as %s on this CPU", above->info.name);
        return state;
    }
    // Only this level hides what cpuinfo takes from the MIDR.
    if (level == ETP_LEVEL_BASE && forced_by_midr(cpu->midr)) {
        say(&state,
            "cpuinfo turns dot products and fp16 on for this core (MIDR 0x%08x) whatever is hidden",
            (unsigned)cpu->midr);
        return state;
    }
    state.switchable = true;
    if (cpu->family == ETP_ISA_X86_64) {
        say_hidden_x86(&state, cpu, &mask);
    } else {
        say_hidden_aarch64(&state, level);
    }
    return state;
}

etp_level etp_isa_best(const etp_isa_cpu *cpu)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (has_needs(cpu, &k_rows[i])) {
            return k_rows[i].info.level;
        }
    }
    return ETP_LEVEL_NONE;
}

etp_level etp_isa_plain(const etp_isa_cpu *cpu)
{
    etp_level best = etp_isa_best(cpu);
    etp_level plain = cpu->family == ETP_ISA_AARCH64 ? ETP_LEVEL_NEON : ETP_LEVEL_AVX2;
    for (size_t i = 0; i < ROWS; i++) {
        etp_level level = k_rows[i].info.level;
        // A larger value is a lower level. Not above plain SIMD, and below the best in any case.
        if (k_rows[i].info.family == cpu->family && level > best && level >= plain &&
            etp_level_state_of(cpu, level).switchable) {
            return level;
        }
    }
    return ETP_LEVEL_NONE;
}
