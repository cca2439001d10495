// SPDX-License-Identifier: Apache-2.0
// The one author of etprof.sweep/1 documents.
#include "show/json.h"
#include "document/document.h"
#include "document/rows.h"
#include "study/sweep/sweep.h"

// ---- places: model, level and threads ----

typedef struct place {
    uint32_t at[ETP_FACTORS];
} place;

TEXT_OF(model_name, etp_sweep, doc->models[i].name)
TEXT_OF(level_name, etp_sweep, doc->levels[i])
static const etp_words k_model = {model_name, 0}, k_level = {level_name, 0};
#define THREADS(name, type, index) \
    FIND(name, type, etp_sweep, MAKE(number, doc->threads[it->index]))
THREADS(place_threads, place, at[ETP_FACTOR_THREADS])
THREADS(knee_from, etp_knee, from)
THREADS(knee_to, etp_knee, to)
THREADS(step_from, etp_thread_step, from)
THREADS(step_to, etp_thread_step, to)
THREADS(mean_threads, etp_level_mean, threads)
#define COUNT(key, find, what) MADE(key, UINT, find, what, .range = ETP_FROM_1, .flags = ETP_SET)

#define OF place
static const etp_field k_place_rows[] = {
    FIELD("model", WORD, at[ETP_FACTOR_MODEL], "its short name", .words = &k_model,
          .flags = ETP_SET),
    FIELD("level", WORD, at[ETP_FACTOR_LEVEL], "CPU-feature level", .words = &k_level,
          .flags = ETP_SET),
    COUNT("threads", place_threads, "of the runner"),
};
static SHAPE_ON_ONE_LINE(k_place, k_place_rows);
#undef OF

// ---- ratios ----

FIND(confidence, etp_paired, etp_sweep, MAKE(real, ETP_CONFIDENCE))
// Every ratio of a sweep is a contrast within blocks: there is no other method here.
FIND(method, etp_paired, etp_sweep, MAKE(maybe, ETP_PAIRED_BLOCKS))

#define OF etp_paired
static const etp_field k_ratio_rows[] = {
    ESTIMATE("ratio of times, above 1 faster; null: it cannot be had"),
    MADE("confidence", RATIO, confidence, "of the interval", .range = ETP_ABOVE_0_TO_1,
         .flags = ETP_SET),
    FIELD("blocks", UINT, blocks, "it rests on"),
    MADE("method", WORD, method, "how it was computed", .words = &k_etp_method_words,
         .flags = ETP_SET),
    FIELD("widening", RATIO, widening, "of the interval, for looking at it during the session"),
};
static SHAPE_ON_ONE_LINE(k_ratio, k_ratio_rows);
#undef OF
#define OF etp_effect
static const etp_field k_effect_rows[] = {
    FIELD("sign_flip_p", RATIO, paired.sign_flip_p, "of no difference, over the blocks",
          .range = ETP_0_TO_1),
    FIELD("p", RATIO, p, "likewise (Student's t)", .range = ETP_0_TO_1),
    FIELD("q", RATIO, q, "over its family: speedups Benjamini–Hochberg, interactions Holm",
          .range = ETP_0_TO_1),
    FIELD("verdict", WORD, verdict, "of the ratio", .words = &k_etp_verdict_words),
};
static SHAPE(k_effect, k_effect_rows);
#undef OF
#define EFFECT(key, effect, what)                               \
    FIELD(key, OBJECT, effect.paired, what, .shape = &k_ratio), \
        FIELD(NULL, OBJECT, effect, "", .shape = &k_effect)

// ---- models and cells ----

// cells and result.cells are parallel; a cell's index is its place in either.
#define CELL ((uint32_t)(it - doc->cells))
LENGTH(k_models, etp_sweep, doc->ab->n_models)
FIND(model_at, etp_sweep, etp_sweep, &doc->models[at->index])
FIND(model_path, etp_sweep_model, etp_sweep, &doc->ab->models[at->index].path)
FIND(model_sha256, etp_sweep_model, etp_sweep, &doc->ab->models[at->index].sha256)
FIND(cell_result, etp_sweep_cell, etp_sweep, &doc->result.cells[CELL])
FIND(cell_ns, etp_sweep_cell, etp_sweep, &doc->result.cells[CELL].ns.estimate)
FIND(cell_experiment, etp_sweep_cell, etp_sweep,
     it->arm != ETP_NO_INDEX ? &doc->ab->arms[it->arm].name : NULL)
FIND(cell_rate, etp_sweep_cell, etp_sweep, MAKE(real, etp_sweep_token_rate(doc, CELL)))
FIND(cell_blocks, etp_sweep_cell, etp_sweep, MAKE(number, doc->result.cells[CELL].blocks))
// "mask only" is null, not false: nothing contradicted the level.
static const void *cell_proof(const etp_place *at, etp_made *made)
{
    const etp_sweep *s = at->root;
    uint32_t arm = ((const etp_sweep_cell *)at->object)->arm;
    etp_truth truth = arm != ETP_NO_INDEX ? s->ab->arms[arm].proof.truth : ETP_UNPROVEN;
    return truth != ETP_UNPROVEN ? MAKE(maybe, truth == ETP_CONFIRMED) : NULL;
}
static bool has_phase(const void *cell, const etp_place *at)
{
    (void)cell;
    return ((const etp_sweep *)at->root)->ab->phase != NULL;
}

static bool is_true(const void *member, const etp_place *at)
{
    (void)at;
    return *(const bool *)member;
}

#define OF etp_ab_correctness
static const etp_field k_correctness_rows[] = {
    FIELD("ok", MAYBE, ok, "within the tolerance; null: not compared"),
    FIELD("max_abs", RATIO, max_abs, "largest difference"),
    FIELD("max_rel", RATIO, max_rel, "largest relative difference"),
    FIELD("cosine", RATIO, cosine, "least cosine similarity", .range = ETP_SIGNED),
    FIELD("not_finite", BOOL, not_finite, "an output is NaN or infinite in every place",
          .when = is_true, .flags = ETP_ABSENT | ETP_LATER),
    FIELD("constant", BOOL, constant,
          "no output of the reference varies, so that agreement proves nothing", .when = is_true,
          .flags = ETP_ABSENT | ETP_LATER),
};
static SHAPE_ON_ONE_LINE(k_correctness, k_correctness_rows);
#undef OF
#define OF etp_sweep_model
static const etp_field k_model_rows[] = {
    FIELD("name", TEXT, name, "what tells the models' file names apart", .flags = ETP_SET),
    MADE("path", TEXT, model_path, "as recorded"),
    MADE("sha256", TEXT, model_sha256, "of the file"),
    FIELD("correctness", OBJECT, correctness, "outputs of its cells against its reference cell",
          .shape = &k_correctness),
};
static SHAPE(k_model_shape, k_model_rows);
#undef OF
#define OF etp_factorial_cell
static const etp_field k_times_rows[] = {
    FIELD("time_ns", ROUNDED, ns.estimate, "geometric mean of the launches' medians"),
    FIELD("lo_ns", ROUNDED, ns.lo, "low end of its 95 % interval"),
    FIELD("hi_ns", ROUNDED, ns.hi, "high end"),
};
static SHAPE(k_times, k_times_rows);
static const etp_field k_relative_rows[] = {
    FIELD("relative", OBJECT, relative, "to its model's cell at the reference level and threads",
          .shape = &k_ratio),
};
static SHAPE(k_relative, k_relative_rows);
#undef OF
#define OF etp_sweep_cell
#define RATE MADE("tokens_per_s", RATIO, cell_rate, "of a phase")
static const etp_field k_rate_rows[] = {RATE};
static SHAPE(k_rate, k_rate_rows);
static const etp_field k_cell_rows[] = {
    FIELD(NULL, OBJECT, at, "", .shape = &k_place),
    MADE("experiment", TEXT, cell_experiment, "null: the plan has no such cell"),
    MADE(NULL, OBJECT, cell_result, "", .shape = &k_times),
    GROUP(NULL, &k_rate, "", .when = has_phase, .flags = ETP_ABSENT),
    MADE("blocks", UINT, cell_blocks, "it rests on", .flags = ETP_SET),
    FIELD("lost", UINT, lost, "timed launches that gave nothing"),
    MADE("proof_ok", MAYBE, cell_proof, "whether its level was in force; null: not proven"),
    FIELD("withheld", WORD, withheld, "why no ratio is made of it", .words = &k_etp_withheld_words),
    MADE(NULL, OBJECT, cell_result, "", .shape = &k_relative),
};
static SHAPE(k_cell, k_cell_rows);
static const etp_field k_winner_rows[] = {
    FIELD(NULL, OBJECT, at, "", .shape = &k_place),
    MADE("time_ns", ROUNDED, cell_ns, "of that cell"),
    RATE,
};
static SHAPE_ON_ONE_LINE(k_winner, k_winner_rows);
#undef OF

// ---- speedups, scaling, interactions, means ----

// Only the figures of states and findings come from the pair's answer; its own speedup is left out,
// because the sweep's is the one that pays for the number of comparisons.
static const void *pair_of(const etp_place *at, etp_made *made)
{
    (void)made;
    const etp_sweep_pair *pair =
        etp_sweep_pair_at(at->root, ((const etp_cell_speedup *)at->object)->at);
    return pair && pair->ab->n_comparisons ? pair->ab : NULL;
}
FIND(speedup_withheld, etp_cell_speedup, etp_sweep,
     MAKE(maybe, (int)etp_sweep_withheld(doc, it->at)))
LENGTH(k_steps, etp_sweep, doc->result.n_steps)
// The steps of all models and levels lie in one array; each row of "scaling" lists its own.
FIND(step_at, etp_knee, etp_sweep,
     doc->result.steps[at->index].model == it->model &&
             doc->result.steps[at->index].level == it->level
         ? &doc->result.steps[at->index]
         : NULL)
FIND(mean_models, etp_level_mean, etp_sweep, MAKE(number, doc->grid.n[ETP_FACTOR_MODEL]))
FIND(established, etp_interaction, etp_sweep,
     MAKE(yes, it->ratio.verdict == ETP_VERDICT_FASTER || it->ratio.verdict == ETP_VERDICT_SLOWER))

static const char *factor_name(etp_factor factor)
{
    static const char *const k_names[ETP_FACTORS] = {"model", "level", "threads"};
    return k_names[factor];
}
WORDS(k_factor, factor_name, etp_factor, ETP_FACTORS)

// A number for threads and a text for the others: readers get the value as it was asked for.
static void write_value(etp_json *j, const etp_sweep *s, etp_factor factor, uint32_t at)
{
    if (factor == ETP_FACTOR_THREADS) {
        etp_json_u64(j, s->threads[at]);
    } else {
        etp_json_z(j, factor == ETP_FACTOR_MODEL ? s->models[at].name : s->levels[at]);
    }
}
static void write_a(etp_json *j, const etp_place *at)
{
    const etp_interaction *x = at->object;
    write_value(j, at->root, x->a, x->a_at);
}
static void write_b(etp_json *j, const etp_place *at)
{
    const etp_interaction *x = at->object;
    write_value(j, at->root, x->b, x->b_at);
}
static void write_c(etp_json *j, const etp_place *at)
{
    const etp_interaction *x = at->object;
    etp_json_begin_object_inline(j);
    etp_json_key(j, factor_name(x->c));
    write_value(j, at->root, x->c, x->c_at);
    etp_json_end(j);
}
#define VALUE_SCHEMA "{\"type\": [\"string\", \"integer\"]}"

#define OF etp_ab
static const etp_field k_pair_rows[] = {
    POINTER(NULL, comparisons, &k_etp_ab_states, ""),
    GROUP(NULL, &k_etp_ab_findings, ""),
};
static SHAPE(k_pair, k_pair_rows);
#undef OF
#define OF etp_cell_speedup
static const etp_field k_speedup_rows[] = {
    FIELD(NULL, OBJECT, at, "", .shape = &k_place),
    EFFECT("speedup", effect, "of the cell against the same one at the reference level"),
    MADE("withheld", WORD, speedup_withheld, "why no figure is given",
         .words = &k_etp_withheld_words),
    MADE(NULL, OBJECT, pair_of, "", .shape = &k_pair, .root = etp_itself, .flags = ETP_ABSENT),
};
static SHAPE(k_speedup, k_speedup_rows);
#undef OF
#define OF etp_thread_step
static const etp_field k_step_rows[] = {
    COUNT("from", step_from, "threads"),
    COUNT("to", step_to, "threads"),
    EFFECT("speedup", effect, "of this step"),
};
static SHAPE(k_step, k_step_rows);
#undef OF
#define OF etp_knee
static const etp_field k_knee_rows[] = {
    COUNT("from", knee_from, "at least these threads pay"),
    COUNT("to", knee_to, "more do not; the same: known"),
};
static SHAPE_ON_ONE_LINE(k_knee, k_knee_rows);
static const etp_field k_scaling_rows[] = {
    FIELD("model", WORD, model, "its short name", .words = &k_model, .flags = ETP_SET),
    FIELD("level", WORD, level, "CPU-feature level", .words = &k_level, .flags = ETP_SET),
    GROUP("knee", &k_knee, "threads beyond which no count is knee_gain faster"),
    MADE_PER("steps", OBJECT, step_at, &k_steps, "from one number of threads to the next",
             .shape = &k_step, .flags = ETP_SKIP),
};
static SHAPE(k_scaling, k_scaling_rows);
#undef OF
#define OF etp_interaction
static const etp_field k_interaction_rows[] = {
    FIELD("of", WORD, a, "factor whose effect", .words = &k_factor),
    WRITTEN("value", write_a, VALUE_SCHEMA, "of that factor, against its reference"),
    FIELD("with", WORD, b, "may depend on this one", .words = &k_factor),
    WRITTEN("with_value", write_b, VALUE_SCHEMA, "of that factor"),
    WRITTEN("at", write_c, "{\"type\": \"object\"}", "value of the third factor"),
    FIELD("effect_at_reference", OBJECT, a_effect[0], "of the first at the second's reference",
          .shape = &k_ratio),
    FIELD("effect_at_value", OBJECT, a_effect[1], "at the second's value", .shape = &k_ratio),
    EFFECT("ratio_of_ratios", ratio, "the second effect ÷ the first"),
    MADE("established", BOOL, established, "the factors depend on each other", .flags = ETP_SET),
};
static SHAPE(k_interaction, k_interaction_rows);
#undef OF
#define OF etp_level_mean
static const etp_field k_mean_rows[] = {
    FIELD("level", WORD, level, "CPU-feature level", .words = &k_level, .flags = ETP_SET),
    COUNT("threads", mean_threads, "of the runner"),
    COUNT("models", mean_models, "in the mean"),
    EFFECT("speedup", effect, "geometric mean over these models"),
    FIELD("over_models_lo", RATIO, models_lo, "for models like these (bootstrap): low end"),
    FIELD("over_models_hi", RATIO, models_hi, "high end; null below three models"),
};
static SHAPE(k_mean, k_mean_rows);
#undef OF
#define OF etp_sweep_sentence
static const etp_field k_sentence_rows[] = {
    FIELD("id", TEXT, id, "I… interactions, K… knees, W… warnings", .flags = ETP_SET),
    FIELD("severity", WORD, severity, "", .words = &k_etp_severity_words),
    FIELD("text", TEXT, text, "for people", .flags = ETP_SET),
};
static SHAPE_ON_ONE_LINE(k_sentence, k_sentence_rows);
#undef OF

// ---- phases ----

static bool has_phases(const void *sweep, const etp_place *at)
{
    (void)at;
    return ((const etp_sweep *)sweep)->ab->n_phases > 0; // not of a later phase
}
static size_t count_phases(const etp_place *at)
{
    return etp_sweep_n_phases(at->root);
}
static const etp_axis k_phases = {count_phases, NULL};
FIND(phase_at, etp_sweep, etp_sweep, etp_sweep_phase(doc, at->index))
FIND(winner, etp_sweep, etp_sweep,
     etp_sweep_winner(doc) != ETP_NO_INDEX ? &doc->cells[etp_sweep_winner(doc)] : NULL)

// Later phases are whole documents inside this one. They list no phases themselves, so this ends
// after one level.
static void write_phase(etp_json *j, const etp_place *at)
{
    if (at->index == 0) {
        etp_json_null(j);
    } else {
        etp_document_write(j, &k_etp_sweep_document, at->object, at->object);
    }
}

#define OF etp_ab
static const etp_field k_phase_of_ab_rows[] = {POINTER(NULL, phase, &k_etp_ab_phase, "")};
static SHAPE(k_phase_of_ab, k_phase_of_ab_rows);
#undef OF
#define OF etp_sweep
static const etp_field k_phase_rows[] = {
    POINTER(NULL, ab, &k_phase_of_ab, ""),
    MADE("winner", OBJECT, winner, "its fastest cell; null: unknown, or models are not compared",
         .shape = &k_winner),
    WRITTEN("document", write_phase, "{\"type\": [\"object\", \"null\"]}",
            "its etprof.sweep/1; null of the first, which this document is about"),
};
static SHAPE(k_phase, k_phase_rows);
static const etp_field k_phases_rows[] = {
    MADE_PER("phases", OBJECT, phase_at, &k_phases, "of the session; absent without",
             .shape = &k_phase, .root = etp_itself, .least = 1),
};
static SHAPE(k_phases_shape, k_phases_rows);

// ---- the document ----

FIND(grade, etp_sweep, etp_sweep, MAKE(maybe, doc->ab->judged.grade[0] - 'A'))
FIND(state, etp_sweep, etp_sweep, &doc->ab->state)
FIND(phase_name, etp_sweep, etp_sweep, doc->ab->phase ? &doc->ab->phase->name : NULL)
KNOWN(has_control, etp_sweep, it->control_blocks > 0)
static const char *grade_name(int grade)
{
    static const char *const k_names[] = {"A", "B", "C", "D"};
    return k_names[grade];
}
WORDS(k_grade, grade_name, int, 4)

#define OF_AB(key, shape, what) POINTER(key, ab, &shape, what, .root = etp_itself, .flags = ETP_SET)
static const etp_field k_control_rows[] = {ETP_CONTROL_ROWS};
static SHAPE_ON_ONE_LINE(k_control, k_control_rows);
static const etp_field k_sweep_rows[] = {
    OF_AB("tool", k_etp_ab_tool, "versions of etprof"),
    MADE_PER("models", OBJECT, model_at, &k_models, "that were measured", .shape = &k_model_shape,
             .least = 1),
    FIELD("same_inputs", BOOL, same_inputs, "of all models: their times may be compared"),
    OF_AB("device", k_etp_ab_device, "that ran them"),
    MADE("grade", WORD, grade, "how much the arms have in common", .words = &k_grade,
         .flags = ETP_SET),
    MADE("state", WORD, state, "of the session", .words = &k_etp_run_state_words),
    OF_AB("stop", k_etp_ab_stop, "of the session"),
    MADE("phase", TEXT, phase_name, "that this is about; absent without phases",
         .flags = ETP_ABSENT | ETP_SET),
    LIST("levels", TEXT, levels, grid.n[ETP_FACTOR_LEVEL], "lowest first", .least = 1,
         .flags = ETP_SET | ETP_ONE_LINE),
    LIST("threads", UINT, threads, grid.n[ETP_FACTOR_THREADS], "ascending", .least = 1,
         .range = ETP_FROM_1, .flags = ETP_ONE_LINE),
    FIELD("reference", OBJECT, grid.reference, "what cells are compared with", .shape = &k_place),
    FIELD("blocks", UINT, blocks, "most that a ratio rests on"),
    FIELD("margin", NUMBER, grid.margin, "smaller differences are the same", .flags = ETP_SET),
    FIELD("knee_gain", NUMBER, grid.knee, "gain that more threads must reach", .flags = ETP_SET),
    FIELD("noise_floor", RATIO, noise_floor, "half-width of the control's interval of ln"),
    GROUP("control", &k_control, "the A/A control", .when = has_control),
    LIST("cells", OBJECT, cells, n_cells, "models × levels × threads", .shape = &k_cell),
    LIST("speedups", OBJECT, result.speedups, result.n_speedups, "levels against the reference",
         .shape = &k_speedup),
    LIST("scaling", OBJECT, result.knees, result.n_knees, "threads, by model and level",
         .shape = &k_scaling),
    LIST("interactions", OBJECT, result.interactions, result.n_interactions,
         "of the factors, two by two", .shape = &k_interaction),
    LIST("geometric_means", OBJECT, result.means, result.n_means, "over the models",
         .shape = &k_mean),
    OF_AB("environment", k_etp_ab_environment, "what surrounded the blocks"),
    VECTOR("sentences", OBJECT, sentences, "what stands out", .shape = &k_sentence),
    GROUP(NULL, &k_phases_shape, "", .when = has_phases, .flags = ETP_ABSENT),
};
static SHAPE(k_sweep, k_sweep_rows);
#undef OF

const etp_document k_etp_sweep_document = {"etprof.sweep/1",
                                           "a sweep, as sweep and analyze print it", &k_sweep};

void etp_sweep_json(const void *sweep, etp_json *j)
{
    etp_document_write(j, &k_etp_sweep_document, sweep, sweep);
}
