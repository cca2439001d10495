// SPDX-License-Identifier: Apache-2.0
// A report's table as an Arrow C stream.
#ifndef ETP_LIBRARY_TABLE_H
#define ETP_LIBRARY_TABLE_H

#include <etprof/buffer.h>
#include <etprof/tables.h>

#include "report/report.h"

// Makes the report anew, in ARENA.
typedef const etp_report *etp_report_author(const void *about, etp_arena *arena);

// Table ID, or FALLBACK when it is NULL, of what MAKE makes of ABOUT.
ETP_NODISCARD etp_status etp_table_stream(etp_report_author *make, const void *about,
                                          const char *id, const char *fallback,
                                          struct ArrowArrayStream *out, etp_error *err);
ETP_NODISCARD etp_status etp_table_name(etp_report_author *make, const void *about, size_t index,
                                        etp_buffer *out, etp_error *err);

#endif
