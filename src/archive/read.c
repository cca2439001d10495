// SPDX-License-Identifier: Apache-2.0
// Questions to the store. What comes out is data of a file: texts are taken as they are, numbers
// that are none are unknown.
#include <math.h>

#include "archive/internal.h"
#include "base/guard.h"
#include "base/json_read.h"

#define MAX_BLOCKS 1000000

typedef struct question {
    const etp_archive *a;
    sqlite3_stmt *s;
    etp_arena *arena;
    int code;      // of SQLite
    etp_status st; // of what is in a row
    etp_error *err;
} question;

// Adds what a row says to OUT.
typedef void take_row(question *q, void *out);

static etp_status take_rows(question *q, take_row *take, void *out)
{
    while (q->st == ETP_OK && (q->code = sqlite3_step(q->s)) == SQLITE_ROW) {
        take(q, out);
    }
    return q->st;
}

// With a guard of its own, since its caller holds the statement.
static etp_status guarded_rows(question *q, take_row *take, void *out)
{
    ETP_GUARDED(q->arena, q->err, "the store of sessions", take_rows(q, take, out));
}

// A value of NULL is SQL's, for which the conditions of a question say "any".
static etp_status ask(const etp_archive *a, const char *sql, const char *const *values, int n,
                      etp_arena *arena, take_row *take, void *out, etp_error *err)
{
    question q = {.a = a, .arena = arena, .err = err};
    q.code = sqlite3_prepare_v2(a->db, sql, -1, &q.s, NULL);
    for (int i = 0; q.code == SQLITE_OK && i < n; i++) {
        q.code = sqlite3_bind_text(q.s, i + 1, values[i], -1, SQLITE_STATIC);
    }
    etp_status st = q.code == SQLITE_OK ? guarded_rows(&q, take, out) : ETP_OK;
    // The first error is the one to tell; the statement is given back in any case.
    st = st == ETP_OK ? etp_archive_fail(a, q.code, err) : st;
    (void)sqlite3_finalize(q.s);
    return st;
}

// Copied, since SQLite's own goes with the next step.
static etp_str text(question *q, int column)
{
    const unsigned char *at = sqlite3_column_text(q->s, column);
    int n = sqlite3_column_bytes(q->s, column);
    if (!at || n <= 0) {
        return (etp_str){0};
    }
    return (etp_str){etp_arena_strdup(q->arena, (etp_str){(const char *)at, (size_t)n}), (size_t)n};
}

static double real(question *q, int column)
{
    return sqlite3_column_type(q->s, column) == SQLITE_NULL ? (double)NAN
                                                            : sqlite3_column_double(q->s, column);
}

// Counts are never negative: what a damaged file has instead reads as 0.
static uint64_t whole(question *q, int column)
{
    int64_t v = sqlite3_column_int64(q->s, column);
    return v > 0 ? (uint64_t)v : 0;
}

static uint32_t number(question *q, int column)
{
    uint64_t v = whole(q, column);
    return v <= UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}

static void take_line(question *q, void *out)
{
    etp_archive_line x = {.run_id = text(q, 0),
                          .folder = text(q, 1),
                          .generated_at = text(q, 2),
                          .device = text(q, 3),
                          .cpu = text(q, 4),
                          .models = text(q, 5),
                          .grade = text(q, 6),
                          .emulated = whole(q, 7) != 0,
                          .arms = whole(q, 8),
                          .blocks = whole(q, 9),
                          .candidate = text(q, 10),
                          .withheld = text(q, 11),
                          .estimate = real(q, 12),
                          .lo = real(q, 13),
                          .hi = real(q, 14)};
    etp_archive_list *list = out;
    ETP_ADD(q->arena, list, x);
}

etp_status etp_archive_sessions(etp_archive *a, const etp_archive_filter *filter, etp_arena *arena,
                                etp_archive_list *out, etp_error *err)
{
    const char *values[] = {filter->model, filter->device, filter->since};
    *out = (etp_archive_list){0};
    // In the order of the index, so that nothing is sorted.
    return ask(
        a,
        "SELECT s.run_id, s.folder, s.generated_at, s.device, s.cpu, s.models, s.grade, s.emulated,"
        " s.arms, s.blocks, s.candidate, s.withheld, s.estimate, s.lo, s.hi FROM sessions s"
        " WHERE (?1 IS NULL OR EXISTS (SELECT 1 FROM arms m WHERE m.session = s.id AND"
        " m.model = ?1)) AND (?2 IS NULL OR s.device = ?2 OR s.cpu = ?2)"
        " AND (?3 IS NULL OR s.generated_at >= ?3) ORDER BY s.generated_at DESC, s.folder DESC",
        values, 3, arena, take_line, out, err);
}

static void take_point(question *q, void *out)
{
    etp_archive_point x = {.run_id = text(q, 0),
                           .folder = text(q, 1),
                           .generated_at = text(q, 2),
                           .device = text(q, 3),
                           .cpu = text(q, 4),
                           .programs = text(q, 5),
                           .runner_sha256 = text(q, 6),
                           .executorch = text(q, 7),
                           .etprof = text(q, 8),
                           .phase = text(q, 9),
                           .experiment = text(q, 10),
                           .model = text(q, 11),
                           .threads = whole(q, 12),
                           .median_ns = real(q, 13),
                           .tokens_per_s = real(q, 14),
                           .compared = whole(q, 15) != 0,
                           .estimate = real(q, 16)};
    etp_archive_trend *trend = out;
    ETP_ADD(q->arena, trend, x);
}

etp_status etp_archive_points(etp_archive *a, const etp_archive_filter *filter, etp_arena *arena,
                              etp_archive_trend *out, etp_error *err)
{
    const char *values[] = {filter->model, filter->device, filter->since};
    *out = (etp_archive_trend){0};
    return ask(
        a,
        "SELECT s.run_id, s.folder, s.generated_at, s.device, s.cpu, s.programs, s.runner_sha256,"
        " s.executorch, s.etprof, r.phase, r.experiment, r.model, r.threads, r.median_ns,"
        " r.tokens_per_s,"
        " c.candidate IS NOT NULL, CASE WHEN c.withheld IS NULL THEN c.estimate END FROM arms r"
        " JOIN sessions s ON s.id = r.session"
        " LEFT JOIN comparisons c ON c.session = r.session AND c.candidate = r.arm"
        " WHERE NOT s.emulated AND (?1 IS NULL OR r.model = ?1)"
        " AND (?2 IS NULL OR s.device = ?2 OR s.cpu = ?2)"
        " AND (?3 IS NULL OR s.generated_at >= ?3) ORDER BY s.generated_at, s.folder, r.arm",
        values, 3, arena, take_point, out, err);
}

// ---- an entry ----

static etp_status take_values(const json_t *json, etp_arena *arena, etp_archive_arm *arm)
{
    size_t n = json_array_size(json);
    // A list that is longer than a session can have is passed over, its arm is not.
    arm->n_blocks = n < MAX_BLOCKS ? n : 0;
    double *values = ETP_NEW_ARRAY(arena, double, arm->n_blocks);
    for (size_t i = 0; i < arm->n_blocks; i++) {
        const json_t *v = json_array_get(json, i);
        values[i] = json_is_number(v) ? json_number_value(v) : (double)NAN;
    }
    arm->block_ns = values;
    return ETP_OK;
}

// With a guard of its own, since its caller holds the JSON.
static etp_status guarded_values(const json_t *json, etp_arena *arena, etp_archive_arm *arm,
                                 etp_error *err)
{
    ETP_GUARDED(arena, err, "blocks", take_values(json, arena, arm));
}

static void read_blocks(question *q, int column, etp_archive_arm *arm)
{
    etp_str list = text(q, column);
    json_t *json = NULL;
    etp_json_fault fault;
    if (list.len == 0) {
        return;
    }
    if (etp_json_parse(list, &json, &fault, q->err) != ETP_OK) {
        q->st = etp_fail_ctx(q->err, "%s: block_ns of an arm", q->a->path);
        return;
    }
    q->st = guarded_values(json, q->arena, arm, q->err);
    json_decref(json);
}

static void take_head(question *q, void *out)
{
    *(etp_archive_session *)out = (etp_archive_session){.run_id = text(q, 0),
                                                        .folder = text(q, 1),
                                                        .generated_at = text(q, 2),
                                                        .platform = text(q, 3),
                                                        .device = text(q, 4),
                                                        .cpu = text(q, 5),
                                                        .emulated = whole(q, 6) != 0,
                                                        .models = text(q, 7),
                                                        .programs = text(q, 8),
                                                        .runner_sha256 = text(q, 9),
                                                        .executorch = text(q, 10),
                                                        .etprof = text(q, 11),
                                                        .blocks = whole(q, 12),
                                                        .grade = text(q, 13),
                                                        .command = text(q, 14),
                                                        .config = text(q, 15)};
}

// Columns are taken by their place in the SELECT.
static void take_arm(question *q, void *out)
{
    etp_archive_session *session = out;
    etp_archive_arm x = {.phase = text(q, 0),
                         .experiment = text(q, 1),
                         .level = text(q, 2),
                         .threads = whole(q, 3),
                         .model = text(q, 4),
                         .model_sha256 = text(q, 5),
                         .baseline = whole(q, 6) != 0,
                         .median_ns = real(q, 7),
                         .lo_ns = real(q, 8),
                         .hi_ns = real(q, 9),
                         .traced_ns = real(q, 10),
                         .load_ns = real(q, 11),
                         .first_ns = real(q, 12),
                         .peak_rss_bytes = real(q, 13),
                         .tokens_per_s = real(q, 14),
                         .launches = whole(q, 15),
                         .samples = whole(q, 16),
                         .proof = text(q, 17)};
    read_blocks(q, 18, &x);
    ETP_ADD(q->arena, &session->arms, x);
}

static void take_comparison(question *q, void *out)
{
    etp_archive_session *session = out;
    etp_archive_comparison x = {.candidate = number(q, 0),
                                .baseline = number(q, 1),
                                .phase = text(q, 2),
                                .estimate = real(q, 3),
                                .lo = real(q, 4),
                                .hi = real(q, 5),
                                .blocks = whole(q, 6),
                                .verdict = text(q, 7),
                                .withheld = text(q, 8),
                                .margin = real(q, 9),
                                .noise_floor = real(q, 10),
                                .sign_flip_p = real(q, 11)};
    ETP_ADD(q->arena, &session->comparisons, x);
}

static void take_operator(question *q, void *out)
{
    etp_archive_session *session = out;
    etp_archive_operator x = {.arm = number(q, 0),
                              .id = text(q, 1),
                              .label = text(q, 2),
                              .category = text(q, 3),
                              .names = text(q, 4),
                              .engaged = text(q, 5),
                              .delegated = whole(q, 6) != 0,
                              .ns = real(q, 7),
                              .macs = real(q, 8)};
    ETP_ADD(q->arena, &session->operators, x);
}

// What an entry is read with: its session, of which there is one, then the rest.
static const struct {
    const char *sql;
    take_row *take;
} k_parts[] = {
    {"SELECT run_id, folder, generated_at, platform, device, cpu, emulated, models, programs,"
     " runner_sha256, executorch, etprof, blocks, grade, command, config"
     " FROM sessions WHERE run_id = ?1",                                    take_head      },
    {"SELECT phase, experiment, level, threads, model, model_sha256, baseline, median_ns,"
     " lo_ns, hi_ns, traced_ns, load_ns, first_ns, peak_rss_bytes, tokens_per_s,"
     " launches, samples, proof, block_ns FROM arms WHERE session ="
     " (SELECT id FROM sessions WHERE run_id = ?1) ORDER BY arm",           take_arm       },
    {"SELECT candidate, baseline, phase, estimate, lo, hi, blocks, verdict, withheld,"
     " margin, noise_floor, sign_flip_p FROM comparisons WHERE session ="
     " (SELECT id FROM sessions WHERE run_id = ?1) ORDER BY candidate",     take_comparison},
    {"SELECT arm, id, label, category, names, engaged, delegated, ns, macs"
     " FROM operators WHERE session ="
     " (SELECT id FROM sessions WHERE run_id = ?1) ORDER BY arm, operator", take_operator  },
};

etp_status etp_archive_get(etp_archive *a, const char *run_id, etp_arena *arena,
                           etp_archive_session *out, bool *out_found, etp_error *err)
{
    *out = (etp_archive_session){0};
    // One moment of the file, beside writers.
    ETP_TRY(etp_archive_run(a, "BEGIN", err));
    etp_status st = ETP_OK;
    for (size_t i = 0; st == ETP_OK && i < sizeof k_parts / sizeof *k_parts; i++) {
        st = ask(a, k_parts[i].sql, &run_id, 1, arena, k_parts[i].take, out, err);
    }
    *out_found = out->run_id.len > 0;
    return etp_archive_end(a, st, err);
}
