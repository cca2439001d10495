// SPDX-License-Identifier: Apache-2.0
// Text of others made safe to show: it can move no cursor, hide and reorder nothing.
#include "base/sink.h"
#include "base/utf8.h"

// A runner of GitHub obeys "::error ...::" at the start of a line, whatever white space is before
// it and wherever a line was broken, and "##[error]" anywhere; one of Azure "##vso[...]". Names of
// C++ have "::" too, so only words that are commands count.
bool etp_runner_command(etp_str s, size_t at)
{
    static const char *const k_words[] = {
        "error",         "warning",        "notice",   "debug",
        "group",         "endgroup",       "add-mask", "add-matcher",
        "add-path",      "remove-matcher", "set-env",  "set-output",
        "stop-commands", "save-state",     "echo",     "internal-set-repo-path"};
    s = (etp_str){s.ptr + at, s.len - at};
    if (etp_str_starts(s, ETP_STR("##[")) || etp_str_starts(s, ETP_STR("##vso["))) {
        return true;
    }
    if (!etp_str_starts(s, ETP_STR("::"))) {
        return false;
    }
    s = (etp_str){s.ptr + 2, s.len - 2};
    size_t n = 0;
    while (n < s.len &&
           (s.ptr[n] == '-' || ((s.ptr[n] | 0x20) >= 'a' && (s.ptr[n] | 0x20) <= 'z'))) {
        n++;
    }
    for (size_t i = 0; i < sizeof k_words / sizeof *k_words; i++) {
        size_t k = 0, len = strlen(k_words[i]);
        while (k < n && k < len && (s.ptr[k] | 0x20) == (k_words[i][k] | 0x20)) {
            k++;
        }
        if (k == n && n == len) {
            return true;
        }
    }
    return false;
}

bool etp_is_harmless(etp_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        bool begins = c == ':' || c == '#';
        if (c < 0x20 || c > 0x7E || (begins && etp_runner_command(s, i))) {
            return false;
        }
    }
    return true;
}

void etp_sink_shown(etp_sink *sink, etp_str s, bool lines)
{
    while (s.len) {
        bool valid = false;
        size_t n = etp_utf8_next(s, &valid);
        unsigned char c = (unsigned char)s.ptr[0];
        if ((c == ':' || c == '#') && etp_runner_command(s, 0)) {
            etp_sink_char(sink, s.ptr[0]);
            etp_sink_char(sink, '\'');
        } else if (lines && (c == '\n' || c == '\t')) {
            etp_sink_char(sink, s.ptr[0]);
        } else if (valid && (c < 0x20 || c == 0x7F)) {
            // Unicode has a picture for each: U+2400 and on for 0 … 0x1F, U+2421 for 0x7F.
            unsigned char low = c == 0x7F ? 0x21 : c;
            char picture[3] = {(char)0xE2, (char)0x90, (char)(0x80 | low)}; // U+2400 + low
            etp_sink_write(sink, (etp_str){picture, 3});
        } else if (!valid ||
                   etp_is_deceptive(etp_utf8_code_point((const unsigned char *)s.ptr, n))) {
            etp_sink_z(sink, "\xEF\xBF\xBD");
        } else {
            etp_sink_write(sink, (etp_str){s.ptr, n});
        }
        s = (etp_str){s.ptr + n, s.len - n};
    }
}

// The ASCII stand-in of one non-ASCII character. One for one, so that widths stay what they were.
static char ascii_for(etp_str c)
{
    static const struct {
        const char *utf8;
        char ascii;
    } k_stand_in[] = {
        {"×",     'x' },
        {"µ",     'u' },
        {"–",    '-' },
        {"—",    '-' },
        {"−",    '-' },
        {"…",    '~' },
        {"→",    '>' },
        {"←",    '<' },
        {"·",     '|' },
        {"±",     '~' },
        {"’",    '\''},
        {"“",    '"' },
        {"”",    '"' },
        {"≤",    '<' },
        {"≥",    '>' },
        {"Δ",     'd' },
        {"\u00A0", ' ' },
        {"\u202F", ' ' }
    };
    for (size_t i = 0; i < sizeof k_stand_in / sizeof *k_stand_in; i++) {
        if (etp_str_eqz(c, k_stand_in[i].utf8)) {
            return k_stand_in[i].ascii;
        }
    }
    return '?';
}

void etp_sink_ascii(etp_sink *sink, etp_str s)
{
    while (s.len) {
        bool valid = false;
        size_t n = etp_utf8_next(s, &valid);
        etp_sink_char(sink, n == 1 ? s.ptr[0] : ascii_for((etp_str){s.ptr, n}));
        s = (etp_str){s.ptr + n, s.len - n};
    }
}
