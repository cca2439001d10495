// SPDX-License-Identifier: Apache-2.0
// What the HTML page shows of an answer and the other formats do not: what decides comes first, and
// each operator, finding and fix has a drawer of its own.
#include <math.h>
#include <string.h>

#include "show/report.h"

static double known(int64_t ns)
{
    return ns == ETP_NS_UNKNOWN ? (double)NAN : (double)ns;
}

// ---- what to do next ----

// A recipe that begins with a command of ours is that command, up to what is said about it.
static void split_recipe(const char *recipe, etp_arena *arena, const char **command,
                         const char **advice)
{
    static const char *const k_ends[] = {"; ", " measures it"};
    *command = NULL;
    *advice = recipe;
    if (strncmp(recipe, "etprof ", strlen("etprof ")) != 0) {
        return;
    }
    const char *end = recipe + strlen(recipe);
    for (size_t i = 0; i < sizeof k_ends / sizeof *k_ends; i++) {
        const char *at = strstr(recipe, k_ends[i]);
        end = at && at < end ? at : end;
    }
    *command = etp_arena_printf(arena, "%.*s", (int)(end - recipe), recipe);
    *advice = *end == ';' ? end + 2 : NULL;
}

static void actions(const etp_ab *ab, etp_report *r, etp_arena *arena)
{
    const etp_ab_arm *arm = &ab->arms[ab->hot_arm];
    for (size_t i = 0; i < ab->fixes.n; i++) {
        const etp_ab_fix *f = &ab->fixes.items[i];
        etp_action a = {
            .id = f->id,
            .text = f->text,
            .whole = known(arm->median_ns != ETP_NS_UNKNOWN ? arm->median_ns : arm->traced_ns),
            .gain = known(f->expected_ns),
            .lo = known(f->lo_ns),
            .hi = known(f->hi_ns),
            .kind = ETP_KIND_NS,
        };
        split_recipe(f->recipe, arena, &a.command, &a.advice);
        etp_report_action(r, &a);
    }
}

void etp_ab_page_first(const etp_ab *ab, etp_report *r, etp_arena *arena)
{
    actions(ab, r, arena);
    etp_ab_category_section(ab, r);
}

void etp_ab_page_more(const etp_ab *ab, etp_report *r, etp_arena *arena)
{
    const etp_ab_views one = {
        &(struct etp_ab_view){ab, NULL},
         1
    };
    etp_ab_operator_section(ab, r);
    etp_ab_hot_section(&one, r, arena);
    etp_ab_split_section(&one, r, arena);
    etp_ab_kernel_section(&one, r, arena);
    etp_ab_ledger_section(ab, r);
}
