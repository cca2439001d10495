// SPDX-License-Identifier: Apache-2.0
// What would settle an unknown answer: how many more blocks, and the command that measures them.
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/shell.h"
#include "compare/ab.h"

#define MORE_MOST 100u // what more would take is not foretold from few blocks

uint32_t etp_ab_blocks_to_tell(double estimate, double lo, double hi, uint32_t blocks, double limit)
{
    uint32_t least = blocks < ETP_MIN_BLOCKS ? ETP_MIN_BLOCKS - blocks : 2;
    double distance = fabs(log(estimate / limit));
    if (blocks < ETP_MIN_BLOCKS || !(lo > 0 && lo < hi && isfinite(hi)) || !isfinite(distance)) {
        return least; // where a verdict begins, and what is then known tells the rest
    }
    double sd = log(hi / lo) / 2 / log1p(etp_plan_half_width(1, blocks));
    uint32_t n = distance > 0 ? etp_plan_sequential(sd, expm1(distance)) : UINT32_MAX;
    uint32_t more = n > blocks ? n - blocks : least;
    if (more > MORE_MOST) {
        return MORE_MOST;
    }
    return ETP_MAX(least, more);
}

bool etp_ab_is_unfinished(const etp_ab *ab)
{
    return ab->state != ETP_RUN_NO_SESSION && ab->state != ETP_RUN_FINISHED;
}

// The folder to measure on in, also of two of its arms.
static const char *session_of(const etp_ab *ab)
{
    return ETP_OR(ab->dir, ab->both_of);
}

const char *etp_ab_extend_command(const etp_ab *ab, uint32_t more, etp_arena *arena)
{
    const char *dir = session_of(ab);
    if (!dir || ab->bare || ab->emulated) {
        return NULL;
    }
    const char *again = etp_shell_command(arena, "etprof ab --resume %s", dir);
    return again && ab->state == ETP_RUN_FINISHED
               ? etp_arena_printf(arena, "%s --blocks %u", again, more)
               : again;
}

const char *etp_ab_noise_words(const etp_ab_comparison *c, etp_arena *arena)
{
    double reach = etp_interval_reach(&c->control);
    bool decides = log(c->lo) > log1p(c->margin) || log(c->hi) < -log1p(c->margin) ||
                   (log(c->hi) <= log1p(c->margin) && log(c->lo) >= -log1p(c->margin));
    bool inside = decides && c->verdict == ETP_VERDICT_UNKNOWN && c->blocks >= ETP_MIN_BLOCKS &&
                  reach >= fabs(log(c->estimate));
    return inside ? etp_arena_printf(arena, "noise ±%s %%; the effect is inside it",
                                     ETP_DIGITS(100 * expm1(reach), 2))
                  : NULL;
}

const char *etp_ab_crowded(const etp_ab *ab)
{
    uint32_t most = 0;
    for (size_t i = 0; i < ab->n_arms; i++) {
        most = ETP_MAX(ab->arms[i].threads, most);
    }
    if (ab->bare || ab->emulated) {
        return NULL;
    }
    return etp_crowded_words(most, etp_str_from(etp_ab_fact_of(ab, "cpus")),
                             etp_str_from(etp_ab_fact_of(ab, "cpu_quota")), ab->arena);
}

uint32_t etp_ab_whole_cpus(const etp_ab *ab)
{
    double allowed = etp_cpus_allowed(etp_str_from(etp_ab_fact_of(ab, "cpus")),
                                      etp_str_from(etp_ab_fact_of(ab, "cpu_quota")));
    return allowed <= 4096 ? (uint32_t)allowed : 0;
}

const char *etp_ab_again_command(const etp_ab *ab, etp_arena *arena)
{
    if (etp_ab_crowded(ab)) {                  // neither blocks nor a quiet machine end that
        uint32_t cpus = etp_ab_whole_cpus(ab); // 0: no number of threads would do
        const char *model = ab->n_models > 0 ? ab->models[0].path : NULL;
        const char *command = etp_shell_command(arena, "etprof ab %s", ETP_OR(model, "MODEL.pte"));
        return cpus > 0 && command ? etp_arena_printf(arena, "%s --threads %u", command, cpus)
                                   : NULL;
    }
    const char *dir = session_of(ab);
    return dir && !ab->bare && !ab->emulated ? etp_shell_command(arena, "etprof rerun %s", dir)
                                             : NULL;
}

const char *etp_ab_quieter_command(const etp_ab *ab, const etp_ab_comparison *c, etp_arena *arena)
{
    bool grows = c->control_blocks < ab->controls && ab->n_blocks < ab->controls;
    return grows ? etp_ab_extend_command(ab, ab->controls - ab->n_blocks, arena)
                 : etp_ab_again_command(ab, arena);
}

const char *etp_ab_settle_command(const etp_ab *ab, const etp_ab_comparison *c, etp_arena *arena)
{
    bool folder = session_of(ab) && !ab->bare;
    if (etp_ab_crowded(ab) || (folder && c->withheld == ETP_WITHHELD_CONTENDED)) {
        return etp_ab_again_command(ab, arena);
    }
    if (folder && (c->withheld == ETP_WITHHELD_NOISE_FLOOR || etp_ab_noise_words(c, arena))) {
        return etp_ab_quieter_command(ab, c, arena);
    }
    const char *on = ab->arms[c->candidate].level_name, *off = ab->arms[c->baseline].level_name;
    if (folder && c->withheld == ETP_WITHHELD_OUTPUTS_DIFFER && ab->n_models == 1 && on && off &&
        strcmp(on, off) != 0) { // which operator makes them differ
        return etp_shell_command(arena, "etprof ab %s --levels %s,%s --numerics",
                                 ab->models[0].path, on, off);
    }
    if (c->withheld || c->verdict != ETP_VERDICT_UNKNOWN || ab->emulated) {
        return NULL;
    }
    if (c->method == ETP_PAIRED_BLOCKS && folder) {
        double up = 1 + c->margin;
        uint32_t a = etp_ab_blocks_to_tell(c->estimate, c->lo, c->hi, c->blocks, up),
                 b = etp_ab_blocks_to_tell(c->estimate, c->lo, c->hi, c->blocks, 1 / up);
        return etp_ab_extend_command(ab, ETP_MAX(a, b), arena);
    }
    const char *levels = on && off && strcmp(on, off) != 0
                             ? etp_shell_command(arena, " --levels %s,%s", on, off)
                             : "";
    const char *a = ab->n_models > 0 ? ab->models[0].path : NULL,
               *b = ab->n_models > 1 ? ab->models[1].path : NULL;
    const char *only = ETP_OR(a, "MODEL.pte");
    const char *models =
        b ? etp_shell_command(arena, "%s %s", a, b) : etp_shell_command(arena, "%s", only);
    return models && levels ? etp_arena_printf(arena, "etprof ab %s%s --blocks %d", models, levels,
                                               ETP_MIN_BLOCKS)
                            : NULL;
}
