// SPDX-License-Identifier: Apache-2.0
// Entering a session: one transaction over the four tables.
#include <math.h>

#include <etprof/version.h>

#include "archive/internal.h"
#include "base/json.h"

typedef struct binder { // values of one statement, in the order of its columns
    const etp_archive *a;
    sqlite3_stmt *s;
    int at, code;
} binder;

static void keep(binder *b, int code)
{
    b->code = b->code == SQLITE_OK ? code : b->code;
}

// STATIC: texts outlive the statement, so that SQLite makes no copies.
static void text(binder *b, etp_str s)
{
    b->at++;
    keep(b, s.len == 0
                ? sqlite3_bind_null(b->s, b->at)
                : sqlite3_bind_text64(b->s, b->at, s.ptr, s.len, SQLITE_STATIC, SQLITE_UTF8));
}

// For columns that are NOT NULL.
static void full(binder *b, etp_str s) // an empty one is kept as such
{
    b->at++;
    keep(b,
         sqlite3_bind_text64(b->s, b->at, s.ptr ? s.ptr : "", s.len, SQLITE_STATIC, SQLITE_UTF8));
}

static void real(binder *b, double v)
{
    b->at++;
    keep(b, isfinite(v) ? sqlite3_bind_double(b->s, b->at, v) : sqlite3_bind_null(b->s, b->at));
}

static void whole(binder *b, uint64_t v)
{
    b->at++;
    keep(b, v <= INT64_MAX ? sqlite3_bind_int64(b->s, b->at, (int64_t)v)
                           : sqlite3_bind_null(b->s, b->at));
}

static etp_status begin(const etp_archive *a, const char *sql, binder *out, etp_error *err)
{
    *out = (binder){.a = a};
    out->code = sqlite3_prepare_v2(a->db, sql, -1, &out->s, NULL);
    return etp_archive_fail(a, out->code, err);
}

// Runs the statement with what was bound, and makes it ready for the next row.
static etp_status row(binder *b, etp_error *err)
{
    int code = b->code == SQLITE_OK ? sqlite3_step(b->s) : b->code;
    etp_status st = etp_archive_fail(b->a, code, err);
    (void)sqlite3_reset(b->s);
    b->at = 0;
    b->code = SQLITE_OK;
    return st;
}

static etp_status one(const etp_archive *a, const char *sql, int64_t id, etp_str word,
                      etp_error *err)
{
    binder b;
    ETP_TRY(begin(a, sql, &b, err));
    if (word.ptr) {
        full(&b, word);
    }
    whole(&b, (uint64_t)id);
    etp_status st = row(&b, err);
    (void)sqlite3_finalize(b.s);
    return st;
}

// By hand, since SQLite follows foreign keys only where a connection asks for it.
static etp_status forget(const etp_archive *a, int64_t id, etp_error *err)
{
    static const char *const k_tables[] = {
        "DELETE FROM operators WHERE session = ?1", "DELETE FROM comparisons WHERE session = ?1",
        "DELETE FROM arms WHERE session = ?1", "DELETE FROM sessions WHERE id = ?1"};
    for (size_t i = 0; i < sizeof k_tables / sizeof *k_tables; i++) {
        ETP_TRY(one(a, k_tables[i], id, (etp_str){0}, err));
    }
    return ETP_OK;
}

// 0: none. SQL has three values, all of which it names.
static etp_status find(const etp_archive *a, const char *sql, const etp_archive_session *s,
                       int64_t *id, bool *moved, etp_error *err)
{
    binder b;
    ETP_TRY(begin(a, sql, &b, err));
    full(&b, s->run_id);
    full(&b, s->folder);
    full(&b, s->generated_at);
    int code = b.code == SQLITE_OK ? sqlite3_step(b.s) : b.code;
    *id = code == SQLITE_ROW ? sqlite3_column_int64(b.s, 0) : 0;
    *moved = code == SQLITE_ROW && sqlite3_column_int(b.s, 1) != 0;
    etp_status st = etp_archive_fail(a, code, err);
    (void)sqlite3_finalize(b.s);
    return st;
}

// A run is known by its manifest. Where its folder was moved, the entry follows.
static etp_status recognise(const etp_archive *a, const etp_archive_session *s, int64_t *out_id,
                            etp_error *err)
{
    bool moved;
    ETP_TRY(find(a, "SELECT id, folder <> ?2, ?3 FROM sessions WHERE run_id = ?1", s, out_id,
                 &moved, err));
    return *out_id && moved
               ? one(a, "UPDATE sessions SET folder = ?1 WHERE id = ?2", *out_id, s->folder, err)
               : ETP_OK;
}

etp_status etp_archive_knows(etp_archive *a, const char *run_id, const char *folder, bool *out,
                             etp_error *err)
{
    const etp_archive_session s = {.run_id = etp_str_from(run_id), .folder = etp_str_from(folder)};
    int64_t id = 0;
    etp_status st = recognise(a, &s, &id, err);
    *out = st == ETP_OK && id != 0;
    return st;
}

// The first comparison stands beside the session once more, for the list (schema.c).
static etp_status put_head(const etp_archive *a, const etp_archive_session *s, etp_error *err)
{
    binder b;
    const etp_archive_comparison none = {
        .estimate = (double)NAN, .lo = (double)NAN, .hi = (double)NAN};
    const etp_archive_comparison *c = s->comparisons.n ? s->comparisons.items : &none;
    bool named = s->comparisons.n && c->candidate < s->arms.n;
    ETP_TRY(begin(a,
                  "INSERT INTO sessions (run_id, folder, generated_at, platform, device, cpu,"
                  " emulated, models, programs, runner_sha256, executorch, etprof, blocks, arms,"
                  " grade, command, config, entered_by, candidate, withheld, estimate, lo, hi)"
                  " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                  &b, err));
    full(&b, s->run_id);
    full(&b, s->folder);
    full(&b, s->generated_at);
    text(&b, s->platform);
    text(&b, s->device);
    text(&b, s->cpu);
    whole(&b, s->emulated);
    text(&b, s->models);
    text(&b, s->programs);
    text(&b, s->runner_sha256);
    text(&b, s->executorch);
    text(&b, s->etprof);
    whole(&b, s->blocks);
    whole(&b, s->arms.n);
    text(&b, s->grade);
    text(&b, s->command);
    text(&b, s->config);
    full(&b, ETP_STR(ETP_VERSION));
    text(&b, named ? s->arms.items[c->candidate].experiment : (etp_str){0});
    text(&b, c->withheld);
    real(&b, c->estimate);
    real(&b, c->lo);
    real(&b, c->hi);
    etp_status st = row(&b, err);
    (void)sqlite3_finalize(b.s);
    return st;
}

// "[1234.5,null]", which json_each of SQLite and everybody's JSON reads.
// One text, not a table of its own: blocks are read with their arm.
static etp_status block_list(const etp_archive_arm *arm, etp_arena *arena, etp_str *out,
                             etp_error *err)
{
    etp_strbuf list;
    etp_strbuf_init(&list, arena);
    etp_sink sink = etp_sink_strbuf(&list);
    etp_json j;
    etp_json_init(&j, &sink, false);
    etp_json_begin_array_inline(&j);
    for (size_t i = 0; i < arm->n_blocks; i++) {
        if (isfinite(arm->block_ns[i])) {
            etp_json_double(&j, arm->block_ns[i]);
        } else {
            etp_json_null(&j);
        }
    }
    etp_json_end(&j);
    ETP_NEED(!list.failed, err, "blocks");
    *out = etp_strbuf_str(&list);
    return ETP_OK;
}

static etp_status put_arm(binder *b, int64_t id, size_t at, const etp_archive_arm *arm,
                          etp_arena *arena, etp_error *err)
{
    etp_str blocks = {0};
    if (arm->n_blocks) {
        ETP_TRY(block_list(arm, arena, &blocks, err));
    }
    whole(b, (uint64_t)id);
    whole(b, at);
    text(b, arm->phase);
    full(b, arm->experiment);
    text(b, arm->level);
    whole(b, arm->threads);
    text(b, arm->model);
    text(b, arm->model_sha256);
    whole(b, arm->baseline);
    real(b, arm->median_ns);
    real(b, arm->lo_ns);
    real(b, arm->hi_ns);
    real(b, arm->traced_ns);
    real(b, arm->load_ns);
    real(b, arm->first_ns);
    real(b, arm->peak_rss_bytes);
    real(b, arm->tokens_per_s);
    whole(b, arm->launches);
    whole(b, arm->samples);
    text(b, arm->proof);
    text(b, blocks);
    return row(b, err);
}

// Without a list of columns: values are bound in the order in which schema.c makes them, here and
// in the next two.
static etp_status put_arms(const etp_archive *a, int64_t id, const etp_archive_session *s,
                           etp_error *err)
{
    binder b;
    etp_arena arena = {0};
    etp_status st = begin(
        a,
        "INSERT INTO arms VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        &b, err);
    for (size_t i = 0; st == ETP_OK && i < s->arms.n; i++) {
        st = put_arm(&b, id, i, &s->arms.items[i], &arena, err);
    }
    (void)sqlite3_finalize(b.s);
    etp_arena_dispose(&arena);
    return st;
}

static etp_status put_comparisons(const etp_archive *a, int64_t id, const etp_archive_session *s,
                                  etp_error *err)
{
    binder b;
    etp_status st =
        begin(a, "INSERT INTO comparisons VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", &b, err);
    for (size_t i = 0; st == ETP_OK && i < s->comparisons.n; i++) {
        const etp_archive_comparison *c = &s->comparisons.items[i];
        whole(&b, (uint64_t)id);
        whole(&b, c->candidate);
        whole(&b, c->baseline);
        text(&b, c->phase);
        real(&b, c->estimate);
        real(&b, c->lo);
        real(&b, c->hi);
        whole(&b, c->blocks);
        text(&b, c->verdict);
        text(&b, c->withheld);
        real(&b, c->margin);
        real(&b, c->noise_floor);
        real(&b, c->sign_flip_p);
        st = row(&b, err);
    }
    (void)sqlite3_finalize(b.s);
    return st;
}

static etp_status put_operators(const etp_archive *a, int64_t id, const etp_archive_session *s,
                                etp_error *err)
{
    binder b;
    etp_status st =
        begin(a, "INSERT INTO operators VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", &b, err);
    for (size_t i = 0; st == ETP_OK && i < s->operators.n; i++) {
        const etp_archive_operator *o = &s->operators.items[i];
        whole(&b, (uint64_t)id);
        whole(&b, o->arm);
        whole(&b, i);
        full(&b, o->id);
        text(&b, o->label);
        text(&b, o->category);
        whole(&b, o->delegated);
        text(&b, o->names);
        real(&b, o->ns);
        real(&b, o->macs);
        text(&b, o->engaged);
        st = row(&b, err);
    }
    (void)sqlite3_finalize(b.s);
    return st;
}

static etp_status enter(const etp_archive *a, const etp_archive_session *s, bool again,
                        etp_archive_added *out, etp_error *err)
{
    int64_t known, before;
    bool moved;
    ETP_TRY(recognise(a, s, &known, err));
    *out = known ? ETP_ARCHIVE_KNOWN : ETP_ARCHIVE_NEW;
    if (known && !again) {
        return ETP_OK;
    }
    if (known) {
        *out = ETP_ARCHIVE_RENEWED;
        ETP_TRY(forget(a, known, err));
    }
    // The same folder and the same beginning with another manifest: the session went on after it
    // was entered (--resume, --extend).
    ETP_TRY(find(a,
                 "SELECT id, 0 FROM sessions WHERE folder = ?2 AND generated_at = ?3 AND"
                 " run_id <> ?1",
                 s, &before, &moved, err));
    if (before) {
        *out = ETP_ARCHIVE_RENEWED;
        ETP_TRY(forget(a, before, err));
    }
    ETP_TRY(put_head(a, s, err));
    int64_t id = sqlite3_last_insert_rowid(a->db);
    ETP_TRY(put_arms(a, id, s, err));
    ETP_TRY(put_comparisons(a, id, s, err));
    return put_operators(a, id, s, err);
}

// IMMEDIATE takes the writer's place at once: to look first and ask for it afterwards would fail
// when another process wrote in between.
etp_status etp_archive_put(etp_archive *a, const etp_archive_session *s, bool again,
                           etp_archive_added *out, etp_error *err)
{
    ETP_TRY(etp_archive_run(a, "BEGIN IMMEDIATE", err));
    return etp_archive_end(a, enter(a, s, again, out, err), err);
}
