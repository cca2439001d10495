// SPDX-License-Identifier: Apache-2.0
// A scratch folder for tests that write files, and reading them back.
#ifndef ETP_TESTS_ANSWER_FOLDER_H
#define ETP_TESTS_ANSWER_FOLDER_H

#include <jansson.h>
#include <unistd.h>

#include "base/csv.h"
#include "kit/files.h"
#include "os/os.h"
#include "unit.h"

#define ERROR_NONE {.offset = ETP_NO_OFFSET}

typedef struct folder {
    etp_arena arena;
    const char *path;
    etp_ab_session *session; // of what is in it, NULL none
} folder;

static inline void folder_make(folder *f)
{
    etp_error err = ERROR_NONE;
    *f = (folder){0};
    // Run folders are written with fsync, which a busy disk takes a second for: in memory where
    // possible.
    if (access("/dev/shm", W_OK) == 0 &&
        etp_os_temp_dir("/dev/shm", "etprof-test", &f->arena, &f->path, NULL) == ETP_OK) {
        return;
    }
    ASSERT_OK(etp_os_temp_dir("/tmp", "etprof-test", &f->arena, &f->path, &err), err);
}

static inline void folder_remove(folder *f)
{
    etp_ab_close(f->session);
    assert_int_equal(etp_os_remove_tree(f->path, NULL), ETP_OK);
    etp_arena_dispose(&f->arena);
}

static inline int folder_begin(void **state)
{
    static folder f;
    folder_make(&f);
    *state = &f;
    return 0;
}

static inline int folder_end(void **state)
{
    folder_remove(*state);
    return 0;
}

// A test's state is an empty folder.
#define SET_UP folder_begin
#define TEAR_DOWN folder_end

static inline const char *folder_path(folder *f, const char *name)
{
    const char *path = etp_arena_printf(&f->arena, "%s/%s", f->path, name);
    assert_non_null(path);
    return path;
}

static inline etp_str folder_read(folder *f, const char *name)
{
    etp_error err = ERROR_NONE;
    etp_str text = {0};
    ASSERT_OK(etp_os_read_text(folder_path(f, name), (size_t)1 << 28, &f->arena, &text, &err), err);
    return text;
}

static inline json_t *folder_json(folder *f, const char *name)
{
    etp_str text = folder_read(f, name);
    json_error_t why;
    json_t *json = json_loadb(text.ptr, text.len, JSON_REJECT_DUPLICATES, &why);
    if (!json) {
        fail_msg("%s: %s at %d:%d", name, why.text, why.line, why.column);
    }
    return json;
}

static inline void folder_copy(folder *f, const char *from, const char *name)
{
    etp_error err = ERROR_NONE;
    etp_str text;
    if (etp_os_read_text(from, (size_t)1 << 28, &f->arena, &text, &err) != ETP_OK ||
        etp_os_write_atomic(folder_path(f, name), text, &err) != ETP_OK) {
        fail_msg("%s", err.msg);
    }
}

typedef struct table {
    etp_csv_row header;
    struct {
        etp_csv_row *items;
        size_t n, cap;
    } rows;
} table;

// Every row has as many cells as the header.
static inline table folder_csv(folder *f, const char *name)
{
    table t = {0};
    bool more = false;
    etp_csv_reader r;
    etp_csv_open(&r, folder_read(f, name), &f->arena);
    assert_int_equal(etp_csv_next(&r, &t.header, &more, NULL), ETP_OK);
    assert_true(more);
    for (;;) {
        etp_csv_row row = {0};
        assert_int_equal(etp_csv_next(&r, &row, &more, NULL), ETP_OK);
        if (!more) {
            return t;
        }
        assert_int_equal(row.n, t.header.n);
        assert_true(ETP_PUSH(&f->arena, &t.rows, row));
    }
}

static inline etp_str cell(const table *t, size_t row, const char *column)
{
    int at = etp_csv_column(&t->header, column);
    if (at < 0 || row >= t->rows.n) {
        fail_msg("no cell %s in row %zu of %zu", column, row, t->rows.n);
    }
    return t->rows.items[row].cells[at];
}

// Opens PATHS, writes their files into OUT.
static inline void write_kit_files_of(const char *const *paths, size_t n,
                                      const etp_ab_options *options, const char *out)
{
    etp_error err = ERROR_NONE;
    etp_ab_session *session = NULL;
    if (etp_ab_open(paths, n, options, &session, &err) != ETP_OK ||
        etp_kit_write_files(session, out, NULL, &err) != ETP_OK) {
        fail_msg("%s", err.msg);
    }
    etp_ab_close(session);
}

static inline void write_kit_files(const char *const *paths, size_t n, const char *out)
{
    const etp_ab_options options = {0};
    write_kit_files_of(paths, n, &options, out);
}

#endif
