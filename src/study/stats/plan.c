// SPDX-License-Identifier: Apache-2.0
// Plans of measurements as a document and as a report.
#include "study/stats/plan.h"

#include <math.h>

#include "base/guard.h"
#include "base/number.h"
#include "document/rows.h"
#include "study/stats/samples.h"

// Half a second, where nobody says what a launch costs; the report says that it is assumed.
#define ASSUMED_LAUNCH_NS 5e8

static const double k_precisions[ETP_PLAN_STEPS] = {0.05, 0.02, 0.01, 0.005, 0.002, 0.001};

// Block ratios of one comparison; *out has room for every block.
// As etp_paired_estimate was given them: complete blocks only.
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

// Both arms share one plan, so what happens inside a launch is their mean. The cost of a block
// counts all arms of the session, also those of other comparisons.
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
    // Iterations of the arms take different times; what a block costs depends on their sum alone.
    p.iteration_ns = sum / p.arms;
    return p;
}

static etp_status build(const etp_stats *stats, const etp_str *names, const char *source,
                        double precision, double launch_ns, etp_arena *arena, etp_plan_answer *out,
                        etp_error *err)
{
    *out = (etp_plan_answer){
        .source = source,
        .names = names,
        .called = names,
        .precision = precision,
        .launch_known = isfinite(launch_ns),
        .comparisons = ETP_NEW_ARRAY(arena, etp_plan_comparison, stats->n_comparisons),
    };
    launch_ns = isfinite(launch_ns) ? launch_ns : ASSUMED_LAUNCH_NS;
    for (uint32_t i = 0; i < stats->n_comparisons; i++) {
        const etp_stats_comparison *c = &stats->comparisons[i];
        double *ratios = ETP_NEW_ARRAY(arena, double, stats->n_blocks_seen);
        // One ratio says nothing of how much ratios differ.
        if (c->paired.blocks < 2) {
            continue;
        }
        etp_plan_comparison *p = &out->comparisons[out->n_comparisons++];
        p->baseline = c->baseline;
        p->candidate = c->candidate;
        p->pilot = pilot_of(stats, c, ratios, launch_ns);
        p->launches =
            // Without an estimate over all launches only the ratios tell, each of two launches.
            p->pilot.spread.df > 0 ? p->pilot.spread.launches : 2 * (uint32_t)p->pilot.blocks;
        p->half_width_rel = expm1(c->paired.half_width_ln);
        p->wanted = (etp_plan_step){precision, etp_plan_make(&p->pilot, precision)};
        for (; p->n_steps < ETP_PLAN_STEPS; p->n_steps++) {
            double step = k_precisions[p->n_steps];
            p->steps[p->n_steps] = (etp_plan_step){step, etp_plan_make(&p->pilot, step)};
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

etp_status etp_plan_answer_build(const etp_stats *stats, const etp_str *names, const char *source,
                                 double precision, double launch_ns, etp_arena *arena,
                                 etp_plan_answer *out, etp_error *err)
{
    ETP_GUARDED(arena, err, "plan",
                build(stats, names, source, precision, launch_ns, arena, out, err));
}

// ---- document ----

FIND(baseline_name, etp_plan_comparison, etp_plan_answer, &doc->names[it->baseline])
FIND(candidate_name, etp_plan_comparison, etp_plan_answer, &doc->names[it->candidate])
FIND(within_sd, etp_plan_comparison, etp_plan_answer, MAKE(real, sqrt(it->pilot.within_var)))
FIND(between_sd, etp_plan_comparison, etp_plan_answer,
     MAKE(real, sqrt(it->wanted.plan.between_var)))

// UINT32_MAX blocks: etp_plan_make has given up.
static bool is_reachable(const etp_plan_step *step)
{
    return step->plan.blocks != UINT32_MAX;
}
// A plan of more than 285 years has no number of nanoseconds that fits 64 bits.
KNOWN(is_known_total, double, *it < 9e18)
FIND(total_ns, etp_plan_step, etp_plan_answer, is_reachable(it) ? &it->plan.total_ns : NULL)
FIND(half_width, etp_plan_step, etp_plan_answer, is_reachable(it) ? &it->plan.half_width_rel : NULL)
FIND(mde, etp_plan_step, etp_plan_answer, is_reachable(it) ? &it->plan.mde_rel : NULL)

#define OF etp_plan_step
static const etp_field k_step_rows[] = {
    FIELD("precision", RATIO, precision, "wanted half-width of the ratio's interval, relative",
          .flags = ETP_SET),
    FIELD("blocks", UINT, plan.blocks,
          "with which 80 % of sessions reach the precision; null: out of reach", .flags = ETP_MOST,
          .range = ETP_FROM_1),
    FIELD("blocks_lo", UINT, plan.blocks_lo,
          "lower end of the range that holds the blocks really needed in 80 % of plans",
          .flags = ETP_MOST | ETP_LATER, .range = ETP_FROM_1),
    FIELD("blocks_hi", UINT, plan.blocks_hi, "upper end of that range; null: out of reach",
          .flags = ETP_MOST | ETP_LATER, .range = ETP_FROM_1),
    FIELD("iterations", UINT, plan.iterations, "of each launch"),
    MADE("total_ns", ROUNDED, total_ns, "the whole session takes", .when = is_known_total),
    MADE("half_width", RATIO, half_width, "expected of those blocks, relative"),
    MADE("mde", RATIO, mde, "smallest difference that is found in 80 % of sessions, relative"),
};
static SHAPE_ON_ONE_LINE(k_step, k_step_rows);
#undef OF
#define OF etp_plan_comparison
static const etp_field k_pilot_rows[] = {
    FIELD("blocks", UINT, pilot.blocks, "complete ones"),
    FIELD("launches", UINT, launches,
          "that tell how much launches differ: timed, control and traced ones as far as they "
          "scatter alike",
          .flags = ETP_LATER),
    FIELD("df", RATIO, wanted.plan.df,
          "degrees of freedom of the variance that the plan is made from", .flags = ETP_LATER),
    FIELD("iterations", RATIO, pilot.iterations, "of a launch, mean"),
    FIELD("half_width", RATIO, half_width_rel, "reached by those blocks, relative"),
    MADE("within_sd", RATIO, within_sd, "of the logarithms of a launch's iterations"),
    MADE("between_sd", RATIO, between_sd, "of a block's log ratio that more iterations leave"),
    FIELD("launch_ns", ROUNDED, pilot.launch_ns, "a launch costs besides its iterations",
          .flags = ETP_SET),
    FIELD("iteration_ns", ROUNDED, pilot.iteration_ns, "mean over the arms", .flags = ETP_SET),
};
static SHAPE_ON_ONE_LINE(k_pilot, k_pilot_rows);
static const etp_field k_comparison_rows[] = {
    MADE("baseline", STR, baseline_name, "an experiment", .flags = ETP_SET),
    MADE("candidate", STR, candidate_name, "another", .flags = ETP_SET),
    GROUP("pilot", &k_pilot, "what was measured already"),
    FIELD("plan", OBJECT, wanted, "for the wanted precision", .shape = &k_step),
    ARRAY("steps", OBJECT, steps, n_steps, "for 5 % down to 0.1 %", .shape = &k_step),
};
static SHAPE(k_comparison, k_comparison_rows);
#undef OF
#define OF etp_plan_answer
static const etp_field k_rows[] = {
    FIELD("phase", TEXT, phase, "of the session that this is about; absent without phases",
          .flags = ETP_ABSENT),
    FIELD("launch_known", BOOL, launch_known, "else the cost of a launch is an assumption"),
    LIST("comparisons", OBJECT, comparisons, n_comparisons, "with two complete blocks",
         .shape = &k_comparison),
};
static SHAPE(k_plan, k_rows);
#undef OF
const etp_document k_etp_plan_document = {"etprof.plan/1", "What plan prints", &k_plan};

void etp_plan_json(const void *answer, etp_json *j)
{
    etp_document_write(j, &k_etp_plan_document, answer, answer);
}

// ---- report ----

static const char *duration_text(double ns, char buf[static ETP_NUMBER_CHARS])
{
    double s = ns / 1e9;
    if (s < 120) {
        (void)snprintf(buf, ETP_NUMBER_CHARS, "%.*f s", s < 10 ? 1 : 0, s);
    } else if (s < 7200) {
        (void)snprintf(buf, ETP_NUMBER_CHARS, "%.0f min", s / 60);
    } else if (s < 172800) {
        (void)snprintf(buf, ETP_NUMBER_CHARS, "%.1f h", s / 3600);
    } else {
        (void)snprintf(buf, ETP_NUMBER_CHARS, "%.1f days", s / 86400);
    }
    return buf;
}

// "12 min (8.0 min to 20 min)"
static const char *range_text(const etp_plan *p, etp_arena *arena)
{
    char time[ETP_NUMBER_CHARS], lo[ETP_NUMBER_CHARS], hi[ETP_NUMBER_CHARS];
    const char *text = NULL;
    (void)duration_text(p->total_ns, time);
    // There is no upper end that etp_plan_make would still call a plan.
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
    etp_report_text(r, "%.*s against %.*s: %u blocks so far give ±%s %%.",
                    ETP_STR_ARG(a->called[c->candidate]), ETP_STR_ARG(a->called[c->baseline]),
                    (unsigned)c->pilot.blocks, ETP_DIGITS(100 * c->half_width_rel, 2));
    if (c->wanted.plan.blocks == UINT32_MAX) {
        etp_report_note(r, ETP_WARN, "±%s %% is out of reach: launches differ too much here",
                        ETP_DIGITS(100 * a->precision, 6));
        return;
    }
    etp_report_note(r, ETP_INFO,
                    "±%s %% needs %u blocks of %u iterations, about %s: %.0f %% of such sessions "
                    "reach it. A difference of %s %% is then found in 80 %% of sessions",
                    ETP_DIGITS(100 * a->precision, 6), (unsigned)c->wanted.plan.blocks,
                    (unsigned)c->wanted.plan.iterations, range_text(&c->wanted.plan, arena),
                    100 * ETP_PLAN_SURE, ETP_DIGITS(100 * c->wanted.plan.mde_rel, 2));
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
    etp_table *t = etp_report_table(r, id, NULL, k_columns, sizeof k_columns / sizeof *k_columns);
    for (size_t k = 0; k < ETP_PLAN_STEPS; k++) {
        const etp_plan *p = &c->steps[k].plan;
        if (p->blocks == UINT32_MAX) {
            ETP_ROW(t, etp_cell_double(c->steps[k].precision), etp_cell_missing(),
                    etp_cell_u64(p->iterations), etp_cell_missing(), etp_cell_missing());
            continue;
        }
        ETP_ROW(t, etp_cell_double(c->steps[k].precision), etp_cell_u64(p->blocks),
                etp_cell_u64(p->iterations), etp_cell_z(range_text(p, arena)),
                etp_cell_double(p->mde_rel));
    }
}

const etp_report *etp_plan_report(const etp_plan_answer *a, etp_arena *arena)
{
    etp_report *r = etp_report_create(arena, "plan of a measurement");
    const char *phase = etp_sample_phase_words(a->phase, a->phases, arena);
    etp_report_subtitle(r, "%s%s", a->source, phase ? phase : "");
    etp_report_section(r, 1, "plan", "Plan");
    for (size_t i = 0; i < a->n_comparisons; i++) {
        const etp_plan_comparison *c = &a->comparisons[i];
        char launch[ETP_NUMBER_CHARS];
        add_sentence(a, c, r, arena);
        etp_report_text(
            r,
            "Launches differ by %s %%, iterations inside one by %s %%; a launch costs "
            "%s besides its iterations of %s. %u launches tell it (%.0f degrees of freedom); "
            "what is really needed lies within the brackets in 80 %% of plans.",
            // The variance is of a ratio, which has that of two launches: one has half of it.
            ETP_DIGITS(100 * sqrt(c->wanted.plan.between_var / 2), 2),
            ETP_DIGITS(100 * sqrt(c->pilot.within_var), 2),
            duration_text(c->pilot.launch_ns, launch), ETP_NS(c->pilot.iteration_ns),
            (unsigned)c->launches, c->wanted.plan.df);
        add_steps(c, i, r, arena);
    }
    if (!a->launch_known) {
        etp_report_note(
            r, ETP_INFO,
            "the cost of a launch is an assumption (--launch-cost SECONDS); run folders "
            "know theirs");
    }
    // Comparisons share their launches: what holds of the first holds of all. Of χ² with 2 degrees
    // of freedom the middle 80 % spans a factor of 22.
    if (a->comparisons[0].wanted.plan.df < 3) {
        etp_report_note(
            r, ETP_WARN,
            "planned from %u launches: how much they differ is hardly known yet, the time may be "
            "off by a factor of two and more",
            (unsigned)a->comparisons[0].launches);
    }
    return r;
}
