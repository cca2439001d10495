// SPDX-License-Identifier: Apache-2.0
// Heat around blocks: waiting until the device is cool enough, and noticing when it slows down.
#ifndef ETP_MEASURE_BLOCK_ENVIRONMENT_H
#define ETP_MEASURE_BLOCK_ENVIRONMENT_H

#include "measure/environment.h"
#include "measure/state.h"

// Reads the state that the block begins with into E; with a start temperature of the plan it waits
// for that first, at most as long as the plan says.
void etp_block_environment_begin(etp_session *s, etp_block_environment *e);
// Reads the state after the block, and tells when the device was throttled meanwhile.
void etp_block_environment_end(etp_session *s, etp_block_environment *e);

#endif
