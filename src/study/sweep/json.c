// SPDX-License-Identifier: Apache-2.0
// The one author of etprof.sweep/1 documents.
#include <math.h>

#include "document/document.h"
#include "show/json.h"
#include "study/sweep/sweep.h"

static void ratio(etp_json *j, const char *key, const etp_paired *p)
{
    etp_speedup_member(j, key,
                       &(etp_speedup_facts){p->estimate, p->lo, p->hi, ETP_CONFIDENCE, p->blocks,
                                            "paired-blocks", p->widening});
}

static void effect(etp_json *j, const char *key, const etp_effect *e)
{
    ratio(j, key, &e->paired);
    etp_json_kv_ratio(j, "sign_flip_p", e->paired.sign_flip_p);
    etp_json_kv_ratio(j, "p", e->p);
    etp_json_kv_ratio(j, "q", e->q);
    etp_json_kv_z(j, "verdict", etp_verdict_name(e->verdict));
}

static void value(etp_json *j, const etp_sweep *s, const char *key, etp_factor f, uint32_t at)
{
    etp_json_key(j, key);
    if (f == ETP_FACTOR_MODEL) {
        etp_json_z(j, s->models[at].name);
    } else if (f == ETP_FACTOR_LEVEL) {
        etp_json_z(j, s->levels[at]);
    } else {
        etp_json_u64(j, s->threads[at]);
    }
}

static void place(etp_json *j, const etp_sweep *s, const uint32_t at[ETP_FACTORS])
{
    value(j, s, "model", ETP_FACTOR_MODEL, at[0]);
    value(j, s, "level", ETP_FACTOR_LEVEL, at[1]);
    value(j, s, "threads", ETP_FACTOR_THREADS, at[2]);
}

static void head(etp_json *j, const etp_sweep *s)
{
    const etp_ab *ab = s->ab;
    etp_json_kv_z(j, "schema", "etprof.sweep/1");
    etp_object_member(j, "tool", &k_etp_ab_tool, ab, ab);
    etp_json_key(j, "models");
    etp_json_begin_array(j);
    for (size_t i = 0; i < ab->n_models; i++) {
        const etp_sweep_model *m = &s->models[i];
        etp_json_begin_object(j);
        etp_json_kv_z(j, "name", m->name);
        etp_json_kv_z(j, "path", ab->models[i].path);
        etp_json_kv_z(j, "sha256", ab->models[i].sha256);
        etp_json_key(j, "correctness");
        etp_json_begin_object_inline(j);
        etp_json_kv_bool_if(j, "ok", m->correctness.ok == 1, m->correctness.ok >= 0);
        etp_json_kv_ratio(j, "max_abs", m->correctness.max_abs);
        etp_json_kv_ratio(j, "max_rel", m->correctness.max_rel);
        etp_json_kv_ratio(j, "cosine", m->correctness.cosine);
        etp_json_end(j);
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_kv_bool(j, "same_inputs", s->same_inputs);
    etp_object_member(j, "device", &k_etp_ab_device, ab, ab);
    etp_json_kv_z(j, "grade", ab->grade);
    etp_json_kv_z(j, "state", ab->state);
    etp_object_member(j, "stop", &k_etp_ab_stop, ab, ab);
}

static void design(etp_json *j, const etp_sweep *s)
{
    const etp_factorial *g = &s->grid;
    etp_json_key(j, "levels");
    etp_json_begin_array_inline(j);
    for (uint32_t i = 0; i < g->n[ETP_FACTOR_LEVEL]; i++) {
        etp_json_z(j, s->levels[i]);
    }
    etp_json_end(j);
    etp_json_key(j, "threads");
    etp_json_begin_array_inline(j);
    for (uint32_t i = 0; i < g->n[ETP_FACTOR_THREADS]; i++) {
        etp_json_u64(j, s->threads[i]);
    }
    etp_json_end(j);
    etp_json_key(j, "reference");
    etp_json_begin_object_inline(j);
    place(j, s, g->reference);
    etp_json_end(j);
    etp_json_kv_u64(j, "blocks", g->n_blocks);
    etp_json_kv_double(j, "margin", g->margin);
    etp_json_kv_double(j, "knee_gain", g->knee);
    etp_json_kv_ratio(j, "noise_floor", s->noise_floor);
    etp_control_member(j, &s->control, s->control_blocks);
}

static void cells(etp_json *j, const etp_sweep *s)
{
    etp_json_key(j, "cells");
    etp_json_begin_array(j);
    for (uint32_t c = 0; c < s->n_cells; c++) {
        const etp_sweep_cell *cell = &s->cells[c];
        const etp_factorial_cell *r = &s->result.cells[c];
        const etp_ab_arm *arm = cell->arm == ETP_NO_INDEX ? NULL : &s->ab->arms[cell->arm];
        etp_json_begin_object(j);
        place(j, s, cell->at);
        etp_json_kv_z(j, "experiment", arm ? arm->name : NULL);
        etp_json_kv_rounded(j, "time_ns", r->ns.estimate);
        etp_json_kv_rounded(j, "lo_ns", r->ns.lo);
        etp_json_kv_rounded(j, "hi_ns", r->ns.hi);
        if (s->ab->phase) {
            etp_json_kv_ratio(j, "tokens_per_s", etp_sweep_token_rate(s, c));
        }
        etp_json_kv_u64(j, "blocks", r->blocks);
        etp_json_kv_u64(j, "lost", cell->lost);
        etp_truth truth = arm ? arm->proof.truth : ETP_UNPROVEN;
        etp_json_kv_bool_if(j, "proof_ok", truth == ETP_CONFIRMED, truth != ETP_UNPROVEN);
        etp_json_kv_z(j, "withheld", etp_withheld_name(cell->withheld));
        ratio(j, "relative", &r->relative);
        etp_json_end(j);
    }
    etp_json_end(j);
}

static void speedups(etp_json *j, const etp_sweep *s)
{
    etp_json_key(j, "speedups");
    etp_json_begin_array(j);
    for (size_t i = 0; i < s->result.n_speedups; i++) {
        const etp_cell_speedup *x = &s->result.speedups[i];
        etp_json_begin_object(j);
        place(j, s, x->at);
        effect(j, "speedup", &x->effect);
        etp_json_kv_z(j, "withheld", etp_withheld_name(etp_sweep_withheld(s, x->at)));
        const etp_sweep_pair *pair = etp_sweep_pair_at(s, x->at);
        if (pair && pair->ab->n_comparisons) {
            etp_members_write(j, &k_etp_ab_states, pair->ab->comparisons, pair->ab);
            etp_members_write(j, &k_etp_ab_findings, pair->ab, pair->ab);
        }
        etp_json_end(j);
    }
    etp_json_end(j);
}

static void scaling(etp_json *j, const etp_sweep *s)
{
    etp_json_key(j, "scaling");
    etp_json_begin_array(j);
    for (size_t i = 0; i < s->result.n_knees; i++) {
        const etp_knee *k = &s->result.knees[i];
        etp_json_begin_object(j);
        value(j, s, "model", ETP_FACTOR_MODEL, k->model);
        value(j, s, "level", ETP_FACTOR_LEVEL, k->level);
        etp_json_key(j, "knee");
        etp_json_begin_object_inline(j);
        value(j, s, "from", ETP_FACTOR_THREADS, k->from);
        value(j, s, "to", ETP_FACTOR_THREADS, k->to);
        etp_json_end(j);
        etp_json_key(j, "steps");
        etp_json_begin_array(j);
        for (size_t t = 0; t < s->result.n_steps; t++) {
            const etp_thread_step *x = &s->result.steps[t];
            if (x->model == k->model && x->level == k->level) {
                etp_json_begin_object(j);
                value(j, s, "from", ETP_FACTOR_THREADS, x->from);
                value(j, s, "to", ETP_FACTOR_THREADS, x->to);
                effect(j, "speedup", &x->effect);
                etp_json_end(j);
            }
        }
        etp_json_end(j);
        etp_json_end(j);
    }
    etp_json_end(j);
}

static void interactions(etp_json *j, const etp_sweep *s)
{
    static const char *const k_names[ETP_FACTORS] = {"model", "level", "threads"};
    etp_json_key(j, "interactions");
    etp_json_begin_array(j);
    for (size_t i = 0; i < s->result.n_interactions; i++) {
        const etp_interaction *x = &s->result.interactions[i];
        etp_json_begin_object(j);
        etp_json_kv_z(j, "of", k_names[x->a]);
        value(j, s, "value", x->a, x->a_at);
        etp_json_kv_z(j, "with", k_names[x->b]);
        value(j, s, "with_value", x->b, x->b_at);
        etp_json_key(j, "at");
        etp_json_begin_object_inline(j);
        value(j, s, k_names[x->c], x->c, x->c_at);
        etp_json_end(j);
        ratio(j, "effect_at_reference", &x->a_effect[0]);
        ratio(j, "effect_at_value", &x->a_effect[1]);
        effect(j, "ratio_of_ratios", &x->ratio);
        etp_json_kv_bool(j, "established",
                         x->ratio.verdict == ETP_VERDICT_FASTER ||
                             x->ratio.verdict == ETP_VERDICT_SLOWER);
        etp_json_end(j);
    }
    etp_json_end(j);
}

static void means(etp_json *j, const etp_sweep *s)
{
    etp_json_key(j, "geometric_means");
    etp_json_begin_array(j);
    for (size_t i = 0; i < s->result.n_means; i++) {
        const etp_level_mean *x = &s->result.means[i];
        etp_json_begin_object(j);
        value(j, s, "level", ETP_FACTOR_LEVEL, x->level);
        value(j, s, "threads", ETP_FACTOR_THREADS, x->threads);
        etp_json_kv_u64(j, "models", s->grid.n[ETP_FACTOR_MODEL]);
        effect(j, "speedup", &x->effect);
        etp_json_kv_ratio(j, "over_models_lo", x->models_lo);
        etp_json_kv_ratio(j, "over_models_hi", x->models_hi);
        etp_json_end(j);
    }
    etp_json_end(j);
}

static void document(etp_json *j, const etp_sweep *s);

static void winner(etp_json *j, const etp_sweep *s)
{
    uint32_t cell = etp_sweep_winner(s);
    etp_json_key(j, "winner");
    if (cell == ETP_NO_INDEX) {
        etp_json_null(j);
        return;
    }
    etp_json_begin_object_inline(j);
    place(j, s, s->cells[cell].at);
    etp_json_kv_rounded(j, "time_ns", s->result.cells[cell].ns.estimate);
    etp_json_kv_ratio(j, "tokens_per_s", etp_sweep_token_rate(s, cell));
    etp_json_end(j);
}

static void phases(etp_json *j, const etp_sweep *s)
{
    if (s->ab->n_phases == 0) { // a later phase, or a session without
        return;
    }
    etp_json_key(j, "phases");
    etp_json_begin_array(j);
    for (size_t i = 0; i < etp_sweep_n_phases(s); i++) {
        const etp_sweep *one = etp_sweep_phase(s, i);
        const etp_ab_phase *p = one->ab->phase;
        etp_json_begin_object(j);
        etp_json_kv_z(j, "name", p->name);
        etp_json_kv_z(j, "kind", p->kind);
        etp_json_kv_u64(j, "tokens", p->tokens);
        etp_json_kv_u64(j, "depth", p->depth);
        etp_json_kv_u64(j, "prompt", p->prompt);
        etp_json_kv_u64(j, "calls", p->calls);
        winner(j, one);
        etp_json_key(j, "document");
        if (i == 0) {
            etp_json_null(j);
        } else {
            document(j, one);
        }
        etp_json_end(j);
    }
    etp_json_end(j);
}

static void document(etp_json *j, const etp_sweep *s)
{
    etp_json_begin_object(j);
    head(j, s);
    if (s->ab->phase) {
        etp_json_kv_z(j, "phase", s->ab->phase->name);
    }
    design(j, s);
    cells(j, s);
    speedups(j, s);
    scaling(j, s);
    interactions(j, s);
    means(j, s);
    etp_object_member(j, "environment", &k_etp_ab_environment, s->ab, s->ab);
    etp_json_key(j, "sentences");
    etp_json_begin_array(j);
    for (size_t i = 0; i < s->sentences.n; i++) {
        const etp_sweep_sentence *x = &s->sentences.items[i];
        etp_json_begin_object_inline(j);
        etp_json_kv_z(j, "id", x->id);
        etp_json_kv_z(j, "severity", etp_severity_name(x->severity));
        etp_json_kv_z(j, "text", x->text);
        etp_json_end(j);
    }
    etp_json_end(j);
    phases(j, s);
    etp_json_end(j);
}

void etp_sweep_json(const void *sweep, etp_json *j)
{
    document(j, sweep);
    etp_json_end_document(j);
}
