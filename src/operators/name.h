// SPDX-License-Identifier: Apache-2.0
// Parts of an operator's name.
#ifndef ETP_OPERATORS_NAME_H
#define ETP_OPERATORS_NAME_H

#include <etprof/operators.h>

// NAME without its counter, which goes to *OUT_COUNTER; 0: it has none.
etp_str etp_op_split_counter(etp_str name, uint32_t *out_counter);

#endif
