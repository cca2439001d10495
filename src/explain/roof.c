// SPDX-License-Identifier: Apache-2.0
// Placing operators below the roofs of their device. Every term is a lower bound of the time: what
// cannot be known makes the bound lower, never higher.
#include "explain/roof.h"

#include <math.h>
#include <string.h>

#include "base/choice.h"
#include "roofs/roofs.h"

const char *etp_roof_verdict_name(etp_roof_verdict verdict)
{
    static const char *const k_names[ETP_ROOF_VERDICTS] = {
        [ETP_ROOF_OVERHEAD_BOUND] = "overhead-bound",   [ETP_ROOF_ABOVE_ROOF] = "above-roof",
        [ETP_ROOF_COMPUTE_BOUND] = "compute-bound",     [ETP_ROOF_MEMORY_BOUND] = "memory-bound",
        [ETP_ROOF_BELOW_BANDWIDTH] = "below-bandwidth", [ETP_ROOF_INEFFICIENT] = "inefficient",
    };
    return verdict < ETP_ROOF_VERDICTS ? k_names[verdict] : NULL;
}

// Whether the best kernel that XNNPACK has for W can use the arithmetic WHAT of SET.
static bool has_kernel(const etp_roof_work *w, const etp_roof_set *set, etp_roof_what what)
{
    bool x86 = set->family == ETP_ISA_X86_64, dot = what == ETP_ROOF_DOT_I8;
    if (set->matrix && !w->matrix) {
        return false;
    }
    switch (w->kernel) {
    case ETP_ROOF_KERNEL_DEPTHWISE: // half precision on x86: AVX512-FP16 or else FMA3's vectors of
                                    // 256 bits
        return !dot && !set->matrix && !(w->type == ETP_ROOF_F16 && set->id == ETP_ROOF_ISA_AVX512);
    case ETP_ROOF_KERNEL_QUINT8:
        return x86 ? dot && set->id != ETP_ROOF_ISA_VNNI : !dot && !set->matrix;
    case ETP_ROOF_KERNEL_PRODUCT:
        break;
    }
    return w->type == ETP_ROOF_I8 ? dot : !dot;
}

// Operations per nanosecond of WHAT in instruction sets for which PRODUCTS have a kernel at the
// work's level and threads, or of vectors; 0 unknown.
static double rate_of(const etp_roof_table *t, const etp_roof_work *w, etp_roof_what what,
                      bool products, const char **isa)
{
    double best = 0;
    for (size_t i = 0; i < t->n; i++) {
        const etp_roof *r = &t->items[i];
        const etp_roof_set *set = etp_roof_set_find(r->isa);
        if (r->threads == w->threads && r->what == what && r->unit == ETP_ROOF_OP_S && set &&
            etp_roof_set_at(set, w->level) &&
            (products ? has_kernel(w, set, what) : !set->matrix) && (double)r->best / 1e9 > best) {
            best = (double)r->best / 1e9;
            *isa = r->isa;
        }
    }
    return best;
}

// Of the multiply-accumulates. Half precision can also be computed in single, and so can products
// of eight bits that are widened to lanes of 32: a multiplication and an addition take two
// instructions there, so this is not too slow.
static double product_rate(const etp_roof_table *t, const etp_roof_work *w, const char **isa)
{
    static const etp_roof_what k_what[] = {ETP_ROOF_DOT_I8, ETP_ROOF_FMA_F16, ETP_ROOF_FMA_F32};
    double best = 0;
    for (size_t i = 0; w->type != ETP_ROOF_TYPE_NONE && i < sizeof k_what / sizeof *k_what; i++) {
        bool half = k_what[i] == ETP_ROOF_FMA_F16;
        const char *of = NULL;
        double rate = half && w->type != ETP_ROOF_F16 ? 0 : rate_of(t, w, k_what[i], true, &of);
        *isa = rate > best ? of : *isa;
        best = ETP_MAX(rate, best);
    }
    return best;
}

// Bytes per nanosecond of WHAT for a working set of BYTES: measured with the largest one that is no
// larger, or the smallest there is. FOOTPRINT: bytes of memory for each byte of a measured working
// set.
static double bandwidth(const etp_roof_table *t, uint32_t threads, etp_roof_what what,
                        uint64_t bytes, uint64_t footprint)
{
    const etp_roof *fit = NULL, *least = NULL;
    for (size_t i = 0; i < t->n; i++) {
        const etp_roof *r = &t->items[i];
        if (r->threads != threads || r->what != what || r->unit != ETP_ROOF_BYTE_S ||
            r->best == 0) {
            continue;
        }
        fit = r->bytes <= bytes / footprint && (!fit || r->bytes > fit->bytes) ? r : fit;
        least = !least || r->bytes < least->bytes ? r : least;
    }
    fit = ETP_OR(fit, least);
    return fit ? (double)fit->best / 1e9 : 0;
}

double etp_roof_read_ns(const etp_roof_table *roofs, uint32_t threads, uint64_t bytes)
{
    const etp_roof *under = NULL, *above = NULL; // the nearest measured sets
    for (size_t i = 0; i < roofs->n; i++) {
        const etp_roof *r = &roofs->items[i];
        if (r->threads != threads || r->what != ETP_ROOF_READ || r->unit != ETP_ROOF_BYTE_S ||
            r->best == 0 || r->bytes == 0) {
            continue;
        }
        under = r->bytes <= bytes && (!under || r->bytes > under->bytes) ? r : under;
        above = r->bytes > bytes && (!above || r->bytes < above->bytes) ? r : above;
    }
    if (!under || !above) {
        const etp_roof *only = ETP_OR(under, above);
        return only ? (double)bytes / ((double)only->best / 1e9) : 0;
    }
    double way = log((double)bytes / (double)under->bytes) /
                 log((double)above->bytes / (double)under->bytes);
    double from = 1e9 / (double)under->best, to = 1e9 / (double)above->best; // of a byte
    return (double)bytes * (from + way * (to - from));
}

static double over(double amount, double rate)
{
    return rate > 0 ? amount / rate : 0;
}

// Reading and writing may overlap; what is both read and written cannot be faster than a copy of
// it.
static double memory_ns(const etp_roof_table *t, const etp_roof_work *w)
{
    uint64_t both = ETP_MIN(w->in_bytes, w->out_bytes);
    uint64_t set =
        w->in_bytes > UINT64_MAX - w->out_bytes ? UINT64_MAX : w->in_bytes + w->out_bytes;
    double in = over((double)w->in_bytes, bandwidth(t, w->threads, ETP_ROOF_READ, set, 1));
    double out = over((double)w->out_bytes, bandwidth(t, w->threads, ETP_ROOF_WRITE, set, 1));
    double copied = over((double)both, bandwidth(t, w->threads, ETP_ROOF_COPY, set, 2));
    return ETP_MAX(ETP_MAX(in, out), copied);
}

static double fixed_ns(const etp_roof_table *t, const etp_roof_work *w)
{
    double region = 0, timer = 0;
    for (size_t i = 0; i < t->n; i++) {
        const etp_roof *r = &t->items[i];
        region = r->what == ETP_ROOF_REGION && r->threads == w->threads ? (double)r->best : region;
        timer = r->what == ETP_ROOF_TIMER ? (double)r->median : timer;
    }
    return region + (w->delegated ? ETP_ROOF_TRUNCATION_NS : timer);
}

static bool has_threads(const etp_roof_table *t, uint32_t threads)
{
    bool found = false;
    for (size_t i = 0; i < t->n; i++) {
        found = found || (t->items[i].threads == threads && t->items[i].unit == ETP_ROOF_BYTE_S &&
                          t->items[i].best > 0);
    }
    return found;
}

static etp_roof_verdict judge(const etp_roof_place *p, const etp_roof_work *w)
{
    if (w->ns <= 2 * p->overhead_ns) {
        return ETP_ROOF_OVERHEAD_BOUND;
    }
    if (p->roof_ns > ETP_ROOF_TOLERANCE * (w->ns + w->truncation_ns)) {
        return ETP_ROOF_ABOVE_ROOF;
    }
    if (p->efficiency >= ETP_ROOF_NEAR) {
        return p->compute_ns > p->memory_ns ? ETP_ROOF_COMPUTE_BOUND : ETP_ROOF_MEMORY_BOUND;
    }
    // An exponential counts as one operation: without products the arithmetic is a guess.
    return w->macs == 0 && w->ops > 0 ? ETP_ROOF_BELOW_BANDWIDTH : ETP_ROOF_INEFFICIENT;
}

void etp_roof_place_of(const etp_roof_table *roofs, const etp_roof_work *w, etp_roof_place *out)
{
    const char *isa = NULL, *unused = NULL;
    *out = (etp_roof_place){.roof_ns = (double)NAN, .efficiency = (double)NAN};
    if (!has_threads(roofs, w->threads)) {
        out->missing = "no roof was measured with that many threads";
        return;
    }
    double products = w->macs > 0 ? product_rate(roofs, w, &isa) : 0;
    if (w->macs > 0 && products <= 0) {
        out->missing = "no roof of its data type at this level";
        return;
    }
    double calls = (double)w->calls, others = rate_of(roofs, w, ETP_ROOF_FMA_F32, false, &unused);
    out->isa = isa;
    out->compute_ns = calls * (over(2 * (double)w->macs, products) + over((double)w->ops, others));
    out->memory_ns = calls * memory_ns(roofs, w);
    out->roof_ns = ETP_MAX(out->compute_ns, out->memory_ns);
    out->overhead_ns = calls * fixed_ns(roofs, w);
    if (!(w->ns > 0)) {
        out->missing = "it took no measurable time";
        return;
    }
    out->efficiency = out->roof_ns / w->ns;
    out->verdict = judge(out, w);
}
