// SPDX-License-Identifier: Apache-2.0
// Timeline CSVs (one line per event and execution) as traces: what etprof writes, and what
// etdump_to_csv.py of Arm's kit writes.
//
// The kit's tables hold neither instructions nor what contains what. Then each DELEGATE_CALL, each
// kernel and each other event between them is counted as one instruction, in the order of node_id.
#ifndef ETP_TRACE_TIMELINE_H
#define ETP_TRACE_TIMELINE_H

#include <etprof/trace.h>

typedef struct etp_timeline {
    etp_trace *
        *traces; // one per session_block of the table, ascending; one when it has no such column
    uint32_t *session_blocks; // their numbers, 1 without the column
    const char *level;        // that ran, as the table says; NULL: unknown
    size_t n;
} etp_timeline;

// Reads TEXT, which must outlive the traces; each is closed with etp_trace_close. Arrays live in
// ARENA. The traces have no file: etp_trace_dump gives an empty one. Lines of events outside any
// execution (run_index below 0) are left out.
// Errors: ETP_CORRUPT with line and byte position, ETP_UNSUPPORTED (another table), ETP_NOMEM.
ETP_NODISCARD etp_status etp_timeline_open(etp_str text, etp_arena *arena, etp_timeline *out,
                                           etp_error *err);

#endif
