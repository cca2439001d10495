// SPDX-License-Identifier: Apache-2.0
// Which writer an answer goes to.
#include "report/answer.h"

etp_status etp_answer_write(const etp_answer *answer, etp_output_format format,
                            const etp_report_style *style, etp_sink *sink, etp_error *err)
{
    static const etp_format k_formats[ETP_OUTPUT_FORMATS] = {
        [ETP_OUTPUT_TEXT] = ETP_FORMAT_TEXT, [ETP_OUTPUT_CSV] = ETP_FORMAT_CSV,
        [ETP_OUTPUT_MD] = ETP_FORMAT_MD,     [ETP_OUTPUT_HTML] = ETP_FORMAT_HTML,
        [ETP_OUTPUT_SVG] = ETP_FORMAT_SVG,
    };
    // The document is its author's own and needs no report.
    if (format == ETP_OUTPUT_JSON) {
        etp_json j;
        etp_json_init(&j, sink, true);
        answer->json(answer->data, &j);
        return ETP_OK;
    }
    etp_report_style how = style ? *style : (etp_report_style){0};
    how.brief = answer->brief && format == ETP_OUTPUT_TEXT;
    if (how.brief && answer->screen) {
        return etp_screen_write(answer->screen, &how, sink, err);
    }
    how.select = how.select || format != ETP_OUTPUT_CSV ? how.select : answer->csv_table;
    return etp_report_write(answer->report, k_formats[format], &how, sink, err);
}
