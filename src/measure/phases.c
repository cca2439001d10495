// SPDX-License-Identifier: Apache-2.0
// From --prefill, --decode and --depth to phases and the scripts of their steps.
#include "measure/phases.h"

#include "base/number.h"
#include "measure/decoder.h"

#define MAX_PHASES 32
#define MAX_CALLS 100000u
#define MAX_TOKENS 1000000u // of a prompt

typedef struct numbers {
    uint64_t items[MAX_PHASES];
    size_t n;
} numbers;

// "0,256": what OPTION says. LEAST and MOST bound each.
static etp_status parse_numbers(const char *option, const char *text, uint64_t least, uint64_t most,
                                numbers *out, etp_error *err)
{
    out->n = 0;
    for (etp_str rest = etp_str_from(text); text && rest.len > 0;) {
        etp_str one = {rest.ptr, etp_str_find(rest, ETP_STR(","))};
        uint64_t v;
        if (!etp_parse_u64(one, &v) || v < least || v > most) {
            return etp_fail(err, ETP_USAGE, "--%s: '%.*s' is not a number from %llu to %llu",
                            option, ETP_STR_ARG(one), (unsigned long long)least,
                            (unsigned long long)most);
        }
        for (size_t i = 0; i < out->n; i++) {
            if (out->items[i] == v) {
                return etp_fail(err, ETP_USAGE, "--%s: %llu is given twice", option,
                                (unsigned long long)v);
            }
        }
        if (out->n == MAX_PHASES) {
            return etp_fail(err, ETP_USAGE, "--%s: more than %d numbers", option, MAX_PHASES);
        }
        out->items[out->n++] = v;
        size_t used = one.len + (one.len < rest.len);
        rest = (etp_str){rest.ptr + used, rest.len - used};
        if (one.len + 1 == used && rest.len == 0) {
            return etp_fail(err, ETP_USAGE, "--%s: '%s' ends in a comma", option, text);
        }
    }
    return ETP_OK;
}

typedef struct asked {
    numbers prefill, decode, depth;
    uint64_t seed;
} asked;

static etp_status read_asked(const etp_settings *s, asked *out, etp_error *err)
{
    out->seed = s->seed;
    ETP_TRY(parse_numbers("prefill", s->prefill, 1, MAX_TOKENS, &out->prefill, err));
    ETP_TRY(parse_numbers("decode", s->decode, 1, MAX_CALLS, &out->decode, err));
    ETP_TRY(parse_numbers("depth", s->depth, 0, MAX_TOKENS, &out->depth, err));
    if (out->decode.n > 1) {
        return etp_fail(err, ETP_USAGE,
                        "--decode takes one number of tokens; --depth takes several");
    }
    if (out->depth.n > 0 && out->decode.n == 0) {
        return etp_fail(err, ETP_USAGE, "--depth says where decoding begins: give --decode N too");
    }
    if (out->decode.n > 0 && out->depth.n == 0) {
        out->depth.items[out->depth.n++] = 0;
    }
    return ETP_OK;
}

// ---- tokens ----

// SplitMix64 over the place in the text: the same token at a place, whatever is called when.
static uint64_t token_at(uint64_t seed, uint64_t place, uint64_t vocabulary)
{
    uint64_t z = seed + (place + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % vocabulary;
}

static void write_call(etp_strbuf *b, const etp_decoder *d, uint64_t seed, uint64_t from,
                       uint64_t n)
{
    etp_strbuf_printf(b, "call %s\nin 0 int64 1x%llu values", d->name, (unsigned long long)n);
    for (uint64_t i = 0; i < n; i++) {
        etp_strbuf_printf(b, " %llu", (unsigned long long)token_at(seed, from + i, d->vocabulary));
    }
    if (d->method->n_inputs == 1) {
        etp_strbuf_printf(b, "\n");
        return;
    }
    etp_strbuf_printf(b, "\nin 1 int64 %llu values", (unsigned long long)(d->positions ? n : 1));
    for (uint64_t i = 0; i < (d->positions ? n : 1); i++) {
        etp_strbuf_printf(b, " %llu", (unsigned long long)(from + i));
    }
    etp_strbuf_printf(b, "\n");
}

// Tokens FROM to END in calls of as many as one takes, at most STEP.
static uint64_t write_calls(etp_strbuf *b, const etp_decoder *d, uint64_t seed, uint64_t from,
                            uint64_t end, uint64_t step)
{
    uint64_t calls = 0;
    for (; from < end; calls++) {
        uint64_t n = end - from < step ? end - from : step;
        write_call(b, d, seed, from, n);
        from += n;
    }
    return calls;
}

// ---- phases of one model ----

typedef struct wanted { // one phase, whatever the model
    bool decode;
    uint64_t tokens; // of the prompt, or to decode
    uint64_t from;   // tokens in the cache before
    uint64_t prompt; // prefill: of the whole prompt, of which this is a chunk
} wanted;

// How many tokens a call of a phase has.
static uint64_t step_of(const etp_decoder *d, const wanted *w)
{
    return w->decode ? 1 : d->dynamic && w->tokens < d->most ? w->tokens : d->most;
}

static etp_status check_wanted(const etp_decoder *d, const wanted *w, const char *model,
                               etp_error *err)
{
    const char *option = w->decode ? "--decode" : "--prefill";
    uint64_t end = w->from + w->tokens;
    if ((w->decode || w->from > 0 || w->tokens > d->most) && !d->cached) {
        return etp_fail(err, ETP_USAGE,
                        "%s: %s: method %s keeps no cache (%s), so that no token can follow "
                        "another call; it can be measured with --prefill of at most %llu tokens",
                        model, option, d->name,
                        d->method->n_inputs == 1 ? "it takes no position" : "use_kv_cache is false",
                        (unsigned long long)d->most);
    }
    if (d->context != ETP_DECODER_UNKNOWN && end > d->context) {
        return etp_fail(err, ETP_USAGE,
                        "%s: %s: %llu tokens from position %llu are past the cache, which has room "
                        "for %llu",
                        model, option, (unsigned long long)w->tokens, (unsigned long long)w->from,
                        (unsigned long long)d->context);
    }
    if (!d->dynamic && d->most > 1 && (w->decode || w->tokens % d->most || w->from % d->most)) {
        return etp_fail(err, ETP_USAGE,
                        "%s: %s: method %s takes %llu tokens a call, no fewer and no more (static "
                        "shape)%s",
                        model, option, d->name, (unsigned long long)d->most,
                        w->decode ? ": it cannot take one token after another"
                                  : ": give a multiple of that");
    }
    return ETP_OK;
}

static etp_status write_script(const etp_decoder *d, const wanted *w, uint64_t seed,
                               const char *path, etp_arena *arena, uint64_t *calls, etp_error *err)
{
    etp_strbuf b;
    etp_state_ranges state;
    etp_strbuf_init(&b, arena);
    etp_strbuf_printf(&b, "etprof-steps 1\n");
    ETP_TRY(etp_method_state(d->method, arena, &state, err));
    for (size_t i = 0; i < state.n; i++) {
        const etp_state_range *r = &state.items[i];
        etp_strbuf_printf(&b, "reset %s %u %llu %llu\n", d->name, r->memory,
                          (unsigned long long)r->offset, (unsigned long long)r->bytes);
    }
    if (w->from > 0) {
        etp_strbuf_printf(&b, "once\n");
        write_calls(&b, d, seed, 0, w->from, d->most);
    }
    etp_strbuf_printf(&b, "each\n");
    *calls = write_calls(&b, d, seed, w->from, w->from + w->tokens, step_of(d, w));
    if (b.failed) {
        return etp_fail_nomem(err, path);
    }
    if (*calls > MAX_CALLS) {
        return etp_fail(err, ETP_USAGE, "a phase of %llu calls; at most %u can be repeated",
                        (unsigned long long)*calls, MAX_CALLS);
    }
    return etp_os_write_atomic(path, etp_strbuf_str(&b), err);
}

static etp_status name_phase(const wanted *w, const etp_decoder *d, etp_arena *arena,
                             etp_session_plan_phase *p, etp_error *err)
{
    unsigned long long n = w->tokens, from = w->from;
    p->kind = w->decode ? "decode" : "prefill";
    p->tokens = step_of(d, w);
    p->depth = w->from;
    p->prompt = w->prompt;
    if (w->decode) {
        p->name = etp_arena_printf(arena, "decode @%llu", from);
        p->word = etp_arena_printf(arena, "decode%llu", from);
    } else if (from > 0) {
        p->name = etp_arena_printf(arena, "prefill %llu @%llu", n, from);
        p->word = etp_arena_printf(arena, "prefill%llu_at%llu", n, from);
    } else {
        p->name = etp_arena_printf(arena, "prefill %llu", n);
        p->word = etp_arena_printf(arena, "prefill%llu", n);
    }
    return p->name && p->word ? ETP_OK : etp_fail_nomem(err, "phases");
}

typedef struct list {
    wanted items[MAX_PHASES];
    size_t n;
} list;

static etp_status add(list *l, wanted w, etp_error *err)
{
    for (size_t i = 0; i < l->n; i++) { // the last chunk of one prompt may be the first of another
        const wanted *o = &l->items[i];
        if (o->decode == w.decode && o->tokens == w.tokens && o->from == w.from) {
            return ETP_OK;
        }
    }
    if (l->n == MAX_PHASES) {
        return etp_fail(err, ETP_USAGE,
                        "more than %d phases; a prompt is a phase for each chunk that fits a call",
                        MAX_PHASES);
    }
    l->items[l->n++] = w;
    return ETP_OK;
}

// A prompt that is longer than a call takes is fed in chunks, and each chunk is a phase: it costs
// more the more is in the cache.
static etp_status list_phases(const asked *a, const etp_decoder *d, list *out, etp_error *err)
{
    out->n = 0;
    for (size_t i = 0; i < a->prefill.n; i++) {
        uint64_t prompt = a->prefill.items[i];
        uint64_t step = d->dynamic || d->most > 1 ? d->most : prompt; // by one: all is one phase
        for (uint64_t from = 0; from < prompt; from += step) {
            uint64_t n = prompt - from < step ? prompt - from : step;
            ETP_TRY(add(out, (wanted){.tokens = n, .from = from, .prompt = prompt}, err));
        }
    }
    for (size_t i = 0; a->decode.n > 0 && i < a->depth.n; i++) {
        ETP_TRY(add(
            out, (wanted){.decode = true, .tokens = a->decode.items[0], .from = a->depth.items[i]},
            err));
    }
    return ETP_OK;
}

static bool same_phases(const list *a, const list *b)
{
    bool same = a->n == b->n;
    for (size_t i = 0; same && i < a->n; i++) {
        const wanted *x = &a->items[i], *y = &b->items[i];
        same = x->decode == y->decode && x->tokens == y->tokens && x->from == y->from;
    }
    return same;
}

typedef struct making {
    const asked *a;
    const char *method, *work_dir;
    etp_arena *arena;
    etp_session_plan_phase *phases;
    size_t n_models;
    list first; // of the first model: the others must have the same
} making;

static etp_status make_model(making *m, const etp_program *program, const char *path, size_t model,
                             etp_error *err)
{
    etp_decoder d;
    list l;
    etp_status st = etp_decoder_read(program, m->method, m->arena, &d, err);
    if (st != ETP_OK) {
        return etp_fail_ctx(err, "%s", path);
    }
    for (size_t i = 0; i < m->a->prefill.n; i++) { // before a long prompt becomes too many chunks
        const wanted whole = {.tokens = m->a->prefill.items[i]};
        ETP_TRY(check_wanted(&d, &whole, path, err));
    }
    ETP_TRY(list_phases(m->a, &d, &l, err));
    if (model == 0) {
        m->first = l;
    } else if (!same_phases(&l, &m->first)) {
        return etp_fail(err, ETP_USAGE,
                        "%s takes a prompt in other chunks than the first model: measure them "
                        "apart, or give --prefill of at most %llu tokens",
                        path, (unsigned long long)d.most);
    }
    for (size_t i = 0; i < l.n; i++) {
        etp_session_plan_phase *p = &m->phases[i];
        ETP_TRY(check_wanted(&d, &l.items[i], path, err));
        if (model == 0) {
            ETP_TRY(name_phase(&l.items[i], &d, m->arena, p, err));
            p->files = ETP_NEW_ARRAY(m->arena, const char *, m->n_models);
        }
        const char *file = etp_arena_printf(m->arena, "%s/steps-%zu-%zu", m->work_dir, model, i);
        if (!p->files || !file) {
            return etp_fail_nomem(err, "phases");
        }
        ETP_TRY(write_script(&d, &l.items[i], m->a->seed, file, m->arena, &p->calls, err));
        p->files[model] = file;
    }
    return ETP_OK;
}

etp_status etp_phases_make(const etp_settings *settings, const char *const *model_paths,
                           size_t n_models, const char *work_dir, etp_arena *arena,
                           etp_session_plan_phase **out, uint32_t *n_out, etp_error *err)
{
    asked a;
    *n_out = 0;
    *out = NULL;
    ETP_TRY(read_asked(settings, &a, err));
    if (a.prefill.n == 0 && a.decode.n == 0) {
        return ETP_OK;
    }
    making m = {.a = &a,
                .method = settings->method,
                .work_dir = work_dir,
                .arena = arena,
                .phases = ETP_NEW_ARRAY(arena, etp_session_plan_phase, MAX_PHASES),
                .n_models = n_models};
    if (!m.phases) {
        return etp_fail_nomem(err, "phases");
    }
    for (size_t i = 0; i < n_models; i++) {
        etp_file file;
        const etp_program *program = NULL;
        ETP_TRY(etp_file_open(model_paths[i], UINT64_MAX, &file, err));
        etp_status st = etp_program_open(file.bytes, NULL, &program, err);
        if (st != ETP_OK) {
            st = etp_fail_ctx(err, "%s", model_paths[i]);
        } else {
            st = make_model(&m, program, model_paths[i], i, err);
        }
        etp_program_close(program);
        etp_file_close(&file);
        ETP_TRY(st);
    }
    *out = m.phases;
    *n_out = (uint32_t)m.first.n;
    return ETP_OK;
}

uint64_t etp_phase_whole(const etp_session_plan_phase *phase, uint64_t n)
{
    if (!phase || phase->calls <= 1) {
        return n;
    }
    return (n < 1 ? 1 : (n + phase->calls - 1) / phase->calls) * phase->calls;
}
