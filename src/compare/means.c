// SPDX-License-Identifier: Apache-2.0
// One inference of an arm as whole nanoseconds that add up.
#include "compare/means.h"

#include <math.h>

// Of one dump, of the kept executions of all, or of all.
static int64_t of_dumps(size_t dump, int64_t kept, int64_t all, const int64_t *per_dump)
{
    if (dump == ETP_MEANS_KEPT) {
        return kept;
    }
    return dump == ETP_MEANS_ALL_DUMPS ? all : per_dump[dump];
}

// By the rule of the ledger: operators one by one, the rest by kind, largest remainder.
etp_status etp_means_of(const etp_profile *p, size_t dump, etp_arena *arena, etp_means *out,
                        etp_error *err)
{
    *out = (etp_means){0};
    if (!p) {
        return ETP_OK;
    }
    uint64_t runs = dump == ETP_MEANS_KEPT ? p->executions : p->all_executions;
    if (dump != ETP_MEANS_KEPT && dump != ETP_MEANS_ALL_DUMPS) {
        runs = p->per_dump_all_executions[dump];
    }
    if (runs == 0) {
        return ETP_OK;
    }
    size_t n = p->n_rows + 3;
    double *mean = ETP_NEW_ARRAY(arena, double, n);
    int64_t *rounded = ETP_NEW_ARRAY(arena, int64_t, n);
    uint32_t *order = ETP_NEW_ARRAY(arena, uint32_t, n);
    ETP_NEED(mean && rounded && order, err, "profile");
    int64_t boundary = 0, framework = 0, unexplained = 0;
    for (size_t i = 0; i < p->n_rows; i++) {
        const etp_profile_row *row = &p->rows[i];
        int64_t ns = of_dumps(dump, row->total_ns, row->all_ns, row->per_dump_all_ns);
        if (etp_row_is_operator(row->kind)) {
            mean[i] = (double)ns / (double)runs;
        } else if (row->kind == ETP_ROW_BOUNDARY) {
            boundary += ns;
        } else if (row->kind == ETP_ROW_FRAMEWORK) {
            framework += ns;
        } else {
            unexplained += ns;
        }
    }
    mean[p->n_rows] = (double)boundary / (double)runs;
    mean[p->n_rows + 1] = (double)framework / (double)runs;
    mean[p->n_rows + 2] = (double)unexplained / (double)runs;
    int64_t whole =
        of_dumps(dump, p->execute_total_ns, p->all_execute_ns, p->per_dump_all_execute_ns);
    out->execute_ns = llround((double)whole / (double)runs);
    etp_round_to_sum(mean, n, out->execute_ns, order, rounded);
    for (size_t i = 0; i < p->n_rows; i++) {
        const etp_profile_row *row = &p->rows[i];
        if (etp_row_is_operator(row->kind)) {
            out->category_ns[row->parsed.category] += rounded[i];
            int64_t cut = etp_profile_cut_ns(p, row);
            out->category_cut_ns[row->parsed.category] += ETP_OR(cut, ETP_AB_READING_NS);
            out->category_rows[row->parsed.category]++;
        } else {
            rounded[i] = ETP_NS_UNKNOWN;
        }
    }
    out->row_ns = rounded;
    out->boundary_ns = rounded[p->n_rows];
    out->framework_ns = rounded[p->n_rows + 1];
    out->unexplained_ns = rounded[p->n_rows + 2];
    return ETP_OK;
}
