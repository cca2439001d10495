// SPDX-License-Identifier: Apache-2.0
// What the parts of the text writer share. Private to the report room.
#ifndef ETP_REPORT_TEXT_H
#define ETP_REPORT_TEXT_H

#include "report/view.h"

typedef struct etp_text {
    etp_sink *sink;
    size_t width;
    bool color, unicode;
    etp_strbuf scratch; // for one string at a time
} etp_text;

// SGR parameters; "" = none.
extern const char *const k_etp_sgr_severity[5];

void etp_text_sgr(etp_text *o, const char *sgr);   // starts a colour; "" does nothing
void etp_text_plain(etp_text *o, const char *sgr); // ends what SGR started
// Writes S, replacing what a plain terminal cannot show by one ASCII character each.
void etp_text_put(etp_text *o, etp_str s);
void etp_text_putz(etp_text *o, const char *z);
void etp_text_rule(etp_text *o, size_t width);
// S cut to WIDTH and padded to it.
void etp_text_cell(etp_text *o, etp_str s, size_t width, bool right);
// Bytes up to where a line of S may end: a figure and its unit are one word.
size_t etp_text_word(etp_str s);
// Words of S, the first line starting at column AT, further ones at INDENT. Ends the line.
void etp_text_wrap(etp_text *o, etp_str s, size_t at, size_t indent);

void etp_text_table(etp_text *o, const etp_table *t);
void etp_text_chart(etp_text *o, const etp_chart *c);
// How many of WIDTH cells SHARE fills, which is finite: callers ask before they divide.
size_t etp_text_cells_of(double share, size_t width);
void etp_text_repeat(etp_text *o, const char *z, size_t n);
// A horizontal bar of SHARE (0…1) of WIDTH columns, padded to WIDTH when PAD.
bool etp_text_bar_shows(const etp_text *o, double share, size_t width); // false: it is empty
void etp_text_bar(etp_text *o, double share, size_t width, bool pad);

#endif
