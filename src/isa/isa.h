// SPDX-License-Identifier: Apache-2.0
// CPU-feature levels: which there are, what each hides from the SDK, what a
// given CPU can be switched to, and what an operator name proves. libc only.
#ifndef ETP_ISA_ISA_H
#define ETP_ISA_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum etp_isa_family { ETP_ISA_NONE = 0, ETP_ISA_AARCH64, ETP_ISA_X86_64 } etp_isa_family;

// Features that can be hidden one by one, the newest first: X(ID, name, family).
#define ETP_FEATURES(X)                       \
    X(SME2, "sme2", AARCH64)                  \
    X(SME, "sme", AARCH64)                    \
    X(SVE2, "sve2", AARCH64)                  \
    X(SVE, "sve", AARCH64)                    \
    X(BF16, "bf16", AARCH64)                  \
    X(I8MM, "i8mm", AARCH64)                  \
    X(FHM, "fhm", AARCH64)                    \
    X(DOT, "dotprod", AARCH64)                \
    X(HALF, "fp16", AARCH64)                  \
    X(AMX, "amx", X86_64)                     \
    X(AVX10_2, "avx10.2", X86_64)             \
    X(AVX512_FP16, "avx512fp16", X86_64)      \
    X(AVX512_BF16, "avx512bf16", X86_64)      \
    X(AVX512_VNNI, "avx512vnni", X86_64)      \
    X(GFNI, "gfni", X86_64)                   \
    X(AVX_VNNI_INT16, "avxvnniint16", X86_64) \
    X(AVX_VNNI_INT8, "avxvnniint8", X86_64)   \
    X(AVX_VNNI, "avxvnni", X86_64)            \
    X(AVX_NE_CONVERT, "avxneconvert", X86_64) \
    X(AVX512, "avx512", X86_64)               \
    X(AVX2, "avx2", X86_64)                   \
    X(FMA, "fma", X86_64)                     \
    X(F16C, "f16c", X86_64)                   \
    X(AVX, "avx", X86_64)

typedef enum etp_isa_feature {
#define ETP_FEATURE_ID(id, name, family) ETP_HAS_##id,
    ETP_FEATURES(ETP_FEATURE_ID)
#undef ETP_FEATURE_ID
        ETP_HAS_COUNT
} etp_isa_feature;

// A level is a set of features that are hidden. In order within a family: nothing hidden, all but
// one feature ("-sme2"), then the steps of the ladder, best first. The values are not stored
// anywhere.
typedef enum etp_level {
    ETP_LEVEL_NONE = 0,
    ETP_LEVEL_BEST_AARCH64, // nothing hidden
    ETP_LEVEL_BEST_X86_64,
#define ETP_LEVEL_ID(id, name, family) ETP_LEVEL_WITHOUT_##id,
    ETP_FEATURES(ETP_LEVEL_ID)
#undef ETP_LEVEL_ID
        ETP_LEVEL_SME2,
    ETP_LEVEL_SME1,
    ETP_LEVEL_NEON,
    ETP_LEVEL_DOTPROD,
    ETP_LEVEL_BASE,
    ETP_LEVEL_AMX,
    ETP_LEVEL_FP16,
    ETP_LEVEL_VNNI,
    ETP_LEVEL_AVX512,
    ETP_LEVEL_AVX2,
    ETP_LEVEL_SSE,
    ETP_LEVEL_COUNT
} etp_level;

// x86 features are the flags of cpuinfo's `cpuinfo_isa` in its order; the index
// of a flag is its byte offset there (ExecuTorch 1.5.1, x86-64).
#define ETP_X86_FLAGS 85
typedef struct etp_x86_set {
    uint64_t bits[2];
} etp_x86_set;

// What is taken away. Bits of the other family are zero.
typedef struct etp_isa_mask {
    etp_isa_family family;
    uint64_t hwcap, hwcap2; // aarch64: bits to clear, Linux numbering on every OS
    etp_x86_set x86;        // x86-64: flags to clear
} etp_isa_mask;

// What a CPU has, as the SDK's cpuinfo library would see it with nothing hidden.
typedef struct etp_isa_cpu {
    etp_isa_family family;
    uint64_t hwcap, hwcap2;              // aarch64
    uint32_t midr;                       // aarch64 Linux: last processor's MIDR_EL1, 0 unknown
    uint32_t kernel_major, kernel_minor; // Linux; 0 unknown
    etp_x86_set x86;
} etp_isa_cpu;

typedef struct etp_level_info {
    etp_level level;
    etp_isa_family family;
    const char *name;  // "sme2"
    const char *title; // "SME2 (matrix kernels, second generation)"
    const char *word;  // "SME2": what a headline calls it
} etp_level_info;

// Room for any mask or CPU in text form, with its NUL.
#define ETP_ISA_TEXT_MAX 1024
// Room for any reason given by this room.
#define ETP_ISA_WHY_MAX 256

// The record of a level; NULL for ETP_LEVEL_NONE and values out of range.
const etp_level_info *etp_level_get(etp_level level);
// The level of that name in that family (ETP_ISA_NONE: in any); ETP_LEVEL_NONE if there is none.
// "best" is of both families, "-FEATURE" hides that feature alone.
etp_level etp_level_find(etp_isa_family family, const char *name);
// In front of the level that a build of others is only said to be: nothing was hidden from it. The
// word stands wherever a level's name does, so that what is said is no fact in any form.
#define ETP_LEVEL_SAID "said:"
bool etp_level_is_said(const char *name); // NULL: no
// The name without it.
const char *etp_level_unsaid(const char *name);
// Where a level stands among those that a session compares, the best first. SINGLE: how many of
// them hide one feature alone; several are all compared with the one that hides nothing.
int etp_level_rank(etp_level level, size_t single);
// The level that a word in a name somebody gave stands for. Not "fp16", which is a data type there,
// nor "best".
etp_level etp_level_of_word(const char *word);
// The steps of a family's ladder into `out`, best first; returns their number.
size_t etp_level_list(etp_isa_family family, etp_level out[ETP_LEVEL_COUNT]);
// The levels of a family that hide one feature alone, the newest feature first.
size_t etp_level_list_single(etp_isa_family family, etp_level out[ETP_LEVEL_COUNT]);
// Does the level hide the feature, whether a CPU has it or not?
bool etp_level_hides(etp_level level, etp_isa_feature feature);
// Has the CPU the feature?
bool etp_isa_has(const etp_isa_cpu *cpu, etp_isa_feature feature);
const char *etp_isa_feature_name(etp_isa_feature feature); // "avx512fp16"
// The one that hides the x86 flag FLAG, as masks and `doctor levels` print it; ETP_HAS_COUNT: none.
etp_isa_feature etp_isa_feature_of_flag(const char *flag);
const char *etp_isa_feature_title(etp_isa_feature feature); // "AVX512-FP16"
// The feature that alone is hidden; ETP_HAS_COUNT for other levels.
etp_isa_feature etp_level_without(etp_level level);
bool etp_level_hides_one(etp_level level); // such a level is meant

const char *etp_isa_family_name(etp_isa_family family); // "aarch64", "x86_64", "none"

// The features a level hides: those of every higher level of its family.
etp_isa_mask etp_level_mask(etp_level level);
// The level whose mask is exactly this one, a step of the ladder where one is; else ETP_LEVEL_NONE.
etp_level etp_isa_mask_level(const etp_isa_mask *mask);

// Text form of a mask, the value of ETPROF_MASK:
//   x86_64:none | x86_64:avx512vnni,gfni,... | aarch64:hwcap=0x0,hwcap2=0x2000000000
// format: bytes written without the NUL, 0 if `cap` is too small.
// parse: strict (no blanks, no duplicates, lower case, nothing left over); on
// failure returns false and says why in at most `why_cap` bytes.
size_t etp_isa_mask_format(const etp_isa_mask *mask, char *buf, size_t cap);
bool etp_isa_mask_parse(const char *text, etp_isa_mask *out, char *why, size_t why_cap);

// Text form of a CPU, as in the runner's hello line:
//   x86_64:kernel=6.12,sse3,... | aarch64:hwcap=0x..,hwcap2=0x..,midr=0x..,kernel=6.17
size_t etp_isa_cpu_format(const etp_isa_cpu *cpu, char *buf, size_t cap);
bool etp_isa_cpu_parse(const char *text, etp_isa_cpu *out, char *why, size_t why_cap);

// The CPU this process runs on, from CPUID and XGETBV, getauxval or sysctl.
// On Linux aarch64 it uses the process's getauxval, so a masked process must
// pass the unmasked values itself (etp_isa_cpu_detect_with).
void etp_isa_cpu_detect(etp_isa_cpu *out);
void etp_isa_cpu_detect_with(uint64_t hwcap, uint64_t hwcap2, etp_isa_cpu *out);
// What is left of a CPU under a mask. The families must agree, else nothing is taken away.
etp_isa_cpu etp_isa_cpu_masked(const etp_isa_cpu *cpu, const etp_isa_mask *mask);

// macOS: the sysctl keys that stand for HWCAP bits, word 1 = hwcap, 2 = hwcap2.
typedef struct etp_isa_sysctl {
    const char *name;
    unsigned char word, bit;
} etp_isa_sysctl;

const etp_isa_sysctl *etp_isa_sysctls(size_t *out_count);

typedef struct etp_level_state {
    bool available;            // the CPU has what the level stands for
    bool switchable;           // and hiding the rest changes what the SDK can choose
    char how[ETP_ISA_WHY_MAX]; // what is hidden, or why the level cannot be had
} etp_level_state;

etp_level_state etp_level_state_of(const etp_isa_cpu *cpu, etp_level level);
// Does LEVEL take away nothing that this CPU has?
bool etp_level_hides_nothing(const etp_isa_cpu *cpu, etp_level level);
// True when the operating system offers no SME although the core is known to have it.
bool etp_isa_hides_sme(const etp_isa_cpu *cpu);
// The highest step that the CPU has, or, where that hides something the CPU has, the level that
// hides nothing; ETP_LEVEL_NONE for an unknown family.
etp_level etp_isa_best(const etp_isa_cpu *cpu);
// What `best` is compared with by default: plain SIMD (neon, avx2), or, where
// that is the best itself, the next lower switchable level (NONE if none).
etp_level etp_isa_plain(const etp_isa_cpu *cpu);

// x86 flags by name and by set.
const char *etp_x86_flag_name(size_t index);         // NULL out of range
int etp_x86_flag_find(const char *name, size_t len); // -1 if unknown
bool etp_x86_has(const etp_x86_set *set, size_t index);
void etp_x86_add(etp_x86_set *set, size_t index);

// What a profiled operator's name proves about the kernels behind it.
typedef enum etp_name_proof {
    ETP_PROVES_NOTHING = 0,
    ETP_PROVES_SME,  // PF32, PF16, PQS8, QP8 with F16 and QC8W: an SME kernel, generation 1 or 2
    ETP_PROVES_VNNI, // QDU8 with QC8W: an x86 VNNI kernel
    ETP_PROVES_NOT_VNNI, // a dynamic linear with QD8: on x86-64 no VNNI kernel; elsewhere nothing
} etp_name_proof;

// Tokens count only as whole words: "XPF32" and "PF320" prove nothing.
etp_name_proof etp_isa_name_proof(const char *name, size_t len);

// What the names of a build mean, learned from it: those that operators of every data type had in
// its runner at levels with the feature (SME, VNNI) and at levels without; "; " between. NULL: not
// asked.
typedef struct etp_name_book {
    etp_isa_family family;
    const char *on, *off;
} etp_name_book;

// Has LEVEL the feature that names can show (SME, VNNI)? Where a newer one may take its place (AMX)
// names say nothing, nor where only part of the ladder is hidden.
typedef enum etp_named { ETP_NAMED_UNCLEAR, ETP_NAMED_OFF, ETP_NAMED_ON } etp_named;
etp_named etp_level_named(etp_level level);
// Is WORD "on" or "off"? Then *OUT is what it means for CPU, its best level or plain SIMD;
// ETP_LEVEL_NONE: nothing.
bool etp_isa_stands_for(const etp_isa_cpu *cpu, const char *word, etp_level *out);
// What the name proves in the build that BOOK is of; NULL: in the XNNPACK of ExecuTorch 1.5.1. A
// name that the build also has without the feature proves nothing, nor does another with the token
// that would prove it.
etp_name_proof etp_isa_name_proof_in(const etp_name_book *book, const char *name, size_t len);

#ifdef __cplusplus
}
#endif

#endif
