// SPDX-License-Identifier: Apache-2.0
// The section "What if" of the HTML page, and the numbers its script adds up.
#ifndef ETP_SHOW_WHATIF_DATA_H
#define ETP_SHOW_WHATIF_DATA_H

#include "document/fields.h"
#include "show/report.h"

extern const etp_document k_etp_page_document;
// COMMAND: that computes the same from the changes behind it, NULL: none.
void etp_ab_whatif_section(const etp_ab *ab, const char *command, etp_report *r, etp_arena *arena);

#endif
