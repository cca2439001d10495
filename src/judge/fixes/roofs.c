// SPDX-License-Identifier: Apache-2.0
// What next fixes ask of the roofs of the device that the arm ran on.
#include <math.h>
#include <string.h>

#include "judge/fixes/fixes.h"
#include "roofs/roofs.h"

static const etp_roof_place *place_of(const etp_fixer *f, uint32_t op)
{
    const etp_roof_place *places = f->ab->operators[op].roofs;
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
                          .threads = arm->threads ? arm->threads : 1};
    etp_roof_place place;
    etp_roof_place_of(f->ab->roofs, &work, &place);
    return place.roof_ns;
}

double etp_fix_int8_ratio(const etp_fixer *f)
{
    return f->ab->roofs ? products_ns(f, ETP_ROOF_F32) / products_ns(f, ETP_ROOF_I8) : (double)NAN;
}

double etp_fix_product_ns(const etp_fixer *f)
{
    return f->ab->roofs ? products_ns(f, ETP_ROOF_F32) / 1e9 : (double)NAN;
}

double etp_fix_region_ns(const etp_fixer *f, uint32_t threads)
{
    const etp_roof_table *t = f->ab->roofs;
    for (size_t i = 0; t && i < t->n; i++) {
        if (t->items[i].what == ETP_ROOF_REGION && t->items[i].threads == threads &&
            t->items[i].best > 0) {
            return (double)t->items[i].best;
        }
    }
    return NAN;
}
