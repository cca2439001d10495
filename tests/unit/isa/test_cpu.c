// SPDX-License-Identifier: Apache-2.0
// Detection against another witness: the flags that the kernel prints.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "isa/isa.h"

#if defined(__x86_64__) && defined(__linux__)
// The kernel's names where they differ from cpuinfo's.
static const char *kernel_name(const char *name)
{
    static const char *const k_pairs[][2] = {
        {"sse3", "pni"},
        {"avxvnni", "avx_vnni"},
        {"fma3", "fma"},
        {"avx512vbmi2", "avx512_vbmi2"},
        {"avx512bitalg", "avx512_bitalg"},
        {"avx512vpopcntdq", "avx512_vpopcntdq"},
        {"avx512vnni", "avx512_vnni"},
        {"avx512bf16", "avx512_bf16"},
        {"avx512fp16", "avx512_fp16"},
        {"avx512vp2intersect", "avx512_vp2intersect"},
        {"sha", "sha_ni"},
        {"lzcnt", "abm"},
        {"bmi", "bmi1"},
        {"cmpxchg16b", "cx16"},
        {"lahf_sahf", "lahf_lm"},
        {"fs_gs_base", "fsgsbase"},
        {"sysenter", "sep"},
        {"clflush", "clflush"},
        {"misaligned_sse", "misalignsse"},
        {"fxsave", "fxsr"},
    };
    for (size_t i = 0; i < sizeof k_pairs / sizeof k_pairs[0]; i++) {
        if (strcmp(k_pairs[i][0], name) == 0) {
            return k_pairs[i][1];
        }
    }
    return name;
}

static bool has_word(const char *line, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = line; (at = strstr(at, word)) != NULL; at += n) {
        if (at > line && at[-1] == ' ' && (at[n] == ' ' || at[n] == '\n' || at[n] == '\0')) {
            return true;
        }
    }
    return false;
}
#endif

static void agrees_with_the_kernel(void **unused)
{
    (void)unused;
#if defined(__x86_64__) && defined(__linux__)
    static const char *const k_checked[] = {
        "sse3", "ssse3", "sse4_1", "sse4_2", "sse4a", "avx", "avxvnni", "fma3", "f16c", "avx2",
        "avx512f", "avx512cd", "avx512dq", "avx512bw", "avx512vl", "avx512ifma", "avx512vbmi",
        "avx512vbmi2", "avx512bitalg", "avx512vpopcntdq", "avx512vnni", "avx512bf16", "avx512fp16",
        "amx_bf16", "amx_tile", "amx_int8", "gfni", "vaes", "vpclmulqdq", "aes", "sha", "popcnt",
        "lzcnt", "bmi", "bmi2", "adx", "movbe", "cmpxchg16b", "lahf_sahf", "rdrand", "rdseed",
        "clwb", "clflushopt", "rdtscp", "fxsave", "msr", "clzero",
    };
    FILE *f = fopen("/proc/cpuinfo", "r");
    if (f == NULL) {
        print_message("skipped: no /proc/cpuinfo\n");
        skip();
    }
    static char line[65536];
    while (fgets(line, sizeof line, f) != NULL && strncmp(line, "flags", 5) != 0) {
    }
    (void)fclose(f);
    etp_isa_cpu cpu;
    etp_isa_cpu_detect(&cpu);
    assert_int_equal(cpu.family, ETP_ISA_X86_64);
    assert_true(cpu.kernel_major > 0);
    for (size_t i = 0; i < sizeof k_checked / sizeof k_checked[0]; i++) {
        int index = etp_x86_flag_find(k_checked[i], strlen(k_checked[i]));
        assert_true(index >= 0);
        if (etp_x86_has(&cpu.x86, (size_t)index) != has_word(line, kernel_name(k_checked[i]))) {
            fail_msg("%s: found %d, the kernel says otherwise", k_checked[i],
                     (int)etp_x86_has(&cpu.x86, (size_t)index));
        }
    }
#elif defined(__aarch64__) && defined(__linux__)
    etp_isa_cpu cpu;
    etp_isa_cpu_detect(&cpu);
    assert_int_equal(cpu.family, ETP_ISA_AARCH64);
    FILE *f = fopen("/proc/cpuinfo", "r");
    static char line[65536];
    if (f == NULL) {
        print_message("skipped: no /proc/cpuinfo\n");
        skip();
    }
    while (fgets(line, sizeof line, f) != NULL && strncmp(line, "Features", 8) != 0) {
    }
    (void)fclose(f);
    assert_int_equal((cpu.hwcap >> 20 & 1) != 0, has_word(line, "asimddp"));
    assert_int_equal((cpu.hwcap2 >> 13 & 1) != 0, has_word(line, "i8mm"));
    assert_int_equal((cpu.hwcap2 >> 23 & 1) != 0, has_word(line, "sme"));
    assert_int_equal((cpu.hwcap2 >> 37 & 1) != 0, has_word(line, "sme2"));
#else
    print_message("skipped: no second witness on this system\n");
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_the_kernel)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
