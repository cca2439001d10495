// SPDX-License-Identifier: Apache-2.0
// Replies to programs: opened, written as text or as tables, closed.
#include "library/reply.h"

#include <math.h>

#include "base/buffer.h"
#include "base/number.h"
#include "base/shell.h"
#include "library/handle.h"
#include "library/reply_files.h"
#include "library/sized.h"
#include "os/os.h"
#include "publish/shown.h"
#include "show/report.h"

// By the numbers of the public enum, which never change.
static etp_reply_maker *const k_makers[ETP_QUESTIONS] = {
    [ETP_QUESTION_OPS] = etp_reply_ops,
    [ETP_QUESTION_INSPECT] = etp_reply_inspect,
    [ETP_QUESTION_STATS] = etp_reply_stats,
    [ETP_QUESTION_WHATIF] = etp_reply_whatif,
    [ETP_QUESTION_INSPECTOR] = etp_reply_inspector,
};

static etp_status check_list(const char *const *items, size_t n, const char *what, etp_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (!items || !items[i] || !items[i][0]) {
            return etp_fail(err, ETP_USAGE, "%s %zu of %zu is empty", what, i + 1, n);
        }
    }
    return ETP_OK;
}

// The folder of a session is the first thing that its owner sees, so he names it here, too.
static etp_status check_is_file(const char *path, etp_error *err)
{
    etp_arena arena = {0};
    etp_status st = ETP_OK;
    if (etp_os_is_dir(path)) {
        const char *read_by = etp_shell_command(&arena, "etprof analyze %s", path);
        st = etp_fail(err, ETP_IO, "%s is a folder, not a file; sessions and their recordings: %s",
                      path, read_by ? read_by : "etprof analyze");
    }
    etp_arena_dispose(&arena);
    return st;
}

static etp_status check(const etp_question *q, etp_error *err)
{
    if ((unsigned)q->kind >= ETP_QUESTIONS) {
        return etp_fail(err, ETP_USAGE, "no question %u: there are %d", (unsigned)q->kind,
                        ETP_QUESTIONS);
    }
    ETP_TRY(check_list(q->paths, q->n_paths, "path", err));
    ETP_TRY(check_list(q->changes, q->n_changes, "change", err));
    if (q->n_paths == 0 || (q->n_paths > 1 && q->kind != ETP_QUESTION_WHATIF)) {
        return etp_fail(err, ETP_USAGE, "%zu paths where one is asked about", q->n_paths);
    }
    if (q->kind == ETP_QUESTION_OPS || q->kind == ETP_QUESTION_INSPECT ||
        q->kind == ETP_QUESTION_INSPECTOR) {
        ETP_TRY(check_is_file(q->paths[0], err));
    }
    return isfinite(q->margin) && q->margin >= 0
               ? ETP_OK
               : etp_fail(err, ETP_USAGE, "the margin is %s, not a ratio from 0 on",
                          ETP_DIGITS(q->margin, 6));
}

etp_status etp_reply_open(const etp_question *question, etp_reply **out, etp_error *err)
{
    if (!out) {
        return etp_fail(err, ETP_USAGE, "no place for the reply");
    }
    *out = NULL;
    etp_question q;
    ETP_TRY(etp_options_take(&q, sizeof q, ETP_SIZE_TO(etp_question, tensor), question,
                             "etp_question", err));
    // The kind is an index into the table below from here on.
    ETP_TRY(check(&q, err));
    etp_arena arena = {0};
    etp_reply *r = ETP_NEW(&arena, etp_reply);
    ETP_NEED(r, err, "reply");
    // The reply lies in its arena, whose copy in the struct is used from here on.
    r->arena = arena;
    etp_status st = k_makers[q.kind](&q, r, err);
    st = st == ETP_OK ? etp_arena_check(&r->arena, err, "reply") : st;
    if (st != ETP_OK) {
        etp_reply_close(r);
        return st;
    }
    *out = r;
    return ETP_OK;
}

void etp_reply_close(etp_reply *r)
{
    if (!r) {
        return;
    }
    // Views and traces borrow from the files: those are unmapped last, and the arena, which owns
    // the texts of all of them, at the very end.
    etp_ab_close(r->session);
    etp_inspect_close(&r->view);
    etp_inspect_close(&r->other_view);
    etp_trace_close(r->trace);
    etp_program_close(r->program);
    etp_file *const files[] = {&r->file, &r->other, &r->program_file, &r->record_file,
                               &r->buffer_file};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        etp_file_close(files[i]);
    }
    etp_arena arena = r->arena; // it goes with its owner
    etp_arena_dispose(&arena);
}

etp_answer etp_reply_answer(const etp_reply *reply, bool with_report, etp_arena *arena)
{
    etp_answer answer = reply->answer;
    answer.report = with_report ? reply->report(answer.data, arena) : NULL;
    return answer;
}

// ---- text ----

typedef struct writing {
    const etp_reply *reply;
    etp_analysis_output how;
} writing;

static etp_status write_inspector(const writing *w, etp_sink *sink, etp_error *err)
{
    const etp_reply *r = w->reply;
    if (w->how.format == ETP_OUTPUT_TEXT) {
        etp_inspector_tsv(r->inspector, sink);
        return ETP_OK;
    }
    return w->how.format == ETP_OUTPUT_JSON
               ? etp_inspector_json(r->inspector, r->has_buffer ? &r->buffer_file.bytes : NULL,
                                    sink, err)
               : etp_fail(err, ETP_USAGE, "Inspector's tables are written as text or JSON");
}

static etp_status fill(void *ctx, etp_sink *sink, etp_error *err)
{
    const writing *w = ctx;
    if (w->reply->inspector) {
        return write_inspector(w, sink, err);
    }
    const etp_report_style style = {
        .width = (int)w->how.width,
        .color = w->how.color,
        .unicode = !w->how.ascii,
        .select = w->how.select,
    };
    etp_arena arena = {0};
    // JSON is written from the data itself; a report would be made for nothing.
    const etp_answer answer = etp_reply_answer(w->reply, w->how.format != ETP_OUTPUT_JSON, &arena);
    etp_status st = etp_answer_write(&answer, w->how.format, &style, sink, err);
    etp_arena_dispose(&arena);
    return st;
}

etp_status etp_reply_text(const etp_reply *reply, const etp_analysis_output *how, etp_buffer *out,
                          etp_error *err)
{
    writing w = {.reply = reply};
    if (!reply || !out) {
        return etp_fail(err, ETP_USAGE, reply ? "no place for the text" : "no reply");
    }
    *out = (etp_buffer){0};
    ETP_TRY(etp_options_take(&w.how, sizeof w.how, ETP_SIZE_TO(etp_analysis_output, select), how,
                             "etp_analysis_output", err));
    if ((unsigned)w.how.format >= ETP_OUTPUT_FORMATS || w.how.width > 10000) {
        return etp_fail(err, ETP_USAGE,
                        "format %u or %u columns: there are %d formats, 10000 columns",
                        (unsigned)w.how.format, w.how.width, ETP_OUTPUT_FORMATS);
    }
    return etp_buffer_make(fill, &w, out, err);
}

// ---- Inspector's columns ----

static etp_status fill_columns(void *ctx, etp_sink *sink, etp_error *err)
{
    const etp_reply *r = ctx;
    return etp_inspector_columns_write(r->inspector, r->has_buffer ? &r->buffer_file.bytes : NULL,
                                       sink, err);
}

etp_status etp_reply_columns(const etp_reply *reply, etp_inspector_columns *out, etp_error *err)
{
    if (!reply || !reply->inspector || !out) {
        return etp_fail(err, ETP_USAGE,
                        reply && reply->inspector ? "no place for the columns"
                        : reply                   ? "not Inspector's reply"
                                                  : "no reply");
    }
    // The sizes are known before anything is written, and the writer puts the arrays one behind the
    // other in this order (convert/inspector.h). So they are found by arithmetic in one block of
    // memory, which the caller frees at once.
    etp_inspector_columns c = {.n_rows = reply->inspector->n_rows};
    for (size_t i = 0; i < c.n_rows; i++) {
        c.n_times += reply->inspector->rows[i].n;
    }
    ETP_TRY(etp_buffer_make(fill_columns, (void *)(uintptr_t)reply, &c.memory, err));
    // The memory of a buffer is aligned for any of these.
    c.statistics = (const void *)c.memory.ptr;
    c.first = (const void *)(c.statistics + 6 * c.n_rows);
    c.raw_ms = (const void *)(c.first + c.n_rows + 1);
    c.start = (const void *)(c.raw_ms + c.n_times);
    c.others = (const void *)(c.start + c.n_times);
    c.others_len = c.memory.len - (size_t)(c.others - c.memory.ptr);
    etp_status st = etp_result_give(&c, sizeof c, ETP_SIZE_TO(etp_inspector_columns, memory), out,
                                    "etp_inspector_columns", err);
    if (st != ETP_OK) {
        etp_buffer_dispose(&c.memory);
    }
    return st;
}

// ---- tables ----

static const etp_report *report_of_analysis(const void *about, etp_arena *arena)
{
    const etp_analysis *analysis = about;
    const etp_ab_showing showing = {.sweep = true};
    etp_ab_shown shown;
    // The report has copies of everything, and of a sweep nothing else is disposed of.
    etp_status st = etp_ab_show(analysis->session, &showing, arena, &shown, NULL);
    const etp_report *report = st == ETP_OK ? shown.answer.report : NULL;
    etp_ab_shown_dispose(&shown);
    return report;
}

static const char *main_table(const etp_analysis *analysis)
{
    const etp_run *run = etp_ab_run(analysis->session);
    // A sweep or a comparison of builds has a table of its own that answers what was asked;
    // operators are the main table of everything else.
    return run && run->settings.knee > 0      ? ETP_SWEEP_TABLE_CELLS
           : etp_builds_is(analysis->session) ? ETP_BUILDS_TABLE_MODELS
                                              : ETP_AB_TABLE_OPERATORS;
}

static etp_status check_table(const void *about, const void *out, etp_error *err)
{
    return about && out ? ETP_OK
                        : etp_fail(err, ETP_USAGE, about ? "no place for the table" : "no answer");
}

// Inspector's reply alone has no report: its columns are those of a data frame, and
// etp_reply_columns gives them.
static etp_status check_reply(const etp_reply *reply, const void *out, etp_error *err)
{
    ETP_TRY(check_table(reply, out, err));
    return reply->report ? ETP_OK
                         : etp_fail(err, ETP_USAGE, "Inspector's tables are written as JSON");
}

etp_status etp_reply_table_name(const etp_reply *reply, size_t index, etp_buffer *out,
                                etp_error *err)
{
    ETP_TRY(check_reply(reply, out, err));
    return etp_table_name(reply->report, reply->answer.data, index, out, err);
}

etp_status etp_analysis_table_name(const etp_analysis *analysis, size_t index, etp_buffer *out,
                                   etp_error *err)
{
    ETP_TRY(check_table(analysis, out, err));
    return etp_table_name(report_of_analysis, analysis, index, out, err);
}

etp_status etp_reply_table(const etp_reply *reply, const char *id, struct ArrowArrayStream *out,
                           etp_error *err)
{
    ETP_TRY(check_reply(reply, out, err));
    return etp_table_stream(reply->report, reply->answer.data, id, reply->answer.csv_table, out,
                            err);
}

etp_status etp_analysis_table(const etp_analysis *analysis, const char *id,
                              struct ArrowArrayStream *out, etp_error *err)
{
    ETP_TRY(check_table(analysis, out, err));
    return etp_table_stream(report_of_analysis, analysis, id, main_table(analysis), out, err);
}
