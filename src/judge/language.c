// SPDX-License-Identifier: Apache-2.0
// What is said of language models: 4-bit weights whose scales keep them off SME.
#include <math.h>

#include "compare/session.h"

typedef struct share {
    double all, on, grouped; // of what multiplies: MACs, or time where the program is not known
} share;

static share shares_of(const etp_ab *ab, bool of_macs)
{
    share s = {0};
    for (size_t i = 0; i < ab->n_operators; i++) {
        const etp_ab_operator *op = &ab->operators[i];
        bool known = of_macs ? op->macs != ETP_AB_NO_MACS
                             : op->ns[ab->engagement.arm] != ETP_NS_UNKNOWN && !ab->emulated;
        if (!op->engaged.eligible || !known) {
            continue;
        }
        double amount = of_macs ? (double)op->macs : (double)op->ns[ab->engagement.arm];
        s.all += amount;
        s.on += op->engaged.state == ETP_ENGAGED ? amount : 0;
        s.grouped += op->engaged.reason == ETP_REASON_BLOCKWISE_4BIT ? amount : 0;
    }
    return s;
}

// Groups are what exporters of language models choose by themselves, and what SME has no kernel
// for; one scale per channel is a choice at export.
etp_status etp_ab_groupwise_finding(etp_ab_session *s, etp_error *err)
{
    const etp_ab *ab = &s->ab;
    struct {
        const char **items;
        size_t n, cap;
    } ids = {0};
    for (size_t i = 0; i < ab->n_operators; i++) {
        const etp_ab_operator *op = &ab->operators[i];
        bool mine = op->engaged.eligible && op->engaged.reason == ETP_REASON_BLOCKWISE_4BIT;
        if (mine && !ETP_PUSH(&s->arena, &ids, op->id)) {
            return etp_fail_nomem(err, "findings");
        }
    }
    share by_macs = shares_of(ab, true), by_time = shares_of(ab, false);
    bool macs = by_macs.grouped > 0;
    const share *x = macs ? &by_macs : &by_time;
    if (ids.n == 0 || !(x->all > 0)) {
        return ETP_OK;
    }
    const char *feature = ab->engagement.feature_name ? ab->engagement.feature_name : "SME";
    return etp_ab_find_rows(
        s, ETP_FINDING_GROUPWISE, ETP_SEVERITY_WARN, ids.items, ids.n,
        etp_arena_printf(
            &s->arena,
            "4-bit weights with a scale per group have no SME kernel: %.0f %% of %s %s on %s, and "
            "with one scale per channel %.0f %% could be (export with --dtype 8da4w --group-size "
            "channel, and look at what it does to the outputs)",
            100 * x->on / x->all, macs ? "the multiply-accumulates" : "the time of what multiplies",
            macs ? "are" : "is", feature, 100 * (x->on + x->grouped) / x->all),
        err);
}
