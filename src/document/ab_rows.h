// SPDX-License-Identifier: Apache-2.0
// The four objects of etprof.ab/1 that are rows of tables too: an arm, a comparison, an operator, a
// next fix. Each has a list of its own (ab_arm.def, …), of which show/json.c makes the members of
// the document and the room convert the columns (Parquet, Arrow), by what they define as
//   MEMBER(row)                  a member without a column; ETP_NO_COLUMN says that one is not
//   wanted MEMBER_COLUMN(row, COLUMN(…), …)  with one, or several of the members of an object
//   COLUMN(column, type, scope, outer, key)  its name, its type, of what it is (etp_member_scope of
//                                convert/document_columns.h), the object inside the row's that has
//                                the member (NULL: the row's own), and the member
// Parquet and Arrow have the columns in this order.
#ifndef ETP_DOCUMENT_AB_ROWS_H
#define ETP_DOCUMENT_AB_ROWS_H

#define MEMBER(row) row,
#define MEMBER_COLUMN(row, ...) row,

#endif
