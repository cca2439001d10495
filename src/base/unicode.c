// SPDX-License-Identifier: Apache-2.0
// UTF-16 and UTF-32 to UTF-8.
#include "base/unicode.h"
#include "base/choice.h"

#include <string.h>

typedef struct encoding {
    const char *name;
    size_t size; // of a unit
    bool big;
    const char *mark; // SIZE bytes
} encoding;

// A mark of UTF-32 begins with one of UTF-16, which would find a zero behind it.
static const encoding k_encodings[] = {
    {"UTF-32", 4, false, "\xFF\xFE\0\0"},
    {"UTF-32", 4, true,  "\0\0\xFE\xFF"},
    {"UTF-16", 2, false, "\xFF\xFE"    },
    {"UTF-16", 2, true,  "\xFE\xFF"    },
};

static uint32_t unit(const encoding *e, const uint8_t *p)
{
    uint32_t c = 0;
    for (size_t i = 0; i < e->size; i++) {
        c = c << 8 | p[e->big ? i : e->size - 1 - i];
    }
    return c;
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

static bool has_mark(const encoding *e, etp_str text)
{
    return text.len >= e->size && memcmp(text.ptr, e->mark, e->size) == 0;
}

// Without a mark: so many units, of which three quarters are of ASCII.
#define LEAST_UNITS 4
#define MOST_UNITS 64

static bool begins_with_ascii(const encoding *e, etp_str text)
{
    size_t n = ETP_MIN(text.len / e->size, MOST_UNITS), ascii = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t c = unit(e, (const uint8_t *)text.ptr + i * e->size);
        ascii += (c >= ' ' && c < 0x7F) || c == '\t' || c == '\r' || c == '\n';
    }
    return n >= LEAST_UNITS && ascii * 4 >= n * 3;
}

static const encoding *find(etp_str text)
{
    for (size_t i = 0; i < sizeof k_encodings / sizeof *k_encodings; i++) {
        if (has_mark(&k_encodings[i], text) || begins_with_ascii(&k_encodings[i], text)) {
            return &k_encodings[i];
        }
    }
    return NULL;
}

const char *etp_unicode_wide(etp_str text)
{
    const encoding *e = find(text);
    return e ? e->name : NULL;
}

etp_str etp_unicode_decode(etp_str text, etp_arena *arena)
{
    const uint8_t *p = (const uint8_t *)text.ptr;
    if (text.len >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0) {
        return (etp_str){text.ptr + 3, text.len - 3};
    }
    const encoding *e = find(text);
    if (!e) {
        return text;
    }
    // A unit of two bytes takes three at most; a pair of them, and one of four, four.
    char *out = etp_arena_alloc_array(arena, text.len / 2 + 1, 3);
    size_t n = 0, at = has_mark(e, text) ? e->size : 0;
    while (out && text.len - at >= e->size) {
        uint32_t c = unit(e, p + at);
        at += e->size;
        uint32_t low = text.len - at >= e->size ? unit(e, p + at) : 0;
        if (e->size == 2 && is_high(c) && is_low(low)) {
            c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
            at += 2;
        } else if (is_high(c) || is_low(c) || c > 0x10FFFF) {
            c = 0xFFFD;
        }
        n += put(out + n, c);
    }
    return (etp_str){ETP_OR(out, ""), n};
}
