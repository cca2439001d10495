// SPDX-License-Identifier: Apache-2.0
// Detection against other witnesses: the flags that the kernel prints, the compiler's own
// detection.
#include <stdio.h>
#include <string.h>

#include "unit.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "isa/isa.h"

#if defined(__x86_64__) && defined(__linux__)
// The kernel's names where they differ from cpuinfo's.
static const char *kernel_name(const char *name)
{
    static const char *const k_pairs[][2] = {
        {"sse3",               "pni"                },
        {"avxvnni",            "avx_vnni"           },
        {"fma3",               "fma"                },
        {"avx512vbmi2",        "avx512_vbmi2"       },
        {"avx512bitalg",       "avx512_bitalg"      },
        {"avx512vpopcntdq",    "avx512_vpopcntdq"   },
        {"avx512vnni",         "avx512_vnni"        },
        {"avx512bf16",         "avx512_bf16"        },
        {"avx512fp16",         "avx512_fp16"        },
        {"avx512vp2intersect", "avx512_vp2intersect"},
        {"sha",                "sha_ni"             },
        {"lzcnt",              "abm"                },
        {"bmi",                "bmi1"               },
        {"cmpxchg16b",         "cx16"               },
        {"lahf_sahf",          "lahf_lm"            },
        {"fs_gs_base",         "fsgsbase"           },
        {"sysenter",           "sep"                },
        {"clflush",            "clflush"            },
        {"misaligned_sse",     "misalignsse"        },
        {"fxsave",             "fxsr"               },
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

#if defined(__x86_64__) && defined(__linux__)
static const char *const k_checked[] = {
    "sse3",       "ssse3",      "sse4_1",      "sse4_2",       "sse4a",
    "avx",        "avxvnni",    "fma3",        "f16c",         "avx2",
    "avx512f",    "avx512cd",   "avx512dq",    "avx512bw",     "avx512vl",
    "avx512ifma", "avx512vbmi", "avx512vbmi2", "avx512bitalg", "avx512vpopcntdq",
    "avx512vnni", "avx512bf16", "avx512fp16",  "amx_bf16",     "amx_tile",
    "amx_int8",   "gfni",       "vaes",        "vpclmulqdq",   "aes",
    "sha",        "popcnt",     "lzcnt",       "bmi",          "bmi2",
    "adx",        "movbe",      "cmpxchg16b",  "lahf_sahf",    "rdrand",
    "rdseed",     "clwb",       "clflushopt",  "rdtscp",       "fxsave",
    "msr",        "clzero",
};

static bool found(const etp_isa_cpu *cpu, const char *name)
{
    int index = etp_x86_flag_find(name, strlen(name));
    assert_true(index >= 0);
    return etp_x86_has(&cpu->x86, (size_t)index);
}

// Is /proc/cpuinfo about the processor that answers CPUID here? Not under an emulator.
static bool is_this_processor(const char *model_name)
{
    unsigned brand[13] = {0};
    const char *name = (const char *)brand;
    for (unsigned i = 0; i < 3; i++) {
        if (!__get_cpuid(0x80000002 + i, &brand[4 * i], &brand[4 * i + 1], &brand[4 * i + 2],
                         &brand[4 * i + 3])) {
            return false;
        }
    }
    name += strspn(name, " ");
    size_t n = strlen(name);
    while (n > 0 && name[n - 1] == ' ') {
        n--;
    }
    const char *colon = strchr(model_name, ':');
    return n > 0 && colon && strncmp(colon + 2, name, n) == 0;
}
#endif

// Kernels switch features off that CPUID goes on showing (errata, mitigations, clearcpuid=): what
// the kernel says is there must be found; what is found may be more.
static void finds_what_the_kernel_says(void **state)
{
#if defined(__x86_64__) && defined(__linux__)
    FILE *f = fopen("/proc/cpuinfo", "r");
    if (f == NULL) {
        print_message("skipped: no /proc/cpuinfo\n");
        skip();
    }
    static char line[65536], model[512];
    while (fgets(line, sizeof line, f) != NULL && strncmp(line, "flags", 5) != 0) {
        if (strncmp(line, "model name", 10) == 0) {
            (void)snprintf(model, sizeof model, "%.500s", line);
        }
    }
    (void)fclose(f);
    etp_isa_cpu cpu;
    etp_isa_cpu_detect(&cpu);
    assert_int_equal(cpu.family, ETP_ISA_X86_64);
    assert_true(cpu.kernel_major > 0);
    if (!is_this_processor(model)) {
        print_message("skipped: /proc/cpuinfo is about another processor (an emulator?)\n");
        skip();
    }
    for (size_t i = 0; i < sizeof k_checked / sizeof k_checked[0]; i++) {
        bool ours = found(&cpu, k_checked[i]), kernels = has_word(line, kernel_name(k_checked[i]));
        if (kernels && !ours) {
            fail_msg("%s: the kernel has it, not found", k_checked[i]);
        }
        if (ours && !kernels) {
            print_message("%s: found, but switched off by the kernel\n", k_checked[i]);
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

// The compiler's library asks CPUID too, by code of its own, and no kernel comes between.
static void agrees_with_the_compiler(void **state)
{
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    __GNUC__ >= 11
    etp_isa_cpu cpu;
    etp_isa_cpu_detect(&cpu);
    __builtin_cpu_init();
#define SAME(ours, theirs)                                                        \
    do {                                                                          \
        if (found(&cpu, ours) != (__builtin_cpu_supports(theirs) != 0)) {         \
            fail_msg("%s: found %d, the compiler's library says otherwise", ours, \
                     found(&cpu, ours));                                          \
        }                                                                         \
    } while (0)
    SAME("sse3", "sse3");
    SAME("ssse3", "ssse3");
    SAME("sse4_1", "sse4.1");
    SAME("sse4_2", "sse4.2");
    SAME("sse4a", "sse4a");
    SAME("avx", "avx");
    SAME("avx2", "avx2");
    SAME("fma3", "fma");
    SAME("f16c", "f16c");
    SAME("avxvnni", "avxvnni");
    SAME("avx512f", "avx512f");
    SAME("avx512cd", "avx512cd");
    SAME("avx512dq", "avx512dq");
    SAME("avx512bw", "avx512bw");
    SAME("avx512vl", "avx512vl");
    SAME("avx512ifma", "avx512ifma");
    SAME("avx512vbmi", "avx512vbmi");
    SAME("avx512vbmi2", "avx512vbmi2");
    SAME("avx512bitalg", "avx512bitalg");
    SAME("avx512vpopcntdq", "avx512vpopcntdq");
    SAME("avx512vnni", "avx512vnni");
    SAME("avx512bf16", "avx512bf16");
    SAME("gfni", "gfni");
    SAME("aes", "aes");
    SAME("sha", "sha");
    SAME("popcnt", "popcnt");
    SAME("lzcnt", "lzcnt");
    SAME("bmi", "bmi");
    SAME("bmi2", "bmi2");
    SAME("adx", "adx");
    SAME("movbe", "movbe");
    SAME("rdseed", "rdseed");
    SAME("rdrand", "rdrnd");
    SAME("clwb", "clwb");
    SAME("clflushopt", "clflushopt");
    SAME("clzero", "clzero");
#undef SAME
#else
    print_message("skipped: this compiler cannot be asked\n");
    skip();
#endif
}
