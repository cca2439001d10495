// SPDX-License-Identifier: Apache-2.0
// What Inspector adds to its rows from an ETRecord. It knows the method "forward" only, and rows of
// every block are looked up by their instruction alone.
#include <stdlib.h>

#include "base/guard.h"
#include "convert/inspector.h"

#define LONG_OP_TYPES 5 // lists of this length and above are abbreviated

typedef struct annotator {
    const etp_record_method *method;
    const etp_source **nodes; // of the outer graph, by handle, equal ones in graph order
    size_t n_nodes;
    etp_arena *arena;
} annotator;

typedef struct handles {
    const uint32_t *items;
    uint32_t n;
} handles;

static int by_handle(const void *a, const void *b)
{
    const etp_source *const *x = a, *const *y = b;
    return etp_order_then(ETP_ORDER((*x)->handle, (*y)->handle),
                          ETP_ORDER(*x, *y)); // both point into one array
}

static size_t first_node(const annotator *a, uint32_t handle)
{
    size_t lo = 0, hi = a->n_nodes;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (a->nodes[mid]->handle < handle) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

// Handles of ROW; its backend's name is filled in on the way.
// A delegate's call has the handles of its whole partition, an operator in it those that the
// backend named, none from XNNPACK.
static handles resolve(const etp_record_instruction *in, etp_inspector_row *row)
{
    const handles all = {in->handles, in->n_handles};
    bool has_delegate = in->delegate.len != 0;
    if (!row->delegated) {
        if (has_delegate && etp_str_eqz(row->event_name, "DELEGATE_CALL")) {
            row->backend_name = in->delegate;
        }
        return all;
    }
    if (!has_delegate) {
        return all;
    }
    row->backend_name = in->delegate;
    // The handles of an operator inside a delegate, by what its backend said about ids. An entry
    // whose id occurs anywhere in the row's id counts too, the last one wins: so Inspector has it.
    const etp_str id = row->event_name;
    handles out = {NULL, 0};
    for (size_t i = 0; i < in->n_delegate_ops; i++) {
        const etp_record_delegate_op *op = &in->delegate_ops[i];
        if (etp_str_eq(op->id, id)) {
            out = (handles){op->handles, op->n_handles};
        }
    }
    for (size_t i = 0; i < in->n_delegate_ops; i++) {
        const etp_record_delegate_op *op = &in->delegate_ops[i];
        if (op->id.len == 0 || etp_str_find(id, op->id) != id.len) {
            out = (handles){op->handles, op->n_handles};
        }
    }
    return out; // of delegated rows the name is the id
}

// Inspector gives these no operators, although they carry the number of an instruction.
static bool is_framework(etp_str name)
{
    return etp_str_eqz(name, "Method::init") || etp_str_eqz(name, "Program::load_method") ||
           etp_str_eqz(name, "Method::execute");
}

static bool has_node(const etp_inspector_node *nodes, size_t n, etp_str name)
{
    for (size_t i = 0; i < n; i++) {
        if (etp_str_eq(nodes[i].name, name)) {
            return true;
        }
    }
    return false;
}

static etp_str present(etp_str s) // text that is not there has no pointer here
{
    return s.len ? s : (etp_str){NULL, 0};
}

static void add_nodes(annotator *a, handles h, etp_inspector_row *row)
{
    size_t n = 0;
    for (size_t i = 0; i < h.n; i++) {
        for (size_t k = first_node(a, h.items[i]);
             k < a->n_nodes && a->nodes[k]->handle == h.items[i]; k++) {
            n++;
        }
    }
    etp_str *ops = ETP_NEW_ARRAY(a->arena, etp_str, n);
    etp_inspector_node *nodes = ETP_NEW_ARRAY(a->arena, etp_inspector_node, n);
    for (size_t i = 0; i < h.n; i++) {
        for (size_t k = first_node(a, h.items[i]);
             k < a->n_nodes && a->nodes[k]->handle == h.items[i]; k++) {
            const etp_source *s = a->nodes[k];
            // What Python calls the operator: name.overload, without the namespace.
            etp_str target = s->op, before;
            if (etp_str_skip(&target, "torch.ops.")) {
                etp_str_cut(&target, ".", &before);
            } else {
                etp_str_skip(&target, "_operator.");
            }
            ops[row->n_op_types++] = target;
            const char *name = etp_arena_printf(a->arena, "%.*s_", ETP_STR_ARG(s->node));
            if (!has_node(nodes, row->n_nodes, etp_str_from(name))) {
                nodes[row->n_nodes++] = (etp_inspector_node){etp_str_from(name), present(s->stack),
                                                             present(s->module_stack)};
            }
        }
    }
    row->op_types = ops;
    row->nodes = nodes;
    if (n >= LONG_OP_TYPES) {
        row->op_types_text = etp_str_from(
            etp_arena_printf(a->arena, "['%.*s', '%.*s' ... '%.*s'] (%zu total)",
                             ETP_STR_ARG(ops[0]), ETP_STR_ARG(ops[1]), ETP_STR_ARG(ops[n - 1]), n));
    }
}

static etp_status annotate(etp_inspector_table *table, const etp_etrecord *record, etp_arena *arena)
{
    annotator a = {.arena = arena};
    a.method = etp_etrecord_method(record, ETP_STR("forward"));
    if (!a.method) {
        return ETP_OK; // Inspector fails here
    }
    // Nodes of graphs within graphs are left out: Inspector walks the outer graph alone.
    const etp_record_method *m = a.method;
    a.nodes = ETP_NEW_ARRAY(a.arena, const etp_source *, m->n_nodes);
    for (size_t i = 0; i < m->n_nodes; i++) {
        if (!m->nodes[i].nested) {
            a.nodes[a.n_nodes++] = &m->nodes[i];
        }
    }
    if (a.n_nodes > 1) {
        qsort(a.nodes, a.n_nodes, sizeof *a.nodes, by_handle);
    }
    for (size_t i = 0; i < table->n_rows; i++) {
        etp_inspector_row *row = &table->rows[i];
        const etp_record_instruction *in =
            row->instruction_id < 0
                ? NULL
                : etp_etrecord_instruction(a.method, (uint32_t)row->instruction_id);
        if (!in) {
            continue;
        }
        handles h = resolve(in, row);
        if (!is_framework(row->event_name)) {
            add_nodes(&a, h, row);
        }
    }
    return ETP_OK;
}

etp_status etp_inspector_annotate(etp_inspector_table *table, const etp_etrecord *record,
                                  etp_arena *arena, etp_error *err)
{
    ETP_GUARDED(arena, err, "Inspector's table", annotate(table, record, arena));
}
