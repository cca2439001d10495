// SPDX-License-Identifier: Apache-2.0
// The answer of `etprof ops`: every operator of one dump with its statistics, and what the program
// (when it is given) says about it.
#ifndef ETP_INSPECT_OPS_H
#define ETP_INSPECT_OPS_H

#include <etprof/join.h>

#include <etprof/operators.h>

#include "document/fields.h"
#include "program/belong.h"
#include "report/report.h"
#include "trace/ops.h"

extern const etp_shape k_etp_trace_damage_shape; // of an execution whose clock jumped

typedef struct etp_ops_answer {
    const char *dump; // path as given
    const etp_trace *trace;
    const etp_program *program; // NULL: names alone
    bool cycles;                // times are cycles of an unknown rate, and no nanoseconds
    etp_op_table table;
    etp_op_name *names; // [table.n_rows], parsed
    // [table.n_rows] "op3": that operator in every answer about the recording; "unlogged1": the
    // time of a call outside its operators. NULL after etp_ops_unnumbered.
    const char **ids;
    etp_op_facts *facts;       // [table.n_rows], NULL without a program
    double *confidence;        // [table.n_rows], NAN without a program
    const etp_join *joins;     // [blocks], NULL without a program
    etp_belonging record;      // how far the record agrees with the program
    const etp_source *sources; // [table.n_rows], file.len 0 = unknown; NULL without a program
} etp_ops_answer;

// TRACE, PROGRAM, RECORD (both may be NULL) and DUMP must outlive *out, which lives in ARENA.
ETP_NODISCARD etp_status etp_ops_answer_build(const etp_trace *trace, const etp_program *program,
                                              const etp_etrecord *record, const char *dump,
                                              etp_arena *arena, etp_ops_answer *out,
                                              etp_error *err);
// The same without numbers.
ETP_NODISCARD etp_status etp_ops_unnumbered(const etp_trace *trace, const etp_program *program,
                                            const etp_etrecord *record, const char *dump,
                                            etp_arena *arena, etp_ops_answer *out, etp_error *err);
const etp_trace_block *etp_ops_block(const etp_ops_answer *answer, const etp_op_row *row);
const etp_trace_event *etp_ops_event(const etp_ops_answer *answer, const etp_op_row *row);
// What the program says about operator ROW; that it says nothing.
const etp_op_facts *etp_ops_facts(const etp_ops_answer *answer, size_t row);
// Of executions that may be added up; several are never added up together.
size_t etp_ops_populations(const etp_trace *trace);
const char *etp_ops_doubt(const etp_ops_answer *a);      // the first of the blocks', NULL: none
double etp_ops_execute_ns(const etp_trace_block *block); // of all its executions, 0 without one
bool etp_ops_is_bound(const etp_ops_answer *answer);     // macs and bytes are at most these

extern const etp_document k_etp_ops_document; // of etp_ops_answer
// Of etp_op_facts: "inputs" and "outputs", the tensors among them; of etp_source.
extern const etp_shape k_etp_op_tensors, k_etp_source;
const etp_report *etp_ops_report(const etp_ops_answer *answer, etp_arena *arena);
// "12.3 ms", or cycles of an unknown rate.
const char *etp_ops_time_text(const etp_ops_answer *answer, double ns, etp_arena *arena);
// Parts of the report: what a recording holds besides operators.
void etp_ops_report_few(const etp_ops_answer *answer, etp_report *r, etp_arena *arena);
void etp_ops_report_damage(const etp_ops_answer *answer, etp_report *r, etp_arena *arena);
void etp_ops_report_spans(const etp_ops_answer *answer, etp_report *r, etp_arena *arena);

#endif
