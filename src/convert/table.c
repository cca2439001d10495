// SPDX-License-Identifier: Apache-2.0
// The three tables: which columns they have and how the rows of run folders fill them.
#include "convert/table.h"

#include <stdio.h>

#include "convert/table_rows.h"

#define I64 ETP_COLUMN_I64
#define F64 ETP_COLUMN_F64
#define BOOL ETP_COLUMN_BOOL
#define TEXT ETP_COLUMN_TEXT
#define TIME ETP_COLUMN_TIME

// What every row begins with: etp_table_keys writes them.
#define KEYS                                                                            \
    {"run", TEXT, false}, {"run_id", TEXT, false}, {"generated_at", TIME, true},        \
        {"platform", TEXT, true}, {"device", TEXT, true}, {"cpu", TEXT, true},          \
        {"emulated", BOOL, false}, {"model", TEXT, true}, {"model_sha256", TEXT, true}, \
        {"experiment", TEXT, false}, {"level", TEXT, true},                             \
    {                                                                                   \
        "threads", I64, true                                                            \
    }

static const etp_column_def k_samples[] = {
    KEYS,
    {"block",       I64,  false},
    {"launch",      I64,  false},
    {"iteration",   I64,  false},
    {"phase",       TEXT, false},
    {"start_ns",    I64,  false},
    {"duration_ns", I64,  false},
};

static const etp_column_def k_launches[] = {
    KEYS,
    {"block",                I64,  false},
    {"launch",               I64,  false},
    {"position",             I64,  false},
    {"kind",                 TEXT, false},
    {"pid",                  I64,  true },
    {"start_ns",             I64,  true },
    {"wall_ns",              I64,  true },
    {"load_ns",              I64,  true },
    {"first_ns",             I64,  true },
    {"rss_bytes",            I64,  true },
    {"peak_rss_bytes",       I64,  true },
    {"user_ns",              I64,  true },
    {"system_ns",            I64,  true },
    {"minor_faults",         I64,  true },
    {"major_faults",         I64,  true },
    {"voluntary_switches",   I64,  true },
    {"involuntary_switches", I64,  true },
    {"wait_ns",              I64,  true },
    {"migrations",           I64,  true },
    {"cycles",               I64,  true },
    {"instructions",         I64,  true },
    {"fast_cycles",          I64,  true },
    {"energy_nj",            I64,  true },
    {"hook_calls",           I64,  true },
    {"hook_cost_calls",      I64,  true },
    {"hook_cost_call_ps",    I64,  true },
    {"mask_requested",       TEXT, true },
    {"mask_cleared",         TEXT, true },
    {"mask_hook",            TEXT, true },
    {"mask_caller",          TEXT, true },
    {"flags",                TEXT, true },
    {"cpus_allowed",         TEXT, true },
};

static const etp_column_def k_operators[] = {
    KEYS,
    {"id",                TEXT, false},
    {"label",             TEXT, true },
    {"category",          TEXT, true },
    {"five",              TEXT, true },
    {"delegated",         BOOL, true },
    {"chain",             I64,  true },
    {"instruction",       I64,  true },
    {"names",             TEXT, true },
    {"ns",                I64,  true },
    {"untraced_ns",       I64,  true },
    {"baseline",          TEXT, true },
    {"speedup",           F64,  true },
    {"macs",              I64,  true },
    {"bytes",             I64,  true },
    {"node_type",         TEXT, true },
    {"source_file",       TEXT, true },
    {"source_line",       I64,  true },
    {"module",            TEXT, true },
    {"engaged",           TEXT, true },
    {"engaged_evidence",  TEXT, true },
    {"engaged_reason_id", TEXT, true },
    {"roof_ns",           I64,  true },
    {"roof_compute_ns",   I64,  true },
    {"roof_memory_ns",    I64,  true },
    {"roof_overhead_ns",  I64,  true },
    {"roof_efficiency",   F64,  true },
    {"roof_isa",          TEXT, true },
    {"roof_verdict",      TEXT, true },
    {"roof_missing",      TEXT, true },
    {"aligned_by",        TEXT, true },
    {"doubtful",          BOOL, true },
    {"confidence",        F64,  true },
};

typedef struct table {
    const char *name;
    const etp_column_def *columns;
    size_t n_columns;
    const etp_table_rows *rows;
} table;

#define TABLE(name, rows) {#name, k_##name, sizeof k_##name / sizeof k_##name[0], rows}
static const table k_tables[ETP_RUN_TABLES] = {
    [ETP_RUN_TABLE_OPERATORS] = TABLE(operators, &k_etp_operator_rows),
    [ETP_RUN_TABLE_SAMPLES] = TABLE(samples, &k_etp_sample_rows),
    [ETP_RUN_TABLE_LAUNCHES] = TABLE(launches, &k_etp_launch_rows),
};

const char *etp_run_table_name(etp_run_table t)
{
    return t < ETP_RUN_TABLES ? k_tables[t].name : "";
}

etp_run_table etp_run_table_find(const char *name)
{
    etp_run_table t = ETP_RUN_TABLE_OPERATORS;
    while (t < ETP_RUN_TABLES && strcmp(k_tables[t].name, name) != 0) {
        t++;
    }
    return t;
}

const etp_column_def *etp_run_table_columns(etp_run_table t, size_t *out_n)
{
    *out_n = k_tables[t].n_columns;
    return k_tables[t].columns;
}

struct etp_run_table_source {
    etp_arena arena; // owns this struct too
    etp_run_table table;
    const char **folders;
    size_t n_folders, next;
    bool open; // folder next − 1
    etp_table_folder folder;
};

etp_run_table etp_run_table_of(const etp_run_table_source *source)
{
    return source->table;
}

etp_status etp_run_table_open(etp_run_table t, const char *const *folders, size_t n_folders,
                              etp_run_table_source **out, etp_error *err)
{
    *out = NULL;
    etp_arena arena = {0};
    etp_run_table_source *s = ETP_NEW(&arena, etp_run_table_source);
    const char **names = ETP_NEW_ARRAY(&arena, const char *, n_folders);
    bool ok = s && names;
    for (size_t i = 0; ok && i < n_folders; i++) {
        etp_str name = etp_str_from(folders[i]);
        while (name.len > 1 && name.ptr[name.len - 1] == '/') {
            name.len--;
        }
        names[i] = etp_arena_strdup(&arena, name);
        ok = names[i] != NULL;
    }
    if (!ok) {
        etp_arena_dispose(&arena);
        return etp_fail_nomem(err, "folders");
    }
    *s = (etp_run_table_source){
        .arena = arena, .table = t, .folders = names, .n_folders = n_folders};
    *out = s;
    return ETP_OK;
}

static void close_folder(etp_run_table_source *s)
{
    if (s->open) {
        k_tables[s->table].rows->close(&s->folder);
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

// "2026-11-21T09:00:00Z" in microseconds since 1970.
static bool parse_utc(etp_str s, int64_t *out)
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
    s->folder = (etp_table_folder){0};
    s->open = true;
    etp_table_folder *f = &s->folder;
    if (!etp_run_is(dir)) {
        return etp_fail(err, ETP_USAGE, "%s is no run folder (no manifest.json of etprof in it)",
                        dir);
    }
    ETP_TRY(etp_run_open_manifest(dir, &f->arena, &f->run, err));
    const char *manifest = etp_run_path(&f->arena, dir, ETP_STR(ETP_RUN_MANIFEST));
    uint64_t bytes;
    ETP_TRY(manifest ? etp_run_hash_file(manifest, f->id, &bytes, err) : etp_fail_nomem(err, dir));
    f->timed = parse_utc(f->run.generated_at, &f->generated_us);
    f->cpu = etp_run_fact_of(&f->run, "cpu");
    return k_tables[s->table].rows->open(f, err);
}

void etp_table_keys(const etp_table_folder *f, uint32_t arm_index, etp_batch *b)
{
    const etp_run_arm *arm = &f->run.arms.items[arm_index];
    const etp_run_model *model =
        arm->model < f->run.models.n ? &f->run.models.items[arm->model] : NULL;
    etp_batch_text(b, f->run.dir);
    etp_batch_text(b, etp_str_from(f->id));
    etp_batch_i64_if(b, (uint64_t)f->generated_us, f->timed);
    etp_batch_text_if(b, f->run.platform);
    etp_batch_text_if(b, f->run.device_spec);
    etp_batch_text_if(b, f->cpu);
    etp_batch_bool(b, arm->emulated || f->run.emulated);
    etp_batch_text_if(b, model ? model->stem : ETP_STR(""));
    etp_batch_text_if(b, model ? model->sha256 : ETP_STR(""));
    etp_batch_text(b, arm->name);
    etp_batch_text_if(b, arm->level);
    etp_batch_i64_if(b, arm->threads, arm->threads > 0);
}

etp_status etp_run_table_next(etp_run_table_source *s, etp_batch *batch, etp_error *err)
{
    const etp_table_rows *rows = k_tables[s->table].rows;
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
