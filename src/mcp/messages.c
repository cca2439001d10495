// SPDX-License-Identifier: Apache-2.0
// Messages to the client.
#include <stdarg.h>

#include "mcp/server.h"

static int put(const char *text, size_t len, void *sink)
{
    etp_sink_write(sink, (etp_str){text, len});
    return 0;
}

void etp_mcp_send(etp_mcp *s, json_t *message)
{
    if (message &&
        json_dump_callback(message, put, s->options.out, JSON_COMPACT | JSON_ENSURE_ASCII) == 0) {
        etp_sink_char(s->options.out, '\n');
    }
    json_decref(message);
}

void etp_mcp_reply(etp_mcp *s, json_t *id, json_t *result)
{
    if (!result) {
        etp_mcp_error(s, id, ETP_RPC_INTERNAL, "out of memory");
        return;
    }
    etp_mcp_send(s, json_pack("{s:s, s:O, s:o}", "jsonrpc", "2.0", "id", id, "result", result));
}

void etp_mcp_error(etp_mcp *s, json_t *id, int code, const char *fmt, ...)
{
    char text[600];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    json_t *said = json_string(text);
    etp_mcp_send(s, json_pack("{s:s, s:O?, s:{s:i, s:o}}", "jsonrpc", "2.0", "id", id, "error",
                              "code", code, "message", said ? said : json_string("not UTF-8")));
}
