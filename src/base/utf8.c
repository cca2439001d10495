// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

size_t etp_utf8_next(etp_str s, bool *valid)
{
    *valid = false;
    if (s.len == 0) {
        return 0;
    }
    const unsigned char *p = (const unsigned char *)s.ptr;
    if (p[0] < 0x80) {
        *valid = true;
        return 1;
    }
    // After Unicode's table of well-formed sequences (3-7). What is broken has length 1, so that
    // readers find the next character again.
    size_t n = 2 + (size_t)(p[0] >= 0xE0) + (size_t)(p[0] >= 0xF0);
    if (p[0] < 0xC2 || p[0] > 0xF4 || n > s.len) {
        return 1;
    }
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xC0) != 0x80) {
            return 1;
        }
    }
    // Overlong forms, surrogates, beyond U+10FFFF.
    if ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F) ||
        (p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F)) {
        return 1;
    }
    *valid = true;
    return n;
}

uint32_t etp_utf8_code_point(const unsigned char *p, size_t n)
{
    switch (n) {
    case 1:
        return p[0];
    case 2:
        return (uint32_t)(p[0] & 0x1F) << 6 | (p[1] & 0x3F);
    case 3:
        return (uint32_t)(p[0] & 0x0F) << 12 | (uint32_t)(p[1] & 0x3F) << 6 | (p[2] & 0x3F);
    default:
        return (uint32_t)(p[0] & 0x07) << 18 | (uint32_t)(p[1] & 0x3F) << 12 |
               (uint32_t)(p[2] & 0x3F) << 6 | (p[3] & 0x3F);
    }
}

bool etp_is_deceptive(uint32_t c)
{
    // C1 controls, line separators, embeddings and overrides, annotations; what Unicode calls
    // default ignorable; the empty Braille pattern.
    static const struct {
        uint32_t first, last;
    } k_ranges[] = {
        {0x80,    0x9F   },
        {0xAD,    0xAD   },
        {0x34F,   0x34F  },
        {0x61C,   0x61C  },
        {0x115F,  0x1160 },
        {0x17B4,  0x17B5 },
        {0x180B,  0x180F },
        {0x200B,  0x200F },
        {0x2028,  0x202E },
        {0x2060,  0x206F },
        {0x2800,  0x2800 },
        {0x3164,  0x3164 },
        {0xFE00,  0xFE0F },
        {0xFEFF,  0xFEFF },
        {0xFFA0,  0xFFA0 },
        {0xFFF0,  0xFFFB },
        {0x1BCA0, 0x1BCA3},
        {0x1D173, 0x1D17A},
        {0xE0000, 0xE0FFF}
    };
    bool any = (c & 0xFFFE) == 0xFFFE;
    for (size_t i = 0; i < sizeof k_ranges / sizeof *k_ranges && c >= 0x80; i++) {
        any = any || (c >= k_ranges[i].first && c <= k_ranges[i].last);
    }
    return any;
}
