// SPDX-License-Identifier: Apache-2.0
// Checks a run folder: raw files against the hashes of the manifest, derived files against what the
// raw ones give now.
#include "integrity/verify.h"

#include <math.h>

#include "base/guard.h"
#include "base/number.h"
#include "base/path.h"
#include "base/utf8.h"
#include "document/layouts.h"
#include "document/rows.h"
#include "publish/files.h"

#define DERIVED_LIMIT ((uint64_t)1 << 30)

const char *etp_verify_state_name(etp_verify_state state)
{
    static const char *const k_names[] = {"ok",    "within_1e-6", "altered",    "missing",
                                          "added", "differs",     "unrecorded", "beside"};
    return state < ETP_VERIFY_STATES ? k_names[state] : "unknown";
}

// ---- text against text ----

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Length of the number that begins at AT and is a word of its own; 0 when there is none.
// A digit inside a word ("op12", a hash, "1.2.3") is text: it has to be equal byte by byte.
static size_t number_at(etp_str s, size_t at)
{
    if (at > 0 && (is_word(s.ptr[at - 1]) || s.ptr[at - 1] == '.')) {
        return 0;
    }
    size_t n = at;
    while (n < s.len &&
           ((s.ptr[n] >= '0' && s.ptr[n] <= '9') || s.ptr[n] == '.' || s.ptr[n] == 'e' ||
            ((s.ptr[n] == '-' || s.ptr[n] == '+') && (n == at || s.ptr[n - 1] == 'e')))) {
        n++;
    }
    return n < s.len && is_word(s.ptr[n]) ? 0 : n - at;
}

// One unit of the sixth significant digit is what rounding to six digits can make of a last bit. An
// integer below 100,000 has no such digit: it must be equal.
static bool is_close(double x, double y)
{
    double larger = fmax(fabs(x), fabs(y));
    if (x == y || larger == 0) {
        return x == y;
    }
    double unit = pow(10, floor(log10(larger)) - 5);
    return fabs(x - y) <= unit * (1 + 1e-6);
}

// Works for any of our derived files (JSON, CSV, Markdown, SVG) without knowing its format: numbers
// are compared as numbers, everything between them as bytes. Two computers may round the last bit
// of a logarithm differently, and only that is forgiven.
bool etp_verify_same_but_rounding(etp_str a, etp_str b)
{
    size_t i = 0, k = 0;
    while (i < a.len && k < b.len) {
        size_t na = number_at(a, i), nb = number_at(b, k);
        double x, y;
        if (na > 0 && nb > 0 && etp_parse_double((etp_str){a.ptr + i, na}, &x) &&
            etp_parse_double((etp_str){b.ptr + k, nb}, &y)) {
            if (!is_close(x, y)) {
                return false;
            }
            i += na;
            k += nb;
        } else if (a.ptr[i++] != b.ptr[k++]) {
            return false;
        }
    }
    return i == a.len && k == b.len;
}

// ---- raw files ----

static void add(etp_verify *v, etp_arena *arena, etp_str path, bool raw, etp_verify_state state)
{
    etp_verify_file f = {etp_arena_strdup(arena, path), raw, state};
    ETP_ADD(arena, &v->files, f);
    v->n_of[state]++;
}

// RUN: of a raw file; NULL.
static etp_status state_of(const etp_run *run, const char *dir, const etp_run_file *f,
                           etp_arena *arena, etp_verify_state *out, etp_error *err)
{
    const char *path = etp_run_path(arena, dir, f->path);
    bool same = false;
    if (!etp_os_is_file(path)) {
        *out = ETP_VERIFY_MISSING;
        return ETP_OK;
    }
    // Length and hash are one record: a wrong length with a right hash means that the manifest was
    // edited.
    ETP_TRY(etp_run_file_is(run, f, path, &same, err));
    *out = same ? ETP_VERIFY_OK : ETP_VERIFY_ALTERED;
    return ETP_OK;
}

static etp_status check_raw(const etp_run *run, const char *dir, etp_arena *arena, etp_verify *v,
                            etp_error *err)
{
    for (size_t i = 0; i < run->files.n; i++) {
        etp_verify_state state = ETP_VERIFY_ALTERED;
        ETP_TRY(state_of(run, dir, &run->files.items[i], arena, &state, err));
        add(v, arena, run->files.items[i].path, true, state);
    }
    if (!etp_run_has_hashes(run)) {
        add(v, arena, ETP_STR(ETP_RUN_MANIFEST), true, ETP_VERIFY_ALTERED);
    }
    return ETP_OK;
}

// What derived.json says of the manifest, which says everything else.
static etp_status check_manifest(const etp_run *run, const char *dir,
                                 const etp_run_derived *written, etp_arena *arena, etp_verify *v,
                                 etp_error *err)
{
    const char *path = etp_run_path(arena, dir, ETP_STR(ETP_RUN_MANIFEST));
    char hex[65];
    if (written->manifest_sha256.len == 0 || !etp_run_has_hashes(run)) { // told already
        return ETP_OK;
    }
    ETP_TRY(etp_os_hash_file(path, hex, NULL, err));
    bool same = etp_str_eqz(written->manifest_sha256, hex);
    add(v, arena, ETP_STR(ETP_RUN_MANIFEST), true, same ? ETP_VERIFY_OK : ETP_VERIFY_ALTERED);
    return ETP_OK;
}

// ---- files that nobody recorded ----

typedef struct etp_strs {
    etp_str *items; // relative to the folder; a length of 0: no longer in question
    size_t n, cap;
} etp_strs;

static const etp_run_file *find(const etp_run_file *list, size_t n, etp_str path)
{
    for (size_t i = 0; i < n; i++) {
        if (etp_str_eq(list[i].path, path)) {
            return &list[i];
        }
    }
    return NULL;
}

// What every folder may have besides the files of both lists.
static bool of_every_folder(etp_str path)
{
    static const char *const k_names[] = {ETP_RUN_MANIFEST, ETP_RUN_DERIVED, ETP_RUN_LOCK};
    for (size_t i = 0; i < sizeof k_names / sizeof *k_names; i++) {
        if (etp_str_eqz(path, k_names[i])) {
            return true;
        }
    }
    return etp_str_eqz(etp_path_last(path), ".DS_Store"); // macOS leaves it where one looks
}

// Folders that a session makes whether anything comes into them or not.
static bool of_a_session(const etp_run *run, etp_str path, etp_arena *arena)
{
    if (etp_str_eqz(path, ETP_RUN_PROGRAMS)) {
        return true;
    }
    for (size_t i = 0; i < run->arms.n; i++) {
        etp_str name = run->arms.items[i].name;
        const char *outputs = etp_arena_printf(arena, "%.*s/outputs", ETP_STR_ARG(name));
        if (etp_str_eq(path, name) || etp_str_eqz(path, outputs)) {
            return true;
        }
    }
    return false;
}

// Files below RELATIVE ("": the folder itself) on no list, and folders that hold nothing ("x/").
static etp_status find_left(const etp_run *run, const etp_run_derived *written, const char *dir,
                            const char *relative, etp_arena *arena, etp_strs *out, etp_error *err)
{
    const char *path = relative[0] ? etp_run_path(arena, dir, etp_str_from(relative)) : dir;
    etp_dir_list list;
    ETP_TRY(etp_os_list(path, arena, &list, err));
    if (list.n == 0 && relative[0] && !of_a_session(run, etp_str_from(relative), arena)) {
        ETP_ADD(arena, out, etp_str_from(etp_arena_printf(arena, "%s/", relative)));
    }
    for (size_t i = 0; i < list.n; i++) { // links and depth were judged as the folder was opened
        const char *name = etp_arena_printf(arena, "%s%s%s", relative, etp_if(relative[0], "/"),
                                            list.items[i].name);
        etp_str of = etp_str_from(name);
        if (list.items[i].is_dir) {
            ETP_TRY(find_left(run, written, dir, name, arena, out, err));
        } else if (!of_every_folder(of) && !find(run->files.items, run->files.n, of) &&
                   !find(written->items, written->n, of)) {
            ETP_ADD(arena, out, of);
        }
    }
    return ETP_OK;
}

static void take_out(etp_strs *left, etp_str path)
{
    for (size_t i = 0; i < left->n; i++) {
        if (etp_str_eq(left->items[i], path)) {
            left->items[i].len = 0;
        }
    }
}

// A raw file by its name, however it is spelt and packed: what another tool, or another file
// system, would take for one.
static bool looks_raw(etp_str path, etp_arena *arena)
{
    char *lower = etp_arena_strdup(arena, path);
    for (size_t i = 0; i < path.len; i++) {
        lower[i] = etp_lower(lower[i]);
    }
    etp_str s = {lower, path.len};
    if (etp_str_ends(s, ETP_STR(ETP_OS_PACKED))) {
        s.len -= sizeof ETP_OS_PACKED - 1;
    }
    return etp_run_is_raw(s);
}

// Named as what the kit's tools write: tables of what they are given, as CSV and as JSON.
static bool is_table(etp_str path)
{
    static const char *const k_more[] = {"_robust_stats.json",     "_robust_comparison.json",
                                         "_pipeline_summary.json", "_pipeline_summary.md",
                                         "/metrics.json",          "/analysis_summary.json"};
    for (size_t i = 0; i < sizeof k_more / sizeof *k_more; i++) {
        if (etp_str_ends(path, etp_str_from(k_more[i]))) {
            return true;
        }
    }
    for (int i = 0; i < ETP_LAYOUT_COUNT; i++) {
        const etp_layout *l = etp_layout_of((etp_layout_id)i);
        etp_str stem = etp_str_from(l->suffix), name = path;
        name.len -= etp_str_ends(name, ETP_STR(".json")) ? 5 : 0;
        name.len -= etp_str_ends(name, ETP_STR(".csv")) ? 4 : 0;
        stem.len -= etp_str_ends(stem, ETP_STR(".csv")) ? 4 : 0;
        if (l->is_checked && i != ETP_LAYOUT_SAMPLES && name.len < path.len &&
            etp_str_ends(name, stem)) {
            return true;
        }
    }
    return false;
}

static bool holds(const etp_strs *left, const etp_run_derived *computed)
{
    for (size_t i = 0; i < left->n; i++) {
        if (find(computed->items, computed->n, left->items[i])) {
            return true;
        }
    }
    return false;
}

static void add_left(const etp_run *run, const etp_strs *left, etp_arena *arena, etp_verify *v)
{
    for (size_t i = 0; i < left->n; i++) {
        etp_str path = left->items[i];
        bool raw = path.len > 0 && looks_raw(path, arena);
        // Files of a block that has not ended have no hashes yet.
        etp_verify_state running = raw ? ETP_VERIFY_UNRECORDED : ETP_VERIFY_BESIDE;
        etp_verify_state ended = is_table(path) ? ETP_VERIFY_BESIDE : ETP_VERIFY_ADDED;
        if (path.len > 0) {
            add(v, arena, path, raw, run->state == ETP_RUN_RUNNING ? running : ended);
        }
    }
}

// ---- derived files ----

// Computes every derived file once more, into the empty folder TEMP.
// The folder's own report options count (which arm is the baseline, which margin): other ones give
// other, equally right files.
static etp_status derive(const char *dir, const char *temp, etp_arena *arena, etp_error *err)
{
    const char *manifest = etp_run_path(arena, temp, ETP_STR(ETP_RUN_MANIFEST));
    // Writers of derived files take TEMP for a run folder, and record hashes there.
    ETP_TRY(etp_os_write_atomic(manifest, ETP_STR("{\"schema\": \"" ETP_RUN_SCHEMA "\"}\n"), err));
    etp_ab_options how = {.as_is = true};
    ETP_TRY(etp_run_report_options(dir, arena, &how.baseline, &how.margin, err));
    etp_ab_session *session = NULL;
    ETP_TRY(etp_ab_open(&dir, 1, &how, &session, err));
    // By the writers that made the files: a second way to compute them could differ by itself.
    etp_status st = etp_ab_write_files(session, temp, err);
    etp_ab_close(session);
    return st;
}

static etp_status compare_texts(const char *written, const char *computed, etp_verify_state *out,
                                etp_error *err)
{
    etp_file a, b;
    ETP_TRY(etp_file_open(written, DERIVED_LIMIT, &a, err));
    etp_status st = etp_file_open(computed, DERIVED_LIMIT, &b, err);
    if (st == ETP_OK) {
        *out = etp_verify_same_but_rounding((etp_str){(const char *)a.bytes.ptr, a.bytes.len},
                                            (etp_str){(const char *)b.bytes.ptr, b.bytes.len})
                   ? ETP_VERIFY_CLOSE
                   : ETP_VERIFY_DIFFERS;
        etp_file_close(&b);
    }
    etp_file_close(&a);
    return st;
}

// derived.json has no hash of its own. It is altered when it holds what its writer never writes or
// lacks what that always writes, and when a file is right and only its entry is wrong or gone.
static etp_status check_all_derived(const etp_run *run, const char *dir, const char *temp,
                                    etp_arena *arena, etp_verify *v, etp_error *err)
{
    etp_run_derived written, computed;
    etp_strs left = {0}; // files that are neither raw nor listed
    etp_status list = etp_run_derived_read(dir, arena, &written, err);
    if (list != ETP_OK && list != ETP_CORRUPT) { // a list that was cut off lists nothing
        return list;
    }
    ETP_TRY(find_left(run, &written, dir, "", arena, &left, err));
    const char *path = etp_run_path(arena, dir, ETP_STR(ETP_RUN_DERIVED));
    bool listed = etp_os_is_file(path);
    if (!listed && left.n == 0) { // never reported on: nothing to compare
        return ETP_OK;
    }
    ETP_TRY(check_manifest(run, dir, &written, arena, v, err));
    ETP_TRY(derive(dir, temp, arena, err));
    ETP_TRY(etp_run_derived_read(temp, arena, &computed, err));
    if (!listed && !holds(&left, &computed)) { // likewise, with files of others in it
        add_left(run, &left, arena, v);
        return ETP_OK;
    }
    bool list_wrong = !written.plain || written.n == 0 || written.manifest_sha256.len == 0;
    for (size_t i = 0; i < written.n; i++) {
        // A file as it lies there, as derived.json recorded it, as the raw files give it. Equal
        // hashes spare the comparison of texts; only files that the sums of this machine make
        // differently are opened.
        const etp_run_file *f = &written.items[i],
                           *again = find(computed.items, computed.n, f->path);
        etp_verify_state state = ETP_VERIFY_ALTERED;
        ETP_TRY(state_of(NULL, dir, f, arena, &state, err));
        if (state == ETP_VERIFY_ALTERED && again) { // or is it the list that was changed?
            ETP_TRY(state_of(NULL, dir, again, arena, &state, err));
            list_wrong = list_wrong || state == ETP_VERIFY_OK;
        } else if (state == ETP_VERIFY_OK && !again) {
            state = ETP_VERIFY_DIFFERS;
        } else if (state == ETP_VERIFY_OK && !etp_str_eq(again->sha256, f->sha256)) {
            const char *a = etp_run_path(arena, dir, f->path);
            const char *b = etp_run_path(arena, temp, f->path);
            ETP_TRY(compare_texts(a, b, &state, err));
        }
        add(v, arena, f->path, false, state);
    }
    for (size_t i = 0; i < computed.n; i++) { // taken out of derived.json, or of the folder too
        if (!find(written.items, written.n, computed.items[i].path)) {
            etp_verify_state state = ETP_VERIFY_ALTERED;
            ETP_TRY(state_of(NULL, dir, &computed.items[i], arena, &state, err));
            add(v, arena, computed.items[i].path, false, state);
            list_wrong = true;
            take_out(&left, computed.items[i].path);
        }
    }
    etp_verify_state of_list = list_wrong ? ETP_VERIFY_ALTERED : ETP_VERIFY_OK;
    add(v, arena, ETP_STR(ETP_RUN_DERIVED), false, listed ? of_list : ETP_VERIFY_MISSING);
    add_left(run, &left, arena, v);
    return ETP_OK;
}

static etp_status guarded_derived(const etp_run *run, const char *dir, const char *temp,
                                  etp_arena *arena, etp_verify *v, etp_error *err)
{
    ETP_GUARDED(arena, err, "files", check_all_derived(run, dir, temp, arena, v, err));
}

static etp_status check_all(const char *dir, const char *work_root, etp_arena *arena,
                            etp_verify *out, etp_error *err)
{
    *out = (etp_verify){.dir = dir};
    etp_run run;
    etp_status opened = etp_run_open(dir, arena, &run, err);
    bool broken = opened == ETP_CORRUPT || opened == ETP_IO; // rows that are bad, or gone
    if (opened != ETP_OK && (!broken || etp_run_open_manifest(dir, arena, &run, NULL) != ETP_OK)) {
        return opened;
    }
    out->session = etp_run_state_name(run.state);
    etp_error why;
    ETP_TRY(check_raw(&run, dir, arena, out, opened == ETP_OK ? err : &why));
    if (opened != ETP_OK) { // of rows that cannot be read nothing follows; their hash says why
        return etp_verify_verdict(out) == 0 ? ETP_OK : opened;
    }
    const char *temp = NULL;
    ETP_TRY(etp_os_temp_dir(work_root, "verify", arena, &temp, err));
    etp_status st = guarded_derived(&run, dir, temp, arena, out, err);
    // The first error is the one to tell: removing must not overwrite it.
    etp_status removed = etp_os_remove_tree(temp, st == ETP_OK ? err : NULL);
    return st == ETP_OK ? removed : st;
}

etp_status etp_verify_folder(const char *dir, const char *work_root, etp_arena *arena,
                             etp_verify *out, etp_error *err)
{
    ETP_GUARDED(arena, err, "files", check_all(dir, work_root, arena, out, err));
}

// Anything that is neither good nor merely unrecorded is a no, also in a session that did not end.
int etp_verify_verdict(const etp_verify *v)
{
    size_t good = v->n_of[ETP_VERIFY_OK] + v->n_of[ETP_VERIFY_CLOSE] + v->n_of[ETP_VERIFY_BESIDE];
    if (good + v->n_of[ETP_VERIFY_UNRECORDED] < v->files.n) {
        return 0;
    }
    return v->n_of[ETP_VERIFY_UNRECORDED] > 0 ? -1 : 1;
}

// ---- showing ----

WORDS(k_states, etp_verify_state_name, etp_verify_state, ETP_VERIFY_STATES)
FIND(verdict, etp_verify, etp_verify, MAKE(maybe, etp_verify_verdict(it)))
KNOWN(is_raw, etp_verify_file, it->raw)
KNOWN(is_derived, etp_verify_file, !it->raw)

#define OF etp_verify_file
static const etp_field k_file_rows[] = {
    FIELD("path", TEXT, path, "in the folder", .flags = ETP_SET),
    FIELD("state", WORD, state, "", .words = &k_states),
};
static SHAPE_ON_ONE_LINE(k_file, k_file_rows);
#undef OF
#define OF etp_verify
static const etp_field k_rows[] = {
    FIELD("session", TEXT, session, "finished, running, interrupted", .flags = ETP_SET),
    COMPUTED("ok", TRISTATE, verdict, "null: of a block that did not end, nothing to compare with"),
    VECTOR("raw", OBJECT, files, "what was recorded", .shape = &k_file, .when = is_raw),
    VECTOR("derived", OBJECT, files, "what was computed of it", .shape = &k_file,
           .when = is_derived),
};
static SHAPE(k_verify, k_rows);
#undef OF
const etp_document k_etp_verify_document = {"etprof.verify/1", "What verify prints", &k_verify};

static bool is_fine(const etp_verify_file *f)
{
    return f->state == ETP_VERIFY_OK || f->state == ETP_VERIFY_CLOSE;
}

static etp_severity note_of(etp_verify_state state)
{
    switch (state) {
    case ETP_VERIFY_OK:
    case ETP_VERIFY_CLOSE:
        return ETP_GOOD;
    case ETP_VERIFY_BESIDE:
        return ETP_WARN;
    default:
        return ETP_BAD;
    }
}

static const char *explain(etp_verify_state state)
{
    switch (state) {
    case ETP_VERIFY_CLOSE:
        return "recomputed within 1e-6: rounding of another machine";
    case ETP_VERIFY_ALTERED:
        return "not the bytes that were recorded";
    case ETP_VERIFY_MISSING:
        return "recorded, but not there";
    case ETP_VERIFY_ADDED:
        return "neither the session nor a report of it wrote this file";
    case ETP_VERIFY_DIFFERS:
        return "as written, but the raw files give something else (or another etprof wrote it)";
    case ETP_VERIFY_UNRECORDED:
        return "of a block that did not end, so there is no hash to compare with";
    case ETP_VERIFY_BESIDE:
        return "a table that a tool wrote beside the session's; not checked";
    case ETP_VERIFY_OK:
    case ETP_VERIFY_STATES:
        break;
    }
    return NULL;
}

const etp_report *etp_verify_report(const etp_verify *v, bool full, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "path", .title = "file", .flags = ETP_COL_CODE},
        {.key = "kind", .title = "kind"},
        {.key = "state", .title = "state"},
        {.key = "why", .title = "why"},
    };
    // By the verdict, from -1 on.
    static const char *const k_verdicts[] = {
        "unknown: the session did not end, and files of its last block have no hashes",
        "no: files are not what was recorded or computed",
        "yes: raw files are as recorded, and give the derived files",
    };
    static const etp_severity k_severities[] = {ETP_WARN, ETP_BAD, ETP_GOOD};
    const int verdict = etp_verify_verdict(v) + 1;
    etp_report *r = etp_report_create(arena, "verification of a run folder");
    etp_report_section(r, 1, "files", "Files");
    etp_report_note(r, k_severities[verdict], "%s", k_verdicts[verdict]);
    size_t n[2] = {0}, n_fine = 0;
    for (size_t i = 0; i < v->files.n; i++) {
        n[v->files.items[i].raw]++;
        n_fine += is_fine(&v->files.items[i]);
    }
    etp_report_text(r, "%zu raw files, %zu derived ones", n[1], n[0]);
    if (!full && n_fine == v->files.n) {
        return r;
    }
    etp_table *t = etp_report_table(r, "files", NULL, k_columns, 4);
    for (size_t i = 0; i < v->files.n; i++) {
        const etp_verify_file *f = &v->files.items[i];
        bool fine = is_fine(f);
        if (fine && !full) {
            continue;
        }
        ETP_ROW(t, etp_cell_z(f->path), etp_cell_z(f->raw ? "raw" : "derived"),
                etp_cell_judged(etp_cell_z(etp_verify_state_name(f->state)), note_of(f->state)),
                etp_cell_z(explain(f->state)));
    }
    return r;
}
