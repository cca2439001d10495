// SPDX-License-Identifier: Apache-2.0
// What a .pte may ask for: records that its size can describe, indices of what is there.
#include "formats/pte_internal.h"

etp_status etp_pte_take(etp_pte_reader *r, etp_fb_table at, const char *what, size_t n, size_t size,
                        void *out_records)
{
    size_t bytes = 0;
    if (!etp_mul_size(n, size, &bytes) || bytes > r->budget) {
        return etp_fail_at(r->err, ETP_CORRUPT, etp_fb_position(r->program, at),
                           "%zu %s are more than a file of %zu bytes can describe", n, what,
                           r->file.len);
    }
    r->budget -= bytes;
    void *records = etp_arena_alloc_array(r->arena, n, size);
    memcpy(out_records, &records, sizeof records);
    return ETP_OK;
}

etp_status etp_pte_check_index(etp_pte_reader *r, etp_fb_table at, const char *what, int64_t index,
                               uint64_t n)
{
    if (index < 0 || (uint64_t)index >= n) {
        return etp_fail_at(r->err, ETP_CORRUPT, etp_fb_position(r->program, at),
                           "%s %lld does not exist, there are %llu", what, (long long)index,
                           (unsigned long long)n);
    }
    return ETP_OK;
}
