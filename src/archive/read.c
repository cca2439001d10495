// SPDX-License-Identifier: Apache-2.0
// Questions to the store. What comes out is data of a file: texts are taken as they are, numbers
// that are none are unknown.
#include <math.h>

#include "archive/internal.h"
#include "base/json_read.h"

#define MAX_BLOCKS 1000000

typedef struct question {
    const etp_archive *a;
    sqlite3_stmt *s;
    etp_arena *arena;
    bool failed; // out of memory
} question;

// A value of NULL is SQL's, for which the conditions of a question say "any".
static etp_status ask(const etp_archive *a, const char *sql, const char *const *values, int n,
                      etp_arena *arena, question *out, etp_error *err)
{
    *out = (question){.a = a, .arena = arena};
    int code = sqlite3_prepare_v2(a->db, sql, -1, &out->s, NULL);
    for (int i = 0; code == SQLITE_OK && i < n; i++) {
        code = sqlite3_bind_text(out->s, i + 1, values[i], -1, SQLITE_STATIC);
    }
    return etp_archive_fail(a, code, err);
}

static etp_status done(question *q, int code, etp_error *err)
{
    etp_status st = etp_archive_fail(q->a, code, err);
    (void)sqlite3_finalize(q->s);
    return st == ETP_OK && q->failed ? etp_fail_nomem(err, "the store of sessions") : st;
}

// Copied, since SQLite's own goes with the next step.
static etp_str text(question *q, int column)
{
    const unsigned char *at = sqlite3_column_text(q->s, column);
    int n = sqlite3_column_bytes(q->s, column);
    if (!at || n <= 0) {
        return (etp_str){0};
    }
    etp_str out = {etp_arena_strdup(q->arena, (etp_str){(const char *)at, (size_t)n}), (size_t)n};
    q->failed = q->failed || !out.ptr;
    return out.ptr ? out : (etp_str){0};
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

etp_status etp_archive_sessions(etp_archive *a, const etp_archive_filter *filter, etp_arena *arena,
                                etp_archive_list *out, etp_error *err)
{
    const char *values[] = {filter->model, filter->device, filter->since};
    *out = (etp_archive_list){0};
    question q;
    // In the order of the index, so that nothing is sorted.
    etp_status st = ask(
        a,
        "SELECT s.run_id, s.folder, s.generated_at, s.device, s.cpu, s.models, s.grade, s.emulated,"
        " s.arms, s.blocks, s.candidate, s.withheld, s.estimate, s.lo, s.hi FROM sessions s"
        " WHERE (?1 IS NULL OR EXISTS (SELECT 1 FROM arms m WHERE m.session = s.id AND"
        " m.model = ?1)) AND (?2 IS NULL OR s.device = ?2 OR s.cpu = ?2)"
        " AND (?3 IS NULL OR s.generated_at >= ?3) ORDER BY s.generated_at DESC, s.folder DESC",
        values, 3, arena, &q, err);
    if (st != ETP_OK) {
        return st;
    }
    int code;
    while ((code = sqlite3_step(q.s)) == SQLITE_ROW && !q.failed) {
        etp_archive_line x = {.run_id = text(&q, 0),
                              .folder = text(&q, 1),
                              .generated_at = text(&q, 2),
                              .device = text(&q, 3),
                              .cpu = text(&q, 4),
                              .models = text(&q, 5),
                              .grade = text(&q, 6),
                              .emulated = whole(&q, 7) != 0,
                              .arms = whole(&q, 8),
                              .blocks = whole(&q, 9),
                              .candidate = text(&q, 10),
                              .withheld = text(&q, 11),
                              .estimate = real(&q, 12),
                              .lo = real(&q, 13),
                              .hi = real(&q, 14)};
        q.failed = q.failed || !ETP_PUSH(arena, out, x);
    }
    return done(&q, code, err);
}

etp_status etp_archive_points(etp_archive *a, const etp_archive_filter *filter, etp_arena *arena,
                              etp_archive_trend *out, etp_error *err)
{
    const char *values[] = {filter->model, filter->device, filter->since};
    *out = (etp_archive_trend){0};
    question q;
    etp_status st = ask(
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
        values, 3, arena, &q, err);
    if (st != ETP_OK) {
        return st;
    }
    int code;
    while ((code = sqlite3_step(q.s)) == SQLITE_ROW && !q.failed) {
        etp_archive_point x = {.run_id = text(&q, 0),
                               .folder = text(&q, 1),
                               .generated_at = text(&q, 2),
                               .device = text(&q, 3),
                               .cpu = text(&q, 4),
                               .programs = text(&q, 5),
                               .runner_sha256 = text(&q, 6),
                               .executorch = text(&q, 7),
                               .etprof = text(&q, 8),
                               .phase = text(&q, 9),
                               .experiment = text(&q, 10),
                               .model = text(&q, 11),
                               .threads = whole(&q, 12),
                               .median_ns = real(&q, 13),
                               .tokens_per_s = real(&q, 14),
                               .compared = whole(&q, 15) != 0,
                               .estimate = real(&q, 16)};
        q.failed = q.failed || !ETP_PUSH(arena, out, x);
    }
    return done(&q, code, err);
}

// A list that is longer than a session can have is passed over, its arm is not.
static etp_status read_blocks(question *q, int column, etp_archive_arm *arm, etp_error *err)
{
    etp_str list = text(q, column);
    if (list.len == 0) {
        return ETP_OK;
    }
    json_t *json = NULL;
    etp_json_fault fault;
    if (etp_json_parse(list, &json, &fault, err) != ETP_OK) {
        return etp_fail_ctx(err, "%s: block_ns of an arm", q->a->path);
    }
    size_t n = json_array_size(json);
    double *values = ETP_NEW_ARRAY(q->arena, double, n < MAX_BLOCKS ? n + 1 : 1);
    for (size_t i = 0; values && i < n && n < MAX_BLOCKS; i++) {
        const json_t *v = json_array_get(json, i);
        values[i] = json_is_number(v) ? json_number_value(v) : (double)NAN;
    }
    arm->block_ns = values;
    arm->n_blocks = values && n < MAX_BLOCKS ? n : 0;
    json_decref(json);
    return values ? ETP_OK : etp_fail_nomem(err, "blocks");
}

static etp_status get_head(etp_archive *a, const char *run_id, etp_arena *arena,
                           etp_archive_session *out, bool *out_found, etp_error *err)
{
    question q;
    ETP_TRY(ask(a,
                "SELECT run_id, folder, generated_at, platform, device, cpu, emulated, models,"
                " programs, runner_sha256, executorch, etprof, blocks, grade, command, config"
                " FROM sessions WHERE run_id = ?1",
                &run_id, 1, arena, &q, err));
    int code = sqlite3_step(q.s);
    *out_found = code == SQLITE_ROW;
    if (*out_found) {
        *out = (etp_archive_session){.run_id = text(&q, 0),
                                     .folder = text(&q, 1),
                                     .generated_at = text(&q, 2),
                                     .platform = text(&q, 3),
                                     .device = text(&q, 4),
                                     .cpu = text(&q, 5),
                                     .emulated = whole(&q, 6) != 0,
                                     .models = text(&q, 7),
                                     .programs = text(&q, 8),
                                     .runner_sha256 = text(&q, 9),
                                     .executorch = text(&q, 10),
                                     .etprof = text(&q, 11),
                                     .blocks = whole(&q, 12),
                                     .grade = text(&q, 13),
                                     .command = text(&q, 14),
                                     .config = text(&q, 15)};
    }
    return done(&q, code, err);
}

// Columns are taken by their place in the SELECT.
static etp_status get_arms(etp_archive *a, const char *run_id, etp_arena *arena,
                           etp_archive_session *out, etp_error *err)
{
    question q;
    ETP_TRY(
        ask(a,
            "SELECT phase, experiment, level, threads, model, model_sha256, baseline, median_ns,"
            " lo_ns, hi_ns, traced_ns, load_ns, first_ns, peak_rss_bytes, tokens_per_s,"
            " launches, samples, proof, block_ns FROM arms WHERE session ="
            " (SELECT id FROM sessions WHERE run_id = ?1) ORDER BY arm",
            &run_id, 1, arena, &q, err));
    int code;
    etp_status st = ETP_OK;
    while (st == ETP_OK && (code = sqlite3_step(q.s)) == SQLITE_ROW && !q.failed) {
        etp_archive_arm x = {.phase = text(&q, 0),
                             .experiment = text(&q, 1),
                             .level = text(&q, 2),
                             .threads = whole(&q, 3),
                             .model = text(&q, 4),
                             .model_sha256 = text(&q, 5),
                             .baseline = whole(&q, 6) != 0,
                             .median_ns = real(&q, 7),
                             .lo_ns = real(&q, 8),
                             .hi_ns = real(&q, 9),
                             .traced_ns = real(&q, 10),
                             .load_ns = real(&q, 11),
                             .first_ns = real(&q, 12),
                             .peak_rss_bytes = real(&q, 13),
                             .tokens_per_s = real(&q, 14),
                             .launches = whole(&q, 15),
                             .samples = whole(&q, 16),
                             .proof = text(&q, 17)};
        st = read_blocks(&q, 18, &x, err);
        q.failed = q.failed || !ETP_PUSH(arena, &out->arms, x);
    }
    // The first error is the one to tell; the statement is given back in any case.
    etp_status ended = done(&q, st == ETP_OK ? code : SQLITE_OK, err);
    return st != ETP_OK ? st : ended;
}

static etp_status get_comparisons(etp_archive *a, const char *run_id, etp_arena *arena,
                                  etp_archive_session *out, etp_error *err)
{
    question q;
    ETP_TRY(ask(a,
                "SELECT candidate, baseline, phase, estimate, lo, hi, blocks, verdict, withheld,"
                " margin, noise_floor, sign_flip_p FROM comparisons WHERE session ="
                " (SELECT id FROM sessions WHERE run_id = ?1) ORDER BY candidate",
                &run_id, 1, arena, &q, err));
    int code;
    while ((code = sqlite3_step(q.s)) == SQLITE_ROW && !q.failed) {
        etp_archive_comparison x = {.candidate = number(&q, 0),
                                    .baseline = number(&q, 1),
                                    .phase = text(&q, 2),
                                    .estimate = real(&q, 3),
                                    .lo = real(&q, 4),
                                    .hi = real(&q, 5),
                                    .blocks = whole(&q, 6),
                                    .verdict = text(&q, 7),
                                    .withheld = text(&q, 8),
                                    .margin = real(&q, 9),
                                    .noise_floor = real(&q, 10),
                                    .sign_flip_p = real(&q, 11)};
        q.failed = q.failed || !ETP_PUSH(arena, &out->comparisons, x);
    }
    return done(&q, code, err);
}

static etp_status get_operators(etp_archive *a, const char *run_id, etp_arena *arena,
                                etp_archive_session *out, etp_error *err)
{
    question q;
    ETP_TRY(ask(a,
                "SELECT arm, id, label, category, names, engaged, delegated, ns, macs"
                " FROM operators WHERE session ="
                " (SELECT id FROM sessions WHERE run_id = ?1) ORDER BY arm, operator",
                &run_id, 1, arena, &q, err));
    int code;
    while ((code = sqlite3_step(q.s)) == SQLITE_ROW && !q.failed) {
        etp_archive_operator x = {.arm = number(&q, 0),
                                  .id = text(&q, 1),
                                  .label = text(&q, 2),
                                  .category = text(&q, 3),
                                  .names = text(&q, 4),
                                  .engaged = text(&q, 5),
                                  .delegated = whole(&q, 6) != 0,
                                  .ns = real(&q, 7),
                                  .macs = real(&q, 8)};
        q.failed = q.failed || !ETP_PUSH(arena, &out->operators, x);
    }
    return done(&q, code, err);
}

etp_status etp_archive_get(etp_archive *a, const char *run_id, etp_arena *arena,
                           etp_archive_session *out, bool *out_found, etp_error *err)
{
    *out = (etp_archive_session){0};
    // One moment of the file, beside writers.
    ETP_TRY(etp_archive_run(a, "BEGIN", err));
    etp_status st = get_head(a, run_id, arena, out, out_found, err);
    if (st == ETP_OK && *out_found) {
        st = get_arms(a, run_id, arena, out, err);
    }
    if (st == ETP_OK && *out_found) {
        st = get_comparisons(a, run_id, arena, out, err);
    }
    if (st == ETP_OK && *out_found) {
        st = get_operators(a, run_id, arena, out, err);
    }
    return etp_archive_end(a, st, err);
}
