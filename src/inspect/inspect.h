// SPDX-License-Identifier: Apache-2.0
// The answer of `etprof inspect`: what is in a file, what makes it big, and what runs outside
// delegates. For .pte, .bpte, .ptd, .etrecord and .etdump.
#ifndef ETP_INSPECT_INSPECT_H
#define ETP_INSPECT_INSPECT_H

#include <etprof/bundled.h>
#include <etprof/etrecord.h>
#include <etprof/flat_tensor.h>
#include <etprof/program.h>
#include <etprof/trace.h>

#include "document/fields.h"
#include "program/belong.h"
#include "program/planned.h"
#include "report/report.h"

typedef enum etp_file_kind {
    ETP_FILE_PTE,
    ETP_FILE_ETDUMP,
    ETP_FILE_ETRECORD,
    ETP_FILE_BPTE,
    ETP_FILE_PTD,
    ETP_FILE_UNKNOWN
} etp_file_kind;

typedef struct etp_inspect_operator { // one name, over all methods
    etp_str name; // "aten::mean.out", "Conv2d", a backend's id for delegates we cannot look into
    bool delegated;
    uint64_t calls; // per execution of every method once
    uint64_t macs, bytes;
    uint64_t unknown; // calls whose work is unknown
    bool bound;       // macs and bytes are at most these
    bool timed;       // the recording has it (etp_inspect_time)
    uint64_t ns;      // of all its calls, mean over the executions of their methods
} etp_inspect_operator;

typedef struct etp_inspect_times { // where the time of a recording went, mean of an execution
    const char *dump;              // as given
    // Fused nodes count where the operator that does their work is named.
    uint64_t undelegated_ns, delegated_ns;
    uint64_t unmatched_ns; // operators that the program does not name: inserted by the delegate
    const char *doubt;     // of a block that it is the program's, as etp_join has it; NULL: none
} etp_inspect_times;

typedef struct etp_inspect_weight { // one constant of the program, counted once
    etp_str name;                   // fully qualified name or key; empty when it has none
    const etp_value *value;
    const void *place;          // of its bytes; what tells constants without a name apart
    const etp_node *node;       // first node that uses it, NULL for kernels
    uint64_t bytes;             // without its scales
    uint32_t method, partition; // of the first use; partition ETP_NO_INDEX for kernels
    uint32_t uses;
    bool is_scale; // quantisation scales of VALUE: constants of their own, shared on their own
} etp_inspect_weight;

typedef struct etp_inspect_part { // what the bytes of the file are; parts add up to its size
    const char *what;
    uint64_t bytes;
    uint32_t count;
} etp_inspect_part;

typedef struct etp_inspect_planned { // of a method
    const etp_planned *buffers;      // by arena and offset
    size_t n_buffers;
    const uint64_t *live; // bytes in use while each instruction runs
    size_t n_live;        // 0: no memory was planned, or it is not known
    uint32_t peak;        // the instruction with most
    uint64_t kept_bytes;
    const char *untold; // why it is not known, NULL
} etp_inspect_planned;

typedef struct etp_inspect {
    etp_file_kind kind;
    const char *path; // as given
    uint64_t size;
    const etp_program *program;            // PTE, BPTE
    const etp_trace *trace;                // ETDUMP
    const etp_etrecord *record;            // ETRECORD, or given beside a program for sources
    const etp_bundled *bundled;            // BPTE
    const char *test_problem;              // BPTE: what is wrong with its test cases, or NULL
    const etp_flat_tensor *ptd;            // PTD
    const etp_inspect_operator *operators; // not delegated ones first, then by calls and name
    size_t n_operators;
    const etp_inspect_weight *weights; // largest first
    size_t n_weights;
    // Weights and parts answer two questions and need not agree: weights are what the methods use,
    // wherever it is stored; parts are what the bytes of this file are, used or not.
    uint64_t weight_bytes;   // Σ of weights, scales included
    uint64_t external_bytes; // of these, kept outside the file
    uint64_t by_dtype[ETP_DTYPE_COUNT];
    uint64_t scale_bytes; // not in by_dtype
    const etp_inspect_part *parts;
    size_t n_parts;
    uint64_t shared_bytes;          // saved because blobs are stored once and used several times
    const etp_inspect_times *times; // NULL without a recording
    const etp_inspect_planned *planned; // of each method of the program
    etp_belonging belonging;            // how far a record beside a program agrees with it
} etp_inspect;

// What BYTES look like, by their first bytes.
etp_file_kind etp_inspect_probe(etp_bytes bytes);
const char *etp_file_kind_name(etp_file_kind kind); // "pte"

// Opens BYTES as what they look like. *out lives in ARENA and borrows from BYTES; etp_inspect_close
// ends what was opened. RECORD_BYTES: an ETRecord for sources, or len 0.
ETP_NODISCARD etp_status etp_inspect_open(const char *path, etp_bytes bytes, etp_bytes record_bytes,
                                          etp_arena *arena, etp_inspect *out, etp_error *err);
void etp_inspect_close(etp_inspect *inspect); // a zeroed one is fine

// What of METHOD's planned memory is in use when.
void etp_inspect_plan(const etp_method *method, etp_arena *arena, etp_inspect_planned *out);
// The largest first: buffers that are needed at the instruction AT; ETP_NO_INDEX: all of them.
const etp_planned **etp_planned_largest(const etp_inspect_planned *planned, uint32_t at,
                                        etp_arena *arena, size_t *out_n);
// "12 aten::mean.out"; where a buffer comes from, and who needs it last.
const char *etp_planned_at(const etp_method *method, uint32_t at, etp_arena *arena);
const char *etp_planned_from(const etp_method *method, const etp_planned *buffer, etp_arena *arena);
const char *etp_planned_to(const etp_method *method, const etp_planned *buffer, etp_arena *arena);

// Of a method in its section: when how much is in use, and what holds the most.
void etp_inspect_planned_report(const etp_method *method, const etp_inspect_planned *planned,
                                etp_keys *keys, etp_report *r, etp_arena *arena);
// "1×3×224×224 float32". A shape is cut rather than refused: 48 bytes are kept for the longest
// number, the type and "(at most)".
#define ETP_SHAPE_CHARS 160
const char *etp_shape_text(const etp_value *v, char buf[static ETP_SHAPE_CHARS]);

// The first tensor of the test cases whose data are not those of its shape; NULL: there is none.
const char *etp_inspect_bundle_problem(const etp_bundled *bundled, etp_arena *arena);

// Adds what the operators of a program cost in TRACE, a recording of it that was read from DUMP.
// ETP_USAGE: INSPECT is no program, or no operator of it is in the recording.
ETP_NODISCARD etp_status etp_inspect_time(etp_inspect *inspect, const etp_trace *trace,
                                          const char *dump, etp_arena *arena, etp_error *err);

// Where a node or kernel call comes from, by the record; NULL when unknown.
const etp_source *etp_inspect_node_source(const etp_inspect *inspect, const etp_method *method,
                                          const etp_node *node);
const etp_source *etp_inspect_call_source(const etp_inspect *inspect, const etp_method *method,
                                          const etp_instruction *call);

extern const etp_document k_etp_inspect_document; // of etp_inspect
const etp_report *etp_inspect_report(const etp_inspect *inspect, etp_arena *arena);
// A note of the executions that are left out, if any.
void etp_report_damage(const etp_trace *trace, etp_report *r, etp_arena *arena);
// Every method, instruction and node as an indented list (programs only).
const etp_report *etp_inspect_tree(const etp_inspect *inspect, etp_arena *arena);

// ---- difference of two programs ----

// A flat list rather than a struct for each kind: every kind is told by two numbers, and what a
// program does not have is 0.
typedef struct etp_diff_row { // one fact that both programs have a number for
    const char *kind;         // "file", "part", "weights", "operator", "method"
    etp_str name;             // "conv.bias", "aten::mean.out", "forward: MACs"
    uint64_t a, b;
    bool is_bytes;
} etp_diff_row;

typedef struct etp_inspect_diff {
    const char *a_path, *b_path;
    const etp_diff_row *rows; // equal ones too, in the order of kinds above
    size_t n_rows;
    size_t n_different;
} etp_inspect_diff;

// Compares two programs (.pte or .bpte): size, parts, weights, operators, methods. ETP_USAGE when
// one of them is no program.
ETP_NODISCARD etp_status etp_inspect_compare(const etp_inspect *a, const etp_inspect *b,
                                             etp_arena *arena, etp_inspect_diff *out,
                                             etp_error *err);
extern const etp_document k_etp_inspect_diff_document; // of etp_inspect_diff
const etp_report *etp_inspect_diff_report(const etp_inspect_diff *diff, etp_arena *arena);

#endif
