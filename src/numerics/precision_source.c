// SPDX-License-Identifier: Apache-2.0
// What lies beside the programs: the exporter's record, which names modules of the model, and the
// list of its exports, which says how they were made.
#include "numerics/precision.h"

#include "base/guard.h"
#include "base/json_read.h"
#include "base/path.h"
#include "base/shell.h"
#include "numerics/arms.h"
#include "numerics/pairs.h"

#define LIST_LIMIT ((size_t)16 << 20)
#define MAX_WORDS 1000u
#define MAX_ARTIFACTS 10000u
#define OF_COMMAND 2u // words before those of the export: etprof export
#define ENOUGH 0.5    // share of the noise that the command takes away

static const char *module_of(const etp_record_method *m, const etp_op *op, etp_arena *arena)
{
    const etp_source *source = etp_etrecord_source(m, etp_op_handle(op, m));
    return source && source->module.len ? etp_arena_strdup(arena, source->module) : NULL;
}

etp_status etp_precision_modules(etp_arms *arms, etp_precision *out)
{
    const etp_record_method *m = NULL;
    ETP_TRY(etp_arms_exported(arms, &arms->sides[ETP_BASELINE], &m));
    for (size_t i = 0; m && i < out->rows.n; i++) {
        etp_precision_row *row = &out->rows.items[i];
        row->module = module_of(m, &arms->sides[ETP_BASELINE].ops.items[row->place], arms->arena);
    }
    return ETP_OK;
}

// ---- the command ----

typedef struct made {  // how the candidate was
    const char *model; // its name
    const char **words;
    size_t n;
} made;

static bool take_words(const json_t *entry, etp_arena *arena, made *out)
{
    const json_t *words = json_object_get(entry, "command");
    const json_t *model = json_object_get(json_object_get(entry, "model"), "name");
    out->n = json_array_size(words);
    out->words = ETP_NEW_ARRAY(arena, const char *, out->n + 1);
    if (out->n <= OF_COMMAND || out->n > MAX_WORDS || !json_is_string(model)) {
        return false;
    }
    out->model = etp_arena_strdup(arena, etp_str_from(json_string_value(model)));
    for (size_t i = 0; i < out->n; i++) {
        const char *word = json_string_value(json_array_get(words, i));
        if (!word) {
            return false;
        }
        out->words[i] = etp_arena_strdup(arena, etp_str_from(word));
    }
    return true;
}

static bool find_made(const json_t *list, const char *file, etp_arena *arena, made *out)
{
    const json_t *artifacts = json_object_get(list, "artifacts");
    for (size_t i = 0; i < json_array_size(artifacts) && i < MAX_ARTIFACTS; i++) {
        const json_t *entry = json_array_get(artifacts, i);
        const char *name = json_string_value(json_object_get(entry, "file"));
        if (name && strcmp(name, file) == 0) {
            return take_words(entry, arena, out);
        }
    }
    return false;
}

static etp_status find_guarded(const json_t *list, const char *file, etp_arena *arena, made *out,
                               bool *found, etp_error *err)
{
    ETP_GUARDED(arena, err, "the export's list",
                (*found = find_made(list, file, arena, out), ETP_OK));
}

static etp_status read_made(etp_arms *arms, const char *model, made *out, bool *found)
{
    etp_str text;
    json_t *list = NULL;
    const etp_str folder = etp_path_folder(model);
    const char *path =
        etp_arena_printf(arms->arena, "%.*s/export.json", folder.ptr ? (int)folder.len : 1,
                         folder.ptr ? folder.ptr : ".");
    *found = false;
    if (etp_os_read_text(path, LIST_LIMIT, arms->arena, &text, NULL) != ETP_OK ||
        etp_json_read(text, &list, NULL) != ETP_OK) {
        return ETP_OK;
    }
    etp_status status =
        find_guarded(list, etp_path_name(model), arms->arena, out, found, arms->err);
    json_decref(list);
    return status;
}

// The modules of the first rows of `keep`, those that add half of the noise. NULL: one is not
// known.
static const char *modules_to_keep(const etp_precision *p, etp_arena *arena, uint32_t *n)
{
    const char *list = NULL;
    double taken = 0;
    for (size_t i = 0; i < p->keep.n && taken < ENOUGH; i++) {
        const etp_precision_keep *k = &p->keep.items[i];
        if (!k->module) {
            return NULL;
        }
        bool twice = false;
        for (size_t j = 0; j < i; j++) {
            twice = twice || strcmp(p->keep.items[j].module, k->module) == 0;
        }
        if (!twice) {
            list = list ? etp_arena_printf(arena, "%s,%s", list, k->module) : k->module;
        }
        taken += k->share;
        *n = k->operators;
    }
    return list;
}

static const char *command_of(const etp_arms *arms, const made *m, const char *modules, uint32_t n)
{
    const char *model = arms->sides[ETP_CANDIDATE].model;
    const etp_str folder = etp_path_folder(model);
    const char *dir = folder.ptr ? etp_arena_strdup(arms->arena, folder) : ".";
    const char *name = etp_arena_printf(arms->arena, "%s_keep%lu", m->model, (unsigned long)n);
    const char *program = etp_arena_printf(arms->arena, "%s/%s%s", dir, name,
                                           etp_path_name(model) + strlen(m->model));
    etp_strbuf text;
    etp_strbuf_init(&text, arms->arena);
    etp_strbuf_appendz(&text, "etprof export");
    for (size_t i = OF_COMMAND; i < m->n; i++) {
        etp_strbuf_appendz(&text, " ");
        etp_shell_word(&text, m->words[i]);
    }
    // Of a name that is given twice the last one counts.
    const char *rest =
        etp_shell_command(arms->arena,
                          " --keep-float %s --name %s --outdir %s --accept-unproven "
                          "&& etprof ab %s %s --numerics",
                          modules, name, dir, arms->sides[ETP_BASELINE].model, program);
    etp_strbuf_appendz(&text, rest ? rest : "");
    return text.ptr;
}

static bool is_quantised(const etp_method *m)
{
    bool found = false;
    for (uint32_t p = 0; p < m->n_partitions; p++) {
        for (uint32_t v = 0; v < m->partitions[p].n_values; v++) {
            found = found || m->partitions[p].values[v].quant.kind != ETP_QUANT_NONE;
        }
    }
    return found;
}

etp_status etp_precision_command(etp_arms *arms, etp_precision *out)
{
    const char *model = arms->sides[ETP_CANDIDATE].model, *file = etp_path_name(model);
    made m = {0};
    bool found = false;
    uint32_t n = 0;
    const char *modules = modules_to_keep(out, arms->arena, &n);
    if (out->keep.n == 0) {
        return ETP_OK;
    }
    if (!is_quantised(arms->sides[ETP_CANDIDATE].method)) {
        out->no_command = "'etprof export --keep-float' leaves layers out where it quantises, and "
                          "the candidate has none that it quantised";
        return ETP_OK;
    }
    ETP_TRY(read_made(arms, model, &m, &found));
    if (!found || strncmp(file, m.model, strlen(m.model)) != 0) {
        out->no_command = "no export.json beside the candidate says how it was made; 'etprof "
                          "export' writes one";
    } else if (!modules) {
        out->no_command = "no .etrecord beside the baseline names the modules of the operators; "
                          "'etprof export' writes one";
    } else {
        out->command = command_of(arms, &m, modules, n);
    }
    return ETP_OK;
}
