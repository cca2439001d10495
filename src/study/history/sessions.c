// SPDX-License-Identifier: Apache-2.0
// The sessions of the store as a document and as a table.
#include "base/number.h"
#include "document/rows.h"
#include "study/history/stored.h"

#define OF etp_archive_line
static const etp_field k_line_rows[] = {
    FIELD("run_id", STR, run_id, "SHA-256 of its manifest", .flags = ETP_SET),
    FIELD("folder", STR, folder, "where it was when it was entered", .flags = ETP_SET),
    FIELD("generated_at", STR, generated_at, "when it began, UTC", .flags = ETP_SET),
    FIELD("models", STR, models, "comma-separated", .flags = ETP_EMPTY),
    FIELD("device", STR, device, "local, qemu, an address", .flags = ETP_EMPTY),
    FIELD("cpu", STR, cpu, "the processor", .flags = ETP_EMPTY),
    FIELD("emulated", BOOL, emulated, "its times say nothing"),
    FIELD("arms", UINT, arms, "over all phases"),
    FIELD("blocks", UINT, blocks, "measured"),
    FIELD("grade", STR, grade, "of the first comparison's arms", .flags = ETP_EMPTY),
    FIELD("candidate", STR, candidate, "of the first comparison; null: there is none",
          .flags = ETP_EMPTY),
    FIELD("estimate", RATIO, estimate, "its speedup; null where withheld"),
    FIELD("lo", RATIO, lo, "of its 95 % interval"),
    FIELD("hi", RATIO, hi, "of its 95 % interval"),
    FIELD("withheld", STR, withheld, "why it is not given", .flags = ETP_EMPTY),
};
static SHAPE_ON_ONE_LINE(k_line, k_line_rows);
#undef OF
#define OF etp_archive_list
static const etp_field k_rows[] = {
    LIST("sessions", OBJECT, items, n, "newest first", .shape = &k_line),
};
static SHAPE(k_list, k_rows);
#undef OF
const etp_document k_etp_sessions_document = {"etprof.sessions/1", "What history list prints",
                                              &k_list};

void etp_sessions_json(const void *list, etp_json *j)
{
    etp_document_write(j, &k_etp_sessions_document, list, list);
}

const etp_report *etp_sessions_report(const etp_archive_list *list, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "time", .title = "began"},
        {.key = "models", .title = "model", .flags = ETP_COL_CODE},
        {.key = "device", .title = "device"},
        {.key = "cpu", .title = "processor", .flags = ETP_COL_MINOR},
        {.key = "arms", .title = "arms", .kind = ETP_KIND_INT},
        {.key = "candidate", .title = "arm", .flags = ETP_COL_CODE},
        {.key = "speedup", .title = "speedup", .kind = ETP_KIND_DOUBLE, .decimals = 3},
        {.key = "lo",
         .title = "from",
         .kind = ETP_KIND_DOUBLE,
         .decimals = 3,
         .flags = ETP_COL_MINOR},
        {.key = "hi",
         .title = "to",
         .kind = ETP_KIND_DOUBLE,
         .decimals = 3,
         .flags = ETP_COL_MINOR},
        {.key = "folder", .title = "run folder", .flags = ETP_COL_CODE},
        {.key = "run_id", .title = "run", .flags = ETP_COL_MINOR | ETP_COL_CODE},
    };
    etp_report *r = etp_report_create(arena, "sessions");
    etp_report_section(r, 1, "sessions", "Sessions");
    if (list->n == 0) {
        etp_report_text(r, "No session is in the store. ab, sweep and run enter theirs when they "
                           "end; etprof history add FOLDER... enters older ones.");
        return r;
    }
    etp_table *t =
        etp_report_table(r, "sessions", NULL, k_columns, sizeof k_columns / sizeof *k_columns);
    for (size_t i = 0; i < list->n; i++) {
        const etp_archive_line *x = &list->items[i];
        ETP_ROW(t, etp_cell_str(x->generated_at), etp_cell_str(x->models), etp_cell_str(x->device),
                etp_cell_str(x->cpu), etp_cell_u64(x->arms), etp_cell_str(x->candidate),
                etp_cell_double(x->estimate), etp_cell_double(x->lo), etp_cell_double(x->hi),
                etp_cell_str(x->folder), etp_cell_str(x->run_id));
    }
    return r;
}
