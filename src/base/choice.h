// SPDX-License-Identifier: Apache-2.0
// One of two values, where a name says which. The macros read operands twice, but the second one of
// ETP_OR: a call that does work goes into a variable first.
#ifndef ETP_BASE_CHOICE_H
#define ETP_BASE_CHOICE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ETP_MIN(a, b) ((a) < (b) ? (a) : (b)) // B where one is NAN
#define ETP_MAX(a, b) ((a) > (b) ? (a) : (b))
#define ETP_OR(a, b) ((a) ? (a) : (b))
#define ETP_LESS(a, b) ((a) > (b) ? (a) - (b) : 0)  // of counts
#define ETP_ORDER(a, b) (((a) > (b)) - ((a) < (b))) // for qsort, the least first

static inline size_t etp_larger(size_t a, size_t b)
{
    return ETP_MAX(a, b);
}

// The order by SECOND of what is alike by FIRST.
static inline int etp_order_then(int first, int second)
{
    return first ? first : second;
}

// TEXT where WHEN says so, else nothing: separators, plurals, notes.
static inline const char *etp_if(bool when, const char *text)
{
    return when ? text : "";
}

// NULL where not: an option that is not passed on, a text that is not known.
static inline const char *etp_z_if(bool when, const char *text)
{
    return when ? text : NULL;
}

// As tables for people have it.
static inline const char *etp_yes_no(bool yes)
{
    return yes ? "yes" : "no";
}

// PART divided by WHOLE; NAN where WHOLE is 0.
static inline double etp_share(double part, double whole)
{
    return whole > 0 ? part / whole : (double)NAN;
}

static inline double etp_share_of(uint64_t part, uint64_t whole)
{
    return etp_share((double)part, (double)whole);
}

// NAN where it is not known.
static inline double etp_value_if(bool known, double value)
{
    return known ? value : (double)NAN;
}

// 0 where it is not known.
static inline double etp_known_or_0(double value)
{
    return isfinite(value) ? value : 0;
}

#endif
