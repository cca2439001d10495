// SPDX-License-Identifier: Apache-2.0
// Recognising text decoders, and what a method keeps between calls.
#include "measure/decoder.h"

#include "base/sink.h"
#include "os/os.h"

// Exporters tell limits of a model as methods that return a constant.
// What a method without inputs and instructions returns. False: there is no such number.
static bool constant_of(const etp_program *program, const char *name, int64_t *out)
{
    const etp_method *m = etp_program_find_method(program, etp_str_from(name));
    if (!m || m->n_inputs > 0 || m->n_instructions > 0 || m->n_outputs != 1) {
        return false;
    }
    const etp_evalue *v = &m->pte->values[m->outputs[0]];
    if (v->kind == ETP_EVALUE_INT) {
        *out = v->u.i;
    } else if (v->kind == ETP_EVALUE_BOOL) {
        *out = v->u.b;
    }
    return v->kind == ETP_EVALUE_INT || v->kind == ETP_EVALUE_BOOL;
}

static uint64_t positive_of(const etp_program *program, const char *name)
{
    int64_t v;
    return constant_of(program, name, &v) && v > 0 ? (uint64_t)v : ETP_DECODER_UNKNOWN;
}

const etp_method *etp_decoder_method(const etp_program *program, const char *name)
{
    const etp_method *m = etp_program_find_method(program, etp_str_from(ETP_OR(name, "forward")));
    const etp_method *only = NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; i < program->n_methods; i++) {
        only = program->methods[i].n_inputs > 0 ? &program->methods[i] : only;
        n += program->methods[i].n_inputs > 0;
    }
    // Constant methods take no inputs, so they do not count: the one that does is the model.
    if (m) {
        return m;
    }
    return !name && n == 1 ? only : NULL;
}

const char *etp_decoder_methods(const etp_program *program, etp_arena *arena)
{
    enum { SHOWN = 8 };
    const char *text = "";
    uint32_t n = 0;
    for (uint32_t i = 0; text && i < program->n_methods; i++) {
        const etp_method *m = &program->methods[i];
        if (m->n_inputs > 0 && n++ < SHOWN) {
            text = etp_arena_printf(arena, "%s%s%.*s", text, etp_if(n > 1, ", "),
                                    ETP_STR_ARG(m->name));
        }
    }
    if (n == 0) {
        return "none of its methods takes an input";
    }
    text =
        etp_arena_printf(arena, "those that take inputs are %s%s", text, etp_if(n > SHOWN, ", …"));
    return ETP_OR(text, "");
}

etp_status etp_decoder_no_method(const char *path, const etp_program *program, const char *method,
                                 etp_arena *arena, etp_error *err)
{
    return etp_fail(err, ETP_USAGE, "%s has no method %s (%s); choose one with --method", path,
                    ETP_OR(method, "forward"), etp_decoder_methods(program, arena));
}

static bool is_tokens(const etp_value *v)
{
    return v->kind == ETP_EVALUE_TENSOR && v->dtype == ETP_DTYPE_INT64 && v->rank == 2 &&
           v->dims[0] == 1 && v->dims[1] >= 1;
}

static bool is_positions(const etp_value *v)
{
    return v->kind == ETP_EVALUE_TENSOR && v->dtype == ETP_DTYPE_INT64 && v->rank == 1 &&
           v->dims[0] >= 1;
}

etp_status etp_decoder_read(const etp_program *program, const char *method, etp_arena *arena,
                            etp_decoder *out, etp_error *err)
{
    *out = (etp_decoder){.method = etp_decoder_method(program, method)};
    if (!out->method) {
        const char *there = etp_decoder_methods(program, arena);
        return etp_fail(err, ETP_USAGE,
                        "there is no method %s to give tokens to (%s): choose one with --method",
                        ETP_OR(method, "forward"), there);
    }
    const etp_method *m = out->method;
    const etp_value *tokens = m->n_inputs > 0 ? &m->values[m->inputs[0]] : NULL;
    const etp_value *at = m->n_inputs > 1 ? &m->values[m->inputs[1]] : NULL;
    out->name = etp_arena_strdup(arena, m->name);
    if (!tokens || !is_tokens(tokens) || m->n_inputs > 2 || (at && !is_positions(at))) {
        return etp_fail(err, ETP_UNSUPPORTED,
                        "method %s is not a text decoder: expected tokens int64 [1, n] and a start "
                        "position int64 [1], or a position int64 [n] for each token, as its inputs",
                        ETP_OR(out->name, ""));
    }
    int64_t flag;
    // A program without these methods has not denied it: then the shapes and inputs decide.
    bool says_dynamic = !constant_of(program, "enable_dynamic_shape", &flag) || flag != 0;
    bool says_cached = !constant_of(program, "use_kv_cache", &flag) || flag != 0;
    out->dynamic = tokens->dynamic && says_dynamic;
    out->cached = at && says_cached;
    // One number is the position of the first token, a list has one for each. A list of one token
    // looks like a start position, and is the same.
    out->positions = at && at->dims[0] > 1;
    out->most = (uint64_t)tokens->dims[1];
    uint64_t most = positive_of(program, "get_max_seq_len");
    out->context = positive_of(program, "get_max_context_len");
    // A program without get_max_context_len has one limit for both: the tokens of a call and those
    // of the cache.
    out->context = out->context == ETP_DECODER_UNKNOWN ? most : out->context;
    out->most = out->dynamic && most < out->most ? most : out->most;
    out->vocabulary = positive_of(program, "get_vocab_size");
    out->told = out->vocabulary != ETP_DECODER_UNKNOWN;
    if (!out->told && m->n_outputs > 0) { // as many logits
        const etp_value *logits = &m->values[m->outputs[0]];
        bool known = logits->kind == ETP_EVALUE_TENSOR && logits->rank > 0;
        out->vocabulary = known ? (uint64_t)logits->dims[logits->rank - 1] : 1;
    }
    return ETP_OK;
}

// Only what lies in planned memory can be put back: an arena without a number has none that the
// runner could write to.
size_t etp_method_state(const etp_method *m, etp_arena *arena, etp_planned **out)
{
    const size_t n = etp_planned_of(m, arena, out);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if ((*out)[i].kept && (*out)[i].arena > 0) {
            (*out)[kept++] = (*out)[i];
        }
    }
    return kept;
}

etp_status etp_method_kept(const char *path, const char *method, etp_arena *arena, const char **out,
                           etp_error *err)
{
    etp_file file = {0};
    etp_error why;
    const etp_program *program = NULL;
    etp_planned *state = NULL;
    size_t n = 0;
    *out = "";
    etp_status st = etp_file_open(path, UINT64_MAX, &file, &why);
    st = st == ETP_OK ? etp_program_open(file.bytes, NULL, &program, &why) : st;
    const etp_method *m = st == ETP_OK ? etp_decoder_method(program, method) : NULL;
    if (m) {
        n = etp_method_state(m, arena, &state);
        st = etp_arena_check(arena, &why, "mutable buffers");
    }
    if (st == ETP_OK && n > 0) {
        enum { MOST = 8192 }; // of a variable of the environment
        etp_strbuf b;
        etp_strbuf_init(&b, arena);
        for (size_t i = 0; i < n;) {
            const etp_planned *first = &state[i];
            uint64_t end = first->offset + first->bytes;
            for (i++; i < n && state[i].arena == first->arena && state[i].offset <= end; i++) {
                const uint64_t to = state[i].offset + state[i].bytes;
                end = ETP_MAX(to, end);
            }
            etp_strbuf_printf(&b, "%s%u:%llu:%llu", etp_if(b.len > 0, ","), first->arena,
                              (unsigned long long)first->offset,
                              (unsigned long long)(end - first->offset));
        }
        const etp_str text = etp_strbuf_str(&b);
        *out = text.len > 0 && text.len < MOST ? text.ptr : "";
    }
    etp_program_close(program);
    etp_file_close(&file);
    return st == ETP_NOMEM ? etp_fail(err, ETP_NOMEM, "%s", why.msg) : ETP_OK;
}
