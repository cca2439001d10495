// SPDX-License-Identifier: Apache-2.0
// SHA-256 after FIPS 180-4.
#include "base/sha256.h"

#include "base/choice.h"
#include "base/sha256_blocks.h"

static void compress_all(uint32_t state[8], const uint8_t *blocks, size_t n)
{
    if (!etp_sha256_blocks_x86(state, blocks, n)) {
        etp_sha256_blocks_portable(state, blocks, n);
    }
}

void etp_sha256_init(etp_sha256 *h)
{
    *h = (etp_sha256){
        .state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
                  0x1f83d9ab, 0x5be0cd19}
    };
}

void etp_sha256_update(etp_sha256 *h, const void *ptr, size_t len)
{
    const uint8_t *p = ptr;
    size_t used = (size_t)(h->length % 64);
    h->length += len;
    while (len) {
        if (used == 0 && len >= 64) { // whole blocks, where they lie
            compress_all(h->state, p, len / 64);
            p += len / 64 * 64;
            len %= 64;
            continue;
        }
        size_t take = ETP_MIN(64 - used, len);
        memcpy(h->block + used, p, take);
        used += take;
        p += take;
        len -= take;
        if (used == 64) {
            compress_all(h->state, h->block, 1);
            used = 0;
        }
    }
}

void etp_sha256_hex(etp_sha256 *h, char out[static ETP_SHA256_HEX_CHARS])
{
    // The end that FIPS 180-4 asks for: a bit of 1, zeros up to 8 bytes before a whole block, and
    // how many bits there were, highest byte first.
    uint64_t bits = h->length * 8;
    etp_sha256_update(h, "\x80", 1);
    while (h->length % 64 != 56) {
        etp_sha256_update(h, "\0", 1);
    }
    uint8_t tail[8];
    for (size_t i = 0; i < 8; i++) {
        tail[i] = (uint8_t)(bits >> (56 - 8 * i));
    }
    etp_sha256_update(h, tail, sizeof tail);
    for (size_t i = 0; i < 64; i++) {
        out[i] = "0123456789abcdef"[h->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
    }
    out[64] = '\0';
}

void etp_sha256_of(const void *ptr, size_t len, char out[static ETP_SHA256_HEX_CHARS])
{
    etp_sha256 h;
    etp_sha256_init(&h);
    etp_sha256_update(&h, ptr, len);
    etp_sha256_hex(&h, out);
}
