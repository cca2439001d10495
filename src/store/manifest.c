// SPDX-License-Identifier: Apache-2.0
// manifest.json (etprof.run/1): the tables it is written by and read by, and checks of everything
// that later code relies on: indices in range, names that stay inside the folder, sizes within
// budgets.
#include <stdio.h>

#include "document/rows.h"
#include "store/internal.h"

typedef struct manifest { // what is written: the root of the tables' functions
    const etp_run *run;
    etp_arena *arena;
    etp_error *err;
    etp_status status;
} manifest;

static const char *stop_name(etp_run_stop stop)
{
    return stop == ETP_STOP_OTHER ? NULL : etp_run_stop_name(stop);
}
WORDS(k_states, etp_run_state_name, etp_run_state, ETP_RUN_STATES)
WORDS(k_stops, stop_name, etp_run_stop, ETP_STOP_BLOCKS + 1)
WORDS(k_phases_of, etp_phase_kind_name, etp_phase_kind, ETP_PHASE_KINDS)
WORDS(k_launches, etp_launch_kind_name, etp_launch_kind, ETP_LAUNCH_KINDS)
WORDS(k_reasons, etp_lost_reason_name, etp_lost_reason, ETP_LOST_REASONS)
WORDS(k_packed_caches, etp_packed_cache_name, etp_packed_cache, ETP_CACHE_STATES)
WORDS(k_samples_ends, etp_samples_end_name, etp_samples_end, ETP_SAMPLES_ENDS)

FIND(tool_name, etp_run, manifest, MAKE(text, "etprof"))
FIND(first_model, etp_run, manifest, it->models.n > 0 ? &it->models.items[0].path : NULL)
KNOWN(has_phases, etp_run, it->phases.n > 0)
KNOWN(has_builds, etp_run, it->builds.n > 0)
KNOWN(has_runner, etp_run_arm, it->runner.len > 0)
KNOWN(has_cache, etp_packed_cache, *it != ETP_CACHE_UNSAID)
KNOWN(is_told, etp_samples_end, *it != ETP_SAMPLES_NOT_TOLD)
static const etp_shape k_iterations;

// ---- what a table cannot say ----

static void write_order(etp_json *j, const etp_json_cursor *at)
{
    const etp_run *run = at->object;
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

static void read_order(const etp_json_object *plan, void *object, void *root)
{
    (void)root;
    etp_run *run = object;
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
            ETP_ADD(plan->arena, &run->order, (uint32_t)i);
        }
    }
}

// What the pilot found for each arm stands beside the arms.
static void read_iterations(const etp_json_object *plan, void *object, void *root)
{
    etp_run *run = object;
    const json_t *counts;
    size_t n = etp_json_get_array(plan, "iterations", ETP_RUN_MAX_ARMS, &counts);
    for (size_t i = 0; i < n && i < run->arms.n; i++) {
        etp_json_object o = etp_json_element(plan, "iterations", counts, i);
        etp_object_read(&o, &k_iterations, &run->arms.items[i], root);
    }
}

static void write_facts(etp_json *j, const etp_json_cursor *at)
{
    const etp_run *run = at->object;
    etp_json_begin_object(j);
    for (size_t i = 0; i < run->facts.n; i++) {
        etp_json_key_str(j, run->facts.items[i].key);
        etp_json_str(j, run->facts.items[i].value);
    }
    etp_json_end(j);
}

static void read_facts(const etp_json_object *device, void *object, void *root)
{
    (void)root;
    etp_run *run = object;
    etp_json_object facts = etp_json_get_object(device, "facts");
    if (!facts.object) {
        return;
    }
    // jansson's iterator wants a pointer to non-const although it changes nothing.
    for (const void *it = json_object_iter((json_t *)(uintptr_t)facts.object); it;
         it = json_object_iter_next((json_t *)(uintptr_t)facts.object, (void *)(uintptr_t)it)) {
        const char *key = json_object_iter_key((void *)(uintptr_t)it);
        char *copy = etp_arena_strdup(facts.arena, etp_str_from(key));
        etp_run_fact f = {.key = etp_str_from(copy), .value = etp_json_get_str(&facts, key)};
        ETP_ADD(facts.arena, &run->facts, f);
    }
}

static void write_results(etp_json *j, const etp_json_cursor *at)
{
    manifest *m = (manifest *)(uintptr_t)at->root;
    m->status = etp_run_results_write(j, m->run, m->arena, m->err);
}

// ---- checks ----

static void check_arm(const etp_json_object *o, const void *object, const void *root)
{
    const etp_run_arm *arm = object;
    const etp_run *run = root;
    if (!etp_run_name_ok(arm->name)) {
        etp_json_reject(o, "name", "a plain file name");
    }
    if (!etp_run_name_ok(arm->prefix)) {
        etp_json_reject(o, "prefix", "a plain file name");
    }
    if (arm->model >= run->models.n) {
        etp_json_reject(o, "model", "an index into models");
    }
    if (run->phases.n > 0 ? arm->phase >= run->phases.n : arm->phase > 0) {
        etp_json_reject(o, "phase", "an index into phases");
    }
    if (run->builds.n > 0 ? arm->side >= run->builds.n : arm->side > 0) {
        etp_json_reject(o, "side", "an index into builds");
    }
    for (size_t k = 0; k < run->arms.n; k++) {
        if (etp_str_eq(run->arms.items[k].name, arm->name)) {
            etp_json_reject(o, "name", "unique");
        }
    }
}

static void check_phase(const etp_json_object *o, const void *object, const void *root)
{
    const etp_run_phase *phase = object;
    const etp_run *run = root;
    if (phase->name.len == 0) {
        etp_json_reject(o, "name", "the name of a phase");
    }
    for (size_t k = 0; k < run->phases.n; k++) {
        if (etp_str_eq(run->phases.items[k].name, phase->name)) {
            etp_json_reject(o, "name", "unique");
        }
    }
}

static void check_plan(const etp_json_object *plan, const void *object, const void *root)
{
    (void)root;
    const etp_run *run = object;
    if (run->baseline >= run->arms.n) {
        etp_json_reject(plan, "baseline", "an index into arms");
    }
}

static void check_lost(const etp_json_object *o, const void *object, const void *root)
{
    if (((const etp_run_lost *)object)->arm >= ((const etp_run *)root)->arms.n) {
        etp_json_reject(o, "arm", "an index into arms");
    }
}

static void check_file(const etp_json_object *o, const void *object, const void *root)
{
    (void)root;
    if (!etp_run_path_ok(((const etp_run_file *)object)->path)) {
        etp_json_reject(o, "path", "a path inside the folder");
    }
}

// Each number is within its limits; what they cost together is judged before anything is made of
// them.
static void check_run(const etp_json_object *root, const void *object, const void *unused)
{
    (void)unused;
    const etp_run *run = object;
    if (!json_object_get(root->object, "plan")) {
        etp_json_reject(root, "plan", "there");
    }
    uint64_t cells = (uint64_t)run->arms.n * run->blocks_done;
    if (cells > ETP_RUN_MAX_CELLS) {
        etp_json_reject(root, "blocks_done", "at most 2000000 divided by the number of arms");
    }
}

// ---- tables ----

#define OF etp_run
static const etp_field k_tool_rows[] = {
    COMPUTED("name", TEXT, tool_name, "etprof", .flags = ETP_SET),
    FIELD("version", STR, tool_version, "that measures", .flags = ETP_SET),
};
static SHAPE_ON_ONE_LINE(k_tool, k_tool_rows);
static const etp_field k_executorch_rows[] = {
    FIELD("present", BOOL, executorch.present, "the runner told which it is"),
    FIELD("version", STR, executorch.version, ""),
    FIELD("sha", STR, executorch.sha, "its git commit"),
    FIELD("dirty", BOOL, executorch.dirty, "changed since"),
};
static SHAPE_ON_ONE_LINE(k_executorch, k_executorch_rows);
#undef OF

#define OF etp_run_named
static const etp_field k_named_rows[] = {
    FIELD("level", STR, level, ""),
    FIELD("names", STR, names, "what operators of every data type were called, \"; \" between"),
};
static SHAPE_ON_ONE_LINE(k_named, k_named_rows);
#undef OF
#define OF etp_run
static const etp_field k_selftest_rows[] = {
    FIELD("ok", BOOL, selftest_ok, "masking works with this SDK"),
    FIELD("text", STR, selftest, "its words; empty: not run"),
    ARRAY("names", OBJECT, names, n_names, "by level", .shape = &k_named,
          .most = ETP_RUN_NAMED_LEVELS, .flags = ETP_LATER),
};
static SHAPE_ON_ONE_LINE(k_selftest, k_selftest_rows);
#undef OF

#define OF etp_run_recipe
static const etp_field k_recipe_rows[] = {
    FIELD("name", STR, name, "", .flags = ETP_SET),
    FIELD("places", UINT, places, "of the model that it would change", .most = ETP_RUN_MAX_PLACES),
};
static SHAPE_ON_ONE_LINE(k_recipe, k_recipe_rows);
#undef OF

#define OF etp_run_model
static const etp_field k_model_rows[] = {
    FIELD("path", STR, path, "absolute", .flags = ETP_SET),
    FIELD("stem", STR, stem, "file name without .pte", .flags = ETP_SET),
    FIELD("sha256", STR, sha256, "of the file", .flags = ETP_SHA256),
    FIELD("bytes", UINT, bytes, "of the file", .most = ETP_RUN_MAX_BYTES),
    VECTOR("command", STR, command, "words that export it again; absent: not known",
           .most = ETP_RUN_MAX_WORDS, .flags = ETP_ABSENT | ETP_ONE_LINE),
    VECTOR("recipes", OBJECT, recipes, "of the exporter, those that could say", .shape = &k_recipe,
           .most = ETP_RUN_MAX_RECIPES, .flags = ETP_ABSENT),
};
static SHAPE_ON_ONE_LINE(k_model, k_model_rows);
#undef OF

#define OF etp_run_phase
static const etp_field k_phase_rows[] = {
    FIELD("name", STR, name, "prefill 64, decode @256", .flags = ETP_SET),
    FIELD("kind", WORD, kind, "what the calls are", .words = &k_phases_of),
    FIELD("tokens", UINT, tokens, "of an iteration, which is one call; 0: no text",
          .most = INT32_MAX),
    FIELD("depth", UINT, depth, "tokens in the cache before", .most = INT32_MAX),
    FIELD("prompt", UINT, prompt, "tokens of the prompt that it is a chunk of; 0: none",
          .most = INT32_MAX),
    FIELD("calls", UINT, calls, "of a repetition, before which mutable buffers are put back",
          .most = INT32_MAX),
    FIELD("method", STR, method, "that all calls are of; absent: not known",
          .flags = ETP_ABSENT | ETP_EMPTY | ETP_LATER),
    FIELD("inputs", STR, inputs, "sizes of their dynamic inputs, as --shape has them",
          .flags = ETP_ABSENT | ETP_EMPTY | ETP_LATER),
    FIELD("start", STR, start, "mean place in the cache where they begin, a number",
          .flags = ETP_ABSENT | ETP_EMPTY | ETP_LATER),
    FIELD("steps_sha256", STR, steps_sha256, "of the calls with their inputs, of all models",
          .flags = ETP_ABSENT | ETP_EMPTY | ETP_LATER),
    FIELD("clock_ns", UINT, clock_ns,
          "resolution of the times of a call; absent: nanoseconds, etprof's own runner",
          .most = 1000000000, .flags = ETP_ABSENT | ETP_ZERO | ETP_LATER),
};
static const etp_shape k_phase = {k_phase_rows, 11, sizeof(OF), true, check_phase};
#undef OF

#define OF etp_run_build
static const etp_field k_build_rows[] = {
    FIELD("path", STR, path, "of a bundle's folder, or of a program", .flags = ETP_SET),
    FIELD("sha256", STR, sha256, "over all its files"),
    FIELD("executorch", STR, executorch, "version it was built with; empty: unknown"),
    FIELD("text", STR, text, "what is known of it, for people"),
    FIELD("own", BOOL, own, "etprof's runner; else an executor_runner of others"),
    FIELD("wheel_sha256", STR, wheel_sha256,
          "of the published wheel that it is of; absent: none, or not known",
          .flags = ETP_ABSENT | ETP_EMPTY | ETP_LATER),
};
static SHAPE(k_build, k_build_rows);
#undef OF

#define OF etp_run_arm
static const etp_field k_foreign_rows[] = {
    FIELD("runner", STR, runner, "path of a runner that is not etprof's"),
    FIELD("build", STR, build, "what its file shows"),
};
static SHAPE(k_foreign, k_foreign_rows);
static const etp_field k_arm_rows[] = {
    FIELD("name", STR, name, "the experiment: a folder", .flags = ETP_SET),
    FIELD("level", STR, level, "CPU-feature level; empty: the runner's own choice"),
    FIELD("threads", UINT, threads, "of the runner", .most = 65536, .range = ETP_FROM_1),
    FIELD("model", UINT, model, "index into models", .most = ETP_RUN_MAX_ARMS),
    FIELD("phase", UINT, phase, "index into phases; absent: the first, or none",
          .most = ETP_RUN_MAX_ARMS, .flags = ETP_ABSENT | ETP_ZERO | ETP_LATER),
    FIELD("side", UINT, side, "index into builds; absent: the first, or none", .most = 1,
          .flags = ETP_ABSENT | ETP_ZERO | ETP_LATER),
    FIELD("packed_cache", WORD, cache, "of packed weights; absent: nothing was said of it",
          .words = &k_packed_caches, .when = has_cache, .flags = ETP_ABSENT | ETP_LATER),
    FIELD("runner_sha256", STR, runner_sha256, "empty: unknown"),
    GROUP(NULL, &k_foreign, "", .when = has_runner, .flags = ETP_ABSENT),
    FIELD("prefix", STR, prefix, "of its files", .flags = ETP_SET),
    FIELD("emulated", BOOL, emulated, "an emulator runs it"),
    FIELD("sampling", WORD, sampling, "why no more was sampled, or nothing (docs/explain.md)",
          .words = &k_samples_ends, .when = is_told, .flags = ETP_ABSENT | ETP_OPEN),
};
static SHAPE_CHECKED(k_arm, k_arm_rows, check_arm);
static const etp_field k_iterations_rows[] = {
    FIELD("warmup", UINT, warmup, "per launch", .most = ETP_MAX_ITERATIONS),
    FIELD("timed", UINT, iterations, "likewise", .most = ETP_MAX_ITERATIONS),
    FIELD("traced", UINT, traced, "likewise", .most = ETP_MAX_ITERATIONS),
};
static SHAPE_ON_ONE_LINE(k_iterations, k_iterations_rows);
#undef OF

#define OF etp_run
static const etp_field k_phases_rows[] = {
    VECTOR("phases", OBJECT, phases, "what arms do again and again; absent: the method alone",
           .shape = &k_phase, .most = ETP_RUN_MAX_ARMS, .flags = ETP_LATER),
};
static SHAPE(k_phases, k_phases_rows);
static const etp_field k_builds_rows[] = {
    VECTOR("builds", OBJECT, builds, "two builds of a runner that are held against each other",
           .shape = &k_build, .most = 2, .flags = ETP_LATER),
};
static SHAPE(k_builds, k_builds_rows);
static const etp_field k_plan_rows[] = {
    FIELD("control_blocks", UINT, control_blocks, "blocks that get one more baseline launch",
          .most = ETP_RUN_MAX_BLOCKS),
    FIELD("baseline", UINT, baseline, "index into arms", .most = ETP_RUN_MAX_ARMS),
    FIELD(NULL, OBJECT, settings, "", .shape = &k_etp_plan_settings),
    FIELD("data_sha256", STR, hashes.data, "of the files of data, commas between",
          .flags = ETP_ABSENT | ETP_EMPTY | ETP_LATER),
    FIELD("data_bytes", UINT, hashes.data_bytes, "of them together",
          .flags = ETP_ABSENT | ETP_ZERO | ETP_LATER),
    FIELD("inputs_sha256", STR, hashes.inputs, "of the files that inputs names, commas between",
          .flags = ETP_ABSENT | ETP_EMPTY | ETP_LATER),
    FIELD("kernels_lib_sha256", STR, hashes.kernels_lib, "of the library kernels_lib",
          .flags = ETP_ABSENT | ETP_EMPTY | ETP_LATER),
    FIELD("tokenizer_sha256", STR, hashes.tokenizer, "of the file tokenizer",
          .flags = ETP_ABSENT | ETP_EMPTY | ETP_LATER),
    FIELD("bundle_sha256", STR, hashes.bundle, "of all files of the runner's bundle",
          .flags = ETP_ABSENT | ETP_EMPTY | ETP_LATER),
    FIELD("asked", OBJECT, settings, "0: each launch's pilot finds it",
          .shape = &k_etp_requested_settings, .flags = ETP_LATER),
    GROUP(NULL, &k_phases, "", .when = has_phases, .flags = ETP_ABSENT),
    GROUP(NULL, &k_builds, "", .when = has_builds, .flags = ETP_ABSENT),
    VECTOR("arms", OBJECT, arms, "what is measured against each other", .shape = &k_arm,
           .most = ETP_RUN_MAX_ARMS),
    LIST("iterations", OBJECT, arms.items, arms.n, "of each arm, fixed before block 1",
         .shape = &k_iterations, .read = read_iterations),
    WRITTEN("order", write_order,
            "{\"type\": \"array\", \"items\": {\"type\": \"array\", \"items\": "
            "{\"type\": \"integer\", \"minimum\": 0}}}",
            "of each block: arms as they are launched", .read = read_order),
};
static SHAPE_CHECKED(k_plan, k_plan_rows, check_plan);
static const etp_field k_device_rows[] = {
    FIELD("spec", STR, device_spec, "local, qemu, an address", .flags = ETP_SET),
    FIELD("platform", STR, platform, "linux, mac or android", .flags = ETP_SET),
    FIELD("emulated", BOOL, emulated, "an emulator: times mean nothing"),
    FIELD("isa", STR, device_cpu, "what the CPU has"),
    WRITTEN("facts", write_facts,
            "{\"type\": \"object\", \"additionalProperties\": {\"type\": \"string\"}}",
            "what it told of itself", .read = read_facts),
};
static SHAPE(k_device, k_device_rows);
#undef OF

#define OF etp_run_lost
static const etp_field k_lost_rows[] = {
    FIELD("arm", UINT, arm, "index into arms", .most = ETP_RUN_MAX_ARMS),
    FIELD("block", UINT, block, "0: the pilot", .most = ETP_RUN_MAX_BLOCKS),
    FIELD("launch", UINT, launch, "its number in the session", .most = ETP_RUN_MAX_LAUNCHES),
    FIELD("kind", WORD, kind, "", .words = &k_launches),
    FIELD("reason", WORD, reason, "", .words = &k_reasons),
    FIELD("attempt", UINT, attempt, "1: the first", .most = ETP_RUN_MAX_LAUNCHES),
    FIELD("recovered", BOOL, recovered, "a later try succeeded"),
    FIELD("detail", STR, detail, "one line for people"),
};
static const etp_shape k_lost = {k_lost_rows, 8, sizeof(OF), true, check_lost};
#undef OF
#define OF etp_run_note
static const etp_field k_note_rows[] = {
    FIELD("id", STR, id, "slept, clock_jump, cpu_contended, …", .flags = ETP_SET),
    FIELD("text", STR, text, "for people"),
};
static SHAPE_ON_ONE_LINE(k_note, k_note_rows);
#undef OF
#define OF etp_run_file
static const etp_field k_file_rows[] = {
    FIELD("path", STR, path, "in the folder", .flags = ETP_SET),
    FIELD("sha256", STR, sha256, "", .flags = ETP_SHA256),
    FIELD("bytes", UINT, bytes, "", .most = ETP_RUN_MAX_BYTES),
};
const etp_shape k_etp_run_file = {k_file_rows, 3, sizeof(OF), true, check_file};
#undef OF

static const char k_results_schema[] =
    "{\"type\": \"array\", \"items\": {\"type\": \"object\", "
    "\"required\": [\"experiment\", \"metrics\"], \"properties\": {"
    "\"experiment\": {\"type\": \"string\", \"minLength\": 1}, "
    "\"metrics\": {\"type\": \"object\", "
    "\"required\": [\"latency_ms\", \"runs\", \"threads\", \"median_ms\", \"etdump\", \"log\"], "
    "\"properties\": {"
    "\"latency_ms\": {\"type\": \"array\", \"items\": {\"type\": \"number\", \"minimum\": 0}}, "
    "\"runs\": {\"type\": \"integer\", \"minimum\": 0}, "
    "\"warmup\": {\"type\": [\"integer\", \"null\"]}, "
    "\"threads\": {\"type\": [\"integer\", \"null\"]}, "
    "\"median_ms\": {\"type\": [\"number\", \"null\"], \"minimum\": 0}, "
    "\"min_ms\": {\"type\": [\"number\", \"null\"], \"minimum\": 0}, "
    "\"max_ms\": {\"type\": [\"number\", \"null\"], \"minimum\": 0}, "
    "\"etdump\": {\"type\": [\"string\", \"null\"]}, "
    "\"log\": {\"type\": [\"string\", \"null\"]}, "
    "\"etdump_rel\": {\"type\": [\"string\", \"null\"]}, "
    "\"log_rel\": {\"type\": [\"string\", \"null\"]}}}}}}";

#define OF etp_run
static const etp_field k_manifest_rows[] = {
    FIELD("state", WORD, state, "of the session", .words = &k_states, .flags = ETP_SET),
    GROUP("tool", &k_tool, "that measures"),
    FIELD("generated_at", STR, generated_at, "ISO 8601, UTC", .flags = ETP_SET),
    FIELD("command", STR, command, "that repeats it; empty: unknown", .flags = ETP_LATER),
    FIELD("config", STR, config, "path of the config that asked for it",
          .flags = ETP_EMPTY | ETP_LATER),
    COMPUTED("model", STR, first_model, "path of the first model (the kit's key)"),
    GROUP("executorch", &k_executorch, "of the runner"),
    FIELD("blocks_done", UINT, blocks_done, "that count", .most = ETP_RUN_MAX_BLOCKS),
    FIELD("signal", INT, signal, "that ended the session, 0", .most = 128, .flags = ETP_LATER),
    FIELD("stopped", WORD, stopped, "what ended it; null: a signal, or nothing left to measure",
          .words = &k_stops, .flags = ETP_LATER),
    GROUP("selftest", &k_selftest, "of the runner", .flags = ETP_LATER),
    VECTOR("models", OBJECT, models, "that are measured", .shape = &k_model,
           .most = ETP_RUN_MAX_ARMS),
    GROUP("plan", &k_plan, "made before block 1"),
    GROUP("device", &k_device, "that runs them"),
    VECTOR("lost", OBJECT, lost, "launches that gave nothing", .shape = &k_lost,
           .most = 10 * (size_t)ETP_RUN_MAX_BLOCKS),
    VECTOR("unreadable", STR, unreadable, "what could not be read on this machine", .most = 1000,
           .flags = ETP_ONE_LINE),
    ARRAY("notes", OBJECT, notes, n_notes, "what the session noticed", .shape = &k_note,
          .most = 1000, .flags = ETP_LATER),
    VECTOR("files", OBJECT, files, "every raw file of finished blocks, except the manifest",
           .shape = &k_etp_run_file, .most = 1000000),
    WRITTEN("results", write_results, k_results_schema,
            "for readers of Arm's kit: untraced timed iterations; empty while running",
            .flags = ETP_LATER),
};
static SHAPE_CHECKED(k_manifest, k_manifest_rows, check_run);
#undef OF
const etp_document k_etp_run_document = {ETP_RUN_SCHEMA, "manifest.json of a run folder",
                                         &k_manifest};

// ---- the document ----

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

etp_status etp_run_manifest_read(etp_str text, etp_arena *arena, etp_run *out, etp_error *err)
{
    json_t *json;
    ETP_TRY(etp_json_read(text, &json, err));
    etp_status status = ETP_OK;
    const etp_json_object root = {
        .object = json, .where = "", .arena = arena, .err = err, .status = &status};
    etp_status schema = check_schema(&root, err);
    if (schema == ETP_OK && status == ETP_OK) {
        etp_object_read(&root, &k_manifest, out, out);
    }
    char hex[ETP_SHA256_HEX_CHARS];
    if (schema == ETP_OK && status == ETP_OK) {
        status = etp_run_hash_named(json, hex, err);
        out->named_sha256 = etp_str_from(etp_arena_strdup(arena, etp_str_from(hex)));
    }
    json_decref(json);
    return schema != ETP_OK ? schema : status;
}

etp_status etp_run_manifest_write(const etp_run *run, etp_arena *arena, etp_str *out,
                                  etp_error *err)
{
    manifest m = {run, arena, err, ETP_OK};
    *out = etp_document_text(&k_etp_run_document, run, &m, true, arena);
    ETP_TRY(m.status);
    return etp_arena_check(arena, err, "the manifest");
}
