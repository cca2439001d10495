// SPDX-License-Identifier: Apache-2.0
// The operators of a program as PyTorch computes them, by the record that its export left: the
// Python package runs the graph that was lowered (python/etprof/reference.py).
#ifndef ETP_NUMERICS_REFERENCE_H
#define ETP_NUMERICS_REFERENCE_H

#include "numerics/arms.h"

// Asks for what every operator of the baseline's side makes. What there is lies where etp_arms_dir
// says, or with ".last" behind it, channels last: which of both a value is, its sizes do not tell.
// ETP_USAGE: a record or inputs are missing. No guard may be set.
ETP_NODISCARD etp_status etp_reference_make(etp_arms *arms);
// Of the whole outputs.
const char *etp_reference_outputs(const etp_arms *arms);

#endif
