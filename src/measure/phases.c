// SPDX-License-Identifier: Apache-2.0
// The phases of a session, and for each model the calls of each.
#include "measure/phases.h"

#include "base/number.h"
#include "base/sha256.h"
#include "measure/decoder.h"
#include "os/os.h"

// ---- --shape ----

#define MAX_INPUTS 16
#define MAX_SHAPES 32

typedef struct shapes { // of one input
    uint64_t index;
    etp_str items[MAX_SHAPES];
    size_t n;
} shapes;

static etp_status bad_shape(etp_str text, const char *why, etp_error *err)
{
    return etp_fail(err, ETP_USAGE, "--shape: '%.*s' %s; expected like 0=1x3x224x224,1x3x448x448",
                    ETP_STR_ARG(text), why);
}

// "0=1x8,1x16,2=1x8,1x16"
static etp_status parse_shapes(const char *text, shapes *out, size_t *n_out, etp_error *err)
{
    shapes *s = NULL;
    *n_out = 0;
    bool more = text[0] != '\0';
    for (etp_str one, name, rest = etp_str_from(text); more;) {
        const etp_str all = rest;
        more = etp_str_cut(&rest, ",", &one);
        if (more && rest.len == 0) {
            return bad_shape(all, "ends in a comma", err);
        }
        // "0=1x8" begins the shapes of input 0; what follows without a number belongs to it.
        if (etp_str_cut(&one, "=", &name)) {
            s = *n_out < MAX_INPUTS ? &out[(*n_out)++] : NULL;
            if (!s || !etp_parse_u64(name, &s->index) || s->index > 1000) {
                return bad_shape(name, "is not the number of an input (programs keep no names)",
                                 err);
            }
        }
        if (!s || s->n == MAX_SHAPES || one.len == 0) {
            const char *what = one.len > 0 ? "is one shape too many" : "is not a shape";
            return bad_shape(one, s ? what : "names no input", err);
        }
        s->items[s->n++] = one;
    }
    // Inputs change together: shape K of each makes phase K, and an input with one shape keeps it
    // in all.
    for (size_t i = 0; i < *n_out; i++) {
        if (out[i].n != 1 && out[i].n != out[0].n && out[0].n != 1) {
            return bad_shape(etp_str_from(text), "gives its inputs different numbers of shapes",
                             err);
        }
    }
    return *n_out > 0 ? ETP_OK : bad_shape(etp_str_from(text), "names no input", err);
}

// A phase for each shape; the inputs are random, as --inputs has them otherwise, or the files whose
// shapes these are.
static etp_status make_shapes(const etp_settings *settings, const etp_inputs *inputs,
                              const etp_program *program, etp_arena *arena, etp_steps *out,
                              etp_error *err)
{
    shapes *all = ETP_NEW_ARRAY(arena, shapes, MAX_INPUTS);
    size_t n, most = 0;
    *out = (etp_steps){0};
    ETP_NEED(all, err, "shapes");
    ETP_TRY(parse_shapes(settings->shape, all, &n, err));
    const etp_method *method = etp_decoder_method(program, settings->method);
    if (!method) {
        const char *there = etp_decoder_methods(program, arena);
        return etp_fail(err, ETP_USAGE,
                        "--shape: there is no method %s (%s); choose one with --method",
                        ETP_OR(settings->method, "forward"), there);
    }
    for (size_t i = 0; i < n; i++) {
        most = ETP_MAX(all[i].n, most);
    }
    bool ones = etp_input_kind_of(settings->inputs) == ETP_INPUTS_ONES;
    bool files = inputs->shapes && strcmp(inputs->shapes, settings->shape) == 0;
    etp_steps_fill fill = files ? ETP_FILL_FILE : ETP_FILL_RANDOM;
    fill = ones ? ETP_FILL_ONES : fill;
    for (size_t k = 0; k < most; k++) {
        etp_step step = {.repeat = 1};
        etp_steps_phase p = {.method = method, .measured = true, .kind = ETP_PHASE_OF_SHAPE};
        const char *name = "";
        for (size_t i = 0; i < n; i++) {
            const etp_str shape = all[i].items[all[i].n == 1 ? 0 : k];
            // Each input of a phase has values of its own, and every shape has those of the same
            // seed.
            const etp_steps_input in = {
                .index = all[i].index, .fill = fill, .shape = shape, .seed = settings->seed + i};
            name = etp_arena_printf(arena, "%s%s%.*s", name, etp_if(i, "_"), ETP_STR_ARG(shape));
            ETP_ADD(arena, &step.inputs, in);
        }
        p.name = etp_str_from(name);
        ETP_ADD(arena, &p.steps, step);
        ETP_ADD(arena, out, p);
        ETP_TRY(etp_arena_check(arena, err, "shapes")); // its name is compared
        for (size_t i = 0; i < k; i++) {
            if (etp_str_eq(out->items[i].name, p.name)) {
                return bad_shape(p.name, "is given twice", err);
            }
        }
    }
    return ETP_OK;
}

// ---- of all models ----

typedef struct making {
    const etp_settings *settings;
    const etp_inputs *inputs;
    const char *work_dir;
    etp_arena *arena;
    etp_planned_phase *phases;
    etp_sha256 *sums; // of the calls, by phase
    size_t n_phases, n_models;
} making;

// The word becomes a part of the names of experiments, which are folders.
// Letters, digits, '-' and '.' stay.
static const char *word_of(etp_str name, etp_arena *arena)
{
    char *word = etp_arena_strdup(arena, name);
    for (char *c = word; c && *c; c++) {
        bool plain = (*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') ||
                     (*c >= 'A' && *c <= 'Z') || *c == '-' || *c == '.';
        *c = plain ? *c : '_';
    }
    return word;
}

static etp_status make_model(making *m, const etp_program *program, const char *path, size_t model,
                             etp_error *err)
{
    etp_steps all;
    size_t n = 0;
    if (m->settings->shape) {
        ETP_TRY(make_shapes(m->settings, m->inputs, program, m->arena, &all, err));
    } else {
        ETP_TRY(etp_phases_decoder(m->settings, program, path, m->arena, &all, err));
    }
    for (size_t i = 0; i < all.n; i++) {
        const etp_steps_phase *from = &all.items[i];
        if (!from->measured) {
            continue;
        }
        etp_planned_phase *p = &m->phases[n];
        if (model == 0) {
            // What is the same for all models. The calls themselves are made for each, since they
            // name its methods and buffers.
            p->run = (etp_run_phase){.name = etp_str_from(etp_arena_strdup(m->arena, from->name)),
                                     .kind = from->kind,
                                     .tokens = from->tokens,
                                     .depth = from->depth,
                                     .prompt = from->prompt};
            p->word = from->word ? from->word : word_of(from->name, m->arena);
            p->files = ETP_NEW_ARRAY(m->arena, const char *, m->n_models);
            ETP_TRY(etp_arena_check(m->arena, err, "phases")); // it is filled by the next models
        } else if (n == m->n_phases || !etp_str_eq(from->name, p->run.name)) {
            // All models of a session are measured in the phases of the first one.
            break;
        }
        uint64_t calls = p->run.calls;
        etp_str steps;
        ETP_TRY(etp_steps_text(&all, i, program, path, m->arena, &steps, &p->run.calls, err));
        if (model > 0 && p->run.calls != calls) {
            break;
        }
        // Sizes of the calls; models whose calls have others leave them untold.
        etp_steps_call call;
        ETP_TRY(etp_steps_call_of(from, m->arena, &call, err));
        bool same = model == 0 || (etp_str_eqz(p->run.method, call.method) &&
                                   etp_str_eqz(p->run.inputs, call.inputs) &&
                                   etp_str_eqz(p->run.start, call.start));
        p->run.method = etp_str_from(etp_if(same, call.method));
        p->run.inputs = etp_str_from(etp_if(same, call.inputs));
        p->run.start = etp_str_from(etp_if(same, call.start));
        const char *file = etp_arena_printf(m->arena, "%s/steps-%zu-%zu", m->work_dir, model, n);
        ETP_TRY(etp_os_write_atomic(file, steps, err));
        if (model == 0) {
            etp_sha256_init(&m->sums[n]);
        }
        // Over all models: --resume tells by it that a phase still does what it did.
        etp_sha256_update(&m->sums[n], steps.ptr, steps.len);
        p->files[model] = file;
        n++;
    }
    if (model > 0 && n != m->n_phases) {
        return etp_fail(err, ETP_USAGE,
                        "%s takes a prompt in other chunks than the first model: measure them "
                        "apart, or give --prefill of fewer tokens",
                        path);
    }
    m->n_phases = n;
    return ETP_OK;
}

etp_status etp_phases_make(const etp_settings *settings, const etp_inputs *inputs,
                           const char *const *model_paths, size_t n_models, const char *work_dir,
                           etp_arena *arena, etp_planned_phase **out, uint32_t *n_out,
                           etp_error *err)
{
    *n_out = 0;
    *out = NULL;
    if (settings->shape && (settings->prefill || settings->decode)) {
        return etp_fail(err, ETP_USAGE,
                        "--shape, and --prefill with --decode, each say what the phases are: give "
                        "one of them");
    }
    making m = {.settings = settings,
                .inputs = inputs,
                .work_dir = work_dir,
                .arena = arena,
                .phases = ETP_NEW_ARRAY(arena, etp_planned_phase, ETP_STEPS_PHASES),
                .sums = ETP_NEW_ARRAY(arena, etp_sha256, ETP_STEPS_PHASES),
                .n_models = n_models};
    ETP_NEED(m.phases && m.sums, err, "phases");
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
    for (size_t i = 0; i < m.n_phases; i++) {
        char hex[ETP_SHA256_HEX_CHARS];
        etp_sha256_hex(&m.sums[i], hex);
        m.phases[i].run.steps_sha256 = etp_str_from(etp_arena_strdup(arena, etp_str_from(hex)));
    }
    *out = m.phases;
    *n_out = (uint32_t)m.n_phases;
    return ETP_OK;
}

uint64_t etp_phase_whole(const etp_planned_phase *phase, uint64_t n)
{
    if (!phase || phase->run.calls <= 1) {
        return n;
    }
    // Rounded up to whole repetitions: a repetition that is cut short would leave its cheap or its
    // dear calls out of the sample.
    return (n < 1 ? 1 : (n + phase->run.calls - 1) / phase->run.calls) * phase->run.calls;
}
