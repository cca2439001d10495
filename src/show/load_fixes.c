// SPDX-License-Identifier: Apache-2.0
// What to change in how a program is loaded, in every form. Its gains stand apart from those of
// inferences.
#include <math.h>

#include "base/number.h"
#include "document/rows.h"
#include "show/json.h"
#include "show/report.h"

// "4.1 MB", "−4.1 MB"
static const char *quantity(double is, bool bytes, etp_arena *arena)
{
    if (!bytes) {
        return etp_arena_printf(arena, "%s", ETP_NS(is));
    }
    return etp_arena_printf(arena, "%s%s", etp_if(is < 0, "−"), ETP_BYTES((uint64_t)fabs(is)));
}

const char *etp_ab_saved_words(etp_interval saved, bool bytes, etp_arena *arena)
{
    bool known = isfinite(saved.estimate);
    if (!known && !(saved.lo > 0)) {
        return "not known here";
    }
    const char *range = "";
    if (isfinite(saved.lo + saved.hi)) {
        range = etp_arena_printf(arena, ", 95 %% [%s, %s]", quantity(saved.lo, bytes, arena),
                                 quantity(saved.hi, bytes, arena));
    }
    return etp_arena_printf(arena, "%s%s saved%s", etp_if(!known, "at least "),
                            quantity(known ? saved.estimate : saved.lo, bytes, arena), range);
}

void etp_ab_load_fix_section(const etp_ab *ab, etp_report *r)
{
    static const etp_column k_columns[] = {
        {.key = "id", .title = "id"},
        {.key = "kind", .title = "kind"},
        {.key = "load_ns", .title = "saved of loading", .kind = ETP_KIND_NS},
        {.key = "load_lo_ns", .title = "from", .kind = ETP_KIND_NS},
        {.key = "load_hi_ns", .title = "to", .kind = ETP_KIND_NS},
        {.key = "first_ns", .title = "of the first inference", .kind = ETP_KIND_NS},
        {.key = "dirty_bytes", .title = "of dirty memory", .kind = ETP_KIND_BYTES},
        {.key = "dirty_lo_bytes", .title = "from", .kind = ETP_KIND_BYTES},
        {.key = "dirty_hi_bytes", .title = "to", .kind = ETP_KIND_BYTES},
    };
    if (ab->load_fixes.n == 0) {
        return;
    }
    etp_report_section(r, 1, "load-fixes", "Fixes of loading");
    etp_report_text(r, "What a change of how the program is loaded saves, as measured; below 0 it "
                       "costs. Later inferences gain nothing by it.");
    etp_table *t =
        etp_report_table(r, "load-fixes", NULL, k_columns, sizeof k_columns / sizeof *k_columns);
    for (size_t i = 0; i < ab->load_fixes.n; i++) {
        const etp_ab_load_fix *f = &ab->load_fixes.items[i];
        ETP_ROW(t, etp_cell_z(f->id), etp_cell_z(f->kind), etp_cell_rounded_ns(f->load_ns.estimate),
                etp_cell_rounded_ns(f->load_ns.lo), etp_cell_rounded_ns(f->load_ns.hi),
                etp_cell_rounded_ns(f->first_ns.estimate),
                etp_cell_rounded_ns(f->dirty_bytes.estimate),
                etp_cell_rounded_ns(f->dirty_bytes.lo), etp_cell_rounded_ns(f->dirty_bytes.hi));
    }
    etp_keys *keys = etp_report_keys(r, NULL);
    for (size_t i = 0; i < ab->load_fixes.n; i++) {
        const etp_ab_load_fix *f = &ab->load_fixes.items[i];
        etp_keys_add(keys, ETP_PLAIN, f->id, "%s → %s", f->text, f->recipe);
    }
}

// ---- JSON ----

#define OF etp_interval
static const etp_field k_saved_rows[] = {
    FIELD("lo", ROUNDED, lo, "lower end of its 95 % interval", .range = ETP_SIGNED),
    FIELD("expected", ROUNDED, estimate, "as measured; null where only the ends are known",
          .range = ETP_SIGNED),
    FIELD("hi", ROUNDED, hi, "upper end", .range = ETP_SIGNED),
};
static SHAPE_ON_ONE_LINE(k_saved, k_saved_rows);
#undef OF
#define OF etp_ab_load_fix
static const etp_field k_load_fix_rows[] = {
    FIELD("id", TEXT, id, "L1, L2, …", .flags = ETP_SET),
    FIELD("kind", TEXT, kind, "`packed_cache`: keep packed weights in a file", .flags = ETP_SET),
    FIELD("arm", TEXT, arm, "without it", .flags = ETP_SET),
    FIELD("with", TEXT, with, "the arm that it was measured in", .flags = ETP_SET),
    FIELD("text", TEXT, text, "what it changes", .flags = ETP_SET),
    FIELD("load_ns", OBJECT, load_ns, "saved of loading", .shape = &k_saved),
    FIELD("first_ns", OBJECT, first_ns, "saved of the first inference", .shape = &k_saved),
    FIELD("dirty_bytes", OBJECT, dirty_bytes, "saved of dirty memory", .shape = &k_saved),
    FIELD("recipe", TEXT, recipe, "what to do", .flags = ETP_SET),
    FIELD("formula", TEXT, formula, "how the figures come about", .flags = ETP_SET),
};
SHAPE(k_etp_ab_load_fix, k_load_fix_rows);
#undef OF

#define OF etp_ab
bool etp_ab_has_load_fixes(const void *ab, const etp_json_cursor *at)
{
    (void)at;
    return ((const etp_ab *)ab)->load_fixes.n > 0;
}
static const etp_field k_load_fixes_rows[] = {
    VECTOR("load_fixes", OBJECT, load_fixes,
           "what to change in how the program is loaded; its gains are not those of inferences",
           .shape = &k_etp_ab_load_fix, .flags = ETP_LATER),
};
SHAPE(k_etp_ab_load_fixes, k_load_fixes_rows);
#undef OF
