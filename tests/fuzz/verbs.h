// SPDX-License-Identifier: Apache-2.0
// A run folder on disk for a fuzz target, and what the verbs do with one, in this process.
#ifndef ETP_FUZZ_VERBS_H
#define ETP_FUZZ_VERBS_H

#include "document/fields.h"
#include "fuzz.h"
#include "os/os.h"
#include "report/report.h"

// An empty folder in memory; the same one each time, removed when the process ends.
const char *fuzz_empty_folder(void);
// For etp_os_replace_below: CTX is an etp_str.
etp_os_fill fuzz_fill_member;
// In every format; what it becomes is thrown away.
void fuzz_render(const etp_report *report, const char *table);
void fuzz_as_json(const etp_document *document, const void *data);

#define FUZZ_VERBS 6u // of which the first three write reports
void fuzz_run_verb(const char *dir, unsigned verb);

#endif
