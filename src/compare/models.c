// SPDX-License-Identifier: Apache-2.0
// Whether two arms are of two models that have nothing to do with each other.
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "compare/session.h"

// Below these parts of the larger one, what two models have in common is chance.
#define COMMON_PRODUCTS 0.5
#define COMMON_MACS 0.1

typedef struct products { // operators that multiply and accumulate
    size_t n, of[ETP_CATEGORY_COUNT];
    size_t others;  // all other operators
    bool hides;     // calls that logged nothing, or spans that are withheld
    bool strange;   // names that are not understood
    uint64_t *macs; // etp_order_u64; of those whose work is known
    size_t n_macs;
    double all_macs;
} products;

static products products_of(const etp_profile *p, etp_arena *arena)
{
    products out = {.macs = ETP_NEW_ARRAY(arena, uint64_t, p->n_rows + 1)};
    const bool joined = p->facts && !p->facts->problem;
    out.hides = p->parts_withheld || p->overlapping_ns > 0;
    for (size_t i = 0; i < p->n_rows; i++) {
        const etp_profile_row *row = &p->rows[i];
        const bool is_operator = etp_row_is_operator(row->kind);
        out.hides = out.hides || row->silent;
        out.strange = out.strange || (is_operator && !row->parsed.known);
        if (!is_operator || !etp_category_multiplies(row->parsed.category)) {
            out.others += is_operator;
            continue;
        }
        const etp_work *work = joined ? &p->facts->rows[i].op.work : NULL;
        out.n++;
        out.of[row->parsed.category]++;
        if (work && work->known && work->macs > 0) {
            out.macs[out.n_macs++] = work->macs;
            out.all_macs += (double)work->macs;
        }
    }
    qsort(out.macs, out.n_macs, sizeof *out.macs, etp_order_u64);
    return out;
}

// Of operators that multiply as much in both.
static double common_macs(const products *x, const products *y)
{
    double sum = 0;
    for (size_t i = 0, k = 0; i < x->n_macs && k < y->n_macs;) {
        const uint64_t a = x->macs[i], b = y->macs[k];
        sum += a == b ? (double)a : 0;
        i += a <= b;
        k += b <= a;
    }
    return sum;
}

// A recipe leaves most products as they are, a width or a batch their number.
static bool unrelated(const etp_profile *p, const etp_profile *q, etp_arena *arena)
{
    const products x = products_of(p, arena), y = products_of(q, arena);
    const double most_macs = ETP_MAX(x.all_macs, y.all_macs);
    const size_t most = ETP_MAX(x.n, y.n);
    // Nothing tells where products may be in what was not logged.
    const bool told = !x.hides && !y.hides && (x.n > 0 || (x.others > 0 && !x.strange)) &&
                      (y.n > 0 || (y.others > 0 && !y.strange));
    size_t common = 0;
    for (size_t c = 0; c < ETP_CATEGORY_COUNT; c++) {
        common += ETP_MIN(x.of[c], y.of[c]);
    }
    bool few = told && (double)common < COMMON_PRODUCTS * (double)most;
    bool known = x.n_macs > 0 && y.n_macs > 0;
    return few && (!known || common_macs(&x, &y) < COMMON_MACS * most_macs);
}

const char *etp_ab_unrelated(const etp_ab *ab)
{
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        const etp_ab_arm *x = &ab->arms[ab->comparisons[i].baseline],
                         *y = &ab->arms[ab->comparisons[i].candidate];
        if (x->profile && y->profile && !etp_ab_one_program(ab, x, y) &&
            unrelated(x->profile, y->profile, ab->arena)) {
            return etp_arena_printf(ab->arena,
                                    "%s and %s are of two different models or methods: the ratio "
                                    "of their times says nothing about a change to either",
                                    x->measured, y->measured);
        }
    }
    return NULL;
}
