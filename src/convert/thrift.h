// SPDX-License-Identifier: Apache-2.0
// Writing Thrift's compact protocol, which Parquet's page headers and footer are in.
// Format: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
#ifndef ETP_CONVERT_THRIFT_H
#define ETP_CONVERT_THRIFT_H

#include "base/sink.h"

// As deep as Parquet's structs nest, and some.
#define ETP_THRIFT_DEPTH 8

typedef enum etp_thrift_type { // as list elements are announced
    ETP_THRIFT_I32 = 5,
    ETP_THRIFT_BINARY = 8,
    ETP_THRIFT_STRUCT = 12,
} etp_thrift_type;

typedef struct etp_thrift {
    etp_strbuf *out; // remembers a failure
    int depth;
    int last[ETP_THRIFT_DEPTH]; // id of the field before, per open struct
} etp_thrift;

// A struct begins by itself as a list's element or a document (ID 0), else as field ID of the open
// one.
void etp_thrift_begin(etp_thrift *t, int id);
void etp_thrift_end(etp_thrift *t);
void etp_thrift_i32(etp_thrift *t, int id, int32_t v);
void etp_thrift_i64(etp_thrift *t, int id, int64_t v);
void etp_thrift_bool(etp_thrift *t, int id, bool v);
void etp_thrift_binary(etp_thrift *t, int id, etp_str v);
// N elements have to follow: structs, or the two below.
void etp_thrift_list(etp_thrift *t, int id, etp_thrift_type type, size_t n);
void etp_thrift_item_i32(etp_thrift *t, int32_t v);
void etp_thrift_item_binary(etp_thrift *t, etp_str v);

#endif
