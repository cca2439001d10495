// SPDX-License-Identifier: Apache-2.0
// The operators of a method in the order of execution, those inside delegates too, and whose
// outputs each of them takes.
#ifndef ETP_NUMERICS_OPERATORS_H
#define ETP_NUMERICS_OPERATORS_H

#include "cut/cut.h"
#include "measure/outputs.h"

typedef struct etp_operand {
    uint32_t value; // of the partition, or of the method for a kernel
    uint32_t maker; // of the operators
} etp_operand;

typedef struct etp_op {
    etp_cut_place at;
    bool makes;            // what a program can hand out
    etp_operand *operands; // that other operators make; inputs of the method and constants are none
    size_t n_operands;
    uint32_t n_inputs; // values that are no constants, those of the method too
} etp_op;

typedef struct etp_ops {
    etp_op *items;
    size_t n, cap;
    uint32_t *outputs; // of each output of the method, who makes it; ETP_NO_INDEX: nobody does
    size_t n_outputs;
} etp_ops;

// ARENA is guarded.
void etp_ops_of(const etp_method *method, etp_arena *arena, etp_ops *out);
// The least that the partitions of METHOD compute in.
etp_output_precision etp_ops_precision(const etp_method *method);
// Where the two have other operators, in words; NULL: nowhere.
const char *etp_ops_differ(const etp_ops *a, const etp_ops *b, etp_arena *arena);

#endif
