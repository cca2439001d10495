// SPDX-License-Identifier: Apache-2.0
// A program as one call runs it. Sizes of dynamic tensors are upper bounds in a file; when the
// sizes of a call's inputs are known, those of most others follow, operator by operator. What does
// not follow (sizes that depend on data, operators without a rule) stays an upper bound, and work
// that rests on it says so (`bound`).
//
// A rule is believed only where it gives the exporter's own bounds for the exporter's own largest
// inputs: a wrong one makes "at most" of a figure, never another figure.
#ifndef ETP_PROGRAM_CALL_H
#define ETP_PROGRAM_CALL_H

#include <etprof/program.h>

#define ETP_CALL_PLACE_UNKNOWN UINT64_MAX
#define ETP_MAX_RANK 16u
#define ETP_CALL_INPUTS 16u

typedef struct etp_call_input {
    uint32_t index; // of the method's inputs
    uint32_t rank;
    int64_t dims[ETP_MAX_RANK];
} etp_call_input;

typedef struct etp_call {         // of one method; several calls with inputs of the same sizes
    etp_str method;               // empty: "forward", or the only one
    const etp_call_input *inputs; // those not listed are as large as they may be
    uint32_t n_inputs;
    // Twice the mean of the first element of input 1 over the calls: where in the cache a text
    // decoder begins. Attention is linear in it, and a mean of whole numbers has halves.
    uint64_t twice_place;
} etp_call;

// As etp_program_open, with the method of CALL at the call's sizes. An input that the method lacks,
// or sizes outside its own, leave that method at its bounds.
ETP_NODISCARD etp_status etp_program_open_call(etp_bytes bytes, const etp_call *call,
                                               const etp_program **out, etp_error *err);

// As --shape writes a shape: "1x64", without dimensions "scalar". NULL on out of memory. call.c
const char *etp_dims_text(const int64_t *dims, uint32_t rank, etp_arena *arena);
// "1x64"; false when it is not a shape. call.c
bool etp_dims_read(etp_str text, int64_t *dims, uint32_t *rank);
// INPUTS as "0=1x64,1=1", START a number or empty; ROOM is for ETP_CALL_INPUTS. False when it is
// no such text.
bool etp_call_read(etp_str method, etp_str inputs, etp_str start, etp_call_input *room,
                   etp_call *out);

#endif
