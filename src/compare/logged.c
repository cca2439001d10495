// SPDX-License-Identifier: Apache-2.0
// Whether two arms' recordings hold the same: what one side logged and the other hid is no change.
#include "compare/session.h"

static const etp_profile_row *silent_at(const etp_profile *p, const etp_profile_row *row)
{
    for (size_t i = 0; i < p->n_rows; i++) {
        const etp_profile_row *own = &p->rows[i];
        if (own->silent && own->chain == row->chain && own->instruction == row->instruction) {
            return own;
        }
    }
    return NULL;
}

// Every call of P that logged nothing did so in Q.
static bool silent_in(const etp_profile *p, const etp_profile *q)
{
    for (size_t i = 0; i < p->n_rows; i++) {
        if (p->rows[i].silent && !silent_at(q, &p->rows[i])) {
            return false;
        }
    }
    return true;
}

// A category of Q's that P may have, too, in what it did not log or what is called by names that
// are not understood.
static bool lacks_names(const etp_profile *p, const etp_profile *q)
{
    bool own[ETP_CATEGORY_COUNT] = {false}, hides = p->parts_withheld || p->overlapping_ns > 0;
    for (size_t i = 0; i < p->n_rows; i++) {
        const etp_profile_row *row = &p->rows[i];
        bool is_operator = etp_row_is_operator(row->kind);
        hides = hides || row->silent || (is_operator && row->delegated && !row->parsed.known);
        own[row->parsed.category] = own[row->parsed.category] || is_operator;
    }
    for (size_t i = 0; hides && i < q->n_rows; i++) {
        const etp_profile_row *row = &q->rows[i];
        bool named = etp_row_is_operator(row->kind) && row->parsed.known;
        if (named && !own[row->parsed.category]) {
            return true;
        }
    }
    return false;
}

bool etp_ab_logs_partly(const etp_profile *p)
{
    for (size_t i = 0; i < p->n_dumps; i++) {
        if (etp_trace_partly_logged(p->traces[i])) {
            return true;
        }
    }
    return false;
}

void etp_ab_take_logged(const etp_ab *ab, const bool **out)
{
    bool *unlike = ETP_NEW_ARRAY(ab->arena, bool, ab->n_comparisons + 1);
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        const etp_profile *p = ab->arms[ab->comparisons[i].baseline].profile,
                          *q = ab->arms[ab->comparisons[i].candidate].profile;
        unlike[i] = p && q &&
                    (p->parts_withheld != q->parts_withheld ||
                     (p->overlapping_ns > 0) != (q->overlapping_ns > 0) || etp_ab_logs_partly(p) ||
                     etp_ab_logs_partly(q) || !silent_in(p, q) || !silent_in(q, p) ||
                     lacks_names(p, q) || lacks_names(q, p));
    }
    *out = unlike;
}

bool etp_ab_goes_back(const etp_ab *ab, const etp_ab_operator *op, uint32_t arm)
{
    const etp_profile_row *was = op->rows[ab->baseline], *is = op->rows[arm];
    if (!was || !is || was->silent != is->silent) {
        return false;
    }
    return !op->delegated || !(etp_ab_logs_partly(ab->arms[ab->baseline].profile) ||
                               etp_ab_logs_partly(ab->arms[arm].profile));
}
