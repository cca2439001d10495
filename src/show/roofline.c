// SPDX-License-Identifier: Apache-2.0
// Operators below the roofs of the device, and where they were before.
#include <math.h>
#include <string.h>

#include "show/graph.h"

enum { CEILINGS = 6 };

// Operators have roofs of their own (data types, sizes of the working set): of each instruction set
// the highest is drawn.
typedef struct ceilings {
    const char *isa[CEILINGS];
    double rate[CEILINGS]; // operations per nanosecond
    size_t n;
    double slope; // bytes per nanosecond
} ceilings;

static const etp_work *work_of(const etp_ab_operator *op, uint32_t arm)
{
    const etp_work *w = op->facts ? &op->facts->op.work : NULL;
    bool placed = op->roofs && op->roofs[arm].verdict != ETP_ROOF_UNKNOWN;
    return w && w->known && w->bytes > 0 && w->macs + w->ops > 0 && placed ? w : NULL;
}

// operations ÷ time, with the time as roof ÷ efficiency: it is unknown where the clock does not
// resolve it, and so is the efficiency.
static double rate_of(const etp_ab_operator *op, uint32_t arm, double operations)
{
    const etp_roof_place *p = &op->roofs[arm];
    return p->verdict == ETP_ROOF_UNKNOWN ? (double)NAN : operations / p->roof_ns * p->efficiency;
}

void etp_ab_roofline_section(const etp_ab *ab, etp_report *r)
{
    uint32_t arm = ab->bottleneck_arm;
    ceilings c = {0};
    etp_picture *plane = NULL;
    bool compared = ab->n_comparisons && !ab->emulated && arm != ab->baseline;
    for (size_t i = 0; ab->roofs && i < ab->n_operators; i++) {
        const etp_ab_operator *op = &ab->operators[ab->by_time[i]];
        const etp_work *w = work_of(op, arm);
        if (!w) {
            continue;
        }
        const etp_roof_place *p = &op->roofs[arm];
        // A multiplication with addition is two operations, as rooflines count.
        double operations = 2.0 * (double)w->macs + (double)w->ops;
        if (!plane) {
            etp_report_section(r, 1, "roofline", "Roofline");
            etp_report_text(r,
                            "Each operator of %s at its operations per byte, below what the device "
                            "can do%s. Colours are categories; a roof is the highest of its kind.",
                            ab->arms[arm].measured,
                            etp_if(compared, "; arrows come from where it was before"));
            plane = etp_report_picture(r, "plane");
            etp_picture_text(plane, "title", "Operations per second against operations per byte");
            etp_picture_text(plane, "x_title", "operations per byte");
            etp_picture_text(plane, "y_title", "billion operations per second");
            etp_picture_list(plane, "points");
        }
        if (p->isa && p->compute_ns > 0) {
            const double rate = operations / p->compute_ns;
            size_t at = 0;
            while (at < c.n && strcmp(c.isa[at], p->isa) != 0) {
                at++;
            }
            if (at < CEILINGS) {
                c.isa[at] = p->isa;
                c.rate[at] = at < c.n ? fmax(c.rate[at], rate) : rate;
                c.n = ETP_MAX(c.n, at + 1);
            }
        }
        c.slope = p->memory_ns > 0 ? fmax(c.slope, (double)w->bytes / p->memory_ns) : c.slope;
        etp_picture_item(plane);
        etp_picture_text(plane, "label", op->label);
        etp_picture_link(plane, op->id);
        etp_picture_number(plane, "color", etp_ab_category_color(op->category));
        etp_picture_number(plane, "x", operations / (double)w->bytes);
        etp_picture_number(plane, "y", rate_of(op, arm, operations));
        if (compared) {
            etp_picture_number(plane, "from_y", rate_of(op, ab->baseline, operations));
        }
        etp_picture_end(plane);
    }
    if (!plane) {
        return;
    }
    etp_picture_end(plane);
    etp_picture_list(plane, "roofs");
    for (size_t i = 0; i < c.n || i == 0; i++) { // without a rate, that of memory alone
        etp_picture_item(plane);
        etp_picture_text(plane, "label", c.n ? c.isa[i] : "memory");
        etp_picture_number(plane, "slope", c.slope);
        etp_picture_number(plane, "ceiling", c.rate[i]);
        etp_picture_end(plane);
    }
    etp_picture_end(plane);
    etp_picture_end(plane);
}
