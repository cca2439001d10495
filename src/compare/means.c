// SPDX-License-Identifier: Apache-2.0
// One inference of an arm as whole nanoseconds that add up.
#include "compare/means.h"

#include <math.h>

// By the rule of the ledger: operators one by one, the rest by kind, largest remainder.
etp_status etp_means_of(const etp_profile *p, size_t dump, etp_arena *arena, etp_means *out,
                        etp_error *err)
{
    *out = (etp_means){0};
    bool all = dump == ETP_MEANS_ALL_DUMPS, kept = dump == ETP_MEANS_KEPT;
    uint64_t runs = !p     ? 0
                    : kept ? p->executions
                    : all  ? p->all_executions
                           : p->per_dump_all_executions[dump];
    if (runs == 0) {
        return ETP_OK;
    }
    size_t n = p->n_rows + 3;
    double *mean = ETP_NEW_ARRAY(arena, double, n);
    int64_t *rounded = ETP_NEW_ARRAY(arena, int64_t, n);
    uint32_t *order = ETP_NEW_ARRAY(arena, uint32_t, n);
    ETP_NEED(mean && rounded && order, err, "profile");
    int64_t rest[3] = {0}; // boundary, framework, unexplained
    for (size_t i = 0; i < p->n_rows; i++) {
        const etp_profile_row *row = &p->rows[i];
        int64_t ns = kept ? row->total_ns : all ? row->all_ns : row->per_dump_all_ns[dump];
        if (etp_means_is_operator(row->kind)) {
            mean[i] = (double)ns / (double)runs;
        } else {
            rest[row->kind == ETP_ROW_BOUNDARY ? 0 : row->kind == ETP_ROW_FRAMEWORK ? 1 : 2] += ns;
        }
    }
    for (size_t k = 0; k < 3; k++) {
        mean[p->n_rows + k] = (double)rest[k] / (double)runs;
    }
    int64_t whole = kept  ? p->execute_total_ns
                    : all ? p->all_execute_ns
                          : p->per_dump_all_execute_ns[dump];
    out->execute_ns = llround((double)whole / (double)runs);
    etp_round_to_sum(mean, n, out->execute_ns, order, rounded);
    for (size_t i = 0; i < p->n_rows; i++) {
        const etp_profile_row *row = &p->rows[i];
        if (etp_means_is_operator(row->kind)) {
            out->category_ns[row->parsed.category] += rounded[i];
            int64_t cut = etp_profile_cut_ns(p, row);
            out->category_cut_ns[row->parsed.category] += cut ? cut : ETP_AB_READING_NS;
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
