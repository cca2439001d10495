// SPDX-License-Identifier: Apache-2.0
// Text of others made safe to show: it can move no cursor, hide and reorder nothing.
#include "base/json.h"
#include "base/sink.h"

static uint32_t code_point(const unsigned char *p, size_t n)
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

// Characters that could reorder, hide or break what a reader sees, or that XML forbids.
static bool is_deceptive(uint32_t c)
{
    return (c >= 0x80 && c <= 0x9F) ||     // C1 controls
           c == 0xAD ||                    // soft hyphen
           c == 0x61C ||                   // Arabic letter mark
           (c >= 0x200B && c <= 0x200F) || // zero width, directional marks
           (c >= 0x2028 && c <= 0x202E) || // line separators, embeddings, overrides
           (c >= 0x2060 && c <= 0x206F) || // word joiner … isolates
           c == 0xFEFF || (c & 0xFFFE) == 0xFFFE || (c >= 0xFFF9 && c <= 0xFFFB) ||
           (c >= 0xE0000 && c <= 0xE007F); // tags
}

bool etp_is_harmless(etp_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c < 0x20 || c > 0x7E) {
            return false;
        }
    }
    return true;
}

static void control_picture(etp_sink *sink, unsigned char c)
{
    unsigned char low = c == 0x7F ? 0x21 : c;
    char picture[3] = {(char)0xE2, (char)0x90, (char)(0x80 | low)}; // U+2400 + low
    etp_sink_write(sink, (etp_str){picture, 3});
}

void etp_sink_shown(etp_sink *sink, etp_str s, bool lines)
{
    while (s.len) {
        bool valid = false;
        size_t n = etp_utf8_next(s, &valid);
        unsigned char c = (unsigned char)s.ptr[0];
        if (lines && (c == '\n' || c == '\t')) {
            etp_sink_char(sink, s.ptr[0]);
        } else if (valid && (c < 0x20 || c == 0x7F)) {
            control_picture(sink, c);
        } else if (!valid || is_deceptive(code_point((const unsigned char *)s.ptr, n))) {
            etp_sink_z(sink, "\xEF\xBF\xBD");
        } else {
            etp_sink_write(sink, (etp_str){s.ptr, n});
        }
        s = (etp_str){s.ptr + n, s.len - n};
    }
}
