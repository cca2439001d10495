// SPDX-License-Identifier: Apache-2.0
// The whole analysis of a session: iterations → launch values → complete blocks → ratios.
#include "base/choice.h"
#include "stats/internal.h"

#include <math.h>
#include <stdlib.h>

#include "base/guard.h"

typedef struct row { // a sample with its place in the caller's array, for a stable order
    etp_sample sample;
    size_t at;
} row;

typedef struct work {
    const etp_stats_options *options;
    etp_arena *arena;
    etp_stats *out;
    row *rows; // timed, control, traced
    size_t n_rows;
    double *ln, *scratch;    // longest launch; scratch twice that
    const etp_sample **kept; // likewise
    bool *has_timed;         // [n_arms]
} work;

// By block first: blocks, and the launches in one, are then neighbours. Iteration orders the series
// that the warm-up rule reads, the place in the caller's array what is left.
static int by_launch(const void *pa, const void *pb)
{
    const row *a = pa, *b = pb;
    const uint64_t ka[] = {a->sample.block, a->sample.launch,    a->sample.arm,
                           a->sample.use,   a->sample.iteration, a->at};
    const uint64_t kb[] = {b->sample.block, b->sample.launch,    b->sample.arm,
                           b->sample.use,   b->sample.iteration, b->at};
    int order = 0;
    for (size_t i = 0; order == 0 && i < sizeof ka / sizeof *ka; i++) {
        order = ETP_ORDER(ka[i], kb[i]);
    }
    return order;
}

static bool same_launch(const etp_sample *a, const etp_sample *b)
{
    return a->block == b->block && a->launch == b->launch && a->arm == b->arm && a->use == b->use;
}

static etp_status take_rows(work *w, const etp_sample *samples, size_t n, etp_error *err)
{
    w->rows = etp_arena_alloc_raw(w->arena, n, sizeof *w->rows);
    w->has_timed = ETP_NEW_ARRAY(w->arena, bool, w->out->n_arms);
    for (size_t i = 0; i < n; i++) {
        if (samples[i].use == ETP_SAMPLE_UNUSED) {
            continue;
        }
        if (samples[i].arm >= w->out->n_arms) {
            return etp_fail(err, ETP_CORRUPT, "sample %zu: arm %u of %u", i,
                            (unsigned)samples[i].arm, (unsigned)w->out->n_arms);
        }
        if (samples[i].duration_ns == 0 && samples[i].use == ETP_SAMPLE_TRACED) {
            continue; // nothing is computed from it
        }
        if (samples[i].duration_ns == 0) {
            return etp_fail(err, ETP_CORRUPT, "block %u, launch %u: an iteration of 0 ns",
                            (unsigned)samples[i].block, (unsigned)samples[i].launch);
        }
        if (samples[i].use == ETP_SAMPLE_TIMED) {
            w->has_timed[samples[i].arm] = true;
        }
        w->rows[w->n_rows++] = (row){samples[i], i};
    }
    for (size_t i = 1; i < w->n_rows; i++) { // run folders are sorted already
        if (by_launch(&w->rows[i - 1], &w->rows[i]) > 0) {
            qsort(w->rows, w->n_rows, sizeof *w->rows, by_launch);
            break;
        }
    }
    return ETP_OK;
}

static etp_launch_stats one_launch(work *w, const row *rows, size_t n)
{
    etp_launch_stats out = {
        .arm = rows->sample.arm,
        .block = rows->sample.block,
        .launch = rows->sample.launch,
        .control = rows->sample.use == ETP_SAMPLE_CONTROL,
        .iterations = n,
    };
    for (size_t i = 0; i < n; i++) {
        w->ln[i] = log((double)rows[i].sample.duration_ns);
    }
    out.warmup = etp_warmup_find(w->ln, n, w->scratch);
    size_t kept = n - out.warmup.dropped;
    memcpy(w->scratch, w->ln + out.warmup.dropped, kept * sizeof *w->ln);
    out.value_ln = etp_median(w->scratch, kept);
    out.within_ln = 1.4826 * etp_mad(w->scratch, kept);
    // A launch whose iterations hardly differ would call every small jitter a tail: hence 5 % at
    // least.
    double far = out.value_ln + fmax(log(1.05), 5 * out.within_ln);
    for (size_t i = out.warmup.dropped; i < n; i++) {
        out.tail += w->ln[i] > far;
        w->kept[i - out.warmup.dropped] = &rows[i].sample;
    }
    etp_noise_of_launch(w->kept, kept, w->scratch, &out);
    return out;
}

// Mean value of the launches [from, to) of one arm and use; NAN when there is none.
static double block_value(const etp_launch_stats *l, size_t from, size_t to, uint32_t arm,
                          bool control)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = from; i < to; i++) {
        if (l[i].arm == arm && l[i].control == control) {
            sum += l[i].value_ln;
            n++;
        }
    }
    return etp_share(sum, (double)n);
}

static void find_blocks(work *w)
{
    etp_stats *out = w->out;
    const etp_launch_stats *l = out->launches;
    uint32_t n_blocks = 0;
    for (size_t i = 0; i < out->n_launches; i++) {
        n_blocks += i == 0 || l[i].block != l[i - 1].block;
    }
    out->block_numbers = ETP_NEW_ARRAY(w->arena, uint32_t, n_blocks);
    out->block_complete = ETP_NEW_ARRAY(w->arena, bool, n_blocks);
    out->value_ln = etp_arena_alloc_array(w->arena, n_blocks, out->n_arms * sizeof *out->value_ln);
    out->control_ln = ETP_NEW_ARRAY(w->arena, double, n_blocks);
    for (size_t from = 0; from < out->n_launches;) {
        size_t to = from;
        while (to < out->n_launches && l[to].block == l[from].block) {
            to++;
        }
        size_t b = out->n_blocks_seen++;
        double *values = out->value_ln + b * out->n_arms;
        bool complete = true;
        for (uint32_t arm = 0; arm < out->n_arms; arm++) {
            values[arm] = block_value(l, from, to, arm, false);
            complete = complete && (!w->has_timed[arm] || isfinite(values[arm]));
        }
        out->block_numbers[b] = l[from].block;
        out->block_complete[b] = complete;
        *(complete ? &out->blocks : &out->blocks_dropped) += 1;
        // Whichever arm was repeated is its own control: the baseline of the plan, which may not be
        // the one that is asked for now.
        for (uint32_t arm = 0; arm < out->n_arms; arm++) {
            double control = block_value(l, from, to, arm, true);
            if (isfinite(control) && isfinite(values[arm])) {
                // At most one a block: the plan repeats one arm.
                out->control_ln[out->control_blocks++] = values[arm] - control;
                break;
            }
        }
        from = to;
    }
}

// block_numbers ascends, because launches are sorted by block.
static bool in_complete_block(const etp_stats *s, uint32_t block)
{
    size_t low = 0, high = s->n_blocks_seen;
    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;
        if (s->block_numbers[mid] <= block) {
            low = mid;
        } else {
            high = mid;
        }
    }
    return s->block_numbers[low] == block && s->block_complete[low];
}

static void sum_up_arms(etp_stats *out, const double *waited)
{
    for (size_t i = 0; i < out->n_launches; i++) {
        const etp_launch_stats *l = &out->launches[i];
        if (l->control || !in_complete_block(out, l->block)) {
            continue;
        }
        etp_stats_arm *arm = &out->arms[l->arm];
        arm->launches++;
        arm->iterations += l->iterations - l->warmup.dropped;
        arm->warmup_dropped += l->warmup.dropped;
        arm->warmups += l->warmup.kind == ETP_WARM_WARMUP;
        arm->slowdowns += l->warmup.kind == ETP_WARM_SLOWDOWN;
        arm->tail_share += (double)l->tail;
    }
    for (uint32_t a = 0; a < out->n_arms; a++) {
        etp_stats_arm *arm = &out->arms[a];
        double sum = 0;
        for (size_t b = 0; b < out->n_blocks_seen; b++) {
            sum += out->block_complete[b] ? out->value_ln[b * out->n_arms + a] : 0;
        }
        arm->value_ln = etp_value_if(arm->launches > 0, sum / out->blocks);
        double ns = exp(arm->value_ln);
        arm->median_ns = isfinite(ns) && ns < 9.2e18 ? (int64_t)llround(ns) : -1;
        arm->tail_share /= arm->iterations > 0 ? (double)arm->iterations : 1;
        arm->drift_per_block = arm->drift_p = arm->scatter_ln = (double)NAN;
        etp_noise_of_arm(out, a, waited ? waited[a] : (double)NAN, arm);
    }
}

static etp_tail_quantile quantile_of(const double *sorted, size_t n, double q, double confidence)
{
    etp_tail_quantile out = {q, -1, -1, -1};
    size_t lo, hi;
    if (n > 0) {
        out.ns = (int64_t)llround(etp_quantile_sorted(sorted, n, q));
    }
    if (etp_quantile_ranks(n, q, confidence, &lo, &hi)) {
        out.lo_ns = (int64_t)llround(sorted[lo]);
        out.hi_ns = (int64_t)llround(sorted[hi]);
    }
    return out;
}

static void find_quantiles(work *w)
{
    static const double k_q[ETP_TAIL_QUANTILES] = {0.5, 0.9, 0.99};
    etp_stats *out = w->out;
    double *ns = etp_arena_alloc_raw(w->arena, w->n_rows, sizeof *ns);
    for (uint32_t a = 0; a < out->n_arms; a++) {
        size_t n = 0;
        for (size_t i = 0; i < out->n_launches; i++) {
            const etp_launch_stats *l = &out->launches[i];
            if (l->arm != a || l->control || !in_complete_block(out, l->block)) {
                continue;
            }
            for (size_t k = l->warmup.dropped; k < l->iterations; k++) {
                ns[n++] = (double)w->rows[l->first + k].sample.duration_ns;
            }
        }
        etp_sort_doubles(ns, n);
        for (size_t k = 0; k < ETP_TAIL_QUANTILES; k++) {
            out->arms[a].quantiles[k] = quantile_of(ns, n, k_q[k], out->confidence);
        }
    }
}

// How many more blocks until the interval is expected to leave the margin's edge, at the spread
// seen: k ≥ (t·s/distance)², where t depends on k itself.
static uint32_t blocks_to_expect(const etp_stats_comparison *c, double margin)
{
    const etp_paired *p = &c->paired;
    // All launches know the spread better than the ratios alone, if they have more degrees of
    // freedom.
    bool known = c->spread.df > p->blocks - 1.0;
    double sd = known ? sqrt(c->spread.between_var + c->spread.noise_var) : p->sd_ln;
    if (p->verdict != ETP_VERDICT_UNKNOWN) {
        return 0;
    }
    double distance = fabs(fabs(p->mean_ln) - log1p(margin));
    double spread = sd / distance, k = fmax(p->blocks + 1.0, ETP_MIN_BLOCKS);
    // t falls as k grows: the first k that is enough for its own t ends it.
    for (int round = 0; round < 8; round++) {
        double t = etp_t_quantile(0.5 + ETP_CONFIDENCE / 2, k - 1);
        double need = ceil(t * t * spread * spread);
        if (!(need <= 10000)) { // also an unknown spread
            return UINT32_MAX;
        }
        if (need <= k) {
            break;
        }
        k = need;
    }
    return (uint32_t)k - p->blocks;
}

// The launches of ARM in complete blocks, in the order they ran; their time is their number among
// all launches.
static size_t scatter_of(const etp_stats *s, uint32_t arm, etp_shape_launch *out)
{
    size_t n = 0, t = 0;
    for (size_t i = 0; i <= s->n_launches; i++) {
        const etp_launch_stats *l = i < s->n_launches ? &s->launches[i] : NULL;
        for (; t < s->n_traced; t++) {
            const etp_launch_stats *x = &s->traced[t];
            if (l && (x->block > l->block || (x->block == l->block && x->launch > l->launch))) {
                break;
            }
            if (x->arm == arm && in_complete_block(s, x->block)) {
                out[n++] = (etp_shape_launch){x->value_ln, (double)(i + t), true};
            }
        }
        if (l && l->arm == arm && in_complete_block(s, l->block)) {
            out[n++] = (etp_shape_launch){l->value_ln, (double)(i + t), false};
        }
    }
    return n;
}

double etp_stats_block_mean(const etp_stats *s, size_t block)
{
    double sum = 0;
    uint32_t n = 0;
    for (uint32_t a = 0; a < s->n_arms; a++) {
        double value = s->value_ln[block * s->n_arms + a];
        sum += etp_known_or_0(value);
        n += isfinite(value) != 0;
    }
    return etp_value_if(s->block_complete[block], sum / n);
}

static void flag_arms(work *w, double *values, double *times)
{
    etp_stats *out = w->out;
    size_t most = out->n_launches + out->n_traced;
    etp_shape_launch *launches = etp_arena_alloc_raw(w->arena, most, sizeof *launches);
    for (uint32_t a = 0; a < out->n_arms; a++) {
        size_t k = 0;
        for (size_t b = 0; b < out->n_blocks_seen; b++) {
            double value = out->value_ln[b * out->n_arms + a];
            if (out->block_complete[b] && isfinite(value)) {
                times[k] = out->block_numbers[b];
                values[k++] = value;
            }
        }
        etp_flag_input in = {values, times, k, launches, scatter_of(out, a, launches), out->margin};
        etp_find_flags(&in, w->arena, &out->arms[a]);
    }
}

static size_t launches_of(const etp_stats *s, uint32_t arm, double *out)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_launches; i++) {
        if (s->launches[i].arm == arm && !s->launches[i].control) {
            out[n++] = s->launches[i].value_ln;
        }
    }
    return n;
}

static etp_unpaired compare_unpaired(const work *w, const etp_stats_comparison *c)
{
    // One array for both arms: no launch is of two.
    double *a = etp_arena_alloc_raw(w->arena, w->out->n_launches + 1, sizeof *a);
    size_t n_a = launches_of(w->out, c->baseline, a);
    double *b = a + n_a; // what is left is enough for the other arm
    size_t n_b = launches_of(w->out, c->candidate, b);
    return etp_unpaired_of(a, n_a, b, n_b, w->out->confidence, w->arena);
}

// What the clock leaves open of an arm's time over K blocks; a time shorter than that has no ratio.
static double clock_doubt_ln(const work *w, uint32_t arm, size_t k)
{
    double part = etp_clock_doubt(w->options->clock_ns, k) / (double)w->out->arms[arm].median_ns;
    return etp_value_if(part < 0.9, -log1p(-part));
}

static void compare_arms(work *w)
{
    etp_stats *out = w->out;
    out->comparisons = ETP_NEW_ARRAY(w->arena, etp_stats_comparison, out->n_arms);
    double *ratios = ETP_NEW_ARRAY(w->arena, double, out->n_blocks_seen);
    double *times = ETP_NEW_ARRAY(w->arena, double, out->n_blocks_seen);
    const etp_launch_set set = {out->launches, out->n_launches, out->traced, out->n_traced};
    // Flags first: those of a comparison are its arms' flags, which the two calls below may add to.
    flag_arms(w, ratios, times);
    uint32_t n_others = out->n_arms > 1 ? out->n_arms - 1 : 1, base = out->baseline;
    for (uint32_t arm = 0; arm < out->n_arms; arm++) {
        if (arm == base) {
            continue;
        }
        etp_compare_tails(&out->arms[base], &out->arms[arm]);
        etp_compare_scatter(&out->arms[base], &out->arms[arm], out->margin, n_others);
    }
    for (uint32_t arm = 0; arm < out->n_arms; arm++) {
        if (arm == base) {
            continue;
        }
        size_t k = 0;
        for (size_t b = 0; b < out->n_blocks_seen; b++) {
            const double *values = out->value_ln + b * out->n_arms;
            double ratio = values[base] - values[arm];
            if (out->block_complete[b] && isfinite(ratio)) {
                ratios[k++] = ratio;
            }
        }
        etp_stats_comparison *c = &out->comparisons[out->n_comparisons++];
        c->baseline = base;
        c->candidate = arm;
        c->paired = etp_paired_estimate(ratios, k, out->margin, out->confidence, w->options->seed);
        if (w->options->sequential) {
            etp_paired_widen(&c->paired, etp_sequential_widening(k), out->margin);
        }
        if (w->options->clock_ns > 0) {
            double doubt = hypot(clock_doubt_ln(w, base, k), clock_doubt_ln(w, arm, k));
            etp_paired_blur(&c->paired, doubt, out->margin);
        }
        c->spread = etp_spread_of(&set, base, arm, w->arena);
        c->more_blocks = blocks_to_expect(c, out->margin);
        c->flags = out->arms[base].flags | out->arms[arm].flags;
        c->wilcoxon_p = etp_wilcoxon(ratios, k, w->arena);
        c->unpaired = k == 0 ? compare_unpaired(w, c) : (etp_unpaired){.p = (double)NAN};
    }
}

// The mean over the arms cancels what differs between them as the ratio cancels what they share.
static void find_drift(work *w)
{
    etp_stats *out = w->out;
    double *means = ETP_NEW_ARRAY(w->arena, double, out->n_blocks_seen);
    double *times = ETP_NEW_ARRAY(w->arena, double, out->n_blocks_seen);
    size_t k = 0;
    for (size_t b = 0; b < out->n_blocks_seen; b++) {
        double mean = etp_stats_block_mean(out, b);
        if (isfinite(mean)) {
            times[k] = out->block_numbers[b];
            means[k++] = mean;
        }
    }
    etp_drift drift = etp_drift_of(times, means, k, w->arena);
    out->drift_per_block = etp_value_if(k >= 4, expm1(drift.slope));
    out->drift_p = etp_value_if(k >= 4, drift.p);
}

void etp_stats_take_control(etp_stats *part, const etp_stats *whole)
{
    if (!isfinite(part->noise_floor)) {
        part->control = whole->control;
        part->control_blocks = whole->control_blocks;
        part->noise_floor = whole->noise_floor;
        part->control_differs = whole->control_differs;
        etp_noise_of_comparisons(part);
    }
}

static etp_status analyze(const etp_sample *samples, size_t n_samples, uint32_t n_arms,
                          const etp_stats_options *options, etp_arena *arena, etp_stats *out,
                          etp_error *err)
{
    *out = (etp_stats){
        .n_arms = n_arms,
        .baseline = options->baseline,
        .margin = options->margin > 0 ? options->margin : ETP_MARGIN_DEFAULT,
        .confidence = options->confidence > 0 ? options->confidence : ETP_CONFIDENCE,
        .arms = ETP_NEW_ARRAY(arena, etp_stats_arm, n_arms),
    };
    if (out->baseline >= n_arms) {
        return etp_fail(err, ETP_CORRUPT, "baseline %u of %u arms", (unsigned)out->baseline,
                        (unsigned)n_arms);
    }
    work w = {.options = options, .arena = arena, .out = out};
    ETP_TRY(take_rows(&w, samples, n_samples, err));
    bool any = false;
    for (uint32_t a = 0; a < n_arms; a++) {
        any = any || w.has_timed[a];
    }
    if (!any) {
        return etp_fail(err, ETP_UNKNOWN, "there is no timed iteration");
    }
    size_t n_launches = 0, n_traced = 0, longest = 0, start = 0;
    for (size_t i = 1; i <= w.n_rows; i++) {
        if (i == w.n_rows || !same_launch(&w.rows[i].sample, &w.rows[start].sample)) {
            *(w.rows[start].sample.use == ETP_SAMPLE_TRACED ? &n_traced : &n_launches) += 1;
            longest = ETP_MAX(i - start, longest);
            start = i;
        }
    }
    w.ln = etp_arena_alloc_raw(arena, longest, sizeof *w.ln);
    w.scratch = etp_arena_alloc_raw(arena, longest, 2 * sizeof *w.scratch);
    w.kept = etp_arena_alloc_raw(arena, longest, sizeof *w.kept);
    out->launches = ETP_NEW_ARRAY(arena, etp_launch_stats, n_launches);
    out->traced = ETP_NEW_ARRAY(arena, etp_launch_stats, n_traced);
    start = 0;
    for (size_t i = 1; i <= w.n_rows; i++) {
        if (i == w.n_rows || !same_launch(&w.rows[i].sample, &w.rows[start].sample)) {
            etp_launch_stats *l = w.rows[start].sample.use == ETP_SAMPLE_TRACED
                                      ? &out->traced[out->n_traced++]
                                      : &out->launches[out->n_launches++];
            *l = one_launch(&w, w.rows + start, i - start);
            l->first = start;
            start = i;
        }
    }
    find_blocks(&w);
    sum_up_arms(out, options->waited);
    find_quantiles(&w);
    etp_interval ln = etp_mean_interval(out->control_ln, out->control_blocks, out->confidence);
    out->control = (etp_interval){exp(ln.estimate), exp(ln.lo), exp(ln.hi)};
    out->noise_floor = (ln.hi - ln.lo) / 2;
    // Excluding 1 alone happens to 5 % of sound sessions, by a difference that does not matter.
    out->control_differs = ln.lo > log1p(out->margin) || ln.hi < -log1p(out->margin);
    find_drift(&w);
    compare_arms(&w);
    etp_noise_by_cpu(out, ETP_NEW_ARRAY(arena, double, out->n_blocks_seen + 1), options);
    etp_noise_of_comparisons(out);
    return ETP_OK;
}

etp_status etp_stats_analyze(const etp_sample *samples, size_t n_samples, uint32_t n_arms,
                             const etp_stats_options *options, etp_arena *arena, etp_stats *out,
                             etp_error *err)
{
    static const etp_stats_options k_defaults = {0};
    ETP_GUARDED(
        arena, err, "statistics",
        analyze(samples, n_samples, n_arms, options ? options : &k_defaults, arena, out, err));
}

static const struct {
    unsigned flag;
    const char *name, *words;
} k_flags[] = {
    {ETP_FLAG_BIMODAL,    "launches bimodal", "launches fall into two groups of times"},
    {ETP_FLAG_HEAVY_TAIL, "heavy tail",
     "some launches or inferences take far longer than the others"                    },
    {ETP_FLAG_DRIFT,      "drift",            "times move over the session"           },
    {0,                   "",                 ""                                      }
};

// The last row where FLAG is none of them.
static size_t flag_row(unsigned flag)
{
    size_t i = 0;
    while (k_flags[i].flag != 0 && k_flags[i].flag != flag) {
        i++;
    }
    return i;
}

const char *etp_stats_flag_name(unsigned flag)
{
    return k_flags[flag_row(flag)].name;
}

const char *etp_stats_flag_words(unsigned flag)
{
    return k_flags[flag_row(flag)].words;
}
