// SPDX-License-Identifier: Apache-2.0
// What the parts of the Markdown writer share. Private to the report room.
#ifndef ETP_REPORT_MD_H
#define ETP_REPORT_MD_H

#include "report/view.h"

// S as GitHub shows it as it is; AT_START of a line.
void etp_md_text(etp_sink *sink, etp_str s, bool at_start);
void etp_md_chart(etp_sink *sink, const etp_chart *c);

#endif
