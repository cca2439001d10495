// SPDX-License-Identifier: Apache-2.0
// Replies to programs: opened and closed.
#include "library/reply.h"

#include <math.h>

#include "base/number.h"
#include "base/shell.h"
#include "library/reply_files.h"
#include "library/sized.h"
#include "os/os.h"

// What is asked. Its paths and changes live as long as the reply, which uses them when it is shown;
// all else is used up when it is open.
static etp_status take(const etp_question *given, etp_arena *arena, etp_question *q, etp_error *err)
{
    ETP_TRY(etp_options_take(q, sizeof *q, ETP_SIZE_TO(etp_question, tensor), given, "etp_question",
                             err));
    ETP_TRY(etp_keep_list(arena, q->paths, q->n_paths, "path", &q->paths, err));
    ETP_TRY(etp_keep_list(arena, q->changes, q->n_changes, "change", &q->changes, err));
    ETP_TRY(etp_arena_check(arena, err, "question"));
    if (q->n_paths == 0 || (q->n_paths > 1 && q->kind != ETP_QUESTION_WHATIF)) {
        return etp_fail(err, ETP_USAGE, "%zu paths where one is asked about", q->n_paths);
    }
    const bool of_file = q->kind == ETP_QUESTION_OPS || q->kind == ETP_QUESTION_INSPECT ||
                         q->kind == ETP_QUESTION_INSPECTOR;
    // The folder of a session is the first thing that its owner sees, so he names it here, too.
    if (of_file && etp_os_is_dir(q->paths[0])) {
        const char *read_by = etp_shell_command(arena, "etprof analyze %s", q->paths[0]);
        return etp_fail(err, ETP_IO,
                        "%s is a folder, not a file; sessions and their recordings: %s",
                        q->paths[0], ETP_OR(read_by, "etprof analyze"));
    }
    if (!isfinite(q->margin) || q->margin < 0) {
        return etp_fail(err, ETP_USAGE, "the margin is %s, not a ratio from 0 on",
                        ETP_DIGITS(q->margin, 6));
    }
    return ETP_OK;
}

etp_status etp_reply_make(etp_reply_maker *maker, const etp_question *question, etp_reply **out,
                          etp_error *err)
{
    if (!out) {
        return etp_fail(err, ETP_USAGE, "no place for the reply");
    }
    *out = NULL;
    etp_arena arena = {0};
    etp_reply *r = ETP_NEW(&arena, etp_reply);
    ETP_NEED(r, err, "reply");
    // The reply lies in its arena, whose copy in the struct is used from here on.
    r->arena = arena;
    etp_question q;
    etp_status st = take(question, &r->arena, &q, err);
    if (st == ETP_OK) {
        st = maker(&q, r, err);
    }
    if (st == ETP_OK) {
        st = etp_arena_check(&r->arena, err, "reply");
    }
    if (st != ETP_OK) {
        etp_reply_close(r);
        return st;
    }
    *out = r;
    return ETP_OK;
}

etp_status etp_reply_read_record(const char *path, etp_reply *r, etp_error *err)
{
    ETP_TRY(etp_file_open(path, ETP_REPLY_FILE_LIMIT, &r->record_file, err));
    if (etp_etrecord_read(r->record_file.bytes, &r->arena, &r->record, err) != ETP_OK) {
        return etp_fail_ctx(err, "%s", path);
    }
    return ETP_OK;
}

void etp_reply_close(etp_reply *r)
{
    if (!r) {
        return;
    }
    // Views and traces borrow from the files: those are unmapped last, and the arena, which owns
    // the texts of all of them, at the very end.
    if (r->close) {
        r->close(r);
    }
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
