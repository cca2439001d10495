// SPDX-License-Identifier: Apache-2.0
// Levels of this machine as a document and as a report.
#include "machine/levels.h"

#include <stdio.h>

#include "document/rows.h"
#include "explain/kernels.h"

etp_status etp_levels_here(const char *bundle, etp_levels *out, etp_error *err)
{
    etp_isa_cpu usable;
    *out = (etp_levels){0};
    etp_isa_cpu_detect(&out->cpu);
    ETP_TRY(etp_kernels_usable_in(bundle, &out->cpu, &usable, err));
    out->best = etp_isa_best(&usable);
    out->plain = etp_isa_plain(&usable);
    etp_level list[ETP_LEVEL_COUNT];
    out->n = etp_level_list(out->cpu.family, list);
    for (size_t i = 0; i < out->n; i++) {
        etp_levels_item *item = &out->items[i];
        etp_level_state of_cpu = etp_level_state_of(&out->cpu, list[i]);
        item->level = list[i];
        item->state = etp_level_state_of(&usable, list[i]);
        if (of_cpu.available && !item->state.available) {
            snprintf(item->state.how, sizeof item->state.how,
                     "the CPU has it, the runner's XNNPACK has no code for it");
        }
    }
    return ETP_OK;
}

// ETP_LEVEL_NONE has no name: where there is no second level, the default comparison says null.
static const char *level_name(etp_level level)
{
    const etp_level_info *info = etp_level_get(level);
    return info ? info->name : NULL;
}

// The CPU as one text, that of isa.h, which the manifest of a run folder keeps too: the two can be
// compared.
static void write_cpu(etp_json *j, const etp_json_cursor *at)
{
    char cpu[ETP_ISA_TEXT_MAX];
    etp_isa_cpu_format(&((const etp_levels *)at->object)->cpu, cpu, sizeof cpu);
    etp_json_z(j, cpu);
}
FIND(family, etp_levels, etp_levels, MAKE(text, etp_isa_family_name(it->cpu.family)))
WORDS(k_level_words, level_name, etp_level, ETP_LEVEL_COUNT)

#define OF etp_levels_item
static const etp_field k_level_rows[] = {
    FIELD("name", WORD, level, "", .words = &k_level_words, .flags = ETP_SET),
    FIELD("available", BOOL, state.available, "CPU and runner have it"),
    FIELD("switchable", BOOL, state.switchable, "it can be set here"),
    FIELD("how", CHARS, state.how, "or why not", .flags = ETP_SET),
};
static SHAPE_ON_ONE_LINE(k_level, k_level_rows);
#undef OF
#define OF etp_levels
static const etp_field k_default_rows[] = {
    FIELD("baseline", WORD, plain, "null: none", .words = &k_level_words),
    FIELD("candidate", WORD, best, "null: none", .words = &k_level_words),
};
static SHAPE_ON_ONE_LINE(k_default, k_default_rows);
static const etp_field k_rows[] = {
    COMPUTED("family", TEXT, family, "of the CPU"),
    WRITTEN("cpu", write_cpu, "{\"type\": \"string\"}", "what it has"),
    GROUP("default", &k_default, "what is compared when nothing is said"),
    ARRAY("levels", OBJECT, items, n, "of this family", .shape = &k_level),
};
static SHAPE(k_levels, k_rows);
#undef OF
const etp_document k_etp_levels_document = {"etprof.levels/1", "What levels prints", &k_levels};

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
                etp_cell_judged(etp_cell_z(etp_yes_no(s->available)),
                                s->available ? ETP_GOOD : ETP_PLAIN),
                etp_cell_z(etp_yes_no(s->switchable)), etp_cell_z(s->how));
    }
    if (levels->best != ETP_LEVEL_NONE && levels->plain != ETP_LEVEL_NONE) {
        etp_report_text(r, "etprof ab compares %s with %s unless told otherwise.",
                        level_name(levels->best), level_name(levels->plain));
    } else {
        etp_report_note(r, ETP_WARN, "this machine has no two levels to compare");
    }
    return r;
}
