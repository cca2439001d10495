// SPDX-License-Identifier: Apache-2.0
#include "program/belong.h"

#include <etprof/operators.h>

#include "base/choice.h"
#include "base/guard.h"

typedef struct comparison {
    const etp_method *method;
    const etp_record_method *record;
    etp_arena *arena;
    etp_belonging *out;
} comparison;

// ---- names ----

// "add" of "aten::add.out", "aten.add.Tensor", "add.out" and "add_".
static etp_str plain_name(etp_str s)
{
    etp_str before;
    etp_str_skip(&s, "torch.ops.");
    if (!etp_str_cut(&s, "::", &before)) {
        etp_str rest = s;
        bool inner =
            etp_str_cut(&rest, ".", &before) && etp_str_find(rest, ETP_STR(".")) < rest.len;
        s = inner ? rest : s;
    }
    s.len = etp_str_find(s, ETP_STR("."));
    s.len -= s.len > 1 && s.ptr[s.len - 1] == '_';
    return s;
}

// Is the operator of a kernel call that of a graph's node ("aten.add.Tensor")?
static bool is_target(etp_str kernel, etp_str target)
{
    return etp_str_eq(plain_name(kernel), plain_name(target));
}

// Kernels that the exporter puts in place of others.
static bool is_substitute(etp_str op)
{
    return etp_str_starts(op, ETP_STR("executorch_prim::")) ||
           etp_str_eq(plain_name(op), ETP_STR("copy"));
}

// ---- one opinion ----

void etp_belonging_take(etp_belonging *b, bool agrees, const char *differs)
{
    b->compared++;
    b->agreed += agrees;
    b->differs = agrees || b->differs ? b->differs : differs;
}

#define DIFFERS(c, ...) ((c)->out->differs ? NULL : etp_arena_printf((c)->arena, __VA_ARGS__))

bool etp_record_has_handle(const etp_record_instruction *in, int64_t handle)
{
    for (uint32_t i = 0; i < in->n_handles; i++) {
        if ((int64_t)in->handles[i] == handle) {
            return true;
        }
    }
    return false;
}

// ---- kernels ----

bool etp_record_calls(const etp_record_method *record, const etp_record_instruction *as,
                      etp_str kernel)
{
    for (uint32_t i = 0; i < record->n_nodes; i++) {
        const etp_source *s = &record->nodes[i];
        if (etp_record_has_handle(as, s->handle) && is_target(kernel, s->op)) {
            return true;
        }
    }
    return false;
}

// 0: unknown.
static int64_t elements_of(const etp_value *v)
{
    int64_t n = 1;
    for (uint32_t i = 0; !v->dynamic && i < v->rank; i++) {
        n = v->dims[i] > 0 && n <= INT64_MAX / v->dims[i] ? n * v->dims[i] : 0;
    }
    return v->dynamic ? 0 : n;
}

// Has a node of the record that KERNEL is a result of as many elements, as far as both are known?
static bool same_size(const comparison *c, const etp_instruction *in,
                      const etp_record_instruction *as)
{
    const etp_value *v = in->n_outputs > 0 ? &c->method->values[in->outputs[0]] : NULL;
    int64_t have = v && v->kind == ETP_EVALUE_TENSOR ? elements_of(v) : 0;
    bool same = have == 0;
    for (uint32_t i = 0; !same && i < c->record->n_nodes; i++) {
        const etp_source *s = &c->record->nodes[i];
        same = etp_record_has_handle(as, s->handle) && is_target(in->op, s->op) &&
               (s->elements == 0 || s->elements == have);
    }
    return same;
}

static void compare_kernel(const comparison *c, const etp_instruction *in,
                           const etp_record_instruction *as)
{
    const etp_source *s = as->n_handles > 0 ? etp_etrecord_source(c->record, as->handles[0]) : NULL;
    if (as->delegate.len > 0) {
        etp_belonging_take(c->out, false,
                           DIFFERS(c, "instruction %u is %.*s, in the record a delegate call",
                                   in->index, ETP_STR_ARG(in->op)));
    } else if (s && !is_substitute(in->op)) {
        bool called = etp_record_calls(c->record, as, in->op);
        etp_belonging_take(c->out, called && same_size(c, in, as),
                           DIFFERS(c, "instruction %u is %.*s, in the record %.*s%s", in->index,
                                   ETP_STR_ARG(in->op), ETP_STR_ARG(s->op),
                                   etp_if(called, " with a result of another size")));
    }
}

// ---- nodes of delegates ----

// The types whose work says what they are. Others are merged, moved and put in by the exporter's
// passes, with the handle of a neighbour.
static bool is_anchor(int type)
{
    return type == ETP_XNN_CONV_2D || type == ETP_XNN_DEPTHWISE_CONV_2D ||
           type == ETP_XNN_CONV_TRANSPOSE_2D || type == ETP_XNN_FULLY_CONNECTED ||
           type == ETP_XNN_BATCH_MATRIX_MULTIPLY || type == ETP_XNN_SOFTMAX ||
           type == ETP_XNN_SCALED_DOT_PRODUCT_ATTENTION || type == ETP_XNN_MAX_POOLING_2D ||
           type == ETP_XNN_AVG_POOLING_2D;
}

static bool is_float(etp_dtype d)
{
    return d == ETP_DTYPE_FLOAT16 || d == ETP_DTYPE_BFLOAT16 || d == ETP_DTYPE_FLOAT32;
}

static bool node_is(const etp_partition *p, const etp_node *n, const etp_source *s)
{
    if (!is_anchor(n->type)) {
        return true;
    }
    if (etp_op_category(n->type_name) != etp_op_category(s->op)) {
        return false;
    }
    if (n->n_outputs == 0) {
        return true;
    }
    const etp_value *v = &p->values[n->outputs[0]];
    int64_t have = elements_of(v);
    return (have == 0 || s->elements == 0 || have == s->elements) &&
           (!is_float(v->dtype) || !is_float(s->dtype) || v->dtype == s->dtype);
}

static void compare_node(const comparison *c, const etp_partition *p, const etp_node *n)
{
    const etp_source *s = etp_etrecord_source(c->record, n->debug_handle);
    bool is = false;
    for (uint32_t i = 0; s && !is && i < c->record->n_nodes; i++) {
        const etp_source *at = &c->record->nodes[i];
        is = at->handle == s->handle && node_is(p, n, at);
    }
    bool like = s && etp_op_category(n->type_name) == etp_op_category(s->op);
    const char *how = etp_if(like, " with a result of another size or type");
    etp_belonging_take(c->out, is,
                       s ? DIFFERS(c, "debug handle %lld is %.*s, in the record %.*s%s",
                                   (long long)n->debug_handle, ETP_STR_ARG(n->type_name),
                                   ETP_STR_ARG(s->op), how)
                         : DIFFERS(c, "debug handle %lld (%.*s) is not in the record",
                                   (long long)n->debug_handle, ETP_STR_ARG(n->type_name)));
}

static void compare_call(const comparison *c, const etp_instruction *in,
                         const etp_record_instruction *as)
{
    const etp_partition *p = &c->method->partitions[in->partition];
    if (!as || as->delegate.len == 0) {
        etp_belonging_take(
            c->out, false,
            DIFFERS(c, "instruction %u is a delegate call, in the record it is not", in->index));
    } else {
        etp_belonging_take(c->out, etp_str_eq(as->delegate, p->backend),
                           DIFFERS(c, "instruction %u is of %.*s, in the record of %.*s", in->index,
                                   ETP_STR_ARG(p->backend), ETP_STR_ARG(as->delegate)));
    }
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        if (p->nodes[i].debug_handle >= 0) {
            compare_node(c, p, &p->nodes[i]);
        }
    }
}

// ---- methods ----

// The record's map knows instructions of the first chain alone.
static void compare_method(const comparison *c)
{
    const etp_method *m = c->method;
    for (uint32_t i = 0; i < m->n_instructions; i++) {
        const etp_instruction *in = &m->instructions[i];
        const etp_record_instruction *as =
            in->chain == 0 ? etp_etrecord_instruction(c->record, in->index) : NULL;
        if (in->kind == ETP_INSTR_DELEGATE && in->chain == 0 && c->record->n_instructions > 0) {
            compare_call(c, in, as);
        } else if (in->kind == ETP_INSTR_KERNEL && as) {
            compare_kernel(c, in, as);
        }
    }
    for (uint32_t i = 0; i < c->record->n_instructions; i++) {
        uint32_t index = c->record->instructions[i].index;
        if (etp_method_find_instruction(m, 0, index) == ETP_NO_INDEX) {
            etp_belonging_take(
                c->out, false,
                DIFFERS(c, "instruction %u of the record is not in the program", index));
        }
    }
}

void etp_record_belongs(const etp_program *program, const etp_etrecord *record, etp_arena *arena,
                        etp_belonging *out)
{
    *out = (etp_belonging){0};
    bool shared = false;
    for (uint32_t i = 0; i < program->n_methods; i++) {
        const etp_method *m = &program->methods[i];
        const comparison c = {m, etp_etrecord_method(record, m->name), arena, out};
        shared = shared || c.record;
        if (c.record) {
            compare_method(&c);
        }
    }
    if (!shared && program->n_methods > 0 && record->n_methods > 0) {
        const comparison c = {.arena = arena, .out = out};
        etp_belonging_take(out, false,
                           DIFFERS(&c, "the program has method %.*s, the record %.*s",
                                   ETP_STR_ARG(program->methods[0].name),
                                   ETP_STR_ARG(record->methods[0].name)));
    }
}

double etp_belonging_share(const etp_belonging *b)
{
    return b->compared == 0 ? 1.0 : (double)b->agreed / b->compared;
}

etp_status etp_belonging_need(const etp_belonging *b, etp_error *err)
{
    if (etp_belonging_share(b) >= ETP_RECORD_BELONGS) {
        return ETP_OK;
    }
    return etp_fail(err, ETP_USAGE,
                    "the record is of another program (%u of %u instructions and nodes agree): %s; "
                    "give the .etrecord that was exported with this program",
                    b->agreed, b->compared, ETP_OR(b->differs, "all of it"));
}
