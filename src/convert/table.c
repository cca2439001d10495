// SPDX-License-Identifier: Apache-2.0
// The three tables: how the rows of run folders fill them, one folder after the other.
#include "convert/table.h"

#include <stdio.h>

#include "base/path.h"
#include "convert/table_rows.h"

static const etp_table_rows *const k_rows[ETP_RUN_TABLES] = {
    [ETP_RUN_TABLE_OPERATORS] = &k_etp_operator_rows,
    [ETP_RUN_TABLE_SAMPLES] = &k_etp_sample_rows,
    [ETP_RUN_TABLE_LAUNCHES] = &k_etp_launch_rows,
};

struct etp_run_table_source {
    etp_arena arena; // owns this struct too
    etp_run_table table;
    const char **folders;
    size_t n_folders, next;
    etp_table_analyse *analyse;
    bool open; // folder next − 1
    etp_table_folder folder;
};

etp_status etp_run_table_open(etp_run_table t, const char *const *folders, size_t n_folders,
                              etp_table_analyse *analyse, etp_run_table_source **out,
                              etp_error *err)
{
    *out = NULL;
    etp_arena arena = {0};
    etp_run_table_source *s = ETP_NEW(&arena, etp_run_table_source);
    const char **names = ETP_NEW_ARRAY(&arena, const char *, n_folders);
    bool ok = s && names;
    for (size_t i = 0; ok && i < n_folders; i++) {
        // Slashes at the end go, because the name is a column: one folder is one text in it.
        names[i] = etp_arena_strdup(&arena, etp_path_trimmed(etp_str_from(folders[i])));
        ok = names[i] != NULL;
    }
    if (!ok) {
        etp_arena_dispose(&arena);
        return etp_fail_nomem(err, "folders");
    }
    *s = (etp_run_table_source){
        .arena = arena, .table = t, .folders = names, .n_folders = n_folders, .analyse = analyse};
    *out = s;
    return ETP_OK;
}

static void close_folder(etp_run_table_source *s)
{
    if (s->open) {
        k_rows[s->table]->close(&s->folder);
        etp_arena_dispose(&s->folder.arena);
        s->open = false;
    }
}

void etp_run_table_close(etp_run_table_source *source)
{
    if (source) {
        close_folder(source);
        etp_arena arena = source->arena; // it goes with its owner
        etp_arena_dispose(&arena);
    }
}

bool etp_table_utc(etp_str s, int64_t *out)
{
    int y, mo, d, h, mi, sec, end = 0;
    char text[21];
    if (s.len != 20) {
        return false;
    }
    memcpy(text, s.ptr, 20);
    text[20] = '\0';
    if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2dZ%n", &y, &mo, &d, &h, &mi, &sec, &end) != 6 ||
        end != 20 || y < 1970 || mo < 1 || mo > 12 || d < 1 || d > 31 || h < 0 || h > 23 ||
        mi < 0 || mi > 59 || sec < 0 || sec > 60) {
        return false;
    }
    // Days of the civil calendar, with years that begin in March so that the leap day is a year's
    // last.
    int64_t year = mo <= 2 ? y - 1 : y, from_march = (mo + 9) % 12;
    int64_t days = year * 365 + year / 4 - year / 100 + year / 400 + (153 * from_march + 2) / 5 +
                   d - 1 - 719468;
    *out = (((days * 24 + h) * 60 + mi) * 60 + sec) * 1000000;
    return true;
}

static etp_status open_folder(etp_run_table_source *s, etp_error *err)
{
    const char *dir = s->folders[s->next++];
    s->folder = (etp_table_folder){.analyse = s->analyse};
    // Before anything of it can fail: close_folder has to undo whatever was done.
    s->open = true;
    etp_table_folder *f = &s->folder;
    ETP_TRY(etp_run_expect(dir, err));
    ETP_TRY(etp_run_open_manifest(dir, &f->arena, &f->run, err));
    const char *manifest = etp_run_path(&f->arena, dir, ETP_STR(ETP_RUN_MANIFEST));
    // A run is known by its manifest, wherever its folder is moved to.
    ETP_TRY(manifest ? etp_os_hash_file(manifest, f->id, NULL, err) : etp_fail_nomem(err, dir));
    f->timed = etp_table_utc(f->run.generated_at, &f->generated_us);
    f->cpu = etp_run_fact_of(&f->run, "cpu");
    return k_rows[s->table]->open(f, err);
}

etp_status etp_run_table_next(etp_run_table_source *s, etp_batch *batch, etp_error *err)
{
    const etp_table_rows *rows = k_rows[s->table];
    while (!etp_batch_full(batch) && (s->open || s->next < s->n_folders)) {
        bool more = true;
        if (!s->open) {
            ETP_TRY(open_folder(s, err));
        }
        ETP_TRY(rows->next(&s->folder, batch, &more, err));
        if (!more) {
            close_folder(s);
        }
    }
    return ETP_OK;
}
