// SPDX-License-Identifier: Apache-2.0
// The document etprof.ops/1.
#include <math.h>

#include "document/rows.h"
#include "inspect/ops.h"

#define ROW ((size_t)(it - doc->table.rows)) // of an operator

static const void *node_of(const etp_ops_answer *a, const etp_op_row *row, etp_made *made)
{
    uint32_t node = a->joins ? a->joins[row->block].events[row->event].node : ETP_NO_INDEX;
    return node != ETP_NO_INDEX ? MAKE(number, node) : NULL;
}

// Kernels have theirs in the record only.
static const void *handle_of(const etp_ops_answer *a, size_t row, etp_made *made)
{
    int64_t handle = etp_ops_facts(a, row)->debug_handle;
    if (handle < 0 && a->sources && a->sources[row].handle > 0) {
        handle = a->sources[row].handle;
    }
    return handle >= 0 ? MAKE(integer, handle) : NULL;
}

// Without any known work the sum is unknown, not 0, and so is one that 64 bits do not hold.
static const void *macs_of(const etp_ops_answer *a, etp_made *made)
{
    if (etp_ops_populations(a->trace) > 1) {
        return NULL; // no inference has those of two methods
    }
    uint64_t macs = 0;
    bool any = false;
    for (size_t i = 0; a->facts && i < a->table.n_rows; i++) {
        const etp_work *w = &a->facts[i].work;
        if (w->known && w->macs > UINT64_MAX - macs) {
            return NULL;
        }
        macs += w->known ? w->macs : 0;
        any = any || w->known;
    }
    return any ? MAKE(number, macs) : NULL;
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
LENGTH(k_blocks, etp_ops_answer, etp_trace_block_count(doc->trace))
FIND(block_at, etp_ops_answer, etp_ops_answer, etp_trace_block_at(doc->trace, at->index))
FIND(block_method, etp_trace_block, etp_ops_answer, method_of(doc, at->index))
FIND(block_ambiguous, etp_trace_block, etp_ops_answer,
     MAKE(yes, doc->joins && doc->joins[at->index].ambiguous))
FIND(block_ns, etp_trace_block, etp_ops_answer,
     it->has_execute && !doc->cycles ? MAKE(number, (uint64_t)etp_ops_execute_ns(it)) : NULL)
FIND(block_population, etp_trace_block, etp_ops_answer,
     it->has_execute ? MAKE(number, it->population) : NULL)
FIND(op_id, etp_op_row, etp_ops_answer, &doc->ids[ROW])
FIND(op_event, etp_op_row, etp_ops_answer, etp_ops_event(doc, it))
FIND(op_kernel, etp_op_row, etp_ops_answer,
     etp_ops_event(doc, it)->kernel.len > 0 ? &etp_ops_event(doc, it)->kernel : NULL)
FIND(op_delegated, etp_op_row, etp_ops_answer,
     MAKE(yes, etp_ops_is_delegated(etp_ops_event(doc, it))))
FIND(op_facts, etp_op_row, etp_ops_answer, etp_ops_facts(doc, ROW))
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
FIND(op_backend, etp_op_row, etp_ops_answer, &etp_ops_facts(doc, ROW)->backend)
FIND(op_node_type, etp_op_row, etp_ops_answer, &etp_ops_facts(doc, ROW)->node_type)
FIND(op_category, etp_op_row, etp_ops_answer, &doc->names[ROW].category)
FIND(op_node, etp_op_row, etp_ops_answer, node_of(doc, it, made))
FIND(op_handle, etp_op_row, etp_ops_answer, handle_of(doc, ROW, made))
FIND(op_source, etp_op_row, etp_ops_answer,
     doc->sources && doc->sources[ROW].file.len > 0 ? &doc->sources[ROW] : NULL)
FIND(op_confidence, etp_op_row, etp_ops_answer, &doc->confidence[ROW])
FIND(op_doubt, etp_op_row, etp_ops_answer,
     doc->joins && doc->joins[it->block].doubt ? &doc->joins[it->block].doubt : NULL)
FIND(known_macs, etp_op_facts, etp_ops_answer, it->work.known ? &it->work.macs : NULL)
FIND(known_bytes, etp_op_facts, etp_ops_answer, it->work.known ? &it->work.bytes : NULL)
FIND(all_macs, etp_ops_answer, etp_ops_answer, macs_of(doc, made))
FIND(any_bound, etp_ops_answer, etp_ops_answer, etp_ops_is_bound(doc) ? MAKE(yes, 1) : NULL)
// Of the operators' time, not of Method::execute: what lies between operators is neither delegated
// nor not.
FIND(delegated_share, etp_ops_answer, etp_ops_answer,
     MAKE(real, it->table.operators_ns > 0
                    ? (double)it->table.delegated_ns / (double)it->table.operators_ns
                    : (double)NAN))

#define OF etp_op_facts
KNOWN(is_true, bool, *it)
// The same words of work as in etprof.inspect/1, of one operator here.
static const etp_field k_facts_rows[] = {
    GROUP(NULL, &k_etp_op_tensors, ""),
    FIELD("weight_bytes", UINT, weight_bytes, "constants among the inputs",
          .flags = ETP_MAX_IS_NULL),
    COMPUTED("macs", UINT, known_macs, "multiplications with addition"),
    COMPUTED("bytes", UINT, known_bytes, "operands, weights and results, each moved once"),
    FIELD("bound", BOOL, work.bound, "true: macs and bytes are at most these", .when = is_true,
          .flags = ETP_ABSENT),
};
static SHAPE(k_facts, k_facts_rows);
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
    COMPUTED(
        "id", TEXT, op_id,
        "opN: that operator in every answer about this recording; unloggedN: what a delegate's "
        "call "
        "hides beside its operators",
        .flags = ETP_SET),
    FIELD("block", UINT, block, "index in `blocks`"),
    COMPUTED(NULL, OBJECT, op_event, "", .shape = &k_event),
    COMPUTED("delegated", BOOL, op_delegated, "inside a delegate", .flags = ETP_SET),
    COMPUTED("kernel", STR, op_kernel, "symbol of what ran, where the delegate logged it",
             .flags = ETP_ABSENT),
    COMPUTED("backend", STR, op_backend, "of a delegate's operator, by the program",
             .flags = ETP_EMPTY),
    COMPUTED("category", WORD, op_category, "of operators", .words = &k_category, .flags = ETP_SET),
    COMPUTED("five", WORD, op_category, "the kit's category", .words = &k_five, .flags = ETP_SET),
    FIELD("calls", UINT, calls, "executions"),
    COMPUTED("ns", OBJECT, op_ns, "of a call", .shape = &k_ns),
    COMPUTED("ticks", OBJECT, op_ticks, "likewise in cycles, where their rate is unknown",
             .shape = &k_ns),
    COMPUTED("node", UINT, op_node, "of the delegate's payload"),
    COMPUTED("node_type", STR, op_node_type, "of that node, or of the kernel", .flags = ETP_EMPTY),
    COMPUTED("debug_handle", INT, op_handle, "by which a record knows it"),
    COMPUTED(NULL, OBJECT, op_facts, "", .shape = &k_facts),
    COMPUTED("source", OBJECT, op_source, "where it comes from", .shape = &k_etp_source),
    COMPUTED("confidence", RATIO, op_confidence, "that the node is right", .range = ETP_0_TO_1),
    COMPUTED("doubt", TEXT, op_doubt, "why the program may be another's", .flags = ETP_ABSENT),
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
    static const char *const k_names[] = {NULL, "clock", "sum", "ticks"};
    return k_names[apart];
}
WORDS(k_span_kind, span_kind, etp_op_span_kind, ETP_OP_SPAN_APART + 1)
WORDS(k_apart, apart_word, etp_apart, ETP_APARTS)
FIND(span_apart, etp_op_span, etp_ops_answer,
     it->kind == ETP_OP_SPAN_APART
         ? &etp_trace_block_at(doc->trace, it->block)->events[it->event].apart
         : NULL)
static const etp_field k_span_rows[] = {
    FIELD("block", UINT, block, "index in `blocks`"),
    COMPUTED(NULL, OBJECT, span_event, "", .shape = &k_event),
    FIELD("kind", WORD, kind,
          "whole: holds other spans; load: logged outside every inference, as the delegate is "
          "loaded or freed; apart: its time "
          "cannot be held against the inference",
          .words = &k_span_kind, .flags = ETP_SET),
    COMPUTED(
        "apart", WORD, span_apart,
        "clock: a clock of its own in a unit that the recording does not hold; sum: it overlaps "
        "with its neighbours, reaches beyond what it is a part of or is longer with them than "
        "that; ticks: it ends before it starts, or counts in two units by turns",
        .words = &k_apart),
    FIELD("calls", UINT, calls, "executions"),
    COMPUTED("total_ns", UINT, span_ns, "of all calls"),
    COMPUTED("total_ticks", UINT, span_ticks, "likewise, as recorded"),
    FIELD("share", RATIO, share,
          "of Method::execute, of loading, or of all that its call logged apart in its unit",
          .range = ETP_0_TO_1),
};
static SHAPE_ON_ONE_LINE(k_span, k_span_rows);
#undef OF
#define OF etp_trace_block
static const etp_field k_block_rows[] = {
    FIELD("name", STR, name, "of the block"),
    COMPUTED("method", STR, block_method, "of the program that it fits"),
    COMPUTED("method_ambiguous", BOOL, block_ambiguous, "several fit", .flags = ETP_SET),
    FIELD("runs", UINT, n_runs, "executions"),
    COMPUTED("execute_ns", INT, block_ns, "their Method::execute; null: they have none"),
    COMPUTED("population", UINT, block_population,
             "of executions that may be added up: one method, inputs of one length; null: none"),
};
static SHAPE_ON_ONE_LINE(k_block, k_block_rows);
#undef OF
#define OF etp_ops_answer
static const etp_field k_totals_rows[] = {
    FIELD("executions", UINT, table.executions, "with one Method::execute each"),
    COMPUTED("execute_ns", INT, execute_ns, "their Method::execute"),
    COMPUTED("operators_ns", INT, operators_ns, "operators inside it"),
    COMPUTED("remainder_ns", INT, remainder_ns, "what is left"),
    COMPUTED("execute_ticks", INT, execute_ticks, "in cycles, where their rate is unknown"),
    COMPUTED("macs", UINT, all_macs, "of the operators whose work is known"),
    COMPUTED("bound", BOOL, any_bound, "true: macs are at most these", .flags = ETP_ABSENT),
    COMPUTED("delegated_share", RATIO, delegated_share, "of operators_ns"),
};
static SHAPE(k_totals, k_totals_rows);
static const etp_field k_answer_rows[] = {
    FIELD("dump", TEXT, dump, "the recording, as given", .flags = ETP_SET),
    COMPUTED_PER("blocks", OBJECT, block_at, &k_blocks, "of the recording", .shape = &k_block),
    LIST("operators", OBJECT, table.rows, table.n_rows, "in the file's order",
         .shape = &k_operator),
    LIST("spans", OBJECT, table.spans, table.n_spans,
         "what delegates logged that is not an operator of an inference", .shape = &k_span),
    COMPUTED_PER("damaged", OBJECT, damaged_at, &k_damaged,
                 "executions that are left out: their clock jumped",
                 .shape = &k_etp_trace_damage_shape),
    GROUP("totals", &k_totals, "over all executions"),
};
static SHAPE(k_answer, k_answer_rows);
#undef OF

const etp_document k_etp_ops_document = {"etprof.ops/1", "what ops prints", &k_answer};
