// SPDX-License-Identifier: Apache-2.0
// What is asked about files: opening them, and the answer of each room.
#include "library/reply_files.h"

#include "base/guard.h"
#include "compare/phases.h"
#include "explain/join/record.h"
#include "inspect/ops.h"
#include "inspect/tensors.h"
#include "judge/fixes/whatif.h"
#include "study/stats/samples.h"

// Files are mapped, so that a large one costs address space alone. A dump may be compressed: its
// limit bounds what is unpacked into memory.
#define FILE_LIMIT ((uint64_t)64 << 30)
#define DUMP_LIMIT ((uint64_t)4 << 30)

// ---- operators of a dump ----

static etp_status read_record(const char *path, etp_reply *r, etp_error *err)
{
    ETP_TRY(etp_file_open(path, FILE_LIMIT, &r->record_file, err));
    return etp_etrecord_read(r->record_file.bytes, &r->arena, &r->record, err) == ETP_OK
               ? ETP_OK
               : etp_fail_ctx(err, "%s", path);
}

// One such function for each kind: a reply makes its report when it is asked for one, not before.
static const etp_report *report_ops(const void *about, etp_arena *arena)
{
    return etp_ops_report(about, arena);
}

static etp_trace_options units_of(const etp_question *q)
{
    const etp_trace_units units = {q->source_unit, q->delegate_unit};
    return (etp_trace_options){.units = units, .modes = true};
}

etp_status etp_reply_ops(const etp_question *q, etp_reply *r, etp_error *err)
{
    const char *path = q->paths[0];
    ETP_TRY(etp_file_open_unpacked(path, DUMP_LIMIT, &r->file, err));
    if (q->record) {
        ETP_TRY(read_record(q->record, r, err));
    }
    const etp_trace_options how = units_of(q);
    if (etp_trace_open(r->file.bytes, &how, &r->trace, err) != ETP_OK) {
        return etp_fail_ctx(err, "%s", path);
    }
    if (q->program) {
        ETP_TRY(etp_file_open(q->program, FILE_LIMIT, &r->program_file, err));
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
    const char *name = etp_arena_strdup(&r->arena, etp_str_from(path));
    ETP_NEED(ops && name, err, "operators");
    r->answer = (etp_answer){.json = etp_ops_json, .data = ops, .csv_table = "operators"};
    r->report = report_ops;
    return etp_ops_answer_build(r->trace, r->program, q->record ? &r->record : NULL, name,
                                &r->arena, ops, err);
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

// ---- the tables of ExecuTorch's Inspector, its losses included ----

static etp_status build_inspector(const etp_question *q, etp_reply *r, etp_error *err)
{
    etp_etdump *dump = ETP_NEW(&r->arena, etp_etdump);
    etp_inspector_table *table = ETP_NEW(&r->arena, etp_inspector_table);
    ETP_NEED(dump && table, err, "table");
    r->inspector = table;
    r->has_buffer = q->buffer != NULL;
    if (q->buffer) {
        ETP_TRY(etp_file_open(q->buffer, DUMP_LIMIT, &r->buffer_file, err));
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
    ETP_TRY(etp_file_open_unpacked(q->paths[0], DUMP_LIMIT, &r->file, err));
    if (q->record) {
        ETP_TRY(read_record(q->record, r, err));
    }
    return build_inspector(q, r, err) == ETP_OK ? ETP_OK : etp_fail_ctx(err, "%s", q->paths[0]);
}

// ---- what is in a file ----

static etp_status open_view(const char *path, etp_bytes record, etp_file *file, etp_reply *r,
                            etp_inspect *out, etp_error *err)
{
    const char *name = etp_arena_strdup(&r->arena, etp_str_from(path));
    ETP_TRY(etp_file_open_unpacked(path, FILE_LIMIT, file, err));
    return etp_inspect_open(name, file->bytes, record, &r->arena, out, err) == ETP_OK
               ? ETP_OK
               : etp_fail_ctx(err, "%s", path);
}

static const etp_report *report_diff(const void *about, etp_arena *arena)
{
    return etp_inspect_diff_report(about, arena);
}

static etp_status inspect_diff(const etp_question *q, etp_reply *r, etp_error *err)
{
    if (q->recording) {
        return etp_fail(err, ETP_USAGE,
                        "--diff compares programs, not times: leave out --etdump "
                        "(etprof compare takes two recordings)");
    }
    etp_inspect_diff *diff = ETP_NEW(&r->arena, etp_inspect_diff);
    ETP_TRY(open_view(q->other, (etp_bytes){0}, &r->other, r, &r->other_view, err));
    ETP_NEED(diff, err, "difference");
    r->answer = (etp_answer){.json = etp_inspect_diff_json, .data = diff, .csv_table = "sizes"};
    r->report = report_diff;
    return etp_inspect_compare(&r->view, &r->other_view, &r->arena, diff, err);
}

static const etp_report *report_tensors(const void *about, etp_arena *arena)
{
    return etp_inspect_tensors_report(about, arena);
}

static etp_status inspect_tensors(const etp_question *q, etp_reply *r, etp_error *err)
{
    const char *path = q->paths[0];
    etp_inspect_tensors *tensors = ETP_NEW(&r->arena, etp_inspect_tensors);
    const char *name = etp_arena_strdup(&r->arena, etp_str_from(path));
    ETP_NEED(tensors && name, err, path);
    ETP_TRY(etp_file_open_unpacked(path, FILE_LIMIT, &r->file, err));
    if (q->buffer) {
        ETP_TRY(etp_file_open(q->buffer, FILE_LIMIT, &r->buffer_file, err));
    }
    r->answer = (etp_answer){.json = etp_inspect_tensors_json, .data = tensors};
    r->report = report_tensors;
    return etp_inspect_tensors_read(name, r->file.bytes, r->buffer_file.bytes, &r->arena, tensors,
                                    err) == ETP_OK
               ? ETP_OK
               : etp_fail_ctx(err, "%s", path);
}

static const etp_report *report_file(const void *about, etp_arena *arena)
{
    return etp_inspect_report(about, arena);
}

static const etp_report *report_tree(const void *about, etp_arena *arena)
{
    return etp_inspect_tree(about, arena);
}

static etp_status add_times(const etp_question *q, etp_reply *r, etp_error *err)
{
    const char *name = etp_arena_strdup(&r->arena, etp_str_from(q->recording));
    ETP_TRY(etp_file_open_unpacked(q->recording, FILE_LIMIT, &r->other, err));
    const etp_trace_options how = units_of(q);
    return etp_trace_open(r->other.bytes, &how, &r->trace, err) == ETP_OK &&
                   etp_trace_need_time(r->trace, err) == ETP_OK
               ? etp_inspect_time(&r->view, r->trace, name, &r->arena, err)
               : etp_fail_ctx(err, "%s", q->recording);
}

etp_status etp_reply_inspect(const etp_question *q, etp_reply *r, etp_error *err)
{
    if (q->tensor) {
        return inspect_tensors(q, r, err);
    }
    if (q->record) {
        ETP_TRY(etp_file_open(q->record, FILE_LIMIT, &r->record_file, err));
    }
    ETP_TRY(open_view(q->paths[0], r->record_file.bytes, &r->file, r, &r->view, err));
    if (q->other) {
        return inspect_diff(q, r, err);
    }
    if (q->tree && !r->view.program) {
        return etp_fail(err, ETP_USAGE, "--tree shows programs (.pte, .bpte), %s is none",
                        q->paths[0]);
    }
    if (q->recording) {
        ETP_TRY(add_times(q, r, err));
    }
    // Files that are no programs have tables of other names: CSV is then of the first one.
    r->answer = (etp_answer){.json = etp_inspect_json,
                             .data = &r->view,
                             .csv_table = r->view.program ? "operators" : NULL};
    r->report = q->tree ? report_tree : report_file;
    return ETP_OK;
}

// ---- samples ----

static const etp_report *report_stats(const void *about, etp_arena *arena)
{
    return etp_stats_report(about, arena);
}

etp_status etp_reply_stats(const etp_question *q, etp_reply *r, etp_error *err)
{
    etp_stats_answer *stats = ETP_NEW(&r->arena, etp_stats_answer);
    const char *name = etp_arena_strdup(&r->arena, etp_str_from(q->paths[0]));
    ETP_NEED(stats && name, err, "statistics");
    r->answer = (etp_answer){.json = etp_stats_json, .data = stats, .csv_table = "comparisons"};
    r->report = report_stats;
    return etp_stats_answer_build(name, NULL, q->baseline, q->phase, q->margin, &r->arena, stats,
                                  err);
}

// ---- what if ----

static const etp_report *report_whatif(const void *about, etp_arena *arena)
{
    return etp_whatif_report(about, arena);
}

// The answer borrows the expressions, and whoever asks may free his as soon as the reply is open.
static etp_status keep_all(etp_arena *arena, const char *const *given, size_t n,
                           const char *const **out, etp_error *err)
{
    const char **own = ETP_NEW_ARRAY(arena, const char *, n);
    for (size_t i = 0; own && i < n; i++) {
        own[i] = etp_arena_strdup(arena, etp_str_from(given[i]));
        own = own[i] ? own : NULL;
    }
    *out = own;
    return own ? ETP_OK : etp_fail_nomem(err, "question");
}

etp_status etp_reply_whatif(const etp_question *q, etp_reply *r, etp_error *err)
{
    if (q->n_changes == 0) {
        return etp_fail(err, ETP_USAGE, "what should change? for example 'drop transpose*'");
    }
    const char *const *changes;
    const char *const *paths;
    etp_whatif *w = ETP_NEW(&r->arena, etp_whatif);
    ETP_TRY(w ? ETP_OK : etp_fail_nomem(err, "what if"));
    ETP_TRY(keep_all(&r->arena, q->changes, q->n_changes, &changes, err));
    ETP_TRY(keep_all(&r->arena, q->paths, q->n_paths, &paths, err));
    const etp_ab_options how = {
        .baseline = q->baseline,
        .program = q->program,
        .roofs = q->roofs,
        .units = {q->source_unit, q->delegate_unit},
    };
    ETP_TRY(etp_ab_open(paths, q->n_paths, &how, &r->session, err));
    r->answer = (etp_answer){.json = etp_whatif_json, .data = w};
    r->report = report_whatif;
    const etp_ab *ab;
    ETP_TRY(etp_ab_of_phase(etp_ab_answer(r->session), q->phase, &ab, err));
    return etp_whatif_build(ab, changes, q->n_changes, w, err);
}
