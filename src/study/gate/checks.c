// SPDX-License-Identifier: Apache-2.0
// What every kind of check of a gate does alike: judge a figure, say what would settle it, be
// added.
#include <math.h>

#include "compare/phases.h"
#include "study/gate/members.h"

// A limit inside the interval is UNKNOWN: a value that lies exactly at its limit would pass every
// second time. A figure without an interval comes with LO = HI and is never caught between.
etp_gate_state etp_gate_judge(double lo, double hi, bool at_least, double limit)
{
    if (!isfinite(lo) || !isfinite(hi)) {
        return ETP_GATE_UNKNOWN;
    }
    bool low = at_least ? lo >= limit : lo <= limit, high = at_least ? hi >= limit : hi <= limit;
    if (low != high) {
        return ETP_GATE_UNKNOWN;
    }
    return low ? ETP_GATE_YES : ETP_GATE_NO;
}

// "decode@256.speedup:…": checks of two phases are two test cases.
void etp_gate_add(etp_gate *g, etp_gate_check check)
{
    check.phase = g->phase;
    if (g->phase && check.id) {
        const char *word = etp_ab_phase_word(g->phase, g->arena);
        check.id = etp_arena_printf(g->arena, "%s.%s", word, check.id);
    }
    ETP_ADD(g->arena, &g->checks, check);
}

const char *etp_gate_to_settle(etp_gate *g, const etp_ab *ab, const etp_gate_figure *f,
                               double limit)
{
    if (ab->emulated) { // more blocks of that make no speed
        return "measure on a device: an emulator's times say nothing";
    }
    if (f->unknown) { // blocks do not lift what is withheld, or what equal launches differ by
        return ETP_OR(f->settles, "see in the report what withholds it");
    }
    uint32_t more = etp_ab_blocks_to_tell(f->value, f->lo, f->hi, ab->n_blocks, limit);
    const char *command = etp_ab_extend_command(ab, more, g->arena);
    return ETP_OR(command, "measure more blocks");
}
