// SPDX-License-Identifier: Apache-2.0
// The pairs of a sweep, each answered as `ab` answers it: why the one is faster, what proves it,
// what else could have made it.
#include "base/shell.h"
#include "study/sweep/sweep.h"

static const char *label_of(const etp_sweep *s, const uint32_t at[ETP_FACTORS], etp_arena *arena)
{
    const char *model = s->grid.n[ETP_FACTOR_MODEL] > 1 ? s->models[at[ETP_FACTOR_MODEL]].name : "";
    const char *threads = "";
    if (s->grid.n[ETP_FACTOR_THREADS] > 1) {
        uint32_t n = s->threads[at[ETP_FACTOR_THREADS]];
        threads = etp_arena_printf(arena, "%s%u %s", model[0] ? ", " : "", n,
                                   n == 1 ? "thread" : "threads");
    }
    const char *phase = etp_sweep_phase_name(s);
    return etp_arena_printf(arena, "%s%s%s%s%s%s against %s", phase ? phase : "",
                            phase ? " · " : "", model, threads, model[0] || threads[0] ? ": " : "",
                            s->words[at[ETP_FACTOR_LEVEL]],
                            s->words[s->grid.reference[ETP_FACTOR_LEVEL]]);
}

// Each pair is a session of two arms that borrows from WHOLE, so that `sweep` says of a pair what
// `ab` would say, by the same code. Only a level against the reference has one; 'etprof compare
// DIR:ARM DIR:ARM' answers for any other two cells.
etp_status etp_sweep_open_pairs(etp_sweep *s, const etp_ab_session *whole, etp_arena *arena,
                                etp_error *err)
{
    s->pairs = ETP_NEW_ARRAY(arena, etp_sweep_pair, s->result.n_speedups + 1);
    for (size_t i = 0; i < s->result.n_speedups; i++) {
        const uint32_t *at = s->result.speedups[i].at;
        const uint32_t base[ETP_FACTORS] = {at[0], s->grid.reference[ETP_FACTOR_LEVEL], at[2]};
        const etp_sweep_cell *x = &s->cells[etp_cell_of(&s->grid, base)],
                             *y = &s->cells[etp_cell_of(&s->grid, at)];
        // An arm without a launch that counts has no answer of its own.
        if (x->arm == ETP_NO_INDEX || y->arm == ETP_NO_INDEX || s->ab->n_comparisons == 0 ||
            s->ab->arms[x->arm].launches == 0 || s->ab->arms[y->arm].launches == 0) {
            continue;
        }
        const etp_ab_pair pair = {
            whole, {x->arm, y->arm},
             etp_sweep_withheld(s, at)
        };
        const etp_ab_options options = {.margin = s->grid.margin, .pair = &pair};
        etp_sweep_pair *p = &s->pairs[s->n_pairs];
        // n_pairs counts it only once it is open: etp_sweep_close closes the first n_pairs.
        *p = (etp_sweep_pair){
            .at = {at[0], at[1], at[2]},
              .label = label_of(s, at, arena)
        };
        ETP_TRY(etp_ab_open(&s->ab->dir, 1, &options, &p->session, err));
        p->ab = etp_ab_answer(p->session);
        s->n_pairs++;
    }
    return ETP_OK;
}

const etp_sweep_pair *etp_sweep_pair_at(const etp_sweep *s, const uint32_t at[ETP_FACTORS])
{
    for (size_t i = 0; i < s->n_pairs; i++) {
        if (memcmp(s->pairs[i].at, at, sizeof s->pairs[i].at) == 0) {
            return &s->pairs[i];
        }
    }
    return NULL;
}

void etp_sweep_close(etp_sweep *s)
{
    for (size_t i = 0; i < s->n_pairs; i++) {
        etp_ab_close(s->pairs[i].session);
    }
    s->n_pairs = 0;
    for (size_t i = 0; i < s->n_later; i++) {
        etp_sweep_close(&s->later[i]);
    }
    s->n_later = 0;
}

// A ratio needs both of its cells. The cell's own reason comes first, since it is the one that the
// row is about; then that of the cell it is compared with.
etp_withheld etp_sweep_withheld(const etp_sweep *s, const uint32_t at[ETP_FACTORS])
{
    const etp_factorial *g = &s->grid;
    const uint32_t base[ETP_FACTORS] = {at[0], g->reference[ETP_FACTOR_LEVEL], at[2]};
    etp_withheld why = s->cells[etp_cell_of(g, at)].withheld;
    return why != ETP_WITHHELD_NOT ? why : s->cells[etp_cell_of(g, base)].withheld;
}

const char *etp_sweep_pair_scope(size_t phase, size_t pair, etp_arena *arena)
{
    return phase ? etp_arena_printf(arena, "phase-%zu-pair-%zu", phase + 1, pair + 1)
                 : etp_arena_printf(arena, "pair-%zu", pair + 1);
}

// The pair's session has two arms, the baseline first. DIR stands for the folder: reports name no
// path of the machine that wrote them.
const char *etp_sweep_pair_command(const etp_sweep_pair *p, etp_arena *arena)
{
    const etp_ab_arm *arms = p->ab->arms;
    return etp_shell_command(arena, "etprof compare DIR:%s DIR:%s --format html -o answer.html",
                             arms[0].name, arms[1].name);
}

etp_ab_views etp_sweep_views(const etp_sweep *s, etp_arena *arena)
{
    size_t all = 0, n = 0;
    for (size_t k = 0; k < etp_sweep_n_phases(s); k++) {
        all += etp_sweep_phase(s, k)->n_pairs;
    }
    struct etp_ab_view *views = ETP_NEW_ARRAY(arena, struct etp_ab_view, all + 1);
    for (size_t k = 0; views && k < etp_sweep_n_phases(s); k++) {
        const etp_sweep *one = etp_sweep_phase(s, k);
        for (size_t i = 0; i < one->n_pairs; i++) {
            views[n++] = (struct etp_ab_view){.ab = one->pairs[i].ab,
                                              .run = one->pairs[i].label,
                                              .scope = etp_sweep_pair_scope(k, i, arena)};
        }
    }
    return (etp_ab_views){views, n};
}
