// SPDX-License-Identifier: Apache-2.0
// gate --against: no arm may have become slower than in an earlier measurement.
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "study/gate/members.h"

// NAN is a block that lacks the arm. Values are times; their logarithms make the shift a ratio.
static size_t launch_values(const etp_ab *ab, uint32_t arm, double *out)
{
    size_t n = 0;
    for (uint32_t b = 0; b < ab->n_blocks; b++) {
        double v = ab->block_values[(size_t)b * ab->n_arms + arm];
        if (isfinite(v) && v > 0) {
            out[n++] = log(v);
        }
    }
    return n;
}

static etp_ab_model model_of(const etp_ab *ab, uint32_t arm)
{
    const uint32_t model = ab->arms[arm].model;
    return model < ab->n_models ? ab->models[model] : (etp_ab_model){0};
}

// Launches of different sessions are no pairs: Hodges-Lehmann shift of the logarithms.
static etp_status against_arm(etp_gate *g, const etp_ab *ab, uint32_t arm, const etp_ab *old,
                              uint32_t old_arm, double margin, etp_error *err)
{
    double *now = ETP_NEW_ARRAY(g->arena, double, ab->n_blocks + 1);
    double *then = ETP_NEW_ARRAY(g->arena, double, old->n_blocks + 1);
    size_t n = launch_values(ab, arm, now), n_then = launch_values(old, old_arm, then);
    etp_unpaired u = {.shift = (double)NAN, .lo = (double)NAN, .hi = (double)NAN};
    // With fewer on either side the check is unknown, as a verdict is.
    if (n >= ETP_MIN_BLOCKS && n_then >= ETP_MIN_BLOCKS) {
        ETP_TRY(etp_unpaired_compare(now, n, then, n_then, ETP_CONFIDENCE, g->arena, &u, err));
    }
    double most = 1 + margin;
    // A program that was trained or exported again keeps its name; another model is named.
    const char *stem = model_of(ab, arm).stem, *of = model_of(old, old_arm).stem;
    of = etp_z_if(stem && of && strcmp(stem, of) != 0, of);
    etp_gate_figure f = {.value = exp(u.shift),
                         .lo = exp(u.lo),
                         .hi = exp(u.hi),
                         .unknown = etp_gate_arm_unknown(ab, arm, g->arena),
                         .settles = etp_ab_again_command(ab, g->arena)};
    if (!f.unknown && etp_gate_arm_unknown(old, old_arm, g->arena)) {
        f.unknown = etp_gate_arm_unknown(old, old_arm, g->arena);
        f.settles = etp_ab_again_command(old, g->arena);
    }
    if (f.unknown) { // a time that says nothing makes no ratio
        f.value = f.lo = f.hi = (double)NAN;
        f.settles = ETP_OR(f.settles, f.unknown);
    }
    etp_gate_check c = {.id = etp_arena_printf(g->arena, "against:%s", ab->arms[arm].name),
                        .expected = etp_arena_printf(g->arena, "at most +%s %% time%s%s",
                                                     ETP_DIGITS(100 * margin, 4),
                                                     etp_if(of, " of "), ETP_OR(of, "")),
                        .found = f.unknown ? etp_arena_printf(g->arena, "unknown (%s)", f.unknown)
                                           : etp_gate_change_words(g->arena, f.value, f.lo, f.hi),
                        .value = f.value,
                        .lo = f.lo,
                        .hi = f.hi,
                        .limit = most,
                        .state =
                            f.unknown ? ETP_GATE_UNKNOWN : etp_gate_judge(f.lo, f.hi, false, most)};
    if (c.state == ETP_GATE_NO) {
        c.fix = "etprof compare of the two folders says where the time went";
    } else if (c.state == ETP_GATE_UNKNOWN) {
        const etp_ab *few = isfinite(u.shift) || n < ETP_MIN_BLOCKS ? ab : old;
        c.fix = etp_gate_to_settle(g, few, &f, most);
    }
    etp_gate_add(g, c);
    return ETP_OK;
}

static uint32_t arm_named(const etp_ab *ab, const char *name)
{
    for (uint32_t i = 0; i < ab->n_arms; i++) {
        if (strcmp(ab->arms[i].name, name) == 0) {
            return i;
        }
    }
    return ETP_NO_INDEX;
}

// Those of A's level and number of threads; SHA256: of this program alone.
static size_t arms_like(const etp_ab *ab, const etp_ab_arm *a, const char *sha256, uint32_t *last)
{
    size_t n = 0;
    for (uint32_t i = 0; i < ab->n_arms; i++) {
        const char *own = model_of(ab, i).sha256;
        if (ab->arms[i].level == a->level && ab->arms[i].threads == a->threads &&
            (!sha256 || (own && strcmp(own, sha256) == 0))) {
            *last = i;
            n++;
        }
    }
    return n;
}

// The arm of OLD of the same name, which says model, level, threads and phase. Where arms are
// called otherwise, the one of that level and number of threads, of the same phase: of the same
// program where several have them.
static uint32_t counterpart(const etp_ab *ab, uint32_t arm, const etp_ab *old)
{
    const etp_ab_arm *a = &ab->arms[arm];
    const char *phase = ETP_OR(ab->phase, ""), *of = ETP_OR(old->phase, "");
    uint32_t found = arm_named(old, a->name), own;
    if (found != ETP_NO_INDEX || a->level == ETP_LEVEL_NONE || strcmp(phase, of) != 0) {
        return found;
    }
    const char *sha256 = NULL;
    bool only = arms_like(ab, a, NULL, &own) == 1 && arms_like(old, a, NULL, &found) == 1;
    if (!only) {
        sha256 = model_of(ab, arm).sha256;
        only =
            sha256 && arms_like(ab, a, sha256, &own) == 1 && arms_like(old, a, sha256, &found) == 1;
    }
    only = only && arm_named(ab, old->arms[found].name) == ETP_NO_INDEX;
    return only ? found : ETP_NO_INDEX;
}

etp_status etp_gate_against(etp_gate *g, const etp_ab *ab, const etp_ab *old, double margin,
                            etp_error *err)
{
    for (uint32_t i = 0; i < ab->n_arms; i++) {
        uint32_t k = counterpart(ab, i, old);
        if (k != ETP_NO_INDEX) {
            ETP_TRY(against_arm(g, ab, i, old, k, margin, err));
        }
    }
    return ETP_OK;
}
