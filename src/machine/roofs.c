// SPDX-License-Identifier: Apache-2.0
// Roofs of a device as a report.
#include "machine/roofs.h"

// A roof of more threads that is lower than one of fewer: something else was running. Their number.
static size_t roofs_disturbed(const etp_roof_table *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        const etp_roof *a = &t->items[i];
        bool lower = false;
        for (size_t k = 0; k < t->n && a->unit == ETP_ROOF_OP_S; k++) {
            const etp_roof *b = &t->items[k];
            lower = lower || (b->threads < a->threads && a->what == b->what &&
                              strcmp(a->isa, b->isa) == 0 && a->best < b->best - b->best / 10);
        }
        n += lower;
    }
    return n;
}

const etp_report *etp_roofs_report(const etp_roofs_answer *a, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "what", .title = "what"},
        {.key = "isa", .title = "instruction set"},
        {.key = "threads", .title = "threads", .kind = ETP_KIND_INT},
        {.key = "bytes", .title = "working set", .kind = ETP_KIND_BYTES},
        {.key = "best", .title = "best", .kind = ETP_KIND_DOUBLE, .decimals = 1},
        {.key = "median", .title = "median", .kind = ETP_KIND_DOUBLE, .decimals = 1},
        {.key = "unit", .title = "unit"},
    };
    static const char *const k_units[ETP_ROOF_UNITS] = {"Gop/s", "GB/s", "ns"};
    const etp_roof_table *table = &a->table;
    etp_report *r = etp_report_create(arena, "roofs");
    etp_report_subtitle(r, "%s, %s%s%s%s", table->device,
                        table->cpu[0] ? table->cpu : "CPU not told",
                        table->governor[0] ? ", governor " : "", table->governor,
                        a->cached ? " (measured earlier; --fresh measures again)" : "");
    etp_report_section(r, 1, "roofs-section", "What it can do at most");
    if (table->emulated) {
        etp_report_note(
            r, ETP_PLAIN,
            "emulated: every loop computed what it must; times of an emulator are no roofs");
    }
    size_t low = roofs_disturbed(table);
    if (low) {
        etp_report_note(
            r, ETP_WARN,
            "%zu roofs are lower than those of fewer threads: something else was running; "
            "measure again with --fresh on a quiet machine",
            low);
    }
    etp_table *t = etp_report_table(r, "roofs", NULL, k_columns, 7);
    for (size_t i = 0; i < table->n; i++) {
        const etp_roof *x = &table->items[i];
        double per = x->unit == ETP_ROOF_NS ? 1 : 1e9;
        ETP_ROW(t, etp_cell_z(etp_roof_what_name(x->what)), etp_cell_z(x->isa[0] ? x->isa : NULL),
                etp_cell_u64(x->threads), x->bytes ? etp_cell_u64(x->bytes) : etp_cell_missing(),
                x->best ? etp_cell_double((double)x->best / per) : etp_cell_missing(),
                x->best ? etp_cell_double((double)x->median / per) : etp_cell_missing(),
                etp_cell_z(k_units[x->unit]));
    }
    return r;
}
