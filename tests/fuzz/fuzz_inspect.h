// SPDX-License-Identifier: Apache-2.0
// What the targets of the program formats share: everything `etprof inspect` derives and writes is
// computed and thrown away.
#ifndef ETP_FUZZ_FUZZ_INSPECT_H
#define ETP_FUZZ_FUZZ_INSPECT_H

#include <string.h>

#include "fuzz.h"
#include "inspect/inspect.h"

static inline bool fuzz_discard(etp_sink *sink, const char *ptr, size_t len)
{
    (void)sink;
    static volatile char last; // the bytes have to be looked at
    if (len) {
        last = ptr[len - 1];
    }
    (void)last;
    return true;
}

// Sizes are claims of the file; what was allocated for it is not.
static inline void fuzz_check_memory(const etp_arena *arena, size_t size)
{
    FUZZ_CHECK(arena->total <= 2 * size + (32u << 20));
}

static inline void fuzz_inspect(const uint8_t *data, size_t size, etp_file_kind kind)
{
    const etp_bytes bytes = {data, size, 0};
    etp_arena arena = {0};
    etp_error err = {0};
    etp_inspect in;
    if (etp_inspect_probe(bytes) != kind) {
        return;
    }
    if (etp_inspect_open("input", bytes, (etp_bytes){0}, &arena, &in, &err) != ETP_OK) {
        FUZZ_CHECK(err.msg[0] != '\0');
        FUZZ_CHECK(err.status == ETP_CORRUPT || err.status == ETP_UNSUPPORTED);
    } else {
        etp_sink sink = {.write = fuzz_discard};
        etp_json json;
        etp_json_init(&json, &sink, true);
        etp_document_write(&json, &k_etp_inspect_document, &in, &in);
        const etp_report *report = etp_inspect_report(&in, &arena);
        FUZZ_CHECK(etp_report_write(report, etp_write_text, NULL, &sink, &err) == ETP_OK);
        if (in.program) {
            report = etp_inspect_tree(&in, &arena);
            FUZZ_CHECK(report != NULL);
        }
    }
    etp_inspect_close(&in);
    etp_arena_dispose(&arena);
}

#endif
