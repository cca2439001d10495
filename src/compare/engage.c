// SPDX-License-Identifier: Apache-2.0
// Engagement of the operators of one arm, and its sum over work and time.
#include <math.h>

#include "compare/session.h"
#include "explain/sampled.h"

static const char *feature_name(etp_feature feature, etp_level level, etp_level lower)
{
    switch (feature) {
    case ETP_FEATURE_SME:
        return level == ETP_LEVEL_SME2 ? "SME2" : "SME";
    case ETP_FEATURE_VNNI:
        return "VNNI";
    case ETP_FEATURE_X86: {
        // Against a level that hides one feature it is about that one, else what the level is
        // called after; "best" is no feature.
        etp_isa_feature alone = etp_level_without(lower);
        const etp_level_info *info = etp_level_get(level);
        bool best = level == ETP_LEVEL_BEST_X86_64 || level == ETP_LEVEL_BEST_AARCH64;
        if (alone < ETP_HAS_COUNT) {
            return etp_isa_feature_title(alone);
        }
        return best || !info ? NULL : info->word;
    }
    case ETP_FEATURE_NONE:
        break;
    }
    return NULL;
}

// What ran at LEVEL and cannot run at LOWER, as far as samples say: of several classes the one with
// the most of them.
static etp_code seen_at_work(const etp_ab_arm *arm, etp_level lower)
{
    return etp_kernels_most(arm->kernels, etp_kernels_classes(arm->level, lower));
}

// The feature is that of the better of the two levels, and of what it adds that which samples saw
// at work; the arm that is judged may be the other one. False when there is nothing to judge.
static bool choose_feature(const etp_ab *ab, etp_ab_engagement *e, etp_engage_case *common)
{
    const etp_ab_arm *own = &ab->arms[e->arm], *other = &ab->arms[ab->baseline];
    const etp_ab_arm *better = own;
    if (own->level == ETP_LEVEL_NONE && other->level == ETP_LEVEL_NONE) {
        e->feature =
            own->profile ? etp_feature_of_names(own->profile, common->names) : ETP_FEATURE_NONE;
        if (e->feature == ETP_FEATURE_NONE && other->profile) {
            e->feature = etp_feature_of_names(other->profile, common->names);
            common->masked = e->feature != ETP_FEATURE_NONE;
        }
    } else {
        // Levels of one family are numbered from the best down.
        if (other->level != ETP_LEVEL_NONE &&
            (own->level == ETP_LEVEL_NONE || other->level < own->level)) {
            better = other;
        }
        e->feature = etp_feature_of(better->level);
        bool sme = better->level == ETP_LEVEL_BEST_AARCH64 && better->profile &&
                   etp_feature_of_names(better->profile, common->names) == ETP_FEATURE_SME;
        e->feature = sme ? ETP_FEATURE_SME : e->feature;
        common->masked = e->feature != ETP_FEATURE_NONE && etp_feature_of(own->level) != e->feature;
    }
    // Classes that tell the two levels apart; with one level, those of its own.
    etp_level lower = better == own ? other->level : own->level;
    lower = lower == better->level ? ETP_LEVEL_NONE : lower;
    // With nothing hidden anywhere, or models compared at one level whose own code none of them
    // ran, what is asked is how much of the CPU's width was used: operators of AVX-512 and of FMA
    // are not counted together under the name of either.
    static const etp_level k_narrower[] = {ETP_LEVEL_AVX2, ETP_LEVEL_SSE};
    bool best =
        lower == ETP_LEVEL_NONE &&
        (better->level == ETP_LEVEL_BEST_X86_64 ||
         (etp_ab_models_at_one_level(ab) && seen_at_work(better, lower) == ETP_CODE_UNKNOWN));
    for (size_t i = 0; best && i < sizeof k_narrower / sizeof *k_narrower; i++) {
        bool seen = seen_at_work(better, k_narrower[i]) != ETP_CODE_UNKNOWN;
        lower = seen && lower == ETP_LEVEL_NONE ? k_narrower[i] : lower;
    }
    etp_code seen = seen_at_work(better, lower);
    bool vnni = (ETP_VNNI_CODES >> seen & 1) != 0;
    common->classes = etp_kernels_classes(better->level, lower);
    common->covering = etp_kernels_covering(lower);
    // Where VNNI did run, the question stays what of the program it ran, however much else there
    // is.
    bool some =
        etp_kernels_most(better->kernels, ETP_VNNI_CODES & common->classes) != ETP_CODE_UNKNOWN;
    if (seen != ETP_CODE_UNKNOWN && e->feature == ETP_FEATURE_VNNI && !vnni && !some) {
        e->feature = ETP_FEATURE_X86;
    }
    e->feature_name = feature_name(e->feature, better->level, lower);
    // Names can show VNNI and nothing else, whatever the lower level hides beside it.
    bool named = seen == ETP_CODE_UNKNOWN && (common->classes & ETP_VNNI_CODES) &&
                 better->profile &&
                 etp_feature_of_names(better->profile, common->names) == ETP_FEATURE_VNNI;
    if (e->feature == ETP_FEATURE_X86 && named) {
        e->feature = ETP_FEATURE_VNNI;
        e->feature_name = "VNNI";
    }
    if (e->feature == ETP_FEATURE_X86 && seen != ETP_CODE_UNKNOWN) {
        e->feature = vnni ? ETP_FEATURE_VNNI : e->feature;
        e->feature_name = vnni ? "VNNI" : etp_code_title(seen);
    }
    // Nothing was hidden and no sample saw it: the name is only what a build is said to be.
    if (e->feature_name && seen == ETP_CODE_UNKNOWN && etp_level_is_said(better->level_name)) {
        e->feature_name = etp_arena_printf(ab->arena, "%s (said)", e->feature_name);
    }
    common->classes = e->feature == ETP_FEATURE_VNNI ? ETP_VNNI_CODES : common->classes;
    common->lower_level = better->level != ETP_LEVEL_NONE && own->level != better->level;
    common->feature = e->feature;
    return own->profile != NULL;
}

// The run that an arm was measured in; NULL for dumps alone.
static const etp_run *run_of(const etp_ab_session *s, uint32_t arm)
{
    if (s->has_run) {
        return &s->run;
    }
    return arm < 2 && s->sides[arm].dir ? &s->sides[arm].run : NULL;
}

// On a core with SME whose kernel hides it nobody could compare SME levels, and that is the answer.
static void ask_cpu(const etp_ab_session *s, etp_ab_engagement *e, etp_engage_case *common)
{
    const etp_run *run = run_of(s, e->arm);
    const char *text = run ? etp_arena_strdup(s->ab.arena, run->device_cpu) : NULL;
    char why[ETP_ISA_WHY_MAX];
    etp_isa_cpu cpu;
    if (!text || !etp_isa_cpu_parse(text, &cpu, why, sizeof why) || cpu.family != ETP_ISA_AARCH64) {
        return;
    }
    etp_level_state state = etp_level_state_of(&cpu, ETP_LEVEL_SME1);
    if (state.available) {
        return;
    }
    common->cpu_lacks = etp_arena_printf(s->ab.arena, "%s", state.how);
    if (e->feature == ETP_FEATURE_NONE && etp_isa_hides_sme(&cpu)) {
        e->feature = common->feature = ETP_FEATURE_SME;
        e->feature_name = feature_name(ETP_FEATURE_SME, ETP_LEVEL_SME2, ETP_LEVEL_NONE);
    }
}

// ---- operators of the same kernel ----

// XNNPACK chooses a kernel by the kind of operator, its types and layout (all in its name), and
// with one row another than with several; a depthwise one by the size of its window. What was
// sampled in one operator holds for all others of the same configuration, unless one of them mostly
// ran another function.
typedef struct pool {
    etp_str base;
    bool one_row;
    uint32_t window[2]; // of depthwise convolutions
    etp_kernel_op sum;
    bool mixed;
} pool;

typedef struct pools {
    pool *items;
    size_t n, cap;
} pools;

#define MIXED 3u // sure samples from which an operator's own function counts

static pool configuration(const etp_profile_row *row, const etp_row_facts *f)
{
    pool p = {.base = row->parsed.base, .sum = {.kernel = ETP_NO_INDEX}};
    const etp_value *input = etp_row_operand(f, 0), *weight = etp_row_operand(f, 1);
    p.one_row =
        input && row->parsed.category != ETP_CATEGORY_CONVOLUTION && etp_value_is_one_row(input);
    bool windows = weight && etp_op_is_depthwise(&row->parsed) &&
                   weight->kind == ETP_EVALUE_TENSOR && weight->rank == 4;
    for (int i = 0; windows && i < 2; i++) {
        p.window[i] = (uint32_t)weight->dims[1 + i];
    }
    return p;
}

static pool *pool_of(const pools *all, const pool *like)
{
    for (size_t i = 0; i < all->n; i++) {
        pool *p = &all->items[i];
        if (etp_str_eq(p->base, like->base) && p->one_row == like->one_row &&
            p->window[0] == like->window[0] && p->window[1] == like->window[1]) {
            return p;
        }
    }
    return NULL;
}

static void add_sampled(pool *p, const etp_kernel_op *op)
{
    bool own = op->sure >= MIXED && op->kernel != ETP_NO_INDEX;
    p->mixed = p->mixed || (own && p->sum.kernel != ETP_NO_INDEX && p->sum.kernel != op->kernel);
    p->sum.kernel = own && p->sum.kernel == ETP_NO_INDEX ? op->kernel : p->sum.kernel;
    p->sum.sure += op->sure;
    for (size_t k = 0; k < ETP_CODES; k++) {
        p->sum.sure_of[k] += op->sure_of[k];
    }
}

static const etp_row_facts *facts_of(const etp_profile *p, const etp_profile_row *row)
{
    return p->facts && !p->facts->problem ? &p->facts->rows[row - p->rows] : NULL;
}

// COMMON: what holds for every operator of the arm.
static void judge(const etp_ab *ab, const etp_ab_engagement *e, const etp_ab_operator *op,
                  const etp_engage_case *common, const pools *all, etp_engage *out)
{
    const etp_profile *p = ab->arms[e->arm].profile;
    const etp_kernels *k = ab->arms[e->arm].kernels;
    const etp_profile_row *row = op->rows[e->arm];
    if (!row) {
        return;
    }
    etp_engage_case c = *common;
    c.row = row;
    c.facts = facts_of(p, row);
    c.any_delegate = !c.facts || p->facts->any_delegate;
    pool like = configuration(row, c.facts);
    const pool *same = row->kind == ETP_ROW_OPERATOR ? pool_of(all, &like) : NULL;
    c.pool = same && !same->mixed ? &same->sum : NULL;
    c.sampled = k ? etp_kernels_find_op(k, row->name, row->chain, row->instruction) : NULL;
    etp_engage_judge(&c, out);
    if (out->by_samples) {
        etp_strbuf text;
        etp_strbuf_init(&text, ab->arena);
        const etp_kernel_op *from = out->pooled ? c.pool : c.sampled;
        etp_strbuf_printf(&text, "%.0f of %llu program counters sampled inside %s are in %s code",
                          out->on_share * (double)from->sure, (unsigned long long)from->sure,
                          out->pooled ? "operators of the same kernel" : "it", e->feature_name);
        if (from->kernel < k->n_kernels) {
            const etp_kernel *f = &k->kernels[from->kernel];
            etp_strbuf_printf(&text, "; most in %s", f->title);
            if (f->symbol.len) {
                etp_strbuf_printf(&text, " (%s)", etp_code_title(f->code));
            }
        }
        out->evidence = etp_strbuf_str(&text).ptr;
    }
    if (out->by_samples || out->by_symbol) {
        return; // what ran counts, whatever the names of the group's parts
    }
    c.sampled = c.pool = NULL;
    const etp_profile_rows *merged = &op->merged[e->arm];
    for (size_t i = 0; i < merged->n; i++) { // a group that did only part of its work there
        etp_op_name parsed;
        etp_op_parse(merged->items[i]->name, &parsed);
        bool part = out->eligible && parsed.category == row->parsed.category;
        etp_profile_row other = *row;
        etp_engage second;
        other.parsed = parsed;
        c.row = &other;
        etp_engage_judge(&c, &second);
        if (part && second.state != out->state) {
            out->state = ETP_PARTLY_ENGAGED;
            out->reason = ETP_OR(out->reason, second.reason);
        }
    }
}

// ---- sums ----

typedef struct sums {
    double all, on, maybe; // time or MACs: of eligible operators, on the feature, perhaps on it
    bool known;            // for every operator
} sums;

static void add_up(sums *s, double amount, const etp_engage *e, bool of_time)
{
    s->all += amount;
    if (e->state == ETP_ENGAGED) {
        s->on += amount;
    } else if (e->state == ETP_PARTLY_ENGAGED && e->by_samples && of_time) {
        s->on += amount * e->on_share;
    } else if (e->state != ETP_NOT_ENGAGED) {
        s->maybe += amount;
    }
}

// SHARE is the middle of the two when it is known well enough.
static void bounds(const sums *s, double whole, double *lo, double *hi, double *share,
                   double *known)
{
    if (!s->known || whole <= 0) {
        return;
    }
    *lo = s->on / whole;
    *hi = (s->on + s->maybe) / whole;
    *known = 1 - etp_share(s->maybe, s->all);
    *share = etp_value_if(*hi - *lo <= ETP_AB_SHARE_KNOWN, (*lo + *hi) / 2);
}

static void add_operator(etp_ab_engagement *e, const etp_ab_operator *op, const etp_engage *engaged,
                         sums *time, sums *macs)
{
    int64_t ns = op->ns[e->arm] == ETP_NS_UNKNOWN ? 0 : op->ns[e->arm];
    bool on = engaged->state == ETP_ENGAGED;
    e->eligible++;
    e->engaged += on;
    e->row_kernels += on && engaged->reason == ETP_REASON_ROW_KERNEL;
    e->unknown += engaged->state == ETP_ENGAGEMENT_UNKNOWN;
    macs->known = macs->known && op->macs != ETP_AB_NO_MACS;
    add_up(macs, op->macs == ETP_AB_NO_MACS ? 0 : (double)op->macs, engaged, false);
    add_up(time, (double)ns, engaged, true);
    if (engaged->state == ETP_NOT_ENGAGED || engaged->state == ETP_PARTLY_ENGAGED) {
        e->off++;
        e->off_for[engaged->reason].operators++;
        e->off_for[engaged->reason].ns += ns;
    }
}

// The longest first; of equally long ones in the order of the reasons.
static void order_reasons(etp_ab_engagement *e)
{
    for (int reason = 0; reason < ETP_REASON_COUNT; reason++) {
        size_t at = e->n_reasons;
        if (e->off_for[reason].operators == 0) {
            continue;
        }
        for (; at > 0 && e->off_for[e->reasons[at - 1]].ns < e->off_for[reason].ns; at--) {
            e->reasons[at] = e->reasons[at - 1];
        }
        e->reasons[at] = (etp_reason)reason;
        e->n_reasons++;
    }
}

double etp_ab_engage_reach(const etp_ab *ab, double times)
{
    const etp_ab_engagement *e = &ab->engagement;
    double all = 0, unknown = 0;
    for (size_t i = 0; e->feature_name && i < ab->n_operators; i++) {
        const etp_ab_operator *op = &ab->operators[i];
        if (!op->engaged.eligible || op->ns[e->arm] == ETP_NS_UNKNOWN) {
            continue;
        }
        bool few = op->engaged.reason == ETP_REASON_FEW_SAMPLES;
        // One more than was seen: none in one launch does not mean none ever.
        bool reached = few && ((double)op->engaged.seen + 1) * times >= ETP_ENGAGE_SAMPLES;
        all += (double)op->ns[e->arm];
        unknown +=
            op->engaged.state == ETP_ENGAGEMENT_UNKNOWN && !reached ? (double)op->ns[e->arm] : 0;
    }
    return 1 - etp_share(unknown, all);
}

void etp_ab_engage(const etp_ab_session *s, etp_ab_engagement *e, etp_engage *each)
{
    const etp_ab *ab = &s->ab;
    *e = (etp_ab_engagement){.macs_share = NAN,
                             .time_share = NAN,
                             .macs_lo = NAN,
                             .macs_hi = NAN,
                             .time_lo = NAN,
                             .time_hi = NAN,
                             .macs_known = NAN,
                             .time_known = NAN};
    for (size_t i = 0; i < ab->n_operators; i++) {
        each[i] = (etp_engage){.state = ETP_ENGAGEMENT_UNKNOWN};
    }
    etp_engage_case common = {0};
    e->arm = etp_ab_subject(ab);
    if (ab->n_arms > 0 && run_of(s, e->arm)) {
        common.names = etp_ab_name_book(run_of(s, e->arm), ab->arena);
    }
    if (ab->n_arms == 0 || !choose_feature(ab, e, &common)) {
        return;
    }
    for (size_t i = 0; i < s->run.launches.n && s->has_run; i++) {
        const etp_run_launch *l = &s->run.launches.items[i];
        e->sampled += l->kind == ETP_LAUNCH_SAMPLED && l->arm == e->arm;
    }
    if (s->has_run && e->arm < s->run.arms.n) {
        e->sampling = s->run.arms.items[e->arm].sampling;
    }
    ask_cpu(s, e, &common);
    const etp_ab_arm *own = &ab->arms[e->arm];
    etp_isa_cpu cpu;
    bool known = run_of(s, e->arm) && etp_run_cpu(run_of(s, e->arm), ab->arena, &cpu);
    common.may_be_amx = (known || own->level != ETP_LEVEL_NONE) &&
                        etp_names_may_be_amx(own->level, common.names, known ? &cpu : NULL);
    common.sme_elsewhere = etp_feature_of_names(own->profile, common.names) == ETP_FEATURE_SME;
    pools all = {0}; // every operator that was sampled, by configuration
    for (size_t i = 0; own->kernels && i < own->profile->n_rows; i++) {
        const etp_profile_row *row = &own->profile->rows[i];
        const etp_kernel_op *op =
            etp_kernels_find_op(own->kernels, row->name, row->chain, row->instruction);
        if (row->kind != ETP_ROW_OPERATOR || !op) {
            continue;
        }
        pool like = configuration(row, facts_of(own->profile, row));
        pool *found = pool_of(&all, &like);
        if (!found) {
            ETP_ADD(ab->arena, &all, like);
            found = &all.items[all.n - 1];
        }
        add_sampled(found, op);
    }
    sums time = {.known = !ab->emulated}, macs = {.known = true};
    for (size_t i = 0; i < ab->n_operators; i++) {
        judge(ab, e, &ab->operators[i], &common, &all, &each[i]);
        if (each[i].eligible) {
            add_operator(e, &ab->operators[i], &each[i], &time, &macs);
        }
    }
    order_reasons(e);
    if (e->unknown < e->eligible) { // shares of what nothing can tell would be wrong
        bounds(&macs, macs.all, &e->macs_lo, &e->macs_hi, &e->macs_share, &e->macs_known);
        bounds(&time, (double)own->traced_ns, &e->time_lo, &e->time_hi, &e->time_share,
               &e->time_known);
    }
}

const char *etp_ab_engaged_word(etp_engagement e)
{
    static const char *const k_words[ETP_ENGAGEMENTS] = {"engaged", "not", NULL, "partly"};
    return k_words[e];
}
