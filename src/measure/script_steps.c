// SPDX-License-Identifier: Apache-2.0
// From a phase of a script and a program to the calls that the runner follows, one line each
// (runner/src/steps.h). What can be known before anything is launched is refused here.
#include <math.h>

#include "measure/decoder.h"
#include "measure/script.h"
#include "os/os.h"
#include "program/call.h"

#define EXACT 9007199254740992.0 // whole numbers of a double
#define RANDOM_BELOW 10          // what the runner draws whole numbers below when nothing is said

typedef struct making { // one phase, one program
    const etp_script *script;
    const etp_program *program;
    const char *model;
    uint64_t seed;
    etp_arena *arena;
    etp_error *err;
    etp_strbuf *b;
    uint64_t calls, written; // so far, of the calls before too
    size_t last_of[ETP_SCRIPT_PHASES];
    const etp_method *method_of[ETP_SCRIPT_PHASES];
    const etp_method *before; // that the call before is of
    // Of the step at hand: what its method is when it is a text decoder, and the tokens of a call.
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

// As scripts and --shape write a shape: "1x64", without dimensions "scalar".
static const char *dims_text(const making *m, const int64_t *dims, uint32_t rank)
{
    const char *text = rank == 0 ? "scalar" : "";
    for (uint32_t i = 0; text && i < rank; i++) {
        text = etp_arena_printf(m->arena, "%s%s%lld", text, i ? "x" : "", (long long)dims[i]);
    }
    return text ? text : "a shape";
}

// Every refusal names model, phase, input and method: a script has many calls, and no line numbers.
static etp_status refuse(const making *m, const etp_script_phase *p, const etp_method *method,
                         uint64_t index, const char *what)
{
    return etp_fail(m->err, ETP_USAGE, "%s: phase \"%.*s\": input %llu of method %.*s: %s",
                    m->model, ETP_STR_ARG(p->name), (unsigned long long)index,
                    ETP_STR_ARG(method->name), what ? what : "out of memory");
}

// ---- shapes ----

static const char *wrong_shape(const making *m, const shape *s)
{
    const etp_value *v = s->value;
    bool fits = s->rank == v->rank;
    for (uint32_t i = 0; fits && i < s->rank; i++) {
        // The sizes in a program are its upper bounds where it is dynamic.
        fits = v->dynamic ? s->dims[i] <= v->dims[i] : s->dims[i] == v->dims[i];
    }
    return fits ? NULL
                : etp_arena_printf(m->arena, "shape %s is not %s%s%s",
                                   dims_text(m, s->dims, s->rank), v->dynamic ? "within " : "",
                                   dims_text(m, v->dims, v->rank),
                                   v->dynamic ? "" : ", the only one it takes (static shape)");
}

static etp_status shape_of(const making *m, const etp_script_phase *p, const etp_method *method,
                           const etp_script_input *in, shape *out)
{
    *out = (shape){0};
    if (in->index >= method->n_inputs) {
        return refuse(m, p, method, in->index,
                      etp_arena_printf(m->arena, "the method has %u inputs", method->n_inputs));
    }
    out->value = &method->values[method->inputs[in->index]];
    if (out->value->kind != ETP_EVALUE_TENSOR) {
        return refuse(m, p, method, in->index, "it is no tensor; leave it out");
    }
    if (in->dtype.len > 0 && !etp_str_eqz(in->dtype, etp_dtype_name(out->value->dtype))) {
        return refuse(m, p, method, in->index,
                      etp_arena_printf(m->arena, "dtype %.*s, the method takes %s",
                                       ETP_STR_ARG(in->dtype), etp_dtype_name(out->value->dtype)));
    }
    if (in->shape.len > 0) {
        if (!etp_dims_read(in->shape, out->dims, &out->rank)) {
            return refuse(m, p, method, in->index,
                          etp_arena_printf(m->arena, "\"%.*s\" is no shape like 1x64",
                                           ETP_STR_ARG(in->shape)));
        }
        const char *wrong = wrong_shape(m, out);
        if (wrong) {
            return refuse(m, p, method, in->index, wrong);
        }
    } else {
        out->rank = out->value->rank;
        for (uint32_t i = 0; i < out->rank && i < 16; i++) {
            out->dims[i] = out->value->dims[i];
        }
    }
    out->elements = 1;
    for (uint32_t i = 0; i < out->rank && i < 16; i++) {
        uint64_t dim = out->dims[i] > 0 ? (uint64_t)out->dims[i] : 1;
        if (out->rank > 16 || out->elements > UINT32_MAX / dim) {
            return refuse(m, p, method, in->index, "too many elements");
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

// The last position that a call writes when its position input ends with LAST.
// Refused here, where it can be said in words: past its cache the program would fail in the middle
// of a launch.
static etp_status check_position(const making *m, const etp_script_phase *p,
                                 const etp_method *method, uint64_t index, double last)
{
    const etp_decoder *d = &m->decoder;
    if (!m->is_decoder || index != 1 || d->context == ETP_DECODER_UNKNOWN) {
        return ETP_OK;
    }
    last += d->positions ? 0.0 : (double)m->tokens - 1.0; // a start position: the others follow it
    return last < (double)d->context
               ? ETP_OK
               : refuse(m, p, method, index,
                        etp_arena_printf(m->arena,
                                         "position %.0f is past the cache, which has room for %llu",
                                         last, (unsigned long long)d->context));
}

// Numbers that somebody wrote, or that lie in a file: what ONE of them may be.
static etp_status check_token(const making *m, const etp_script_phase *p, const etp_method *method,
                              uint64_t index, double one)
{
    if (!m->is_decoder || index > 1) {
        return ETP_OK;
    }
    if (index == 0 && (one < 0 || one >= (double)m->decoder.vocabulary)) {
        return refuse(m, p, method, index,
                      etp_arena_printf(m->arena, "token %.0f is not in the vocabulary of %llu", one,
                                       (unsigned long long)m->decoder.vocabulary));
    }
    return index == 1 && one < 0
               ? refuse(m, p, method, index,
                        etp_arena_printf(m->arena, "position %.0f is before the first one", one))
               : check_position(m, p, method, index, one);
}

static etp_status write_values(making *m, const etp_script_phase *p, const etp_method *method,
                               const etp_script_input *in, const shape *s)
{
    if (in->values.n != s->elements && in->values.n != 1) {
        return refuse(m, p, method, in->index,
                      etp_arena_printf(m->arena, "%zu values for %llu elements", in->values.n,
                                       (unsigned long long)s->elements));
    }
    bool whole = is_whole(s->value->dtype);
    etp_strbuf_printf(m->b, " values");
    for (uint64_t i = 0; i < s->elements; i++) {
        double v = in->values.items[in->values.n == 1 ? 0 : i];
        // JSON has doubles: beyond 2^53 a whole number is not what was written.
        if (whole && (v != floor(v) || fabs(v) > EXACT)) {
            return refuse(m, p, method, in->index,
                          etp_arena_printf(m->arena, "%g is no whole number, and it is %s", v,
                                           etp_dtype_name(s->value->dtype)));
        }
        ETP_TRY(check_token(m, p, method, in->index, v));
        etp_strbuf_printf(m->b, whole ? " %.0f" : " %.17g", v);
    }
    return ETP_OK;
}

// Numbers of a file, so that no file but the script has to reach the device.
static etp_status write_file(making *m, const etp_script_phase *p, const etp_method *method,
                             const etp_script_input *in, const shape *s)
{
    const char *path =
        in->file.ptr[0] == '/'
            ? etp_arena_strdup(m->arena, in->file)
            : etp_arena_printf(m->arena, "%s/%.*s", m->script->folder, ETP_STR_ARG(in->file));
    etp_dtype t = s->value->dtype;
    unsigned size = etp_dtype_bits(t) / 8;
    if (!path || !(is_whole(t) || t == ETP_DTYPE_FLOAT32 || t == ETP_DTYPE_FLOAT64)) {
        return refuse(m, p, method, in->index,
                      path ? "files of this type are not read; use --inputs" : NULL);
    }
    etp_file file;
    ETP_TRY(etp_file_open(path, UINT64_MAX, &file, m->err));
    etp_status st = ETP_OK;
    if (file.bytes.len != s->elements * size) {
        st = refuse(m, p, method, in->index,
                    etp_arena_printf(m->arena, "%s has %zu bytes, %llu elements have %llu", path,
                                     file.bytes.len, (unsigned long long)s->elements,
                                     (unsigned long long)(s->elements * size)));
    }
    etp_strbuf_printf(m->b, " values");
    for (uint64_t i = 0; st == ETP_OK && i < s->elements; i++) {
        const uint8_t *at = file.bytes.ptr + i * size;
        uint64_t bits = 0;
        for (unsigned k = size; k-- > 0;) {
            bits = bits << 8 | at[k];
        }
        if (t == ETP_DTYPE_FLOAT32) {
            uint32_t low = (uint32_t)bits;
            float f;
            memcpy(&f, &low, sizeof f);
            etp_strbuf_printf(m->b, " %.9g", (double)f);
        } else if (t == ETP_DTYPE_FLOAT64) {
            double d;
            memcpy(&d, &bits, sizeof d);
            etp_strbuf_printf(m->b, " %.17g", d);
        } else {
            bool sign = t != ETP_DTYPE_UINT8 && t != ETP_DTYPE_BOOL && size < 8 &&
                        (bits >> (8 * size - 1) & 1);
            // Two's complement of SIZE bytes to that of eight.
            bits |= sign ? UINT64_MAX << (8 * size) : 0;
            int64_t v;
            memcpy(&v, &bits, sizeof v);
            st = check_token(m, p, method, in->index, (double)v);
            etp_strbuf_printf(m->b, " %lld", (long long)v);
        }
    }
    etp_file_close(&file);
    return st;
}

static etp_status write_tokens(making *m, const etp_script_phase *p, const etp_method *method,
                               const etp_script_input *in, const shape *s, uint64_t first)
{
    uint64_t below = in->below;
    if (below == ETP_SCRIPT_OWN) {
        if (!m->is_decoder) {
            return refuse(m, p, method, in->index,
                          "the program does not tell its vocabulary: give \"below\"");
        }
        below = m->decoder.vocabulary;
    }
    if (m->is_decoder && in->index == 0 && below > m->decoder.vocabulary) {
        return refuse(m, p, method, in->index,
                      etp_arena_printf(m->arena, "tokens below %llu, the vocabulary has %llu",
                                       (unsigned long long)below,
                                       (unsigned long long)m->decoder.vocabulary));
    }
    ETP_TRY(check_token(m, p, method, in->index, (double)below - 1.0)); // as positions, too
    uint64_t seed = in->seed == ETP_SCRIPT_OWN ? m->seed : in->seed;
    for (uint64_t i = 0; i < s->elements; i++) {
        etp_strbuf_printf(m->b, " %llu", (unsigned long long)token_at(seed, first + i, below));
    }
    return ETP_OK;
}

// Whole numbers below the vocabulary, or counted up to the end of the cache.
static etp_status write_text(making *m, const etp_script_phase *p, const etp_method *method,
                             const etp_script_input *in, const shape *s, uint64_t repeat)
{
    uint64_t advance = in->advance == ETP_SCRIPT_OWN ? s->elements : in->advance;
    uint64_t first = in->start + repeat * advance; // both bounded by the reader
    if (!is_whole(s->value->dtype)) {
        return refuse(m, p, method, in->index, "tokens and positions are whole numbers");
    }
    etp_strbuf_printf(m->b, " values");
    if (in->fill == ETP_FILL_TOKENS) {
        return write_tokens(m, p, method, in, s, first);
    }
    ETP_TRY(check_token(m, p, method, in->index, (double)(first + s->elements - 1)));
    for (uint64_t i = 0; i < s->elements; i++) {
        etp_strbuf_printf(m->b, " %llu", (unsigned long long)(first + i));
    }
    return ETP_OK;
}

static etp_status write_output(making *m, const etp_script_phase *p, const etp_method *method,
                               const etp_script_input *in, size_t at)
{
    const etp_method *from = m->before;
    // Calls are numbered from 0 over all that is written, those that come once included
    // (runner/src/steps.h).
    size_t call = (size_t)m->calls - 2; // this one has been counted
    if (in->from.len > 0) {
        size_t i = etp_script_find(m->script, in->from, at + 1);
        // An output can only come from a call that was made: a phase that is none of those before
        // this one was not run.
        if (i > at || (i < at && !m->method_of[i])) {
            return refuse(m, p, method, in->index,
                          etp_arena_printf(m->arena,
                                           "\"from\": phase \"%.*s\" does not come before it (see "
                                           "\"after\")",
                                           ETP_STR_ARG(in->from)));
        }
        from = m->method_of[i];
        call = m->last_of[i];
    }
    if (!from) { // the first call: as --inputs says
        return ETP_OK;
    }
    const etp_value *v =
        in->output < from->n_outputs ? &from->values[from->outputs[in->output]] : NULL;
    const etp_value *to = &method->values[method->inputs[in->index]];
    if (!v || v->kind != ETP_EVALUE_TENSOR || v->dtype != to->dtype || v->rank != to->rank) {
        return refuse(m, p, method, in->index,
                      etp_arena_printf(m->arena,
                                       "output %llu of method %.*s is no such tensor (it has %u "
                                       "outputs)",
                                       (unsigned long long)in->output, ETP_STR_ARG(from->name),
                                       from->n_outputs));
    }
    etp_strbuf_printf(m->b, "in %llu from %zu %llu\n", (unsigned long long)in->index, call,
                      (unsigned long long)in->output);
    return ETP_OK;
}

static etp_status write_input(making *m, const etp_script_phase *p, const etp_method *method,
                              const etp_script_input *in, size_t at, uint64_t repeat)
{
    shape s;
    ETP_TRY(shape_of(m, p, method, in, &s));
    if (in->fill == ETP_FILL_OUTPUT) {
        return write_output(m, p, method, in, at);
    }
    etp_strbuf_printf(m->b, "in %llu %s %s", (unsigned long long)in->index,
                      etp_dtype_name(s.value->dtype), dims_text(m, s.dims, s.rank));
    bool drawn = in->fill == ETP_FILL_ONES || in->fill == ETP_FILL_RANDOM;
    // Only numbers that stand in the script cost memory and transfer; drawn ones are made on the
    // device.
    m->written += drawn ? 0 : s.elements;
    if (m->written > ETP_SCRIPT_WRITTEN) {
        return refuse(m, p, method, in->index,
                      "more numbers than a script can have; draw them (random, ones)");
    }
    etp_status st = ETP_OK;
    if (drawn && is_whole(s.value->dtype)) { // the largest that may be drawn
        uint64_t below = in->below == ETP_SCRIPT_OWN ? RANDOM_BELOW : in->below;
        double most = in->fill == ETP_FILL_ONES ? 1.0 : (double)below - 1.0;
        ETP_TRY(check_token(m, p, method, in->index, most));
    }
    if (in->fill == ETP_FILL_ONES) {
        etp_strbuf_printf(m->b, " ones");
    } else if (in->fill == ETP_FILL_RANDOM) {
        uint64_t seed = in->seed == ETP_SCRIPT_OWN ? m->seed : in->seed;
        etp_strbuf_printf(m->b, " random %llu", (unsigned long long)seed);
        if (in->below != ETP_SCRIPT_OWN) {
            etp_strbuf_printf(m->b, " %llu", (unsigned long long)in->below);
        }
    } else if (in->fill == ETP_FILL_VALUES) {
        st = write_values(m, p, method, in, &s);
    } else if (in->fill == ETP_FILL_FILE) {
        st = write_file(m, p, method, in, &s);
    } else {
        st = write_text(m, p, method, in, &s, repeat);
    }
    etp_strbuf_printf(m->b, "\n");
    return st;
}

// ---- calls ----

// Is it a text decoder, and how many tokens does a call of STEP have?
static etp_status recognise_decoder(making *m, const etp_script_phase *p, const etp_method *method,
                                    const etp_script_step *step)
{
    // A method that is no text decoder is nothing wrong here: then only shapes and types can be
    // checked.
    etp_error unused;
    const char *name = etp_arena_strdup(m->arena, method->name);
    m->is_decoder = etp_decoder_read(m->program, name, m->arena, &m->decoder, &unused) == ETP_OK &&
                    (method->n_inputs > 1 || m->decoder.told); // else it may be an embedding alone
    const etp_value *tokens = method->n_inputs > 0 ? &method->values[method->inputs[0]] : NULL;
    m->tokens = m->is_decoder && tokens->dims[1] > 0 ? (uint64_t)tokens->dims[1] : 1;
    for (size_t i = 0; m->is_decoder && i < step->inputs.n; i++) {
        shape s;
        if (step->inputs.items[i].index == 0) {
            ETP_TRY(shape_of(m, p, method, &step->inputs.items[i], &s));
            m->tokens = s.elements;
        }
    }
    return ETP_OK;
}

static etp_status write_step(making *m, size_t at, const etp_script_step *step)
{
    const etp_script_phase *p = &m->script->phases.items[at];
    const etp_method *method = etp_program_find_method(m->program, step->method);
    if (!method) {
        const char *there = etp_decoder_methods(m->program, m->arena);
        return etp_fail(m->err, ETP_USAGE, "%s: phase \"%.*s\": there is no method \"%.*s\" (%s)",
                        m->model, ETP_STR_ARG(p->name), ETP_STR_ARG(step->method), there);
    }
    uint64_t repeat = step->repeat == ETP_SCRIPT_OWN ? 1 : step->repeat;
    // As a subtraction: a repeat count from a script can be any number.
    if (repeat > ETP_SCRIPT_CALLS - m->calls) {
        return etp_fail(m->err, ETP_USAGE,
                        "%s: phase \"%.*s\": more than %u calls, those before it included",
                        m->model, ETP_STR_ARG(p->name), ETP_SCRIPT_CALLS);
    }
    ETP_TRY(recognise_decoder(m, p, method, step));
    for (uint64_t r = 0; r < repeat; r++) {
        m->calls++;
        etp_strbuf_printf(m->b, "call %.*s\n", ETP_STR_ARG(method->name));
        for (size_t i = 0; i < step->inputs.n; i++) {
            for (size_t k = 0; k < i; k++) {
                if (step->inputs.items[k].index == step->inputs.items[i].index) {
                    return refuse(m, p, method, step->inputs.items[i].index, "it is given twice");
                }
            }
            ETP_TRY(write_input(m, p, method, &step->inputs.items[i], at, r));
        }
        m->before = m->method_of[at] = method;
        m->last_of[at] = (size_t)m->calls - 1;
    }
    return ETP_OK;
}

static etp_status write_phase(making *m, size_t at)
{
    const etp_script_phase *p = &m->script->phases.items[at];
    for (size_t i = 0; i < p->steps.n; i++) {
        ETP_TRY(write_step(m, at, &p->steps.items[i]));
    }
    return etp_arena_check(m->arena, m->err, m->model);
}

// The phases that come before phase AT, first ones first.
static size_t chain_of(const etp_script *script, size_t at, size_t *out)
{
    size_t n = 0, backwards[ETP_SCRIPT_PHASES];
    for (etp_str after = script->phases.items[at].after; after.len > 0;) {
        at = etp_script_find(script, after, at); // an earlier one: the reader saw to it
        backwards[n++] = at;
        after = script->phases.items[at].after;
    }
    for (size_t i = 0; i < n; i++) {
        out[i] = backwards[n - 1 - i];
    }
    return n;
}

// Before each repetition the caches are what they were after `once`: each repetition does the same
// work.
static etp_status write_state(making *m, size_t at)
{
    const etp_script_step *step = &m->script->phases.items[at].steps.items[0]; // all of one method
    const etp_method *method = etp_program_find_method(m->program, step->method);
    etp_state_ranges state = {0};
    if (method) { // the calls say so otherwise
        ETP_TRY(etp_method_state(method, m->arena, &state, m->err));
    }
    for (size_t i = 0; i < state.n; i++) {
        const etp_state_range *r = &state.items[i];
        etp_strbuf_printf(m->b, "reset %.*s %u %llu %llu\n", ETP_STR_ARG(step->method), r->memory,
                          (unsigned long long)r->offset, (unsigned long long)r->bytes);
    }
    return ETP_OK;
}

etp_status etp_script_steps(const etp_script *script, size_t at, const etp_program *program,
                            const char *model, uint64_t seed, etp_arena *arena, etp_str *out,
                            uint64_t *calls, etp_error *err)
{
    etp_strbuf b;
    etp_strbuf_init(&b, arena);
    making m = {.script = script,
                .program = program,
                .model = model,
                .seed = seed,
                .arena = arena,
                .err = err,
                .b = &b};
    size_t chain[ETP_SCRIPT_PHASES], n = chain_of(script, at, chain);
    // The head, what is put back before each repetition, the calls that come once, those of a
    // repetition.
    etp_strbuf_printf(&b, "etprof-steps 1\n%s", script->share ? "share\n" : "");
    ETP_TRY(write_state(&m, at));
    etp_strbuf_printf(&b, "%s", n > 0 ? "once\n" : "");
    for (size_t i = 0; i < n; i++) {
        ETP_TRY(write_phase(&m, chain[i]));
    }
    uint64_t before = m.calls;
    etp_strbuf_printf(&b, "each\n");
    ETP_TRY(write_phase(&m, at));
    *calls = m.calls - before;
    *out = etp_strbuf_str(&b);
    return ETP_OK;
}
