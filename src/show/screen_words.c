// SPDX-License-Identifier: Apache-2.0
// What screens and reports say alike: times in one unit, causes in two words, why there is no
// verdict.
#include <math.h>

#include "base/number.h"
#include "compare/phases.h"
#include "document/document.h"
#include "show/report.h"
#include "show/screen.h"

etp_severity etp_ab_severity_of(etp_finding_severity s)
{
    static const etp_severity k_severity[] = {ETP_INFO, ETP_GOOD, ETP_WARN, ETP_BAD};
    return k_severity[s];
}

// In the order of etp_verdict: unknown, faster, slower, same.
etp_severity etp_ab_severity_of_verdict(etp_verdict v)
{
    static const etp_severity k_severity[] = {ETP_WARN, ETP_GOOD, ETP_BAD, ETP_INFO};
    return k_severity[v];
}

// Not etp_format_ns, which chooses a unit for each time by itself: figures of a table are compared
// by eye and added. Four digits of the largest, so that a small part still shows its first.
// COMMON: ns of the unit that others beside it have; 0: its own.
etp_screen_unit etp_screen_unit_among(double largest_ns, double common)
{
    static const etp_screen_unit k_units[] = {
        {1e9, 3, "s"  },
        {1e6, 3, "ms" },
        {1e3, 3, "µs"}
    };
    double by = common > 0 ? common : largest_ns;
    size_t i = 0;
    while (i < 2 && !(by >= k_units[i].ns)) {
        i++;
    }
    etp_screen_unit u = k_units[i];
    double v = largest_ns / u.ns;
    u.decimals -= (v >= 10) + (v >= 100);
    return u;
}

const char *etp_screen_in_unit(const etp_screen_unit *u, double ns, etp_arena *arena)
{
    char buf[ETP_NUMBER_CHARS];
    const char *change = etp_format_change(ns / u->ns, u->decimals, buf);
    return etp_arena_printf(arena, "%s", change + (*change == '+'));
}

const char *etp_screen_from_to(double from, double to, double common, const char *what,
                               etp_arena *arena)
{
    etp_screen_unit u = etp_screen_unit_among(fmax(from, to), common);
    const char *x = etp_screen_in_unit(&u, from, arena), *y = etp_screen_in_unit(&u, to, arena);
    return x && y ? etp_arena_printf(arena, "%s → %s %s%s", x, y, u.name, what) : NULL;
}

// "noise ±0.4 %; the effect is above it": the one figure that decides whether to believe the other.
const char *etp_screen_noise(const etp_ab *ab, etp_arena *arena)
{
    size_t given = 0, inside = 0;
    const etp_ab_comparison *known = NULL;
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        const etp_ab_comparison *c = &ab->comparisons[i];
        if (!isfinite(c->noise_floor)) {
            continue;
        }
        known = ETP_OR(known, c);
        bool known_effect = isfinite(c->estimate);
        given += known_effect;
        inside += known_effect && fabs(log(c->estimate)) <= etp_interval_reach(&c->control);
    }
    if (!known) {
        return NULL;
    }
    // The bounds of a control this wide are figures without meaning.
    const char *noise = etp_control_is_wide(&known->control)
                            ? "noise above 2×"
                            : etp_arena_printf(arena, "noise ±%.1f %%",
                                               100 * expm1(etp_interval_reach(&known->control)));
    // Of several phases this is the first's noise, and the effects are each beside its own.
    if (given == 0 || ab->n_phases > 1 || (given > 1 && inside == 0)) {
        return noise;
    }
    if (given > 1) {
        return etp_arena_printf(arena, "%s; %zu of %zu inside", noise, inside, given);
    }
    return etp_arena_printf(arena, "%s; the effect is %s it", noise, inside ? "inside" : "above");
}

static const char *cause_words(etp_cause cause, etp_cause_state state)
{
    // By state: not known, ruled out, suspect.
    static const char *const k_words[ETP_CAUSE_COUNT][ETP_CAUSE_STATES] = {
        [ETP_CAUSE_THERMAL] = {"temperature not readable", "no throttling",     "it throttled"           },
        [ETP_CAUSE_CONTENTION] = {"other programs not known", "no wait for a CPU",
                               "other programs ran"                                                      },
        [ETP_CAUSE_TRACER] = {NULL,                       NULL,                "recording slows it much"},
        [ETP_CAUSE_THREADS] = {NULL,                       NULL,                "thread counts differ"   },
        [ETP_CAUSE_BUILDS] = {NULL,                       NULL,                "different binaries"     },
    };
    return k_words[cause][state];
}

static etp_severity severity_of_cause(etp_cause_state state)
{
    static const etp_severity k_severity[ETP_CAUSE_STATES] = {ETP_PLAIN, ETP_GOOD, ETP_WARN};
    return k_severity[state];
}

void etp_screen_open_questions(const etp_ab *ab, unsigned *said, etp_screen *s)
{
    for (size_t i = 0; i < ab->n_comparisons; i++) {
        unsigned bit = 1u << ab->comparisons[i].withheld;
        if (ab->comparisons[i].withheld && !(*said & bit)) {
            etp_screen_remark(s, ETP_WARN, etp_ab_withheld_text(ab->comparisons[i].withheld));
            *said |= bit;
        }
    }
    const char *crowded = etp_ab_crowded(ab);
    if (crowded && !(*said & 1u << ETP_WITHHELD_CROWDED)) {
        etp_screen_remark(s, ETP_WARN,
                          etp_arena_printf(ab->arena, "%s: they waited for CPU time", crowded));
        *said |= 1u << ETP_WITHHELD_CROWDED;
    }
    for (size_t i = 0; ab->n_arms == 1 && i < ab->judged.findings.n; i++) {
        const etp_ab_finding *f = &ab->judged.findings.items[i];
        if (f->kind == ETP_FINDING_CONTENTION) {
            etp_screen_remark(s, etp_ab_severity_of(f->severity),
                              etp_arena_printf(ab->arena, "%s%s%s", ETP_OR(ab->phase, ""),
                                               etp_if(ab->phase, ": "), f->text));
        }
    }
}

// Of a session of several phases the gravest: what was quiet in one of them may not have been.
static etp_cause_state state_of(const etp_ab *ab, etp_cause cause)
{
    size_t n[ETP_CAUSE_STATES] = {0};
    for (size_t p = 0; p < etp_ab_answers(ab); p++) {
        const etp_ab *of = etp_ab_answer_at(ab, p);
        for (size_t i = 0; i < of->judged.n_causes; i++) {
            n[of->judged.causes[i].state] += of->judged.causes[i].cause == cause;
        }
    }
    if (n[ETP_CAUSE_SUSPECT]) {
        return ETP_CAUSE_SUSPECT;
    }
    return n[ETP_CAUSE_UNKNOWN] ? ETP_CAUSE_UNKNOWN : ETP_CAUSE_RULED_OUT;
}

// Other programs had the CPU in one of its phases, or in all there is.
static bool disturbed(const etp_ab *ab)
{
    for (size_t p = 0; p < etp_ab_answers(ab); p++) {
        const etp_ab_findings *f = &etp_ab_answer_at(ab, p)->judged.findings;
        for (size_t i = 0; i < f->n; i++) {
            if (f->items[i].kind == ETP_FINDING_CONTENTION) {
                return true;
            }
        }
    }
    return false;
}

void etp_screen_mark_noise(const etp_ab *ab, etp_screen *s, etp_arena *arena)
{
    const char *text = ab->bare || ab->emulated ? NULL : etp_screen_noise(ab, arena);
    if (text) {
        etp_screen_trust(s, severity_of_cause(state_of(ab, ETP_CAUSE_DRIFT)), text);
    }
}

// A word for each cause that a reader would ask about; what was ruled out and nobody would suspect
// is left to --full.
void etp_screen_mark_causes(const etp_ab *ab, etp_screen *s, etp_arena *arena)
{
    for (size_t i = 0; i < ab->judged.n_causes && !ab->bare && !ab->emulated; i++) {
        const etp_ab_cause *c = &ab->judged.causes[i];
        const etp_cause_state state = state_of(ab, c->cause);
        const char *text = cause_words(c->cause, state);
        if (c->cause == ETP_CAUSE_CONTENTION && etp_ab_crowded(ab)) {
            text = etp_ab_crowded(ab);
        }
        if (text && c->cause == ETP_CAUSE_TRACER) {
            double adds = etp_ab_recording_adds(ab);
            text = etp_arena_printf(arena, "recording %s %.0f %%", adds < 0 ? "saves" : "adds",
                                    fabs(100 * adds));
        }
        if (text) {
            etp_screen_trust(s, severity_of_cause(state), text);
        }
    }
    // Of one arm no causes of a difference are asked; of its time others can have a part.
    if (ab->n_arms == 1 && disturbed(ab)) {
        etp_screen_trust(s, ETP_WARN, cause_words(ETP_CAUSE_CONTENTION, ETP_CAUSE_SUSPECT));
    }
    const uint64_t clock_ns = ab->phase ? ab->phased->clock_ns : 0;
    if (clock_ns > 0) { // of a runner of others
        etp_screen_trust(s, ETP_PLAIN,
                         etp_arena_printf(arena, "clock ±%s a call", ETP_NS((double)clock_ns)));
    }
    if (ab->bare) {
        etp_screen_trust(s, ETP_PLAIN, "recordings alone");
    }
}

// Sampling tells what names do not: say how it is had where a session went without it.
bool etp_ab_level_is_shared(const etp_ab *ab, uint32_t arm)
{
    bool shared = false;
    for (uint32_t i = 0; i < ab->n_arms; i++) {
        shared = shared || (i != arm && ab->arms[i].level == ab->arms[arm].level);
    }
    return shared;
}

const char *etp_ab_code_seen(const etp_ab_arm *a)
{
    if (!a->kernels || etp_kernels_too_few(a->kernels, HUGE_VAL) || a->kernels->evidence == 0) {
        return NULL;
    }
    const etp_code most = etp_kernels_most(a->kernels, ~(etp_codes)0);
    return most == ETP_CODE_UNKNOWN ? NULL : etp_code_title(most);
}

const char *etp_ab_unproven(const etp_ab *ab, const etp_ab_arm *a)
{
    const etp_ab_engagement *e = &ab->engagement;
    static const char *const k_why[ETP_SAMPLES_ENDS] = {
        [ETP_SAMPLES_PART] = "not sampled, as --kernels always does",
        [ETP_SAMPLES_BLOCKS] = "not sampled, as --kernels always does",
        [ETP_SAMPLES_OFF] = "--kernels never",
        [ETP_SAMPLES_UNTRACED] = "--no-trace",
    };
    if (a->kernels && etp_kernels_too_few(a->kernels, HUGE_VAL)) {
        return "too few samples";
    }
    if (a->kernels && a->kernels->evidence > 0) {
        const etp_level_info *info = etp_level_get(a->level);
        const char *seen = etp_ab_code_seen(a);
        const bool own =
            etp_kernels_most(a->kernels, etp_kernels_classes(a->level, ETP_LEVEL_NONE)) !=
            ETP_CODE_UNKNOWN;
        // Code above a hidden feature may use it too: of such an arm they do not tell.
        return !info || own || !seen || etp_level_hides_one(a->level)
                   ? "samples do not tell"
                   : etp_arena_printf(ab->arena, "samples show %s, no %s", seen, info->word);
    }
    const char *why = e->sampled ? "this arm was not sampled" : k_why[e->sampling];
    return ETP_OR(why, "names do not show it");
}

const etp_ab_comparison *const *etp_ab_all_comparisons(const etp_ab *ab, etp_arena *arena,
                                                       size_t *out_n)
{
    const size_t more = ab->n_within;
    size_t n = 0;
    const etp_ab_comparison **out =
        ETP_NEW_ARRAY(arena, const etp_ab_comparison *, ab->n_comparisons + more + 1);
    for (int pass = 0; out && pass < 2; pass++) {
        for (size_t i = 0; i < ab->n_comparisons; i++) {
            bool now = more == 0 || etp_ab_is_within(ab, &ab->comparisons[i]) == (pass == 0);
            if (now && (more > 0 || pass == 0)) {
                out[n++] = &ab->comparisons[i];
            }
        }
        for (size_t i = 0; i < more && pass == 0; i++) {
            out[n++] = &ab->within[i];
        }
    }
    *out_n = n;
    return out;
}

const char *etp_ab_pair_of_table(const etp_ab *ab, etp_arena *arena)
{
    const etp_ab_comparison *c = &ab->comparisons[0];
    return ab->n_comparisons > 1
               ? etp_arena_printf(arena, "%s to %s", ab->arms[c->baseline].measured,
                                  ab->arms[c->candidate].measured)
               : NULL;
}
