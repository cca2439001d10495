// SPDX-License-Identifier: Apache-2.0
// Which writer an answer goes to.
#include "document/answer.h"

etp_status etp_answer_write(const etp_answer *answer, etp_report_writer *writer,
                            const etp_report_style *style, etp_sink *sink, etp_error *err)
{
    if (!writer) {
        etp_json j;
        etp_json_init(&j, sink, true);
        etp_document_write(&j, answer->document, answer->data, answer->data);
        return ETP_OK;
    }
    etp_report_style how = style ? *style : (etp_report_style){0};
    how.brief = answer->brief && writer == etp_write_text;
    if (how.brief && answer->screen) {
        return answer->write_screen(answer->screen, &how, sink, err);
    }
    how.select = how.select || writer != etp_write_csv ? how.select : answer->csv_table;
    return etp_report_write(answer->report, writer, &how, sink, err);
}
