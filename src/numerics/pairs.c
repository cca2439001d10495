// SPDX-License-Identifier: Apache-2.0
// The longest common subsequence of two programs' operators, held against who takes what of whom.
#include "numerics/pairs.h"

#include <etprof/operators.h>

#include "base/choice.h"
#include "base/guard.h"

#define MAX_CELLS ((size_t)16 << 20)

typedef struct listed { // operators that take part
    const etp_ops *ops;
    uint32_t *places;
    size_t n;
} listed;

static const etp_instruction *instruction_of(const etp_op *op)
{
    return &op->at.method->instructions[op->at.instruction];
}

static const etp_node *node_of(const etp_op *op)
{
    return op->at.node == ETP_NO_INDEX
               ? NULL
               : &op->at.method->partitions[instruction_of(op)->partition].nodes[op->at.node];
}

bool etp_op_converts(const etp_op *op)
{
    const etp_node *n = node_of(op);
    return n ? n->type == ETP_XNN_CONVERT
             : etp_op_category(instruction_of(op)->op) == ETP_CATEGORY_QUANTIZE;
}

bool etp_op_multiplies(const etp_op *op)
{
    const etp_node *n = node_of(op);
    const etp_work *work = n ? &n->work : &instruction_of(op)->work;
    return work->known && work->macs > 0;
}

bool etp_op_adds(const etp_op *op)
{
    const etp_node *n = node_of(op);
    return n && (n->type == ETP_XNN_ADD || n->type == ETP_XNN_SUBTRACT ||
                 (n->type >= ETP_XNN_CONCATENATE_2 && n->type <= ETP_XNN_CONCATENATE_4) ||
                 n->type == ETP_XNN_CONCATENATE_5);
}

int64_t etp_op_handle(const etp_op *op, const etp_record_method *record)
{
    const etp_node *n = node_of(op);
    const etp_record_instruction *in =
        n || !record ? NULL : etp_etrecord_instruction(record, instruction_of(op)->index);
    if (n) {
        return n->debug_handle;
    }
    return in && in->n_handles == 1 ? (int64_t)in->handles[0] : -1;
}

const etp_value *etp_op_result(const etp_op *op)
{
    const etp_instruction *i = instruction_of(op);
    const etp_node *n = node_of(op);
    if (n) {
        return n->n_outputs ? &op->at.method->partitions[i->partition].values[n->outputs[0]] : NULL;
    }
    const etp_value *v = i->n_outputs ? &op->at.method->values[i->outputs[0]] : NULL;
    return v && v->kind == ETP_EVALUE_TENSOR ? v : NULL;
}

static bool keeps_numbers(const etp_op *op)
{
    const etp_node *n = node_of(op);
    return etp_op_converts(op) ||
           (n && (n->type == ETP_XNN_STATIC_TRANSPOSE || n->type == ETP_XNN_STATIC_RESHAPE));
}

uint32_t etp_op_sources(const etp_ops *ops, const etp_op *op, etp_arena *arena, uint32_t **out)
{
    uint32_t n = 0;
    *out = ETP_NEW_ARRAY(arena, uint32_t, op->n_operands);
    for (size_t k = 0; k < op->n_operands; k++) {
        uint32_t at = op->operands[k].maker;
        // Ends: operands are always made before.
        while (at != ETP_NO_INDEX && keeps_numbers(&ops->items[at]) &&
               ops->items[at].n_inputs == 1) {
            at = ops->items[at].n_operands ? ops->items[at].operands[0].maker : ETP_NO_INDEX;
        }
        (*out)[n] = at;
        n += at != ETP_NO_INDEX;
    }
    return n;
}

const char *etp_ops_other_types(const etp_ops *a, const etp_ops *b, etp_arena *arena)
{
    for (size_t i = 0; i < a->n && i < b->n; i++) {
        const etp_value *x = etp_op_result(&a->items[i]), *y = etp_op_result(&b->items[i]);
        if (x && y && x->dtype != y->dtype) {
            return etp_arena_printf(arena, "%s makes %s where the other makes %s",
                                    etp_cut_place_text(&a->items[i].at, arena),
                                    etp_dtype_name(x->dtype), etp_dtype_name(y->dtype));
        }
    }
    return NULL;
}

bool etp_op_is_read(const etp_ops *ops, uint32_t place)
{
    bool read = false;
    for (uint32_t i = place + 1; !read && i < ops->n; i++) {
        const etp_op *op = &ops->items[i];
        for (size_t k = 0; !read && k < op->n_operands; k++) {
            const bool takes = op->operands[k].maker == place && !etp_op_converts(op);
            read = takes && (!keeps_numbers(op) || etp_op_is_read(ops, i));
        }
    }
    return read;
}

static bool same_dims(const etp_value *a, const etp_value *b)
{
    return a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

static etp_str type_of(const etp_op *op)
{
    const etp_node *n = node_of(op);
    return n ? n->type_name : instruction_of(op)->op;
}

static bool alike(const etp_op *a, const etp_op *b)
{
    const etp_value *x = etp_op_result(a), *y = etp_op_result(b);
    return etp_str_eq(type_of(a), type_of(b)) && a->n_inputs == b->n_inputs && x && y &&
           same_dims(x, y);
}

static listed list(const etp_ops *ops, etp_arena *arena)
{
    listed l = {ops, ETP_NEW_ARRAY(arena, uint32_t, ops->n), 0};
    for (uint32_t i = 0; i < ops->n; i++) {
        if (!etp_op_converts(&ops->items[i])) {
            l.places[l.n++] = i;
        }
    }
    return l;
}

static bool fit(const listed *a, size_t i, const listed *b, size_t j)
{
    return alike(&a->ops->items[a->places[i]], &b->ops->items[b->places[j]]);
}

// scores[i * (m + 1) + j]: most pairs of a[i…] with b[j…].
static void pair_in_order(const listed *a, const listed *b, etp_arena *scratch, uint32_t *out)
{
    const size_t m = b->n;
    uint16_t *scores = ETP_NEW_ARRAY(scratch, uint16_t, (a->n + 1) * (m + 1));
    for (size_t i = a->n; i-- > 0;) {
        for (size_t j = m; j-- > 0;) {
            uint16_t *cell = &scores[i * (m + 1) + j];
            uint16_t best = ETP_MAX(cell[1], cell[m + 1]);
            uint16_t both = (uint16_t)(cell[m + 2] + 1);
            *cell = fit(a, i, b, j) && both > best ? both : best;
        }
    }
    for (size_t i = 0, j = 0; i < a->n && j < m;) {
        const uint16_t *cell = &scores[i * (m + 1) + j];
        if (fit(a, i, b, j) && *cell == cell[m + 2] + 1) {
            out[a->places[i++]] = b->places[j++];
        } else if (*cell == cell[m + 1]) {
            i++;
        } else {
            j++;
        }
    }
}

// Does OP take what its partner's operands are the partners of? One without a partner proves
// nothing.
static bool takes_the_same(const etp_ops *a, const etp_op *op, const etp_ops *b,
                           const etp_op *partner, const uint32_t *pairs, etp_arena *scratch)
{
    uint32_t *x, *y, n = etp_op_sources(a, op, scratch, &x);
    bool same = n == etp_op_sources(b, partner, scratch, &y);
    for (uint32_t k = 0; same && k < n; k++) {
        same = pairs[x[k]] == y[k] || pairs[x[k]] == ETP_NO_INDEX;
    }
    return same;
}

etp_status etp_ops_pair(const etp_ops *a, const etp_ops *b, etp_arena *arena, uint32_t **out,
                        etp_error *err)
{
    *out = ETP_NEW_ARRAY(arena, uint32_t, a->n);
    for (size_t i = 0; i < a->n; i++) {
        (*out)[i] = ETP_NO_INDEX;
    }
    const listed x = list(a, arena), y = list(b, arena);
    if (x.n + 1 > MAX_CELLS / (y.n + 1) || x.n > UINT16_MAX) {
        return etp_fail(err, ETP_UNSUPPORTED,
                        "the programs have %zu and %zu operators, too many to tell which is which",
                        x.n, y.n);
    }
    etp_arena scratch;
    etp_arena_scratch(&scratch, arena);
    pair_in_order(&x, &y, &scratch, *out);
    for (size_t i = 0; i < a->n; i++) {
        uint32_t *partner = &(*out)[i];
        if (*partner != ETP_NO_INDEX &&
            !takes_the_same(a, &a->items[i], b, &b->items[*partner], *out, &scratch)) {
            *partner = ETP_NO_INDEX;
        }
    }
    etp_arena_dispose(&scratch);
    return ETP_OK;
}
