// SPDX-License-Identifier: Apache-2.0
// Numbers of one to ten bytes.
#include "convert/varint.h"

void etp_little_endian(etp_strbuf *out, uint64_t v, unsigned bytes)
{
    char c[8];
    for (unsigned i = 0; i < bytes; i++) {
        c[i] = (char)(v >> (8 * i) & 0xff);
    }
    etp_strbuf_append(out, (etp_str){c, bytes});
}

void etp_varint(etp_strbuf *out, uint64_t v)
{
    char c[10];
    size_t n = 0;
    do {
        c[n++] = (char)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
        v >>= 7;
    } while (v);
    etp_strbuf_append(out, (etp_str){c, n});
}
