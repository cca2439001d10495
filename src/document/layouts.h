// SPDX-License-Identifier: Apache-2.0
// The CSV files of a run folder, each described once. From a layout come the header that is
// written, what 'etprof validate' asks of every cell, and the columns in docs/documents.md.
#ifndef ETP_DOCUMENT_LAYOUTS_H
#define ETP_DOCUMENT_LAYOUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/sink.h"

typedef enum etp_layout_id {
    ETP_LAYOUT_SAMPLES,
    ETP_LAYOUT_TIMELINE,
    ETP_LAYOUT_OPS_STATS,
    ETP_LAYOUT_CATEGORIES,
    ETP_LAYOUT_OPERATORS,
    ETP_LAYOUT_OTHER_OPERATORS,
    ETP_LAYOUT_LATENCY,
    ETP_LAYOUT_COMPARISON, // its further columns carry the names of experiments
    ETP_LAYOUT_KERNELS,
    ETP_LAYOUT_CODE_SAMPLES,
    ETP_LAYOUT_CODE,
    ETP_LAYOUT_SOURCES,
    ETP_LAYOUT_COUNT
} etp_layout_id;

typedef enum etp_layout_kind {
    ETP_LAYOUT_TEXT,
    ETP_LAYOUT_NUMBER,
    ETP_LAYOUT_INTEGER
} etp_layout_kind;

typedef struct etp_layout_column {
    const char *name, *doc;
    etp_layout_kind kind;
    bool may_be_empty;
} etp_layout_column;

typedef struct etp_layout {
    const char *suffix, *title; // suffix: of the file's name
    const etp_layout_column *columns;
    size_t n_columns;
    size_t n_required; // the first ones, in this order (the kit's); others may follow them
    bool may_be_empty, is_checked; // without rows; by 'etprof validate', cell by cell
} etp_layout;

const etp_layout *etp_layout_of(etp_layout_id id); // static
// Names of the columns that must be there, with commas, in BUFFER of SIZE bytes: cut to it.
const char *etp_layout_required(const etp_layout *layout, char *buffer, size_t size);
// A file begins with something else.
ETP_NODISCARD etp_status etp_layout_fail(etp_layout_id id, etp_error *err);
// The names of all columns and a line break.
void etp_layout_header(etp_sink *sink, etp_layout_id id);

#endif
