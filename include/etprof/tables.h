// SPDX-License-Identifier: Apache-2.0
// What run folders hold as columns for other tools: an Arrow C stream, whose batches pyarrow,
// Polars, DuckDB and Spark's workers take over without a copy or a file. docs/tables.md describes
// the tables.
//
// Ownership: the stream, its schema and every batch (also a column that was moved out of its batch)
// belong to the consumer, who calls their release callbacks, in any order. Nothing of them points
// into another. Thread rule: a stream is for one thread at a time; schemas and batches may be
// released on any thread.
#ifndef ETPROF_TABLES_H
#define ETPROF_TABLES_H

#include <stddef.h>
#include <stdint.h>

#include <etprof/bytes.h>
#include <etprof/error.h>

ETP_C_BEGIN

// The Arrow C data interface: names, order and types of the fields are Arrow's ABI.
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};
#endif

typedef enum etp_run_table {
    ETP_RUN_TABLE_OPERATORS, // one row per operator and arm, by the analysis of the session
    ETP_RUN_TABLE_SAMPLES,   // one row per iteration of samples.csv
    ETP_RUN_TABLE_LAUNCHES,  // one row per process of environment.jsonl
    ETP_RUN_TABLES
} etp_run_table;

ETP_API etp_run_table
etp_run_table_find(const char *name); // ETP_RUN_TABLES when there is none of that name

// The tables of a fleet (fleet.h), which have a column for the source too.
typedef enum etp_fleet_table {
    ETP_FLEET_SESSIONS,    // one row per source
    ETP_FLEET_ARMS,        // one row per arm
    ETP_FLEET_COMPARISONS, // one row per arm that was compared with the baseline
    ETP_FLEET_OPERATORS,   // one row per operator and arm
    ETP_FLEET_SAMPLES,     // one row per inference
    ETP_FLEET_FIXES,       // one row per next fix
    ETP_FLEET_ERRORS,      // one row per source that gave no other rows
    ETP_FLEET_TABLES
} etp_fleet_table;

ETP_API const char *etp_fleet_table_name(etp_fleet_table table); // static

// The rows of all FOLDERS in their order. Copies the names; folders are opened when their turn
// comes, so that one which is missing or damaged shows as the error of get_next (EINVAL, EIO or
// ENOMEM; get_last_error has the words). On failure (ETP_NOMEM) OUT is released already.
ETP_API ETP_NODISCARD etp_status etp_tables_stream(etp_run_table table, const char *const *folders,
                                                   size_t n_folders, struct ArrowArrayStream *out,
                                                   etp_error *err);

ETP_C_END

#endif
