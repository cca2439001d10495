// SPDX-License-Identifier: Apache-2.0
// The one way out of a report: a writer's troubles become a status.
#include "base/guard.h"
#include "report/tree.h"

etp_status etp_report_lacks(const char *what, const char *id, etp_error *err)
{
    if (!id) {
        return etp_fail(err, ETP_USAGE, "this report has no %s", what);
    }
    return etp_fail(err, ETP_USAGE, "this report has no %s named '%s'", what, id);
}

static etp_status write(const etp_report *r, etp_report_writer *writer,
                        const etp_report_style *style, etp_arena *arena, etp_sink *sink,
                        etp_error *err)
{
    ETP_TRY(writer(r, style, arena, sink, err));
    return etp_sink_check(sink, err, "the report");
}

static etp_status guarded(const etp_report *r, etp_report_writer *writer,
                          const etp_report_style *style, etp_arena *arena, etp_sink *sink,
                          etp_error *err)
{
    ETP_GUARDED(arena, err, "report", write(r, writer, style, arena, sink, err));
}

etp_status etp_report_write(const etp_report *r, etp_report_writer *writer,
                            const etp_report_style *style, etp_sink *sink, etp_error *err)
{
    static const etp_report_style k_plain;
    ETP_NEED(r && !r->arena->failed, err, "report"); // who built it may have had no guard
    etp_arena scratch;
    etp_arena_scratch(&scratch, r->arena);
    etp_status status = guarded(r, writer, ETP_OR(style, &k_plain), &scratch, sink, err);
    etp_arena_dispose(&scratch);
    return status;
}
