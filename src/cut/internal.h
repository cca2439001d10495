// SPDX-License-Identifier: Apache-2.0
// Private to the cut room: a payload with some of its nodes.
#ifndef ETP_CUT_INTERNAL_H
#define ETP_CUT_INTERNAL_H

#include "cut/cut.h"
#include "flatbuf/tree.h"

typedef struct etp_cut_payload {
    etp_bytes bytes;
    uint32_t *args; // values of the partition in the order of the call's arguments, inputs first
    uint32_t n_inputs, n_args;
    bool *constants; // of the graph's: those that are used
} etp_cut_payload;

// P's nodes that are marked in NODES. What they take from others becomes an input; WANTED, a value
// that one of them makes, an output, as those outputs of P do that they make.
etp_status etp_cut_payload_make(const etp_partition *p, const bool *nodes, uint32_t wanted,
                                etp_arena *arena, etp_cut_payload *out, etp_error *err);

// Gives those of VALUES, a copy of the partition's, that the operator AT makes and multiplies, and
// what a convert among NODES takes in front of it, the sizes of ROWS. rows.c
etp_status etp_cut_set_rows(const etp_cut_place *at, const bool *nodes, uint64_t rows,
                            etp_arena *arena, etp_value *values, etp_error *err);

// A program that is being made of another one; its segments are those of the old one, and new ones.
typedef struct etp_cut_program {
    etp_bytes file;
    const etp_program *program;
    const etp_method *method;
    etp_arena *arena;
    etp_fb_node *root, *plan; // of one method
    bool *used;               // segments of the old program, of which the others become empty
    etp_bytes added;          // the segment behind them
    etp_error *err;
} etp_cut_program;

// Begins with a whole copy that has METHOD alone.
etp_status etp_cut_program_begin(etp_bytes file, const etp_program *program,
                                 const etp_method *method, etp_arena *arena, etp_cut_program *out,
                                 etp_error *err);
// A tensor for V in memory of its own; its place among the plan's values.
etp_status etp_cut_program_add_value(etp_cut_program *c, const etp_value *v, uint32_t *out);
// A delegate like D whose payload is BLOB; its place among the plan's delegates.
uint32_t etp_cut_program_add_delegate(etp_cut_program *c, const etp_partition *p, etp_bytes blob);
// Keeps the named data that CONSTANTS of P have.
void etp_cut_program_keep_named(etp_cut_program *c, const etp_partition *p, const bool *constants);
etp_status etp_cut_program_end(etp_cut_program *c, etp_bytes *out);

// ExecuTorch's scalar type for a value of a payload, -1: a program cannot hand it over.
int etp_cut_scalar_type(etp_dtype dtype);

#endif
