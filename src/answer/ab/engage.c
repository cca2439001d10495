// SPDX-License-Identifier: Apache-2.0
// Engagement of the operators of one arm, and its sum over work and time.
#include <math.h>
#include <stdlib.h>

#include "answer/ab/session.h"
#include "answer/kernels/kernels.h"

static const char *feature_name(etp_feature feature, etp_level level)
{
    switch (feature) {
    case ETP_FEATURE_SME:
        return level == ETP_LEVEL_SME2 ? "SME2" : "SME";
    case ETP_FEATURE_VNNI:
        return "VNNI";
    case ETP_FEATURE_X86:
        return level == ETP_LEVEL_AVX512 ? "AVX-512" : level == ETP_LEVEL_AVX2 ? "AVX2" : "SSE";
    case ETP_FEATURE_NONE:
        break;
    }
    return NULL;
}

// The feature is that of the better of the two levels; the arm that is judged may be the other one.
// False when there is nothing to judge.
static bool choose_feature(etp_ab *ab, etp_engage_case *common)
{
    etp_ab_engagement *e = &ab->engagement;
    const etp_ab_arm *own = &ab->arms[e->arm], *other = &ab->arms[ab->baseline];
    etp_level best = own->level;
    if (own->level == ETP_LEVEL_NONE && other->level == ETP_LEVEL_NONE) {
        e->feature = own->profile ? etp_feature_of_names(own->profile) : ETP_FEATURE_NONE;
        if (e->feature == ETP_FEATURE_NONE && other->profile) {
            e->feature = etp_feature_of_names(other->profile);
            common->masked = e->feature != ETP_FEATURE_NONE;
        }
    } else {
        // Levels of one family are numbered from the best down.
        if (other->level != ETP_LEVEL_NONE && (best == ETP_LEVEL_NONE || other->level < best)) {
            best = other->level;
        }
        e->feature = etp_feature_of(best);
        common->masked = e->feature != ETP_FEATURE_NONE && etp_feature_of(own->level) != e->feature;
    }
    e->feature_name = feature_name(e->feature, best);
    // Classes that tell the two levels apart; with one level, those of its own.
    etp_level lower = own->level == best ? other->level : own->level;
    common->classes = etp_kernels_classes(best, lower);
    common->lower_level = best != ETP_LEVEL_NONE && own->level != best;
    common->feature = e->feature;
    return own->profile != NULL;
}

// The run that an arm was measured in; NULL for dumps alone.
static const etp_run *run_of(const etp_ab_session *s, uint32_t arm)
{
    if (s->has_run) {
        return &s->run;
    }
    return s->two_sides && arm < 2 && s->sides[arm].dir ? &s->sides[arm].run : NULL;
}

// On a core with SME whose kernel hides it nobody could compare SME levels, and that is the answer.
static void ask_cpu(etp_ab_session *s, etp_engage_case *common)
{
    etp_ab_engagement *e = &s->ab.engagement;
    const etp_run *run = run_of(s, e->arm);
    const char *text = run ? etp_arena_strdup(&s->arena, run->device_cpu) : NULL;
    char why[ETP_ISA_WHY_MAX];
    etp_isa_cpu cpu;
    if (!text || !etp_isa_cpu_parse(text, &cpu, why, sizeof why) || cpu.family != ETP_ISA_AARCH64) {
        return;
    }
    etp_level_state state = etp_level_state_of(&cpu, ETP_LEVEL_SME1);
    if (state.available) {
        return;
    }
    common->cpu_lacks = etp_arena_printf(&s->arena, "%s", state.how);
    if (e->feature == ETP_FEATURE_NONE && etp_isa_hides_sme(&cpu)) {
        e->feature = common->feature = ETP_FEATURE_SME;
        e->feature_name = feature_name(ETP_FEATURE_SME, ETP_LEVEL_SME2);
    }
}

static bool sme_names(const etp_profile *p)
{
    return etp_feature_of_names(p) == ETP_FEATURE_SME;
}

static void add_reason(etp_ab_engagement *e, etp_reason reason, int64_t ns)
{
    size_t i = 0;
    while (i < e->n_reasons && e->reasons[i].reason != reason) {
        i++;
    }
    if (i == e->n_reasons) {
        e->reasons[e->n_reasons++] = (etp_ab_engaged_reason){.reason = reason};
    }
    e->reasons[i].operators++;
    e->reasons[i].ns += ns;
}

static int longest_first(const void *pa, const void *pb)
{
    const etp_ab_engaged_reason *a = pa, *b = pb;
    if (a->ns != b->ns) {
        return a->ns > b->ns ? -1 : 1;
    }
    return (a->reason > b->reason) - (a->reason < b->reason);
}

// "12 of 14 program counters sampled inside it are in the feature's code, mostly in xnn_…"
static const char *sampled_text(const etp_ab *ab, const etp_engage *e, const etp_kernels *k,
                                const etp_kernel_op *sampled)
{
    etp_strbuf text;
    etp_strbuf_init(&text, ab->arena);
    etp_strbuf_printf(&text, "%llu of %llu program counters sampled inside it are in %s code",
                      (unsigned long long)e->on, (unsigned long long)e->sure,
                      ab->engagement.feature_name);
    if (sampled->kernel < k->n_kernels) {
        const etp_kernel *f = &k->kernels[sampled->kernel];
        const char *title = etp_kernel_title(f, ab->arena);
        etp_strbuf_printf(&text, "; most in %s (%s)", title ? title : "", etp_code_title(f->code));
    }
    return text.failed ? e->evidence : etp_strbuf_str(&text).ptr;
}

// COMMON: what holds for every operator of the arm.
static void judge(const etp_ab *ab, etp_ab_operator *op, const etp_engage_case *common)
{
    const etp_ab_engagement *e = &ab->engagement;
    const etp_profile *p = ab->arms[e->arm].profile;
    const etp_kernels *k = ab->arms[e->arm].kernels;
    const etp_profile_row *row = op->rows[e->arm];
    if (!row) {
        return;
    }
    bool joined = p->facts && !p->facts->problem;
    etp_engage_case c = *common;
    c.row = row;
    c.facts = joined ? &p->facts->rows[row - p->rows] : NULL;
    c.any_delegate = !joined || p->facts->any_delegate;
    c.sampled = k ? etp_kernels_find_op(k, row->name, row->chain, row->instruction) : NULL;
    etp_engage_judge(&c, &op->engaged);
    if (op->engaged.by_samples) {
        op->engaged.evidence = sampled_text(ab, &op->engaged, k, c.sampled);
        return; // what ran counts, whatever the names of the group's parts
    }
    c.sampled = NULL;
    for (size_t i = 0; i < op->merged.n; i++) { // a group that did only part of its work there
        etp_op_name parsed;
        etp_op_parse(op->merged.items[i].name, &parsed);
        bool part = op->merged.items[i].arm == e->arm && op->engaged.eligible &&
                    parsed.category == row->parsed.category;
        etp_profile_row other = *row;
        etp_engage second;
        other.parsed = parsed;
        c.row = &other;
        etp_engage_judge(&c, &second);
        if (part && second.state != op->engaged.state) {
            op->engaged.state = ETP_PARTLY_ENGAGED;
            op->engaged.reason = op->engaged.reason ? op->engaged.reason : second.reason;
        }
    }
}

void etp_ab_engage(etp_ab_session *s)
{
    etp_ab *ab = &s->ab;
    etp_ab_engagement *e = &ab->engagement;
    *e = (etp_ab_engagement){.macs_share = NAN, .time_share = NAN};
    for (size_t i = 0; i < ab->n_operators; i++) {
        ab->operators[i].engaged = (etp_engage){.state = ETP_ENGAGEMENT_UNKNOWN};
    }
    etp_engage_case common = {0};
    e->arm = ab->n_comparisons ? ab->comparisons[0].candidate : ab->baseline;
    if (ab->n_arms == 0 || !choose_feature(ab, &common)) {
        return;
    }
    bool macs_known = true;
    ask_cpu(s, &common);
    common.sme_elsewhere = sme_names(ab->arms[e->arm].profile);
    uint64_t macs = 0, engaged_macs = 0;
    int64_t engaged_ns = 0;
    for (size_t i = 0; i < ab->n_operators; i++) {
        etp_ab_operator *op = &ab->operators[i];
        judge(ab, op, &common);
        if (!op->engaged.eligible) {
            continue;
        }
        int64_t ns = op->ns[e->arm] == ETP_NS_UNKNOWN ? 0 : op->ns[e->arm];
        bool on = op->engaged.state == ETP_ENGAGED;
        e->eligible++;
        e->engaged += on;
        e->row_kernels += on && op->engaged.reason == ETP_REASON_ROW_KERNEL;
        e->unknown += op->engaged.state == ETP_ENGAGEMENT_UNKNOWN;
        macs_known = macs_known && op->macs != ETP_AB_NO_MACS;
        macs += op->macs == ETP_AB_NO_MACS ? 0 : op->macs;
        engaged_macs += on && op->macs != ETP_AB_NO_MACS ? op->macs : 0;
        engaged_ns += on ? ns : 0;
        if (op->engaged.state == ETP_NOT_ENGAGED || op->engaged.state == ETP_PARTLY_ENGAGED) {
            e->off++;
            add_reason(e, op->engaged.reason, ns);
        }
    }
    qsort(e->reasons, e->n_reasons, sizeof *e->reasons, longest_first);
    bool said = e->unknown < e->eligible; // shares of what names cannot tell would be wrong
    e->macs_share = said && macs_known && macs > 0 ? (double)engaged_macs / (double)macs
                                                   : (double)NAN;
    e->time_share = said && ab->arms[e->arm].traced_ns > 0 && !ab->emulated
                        ? (double)engaged_ns / (double)ab->arms[e->arm].traced_ns
                        : (double)NAN;
}
