// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4), for naming files by content.
#ifndef ETP_BASE_SHA256_H
#define ETP_BASE_SHA256_H

#include <etprof/bytes.h>

#define ETP_SHA256_HEX_CHARS 65 // NUL included

typedef struct etp_sha256 {
    uint32_t state[8];
    uint64_t length; // bytes so far
    uint8_t block[64];
} etp_sha256;

void etp_sha256_init(etp_sha256 *h);
void etp_sha256_update(etp_sha256 *h, const void *ptr, size_t len);
void etp_sha256_hex(etp_sha256 *h, char out[static ETP_SHA256_HEX_CHARS]); // ends H
// Of LEN bytes that are all there.
void etp_sha256_of(const void *ptr, size_t len, char out[static ETP_SHA256_HEX_CHARS]);

#endif
