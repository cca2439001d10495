// SPDX-License-Identifier: Apache-2.0
// What every part of a report for a terminal is put together from: colours, text in cells, wrapped
// lines, ASCII where the terminal has no more.
#include "report/text.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"

const char *const k_etp_sgr_severity[5] = {"", "36", "32", "33", "31"};

void etp_text_sgr(etp_text *o, const char *sgr)
{
    if (o->color && *sgr) {
        etp_sink_printf(o->sink, "\x1b[%sm", sgr);
    }
}

void etp_text_plain(etp_text *o, const char *sgr)
{
    if (o->color && *sgr) {
        etp_sink_z(o->sink, "\x1b[0m");
    }
}

void etp_text_put(etp_text *o, etp_str s)
{
    if (o->unicode) {
        etp_sink_write(o->sink, s);
    } else {
        etp_sink_ascii(o->sink, s);
    }
}

void etp_text_putz(etp_text *o, const char *z)
{
    etp_text_put(o, etp_str_from(z));
}

void etp_text_rule(etp_text *o, size_t width)
{
    for (size_t i = 0; i < width; i++) {
        etp_sink_z(o->sink, o->unicode ? "─" : "-");
    }
    etp_sink_char(o->sink, '\n');
}

void etp_text_cell(etp_text *o, etp_str s, size_t width, bool right)
{
    o->scratch.len = 0;
    etp_str cut = etp_truncate(&o->scratch, s, width);
    size_t w = etp_width(cut), pad = ETP_LESS(width, w);
    etp_sink_repeat(o->sink, ' ', right ? pad : 0);
    etp_text_put(o, cut);
    etp_sink_repeat(o->sink, ' ', right ? 0 : pad);
}

// "1.2 ms" must not be parted at the end of a line; a punctuation mark behind the unit belongs to
// it.
size_t etp_text_word(etp_str s)
{
    static const char *const k_units[] = {"%", "ns", "µs", "ms", "s", "min", "h", "kB", "MB", "GB"};
    size_t n = etp_str_find(s, ETP_STR(" "));
    if (n == 0 || n >= s.len || s.ptr[n - 1] < '0' || s.ptr[n - 1] > '9') {
        return n;
    }
    etp_str rest = {s.ptr + n + 1, s.len - n - 1};
    size_t end = etp_str_find(rest, ETP_STR(" ")), unit = end;
    while (unit > 0 && strchr(".,:;)]", rest.ptr[unit - 1])) {
        unit--;
    }
    for (size_t i = 0; i < sizeof k_units / sizeof *k_units; i++) {
        if (etp_str_eqz((etp_str){rest.ptr, unit}, k_units[i])) {
            return n + 1 + end;
        }
    }
    return n;
}

// Several blanks in a row are kept within a line and dropped at its end. A word that is longer than
// the line stands alone on one: it is never cut.
void etp_text_wrap(etp_text *o, etp_str s, size_t at, size_t indent)
{
    size_t gap = 0; // blanks before the next word of this line
    while (s.len) {
        size_t n = etp_text_word(s);
        etp_str word = {s.ptr, n};
        s = n < s.len ? (etp_str){s.ptr + n + 1, s.len - n - 1} : (etp_str){s.ptr + n, 0};
        size_t w = etp_width(word);
        if (w > 0 && gap > 0 && at + gap + w > o->width) {
            etp_sink_char(o->sink, '\n');
            etp_sink_repeat(o->sink, ' ', indent);
            at = indent;
            gap = 0;
        }
        if (w > 0) {
            etp_sink_repeat(o->sink, ' ', gap);
            etp_text_put(o, word);
            at += gap + w;
            gap = 0;
        }
        gap++;
    }
    etp_sink_char(o->sink, '\n');
}

void etp_text_repeat(etp_text *o, const char *z, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        etp_sink_z(o->sink, z);
    }
}

size_t etp_text_cells_of(double share, size_t width)
{
    return (size_t)fmax(0, fmin(floor(share * (double)width + 0.5), (double)width));
}

bool etp_text_bar_shows(const etp_text *o, double share, size_t width)
{
    return etp_text_cells_of(share, o->unicode ? width * 8 : width) > 0;
}

void etp_text_bar(etp_text *o, double share, size_t width, bool pad)
{
    static const char *const k_eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    size_t used = 0;
    if (o->unicode) {
        size_t eighths = etp_text_cells_of(share, width * 8);
        etp_text_repeat(o, "█", eighths / 8);
        etp_sink_z(o->sink, k_eighths[eighths % 8]);
        used = eighths / 8 + (eighths % 8 != 0);
    } else {
        used = etp_text_cells_of(share, width);
        etp_text_repeat(o, "#", used);
    }
    etp_sink_repeat(o->sink, ' ', pad ? width - used : 0);
}
