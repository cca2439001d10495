// SPDX-License-Identifier: Apache-2.0
// Writes manifest.json (etprof.run/1). Everything manifest_read.c takes, plus results[] as Arm's
// kit writes them.
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "store/internal.h"

static void write_models(etp_json *j, const etp_run *run)
{
    etp_json_key(j, "models");
    etp_json_begin_array(j);
    for (size_t i = 0; i < run->models.n; i++) {
        const etp_run_model *m = &run->models.items[i];
        etp_json_begin_object_inline(j);
        etp_json_kv_str(j, "path", m->path);
        etp_json_kv_str(j, "stem", m->stem);
        etp_json_kv_str(j, "sha256", m->sha256);
        etp_json_kv_u64(j, "bytes", m->bytes);
        etp_json_end(j);
    }
    etp_json_end(j);
}

static void write_arms(etp_json *j, const etp_run *run)
{
    etp_json_key(j, "arms");
    etp_json_begin_array(j);
    for (size_t i = 0; i < run->arms.n; i++) {
        const etp_run_arm *a = &run->arms.items[i];
        etp_json_begin_object(j);
        etp_json_kv_str(j, "name", a->name);
        etp_json_kv_str(j, "level", a->level);
        etp_json_kv_u64(j, "threads", a->threads);
        etp_json_kv_u64(j, "model", a->model);
        etp_json_kv_str(j, "runner_sha256", a->runner_sha256);
        if (a->runner.len > 0) {
            etp_json_kv_str(j, "runner", a->runner);
            etp_json_kv_str(j, "build", a->build);
        }
        etp_json_kv_str(j, "prefix", a->prefix);
        etp_json_kv_bool(j, "emulated", a->emulated);
        if (a->sampling.len > 0) {
            etp_json_kv_str(j, "sampling", a->sampling);
        }
        etp_json_end(j);
    }
    etp_json_end(j);
}

static void write_iterations(etp_json *j, const etp_run *run)
{
    etp_json_key(j, "iterations");
    etp_json_begin_array(j);
    for (size_t i = 0; i < run->arms.n; i++) {
        const etp_run_arm *a = &run->arms.items[i];
        etp_json_begin_object_inline(j);
        etp_json_kv_u64(j, "warmup", a->warmup);
        etp_json_kv_u64(j, "timed", a->iterations);
        etp_json_kv_u64(j, "traced", a->traced);
        etp_json_end(j);
    }
    etp_json_end(j);
}

static void write_order(etp_json *j, const etp_run *run)
{
    etp_json_key(j, "order");
    etp_json_begin_array(j);
    size_t n_arms = run->arms.n, blocks = n_arms ? run->order.n / n_arms : 0;
    for (size_t b = 0; b < blocks; b++) {
        etp_json_begin_array_inline(j);
        for (size_t a = 0; a < n_arms; a++) {
            etp_json_u64(j, run->order.items[b * n_arms + a]);
        }
        etp_json_end(j);
    }
    etp_json_end(j);
}

static void write_setting(etp_json *j, const etp_setting *row, const etp_settings *settings)
{
    const void *field = (const char *)settings + row->offset;
    switch (row->type) {
    case ETP_SETTING_TEXT:
        etp_json_kv_str(j, row->key, etp_str_from(*(const char *const *)field));
        return;
    case ETP_SETTING_COUNT:
        etp_json_kv_u64(j, row->key, *(const uint64_t *)field);
        return;
    case ETP_SETTING_RATIO:
    case ETP_SETTING_TIME:
        etp_json_kv_double_if(j, row->key, *(const double *)field, *(const double *)field > 0);
        return;
    case ETP_SETTING_FLAG:
        etp_json_kv_bool(j, row->key, *(const bool *)field);
        return;
    case ETP_SETTING_OFF:
        etp_json_kv_bool(j, row->key, !*(const bool *)field);
        return;
    case ETP_SETTING_KNEE:
        if (*(const double *)field > 0) {
            etp_json_key(j, row->key);
            etp_json_begin_object_inline(j);
            etp_json_kv_double(j, "knee", *(const double *)field);
            etp_json_end(j);
        }
        return;
    case ETP_SETTING_COOL:
        if (((const etp_cool *)field)->celsius > 0) {
            etp_json_key(j, row->key);
            etp_json_begin_object_inline(j);
            etp_json_kv_double(j, "celsius", ((const etp_cool *)field)->celsius);
            etp_json_kv_double(j, "wait_s", ((const etp_cool *)field)->wait_s);
            etp_json_end(j);
        }
        return;
    }
}

static void write_settings(etp_json *j, const etp_settings *settings, bool requested)
{
    for (const etp_setting *row = k_etp_settings; row->key; row++) {
        if (row->requested == requested) {
            write_setting(j, row, settings);
        }
    }
}

static void write_plan(etp_json *j, const etp_run *run)
{
    etp_json_key(j, "plan");
    etp_json_begin_object(j);
    etp_json_kv_u64(j, "control_blocks", run->control_blocks);
    etp_json_kv_u64(j, "baseline", run->baseline);
    write_settings(j, &run->settings, false);
    etp_json_key(j, "asked");
    etp_json_begin_object_inline(j);
    write_settings(j, &run->settings, true);
    etp_json_end(j);
    write_arms(j, run);
    write_iterations(j, run);
    write_order(j, run);
    etp_json_end(j);
}

static void write_device(etp_json *j, const etp_run *run)
{
    etp_json_key(j, "device");
    etp_json_begin_object(j);
    etp_json_kv_str(j, "spec", run->device_spec);
    etp_json_kv_str(j, "platform", run->platform);
    etp_json_kv_bool(j, "emulated", run->emulated);
    etp_json_kv_str(j, "isa", run->device_cpu);
    etp_json_key(j, "facts");
    etp_json_begin_object(j);
    for (size_t i = 0; i < run->facts.n; i++) {
        etp_json_key_str(j, run->facts.items[i].key);
        etp_json_str(j, run->facts.items[i].value);
    }
    etp_json_end(j);
    etp_json_end(j);
}

static void write_lost(etp_json *j, const etp_run *run)
{
    etp_json_key(j, "lost");
    etp_json_begin_array(j);
    for (size_t i = 0; i < run->lost.n; i++) {
        const etp_run_lost *l = &run->lost.items[i];
        etp_json_begin_object_inline(j);
        etp_json_kv_u64(j, "arm", l->arm);
        etp_json_kv_u64(j, "block", l->block);
        etp_json_kv_u64(j, "launch", l->launch);
        etp_json_kv_z(j, "kind", etp_launch_kind_name(l->kind));
        etp_json_kv_z(j, "reason", etp_lost_reason_name(l->reason));
        etp_json_kv_u64(j, "attempt", l->attempt);
        etp_json_kv_bool(j, "recovered", l->recovered);
        etp_json_kv_str(j, "detail", l->detail);
        etp_json_end(j);
    }
    etp_json_end(j);
}

static void write_lists(etp_json *j, const etp_run *run)
{
    etp_json_key(j, "unreadable");
    etp_json_begin_array_inline(j);
    for (size_t i = 0; i < run->unreadable.n; i++) {
        etp_json_str(j, run->unreadable.items[i]);
    }
    etp_json_end(j);
    etp_json_key(j, "notes");
    etp_json_begin_array(j);
    for (size_t i = 0; i < run->n_notes; i++) {
        etp_json_begin_object_inline(j);
        etp_json_kv_str(j, "id", run->notes[i].id);
        etp_json_kv_str(j, "text", run->notes[i].text);
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_key(j, "files");
    etp_json_begin_array(j);
    for (size_t i = 0; i < run->files.n; i++) {
        const etp_run_file *f = &run->files.items[i];
        etp_json_begin_object_inline(j);
        etp_json_kv_str(j, "path", f->path);
        etp_json_kv_str(j, "sha256", f->sha256);
        etp_json_kv_u64(j, "bytes", f->bytes);
        etp_json_end(j);
    }
    etp_json_end(j);
}

// ---- results[], as Arm's kit reads them ----

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static double milliseconds(double ns)
{
    return ns / 1e6;
}

static const char *dump_of(const etp_run *run, size_t arm, etp_arena *arena, const char *suffix)
{
    for (size_t i = 0; i < run->dumps.n; i++) {
        const etp_run_dump *d = &run->dumps.items[i];
        if (d->arm == arm) {
            return etp_run_dump_name(arena, &run->arms.items[arm], d->block, suffix);
        }
    }
    return NULL;
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
        qsort(ns, n, sizeof *ns, by_value);
        double median = n % 2 ? (double)ns[n / 2] : ((double)ns[n / 2 - 1] + (double)ns[n / 2]) / 2;
        etp_json_kv_double(j, "median_ms", milliseconds(median));
        etp_json_kv_double(j, "min_ms", milliseconds((double)ns[0]));
        etp_json_kv_double(j, "max_ms", milliseconds((double)ns[n - 1]));
    } else { // interrupted before the first
        etp_json_kv_null(j, "median_ms");
        etp_json_kv_null(j, "min_ms");
        etp_json_kv_null(j, "max_ms");
    }
    const char *etdump = dump_of(run, arm, arena, ".etdump"),
               *log = dump_of(run, arm, arena, ".log");
    etp_json_kv_z(j, "etdump", etdump);
    etp_json_kv_z(j, "log", log);
    etp_json_kv_z(j, "etdump_rel", etdump);
    etp_json_kv_z(j, "log_rel", log);
    etp_json_end(j);
    etp_json_end(j);
    return ETP_OK;
}

static etp_status write_results(etp_json *j, const etp_run *run, etp_arena *arena, etp_error *err)
{
    etp_json_key(j, "results");
    etp_json_begin_array(j);
    if (run->state != ETP_RUN_RUNNING) {
        for (size_t i = 0; i < run->arms.n; i++) {
            ETP_TRY(write_result(j, run, i, arena, err));
        }
    }
    etp_json_end(j);
    return ETP_OK;
}

static void write_head(etp_json *j, const etp_run *run)
{
    etp_json_kv_z(j, "schema", ETP_RUN_SCHEMA);
    etp_json_kv_z(j, "state", etp_run_state_name(run->state));
    etp_json_key(j, "tool");
    etp_json_begin_object_inline(j);
    etp_json_kv_z(j, "name", "etprof");
    etp_json_kv_str(j, "version", run->tool_version);
    etp_json_end(j);
    etp_json_kv_str(j, "generated_at", run->generated_at);
    etp_json_kv_str(j, "command", run->command);
    etp_json_kv_str_if(j, "config", run->config, run->config.len > 0);
    if (run->models.n > 0) {
        etp_json_kv_str(j, "model", run->models.items[0].path);
    } else {
        etp_json_kv_null(j, "model");
    }
    etp_json_key(j, "executorch");
    etp_json_begin_object_inline(j);
    etp_json_kv_bool(j, "present", run->executorch.present);
    etp_json_kv_str(j, "version", run->executorch.version);
    etp_json_kv_str(j, "sha", run->executorch.sha);
    etp_json_kv_bool(j, "dirty", run->executorch.dirty);
    etp_json_end(j);
    etp_json_kv_u64(j, "blocks_done", run->blocks_done);
    etp_json_kv_i64(j, "signal", run->signal);
    const char *stopped = etp_run_stop_name(run->stopped);
    etp_json_kv_z(j, "stopped", stopped[0] ? stopped : NULL);
    etp_json_key(j, "selftest");
    etp_json_begin_object_inline(j);
    etp_json_kv_bool(j, "ok", run->selftest_ok);
    etp_json_kv_str(j, "text", run->selftest);
    etp_json_key(j, "names");
    etp_json_begin_array(j);
    for (size_t i = 0; i < run->n_names; i++) {
        etp_json_begin_object_inline(j);
        etp_json_kv_str(j, "level", run->names[i].level);
        etp_json_kv_str(j, "names", run->names[i].names);
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_end(j);
}

etp_status etp_run_manifest_write(const etp_run *run, etp_arena *arena, etp_str *out,
                                  etp_error *err)
{
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    etp_sink sink = etp_sink_strbuf(&text);
    etp_json j;
    etp_json_init(&j, &sink, true);
    etp_json_begin_object(&j);
    write_head(&j, run);
    write_models(&j, run);
    write_plan(&j, run);
    write_device(&j, run);
    write_lost(&j, run);
    write_lists(&j, run);
    ETP_TRY(write_results(&j, run, arena, err));
    etp_json_end(&j);
    etp_json_end_document(&j);
    ETP_NEED(!sink.failed && !text.failed, err, "the manifest");
    *out = etp_strbuf_str(&text);
    return ETP_OK;
}
