// SPDX-License-Identifier: Apache-2.0
// ETRecords: what the exporter remembered about a program's source, by debug handle.
//
// Read from the record: the edge graphs (operator, Python file and line, module path per debug
// handle) and the map from instructions to handles. Weights inside the record are not touched.
// Ownership: everything lives in the caller's arena; the bytes may go after reading.
// Thread rule: immutable after reading.
#ifndef ETPROF_ETRECORD_H
#define ETPROF_ETRECORD_H

#include <etprof/arena.h>
#include <etprof/bytes.h>
#include <etprof/dtype.h>
#include <etprof/error.h>

ETP_C_BEGIN

typedef struct etp_source {
    uint32_t handle;
    etp_str op;       // edge operator, "aten.addmm.default"; the first of those sharing the handle
    etp_str file;     // innermost frame outside installed packages, else innermost; may be empty
    uint32_t line;    // 0 when unknown
    etp_str function; // "forward"
    etp_str module;   // module path, "blocks.0.attn.qkv"; empty for the top
    etp_str module_type;  // "torch.nn.modules.linear.Linear"
    etp_str stack;        // the whole trace as recorded
    etp_str node;         // name in the edge graph, "aten_addmm_default_1"
    etp_str module_stack; // as recorded: "key,path,type" joined by ';'
    int64_t elements;     // of its first result; 0 when unknown
    etp_dtype dtype;      // of its first result, of the kinds of float; UNKNOWN: of others
    bool nested;          // in a graph inside another one (branches of torch.cond)
} etp_source;

typedef struct etp_record_delegate_op { // what a backend said about one of its operators
    etp_str id;                         // its delegate debug id, integers in decimal
    const uint32_t *handles;
    uint32_t n_handles;
} etp_record_delegate_op;

typedef struct etp_record_instruction {
    uint32_t index; // instruction id in the method
    const uint32_t *handles;
    uint32_t n_handles;
    etp_str delegate;                           // backend's name for delegate calls, else empty
    const etp_record_delegate_op *delegate_ops; // as recorded; none from XNNPACK
    uint32_t n_delegate_ops;
} etp_record_instruction;

typedef struct etp_record_method {
    etp_str name;
    const etp_source *sources; // ascending by handle
    uint32_t n_sources;
    const etp_source *nodes; // every node that has a handle, in graph order
    uint32_t n_nodes;
    const etp_record_instruction *instructions; // ascending
    uint32_t n_instructions;
} etp_record_method;

typedef struct etp_record_entry {
    etp_str name;
    uint64_t size;
} etp_record_entry;

typedef struct etp_etrecord {
    uint64_t file_size;
    const etp_record_entry *entries; // of the archive, in its order
    uint32_t n_entries;
    const etp_record_method *methods; // sorted by name
    uint32_t n_methods;
} etp_etrecord;

// Errors: ETP_CORRUPT, ETP_UNSUPPORTED (a zip without ETRECORD_V0), ETP_NOMEM.
ETP_API ETP_NODISCARD etp_status etp_etrecord_read(etp_bytes bytes, etp_arena *arena,
                                                   etp_etrecord *out, etp_error *err);
ETP_API const etp_record_method *etp_etrecord_method(const etp_etrecord *record, etp_str name);
// Whether a Python file belongs to an installed package: what no model's author wrote.
ETP_API bool etp_source_is_package(etp_str file);
// NULL when the record does not know the handle, or METHOD is NULL. HANDLE −1 gives NULL.
ETP_API const etp_source *etp_etrecord_source(const etp_record_method *method, int64_t handle);
// Handles of an instruction (one for a kernel, all of a partition for a delegate call), or NULL.
ETP_API const etp_record_instruction *etp_etrecord_instruction(const etp_record_method *method,
                                                               uint32_t index);

ETP_C_END

#endif
