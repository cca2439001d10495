// SPDX-License-Identifier: Apache-2.0
// Masks and CPUs as text: what we write is read back, everything else is refused.
#include <string.h>

#include "isa/isa.h"
#include "unit.h"

static void masks_round_trip(void **state)
{
    for (int level = ETP_LEVEL_BEST_AARCH64; level < ETP_LEVEL_COUNT; level++) {
        etp_isa_mask mask = etp_level_mask((etp_level)level), back;
        char text[ETP_ISA_TEXT_MAX], why[256] = "";
        size_t len = etp_isa_mask_format(&mask, text, sizeof text);
        assert_true(len > 0 && len == strlen(text));
        assert_true(etp_isa_mask_parse(text, &back, why, sizeof why));
        assert_true(mask.family == back.family && mask.hwcap == back.hwcap);
        assert_true(mask.hwcap2 == back.hwcap2 && mask.x86.bits[0] == back.x86.bits[0]);
        assert_true(mask.x86.bits[1] == back.x86.bits[1]);
        assert_int_equal(etp_isa_mask_format(&mask, text, len), 0); // no room for the NUL
        assert_int_equal(etp_isa_mask_format(&mask, text, 0), 0);
    }
}

static void known_texts(void **state)
{
    char text[ETP_ISA_TEXT_MAX];
    etp_isa_mask mask = etp_level_mask(ETP_LEVEL_AMX);
    (void)etp_isa_mask_format(&mask, text, sizeof text);
    assert_string_equal(text, "x86_64:none");
    mask = etp_level_mask(ETP_LEVEL_NEON);
    (void)etp_isa_mask_format(&mask, text, sizeof text);
    assert_string_equal(text, "aarch64:hwcap=0xfc0000000000,hwcap2=0x7e0007e07f800000");
}

static void every_flag_at_once_fits(void **state)
{
    etp_isa_cpu cpu = {.family = ETP_ISA_X86_64, .kernel_major = 99999, .kernel_minor = 99999},
                back;
    for (size_t i = 0; i < ETP_X86_FLAGS; i++) {
        etp_x86_add(&cpu.x86, i);
    }
    char text[ETP_ISA_TEXT_MAX], why[256] = "";
    assert_true(etp_isa_cpu_format(&cpu, text, sizeof text) > 0);
    assert_true(etp_isa_cpu_parse(text, &back, why, sizeof why));
    assert_true(cpu.x86.bits[0] == back.x86.bits[0] && cpu.x86.bits[1] == back.x86.bits[1]);
    assert_int_equal(back.kernel_major, 99999);
}

static void bad_masks(void **state)
{
    static const char *const k_bad[] = {
        "",
        "x86_64",
        "x86_64:",
        "x86_64:avx2,",
        "x86_64:,avx2",
        "x86_64:avx2,avx2",
        "x86_64:AVX2",
        "x86_64: avx2",
        "x86_64:avx9",
        "x86_64:none,avx2",
        "x86_64:none ",
        "sparc:none",
        "aarch64:",
        "aarch64:hwcap=0x0",
        "aarch64:hwcap=0x0,hwcap2=0x",
        "aarch64:hwcap=0x0,hwcap2=0x11112222333344445",
        "aarch64:hwcap=1,hwcap2=0x0",
        "aarch64:hwcap=0x0,hwcap2=0xG",
        "aarch64:hwcap=0x0,hwcap2=0xA",
        "aarch64:hwcap=0x0,hwcap2=0x0,",
        "aarch64:hwcap2=0x0,hwcap=0x0",
        "aarch64:none",
        "x86_64:none\n",
        "aarch64:hwcap=-0x1,hwcap2=0x0",
    };
    for (size_t i = 0; i < sizeof k_bad / sizeof k_bad[0]; i++) {
        etp_isa_mask mask, zero;
        memset(&zero, 0, sizeof zero);
        memset(&mask, 0xff, sizeof mask);
        char why[64] = "";
        if (etp_isa_mask_parse(k_bad[i], &mask, why, sizeof why)) {
            fail_msg("accepted '%s'", k_bad[i]);
        }
        assert_true(strncmp(why, "byte ", 5) == 0);
        assert_memory_equal(&mask, &zero, sizeof mask);
    }
    etp_isa_mask mask;
    assert_false(etp_isa_mask_parse("x", &mask, NULL, 0));
}

static void cpus(void **state)
{
    etp_isa_cpu cpu;
    char why[256] = "", text[ETP_ISA_TEXT_MAX];
    static const char k_arm[] =
        "aarch64:hwcap=0xb01fefbffffb,hwcap2=0x7fff9fe43fc761bd,midr=0x410fd8c0,kernel=6.17";
    assert_true(etp_isa_cpu_parse(k_arm, &cpu, why, sizeof why));
    assert_int_equal(cpu.midr, 0x410fd8c0);
    assert_int_equal(cpu.kernel_minor, 17);
    assert_int_equal(etp_isa_best(&cpu), ETP_LEVEL_SME2);
    (void)etp_isa_cpu_format(&cpu, text, sizeof text);
    assert_string_equal(text, k_arm);
    static const char *const k_bad[] = {
        "x86_64:avx",
        "x86_64:kernel=6,avx",
        "x86_64:kernel=6.1",
        "x86_64:kernel=6.1,",
        "x86_64:kernel=123456.1,avx",
        "aarch64:hwcap=0x1,hwcap2=0x1",
        "aarch64:hwcap=0x1,hwcap2=0x1,midr=0x111112222,kernel=6.1",
        "aarch64:hwcap=0x1,hwcap2=0x1,midr=0x1,kernel=6.1 ",
    };
    for (size_t i = 0; i < sizeof k_bad / sizeof k_bad[0]; i++) {
        if (etp_isa_cpu_parse(k_bad[i], &cpu, why, sizeof why)) {
            fail_msg("accepted '%s'", k_bad[i]);
        }
    }
}
