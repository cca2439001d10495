// SPDX-License-Identifier: Apache-2.0
// From a phase and a program to the calls that the runner follows, one line each
// (runner/src/steps.h). What can be known before anything is launched is refused here.
#include "measure/steps.h"

#include "measure/decoder.h"
#include "program/call.h"

#define RANDOM_BELOW 10 // what the runner draws whole numbers below

typedef struct making { // one phase, one program
    const etp_program *program;
    const char *model;
    etp_arena *arena;
    etp_error *err;
    etp_strbuf *b;
    uint64_t calls, written; // so far, of the calls before too
    // What the method is when it is a text decoder, and the tokens of a call.
    bool is_decoder;
    etp_decoder decoder;
    uint64_t tokens;
} making;

typedef struct shape { // an input of one call
    const etp_value *value;
    int64_t dims[16];
    uint32_t rank;
    uint64_t elements;
} shape;

// SplitMix64 over the place in the text: the same token at a place, whatever is called when.
static uint64_t token_at(uint64_t seed, uint64_t place, uint64_t vocabulary)
{
    uint64_t z = seed + (place + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % vocabulary;
}

static const char *dims_text(const making *m, const int64_t *dims, uint32_t rank)
{
    const char *text = etp_dims_text(dims, rank, m->arena);
    return ETP_OR(text, "a shape");
}

static etp_status refuse(const making *m, const etp_steps_phase *p, uint64_t index,
                         const char *what)
{
    return etp_fail(m->err, ETP_USAGE, "%s: phase \"%.*s\": input %llu of method %.*s: %s",
                    m->model, ETP_STR_ARG(p->name), (unsigned long long)index,
                    ETP_STR_ARG(p->method->name), ETP_OR(what, "out of memory"));
}

// ---- shapes ----

static etp_status shape_of(const making *m, const etp_steps_phase *p, const etp_steps_input *in,
                           shape *out)
{
    *out = (shape){0};
    if (in->index >= p->method->n_inputs) {
        return refuse(m, p, in->index,
                      etp_arena_printf(m->arena, "the method has %u inputs", p->method->n_inputs));
    }
    out->value = &p->method->values[p->method->inputs[in->index]];
    if (out->value->kind != ETP_EVALUE_TENSOR) {
        return refuse(m, p, in->index, "it is not a tensor; leave it out");
    }
    if (!etp_dims_read(in->shape, out->dims, &out->rank)) {
        return refuse(m, p, in->index,
                      etp_arena_printf(m->arena, "\"%.*s\" is not a shape like 1x64",
                                       ETP_STR_ARG(in->shape)));
    }
    const etp_value *v = out->value;
    bool fits = out->rank == v->rank;
    for (uint32_t i = 0; fits && i < out->rank; i++) {
        // The sizes in a program are its upper bounds where it is dynamic.
        fits = v->dynamic ? out->dims[i] <= v->dims[i] : out->dims[i] == v->dims[i];
    }
    if (!fits) {
        return refuse(
            m, p, in->index,
            etp_arena_printf(m->arena, "shape %s is not %s%s%s", dims_text(m, out->dims, out->rank),
                             etp_if(v->dynamic, "within "), dims_text(m, v->dims, v->rank),
                             etp_if(!v->dynamic, ", the only one it takes (static shape)")));
    }
    out->elements = 1;
    for (uint32_t i = 0; i < out->rank && i < 16; i++) {
        uint64_t dim = out->dims[i] > 0 ? (uint64_t)out->dims[i] : 1;
        if (out->rank > 16 || out->elements > UINT32_MAX / dim) {
            return refuse(m, p, in->index, "too many elements");
        }
        out->elements *= dim;
    }
    return ETP_OK;
}

// ---- what is in an input ----

static bool is_whole(etp_dtype dtype)
{
    switch (dtype) {
    case ETP_DTYPE_UINT8:
    case ETP_DTYPE_INT8:
    case ETP_DTYPE_INT16:
    case ETP_DTYPE_INT32:
    case ETP_DTYPE_INT64:
    case ETP_DTYPE_BOOL:
        return true;
    default:
        return false;
    }
}

// The largest number that the runner may draw, MOST, against what a text decoder takes: past its
// cache the program would fail in the middle of a launch.
static etp_status check_drawn(const making *m, const etp_steps_phase *p, uint64_t index,
                              uint64_t most)
{
    const etp_decoder *d = &m->decoder;
    if (!m->is_decoder || index > 1) {
        return ETP_OK;
    }
    if (index == 0) {
        return most < d->vocabulary
                   ? ETP_OK
                   : refuse(m, p, index,
                            etp_arena_printf(
                                m->arena, "token %llu is not in the vocabulary of %llu",
                                (unsigned long long)most, (unsigned long long)d->vocabulary));
    }
    most += d->positions ? 0 : m->tokens - 1; // a start position: the others follow it
    return d->context == ETP_DECODER_UNKNOWN || most < d->context
               ? ETP_OK
               : refuse(m, p, index,
                        etp_arena_printf(m->arena,
                                         "position %llu is past the cache, which has room for %llu",
                                         (unsigned long long)most, (unsigned long long)d->context));
}

static etp_status write_input(making *m, const etp_steps_phase *p, const etp_steps_input *in,
                              uint64_t repeat)
{
    shape s;
    ETP_TRY(shape_of(m, p, in, &s));
    etp_strbuf_printf(m->b, "in %llu %s %s", (unsigned long long)in->index,
                      etp_dtype_name(s.value->dtype), dims_text(m, s.dims, s.rank));
    if (in->fill == ETP_FILL_FILE) {
        etp_strbuf_printf(m->b, " file\n");
        return ETP_OK;
    }
    if (in->fill == ETP_FILL_ONES || in->fill == ETP_FILL_RANDOM) { // made on the device
        if (is_whole(s.value->dtype)) {
            ETP_TRY(check_drawn(m, p, in->index, in->fill == ETP_FILL_ONES ? 1 : RANDOM_BELOW - 1));
        }
        if (in->fill == ETP_FILL_ONES) {
            etp_strbuf_printf(m->b, " ones\n");
        } else {
            etp_strbuf_printf(m->b, " random %llu\n", (unsigned long long)in->seed);
        }
        return ETP_OK;
    }
    m->written += s.elements;
    if (m->written > ETP_STEPS_WRITTEN) {
        return refuse(m, p, in->index, "more than 4 million tokens and positions in a phase");
    }
    uint64_t first = in->start + repeat * in->advance;
    etp_strbuf_printf(m->b, " values");
    for (uint64_t i = first; i < first + s.elements; i++) {
        uint64_t v = in->fill == ETP_FILL_TOKENS ? token_at(in->seed, i, in->below) : i;
        etp_strbuf_printf(m->b, " %llu", (unsigned long long)v);
    }
    etp_strbuf_printf(m->b, "\n");
    return ETP_OK;
}

// ---- calls ----

static etp_status write_step(making *m, const etp_steps_phase *p, const etp_step *step)
{
    // As a subtraction: a repeat count can be any number.
    if (step->repeat > ETP_STEPS_CALLS - m->calls) {
        return etp_fail(m->err, ETP_USAGE,
                        "%s: phase \"%.*s\": more than %u calls, those before it included",
                        m->model, ETP_STR_ARG(p->name), ETP_STEPS_CALLS);
    }
    for (size_t i = 0; i < step->inputs.n; i++) {
        for (size_t k = 0; k < i; k++) {
            if (step->inputs.items[k].index == step->inputs.items[i].index) {
                return refuse(m, p, step->inputs.items[i].index, "it is given twice");
            }
        }
    }
    // Is it a text decoder, and how many tokens does a call have? Another method is nothing wrong
    // here: then only shapes and types can be checked.
    etp_error unused;
    const etp_method *method = p->method;
    const char *name = etp_arena_strdup(m->arena, method->name);
    m->is_decoder = etp_decoder_read(m->program, name, m->arena, &m->decoder, &unused) == ETP_OK &&
                    (method->n_inputs > 1 || m->decoder.told); // else it may be an embedding alone
    const etp_value *tokens = method->n_inputs > 0 ? &method->values[method->inputs[0]] : NULL;
    m->tokens = m->is_decoder && tokens->dims[1] > 0 ? (uint64_t)tokens->dims[1] : 1;
    for (size_t i = 0; m->is_decoder && i < step->inputs.n; i++) {
        shape s;
        if (step->inputs.items[i].index == 0) {
            ETP_TRY(shape_of(m, p, &step->inputs.items[i], &s));
            m->tokens = s.elements;
        }
    }
    for (uint64_t r = 0; r < step->repeat; r++) {
        m->calls++;
        etp_strbuf_printf(m->b, "call %.*s\n", ETP_STR_ARG(p->method->name));
        for (size_t i = 0; i < step->inputs.n; i++) {
            ETP_TRY(write_input(m, p, &step->inputs.items[i], r));
        }
    }
    return ETP_OK;
}

static etp_status write_phase(making *m, const etp_steps_phase *p)
{
    for (size_t i = 0; i < p->steps.n; i++) {
        ETP_TRY(write_step(m, p, &p->steps.items[i]));
    }
    return etp_arena_check(m->arena, m->err, m->model);
}

etp_status etp_steps_text(const etp_steps *steps, size_t at, const etp_program *program,
                          const char *model, etp_arena *arena, etp_str *out, uint64_t *calls,
                          etp_error *err)
{
    etp_strbuf b;
    etp_strbuf_init(&b, arena);
    making m = {.program = program, .model = model, .arena = arena, .err = err, .b = &b};
    // The head, what is put back before each repetition, the calls that come once, those of a
    // repetition.
    etp_strbuf_printf(&b, "etprof-steps 1\n");
    // Before each repetition the caches are what they were after `once`: each repetition does the
    // same work.
    const etp_method *method = steps->items[at].method;
    etp_planned *state = NULL;
    const size_t n = etp_method_state(method, arena, &state);
    ETP_TRY(etp_arena_check(arena, err, "mutable buffers"));
    for (size_t i = 0; i < n; i++) {
        const etp_planned *r = &state[i];
        etp_strbuf_printf(&b, "reset %.*s %u %llu %llu\n", ETP_STR_ARG(method->name), r->arena,
                          (unsigned long long)r->offset, (unsigned long long)r->bytes);
    }
    if (at > 0 && !steps->items[at - 1].measured) {
        etp_strbuf_printf(&b, "once\n");
        ETP_TRY(write_phase(&m, &steps->items[at - 1]));
    }
    uint64_t before = m.calls;
    etp_strbuf_printf(&b, "each\n");
    ETP_TRY(write_phase(&m, &steps->items[at]));
    *calls = m.calls - before;
    *out = etp_strbuf_str(&b);
    return ETP_OK;
}
