// SPDX-License-Identifier: Apache-2.0
// Messages to the client. They go out as they are written, so that there is none that memory could
// be lacking for.
#include <stdarg.h>

#include "mcp/server.h"

void etp_mcp_put_id(etp_json *j, const json_t *id)
{
    if (json_is_string(id)) {
        etp_json_str(j, (etp_str){json_string_value(id), json_string_length(id)});
    } else if (json_is_integer(id)) {
        etp_json_i64(j, json_integer_value(id));
    } else {
        etp_json_null(j);
    }
}

void etp_mcp_begin(etp_mcp *s, etp_json *j)
{
    etp_json_init(j, s->options.out, false);
    etp_json_begin_object(j);
    etp_json_kv_z(j, "jsonrpc", "2.0");
}

void etp_mcp_end(etp_json *j)
{
    etp_json_end(j);
    etp_json_end_document(j);
}

// Between this and its end the members of `result` are written.
void etp_mcp_begin_reply(etp_mcp *s, etp_json *j, const json_t *id)
{
    etp_mcp_begin(s, j);
    etp_json_key(j, "id");
    etp_mcp_put_id(j, id);
    etp_json_key(j, "result");
    etp_json_begin_object(j);
}

void etp_mcp_end_reply(etp_json *j)
{
    etp_json_end(j);
    etp_mcp_end(j);
}

void etp_mcp_put_contents(etp_mcp *s, const json_t *id, const char *uri, etp_str text,
                          const char *more)
{
    etp_json j;
    etp_mcp_begin_reply(s, &j, id);
    etp_json_key(&j, "contents");
    etp_json_begin_array(&j);
    etp_json_begin_object(&j);
    etp_json_kv_z(&j, "uri", uri);
    etp_json_kv_z(&j, "mimeType", "text/plain");
    etp_json_kv_str(&j, "text", text);
    if (more) {
        etp_json_key(&j, "_meta");
        etp_json_begin_object(&j);
        etp_json_kv_z(&j, "more", more);
        etp_json_end(&j);
    }
    etp_json_end(&j);
    etp_json_end(&j);
    etp_mcp_end_reply(&j);
}

void etp_mcp_error(etp_mcp *s, const json_t *id, int code, const char *fmt, ...)
{
    char text[600];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    etp_json j;
    etp_mcp_begin(s, &j);
    etp_json_key(&j, "id");
    etp_mcp_put_id(&j, id);
    etp_json_key(&j, "error");
    etp_json_begin_object(&j);
    etp_json_kv_i64(&j, "code", code);
    etp_json_kv_z(&j, "message", text);
    etp_json_end(&j);
    etp_mcp_end(&j);
}
