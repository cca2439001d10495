// SPDX-License-Identifier: Apache-2.0
// Texts that are kept as they are, and characters that are replaced.
#include "convert/clean.h"

#include "base/json.h"
#include "base/utf8.h"

#define REPLACEMENT ETP_STR("\xEF\xBF\xBD")

// Also U+2028 and U+2029, which some languages take for the end of a line, and U+FFFE and U+FFFF,
// which XML forbids.
static bool is_control(etp_str c)
{
    unsigned char first = (unsigned char)c.ptr[0];
    return first < 0x20 || first == 0x7F ||
           // U+0080 … U+009F, line and paragraph separator, and the two at the end of the first
           // plane
           (first == 0xC2 && (unsigned char)c.ptr[1] < 0xA0) ||
           (c.len == 3 && memcmp(c.ptr, "\xE2\x80", 2) == 0 &&
            ((unsigned char)c.ptr[2] & 0xFE) == 0xA8) ||
           (c.len == 3 && memcmp(c.ptr, "\xEF\xBF", 2) == 0 && (unsigned char)c.ptr[2] >= 0xBE) ||
           etp_is_deceptive(etp_utf8_code_point((const unsigned char *)c.ptr, c.len));
}

void etp_clean_append(etp_strbuf *buf, etp_str s, etp_clean how)
{
    for (;;) {
        // How many bytes S begins with that every way of cleaning keeps.
        size_t kept = 0;
        while (kept < s.len && s.ptr[kept] >= 0x20 && s.ptr[kept] < 0x7F && s.ptr[kept] != ';' &&
               s.ptr[kept] != ':' && s.ptr[kept] != '#') {
            kept++;
        }
        etp_strbuf_append(buf, (etp_str){s.ptr, kept});
        if (kept == s.len) {
            return;
        }
        s = (etp_str){s.ptr + kept, s.len - kept};
        bool valid = false;
        etp_str c = {s.ptr, etp_utf8_next(s, &valid)};
        bool shown = how != ETP_CLEAN_UTF8;
        if (!valid || (shown && is_control(c))) {
            etp_strbuf_append(buf, REPLACEMENT);
        } else if (shown && etp_runner_command(s, 0)) {
            etp_strbuf_append(buf, c);
            etp_strbuf_append(buf, ETP_STR("'"));
        } else if (how == ETP_CLEAN_FOLDED && *c.ptr == ';') {
            etp_strbuf_append(buf, ETP_STR(","));
        } else {
            etp_strbuf_append(buf, c);
        }
        s = (etp_str){s.ptr + c.len, s.len - c.len};
    }
}
