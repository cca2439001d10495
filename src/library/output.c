// SPDX-License-Identifier: Apache-2.0
// The answer as a document, a report or files.
#include "base/buffer.h"
#include "kit/files.h"
#include "library/forms.h"
#include "library/handle.h"
#include "library/sized.h"
#include "publish/files.h"
#include "publish/shown.h"

etp_report_writer *etp_output_writer(etp_output_format format)
{
    static etp_report_writer *const k_writers[ETP_OUTPUT_FORMATS] = {
        [ETP_OUTPUT_TEXT] = etp_write_text, [ETP_OUTPUT_CSV] = etp_write_csv,
        [ETP_OUTPUT_MD] = etp_write_md,     [ETP_OUTPUT_HTML] = etp_write_html,
        [ETP_OUTPUT_SVG] = etp_write_svg,
    };
    return k_writers[format];
}

etp_status etp_output_take(const etp_analysis_output *given, etp_analysis_output *how,
                           etp_report_style *style, etp_error *err)
{
    ETP_TRY(etp_options_take(how, sizeof *how, ETP_SIZE_TO(etp_analysis_output, select), given,
                             "etp_analysis_output", err));
    // The cast makes one comparison of two: the enum of a foreign program may hold a negative
    // number.
    if ((unsigned)how->format >= ETP_OUTPUT_FORMATS) {
        return etp_fail(err, ETP_USAGE, "no format %u: there are %d", (unsigned)how->format,
                        ETP_OUTPUT_FORMATS);
    }
    // Text is laid out in this many columns; without a bound a width could ask for gigabytes of
    // blanks.
    if (how->width > 10000) {
        return etp_fail(err, ETP_USAGE, "%u columns are too many", how->width);
    }
    *style = (etp_report_style){.width = (int)how->width,
                                .color = how->color,
                                .unicode = !how->ascii,
                                .select = how->select};
    return ETP_OK;
}

typedef struct output { // what is written, and how
    const etp_analysis *analysis;
    etp_analysis_output how;
    etp_report_style style;
} output;

static etp_status take(const etp_analysis *analysis, const etp_analysis_output *given, output *out,
                       etp_error *err)
{
    if (!analysis) {
        return etp_fail(err, ETP_USAGE, "no analysis");
    }
    out->analysis = analysis;
    return etp_output_take(given, &out->how, &out->style, err);
}

static etp_status fill(void *ctx, etp_sink *sink, etp_error *err)
{
    etp_arena arena = {0};
    const output *o = ctx;
    const etp_ab_showing showing = {
        .brief = o->how.brief,
        .proof = o->how.proof,
        .document = o->how.format == ETP_OUTPUT_JSON,
        .title = o->how.title,
    };
    etp_answer answer;
    etp_status st = etp_ab_show(o->analysis->session, &showing, &arena, &answer, err);
    // A table that memory was lacking for would otherwise look like an answer that has none.
    if (st == ETP_OK) {
        st = etp_arena_check(&arena, err, "the answer");
    }
    if (st == ETP_OK) {
        st = etp_answer_write(&answer, etp_output_writer(o->how.format), &o->style, sink, err);
    }
    etp_arena_dispose(&arena);
    return st;
}

// The caller's function as a sink. A sink remembers that it failed, so that writers need not ask
// after each piece.
typedef struct receiver {
    etp_output_write *write;
    void *ctx;
} receiver;

static bool hand_over(etp_sink *sink, const char *ptr, size_t len)
{
    const receiver *r = sink->target;
    return r->write(r->ctx, ptr, len);
}

etp_status etp_analysis_write(const etp_analysis *analysis, const etp_analysis_output *how,
                              etp_output_write *write, void *ctx, etp_error *err)
{
    output o;
    ETP_TRY(take(analysis, how, &o, err));
    if (!write) {
        return etp_fail(err, ETP_USAGE, "no function to write to");
    }
    receiver r = {write, ctx};
    etp_sink sink = {.write = hand_over, .target = &r};
    etp_status st = fill(&o, &sink, err);
    // The receiver's refusal is the cause, whatever the writer made of it.
    return sink.failed ? etp_fail(err, ETP_IO, "the receiver of the output ended it") : st;
}

etp_status etp_analysis_write_file(const etp_analysis *analysis, const etp_analysis_output *how,
                                   const char *path, etp_error *err)
{
    output o;
    ETP_TRY(take(analysis, how, &o, err));
    if (!path || !path[0]) {
        return etp_fail(err, ETP_USAGE, "no path of a file to write");
    }
    return etp_os_replace_by(path, fill, &o, err);
}

etp_status etp_analysis_text(const etp_analysis *analysis, const etp_analysis_output *how,
                             etp_buffer *out, etp_error *err)
{
    output o;
    if (!out) {
        return etp_fail(err, ETP_USAGE, "no place for the text");
    }
    *out = (etp_buffer){0};
    ETP_TRY(take(analysis, how, &o, err));
    return etp_buffer_make(fill, &o, out, err);
}

etp_status etp_analysis_json(const etp_analysis *analysis, etp_buffer *out, etp_error *err)
{
    const etp_analysis_output how = {.struct_size = sizeof how, .format = ETP_OUTPUT_JSON};
    return etp_analysis_text(analysis, &how, out, err);
}

etp_status etp_analysis_renew_folder(const etp_analysis *analysis, etp_error *err)
{
    // Renewing writes into the folder that was opened. Dumps have none: their folder belongs to the
    // user.
    const etp_run *run = analysis ? etp_ab_run(analysis->session) : NULL;
    if (!run) {
        return etp_fail(err, ETP_USAGE, "only the analysis of a run folder has one to renew");
    }
    return etp_ab_write_files(analysis->session, etp_ab_answer(analysis->session)->dir, err);
}

etp_status etp_analysis_write_tables(const etp_analysis *analysis, const char *dir, etp_error *err)
{
    if (!analysis || !dir || !dir[0]) {
        return etp_fail(err, ETP_USAGE, analysis ? "no folder for the tables" : "no analysis");
    }
    ETP_TRY(etp_os_mkdirs(dir, err));
    return etp_kit_write_files(analysis->session, dir, NULL, err);
}
