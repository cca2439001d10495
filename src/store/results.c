// SPDX-License-Identifier: Apache-2.0
// results[] of the manifest, as Arm's kit reads them.
#include <stdlib.h>

#include "base/order.h"
#include "store/internal.h"

static double milliseconds(double ns)
{
    return ns / 1e6;
}

static etp_status write_result(etp_json *j, const etp_run *run, size_t arm, etp_arena *arena,
                               etp_error *err)
{
    uint64_t *ns = ETP_NEW_ARRAY(arena, uint64_t, run->samples.n + 1);
    ETP_NEED(ns, err, "latencies");
    size_t n = 0;
    etp_json_begin_object(j);
    etp_json_kv_str(j, "experiment", run->arms.items[arm].name);
    etp_json_key(j, "metrics");
    etp_json_begin_object(j);
    etp_json_key(j, "latency_ms");
    etp_json_begin_array_inline(j);
    for (size_t i = 0; i < run->samples.n; i++) {
        const etp_run_sample *s = &run->samples.items[i];
        if (s->arm == arm && s->phase == ETP_PHASE_TIMED) {
            ns[n++] = s->duration_ns;
            etp_json_double(j, milliseconds((double)s->duration_ns));
        }
    }
    etp_json_end(j);
    etp_json_kv_u64(j, "runs", n);
    etp_json_kv_u64(j, "warmup", run->arms.items[arm].warmup);
    etp_json_kv_u64(j, "threads", run->arms.items[arm].threads);
    if (n > 0) {
        qsort(ns, n, sizeof *ns, etp_order_u64);
        double median = n % 2 ? (double)ns[n / 2] : ((double)ns[n / 2 - 1] + (double)ns[n / 2]) / 2;
        etp_json_kv_double(j, "median_ms", milliseconds(median));
        etp_json_kv_double(j, "min_ms", milliseconds((double)ns[0]));
        etp_json_kv_double(j, "max_ms", milliseconds((double)ns[n - 1]));
    } else { // interrupted before the first
        etp_json_kv_null(j, "median_ms");
        etp_json_kv_null(j, "min_ms");
        etp_json_kv_null(j, "max_ms");
    }
    const etp_run_dump *d = NULL;
    for (size_t i = 0; i < run->dumps.n && !d; i++) {
        d = run->dumps.items[i].arm == arm ? &run->dumps.items[i] : NULL;
    }
    const char *etdump = d ? etp_arena_strdup(arena, d->path) : NULL;
    const char *log = d ? etp_run_dump_name(arena, &run->arms.items[arm], d->block, ".log") : NULL;
    etp_json_kv_z(j, "etdump", etdump);
    etp_json_kv_z(j, "log", log);
    etp_json_kv_z(j, "etdump_rel", etdump);
    etp_json_kv_z(j, "log_rel", log);
    etp_json_end(j);
    etp_json_end(j);
    return ETP_OK;
}

etp_status etp_run_results_write(etp_json *j, const etp_run *run, etp_arena *arena, etp_error *err)
{
    etp_json_begin_array(j);
    if (run->state != ETP_RUN_RUNNING) {
        for (size_t i = 0; i < run->arms.n; i++) {
            ETP_TRY(write_result(j, run, i, arena, err));
        }
    }
    etp_json_end(j);
    return ETP_OK;
}
