// SPDX-License-Identifier: Apache-2.0
// What moving a value costs.
#ifndef ETP_PROGRAM_WORK_H
#define ETP_PROGRAM_WORK_H

#include <etprof/program.h>

// Bytes of a value with its scales; false when unknown.
bool etp_value_traffic(const etp_value *value, uint64_t *out_bytes);

#endif
