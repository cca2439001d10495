// SPDX-License-Identifier: Apache-2.0
// The screen of an answer: what a person reads first in a terminal, in at most thirty lines. Its
// parts have one order: title, headlines, remarks, a grid of figures, steps, marks, where to read
// more. The tree of report.h has everything else.
#ifndef ETP_REPORT_SCREEN_H
#define ETP_REPORT_SCREEN_H

#include "report/report.h"

typedef struct etp_screen etp_screen;

enum {
    ETP_SCREEN_FIGURES = 4, // columns of the grid
    ETP_SCREEN_PARTS = 3    // of a headline, beside its words
};

// Lives in ARENA, borrows what it is given. NULL on out of memory, which every function accepts.
etp_screen *etp_screen_create(etp_arena *arena, const char *title);
// "VNNI is 1.73× faster than AVX2", and beside it "4.772 → 2.755 ms", "95 % [1.71, 1.76]" (NULL:
// none). Those of several headlines stand below each other.
void etp_screen_headline(etp_screen *s, etp_severity severity, const char *words,
                         const char *const parts[ETP_SCREEN_PARTS]);
// A sentence below the headlines.
void etp_screen_remark(etp_screen *s, etp_severity severity, const char *text);
// The remarks so far stay, however many lines there are; later ones may give way (--full has them).
void etp_screen_keep_remarks(etp_screen *s);

// Rows of figures with a bar. COLUMNS are the figures' titles.
// "Where it came from, ms", the unit on the next line where that leaves too little room.
void etp_screen_grid(etp_screen *s, const char *title, const char *unit,
                     const char *const columns[ETP_SCREEN_FIGURES]);
typedef struct etp_screen_row {
    const char *label;
    const char *figures[ETP_SCREEN_FIGURES]; // NULL: "–"
    double bar;                              // 0 none, else its part of the largest
    const char *note, *short_note;           // in place of the bar; NULL: none
    etp_severity severity;                   // of the last figure and the bar
    bool total;
} etp_screen_row;
void etp_screen_add(etp_screen *s, const etp_screen_row *row);

// "N1  −0.77 ms (28 %)  12 needless copies", and below it what to do; COMMAND is typed as it
// stands.
void etp_screen_step(etp_screen *s, const char *title, const char *id, const char *gain,
                     const char *text, const char *todo, bool command);
// ✓ for ETP_GOOD, ✗ for ETP_BAD and ETP_WARN, ? for what is not known.
void etp_screen_trust(etp_screen *s, etp_severity severity, const char *text);
// A line after a title: "Report", "out/report.html". COMMAND as in a step.
void etp_screen_more(etp_screen *s, const char *title, const char *text, bool command);

// As etp_report_write does for text.
typedef etp_status etp_screen_writer(const etp_screen *s, const etp_report_style *style,
                                     etp_sink *sink, etp_error *err);
ETP_NODISCARD etp_screen_writer etp_screen_write;

#endif
