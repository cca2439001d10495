// SPDX-License-Identifier: Apache-2.0
// What Arm's kit writes: logs and tables of kernels, latencies of timelines, JSON with NaN in it.
#include "base/guard.h"
#include "fuzz.h"
#include "inspect/kernels/log.h"
#include "kit/json.h"
#include "kit/latency.h"

static void kernels(etp_str text, etp_arena *arena)
{
    etp_kernel_log log;
    if (etp_kernel_log_read(text, arena, &log, NULL) == ETP_OK) {
        uint64_t lines = 0;
        for (size_t i = 0; i < log.kernels.n; i++) {
            FUZZ_CHECK(i == 0 || log.kernels.items[i - 1].count >= log.kernels.items[i].count);
            lines += log.kernels.items[i].count;
        }
        FUZZ_CHECK(lines == log.lines);
    }
}

static void latencies(etp_str text, etp_arena *arena)
{
    etp_kit_timeline t;
    if (etp_kit_timeline_read(text, arena, &t, NULL) == ETP_OK) {
        FUZZ_CHECK(t.n > 0 && t.kit_n > 0 && t.kit_n <= t.n);
        for (size_t i = 1; i < t.n; i++) {
            FUZZ_CHECK(t.run[i - 1] <= t.run[i]);
        }
    }
}

static etp_status load(etp_str text, etp_arena *arena, json_t **doc)
{
    ETP_GUARDED(arena, NULL, "JSON", etp_kit_json_load(text, arena, doc, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    etp_arena arena = {0};
    etp_str text = {(const char *)data, size};
    json_t *doc = NULL;
    kernels(text, &arena);
    latencies(text, &arena);
    if (load(text, &arena, &doc) == ETP_OK && doc) {
        (void)etp_kit_json_number(doc, "median_ms");
    }
    json_decref(doc);
    etp_arena_dispose(&arena);
    return 0;
}
