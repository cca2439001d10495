// SPDX-License-Identifier: Apache-2.0
// Columns that are members of etprof.ab/1: from the lists of document/ab_rows.h come the columns
// (table_columns.c), their cells (members.c) and what the test `documents`
// asks.
#ifndef ETP_CONVERT_DOCUMENT_COLUMNS_H
#define ETP_CONVERT_DOCUMENT_COLUMNS_H

#include "convert/table.h"
#include "store/store.h"

typedef enum etp_member_scope {
    ETP_MEMBER_OF_ROW,
    ETP_MEMBER_BY_ARM,   // has a value for each arm
    ETP_MEMBER_IN_ARM,   // of an object that there is for each arm
    ETP_MEMBER_OF_ASKED, // of the arm alone that asks for the feature
    ETP_MEMBER_NAMES,    // a list of texts for each arm
    ETP_MEMBER_BASELINE, // no member: what the arm is compared with
    ETP_MEMBER_COMPARED, // has a value for each comparison
} etp_member_scope;

typedef struct etp_member_column {
    const char *column;
    etp_column_type type;
    etp_member_scope scope;
    const char *outer, *key;
} etp_member_column;

// NULL: absent, or null.
const json_t *etp_member_of(const json_t *object, const char *key);
// One cell; what is not of TYPE is null.
void etp_member_put(etp_batch *b, etp_column_type type, const json_t *member);
// The arm of RUN with this name; run->arms.n: none.
uint32_t etp_member_arm(const etp_run *run, const char *name);

// Whoever includes a list of document/ab_rows.h after this defines COLUMN: what the list is made
// of.
#define MEMBER(row)
#define MEMBER_COLUMN(row, ...) __VA_ARGS__,
#define ETP_MEMBER_COLUMN(column, type, scope, outer, key) \
    {column, ETP_COLUMN_##type, ETP_MEMBER_##scope, outer, key}

#endif
