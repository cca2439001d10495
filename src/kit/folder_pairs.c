// SPDX-License-Identifier: Apache-2.0
// Off against on of a kit's folder, each pair answered as `compare` answers it.
#include "kit/folder.h"

#include <math.h>
#include <string.h>

#define MAX_ANSWERED 16 // pairs; a folder of a whole fleet is read with compare

// The dump where executions came from it: the table has lost which instruction an event is of.
// One that is empty, broken or without an execution leaves the table to speak for it.
const char *etp_kit_recording_of(const etp_kit_folder *f, const etp_kit_unit *u, etp_arena *arena)
{
    const char *name = isfinite(u->dump_median_ns) || !u->timeline ? u->dump : u->timeline;
    return name ? etp_arena_printf(arena, "%s/%s", f->path, name) : NULL;
}

// "sme2 on against off" where the names say no more than that.
static const char *sides_of(const etp_kit_folder *f, const char *off, const char *on)
{
    size_t n = strlen(on), m = strlen(off);
    bool brief = n > 3 && m == n + 1 && strcmp(on + n - 3, "_on") == 0 &&
                 strcmp(off + m - 4, "_off") == 0 && memcmp(on, off, n - 3) == 0;
    return brief ? etp_arena_printf(f->arena, "%.*s on against off", (int)n - 3, on)
                 : etp_arena_printf(f->arena, "%s against %s", on, off);
}

// Opened as two operands, each from its own file, so that all that `compare` checks and says holds
// here too.
etp_status etp_kit_answer_pairs(etp_kit_folder *f, etp_error *err)
{
    for (size_t i = 0; i < f->pairs.n && i < MAX_ANSWERED; i++) {
        etp_kit_pair *p = &f->pairs.items[i];
        const etp_kit_unit *off = &f->units.items[p->off], *on = &f->units.items[p->on];
        const char *const paths[2] = {etp_kit_recording_of(f, off, f->arena),
                                      etp_kit_recording_of(f, on, f->arena)};
        const etp_ab_options options = {
            .two_sides = true, .names = {off->experiment, on->experiment}
        };
        const char *threads = "";
        if (on->threads) {
            threads = etp_arena_printf(f->arena, ", %u thread%s", on->threads,
                                       etp_if(on->threads != 1, "s"));
        }
        const char *sides = sides_of(f, off->experiment, on->experiment);
        p->label = etp_arena_printf(f->arena, "%s%s: %s",
                                    ETP_OR(on->model, "a model without a name"), threads, sides);
        // What cannot be read has been said of its experiment.
        etp_status st =
            paths[0] && paths[1] ? etp_ab_open(paths, 2, &options, &p->session, NULL) : ETP_OK;
        if (st == ETP_NOMEM) {
            return etp_fail_nomem(err, "pairs");
        }
    }
    return ETP_OK;
}
