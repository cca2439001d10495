// SPDX-License-Identifier: Apache-2.0
// The tables of ExecuTorch's Inspector, digit for digit, its losses included: of events with equal
// name and ids in one run only the last is kept, the chain is not part of an event's identity, and
// runs of different methods with equal events are averaged together. Use trace.h for the truth.
//
// Files on which Inspector fails get the table it would give without what it fails on: allocation
// events and empty blocks are left out, a missing size prefix does not matter.
#ifndef ETP_CONVERT_INSPECTOR_H
#define ETP_CONVERT_INSPECTOR_H

#include <etprof/arena.h>
#include <etprof/etdump.h>
#include <etprof/etrecord.h>

#include "base/sink.h"

typedef struct etp_inspector_node { // a graph node of the ETRecord
    etp_str name;                   // "aten_convolution_default_1"
    etp_str stack_trace;            // ptr NULL: none
    etp_str module_stack;           // as recorded; ptr NULL: none
} etp_inspector_node;

typedef enum etp_inspector_statistic { // of a row's times, in Inspector's order
    ETP_INSPECTOR_P10,
    ETP_INSPECTOR_P50,
    ETP_INSPECTOR_P90,
    ETP_INSPECTOR_AVG,
    ETP_INSPECTOR_MIN,
    ETP_INSPECTOR_MAX,
    ETP_INSPECTOR_STATISTICS
} etp_inspector_statistic;

typedef struct etp_inspector_row {
    size_t block;       // from 0: those of one name may differ in their events
    etp_str block_name; // ptr NULL: none
    int32_t instruction_id;
    etp_str event_name;
    bool delegated;
    bool id_is_int;          // of a delegated row: its identifier is delegate_id …
    int32_t delegate_id;     // …
    etp_str delegate_id_str; // … or this string
    const double *raw_ms;    // n values; n 0: an event without times
    const uint64_t *start;   // ticks
    size_t n;
    double statistics[ETP_INSPECTOR_STATISTICS];
    const etp_etdump_value *debug;
    size_t n_debug;
    // From an ETRecord; empty without one.
    etp_str backend_name; // ptr NULL: none
    const etp_str *op_types;
    size_t n_op_types;
    etp_str op_types_text; // Inspector's abbreviation of 5 or more; ptr NULL below
    const etp_inspector_node *nodes;
    size_t n_nodes;
} etp_inspector_row;

typedef struct etp_inspector_table {
    etp_inspector_row *rows;
    size_t n_rows;
} etp_inspector_table;

// Strings borrow from the dump's bytes, the rest lives in ARENA. Errors: ETP_NOMEM; ETP_CORRUPT for
// an event that ends before it starts.
ETP_NODISCARD etp_status etp_inspector_build(const etp_etdump *dump, etp_arena *arena,
                                             etp_inspector_table *out, etp_error *err);

// Adds operator types, source and backend names from the record's method "forward", the only one
// Inspector looks at; without that method (there Inspector fails) nothing is added. TABLE borrows
// from RECORD afterwards. Errors: ETP_NOMEM.
ETP_NODISCARD etp_status etp_inspector_annotate(etp_inspector_table *table,
                                                const etp_etrecord *record, etp_arena *arena,
                                                etp_error *err);

// A delegate of a microcontroller wrote it: what the columns call ms is cycles ÷ 1,000,000.
bool etp_inspector_in_cycles(const etp_inspector_table *table);

// What Inspector.save_data_to_tsv writes.
void etp_inspector_tsv(const etp_inspector_table *table, etp_sink *sink);

// The rows of Inspector.to_dataframe(): every column, missing values null; a tensor is {dtype,
// shape, sum, data} or, above 64 elements, the first of them as "head". BUFFER: the debug buffer
// file, NULL when there is none (tensors are zeros then, as Inspector has it).
ETP_NODISCARD etp_status etp_inspector_json(const etp_inspector_table *table,
                                            const etp_bytes *buffer, etp_sink *sink,
                                            etp_error *err);

// The same by columns, for programs (etp_inspector_columns of <etprof/reply.h>): with n rows and N
// times in all, 6 n doubles (p10, p50, p90, avg, min, max; NaN without times), n + 1 uint64_t
// (where a row's times begin), N doubles (ms), N uint64_t (ticks), and then JSON: {column: [n
// cells], …} of the other columns that are not [], {}, null or false in each row. A tensor is
// {dtype, shape, at}: the byte of BUFFER where its elements begin, null without a buffer.
ETP_NODISCARD etp_status etp_inspector_columns_write(const etp_inspector_table *table,
                                                     const etp_bytes *buffer, etp_sink *sink,
                                                     etp_error *err);

#endif
