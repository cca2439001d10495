// SPDX-License-Identifier: Apache-2.0
// Reads manifest.json and checks everything that later code relies on: indices in range, names
// that stay inside the folder, sizes within budgets.
#include <stdio.h>

#include "store/internal.h"

// Appends to a vector of the run; remembers a shortage of memory in the document's status.
#define PUSH(o, vector, item)                                                \
    do {                                                                     \
        if (!ETP_PUSH((o)->arena, vector, item) && *(o)->status == ETP_OK) { \
            *(o)->status = etp_fail_nomem((o)->err, "the manifest");         \
        }                                                                    \
    } while (0)

static void read_models(const etp_json_object *root, etp_run *run)
{
    const json_t *array;
    size_t n = etp_json_get_array(root, "models", ETP_RUN_MAX_ARMS, &array);
    for (size_t i = 0; i < n; i++) {
        etp_json_object o = etp_json_element(root, "models", array, i);
        etp_run_model m = {.path = etp_json_get_str(&o, "path"),
                           .stem = etp_json_get_str(&o, "stem"),
                           .sha256 = etp_json_get_str(&o, "sha256"),
                           .bytes = etp_json_get_u64(&o, "bytes", INT64_MAX)};
        PUSH(root, &run->models, m);
    }
}

static void read_arms(const etp_json_object *plan, etp_run *run)
{
    const json_t *array, *counts;
    size_t n = etp_json_get_array(plan, "arms", ETP_RUN_MAX_ARMS, &array);
    size_t n_counts = etp_json_get_array(plan, "iterations", ETP_RUN_MAX_ARMS, &counts);
    for (size_t i = 0; i < n; i++) {
        etp_json_object o = etp_json_element(plan, "arms", array, i);
        etp_run_arm a = {.name = etp_json_get_str(&o, "name"),
                         .level = etp_json_get_str(&o, "level"),
                         .threads = etp_json_get_u32(&o, "threads", 65536),
                         .model = etp_json_get_u32(&o, "model", ETP_RUN_MAX_ARMS),
                         .runner_sha256 = etp_json_get_str(&o, "runner_sha256"),
                         .runner = etp_json_get_str(&o, "runner"),
                         .build = etp_json_get_str(&o, "build"),
                         .prefix = etp_json_get_str(&o, "prefix"),
                         .emulated = etp_json_get_bool(&o, "emulated"),
                         .sampling = etp_json_get_str(&o, "sampling")};
        if (o.object && !etp_run_name_ok(a.name)) {
            etp_json_reject(&o, "name", "a plain file name");
        }
        if (o.object && !etp_run_name_ok(a.prefix)) {
            etp_json_reject(&o, "prefix", "a plain file name");
        }
        if (o.object && a.model >= run->models.n) {
            etp_json_reject(&o, "model", "an index into models");
        }
        for (size_t k = 0; k < run->arms.n; k++) {
            if (etp_str_eq(run->arms.items[k].name, a.name)) {
                etp_json_reject(&o, "name", "unique");
            }
        }
        if (i < n_counts) {
            etp_json_object c = etp_json_element(plan, "iterations", counts, i);
            a.warmup = etp_json_get_u64(&c, "warmup", INT64_MAX);
            a.iterations = etp_json_get_u64(&c, "timed", INT64_MAX);
            a.traced = etp_json_get_u64(&c, "traced", INT64_MAX);
        }
        PUSH(plan, &run->arms, a);
    }
}

static void read_order(const etp_json_object *plan, etp_run *run)
{
    const json_t *blocks;
    size_t n = etp_json_get_array(plan, "order", ETP_RUN_MAX_BLOCKS, &blocks);
    for (size_t b = 0; b < n && *plan->status == ETP_OK; b++) {
        const json_t *row = json_array_get(blocks, b);
        if (!json_is_array(row) || json_array_size(row) != run->arms.n) {
            etp_json_reject(plan, "order", "a list of one list of arms per block");
            return;
        }
        for (size_t a = 0; a < run->arms.n; a++) {
            const json_t *v = json_array_get(row, a);
            json_int_t i = json_is_integer(v) ? json_integer_value(v) : -1;
            if (i < 0 || (size_t)i >= run->arms.n) {
                etp_json_reject(plan, "order", "a list of indices into arms");
                return;
            }
            PUSH(plan, &run->order, (uint32_t)i);
        }
    }
}

static double read_knee(const etp_json_object *plan, const char *key)
{
    etp_json_object sweep = etp_json_get_object(plan, key);
    double knee = etp_json_get_double(&sweep, "knee");
    if (sweep.object && !(knee > 0)) {
        etp_json_reject(&sweep, "knee", "a gain above 0");
    }
    return knee;
}

static void read_setting(const etp_json_object *o, const etp_setting *row, etp_settings *settings)
{
    void *field = (char *)settings + row->offset;
    switch (row->type) {
    case ETP_SETTING_TEXT: {
        etp_str text = etp_json_get_str(o, row->key);
        *(const char **)field = text.len > 0 ? text.ptr : NULL;
        return;
    }
    case ETP_SETTING_COUNT:
        *(uint64_t *)field = etp_json_get_u64(o, row->key, row->limit);
        return;
    case ETP_SETTING_RATIO:
    case ETP_SETTING_TIME:
        *(double *)field = etp_json_get_double(o, row->key);
        return;
    case ETP_SETTING_FLAG:
        *(bool *)field = etp_json_get_bool(o, row->key);
        return;
    case ETP_SETTING_OFF:
        *(bool *)field = o->object && !etp_json_get_bool(o, row->key);
        return;
    case ETP_SETTING_KNEE:
        *(double *)field = read_knee(o, row->key);
        return;
    case ETP_SETTING_COOL: {
        etp_json_object cool = etp_json_get_object(o, row->key);
        *(etp_cool *)field = (etp_cool){.celsius = etp_json_get_double(&cool, "celsius"),
                                        .wait_s = etp_json_get_double(&cool, "wait_s")};
        return;
    }
    }
}

static void read_plan(const etp_json_object *root, etp_run *run)
{
    etp_json_object plan = etp_json_get_object(root, "plan");
    if (!plan.object) {
        etp_json_reject(root, "plan", "there");
        return;
    }
    etp_json_object requested = etp_json_get_object(&plan, "asked");
    for (const etp_setting *row = k_etp_settings; row->key; row++) {
        read_setting(row->requested ? &requested : &plan, row, &run->settings);
    }
    run->control_blocks = etp_json_get_u32(&plan, "control_blocks", ETP_RUN_MAX_BLOCKS);
    read_arms(&plan, run);
    run->baseline = etp_json_get_u32(&plan, "baseline", ETP_RUN_MAX_ARMS);
    if (run->baseline >= run->arms.n) {
        etp_json_reject(&plan, "baseline", "an index into arms");
    }
    read_order(&plan, run);
}

static void read_device(const etp_json_object *root, etp_run *run)
{
    etp_json_object device = etp_json_get_object(root, "device");
    run->device_spec = etp_json_get_str(&device, "spec");
    run->platform = etp_json_get_str(&device, "platform");
    run->emulated = etp_json_get_bool(&device, "emulated");
    run->device_cpu = etp_json_get_str(&device, "isa");
    etp_json_object facts = etp_json_get_object(&device, "facts");
    if (!facts.object) {
        return;
    }
    // jansson's iterator wants a pointer to non-const although it changes nothing.
    for (const void *it = json_object_iter((json_t *)(uintptr_t)facts.object); it;
         it = json_object_iter_next((json_t *)(uintptr_t)facts.object, (void *)(uintptr_t)it)) {
        const char *key = json_object_iter_key((void *)(uintptr_t)it);
        char *copy = etp_arena_strdup(facts.arena, etp_str_from(key));
        etp_run_fact f = {.key = etp_str_from(copy), .value = etp_json_get_str(&facts, key)};
        PUSH(&facts, &run->facts, f);
    }
}

static void read_lost(const etp_json_object *root, etp_run *run)
{
    const json_t *array;
    size_t n = etp_json_get_array(root, "lost", 10 * (size_t)ETP_RUN_MAX_BLOCKS, &array);
    for (size_t i = 0; i < n; i++) {
        etp_json_object o = etp_json_element(root, "lost", array, i);
        etp_run_lost l = {.arm = etp_json_get_u32(&o, "arm", ETP_RUN_MAX_ARMS),
                          .block = etp_json_get_u32(&o, "block", ETP_RUN_MAX_BLOCKS),
                          .launch = etp_json_get_u32(&o, "launch", UINT32_MAX),
                          .attempt = etp_json_get_u32(&o, "attempt", UINT32_MAX),
                          .recovered = etp_json_get_bool(&o, "recovered"),
                          .detail = etp_json_get_str(&o, "detail")};
        if (l.arm >= run->arms.n) {
            etp_json_reject(&o, "arm", "an index into arms");
        }
        if (!etp_launch_kind_find(etp_json_get_str(&o, "kind"), &l.kind)) {
            etp_json_reject(&o, "kind", "a kind of launch");
        }
        if (!etp_lost_reason_find(etp_json_get_str(&o, "reason"), &l.reason)) {
            etp_json_reject(&o, "reason", "a reason");
        }
        PUSH(root, &run->lost, l);
    }
}

static void read_notes(const etp_json_object *root, etp_run *run)
{
    const json_t *array;
    size_t cap = sizeof run->notes / sizeof *run->notes;
    size_t n = etp_json_get_array(root, "notes", 1000, &array);
    for (size_t i = 0; i < n && i < cap; i++) {
        etp_json_object o = etp_json_element(root, "notes", array, i);
        run->notes[run->n_notes].id = etp_json_get_str(&o, "id");
        run->notes[run->n_notes++].text = etp_json_get_str(&o, "text");
    }
    n = etp_json_get_array(root, "unreadable", 1000, &array);
    for (size_t i = 0; i < n; i++) {
        const json_t *v = json_array_get(array, i);
        const char *z = json_string_value(v); // NULL when it is no string
        char *copy = z ? etp_arena_strdup(root->arena, etp_str_from(z)) : NULL;
        if (!z) {
            etp_json_reject(root, "unreadable", "a list of strings");
            return;
        }
        PUSH(root, &run->unreadable, etp_str_from(copy));
    }
}

static void read_files(const etp_json_object *root, etp_run *run)
{
    const json_t *array;
    size_t n = etp_json_get_array(root, "files", 1000000, &array);
    for (size_t i = 0; i < n; i++) {
        etp_json_object o = etp_json_element(root, "files", array, i);
        etp_run_file f = {.path = etp_json_get_str(&o, "path"),
                          .sha256 = etp_json_get_str(&o, "sha256"),
                          .bytes = etp_json_get_u64(&o, "bytes", INT64_MAX)};
        if (!etp_run_path_ok(f.path)) {
            etp_json_reject(&o, "path", "a path inside the folder");
        }
        PUSH(root, &run->files, f);
    }
}

static etp_status check_schema(const etp_json_object *root, etp_error *err)
{
    etp_str schema = etp_json_get_str(root, "schema");
    if (etp_str_eqz(schema, ETP_RUN_SCHEMA)) {
        return ETP_OK;
    }
    if (etp_str_starts(schema, ETP_STR("etprof.run/"))) {
        return etp_fail(err, ETP_UNSUPPORTED,
                        "the folder has schema %.*s, this etprof reads %s: use a newer etprof",
                        ETP_STR_ARG(schema), ETP_RUN_SCHEMA);
    }
    return etp_fail(err, ETP_UNSUPPORTED, "no etprof manifest: its schema is \"%.*s\", not %s",
                    ETP_STR_ARG(schema), ETP_RUN_SCHEMA);
}

static void read_head(const etp_json_object *root, etp_run *run)
{
    if (!etp_run_state_find(etp_json_get_str(root, "state"), &run->state)) {
        etp_json_reject(root, "state", "running, finished or interrupted");
    }
    etp_json_object tool = etp_json_get_object(root, "tool");
    run->tool_version = etp_json_get_str(&tool, "version");
    run->generated_at = etp_json_get_str(root, "generated_at");
    run->command = etp_json_get_str(root, "command");
    run->config = etp_json_get_str(root, "config");
    etp_json_object et = etp_json_get_object(root, "executorch");
    run->executorch.present = etp_json_get_bool(&et, "present");
    run->executorch.version = etp_json_get_str(&et, "version");
    run->executorch.sha = etp_json_get_str(&et, "sha");
    run->executorch.dirty = etp_json_get_bool(&et, "dirty");
    run->blocks_done = etp_json_get_u32(root, "blocks_done", ETP_RUN_MAX_BLOCKS);
    run->signal = (int)etp_json_get_u32(root, "signal", 128);
    if (!etp_run_stop_find(etp_json_get_str(root, "stopped"), &run->stopped)) {
        etp_json_reject(root, "stopped", "precision, budget or blocks");
    }
    etp_json_object selftest = etp_json_get_object(root, "selftest");
    run->selftest_ok = etp_json_get_bool(&selftest, "ok");
    run->selftest = etp_json_get_str(&selftest, "text");
    const json_t *names;
    size_t n = etp_json_get_array(&selftest, "names", ETP_RUN_NAMED_LEVELS, &names);
    for (size_t i = 0; i < n; i++) {
        etp_json_object o = etp_json_element(&selftest, "names", names, i);
        run->names[run->n_names].level = etp_json_get_str(&o, "level");
        run->names[run->n_names++].names = etp_json_get_str(&o, "names");
    }
}

// Each number is within its limits; what they cost together is judged before anything is made of
// them.
static void check_cost(const etp_json_object *root, const etp_run *run)
{
    uint64_t cells = (uint64_t)run->arms.n * run->blocks_done;
    if (cells > ETP_RUN_MAX_CELLS) {
        etp_json_reject(root, "blocks_done", "at most 2000000 divided by the number of arms");
    }
    if (run->settings.knee > 0 && run->arms.n > ETP_RUN_MAX_SWEPT) {
        etp_json_reject(root, "plan", "a sweep of at most 64 arms");
    }
}

etp_status etp_run_manifest_read(etp_str text, etp_arena *arena, etp_run *out, etp_error *err)
{
    json_t *json;
    ETP_TRY(etp_json_read(text, &json, err));
    etp_status status = ETP_OK;
    const etp_json_object root = {
        .object = json, .where = "", .arena = arena, .err = err, .status = &status};
    etp_status schema = check_schema(&root, err);
    if (schema == ETP_OK && status == ETP_OK) {
        read_head(&root, out);
        read_models(&root, out);
        read_plan(&root, out);
        check_cost(&root, out);
        read_device(&root, out);
        read_lost(&root, out);
        read_notes(&root, out);
        read_files(&root, out);
    }
    json_decref(json);
    return schema != ETP_OK ? schema : status;
}
