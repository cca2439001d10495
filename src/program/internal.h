// SPDX-License-Identifier: Apache-2.0
// Private to the program room: the parts of opening a program.
#ifndef ETP_PROGRAM_INTERNAL_H
#define ETP_PROGRAM_INTERNAL_H

#include <etprof/program.h>

#include "program/work.h"

// ---- work ----

// *ACC times FACTOR; false where that is more than can be counted.
static inline bool etp_times(uint64_t *acc, uint64_t factor)
{
    if (factor != 0 && *acc > UINT64_MAX / factor) {
        return false;
    }
    *acc *= factor;
    return true;
}

// Elements of V.
bool etp_elements(const etp_value *v, uint64_t *out);

#define ETP_OPS_SOFTMAX 5 // operations for each score
#define ETP_WORK_TOO_LARGE "the amount of work does not fit 64 bits"
#define ETP_WORK_RANK "unexpected number of dimensions"

// Work of a node of an XNNPACK payload; VALUES are the partition's.
etp_work etp_work_of_node(const etp_node *node, const etp_value *values);
// Work of a kernel call; EVALUES are the method's as in the file, VALUES the same as tensors.
// SIZING: of the call that is followed, NULL none.
struct etp_sizing;
etp_work etp_work_of_kernel(const etp_instruction *call, const etp_pte_instruction *pte,
                            const etp_evalue *evalues, const etp_value *values,
                            const struct etp_sizing *sizing);

// ---- payloads ----

// Reads DELEGATE's blob into OUT (graph, values, nodes, totals). What cannot be read becomes
// out->problem; only out of memory is an error. DYNAMIC: sizes are upper bounds.
etp_status etp_partition_read(const etp_pte_delegate *delegate, bool dynamic, etp_arena *arena,
                              etp_partition *out, etp_error *err);
// Rank dimensions of a value copied into ARENA; false on out of memory.
void etp_value_set_dims(etp_value *value, etp_i32s dims, bool is_unsigned, etp_arena *arena);

#endif
