// SPDX-License-Identifier: Apache-2.0
// How much launches differ, from all launches of two arms: not only the ones in the ratio, but the
// control and the traced ones too. A block shifts all its launches alike, an arm and the tracer
// shift theirs; what these additive effects leave over is launch-to-launch variance B beside the
// iterations' own share e = π/2 · W/n of each launch.
//
// The weighted residual sum of squares with weights 1/(B + e) has as many degrees of freedom as its
// expectation at the true B; the estimate is the B at which it does (Mandel and Paule). When all e
// are equal that is the residual mean square less e.
#include "stats/internal.h"

#include <math.h>

#include "base/guard.h"

#define KINDS 4 // arm × traced
// Which launches, as bits. A control is of the kind of the baseline's timed launches.
enum { OF_BASELINE, TRACED_BASELINE, OF_CANDIDATE, TRACED_CANDIDATE, CONTROL, GROUPS };
#define BIT(group) (1u << (group))
#define RATIOS (BIT(OF_BASELINE) | BIT(OF_CANDIDATE))
#define TRACED (BIT(TRACED_BASELINE) | BIT(TRACED_CANDIDATE))
#define COMPARED (RATIOS | BIT(CONTROL)) // untraced
#define CANDIDATE (BIT(OF_CANDIDATE) | BIT(TRACED_CANDIDATE))
#define LEAST_NOISE 1e-16  // a launch whose iterations are all equal still has a finite weight
#define ARMS_DIFFER_P 0.05 // each way
#define ALIKE_P 0.025      // each way

typedef struct item {
    uint32_t block;
    unsigned group;
    double x, e;
} item;

typedef struct layout { // which launches enter, and what the additive model leaves over
    const item *items;
    size_t n;
    unsigned groups; // bits
} layout;

typedef struct residual {
    double squares;  // weighted
    double weights2; // Σ weights²
    double df;
    size_t n;
} residual;

// bᵀA⁻¹b of a positive semidefinite system; columns without information are passed over.
static double explained(double a[KINDS][KINDS], double b[KINDS], size_t *out_rank)
{
    double sum = 0;
    double first[KINDS];
    for (size_t i = 0; i < KINDS; i++) {
        first[i] = a[i][i];
    }
    *out_rank = 0;
    for (size_t i = 0; i < KINDS; i++) {
        if (!(a[i][i] > 1e-9 * first[i])) {
            continue;
        }
        *out_rank += 1;
        sum += b[i] * b[i] / a[i][i];
        for (size_t r = i + 1; r < KINDS; r++) {
            double f = a[r][i] / a[i][i];
            for (size_t c = i + 1; c < KINDS; c++) {
                a[r][c] -= f * a[i][c];
            }
            b[r] -= f * b[i];
        }
    }
    return sum;
}

// Adds one block: everything is taken relative to its weighted mean, which is the block's effect.
static void add_block(const layout *l, size_t from, size_t to, double between,
                      double a[KINDS][KINDS], double b[KINDS], residual *out)
{
    double w_sum = 0, x_sum = 0, of_kind[KINDS] = {0}, x_of_kind[KINDS] = {0}, squares = 0;
    size_t n = 0;
    for (size_t i = from; i < to; i++) {
        const item *it = &l->items[i];
        if (!(l->groups >> it->group & 1)) {
            continue;
        }
        double w = 1 / (between + it->e);
        unsigned kind = it->group % CONTROL;
        w_sum += w;
        x_sum += w * it->x;
        of_kind[kind] += w;
        x_of_kind[kind] += w * it->x;
        squares += w * it->x * it->x;
        out->weights2 += w * w;
        n++;
    }
    if (n == 0) {
        return;
    }
    for (size_t r = 0; r < KINDS; r++) {
        for (size_t c = 0; c < KINDS; c++) {
            a[r][c] += (r == c ? of_kind[r] : 0) - of_kind[r] * of_kind[c] / w_sum;
        }
        b[r] += x_of_kind[r] - of_kind[r] * x_sum / w_sum;
    }
    out->squares += squares - x_sum * x_sum / w_sum;
    out->df += (double)n - 1;
    out->n += n;
}

static residual residual_at(const layout *l, double between)
{
    residual out = {0};
    double a[KINDS][KINDS] = {{0}}, b[KINDS] = {0};
    for (size_t from = 0, to = 0; from < l->n; from = to) {
        while (to < l->n && l->items[to].block == l->items[from].block) {
            to++;
        }
        add_block(l, from, to, between, a, b, &out);
    }
    size_t rank;
    out.squares = fmax(out.squares - explained(a, b, &rank), 0);
    out.df -= (double)rank;
    return out;
}

typedef struct component {
    double between; // B
    double noise;   // mean e of a launch that is compared
    double df;      // of between + noise; 0: nothing can be said
    double doubt;   // variance of between
} component;

static component between_of(const item *items, size_t n, unsigned groups)
{
    layout l = {items, n, groups};
    double sum = 0;
    size_t compared = 0;
    for (size_t i = 0; i < n; i++) {
        if (groups & COMPARED & BIT(items[i].group)) {
            sum += items[i].e;
            compared++;
        }
    }
    component out = {.noise = compared > 0 ? sum / (double)compared : 0};
    residual r = residual_at(&l, 0);
    if (!(r.df >= 1)) {
        return out;
    }
    double low = 0, high = LEAST_NOISE;
    while (residual_at(&l, high).squares > r.df && high < 1e6) {
        low = high;
        high *= 4;
    }
    for (int i = 0; i < 50 && r.squares > r.df; i++) { // the sum falls as B grows
        double mid = (low + high) / 2;
        *(residual_at(&l, mid).squares > r.df ? &low : &high) = mid;
    }
    out.between = r.squares > r.df ? (low + high) / 2 : 0;
    residual at = residual_at(&l, out.between);
    double total = out.between + out.noise;
    out.doubt = 2 * (double)at.n / (at.weights2 * at.df);
    out.df = 2 * total * total / out.doubt;
    return out;
}

// GROUPS with MORE, if those launches are as scattered as the ones already in: by F, from what they
// add to the sum of squares. The ratios come first: nothing that contradicts them is taken for
// their spread.
static unsigned with(const item *items, size_t n, unsigned groups, unsigned more)
{
    layout before = {items, n, groups}, after = {items, n, groups | more};
    double between = between_of(items, n, groups).between;
    residual r = residual_at(&before, between), whole = residual_at(&after, between);
    double df = whole.df - r.df, squares = whole.squares - r.squares;
    if (!(df >= 1) || !(r.df >= 1)) {
        return df >= 1 ? groups | more : groups;
    }
    // Where the launches do not differ at all (B = 0), the sum stays below what the iterations
    // explain.
    double p = etp_f_above(squares / df / fmax(r.squares / r.df, 1e-3), df, r.df);
    return p > ALIKE_P && p < 1 - ALIKE_P ? groups | more : groups;
}

static bool arms_alike(const component *a, const component *b)
{
    double f = (a->between + a->noise) / (b->between + b->noise);
    if (a->df < 1 || b->df < 1 || !isfinite(f)) {
        return true; // one of them alone says nothing
    }
    double p = etp_f_above(f, a->df, b->df);
    return p > ARMS_DIFFER_P && p < 1 - ARMS_DIFFER_P;
}

// ---- which launches ----

static bool has_timed(const etp_launch_stats *l, size_t n, uint32_t block, uint32_t arm)
{
    size_t low = 0, high = n; // the first launch of the block
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (l[mid].block < block) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    for (; low < n && l[low].block == block; low++) {
        if (l[low].arm == arm && !l[low].control) {
            return true;
        }
    }
    return false;
}

typedef struct picking {
    const etp_launch_set *set;
    uint32_t baseline, candidate;
    item *items;
    size_t n;
} picking;

static void take(picking *p, const etp_launch_stats *l, unsigned traced)
{
    size_t kept = l->iterations - l->warmup.dropped;
    if ((l->arm != p->baseline && l->arm != p->candidate) ||
        (l->control && l->arm != p->baseline) || kept == 0 ||
        !has_timed(p->set->launches, p->set->n_launches, l->block, p->baseline) ||
        !has_timed(p->set->launches, p->set->n_launches, l->block, p->candidate)) {
        return;
    }
    unsigned arm = l->arm == p->candidate ? 2u : 0u, group = l->control ? CONTROL : arm + traced;
    // the spread inside is averaged over the kind below
    p->items[p->n++] = (item){l->block, group, l->value_ln, (double)kept};
}

etp_spread etp_spread_of(const etp_launch_set *set, uint32_t baseline, uint32_t candidate,
                         etp_arena *scratch)
{
    etp_spread out = {0};
    picking p = {.set = set, .baseline = baseline, .candidate = candidate};
    p.items = ETP_NEW_ARRAY(scratch, item, set->n_launches + set->n_traced + 1);
    double within[KINDS] = {0}, mean[KINDS] = {0};
    size_t count[KINDS] = {0};
    for (size_t i = 0, t = 0; i < set->n_launches || t < set->n_traced;) {
        bool traced = i == set->n_launches ||
                      (t < set->n_traced && set->traced[t].block < set->launches[i].block);
        const etp_launch_stats *l = traced ? &set->traced[t++] : &set->launches[i++];
        size_t before = p.n;
        take(&p, l, traced);
        if (p.n > before) {
            unsigned kind = p.items[before].group % CONTROL;
            within[kind] += l->within_ln * l->within_ln;
            mean[kind] += p.items[before].x;
            count[kind]++;
        }
    }
    for (size_t i = 0; i < p.n; i++) {
        item *it = &p.items[i];
        unsigned kind = it->group % CONTROL;
        double n = (double)count[kind];
        it->x -= mean[kind] / n; // the model does the same; here it keeps the sums from cancelling
        it->e = fmax(1.5707963267948966 * within[kind] / n / it->e, LEAST_NOISE);
    }
    unsigned groups = with(p.items, p.n, with(p.items, p.n, RATIOS, BIT(CONTROL)), TRACED);
    layout l = {p.items, p.n, groups};
    residual r = residual_at(&l, 0);
    for (size_t i = 0; i < p.n; i++) {
        out.blocks += i == 0 || p.items[i].block != p.items[i - 1].block;
    }
    if (out.blocks < 2 || r.n <= 2 * (size_t)out.blocks) {
        return out; // nothing beside the ratios: they say it all
    }
    out.launches = (uint32_t)r.n;
    out.traced = (groups & TRACED) != 0;
    component a = between_of(p.items, p.n, groups & ~CANDIDATE),
              b = between_of(p.items, p.n, groups & CANDIDATE);
    component both = between_of(p.items, p.n, groups);
    out.noise_var = a.noise + b.noise;
    out.between_var = 2 * both.between;
    out.doubt = 4 * both.doubt;
    if (!arms_alike(&a, &b)) {
        out.arms_differ = true;
        out.between_var = a.between + b.between;
        out.doubt = a.doubt + b.doubt;
    }
    out.df = etp_spread_df(&out, out.noise_var);
    return out;
}

etp_status etp_spread_find(const etp_launch_set *set, uint32_t baseline, uint32_t candidate,
                           etp_arena *scratch, etp_spread *out, etp_error *err)
{
    ETP_GUARDED(scratch, err, "launches",
                (*out = etp_spread_of(set, baseline, candidate, scratch), ETP_OK));
}

double etp_spread_df(const etp_spread *s, double noise_var)
{
    double v = s->between_var + noise_var;
    return s->doubt > 0 ? fmax(2 * v * v / s->doubt, 1) : 0;
}
