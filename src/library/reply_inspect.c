// SPDX-License-Identifier: Apache-2.0
// The reply about what is in a file.
#include "inspect/inspect.h"

#include "inspect/tensors.h"
#include "library/reply.h"
#include "library/reply_files.h"

static void close_views(etp_reply *r)
{
    etp_inspect_close(&r->view);
    etp_inspect_close(&r->other_view);
}

static etp_status open_view(const char *path, etp_bytes record, etp_file *file, etp_reply *r,
                            etp_inspect *out, etp_error *err)
{
    const char *name = etp_arena_strdup(&r->arena, etp_str_from(path));
    ETP_TRY(etp_file_open_unpacked(path, ETP_REPLY_FILE_LIMIT, file, err));
    if (etp_inspect_open(name, file->bytes, record, &r->arena, out, err) != ETP_OK) {
        return etp_fail_ctx(err, "%s", path);
    }
    return ETP_OK;
}

static const etp_report *report_diff(const void *about, etp_arena *arena)
{
    return etp_inspect_diff_report(about, arena);
}

static const etp_report *report_tensors(const void *about, etp_arena *arena)
{
    return etp_inspect_tensors_report(about, arena);
}

static const etp_report *report_file(const void *about, etp_arena *arena)
{
    return etp_inspect_report(about, arena);
}

static const etp_report *report_tree(const void *about, etp_arena *arena)
{
    return etp_inspect_tree(about, arena);
}

etp_status etp_reply_inspect(const etp_question *q, etp_reply *r, etp_error *err)
{
    r->close = close_views;
    if (q->tensor) {
        const char *path = q->paths[0];
        etp_inspect_tensors *tensors = ETP_NEW(&r->arena, etp_inspect_tensors);
        ETP_NEED(tensors, err, path);
        ETP_TRY(etp_file_open_unpacked(path, ETP_REPLY_FILE_LIMIT, &r->file, err));
        if (q->buffer) {
            ETP_TRY(etp_file_open(q->buffer, ETP_REPLY_FILE_LIMIT, &r->buffer_file, err));
        }
        r->answer = (etp_answer){.document = &k_etp_inspect_tensors_document, .data = tensors};
        r->report = report_tensors;
        if (etp_inspect_tensors_read(path, r->file.bytes, r->buffer_file.bytes, &r->arena, tensors,
                                     err) != ETP_OK) {
            return etp_fail_ctx(err, "%s", path);
        }
        return ETP_OK;
    }
    if (q->record) {
        ETP_TRY(etp_file_open(q->record, ETP_REPLY_FILE_LIMIT, &r->record_file, err));
    }
    ETP_TRY(open_view(q->paths[0], r->record_file.bytes, &r->file, r, &r->view, err));
    if (q->other) {
        if (q->recording) {
            return etp_fail(err, ETP_USAGE,
                            "--diff compares programs, not times: leave out --etdump "
                            "(etprof compare takes two recordings)");
        }
        etp_inspect_diff *diff = ETP_NEW(&r->arena, etp_inspect_diff);
        ETP_TRY(open_view(q->other, (etp_bytes){0}, &r->other, r, &r->other_view, err));
        ETP_NEED(diff, err, "difference");
        r->answer = (etp_answer){
            .document = &k_etp_inspect_diff_document, .data = diff, .csv_table = "sizes"};
        r->report = report_diff;
        return etp_inspect_compare(&r->view, &r->other_view, &r->arena, diff, err);
    }
    if (q->tree && !r->view.program) {
        return etp_fail(err, ETP_USAGE, "--tree shows programs (.pte, .bpte); %s is not one",
                        q->paths[0]);
    }
    if (q->recording) {
        const char *name = etp_arena_strdup(&r->arena, etp_str_from(q->recording));
        ETP_TRY(etp_file_open_unpacked(q->recording, ETP_REPLY_FILE_LIMIT, &r->other, err));
        const etp_trace_options how = etp_reply_units(q);
        if (etp_trace_open(r->other.bytes, &how, &r->trace, err) != ETP_OK ||
            etp_trace_need_time(r->trace, err) != ETP_OK) {
            return etp_fail_ctx(err, "%s", q->recording);
        }
        ETP_TRY(etp_inspect_time(&r->view, r->trace, name, &r->arena, err));
    }
    // Files that are no programs have tables of other names: CSV is then of the first one.
    r->answer = (etp_answer){.document = &k_etp_inspect_document,
                             .data = &r->view,
                             .csv_table = etp_z_if(r->view.program, "operators")};
    r->report = q->tree ? report_tree : report_file;
    return ETP_OK;
}
