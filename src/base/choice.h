// SPDX-License-Identifier: Apache-2.0
// One of two values, where a name says which. The macros read their operands twice.
#ifndef ETP_BASE_CHOICE_H
#define ETP_BASE_CHOICE_H

#define ETP_MIN(a, b) ((a) < (b) ? (a) : (b)) // B where one is NAN
#define ETP_MAX(a, b) ((a) > (b) ? (a) : (b))
#define ETP_ORDER(a, b) (((a) > (b)) - ((a) < (b))) // for qsort, the least first

// The order by SECOND of what is alike by FIRST.
static inline int etp_order_then(int first, int second)
{
    return first ? first : second;
}

#endif
