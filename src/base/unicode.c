// SPDX-License-Identifier: Apache-2.0
// UTF-16 to UTF-8.
#include "base/unicode.h"

#include <string.h>

static uint32_t unit(const uint8_t *p, bool big)
{
    return big ? (uint32_t)p[0] << 8 | p[1] : (uint32_t)p[1] << 8 | p[0];
}

static size_t put(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3F));
        out[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3F));
    out[2] = (char)(0x80 | (c >> 6 & 0x3F));
    out[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

static bool is_high(uint32_t c)
{
    return c >= 0xD800 && c < 0xDC00;
}

static bool is_low(uint32_t c)
{
    return c >= 0xDC00 && c < 0xE000;
}

static bool has_mark(etp_str text, bool big)
{
    return text.len >= 2 && memcmp(text.ptr, big ? "\xFE\xFF" : "\xFF\xFE", 2) == 0;
}

// Without a mark.
static bool begins_with_ascii(etp_str text, bool big)
{
    bool all = text.len >= 8;
    for (size_t i = 0; all && i < 8; i += 2) {
        uint32_t c = unit((const uint8_t *)text.ptr + i, big);
        all = (c >= ' ' && c < 0x7F) || c == '\t' || c == '\r' || c == '\n';
    }
    return all;
}

static bool is_order(etp_str text, bool big)
{
    return has_mark(text, big) || begins_with_ascii(text, big);
}

bool etp_unicode_is_wide(etp_str text)
{
    return is_order(text, false) || is_order(text, true);
}

etp_str etp_unicode_decode(etp_str text, etp_arena *arena)
{
    const uint8_t *p = (const uint8_t *)text.ptr;
    if (text.len >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0) {
        return (etp_str){text.ptr + 3, text.len - 3};
    }
    if (!etp_unicode_is_wide(text)) {
        return text;
    }
    bool big = is_order(text, true);
    // A unit of two bytes takes three at most; a pair of them four.
    char *out = etp_arena_alloc_array(arena, text.len / 2 + 1, 3);
    size_t n = 0, at = has_mark(text, big) ? 2 : 0;
    while (out && text.len - at >= 2) {
        uint32_t c = unit(p + at, big);
        at += 2;
        uint32_t low = text.len - at >= 2 ? unit(p + at, big) : 0;
        if (is_high(c) && is_low(low)) {
            c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
            at += 2;
        } else if (is_high(c) || is_low(c)) {
            c = 0xFFFD;
        }
        n += put(out + n, c);
    }
    return (etp_str){out ? out : "", n};
}
