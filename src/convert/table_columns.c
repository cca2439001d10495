// SPDX-License-Identifier: Apache-2.0
// The tables: which columns they have. Those of fleets begin with two more than those of run
// folders.
#include "convert/document_columns.h"
#include "convert/fleet_rows.h"

#include <string.h>

#define I64 ETP_COLUMN_I64
#define F64 ETP_COLUMN_F64
#define BOOL ETP_COLUMN_BOOL
#define TEXT ETP_COLUMN_TEXT
#define TIME ETP_COLUMN_TIME

// What rows of a fleet begin with: etp_table_fleet_keys writes them.
#define FLEET               \
    {"day", TEXT, true},    \
    {                       \
        "build", TEXT, true \
    }
#define N_FLEET 2
// What every row of a session begins with: etp_table_session_keys writes them.
#define SESSION                                                                  \
    {"run", TEXT, false}, {"run_id", TEXT, false}, {"generated_at", TIME, true}, \
        {"platform", TEXT, true}, {"device", TEXT, true}, {"cpu", TEXT, true},   \
        {"emulated", BOOL, false}, {"model", TEXT, true},                        \
    {                                                                            \
        "model_sha256", TEXT, true                                               \
    }
// What every row of an arm begins with: etp_table_keys writes them.
#define KEYS                                                                                    \
    FLEET, SESSION, {"experiment", TEXT, false}, {"level", TEXT, true}, {"threads", I64, true}, \
        {"phase_name", TEXT, true}, {"phase_kind", TEXT, true}, {"phase_tokens", I64, true},    \
    {                                                                                           \
        "phase_depth", I64, true                                                                \
    }

// Of a member of the document (document/ab_rows.h).
#define COLUMN(column, type, scope, outer, key) {column, ETP_COLUMN_##type, true}

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
    {"id", TEXT, false},
#include "document/ab_operator.def"
};

static const etp_column_def k_sessions[] = {
    FLEET,
    SESSION,
    {"kind",            TEXT, false},
    {"state",           TEXT, true },
    {"stopped",         TEXT, true },
    {"tool_version",    TEXT, true },
    {"executorch",      TEXT, true },
    {"executorch_sha",  TEXT, true },
    {"grade",           TEXT, true },
    {"grade_reason",    TEXT, true },
    {"arms",            I64,  false},
    {"models",          I64,  false},
    {"blocks",          I64,  true },
    {"lost",            I64,  true },
    {"temperature_c",   F64,  true },
    {"thermal_status",  I64,  true },
    {"clock_cap_share", F64,  true },
    {"slept_ns",        I64,  true },
    {"noise",           F64,  true },
};

static const etp_column_def k_arms[] = {
    KEYS,
    {"is_baseline", BOOL, false},
#include "document/ab_arm.def"
};

static const etp_column_def k_comparisons[] = {
    KEYS,
    {"baseline",       TEXT, false},
    {"baseline_level", TEXT, true },
#include "document/ab_comparison.def"
};

static const etp_column_def k_fixes[] = {
    FLEET,
    SESSION,
#include "document/ab_fix.def"
};

static const etp_column_def k_errors[] = {
    {"day",     TEXT, true },
    {"run",     TEXT, false},
    {"run_id",  TEXT, true },
    {"device",  TEXT, true },
    {"model",   TEXT, true },
    {"kind",    TEXT, false},
    {"status",  TEXT, false},
    {"message", TEXT, false},
    {"at_byte", I64,  true },
};

typedef struct table {
    const char *name;
    const etp_column_def *columns;
    size_t n_columns;
} table;

#define WHOLE(name) {#name, k_##name, sizeof k_##name / sizeof k_##name[0]}
// A table of run folders is the fleet's without its first columns.
#define TABLE(name) {#name, k_##name + N_FLEET, sizeof k_##name / sizeof k_##name[0] - N_FLEET}
static const table k_tables[ETP_RUN_TABLES] = {
    [ETP_RUN_TABLE_OPERATORS] = TABLE(operators),
    [ETP_RUN_TABLE_SAMPLES] = TABLE(samples),
    [ETP_RUN_TABLE_LAUNCHES] = TABLE(launches),
};

static const table k_fleet_tables[ETP_FLEET_TABLES] = {
    [ETP_FLEET_SESSIONS] = WHOLE(sessions),       [ETP_FLEET_ARMS] = WHOLE(arms),
    [ETP_FLEET_COMPARISONS] = WHOLE(comparisons), [ETP_FLEET_OPERATORS] = WHOLE(operators),
    [ETP_FLEET_SAMPLES] = WHOLE(samples),         [ETP_FLEET_FIXES] = WHOLE(fixes),
    [ETP_FLEET_ERRORS] = WHOLE(errors),
};

const char *etp_fleet_table_name(etp_fleet_table t)
{
    return t < ETP_FLEET_TABLES ? k_fleet_tables[t].name : "";
}

const etp_column_def *etp_fleet_columns(etp_fleet_table t, size_t *out_n)
{
    *out_n = k_fleet_tables[t].n_columns;
    return k_fleet_tables[t].columns;
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
