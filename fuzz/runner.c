// SPDX-License-Identifier: Apache-2.0
// What a runner says to the tool, line by line: a message is taken or refused with a reason, and
// what was taken says the same again when it is written and read once more.
#include <string.h>

#include "fuzz.h"
#include "wire/wire.h"

static void line(const char *text, size_t len)
{
    static etp_wire_msg msg, again;
    static char out[2 * ETP_WIRE_LINE_MAX], twice[2 * ETP_WIRE_LINE_MAX];
    char why[200] = "";
    if (!etp_wire_parse(text, len, &msg, why, sizeof why)) {
        FUZZ_CHECK(why[0] != '\0' && memchr(why, '\0', sizeof why));
        return;
    }
    size_t n = etp_wire_format(&msg, out, sizeof out);
    if (n > 0 && n <= ETP_WIRE_LINE_MAX && etp_wire_parse(out, n, &again, why, sizeof why)) {
        size_t m = etp_wire_format(&again, twice, sizeof twice);
        FUZZ_CHECK(m == n && memcmp(out, twice, n) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static etp_wire_cmd cmd;
    char why[200] = "";
    for (size_t at = 0; at < size;) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        size_t len = end ? (size_t)(end - data) - at + 1 : size - at;
        char *copy = malloc(len); // of its own size: reads behind its end are seen
        if (copy) {
            memcpy(copy, data + at, len);
            line(copy, len);
            if (etp_wire_cmd_parse(copy, len, &cmd, why, sizeof why)) {
                FUZZ_CHECK(memchr(cmd.path, '\0', sizeof cmd.path));
            }
            free(copy);
        }
        at += len;
    }
    return 0;
}
