// SPDX-License-Identifier: Apache-2.0
// SHA-256's blocks of 64 bytes: in C, and by the processor's own instructions.
#ifndef ETP_BASE_SHA256_BLOCKS_H
#define ETP_BASE_SHA256_BLOCKS_H

#include <etprof/bytes.h>

extern const uint32_t k_etp_sha256_round[64];

void etp_sha256_blocks_portable(uint32_t state[8], const uint8_t *blocks, size_t n);
// False, and nothing done: this is no x86 processor with SHA instructions.
bool etp_sha256_blocks_x86(uint32_t state[8], const uint8_t *blocks, size_t n);

#endif
