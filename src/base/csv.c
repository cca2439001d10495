// SPDX-License-Identifier: Apache-2.0
// Cells of a CSV file.
#include "base/csv.h"

#include <string.h>

void etp_csv_cell(etp_sink *sink, etp_str s, char separator)
{
    bool quote = false;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        quote = quote || c == separator || c == '"' || c == '\n' || c == '\r';
    }
    if (!quote) {
        etp_sink_write(sink, s);
        return;
    }
    etp_sink_char(sink, '"');
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '"') {
            etp_sink_char(sink, '"');
        }
        etp_sink_char(sink, s.ptr[i]);
    }
    etp_sink_char(sink, '"');
}

void etp_csv_text(etp_sink *sink, etp_str s)
{
    if (s.len == 0 || !memchr("=+-@\t\r", s.ptr[0], 6)) {
        etp_csv_cell(sink, s, ',');
        return;
    }
    char small[256];
    if (s.len < sizeof small) {
        small[0] = '\'';
        memcpy(small + 1, s.ptr, s.len);
        etp_csv_cell(sink, (etp_str){small, s.len + 1}, ',');
        return;
    }
    // Too long to copy: always quoted, which is allowed.
    etp_sink_z(sink, "\"'");
    for (size_t i = 0; i < s.len; i++) {
        etp_sink_z(sink, etp_if(s.ptr[i] == '"', "\""));
        etp_sink_char(sink, s.ptr[i]);
    }
    etp_sink_char(sink, '"');
}
