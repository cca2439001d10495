// SPDX-License-Identifier: Apache-2.0
// Reads samples.csv and environment.jsonl. Rows of blocks that the manifest does not vouch for and
// a torn last row are left out and counted; anything else that is wrong is an error with its place.
#include <math.h>
#include <stdio.h>

#include "base/csv.h"
#include "base/number.h"
#include "store/internal.h"

typedef struct columns {
    int experiment, block, launch, iteration, phase, start, duration;
} columns;

static const char k_header[] = "experiment,block,launch,iteration,phase,start_ns,duration_ns";

static etp_status find_columns(const etp_csv_row *row, columns *c, etp_error *err)
{
    c->experiment = etp_csv_column(row, "experiment");
    c->block = etp_csv_column(row, "block");
    c->launch = etp_csv_column(row, "launch");
    c->iteration = etp_csv_column(row, "iteration");
    c->phase = etp_csv_column(row, "phase");
    c->start = etp_csv_column(row, "start_ns");
    c->duration = etp_csv_column(row, "duration_ns");
    if (c->experiment < 0 || c->block < 0 || c->launch < 0 || c->iteration < 0 || c->phase < 0 ||
        c->start < 0 || c->duration < 0) {
        return etp_fail_at(err, ETP_CORRUPT, 0, "the header is not %s", k_header);
    }
    return ETP_OK;
}

static bool number(const etp_csv_row *row, int column, uint64_t max, uint64_t *out)
{
    return (size_t)column < row->n && etp_parse_u64(row->cells[column], out) && *out <= max;
}

static uint32_t find_arm(const etp_run *run, etp_str name, uint32_t hint)
{
    if (hint < run->arms.n && etp_str_eq(run->arms.items[hint].name, name)) {
        return hint;
    }
    for (uint32_t i = 0; i < run->arms.n; i++) {
        if (etp_str_eq(run->arms.items[i].name, name)) {
            return i;
        }
    }
    return UINT32_MAX;
}

static etp_status read_sample(const etp_run *run, const columns *c, const etp_csv_row *row,
                              uint32_t hint, etp_run_sample *out, etp_error *err)
{
    uint64_t block, launch, iteration;
    out->arm = (size_t)c->experiment < row->n ? find_arm(run, row->cells[c->experiment], hint)
                                              : UINT32_MAX;
    const char *what = NULL;
    if (out->arm == UINT32_MAX) {
        what = "experiment is not in the plan";
    } else if (!number(row, c->block, ETP_RUN_MAX_BLOCKS, &block) || block == 0) {
        what = "block is no block number";
    } else if (!number(row, c->launch, UINT32_MAX, &launch)) {
        what = "launch is no number";
    } else if (!number(row, c->iteration, UINT32_MAX, &iteration)) {
        what = "iteration is no number";
    } else if ((size_t)c->phase >= row->n || !etp_phase_find(row->cells[c->phase], &out->phase)) {
        what = "phase is unknown";
    } else if (!number(row, c->start, UINT64_MAX, &out->start_ns)) {
        what = "start_ns is no number";
    } else if (!number(row, c->duration, INT64_MAX, &out->duration_ns)) {
        what = "duration_ns is no number";
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
    bool rows; // false: not even a header
} sample_reader;

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
    etp_csv_open(&r->csv, text, ',', arena);
    ETP_TRY(etp_csv_next(&r->csv, &r->row, &r->rows, err));
    if (!r->rows) {
        return run->blocks_done > 0
                   ? etp_fail_at(err, ETP_CORRUPT, 0, "no rows, but %u blocks in the manifest",
                                 run->blocks_done)
                   : ETP_OK;
    }
    return find_columns(&r->row, &r->c, err);
}

// The next row, also one of a block that the manifest does not vouch for.
static etp_status samples_next(sample_reader *r, const etp_run *run, etp_run_sample *out,
                               bool *more, etp_error *err)
{
    *more = r->rows;
    if (r->rows) {
        ETP_TRY(etp_csv_next(&r->csv, &r->row, more, err));
    }
    if (*more) {
        *out = (etp_run_sample){0};
        ETP_TRY(read_sample(run, &r->c, &r->row, r->hint, out, err));
        r->hint = out->arm;
    }
    return ETP_OK;
}

etp_status etp_run_samples_read(etp_str text, etp_arena *arena, etp_run *run, etp_error *err)
{
    etp_str whole = whole_lines(text);
    run->samples_ignored += whole.len < text.len;
    sample_reader r;
    ETP_TRY(samples_begin(&r, whole, arena, run, err));
    for (;;) {
        etp_run_sample s;
        bool more;
        ETP_TRY(samples_next(&r, run, &s, &more, err));
        if (!more) {
            return ETP_OK;
        }
        if (s.block > run->blocks_done) {
            run->samples_ignored++;
        } else if (!ETP_PUSH(arena, &run->samples, s)) {
            return etp_fail_nomem(err, "samples");
        }
    }
}

static uint64_t count_or_unknown(const etp_json_object *o, const char *key)
{
    const json_t *v = json_object_get(o->object, key);
    return !v || json_is_null(v) ? UINT64_MAX : etp_json_get_u64(o, key, INT64_MAX);
}

// One column into the field at OFFSET of every item; null is 0, not counted.
static void read_column(const etp_json_object *o, const char *key, size_t offset,
                        etp_run_counts *items, size_t n)
{
    const json_t *array;
    size_t found = etp_json_get_array(o, key, UINT32_MAX, &array);
    if (found != 0 && found != n) {
        etp_json_reject(o, key, "as many values as cycles");
        return;
    }
    for (size_t i = 0; i < found; i++) {
        const json_t *v = json_array_get(array, i);
        uint64_t value =
            json_is_integer(v) && json_integer_value(v) >= 0 ? (uint64_t)json_integer_value(v) : 0;
        if (!json_is_null(v) && !(json_is_integer(v) && json_integer_value(v) >= 0)) {
            etp_json_reject(o, key, "counts or null");
            return;
        }
        memcpy((char *)&items[i] + offset, &value, sizeof value);
    }
}

static void read_counted(const etp_json_object *launch, etp_run_launch *l)
{
    etp_json_object o = etp_json_get_object(launch, "counted"); // absent where nothing was counted
    const json_t *array;
    size_t n = o.object ? etp_json_get_array(&o, "cycles", UINT32_MAX, &array) : 0;
    etp_run_counts *items = n > 0 ? ETP_NEW_ARRAY(o.arena, etp_run_counts, n) : NULL;
    if (!items) {
        *launch->status = n > 0 ? etp_fail_nomem(launch->err, "launches") : *launch->status;
        return;
    }
    read_column(&o, "cycles", offsetof(etp_run_counts, cycles), items, n);
    read_column(&o, "cpu_ns", offsetof(etp_run_counts, cpu_ns), items, n);
    read_column(&o, "instructions", offsetof(etp_run_counts, instructions), items, n);
    read_column(&o, "cache_misses", offsetof(etp_run_counts, cache_misses), items, n);
    l->counted.items = items;
    l->counted.n = (uint32_t)n;
    l->counted.scaled = etp_json_get_u32(&o, "scaled", UINT32_MAX);
    l->counted.events = etp_json_get_str(&o, "events");
    l->counted.cache = etp_json_get_str(&o, "cache");
}

static void read_launch(const etp_json_object *o, etp_run *run)
{
    etp_str arm = etp_json_get_str(o, "experiment");
    etp_run_launch l = {
        .arm = find_arm(run, arm, 0),
        .block = etp_json_get_u32(o, "block", ETP_RUN_MAX_BLOCKS),
        .launch = etp_json_get_u32(o, "launch", UINT32_MAX),
        .position = etp_json_get_u32(o, "position", UINT32_MAX),
        .pid = etp_json_get_u64(o, "pid", INT64_MAX),
        .start_ns = etp_json_get_u64(o, "start_ns", INT64_MAX),
        .wall_ns = etp_json_get_u64(o, "wall_ns", INT64_MAX),
        .load_ns = etp_json_get_u64(o, "load_ns", INT64_MAX),
        .first_ns = etp_json_get_u64(o, "first_ns", INT64_MAX),
        .rss_bytes = etp_json_get_u64(o, "rss_bytes", INT64_MAX),
        .peak_rss_bytes = etp_json_get_u64(o, "peak_rss_bytes", INT64_MAX),
        .user_ns = etp_json_get_u64(o, "user_ns", INT64_MAX),
        .system_ns = etp_json_get_u64(o, "system_ns", INT64_MAX),
        .minor_faults = etp_json_get_u64(o, "minor_faults", INT64_MAX),
        .major_faults = etp_json_get_u64(o, "major_faults", INT64_MAX),
        .voluntary_switches = etp_json_get_u64(o, "voluntary_switches", INT64_MAX),
        .involuntary_switches = etp_json_get_u64(o, "involuntary_switches", INT64_MAX),
        .wait_ns = count_or_unknown(o, "wait_ns"),
        .migrations = count_or_unknown(o, "migrations"),
        .hook_calls = etp_json_get_u64(o, "hook_calls", INT64_MAX),
        .asks_left = etp_json_get_u64(o, "asks_left", INT64_MAX),
        .asks_missed =
            etp_json_get_u64(o, "asks_missed", INT64_MAX), // absent: none, or an older folder
        .asks_looks = etp_json_get_u64(o, "asks_looks", INT64_MAX), // absent: none
        .flags = etp_json_get_str(o, "flags"),
        .cpus_allowed = etp_json_get_str(o, "cpus_allowed")};
    etp_json_object mask = etp_json_get_object(o, "mask");
    l.mask_requested = etp_json_get_str(&mask, "requested");
    l.mask_hook = etp_json_get_str(&mask, "hook");
    l.mask_cleared = etp_json_get_str(&mask, "cleared");
    l.mask_caller = etp_json_get_str(&mask, "caller");
    etp_json_object hook = etp_json_get_object(o, "hook_cost"); // absent in older folders
    l.hook_cost.calls = etp_json_get_u64(&hook, "calls", INT64_MAX);
    l.hook_cost.call_ps = etp_json_get_u64(&hook, "call_ps", INT64_MAX);
    etp_json_object counters = etp_json_get_object(o, "counters"); // absent in older folders
    l.cycles = etp_json_get_u64(&counters, "cycles", INT64_MAX);
    l.instructions = etp_json_get_u64(&counters, "instructions", INT64_MAX);
    l.fast_cycles = etp_json_get_u64(&counters, "fast_cycles", INT64_MAX);
    l.energy_nj = etp_json_get_u64(&counters, "energy_nj", INT64_MAX);
    read_counted(o, &l);
    if (l.arm == UINT32_MAX) {
        etp_json_reject(o, "experiment", "in the plan");
    }
    if (!etp_launch_kind_find(etp_json_get_str(o, "kind"), &l.kind)) {
        etp_json_reject(o, "kind", "a kind of launch");
    }
    if (*o->status == ETP_OK && l.block <= run->blocks_done &&
        !ETP_PUSH(o->arena, &run->launches, l)) {
        *o->status = etp_fail_nomem(o->err, "launches");
    }
}

static double double_or_unknown(const etp_json_object *o, const char *key)
{
    const json_t *v = json_object_get(o->object, key);
    return v && !json_is_null(v) ? etp_json_get_double(o, key) : (double)NAN;
}

static etp_str text_or_empty(const etp_json_object *o, const char *key)
{
    return json_is_string(json_object_get(o->object, key)) ? etp_json_get_str(o, key) : ETP_STR("");
}

static etp_run_moment read_moment(const etp_json_object *o, const char *key)
{
    etp_json_object at = etp_json_get_object(o, key);
    const json_t *boost = json_object_get(at.object, "boost");
    return (etp_run_moment){
        .temperature_c = double_or_unknown(&at, "temperature_c"),
        .load1 = double_or_unknown(&at, "load1"),
        .time_ns = at.object ? count_or_unknown(&at, "time_ns") : UINT64_MAX,
        .memory_free_bytes = at.object ? count_or_unknown(&at, "memory_free_bytes") : UINT64_MAX,
        .cpu_busy_ms = at.object ? count_or_unknown(&at, "cpu_busy_ms") : UINT64_MAX,
        .cpu_steal_ms = at.object ? count_or_unknown(&at, "cpu_steal_ms") : UINT64_MAX,
        .governor = text_or_empty(&at, "governor"),
        .power = text_or_empty(&at, "power"),
        .boost = json_is_boolean(boost) ? json_is_true(boost) : -1,
        .freq_max_khz = at.object ? count_or_unknown(&at, "freq_max_khz") : UINT64_MAX,
        .freq_cap_khz = at.object ? count_or_unknown(&at, "freq_cap_khz") : UINT64_MAX,
        .thermal_status = at.object ? count_or_unknown(&at, "thermal_status") : UINT64_MAX,
    };
}

static void read_block(const etp_json_object *o, etp_run *run)
{
    etp_run_block b = {.block = etp_json_get_u32(o, "block", ETP_RUN_MAX_BLOCKS),
                       .start = read_moment(o, "start"),
                       .end = read_moment(o, "end")};
    uint64_t slept = count_or_unknown(o, "slept_ns"); // folders of before have neither
    b.slept_ns = slept == UINT64_MAX ? 0 : slept;
    b.clock_jump_s =
        json_object_get(o->object, "clock_jump_s") ? etp_json_get_double(o, "clock_jump_s") : 0;
    if (*o->status == ETP_OK && b.block >= 1 && b.block <= run->blocks_done &&
        !ETP_PUSH(o->arena, &run->blocks, b)) {
        *o->status = etp_fail_nomem(o->err, "blocks");
    }
}

// One line: launches and blocks are taken, other lines are for people.
static etp_status read_line(etp_str line, etp_arena *arena, etp_run *run, etp_error *err)
{
    json_t *json;
    ETP_TRY(etp_json_read(line, &json, err));
    etp_status status = ETP_OK;
    const etp_json_object o = {
        .object = json, .where = "", .arena = arena, .err = err, .status = &status};
    if (etp_str_eqz(etp_json_get_str(&o, "type"), "launch")) {
        read_launch(&o, run);
    } else if (etp_str_eqz(etp_json_get_str(&o, "type"), "block")) {
        read_block(&o, run);
    }
    json_decref(json);
    return status;
}

// Takes the first line off *TEXT, which starts AT bytes into the file. False at the end and before
// a line that was torn in the middle of a write.
static bool take_line(etp_str *text, etp_str *line, uint64_t *at, uint64_t *number_of_line)
{
    *line = (etp_str){text->ptr, etp_str_find(*text, ETP_STR("\n"))};
    if (line->len == text->len) {
        return false;
    }
    *number_of_line += 1;
    *at += line->len + 1;
    *text = (etp_str){text->ptr + line->len + 1, text->len - line->len - 1};
    return true;
}

// NEXT is where the line after this one starts.
static etp_status read_numbered(etp_str line, uint64_t next, uint64_t number_of_line,
                                etp_arena *arena, etp_run *run, etp_error *err)
{
    etp_status status = line.len == 0 ? ETP_OK : read_line(line, arena, run, err);
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
    rows->path = dir ? etp_run_path(&rows->arena, dir, etp_str_from(name)) : NULL;
    ETP_NEED(rows->path, err, name);
    if (run->blocks_done == 0 && !etp_os_is_file(rows->path)) {
        return ETP_OK;
    }
    ETP_TRY(etp_file_open(rows->path, ETP_RUN_ROWS_LIMIT, &rows->file, err));
    rows->text = (etp_str){(const char *)rows->file.bytes.ptr, rows->file.bytes.len};
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

const etp_run_launch *etp_run_launch_find(const etp_run *run, uint32_t block, uint32_t launch,
                                          etp_launch_kind kind)
{
    for (size_t i = 0; i < run->launches.n; i++) {
        const etp_run_launch *l = &run->launches.items[i];
        if (l->launch == launch && l->block == block && l->kind == kind) {
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

double etp_run_between(double start, double end)
{
    return isfinite(start) && isfinite(end) ? (start + end) / 2 : isfinite(start) ? start : end;
}
