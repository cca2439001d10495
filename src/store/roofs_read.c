// SPDX-License-Identifier: Apache-2.0
// Reading an etprof.roofs/1 document: of a cache, of a run folder, or what a user names.
#include <string.h>

#include "store/internal.h"
#include "store/roofs_file.h"

#define MAX_ROOFS 4096
#define MAX_RATE UINT64_C(1000000000000000000)

static const char *text_of(const etp_json_object *o, const char *key)
{
    etp_str s = etp_json_get_str(o, key);
    const char *copy = etp_arena_strdup(o->arena, s);
    if (!copy && *o->status == ETP_OK) {
        *o->status = etp_fail_nomem(o->err, "roofs");
    }
    return copy ? copy : "";
}

static etp_roof read_one(const etp_json_object *o)
{
    static const char *const k_units[] = {"op/s", "byte/s", "ns"};
    etp_roof r = {
        .isa = text_of(o, "isa"),
        .what = text_of(o, "what"),
        .unit = text_of(o, "unit"),
        .threads = etp_json_get_u32(o, "threads", ETP_ROOF_THREADS_MAX),
        .bytes = etp_json_get_u64(o, "working_set_bytes", UINT64_MAX),
        .best = etp_json_get_u64(o, "best", MAX_RATE),
        .median = etp_json_get_u64(o, "median", MAX_RATE),
    };
    bool known = false;
    for (size_t i = 0; i < sizeof k_units / sizeof *k_units; i++) {
        known = known || strcmp(r.unit, k_units[i]) == 0;
    }
    if (!known) {
        etp_json_reject(o, "unit", "op/s, byte/s or ns");
    }
    if (r.threads == 0) {
        etp_json_reject(o, "threads", "a number from 1 to 256");
    }
    if (r.what[0] == '\0') {
        etp_json_reject(o, "what", "the name of a roof");
    }
    bool rate = strcmp(r.unit, "ns") != 0;
    if ((r.best == 0) != (r.median == 0) || (rate ? r.best < r.median : r.best > r.median)) {
        etp_json_reject(o, "best", rate ? "at least the median" : "at most the median");
    }
    return r;
}

static etp_status read_all(const etp_json_object *root, etp_roof_table *out)
{
    if (!etp_str_eqz(etp_json_get_str(root, "schema"), ETP_ROOFS_SCHEMA)) {
        etp_json_reject(root, "schema", ETP_ROOFS_SCHEMA);
    }
    *out = (etp_roof_table){
        .device = text_of(root, "device"),
        .cpu = text_of(root, "cpu"),
        .features = text_of(root, "features"),
        .governor = text_of(root, "governor"),
        .max_khz = etp_json_get_u64(root, "max_khz", UINT64_MAX),
        .cpus = etp_json_get_u32(root, "cpus", UINT32_MAX),
        .emulated = etp_json_get_bool(root, "emulated"),
        .boost = json_is_boolean(json_object_get(root->object, "boost"))
                     ? etp_json_get_bool(root, "boost")
                     : -1,
    };
    const json_t *array = NULL;
    size_t n = etp_json_get_array(root, "roofs", MAX_ROOFS, &array);
    for (size_t i = 0; i < n && *root->status == ETP_OK; i++) {
        etp_json_object o = etp_json_element(root, "roofs", array, i);
        etp_roof roof = read_one(&o);
        ETP_NEED(ETP_PUSH(root->arena, out, roof), root->err, "roofs");
    }
    if (*root->status == ETP_OK && out->n == 0) {
        etp_json_reject(root, "roofs", "a list of roofs");
    }
    return *root->status;
}

etp_status etp_roofs_read(etp_str text, etp_arena *arena, etp_roof_table *out, etp_error *err)
{
    json_t *json = NULL;
    etp_status status = ETP_OK;
    *out = (etp_roof_table){0};
    ETP_TRY(etp_json_read(text, &json, err));
    etp_json_object root = {
        .object = json, .where = "", .arena = arena, .err = err, .status = &status};
    status = read_all(&root, out);
    json_decref(json);
    return status;
}
