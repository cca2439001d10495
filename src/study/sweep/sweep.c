// SPDX-License-Identifier: Apache-2.0
// From the run folder of a sweep to its factorial: which arm is which cell, which cells may be
// compared, and the contrasts over them.
#include "study/sweep/sweep.h"

#include <math.h>
#include <stdlib.h>

#include "base/guard.h"
#include "base/number.h"
#include "base/order.h"
#include "compare/session.h"
#include "measure/decoder.h"
#include "measure/outputs.h"
#include "show/screen.h"

typedef struct builder {
    const etp_ab_session *s;
    etp_arena *arena;
    etp_sweep *out;
    // The factorial borrows it as a const array. The builder keeps the writable one, because which
    // cells are silent is known only after outputs and proofs were looked at.
    bool *silent; // [cell] of out->grid
} builder;

// ---- factors ----

// Lowest first: ranks count from the best level.
static int by_level(const void *pa, const void *pb)
{
    const etp_ab_arm *const *a = pa, *const *b = pb;
    return ((*a)->level < (*b)->level) - ((*a)->level > (*b)->level);
}

// What ran at a level, where it is the same in all of its cells; else the level: VNNI has no kernel
// for an fp32 model.
static const char *word_of(const etp_ab *ab, const char *level, etp_arena *arena)
{
    const char *word = NULL;
    for (size_t a = 0; a < ab->n_arms; a++) {
        if (strcmp(ab->arms[a].level_name, level) == 0) {
            const char *one = etp_ab_level_called(ab, &ab->arms[a], arena);
            if (word && one && strcmp(word, one) != 0) {
                return etp_arena_printf(arena, "level %s", level);
            }
            word = one;
        }
    }
    return word;
}

// The factors come from the arms, not from the plan's options: a folder that others wrote, or whose
// plan was cut short, has the cells that its arms have. The models keep the order in which they
// were given; levels and threads are sorted, so that the first value is the least of each.
static etp_status find_factors(builder *b, etp_error *err)
{
    const etp_ab *ab = &b->s->ab;
    etp_sweep *out = b->out;
    const etp_ab_arm **levels = ETP_NEW_ARRAY(b->arena, const etp_ab_arm *, ab->n_arms);
    out->levels = ETP_NEW_ARRAY(b->arena, const char *, ab->n_arms);
    out->words = ETP_NEW_ARRAY(b->arena, const char *, ab->n_arms);
    out->threads = ETP_NEW_ARRAY(b->arena, uint32_t, ab->n_arms);
    uint32_t n_levels = 0, n_threads = 0;
    for (size_t a = 0; a < ab->n_arms; a++) {
        bool new_level = true, new_threads = true;
        if (!ab->arms[a].level_name) {
            return etp_fail(err, ETP_CORRUPT, "%s: a sweep, but its arm %s has no level", ab->dir,
                            ab->arms[a].name);
        }
        for (uint32_t i = 0; new_level && i < n_levels; i++) {
            new_level = strcmp(levels[i]->level_name, ab->arms[a].level_name) != 0;
        }
        for (uint32_t i = 0; i < n_threads; i++) {
            new_threads = new_threads && out->threads[i] != ab->arms[a].threads;
        }
        if (new_level) {
            levels[n_levels++] = &ab->arms[a];
        }
        if (new_threads) {
            out->threads[n_threads++] = ab->arms[a].threads;
        }
    }
    if (n_levels == 0) {
        return etp_fail(err, ETP_CORRUPT, "%s: a sweep without arms", ab->dir);
    }
    qsort(levels, n_levels, sizeof *levels, by_level);
    qsort(out->threads, n_threads, sizeof *out->threads, etp_order_u32);
    out->grid.n[ETP_FACTOR_MODEL] = (uint32_t)ab->n_models;
    out->grid.n[ETP_FACTOR_LEVEL] = n_levels;
    out->grid.n[ETP_FACTOR_THREADS] = n_threads;
    for (uint32_t i = 0; i < n_levels; i++) {
        out->levels[i] = levels[i]->level_name;
        out->words[i] = word_of(ab, out->levels[i], b->arena);
        if (strcmp(out->levels[i], ab->arms[ab->baseline].level_name) == 0) {
            out->grid.reference[ETP_FACTOR_LEVEL] = i;
        }
    }
    return ETP_OK;
}

// "net_fp16" and "net_int8" are "fp16" and "int8" in every table: the shared words say nothing.
static void name_models(builder *b)
{
    const etp_ab *ab = &b->s->ab;
    b->out->models = ETP_NEW_ARRAY(b->arena, etp_sweep_model, ab->n_models);
    for (size_t i = 0; i < ab->n_models; i++) {
        b->out->models[i] = (etp_sweep_model){.name = etp_ab_model_word(ab, i, b->arena),
                                              .correctness = ETP_AB_NOT_COMPARED};
    }
}

// ---- cells ----

// The number of levels when NAME is none of them: place_arms refuses the arm then.
static uint32_t level_index(const etp_sweep *out, const char *name)
{
    uint32_t i = 0;
    while (name && i < out->grid.n[ETP_FACTOR_LEVEL] && strcmp(out->levels[i], name) != 0) {
        i++;
    }
    return i;
}

static etp_status place_arms(builder *b, etp_error *err)
{
    const etp_ab *ab = &b->s->ab;
    etp_sweep *out = b->out;
    etp_factorial *g = &out->grid;
    g->sequential = etp_run_is_widened(&b->s->run);
    out->n_cells = g->n[0] * g->n[1] * g->n[2];
    out->cells = ETP_NEW_ARRAY(b->arena, etp_sweep_cell, out->n_cells);
    uint32_t *column = ETP_NEW_ARRAY(b->arena, uint32_t, out->n_cells);
    b->silent = ETP_NEW_ARRAY(b->arena, bool, out->n_cells);
    for (uint32_t c = 0; c < out->n_cells; c++) {
        out->cells[c] = (etp_sweep_cell){
            // The inverse of etp_cell_of.
            .at = {c / (g->n[1] * g->n[2]), c / g->n[2] % g->n[1], c % g->n[2]},
            .arm = ETP_NO_INDEX
        };
        column[c] = ETP_NO_INDEX;
    }
    for (uint32_t a = 0; a < ab->n_arms; a++) {
        // The loop ends: find_factors took the thread counts from these same arms.
        uint32_t at[ETP_FACTORS] = {ab->arms[a].model, level_index(out, ab->arms[a].level_name), 0};
        while (out->threads[at[ETP_FACTOR_THREADS]] != ab->arms[a].threads) {
            at[ETP_FACTOR_THREADS]++;
        }
        if (at[ETP_FACTOR_MODEL] >= g->n[0] || at[ETP_FACTOR_LEVEL] >= g->n[1]) {
            return etp_fail(err, ETP_CORRUPT, "%s: arm %s is not a cell of the sweep", ab->dir,
                            ab->arms[a].name);
        }
        uint32_t c = etp_cell_of(g, at);
        out->cells[c].arm = a;
        column[c] = a;
    }
    // A lost launch names an arm, and each arm is one cell at most. Launches that were tried again
    // with success cost nothing; lost traced or sampled ones leave the cell's time as it is.
    for (size_t i = 0; i < b->s->run.lost.n; i++) {
        const etp_run_lost *l = &b->s->run.lost.items[i];
        for (uint32_t c = 0; c < out->n_cells && l->kind == ETP_LAUNCH_TIMED && !l->recovered;
             c++) {
            if (out->cells[c].arm == l->arm) {
                out->cells[c].lost++;
                out->cells[c].lost_why = etp_lost_reason_name(l->reason);
            }
        }
    }
    g->column = column;
    g->silent = b->silent;
    return ETP_OK;
}

// ---- correctness, per model ----

// Arms have the same index in the answer and in the run.
static const char *outputs_dir(builder *b, uint32_t arm)
{
    const char *dir = etp_arena_strdup(b->arena, b->s->run.dir);
    const char *name = etp_run_outputs_name(b->arena, &b->s->run.arms.items[arm]);
    return etp_run_path(b->arena, dir, etp_str_from(name));
}

// Outputs of a program that is not deterministic tell nothing of two cells.
static bool has_again(builder *b, uint32_t arm)
{
    const char *dir = etp_arena_strdup(b->arena, b->s->run.dir);
    const char *name = etp_run_outputs_again_name(b->arena, &b->s->run.arms.items[arm]);
    return etp_os_is_dir(etp_run_path(b->arena, dir, etp_str_from(name)));
}

// A model's correctness is the worst of its cells: the largest differences, the least cosine, and
// one cell that differs makes it differ. -1 and NAN (nothing compared yet) give way to the first
// cell.
static void compare_cell(builder *b, etp_sweep_cell *cell, uint32_t reference)
{
    etp_sweep_model *m = &b->out->models[cell->at[0]];
    uint32_t arm = cell->arm;
    const char *x = outputs_dir(b, reference), *y = outputs_dir(b, arm);
    etp_outputs_comparison c;
    const etp_ab *ab = &b->s->ab;
    if (!etp_os_is_dir(x) || !etp_os_is_dir(y) || has_again(b, reference) || has_again(b, arm) ||
        etp_outputs_compare(x, y, etp_ab_precision_of(b->s, reference), b->arena, &c, NULL) !=
            ETP_OK) {
        return; // nothing recorded: the model's correctness stays unknown
    }
    etp_ab_correctness one = etp_ab_correctness_of(&c);
    etp_ab_take_worse(&m->correctness, &one);
    cell->differs = !c.ok;
    m->differing += cell->differs;
    if (!c.ok && !m->differs) {
        m->differs =
            etp_arena_printf(b->arena, "%s: %s", ab->arms[arm].measured, c.why ? c.why : "differs");
    }
}

// Outputs are compared within one model only: int8 is not fp16. Without the model's reference cell
// there is nothing to compare with, and its correctness stays unknown.
static void compare_outputs(builder *b)
{
    const etp_factorial *g = &b->out->grid;
    for (uint32_t m = 0; m < g->n[ETP_FACTOR_MODEL]; m++) {
        uint32_t reference = ETP_NO_INDEX;
        const uint32_t at[ETP_FACTORS] = {m, g->reference[1], g->reference[2]};
        reference = b->out->cells[etp_cell_of(g, at)].arm;
        for (uint32_t c = 0; c < b->out->n_cells && reference != ETP_NO_INDEX; c++) {
            etp_sweep_cell *cell = &b->out->cells[c];
            if (cell->at[0] == m && cell->arm != ETP_NO_INDEX && cell->arm != reference) {
                compare_cell(b, cell, reference);
            }
        }
    }
}

// A silent cell keeps its time but stands in no contrast, so one bad cell takes away the ratios
// that it is part of and no others. A control that differs or an emulator silences all of them.
static void withhold(builder *b)
{
    etp_sweep *out = b->out;
    for (uint32_t c = 0; c < out->n_cells; c++) {
        etp_sweep_cell *cell = &out->cells[c];
        if (cell->arm == ETP_NO_INDEX) {
            continue;
        }
        bool refuted = b->s->ab.arms[cell->arm].proof.truth == ETP_CONTRADICTED;
        etp_contention contention = b->s->ab.arms[cell->arm].waited > ETP_WAIT_MOST
                                        ? ETP_CONTENTION_WAITED
                                        : ETP_CONTENTION_NONE;
        cell->withheld = etp_ab_first_reason(&b->s->ab, cell->differs, refuted,
                                             etp_ab_noise_reason(contention, out->control_differs));
        b->silent[c] = cell->withheld != ETP_WITHHELD_NOT;
    }
}

etp_truth etp_sweep_proof(const etp_sweep *s, uint32_t level, const char **out_why)
{
    const etp_ab_arm *unproven = NULL;
    *out_why = NULL;
    for (uint32_t c = 0; c < s->n_cells; c++) {
        const etp_sweep_cell *x = &s->cells[c];
        const etp_ab_arm *arm = x->arm != ETP_NO_INDEX ? &s->ab->arms[x->arm] : NULL;
        if (!arm || x->at[ETP_FACTOR_LEVEL] != level) {
            continue;
        }
        if (arm->proof.truth == ETP_CONTRADICTED) {
            return ETP_CONTRADICTED;
        }
        unproven = !unproven && arm->proof.truth != ETP_CONFIRMED ? arm : unproven;
    }
    // Names and samples of one cell are as good as another's, so one reason stands for all.
    *out_why = unproven ? etp_ab_unproven(s->ab, unproven) : NULL;
    return unproven ? ETP_UNPROVEN : ETP_CONFIRMED;
}

// ---- inputs of the models ----

static const etp_method *method_of(const etp_ab_session *s, size_t model)
{
    const etp_program *p = model < s->programs.n ? s->programs.items[model].program : NULL;
    return p ? etp_decoder_method(p, s->run.settings.method) : NULL;
}

static const char *first_type(const etp_method *m)
{
    return m->n_inputs ? etp_dtype_name(m->values[m->inputs[0]].dtype) : "nothing";
}

// Programs that were not kept say nothing against it.
static void match_all_inputs(builder *b)
{
    const etp_method *first = method_of(b->s, 0);
    b->out->same_inputs = true;
    for (size_t i = 1; first && i < b->s->programs.n; i++) {
        const etp_method *other = method_of(b->s, i);
        etp_sweep_inputs match =
            other ? etp_sweep_match_inputs(first, other) : ETP_SWEEP_SAME_INPUTS;
        b->out->same_inputs = b->out->same_inputs && match != ETP_SWEEP_OTHER_INPUTS;
        if (match == ETP_SWEEP_OTHER_FLOATS && !b->out->floats) {
            b->out->floats =
                etp_arena_printf(b->arena, "%s takes %s, %s %s", b->out->models[0].name,
                                 first_type(first), b->out->models[i].name, first_type(other));
        }
    }
}

// Of the device that ran the session, as its facts say, not of the machine that reads the folder.
static uint32_t device_cpus(const etp_ab *ab)
{
    uint64_t n = 0;
    bool known = etp_parse_u64(etp_str_from(etp_ab_fact_of(ab, "cpus")), &n) && n < UINT32_MAX;
    return known ? (uint32_t)n : 0;
}

// One that an interruption cut short has times of some cells and counts in no ratio.
static size_t blocks_of(const etp_factorial_result *r, uint32_t n_cells)
{
    size_t ratio = 0, cell = 0;
    for (size_t i = 0; i < r->n_speedups; i++) {
        size_t n = r->speedups[i].effect.paired.blocks;
        ratio = n > ratio ? n : ratio;
    }
    for (size_t i = 0; i < r->n_steps; i++) {
        size_t n = r->steps[i].effect.paired.blocks;
        ratio = n > ratio ? n : ratio;
    }
    for (uint32_t i = 0; i < n_cells; i++) {
        cell = r->cells[i].blocks > cell ? r->cells[i].blocks : cell;
    }
    return ratio > 0 ? ratio : cell;
}

// Another input is other work: there is no effect of one model against another, only what it does
// to the effects of levels and threads.
static void forget_models(etp_factorial_result *r)
{
    for (size_t i = 0; i < r->n_interactions; i++) {
        etp_interaction *x = &r->interactions[i];
        for (int k = 0; k < 2 && x->a == ETP_FACTOR_MODEL; k++) {
            x->a_effect[k].estimate = x->a_effect[k].lo = x->a_effect[k].hi = (double)NAN;
        }
    }
}

static etp_status build_phase(const etp_ab_session *session, etp_arena *arena, etp_sweep *out,
                              etp_error *err)
{
    const etp_run *run = &session->run;
    const etp_stats *st = session->has_stats ? &session->stats : NULL;
    *out = (etp_sweep){
        .ab = &session->ab,
        .noise_floor = st ? st->noise_floor : (double)NAN,
        .control = st ? st->control : (etp_interval){(double)NAN, (double)NAN, (double)NAN},
        .control_blocks = st ? st->control_blocks : 0,
        .control_differs = st && st->control_differs,
        .cpus = device_cpus(&session->ab)
    };
    builder b = {.s = session, .arena = arena, .out = out};
    ETP_TRY(find_factors(&b, err));
    name_models(&b);
    match_all_inputs(&b);
    ETP_TRY(place_arms(&b, err));
    compare_outputs(&b);
    withhold(&b);
    out->grid.value_ln = st ? st->value_ln : NULL;
    out->grid.n_blocks = st ? st->n_blocks_seen : 0;
    out->grid.n_columns = session->ab.n_arms;
    out->grid.margin = st ? st->margin : ETP_MARGIN_DEFAULT;
    out->grid.control = out->control;
    out->grid.knee = run->settings.knee > 0 ? run->settings.knee : ETP_DEFAULT_KNEE;
    out->grid.seed = run->settings.seed;
    ETP_TRY(etp_factorial_analyze(&out->grid, arena, &out->result, err));
    if (!out->same_inputs) {
        forget_models(&out->result);
    }
    out->blocks = blocks_of(&out->result, out->n_cells);
    ETP_TRY(etp_sweep_open_pairs(out, session, arena, err));
    etp_sweep_say(out, arena);
    return ETP_OK;
}

static etp_status build(const etp_ab_session *session, etp_arena *arena, etp_sweep *out,
                        etp_error *err)
{
    ETP_TRY(build_phase(session, arena, out, err));
    out->later = ETP_NEW_ARRAY(arena, etp_sweep, session->n_later);
    for (size_t i = 0; i < session->n_later; i++) {
        // Counted before it is built, so that etp_sweep_close finds the pairs that a failed one had
        // opened.
        out->n_later++;
        ETP_TRY(build_phase(session->later[i], arena, &out->later[i], err));
    }
    return ETP_OK;
}

// The sessions of the pairs are OUT's, which the caller closes after an error.
static etp_status guarded_build(const etp_ab_session *session, etp_arena *arena, etp_sweep *out,
                                etp_error *err)
{
    ETP_GUARDED(arena, err, "the sweep", build(session, arena, out, err));
}

etp_status etp_sweep_build(const etp_ab_session *session, etp_arena *arena, etp_sweep *out,
                           etp_error *err)
{
    *out = (etp_sweep){0};
    etp_status status = guarded_build(session, arena, out, err);
    if (status != ETP_OK) {
        etp_sweep_close(out);
    }
    return status;
}
