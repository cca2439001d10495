// SPDX-License-Identifier: Apache-2.0
// Plain numbers for qsort, the least first.
#ifndef ETP_BASE_ORDER_H
#define ETP_BASE_ORDER_H

#include <stdint.h>

static inline int etp_order_u32(const void *pa, const void *pb)
{
    const uint32_t *a = pa, *b = pb;
    return (*a > *b) - (*a < *b);
}

static inline int etp_order_u64(const void *pa, const void *pb)
{
    const uint64_t *a = pa, *b = pb;
    return (*a > *b) - (*a < *b);
}

static inline int etp_order_double(const void *pa, const void *pb)
{
    const double *a = pa, *b = pb;
    return (*a > *b) - (*a < *b);
}

#endif
