// SPDX-License-Identifier: Apache-2.0
// The reply about a recording's operators.
#include "inspect/ops.h"
#include "library/reply.h"
#include "library/reply_files.h"

// One such function for each kind: a reply makes its report when it is asked for one, not before.
static const etp_report *report_ops(const void *about, etp_arena *arena)
{
    return etp_ops_report(about, arena);
}

etp_status etp_reply_ops(const etp_question *q, etp_reply *r, etp_error *err)
{
    const char *path = q->paths[0];
    ETP_TRY(etp_file_open_unpacked(path, ETP_REPLY_DUMP_LIMIT, &r->file, err));
    if (q->record) {
        ETP_TRY(etp_reply_read_record(q->record, r, err));
    }
    const etp_trace_options how = etp_reply_units(q);
    if (etp_trace_open(r->file.bytes, &how, &r->trace, err) != ETP_OK ||
        etp_trace_tell_modes(r->trace, err) != ETP_OK) {
        return etp_fail_ctx(err, "%s", path);
    }
    if (q->program) {
        ETP_TRY(etp_file_open(q->program, ETP_REPLY_FILE_LIMIT, &r->program_file, err));
        if (etp_program_open(r->program_file.bytes, NULL, &r->program, err) != ETP_OK) {
            return etp_fail_ctx(err, "%s", q->program);
        }
    }
    // An ETRecord knows graph nodes, a recording knows instructions: only the program joins the
    // two.
    if (q->record && !q->program) {
        return etp_fail(err, ETP_USAGE,
                        "--etrecord needs --pte: the program leads from "
                        "operators to the record");
    }
    etp_ops_answer *ops = ETP_NEW(&r->arena, etp_ops_answer);
    ETP_NEED(ops, err, "operators");
    r->answer =
        (etp_answer){.document = &k_etp_ops_document, .data = ops, .csv_table = "operators"};
    r->report = report_ops;
    return etp_ops_answer_build(r->trace, r->program, q->record ? &r->record : NULL, path,
                                &r->arena, ops, err);
}
