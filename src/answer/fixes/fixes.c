// SPDX-License-Identifier: Apache-2.0
// What to do next, in nanoseconds of one inference of the arm that runs now (the candidate of the
// first comparison). ExecuTorch runs operators one after another, so gains are differences of sums.
// Each has a ceiling, a floor (0 unless the work goes away altogether), and between them what the
// evidence makes likely; where nothing does, that is unknown.
#include "answer/fixes/fixes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <etprof/stats.h>

#include "base/number.h"

#define RATE_FROM_NS 10000 // shorter operators are mostly truncation

static const char *const k_fixes[ETP_FIX_COUNT] = {
#define FIX_ROW(name, id) [ETP_FIX_##name] = id,
    ETP_FIX_MAP(FIX_ROW)
#undef FIX_ROW
};

const char *etp_fix_id(etp_fix_kind kind)
{
    return k_fixes[kind];
}

static double best_rate(const etp_fixer *f)
{
    double best = 0;
    for (uint32_t i = 0; i < f->ab->n_operators; i++) {
        const etp_op_facts *facts = etp_fix_facts(f, i);
        int64_t ns = etp_fix_op_ns(f, i);
        etp_category c = f->ab->operators[i].category;
        bool passes = c == ETP_CATEGORY_DATA_MOVEMENT || c == ETP_CATEGORY_ELEMENTWISE ||
                      c == ETP_CATEGORY_ACTIVATION; // each byte once
        bool copies = passes && facts && facts->work.known && ns >= RATE_FROM_NS;
        best = copies ? fmax(best, (double)facts->work.bytes / (double)ns) : best;
    }
    return best > 0 ? best : (double)NAN;
}

static int compare_ns(int64_t a, int64_t b)
{
    return a == b ? 0 : a > b ? -1 : 1; // ETP_NS_UNKNOWN is the least
}

// What is likely worth it, what may be, what likely is not.
static int tier(const etp_ab_fix *f)
{
    return isnan(f->share) ? 1 : f->share >= ETP_FIX_WORTH_SHARE ? 0 : 2;
}

static int best_first(const void *pa, const void *pb)
{
    const etp_ab_fix *a = pa, *b = pb;
    int by_tier = tier(a) - tier(b);
    int by_expected = compare_ns(a->expected_ns, b->expected_ns);
    int by_ceiling = compare_ns(a->hi_ns, b->hi_ns);
    int by_kind = (a->kind > b->kind) - (a->kind < b->kind);
    return by_tier ? by_tier : by_expected ? by_expected : by_ceiling ? by_ceiling : by_kind ? by_kind
                                                                         : strcmp(a->text, b->text);
}

static void read_boundary(etp_fixer *f)
{
    const etp_profile *p = f->ab->arms[f->arm].profile;
    for (size_t i = 0; i < p->n_rows; i++) {
        double ns = etp_fix_row_ns(f, &p->rows[i]);
        bool call = p->rows[i].kind == ETP_ROW_BOUNDARY, inside = p->rows[i].kind == ETP_ROW_OPERATOR;
        f->boundary += call ? ns : inside ? -ns : 0;
        f->calls += call;
        f->inside += inside;
    }
    f->boundary = fmax(0, f->boundary);
    f->hidden = f->inside ? fmin(ETP_FIX_TRUNCATED_NS / 2.0, f->boundary / (double)f->inside) : 0;
}

etp_status etp_ab_next_fixes(etp_ab_session *s, etp_error *err)
{
    etp_ab *ab = &s->ab;
    etp_fixer f = {.s = s, .ab = ab};
    f.arm = ab->n_comparisons ? ab->comparisons[0].candidate : ab->baseline;
    if (ab->n_arms == 0 || ab->emulated || !ab->arms[f.arm].profile ||
        ab->arms[f.arm].traced_ns <= 0) {
        return ETP_OK;
    }
    const etp_profile *p = ab->arms[f.arm].profile;
    for (size_t i = 0; i < p->n_rows; i++) {
        f.total += p->rows[i].event == ETP_EVENT_EXECUTE ? llround(etp_fix_row_ns(&f, &p->rows[i])) : 0;
    }
    if (f.total <= 0) {
        return ETP_OK;
    }
    read_boundary(&f);
    f.best_rate = best_rate(&f);
    f.claimed = ETP_NEW_ARRAY(&s->arena, bool, ab->n_operators + 1);
    if (!f.claimed) {
        return etp_fail_nomem(err, "fixes");
    }
    ETP_TRY(etp_fixes_of_layout(&f, err));
    ETP_TRY(etp_fixes_of_work(&f, err));
    ETP_TRY(etp_fixes_of_moves(&f, err));
    if (ab->fixes.n) {
        qsort(ab->fixes.items, ab->fixes.n, sizeof *ab->fixes.items, best_first);
    }
    for (size_t i = 0; i < ab->fixes.n; i++) {
        ab->fixes.items[i].id = etp_arena_printf(&s->arena, "N%zu", i + 1);
        if (!ab->fixes.items[i].id) {
            return etp_fail_nomem(err, "fixes");
        }
    }
    return ETP_OK;
}
