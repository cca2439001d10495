// SPDX-License-Identifier: Apache-2.0
// From --prefill and --decode to the calls of a text decoder.
#include "base/number.h"
#include "measure/decoder.h"
#include "measure/phases.h"

#define MAX_PHASES 32
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
    bool more = text && text[0] != '\0';
    for (etp_str one, rest = etp_str_from(text); more;) {
        uint64_t v;
        more = etp_str_cut(&rest, ",", &one);
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
        if (more && rest.len == 0) {
            return etp_fail(err, ETP_USAGE, "--%s: '%s' ends in a comma", option, text);
        }
    }
    return ETP_OK;
}

typedef struct requested {
    numbers prefill, decode, depth;
} requested;

// ---- which phases ----

typedef struct wanted { // one phase, whatever the model
    bool decode;
    uint64_t tokens; // of the prompt, or to decode
    uint64_t from;   // tokens in the cache before
    uint64_t prompt; // prefill: of the whole prompt, of which this is a chunk
} wanted;

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
    // Refused before the launch: past its cache a program ends with an error of an operator that
    // does not say why.
    if (d->context != ETP_DECODER_UNKNOWN && end > d->context) {
        return etp_fail(err, ETP_USAGE,
                        "%s: %s: %llu tokens from position %llu are past the cache, which has room "
                        "for %llu; give fewer, or export with --context %llu",
                        model, option, (unsigned long long)w->tokens, (unsigned long long)w->from,
                        (unsigned long long)d->context, (unsigned long long)end);
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

// ---- calls ----

static void add_text(etp_arena *arena, etp_step *step, const etp_decoder *d, uint64_t seed,
                     uint64_t from, uint64_t n)
{
    const etp_str shape = etp_str_from(etp_arena_printf(arena, "1x%llu", (unsigned long long)n));
    // A program takes either one start position or one position for each token.
    const etp_str places =
        etp_str_from(etp_arena_printf(arena, "%llu", (unsigned long long)(d->positions ? n : 1)));
    // The same text at the same places, whatever is called in which chunks: the seed and the place
    // alone decide a token.
    const etp_steps_input tokens = {.index = 0,
                                    .fill = ETP_FILL_TOKENS,
                                    .shape = shape,
                                    .seed = seed,
                                    .below = d->vocabulary,
                                    .start = from,
                                    .advance = n};
    const etp_steps_input position = {
        .index = 1, .fill = ETP_FILL_POSITION, .shape = places, .start = from, .advance = n};
    ETP_ADD(arena, &step->inputs, tokens);
    if (d->method->n_inputs > 1) {
        ETP_ADD(arena, &step->inputs, position);
    }
}

// Tokens FROM to END in calls of as many as one takes, at most STEP.
static void add_calls(etp_arena *arena, etp_steps_phase *p, const etp_decoder *d, uint64_t seed,
                      uint64_t from, uint64_t end, uint64_t step)
{
    for (uint64_t left = end - from; left > 0; left = end - from) {
        uint64_t n = ETP_MIN(left, step);
        // As many whole calls as fit, then one with the rest.
        etp_step s = {.repeat = left / n};
        add_text(arena, &s, d, seed, from, n);
        ETP_ADD(arena, &p->steps, s);
        from += s.repeat * n;
    }
}

static void name_phase(const wanted *w, etp_arena *arena, etp_steps_phase *p)
{
    unsigned long long n = w->tokens, from = w->from;
    const char *name;
    if (w->decode) {
        name = etp_arena_printf(arena, "decode @%llu", from);
        p->word = etp_arena_printf(arena, "decode%llu", from);
    } else if (from > 0) {
        name = etp_arena_printf(arena, "prefill %llu @%llu", n, from);
        p->word = etp_arena_printf(arena, "prefill%llu_at%llu", n, from);
    } else {
        name = etp_arena_printf(arena, "prefill %llu", n);
        p->word = etp_arena_printf(arena, "prefill%llu", n);
    }
    p->name = etp_str_from(name);
}

// WANTED, and before it the phase that fills the cache.
static void add_phase(const etp_decoder *d, const wanted *w, uint64_t seed, etp_arena *arena,
                      etp_steps *out)
{
    uint64_t step = d->dynamic && w->tokens < d->most ? w->tokens : d->most; // tokens of a call
    etp_steps_phase p = {.method = d->method,
                         .measured = true,
                         .kind = w->decode ? ETP_PHASE_OF_DECODE : ETP_PHASE_OF_PREFILL,
                         .tokens = w->decode ? 1 : step,
                         .depth = w->from,
                         .prompt = w->prompt};
    name_phase(w, arena, &p);
    // Decoding at a depth needs a cache that is filled so far. That costs time before each launch
    // and is not measured.
    if (w->from > 0) {
        const char *name = etp_arena_printf(arena, "fill %llu for %.*s",
                                            (unsigned long long)w->from, ETP_STR_ARG(p.name));
        etp_steps_phase fill = {.method = d->method, .name = etp_str_from(name)};
        add_calls(arena, &fill, d, seed, 0, w->from, d->most);
        ETP_ADD(arena, out, fill);
    }
    add_calls(arena, &p, d, seed, w->from, w->from + w->tokens, p.tokens);
    ETP_ADD(arena, out, p);
}

etp_status etp_phases_decoder(const etp_settings *settings, const etp_program *program,
                              const char *path, etp_arena *arena, etp_steps *out, etp_error *err)
{
    requested a;
    etp_decoder d;
    list l;
    *out = (etp_steps){0};
    ETP_TRY(parse_numbers("prefill", settings->prefill, 1, MAX_TOKENS, &a.prefill, err));
    ETP_TRY(parse_numbers("decode", settings->decode, 1, ETP_STEPS_CALLS, &a.decode, err));
    ETP_TRY(parse_numbers("decode", settings->depth, 0, MAX_TOKENS, &a.depth, err));
    if (a.decode.n > 1) {
        return etp_fail(err, ETP_USAGE,
                        "--decode takes one number of tokens, and several depths: N@D,...");
    }
    if (a.decode.n > 0 && a.depth.n == 0) {
        // Decoding from an empty cache is the default.
        a.depth.items[a.depth.n++] = 0;
    }
    if (etp_decoder_read(program, settings->method, arena, &d, err) != ETP_OK) {
        return etp_fail_ctx(err, "%s", path);
    }
    for (size_t i = 0; i < a.prefill.n; i++) { // before a long prompt becomes too many chunks
        const wanted whole = {.tokens = a.prefill.items[i]};
        ETP_TRY(check_wanted(&d, &whole, path, err));
    }
    // A prompt that is longer than a call takes is fed in chunks, and each chunk is a phase: it
    // costs more the more is in the cache.
    l.n = 0;
    for (size_t i = 0; i < a.prefill.n; i++) {
        uint64_t prompt = a.prefill.items[i];
        uint64_t step = d.dynamic || d.most > 1 ? d.most : prompt; // by one: all is one phase
        for (uint64_t from = 0; from < prompt; from += step) {
            uint64_t n = ETP_MIN(prompt - from, step);
            ETP_TRY(add(&l, (wanted){.tokens = n, .from = from, .prompt = prompt}, err));
        }
    }
    for (size_t i = 0; a.decode.n > 0 && i < a.depth.n; i++) {
        ETP_TRY(add(&l,
                    (wanted){.decode = true, .tokens = a.decode.items[0], .from = a.depth.items[i]},
                    err));
    }
    for (size_t i = 0; i < l.n; i++) {
        ETP_TRY(check_wanted(&d, &l.items[i], path, err));
        add_phase(&d, &l.items[i], settings->seed, arena, out);
    }
    return etp_arena_check(arena, err, "phases");
}

bool etp_phases_suit(const char *model, const char *method, bool *out_bounded)
{
    etp_file file;
    etp_error unused;
    etp_decoder d;
    const etp_program *program = NULL;
    *out_bounded = false;
    if (etp_file_open(model, UINT64_MAX, &file, &unused) != ETP_OK) {
        return false;
    }
    etp_arena arena;
    etp_arena_init(&arena, NULL);
    bool suits = etp_program_open(file.bytes, NULL, &program, &unused) == ETP_OK &&
                 etp_decoder_read(program, method, &arena, &d, &unused) == ETP_OK &&
                 (d.method->n_inputs > 1 || d.told); // else it may be an embedding alone
    *out_bounded = suits && d.context != ETP_DECODER_UNKNOWN;
    etp_arena_dispose(&arena);
    etp_program_close(program);
    etp_file_close(&file);
    return suits;
}
