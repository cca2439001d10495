// SPDX-License-Identifier: Apache-2.0
// Lines of a client: any bytes, a message a line. No program is known, so that no tool is started.
#include "fuzz.h"

#include "mcp/mcp.h"

static bool swallow(etp_sink *sink, const char *ptr, size_t len)
{
    (void)sink;
    (void)ptr;
    (void)len;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    etp_sink out = {.write = swallow};
    const etp_mcp_options options = {.folder = "/nonexistent", .platform = "linux", .out = &out};
    etp_mcp *server;
    if (etp_mcp_open(&options, &server, NULL) != ETP_OK) {
        return 0;
    }
    const char *text = (const char *)data;
    for (size_t at = 0; at < size;) {
        size_t len = 0;
        while (at + len < size && text[at + len] != '\n') {
            len++;
        }
        etp_mcp_line(server, (etp_str){text + at, len}, false);
        at += len + 1;
    }
    etp_mcp_turn(server, 0);
    etp_mcp_close(server);
    return 0;
}
