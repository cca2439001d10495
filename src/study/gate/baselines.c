// SPDX-License-Identifier: Apache-2.0
// Named baselines as a document and as a report.
#include "study/gate/baselines.h"
#include "document/rows.h"

static const char *state_name(etp_baseline_state state)
{
    static const char *const k_words[] = {
        [ETP_BASELINE_NONE] = "none",
        [ETP_BASELINE_SAME] = "same",
        [ETP_BASELINE_MOVED] = "moved",
        [ETP_BASELINE_CHANGED] = "changed",
        [ETP_BASELINE_UNREADABLE] = "unreadable",
    };
    return k_words[state];
}
WORDS(k_states, state_name, etp_baseline_state, ETP_BASELINE_UNREADABLE + 1)
KNOWN(is_readable, etp_baseline, it->dir != NULL)

#define OF etp_baseline
static const etp_field k_baseline_rows[] = {
    FIELD("name", TEXT, name, "for gate --against", .flags = ETP_SET),
    FIELD("dir", TEXT, dir, "the run folder; null: its note cannot be read"),
    FIELD("manifest_sha256", CHARS, sha256, "of its manifest as it was saved", .when = is_readable),
    FIELD("state", WORD, state, "of the folder now", .words = &k_states),
};
static SHAPE_ON_ONE_LINE(k_baseline, k_baseline_rows);
#undef OF
#define OF etp_baselines
static const etp_field k_rows[] = {
    LIST("baselines", OBJECT, items, n, "by name", .shape = &k_baseline),
};
static SHAPE(k_list, k_rows);
#undef OF
const etp_document k_etp_baselines_document = {"etprof.baselines/1", "What baselines prints",
                                               &k_list};

const etp_report *etp_baselines_report(const etp_baselines *list, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "name", .title = "baseline", .flags = ETP_COL_CODE},
        {.key = "state", .title = "state"},
        {.key = "folder", .title = "run folder"},
    };
    etp_report *r = etp_report_create(arena, "baselines");
    etp_report_section(r, 1, "baselines", "Baselines");
    if (list->n == 0) {
        etp_report_text(r, "No run has a name. Give one with etprof gate FOLDER --save NAME.");
        return r;
    }
    etp_table *t = etp_report_table(r, "baselines", NULL, k_columns, 3);
    for (size_t i = 0; i < list->n; i++) {
        const etp_baseline *b = &list->items[i];
        ETP_ROW(t, etp_cell_z(b->name),
                etp_cell_judged(etp_cell_z(state_name(b->state)),
                                b->state == ETP_BASELINE_SAME ? ETP_PLAIN : ETP_BAD),
                etp_cell_z(ETP_OR(b->dir, "")));
    }
    return r;
}
