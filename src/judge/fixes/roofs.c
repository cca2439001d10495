// SPDX-License-Identifier: Apache-2.0
// What next fixes ask of the roofs of the device that the arm ran on.
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "judge/fixes/fixes.h"
#include "judge/judge.h"
#include "roofs/roofs.h"

const etp_roof_table *etp_ab_sound_roofs(const etp_ab *ab)
{
    return ab->roofs_low ? NULL : ab->roofs;
}

void etp_ab_above_roof_findings(const etp_ab_session *s, etp_ab_findings *to)
{
    const etp_ab *ab = &s->ab;
    for (uint32_t a = 0; a < ab->n_arms; a++) {
        const etp_ab_operator *worst;
        double share = etp_ab_above_roof(ab, a, &worst);
        if (share >= ETP_ROOF_MANY) { // NAN: it has no roofs
            ETP_FIND(to, ETP_FINDING_ABOVE_ROOF, ETP_SEVERITY_WARN, worst->id,
                     "the roofs are too low: %.0f %% of %s is in operators that are "
                     "faster than theirs, %s at %.0f %% of it; no fix rests on them. "
                     "Measure them again on a quiet machine: etprof roofs --fresh",
                     100 * share, ab->arms[a].measured, worst->id,
                     100 * worst->roofs[a].efficiency);
        }
    }
}

static const etp_roof_place *place_of(const etp_fixer *f, uint32_t op)
{
    const etp_roof_place *places = etp_ab_sound_roofs(f->ab) ? f->ab->operators[op].roofs : NULL;
    return places && isfinite(places[f->arm].roof_ns) ? &places[f->arm] : NULL;
}

double etp_fix_roof_ns(const etp_fixer *f, uint32_t op)
{
    const etp_roof_place *p = place_of(f, op);
    return p ? p->roof_ns : (double)NAN;
}

double etp_fix_memory_ns(const etp_fixer *f, uint32_t op)
{
    const etp_roof_place *p = place_of(f, op);
    return p && p->memory_ns > 0 ? p->memory_ns : (double)NAN;
}

// Time of many products, nothing to read or write.
static double products_ns(const etp_fixer *f, etp_roof_type type)
{
    const etp_ab_arm *arm = &f->ab->arms[f->arm];
    etp_roof_work work = {.ns = 1,
                          .macs = 1000000000,
                          .calls = 1,
                          .type = type,
                          .matrix = true,
                          .delegated = true,
                          .level = arm->level,
                          .threads = ETP_MAX(arm->threads, 1)};
    etp_roof_place place;
    etp_roof_place_of(f->ab->roofs, &work, &place);
    return place.roof_ns;
}

double etp_fix_int8_ratio(const etp_fixer *f)
{
    return etp_ab_sound_roofs(f->ab) ? products_ns(f, ETP_ROOF_F32) / products_ns(f, ETP_ROOF_I8)
                                     : (double)NAN;
}

double etp_fix_product_ns(const etp_fixer *f)
{
    return etp_ab_sound_roofs(f->ab) ? products_ns(f, ETP_ROOF_F32) / 1e9 : (double)NAN;
}

double etp_fix_region_ns(const etp_fixer *f, uint32_t threads)
{
    const etp_roof_table *t = etp_ab_sound_roofs(f->ab);
    for (size_t i = 0; t && i < t->n; i++) {
        if (t->items[i].what == ETP_ROOF_REGION && t->items[i].threads == threads &&
            t->items[i].best > 0) {
            return (double)t->items[i].best;
        }
    }
    return NAN;
}
