// SPDX-License-Identifier: Apache-2.0
// What a runner says to the tool, line by line: a message is taken or refused with a reason, and
// what was taken says the same again when it is written and read once more. The same lines as the
// log of a runner of others: an executor_runner, and one of language models.
#include <string.h>

#include "fuzz.h"
#include "measure/foreign.h"
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

// The log as it comes, in pieces that end anywhere.
static void others(const uint8_t *data, size_t size, etp_foreign_kind kind)
{
    static etp_foreign_log log;
    etp_arena arena = {0};
    log = (etp_foreign_log){.arena = &arena, .executions = 3, .kind = kind};
    for (size_t at = 0; at < size;) {
        size_t len = 1 + data[at] % 97, left = size - at;
        len = len < left ? len : left;
        etp_foreign_log_feed(&log, data[at] & 1, (const char *)data + at, len, at);
        at += len;
    }
    FUZZ_CHECK(log.answers.n <= log.executions && log.iterations.n <= log.executions);
    for (size_t i = 0; i < log.answers.n; i++) {
        FUZZ_CHECK(log.answers.items[i].prompt_tokens > 0);
    }
    FUZZ_CHECK(kind == ETP_FOREIGN_TEXT ? log.iterations.n == 0 : log.answers.n == 0);
    etp_arena_dispose(&arena);
}

// What follows "PyTorchObserver ": taken with sound numbers, or refused with a reason.
static void statistics(const char *text, size_t len)
{
    etp_foreign_stats s;
    char why[200] = "";
    if (etp_foreign_stats_read((etp_str){text, len}, &s, why, sizeof why)) {
        FUZZ_CHECK(s.prompt_tokens > 0 && s.prefill_ms < (uint64_t)1 << 53 &&
                   s.decode_ms < (uint64_t)1 << 53);
    } else {
        FUZZ_CHECK(why[0] != '\0' && memchr(why, '\0', sizeof why));
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
            statistics(copy, len);
            if (etp_wire_cmd_parse(copy, len, &cmd, why, sizeof why)) {
                FUZZ_CHECK(memchr(cmd.path, '\0', sizeof cmd.path));
            }
            free(copy);
        }
        at += len;
    }
    others(data, size, ETP_FOREIGN_EXECUTOR);
    others(data, size, ETP_FOREIGN_TEXT);
    return 0;
}
