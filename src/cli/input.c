// SPDX-License-Identifier: Apache-2.0
// Reading standard input.
#include "cli/input.h"

#include <string.h>

#include "base/sink.h"

etp_status etp_cli_take_input(etp_cli *cli, const char *path, size_t limit, etp_cli_input *out,
                              etp_error *err)
{
    *out = (etp_cli_input){.name = path};
    if (strcmp(path, "-") == 0) {
        out->name = "standard input";
        etp_strbuf buf;
        etp_strbuf_init(&buf, &cli->arena);
        char chunk[65536];
        size_t n;
        // Standard input may be a pipe, whose end nobody knows: it is read whole, up to the limit.
        while ((n = fread(chunk, 1, sizeof chunk, stdin)) > 0) {
            etp_strbuf_append(&buf, (etp_str){chunk, n});
            if (buf.failed || buf.len > limit) {
                return etp_fail(err, ETP_NOMEM, "standard input is too large");
            }
        }
        if (ferror(stdin)) {
            return etp_fail_errno(err, ETP_IO, "reading standard input");
        }
        out->text = etp_strbuf_str(&buf);
        out->content = &out->text;
    }
    return ETP_OK;
}
