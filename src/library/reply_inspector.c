// SPDX-License-Identifier: Apache-2.0
// The tables of ExecuTorch's Inspector, its losses included.
#include "base/guard.h"
#include "convert/inspector.h"
#include "explain/join/record.h"
#include "library/reply.h"
#include "library/reply_files.h"

etp_status etp_reply_inspector_write(const etp_reply *r, etp_output_format format, etp_sink *sink,
                                     etp_error *err)
{
    if (format == ETP_OUTPUT_TEXT) {
        etp_inspector_tsv(r->inspector, sink);
        return ETP_OK;
    }
    if (format != ETP_OUTPUT_JSON) {
        return etp_fail(err, ETP_USAGE, "Inspector's tables are written as text or JSON");
    }
    return etp_inspector_json(r->inspector, r->has_buffer ? &r->buffer_file.bytes : NULL, sink,
                              err);
}

bool etp_reply_in_cycles(const etp_reply *r)
{
    return etp_inspector_in_cycles(r->inspector);
}

// The Inspector looks instructions up by their number alone, whatever the record is of.
static etp_status compare_record(const etp_trace *trace, const etp_etrecord *record,
                                 etp_arena *arena, etp_error *err)
{
    etp_belonging b;
    etp_record_is_of(trace, record, arena, &b);
    return etp_belonging_need(&b, err);
}

static etp_status need_record(const etp_trace *trace, const etp_etrecord *record, etp_arena *arena,
                              etp_error *err)
{
    ETP_GUARDED(arena, err, "the record", compare_record(trace, record, arena, err));
}

static etp_status build_inspector(const etp_question *q, etp_reply *r, etp_error *err)
{
    etp_etdump *dump = ETP_NEW(&r->arena, etp_etdump);
    etp_inspector_table *table = ETP_NEW(&r->arena, etp_inspector_table);
    ETP_NEED(dump && table, err, "table");
    r->inspector = table;
    r->write = etp_reply_inspector_write;
    r->has_buffer = q->buffer != NULL;
    if (q->buffer) {
        ETP_TRY(etp_file_open(q->buffer, ETP_REPLY_DUMP_LIMIT, &r->buffer_file, err));
    }
    // The reader of a bare ETDump, not a trace: Inspector keeps neither the chain of an event nor
    // events of equal ids apart, which a trace does.
    ETP_TRY(etp_etdump_open(r->file.bytes, dump, err));
    ETP_TRY(etp_inspector_build(dump, &r->arena, table, err));
    if (!r->record_file.bytes.ptr) {
        return ETP_OK;
    }
    ETP_TRY(etp_trace_open(r->file.bytes, NULL, &r->trace, err));
    ETP_TRY(need_record(r->trace, &r->record, &r->arena, err));
    return etp_inspector_annotate(table, &r->record, &r->arena, err);
}

etp_status etp_reply_inspector(const etp_question *q, etp_reply *r, etp_error *err)
{
    ETP_TRY(etp_file_open_unpacked(q->paths[0], ETP_REPLY_DUMP_LIMIT, &r->file, err));
    if (q->record) {
        ETP_TRY(etp_reply_read_record(q->record, r, err));
    }
    return build_inspector(q, r, err) == ETP_OK ? ETP_OK : etp_fail_ctx(err, "%s", q->paths[0]);
}
