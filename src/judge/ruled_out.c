// SPDX-License-Identifier: Apache-2.0
// What else could have made the difference: heat, drift, other programs, the tracer, threads,
// builds, wrong outputs. Each is ruled out only by data that could have shown it; what is not
// readable stays open and says so.
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "document/document.h"
#include "judge/judge.h"

#define SMALL_SHARE 0.25  // of an effect (ln): what is below cannot have made it
#define CLOCK_FALL 0.03   // of the clock, first to last third of the blocks
#define CAP_FALL 0.01     // of the clocks that the system allows
#define HOT_CELSIUS 90.0  // where processors throttle
#define COOL_CELSIUS 70.0 // where none does

// A cause is ruled out only by data that could have shown it, so "unknown" is the answer wherever a
// figure is missing.
typedef struct verdict {
    etp_cause_state state;
    const char *text;
} verdict;

#define SAY(s, state, ...) ((verdict){(state), etp_arena_printf((s)->ab.arena, __VA_ARGS__)})

// ---- heat ----

typedef struct thermal_record {
    size_t temperatures, clocks; // moments that could be read
    double first_c, hottest_c;
    double first_khz, last_khz;               // means over the first and last third of the blocks
    uint64_t highest_cap_khz, lowest_cap_khz; // 0: the limits of the clocks are not known
    uint64_t worst_status;                    // of Android; 0 none or not known
    bool has_status;
    uint32_t block; // the first that was throttled, 0 none
} thermal_record;

// What the system itself says about slowing down: limits of the clocks, and Android's status.
static void read_throttling(const etp_run *run, thermal_record *w)
{
    for (size_t i = 0; i < run->blocks.n; i++) {
        const etp_run_block *b = &run->blocks.items[i];
        const etp_run_moment moments[] = {b->start, b->end};
        for (int k = 0; k < 2; k++) {
            uint64_t cap = moments[k].freq_cap_khz, status = moments[k].thermal_status;
            if (cap != UINT64_MAX && cap > 0) {
                w->highest_cap_khz = ETP_MAX(cap, w->highest_cap_khz);
                bool lower = w->lowest_cap_khz == 0 || cap < w->lowest_cap_khz;
                w->lowest_cap_khz = lower ? cap : w->lowest_cap_khz;
            }
            w->has_status = w->has_status || status != UINT64_MAX;
            if (status != UINT64_MAX && status > w->worst_status) {
                w->worst_status = status;
            }
            // The highest limit so far stands for what the device allows when it is cool: limits
            // before it was reached are not known to be lowered.
            bool slow =
                (status != UINT64_MAX && status > 0) ||
                (cap != UINT64_MAX && (double)cap < (1 - CAP_FALL) * (double)w->highest_cap_khz);
            w->block = slow && w->block == 0 ? b->block : w->block;
        }
    }
}

static void read_temperatures(const etp_run *run, thermal_record *w)
{
    // The first third against the last: single blocks scatter.
    size_t n = run->blocks.n, third = ETP_MAX(n / 3, 1), early = 0, late = 0;
    *w = (thermal_record){.first_c = NAN, .hottest_c = NAN};
    for (size_t i = 0; i < n; i++) {
        const etp_run_moment moments[] = {run->blocks.items[i].start, run->blocks.items[i].end};
        for (int k = 0; k < 2; k++) {
            double c = moments[k].temperature_c, khz = (double)moments[k].freq_max_khz;
            if (isfinite(c)) {
                w->first_c = w->temperatures++ ? w->first_c : c;
                w->hottest_c = fmax(w->hottest_c, c); // of a NAN and a number: the number
            }
            if (moments[k].freq_max_khz == UINT64_MAX || moments[k].freq_max_khz == 0) {
                continue;
            }
            w->clocks++;
            w->first_khz += i < third ? khz : 0;
            w->last_khz += i >= n - third ? khz : 0;
            early += i < third;
            late += i >= n - third;
        }
    }
    w->first_khz = etp_share(w->first_khz, (double)early);
    w->last_khz = etp_share(w->last_khz, (double)late);
}

// In the order of how directly the system says it: its own thermal status, limits that it lowered,
// a clock that fell, a temperature. The first that holds is told.
static verdict thermal(const etp_ab_session *s)
{
    thermal_record w;
    if (!s->has_run) {
        return SAY(s, ETP_CAUSE_UNKNOWN,
                   "thermal (dumps alone: no record of temperature and clock)");
    }
    read_temperatures(&s->run, &w);
    read_throttling(&s->run, &w);
    double fall = 1 - w.last_khz / w.first_khz; // NAN: not readable
    const char *celsius =
        w.temperatures ? etp_arena_printf(s->ab.arena, ", hottest zone %.0f → at most %.0f °C",
                                          w.first_c, w.hottest_c)
                       : ", temperature not readable here";
    if (w.worst_status > 0) {
        return SAY(s, ETP_CAUSE_SUSPECT,
                   "thermal (the device throttled, first in block %u: thermal status up to %llu%s)",
                   w.block, (unsigned long long)w.worst_status, celsius);
    }
    if (w.block > 0) {
        return SAY(s, ETP_CAUSE_SUSPECT,
                   "thermal (the system lowered its clock limits by up to %.1f %%, first "
                   "in block %u%s)",
                   100 * (1 - (double)w.lowest_cap_khz / (double)w.highest_cap_khz), w.block,
                   celsius);
    }
    if (fall > CLOCK_FALL) {
        return SAY(s, ETP_CAUSE_SUSPECT, "thermal (the clock fell by %.1f %% over the session%s)",
                   100 * fall, celsius);
    }
    if (w.hottest_c >= HOT_CELSIUS) {
        return SAY(s, ETP_CAUSE_SUSPECT, "thermal (the hottest zone reached %.0f °C)", w.hottest_c);
    }
    // Below 90 °C a clock that was read and did not fall rules heat out: heat costs time only
    // through the clock.
    if (isfinite(fall)) {
        return SAY(s, ETP_CAUSE_RULED_OUT, "thermal (clock %s %% over the session%s)",
                   ETP_CHANGE(0 - 100 * fall, 1), celsius);
    }
    if (w.temperatures == 0) {
        return SAY(s, ETP_CAUSE_UNKNOWN, "thermal (temperature and clock are not readable here)");
    }
    return SAY(s, w.hottest_c < COOL_CELSIUS ? ETP_CAUSE_RULED_OUT : ETP_CAUSE_UNKNOWN,
               "thermal (hottest zone %.0f → at most %.0f °C, clock not readable here)", w.first_c,
               w.hottest_c);
}

// ---- drift and other programs ----

// The A/A control speaks against drift only as far as it is finer than what was found: an interval
// that reaches to 20 % rules nothing out beside an effect of 30 %. Its farther end counts.
static verdict drift(const etp_ab_session *s)
{
    etp_interval control =
        s->has_stats ? s->stats.control : (etp_interval){(double)NAN, (double)NAN, (double)NAN};
    double reach = etp_interval_reach(&control);
    const char *text = isfinite(reach) ? etp_control_text(s->ab.arena, &control) : "";
    if (s->has_stats && s->stats.control_differs) {
        return SAY(s, ETP_CAUSE_SUSPECT,
                   "drift of the machine (two equal arms differed: A/A control %s)", text);
    }
    if (!isfinite(reach) || s->ab.emulated) {
        return SAY(s, ETP_CAUSE_UNKNOWN, "drift of the machine (no A/A control)");
    }
    bool fine = s->ab.n_comparisons > 0, given = false, wide = false;
    for (size_t i = 0; i < s->ab.n_comparisons; i++) {
        const etp_ab_comparison *c = &s->ab.comparisons[i];
        bool told = etp_ab_told(&s->ab, i);
        // Every comparison of the answer, because the sentence is about all of them.
        bool small =
            reach <= log1p(c->margin) || (told && reach <= SMALL_SHARE * fabs(log(c->estimate)));
        fine = fine && small;
        given = given || told;
        wide = wide || (told && !small);
    }
    const char *why = given ? ": one comparison has no effect to compare it with"
                            : ": there is no effect to compare it with";
    why = wide ? ": too wide beside the effect" : why;
    const char *drifts = "";
    for (size_t i = 0; i < s->ab.n_arms; i++) {
        if (s->stats.arms[i].flags & ETP_FLAG_DRIFT) {
            drifts = "; an arm drifts, which pairs of blocks cancel";
        }
    }
    return SAY(s, fine ? ETP_CAUSE_RULED_OUT : ETP_CAUSE_UNKNOWN,
               "drift of the machine (A/A control %s%s%s)", text, etp_if(!fine, why), drifts);
}

// As the system counts it, from the start of a process to its end: of runners of others, too.
static double waited_of_launches(const etp_run *run)
{
    etp_run_wait waited = {0};
    for (size_t i = 0; i < run->launches.n; i++) {
        if (run->launches.items[i].kind == ETP_LAUNCH_TIMED) {
            etp_run_wait_add(&waited, &run->launches.items[i]);
        }
    }
    return etp_run_wait_share(&waited);
}

// While the inferences ran, those of the arm that waited most.
static double waited_while_timed(const etp_ab_session *s)
{
    const double *waited = s->has_run ? etp_ab_waited_of(&s->run, s->ab.arena) : NULL;
    double most = (double)NAN;
    for (size_t i = 0; waited && i < s->ab.n_arms; i++) {
        most = fmax(most, waited[i]);
    }
    return most;
}

// Only timed launches make the headline; what the others waited is not its matter.
static verdict contention(const etp_ab_session *s)
{
    const etp_ab *ab = &s->ab;
    double most = (double)NAN;
    bool disagree = false;
    const char *crowded = etp_ab_crowded(ab);
    if (crowded) {
        return SAY(s, ETP_CAUSE_SUSPECT, "more threads than CPUs allowed (%s)", crowded);
    }
    uint32_t threads = 1;
    for (size_t i = 0; i < ab->n_arms; i++) {
        most = fmax(most, ab->arms[i].waited); // passes over a NAN
        threads = ab->arms[i].waited >= most ? ab->arms[i].threads : threads;
    }
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        disagree = disagree || ab->comparisons[i].contention == ETP_CONTENTION_CLOCKS;
    }
    if (disagree) {
        return SAY(s, ETP_CAUSE_SUSPECT,
                   "other programs (CPU time and the clock give different ratios)");
    }
    const double launches = waited_while_timed(s);
    most = isfinite(most) ? most : waited_of_launches(&s->run);
    if (!isfinite(most)) {
        return SAY(s, ETP_CAUSE_UNKNOWN,
                   "other programs (time without a CPU is not readable here)");
    }
    if (launches > ETP_WAIT_MOST && most <= ETP_WAIT_MUCH) { // few inferences were cut, for long
        return SAY(s, ETP_CAUSE_SUSPECT,
                   "other programs (launches waited for a CPU for up to %.0f %% "
                   "of their time; the inferences that count for up to %.1f %%)",
                   100 * launches, 100 * most);
    }
    return SAY(s, most > ETP_WAIT_MUCH ? ETP_CAUSE_SUSPECT : ETP_CAUSE_RULED_OUT,
               "other programs (inferences waited for a CPU for up to %.1f %% of "
               "their time%s)",
               100 * most, etp_if(threads > 1, ", the waits of all threads added"));
}

// ---- the rest ----

// Traced against untraced, medians of iterations paired by block: what the tracer costs each arm.
static verdict tracer(const etp_ab_session *s)
{
    const etp_ab *ab = &s->ab;
    double adds = etp_ab_recording_adds(ab);
    size_t there = 0, known = 0;
    for (size_t i = 0; i < ab->n_arms; i++) {
        there += ab->arms[i].tracing_overhead.blocks > 0;
        known += etp_ab_recording_known(&ab->arms[i].tracing_overhead);
    }
    if (there < ab->n_arms || ab->emulated) {
        return SAY(s, ETP_CAUSE_UNKNOWN, "tracer (an arm lacks traced or untraced launches)");
    }
    // One such arm is enough: the breakdown compares arms, and a tracer that slows one of them down
    // more bends every row.
    bool small = !(fabs(adds) > ETP_RECORDING_MUCH);
    if (small && known < ab->n_arms) {
        return SAY(s, ETP_CAUSE_UNKNOWN,
                   "tracer (launches with and without recording differ from block to block)");
    }
    const char *percent = ETP_CHANGE(100 * adds, 1);
    if (small) {
        return SAY(s, ETP_CAUSE_RULED_OUT,
                   "tracer (recording adds %s %% where it adds most, and not in the headline)",
                   percent);
    }
    const char *then = adds < ETP_RECORDING_MOST
                           ? "; the breakdown is of the traced ones"
                           : ": most of them is recording, and the breakdown does not say where an "
                             "untraced one's time goes";
    return SAY(s, ETP_CAUSE_SUSPECT,
               "tracer (traced inferences take %s %% against untraced ones%s)", percent, then);
}

static verdict threads(const etp_ab_session *s)
{
    const etp_ab *ab = &s->ab;
    bool same = true, known = !ab->bare;
    for (size_t i = 0; i < ab->n_arms; i++) {
        same = same && ab->arms[i].threads == ab->arms[0].threads;
        known = known && ab->arms[i].threads > 0;
    }
    if (!known) {
        return SAY(s, ETP_CAUSE_UNKNOWN, "threads (not recorded)");
    }
    return SAY(s, same ? ETP_CAUSE_RULED_OUT : ETP_CAUSE_SUSPECT, "%s",
               same
                   ? etp_arena_printf(s->ab.arena, "threads (%u in every arm)", ab->arms[0].threads)
                   : "threads (the arms ran with different numbers of them)");
}

static verdict builds(const etp_ab_session *s)
{
    const etp_ab *ab = &s->ab;
    bool same = true;
    for (size_t i = 0; i < ab->n_arms; i++) {
        const char *a = ab->arms[0].runner_sha256, *b = ab->arms[i].runner_sha256;
        if (!a || !b) {
            return SAY(s, ETP_CAUSE_UNKNOWN, "different binaries (not recorded)");
        }
        same = same && strcmp(a, b) == 0;
    }
    return SAY(s, same ? ETP_CAUSE_RULED_OUT : ETP_CAUSE_SUSPECT, "%s",
               same ? "different binaries (one runner, same SHA-256)"
                    : "different binaries (the arms ran different runners)");
}

static verdict outputs(const etp_ab_session *s)
{
    const char *mute = etp_ab_outputs_mute(&s->ab.correctness);
    for (size_t i = 0; s->ab.correctness.ok == 1 && i < s->ab.n_arms; i++) {
        if (s->ab.arms[i].expected.ok == 0) {
            return SAY(s, ETP_CAUSE_SUSPECT,
                       "wrong outputs (the arms agree, but not with what their inputs expect)");
        }
    }
    switch (s->ab.correctness.ok) {
    case 1:
        return etp_ab_programs_apart(&s->ab)
                   ? SAY(s, ETP_CAUSE_UNKNOWN,
                         "wrong outputs (those of each program's arms agree; "
                         "programs are not compared with each other)")
                   : SAY(s, ETP_CAUSE_RULED_OUT, "wrong outputs (those of all arms agree)");
    case 0:
        return SAY(s, ETP_CAUSE_SUSPECT, "wrong outputs (they differ beyond tolerance)");
    default:
        if (s->ab.correctness.random) {
            return SAY(s, ETP_CAUSE_UNKNOWN,
                       "wrong outputs (not compared: the program is not deterministic)");
        }
        return SAY(s, ETP_CAUSE_UNKNOWN, "%s",
                   mute ? etp_arena_printf(s->ab.arena, "wrong outputs (not compared, %s)", mute)
                        : "wrong outputs (not compared)");
    }
}

// ---- all of them ----

static const struct {
    verdict (*judge)(const etp_ab_session *s);
    etp_finding_kind finding; // ETP_FINDING_COUNT: the headline says it already
    const char *formula, *evidence;
} k_rules[ETP_CAUSE_COUNT] = {
    [ETP_CAUSE_THERMAL] =
        {thermal,    ETP_FINDING_THERMAL,
                             "suspect: a thermal status above 0, limits of the clocks more than 1 % below the "
         "session's highest, mean clock of the last third of the blocks more than 3 % below the "
         "first third's, or a zone at 90 °C; "
         "ruled out: the clock did not fall, or, where it is not readable, no zone reached 70 °C",   "environment.jsonl"},
    [ETP_CAUSE_DRIFT] = {drift,      ETP_FINDING_COUNT,
                             "ruled out: the farther end of the A/A control's interval (ln) is below "
                         "the margin or a quarter of each effect; "
                         "suspect: that interval lies outside the margin",                            "samples.csv"      },
    [ETP_CAUSE_CONTENTION] =
        {contention, ETP_FINDING_CONTENTION,
                             "1 − Σ CPU time ÷ Σ time of the inferences that count; suspect above 2 %, "
         "or where timed launches were ready without a CPU for 5 % of their time",                    "environment.jsonl"},
    [ETP_CAUSE_TRACER] = {tracer,     ETP_FINDING_TRACER,
                             "largest |traced ÷ untraced − 1| over the arms, medians of iterations "
                          "paired by block; suspect above 10 %",                                      "tracer"           },
    [ETP_CAUSE_THREADS] = {threads,    ETP_FINDING_COUNT,      "thread counts of the arms",
                             "manifest.json"                                                                             },
    [ETP_CAUSE_BUILDS] = {builds,     ETP_FINDING_COUNT,      "SHA-256 of the runner of each arm",
                             "manifest.json"                                                                             },
    [ETP_CAUSE_OUTPUTS] = {outputs,    ETP_FINDING_COUNT,
                             "outputs of all arms with the same model, element by element",           "outputs"          },
};

void etp_ab_weigh_causes(const etp_ab_session *s, etp_ab *out)
{
    const etp_ab *ab = &s->ab;
    if (ab->n_arms == 1 && ab->arms[0].waited > ETP_WAIT_MOST && !etp_ab_crowded(ab)) {
        ETP_FIND(&out->judged.findings, ETP_FINDING_CONTENTION, ETP_SEVERITY_WARN,
                 k_rules[ETP_CAUSE_CONTENTION].evidence,
                 "other programs had the CPU for %.0f %% of the time: "
                 "an inference alone may be faster; measure again when "
                 "the machine is quiet",
                 100 * ab->arms[0].waited);
    }
    for (int c = 0; c < ETP_CAUSE_COUNT && ab->n_comparisons > 0; c++) {
        verdict v = k_rules[c].judge(s);
        out->judged.causes[out->judged.n_causes++] =
            (etp_ab_cause){.cause = (etp_cause)c,
                           .state = v.state,
                           .text = v.text,
                           .formula = k_rules[c].formula,
                           .evidence = k_rules[c].evidence};
        // Under emulation no time means anything, so nothing can be suspected of having changed
        // one.
        if (v.state == ETP_CAUSE_SUSPECT && k_rules[c].finding != ETP_FINDING_COUNT &&
            !ab->emulated) {
            ETP_FIND(&out->judged.findings, k_rules[c].finding, ETP_SEVERITY_WARN,
                     k_rules[c].evidence, "suspect: %s", v.text);
        }
    }
}
