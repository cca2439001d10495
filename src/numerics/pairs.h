// SPDX-License-Identifier: Apache-2.0
// Which operator of one program is which of another, where both were made of one model in different
// precisions: what converts numbers is passed over, the rest has the same types, sizes and order.
#ifndef ETP_NUMERICS_PAIRS_H
#define ETP_NUMERICS_PAIRS_H

#include "numerics/operators.h"

// Does it quantise, dequantise or cast, and nothing else?
bool etp_op_converts(const etp_op *op);
// Does it multiply matrices: a convolution, a linear layer, a product, attention?
bool etp_op_multiplies(const etp_op *op);
// Is it a node that adds, subtracts or joins, so that errors of its operands add up as they are?
bool etp_op_adds(const etp_op *op);
// Its debug handle, −1: none; of a kernel the one that RECORD, which may be NULL, has.
int64_t etp_op_handle(const etp_op *op, const etp_record_method *record);
// What it makes; NULL: nothing.
const etp_value *etp_op_result(const etp_op *op);
// The operators that computed what OP takes, through converts and changes of layout; inputs of the
// method are none. How many.
uint32_t etp_op_sources(const etp_ops *ops, const etp_op *op, etp_arena *arena, uint32_t **out);
// Where operators of the same two programs make numbers of another type, in words; NULL: nowhere.
const char *etp_ops_other_types(const etp_ops *a, const etp_ops *b, etp_arena *arena);
// Does an operator compute with what PLACE makes as it is stored, other than converting it?
bool etp_op_is_read(const etp_ops *ops, uint32_t place);
// *OUT: of each operator of A its partner in B, ETP_NO_INDEX where it has none. Partners take what
// partners make. ETP_UNSUPPORTED: there are too many to be told. ARENA is guarded.
ETP_NODISCARD etp_status etp_ops_pair(const etp_ops *a, const etp_ops *b, etp_arena *arena,
                                      uint32_t **out, etp_error *err);

#endif
