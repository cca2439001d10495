// SPDX-License-Identifier: Apache-2.0
// The table of levels, the masks that follow from it, and which levels a given
// CPU offers.
#include "base/choice.h"
#include "isa/internal.h"
#include "isa/isa.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// What a feature is made of. The first of its x86 flags stands for it: without it the others mean
// nothing.
static const struct {
    const char *title;
    uint64_t hwcap, hwcap2;
    const char *x86;  // flag names separated by commas
    const char *also; // features that cannot be used without it
} k_features[ETP_HAS_COUNT] = {
    // SME2, SME2P1, I16I32, BI32I32, B16B16, F16F16 (37-42), LUTV2 and the FP8 family (57-62); in
    // HWCAP the SME2.2 group (42-47).
    [ETP_HAS_SME2] = {.title = "SME2",
                      .hwcap = UINT64_C(0x0000fc0000000000),
                      .hwcap2 = UINT64_C(0x7e0007e000000000)},
    // SME and its first-generation extensions (23-30).
    [ETP_HAS_SME] = {.title = "SME", .hwcap2 = UINT64_C(0x000000007f800000), .also = "sme2"},
    // SVE2 and its extensions (1-6), SVE2P1 (36).
    [ETP_HAS_SVE2] = {.title = "SVE2", .hwcap2 = UINT64_C(0x000000100000007e)},
    // SVE; its matrix products (10, 11).
    [ETP_HAS_SVE] = {.title = "SVE",
                      .hwcap = UINT64_C(0x0000000000400000),
                      .hwcap2 = UINT64_C(0x0000000000000c00),
                      .also = "sve2"},
    // BF16 and its SVE form (12, 14), EBF16 (32, 33).
    [ETP_HAS_BF16] = {.title = "BF16", .hwcap2 = UINT64_C(0x0000000300005000)},
    // I8MM and its SVE form (9, 13).
    [ETP_HAS_I8MM] = {.title = "I8MM", .hwcap2 = UINT64_C(0x0000000000002200)},
    [ETP_HAS_FHM] = {.title = "FHM", .hwcap = UINT64_C(0x0000000000800000)}, // ASIMDFHM (23)
    [ETP_HAS_DOT] = {.title = "dot products", .hwcap = ETP_HWCAP_ASIMDDP},
    // FPHP, ASIMDHP (9, 10).
    [ETP_HAS_HALF] = {.title = "fp16 arithmetic",
                      .hwcap = UINT64_C(0x0000000000000600),
                      .also = "fhm"},
    [ETP_HAS_AMX] = {.title = "AMX", .x86 = "amx_tile,amx_int8,amx_bf16,amx_fp16"},
    [ETP_HAS_AVX10_2] = {.title = "AVX10.2", .x86 = "avx10_2"},
    [ETP_HAS_AVX512_FP16] = {.title = "AVX512-FP16", .x86 = "avx512fp16"},
    [ETP_HAS_AVX512_BF16] = {.title = "AVX512-BF16", .x86 = "avx512bf16"},
    [ETP_HAS_AVX512_VNNI] = {.title = "AVX-512 VNNI", .x86 = "avx512vnni"},
    [ETP_HAS_GFNI] = {.title = "GFNI", .x86 = "gfni"},
    [ETP_HAS_AVX_VNNI_INT16] = {.title = "AVX-VNNI-INT16", .x86 = "avx_vnni_int16"},
    [ETP_HAS_AVX_VNNI_INT8] = {.title = "AVX-VNNI-INT8", .x86 = "avx_vnni_int8"},
    [ETP_HAS_AVX_VNNI] = {.title = "AVX-VNNI", .x86 = "avxvnni"},
    [ETP_HAS_AVX_NE_CONVERT] = {.title = "AVX-NE-CONVERT", .x86 = "avx_ne_convert"},
    [ETP_HAS_AVX512] = {.title = "AVX-512",
                      .x86 = "avx512f,avx512pf,avx512er,avx512cd,avx512dq,avx512bw,avx512vl,"
                               "avx512ifma,avx512vbmi,avx512vbmi2,avx512bitalg,avx512vpopcntdq,"
                               "avx512vp2intersect,avx512_4vnniw,avx512_4fmaps,avx10_1", .also = "avx512vnni,avx512bf16,avx512fp16,avx10.2,amx"},
    [ETP_HAS_AVX2] = {.title = "AVX2",
                      .x86 = "avx2",
                      .also = "avxvnni,avxvnniint8,avxvnniint16,avxneconvert,avx512"},
    [ETP_HAS_FMA] = {.title = "FMA", .x86 = "fma3", .also = "avx2"},
    [ETP_HAS_F16C] = {.title = "F16C", .x86 = "f16c"},
    [ETP_HAS_AVX] = {.title = "AVX", .x86 = "avx", .also = "f16c,fma"},
};

static const char *const k_names[ETP_HAS_COUNT] = {
#define ETP_FEATURE_NAME(id, name, family) [ETP_HAS_##id] = name,
    ETP_FEATURES(ETP_FEATURE_NAME)
#undef ETP_FEATURE_NAME
};

// All there is to say about a level.
typedef struct row {
    etp_level_info info;
    const char *hides; // features, in addition to those that the step above hides
    // What a CPU must have for the level to mean anything on it.
    uint64_t needs_hwcap, needs_hwcap2;
    const char *needs_x86;
    const char *needs_says;
    etp_named named;
    bool step; // of the ladder
} row;

// Within a family from best to lowest; the order is that of etp_level.
static const row k_rows[] = {
    {.info = {ETP_LEVEL_BEST_AARCH64, ETP_ISA_AARCH64, "best", "nothing hidden", "best"}},
    {.info = {ETP_LEVEL_BEST_X86_64, ETP_ISA_X86_64, "best", "nothing hidden", "best"}},
#define ETP_WITHOUT(id, name, family)                                                              \
    {                                                                                              \
        .info = {ETP_LEVEL_WITHOUT_##id, ETP_ISA_##family, "-" name, "all but " name, "no " name}, \
        .hides = name},
    ETP_FEATURES(ETP_WITHOUT)
#undef ETP_WITHOUT
        {.info = {ETP_LEVEL_SME2, ETP_ISA_AARCH64, "sme2", "SME2", "SME2"},
     .needs_hwcap2 = ETP_HWCAP2_SME | ETP_HWCAP2_SME2,
     .needs_says = "SME2",
     .named = ETP_NAMED_ON,
     .step = true},
    {.info = {ETP_LEVEL_SME1, ETP_ISA_AARCH64, "sme1", "SME without SME2", "SME"},
     .hides = "sme2",
     .needs_hwcap2 = ETP_HWCAP2_SME,
     .needs_says = "SME",
     .named = ETP_NAMED_ON,
     .step = true},
    {.info = {ETP_LEVEL_NEON, ETP_ISA_AARCH64, "neon", "NEON, no SME", "NEON"},
     .hides = "sme",
     .needs_hwcap = ETP_HWCAP_ASIMD,
     .needs_says = "NEON",
     .named = ETP_NAMED_OFF,
     .step = true},
    {.info = {ETP_LEVEL_DOTPROD, ETP_ISA_AARCH64, "dotprod", "NEON with dot products, no I8MM",
              "NEON dotprod"},
     .hides = "i8mm,bf16,sve",
     .needs_hwcap = ETP_HWCAP_ASIMDDP,
     .needs_says = "dot products",
     .named = ETP_NAMED_OFF,
     .step = true},
    {.info = {ETP_LEVEL_BASE, ETP_ISA_AARCH64, "base", "Armv8.0 NEON", "Armv8.0 NEON"},
     .hides = "dotprod,fp16",
     .needs_hwcap = ETP_HWCAP_ASIMD,
     .needs_says = "NEON",
     .named = ETP_NAMED_OFF,
     .step = true},
    {.info = {ETP_LEVEL_AMX, ETP_ISA_X86_64, "amx", "AMX", "AMX"},
     .needs_x86 = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,amx_tile,amx_int8",
     .needs_says = "AMX",
     .step = true},
    {.info = {ETP_LEVEL_FP16, ETP_ISA_X86_64, "fp16", "AVX512-FP16, no AMX", "AVX512-FP16"},
     .hides = "amx",
     .needs_x86 = "avx512f,avx512bw,avx512dq,avx512vl,avx512fp16",
     .needs_says = "AVX512-FP16",
     .named = ETP_NAMED_ON,
     .step = true},
    {.info = {ETP_LEVEL_VNNI, ETP_ISA_X86_64, "vnni", "AVX-512 with VNNI, no FP16", "VNNI"},
     .hides = "avx512fp16,avx10.2",
     .needs_x86 = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni",
     .needs_says = "AVX-512 VNNI",
     .named = ETP_NAMED_ON,
     .step = true},
    {.info = {ETP_LEVEL_AVX512, ETP_ISA_X86_64, "avx512", "AVX-512 without VNNI", "AVX-512"},
     .hides = "avx512vnni,gfni,avx512bf16,avxvnni",
     .needs_x86 = "avx512f,avx512bw,avx512dq,avx512vl",
     .needs_says = "AVX-512",
     .named = ETP_NAMED_OFF,
     .step = true},
    {.info = {ETP_LEVEL_AVX2, ETP_ISA_X86_64, "avx2", "AVX2 with FMA", "AVX2"},
     .hides = "avx512,avxvnniint8,avxvnniint16,avxneconvert",
     .needs_x86 = "avx,avx2,fma3",
     .needs_says = "AVX2",
     .named = ETP_NAMED_OFF,
     .step = true},
    {.info = {ETP_LEVEL_SSE, ETP_ISA_X86_64, "sse", "SSE only", "SSE"},
     .hides = "avx",
     .needs_says = "SSE",
     .named = ETP_NAMED_OFF,
     .step = true},
};

#define ROWS (sizeof k_rows / sizeof k_rows[0])

static const row *row_of(etp_level level)
{
    return level > ETP_LEVEL_NONE && level < ETP_LEVEL_COUNT ? &k_rows[level - 1] : NULL;
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

bool etp_level_is_said(const char *name)
{
    return name && strncmp(name, ETP_LEVEL_SAID, sizeof ETP_LEVEL_SAID - 1) == 0;
}

const char *etp_level_unsaid(const char *name)
{
    return etp_level_is_said(name) ? name + sizeof ETP_LEVEL_SAID - 1 : name;
}

int etp_level_rank(etp_level level, size_t single)
{
    bool whole = level == ETP_LEVEL_BEST_AARCH64 || level == ETP_LEVEL_BEST_X86_64;
    return whole && single > 1 ? ETP_LEVEL_COUNT : (int)level;
}

etp_level etp_level_of_word(const char *word)
{
    etp_level level = etp_level_find(ETP_ISA_NONE, word);
    const row *r = row_of(level);
    return r != NULL && r->step && level != ETP_LEVEL_FP16 ? level : ETP_LEVEL_NONE;
}

static size_t list(etp_isa_family family, bool step, etp_level out[ETP_LEVEL_COUNT])
{
    size_t n = 0;
    for (size_t i = 0; i < ROWS; i++) {
        bool single = !k_rows[i].step && k_rows[i].hides != NULL;
        if (k_rows[i].info.family == family && (step ? k_rows[i].step : single)) {
            out[n++] = k_rows[i].info.level;
        }
    }
    return n;
}

size_t etp_level_list(etp_isa_family family, etp_level out[ETP_LEVEL_COUNT])
{
    return list(family, true, out);
}

size_t etp_level_list_single(etp_isa_family family, etp_level out[ETP_LEVEL_COUNT])
{
    return list(family, false, out);
}

etp_named etp_level_named(etp_level level)
{
    const row *r = row_of(level);
    return r != NULL ? r->named : ETP_NAMED_UNCLEAR;
}

const char *etp_isa_feature_name(etp_isa_feature feature)
{
    return feature < ETP_HAS_COUNT ? k_names[feature] : NULL;
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

const char *etp_isa_feature_title(etp_isa_feature feature)
{
    return feature < ETP_HAS_COUNT ? k_features[feature].title : NULL;
}

static etp_isa_feature feature_of(const char *name, size_t len)
{
    etp_isa_feature f = 0;
    while (f < ETP_HAS_COUNT && (strlen(k_names[f]) != len || memcmp(k_names[f], name, len) != 0)) {
        f++;
    }
    return f;
}

etp_isa_feature etp_isa_feature_of_flag(const char *flag)
{
    size_t want = strlen(flag);
    for (etp_isa_feature f = 0; f < ETP_HAS_COUNT; f++) {
        const char *names = k_features[f].x86;
        while (names != NULL && *names != '\0') {
            size_t len = strcspn(names, ",");
            if (len == want && memcmp(names, flag, len) == 0) {
                return f;
            }
            names += len;
            names += *names == ',';
        }
    }
    return ETP_HAS_COUNT;
}

etp_isa_feature etp_level_without(etp_level level)
{
    const row *r = row_of(level);
    bool single = r != NULL && !r->step && r->hides != NULL;
    return single ? feature_of(r->hides, strlen(r->hides)) : ETP_HAS_COUNT;
}

bool etp_level_hides_one(etp_level level)
{
    return etp_level_without(level) != ETP_HAS_COUNT;
}

// The features of a list, separated by commas, and those that cannot be used without them.
static uint64_t features_of(const char *names)
{
    uint64_t all = 0;
    while (names != NULL && *names != '\0') {
        size_t len = strcspn(names, ",");
        etp_isa_feature f = feature_of(names, len);
        if (f < ETP_HAS_COUNT) {
            all |= UINT64_C(1) << f | features_of(k_features[f].also);
        }
        names += len;
        names += *names == ',';
    }
    return all;
}

// Each step hides something more than the one above it: what it hides is the sum down to its row.
static uint64_t hidden_features(const row *last)
{
    uint64_t all = 0;
    for (const row *r = last->step ? k_rows : last; r <= last; r++) {
        bool counts = r == last || (r->step && r->info.family == last->info.family);
        all |= counts ? features_of(r->hides) : 0;
    }
    return all;
}

bool etp_level_hides(etp_level level, etp_isa_feature feature)
{
    const row *r = row_of(level);
    return r != NULL && (hidden_features(r) >> feature & 1) != 0;
}

etp_isa_mask etp_level_mask(etp_level level)
{
    etp_isa_mask mask = {0};
    const row *last = row_of(level);
    if (last == NULL) {
        return mask;
    }
    uint64_t hidden = hidden_features(last);
    mask.family = last->info.family;
    for (etp_isa_feature f = 0; f < ETP_HAS_COUNT; f++) {
        if ((hidden >> f & 1) != 0) {
            etp_x86_set set = set_of(k_features[f].x86);
            mask.hwcap |= k_features[f].hwcap;
            mask.hwcap2 |= k_features[f].hwcap2;
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
    etp_level found = ETP_LEVEL_NONE;
    for (size_t i = 0; i < ROWS; i++) {
        etp_isa_mask m = etp_level_mask(k_rows[i].info.level);
        bool better = found == ETP_LEVEL_NONE || !row_of(found)->step;
        if (same_mask(&m, mask) && better) {
            found = k_rows[i].info.level;
        }
    }
    return found;
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

bool etp_isa_has(const etp_isa_cpu *cpu, etp_isa_feature feature)
{
    size_t first = strcspn(k_features[feature].x86 != NULL ? k_features[feature].x86 : "", ",");
    int index = first > 0 ? etp_x86_flag_find(k_features[feature].x86, first) : -1;
    return (cpu->hwcap & k_features[feature].hwcap) != 0 ||
           (cpu->hwcap2 & k_features[feature].hwcap2) != 0 ||
           (index >= 0 && etp_x86_has(&cpu->x86, (size_t)index));
}

static bool has_needs(const etp_isa_cpu *cpu, const row *r)
{
    if (!r->step && r->hides != NULL) {
        return cpu->family == r->info.family &&
               etp_isa_has(cpu, feature_of(r->hides, strlen(r->hides)));
    }
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
            etp_if(old_kernel, ": 6.12 to 6.15 are built without SME, use 6.16 or later"));
    } else if (sme && (cpu->hwcap2 & ETP_HWCAP2_SME) == 0 && old_kernel) {
        say(state, "no %s shown; kernel %u.%u is built without SME and would hide it",
            r->needs_says, (unsigned)cpu->kernel_major, (unsigned)cpu->kernel_minor);
    } else {
        say(state, "this CPU has no %s",
            r->needs_says != NULL ? r->needs_says
                                  : k_features[feature_of(r->hides, strlen(r->hides))].title);
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

static void say_hidden_aarch64(etp_level_state *state, const row *r)
{
    uint64_t hidden = hidden_features(r);
    size_t at = 0;
    for (etp_isa_feature f = 0; f < ETP_HAS_COUNT; f++) {
        if ((hidden >> f & 1) != 0 && at < sizeof state->how) {
            at += (size_t)snprintf(state->how + at, sizeof state->how - at, "%s%s",
                                   at == 0 ? "hides " : ", ", k_features[f].title);
        }
    }
}

static bool same_left(const etp_isa_cpu *cpu, etp_level one, etp_level other)
{
    etp_isa_mask a = etp_level_mask(one), b = etp_level_mask(other);
    etp_isa_cpu x = etp_isa_cpu_masked(cpu, &a), y = etp_isa_cpu_masked(cpu, &b);
    return x.hwcap == y.hwcap && x.hwcap2 == y.hwcap2 && x.x86.bits[0] == y.x86.bits[0] &&
           x.x86.bits[1] == y.x86.bits[1];
}

static etp_level nothing_hidden(etp_isa_family family)
{
    return family == ETP_ISA_X86_64 ? ETP_LEVEL_BEST_X86_64 : ETP_LEVEL_BEST_AARCH64;
}

bool etp_level_hides_nothing(const etp_isa_cpu *cpu, etp_level level)
{
    return same_left(cpu, level, nothing_hidden(cpu->family));
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
        if (r->step && b->step && b->info.family == r->info.family && has_needs(cpu, b)) {
            above = b;
        }
    }
    if (above != NULL && same_left(cpu, level, above->info.level)) {
        say(&state, "the same as %s on this CPU", above->info.name);
        return state;
    }
    // Only these hide what cpuinfo takes from the MIDR.
    bool takes_dot = etp_level_hides(level, ETP_HAS_DOT) || etp_level_hides(level, ETP_HAS_HALF);
    if (takes_dot && forced_by_midr(cpu->midr)) {
        say(&state,
            "cpuinfo turns dot products and fp16 on for this core (MIDR 0x%08x) whatever is hidden",
            (unsigned)cpu->midr);
        return state;
    }
    state.switchable = true;
    etp_isa_mask mask = etp_level_mask(level);
    if (etp_level_hides_nothing(cpu, level)) {
        say(&state, "nothing is hidden");
    } else if (cpu->family == ETP_ISA_X86_64) {
        say_hidden_x86(&state, cpu, &mask);
    } else {
        say_hidden_aarch64(&state, r);
    }
    return state;
}

etp_level etp_isa_best(const etp_isa_cpu *cpu)
{
    for (size_t i = 0; i < ROWS; i++) {
        etp_level level = k_rows[i].info.level, whole = nothing_hidden(cpu->family);
        if (k_rows[i].step && has_needs(cpu, &k_rows[i])) {
            return same_left(cpu, level, whole) ? level : whole;
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
        if (k_rows[i].step && k_rows[i].info.family == cpu->family && level > best &&
            level >= plain && etp_level_state_of(cpu, level).switchable) {
            return level;
        }
    }
    return ETP_LEVEL_NONE;
}

bool etp_isa_stands_for(const etp_isa_cpu *cpu, const char *word, etp_level *out)
{
    static const char *const k_words[] = {[ETP_NAMED_OFF] = "off", [ETP_NAMED_ON] = "on"};
    etp_named named = ETP_NAMED_ON;
    while (named && strcmp(k_words[named], word) != 0) {
        named--;
    }
    *out = named == ETP_NAMED_ON ? etp_isa_best(cpu) : etp_isa_plain(cpu);
    return named != ETP_NAMED_UNCLEAR;
}
