// SPDX-License-Identifier: Apache-2.0
// The devices that can be named from here, as a document and as a report.
#include "machine/devices.h"
#include "document/rows.h"

const etp_report *etp_devices_report(const etp_devices_answer *answer, etp_arena *arena)
{
    const etp_device_list *list = &answer->list;
    static const etp_column k_columns[] = {
        {.key = "spec", .title = "--device", .flags = ETP_COL_CODE},
        {.key = "kind", .title = "kind"},
        {.key = "state", .title = "state"},
    };
    etp_report *r = etp_report_create(arena, "devices");
    etp_report_section(r, 1, "devices", "Devices");
    etp_table *t = etp_report_table(r, "devices", NULL, k_columns, 3);
    for (size_t i = 0; i < list->n; i++) {
        const etp_device_entry *e = &list->items[i];
        ETP_ROW(t, etp_cell_z(e->spec), etp_cell_z(e->kind),
                etp_cell_judged(etp_cell_z(e->state), e->usable ? ETP_PLAIN : ETP_BAD));
    }
    for (size_t i = 0; i < answer->prepared.n; i++) {
        const etp_prepare_journal *p = &answer->prepared.items[i];
        // While its session runs the settings are what they should be; left behind, they are what
        // `devices restore` is for.
        etp_report_text(r,
                        p->live
                            ? "%s is set up for measuring (--prepare %s) by a session that runs."
                            : "%s still has the settings of a session that is gone (--prepare %s): "
                              "etprof doctor devices restore.",
                        p->spec, etp_prepare_mode_name(p->mode));
    }
    if (list->adb) {
        etp_report_text(r, "adb devices are not listed: %s.", list->adb);
    }
    return r;
}

WORDS(k_modes, etp_prepare_mode_name, etp_prepare_mode, ETP_PREPARE_MODES)
FIND(is_restored, etp_restored, etp_restored_list, MAKE(yes, !it->why))

#define OF etp_restored
static const etp_field k_restored_rows[] = {
    FIELD("spec", TEXT, spec, "for --device", .flags = ETP_SET),
    FIELD("mode", WORD, mode, "it was prepared in", .words = &k_modes),
    COMPUTED("restored", BOOL, is_restored, "", .flags = ETP_SET),
    FIELD("reason", TEXT, why, "why not"),
};
static SHAPE_ON_ONE_LINE(k_restored, k_restored_rows);
#undef OF
#define OF etp_restored_list
static const etp_field k_list_rows[] = {
    LIST("devices", OBJECT, items, n, "that were prepared", .shape = &k_restored),
};
static SHAPE(k_list, k_list_rows);
#undef OF
const etp_document k_etp_restored_document = {"etprof.restored/1", "What devices --restore prints",
                                              &k_list};

#define OF etp_device_entry
static const etp_field k_device_rows[] = {
    FIELD("spec", TEXT, spec, "for --device", .flags = ETP_SET),
    FIELD("kind", TEXT, kind, "local, qemu, adb, ssh", .flags = ETP_SET),
    FIELD("state", TEXT, state, "ready, adb's own words, not contacted", .flags = ETP_SET),
    FIELD("usable", BOOL, usable, "as far as can be told without contacting it"),
};
static SHAPE_ON_ONE_LINE(k_device, k_device_rows);
#undef OF
#define OF etp_prepare_journal
static const etp_field k_prepared_rows[] = {
    FIELD("spec", TEXT, spec, "for --device"),
    FIELD("mode", WORD, mode, "of --prepare", .words = &k_modes),
    FIELD("session_runs", BOOL, live, "the session that did it still runs"),
};
static SHAPE_ON_ONE_LINE(k_prepared, k_prepared_rows);
#undef OF
#define OF etp_devices_answer
static const etp_field k_answer_rows[] = {
    VECTOR("devices", OBJECT, list, "that can be named", .shape = &k_device),
    VECTOR("prepared", OBJECT, prepared, "devices whose settings are not their own",
           .shape = &k_prepared),
    FIELD("adb_missing", TEXT, list.adb, "why adb was not asked; null: it was"),
};
static SHAPE(k_answer, k_answer_rows);
#undef OF
const etp_document k_etp_devices_document = {"etprof.devices/1", "What devices prints", &k_answer};

const etp_report *etp_restored_report(const etp_restored_list *list, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "spec", .title = "--device", .flags = ETP_COL_CODE},
        {.key = "mode", .title = "--prepare"},
        {.key = "result", .title = "result"},
    };
    etp_report *r = etp_report_create(arena, "devices restore");
    etp_report_section(r, 1, "restored", "Settings of devices");
    if (list->n == 0) {
        etp_report_text(r, "No session left settings on a device.");
        return r;
    }
    etp_table *t = etp_report_table(r, "restored", NULL, k_columns, 3);
    for (size_t i = 0; i < list->n; i++) {
        const etp_restored *e = &list->items[i];
        ETP_ROW(
            t, etp_cell_z(e->spec), etp_cell_z(etp_prepare_mode_name(e->mode)),
            etp_cell_judged(etp_cell_z(ETP_OR(e->why, "restored")), e->why ? ETP_BAD : ETP_PLAIN));
    }
    return r;
}
