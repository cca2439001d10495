// SPDX-License-Identifier: Apache-2.0
// Sample tables from CSV text, anybody's: experiment, block, iteration, duration_ns, and phase and
// launch where there are.
#include "stats/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/csv.h"
#include "base/guard.h"
#include "base/number.h"

enum { EXPERIMENT, BLOCK, ITERATION, DURATION, PHASE, LAUNCH, LEVEL, COLUMNS };

static const char *const k_columns[COLUMNS] = {"experiment", "block",  "iteration", "duration_ns",
                                               "phase",      "launch", "level"};

typedef struct entry { // a sample and the line it came from
    etp_sample sample;
    uint64_t line, offset;
} entry;

#define LEVELS_TOLD 8 // of one experiment

typedef struct reader {
    etp_arena *arena;
    int column[COLUMNS]; // -1 absent
    size_t n_columns;
    struct {
        etp_str *items;
        size_t n, cap;
    } arms, levels; // levels: of the arms, as etp_sample_table has them
    struct {
        entry *items;
        size_t n, cap;
    } entries;
    uint32_t last_arm;
} reader;

static etp_status bad_cell(const etp_csv_row *row, int column, etp_str cell, const char *wanted,
                           etp_error *err)
{
    etp_str shown = {cell.ptr, ETP_MIN(cell.len, 40)};
    return etp_fail_at(err, ETP_CORRUPT, row->offset, "line %llu: %s '%.*s' is not %s",
                       (unsigned long long)row->line, k_columns[column], ETP_STR_ARG(shown),
                       wanted);
}

static etp_status read_number(const reader *r, const etp_csv_row *row, int column, uint64_t min,
                              uint64_t max, uint64_t *out, etp_error *err)
{
    etp_str cell = row->cells[r->column[column]];
    bool decimal = etp_str_find(cell, ETP_STR("x")) == cell.len && // 0x10 is not a number to others
                   etp_str_find(cell, ETP_STR("X")) == cell.len;
    if (!decimal || !etp_parse_u64(cell, out) || *out < min || *out > max) {
        return bad_cell(row, column, cell, min > 0 ? "a whole number from 1 up" : "a whole number",
                        err);
    }
    return ETP_OK;
}

// Empty where the table does not tell it.
static etp_str level_of(const reader *r, const etp_csv_row *row)
{
    etp_str level = r->column[LEVEL] < 0 ? (etp_str){0} : row->cells[r->column[LEVEL]];
    return etp_str_eqz(level, ETP_CSV_UNKNOWN) ? (etp_str){0} : level;
}

// "sme2 + neon": rows of one experiment that say several.
static void add_level(reader *r, etp_str *all, etp_str level)
{
    static const etp_str k_between = {" + ", 3};
    if (etp_str_eq(*all, level)) {
        return;
    }
    if (all->len == 0 || level.len == 0) { // rows that say none among others
        level = level.len ? level : ETP_STR(ETP_CSV_UNKNOWN);
        *all = all->len ? *all : ETP_STR(ETP_CSV_UNKNOWN);
    }
    unsigned n = 1;
    for (etp_str rest = *all; rest.len > 0; n++) {
        size_t at = etp_str_find(rest, k_between);
        if (etp_str_eq((etp_str){rest.ptr, at}, level)) {
            return;
        }
        size_t skip = at < rest.len ? at + k_between.len : rest.len;
        rest = (etp_str){rest.ptr + skip, rest.len - skip};
    }
    if (n <= LEVELS_TOLD) {
        *all = etp_str_from(
            etp_arena_printf(r->arena, "%.*s + %.*s", ETP_STR_ARG(*all), ETP_STR_ARG(level)));
    }
}

static etp_status find_arm(reader *r, const etp_csv_row *row, uint32_t *out, etp_error *err)
{
    etp_str name = row->cells[r->column[EXPERIMENT]];
    if (name.len == 0) {
        return bad_cell(row, EXPERIMENT, name, "a name", err);
    }
    if (memchr(name.ptr, '\0', name.len)) { // what follows is not seen where it is shown
        return bad_cell(row, EXPERIMENT, name, "a name: it has a byte 0", err);
    }
    // Rows of one launch follow each other: nearly always it is the arm of the row before.
    if (r->last_arm < r->arms.n && etp_str_eq(r->arms.items[r->last_arm], name)) {
        *out = r->last_arm;
        return ETP_OK;
    }
    uint32_t i = 0;
    while (i < r->arms.n && !etp_str_eq(r->arms.items[i], name)) {
        i++;
    }
    // A column of numbers taken for the experiments would make each row one of its own.
    if (i == 1000) {
        return etp_fail_at(err, ETP_CORRUPT, row->offset, "line %llu: more than 1000 experiments",
                           (unsigned long long)row->line);
    }
    if (i == r->arms.n) {
        ETP_ADD(r->arena, &r->arms, name);
        ETP_ADD(r->arena, &r->levels, level_of(r, row));
    }
    *out = r->last_arm = i;
    return ETP_OK;
}

static etp_sample_use use_of(const reader *r, const etp_csv_row *row)
{
    if (r->column[PHASE] < 0) {
        return ETP_SAMPLE_TIMED;
    }
    etp_str phase = row->cells[r->column[PHASE]];
    if (etp_str_eqz(phase, "timed")) {
        return ETP_SAMPLE_TIMED;
    }
    if (etp_str_eqz(phase, "control")) {
        return ETP_SAMPLE_CONTROL;
    }
    return etp_str_eqz(phase, "traced") ? ETP_SAMPLE_TRACED : ETP_SAMPLE_UNUSED;
}

static etp_status read_row(reader *r, const etp_csv_row *row, etp_error *err)
{
    if (row->n != r->n_columns) {
        return etp_fail_at(err, ETP_CORRUPT, row->offset,
                           "line %llu: %zu cells, the header has %zu",
                           (unsigned long long)row->line, row->n, r->n_columns);
    }
    entry e = {.line = row->line, .offset = row->offset};
    e.sample.use = use_of(r, row);
    uint64_t block = 0, launch = 0;
    ETP_TRY(find_arm(r, row, &e.sample.arm, err));
    etp_str *level = &r->levels.items[e.sample.arm];
    add_level(r, level, level_of(r, row));
    ETP_TRY(read_number(r, row, BLOCK, 0, UINT32_MAX, &block, err));
    ETP_TRY(read_number(r, row, ITERATION, 0, UINT64_MAX, &e.sample.iteration, err));
    // 2^62 ns are 146 years; beyond, sums of times would not fit
    ETP_TRY(read_number(r, row, DURATION, e.sample.use < ETP_SAMPLE_TRACED, (uint64_t)1 << 62,
                        &e.sample.duration_ns, err));
    if (r->column[LAUNCH] >= 0) {
        ETP_TRY(read_number(r, row, LAUNCH, 0, UINT32_MAX, &launch, err));
    }
    e.sample.block = (uint32_t)block;
    e.sample.launch = (uint32_t)launch;
    ETP_ADD(r->arena, &r->entries, e);
    return ETP_OK;
}

// What makes two rows the same iteration; the duration does not.
static int compare_samples(const etp_sample *a, const etp_sample *b)
{
    const uint64_t ka[] = {a->arm, a->block, a->launch, a->use, a->iteration};
    const uint64_t kb[] = {b->arm, b->block, b->launch, b->use, b->iteration};
    for (size_t i = 0; i < sizeof ka / sizeof *ka; i++) {
        if (ka[i] != kb[i]) {
            return ETP_ORDER(ka[i], kb[i]);
        }
    }
    return 0;
}

static int by_key_then_line(const void *pa, const void *pb)
{
    const entry *a = pa, *b = pb;
    int order = compare_samples(&a->sample, &b->sample);
    return etp_order_then(order, ETP_ORDER(a->line, b->line));
}

static etp_status read_table(etp_str text, etp_arena *arena, etp_sample_table *out, etp_error *err)
{
    *out = (etp_sample_table){0};
    reader r = {.arena = arena};
    etp_csv_reader csv;
    etp_csv_row row = {0};
    bool more = false;
    etp_csv_open(&csv, text, arena);
    ETP_TRY(etp_csv_next(&csv, &row, &more, err));
    if (!more) {
        return etp_fail_at(err, ETP_CORRUPT, 0, "empty; a table with a header line was expected");
    }
    ETP_TRY(etp_csv_refuse_others(&row, err));
    for (int c = 0; c < COLUMNS; c++) {
        r.column[c] = etp_csv_column(&row, k_columns[c]);
        if (r.column[c] < 0 && c < PHASE) {
            return etp_fail_at(err, ETP_CORRUPT, row.offset,
                               "line %llu: no column '%s'; needed are experiment, block, "
                               "iteration, duration_ns",
                               (unsigned long long)row.line, k_columns[c]);
        }
        for (size_t i = 0; i < row.n; i++) { // which of the two would be a guess
            if ((int)i != r.column[c] && etp_str_eqz(row.cells[i], k_columns[c])) {
                return etp_fail_at(err, ETP_CORRUPT, row.offset,
                                   "line %llu: two columns are called '%s'",
                                   (unsigned long long)row.line, k_columns[c]);
            }
        }
    }
    r.n_columns = row.n;
    for (;;) {
        ETP_TRY(etp_csv_next(&csv, &row, &more, err));
        if (!more) {
            break;
        }
        ETP_TRY(read_row(&r, &row, err));
    }
    if (r.entries.n == 0) {
        return etp_fail_at(err, ETP_CORRUPT, text.len, "a header and no rows");
    }
    qsort(r.entries.items, r.entries.n, sizeof *r.entries.items, by_key_then_line);
    // Two rows for one iteration mean that launches were run together under one number: their
    // order, and with it the warm-up rule, would be a guess.
    for (size_t i = 1; i < r.entries.n; i++) {
        const entry *a = &r.entries.items[i - 1], *b = &r.entries.items[i];
        if (b->sample.use < ETP_SAMPLE_TRACED && compare_samples(&a->sample, &b->sample) == 0) {
            etp_str name = r.arms.items[b->sample.arm];
            return etp_fail_at(err, ETP_CORRUPT, b->offset,
                               "line %llu: experiment '%.*s', block %u, iteration %llu was on line "
                               "%llu already; several launches in one block need a column 'launch'",
                               (unsigned long long)b->line, ETP_STR_ARG(name),
                               (unsigned)b->sample.block, (unsigned long long)b->sample.iteration,
                               (unsigned long long)a->line);
        }
    }
    out->samples = etp_arena_alloc_raw(arena, r.entries.n, sizeof *out->samples);
    for (size_t i = 0; i < r.entries.n; i++) {
        out->samples[i] = r.entries.items[i].sample;
    }
    out->n_samples = r.entries.n;
    out->arms = r.arms.items;
    out->levels = r.levels.items;
    out->n_arms = (uint32_t)r.arms.n;
    return ETP_OK;
}

etp_status etp_samples_read_csv(etp_str text, etp_arena *arena, etp_sample_table *out,
                                etp_error *err)
{
    ETP_GUARDED(arena, err, "samples", read_table(text, arena, out, err));
}
