// SPDX-License-Identifier: Apache-2.0
// Private to the files behind <etprof/reply.h>: a reply while it is open.
#ifndef ETP_LIBRARY_REPLY_FILES_H
#define ETP_LIBRARY_REPLY_FILES_H

#include <etprof/program.h>
#include <etprof/reply.h>

#include "convert/inspector.h"
#include "document/answer.h"
#include "inspect/inspect.h"
#include "judge/open.h"
#include "library/table.h"
#include "os/os.h"

struct etp_reply { // lives in its arena; immutable once it is given out
    etp_arena arena;
    etp_answer answer; // without its report, which `report` makes
    etp_report_author *report;
    etp_file file, other, program_file, record_file, buffer_file;
    etp_trace *trace;
    const etp_program *program;
    etp_etrecord record;
    etp_inspect view, other_view;
    etp_ab_session *session;
    const etp_inspector_table *inspector; // of kind INSPECTOR
    bool has_buffer;
    // What its maker opened beside files, trace and program; NULL.
    void (*close)(struct etp_reply *r);
    // Instead of the answer; NULL: that is written.
    etp_status (*write)(const struct etp_reply *r, etp_output_format format, etp_sink *sink,
                        etp_error *err);
};

// Files are mapped, so that a large one costs address space alone. A dump may be compressed: its
// limit bounds what is unpacked into memory.
#define ETP_REPLY_FILE_LIMIT ((uint64_t)64 << 30)
#define ETP_REPLY_DUMP_LIMIT ((uint64_t)4 << 30)

ETP_NODISCARD etp_status etp_reply_read_record(const char *path, etp_reply *r, etp_error *err);
static inline etp_trace_options etp_reply_units(const etp_question *q)
{
    return (etp_trace_options){
        .units = {q->source_unit, q->delegate_unit}
    };
}

#endif
