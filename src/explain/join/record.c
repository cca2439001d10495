// SPDX-License-Identifier: Apache-2.0
// A recording against a record, without the program between them: instructions and what they call.
#include "explain/join/record.h"

typedef struct comparison {
    const etp_record_method *method;
    etp_arena *arena;
    etp_belonging *out;
} comparison;

static void take(const comparison *c, bool agrees, const etp_trace_event *e, const char *instead)
{
    c->out->compared++;
    c->out->agreed += agrees;
    if (!agrees && !c->out->differs) {
        c->out->differs = etp_arena_printf(
            c->arena, "'%.*s' was recorded at instruction %d, where the record has %s",
            ETP_STR_ARG(e->name), e->instruction, instead);
    }
}

static void compare_kernel(const comparison *c, const etp_trace_event *e,
                           const etp_record_instruction *in)
{
    static const etp_str k_prefix = {"native_call_", 12};
    etp_str name = e->name;
    if (!etp_str_starts(name, k_prefix)) {
        return;
    }
    name = (etp_str){name.ptr + k_prefix.len, name.len - k_prefix.len};
    const etp_source *first =
        in->n_handles > 0 ? etp_etrecord_source(c->method, in->handles[0]) : NULL;
    take(c, etp_record_calls(c->method, in, name), e,
         first ? etp_arena_printf(c->arena, "%.*s", ETP_STR_ARG(first->op)) : "another operator");
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
        compare_kernel(c, e, in);
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
            c->out->compared++;
            c->out->differs = c->out->differs
                                  ? c->out->differs
                                  : etp_arena_printf(c->arena,
                                                     "no delegate call was recorded at instruction "
                                                     "%u, where the record has one",
                                                     in->index);
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
            best = m == 0 || etp_belonging_share(&one) > etp_belonging_share(&best) ? one : best;
        }
        out->compared += best.compared;
        out->agreed += best.agreed;
        out->differs = out->differs ? out->differs : best.differs;
    }
}
