// SPDX-License-Identifier: Apache-2.0
// Cells of Inspector's columns that are no times, in the order of Inspector.
#ifndef ETP_CONVERT_INSPECTOR_CELLS_H
#define ETP_CONVERT_INSPECTOR_CELLS_H

#include "base/json.h"
#include "convert/inspector.h"

typedef enum etp_inspector_column {
    ETP_INSPECTOR_BLOCK,
    ETP_INSPECTOR_EVENT,
    ETP_INSPECTOR_TYPES, // columns of times stand before it
    ETP_INSPECTOR_ID,
    ETP_INSPECTOR_TRACES,
    ETP_INSPECTOR_MODULES,
    ETP_INSPECTOR_DELEGATED,
    ETP_INSPECTOR_BACKEND,
    ETP_INSPECTOR_DEBUG,
    ETP_INSPECTOR_COLUMNS
} etp_inspector_column;

typedef struct etp_inspector_tensors { // how logged tensors are shown
    const etp_bytes *buffer;           // NULL: there is none
    bool whole; // for columns: where in the buffer their elements are, not which; all op types
} etp_inspector_tensors;

const char *etp_inspector_column_name(etp_inspector_column column);
ETP_NODISCARD etp_status etp_inspector_cell(etp_json *j, const etp_inspector_row *row,
                                            etp_inspector_column column,
                                            const etp_inspector_tensors *how, etp_error *err);

#endif
