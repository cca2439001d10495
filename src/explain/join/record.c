// SPDX-License-Identifier: Apache-2.0
// A recording against a record, without the program between them: instructions and what they call.
#include "explain/join/record.h"
#include "base/choice.h"

#include <etprof/operators.h>

typedef struct comparison {
    const etp_record_method *method;
    etp_arena *arena;
    etp_belonging *out;
} comparison;

static void take(const comparison *c, bool agrees, const etp_trace_event *e, const char *instead)
{
    const char *differs =
        agrees || c->out->differs
            ? NULL
            : etp_arena_printf(c->arena,
                               "'%.*s' was recorded at instruction %d, where the record has %s",
                               ETP_STR_ARG(e->name), e->instruction, instead);
    etp_belonging_take(c->out, agrees, differs);
}

static void compare_event(const comparison *c, const etp_trace_event *e)
{
    const etp_record_instruction *in =
        e->chain == 0 && e->instruction >= 0
            ? etp_etrecord_instruction(c->method, (uint32_t)e->instruction)
            : NULL;
    if (e->kind == ETP_EVENT_DELEGATE_CALL && e->chain == 0) {
        take(c, in && in->delegate.len > 0, e, "no delegate call");
    } else if (e->kind == ETP_EVENT_NATIVE_CALL && in && in->delegate.len > 0) {
        take(c, false, e, "a delegate call");
    } else if (e->kind == ETP_EVENT_NATIVE_CALL && in) {
        etp_str name = e->name;
        if (etp_str_skip(&name, "native_call_")) {
            const etp_source *first =
                in->n_handles > 0 ? etp_etrecord_source(c->method, in->handles[0]) : NULL;
            take(c, etp_record_calls(c->method, in, name), e,
                 first ? etp_arena_printf(c->arena, "%.*s", ETP_STR_ARG(first->op))
                       : "another operator");
        }
    }
}

static bool has_call(const etp_trace_block *block, int64_t instruction)
{
    for (size_t i = 0; i < block->n_events; i++) {
        const etp_trace_event *e = &block->events[i];
        if (e->kind == ETP_EVENT_DELEGATE_CALL && e->chain == 0 &&
            (instruction < 0 || e->instruction == instruction)) {
            return true;
        }
    }
    return false;
}

// An execution that ended without a branch made every call.
static void compare_calls(const comparison *c, const etp_trace_block *block)
{
    bool all = block->has_execute && has_call(block, -1);
    for (size_t i = 0; all && i < block->n_events; i++) {
        all = block->events[i].kind != ETP_EVENT_CONTROL ||
              !etp_str_eqz(block->events[i].name, "JF_CALL");
    }
    for (uint32_t i = 0; all && i < c->method->n_instructions; i++) {
        const etp_record_instruction *in = &c->method->instructions[i];
        if (in->delegate.len > 0 && !has_call(block, in->index)) {
            const char *differs = etp_arena_printf(
                c->arena,
                "no delegate call was recorded at instruction %u, where the record has one",
                in->index);
            etp_belonging_take(c->out, false, differs);
        }
    }
}

// Types of a delegate call's operators.
enum { QUANTISED = 1, HALF = 2, SINGLE = 4, CONVERTS = 8 };

static unsigned types_of_name(const etp_op_name *op)
{
    unsigned types = op->category == ETP_CATEGORY_QUANTIZE ? CONVERTS : 0;
    for (size_t i = 0; i < op->n_dtypes; i++) {
        bool quantised = etp_str_find(op->dtypes[i], ETP_STR("Q")) < op->dtypes[i].len;
        types |= quantised ? QUANTISED : 0;
        types |= etp_str_ends(op->dtypes[i], ETP_STR("16")) ? HALF : 0;
        types |= !quantised && etp_str_ends(op->dtypes[i], ETP_STR("F32")) ? SINGLE : 0;
    }
    return types;
}

static bool is_operator_of(const etp_trace_event *e, const etp_record_instruction *in,
                           etp_op_name *out)
{
    bool is =
        e->kind == ETP_EVENT_DELEGATE_OP && e->chain == 0 && e->instruction == (int32_t)in->index;
    if (is) {
        etp_op_parse(e->name, out);
    }
    return is;
}

// A call of a quantised graph may leave operators as they are, but not all of them, and one of half
// floats runs as single ones between conversions where the CPU has no others. Types that agree
// prove little.
static void compare_types(const comparison *c, const etp_trace_block *block,
                          const etp_record_instruction *in)
{
    unsigned has = 0;
    for (uint32_t i = 0; i < c->method->n_nodes; i++) {
        const etp_source *s = &c->method->nodes[i];
        if (!etp_record_has_handle(in, s->handle)) {
            continue;
        }
        if (etp_str_find(s->op, ETP_STR("quantize")) < s->op.len ||
            etp_str_find(s->op, ETP_STR("qparams")) < s->op.len) {
            has |= QUANTISED;
        } else if (s->dtype == ETP_DTYPE_FLOAT16 || s->dtype == ETP_DTYPE_BFLOAT16) {
            has |= HALF;
        } else if (s->dtype == ETP_DTYPE_FLOAT32) {
            has |= SINGLE;
        }
    }
    unsigned any = 0;
    etp_op_name op;
    for (size_t i = 0; i < block->n_events; i++) {
        any |= is_operator_of(&block->events[i], in, &op) ? types_of_name(&op) : 0;
    }
    bool agrees = !((has ^ any) & QUANTISED) && (has & HALF || !(any & HALF)) &&
                  (has & (SINGLE | QUANTISED) || !(any & SINGLE) || any & (HALF | CONVERTS));
    for (size_t i = 0; has & (HALF | SINGLE) && !agrees && i < block->n_events; i++) {
        if (is_operator_of(&block->events[i], in, &op) && op.n_dtypes > 0) {
            take(c, false, &block->events[i],
                 has & QUANTISED ? "quantised operators" : "another type");
        }
    }
}

void etp_record_is_of(const etp_trace *trace, const etp_etrecord *record, etp_arena *arena,
                      etp_belonging *out)
{
    *out = (etp_belonging){0};
    for (size_t b = 0; b < etp_trace_block_count(trace); b++) {
        const etp_trace_block *block = etp_trace_block_at(trace, b);
        etp_belonging best = {0};
        for (uint32_t m = 0; m < record->n_methods; m++) {
            etp_belonging one = {0};
            const comparison c = {&record->methods[m], arena, &one};
            for (size_t i = 0; i < block->n_events; i++) {
                compare_event(&c, &block->events[i]);
            }
            compare_calls(&c, block);
            for (uint32_t i = 0; i < record->methods[m].n_instructions; i++) {
                if (record->methods[m].instructions[i].delegate.len > 0) {
                    compare_types(&c, block, &record->methods[m].instructions[i]);
                }
            }
            best = m == 0 || etp_belonging_share(&one) > etp_belonging_share(&best) ? one : best;
        }
        out->compared += best.compared;
        out->agreed += best.agreed;
        out->differs = ETP_OR(out->differs, best.differs);
    }
}
