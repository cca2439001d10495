// SPDX-License-Identifier: Apache-2.0
// An answer in the forms it can take: a JSON document, or a report tree in the formats
// that the tree's writers have.
#ifndef ETP_DOCUMENT_ANSWER_H
#define ETP_DOCUMENT_ANSWER_H

#include "document/fields.h"
#include "report/report.h"
#include "report/screen.h"

typedef struct etp_answer {
    const etp_document *document;
    const void *data;                // that it is of
    const etp_report *report;        // for every other form; NULL where JSON alone is wanted
    const char *csv_table;           // id of the table that CSV is of; NULL: the first
    bool brief;                      // text shows the short form
    const etp_screen *screen;        // which is this; NULL: the report without its details
    etp_screen_writer *write_screen; // with a screen: etp_screen_write, linked by who makes one
} etp_answer;

// WRITER NULL: the JSON document. The caller checks SINK. STYLE may be NULL; its `brief` is the
// answer's to say, its `select` goes before the answer's own table. Errors: those of
// etp_report_write.
ETP_NODISCARD etp_status etp_answer_write(const etp_answer *answer, etp_report_writer *writer,
                                          const etp_report_style *style, etp_sink *sink,
                                          etp_error *err);

#endif
