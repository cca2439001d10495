// SPDX-License-Identifier: Apache-2.0
// Reading a folder of Arm's kit: which files belong to which experiment, and its latencies.
#include "kit/folder.h"

#include <math.h>
#include <stdlib.h>

#include <etprof/stats.h>

#include "base/guard.h"
#include "base/number.h"
#include "base/path.h"
#include "kit/json.h"
#include "store/store.h"

// A kit's folder is flat or has a level for platforms and one for experiments; a tree with more
// files than this was given by mistake.
#define MAX_FILES 20000
#define MAX_DEPTH 4
#define FILE_LIMIT ((uint64_t)1 << 30)

// What the names of an experiment's files end with, longest first; later names are older spellings.
// They begin with "<model>_<experiment>_t<threads>", the experiment's stem.
static const char *const k_timelines[] = {
    "_exec_all_runs_timeline.csv", "_xtrace_all_runs_timeline.csv",
    "_all_runs_timeline.csv",      "_exec_run0_timeline.csv",
    "_run0_timeline.csv",          NULL};
static const char *const k_dumps[] = {".etdump" ETP_OS_PACKED, ".etdump", NULL};
static const char *const k_robust[] = {"_exec_all_runs_timeline_robust_stats.json",
                                       "_all_runs_timeline_robust_stats.json", "_robust_stats.json",
                                       NULL};
static const char *const k_kernels[] = {"_kernels.csv", NULL};
static const char *const k_logs[] = {"_xnntrace.log", NULL};
static const char k_summary[] = "_pipeline_summary.json";

static bool ends(const char *path, const char *suffix)
{
    return etp_str_ends(etp_str_from(path), etp_str_from(suffix));
}

// Links to folders are not followed: they may lead around in a circle.
static etp_status walk(etp_kit_folder *f, const char *relative, int depth, etp_error *err)
{
    etp_dir_list list = {0};
    const char *dir =
        relative[0] ? etp_arena_printf(f->arena, "%s/%s", f->path, relative) : f->path;
    ETP_TRY(etp_os_list(dir, f->arena, &list, err));
    for (size_t i = 0; i < list.n; i++) {
        const char *name = list.items[i].name;
        const char *path =
            etp_arena_printf(f->arena, "%s%s%s", relative, etp_if(relative[0], "/"), name);
        if (f->files.n >= MAX_FILES) {
            return etp_fail(err, ETP_UNSUPPORTED, "more than %d files in it", MAX_FILES);
        }
        if (list.items[i].is_dir) {
            if (!list.items[i].is_other && depth < MAX_DEPTH && name[0] != '.') {
                ETP_TRY(walk(f, path, depth + 1, err));
            }
        } else {
            ETP_ADD(f->arena, &f->files, path);
        }
    }
    return ETP_OK;
}

// A table or summary of the kit's, not of `analyze --out`, which has more columns and keys.
static bool is_mark(const char *path, etp_arena *arena)
{
    bool table = ends(path, "_timeline.csv");
    etp_str text;
    if ((!table && !ends(path, k_summary)) ||
        etp_os_read_text(path, FILE_LIMIT, arena, &text, NULL) != ETP_OK) {
        return false;
    }
    text.len = table ? etp_str_find(text, ETP_STR("\n")) : text.len;
    return etp_str_find(text, table ? ETP_STR("session_block")
                                    : ETP_STR("\"untraced_iterations\"")) == text.len;
}

// Run folders of ours below it do not count: they have the kit's files too.
static bool has_mark(const char *dir, int depth, etp_arena *arena)
{
    etp_dir_list list = {0};
    if (etp_os_list(dir, arena, &list, NULL) != ETP_OK) {
        return false;
    }
    for (size_t i = 0; i < list.n; i++) {
        const char *path = etp_arena_printf(arena, "%s/%s", dir, list.items[i].name);
        bool hit = !list.items[i].is_dir
                       ? path && is_mark(path, arena)
                       : path && depth < MAX_DEPTH && list.items[i].name[0] != '.' &&
                             !etp_run_is(path) && has_mark(path, depth + 1, arena);
        if (hit) {
            return true;
        }
    }
    return false;
}

etp_status etp_kit_folder_is(const char *path, bool *out, etp_error *err)
{
    etp_arena arena = {0};
    *out = etp_os_is_dir(path) && !etp_run_is(path) && has_mark(path, 0, &arena);
    // Not known is not "no".
    etp_status st = *out ? ETP_OK : etp_arena_check(&arena, err, path);
    etp_arena_dispose(&arena);
    return st;
}

// ---- units ----

// The stem of PATH when it ends with one of SUFFIXES.
static bool stem_of(const char *path, const char *const *suffixes, etp_str *dir, etp_str *stem)
{
    const char *base = etp_path_name(path);
    for (size_t i = 0; suffixes[i]; i++) {
        size_t n = strlen(base), k = strlen(suffixes[i]);
        if (n > k && ends(base, suffixes[i])) {
            *stem = (etp_str){base, n - k};
            *dir = (etp_str){path, base > path ? (size_t)(base - path) - 1 : 0};
            return true;
        }
    }
    return false;
}

// What is not known is NAN from the start; a plain 0 would read as a median.
static etp_kit_unit *unit_of(etp_kit_folder *f, etp_str dir, etp_str stem)
{
    for (size_t i = 0; i < f->units.n; i++) {
        if (etp_str_eqz(dir, f->units.items[i].dir) && etp_str_eqz(stem, f->units.items[i].stem)) {
            return &f->units.items[i];
        }
    }
    etp_kit_unit u = {.dir = etp_arena_strdup(f->arena, dir),
                      .stem = etp_arena_strdup(f->arena, stem)};
    u.kit_median_ms = u.reported_median_ms = u.median_ns = NAN;
    u.dump_median_ns = u.table_median_ns = NAN;
    ETP_ADD(f->arena, &f->units, u);
    return &f->units.items[f->units.n - 1];
}

static void collect_units(etp_kit_folder *f)
{
    for (size_t i = 0; i < f->files.n; i++) {
        const char *path = f->files.items[i];
        const char *const *const kinds[] = {k_timelines, k_dumps, k_robust, k_kernels, k_logs};
        for (size_t k = 0; k < 5; k++) {
            etp_str dir, stem;
            if (!stem_of(path, kinds[k], &dir, &stem)) {
                continue;
            }
            if (k == 1 && (etp_str_ends(stem, ETP_STR("_xtrace")) || etp_str_eqz(stem, "model"))) {
                continue; // Instruments, or the stray dump of a warm-up
            }
            etp_kit_unit *u = unit_of(f, dir, stem);
            const char **slot =
                (const char **[]){&u->timeline, &u->dump, &u->robust, &u->kernels, &u->log}[k];
            // The table of one run gives way to that of all runs, whichever the folder lists first.
            bool better = !*slot || ends(*slot, "_run0_timeline.csv");
            *slot = better ? path : *slot;
        }
    }
    size_t kept = 0; // statistics without what they are of
    for (size_t i = 0; i < f->units.n; i++) {
        const etp_kit_unit *u = &f->units.items[i];
        if (u->timeline || u->dump || u->kernels || u->log) {
            f->units.items[kept++] = *u;
        }
    }
    f->units.n = kept;
}

// The longest model stem that a summary of the folder names and STEM begins with.
static etp_str known_model(const etp_kit_folder *f, const char *stem)
{
    etp_str best = {0};
    for (size_t i = 0; i < f->files.n; i++) {
        const char *base = etp_path_name(f->files.items[i]);
        if (!ends(base, k_summary)) {
            continue;
        }
        etp_str model = {base, strlen(base) - (sizeof k_summary - 1)};
        // With "toy" and "toy_cnn" in one folder the shorter one would leave "cnn" to the name of
        // the experiment.
        if (model.len > best.len && etp_str_starts(etp_str_from(stem), model) &&
            stem[model.len] == '_') {
            best = model;
        }
    }
    return best;
}

// Where the experiment's name starts: at the platform that the kit's own configs begin it with.
// A stem has underscores within each of its parts, so where the model ends cannot be told for sure.
static size_t guess_model(etp_str stem)
{
    static const char *const k_marks[] = {"_mac_", "_android_", "_linux_",
                                          "_sme2", "_no_sme2",  "_base_"};
    for (size_t i = 0; i < sizeof k_marks / sizeof *k_marks; i++) {
        size_t at = etp_str_find(stem, etp_str_from(k_marks[i]));
        if (at > 0 && at < stem.len) {
            return at;
        }
    }
    return 0;
}

// Threads are cut off at the end first, then the model at the front; what is left is the
// experiment.
static void name_unit(etp_kit_folder *f, etp_kit_unit *u)
{
    etp_str rest = etp_str_from(u->stem), model = known_model(f, u->stem);
    uint64_t threads = 0;
    size_t at = rest.len;
    while (at > 0 && rest.ptr[at - 1] >= '0' && rest.ptr[at - 1] <= '9') {
        at--;
    }
    if (at > 2 && at < rest.len && rest.ptr[at - 1] == 't' && rest.ptr[at - 2] == '_' &&
        etp_parse_u64((etp_str){rest.ptr + at, rest.len - at}, &threads) && threads <= 4096) {
        u->threads = (uint32_t)threads;
        rest.len = at - 2;
    }
    if (model.len == 0) {
        model = (etp_str){rest.ptr, guess_model(rest)};
    }
    if (model.len && model.len + 1 < rest.len) {
        u->model = etp_arena_strdup(f->arena, model);
        rest = (etp_str){rest.ptr + model.len + 1, rest.len - model.len - 1};
    }
    u->experiment = etp_arena_strdup(f->arena, rest);
    u->side = etp_kit_side_of(rest);
    if (u->side == ETP_KIT_NO_SIDE) { // legacy: a folder for each experiment
        u->side = etp_kit_side_of(etp_str_from(etp_path_name(u->dir)));
    }
}

static int by_name(const void *pa, const void *pb)
{
    const etp_kit_unit *a = pa, *b = pb;
    int d = strcmp(ETP_OR(a->model, ""), ETP_OR(b->model, ""));
    d = etp_order_then(d, strcmp(a->experiment, b->experiment));
    d = etp_order_then(d, ETP_ORDER(a->threads, b->threads));
    return etp_order_then(d, strcmp(a->dir, b->dir));
}

// ---- latencies ----

static double median_of(etp_kit_folder *f, const double *x, size_t n)
{
    double *copy = ETP_NEW_ARRAY(f->arena, double, n);
    memcpy(copy, x, n * sizeof *copy);
    return etp_median(copy, n);
}

static double median_ns(etp_kit_folder *f, const uint64_t *ns, size_t n)
{
    double *x = ETP_NEW_ARRAY(f->arena, double, n);
    for (size_t i = 0; i < n; i++) {
        x[i] = (double)ns[i];
    }
    return etp_median(x, n);
}

// Means are over all executions, also those that etprof would drop as warm-up: the kit drops none.
static etp_status take_profile(etp_kit_folder *f, etp_kit_unit *u, const etp_trace *const *traces,
                               size_t n, etp_error *err)
{
    etp_profile *p = ETP_NEW(f->arena, etp_profile);
    etp_status st = etp_profile_build(traces, n, f->arena, p, err);
    // Latencies hold without operators: what gives no profile only lacks the categories.
    if (st != ETP_OK) {
        return st == ETP_NOMEM ? st : ETP_OK;
    }
    u->profile = p;
    memset(u->five_ns, 0, sizeof u->five_ns);
    for (size_t i = 0; i < p->n_rows; i++) {
        if (etp_row_is_operator(p->rows[i].kind)) {
            double mean = etp_profile_all_mean(p, &p->rows[i]);
            u->five_ns[etp_kit_category_of(p->rows[i].parsed.category)] += llround(mean);
        }
    }
    return ETP_OK;
}

// The executions of a trace; KIT: by the kit's run index, which starts anew in every block, added
// up.
static void take_executions(etp_kit_folder *f, etp_kit_unit *u, const etp_trace *t)
{
    size_t most = 0, n = 0;
    for (size_t b = 0; b < etp_trace_block_count(t); b++) {
        const etp_trace_block *block = etp_trace_block_at(t, b);
        most += block->has_execute ? block->n_runs : 0;
    }
    double *kit = ETP_NEW_ARRAY(f->arena, double, most);
    u->ns = ETP_NEW_ARRAY(f->arena, uint64_t, most);
    for (size_t b = 0; b < etp_trace_block_count(t); b++) {
        const etp_trace_block *block = etp_trace_block_at(t, b);
        for (size_t r = 0; block->has_execute && r < block->n_runs; r++) {
            uint64_t ns = etp_trace_durations(block, block->execute)[r];
            kit[r] += (double)ns / 1e6;
            n = ETP_MAX(r + 1, n);
            u->ns[u->n_runs++] = ns;
        }
    }
    u->dump_median_ns = u->median_ns = median_ns(f, u->ns, u->n_runs);
    // A table is what the kit itself computed from, so its figures come from there where it has
    // one.
    if (!u->timeline) {
        u->kit_median_ms = median_of(f, kit, n);
        u->kit_runs = n;
    }
}

// A dump that cannot be read is a property of the folder, told with its experiment, and no reason
// to refuse the others.
static etp_status read_dump(etp_kit_folder *f, etp_kit_unit *u, etp_error *err)
{
    etp_error why = {.offset = ETP_NO_OFFSET};
    const char *path = etp_arena_printf(f->arena, "%s/%s", f->path, u->dump);
    // What is opened is the folder's from the start: it is closed with it wherever memory ends.
    ETP_ADD(f->arena, &f->maps, (etp_file){0});
    ETP_ADD(f->arena, &f->traces, NULL);
    etp_file *file = &f->maps.items[f->maps.n - 1];
    etp_trace **t = &f->traces.items[f->traces.n - 1];
    etp_status st = etp_file_open_unpacked(path, FILE_LIMIT, file, &why);
    if (st == ETP_OK) {
        st = etp_trace_open(file->bytes, NULL, t, &why);
    }
    if (st != ETP_OK) {
        u->problem = etp_arena_printf(f->arena, "%s: %s", u->dump, why.msg);
        return st == ETP_NOMEM ? etp_fail_nomem(err, u->dump) : ETP_OK;
    }
    take_executions(f, u, *t);
    const etp_trace *traces[] = {*t};
    return take_profile(f, u, traces, 1, err);
}

static etp_status read_timeline(etp_kit_folder *f, etp_kit_unit *u, etp_error *err)
{
    etp_str text = {0};
    etp_kit_timeline x;
    etp_error why = {.offset = ETP_NO_OFFSET};
    const char *path = etp_arena_printf(f->arena, "%s/%s", f->path, u->timeline);
    etp_status st = etp_os_read_text(path, FILE_LIMIT, f->arena, &text, &why);
    if (st == ETP_OK) {
        st = etp_kit_timeline_read(text, f->arena, &x, &why);
    }
    if (st != ETP_OK) {
        u->problem = etp_arena_printf(f->arena, "%s: %s", u->timeline, why.msg);
        return st == ETP_NOMEM ? etp_fail_nomem(err, u->timeline) : ETP_OK;
    }
    u->kit_median_ms = median_of(f, x.kit_ms, x.kit_n);
    u->kit_runs = x.kit_n;
    u->table_median_ns = median_ns(f, x.ns, x.n);
    if (u->n_runs > 0) {
        return ETP_OK; // the dump is the source
    }
    u->ns = x.ns;
    u->n_runs = x.n;
    u->median_ns = u->table_median_ns;
    ETP_ADD(f->arena, &f->timelines, (etp_timeline){0});
    etp_timeline *lines = &f->timelines.items[f->timelines.n - 1];
    st = etp_timeline_open(text, f->arena, lines, NULL);
    if (st != ETP_OK) { // latencies without operators
        return st == ETP_NOMEM ? etp_fail_nomem(err, u->timeline) : ETP_OK;
    }
    return take_profile(f, u, (const etp_trace *const *)lines->traces, lines->n, err);
}

// ---- pairs ----

static const char *parent_of(etp_kit_folder *f, const etp_kit_unit *u)
{
    // In the nested layout each experiment has a folder of its own: what they share is its parent.
    const char *base = etp_path_name(u->dir);
    size_t n = strlen(u->dir);
    if (etp_kit_side_of(etp_str_from(base)) != ETP_KIT_NO_SIDE) {
        n = base > u->dir ? (size_t)(base - u->dir - 1) : 0;
    }
    return etp_arena_strdup(f->arena, (etp_str){u->dir, n});
}

static bool same_z(const char *a, const char *b)
{
    return strcmp(ETP_OR(a, ""), ETP_OR(b, "")) == 0;
}

// The first experiment on and the first off, of one model, that say which kernels were registered.
static etp_status find_logs(etp_kit_folder *f, etp_error *err)
{
    for (size_t i = 0; i < f->units.n && !f->logged[1]; i++) {
        const etp_kit_unit *on = &f->units.items[i];
        for (size_t k = 0; k < f->units.n && on->side == ETP_KIT_ON && (on->log || on->kernels);
             k++) {
            const etp_kit_unit *off = &f->units.items[k];
            if (off->side == ETP_KIT_OFF && (off->log || off->kernels) &&
                same_z(on->model, off->model)) {
                f->logged[0] = on;
                f->logged[1] = off;
                break;
            }
        }
    }
    for (int i = 0; i < 2 && f->logged[1]; i++) {
        const etp_kit_unit *u = f->logged[i];
        etp_str text = etp_kit_folder_text(f, ETP_OR(u->log, u->kernels));
        etp_status st = etp_kernel_log_read(text, f->arena, &f->logs[i], NULL);
        if (st != ETP_OK) { // a build without log lines leaves an empty one
            f->logged[0] = f->logged[1] = NULL;
            return st == ETP_NOMEM ? etp_fail_nomem(err, "kernel logs") : ETP_OK;
        }
        f->logs[i].title = u->stem;
        f->logs[i].model_id = u->stem;
    }
    return ETP_OK;
}

// Dates in this form order as texts do.
static void take_date(etp_kit_folder *f, const json_t *doc)
{
    static const char k_form[] = "dddd-dd-dd";
    const char *at = json_string_value(json_object_get(doc, "generated_at"));
    size_t n = 0;
    while (at && k_form[n] &&
           (k_form[n] == 'd' ? at[n] >= '0' && at[n] <= '9' : at[n] == k_form[n])) {
        n++;
    }
    if (n < sizeof k_form - 1) {
        return;
    }
    if (!f->first_date[0] || memcmp(at, f->first_date, n) < 0) {
        memcpy(f->first_date, at, n);
    }
    if (memcmp(at, f->last_date, n) > 0) {
        memcpy(f->last_date, at, n);
    }
}

static etp_status open_folder(etp_kit_folder *out, etp_error *err)
{
    ETP_TRY(walk(out, "", 0, err));
    collect_units(out);
    for (size_t i = 0; i < out->units.n; i++) {
        etp_kit_unit *u = &out->units.items[i];
        name_unit(out, u);
        // The dump first: it is the recording, and the table is read for its executions only
        // without one.
        if (u->dump) {
            ETP_TRY(read_dump(out, u, err));
        }
        if (u->timeline) {
            ETP_TRY(read_timeline(out, u, err));
        }
        if (u->robust) {
            // A file that is no JSON leaves the figures unknown.
            json_t *doc = NULL;
            ETP_TRY(etp_kit_json_load(etp_kit_folder_text(out, u->robust), out->arena, &doc, err));
            u->reported_median_ms = etp_kit_json_number(doc, "median_ms");
            json_decref(doc);
        }
    }
    if (out->units.n == 0) {
        return etp_fail(err, ETP_USAGE,
                        "%s holds a summary of Arm's kit but neither a dump nor a timeline",
                        out->path);
    }
    // From here on nothing moves: pairs hold places in this order, logs point into it.
    qsort(out->units.items, out->units.n, sizeof *out->units.items, by_name);
    // Threads, model and place have to agree.
    for (size_t i = 0; i < out->units.n; i++) {
        const etp_kit_unit *off = &out->units.items[i];
        for (size_t k = 0; k < out->units.n && off->side == ETP_KIT_OFF; k++) {
            const etp_kit_unit *on = &out->units.items[k];
            if (on->side != ETP_KIT_ON || on->threads != off->threads ||
                !same_z(on->model, off->model) ||
                !same_z(parent_of(out, on), parent_of(out, off)) || !(on->median_ns > 0) ||
                !(off->median_ns > 0)) {
                continue;
            }
            etp_kit_pair pair = {.off = i, .on = k, .ratio = off->median_ns / on->median_ns};
            ETP_ADD(out->arena, &out->pairs, pair);
        }
    }
    ETP_TRY(find_logs(out, err));
    ETP_TRY(etp_kit_answer_pairs(out, err));
    for (size_t i = 0; i < out->files.n; i++) {
        json_t *doc = NULL;
        if (ends(out->files.items[i], ".json")) {
            ETP_TRY(etp_kit_json_load(etp_kit_folder_text(out, out->files.items[i]), out->arena,
                                      &doc, err));
            take_date(out, doc);
            json_decref(doc);
        }
    }
    // A text that could not be read is as one that is not there, unless for want of memory.
    return etp_arena_check(out->arena, err, "the folder");
}

etp_status etp_kit_folder_open(const char *path, etp_arena *arena, etp_kit_folder *out,
                               etp_error *err)
{
    *out = (etp_kit_folder){.path = path, .arena = arena};
    ETP_GUARDED(arena, err, "the folder", open_folder(out, err));
}

void etp_kit_folder_close(etp_kit_folder *f)
{
    for (size_t i = 0; i < f->pairs.n; i++) {
        etp_ab_close(f->pairs.items[i].session);
    }
    for (size_t i = 0; i < f->traces.n; i++) {
        etp_trace_close(f->traces.items[i]);
    }
    for (size_t i = 0; i < f->timelines.n; i++) {
        for (size_t k = 0; k < f->timelines.items[i].n; k++) {
            etp_trace_close(f->timelines.items[i].traces[k]);
        }
    }
    // Last, because traces borrow from the files.
    for (size_t i = 0; i < f->maps.n; i++) {
        etp_file_close(&f->maps.items[i]);
    }
    f->traces.n = f->timelines.n = f->maps.n = f->pairs.n = 0;
}
