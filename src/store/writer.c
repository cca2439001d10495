// SPDX-License-Identifier: Apache-2.0
// Writes a run folder block by block. Order of each commit: dumps are in place already, then
// samples, then environment, then the manifest that vouches for them.
#include <stdio.h>

#include "base/csv.h"
#include "base/json.h"
#include "document/layouts.h"
#include "os/os.h"
#include "store/internal.h"

static const char *path_of(etp_run_writer *w, const char *name, etp_arena *arena)
{
    return etp_run_path(arena, w->dir, etp_str_from(name));
}

static etp_status write_manifest(etp_run_writer *w, etp_error *err)
{
    ETP_TRY(etp_arena_check(w->arena, err, "the run folder")); // RUN would be incomplete
    etp_arena scratch = {0};
    etp_str text;
    etp_status status = etp_run_manifest_write(w->run, &scratch, &text, err);
    if (status == ETP_OK) {
        status = etp_os_write_below(w->dir, ETP_RUN_MANIFEST, text, err);
    }
    etp_arena_dispose(&scratch);
    return status;
}

// ---- the hashes of what is committed ----

static bool is_path(const void *ctx, uint32_t position)
{
    const etp_run_writer *w = ((const void *const *)ctx)[0];
    return etp_str_eq(w->run->files.items[position].path, *((const etp_str *const *)ctx)[1]);
}

static uint32_t find_file(const etp_run_writer *w, etp_str path)
{
    const void *const ctx[] = {w, &path};
    return etp_index_find(&w->recorded, etp_hash_bytes(ETP_HASH_START, path.ptr, path.len), is_path,
                          ctx);
}

static void note_file(etp_run_writer *w, etp_run_file f)
{
    uint64_t hash = etp_hash_bytes(ETP_HASH_START, f.path.ptr, f.path.len);
    ETP_ADD(w->arena, &w->run->files, f);
    etp_index_insert(&w->recorded, w->arena, hash, (uint32_t)w->run->files.n - 1);
}

static void note_tail(etp_run_writer *w, const char *name, const etp_run_tail *tail)
{
    char hex[ETP_SHA256_HEX_CHARS];
    etp_sha256 hash = tail->hash;
    etp_sha256_hex(&hash, hex);
    etp_run_file f = {.path = etp_str_from(name),
                      .sha256 = etp_str_from(etp_arena_strdup(w->arena, etp_str_from(hex))),
                      .bytes = tail->bytes};
    uint32_t at = find_file(w, f.path);
    if (at == ETP_NO_INDEX) {
        note_file(w, f);
    } else {
        w->run->files.items[at] = f;
    }
}

static void note_tails(etp_run_writer *w)
{
    note_tail(w, ETP_RUN_SAMPLES, &w->samples);
    note_tail(w, ETP_RUN_ENVIRONMENT, &w->environment);
}

static void grow(etp_run_tail *tail, etp_str text)
{
    etp_sha256_update(&tail->hash, text.ptr, text.len);
    tail->bytes += text.len;
}

// A file that was recorded before keeps its hash: what became of it since is for 'verify' to say.
static etp_status add_file(etp_run_writer *w, const char *relative, etp_error *err)
{
    char hex[ETP_SHA256_HEX_CHARS];
    etp_run_file f = {.path = etp_str_from(relative)};
    if (find_file(w, f.path) != ETP_NO_INDEX) {
        return ETP_OK;
    }
    ETP_TRY(etp_os_hash_file(path_of(w, relative, w->arena), hex, &f.bytes, err));
    f.path = etp_str_from(etp_arena_strdup(w->arena, f.path));
    f.sha256 = etp_str_from(etp_arena_strdup(w->arena, etp_str_from(hex)));
    note_file(w, f);
    return ETP_OK;
}

// Every raw file below RELATIVE, folders in name order: the experiments' folders belong to the
// session alone.
static etp_status add_tree(etp_run_writer *w, const char *relative, int depth, etp_arena *scratch,
                           etp_error *err)
{
    const char *path = path_of(w, relative, scratch);
    if (depth > 4 || !etp_os_is_dir(path)) {
        return ETP_OK;
    }
    etp_dir_list list;
    ETP_TRY(etp_os_list(path, scratch, &list, err));
    for (size_t i = 0; i < list.n; i++) {
        const char *name = etp_arena_printf(scratch, "%s/%s", relative, list.items[i].name);
        if (list.items[i].is_dir) {
            ETP_TRY(add_tree(w, name, depth + 1, scratch, err));
        } else if (name && etp_run_is_raw(etp_str_from(name))) {
            ETP_TRY(add_file(w, name, err));
        }
    }
    return ETP_OK;
}

static etp_status add_files(etp_run_writer *w, etp_arena *scratch, etp_error *err)
{
    ETP_TRY(add_tree(w, ETP_RUN_PROGRAMS, 0, scratch, err));
    if (etp_os_is_file(path_of(w, ETP_RUN_ROOFS, scratch))) {
        ETP_TRY(add_file(w, ETP_RUN_ROOFS, err));
    }
    for (size_t i = 0; i < w->run->arms.n; i++) {
        const char *name = etp_arena_strdup(scratch, w->run->arms.items[i].name);
        ETP_TRY(add_tree(w, name, 0, scratch, err));
    }
    return etp_arena_check(scratch, err, "raw files");
}

static etp_status record(etp_run_writer *w, etp_error *err)
{
    etp_arena scratch = {0};
    etp_status st = add_files(w, &scratch, err);
    etp_arena_dispose(&scratch);
    return st;
}

// ---- beginning and going on ----

etp_status etp_run_begin(const char *dir, etp_arena *arena, etp_run *run, etp_run_writer *out,
                         etp_error *err)
{
    *out = (etp_run_writer){.dir = dir, .arena = arena, .run = run};
    run->state = ETP_RUN_RUNNING;
    run->blocks_done = 0;
    run->files.n = 0;
    etp_sha256_init(&out->samples.hash);
    etp_sha256_init(&out->environment.hash);
    etp_strbuf header;
    etp_strbuf_init(&header, arena);
    etp_sink sink = etp_sink_strbuf(&header);
    etp_layout_header(&sink, ETP_LAYOUT_SAMPLES);
    ETP_TRY(etp_arena_check(arena, err, ETP_RUN_SAMPLES));
    ETP_TRY(etp_os_write_below(dir, ETP_RUN_SAMPLES, etp_strbuf_str(&header), err));
    ETP_TRY(etp_os_write_below(dir, ETP_RUN_ENVIRONMENT, ETP_STR(""), err));
    grow(&out->samples, etp_strbuf_str(&header));
    note_tails(out);
    return write_manifest(out, err);
}

etp_status etp_run_keep_file(const etp_settings *settings, const char *dir, const char *name,
                             etp_str content, etp_error *err)
{
    if (settings->plain || content.len < ETP_RUN_PACK_BYTES) {
        return etp_os_write_below(dir, name, content, err);
    }
    etp_arena arena = {0};
    etp_str packed = {0};
    const char *packed_name = etp_arena_printf(&arena, "%s" ETP_OS_PACKED, name);
    etp_status st = etp_os_pack(content, &arena, &packed, err);
    if (st == ETP_OK) {
        st = etp_os_write_below(dir, packed_name, packed, err);
    }
    etp_arena_dispose(&arena);
    return st;
}

// Without what was not committed.
static etp_status cut_back(etp_run_writer *w, const char *name, etp_run_tail *out, etp_error *err)
{
    const etp_run_file *f = etp_run_recorded(w->run, name);
    *out = (etp_run_tail){0};
    etp_sha256_init(&out->hash);
    if (!f) {
        return etp_fail(err, ETP_CORRUPT, "%s: the manifest has no hash of %s", w->dir, name);
    }
    etp_file file;
    ETP_TRY(etp_file_open(path_of(w, name, w->arena), ETP_RUN_ROWS_LIMIT, &file, err));
    etp_str text = {(const char *)file.bytes.ptr, file.bytes.len};
    bool longer = f->bytes < text.len;
    text.len = longer ? (size_t)f->bytes : text.len;
    grow(out, text);
    if (etp_str_ends(etp_str_from(name), ETP_STR(".csv"))) { // rows are added as those are that it
        etp_str head = {text.ptr, etp_str_find(text, ETP_STR("\n"))}; // begins with
        w->without_level = head.len > 0 && !etp_str_ends(head, ETP_STR(",level"));
    }
    etp_file_close(&file);
    return longer ? etp_os_truncate_below(w->dir, name, out->bytes, err) : ETP_OK;
}

etp_status etp_run_resume(const char *dir, etp_arena *arena, etp_run *run, etp_run_writer *out,
                          etp_error *err)
{
    *out = (etp_run_writer){.dir = dir, .arena = arena, .run = run};
    if (run->state == ETP_RUN_FINISHED) {
        return etp_fail(err, ETP_USAGE, "the session in %s is finished", dir);
    }
    ETP_TRY(cut_back(out, ETP_RUN_SAMPLES, &out->samples, err));
    ETP_TRY(cut_back(out, ETP_RUN_ENVIRONMENT, &out->environment, err));
    // What a launch of a block that was never committed left behind.
    static const char *const k_suffixes[] = {
        ".etdump", ".log", ".samples", "_sampled.log", "_raw.samples", ".code", "_sampled.etdump"};
    const size_t each = sizeof k_suffixes / sizeof *k_suffixes;
    for (size_t i = 0; i < each * run->arms.n; i++) {
        const char *name = etp_run_dump_name(arena, &run->arms.items[i / each],
                                             run->blocks_done + 1, k_suffixes[i % each]);
        const char *packed = etp_arena_printf(arena, "%s" ETP_OS_PACKED, name);
        ETP_TRY(etp_os_remove_below(dir, name, err));
        ETP_TRY(etp_os_remove_below(dir, packed, err));
    }
    etp_run_remove_leftovers(dir, arena);
    size_t n = run->files.n;
    run->files.n = 0;
    for (size_t i = 0; i < n; i++) { // all but the leftovers
        etp_run_file f = run->files.items[i];
        if (etp_os_is_file(etp_run_path(arena, dir, f.path))) {
            note_file(out, f);
        }
    }
    run->state = ETP_RUN_RUNNING;
    run->signal = 0;
    ETP_TRY(etp_run_manifest_moves_on(dir, err));
    return write_manifest(out, err);
}

static etp_status append(etp_run_writer *w, const char *name, etp_strbuf *text, etp_error *err)
{
    return text->len > 0 ? etp_os_append_below(w->dir, name, etp_strbuf_str(text), err) : ETP_OK;
}

static etp_status append_block(etp_run_writer *w, etp_arena *scratch, const etp_run_sample *samples,
                               size_t n_samples, const etp_run_launch *launches, size_t n_launches,
                               const etp_str *environment, size_t n_environment, etp_error *err)
{
    etp_strbuf rows, lines;
    etp_strbuf_init(&rows, scratch);
    etp_strbuf_init(&lines, scratch);
    etp_sink sink = etp_sink_strbuf(&rows);
    for (size_t i = 0; i < n_samples; i++) {
        const etp_run_sample *s = &samples[i];
        const etp_run_arm *arm = &w->run->arms.items[s->arm];
        etp_csv_cell(&sink, arm->name, ',');
        etp_sink_printf(&sink, ",%u,%u,%u,%s,%llu,%llu", s->block, s->launch, s->iteration,
                        etp_phase_name(s->phase), (unsigned long long)s->start_ns,
                        (unsigned long long)s->duration_ns);
        if (!w->without_level) {
            etp_sink_char(&sink, ',');
            etp_csv_cell(&sink, etp_run_level_cell(arm), ',');
        }
        etp_sink_char(&sink, '\n');
    }
    sink = etp_sink_strbuf(&lines);
    for (size_t i = 0; i < n_environment; i++) {
        etp_sink_write(&sink, environment[i]);
        etp_sink_char(&sink, '\n');
    }
    for (size_t i = 0; i < n_launches; i++) {
        etp_run_launch_write(&sink, w->run, &launches[i]);
    }
    ETP_TRY(etp_arena_check(scratch, err, "the run folder"));
    ETP_TRY(append(w, ETP_RUN_SAMPLES, &rows, err));
    ETP_TRY(append(w, ETP_RUN_ENVIRONMENT, &lines, err));
    grow(&w->samples, etp_strbuf_str(&rows));
    grow(&w->environment, etp_strbuf_str(&lines));
    note_tails(w);
    return record(w, err);
}

static etp_status commit(etp_run_writer *w, uint32_t blocks, const etp_run_sample *samples,
                         size_t n_samples, const etp_run_launch *launches, size_t n_launches,
                         const etp_str *environment, size_t n_environment, etp_error *err)
{
    const etp_run_writer before = *w;
    etp_arena scratch = {0};
    etp_status status = append_block(w, &scratch, samples, n_samples, launches, n_launches,
                                     environment, n_environment, err);
    etp_arena_dispose(&scratch);
    if (status == ETP_OK) {
        w->run->blocks_done += blocks;
        status = write_manifest(w, err);
        w->run->blocks_done -= status != ETP_OK ? blocks : 0;
    }
    if (status != ETP_OK) {
        // Readers would leave the rows out, but a later commit must not repeat them.
        w->samples = before.samples;
        w->environment = before.environment;
        note_tails(w);
        bool done =
            etp_os_truncate_below(w->dir, ETP_RUN_SAMPLES, w->samples.bytes, NULL) == ETP_OK &&
            etp_os_truncate_below(w->dir, ETP_RUN_ENVIRONMENT, w->environment.bytes, NULL) ==
                ETP_OK;
        (void)done; // the disk fails us already; the manifest protects the readers
    }
    return status;
}

etp_status etp_run_commit(etp_run_writer *w, const etp_run_sample *samples, size_t n_samples,
                          const etp_run_launch *launches, size_t n_launches,
                          const etp_str *environment, size_t n_environment, etp_error *err)
{
    return commit(w, 1, samples, n_samples, launches, n_launches, environment, n_environment, err);
}

etp_status etp_run_commit_more(etp_run_writer *w, const etp_run_sample *samples, size_t n_samples,
                               const etp_run_launch *launches, size_t n_launches, etp_error *err)
{
    return commit(w, 0, samples, n_samples, launches, n_launches, NULL, 0, err);
}

etp_status etp_run_keep_roofs(etp_run_writer *w, etp_str document, etp_error *err)
{
    return etp_os_write_below(w->dir, ETP_RUN_ROOFS, document, err);
}

// ---- finishing ----

etp_status etp_run_finish(etp_run_writer *w, etp_run_state state, etp_error *err)
{
    ETP_TRY(record(w, err));
    // results[] is made from what was written, not from what we remember having written.
    etp_arena scratch = {0};
    etp_run back;
    etp_status status = etp_run_open(w->dir, &scratch, &back, err);
    if (status == ETP_OK) {
        w->run->state = state;
        etp_run *ours = w->run, with_rows = *ours;
        with_rows.samples.items = back.samples.items;
        with_rows.samples.n = back.samples.n;
        with_rows.dumps.items = back.dumps.items;
        with_rows.dumps.n = back.dumps.n;
        w->run = &with_rows;
        status = write_manifest(w, err);
        w->run = ours;
    }
    etp_arena_dispose(&scratch);
    return status;
}
