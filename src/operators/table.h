// SPDX-License-Identifier: Apache-2.0
// The table from operator families to categories; private to the room.
#ifndef ETP_OPERATORS_TABLE_H
#define ETP_OPERATORS_TABLE_H

#include <etprof/operators.h>

typedef struct etp_op_family {
    const char *key; // letters and digits of the family's name, lower case
    etp_category category;
    const char *note; // NULL for most
} etp_op_family;

// Whether KIND's spelling conventions apply: kernels may carry prefixes and suffixes ("native_…",
// "…_copy") that XNNPACK's names do not have. NULL when the family is not in the table.
const etp_op_family *etp_op_family_find(etp_str family, bool is_kernel);

// For the test that the table is sorted.
const etp_op_family *etp_op_family_table(size_t *out_n);

#endif
