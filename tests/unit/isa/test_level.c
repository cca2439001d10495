// SPDX-License-Identifier: Apache-2.0
// Levels: their masks against hand-written bit numbers, and what CPUs that we
// know offer.
#include <string.h>

#include "isa/isa.h"
#include "unit.h"

#define BIT(n) (UINT64_C(1) << (n))

static etp_isa_cpu x86_cpu(const char *names)
{
    char text[ETP_ISA_TEXT_MAX] = "x86_64:kernel=6.1,";
    strcat(text, names);
    etp_isa_cpu cpu;
    char why[256];
    assert_true(etp_isa_cpu_parse(text, &cpu, why, sizeof why));
    return cpu;
}

static bool hides(etp_level level, const char *name)
{
    etp_isa_mask mask = etp_level_mask(level);
    int index = etp_x86_flag_find(name, strlen(name));
    assert_true(index >= 0);
    return etp_x86_has(&mask.x86, (size_t)index);
}

static void order_and_names(void **state)
{
    etp_level out[ETP_LEVEL_COUNT];
    static const char *const k_arm[] = {"sme2", "sme1", "neon", "dotprod", "base"};
    static const char *const k_x86[] = {"amx", "fp16", "vnni", "avx512", "avx2", "sse"};
    assert_int_equal(etp_level_list(ETP_ISA_AARCH64, out), 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(etp_level_get(out[i])->name, k_arm[i]);
        assert_int_equal(etp_level_find(ETP_ISA_AARCH64, k_arm[i]), out[i]);
        assert_int_equal(etp_level_find(ETP_ISA_X86_64, k_arm[i]), ETP_LEVEL_NONE);
    }
    assert_int_equal(etp_level_list(ETP_ISA_X86_64, out), 6);
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(etp_level_get(out[i])->name, k_x86[i]);
        assert_int_equal(etp_level_find(ETP_ISA_NONE, k_x86[i]), out[i]);
    }
    assert_null(etp_level_get(ETP_LEVEL_NONE));
    assert_int_equal(etp_level_find(ETP_ISA_NONE, "sve2"), ETP_LEVEL_NONE);
    assert_int_equal(etp_level_find(ETP_ISA_NONE, "-sve2"), ETP_LEVEL_WITHOUT_SVE2);
}

static void aarch64_masks(void **state)
{
    etp_isa_mask m = etp_level_mask(ETP_LEVEL_SME2);
    assert_true(m.hwcap == 0 && m.hwcap2 == 0 && m.family == ETP_ISA_AARCH64);

    m = etp_level_mask(ETP_LEVEL_SME1);
    assert_true((m.hwcap2 & BIT(37)) != 0); // SME2
    assert_true((m.hwcap2 & BIT(23)) == 0); // SME stays
    assert_true((m.hwcap2 & UINT64_C(0x7f800000)) == 0);

    m = etp_level_mask(ETP_LEVEL_NEON);
    assert_true(m.hwcap2 == UINT64_C(0x7e0007e07f800000));
    uint64_t sme22 = 0;
    for (unsigned b = 42; b <= 47; b++) {
        sme22 |= BIT(b);
    }
    assert_true(m.hwcap == sme22);

    m = etp_level_mask(ETP_LEVEL_DOTPROD);
    assert_true((m.hwcap2 & BIT(13)) != 0 && (m.hwcap2 & BIT(14)) != 0); // I8MM, BF16
    assert_true((m.hwcap & BIT(20)) == 0);                               // ASIMDDP stays
    m = etp_level_mask(ETP_LEVEL_BASE);
    assert_true((m.hwcap & BIT(20)) != 0 && (m.hwcap & BIT(10)) != 0 && (m.hwcap & BIT(9)) != 0);
    // Never taken away: FP, ASIMD, AES, CRC32, ATOMICS.
    assert_true((m.hwcap & (BIT(0) | BIT(1) | BIT(3) | BIT(7) | BIT(8))) == 0);
}

static void x86_masks(void **state)
{
    assert_false(hides(ETP_LEVEL_VNNI, "avx512vnni"));
    static const char *const k_avx512[] = {"avx512vnni", "gfni",     "avx512bf16", "avx512fp16",
                                           "amx_tile",   "amx_int8", "amx_bf16"};
    for (size_t i = 0; i < sizeof k_avx512 / sizeof k_avx512[0]; i++) {
        assert_true(hides(ETP_LEVEL_AVX512, k_avx512[i]));
        assert_true(hides(ETP_LEVEL_SSE, k_avx512[i]));
    }
    assert_false(hides(ETP_LEVEL_AVX512, "avx512f"));
    for (size_t i = 0; i < ETP_X86_FLAGS; i++) { // avx2 leaves nothing of AVX-512
        if (strncmp(etp_x86_flag_name(i), "avx512", 6) == 0) {
            assert_true(hides(ETP_LEVEL_AVX2, etp_x86_flag_name(i)));
        }
    }
    static const char *const k_sse[] = {"avx", "f16c", "fma3", "avx2"};
    for (size_t i = 0; i < sizeof k_sse / sizeof k_sse[0]; i++) {
        assert_true(hides(ETP_LEVEL_SSE, k_sse[i]));
        assert_false(hides(ETP_LEVEL_AVX2, k_sse[i]));
    }
    // AVX-VNNI is VNNI: neither AVX-512 without it nor AVX2.
    static const char *const k_vex[] = {"avxvnni", "avx_vnni_int8", "avx_vnni_int16",
                                        "avx_ne_convert"};
    for (size_t i = 0; i < sizeof k_vex / sizeof k_vex[0]; i++) {
        assert_true(hides(ETP_LEVEL_AVX2, k_vex[i]));
        assert_true(hides(ETP_LEVEL_SSE, k_vex[i]));
        assert_false(hides(ETP_LEVEL_VNNI, k_vex[i]));
    }
    // The ladder above: each level keeps what its name says and hides what is above it.
    assert_false(hides(ETP_LEVEL_AMX, "amx_int8") || hides(ETP_LEVEL_FP16, "avx512fp16"));
    assert_true(hides(ETP_LEVEL_FP16, "amx_int8") && hides(ETP_LEVEL_FP16, "amx_tile"));
    assert_true(hides(ETP_LEVEL_VNNI, "avx512fp16") && hides(ETP_LEVEL_VNNI, "amx_int8"));
    // One feature alone, with what cannot be used without it.
    etp_level fp16 = etp_level_find(ETP_ISA_X86_64, "-avx512fp16");
    assert_true(hides(fp16, "avx512fp16"));
    assert_false(hides(fp16, "avx512vnni") || hides(fp16, "amx_int8") || hides(fp16, "avx512bf16"));
    etp_level wide = etp_level_find(ETP_ISA_X86_64, "-avx512");
    assert_true(hides(wide, "avx512f") && hides(wide, "avx512fp16") && hides(wide, "amx_tile"));
    assert_false(hides(wide, "avx2") || hides(wide, "avxvnni"));
    assert_false(hides(ETP_LEVEL_SSE, "sse4_1"));
    // The offsets measured in the SDK's library.
    assert_int_equal(etp_x86_flag_find("avx", 3), 22);
    assert_int_equal(etp_x86_flag_find("fma3", 4), 24);
    assert_int_equal(etp_x86_flag_find("avx2", 4), 28);
    assert_int_equal(etp_x86_flag_find("avx512f", 7), 29);
    assert_int_equal(etp_x86_flag_find("avx512vnni", 10), 41);
}

static void mask_names_its_level(void **state)
{
    for (int level = ETP_LEVEL_BEST_AARCH64; level < ETP_LEVEL_COUNT; level++) {
        etp_isa_mask mask = etp_level_mask((etp_level)level);
        etp_level named = etp_isa_mask_level(&mask);
        // Where one feature, or nothing, is also a step of the ladder, it is the step.
        etp_isa_mask again = etp_level_mask(named);
        assert_true(again.hwcap == mask.hwcap && again.hwcap2 == mask.hwcap2);
        assert_memory_equal(&again.x86, &mask.x86, sizeof mask.x86);
        if (level >= ETP_LEVEL_SME2) {
            assert_int_equal(named, level);
        }
        mask.hwcap ^= BIT(11);
        assert_int_equal(etp_isa_mask_level(&mask), ETP_LEVEL_NONE);
    }
}

static void each_level_hides_more(void **state)
{
    for (int f = ETP_ISA_AARCH64; f <= ETP_ISA_X86_64; f++) {
        etp_level out[ETP_LEVEL_COUNT];
        size_t n = etp_level_list((etp_isa_family)f, out);
        for (size_t i = 1; i < n; i++) {
            etp_isa_mask a = etp_level_mask(out[i - 1]), b = etp_level_mask(out[i]);
            assert_true((a.hwcap & ~b.hwcap) == 0 && (a.hwcap2 & ~b.hwcap2) == 0);
            assert_true((a.x86.bits[0] & ~b.x86.bits[0]) == 0);
            assert_true((a.x86.bits[1] & ~b.x86.bits[1]) == 0);
            assert_true(a.hwcap != b.hwcap || a.hwcap2 != b.hwcap2 ||
                        memcmp(&a.x86, &b.x86, sizeof a.x86) != 0);
        }
    }
}

#define CHECK(CPU, LEVEL, AVAILABLE, SWITCHABLE)                  \
    do {                                                          \
        etp_level_state s_ = etp_level_state_of(&(CPU), (LEVEL)); \
        assert_int_equal(s_.available, (AVAILABLE));              \
        assert_int_equal(s_.switchable, (SWITCHABLE));            \
        assert_true(s_.how[0] != '\0');                           \
    } while (0)

static void an_sme2_phone(void **state)
{
    etp_isa_cpu cpu = {.family = ETP_ISA_AARCH64,
                       .hwcap = BIT(0) | BIT(1) | BIT(9) | BIT(10) | BIT(20),
                       .hwcap2 = BIT(13) | BIT(14) | BIT(23) | BIT(37),
                       .midr = 0x410fd8c0};
    CHECK(cpu, ETP_LEVEL_SME2, true, true);
    CHECK(cpu, ETP_LEVEL_SME1, true, true);
    CHECK(cpu, ETP_LEVEL_NEON, true, true);
    CHECK(cpu, ETP_LEVEL_DOTPROD, true, true);
    CHECK(cpu, ETP_LEVEL_BASE, true, true);
    CHECK(cpu, ETP_LEVEL_VNNI, false, false);
    assert_int_equal(etp_isa_best(&cpu), ETP_LEVEL_SME2);
    assert_int_equal(etp_isa_plain(&cpu), ETP_LEVEL_NEON);
    etp_level meant;
    assert_true(etp_isa_stands_for(&cpu, "on", &meant) && meant == ETP_LEVEL_SME2);
    assert_true(etp_isa_stands_for(&cpu, "off", &meant) && meant == ETP_LEVEL_NEON);
    assert_false(etp_isa_stands_for(&cpu, "neon", &meant) || etp_isa_stands_for(&cpu, "", &meant));
    assert_string_equal(etp_level_state_of(&cpu, ETP_LEVEL_SME1).how, "hides SME2");
    assert_string_equal(etp_level_state_of(&cpu, ETP_LEVEL_NEON).how, "hides SME2, SME");
}

static void a_kernel_that_hides_sme(void **state)
{
    etp_isa_cpu cpu = {.family = ETP_ISA_AARCH64,
                       .hwcap = BIT(0) | BIT(1) | BIT(9) | BIT(10) | BIT(20),
                       .hwcap2 = BIT(13),
                       .midr = 0x410fd8c0,
                       .kernel_major = 6,
                       .kernel_minor = 12};
    CHECK(cpu, ETP_LEVEL_SME2, false, false);
    assert_non_null(strstr(etp_level_state_of(&cpu, ETP_LEVEL_SME2).how, "kernel hides it"));
    assert_non_null(strstr(etp_level_state_of(&cpu, ETP_LEVEL_SME2).how, "6.16"));
    cpu.midr = 0; // a core we do not know: the kernel is only suspected
    assert_non_null(strstr(etp_level_state_of(&cpu, ETP_LEVEL_SME2).how, "6.12"));
    cpu.kernel_minor = 17;
    assert_string_equal(etp_level_state_of(&cpu, ETP_LEVEL_SME2).how, "this CPU has no SME2");
    assert_int_equal(etp_isa_best(&cpu), ETP_LEVEL_NEON);
    assert_int_equal(etp_isa_plain(&cpu), ETP_LEVEL_DOTPROD);
}

static void a_core_that_cpuinfo_knows_better(void **state)
{
    etp_isa_cpu cpu = {.family = ETP_ISA_AARCH64,
                       .hwcap = BIT(0) | BIT(1) | BIT(9) | BIT(10) | BIT(20),
                       .midr = 0x413fd0c1}; // Neoverse N1
    CHECK(cpu, ETP_LEVEL_NEON, true, true);
    CHECK(cpu, ETP_LEVEL_DOTPROD, true, false); // no I8MM or BF16 to hide
    CHECK(cpu, ETP_LEVEL_BASE, true, false);    // dot products come from the MIDR
    assert_non_null(strstr(etp_level_state_of(&cpu, ETP_LEVEL_BASE).how, "MIDR"));
    assert_int_equal(etp_isa_plain(&cpu), ETP_LEVEL_NONE);
    cpu.midr = 0x410fd430; // a core that is not on cpuinfo's list
    CHECK(cpu, ETP_LEVEL_BASE, true, true);
    assert_int_equal(etp_isa_plain(&cpu), ETP_LEVEL_BASE);
}

static void x86_machines(void **state)
{
    etp_isa_cpu zen4 = x86_cpu("avx,fma3,f16c,avx2,avx512f,avx512cd,avx512dq,avx512bw,avx512vl,"
                               "avx512vnni,avx512bf16,gfni");
    CHECK(zen4, ETP_LEVEL_VNNI, true, true);
    CHECK(zen4, ETP_LEVEL_AVX512, true, true);
    assert_string_equal(etp_level_state_of(&zen4, ETP_LEVEL_AVX512).how,
                        "hides avx512vnni, avx512bf16, gfni");
    assert_int_equal(etp_isa_best(&zen4), ETP_LEVEL_VNNI);
    assert_int_equal(etp_isa_plain(&zen4), ETP_LEVEL_AVX2);

    etp_isa_cpu skylake_x =
        x86_cpu("avx,fma3,f16c,avx2,avx512f,avx512cd,avx512dq,avx512bw,avx512vl");
    CHECK(skylake_x, ETP_LEVEL_VNNI, false, false);
    CHECK(skylake_x, ETP_LEVEL_AVX512, true, true);
    assert_int_equal(etp_isa_best(&skylake_x), ETP_LEVEL_AVX512);

    etp_isa_cpu client = x86_cpu("avx,avxvnni,fma3,f16c,avx2");
    CHECK(client, ETP_LEVEL_AVX512, false, false);
    // AVX2 hides its AVX-VNNI, so that the best is neither.
    assert_int_equal(etp_isa_best(&client), ETP_LEVEL_BEST_X86_64);
    assert_int_equal(etp_isa_plain(&client), ETP_LEVEL_AVX2);

    etp_isa_cpu sapphire =
        x86_cpu("avx,avxvnni,fma3,f16c,avx2,avx512f,avx512cd,avx512dq,avx512bw,avx512vl,avx512vnni,"
                "avx512bf16,avx512fp16,gfni,amx_bf16,amx_tile,amx_int8");
    CHECK(sapphire, ETP_LEVEL_AMX, true, true);
    CHECK(sapphire, ETP_LEVEL_FP16, true, true);
    CHECK(sapphire, ETP_LEVEL_VNNI, true, true);
    CHECK(sapphire, ETP_LEVEL_BEST_X86_64, true, true);
    assert_string_equal(etp_level_state_of(&sapphire, ETP_LEVEL_FP16).how,
                        "hides amx_bf16, amx_tile, amx_int8");
    assert_int_equal(etp_isa_best(&sapphire), ETP_LEVEL_AMX);
    assert_int_equal(etp_isa_plain(&sapphire), ETP_LEVEL_AVX2);
    CHECK(sapphire, etp_level_find(ETP_ISA_X86_64, "-avx512bf16"), true, true);
    CHECK(sapphire, etp_level_find(ETP_ISA_X86_64, "-avx10.2"), false, false);
    CHECK(zen4, ETP_LEVEL_FP16, false, false);
    CHECK(zen4, ETP_LEVEL_AMX, false, false);

    etp_isa_cpu old = x86_cpu("sse3,ssse3");
    CHECK(old, ETP_LEVEL_SSE, true, true);
    assert_int_equal(etp_isa_best(&old), ETP_LEVEL_SSE);
    assert_int_equal(etp_isa_plain(&old), ETP_LEVEL_NONE);
}

static void masking_takes_only_its_family(void **state)
{
    etp_isa_cpu cpu = x86_cpu("avx,avx2,fma3");
    etp_isa_mask arm = etp_level_mask(ETP_LEVEL_BASE), sse = etp_level_mask(ETP_LEVEL_SSE);
    etp_isa_cpu same = etp_isa_cpu_masked(&cpu, &arm), less = etp_isa_cpu_masked(&cpu, &sse);
    assert_memory_equal(&same.x86, &cpu.x86, sizeof cpu.x86);
    assert_true(less.x86.bits[0] == 0 && less.x86.bits[1] == 0);
}
