// SPDX-License-Identifier: Apache-2.0
// How the tables of a format's .fbs are written down for the verifier: a row for each field, N its
// name in the .fbs, W its width in bytes. Enums, booleans and floats are scalars like all others:
// the verifier needs their width alone.
#ifndef ETP_FORMATS_SCHEMA_H
#define ETP_FORMATS_SCHEMA_H

#include "flatbuf/flatbuf.h"

#define SCALAR(n, w) {.name = (n), .kind = ETP_FB_SCALAR, .width = (w)}
#define STRING(n) {.name = (n), .kind = ETP_FB_STRING}
#define VECTOR(n, w) {.name = (n), .kind = ETP_FB_VECTOR, .width = (w)}
#define TABLE(n, t) {.name = (n), .kind = ETP_FB_TABLE, .table = (t)}
#define TABLES(n, t) {.name = (n), .kind = ETP_FB_VECTOR_TABLE, .table = (t)}
#define UNION(n, m) {.name = (n), .kind = ETP_FB_UNION, .members = (m)}
#define IGNORED(n) {.name = (n), .kind = ETP_FB_IGNORE}
// Of k_ID_fields.
#define SCHEMA(id, name) static const etp_fb_schema k_##id = ETP_FB_SCHEMA(name, k_##id##_fields)

// A number in a table of its own, as programs, bundles and recordings have it (pte_schema.c).
extern const etp_fb_schema etp_int_schema, etp_bool_schema, etp_double_schema;

#endif
