// SPDX-License-Identifier: Apache-2.0
// Puts an answer out in the format the user asked for: the only place where verbs write data.
#ifndef ETP_CLI_EMIT_H
#define ETP_CLI_EMIT_H

#include "cli/command.h"
#include "document/answer.h"
#include "library/reply.h"
#include "os/os.h"

// Writes to --output or standard output in cli->format.
ETP_NODISCARD etp_status etp_cli_emit(etp_cli *cli, const etp_answer *answer, etp_error *err);
// An answer of a document, a report and a table for CSV.
ETP_NODISCARD etp_status etp_cli_show(etp_cli *cli, const etp_document *document, const void *data,
                                      const etp_report *report, const char *csv_table,
                                      etp_error *err);
// --limit of a verb with --format github: bytes of what etp_cli_emit writes, 0: not given.
ETP_NODISCARD etp_status etp_cli_limit(etp_cli *cli, uint64_t bytes, etp_error *err);
// As etp_cli_emit, the reply of MAKER to QUESTION.
ETP_NODISCARD etp_status etp_cli_emit_reply(etp_cli *cli, etp_reply_maker *maker,
                                            const etp_question *question, etp_error *err);
// Writes bytes that a special format produced itself.
ETP_NODISCARD etp_status etp_cli_emit_bytes(etp_cli *cli, etp_str bytes, etp_error *err);
// The same in pieces, for what need not be in memory as a whole: FILL writes them and need not
// check its sink. A file appears whole or not at all.
ETP_NODISCARD etp_status etp_cli_emit_by(etp_cli *cli, etp_os_fill *fill, void *ctx,
                                         etp_error *err);

#endif
