// SPDX-License-Identifier: Apache-2.0
// Plans of measurements as a document and as a report.
#include "study/stats/plan.h"

#include <math.h>

#include "base/number.h"

#define ASSUMED_LAUNCH_NS 5e8

static const double k_precisions[ETP_PLAN_STEPS] = {0.05, 0.02, 0.01, 0.005, 0.002, 0.001};

// Block ratios of one comparison; *out has room for every block.
static size_t ratios_of(const etp_stats *s, const etp_stats_comparison *c, double *out)
{
    size_t k = 0;
    for (size_t b = 0; b < s->n_blocks_seen; b++) {
        const double *values = s->value_ln + b * s->n_arms;
        double ratio = values[c->baseline] - values[c->candidate];
        if (s->block_complete[b] && isfinite(ratio)) {
            out[k++] = ratio;
        }
    }
    return k;
}

static etp_pilot pilot_of(const etp_stats *s, const etp_stats_comparison *c, double *ratios,
                          double launch_ns)
{
    etp_pilot p = {.log_ratios = ratios, .spread = c->spread, .launch_ns = launch_ns};
    p.blocks = ratios_of(s, c, ratios);
    size_t launches = 0;
    for (size_t i = 0; i < s->n_launches; i++) {
        const etp_launch_stats *l = &s->launches[i];
        if (!l->control && (l->arm == c->baseline || l->arm == c->candidate)) {
            p.within_var += l->within_ln * l->within_ln;
            p.iterations += (double)(l->iterations - l->warmup.dropped);
            launches++;
        }
    }
    p.within_var /= (double)launches;
    p.iterations /= (double)launches;
    double sum = 0;
    for (uint32_t a = 0; a < s->n_arms; a++) { // a block launches all of them
        if (s->arms[a].launches > 0) {
            sum += exp(s->arms[a].value_ln);
            p.arms++;
        }
    }
    p.iteration_ns = sum / p.arms;
    return p;
}

etp_status etp_plan_answer_build(const etp_stats *stats, const etp_str *names, const char *source,
                                 double precision, double launch_ns, etp_arena *arena,
                                 etp_plan_answer *out, etp_error *err)
{
    *out = (etp_plan_answer){
        .source = source,
        .names = names,
        .precision = precision,
        .launch_known = isfinite(launch_ns),
        .comparisons = ETP_NEW_ARRAY(arena, etp_plan_comparison, stats->n_comparisons),
    };
    ETP_NEED(out->comparisons, err, "plan");
    launch_ns = isfinite(launch_ns) ? launch_ns : ASSUMED_LAUNCH_NS;
    for (uint32_t i = 0; i < stats->n_comparisons; i++) {
        const etp_stats_comparison *c = &stats->comparisons[i];
        double *ratios = ETP_NEW_ARRAY(arena, double, stats->n_blocks_seen);
        ETP_NEED(ratios, err, "plan");
        if (c->paired.blocks < 2) {
            continue;
        }
        etp_plan_comparison *p = &out->comparisons[out->n_comparisons++];
        p->baseline = c->baseline;
        p->candidate = c->candidate;
        p->pilot = pilot_of(stats, c, ratios, launch_ns);
        p->launches =
            p->pilot.spread.df > 0 ? p->pilot.spread.launches : 2 * (uint32_t)p->pilot.blocks;
        p->half_width_rel = expm1(c->paired.half_width_ln);
        p->wanted = etp_plan_make(&p->pilot, precision);
        for (size_t k = 0; k < ETP_PLAN_STEPS; k++) {
            p->steps[k] = etp_plan_make(&p->pilot, k_precisions[k]);
        }
    }
    if (out->n_comparisons == 0) {
        return etp_fail(err, ETP_UNKNOWN,
                        "%s: no two experiments share two complete blocks; measure a pilot first "
                        "(etprof ab MODEL.pte --blocks 6)",
                        source);
    }
    return ETP_OK;
}

// ---- document ----

static void plan_json(const etp_plan *p, double precision, etp_json *j)
{
    bool reachable = p->blocks != UINT32_MAX;
    etp_json_begin_object_inline(j);
    etp_json_kv_ratio(j, "precision", precision);
    etp_json_kv_u64_if(j, "blocks", p->blocks, reachable);
    etp_json_kv_u64_if(j, "blocks_lo", p->blocks_lo, p->blocks_lo != UINT32_MAX);
    etp_json_kv_u64_if(j, "blocks_hi", p->blocks_hi, p->blocks_hi != UINT32_MAX);
    etp_json_kv_u64(j, "iterations", p->iterations);
    etp_json_key(j, "total_ns");
    if (reachable && p->total_ns < 9e18) {
        etp_json_i64(j, (int64_t)llround(p->total_ns));
    } else {
        etp_json_null(j);
    }
    etp_json_kv_ratio(j, "half_width", reachable ? p->half_width_rel : (double)NAN);
    etp_json_kv_ratio(j, "mde", reachable ? p->mde_rel : (double)NAN);
    etp_json_end(j);
}

void etp_plan_json(const void *data, etp_json *j)
{
    const etp_plan_answer *a = data;
    etp_json_begin_object(j);
    etp_json_kv_z(j, "schema", "etprof.plan/1");
    etp_json_kv_bool(j, "launch_known", a->launch_known);
    etp_json_key(j, "comparisons");
    etp_json_begin_array(j);
    for (size_t i = 0; i < a->n_comparisons; i++) {
        const etp_plan_comparison *c = &a->comparisons[i];
        etp_json_begin_object(j);
        etp_json_kv_str(j, "baseline", a->names[c->baseline]);
        etp_json_kv_str(j, "candidate", a->names[c->candidate]);
        etp_json_key(j, "pilot");
        etp_json_begin_object_inline(j);
        etp_json_kv_u64(j, "blocks", c->pilot.blocks);
        etp_json_kv_u64(j, "launches", c->launches);
        etp_json_kv_ratio(j, "df", c->wanted.df);
        etp_json_kv_ratio(j, "iterations", c->pilot.iterations);
        etp_json_kv_ratio(j, "half_width", c->half_width_rel);
        etp_json_kv_ratio(j, "within_sd", sqrt(c->pilot.within_var));
        etp_json_kv_ratio(j, "between_sd", sqrt(c->wanted.between_var));
        etp_json_kv_i64(j, "launch_ns", (int64_t)llround(c->pilot.launch_ns));
        etp_json_kv_i64(j, "iteration_ns", (int64_t)llround(c->pilot.iteration_ns));
        etp_json_end(j);
        etp_json_key(j, "plan");
        plan_json(&c->wanted, a->precision, j);
        etp_json_key(j, "steps");
        etp_json_begin_array(j);
        for (size_t k = 0; k < ETP_PLAN_STEPS; k++) {
            plan_json(&c->steps[k], k_precisions[k], j);
        }
        etp_json_end(j);
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_end(j);
    etp_json_end_document(j);
}

// ---- report ----

static const char *duration_text(double ns, char buf[static ETP_NUMBER_CHARS])
{
    double s = ns / 1e9;
    if (s < 120) {
        (void)snprintf(buf, ETP_NUMBER_CHARS, "%.*f s", s < 10 ? 1 : 0, s);
    } else if (s < 7200) {
        (void)snprintf(buf, ETP_NUMBER_CHARS, "%.0f min", s / 60);
    } else {
        (void)snprintf(buf, ETP_NUMBER_CHARS, "%.1f h", s / 3600);
    }
    return buf;
}

// "12 min (8.0 min to 20 min)"
static const char *range_text(const etp_plan *p, etp_arena *arena)
{
    char time[ETP_NUMBER_CHARS], lo[ETP_NUMBER_CHARS], hi[ETP_NUMBER_CHARS];
    const char *text = NULL;
    (void)duration_text(p->total_ns, time);
    if (p->blocks_hi == UINT32_MAX) {
        text = etp_arena_printf(arena, "%s (from %s)", time,
                                duration_text(p->blocks_lo * p->block_ns, lo));
    } else if (p->blocks_lo < p->blocks_hi) {
        text = etp_arena_printf(arena, "%s (%s to %s)", time,
                                duration_text(p->blocks_lo * p->block_ns, lo),
                                duration_text(p->blocks_hi * p->block_ns, hi));
    } else {
        text = etp_arena_printf(arena, "%s", time);
    }
    return text ? text : "";
}

static void add_sentence(const etp_plan_answer *a, const etp_plan_comparison *c, etp_report *r,
                         etp_arena *arena)
{
    etp_report_text(r, "%.*s against %.*s: %u blocks so far give ±%.2g %%.",
                    ETP_STR_ARG(a->names[c->candidate]), ETP_STR_ARG(a->names[c->baseline]),
                    (unsigned)c->pilot.blocks, 100 * c->half_width_rel);
    if (c->wanted.blocks == UINT32_MAX) {
        etp_report_note(r, ETP_WARN, "±%g %% is out of reach: launches differ too much here",
                        100 * a->precision);
        return;
    }
    etp_report_note(r, ETP_INFO,
                    "±%g %% needs %u blocks of %u iterations, about %s; a difference of %.2g %% is "
                    "then found in 80 %% of sessions",
                    100 * a->precision, (unsigned)c->wanted.blocks, (unsigned)c->wanted.iterations,
                    range_text(&c->wanted, arena), 100 * c->wanted.mde_rel);
}

static void add_steps(const etp_plan_comparison *c, size_t index, etp_report *r, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "precision", .title = "interval ±", .kind = ETP_KIND_PERCENT},
        {.key = "blocks", .title = "blocks", .kind = ETP_KIND_INT},
        {.key = "iterations", .title = "iterations", .kind = ETP_KIND_INT},
        {.key = "total", .title = "time"},
        {.key = "mde", .title = "finds", .kind = ETP_KIND_PERCENT, .decimals = 2},
    };
    const char *id = etp_arena_printf(arena, "steps%zu", index + 1);
    etp_table *t = etp_report_table(r, id ? id : "steps", NULL, k_columns,
                                    sizeof k_columns / sizeof *k_columns);
    for (size_t k = 0; k < ETP_PLAN_STEPS; k++) {
        const etp_plan *p = &c->steps[k];
        if (p->blocks == UINT32_MAX) {
            ETP_ROW(t, etp_cell_double(k_precisions[k]), etp_cell_missing(),
                    etp_cell_u64(p->iterations), etp_cell_missing(), etp_cell_missing());
            continue;
        }
        ETP_ROW(t, etp_cell_double(k_precisions[k]), etp_cell_u64(p->blocks),
                etp_cell_u64(p->iterations), etp_cell_z(range_text(p, arena)),
                etp_cell_double(p->mde_rel));
    }
}

const etp_report *etp_plan_report(const etp_plan_answer *a, etp_arena *arena)
{
    etp_report *r = etp_report_create(arena, "plan of a measurement");
    etp_report_subtitle(r, "%s", a->source);
    etp_report_section(r, 1, "plan", "Plan");
    for (size_t i = 0; i < a->n_comparisons; i++) {
        const etp_plan_comparison *c = &a->comparisons[i];
        char launch[ETP_NUMBER_CHARS], iteration[ETP_NUMBER_CHARS];
        add_sentence(a, c, r, arena);
        etp_report_text(
            r,
            "Launches differ by %.2g %%, iterations inside one by %.2g %%; a launch costs "
            "%s besides its iterations of %s. %u launches tell it (%.0f degrees of freedom); "
            "what is really needed lies within the brackets in 80 %% of plans.",
            100 * sqrt(c->wanted.between_var / 2), 100 * sqrt(c->pilot.within_var),
            duration_text(c->pilot.launch_ns, launch),
            etp_format_ns(c->pilot.iteration_ns, iteration), (unsigned)c->launches, c->wanted.df);
        add_steps(c, i, r, arena);
    }
    if (!a->launch_known) {
        etp_report_note(
            r, ETP_INFO,
            "the cost of a launch is an assumption (--launch-cost SECONDS); run folders "
            "know theirs");
    }
    if (a->comparisons[0].wanted.df < 3) {
        etp_report_note(
            r, ETP_WARN,
            "planned from %u launches: how much they differ is hardly known yet, the time may be "
            "off by a factor of two and more",
            (unsigned)a->comparisons[0].launches);
    }
    return r;
}
