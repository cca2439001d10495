// SPDX-License-Identifier: Apache-2.0
// All kinds of questions, and tables of all answers.
#include "base/number.h"
#include "library/handle.h"
#include "library/reply.h"
#include "library/reply_files.h"
#include "publish/shown.h"
#include "show/report.h"

etp_status etp_reply_open(const etp_question *question, etp_reply **out, etp_error *err)
{
    // By the numbers of the public enum, which never change.
    static etp_reply_maker *const k_makers[ETP_QUESTIONS] = {
        [ETP_QUESTION_OPS] = etp_reply_ops,
        [ETP_QUESTION_INSPECT] = etp_reply_inspect,
        [ETP_QUESTION_STATS] = etp_reply_stats,
        [ETP_QUESTION_WHATIF] = etp_reply_whatif,
        [ETP_QUESTION_INSPECTOR] = etp_reply_inspector,
    };
    unsigned kind = question ? (unsigned)question->kind : 0;
    if (kind >= ETP_QUESTIONS) {
        return etp_fail(err, ETP_USAGE, "no question %u: there are %d", kind, ETP_QUESTIONS);
    }
    return etp_reply_make(k_makers[kind], question, out, err);
}

// ---- tables ----

static const etp_report *report_of_analysis(const void *about, etp_arena *arena)
{
    const etp_analysis *analysis = about;
    const etp_ab_showing showing = {.brief = false};
    etp_answer answer;
    etp_status st = etp_ab_show(analysis->session, &showing, arena, &answer, NULL);
    return st == ETP_OK ? answer.report : NULL;
}

static etp_status check_table(const void *about, const void *out, etp_error *err)
{
    if (about && out) {
        return ETP_OK;
    }
    return etp_fail(err, ETP_USAGE, about ? "no place for the table" : "no answer");
}

// Inspector's reply alone has no report: its columns are those of a data frame, and
// etp_reply_columns gives them.
static etp_status check_reply(const etp_reply *reply, const void *out, etp_error *err)
{
    ETP_TRY(check_table(reply, out, err));
    if (!reply->report) {
        return etp_fail(err, ETP_USAGE, "Inspector's tables are written as JSON");
    }
    return ETP_OK;
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
    return etp_table_stream(report_of_analysis, analysis, id, ETP_AB_TABLE_OPERATORS, out, err);
}
