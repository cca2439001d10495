// SPDX-License-Identifier: Apache-2.0
// Private to the files behind <etprof/reply.h>: a reply while it is open, and who makes each kind.
#ifndef ETP_LIBRARY_REPLY_FILES_H
#define ETP_LIBRARY_REPLY_FILES_H

#include <etprof/program.h>
#include <etprof/reply.h>

#include "convert/inspector.h"
#include "inspect/inspect.h"
#include "judge/open.h"
#include "library/table.h"
#include "os/os.h"
#include "report/answer.h"

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
};

// Each fills what it needs; what it opened is closed by etp_reply_close in any case.
typedef etp_status etp_reply_maker(const etp_question *q, etp_reply *r, etp_error *err);
etp_reply_maker etp_reply_ops, etp_reply_inspector, etp_reply_inspect, etp_reply_stats,
    etp_reply_whatif;

#endif
