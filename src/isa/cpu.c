// SPDX-License-Identifier: Apache-2.0
// The CPU of the running process: CPUID on x86-64, the auxiliary vector on
// Linux aarch64, sysctl on macOS.
#include "isa/internal.h"
#include "isa/isa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__linux__)
#include <sys/auxv.h>
#include <sys/utsname.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>
#endif

static const etp_isa_sysctl k_sysctls[] = {
    // One feature for Apple, two bits for Linux: of scalars (FPHP) and of vectors (ASIMDHP).
    {"hw.optional.arm.FEAT_FP16",       1, 9 },
    {"hw.optional.arm.FEAT_FP16",       1, 10},
    {"hw.optional.arm.FEAT_DotProd",    1, 20},
    {"hw.optional.arm.FEAT_FHM",        1, 23},
    {"hw.optional.arm.FEAT_BF16",       2, 14},
    {"hw.optional.arm.FEAT_I8MM",       2, 13},
    {"hw.optional.arm.FEAT_SME",        2, 23},
    {"hw.optional.arm.FEAT_SME2",       2, 37},
    {"hw.optional.arm.FEAT_SME2p1",     2, 38},
    {"hw.optional.arm.SME_I16I32",      2, 39},
    {"hw.optional.arm.SME_BI32I32",     2, 40},
    {"hw.optional.arm.FEAT_SME_B16B16", 2, 41},
    {"hw.optional.arm.FEAT_SME_F16F16", 2, 42},
};

#define SYSCTLS (sizeof k_sysctls / sizeof k_sysctls[0])

const etp_isa_sysctl *etp_isa_sysctls(size_t *out_count)
{
    *out_count = SYSCTLS;
    return k_sysctls;
}

#if defined(__linux__)

static void read_kernel(etp_isa_cpu *cpu)
{
    struct utsname u;
    unsigned major = 0, minor = 0;
    if (uname(&u) == 0 && sscanf(u.release, "%5u.%5u", &major, &minor) == 2) {
        cpu->kernel_major = major;
        cpu->kernel_minor = minor;
    }
}

#if defined(__aarch64__)
// The last processor of /proc/cpuinfo, as cpuinfo takes it. Kernels print the
// parts of MIDR_EL1, one a line.
static uint32_t read_midr(void)
{
    FILE *f = fopen("/proc/cpuinfo", "r");
    if (f == NULL) {
        return 0;
    }
    unsigned implementer = 0, architecture = 0xf, variant = 0, part = 0, revision = 0;
    char line[512];
    while (fgets(line, sizeof line, f) != NULL) {
        const char *colon = strchr(line, ':');
        if (colon == NULL) {
            continue;
        }
        unsigned value = (unsigned)strtoul(colon + 1, NULL, 0);
        if (strncmp(line, "CPU implementer", 15) == 0) {
            implementer = value;
        } else if (strncmp(line, "CPU variant", 11) == 0) {
            variant = value;
        } else if (strncmp(line, "CPU part", 8) == 0) {
            part = value;
        } else if (strncmp(line, "CPU revision", 12) == 0) {
            revision = value;
        }
    }
    (void)fclose(f);
    if (part == 0) {
        return 0;
    }
    return (implementer & 0xffu) << 24 | (variant & 0xfu) << 20 | architecture << 16 |
           (part & 0xfffu) << 4 | (revision & 0xfu);
}
#endif

#elif defined(__APPLE__) && defined(__aarch64__)

static bool sysctl_on(const char *name)
{
    int value = 0;
    size_t size = sizeof value;
    return sysctlbyname(name, &value, &size, NULL, 0) == 0 && value != 0;
}

// The same bits that Linux would report, so that one table serves both.
static void read_sysctl(etp_isa_cpu *cpu)
{
    // Floating point (bit 0) and NEON: every Apple processor has them, and no key says so.
    cpu->hwcap = ETP_HWCAP_ASIMD | 1;
    for (size_t i = 0; i < SYSCTLS; i++) {
        if (sysctl_on(k_sysctls[i].name)) {
            uint64_t bit = UINT64_C(1) << k_sysctls[i].bit;
            if (k_sysctls[i].word == 1) {
                cpu->hwcap |= bit;
            } else {
                cpu->hwcap2 |= bit;
            }
        }
    }
}

#endif

void etp_isa_cpu_detect_with(uint64_t hwcap, uint64_t hwcap2, etp_isa_cpu *out)
{
    memset(out, 0, sizeof *out);
#if defined(__x86_64__)
    out->family = ETP_ISA_X86_64;
    etp_x86_detect(&out->x86);
    (void)hwcap;
    (void)hwcap2;
#elif defined(__aarch64__)
    out->family = ETP_ISA_AARCH64;
    out->hwcap = hwcap;
    out->hwcap2 = hwcap2;
#else
    (void)hwcap;
    (void)hwcap2;
#endif
#if defined(__linux__)
    read_kernel(out);
#if defined(__aarch64__)
    out->midr = read_midr();
#endif
#elif defined(__APPLE__) && defined(__aarch64__)
    read_sysctl(out);
#endif
}

void etp_isa_cpu_detect(etp_isa_cpu *out)
{
#if defined(__linux__) && defined(__aarch64__)
    etp_isa_cpu_detect_with(getauxval(AT_HWCAP), getauxval(AT_HWCAP2), out);
#else
    etp_isa_cpu_detect_with(0, 0, out);
#endif
}
