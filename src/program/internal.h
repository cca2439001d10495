// SPDX-License-Identifier: Apache-2.0
// Private to the program room: the parts of opening a program, and the pieces of the join.
#ifndef ETP_PROGRAM_INTERNAL_H
#define ETP_PROGRAM_INTERNAL_H

#include <etprof/operators.h>
#include <etprof/program.h>

// ---- work ----------------------------------------------------------------------------------------

// Work of a node of an XNNPACK payload; VALUES are the partition's.
etp_work etp_work_of_node(const etp_node *node, const etp_value *values);
// Work of a kernel call; EVALUES are the method's as in the file, VALUES the same as tensors.
etp_work etp_work_of_kernel(const etp_instruction *call, const etp_pte_instruction *pte,
                            const etp_evalue *evalues, const etp_value *values);
// Bytes of a value with its scales; false when unknown.
bool etp_value_traffic(const etp_value *value, uint64_t *out_bytes);

// ---- payloads ------------------------------------------------------------------------------------

// Reads DELEGATE's blob into OUT (graph, values, nodes, totals). What cannot be read becomes
// out->problem; only out of memory is an error. DYNAMIC: sizes are upper bounds.
etp_status etp_partition_read(const etp_pte_delegate *delegate, bool dynamic, etp_arena *arena,
                              etp_partition *out, etp_error *err);
// Rank dimensions of a value copied into ARENA; false on out of memory.
bool etp_value_set_dims(etp_value *value, etp_i32s dims, bool is_unsigned, etp_arena *arena);

// ---- alignment -----------------------------------------------------------------------------------

typedef struct etp_placed { // result for one delegate operator
    uint32_t node;          // ETP_NO_INDEX when none
    uint32_t first, n;      // all nodes it covers: etp_alignment.covered[first … first + n)
    bool inserted;
    double confidence;
} etp_placed;

typedef struct etp_alignment {
    etp_placed *placed; // one per operator
    uint32_t *covered;  // node indices, ascending per operator
    double fit;         // 0…1: share of operators and nodes that are explained
} etp_alignment;

// Aligns the operators of one delegate call, in order, to the nodes of PARTITION.
etp_status etp_align_operators(const etp_partition *partition, const etp_str *names, uint32_t n,
                               etp_arena *arena, etp_alignment *out, etp_error *err);

#endif
