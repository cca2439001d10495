// SPDX-License-Identifier: Apache-2.0
// The x86 feature flags in the order of cpuinfo's `cpuinfo_isa`, where each
// comes from in CPUID, and their detection on the running CPU.
#include "isa/internal.h"
#include "isa/isa.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

// Which of the words read from CPUID holds the flag.
typedef enum word {
    W_NONE, // computed by hand in special_flags()
    W_1C,   // leaf 1 ECX
    W_1D,
    W_7B, // leaf 7.0
    W_7C,
    W_7D,
    W_71A, // leaf 7.1
    W_71D,
    W_E1C, // leaf 0x80000001
    W_E1D,
    W_BASIC_OR_EXT_D, // set in leaf 1 or in 0x80000001, EDX
    W_E8B,            // leaf 0x80000008 EBX
    W_COUNT
} word;

// Registers that the operating system must save for the flag to count.
typedef enum state { S_ANY, S_AVX, S_AVX512, S_MPX } state;

typedef struct flag {
    const char *name;
    unsigned char word, bit, state;
} flag;

// The index is the byte offset in `cpuinfo_isa` of ExecuTorch 1.5.1's cpuinfo on
// x86-64. The rules are cpuinfo's, its oddities included: the runner compares
// every byte before it trusts an offset.
static const flag k_flags[ETP_X86_FLAGS] = {
    {"rdtscp",             W_E1D,            27, S_ANY   },
    {"rdpid",              W_7C,             22, S_ANY   },
    {"sysenter",           W_1D,             11, S_ANY   },
    {"msr",                W_BASIC_OR_EXT_D, 5,  S_ANY   },
    {"clzero",             W_E8B,            0,  S_ANY   },
    {"clflush",            W_1D,             19, S_ANY   },
    {"clflushopt",         W_7B,             23, S_ANY   },
    {"mwait",              W_1C,             3,  S_ANY   },
    {"mwaitx",             W_E1C,            29, S_ANY   },
    {"fxsave",             W_BASIC_OR_EXT_D, 24, S_ANY   },
    {"xsave",              W_1C,             26, S_ANY   },
    {"three_d_now",        W_E1D,            31, S_ANY   },
    {"three_d_now_plus",   W_E1D,            30, S_ANY   },
    {"prefetch",           W_NONE,           0,  S_ANY   },
    {"prefetchw",          W_NONE,           0,  S_ANY   },
    {"prefetchwt1",        W_7C,             0,  S_ANY   },
    {"sse3",               W_1C,             0,  S_ANY   },
    {"ssse3",              W_1C,             9,  S_ANY   },
    {"sse4_1",             W_1C,             19, S_ANY   },
    {"sse4_2",             W_1C,             20, S_ANY   },
    {"sse4a",              W_E1C,            6,  S_ANY   },
    {"misaligned_sse",     W_E1C,            7,  S_ANY   },
    {"avx",                W_1C,             28, S_AVX   },
    {"avxvnni",            W_71A,            4,  S_AVX   },
    {"fma3",               W_1C,             12, S_AVX   },
    {"fma4",               W_E1C,            16, S_AVX   },
    {"xop",                W_E1C,            11, S_AVX   },
    {"f16c",               W_1C,             29, S_AVX   },
    {"avx2",               W_7B,             5,  S_AVX   },
    {"avx512f",            W_7B,             16, S_AVX512},
    {"avx512pf",           W_7B,             26, S_AVX512},
    {"avx512er",           W_7B,             27, S_AVX512},
    {"avx512cd",           W_7B,             28, S_AVX512},
    {"avx512dq",           W_7B,             17, S_AVX512},
    {"avx512bw",           W_7B,             30, S_AVX512},
    {"avx512vl",           W_7B,             31, S_AVX512},
    {"avx512ifma",         W_7B,             21, S_AVX512},
    {"avx512vbmi",         W_7C,             1,  S_AVX512},
    {"avx512vbmi2",        W_7C,             6,  S_AVX512},
    {"avx512bitalg",       W_7C,             12, S_AVX512},
    {"avx512vpopcntdq",    W_7C,             14, S_AVX512},
    {"avx512vnni",         W_7C,             11, S_AVX512},
    {"avx512bf16",         W_71A,            5,  S_AVX512},
    {"avx512fp16",         W_7D,             23, S_AVX512},
    {"avx512vp2intersect", W_7D,             8,  S_AVX512},
    {"avx512_4vnniw",      W_7D,             2,  S_AVX512},
    {"avx512_4fmaps",      W_7D,             3,  S_AVX512},
    {"avx10_1",            W_71D,            19, S_AVX512},
    {"avx10_2",            W_NONE,           0,  S_ANY   },
    {"amx_bf16",           W_7D,             22, S_AVX512},
    {"amx_tile",           W_7D,             24, S_AVX512},
    {"amx_int8",           W_7D,             25, S_AVX512},
    {"amx_fp16",           W_71A,            21, S_AVX512},
    {"avx_vnni_int8",      W_71D,            4,  S_AVX   },
    {"avx_vnni_int16",     W_71D,            10, S_AVX   },
    {"avx_ne_convert",     W_71D,            5,  S_AVX   },
    {"hle",                W_7B,             4,  S_ANY   },
    {"rtm",                W_7B,             11, S_ANY   },
    {"xtest",              W_NONE,           0,  S_ANY   },
    {"mpx",                W_7B,             14, S_MPX   },
    {"cmpxchg16b",         W_1C,             13, S_ANY   },
    {"clwb",               W_7B,             24, S_ANY   },
    {"movbe",              W_1C,             22, S_ANY   },
    {"lahf_sahf",          W_E1C,            0,  S_ANY   },
    {"fs_gs_base",         W_7B,             0,  S_ANY   },
    {"lzcnt",              W_E1C,            5,  S_ANY   },
    {"popcnt",             W_1C,             23, S_ANY   },
    {"tbm",                W_E1C,            21, S_ANY   },
    {"bmi",                W_7B,             3,  S_ANY   },
    {"bmi2",               W_7B,             8,  S_ANY   },
    {"adx",                W_7B,             19, S_ANY   },
    {"aes",                W_1C,             25, S_ANY   },
    {"vaes",               W_7C,             9,  S_ANY   },
    {"pclmulqdq",          W_1C,             1,  S_ANY   },
    {"vpclmulqdq",         W_7C,             10, S_ANY   },
    {"gfni",               W_7C,             8,  S_ANY   },
    {"rdrand",             W_1C,             30, S_ANY   },
    {"rdseed",             W_7B,             18, S_ANY   },
    {"sha",                W_7B,             29, S_ANY   },
    {"rng",                W_NONE,           0,  S_ANY   },
    {"ace",                W_NONE,           0,  S_ANY   },
    {"ace2",               W_NONE,           0,  S_ANY   },
    {"phe",                W_NONE,           0,  S_ANY   },
    {"pmm",                W_NONE,           0,  S_ANY   },
    {"lwp",                W_E1C,            15, S_ANY   },
};

const char *etp_x86_flag_name(size_t index)
{
    return index < ETP_X86_FLAGS ? k_flags[index].name : NULL;
}

int etp_x86_flag_find(const char *name, size_t len)
{
    for (int i = 0; i < ETP_X86_FLAGS; i++) {
        if (strlen(k_flags[i].name) == len && memcmp(k_flags[i].name, name, len) == 0) {
            return i;
        }
    }
    return -1;
}

bool etp_x86_has(const etp_x86_set *set, size_t index)
{
    return index < ETP_X86_FLAGS && (set->bits[index / 64] >> (index % 64) & 1) != 0;
}

void etp_x86_add(etp_x86_set *set, size_t index)
{
    if (index < ETP_X86_FLAGS) {
        set->bits[index / 64] |= UINT64_C(1) << (index % 64);
    }
}

bool etp_x86_has_name(const etp_x86_set *set, const char *name)
{
    int index = etp_x86_flag_find(name, strlen(name));
    return index >= 0 && etp_x86_has(set, (size_t)index);
}

#if defined(__x86_64__)

typedef struct regs {
    uint32_t a, b, c, d;
} regs;

static regs cpuid(uint32_t leaf, uint32_t sub)
{
    regs r;
    __cpuid_count(leaf, sub, r.a, r.b, r.c, r.d);
    return r;
}

static uint64_t xgetbv0(void)
{
    uint32_t lo, hi;
    // xgetbv as bytes: the mnemonic needs an assembler flag in some compilers.
    __asm__ volatile(".byte 0x0f, 0x01, 0xd0" : "=a"(lo), "=d"(hi) : "c"(0));
    return (uint64_t)hi << 32 | lo;
}

static bool bit(uint32_t v, unsigned n)
{
    return (v >> n & 1) != 0;
}

static void set_if(etp_x86_set *set, const char *name, bool on)
{
    int index = etp_x86_flag_find(name, strlen(name));
    if (on && index >= 0) {
        etp_x86_add(set, (size_t)index);
    }
}

typedef enum vendor { V_OTHER, V_INTEL, V_AMD, V_VIA } vendor;

static vendor vendor_of(regs leaf0)
{
    char id[13];
    memcpy(id, &leaf0.b, 4);
    memcpy(id + 4, &leaf0.d, 4);
    memcpy(id + 8, &leaf0.c, 4);
    id[12] = '\0';
    if (strcmp(id, "GenuineIntel") == 0) {
        return V_INTEL;
    }
    if (strcmp(id, "AuthenticAMD") == 0 || strcmp(id, "HygonGenuine") == 0) {
        return V_AMD; // cpuinfo treats Hygon as AMD here
    }
    if (strcmp(id, "CentaurHauls") == 0 || strcmp(id, "VIA VIA VIA ") == 0) {
        return V_VIA;
    }
    return V_OTHER;
}

// VIA's own leaves: each unit has a bit for being there and one for being switched on.
static void padlock_flags(etp_x86_set *set)
{
    if (cpuid(0xC0000000, 0).a < 0xC0000001) {
        return;
    }
    uint32_t d = cpuid(0xC0000001, 0).d;
    set_if(set, "rng", bit(d, 2) && bit(d, 3));
    set_if(set, "ace", bit(d, 6) && bit(d, 7));
    set_if(set, "ace2", bit(d, 8) && bit(d, 9));
    set_if(set, "phe", bit(d, 10) && bit(d, 11));
    set_if(set, "pmm", bit(d, 12) && bit(d, 13));
}

static void special_flags(const uint32_t *w, regs leaf0, etp_x86_set *set)
{
    vendor v = vendor_of(leaf0);
    uint32_t c = w[W_E1C], d = w[W_E1D];
    bool now = bit(d, 31) || bit(d, 30);
    if (v == V_AMD) {
        set_if(set, "prefetch", bit(c, 8) || now || bit(d, 29));
    } else if (v != V_INTEL) {
        set_if(set, "prefetch", now);
    }
    set_if(set, "prefetchw", bit(c, 8) || now || (v == V_AMD && bit(d, 29)));
    set_if(set, "xtest", bit(w[W_7B], 4) || bit(w[W_7B], 11));
    // Leaf 0x24 is read whenever leaf 7 exists, as cpuinfo does.
    set_if(set, "avx10_2",
           leaf0.a >= 7 && (cpuid(0x24, 0).b & 0xff) >= 2 && etp_x86_has_name(set, "avx10_1"));
    if (v == V_VIA) {
        padlock_flags(set);
    }
}

void etp_x86_detect(etp_x86_set *out)
{
    memset(out, 0, sizeof *out);
    regs leaf0 = cpuid(0, 0);
    uint32_t top = cpuid(0x80000000, 0).a;
    if (leaf0.a < 1) {
        return;
    }
    regs none = {0, 0, 0, 0};
    regs l1 = cpuid(1, 0);
    regs l7 = leaf0.a >= 7 ? cpuid(7, 0) : none;
    regs l71 = leaf0.a >= 7 ? cpuid(7, 1) : none;
    regs e1 = top >= 0x80000001 ? cpuid(0x80000001, 0) : none;
    regs e8 = top >= 0x80000008 ? cpuid(0x80000008, 0) : none;
    uint32_t w[W_COUNT] = {
        [W_1C] = l1.c,   [W_1D] = l1.d,
        [W_7B] = l7.b,   [W_7C] = l7.c,
        [W_7D] = l7.d,   [W_71A] = l71.a,
        [W_71D] = l71.d, [W_E1C] = e1.c,
        [W_E1D] = e1.d,  [W_BASIC_OR_EXT_D] = l1.d | e1.d,
        [W_E8B] = e8.b,
    };
    uint64_t saved = 0;
    // Without the second XGETBV is no instruction.
    if (bit(l1.c, 26) && bit(l1.c, 27)) { // XSAVE, and switched on by the system
        regs ld = leaf0.a >= 0xD ? cpuid(0xD, 0) : none;
        saved = xgetbv0() & ((uint64_t)ld.d << 32 | ld.a);
    }
    bool has[] = {
        [S_ANY] = true,
        // Bits of XCR0: 1 and 2 SSE and AVX registers, 3 and 4 those of MPX, 5 to 7 the masks and
        // the larger registers of AVX-512.
        [S_AVX] = (saved & 0x6) == 0x6,
        [S_AVX512] = (saved & 0xE6) == 0xE6,
        [S_MPX] = (saved & 0x18) == 0x18,
    };
    for (size_t i = 0; i < ETP_X86_FLAGS; i++) {
        const flag *f = &k_flags[i];
        if (f->word != W_NONE && has[f->state] && bit(w[f->word], f->bit)) {
            etp_x86_add(out, i);
        }
    }
    special_flags(w, leaf0, out);
}

#else

void etp_x86_detect(etp_x86_set *out)
{
    memset(out, 0, sizeof *out);
}

#endif
