// SPDX-License-Identifier: Apache-2.0
// The document etprof.ab/1. Keys are added, never renamed, within this major version.
#include "show/json.h"

#include <math.h>

#include <etprof/version.h>

#include "document/document.h"
#include "inspect/ops.h"
#include "show/counters.h"

void etp_ab_tool_json(etp_json *j, const etp_ab *ab)
{
    etp_json_key(j, "tool");
    etp_json_begin_object_inline(j);
    etp_json_kv_z(j, "version", ETP_VERSION);
    etp_json_kv_z(j, "measured_by", ab->tool_version);
    etp_json_end(j);
}

void etp_ab_device_json(etp_json *j, const etp_ab *ab)
{
    etp_json_key(j, "device");
    etp_json_begin_object(j);
    etp_json_kv_z(j, "platform", ab->platform);
    etp_json_kv_bool(j, "emulated", ab->emulated);
    for (size_t i = 0; i < ab->n_device; i++) {
        etp_json_kv_z(j, ab->device[i].key, ab->device[i].value);
    }
    etp_json_end(j);
}

void etp_ab_stop_json(etp_json *j, const etp_ab *ab)
{
    etp_json_key(j, "stop");
    etp_json_begin_object_inline(j);
    etp_json_kv_z(j, "reason", ab->stopped ? etp_run_stop_name(ab->stopped) : NULL);
    etp_json_kv_ratio(j, "precision", ab->precision > 0 ? ab->precision : (double)NAN);
    etp_json_end(j);
}

static void header(etp_json *j, const etp_ab *ab)
{
    etp_json_kv_z(j, "schema", "etprof.ab/1");
    etp_ab_tool_json(j, ab);
    etp_json_key(j, "models");
    etp_json_begin_array(j);
    for (size_t i = 0; i < ab->n_models; i++) {
        etp_json_begin_object_inline(j);
        etp_json_kv_z(j, "path", ab->models[i].path);
        etp_json_kv_z(j, "sha256", ab->models[i].sha256);
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_ab_device_json(j, ab);
    etp_json_key(j, "executorch");
    etp_json_begin_object_inline(j);
    etp_json_kv_z(j, "version", ab->executorch_version);
    etp_json_kv_z(j, "sha", ab->executorch_sha);
    etp_json_end(j);
    etp_json_kv_z(j, "grade", ab->grade);
    etp_json_kv_z(j, "grade_reason", ab->grade_reason);
    etp_json_key(j, "grade_facts");
    etp_json_begin_object_inline(j);
    for (size_t i = 0; i < ab->n_grade_facts; i++) {
        etp_json_kv_z(j, ab->grade_facts[i].key, ab->grade_facts[i].value);
    }
    etp_json_end(j);
    etp_json_kv_z(j, "state", ab->state);
    etp_ab_stop_json(j, ab);
}

static void proof(etp_json *j, const etp_proof *p)
{
    etp_json_key(j, "proof");
    etp_json_begin_object(j);
    etp_json_kv_bool_if(j, "ok", p->truth == ETP_CONFIRMED, p->truth != ETP_UNPROVEN);
    etp_json_kv_bool(j, "by_table", p->by_table);
    etp_json_kv_z(j, "note", etp_proof_names_note(p));
    etp_json_key(j, "evidence");
    etp_json_begin_array(j);
    for (size_t i = 0; i < p->lines.n; i++) {
        const etp_proof_line *line = &p->lines.items[i];
        etp_json_begin_object_inline(j);
        etp_json_kv_z(j, "kind", line->kind);
        etp_json_kv_z(j, "text", line->text);
        etp_json_kv_z(j, "says",
                      line->contradicts ? "contradicted"
                      : line->supports  ? "confirmed"
                                        : "nothing");
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_end(j);
}

static void agreement(etp_json *j, const char *key, const etp_ab_correctness *c)
{
    etp_json_key(j, key);
    etp_json_begin_object_inline(j);
    etp_json_kv_bool_if(j, "ok", c->ok == 1, c->ok >= 0);
    etp_json_kv_ratio(j, "max_abs", c->max_abs);
    etp_json_kv_ratio(j, "max_rel", c->max_rel);
    etp_json_kv_ratio(j, "cosine", c->cosine);
    etp_json_kv_ratio(j, "argmax", c->argmax);
    etp_json_end(j);
}

static void ratio_over_blocks(etp_json *j, const char *key, const etp_ab_ratio *r, bool compared)
{
    etp_json_key(j, key);
    if (r->blocks == 0) {
        etp_json_null(j);
        return;
    }
    etp_json_begin_object_inline(j);
    etp_estimate_members(j, r->estimate, r->lo, r->hi);
    etp_json_kv_u64(j, "blocks", r->blocks);
    if (compared) {
        etp_json_kv_z(j, "verdict", etp_verdict_name(r->verdict));
    }
    etp_json_end(j);
}

static void drift(etp_json *j, const etp_ab_drift *d)
{
    etp_json_key(j, "drift");
    if (!d->known) {
        etp_json_null(j);
        return;
    }
    etp_json_begin_object_inline(j);
    etp_json_kv_ratio(j, "per_block", d->per_block);
    etp_json_kv_ratio(j, "p", d->p);
    etp_json_kv_ratio(j, "with_temperature", d->with_temperature);
    etp_json_kv_ratio(j, "with_clock", d->with_clock);
    etp_json_end(j);
}

static void resident(etp_json *j, const etp_ab_resident *r)
{
    etp_json_key(j, "resident");
    if (r->blocks == 0) {
        etp_json_null(j);
        return;
    }
    etp_json_begin_object_inline(j);
    etp_estimate_members(j, r->estimate, r->lo, r->hi);
    etp_json_kv_u64(j, "blocks", r->blocks);
    etp_json_kv_u64(j, "rounds", r->rounds);
    etp_json_key(j, "to_launches");
    etp_json_begin_object_inline(j);
    etp_estimate_members(j, r->change, r->change_lo, r->change_hi);
    etp_json_end(j);
    etp_json_kv_bool_if(j, "agrees", r->agrees == 1, r->agrees >= 0);
    etp_json_end(j);
}

static void hook_json(const etp_ab_arm *arm, etp_json *j)
{
    if (!(arm->hook.call_ns > 0)) {
        return; // bare recordings, runners of others
    }
    etp_json_key(j, "hook");
    etp_json_begin_object(j);
    etp_json_kv_ratio(j, "calls", arm->hook.calls);
    etp_json_kv_ratio(j, "call_ns", arm->hook.call_ns);
    etp_json_kv_ratio(j, "share", arm->hook.share);
    etp_json_end(j);
}

static void arms(etp_json *j, const etp_ab *ab)
{
    etp_json_key(j, "arms");
    etp_json_begin_array(j);
    for (size_t i = 0; i < ab->n_arms; i++) {
        const etp_ab_arm *a = &ab->arms[i];
        etp_json_begin_object(j);
        etp_json_kv_z(j, "name", a->name);
        etp_json_kv_z(j, "level", a->level_name);
        etp_json_kv_u64_if(j, "threads", a->threads, a->threads);
        etp_json_kv_z(j, "model", a->model < ab->n_models ? ab->models[a->model].path : NULL);
        etp_json_kv_z(j, "runner_sha256", a->runner_sha256);
        etp_json_kv_bool(j, "emulated", a->emulated);
        etp_json_kv_u64(j, "launches", a->launches);
        etp_json_kv_u64(j, "samples", a->samples);
        etp_ns_member(j, "median_ns", a->median_ns);
        etp_ns_member(j, "traced_ns", a->traced_ns);
        etp_ns_member(j, "traced_mean_ns", a->traced_mean_ns);
        etp_json_kv_rounded(j, "traced_median_ns", a->traced_median_ns);
        etp_json_kv_u64(j, "traced_runs", a->traced_runs);
        etp_json_kv_u64(j, "traced_kept", a->traced_kept);
        etp_ns_member(j, "load_ns", a->load_ns);
        etp_ns_member(j, "first_ns", a->first_ns);
        etp_ns_member(j, "peak_rss_bytes", a->peak_rss_bytes);
        hook_json(a, j);
        ratio_over_blocks(j, "cold", &a->cold, false);
        ratio_over_blocks(j, "observer", &a->observer, false);
        drift(j, &a->drift);
        etp_counters_arm_json(&ab->counters, (uint32_t)i, j);
        etp_json_kv_u64(j, "dumps", a->n_dumps);
        agreement(j, "expected", &a->expected);
        proof(j, &a->proof);
        etp_json_end(j);
    }
    etp_json_end(j);
}

void etp_ab_states_json(etp_json *j, const etp_ab_comparison *c)
{
    resident(j, &c->resident);
    ratio_over_blocks(j, "load", &c->load, true);
    ratio_over_blocks(j, "first", &c->first, true);
    ratio_over_blocks(j, "peak_rss", &c->peak_rss, true);
}

void etp_ab_comparison_json(const etp_ab *ab, const etp_ab_comparison *c, etp_json *j)
{
    etp_json_begin_object(j);
    etp_json_kv_z(j, "baseline", ab->arms[c->baseline].name);
    etp_json_kv_z(j, "candidate", ab->arms[c->candidate].name);
    etp_speedup_member(j, "speedup",
                       &(etp_speedup_facts){c->estimate, c->lo, c->hi, ETP_CONFIDENCE, c->blocks,
                                            etp_ab_method_name(c->method), c->widening});
    etp_json_kv_ratio(j, "sign_flip_p", c->sign_flip_p);
    if (isfinite(c->mann_whitney_p)) {
        etp_json_kv_ratio(j, "mann_whitney_p", c->mann_whitney_p);
        etp_json_kv_ratio(j, "cliffs_delta", c->cliffs_delta);
    }
    etp_json_kv_z(j, "verdict", etp_verdict_name(c->verdict));
    etp_json_kv_double(j, "margin", c->margin);
    etp_json_kv_ratio(j, "noise_floor", c->noise_floor);
    etp_control_member(j, &c->control, c->control_blocks);
    etp_json_kv_z(j, "withheld", etp_withheld_name(c->withheld));
    etp_ab_states_json(j, c);
    etp_counters_split_json(&ab->counters, (uint32_t)(c - ab->comparisons),
                            c->withheld != ETP_WITHHELD_NOT, j);
    etp_json_kv_z(j, "grade", ab->grade);
    etp_json_end(j);
}

static void comparisons(etp_json *j, const etp_ab *ab)
{
    etp_json_key(j, "comparisons");
    etp_json_begin_array(j);
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        etp_ab_comparison_json(ab, &ab->comparisons[i], j);
    }
    etp_json_end(j);
}

static void ledger_row(etp_json *j, const etp_ledger_row *row)
{
    etp_json_begin_object_inline(j);
    etp_json_kv_z(j, "id", row->id);
    etp_json_kv_z(j, "label", row->label);
    etp_json_kv_z(j, "kind", etp_row_kind_name(row->kind));
    etp_json_kv_z(j, "category",
                  row->category < 0 ? NULL : etp_category_name((etp_category)row->category));
    etp_json_kv_i64(j, "baseline_ns", row->baseline_ns);
    etp_json_kv_i64(j, "candidate_ns", row->candidate_ns);
    etp_json_kv_i64(j, "delta_ns", row->delta_ns);
    etp_ns_member(j, "lo_ns", row->lo_ns);
    etp_ns_member(j, "hi_ns", row->hi_ns);
    etp_json_kv_ratio(j, "ratio_lo", row->ratio_lo);
    etp_json_kv_ratio(j, "ratio_hi", row->ratio_hi);
    etp_json_kv_ratio(j, "q", row->q);
    etp_json_kv_bool(j, "each_longer", row->each_longer);
    etp_ns_member(j, "bound_ns", row->bound_ns);
    if (row->pair != ETP_NO_INDEX) {
        etp_json_kv_i64(j, "baseline_cut_ns", row->cut_ns[0]);
        etp_json_kv_i64(j, "candidate_cut_ns", row->cut_ns[1]);
    }
    etp_json_end(j);
}

static void ledgers(etp_json *j, const etp_ab *ab)
{
    etp_json_key(j, "ledgers");
    etp_json_begin_array(j);
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        const etp_ab_ledger *l = &ab->ledgers[i];
        if (l->ledger.n == 0) {
            continue;
        }
        etp_json_begin_object(j);
        etp_json_kv_z(j, "baseline", ab->arms[l->baseline].name);
        etp_json_kv_z(j, "candidate", ab->arms[l->candidate].name);
        etp_json_kv_i64(j, "baseline_ns", l->ledger.baseline_ns);
        etp_json_kv_i64(j, "candidate_ns", l->ledger.candidate_ns);
        etp_json_kv_i64(j, "delta_ns", l->ledger.delta_ns);
        etp_json_key(j, "rows");
        etp_json_begin_array(j);
        for (size_t r = 0; r < l->ledger.n; r++) {
            ledger_row(j, &l->ledger.items[r]);
        }
        etp_json_end(j);
        etp_json_end(j);
    }
    etp_json_end(j);
}

static void ratios(etp_json *j, const char *key, const double *v, size_t n)
{
    etp_json_key(j, key);
    etp_json_begin_array_inline(j);
    for (size_t i = 0; i < n; i++) {
        etp_json_ratio(j, v[i]);
    }
    etp_json_end(j);
}

static void categories(etp_json *j, const etp_ab *ab)
{
    etp_json_key(j, "categories");
    etp_json_begin_array(j);
    for (size_t i = 0; i < ab->n_categories; i++) {
        const etp_ab_category *c = &ab->categories[i];
        etp_json_begin_object(j);
        etp_json_kv_z(j, "category", etp_category_name(c->category));
        etp_json_kv_z(j, "five", etp_kit_category_name(etp_kit_category_of(c->category)));
        etp_json_key(j, "arms");
        etp_json_begin_object(j);
        for (size_t a = 0; a < ab->n_arms; a++) {
            etp_json_key(j, ab->arms[a].name);
            etp_json_begin_object_inline(j);
            etp_ns_member(j, "ns", c->ns[a]);
            etp_ns_member(j, "cut_ns", c->cut_ns[a]);
            etp_json_kv_ratio(j, "share", c->share[a]);
            etp_json_kv_ratio(j, "ceiling", c->ceiling[a]);
            etp_json_end(j);
        }
        etp_json_end(j);
        ratios(j, "speedup", c->speedup, ab->n_comparisons);
        ratios(j, "speedup_lo", c->lo, ab->n_comparisons);
        ratios(j, "speedup_hi", c->hi, ab->n_comparisons);
        etp_json_end(j);
    }
    etp_json_end(j);
}

static const char *engaged_name(etp_engagement state)
{
    static const char *const k_states[ETP_ENGAGEMENTS] = {"engaged", "not", "unknown", "partly"};
    return k_states[state];
}

static void engaged(etp_json *j, const etp_ab_operator *op)
{
    etp_json_key(j, "engaged");
    etp_json_begin_object_inline(j);
    etp_json_kv_z(j, "state", engaged_name(op->engaged.state));
    etp_json_kv_z(j, "evidence", op->engaged.evidence);
    etp_json_kv_z(j, "reason", etp_reason_text(op->engaged.reason));
    etp_json_kv_z(j, "reason_id", etp_reason_id(op->engaged.reason));
    if (op->engaged.sure) {
        etp_json_kv_u64(j, "samples", op->engaged.sure);
        etp_json_kv_u64(j, "samples_on", op->engaged.on);
    }
    etp_json_end(j);
}

static void tensors(etp_json *j, const char *key, const etp_op_facts *f, const uint32_t *which,
                    uint32_t n)
{
    etp_json_key(j, key);
    etp_tensors_json(f->values, which, n, j);
}

// What the program says; the keys are there with a program only.
static void program_facts(etp_json *j, const etp_ab_operator *op)
{
    if (!op->facts) {
        return;
    }
    const etp_op_facts *f = &op->facts->op;
    etp_json_kv_str_if(j, "node_type", f->node_type, f->node_type.len);
    etp_json_key(j, "nodes");
    etp_json_begin_array_inline(j);
    for (uint32_t i = 0; i < op->facts->n_nodes; i++) {
        etp_json_u64(j, op->facts->nodes[i]);
    }
    etp_json_end(j);
    tensors(j, "inputs", f, f->inputs, f->n_inputs);
    tensors(j, "outputs", f, f->outputs, f->n_outputs);
    etp_json_kv_u64_if(j, "bytes", f->work.bytes, f->work.known);
}

static void engagement(etp_json *j, const etp_ab *ab)
{
    const etp_ab_engagement *e = &ab->engagement;
    etp_json_key(j, "engagement");
    etp_json_begin_object(j);
    etp_json_kv_z(j, "feature", e->feature_name);
    etp_json_kv_z(j, "arm", ab->n_arms ? ab->arms[e->arm].name : NULL);
    etp_json_kv_u64(j, "eligible", e->eligible);
    etp_json_kv_u64(j, "engaged", e->engaged);
    etp_json_kv_u64(j, "row_kernel", e->row_kernels);
    etp_json_kv_u64(j, "not", e->off);
    etp_json_kv_u64(j, "unknown", e->unknown);
    etp_json_kv_ratio(j, "macs_share", e->macs_share);
    etp_json_kv_ratio(j, "time_share", e->time_share);
    etp_json_kv_ratio(j, "macs_lo", e->macs_lo);
    etp_json_kv_ratio(j, "macs_hi", e->macs_hi);
    etp_json_kv_ratio(j, "macs_known", e->macs_known);
    etp_json_kv_ratio(j, "time_lo", e->time_lo);
    etp_json_kv_ratio(j, "time_hi", e->time_hi);
    etp_json_kv_ratio(j, "time_known", e->time_known);
    if (e->sampled > 0 || e->sampling) {
        etp_json_key(j, "sampling");
        etp_json_begin_object_inline(j);
        etp_json_kv_u64(j, "launches", e->sampled);
        etp_json_kv_z(j, "ended", e->sampling);
        etp_json_end(j);
    }
    etp_json_key(j, "reasons");
    etp_json_begin_array(j);
    for (size_t i = 0; i < e->n_reasons; i++) {
        etp_json_begin_object_inline(j);
        etp_json_kv_z(j, "reason_id", etp_reason_id(e->reasons[i].reason));
        etp_json_kv_z(j, "reason", etp_reason_text(e->reasons[i].reason));
        etp_json_kv_u64(j, "operators", e->reasons[i].operators);
        etp_json_kv_i64(j, "ns", e->reasons[i].ns);
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_end(j);
}

void etp_ab_operator_roofs_json(etp_json *j, const etp_ab *ab, const etp_ab_operator *op)
{
    if (!op->roofs) {
        return;
    }
    etp_json_key(j, "roof");
    etp_json_begin_object(j);
    for (size_t a = 0; a < ab->n_arms; a++) {
        const etp_roof_place *p = &op->roofs[a];
        etp_json_key(j, ab->arms[a].name);
        etp_json_begin_object_inline(j);
        bool known = p->verdict != ETP_ROOF_UNKNOWN;
        etp_json_kv_rounded(j, "roof_ns", known ? p->roof_ns : (double)NAN);
        etp_json_kv_rounded(j, "compute_ns", known ? p->compute_ns : (double)NAN);
        etp_json_kv_rounded(j, "memory_ns", known ? p->memory_ns : (double)NAN);
        etp_json_kv_rounded(j, "overhead_ns", known ? p->overhead_ns : (double)NAN);
        etp_json_kv_ratio(j, "efficiency", known ? p->efficiency : (double)NAN);
        etp_json_kv_z(j, "isa", p->isa);
        etp_json_kv_z(j, "verdict", etp_roof_verdict_name(p->verdict));
        etp_json_kv_z(j, "missing", p->missing);
        etp_json_end(j);
    }
    etp_json_end(j);
}

// On the scale of the headline: each operator's share of the traced inference, of the untraced one.
static void untraced(etp_json *j, const etp_ab *ab, const etp_ab_operator *op)
{
    etp_json_key(j, "untraced_ns");
    etp_json_begin_object_inline(j);
    for (size_t a = 0; a < ab->n_arms; a++) {
        const etp_ab_arm *arm = &ab->arms[a];
        bool known = arm->median_ns > 0 && arm->traced_ns > 0 && op->ns[a] != ETP_NS_UNKNOWN &&
                     !ab->emulated;
        etp_json_key(j, ab->arms[a].name);
        etp_ns_item(j, known ? llround((double)op->ns[a] *
                                       ((double)arm->median_ns / (double)arm->traced_ns))
                             : ETP_NS_UNKNOWN);
    }
    etp_json_end(j);
}

static void one_operator(etp_json *j, const etp_ab *ab, const etp_ab_operator *op)
{
    etp_json_begin_object(j);
    etp_json_kv_z(j, "id", op->id);
    etp_json_kv_z(j, "label", op->label);
    etp_json_kv_z(j, "category", etp_category_name(op->category));
    etp_json_kv_z(j, "five", etp_kit_category_name(etp_kit_category_of(op->category)));
    etp_json_kv_bool(j, "delegated", op->delegated);
    etp_json_kv_i64(j, "chain", op->chain);
    etp_json_kv_i64(j, "instruction", op->instruction);
    etp_json_key(j, "names");
    etp_json_begin_object_inline(j);
    for (size_t a = 0; a < ab->n_arms; a++) {
        etp_json_key(j, ab->arms[a].name);
        etp_json_begin_array_inline(j);
        if (op->names[a].len) {
            etp_json_str(j, op->names[a]);
        }
        for (size_t k = 0; k < op->merged.n; k++) {
            if (op->merged.items[k].arm == a) {
                etp_json_str(j, op->merged.items[k].name);
            }
        }
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_key(j, "ns");
    etp_json_begin_object_inline(j);
    for (size_t a = 0; a < ab->n_arms; a++) {
        etp_json_key(j, ab->arms[a].name);
        etp_ns_item(j, op->ns[a]);
    }
    etp_json_end(j);
    untraced(j, ab, op);
    ratios(j, "speedup", op->speedup, ab->n_comparisons);
    etp_json_kv_u64_if(j, "macs", op->macs, op->macs != ETP_AB_NO_MACS);
    etp_json_key(j, "source");
    if (op->source_file) {
        etp_json_begin_object_inline(j);
        etp_json_kv_z(j, "file", op->source_file);
        etp_json_kv_u64(j, "line", op->source_line);
        etp_json_kv_z(j, "module", op->module);
        etp_json_end(j);
    } else {
        etp_json_null(j);
    }
    engaged(j, op);
    program_facts(j, op);
    etp_ab_operator_roofs_json(j, ab, op);
    etp_json_kv_z(j, "aligned_by", op->by_nodes ? "program" : "names");
    etp_json_kv_bool(j, "doubtful", op->confidence < ETP_ALIGN_DOUBTFUL);
    etp_json_kv_ratio(j, "confidence", op->confidence);
    etp_json_end(j);
}

static void one_fix(etp_json *j, const etp_ab_fix *f)
{
    etp_json_begin_object(j);
    etp_json_kv_z(j, "id", f->id);
    etp_json_kv_z(j, "kind", etp_fix_id(f->kind));
    etp_json_kv_z(j, "text", f->text);
    etp_json_key(j, "gain_ns");
    etp_json_begin_object_inline(j);
    etp_json_kv_i64(j, "lo", f->lo_ns);
    etp_ns_member(j, "expected", f->expected_ns);
    etp_json_kv_i64(j, "hi", f->hi_ns);
    etp_json_end(j);
    etp_json_kv_ratio(j, "share", f->share);
    etp_ns_member(j, "estimate_ns", f->estimate_ns);
    etp_json_kv_i64(j, "concerns_ns", f->concerns_ns);
    etp_json_kv_u64(j, "measured_cases", f->cases);
    etp_json_kv_z(j, "recipe", f->recipe);
    etp_json_kv_z(j, "formula", f->formula);
    etp_json_key(j, "evidence");
    etp_json_begin_array_inline(j);
    for (size_t i = 0; i < f->n_evidence; i++) {
        etp_json_z(j, f->evidence[i]);
    }
    etp_json_end(j);
    etp_json_end(j);
}

static void causes(etp_json *j, const etp_ab *ab, const char *key, bool ruled_out)
{
    etp_json_key(j, key);
    etp_json_begin_array(j);
    for (size_t i = 0; i < ab->n_causes; i++) {
        const etp_ab_cause *c = &ab->causes[i];
        if ((c->state == ETP_CAUSE_RULED_OUT) != ruled_out) {
            continue;
        }
        etp_json_begin_object_inline(j);
        etp_json_kv_z(j, "id", etp_cause_id(c->cause));
        if (!ruled_out) {
            etp_json_kv_z(j, "state", etp_cause_state_name(c->state));
        }
        etp_json_kv_z(j, "text", c->text);
        etp_json_end(j);
    }
    etp_json_end(j);
}

void etp_ab_findings_json(etp_json *j, const etp_ab *ab)
{
    etp_json_key(j, "findings");
    etp_json_begin_array(j);
    for (size_t i = 0; i < ab->findings.n; i++) {
        const etp_ab_finding *f = &ab->findings.items[i];
        etp_json_begin_object(j);
        etp_json_kv_z(j, "id", f->id);
        etp_json_kv_z(j, "kind", etp_finding_id(f->kind));
        etp_json_kv_z(j, "severity", etp_severity_name(f->severity));
        etp_json_kv_z(j, "text", f->text);
        etp_json_key(j, "evidence");
        etp_json_begin_array_inline(j);
        for (size_t e = 0; e < f->n_evidence; e++) {
            etp_json_z(j, f->evidence[e]);
        }
        etp_json_end(j);
        etp_json_kv_z(j, "formula", f->formula);
        etp_json_end(j);
    }
    etp_json_end(j);
    causes(j, ab, "ruled_out", true);
    causes(j, ab, "not_ruled_out", false);
}

static void next_fixes(etp_json *j, const etp_ab *ab)
{
    etp_json_key(j, "next_fixes");
    etp_json_begin_array(j);
    for (size_t i = 0; i < ab->fixes.n; i++) {
        one_fix(j, &ab->fixes.items[i]);
    }
    etp_json_end(j);
}

static void bottlenecks(etp_json *j, const etp_ab *ab)
{
    etp_json_key(j, "bottlenecks");
    etp_json_begin_array(j);
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        const etp_ab_shift *s = &ab->shifts[i];
        bool known = isfinite(s->before_share) && isfinite(s->after_share);
        etp_json_begin_object_inline(j);
        etp_json_kv_z(j, "candidate", ab->arms[ab->comparisons[i].candidate].name);
        etp_json_kv_z(j, "before", known ? etp_ab_part_name(s->before) : NULL);
        etp_json_kv_z(j, "after", known ? etp_ab_part_name(s->after) : NULL);
        etp_json_kv_bool(j, "moved", s->moved);
        etp_json_kv_ratio(j, "before_share", s->before_share);
        etp_json_kv_ratio(j, "after_share", s->after_share);
        etp_json_kv_ratio(j, "before_is", s->before_is);
        etp_json_kv_ratio(j, "after_was", s->after_was);
        etp_json_kv_ratio(j, "portable_before", s->portable_before);
        etp_json_kv_ratio(j, "portable_after", s->portable_after);
        etp_json_end(j);
    }
    etp_json_end(j);
}

// Operators with much of an inference, and where each arm's inference went.
static void hot(etp_json *j, const etp_ab *ab)
{
    etp_json_key(j, "hot_operators");
    etp_json_begin_array(j);
    for (size_t i = 0; i < ab->hot.n; i++) {
        const etp_ab_hot *h = &ab->hot.items[i];
        etp_json_begin_object_inline(j);
        etp_json_kv_z(j, "operator", ab->operators[h->op].id);
        etp_json_kv_z(j, "arm", ab->arms[ab->hot_arm].name);
        etp_json_kv_z(j, "why", etp_hot_kind_name(h->kind));
        etp_ns_member(j, "ns", ab->operators[h->op].ns[ab->hot_arm]);
        etp_json_kv_ratio(j, "share", h->share);
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_key(j, "delegation");
    etp_json_begin_array(j);
    for (size_t i = 0; i < ab->n_arms; i++) {
        const etp_ab_split *s = &ab->arms[i].split;
        bool known = ab->arms[i].profile != NULL;
        etp_json_begin_object_inline(j);
        etp_json_kv_z(j, "arm", ab->arms[i].name);
        etp_ns_member(j, "delegated_ns", known ? s->delegated_ns : ETP_NS_UNKNOWN);
        etp_ns_member(j, "portable_ns", known ? s->portable_ns : ETP_NS_UNKNOWN);
        etp_ns_member(j, "boundary_ns", known ? s->boundary_ns : ETP_NS_UNKNOWN);
        etp_ns_member(j, "rest_ns", known ? s->framework_ns + s->unexplained_ns : ETP_NS_UNKNOWN);
        etp_ns_member(j, "movement_ns", known ? s->movement_ns : ETP_NS_UNKNOWN);
        etp_json_kv_u64(j, "operators", s->delegated);
        etp_json_kv_u64(j, "kernels", s->portable);
        etp_json_kv_u64(j, "calls", s->calls);
        etp_json_end(j);
    }
    etp_json_end(j);
}

static void lost(etp_json *j, const etp_ab *ab)
{
    etp_json_key(j, "lost");
    etp_json_begin_array(j);
    for (size_t i = 0; i < ab->lost.n; i++) {
        const etp_ab_lost *l = &ab->lost.items[i];
        etp_json_begin_object_inline(j);
        etp_json_kv_z(j, "arm", l->arm);
        etp_json_kv_u64(j, "block", l->block);
        etp_json_kv_bool(j, "recovered", l->recovered);
        etp_json_kv_z(j, "text", l->text);
        etp_json_end(j);
    }
    etp_json_end(j);
}

void etp_ab_json_value(const etp_ab *ab, etp_json *j)
{
    etp_json_begin_object(j);
    header(j, ab);
    arms(j, ab);
    comparisons(j, ab);
    ledgers(j, ab);
    categories(j, ab);
    etp_json_key(j, "operators");
    etp_json_begin_array(j);
    for (size_t i = 0; i < ab->n_operators; i++) {
        one_operator(j, ab, &ab->operators[i]);
    }
    etp_json_end(j);
    bottlenecks(j, ab);
    hot(j, ab);
    engagement(j, ab);
    etp_ab_findings_json(j, ab);
    next_fixes(j, ab);
    agreement(j, "correctness", &ab->correctness);
    lost(j, ab);
    etp_ab_environment_json(j, ab);
    etp_json_end(j);
}

void etp_ab_json(const etp_ab *ab, etp_json *j)
{
    etp_ab_json_value(ab, j);
    etp_json_end_document(j);
}
