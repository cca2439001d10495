// SPDX-License-Identifier: Apache-2.0
// Output of answers.
#include "cli/emit.h"

#include "library/reply.h"

// Asks for all memory that the answer took: a verb that wrote its text into a buffer need not.
etp_status etp_cli_emit_bytes(etp_cli *cli, etp_str bytes, etp_error *err)
{
    ETP_TRY(etp_arena_check(&cli->arena, err, "output"));
    if (cli->output) {
        return etp_os_write_atomic(cli->output, bytes, err);
    }
    if (bytes.len && fwrite(bytes.ptr, 1, bytes.len, stdout) != bytes.len) {
        return etp_fail_errno(err, ETP_IO, "writing standard output");
    }
    return ETP_OK;
}

etp_status etp_cli_emit_by(etp_cli *cli, etp_os_fill *fill, void *ctx, etp_error *err)
{
    if (cli->output) {
        return etp_os_replace_by(cli->output, fill, ctx, err);
    }
    // Straight to the stream, piece by piece. A file, on the other hand, gets its name only when it
    // is whole.
    etp_sink sink = etp_sink_file(stdout);
    ETP_TRY(fill(ctx, &sink, err));
    return sink.failed || fflush(stdout) != 0
               ? etp_fail_errno(err, ETP_IO, "writing standard output")
               : ETP_OK;
}

// NULL: the JSON document. The tables of Inspector are written by their verb.
static etp_report_writer *writer_of(const etp_cli *cli)
{
    etp_report_writer *const writers[ETP_CLI_FORMATS] = {
        [ETP_CLI_TEXT] = etp_write_text,
        [ETP_CLI_CSV] = etp_write_csv,
        [ETP_CLI_MD] = etp_write_md,
        [ETP_CLI_HTML] = cli->verb->page,
    };
    return writers[cli->format];
}

// The largest leaves room below what GitHub takes as one comment (report.h).
etp_status etp_cli_limit(etp_cli *cli, uint64_t bytes, etp_error *err)
{
    if (bytes && cli->format != ETP_CLI_GITHUB) {
        return etp_fail(err, ETP_USAGE, "--limit is about the comments of --format github");
    }
    if (bytes && (bytes < ETP_GITHUB_LEAST || bytes > ETP_GITHUB_BYTES)) {
        return etp_fail(err, ETP_USAGE, "--limit takes %d to %d bytes", ETP_GITHUB_LEAST,
                        ETP_GITHUB_BYTES);
    }
    cli->limit = bytes;
    return ETP_OK;
}

etp_status etp_cli_emit(etp_cli *cli, const etp_answer *answer, etp_error *err)
{
    etp_strbuf buf;
    etp_strbuf_init(&buf, &cli->arena);
    etp_sink sink = etp_sink_strbuf(&buf);
    etp_report_style style = {
        .width = (int)cli->width,
        // A file is read by programs and in editors: no escape sequences, and UTF-8 whatever this
        // terminal can show.
        .color = cli->color && !cli->output,
        .unicode = cli->output || cli->utf8,
    };
    // A comment on GitHub has a largest size and is cut to it: no form of the library
    // (etprof/output.h).
    uint64_t limit = ETP_OR(cli->limit, ETP_GITHUB_BYTES);
    ETP_TRY(cli->format == ETP_CLI_GITHUB
                ? cli->verb->comment(answer->report, limit, &sink, err)
                : etp_answer_write(answer, writer_of(cli), &style, &sink, err));
    return etp_cli_emit_bytes(cli, etp_strbuf_str(&buf), err);
}

etp_status etp_cli_show(etp_cli *cli, const etp_document *document, const void *data,
                        const etp_report *report, const char *csv_table, etp_error *err)
{
    const etp_answer answer = {
        .document = document, .data = data, .report = report, .csv_table = csv_table};
    return etp_cli_emit(cli, &answer, err);
}

etp_status etp_cli_emit_reply(etp_cli *cli, etp_reply_maker *maker, const etp_question *question,
                              etp_error *err)
{
    etp_reply *reply;
    ETP_TRY(etp_reply_make(maker, question, &reply, err));
    const etp_answer answer = etp_reply_answer(reply, cli->format != ETP_CLI_JSON, &cli->arena);
    etp_status st = etp_cli_emit(cli, &answer, err);
    etp_reply_close(reply);
    return st;
}
