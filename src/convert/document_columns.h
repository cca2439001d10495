// SPDX-License-Identifier: Apache-2.0
// Columns that are members of etprof.ab/1, a list for each of its objects that is a row: the name
// of the column, its type, of what it is (etp_member_scope), the object inside the row's that has
// the member (NULL: the row's own), and the member. Columns (table_columns.c), rows (fleet_run.c,
// table_operators.c) and the test `documents` are made from these lists.
#ifndef ETP_CONVERT_DOCUMENT_COLUMNS_H
#define ETP_CONVERT_DOCUMENT_COLUMNS_H

#include "convert/table.h"

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

#define ETP_MEMBER_COLUMN(column, type, scope, outer, key) \
    {column, ETP_COLUMN_##type, ETP_MEMBER_##scope, outer, key},

#define ETP_ARM_COLUMNS(X)                                   \
    X("launches", I64, OF_ROW, NULL, "launches")             \
    X("samples", I64, OF_ROW, NULL, "samples")               \
    X("median_ns", I64, OF_ROW, NULL, "median_ns")           \
    X("traced_ns", I64, OF_ROW, NULL, "traced_ns")           \
    X("load_ns", I64, OF_ROW, NULL, "load_ns")               \
    X("first_ns", I64, OF_ROW, NULL, "first_ns")             \
    X("peak_rss_bytes", I64, OF_ROW, NULL, "peak_rss_bytes") \
    X("proof", BOOL, OF_ROW, "proof", "ok")

#define ETP_COMPARISON_COLUMNS(X)                         \
    X("speedup", F64, OF_ROW, "speedup", "estimate")      \
    X("lo", F64, OF_ROW, "speedup", "lo")                 \
    X("hi", F64, OF_ROW, "speedup", "hi")                 \
    X("confidence", F64, OF_ROW, "speedup", "confidence") \
    X("blocks", I64, OF_ROW, "speedup", "blocks")         \
    X("method", TEXT, OF_ROW, "speedup", "method")        \
    X("verdict", TEXT, OF_ROW, NULL, "verdict")           \
    X("margin", F64, OF_ROW, NULL, "margin")              \
    X("noise_floor", F64, OF_ROW, NULL, "noise_floor")    \
    X("withheld", TEXT, OF_ROW, NULL, "withheld")

#define ETP_FIX_COLUMNS(X)                             \
    X("id", TEXT, OF_ROW, NULL, "id")                  \
    X("kind", TEXT, OF_ROW, NULL, "kind")              \
    X("text", TEXT, OF_ROW, NULL, "text")              \
    X("gain_lo_ns", I64, OF_ROW, "gain_ns", "lo")      \
    X("gain_ns", I64, OF_ROW, "gain_ns", "expected")   \
    X("gain_hi_ns", I64, OF_ROW, "gain_ns", "hi")      \
    X("share", F64, OF_ROW, NULL, "share")             \
    X("concerns_ns", I64, OF_ROW, NULL, "concerns_ns") \
    X("recipe", TEXT, OF_ROW, NULL, "recipe")

// After "id". fleet_dump.c knows the order up to "ns".
#define ETP_OPERATOR_COLUMNS(X)                                    \
    X("label", TEXT, OF_ROW, NULL, "label")                        \
    X("category", TEXT, OF_ROW, NULL, "category")                  \
    X("five", TEXT, OF_ROW, NULL, "five")                          \
    X("delegated", BOOL, OF_ROW, NULL, "delegated")                \
    X("chain", I64, OF_ROW, NULL, "chain")                         \
    X("instruction", I64, OF_ROW, NULL, "instruction")             \
    X("names", TEXT, NAMES, "names", NULL)                         \
    X("ns", I64, BY_ARM, "ns", NULL)                               \
    X("untraced_ns", I64, BY_ARM, "untraced_ns", NULL)             \
    X("baseline", TEXT, BASELINE, NULL, NULL)                      \
    X("speedup", F64, COMPARED, NULL, "speedup")                   \
    X("macs", I64, OF_ROW, NULL, "macs")                           \
    X("bytes", I64, OF_ROW, NULL, "bytes")                         \
    X("node_type", TEXT, OF_ROW, NULL, "node_type")                \
    X("source_file", TEXT, OF_ROW, "source", "file")               \
    X("source_line", I64, OF_ROW, "source", "line")                \
    X("module", TEXT, OF_ROW, "source", "module")                  \
    X("engaged", TEXT, OF_ASKED, "engaged", "state")               \
    X("engaged_evidence", TEXT, OF_ASKED, "engaged", "evidence")   \
    X("engaged_reason_id", TEXT, OF_ASKED, "engaged", "reason_id") \
    X("roof_ns", I64, IN_ARM, "roof", "roof_ns")                   \
    X("roof_compute_ns", I64, IN_ARM, "roof", "compute_ns")        \
    X("roof_memory_ns", I64, IN_ARM, "roof", "memory_ns")          \
    X("roof_overhead_ns", I64, IN_ARM, "roof", "overhead_ns")      \
    X("roof_efficiency", F64, IN_ARM, "roof", "efficiency")        \
    X("roof_isa", TEXT, IN_ARM, "roof", "isa")                     \
    X("roof_verdict", TEXT, IN_ARM, "roof", "verdict")             \
    X("roof_missing", TEXT, IN_ARM, "roof", "missing")             \
    X("aligned_by", TEXT, OF_ROW, NULL, "aligned_by")              \
    X("doubtful", BOOL, OF_ROW, NULL, "doubtful")                  \
    X("confidence", F64, OF_ROW, NULL, "confidence")

#endif
