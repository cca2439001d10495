// SPDX-License-Identifier: Apache-2.0
// What a sweep calls its phases and thread counts, and how many tokens a second a cell is.
#include <math.h>

#include "study/sweep/sweep.h"

size_t etp_sweep_n_phases(const etp_sweep *s)
{
    return s->n_later + 1;
}

const etp_sweep *etp_sweep_phase(const etp_sweep *s, size_t i)
{
    return i == 0 ? s : &s->later[i - 1];
}

const char *etp_sweep_phase_name(const etp_sweep *s)
{
    return s->ab->phase ? s->ab->phase->name : NULL;
}

const char *etp_sweep_thread_words(const etp_sweep *s, uint32_t at, etp_arena *arena)
{
    const char *text = etp_arena_printf(arena, "%u %s", (unsigned)s->threads[at],
                                        s->threads[at] == 1 ? "thread" : "threads");
    return text ? text : "";
}

double etp_sweep_token_rate(const etp_sweep *s, uint32_t cell)
{
    const etp_ab_phase *p = s->ab->phase;
    double ns = s->result.cells[cell].ns.estimate;
    // Where the time is NAN the comparison is false too. An emulator's rate would be read as one of
    // the device.
    bool known = p && p->tokens > 0 && ns > 0 && !s->ab->emulated;
    return known ? 1e9 * (double)p->tokens / ns : (double)NAN;
}
