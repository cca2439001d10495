// SPDX-License-Identifier: Apache-2.0
// Did the kernels that were sampled fit the level that an arm claims?
#include "explain/kernels.h"

#include <math.h>

#include "base/number.h"
#include "base/sink.h"

#define ENOUGH 30u       // samples below which nothing is said
#define SOME_SHARE 0.005 // of the evidence; with SOME samples this is no accident
#define SOME 3u
// Samples whose instructions the level hides although it was right, per sample: an upper bound, see
// bench/results.md. And how often an arm may be contradicted by these alone.
#define STRAY_RATE 2e-4
#define STRAY_RISK 1e-4
#define PLENTY_SHARE 0.05

#define BIT(code) ETP_CODE_BIT(ETP_CODE_##code)
#define AMX \
    (BIT(AMX) | BIT(AMX_INT8) | BIT(AMX_BF16) | BIT(AMX_FP16) | BIT(AMX_FP8) | BIT(AMX_TF32))
#define WIDE \
    (BIT(AVX512) | BIT(AVX512_VNNI) | BIT(AVX512_BF16) | BIT(AVX512_FP16) | BIT(AVX10_2) | AMX)
#define VEX                                                                             \
    (BIT(AVX) | BIT(F16C) | BIT(FMA) | BIT(AVX2) | BIT(AVX_VNNI) | BIT(AVX_VNNI_INT8) | \
     BIT(AVX_VNNI_INT16) | BIT(AVX_NE_CONVERT))
#define MATRIX (BIT(SME) | BIT(SME2))

_Static_assert(ETP_CODES <= 64, "a set of classes is an etp_codes");

// The feature that code of a class needs; SSE and NEON need none that can be hidden.
static const struct {
    etp_code code;
    etp_isa_family family;
    etp_isa_feature needs;
} k_needs[] = {
    {ETP_CODE_AVX,            ETP_ISA_X86_64,  ETP_HAS_AVX           },
    {ETP_CODE_F16C,           ETP_ISA_X86_64,  ETP_HAS_F16C          },
    {ETP_CODE_FMA,            ETP_ISA_X86_64,  ETP_HAS_FMA           },
    {ETP_CODE_AVX2,           ETP_ISA_X86_64,  ETP_HAS_AVX2          },
    {ETP_CODE_AVX_VNNI,       ETP_ISA_X86_64,  ETP_HAS_AVX_VNNI      },
    {ETP_CODE_AVX_VNNI_INT8,  ETP_ISA_X86_64,  ETP_HAS_AVX_VNNI_INT8 },
    {ETP_CODE_AVX_VNNI_INT16, ETP_ISA_X86_64,  ETP_HAS_AVX_VNNI_INT16},
    {ETP_CODE_AVX_NE_CONVERT, ETP_ISA_X86_64,  ETP_HAS_AVX_NE_CONVERT},
    {ETP_CODE_GFNI,           ETP_ISA_X86_64,  ETP_HAS_GFNI          },
    {ETP_CODE_AVX512,         ETP_ISA_X86_64,  ETP_HAS_AVX512        },
    {ETP_CODE_AVX512_VNNI,    ETP_ISA_X86_64,  ETP_HAS_AVX512_VNNI   },
    {ETP_CODE_AVX512_BF16,    ETP_ISA_X86_64,  ETP_HAS_AVX512_BF16   },
    {ETP_CODE_AVX512_FP16,    ETP_ISA_X86_64,  ETP_HAS_AVX512_FP16   },
    {ETP_CODE_AVX10_2,        ETP_ISA_X86_64,  ETP_HAS_AVX10_2       },
    {ETP_CODE_AMX,            ETP_ISA_X86_64,  ETP_HAS_AMX           },
    {ETP_CODE_AMX_INT8,       ETP_ISA_X86_64,  ETP_HAS_AMX           },
    {ETP_CODE_AMX_BF16,       ETP_ISA_X86_64,  ETP_HAS_AMX           },
    {ETP_CODE_AMX_FP16,       ETP_ISA_X86_64,  ETP_HAS_AMX           },
    {ETP_CODE_AMX_FP8,        ETP_ISA_X86_64,  ETP_HAS_AMX           },
    {ETP_CODE_AMX_TF32,       ETP_ISA_X86_64,  ETP_HAS_AMX           },
    {ETP_CODE_FP16,           ETP_ISA_AARCH64, ETP_HAS_HALF          },
    {ETP_CODE_DOTPROD,        ETP_ISA_AARCH64, ETP_HAS_DOT           },
    {ETP_CODE_FHM,            ETP_ISA_AARCH64, ETP_HAS_FHM           },
    {ETP_CODE_I8MM,           ETP_ISA_AARCH64, ETP_HAS_I8MM          },
    {ETP_CODE_BF16,           ETP_ISA_AARCH64, ETP_HAS_BF16          },
    {ETP_CODE_SVE,            ETP_ISA_AARCH64, ETP_HAS_SVE           },
    {ETP_CODE_SVE2,           ETP_ISA_AARCH64, ETP_HAS_SVE2          },
    {ETP_CODE_SME,            ETP_ISA_AARCH64, ETP_HAS_SME           },
    {ETP_CODE_SME2,           ETP_ISA_AARCH64, ETP_HAS_SME2          },
};

// What the samples of an arm are held against.
typedef struct rule {
    etp_codes own;          // classes that are this level's own
    etp_codes forbidden;    // classes that need what it hides
    etp_codes allowed_best; // classes whose want contradicts when another arm shows plenty
    etp_codes covering;     // etp_kernels_covering
} rule;

// Classes that need what a level hides.
static etp_codes hidden_classes(etp_level level)
{
    etp_codes hidden = 0;
    for (size_t i = 0; i < sizeof k_needs / sizeof *k_needs; i++) {
        bool hides = etp_level_hides(level, k_needs[i].needs);
        hidden |= hides ? ETP_CODE_BIT(k_needs[i].code) : 0;
    }
    return hidden;
}

static etp_codes classes_of_family(etp_isa_family family)
{
    etp_codes classes = 0;
    for (size_t i = 0; i < sizeof k_needs / sizeof *k_needs; i++) {
        classes |= k_needs[i].family == family ? ETP_CODE_BIT(k_needs[i].code) : 0;
    }
    return classes;
}

// The next lower level of those that lie below each other; the level itself if it is the lowest,
// none if it hides single features.
static etp_level lower_step(etp_level level, etp_isa_family family)
{
    etp_level steps[ETP_LEVEL_COUNT];
    size_t n = etp_level_list(family, steps);
    for (size_t i = 0; i < n; i++) {
        if (steps[i] == level) {
            return i + 1 < n ? steps[i + 1] : level;
        }
    }
    return ETP_LEVEL_NONE;
}

// What a level has that the next lower step has not; what the lowest is left with.
static etp_codes own_classes(etp_level level, etp_isa_family family)
{
    const etp_level lower = lower_step(level, family);
    etp_codes hidden = hidden_classes(level);
    if (lower != ETP_LEVEL_NONE && lower != level) {
        return hidden_classes(lower) & ~hidden;
    }
    if (lower == level) {
        return family == ETP_ISA_X86_64 ? BIT(SSE) : BIT(NEON);
    }
    // No step: everything that can be hidden and is not; without AVX, SSE is what vectors have.
    return (classes_of_family(family) & ~hidden) | (hidden & BIT(AVX) ? BIT(SSE) : 0);
}

etp_codes etp_kernels_covering(etp_level level)
{
    if (!etp_level_hides_one(level)) {
        return 0;
    }
    etp_codes up_to = hidden_classes(level); // the highest hidden class and all below it
    for (unsigned shift = 1; shift < 64; shift *= 2) {
        up_to |= up_to >> shift;
    }
    return classes_of_family(etp_level_get(level)->family) & ~up_to;
}

// False for a level that nothing is known of.
static bool rule_of(etp_level level, rule *out)
{
    const etp_level_info *info = etp_level_get(level);
    if (!info) {
        return false;
    }
    etp_codes hidden = hidden_classes(level);
    *out = (rule){.own = own_classes(level, info->family), .forbidden = hidden};
    out->covering = etp_kernels_covering(level);
    if (level == ETP_LEVEL_NEON) { // all without SME
        out->own = BIT(NEON) | (classes_of_family(info->family) & ~hidden);
    }
    if (info->family == ETP_ISA_AARCH64) {
        out->allowed_best = hidden & BIT(SME) ? 0 : MATRIX;
    } else if (!(hidden & BIT(AVX512))) {
        out->allowed_best = WIDE;
    } else if (!(hidden & BIT(AVX))) {
        out->allowed_best = WIDE | VEX;
    }
    return true;
}

etp_codes etp_kernels_classes(etp_level level, etp_level other)
{
    const etp_level_info *info = etp_level_get(level);
    if (!info) {
        return 0;
    }
    etp_codes hidden = hidden_classes(level), added = hidden_classes(other) & ~hidden;
    if (added) {
        return added;
    }
    bool sme = info->family == ETP_ISA_AARCH64 && !(hidden & BIT(SME));
    return sme && other == ETP_LEVEL_NONE ? MATRIX : own_classes(level, info->family);
}

etp_isa_cpu etp_kernels_usable(const etp_isa_cpu *cpu, etp_codes classes)
{
    etp_isa_cpu usable = *cpu;
    etp_level single[ETP_LEVEL_COUNT];
    size_t n = etp_level_list_single(cpu->family, single);
    for (size_t i = 0; i < n; i++) {
        etp_codes needed = hidden_classes(single[i]);
        if (needed && classes && !(needed & classes)) {
            etp_isa_mask mask = etp_level_mask(single[i]);
            usable = etp_isa_cpu_masked(&usable, &mask);
        }
    }
    return usable;
}

// Nothing that ran is among the level's own classes: it says nothing against the step below.
static void say_none_own(etp_level level, etp_strbuf *text)
{
    const etp_level lower = lower_step(level, etp_level_get(level)->family);
    if (lower != ETP_LEVEL_NONE && lower != level) {
        etp_strbuf_printf(text, "none needs more than level %s, so they do not tell the two apart",
                          etp_level_get(lower)->name);
    } else {
        etp_strbuf_appendz(text, "none needs a feature of the level");
    }
}

static uint64_t sum(const uint64_t of[ETP_CODES], etp_codes classes)
{
    uint64_t n = 0;
    for (unsigned c = 0; c < ETP_CODES; c++) {
        n += classes >> c & 1 ? of[c] : 0;
    }
    return n;
}

static uint64_t count(const etp_kernels *k, etp_codes classes)
{
    return sum(k->evidence_of, classes);
}

uint64_t etp_kernels_strays(uint64_t n)
{
    double mean = STRAY_RATE * (double)n, p = exp(-mean), below = p;
    uint64_t c = 1;
    for (; 1 - below > STRAY_RISK && c < n; c++) { // 1 - below: Poisson's chance of c or more
        p *= mean / (double)c;
        below += p;
    }
    return ETP_MAX(c, SOME);
}

static bool at_least(const etp_kernels *k, uint64_t n, double share)
{
    return n >= SOME && (double)n >= share * (double)k->evidence;
}

// "AVX-512 VNNI 41 %, AVX-512 30 %, SSE 3 %", most first.
static void list_shares(const etp_kernels *k, etp_strbuf *buf)
{
    etp_codes said = 0;
    for (;;) {
        unsigned best = ETP_CODES;
        for (unsigned c = 0; c < ETP_CODES; c++) {
            if (!(said >> c & 1) && k->evidence_of[c] > 0 &&
                (best == ETP_CODES || k->evidence_of[c] > k->evidence_of[best])) {
                best = c;
            }
        }
        if (best == ETP_CODES) {
            return;
        }
        etp_strbuf_printf(buf, "%s%s %s %%", etp_if(said, ", "), etp_code_title((etp_code)best),
                          ETP_DIGITS(100 * (double)k->evidence_of[best] / (double)k->evidence, 3));
        said |= ETP_CODE_BIT(best);
    }
}

static const etp_kernel *example(const etp_kernels *k, etp_codes classes)
{
    for (size_t i = 0; i < k->n_kernels; i++) {
        if (k->kernels[i].evidence && (classes >> k->kernels[i].code & 1)) {
            return &k->kernels[i];
        }
    }
    return NULL;
}

static void say_example(const etp_kernel *k, etp_strbuf *buf)
{
    if (k) {
        etp_strbuf_printf(buf, ", e.g. %s", k->title);
    }
}

// An arm of the same model that shows plenty of CLASSES, or NULL.
static const etp_kernels *shows_plenty(const etp_kernels_arm *arms, size_t n, size_t index,
                                       etp_codes classes)
{
    for (size_t i = 0; i < n; i++) {
        const etp_kernels *k = arms[i].kernels;
        if (i != index && k && arms[i].model == arms[index].model && k->evidence >= ENOUGH &&
            at_least(k, count(k, classes), PLENTY_SHARE)) {
            return k;
        }
    }
    return NULL;
}

etp_code etp_kernels_most(const etp_kernels *k, etp_codes classes)
{
    etp_code most = ETP_CODE_UNKNOWN;
    if (!k || k->evidence < ENOUGH || !at_least(k, count(k, classes), PLENTY_SHARE)) {
        return most;
    }
    for (etp_code c = 0; c < ETP_CODES; c++) {
        bool more = most == ETP_CODE_UNKNOWN || k->evidence_of[c] > k->evidence_of[most];
        most = (classes >> c & 1) != 0 && k->evidence_of[c] > 0 && more ? c : most;
    }
    return most;
}

bool etp_kernels_too_few(const etp_kernels *k, double times)
{
    return k->evidence > 0 && k->evidence < ENOUGH && (double)k->evidence * times >= ENOUGH;
}

void etp_kernels_judge_symbols(const etp_profile *profile, etp_level level, etp_arena *arena,
                               etp_proof *proof)
{
    rule r;
    uint32_t n = 0, own = 0, forbidden = 0;
    etp_str own_example = {0}, forbidden_example = {0};
    if (!rule_of(level, &r)) {
        return;
    }
    for (size_t i = 0; i < profile->n_rows; i++) {
        const etp_profile_row *row = &profile->rows[i];
        etp_code code = etp_kernel_name_code(row->kernel);
        if (row->kind != ETP_ROW_OPERATOR || code == ETP_CODE_UNKNOWN) {
            continue;
        }
        n++;
        if (r.forbidden >> code & 1) {
            forbidden_example = forbidden++ ? forbidden_example : row->kernel;
        } else if (r.own >> code & 1) {
            own_example = own++ ? own_example : row->kernel;
        }
    }
    if (n == 0) {
        return;
    }
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    if (forbidden) {
        etp_strbuf_printf(
            &text, "%u of %u operators logged a micro-kernel that the level hides, e.g. %.*s",
            forbidden, n, ETP_STR_ARG(forbidden_example));
    } else if (own) {
        etp_strbuf_printf(&text, "%u of %u operators logged a micro-kernel of the level, e.g. %.*s",
                          own, n, ETP_STR_ARG(own_example));
    } else {
        etp_strbuf_printf(&text, "%u operators logged their micro-kernels; ", n);
        say_none_own(level, &text);
    }
    etp_proof_add(
        proof, arena,
        (etp_proof_line){ETP_PROOF_SYMBOLS, text.ptr, own > 0 && !forbidden, forbidden > 0});
}

void etp_kernels_judge(const etp_kernels_arm *arms, size_t n_arms, size_t index, etp_arena *arena,
                       etp_proof *proof)
{
    const etp_kernels *k = arms[index].kernels;
    rule of_level, *r = &of_level;
    if (!k || !rule_of(arms[index].level, r)) {
        return;
    }
    bool supports = false, contradicts = false;
    etp_strbuf buf;
    etp_strbuf_init(&buf, arena);
    etp_strbuf_printf(
        &buf, "%llu sampled program counters of XNNPACK: ", (unsigned long long)k->evidence);
    list_shares(k, &buf);
    // Not what the function around may need, but what was about to run.
    uint64_t forbidden = sum(k->ahead_of, r->forbidden), own = count(k, r->own);
    if (k->evidence < ENOUGH) {
        etp_strbuf_appendz(&buf,
                           k->evidence ? "; too few to judge by" : "none; nothing to judge by");
    } else if (forbidden >= etp_kernels_strays(k->evidence) && at_least(k, forbidden, SOME_SHARE)) {
        contradicts = true;
        etp_strbuf_printf(&buf,
                          "; %llu of them were about to run instructions that the level hides",
                          (unsigned long long)forbidden);
        say_example(example(k, r->forbidden), &buf);
    } else if (r->allowed_best && !at_least(k, count(k, r->allowed_best), SOME_SHARE) &&
               shows_plenty(arms, n_arms, index, r->allowed_best)) {
        contradicts = true;
        etp_strbuf_appendz(&buf,
                           "; another arm of this model runs much code that this level allows and "
                           "that is missing here");
    } else if (at_least(k, count(k, r->covering), SOME_SHARE)) {
        etp_strbuf_appendz(&buf, "; code that needs more than the hidden feature may use it too, "
                                 "and samples do not tell");
    } else if (at_least(k, own, SOME_SHARE)) {
        supports = true;
        etp_strbuf_appendz(&buf,
                           etp_if(r->forbidden, "; none that needs more than the level allows"));
        say_example(example(k, r->own), &buf);
    } else {
        etp_strbuf_appendz(&buf, "; ");
        say_none_own(arms[index].level, &buf);
    }
    etp_proof_add(proof, arena,
                  (etp_proof_line){ETP_PROOF_SAMPLES, buf.ptr, supports, contradicts});
}
