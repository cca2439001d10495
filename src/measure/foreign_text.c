// SPDX-License-Identifier: Apache-2.0
// Runners of language models (llama_main, TextLLMRunner): what their statistics say, and which
// phases they can tell. One launch answers a prompt; the statistics split the answer into the
// prompt and the tokens after it, in whole milliseconds.
#include <stdio.h>

#include "base/json_read.h"
#include "base/number.h"
#include "measure/foreign.h"

// Milliseconds since 1970 need 41 bits; with this bound no sum of them wraps.
#define MOST_MS ((uint64_t)1 << 52)
#define MOST_TOKENS 1000000000u
// A prompt is one argument of a command line, which systems bound (Linux: 128 KiB each).
#define MOST_PROMPT 30000u // letters of one argument
#define DEFAULT_PREFILL "64"
#define DEFAULT_DECODE "32"

// ---- statistics ----

typedef struct reading {
    const json_t *object;
    char *why;
    size_t why_cap;
    bool ok;
} reading;

static void refuse(reading *r, const char *fmt, ...) ETP_PRINTF(2, 3);

static void refuse(reading *r, const char *fmt, ...)
{
    if (r->ok) {
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(r->why, r->why_cap, fmt, ap);
        va_end(ap);
    }
    r->ok = false;
}

// After a first refusal the others say nothing: one cause is told.
static uint64_t whole(reading *r, const char *key, uint64_t most)
{
    const json_t *v = json_object_get(r->object, key);
    if (!v) {
        refuse(r, "they have no %s", key);
        return 0;
    }
    if (!json_is_integer(v) || json_integer_value(v) < 0 ||
        (uint64_t)json_integer_value(v) > most) {
        refuse(r, "%s is not a whole number from 0 to %llu", key, (unsigned long long)most);
        return 0;
    }
    return (uint64_t)json_integer_value(v);
}

// The statistics are points in time; a phase is the distance of two.
static uint64_t span(reading *r, const char *from, const char *to)
{
    uint64_t a = whole(r, from, MOST_MS), b = whole(r, to, MOST_MS);
    if (r->ok && b < a) {
        refuse(r, "%s (%llu) is before %s (%llu)", to, (unsigned long long)b, from,
               (unsigned long long)a);
    }
    return r->ok ? b - a : 0;
}

bool etp_foreign_stats_read(etp_str text, etp_foreign_stats *out, char *why, size_t why_cap)
{
    json_t *root;
    etp_error not_read;
    reading r = {.why = why, .why_cap = why_cap, .ok = true};
    *out = (etp_foreign_stats){0};
    if (etp_json_read(text, &root, &not_read) != ETP_OK) {
        refuse(&r, "they are not a JSON object: %s", not_read.msg);
        return false;
    }
    r.object = root;
    uint64_t second = whole(&r, "SCALING_FACTOR_UNITS_PER_SECOND", UINT32_MAX);
    if (r.ok && second != 1000) {
        refuse(&r, "they count %llu units a second; only 1000 (milliseconds) is supported",
               (unsigned long long)second);
    }
    out->prompt_tokens = whole(&r, "prompt_tokens", MOST_TOKENS);
    out->new_tokens = whole(&r, "generated_tokens", MOST_TOKENS);
    out->prefill_ms = span(&r, "inference_start_ms", "prompt_eval_end_ms");
    out->decode_ms = span(&r, "prompt_eval_end_ms", "inference_end_ms");
    if (r.ok && json_object_get(root, "model_load_end_ms")) { // others' times do not rest on it
        out->load_ms = span(&r, "model_load_start_ms", "model_load_end_ms");
    }
    if (r.ok && out->prompt_tokens == 0) {
        refuse(&r, "they say that the prompt had no token");
    }
    json_decref(root);
    return r.ok;
}

// ---- phases ----

static bool below(const char *list, uint64_t least, uint64_t most)
{
    for (etp_str one, rest = etp_str_from(list); etp_str_part(&rest, ',', &one);) {
        uint64_t v;
        if (etp_parse_u64(one, &v) && (v < least || v > most)) { // others are refused elsewhere
            return false;
        }
    }
    return true;
}

etp_status etp_foreign_text_settle(etp_settings *set, etp_arena *arena, etp_error *err)
{
    if (set->shape) {
        return etp_fail(
            err, ETP_USAGE,
            "--shape needs etprof's own runner, which takes a model step by step: a runner "
            "of language models is asked with --prefill and --decode");
    }
    if (!set->prefill && !set->decode) {
        set->prefill = DEFAULT_PREFILL;
        set->decode = DEFAULT_DECODE;
    }
    if (set->decode && !set->depth) { // behind the prompt that is measured
        etp_str first = etp_str_from(ETP_OR(set->prefill, DEFAULT_PREFILL));
        (void)etp_str_cut(&first, ",", &first);
        set->depth = etp_arena_strdup(arena, first);
        ETP_NEED(set->depth, err, "phases");
    }
    if (set->decode && !below(set->depth, 1, MOST_PROMPT)) {
        return etp_fail(err, ETP_USAGE,
                        "--decode %s@%s: a runner of language models decodes behind a prompt; give "
                        "1 to %u tokens of it",
                        set->decode, set->depth, MOST_PROMPT);
    }
    if (set->prefill && !below(set->prefill, 1, MOST_PROMPT)) {
        return etp_fail(err, ETP_USAGE, "--prefill %s: this runner's prompts are of 1 to %u tokens",
                        set->prefill, MOST_PROMPT);
    }
    return ETP_OK;
}

bool etp_foreign_decodes(const etp_planned_phase *phase)
{
    return phase->run.kind == ETP_PHASE_OF_DECODE;
}

etp_status etp_foreign_text_phases(etp_session_plan *p, etp_arena *arena, etp_error *err)
{
    etp_strbuf clock;
    etp_strbuf_init(&clock, arena);
    for (uint32_t i = 0; i < p->n_phases; i++) {
        etp_planned_phase *phase = &p->phases[i];
        bool decode = etp_foreign_decodes(phase);
        if (!decode &&
            (phase->run.depth > 0 || phase->run.prompt > phase->run.tokens * phase->run.calls)) {
            return etp_fail(err, ETP_USAGE,
                            "--prefill %llu: the program takes a prompt of this length in several "
                            "calls, and this runner tells the time of a prompt as a whole; give "
                            "--prefill of at most %llu",
                            (unsigned long long)phase->run.prompt,
                            (unsigned long long)(phase->run.tokens * phase->run.calls));
        }
        // One reading is divided by the calls it covers, and so is its step; rounded up, because a
        // clock is never finer than told.
        phase->run.clock_ns = (ETP_FOREIGN_CLOCK_NS + phase->run.calls - 1) / phase->run.calls;
        etp_strbuf_printf(&clock, "%s%s ±%s", etp_if(i, ", "), phase->run.name.ptr,
                          ETP_NS((double)phase->run.clock_ns));
    }
    etp_plan_note(p, ETP_NOTE_RUNNER_CLOCK,
                  etp_arena_printf(arena,
                                   "the runner's clock counts whole milliseconds: %.*s a call. The "
                                   "intervals include it",
                                   ETP_STR_ARG(etp_strbuf_str(&clock))));
    etp_plan_note(
        p, ETP_NOTE_RUNNER_WHOLE,
        "the runner's prefill includes the tokenizer, its decode the choice of each token "
        "and its printing; its outputs are texts, so outputs are not compared");
    return ETP_OK;
}
