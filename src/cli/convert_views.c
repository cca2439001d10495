// SPDX-License-Identifier: Apache-2.0
// What the answers know of an operator, as arguments of its slices.
#include "cli/convert_views.h"

// A scalar or a list is not a tensor, and is left out of the shapes.
static bool tensors(etp_strbuf *buf, const etp_op_facts *f, const uint32_t *which, uint32_t n)
{
    size_t start = buf->len;
    for (uint32_t i = 0; i < n; i++) {
        const etp_value *v = &f->values[which[i]];
        if (v->kind != ETP_EVALUE_TENSOR) {
            continue;
        }
        etp_strbuf_printf(buf, "%s%s[", etp_if(buf->len > start, ", "), etp_dtype_name(v->dtype));
        for (uint32_t d = 0; d < v->rank; d++) {
            etp_strbuf_printf(buf, "%s%lld", etp_if(d, ","), (long long)v->dims[d]);
        }
        etp_strbuf_appendz(buf, "]");
    }
    return buf->len > start;
}

static bool shapes_arg(etp_slice_args *args, etp_arena *arena, const etp_op_facts *f)
{
    etp_strbuf buf;
    etp_strbuf_init(&buf, arena);
    bool any = tensors(&buf, f, f->inputs, f->n_inputs);
    etp_strbuf_appendz(&buf, etp_if(any, " → "));
    any = tensors(&buf, f, f->outputs, f->n_outputs) || any;
    return !buf.failed && (!any || etp_slice_text(args, arena, "shapes", etp_strbuf_str(&buf)));
}

// What only a program tells; without one these arguments are missing.
static bool facts_args(etp_slice_args *args, etp_arena *arena, const etp_op_facts *f, uint32_t node)
{
    bool ok = true;
    if (node != ETP_NO_INDEX) {
        ok = etp_slice_number(args, arena, "node", node);
    }
    if (ok && f->node_type.len) {
        ok = etp_slice_text(args, arena, "node_type", f->node_type);
    }
    // The viewers' formats have signed numbers of 64 bits.
    if (ok && f->work.known && f->work.macs <= INT64_MAX) {
        ok = etp_slice_number(args, arena, "macs", (int64_t)f->work.macs) &&
             (!f->work.bound || etp_slice_text(args, arena, "sizes", ETP_STR("at most")));
    }
    return ok && shapes_arg(args, arena, f);
}

// Where the exporter's record leads to: the line of Python that the operator came from.
static bool source_args(etp_slice_args *args, etp_arena *arena, etp_str file, uint32_t line,
                        etp_str module)
{
    if (file.len) {
        const char *text = etp_arena_printf(arena, "%.*s:%u", ETP_STR_ARG(file), line);
        if (!text || !etp_slice_text(args, arena, "source", etp_str_from(text))) {
            return false;
        }
    }
    return module.len == 0 || etp_slice_text(args, arena, "module", module);
}

// Arguments that a viewer shows when a slice is clicked: what joins it to the other answers comes
// first.
static bool op_args(const etp_ops_answer *a, size_t i, etp_arena *arena, etp_slice_args *args)
{
    const etp_op_row *row = &a->table.rows[i];
    const etp_trace_event *e = &etp_trace_block_at(a->trace, row->block)->events[row->event];
    bool ok = etp_slice_text(args, arena, "op", etp_str_from(a->ids[i])) &&
              etp_slice_number(args, arena, "chain", e->chain) &&
              etp_slice_number(args, arena, "instruction", e->instruction);
    if (ok && a->facts) {
        ok = facts_args(args, arena, &a->facts[i], a->joins[row->block].events[row->event].node) &&
             source_args(args, arena, a->sources[i].file, a->sources[i].line, a->sources[i].module);
        const char *doubt = a->joins[row->block].doubt;
        ok = ok && (!doubt || etp_slice_text(args, arena, "doubt", etp_str_from(doubt)));
    }
    return ok;
}

etp_status etp_convert_ops(const etp_ops_answer *a, etp_arena *arena, etp_slice_op **out,
                           etp_error *err)
{
    etp_slice_op *ops = ETP_NEW_ARRAY(arena, etp_slice_op, a->table.n_rows);
    ETP_NEED(ops, err, "operators");
    for (size_t i = 0; i < a->table.n_rows; i++) {
        ops[i].category = etp_category_name(a->names[i].category);
        ETP_NEED(op_args(a, i, arena, &ops[i].args), err, "operators");
    }
    *out = ops;
    return ETP_OK;
}

// By the rule of the ledger's own rows, so that a colour in a viewer says what the report says.
// "Same" when the interval leaves no room for either.
static etp_side_verdict verdict_of(const etp_ledger_row *row)
{
    if (row->kind == ETP_ROW_INSERTED || row->kind == ETP_ROW_VANISHED) {
        return row->kind == ETP_ROW_INSERTED ? ETP_SIDE_INSERTED : ETP_SIDE_VANISHED;
    }
    if (etp_ledger_row_slower(row) || etp_ledger_row_faster(row)) {
        return etp_ledger_row_slower(row) ? ETP_SIDE_SLOWER : ETP_SIDE_FASTER;
    }
    if (row->hi_ns == ETP_NS_UNKNOWN) {
        return ETP_SIDE_UNKNOWN;
    }
    double enough = ETP_OPERATOR_MARGIN * (double)row->baseline_ns;
    // The interval of the difference lies within the margin on both sides.
    bool same = (double)row->lo_ns > -enough && (double)row->hi_ns < enough;
    return same ? ETP_SIDE_SAME : ETP_SIDE_UNKNOWN;
}

static bool side_args(const etp_ledger_row *row, const etp_ab_operator *op, uint32_t arm,
                      etp_arena *arena, etp_slice_args *args)
{
    bool ok = etp_slice_text(args, arena, "op", etp_str_from(row->id)) &&
              etp_slice_number(args, arena, "baseline_ns", row->baseline_ns) &&
              etp_slice_number(args, arena, "candidate_ns", row->candidate_ns) &&
              etp_slice_number(args, arena, "delta_ns", row->delta_ns);
    if (!ok || !op) {
        return ok;
    }
    if (verdict_of(row) == ETP_SIDE_UNKNOWN) {
        etp_str why = row->hi_ns == ETP_NS_UNKNOWN ? ETP_STR("no interval")
                                                   : ETP_STR("the interval is too wide to tell");
        why = row->kind == ETP_ROW_ONE_SIDED ? ETP_STR("one side did not log it") : why;
        ok = etp_slice_text(args, arena, "why", why);
    }
    if (ok && op->names[arm].len) {
        ok = etp_slice_text(args, arena, "name", op->names[arm]);
    }
    // One row may stand for several operators of this side, which the other side ran as one.
    etp_strbuf merged;
    etp_strbuf_init(&merged, arena);
    for (size_t i = 0; i < op->merged[arm].n; i++) {
        etp_strbuf_appendz(&merged, etp_if(merged.len, "; "));
        etp_strbuf_append(&merged, op->merged[arm].items[i]->name);
    }
    if (ok && (merged.len || merged.failed)) {
        ok = !merged.failed && etp_slice_text(args, arena, "merged", etp_strbuf_str(&merged));
    }
    if (ok && op->facts) {
        ok = facts_args(args, arena, &op->facts->op,
                        op->facts->n_nodes ? op->facts->nodes[0] : ETP_NO_INDEX);
    }
    return ok && source_args(args, arena, etp_str_from(op->source_file), op->source_line,
                             etp_str_from(op->module));
}

etp_status etp_convert_sides(const etp_ab *ab, size_t comparison, etp_arena *arena, etp_sides *out,
                             etp_error *err)
{
    const etp_ledger *l = &ab->ledgers[comparison];
    const etp_ab_comparison *c = &ab->comparisons[comparison];
    const uint32_t arms[2] = {c->baseline, c->candidate};
    for (int side = 0; side < 2; side++) {
        if (l->n == 0 && !ab->arms[arms[side]].profile) {
            return etp_fail(err, ETP_UNKNOWN,
                            "%s has no dump with Method::execute: there are no operators to draw",
                            ab->arms[arms[side]].name);
        }
    }
    etp_side_row *rows = ETP_NEW_ARRAY(arena, etp_side_row, l->n);
    ETP_NEED(rows, err, "ledger");
    for (size_t i = 0; i < l->n; i++) {
        const etp_ledger_row *from = &l->items[i];
        // Rows for what is no operator (boundaries, tracer, remainder) have no operator behind
        // them.
        const etp_ab_operator *op = from->op != ETP_NO_INDEX ? &ab->operators[from->op] : NULL;
        etp_side_row *row = &rows[i];
        *row = (etp_side_row){
            .id = from->id,
            .label = etp_str_from(from->label),
            .category = op ? etp_category_name(op->category) : NULL,
            .delegated = op && op->delegated,
            .tracer = from->ties,
            .chain = op ? op->chain : -1,
            .instruction = op ? op->instruction : -1,
            .verdict = op ? verdict_of(from) : ETP_SIDE_NONE,
            .there = {from->there[0],    from->there[1]    },
            .ns = {from->baseline_ns, from->candidate_ns},
        };
        for (int side = 0; side < 2; side++) {
            ETP_NEED(side_args(from, op, arms[side], arena, &row->args[side]), err, "ledger");
        }
    }
    *out = (etp_sides){
        .title = etp_str_from(ab->bare || !ab->title ? "Method::execute" : ab->title),
        .names = {etp_str_from(ab->arms[arms[0]].name), etp_str_from(ab->arms[arms[1]].name)},
        .rows = rows,
        .n_rows = l->n,
    };
    return ETP_OK;
}
