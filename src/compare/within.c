// SPDX-License-Identifier: Apache-2.0
// Several models or thread counts: the arms that are compared within them. The session's own
// comparisons are against one arm, of the first model.
#include "compare/session.h"

bool etp_ab_same_group(const etp_ab_arm *a, const etp_ab_arm *b)
{
    return a->model == b->model && a->threads == b->threads;
}

bool etp_ab_is_within(const etp_ab *ab, const etp_ab_comparison *c)
{
    return etp_ab_same_group(&ab->arms[c->baseline], &ab->arms[c->candidate]);
}

const etp_ab_comparison *etp_ab_comparison_at(const etp_ab *ab, size_t i)
{
    return i < ab->n_comparisons ? &ab->comparisons[i] : &ab->within[i - ab->n_comparisons];
}

uint32_t etp_ab_reference_within(const etp_ab *ab, uint32_t candidate)
{
    const etp_ab_arm *base = &ab->arms[ab->baseline];
    uint32_t found = ETP_NO_INDEX;
    bool groups = false;
    for (uint32_t i = 0; i < ab->n_arms; i++) {
        const etp_ab_arm *b = &ab->arms[i];
        groups = groups || !etp_ab_same_group(base, b);
        if (i != candidate && etp_ab_same_group(&ab->arms[candidate], b) &&
            b->level == base->level && b->build == base->build && b->cache == base->cache) {
            found = i;
        }
    }
    return groups ? found : ETP_NO_INDEX;
}
