// SPDX-License-Identifier: Apache-2.0
// How long one operator took: mean and interval of each arm, its single runs, what was saved.
#include "show/times.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/order.h"

enum { STEPS = 24, RANGE_CHARS = 2 * ETP_NUMBER_CHARS + 8, BLOCKS = 512, RUNS = 1 << 20 };
#define DRAWN_SHARE 0.0005 // of an inference: shorter operators have no picture of their runs

// "630.7 to 735.7 µs", "639.0 µs to 1.202 ms"
static const char *range_text(double lo, double hi, const char *between, char buf[RANGE_CHARS])
{
    char a[ETP_NUMBER_CHARS], b[ETP_NUMBER_CHARS];
    etp_format_ns(lo, a);
    etp_format_ns(hi, b);
    char *unit = strrchr(a, ' '), *other = strrchr(b, ' ');
    if (unit && other && strcmp(unit, other) == 0) {
        *unit = '\0';
    }
    snprintf(buf, RANGE_CHARS, "%s%s%s", a, between, b);
    return buf;
}

// ---- single runs ----

typedef struct runs { // of one arm
    uint64_t *ns;     // etp_order_u64
    size_t n;
} runs;

// Of the row that names the operator alone: runs of several rows cannot be added one by one.
static runs runs_of(const etp_ab *ab, const etp_ab_operator *op, uint32_t arm, etp_arena *arena)
{
    const etp_profile *p = ab->arms[arm].profile;
    size_t n = op->rows[arm] ? (size_t)op->rows[arm]->calls : 0;
    uint64_t *ns = p && n && n <= RUNS ? ETP_NEW_ARRAY(arena, uint64_t, n) : NULL;
    if (!ns) {
        return (runs){0};
    }
    n = etp_profile_samples(p, op->rows[arm], ns, n);
    qsort(ns, n, sizeof *ns, etp_order_u64);
    return (runs){ns, n};
}

// The nearest run, not one between two: these are times that were measured.
static uint64_t part_of(const runs *r, double q)
{
    return r->ns[(size_t)llround(q * (double)(r->n - 1))];
}

typedef struct frame { // all arms' runs on one scale
    double lo, hi;
} frame;

// One scale for all arms, or their pictures could not be compared.
static frame frame_of(const runs *all, size_t n)
{
    frame f = {INFINITY, 0};
    for (size_t i = 0; i < n; i++) {
        if (all[i].n) {
            f.lo = fmin(f.lo, (double)all[i].ns[0]);
            f.hi = fmax(f.hi, (double)part_of(&all[i], 0.98)); // one interrupted run says nothing
        }
    }
    return f;
}

static void draw(etp_keys *keys, const runs *r, const frame *f)
{
    uint64_t counts[STEPS] = {0};
    for (size_t i = 0; i < r->n; i++) {
        double at = ((double)r->ns[i] - f->lo) / (f->hi - f->lo) * (double)STEPS;
        counts[at < (double)STEPS ? (size_t)at : STEPS - 1]++;
    }
    etp_keys_histogram(keys, f->lo, f->hi, counts, STEPS);
}

// "683.2 µs [630.7, 735.7 µs] · half of 300 runs 650.0 to 690.0 µs, all 639.0 µs to 1.202 ms"
static void arm_key(const etp_ab *ab, const etp_ab_operator *op, uint32_t a, const runs *r,
                    etp_keys *keys)
{
    double means[BLOCKS];
    char interval[RANGE_CHARS + 4] = "", half[RANGE_CHARS + 48] = "", buf[RANGE_CHARS],
                                all[RANGE_CHARS];
    // A recording is of one launch, and each block has one traced launch of an arm: means of
    // recordings are values by block.
    const etp_profile *p = ab->arms[a].profile;
    size_t n = 0;
    for (size_t d = 0; p && d < p->n_dumps && n < BLOCKS; d++) {
        if (p->per_dump_executions[d]) {
            means[n++] = (double)etp_ab_recorded_ns(op, a, d) / (double)p->per_dump_executions[d];
        }
    }
    if (n >= 2) {
        etp_interval ci = etp_mean_interval(means, n, ETP_CONFIDENCE);
        if (isfinite(ci.lo) && isfinite(ci.hi)) {
            snprintf(interval, sizeof interval, " [%s]",
                     range_text(fmax(ci.lo, 0), ci.hi, ", ", buf));
        }
    }
    const etp_profile_row *row = op->rows[a];
    range_text((double)row->min_ns, (double)row->max_ns, " to ", all);
    // Fewer runs have no quarters worth a word.
    if (r->n >= 8) {
        snprintf(half, sizeof half, "half of %zu runs %s, all ", r->n,
                 range_text((double)part_of(r, 0.25), (double)part_of(r, 0.75), " to ", buf));
    } else if (row->calls == 1) {
        snprintf(half, sizeof half, "1 run");
        all[0] = '\0';
    } else {
        snprintf(half, sizeof half, "%" PRIu64 " runs ", row->calls);
    }
    // An arm whose name the label begins with needs no other.
    bool renamed = !etp_str_starts(etp_str_from(op->label), op->names[a]);
    etp_keys_add(keys, ETP_PLAIN, ab->arms[a].measured, "%s%s · %s%s%s%.*s",
                 ETP_NS((double)op->ns[a]), interval, half, all, etp_if(renamed, " · as "),
                 renamed ? (int)op->names[a].len : 0, op->names[a].ptr);
}

// ---- what was saved ----

const etp_ledger_row *etp_ab_ledger_row(const etp_ab *ab, size_t comparison, const char *id)
{
    const etp_ledger *l = &ab->ledgers[comparison];
    for (size_t i = 0; i < l->n; i++) {
        if (strcmp(l->items[i].id, id) == 0) {
            return &l->items[i];
        }
    }
    return NULL;
}

// "3.347 µs [1.2, 5.1 µs] · 1.10× [1.02, 1.18]"
static void change_key(const etp_ab *ab, const etp_ab_operator *op, size_t k, etp_keys *keys)
{
    const etp_ledger_row *row = etp_ab_ledger_row(ab, k, op->id);
    char buf[RANGE_CHARS], interval[RANGE_CHARS + 4] = "", ratio[ETP_INTERVAL_CHARS + 8] = "";
    if (!row) {
        return;
    }
    bool range = isfinite(row->ratio_lo) && isfinite(row->ratio_hi);
    if (row->lo_ns != ETP_NS_UNKNOWN) {
        snprintf(interval, sizeof interval, " [%s]",
                 // What was saved is the ledger's difference with its sign turned, so its ends
                 // change places. 0.0 − x has no "−0".
                 range_text(0.0 - (double)row->hi_ns, 0.0 - (double)row->lo_ns, ", ", buf));
    }
    if (isfinite(op->speedup[k]) && range) {
        snprintf(ratio, sizeof ratio, " · %s",
                 ETP_ESTIMATE(op->speedup[k], row->ratio_lo, row->ratio_hi, 2));
    } else if (isfinite(op->speedup[k])) {
        snprintf(ratio, sizeof ratio, " · %.2f×", op->speedup[k]);
    }
    bool several = ab->n_comparisons > 1;
    etp_severity change = etp_ab_row_change(row);
    etp_keys_add(keys, change == ETP_BAD ? ETP_WARN : change, etp_if(!k, "saved"), "%s%s%s%s%s",
                 ETP_NS(0.0 - (double)row->delta_ns), interval, ratio, etp_if(several, " · "),
                 etp_if(several, ab->arms[ab->comparisons[k].candidate].measured));
}

void etp_ab_time_keys(const etp_ab *ab, const etp_ab_operator *op, etp_keys *keys, etp_arena *arena)
{
    runs *all = ETP_NEW_ARRAY(arena, runs, ab->n_arms);
    double largest = 0;
    for (size_t i = 0; all && i < ab->n_arms; i++) {
        uint32_t a = ab->shown[i];
        all[i] = runs_of(ab, op, a, arena);
        double whole = (double)ab->arms[a].traced_ns;
        largest = op->rows[a] && whole > 0 ? fmax(largest, (double)op->ns[a] / whole) : largest;
    }
    frame f = all ? frame_of(all, ab->n_arms) : (frame){0};
    bool drawn = f.hi > f.lo && largest >= DRAWN_SHARE;
    for (size_t i = 0; all && i < ab->n_arms; i++) {
        uint32_t a = ab->shown[i];
        if (op->rows[a]) {
            arm_key(ab, op, a, &all[i], keys);
            if (drawn && all[i].n >= 8) {
                draw(keys, &all[i], &f);
            }
        }
    }
    for (size_t k = 0; k < ab->n_comparisons; k++) {
        if (etp_ab_told(ab, k)) {
            change_key(ab, op, k, keys);
        }
    }
}

etp_severity etp_ab_row_change(const etp_ledger_row *row)
{
    if (etp_ledger_row_slower(row)) {
        return ETP_BAD;
    }
    return etp_ledger_row_faster(row) ? ETP_GOOD : ETP_PLAIN;
}

const etp_severity *etp_ab_operator_changes(const etp_ab *ab, size_t comparison, etp_arena *arena)
{
    // Zeroed memory is ETP_PLAIN: an operator without a row of the ledger did not change beyond
    // doubt.
    etp_severity *of = etp_ab_told(ab, comparison)
                           ? ETP_NEW_ARRAY(arena, etp_severity, ab->n_operators + 1)
                           : NULL;
    const etp_ledger *l = of ? &ab->ledgers[comparison] : NULL;
    for (size_t i = 0; l && i < l->n; i++) {
        if (l->items[i].op != ETP_NO_INDEX) {
            of[l->items[i].op] = etp_ab_row_change(&l->items[i]);
        }
    }
    return of;
}

etp_cell etp_ab_delta_cell(const etp_ab *ab, size_t comparison, int64_t delta_ns)
{
    return etp_cell_if(etp_ab_told(ab, comparison), etp_cell_ns(delta_ns));
}

etp_cell etp_ab_time_cell(etp_arena *arena, double ns)
{
    return isfinite(ns) ? etp_cell_z(etp_arena_printf(arena, "%s", ETP_NS(ns)))
                        : etp_cell_missing();
}
