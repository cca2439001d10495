// SPDX-License-Identifier: Apache-2.0
// A program made of a part of another one: bytes in, bytes out, without PyTorch.
//
// A prefix has the inputs of its method and one output, what the operator at the cut makes; a
// capsule has the operator alone, whose operands are its inputs. Nodes of an XNNPACK payload keep
// their values' types, shapes, quantisation and layout. XNNPACK may merge an operator with the one
// behind it: what a prefix hands out is then a value that the whole program never holds, the same
// mathematically.
//
// ETP_UNSUPPORTED: it cannot be cut there, and the message names the operator. Nothing that could
// not be carried over is left out in silence.
#ifndef ETP_CUT_CUT_H
#define ETP_CUT_CUT_H

#include <etprof/program.h>

typedef struct etp_cut_place {
    const etp_method *method; // of the program
    uint32_t instruction;     // of the method's
    uint32_t node;            // of the partition called there; ETP_NO_INDEX: the call as a whole
} etp_cut_place;

// FILE is what PROGRAM was opened on. *out lives in ARENA.
ETP_NODISCARD etp_status etp_cut_prefix(etp_bytes file, const etp_program *program,
                                        const etp_cut_place *at, etp_arena *arena, etp_bytes *out,
                                        etp_error *err);
// Its inputs are *OUT_N values of the partition, in the order of *OUT_INPUTS; both may be NULL.
ETP_NODISCARD etp_status etp_cut_capsule(etp_bytes file, const etp_program *program,
                                         const etp_cut_place *at, etp_arena *arena, etp_bytes *out,
                                         const uint32_t **out_inputs, uint32_t *out_n,
                                         etp_error *err);
// M of an operator that multiplies: the rows of its operand, for a convolution pixels of its
// result, of a batch of matrices those of each. ETP_UNSUPPORTED: it has none, or it cannot be told.
ETP_NODISCARD etp_status etp_cut_rows(const etp_cut_place *at, uint64_t *out, etp_error *err);
// A capsule of the operator with ROWS of them: one batch, its pixels as close to a square as they
// can be. Weights, quantisation and all else stay.
ETP_NODISCARD etp_status etp_cut_capsule_rows(etp_bytes file, const etp_program *program,
                                              const etp_cut_place *at, uint64_t rows,
                                              etp_arena *arena, etp_bytes *out, etp_error *err);
// A capsule as cold as in its model: it has an input more, the first, of EVICTED bytes, which
// nothing takes, so that handing it over leaves as little in the caches. AMONG: with the nodes of
// its delegate that make its operands and one that takes its result; ETP_UNSUPPORTED: there are
// none. *OUT_NODE is the operator's number among the nodes.
ETP_NODISCARD etp_status etp_cut_capsule_cold(etp_bytes file, const etp_program *program,
                                              const etp_cut_place *at, uint64_t evicted, bool among,
                                              etp_arena *arena, etp_bytes *out, uint32_t *out_node,
                                              etp_error *err);
// The same program with the elements of every weight of its delegates in another order, by a fixed
// seed: their statistics stay to the last digit, and the model's weights are not given away.
ETP_NODISCARD etp_status etp_cut_reorder(etp_bytes file, etp_arena *arena, etp_bytes *out,
                                         etp_error *err);
// Does the operator make what a program can hand out? No promise that it can be cut there.
bool etp_cut_makes(const etp_cut_place *at);

// "node 3 (Conv2d) of delegate 0", "instruction 4 (aten::mean.out)".
const char *etp_cut_place_text(const etp_cut_place *at, etp_arena *arena);

#endif
