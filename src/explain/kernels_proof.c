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
// docs/kernels.md. And how often an arm may be contradicted by these alone.
#define STRAY_RATE 2e-4
#define STRAY_RISK 1e-4
#define PLENTY_SHARE 0.05

typedef struct rule {
    etp_level level;
    unsigned own;          // classes that are this level's own
    unsigned forbidden;    // classes that need what it hides
    unsigned allowed_best; // classes whose want contradicts when another arm shows plenty
} rule;

#define BIT(code) (1u << ETP_CODE_##code)
#define WIDE (BIT(AVX512) | BIT(AVX512_VNNI) | BIT(AMX))
#define VEX (BIT(AVX2) | BIT(AVX_VNNI))
#define MATRIX (BIT(SME) | BIT(SME2))

static const rule k_rules[] = {
    {ETP_LEVEL_VNNI,    BIT(AVX512_VNNI) | BIT(AVX_VNNI) | BIT(AMX), 0,                                 WIDE      },
    {ETP_LEVEL_AVX512,  BIT(AVX512),                                 BIT(AVX512_VNNI) | BIT(AMX),       WIDE      },
    {ETP_LEVEL_AVX2,    VEX,                                         WIDE,                              WIDE | VEX},
    {ETP_LEVEL_SSE,     BIT(SSE),                                    WIDE | VEX,                        0         },
    {ETP_LEVEL_SME2,    BIT(SME2),                                   0,                                 MATRIX    },
    {ETP_LEVEL_SME1,    BIT(SME),                                    BIT(SME2),                         MATRIX    },
    {ETP_LEVEL_NEON,    BIT(NEON) | BIT(DOTPROD) | BIT(I8MM),        MATRIX,                            0         },
    {ETP_LEVEL_DOTPROD, BIT(DOTPROD),                                MATRIX | BIT(I8MM),                0         },
    {ETP_LEVEL_BASE,    BIT(NEON),                                   MATRIX | BIT(I8MM) | BIT(DOTPROD), 0         },
};

static const rule *rule_of(etp_level level)
{
    for (size_t i = 0; i < sizeof k_rules / sizeof *k_rules; i++) {
        if (k_rules[i].level == level) {
            return &k_rules[i];
        }
    }
    return NULL;
}

unsigned etp_kernels_classes(etp_level level, etp_level other)
{
    const rule *r = rule_of(level);
    bool sme = level == ETP_LEVEL_SME2 || level == ETP_LEVEL_SME1;
    if (sme && other != ETP_LEVEL_SME1) {
        return MATRIX;
    }
    return r ? r->own : 0;
}

static uint64_t sum(const uint64_t of[ETP_CODES], unsigned classes)
{
    uint64_t n = 0;
    for (unsigned c = 0; c < ETP_CODES; c++) {
        n += classes >> c & 1 ? of[c] : 0;
    }
    return n;
}

static uint64_t count(const etp_kernels *k, unsigned classes)
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
    return c > SOME ? c : SOME;
}

static bool at_least(const etp_kernels *k, uint64_t n, double share)
{
    return n >= SOME && (double)n >= share * (double)k->evidence;
}

// "AVX-512 VNNI 41 %, AVX-512 30 %, SSE 3 %", most first.
static void list_shares(const etp_kernels *k, etp_strbuf *buf)
{
    unsigned said = 0;
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
        etp_strbuf_printf(buf, "%s%s %s %%", said ? ", " : "", etp_code_title((etp_code)best),
                          ETP_DIGITS(100 * (double)k->evidence_of[best] / (double)k->evidence, 3));
        said |= 1u << best;
    }
}

static const etp_kernel *example(const etp_kernels *k, unsigned classes)
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
                                       unsigned classes)
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

bool etp_kernels_too_few(const etp_kernels *k, double times)
{
    return k->evidence > 0 && k->evidence < ENOUGH && (double)k->evidence * times >= ENOUGH;
}

void etp_kernels_judge(const etp_kernels_arm *arms, size_t n_arms, size_t index, etp_arena *arena,
                       etp_proof *proof)
{
    const etp_kernels *k = arms[index].kernels;
    const rule *r = rule_of(arms[index].level);
    if (!k || !r) {
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
    } else if (at_least(k, own, SOME_SHARE)) {
        supports = true;
        etp_strbuf_appendz(&buf,
                           r->forbidden ? "; none that needs more than the level allows" : "");
        say_example(example(k, r->own), &buf);
    } else {
        etp_strbuf_appendz(&buf, "; this model has no kernel of the level's own");
    }
    etp_proof_add(proof, arena,
                  (etp_proof_line){ETP_PROOF_SAMPLES, buf.ptr, supports, contradicts});
}
