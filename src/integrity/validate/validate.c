// SPDX-License-Identifier: Apache-2.0
// What lies at a path, and the checks for it in order; how they are shown.
#include "integrity/validate/validate.h"

#include <stdlib.h>

#include "base/guard.h"
#include "base/path.h"
#include "document/rows.h"
#include "integrity/validate/parts.h"

#define MOST_FILES 100000
// Run folders stay far below both limits: they are for a folder that was named by mistake (a home,
// a checkout).
#define MOST_DEPTH 6

// ---- files ----

static etp_status add_file(etp_validator *v, const char *name, const char *path, uint64_t size,
                           etp_error *err)
{
    if (v->files.n >= MOST_FILES) {
        return etp_fail(err, ETP_UNSUPPORTED,
                        "%s holds more than %d files; name one of its folders", v->root,
                        MOST_FILES);
    }
    etp_valid_file f = {.name = name, .path = path, .size = size};
    etp_valid_classify(&f);
    ETP_ADD(v->arena, &v->files, f);
    return ETP_OK;
}

static etp_status collect(etp_validator *v, const char *path, const char *prefix, int depth,
                          etp_error *err)
{
    etp_dir_list list = {0};
    ETP_TRY(etp_os_list(path, v->arena, &list, err));
    for (size_t i = 0; i < list.n; i++) {
        const char *base = list.items[i].name;
        const char *inner = etp_arena_printf(v->arena, "%s/%s", path, base);
        const char *name = etp_arena_printf(v->arena, "%s%s", prefix, base);
        if (list.items[i].is_other && list.items[i].is_dir) {
            continue; // a way out, or round in a circle
        }
        // Hidden folders hold no documents of a run (.git, .etprof).
        if (!list.items[i].is_dir) {
            ETP_TRY(add_file(v, name, inner, list.items[i].size, err));
        } else if (depth < MOST_DEPTH && base[0] != '.') {
            const char *deeper = etp_arena_printf(v->arena, "%s/", name);
            ETP_TRY(collect(v, inner, deeper, depth + 1, err));
        }
    }
    return ETP_OK;
}

// etp_valid_find halves this order.
static int by_name(const void *pa, const void *pb)
{
    const etp_valid_file *a = pa, *b = pb;
    return strcmp(a->name, b->name);
}

// By the names alone: what kind of folder it is has to be known before anything in it is sound.
static bool has(const etp_validator *v, const char *suffix)
{
    for (size_t i = 0; i < v->files.n; i++) {
        if (etp_str_ends(etp_str_from(v->files.items[i].name), etp_str_from(suffix))) {
            return true;
        }
    }
    return false;
}

static bool has_dump(const etp_validator *v)
{
    return has(v, ".etdump") || has(v, ".etdump" ETP_OS_PACKED);
}

// A folder of ours keeps being one when its manifest is damaged.
static bool is_ours(const etp_validator *v)
{
    return etp_run_is(v->root) || etp_valid_find(v, ETP_RUN_SAMPLES) ||
           etp_valid_find(v, ETP_RUN_ENVIRONMENT);
}

static const char *validated_name(etp_validated what)
{
    static const char *const k_names[ETP_VALIDATED_KINDS] = {
        "path", "file", "run folder", "folder of Arm's kit", "dumps", "files", "folder", "setup"};
    return k_names[what];
}

// The most telling sign first: a run folder holds the kit's tables and dumps as well.
static etp_validated kind_of_folder(const etp_validator *v)
{
    if (is_ours(v)) {
        return ETP_VALIDATED_RUN;
    }
    if (has(v, "_pipeline_summary.json") || has(v, "_timeline.csv") ||
        etp_valid_find(v, "metrics.json")) {
        return ETP_VALIDATED_KIT;
    }
    if (has_dump(v)) {
        return ETP_VALIDATED_DUMPS;
    }
    return has(v, ".pte") || has(v, ".csv") ? ETP_VALIDATED_FILES : ETP_VALIDATED_FOLDER;
}

static etp_status check_folder(etp_validator *v, const char *work_root, etp_error *err)
{
    v->out->what = kind_of_folder(v);
    if (v->out->what == ETP_VALIDATED_FOLDER) {
        etp_valid_note(v, NULL, "folder.empty", false, "a run folder, dumps or model files",
                       "nothing was measured into it, or another folder is meant",
                       "%zu files, none of them known", v->files.n);
        return ETP_OK;
    }
    etp_valid_cross(v);
    // Arm's kit keeps dumps beside its tables; a folder of loose tables or models never had any.
    if (!is_ours(v)) {
        if (!has_dump(v) && v->out->what != ETP_VALIDATED_FILES) {
            etp_valid_note(v, NULL, "folder.no_dump", false, "at least one .etdump",
                           "tables without the dumps they were made from prove nothing: bring the "
                           "dumps back, or "
                           "measure again",
                           "none");
        }
        return ETP_OK;
    }
    if (!etp_valid_find(v, ETP_RUN_MANIFEST)) {
        etp_valid_note(v, ETP_RUN_MANIFEST, "run.manifest", false, "there",
                       "without its plan a session cannot be read: restore manifest.json from a "
                       "copy, or measure again",
                       "absent");
        return ETP_OK;
    }
    return etp_valid_run(v, work_root, err);
}

static etp_status check_all(etp_validator *v, const char *work_root, etp_error *err)
{
    bool folder = etp_os_is_dir(v->root);
    if (!folder && !etp_os_is_file(v->root)) {
        v->out->what = ETP_VALIDATED_PATH;
        etp_valid_note(v, NULL, "path.missing", false, "a file or folder",
                       "look at the spelling; run folders are out_<model>/runs/<platform>",
                       "%s does not exist", v->root);
        return ETP_OK;
    }
    etp_error why = {.offset = ETP_NO_OFFSET};
    // Before anything is opened: a link among the members would lead out of the folder, a FIFO
    // never end.
    if (folder && etp_run_is(v->root) && etp_run_check_members(v->root, &why) != ETP_OK) {
        if (why.status == ETP_NOMEM) {
            return etp_fail_nomem(err, v->root);
        }
        v->out->what = ETP_VALIDATED_RUN;
        etp_valid_note(v, NULL, "run.members", false, "regular files and folders",
                       "nothing in it was read", "%s", why.msg);
        return ETP_OK;
    }
    if (folder) {
        ETP_TRY(collect(v, v->root, "", 0, err));
        if (v->files.n) {
            qsort(v->files.items, v->files.n, sizeof *v->files.items, by_name);
        }
    } else {
        ETP_TRY(add_file(v, etp_path_name(v->root), v->root, 0, err));
    }
    v->out->files = v->files.n;
    for (size_t i = 0; i < v->files.n; i++) {
        // Every file by itself first: checks across files use only what is sound alone, so one
        // fault is told once.
        ETP_TRY(etp_valid_file_alone(v, &v->files.items[i], err));
    }
    if (folder) {
        ETP_TRY(check_folder(v, work_root, err));
        // What could not be read is told as a check, unless it was for want of memory.
        return etp_arena_check(v->arena, err, v->root);
    }
    v->out->what = ETP_VALIDATED_FILE;
    if (v->out->checks.n == 0) {
        etp_valid_note(v, v->files.items[0].name, "file.kind", false,
                       ".etdump, .pte, .json, .csv and the like",
                       "there is nothing to check in a file of this kind", "none of these kinds");
    }
    return ETP_OK;
}

static etp_status guarded_checks(etp_validator *v, const char *work_root, etp_error *err)
{
    ETP_GUARDED(v->arena, err, v->root, check_all(v, work_root, err));
}

etp_status etp_validate_path(const char *path, const char *work_root, etp_arena *arena,
                             etp_validation *out, etp_error *err)
{
    *out = (etp_validation){0};
    etp_validator v = {.root = path, .arena = arena, .out = out};
    etp_status st = guarded_checks(&v, work_root, err);
    for (size_t i = 0; i < v.files.n; i++) {
        // Documents are kept until here because the checks across files read them; they are the
        // only thing of a validator that is not in the arena.
        json_decref(v.files.items[i].json);
    }
    return st;
}

void etp_validate_setup(const etp_checks *checks, etp_arena *arena, etp_validation *out)
{
    *out = (etp_validation){.what = ETP_VALIDATED_SETUP};
    for (size_t i = 0; i < checks->n; i++) {
        etp_check c = checks->items[i];
        etp_checks_add(&out->checks, arena, c);
        // Here what cannot be told counts as failed: a machine that does not say whether it can
        // measure is not set up.
        out->failed += c.required && c.ok != 1;
    }
}

// ---- showing ----

WORDS(k_validated, validated_name, etp_validated, ETP_VALIDATED_KINDS)
FIND(is_valid, etp_validation, etp_validation, MAKE(yes, it->failed == 0))

#define OF etp_check
static const etp_field k_check_rows[] = {
    ETP_CHECK_ID,
    FIELD("file", TEXT, file, "in the folder; null: the folder, or the machine"),
    ETP_CHECK_ROWS,
};
static SHAPE_ON_ONE_LINE(k_check, k_check_rows);
#undef OF
#define OF etp_validation
static const etp_field k_rows[] = {
    MADE("ok", BOOL, is_valid, "nothing required failed", .flags = ETP_SET),
    FIELD("what", WORD, what, "was looked at", .words = &k_validated),
    FIELD("failed", UINT, failed, "required checks that say no"),
    VECTOR("checks", OBJECT, checks, "by file", .shape = &k_check),
};
static SHAPE(k_validation, k_rows);
#undef OF
const etp_document k_etp_validate_document = {"etprof.validate/1", "What validate prints",
                                              &k_validation};

void etp_validate_json(const void *validation, etp_json *j)
{
    etp_document_write(j, &k_etp_validate_document, validation, validation);
}

// Problems are told twice, as notes that can be read without the table, and as its rows.
static void add_problem(etp_report *r, const etp_check *c)
{
    const char *file = c->file ? c->file : "";
    etp_report_note(r, c->required ? ETP_BAD : ETP_WARN, "%s%s%s: found: %s, expected: %s; %s",
                    file, file[0] ? ": " : "", c->id, c->found, c->expected, c->fix ? c->fix : "");
}

const etp_report *etp_validate_report(const etp_validation *v, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "file", .title = "file", .flags = ETP_COL_CODE},
        {.key = "id", .title = "check", .flags = ETP_COL_CODE},
        {.key = "ok", .title = "ok"},
        {.key = "found", .title = "found"},
        {.key = "expected", .title = "expected"},
        {.key = "fix", .title = "fix", .flags = ETP_COL_MINOR},
    };
    etp_report *r = etp_report_create(arena, "validation");
    etp_report_section(r, 1, "answer", v->failed ? "Not valid" : "Valid");
    if (v->failed) {
        etp_report_note(r, ETP_BAD, "no: %zu of %zu checks of this %s failed", v->failed,
                        v->checks.n, validated_name(v->what));
    } else {
        etp_report_note(r, ETP_GOOD, "yes: %zu checks of this %s, none failed", v->checks.n,
                        validated_name(v->what));
    }
    for (size_t i = 0; i < v->checks.n; i++) {
        if (v->checks.items[i].ok == 0) {
            add_problem(r, &v->checks.items[i]);
        }
    }
    etp_report_section(r, 1, "checks", "Checks");
    etp_report_section_is_detail(r);
    etp_table *t = etp_report_table(r, "checks", NULL, k_columns, 6);
    for (size_t i = 0; i < v->checks.n; i++) {
        const etp_check *c = &v->checks.items[i];
        etp_severity bad = c->required ? ETP_BAD : ETP_WARN;
        ETP_ROW(t, etp_cell_z(c->file), etp_cell_z(c->id),
                etp_cell_judged(etp_cell_z(c->ok < 0 ? "?"
                                           : c->ok   ? "yes"
                                                     : "no"),
                                c->ok == 1  ? ETP_GOOD
                                : c->ok < 0 ? ETP_PLAIN
                                            : bad),
                etp_cell_z(c->found), etp_cell_z(c->expected), etp_cell_z(c->fix));
    }
    return r;
}
