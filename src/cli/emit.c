// SPDX-License-Identifier: Apache-2.0
// Output of answers.
#include "cli/emit.h"

etp_status etp_cli_emit_bytes(etp_cli *cli, etp_str bytes, etp_error *err)
{
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
    etp_sink sink = etp_sink_file(stdout);
    ETP_TRY(fill(ctx, &sink, err));
    return sink.failed || fflush(stdout) != 0
               ? etp_fail_errno(err, ETP_IO, "writing standard output")
               : ETP_OK;
}

static etp_status render(const etp_cli *cli, const etp_cli_answer *answer, etp_sink *sink,
                         etp_error *err)
{
    if (cli->format == ETP_CLI_JSON) {
        etp_json j;
        etp_json_init(&j, sink, true);
        answer->json(answer->data, &j);
        return ETP_OK;
    }
    etp_report_style style = {
        .width = (int)cli->width,
        .color = cli->color && !cli->output,
        .unicode = true,
        .brief = answer->brief && cli->format == ETP_CLI_TEXT,
    };
    etp_format format = ETP_FORMAT_TEXT;
    switch (cli->format) {
    case ETP_CLI_MD:
        format = ETP_FORMAT_MD;
        break;
    case ETP_CLI_HTML:
        format = ETP_FORMAT_HTML;
        break;
    case ETP_CLI_CSV:
        format = ETP_FORMAT_CSV;
        style.select = answer->csv_table;
        break;
    case ETP_CLI_TEXT:
    case ETP_CLI_JSON:
    case ETP_CLI_INSPECTOR:
    case ETP_CLI_INSPECTOR_JSON:
    case ETP_CLI_FORMATS:
        break;
    }
    return etp_report_write(answer->report, format, &style, sink, err);
}

etp_status etp_cli_emit(etp_cli *cli, const etp_cli_answer *answer, etp_error *err)
{
    etp_strbuf buf;
    etp_strbuf_init(&buf, &cli->arena);
    etp_sink sink = etp_sink_strbuf(&buf);
    ETP_TRY(render(cli, answer, &sink, err));
    if (buf.failed) {
        return etp_fail_nomem(err, "output");
    }
    return etp_cli_emit_bytes(cli, etp_strbuf_str(&buf), err);
}
