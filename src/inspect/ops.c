// SPDX-License-Identifier: Apache-2.0
// Operators of one dump: the answer, its document and its report.
#include "inspect/ops.h"

#include <math.h>
#include <stdlib.h>

#include "base/guard.h"
#include "base/number.h"
#include "base/path.h"
#include "document/rows.h"

static const etp_trace_block *block_of(const etp_ops_answer *a, const etp_op_row *row)
{
    return etp_trace_block_at(a->trace, row->block);
}

static const etp_trace_event *event_of(const etp_ops_answer *a, const etp_op_row *row)
{
    return &block_of(a, row)->events[row->event];
}

// A program that fits no block with operators is another one's. Blocks without operators (loading)
// fit none.
static etp_status need_a_fit(const etp_ops_answer *a, etp_error *err)
{
    const char *why = NULL;
    for (size_t i = 0; i < a->table.n_rows; i++) {
        const etp_join *join = &a->joins[a->table.rows[i].block];
        if (join->method != ETP_NO_INDEX) {
            return ETP_OK;
        }
        why = why ? why : join->reason;
    }
    return why ? etp_join_refuse(a->dump, why, err) : ETP_OK;
}

// Rows of the table know their block and event, and joins are per block: facts, confidence and
// sources are turned into one value for each row here, so that the document can index them alike.
static etp_status join_program(etp_ops_answer *a, const etp_etrecord *record, etp_arena *arena,
                               etp_error *err)
{
    size_t n_blocks = etp_trace_block_count(a->trace);
    etp_source *sources = ETP_NEW_ARRAY(arena, etp_source, a->table.n_rows);
    etp_join *joins = ETP_NEW_ARRAY(arena, etp_join, n_blocks);
    a->facts = ETP_NEW_ARRAY(arena, etp_op_facts, a->table.n_rows);
    for (size_t i = 0; i < n_blocks; i++) {
        ETP_TRY(etp_join_block(a->program, etp_trace_block_at(a->trace, i), arena, &joins[i], err));
    }
    a->joins = joins;
    ETP_TRY(need_a_fit(a, err));
    if (record) {
        etp_record_belongs(a->program, record, arena, &a->record);
        ETP_TRY(etp_belonging_need(&a->record, err));
    }
    for (size_t i = 0; i < a->table.n_rows; i++) {
        const etp_op_row *row = &a->table.rows[i];
        etp_join_facts(a->program, &joins[row->block], row->event, &a->facts[i]);
        a->names[i].category = etp_op_facts_category(&a->names[i], &a->facts[i]);
        a->confidence[i] = joins[row->block].events[row->event].confidence;
        if (!etp_join_source(a->program, &joins[row->block], row->event, record, &sources[i])) {
            sources[i] = (etp_source){0};
        } else if (record) {
            a->confidence[i] *= etp_belonging_share(&a->record);
        }
    }
    a->sources = sources;
    return ETP_OK;
}

static etp_status build(const etp_etrecord *record, etp_arena *arena, etp_ops_answer *out,
                        etp_error *err)
{
    ETP_TRY(etp_ops_compute(out->trace, arena, &out->table, err));
    out->names = ETP_NEW_ARRAY(arena, etp_op_name, out->table.n_rows);
    out->confidence = ETP_NEW_ARRAY(arena, double, out->table.n_rows);
    for (size_t i = 0; i < out->table.n_rows; i++) {
        etp_op_parse(event_of(out, &out->table.rows[i])->name, &out->names[i]);
        out->confidence[i] = NAN;
    }
    return out->program ? join_program(out, record, arena, err) : ETP_OK;
}

etp_status etp_ops_answer_build(const etp_trace *trace, const etp_program *program,
                                const etp_etrecord *record, const char *dump, etp_arena *arena,
                                etp_ops_answer *out, etp_error *err)
{
    *out = (etp_ops_answer){
        .dump = dump, .trace = trace, .program = program, .cycles = etp_trace_counts_cycles(trace)};
    ETP_GUARDED(arena, err, "operators", build(record, arena, out, err));
}

// ---- document ----

static const etp_value *tensor(const etp_value *value)
{
    return value->kind == ETP_EVALUE_TENSOR ? value : NULL;
}

#define ROW ((size_t)(it - doc->table.rows)) // of an operator

// What the program says about an operator; that it says nothing.
// Rows of the document can then read members without asking whether there is a program: unknown is
// unknown, for whatever reason.
static const etp_op_facts *facts_of(const etp_ops_answer *a, size_t row)
{
    static const etp_op_facts k_none = {.weight_bytes = ETP_BYTES_UNKNOWN, .debug_handle = -1};
    return a->facts ? &a->facts[row] : &k_none;
}

static const void *node_of(const etp_ops_answer *a, const etp_op_row *row, etp_made *made)
{
    uint32_t node = a->joins ? a->joins[row->block].events[row->event].node : ETP_NO_INDEX;
    return node != ETP_NO_INDEX ? MAKE(number, node) : NULL;
}

// Kernels have theirs in the record only.
static const void *handle_of(const etp_ops_answer *a, size_t row, etp_made *made)
{
    int64_t handle = facts_of(a, row)->debug_handle;
    if (handle < 0 && a->sources && a->sources[row].handle > 0) {
        handle = a->sources[row].handle;
    }
    return handle >= 0 ? MAKE(integer, handle) : NULL;
}

// Populations of executions are never added up.
static size_t populations(const etp_trace *trace)
{
    return etp_trace_block_count(trace) ? etp_trace_block_at(trace, 0)->n_populations : 0;
}

// Without any known work the sum is unknown, not 0.
static const void *macs_of(const etp_ops_answer *a, etp_made *made)
{
    if (populations(a->trace) > 1) {
        return NULL; // no inference has those of two methods
    }
    uint64_t macs = 0;
    bool any = false;
    for (size_t i = 0; a->facts && i < a->table.n_rows; i++) {
        macs += a->facts[i].work.known ? a->facts[i].work.macs : 0;
        any = any || a->facts[i].work.known;
    }
    return any ? MAKE(number, macs) : NULL;
}

static const void *bound_of(const etp_ops_answer *a, etp_made *made)
{
    for (size_t i = 0; a->facts && i < a->table.n_rows; i++) {
        if (a->facts[i].work.known && a->facts[i].work.bound) {
            return MAKE(yes, 1);
        }
    }
    return NULL;
}

static double execute_of(const etp_trace_block *b)
{
    double sum = 0;
    for (size_t r = 0; b->has_execute && r < b->n_runs; r++) {
        sum += (double)etp_trace_durations(b, b->execute)[r];
    }
    return sum;
}

// A document names a method only when no other fits as well; the report says both.
static const void *method_of(const etp_ops_answer *a, size_t block)
{
    const etp_join *join = a->joins ? &a->joins[block] : NULL;
    return join && join->method != ETP_NO_INDEX && !join->ambiguous
               ? &a->program->methods[join->method].name
               : NULL;
}

static const char *five_of(etp_category category)
{
    return etp_kit_category_name(etp_kit_category_of(category));
}
WORDS(k_category, etp_category_name, etp_category, ETP_CATEGORY_COUNT)
WORDS(k_five, five_of, etp_category, ETP_CATEGORY_COUNT)
WORDS(k_dtype, etp_dtype_name, etp_dtype, 0)
ITS_LENGTH(k_inputs, etp_op_facts, it->n_inputs)
ITS_LENGTH(k_outputs, etp_op_facts, it->n_outputs)
LENGTH(k_blocks, etp_ops_answer, etp_trace_block_count(doc->trace))
FIND(input, etp_op_facts, void, tensor(&it->values[it->inputs[at->index]]))
FIND(output, etp_op_facts, void, tensor(&it->values[it->outputs[at->index]]))
FIND(block_at, etp_ops_answer, etp_ops_answer, etp_trace_block_at(doc->trace, at->index))
FIND(block_method, etp_trace_block, etp_ops_answer, method_of(doc, at->index))
FIND(block_ambiguous, etp_trace_block, etp_ops_answer,
     MAKE(yes, doc->joins && doc->joins[at->index].ambiguous))
FIND(block_ns, etp_trace_block, etp_ops_answer,
     it->has_execute && !doc->cycles ? MAKE(number, (uint64_t)execute_of(it)) : NULL)
FIND(block_population, etp_trace_block, etp_ops_answer,
     it->has_execute ? MAKE(number, it->population) : NULL)
FIND(op_id, etp_op_row, etp_ops_answer, etp_made_text(made, "op%zu", ROW + 1))
FIND(op_event, etp_op_row, etp_ops_answer, event_of(doc, it))
FIND(op_kernel, etp_op_row, etp_ops_answer,
     event_of(doc, it)->kernel.len > 0 ? &event_of(doc, it)->kernel : NULL)
FIND(op_delegated, etp_op_row, etp_ops_answer, MAKE(yes, etp_ops_is_delegated(event_of(doc, it))))
FIND(op_facts, etp_op_row, etp_ops_answer, facts_of(doc, ROW))
FIND(span_event, etp_op_span, etp_ops_answer,
     &etp_trace_block_at(doc->trace, it->block)->events[it->event])
#define IN_TICKS(it) (doc->cycles || (it)->kind == ETP_OP_SPAN_APART)
FIND(span_ns, etp_op_span, etp_ops_answer, IN_TICKS(it) ? NULL : MAKE(number, it->total))
FIND(span_ticks, etp_op_span, etp_ops_answer, IN_TICKS(it) ? MAKE(number, it->total) : NULL)
FIND(op_ns, etp_op_row, etp_ops_answer, doc->cycles ? NULL : it)
FIND(op_ticks, etp_op_row, etp_ops_answer, doc->cycles ? it : NULL)
FIND(execute_ns, etp_ops_answer, etp_ops_answer, doc->cycles ? NULL : &it->table.execute_ns)
FIND(operators_ns, etp_ops_answer, etp_ops_answer, doc->cycles ? NULL : &it->table.operators_ns)
FIND(remainder_ns, etp_ops_answer, etp_ops_answer, doc->cycles ? NULL : &it->table.remainder_ns)
FIND(execute_ticks, etp_ops_answer, etp_ops_answer, doc->cycles ? &it->table.execute_ns : NULL)
LENGTH(k_damaged, etp_ops_answer, etp_trace_damage_count(doc->trace))
FIND(damaged_at, etp_ops_answer, etp_ops_answer, etp_trace_damage_at(doc->trace, at->index))
FIND(op_backend, etp_op_row, etp_ops_answer, &facts_of(doc, ROW)->backend)
FIND(op_node_type, etp_op_row, etp_ops_answer, &facts_of(doc, ROW)->node_type)
FIND(op_category, etp_op_row, etp_ops_answer, &doc->names[ROW].category)
FIND(op_node, etp_op_row, etp_ops_answer, node_of(doc, it, made))
FIND(op_handle, etp_op_row, etp_ops_answer, handle_of(doc, ROW, made))
FIND(op_source, etp_op_row, etp_ops_answer,
     doc->sources && doc->sources[ROW].file.len > 0 ? &doc->sources[ROW] : NULL)
FIND(op_confidence, etp_op_row, etp_ops_answer, &doc->confidence[ROW])
FIND(known_macs, etp_op_facts, etp_ops_answer, it->work.known ? &it->work.macs : NULL)
FIND(known_bytes, etp_op_facts, etp_ops_answer, it->work.known ? &it->work.bytes : NULL)
FIND(all_macs, etp_ops_answer, etp_ops_answer, macs_of(doc, made))
FIND(any_bound, etp_ops_answer, etp_ops_answer, bound_of(doc, made))
// Of the operators' time, not of Method::execute: what lies between operators is neither delegated
// nor not.
FIND(delegated_share, etp_ops_answer, etp_ops_answer,
     MAKE(real, it->table.operators_ns > 0
                    ? (double)it->table.delegated_ns / (double)it->table.operators_ns
                    : (double)NAN))

#define OF etp_value
KNOWN(is_true, bool, *it)
static const etp_field k_tensor_rows[] = {
    FIELD("dtype", WORD, dtype, "of its elements", .words = &k_dtype, .flags = ETP_SET),
    LIST("shape", INT, dims, rank, "of it", .flags = ETP_ONE_LINE, .range = ETP_SIGNED),
    FIELD("upper_bound", BOOL, dynamic, "true: dynamic, the shape is the largest", .when = is_true,
          .flags = ETP_ABSENT),
};
static SHAPE_ON_ONE_LINE(k_tensor, k_tensor_rows);
#undef OF
#define OF etp_op_facts
static const etp_field k_tensors_rows[] = {
    MADE_PER("inputs", OBJECT, input, &k_inputs, "tensors, in order", .shape = &k_tensor,
             .flags = ETP_SKIP | ETP_ONE_LINE | ETP_APART), // lists
    MADE_PER("outputs", OBJECT, output, &k_outputs, "likewise", .shape = &k_tensor,
             .flags = ETP_SKIP | ETP_ONE_LINE | ETP_APART),
};
SHAPE(k_etp_op_tensors, k_tensors_rows);
// The same words of work as in etprof.inspect/1, of one operator here.
static const etp_field k_facts_rows[] = {
    GROUP(NULL, &k_etp_op_tensors, ""),
    FIELD("weight_bytes", UINT, weight_bytes, "constants among the inputs", .flags = ETP_MOST),
    MADE("macs", UINT, known_macs, "multiplications with addition"),
    MADE("bytes", UINT, known_bytes, "operands, weights and results, each moved once"),
    FIELD("bound", BOOL, work.bound, "true: macs and bytes are at most these", .when = is_true,
          .flags = ETP_ABSENT),
};
static SHAPE(k_facts, k_facts_rows);
#undef OF
#define OF etp_source
static const etp_field k_source_rows[] = {
    FIELD("file", STR, file, "of the innermost frame outside installed packages"),
    FIELD("line", UINT, line, "0: unknown"),
    FIELD("module", STR, module, "its path in the model"),
};
SHAPE_ON_ONE_LINE(k_etp_source, k_source_rows);
#undef OF
#define OF etp_trace_event
static const etp_field k_event_rows[] = {
    FIELD("chain", INT, chain, "of the instruction; −1 unknown", .range = ETP_SIGNED),
    FIELD("instruction", INT, instruction, "likewise", .range = ETP_SIGNED),
    FIELD("name", STR, name, "as recorded"),
};
static SHAPE(k_event, k_event_rows);
#undef OF
#define OF etp_op_row
static const etp_field k_ns_rows[] = {
    FIELD("min", UINT, min_ns, "of its calls"),    FIELD("p50", UINT, p50_ns, "median"),
    FIELD("p90", UINT, p90_ns, "90th percentile"), FIELD("mean", UINT, mean_ns, "of its calls"),
    FIELD("max", UINT, max_ns, "of its calls"),    FIELD("total", UINT, total_ns, "of its calls"),
};
static SHAPE_ON_ONE_LINE(k_ns, k_ns_rows);
static const etp_field k_operator_rows[] = {
    MADE("id", STR, op_id, "in the file's order", .flags = ETP_SET),
    FIELD("block", UINT, block, "index in `blocks`"),
    MADE(NULL, OBJECT, op_event, "", .shape = &k_event),
    MADE("delegated", BOOL, op_delegated, "inside a delegate", .flags = ETP_SET),
    MADE("kernel", STR, op_kernel, "symbol of what ran, where the delegate logged it",
         .flags = ETP_ABSENT),
    MADE("backend", STR, op_backend, "of a delegate's operator, by the program",
         .flags = ETP_EMPTY),
    MADE("category", WORD, op_category, "of operators", .words = &k_category, .flags = ETP_SET),
    MADE("five", WORD, op_category, "the kit's category", .words = &k_five, .flags = ETP_SET),
    FIELD("calls", UINT, calls, "executions"),
    MADE("ns", OBJECT, op_ns, "of a call", .shape = &k_ns),
    MADE("ticks", OBJECT, op_ticks, "likewise in cycles, where their rate is unknown",
         .shape = &k_ns),
    MADE("node", UINT, op_node, "of the delegate's payload"),
    MADE("node_type", STR, op_node_type, "of that node, or of the kernel", .flags = ETP_EMPTY),
    MADE("debug_handle", INT, op_handle, "by which a record knows it"),
    MADE(NULL, OBJECT, op_facts, "", .shape = &k_facts),
    MADE("source", OBJECT, op_source, "where it comes from", .shape = &k_etp_source),
    MADE("confidence", RATIO, op_confidence, "that the node is right", .range = ETP_0_TO_1),
};
static SHAPE(k_operator, k_operator_rows);
#undef OF
#define OF etp_op_span
static const char *span_kind(etp_op_span_kind kind)
{
    static const char *const k_names[] = {"whole", "load", "apart"};
    return k_names[kind];
}
static const char *apart_word(etp_apart apart)
{
    static const char *const k_names[] = {NULL, "clock", "sum"};
    return k_names[apart];
}
WORDS(k_span_kind, span_kind, etp_op_span_kind, ETP_OP_SPAN_APART + 1)
WORDS(k_apart, apart_word, etp_apart, ETP_APART_SUM + 1)
FIND(span_apart, etp_op_span, etp_ops_answer,
     it->kind == ETP_OP_SPAN_APART
         ? &etp_trace_block_at(doc->trace, it->block)->events[it->event].apart
         : NULL)
static const etp_field k_span_rows[] = {
    FIELD("block", UINT, block, "index in `blocks`"),
    MADE(NULL, OBJECT, span_event, "", .shape = &k_event),
    FIELD("kind", WORD, kind,
          "whole: holds other spans; load: logged while the delegate was loaded; apart: its time "
          "cannot be held against the inference",
          .words = &k_span_kind, .flags = ETP_SET),
    MADE("apart", WORD, span_apart,
         "clock: a clock of its own in a unit that the recording does not hold; sum: longer with "
         "its neighbours than what they are parts of",
         .words = &k_apart),
    FIELD("calls", UINT, calls, "executions"),
    MADE("total_ns", UINT, span_ns, "of all calls"),
    MADE("total_ticks", UINT, span_ticks, "likewise, as recorded"),
    FIELD("share", RATIO, share,
          "of Method::execute, of loading, or of all that its call logged apart",
          .range = ETP_0_TO_1),
};
static SHAPE_ON_ONE_LINE(k_span, k_span_rows);
#undef OF
#define OF etp_trace_damage
static const etp_field k_damage_rows[] = {
    FIELD("run", UINT, run, "number of the execution in the recording, from 0"),
    FIELD("name", STR, name, "the event that shows it"),
    FIELD("ns", NS, ns, "how long it claims to be; null: it ends before it starts"),
    FIELD("whole_ns", UINT, whole_ns, "the event around it; 0: none"),
};
SHAPE_ON_ONE_LINE(k_etp_trace_damage_shape, k_damage_rows);
#undef OF
#define OF etp_trace_block
static const etp_field k_block_rows[] = {
    FIELD("name", STR, name, "of the block"),
    MADE("method", STR, block_method, "of the program that it fits"),
    MADE("method_ambiguous", BOOL, block_ambiguous, "several fit", .flags = ETP_SET),
    FIELD("runs", UINT, n_runs, "executions"),
    MADE("execute_ns", INT, block_ns, "their Method::execute; null: they have none"),
    MADE("population", UINT, block_population,
         "of executions that may be added up: one method, inputs of one length; null: none"),
};
static SHAPE_ON_ONE_LINE(k_block, k_block_rows);
#undef OF
#define OF etp_ops_answer
static const etp_field k_totals_rows[] = {
    FIELD("executions", UINT, table.executions, "with one Method::execute each"),
    MADE("execute_ns", INT, execute_ns, "their Method::execute"),
    MADE("operators_ns", INT, operators_ns, "operators inside it"),
    MADE("remainder_ns", INT, remainder_ns, "what is left"),
    MADE("execute_ticks", INT, execute_ticks, "in cycles, where their rate is unknown"),
    MADE("macs", UINT, all_macs, "of the operators whose work is known"),
    MADE("bound", BOOL, any_bound, "true: macs are at most these", .flags = ETP_ABSENT),
    MADE("delegated_share", RATIO, delegated_share, "of operators_ns"),
};
static SHAPE(k_totals, k_totals_rows);
static const etp_field k_answer_rows[] = {
    FIELD("dump", TEXT, dump, "the recording, as given", .flags = ETP_SET),
    MADE_PER("blocks", OBJECT, block_at, &k_blocks, "of the recording", .shape = &k_block),
    LIST("operators", OBJECT, table.rows, table.n_rows, "in the file's order",
         .shape = &k_operator),
    LIST("spans", OBJECT, table.spans, table.n_spans,
         "what delegates logged that is not an operator of an inference", .shape = &k_span),
    MADE_PER("damaged", OBJECT, damaged_at, &k_damaged,
             "executions that are left out: their clock jumped",
             .shape = &k_etp_trace_damage_shape),
    GROUP("totals", &k_totals, "over all executions"),
};
static SHAPE(k_answer, k_answer_rows);
#undef OF

const etp_document k_etp_ops_document = {"etprof.ops/1", "what ops prints", &k_answer};

void etp_ops_json(const void *answer, etp_json *j)
{
    etp_document_write(j, &k_etp_ops_document, answer, answer);
}

// ---- report ----

typedef struct by_total {
    uint64_t total;
    size_t row;
} by_total;

static int longest_first(const void *pa, const void *pb)
{
    const by_total *a = pa, *b = pb;
    if (a->total != b->total) {
        return a->total > b->total ? -1 : 1;
    }
    return (a->row > b->row) - (a->row < b->row);
}

// "model.py:26 blocks.0.attn", NULL when unknown.
static const char *source_text(const etp_ops_answer *a, size_t row, etp_arena *arena)
{
    const etp_source *s = a->sources ? &a->sources[row] : NULL;
    if (!s || s->file.len == 0) {
        return NULL;
    }
    return etp_arena_printf(arena, "%.*s:%u%s%.*s", ETP_STR_ARG(etp_path_last(s->file)), s->line,
                            s->module.len ? " " : "", ETP_STR_ARG(s->module));
}

// "inside VulkanBackend, not logged": the runtime's name of a call says nothing to a reader.
static etp_str shown_name(const etp_ops_answer *a, size_t row, etp_arena *arena)
{
    const etp_trace_event *e = event_of(a, &a->table.rows[row]);
    etp_str backend = facts_of(a, row)->backend;
    if (!etp_ops_is_silent(e)) {
        return e->name;
    }
    return etp_str_from(
        backend.len ? etp_arena_printf(arena, "inside %.*s, not logged", ETP_STR_ARG(backend))
                    : ETP_OPS_SILENT);
}

// Columns of times, of a recording that counts cycles too.
static const etp_column *columns_of(const etp_ops_answer *a, const etp_column *columns, size_t n,
                                    etp_arena *arena)
{
    etp_column *own = ETP_NEW_ARRAY(arena, etp_column, n);
    for (size_t i = 0; a->cycles && own && i < n; i++) {
        own[i] = columns[i];
        if (own[i].kind == ETP_KIND_NS) {
            own[i].kind = ETP_KIND_INT;
            own[i].key = etp_arena_printf(arena, "%s_cycles", own[i].title);
            own[i].title = etp_arena_printf(arena, "%s (cycles)", own[i].title);
        }
    }
    return a->cycles && own ? own : columns;
}

static double share_of(const etp_ops_answer *a, const etp_op_row *row, double whole)
{
    bool known = block_of(a, row)->has_execute && whole > 0;
    return known ? (double)row->total_ns / whole : (double)NAN;
}

static double population_ns(const etp_ops_answer *a, uint32_t population)
{
    double sum = 0;
    for (size_t i = 0; i < etp_trace_block_count(a->trace); i++) {
        const etp_trace_block *b = etp_trace_block_at(a->trace, i);
        sum += b->population == population ? execute_of(b) : 0;
    }
    return sum;
}

// "block 1", "blocks 1, 3": paths of one method.
static const char *population_text(const etp_ops_answer *a, uint32_t population, etp_arena *arena)
{
    const char *text = "";
    size_t n = 0;
    for (size_t i = 0; i < etp_trace_block_count(a->trace); i++) {
        const etp_trace_block *b = etp_trace_block_at(a->trace, i);
        if (b->has_execute && b->population == population) {
            text = etp_arena_printf(arena, "%s%s%zu", text, n++ ? ", " : "", i);
        }
    }
    return etp_arena_printf(arena, "%s %s", n == 1 ? "block" : "blocks", text);
}

static bool any_kernel(const etp_ops_answer *a)
{
    bool any = false;
    for (size_t i = 0; !any && i < a->table.n_rows; i++) {
        any = event_of(a, &a->table.rows[i])->kernel.len > 0;
    }
    return any;
}

static void operator_table(const etp_ops_answer *a, etp_report *r, etp_arena *arena)
{
    enum { BLOCK = 10 };
    etp_column columns[] = {
        {.key = "name", .title = "operator", .flags = ETP_COL_CODE},
        {.key = "instruction", .title = "instr", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
        {.key = "category", .title = "category"},
        {.key = "share", .title = "share", .kind = ETP_KIND_PERCENT, .flags = ETP_COL_BAR},
        {.key = "p50_ns", .title = "p50", .kind = ETP_KIND_NS},
        {.key = "mean_ns", .title = "mean", .kind = ETP_KIND_NS},
        {.key = "p90_ns", .title = "p90", .kind = ETP_KIND_NS, .flags = ETP_COL_MINOR},
        {.key = "max_ns", .title = "max", .kind = ETP_KIND_NS, .flags = ETP_COL_MINOR},
        {.key = "calls", .title = "calls", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
        {.key = "delegated", .title = "delegated", .flags = ETP_COL_MINOR},
        {.key = "block", .title = "block", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
        {.key = "macs", .title = "MACs", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
        {.key = "source", .title = "source", .flags = ETP_COL_MINOR | ETP_COL_CODE},
        {.key = "bound", .title = "sizes", .flags = ETP_COL_MINOR},
        {.key = "kernel", .title = "kernel that ran", .flags = ETP_COL_CODE},
    };
    const etp_op_table *t = &a->table;
    by_total *order = ETP_NEW_ARRAY(arena, by_total, t->n_rows);
    bool kernels = any_kernel(a); // what few recordings hold is a column of theirs alone
    size_t n_columns = sizeof columns / sizeof *columns - !kernels;
    size_t n_blocks = etp_trace_block_count(a->trace);
    double *whole = ETP_NEW_ARRAY(arena, double, n_blocks);
    if (!order || !whole) {
        return; // the report has noticed too
    }
    for (size_t i = 0; i < n_blocks; i++) {
        whole[i] = population_ns(a, etp_trace_block_at(a->trace, i)->population);
    }
    for (size_t i = 0; i < t->n_rows; i++) {
        order[i] = (by_total){t->rows[i].total_ns, i};
    }
    // The table keeps the file's order, which its ids rest on, so a list of places is sorted
    // instead.
    qsort(order, t->n_rows, sizeof *order, longest_first);
    columns[BLOCK].flags = populations(a->trace) > 1 ? 0 : ETP_COL_MINOR;
    etp_table *table =
        etp_report_table(r, "operators", NULL, columns_of(a, columns, n_columns, arena), n_columns);
    etp_table_limit(table, 25);
    for (size_t k = 0; k < t->n_rows; k++) {
        size_t i = order[k].row;
        const etp_op_row *row = &t->rows[i];
        const etp_trace_event *e = event_of(a, row);
        bool macs = a->facts && a->facts[i].work.known;
        const etp_cell cells[] = {etp_cell_str(shown_name(a, i, arena)),
                                  etp_cell_i64(e->instruction),
                                  etp_cell_z(etp_category_name(a->names[i].category)),
                                  etp_cell_double(share_of(a, row, whole[row->block])),
                                  etp_cell_u64(row->p50_ns),
                                  etp_cell_u64(row->mean_ns),
                                  etp_cell_u64(row->p90_ns),
                                  etp_cell_u64(row->max_ns),
                                  etp_cell_u64(row->calls),
                                  etp_cell_z(etp_ops_is_delegated(e) ? "yes" : "no"),
                                  etp_cell_u64(row->block),
                                  macs ? etp_cell_u64(a->facts[i].work.macs) : etp_cell_missing(),
                                  etp_cell_z(source_text(a, i, arena)),
                                  etp_cell_z(macs && a->facts[i].work.bound ? "at most" : NULL),
                                  e->kernel.len ? etp_cell_str(e->kernel) : etp_cell_missing()};
        etp_table_add_row(table, cells, n_columns);
    }
}

// In the order of etp_category, as in every other report: people compare them line by line.
// POPULATION ETP_NO_INDEX: of all.
static void category_table(const etp_ops_answer *a, uint32_t population, etp_report *r,
                           etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "category", .title = "category"},
        {.key = "five", .title = "group"},
        {.key = "total_ns", .title = "total", .kind = ETP_KIND_NS},
        {.key = "share", .title = "share", .kind = ETP_KIND_PERCENT, .flags = ETP_COL_BAR},
        {.key = "operators", .title = "operators", .kind = ETP_KIND_INT},
    };
    bool all = population == ETP_NO_INDEX;
    double whole = all ? (double)a->table.execute_ns : population_ns(a, population);
    etp_table *table = etp_report_table(
        r, all ? "categories" : etp_arena_printf(arena, "categories-%u", (unsigned)population),
        all ? NULL : population_text(a, population, arena), columns_of(a, k_columns, 5, arena), 5);
    for (int c = 0; c < ETP_CATEGORY_COUNT; c++) {
        uint64_t total = 0, inside = 0, n = 0; // inside: of executions that ended
        for (size_t i = 0; i < a->table.n_rows; i++) {
            const etp_trace_block *b = block_of(a, &a->table.rows[i]);
            bool mine = all || (b->has_execute && b->population == population);
            if (mine && (int)a->names[i].category == c) {
                uint64_t ns = a->table.rows[i].total_ns;
                total += ns;
                inside += b->has_execute ? ns : 0;
                n++;
            }
        }
        if (n) {
            ETP_ROW(table, etp_cell_z(etp_category_name((etp_category)c)),
                    etp_cell_z(etp_kit_category_name(etp_kit_category_of((etp_category)c))),
                    etp_cell_u64(total),
                    etp_cell_double(whole > 0 ? (double)inside / whole : (double)NAN),
                    etp_cell_u64(n));
        }
    }
}

// What does not belong together in part.
static void warn_of_other_files(const etp_ops_answer *a, etp_report *r)
{
    uint32_t said = ETP_NO_INDEX;
    if (a->record.differs) {
        etp_report_note(r, ETP_WARN, "the record agrees with the program in %u of %u points: %s",
                        a->record.agreed, a->record.compared, a->record.differs);
    }
    for (size_t i = 0; a->joins && i < a->table.n_rows; i++) {
        uint32_t block = (uint32_t)a->table.rows[i].block;
        const etp_join *join = &a->joins[block];
        if (block != said && join->method == ETP_NO_INDEX && join->reason) {
            etp_report_note(r, ETP_WARN, "nothing of the program is told of block %u: %s",
                            (unsigned)block, join->reason);
            said = block;
        } else if (block != said && join->method != ETP_NO_INDEX && join->differs) {
            etp_report_note(r, ETP_WARN,
                            "%.0f %% of the operators of block %u are those of the program: %s",
                            100 * join->agreement, (unsigned)block, join->differs);
            said = block;
        } else if (block != said && join->method != ETP_NO_INDEX &&
                   join->compared < ETP_JOIN_TELLS) {
            etp_report_note(r, ETP_WARN,
                            "block %u is taken for the program's by %u %s and its calls: a "
                            "recording holds no sizes, so another program's with the same would "
                            "not be noticed",
                            (unsigned)block, join->compared,
                            join->compared == 1 ? "operator's name" : "operators' names");
            said = block;
        }
    }
}

static void mode_keys(const etp_ops_answer *a, etp_keys *keys, etp_report *r, etp_arena *arena)
{
    for (size_t i = 0; i < etp_trace_block_count(a->trace); i++) {
        const etp_trace_block *b = etp_trace_block_at(a->trace, i);
        if (b->has_execute) {
            etp_keys_add(keys, ETP_PLAIN, "Method::execute",
                         "block %zu: %s, mean of %zu executions", i,
                         etp_ops_time_text(a, execute_of(b) / (double)b->n_runs, arena), b->n_runs);
        }
    }
    etp_report_note(
        r, ETP_WARN,
        "executions of several methods or input lengths: a recording does not name them, "
        "so each is a block of its own, and shares are of its Method::execute");
}

// ", method decode or encode: their events are the same".
static const char *method_text(const etp_ops_answer *a, const etp_join *join, etp_arena *arena)
{
    const char *text = "";
    for (size_t i = 0; join->ambiguous && i < join->n_candidates; i++) {
        etp_str name = a->program->methods[join->candidates[i]].name;
        text = etp_arena_printf(arena, "%s%s%.*s", text, i ? " or " : "", ETP_STR_ARG(name));
    }
    if (join->ambiguous) {
        return etp_arena_printf(arena, ", method %s: their events are the same", text);
    }
    return join->method == ETP_NO_INDEX
               ? ""
               : etp_arena_printf(arena, ", method %.*s",
                                  ETP_STR_ARG(a->program->methods[join->method].name));
}

const etp_report *etp_ops_report(const etp_ops_answer *a, etp_arena *arena)
{
    const etp_op_table *t = &a->table;
    etp_report *r = etp_report_create(arena, etp_path_name(a->dump));
    etp_report_section(r, 1, "totals", "Totals");
    etp_keys *keys = etp_report_keys(r, NULL);
    for (size_t i = 0; i < etp_trace_block_count(a->trace); i++) {
        const etp_trace_block *b = etp_trace_block_at(a->trace, i);
        const etp_join *join = a->joins ? &a->joins[i] : NULL;
        etp_keys_add(keys, ETP_PLAIN, "block", "%zu %.*s: %zu %s of %zu events%s", i,
                     ETP_STR_ARG(b->name), b->n_runs, b->n_runs == 1 ? "execution" : "executions",
                     b->n_events, join ? method_text(a, join, arena) : "");
    }
    size_t several = populations(a->trace);
    if (several > 1) {
        mode_keys(a, keys, r, arena);
    } else if (t->executions) {
        double n = (double)t->executions;
        // Sums grow with the number of executions: people get means, the document sums and count.
        etp_keys_add(keys, ETP_PLAIN, "Method::execute", "%s, mean of %zu executions",
                     etp_ops_time_text(a, (double)t->execute_ns / n, arena), t->executions);
        etp_keys_add(keys, ETP_PLAIN, "operators", "%s, of which %.1f %% delegated",
                     etp_ops_time_text(a, (double)t->operators_ns / n, arena),
                     t->operators_ns > 0 ? 100 * (double)t->delegated_ns / (double)t->operators_ns
                                         : 0.0);
        etp_keys_add(keys, ETP_PLAIN, "remainder", "%s (delegate boundary, framework, truncation)",
                     etp_ops_time_text(a, (double)t->remainder_ns / n, arena));
        if (a->cycles) {
            etp_report_note(r, ETP_WARN,
                            "times are cycles of a microcontroller; the recording does not hold "
                            "their rate. State it for milliseconds: --source-unit cycles:HZ");
        }
    } else {
        etp_report_note(r, ETP_WARN,
                        "no execution has a Method::execute event: shares are unknown");
    }
    etp_ops_report_few(a, r, arena);
    etp_ops_report_damage(a, r, arena);
    if (etp_trace_logs_tensors(a->trace)) {
        etp_report_note(r, ETP_WARN,
                        "the recording also logged tensors, so its times are not the program's; "
                        "record again without a debug buffer");
    }
    warn_of_other_files(a, r);
    etp_made made;
    if (bound_of(a, &made)) {
        etp_report_note(r, ETP_PLAIN,
                        "MACs and bytes are at most these: sizes are dynamic, and the recording "
                        "does not hold those of its executions");
    }
    etp_report_section(r, 1, "categories-section", "Categories");
    for (uint32_t k = 0; k == 0 || k < several; k++) {
        category_table(a, several > 1 ? k : ETP_NO_INDEX, r, arena);
    }
    etp_report_section(r, 1, "operators-section", "Operators");
    operator_table(a, r, arena);
    etp_ops_report_spans(a, r, arena);
    return r;
}
