// SPDX-License-Identifier: Apache-2.0
// Levels of this machine as a document and as a report.
#include "machine/levels.h"

void etp_levels_here(etp_levels *out)
{
    *out = (etp_levels){0};
    etp_isa_cpu_detect(&out->cpu);
    out->best = etp_isa_best(&out->cpu);
    out->plain = etp_isa_plain(&out->cpu);
    etp_level list[ETP_LEVEL_COUNT];
    out->n = etp_level_list(out->cpu.family, list);
    for (size_t i = 0; i < out->n; i++) {
        out->items[i].level = list[i];
        out->items[i].state = etp_level_state_of(&out->cpu, list[i]);
    }
}

static const char *level_name(etp_level level)
{
    const etp_level_info *info = etp_level_get(level);
    return info ? info->name : NULL;
}

void etp_levels_json(const void *data, etp_json *j)
{
    const etp_levels *levels = data;
    char cpu[ETP_ISA_TEXT_MAX];
    etp_isa_cpu_format(&levels->cpu, cpu, sizeof cpu);
    etp_json_begin_object(j);
    etp_json_kv_z(j, "schema", "etprof.levels/1");
    etp_json_kv_z(j, "family", etp_isa_family_name(levels->cpu.family));
    etp_json_kv_z(j, "cpu", cpu);
    etp_json_key(j, "default");
    etp_json_begin_object_inline(j);
    etp_json_kv_z(j, "baseline", level_name(levels->plain));
    etp_json_kv_z(j, "candidate", level_name(levels->best));
    etp_json_end(j);
    etp_json_key(j, "levels");
    etp_json_begin_array(j);
    for (size_t i = 0; i < levels->n; i++) {
        etp_json_begin_object_inline(j);
        etp_json_kv_z(j, "name", level_name(levels->items[i].level));
        etp_json_kv_bool(j, "available", levels->items[i].state.available);
        etp_json_kv_bool(j, "switchable", levels->items[i].state.switchable);
        etp_json_kv_z(j, "how", levels->items[i].state.how);
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_end(j);
    etp_json_end_document(j);
}

const etp_report *etp_levels_report(const etp_levels *levels, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "name", .title = "level", .flags = ETP_COL_CODE},
        {.key = "available", .title = "available"},
        {.key = "switchable", .title = "switchable"},
        {.key = "how", .title = "how"},
    };
    etp_report *r = etp_report_create(arena, "levels of this machine");
    etp_report_subtitle(r, "%s", etp_isa_family_name(levels->cpu.family));
    etp_report_section(r, 1, "levels", "Levels");
    etp_table *t = etp_report_table(r, "levels", NULL, k_columns, 4);
    for (size_t i = 0; i < levels->n; i++) {
        const etp_level_state *s = &levels->items[i].state;
        ETP_ROW(t, etp_cell_z(level_name(levels->items[i].level)),
                etp_cell_judged(etp_cell_z(s->available ? "yes" : "no"),
                                s->available ? ETP_GOOD : ETP_PLAIN),
                etp_cell_z(s->switchable ? "yes" : "no"), etp_cell_z(s->how));
    }
    if (levels->best != ETP_LEVEL_NONE && levels->plain != ETP_LEVEL_NONE) {
        etp_report_text(r, "etprof ab compares %s with %s unless told otherwise.",
                        level_name(levels->best), level_name(levels->plain));
    } else {
        etp_report_note(r, ETP_WARN, "this machine has no two levels to compare");
    }
    return r;
}
