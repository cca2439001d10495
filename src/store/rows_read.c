// SPDX-License-Identifier: Apache-2.0
// Reads samples.csv and environment.jsonl. Rows of blocks that the manifest does not vouch for and
// a torn last row are left out and counted; anything else that is wrong is an error with its place.
#include <math.h>
#include <stdio.h>

#include "base/csv.h"
#include "base/number.h"
#include "document/layouts.h"
#include "store/internal.h"

const etp_run_file *etp_run_recorded(const etp_run *run, const char *name)
{
    for (size_t i = 0; i < run->files.n; i++) {
        if (etp_str_eqz(run->files.items[i].path, name)) {
            return &run->files.items[i];
        }
    }
    return NULL;
}

// Files that grow: what a killed session wrote behind the last commit belongs to no block.
bool etp_run_grows(const etp_run *run, etp_str name)
{
    return run && run->state != ETP_RUN_FINISHED &&
           (etp_str_eqz(name, ETP_RUN_SAMPLES) || etp_str_eqz(name, ETP_RUN_ENVIRONMENT));
}

etp_str etp_run_committed(const etp_run *run, const char *name, etp_str text)
{
    const etp_run_file *f =
        etp_run_grows(run, etp_str_from(name)) ? etp_run_recorded(run, name) : NULL;
    return f && f->bytes < text.len ? (etp_str){text.ptr, (size_t)f->bytes} : text;
}

typedef struct columns {
    int experiment, block, launch, iteration, phase, start, duration, level; // level: or -1
} columns;

static bool number(const etp_csv_row *row, int column, uint64_t max, uint64_t *out)
{
    return (size_t)column < row->n && etp_parse_u64(row->cells[column], out) && *out <= max;
}

static etp_status read_sample(const etp_run *run, const columns *c, const etp_csv_row *row,
                              uint32_t hint, etp_run_sample *out, etp_error *err)
{
    uint64_t block, launch, iteration;
    out->arm = (size_t)c->experiment < row->n
                   ? etp_run_arm_find(run, row->cells[c->experiment], hint)
                   : ETP_NO_INDEX;
    const char *what = NULL;
    if (out->arm == ETP_NO_INDEX) {
        what = "experiment is not in the plan";
    } else if (!number(row, c->block, ETP_RUN_MAX_BLOCKS, &block) || block == 0) {
        what = "block is not a block number";
    } else if (!number(row, c->launch, UINT32_MAX, &launch)) {
        what = "launch is not a number";
    } else if (!number(row, c->iteration, UINT32_MAX, &iteration)) {
        what = "iteration is not a number";
    } else if ((size_t)c->phase >= row->n || !etp_phase_find(row->cells[c->phase], &out->phase)) {
        what = "phase is unknown";
    } else if (!number(row, c->start, UINT64_MAX, &out->start_ns)) {
        what = "start_ns is not a number";
    } else if (!number(row, c->duration, INT64_MAX, &out->duration_ns)) {
        what = "duration_ns is not a number";
    }
    if (what) {
        return etp_fail_at(err, ETP_CORRUPT, row->offset, "line %llu: %s",
                           (unsigned long long)row->line, what);
    }
    out->block = (uint32_t)block;
    out->launch = (uint32_t)launch;
    out->iteration = (uint32_t)iteration;
    return ETP_OK;
}

typedef struct sample_reader {
    etp_csv_reader csv;
    etp_csv_row row;
    columns c;
    uint32_t hint;
    etp_phase phase; // of the row before
    bool rows;       // false: not even a header
    bool usual;      // the columns are those that etprof writes, in its order
} sample_reader;

// ---- a row as etprof writes it ----
// Of rows there are millions: one walk over the bytes of one that looks like the row before it.
// What looks otherwise in any way (quotes, another arm or phase, signs, spaces, hexadecimal, \r)
// is left to the reader of CSV, which knows all of it.

// WORD and END behind it.
static bool skip_word(const char **at, const char *stop, char end, etp_str word)
{
    if ((size_t)(stop - *at) <= word.len || (*at)[word.len] != end ||
        memcmp(*at, word.ptr, word.len) != 0) {
        return false;
    }
    *at += word.len + 1;
    return true;
}

// Up to 18 digits, which fit an int64_t, and END behind them.
static bool skip_number(const char **at, const char *stop, char end, uint64_t *out)
{
    const char *p = *at, *most = stop - p > 18 ? p + 18 : stop;
    uint64_t v = 0;
    for (unsigned d; p < most && (d = (unsigned)(unsigned char)*p - '0') <= 9; p++) {
        v = v * 10 + d;
    }
    if (p == *at || p == stop || *p != end) {
        return false;
    }
    *out = v;
    *at = p + 1;
    return true;
}

// Is what the CSV says of a cell its bytes?
static bool plain_word(etp_str s)
{
    return s.len > 0 && s.ptr[0] != '"' && s.ptr[0] != '\r' && !memchr(s.ptr, ',', s.len) &&
           !memchr(s.ptr, '\n', s.len);
}

static bool quick_sample(sample_reader *r, const etp_run *run, etp_run_sample *out)
{
    if (!r->usual) {
        return false;
    }
    const char *at = r->csv.text.ptr + r->csv.pos, *stop = r->csv.text.ptr + r->csv.text.len;
    const etp_run_arm *arm = &run->arms.items[r->hint];
    bool level = r->c.level >= 0;
    uint64_t block, launch, iteration;
    if (!skip_word(&at, stop, ',', arm->name) || !skip_number(&at, stop, ',', &block) ||
        !skip_number(&at, stop, ',', &launch) || !skip_number(&at, stop, ',', &iteration) ||
        !skip_word(&at, stop, ',', etp_str_from(etp_phase_name(r->phase))) ||
        !skip_number(&at, stop, ',', &out->start_ns) ||
        !skip_number(&at, stop, level ? ',' : '\n', &out->duration_ns) ||
        (level && !skip_word(&at, stop, '\n', etp_run_level_cell(arm))) || block == 0 ||
        block > ETP_RUN_MAX_BLOCKS || launch > UINT32_MAX || iteration > UINT32_MAX) {
        return false;
    }
    out->arm = r->hint;
    out->phase = r->phase;
    out->block = (uint32_t)block;
    out->launch = (uint32_t)launch;
    out->iteration = (uint32_t)iteration;
    r->csv.pos = (size_t)(at - r->csv.text.ptr);
    r->csv.line++;
    return true;
}

// Without a row that was torn in the middle of a write.
static etp_str whole_lines(etp_str text)
{
    while (text.len > 0 && text.ptr[text.len - 1] != '\n') {
        text.len--;
    }
    return text;
}

static etp_status samples_begin(sample_reader *r, etp_str text, etp_arena *arena,
                                const etp_run *run, etp_error *err)
{
    *r = (sample_reader){0};
    etp_csv_open(&r->csv, text, arena);
    ETP_TRY(etp_csv_next(&r->csv, &r->row, &r->rows, err));
    if (!r->rows) {
        return run->blocks_done > 0
                   ? etp_fail_at(err, ETP_CORRUPT, 0, "no rows, but %u blocks in the manifest",
                                 run->blocks_done)
                   : ETP_OK;
    }
    const etp_csv_row *row = &r->row;
    columns *c = &r->c;
    c->experiment = etp_csv_column(row, "experiment");
    c->block = etp_csv_column(row, "block");
    c->launch = etp_csv_column(row, "launch");
    c->iteration = etp_csv_column(row, "iteration");
    c->phase = etp_csv_column(row, "phase");
    c->start = etp_csv_column(row, "start_ns");
    c->duration = etp_csv_column(row, "duration_ns");
    c->level = etp_csv_column(row, "level");
    if (c->experiment < 0 || c->block < 0 || c->launch < 0 || c->iteration < 0 || c->phase < 0 ||
        c->start < 0 || c->duration < 0) {
        return etp_layout_fail(ETP_LAYOUT_SAMPLES, err);
    }
    return ETP_OK;
}

// The next row, also one of a block that the manifest does not vouch for.
static etp_status samples_next(sample_reader *r, const etp_run *run, etp_run_sample *out,
                               bool *more, etp_error *err)
{
    *more = r->rows;
    if (quick_sample(r, run, out)) {
        return ETP_OK;
    }
    if (r->rows) {
        ETP_TRY(etp_csv_next(&r->csv, &r->row, more, err));
    }
    if (*more) {
        *out = (etp_run_sample){0};
        ETP_TRY(read_sample(run, &r->c, &r->row, r->hint, out, err));
        const columns *c = &r->c;
        r->hint = out->arm;
        r->phase = out->phase;
        r->usual = c->experiment == 0 && c->block == 1 && c->launch == 2 && c->iteration == 3 &&
                   c->phase == 4 && c->start == 5 && c->duration == 6 &&
                   (c->level >= 0 ? c->level == 7 && r->row.n == 8 : r->row.n == 7) &&
                   plain_word(run->arms.items[out->arm].name) &&
                   plain_word(etp_run_level_cell(&run->arms.items[out->arm]));
    }
    return ETP_OK;
}

etp_status etp_run_samples_read(etp_str text, etp_arena *arena, etp_run *run, etp_error *err)
{
    etp_str whole = whole_lines(etp_run_committed(run, ETP_RUN_SAMPLES, text));
    etp_str rest = {text.ptr + whole.len, text.len - whole.len}; // the last may be torn
    for (size_t n; rest.len > 0; rest = (etp_str){rest.ptr + n, rest.len - n}) {
        n = etp_str_find(rest, ETP_STR("\n"));
        n += n < rest.len;
        run->samples_ignored++;
    }
    sample_reader r;
    ETP_TRY(samples_begin(&r, whole, arena, run, err));
    for (;;) {
        etp_run_sample s;
        bool more;
        ETP_TRY(samples_next(&r, run, &s, &more, err));
        if (!more) {
            return ETP_OK;
        }
        if (s.block > run->blocks_done && etp_run_grows(run, ETP_STR(ETP_RUN_SAMPLES)) &&
            etp_run_recorded(run, ETP_RUN_SAMPLES)) { // adding blocks would repeat its number
            return etp_fail(err, ETP_CORRUPT,
                            "a row of block %u is recorded, but the manifest counts %u blocks",
                            s.block, run->blocks_done);
        }
        if (s.block > run->blocks_done) {
            run->samples_ignored++;
        } else {
            ETP_ADD(arena, &run->samples, s);
        }
    }
}

// Takes the first line off *TEXT, which starts AT bytes into the file. False at the end and before
// a line that was torn in the middle of a write.
static bool take_line(etp_str *text, etp_str *line, uint64_t *at, uint64_t *number_of_line)
{
    if (!etp_str_cut(text, "\n", line)) {
        return false;
    }
    *number_of_line += 1;
    *at += line->len + 1;
    return true;
}

// NEXT is where the line after this one starts.
static etp_status read_numbered(etp_str line, uint64_t next, uint64_t number_of_line,
                                etp_arena *arena, etp_run *run, etp_error *err)
{
    etp_status status = line.len == 0 ? ETP_OK : etp_run_line_read(line, arena, run, err);
    if (status == ETP_OK) {
        return ETP_OK;
    }
    if (err) {
        uint64_t at = next - line.len - 1;
        err->offset = err->offset == ETP_NO_OFFSET ? at : err->offset + at;
    }
    etp_fail_ctx(err, "line %llu", (unsigned long long)number_of_line);
    return status;
}

etp_status etp_run_environment_read(etp_str text, etp_arena *arena, etp_run *run, etp_error *err)
{
    uint64_t at = 0, number_of_line = 0;
    etp_str line;
    text = etp_run_committed(run, ETP_RUN_ENVIRONMENT, text);
    while (take_line(&text, &line, &at, &number_of_line)) {
        ETP_TRY(read_numbered(line, at, number_of_line, arena, run, err));
    }
    return ETP_OK;
}

// ---- one at a time ----

#define ROWS_ARENA ((size_t)1 << 20) // what unquoted cells may take before it is given back

static etp_status rows_open(etp_run_rows *rows, const etp_run *run, const char *name,
                            etp_error *err)
{
    *rows = (etp_run_rows){.run = run};
    const char *dir = etp_arena_strdup(&rows->arena, run->dir);
    rows->path = etp_run_path(&rows->arena, dir, etp_str_from(name));
    if (run->blocks_done == 0 && !etp_os_is_file(rows->path)) {
        return ETP_OK;
    }
    ETP_TRY(etp_file_open(rows->path, ETP_RUN_ROWS_LIMIT, &rows->file, err));
    const etp_str text = {(const char *)rows->file.bytes.ptr, rows->file.bytes.len};
    rows->text = etp_run_committed(run, name, text);
    return ETP_OK;
}

etp_status etp_run_launches_open(etp_run_rows *rows, const etp_run *run, etp_error *err)
{
    return rows_open(rows, run, ETP_RUN_ENVIRONMENT, err);
}

etp_status etp_run_samples_open(etp_run_rows *rows, const etp_run *run, etp_error *err)
{
    ETP_TRY(rows_open(rows, run, ETP_RUN_SAMPLES, err));
    sample_reader *r = ETP_NEW(&rows->arena, sample_reader);
    ETP_NEED(r, err, ETP_RUN_SAMPLES);
    rows->csv = r;
    etp_status status = samples_begin(r, whole_lines(rows->text), &rows->row_arena, run, err);
    return status == ETP_OK ? ETP_OK : etp_fail_ctx(err, "%s", rows->path);
}

etp_status etp_run_sample_next(etp_run_rows *rows, etp_run_sample *out, bool *more, etp_error *err)
{
    sample_reader *r = rows->csv;
    do {
        if (rows->row_arena.total > ROWS_ARENA) {
            etp_arena_dispose(&rows->row_arena);
            r->row = (etp_csv_row){0};
        }
        if (samples_next(r, rows->run, out, more, err) != ETP_OK) {
            return etp_fail_ctx(err, "%s", rows->path);
        }
    } while (*more && out->block > rows->run->blocks_done);
    return ETP_OK;
}

etp_status etp_run_launch_next(etp_run_rows *rows, etp_run_launch *out, bool *more, etp_error *err)
{
    etp_run one = *rows->run; // its plan, with room for what one line says
    etp_arena_dispose(&rows->row_arena);
    etp_str line;
    for (*more = false; !*more && take_line(&rows->text, &line, &rows->at, &rows->line);) {
        memset(&one.launches, 0, sizeof one.launches);
        memset(&one.blocks, 0, sizeof one.blocks);
        if (read_numbered(line, rows->at, rows->line, &rows->row_arena, &one, err) != ETP_OK) {
            return etp_fail_ctx(err, "%s", rows->path);
        }
        *more = one.launches.n == 1;
    }
    if (*more) {
        *out = one.launches.items[0];
    }
    return ETP_OK;
}

void etp_run_rows_close(etp_run_rows *rows)
{
    etp_file_close(&rows->file);
    etp_arena_dispose(&rows->row_arena);
    etp_arena_dispose(&rows->arena);
    *rows = (etp_run_rows){0};
}

etp_str etp_run_fact_of(const etp_run *run, const char *key)
{
    for (size_t i = 0; i < run->facts.n; i++) {
        if (etp_str_eqz(run->facts.items[i].key, key)) {
            return run->facts.items[i].value;
        }
    }
    return (etp_str){0};
}

bool etp_run_has_neighbours(const etp_run *run)
{
    return etp_str_eqz(etp_run_fact_of(run, "virtual_machine"), "yes");
}

bool etp_run_is_widened(const etp_run *run)
{
    return etp_run_was_looked_at(&run->settings) || etp_run_has_neighbours(run);
}

const etp_run_launch *etp_run_timed_launch(const etp_run *run, uint32_t block, uint32_t launch)
{
    for (size_t i = 0; i < run->launches.n; i++) {
        const etp_run_launch *l = &run->launches.items[i];
        if (l->launch == launch && l->block == block && l->kind == ETP_LAUNCH_TIMED) {
            return l;
        }
    }
    return NULL;
}

void etp_run_wait_add(etp_run_wait *sum, const etp_run_launch *launch)
{
    if (launch->wait_ns != UINT64_MAX) {
        sum->wait_ns += launch->wait_ns;
        sum->wall_ns += launch->wall_ns;
    }
}

double etp_run_wait_share(const etp_run_wait *sum)
{
    return sum->wall_ns == 0 ? (double)NAN : fmin(1, (double)sum->wait_ns / (double)sum->wall_ns);
}

const etp_run_block *etp_run_block_of(const etp_run *run, uint32_t number)
{
    for (size_t i = 0; i < run->blocks.n; i++) {
        if (run->blocks.items[i].block == number) {
            return &run->blocks.items[i];
        }
    }
    return NULL;
}

double etp_run_between(double start, double end)
{
    if (isfinite(start) && isfinite(end)) {
        return (start + end) / 2;
    }
    return isfinite(start) ? start : end;
}
