// SPDX-License-Identifier: Apache-2.0
// The devices that can be named from here, as a document and as a report.
#include "machine/devices.h"

void etp_devices_json(const void *data, etp_json *j)
{
    const etp_devices_answer *answer = data;
    const etp_device_list *list = &answer->list;
    etp_json_begin_object(j);
    etp_json_kv_z(j, "schema", "etprof.devices/1");
    etp_json_key(j, "devices");
    etp_json_begin_array(j);
    for (size_t i = 0; i < list->n; i++) {
        const etp_device_entry *e = &list->items[i];
        etp_json_begin_object_inline(j);
        etp_json_kv_z(j, "spec", e->spec);
        etp_json_kv_z(j, "kind", e->kind);
        etp_json_kv_z(j, "state", e->state);
        etp_json_kv_bool(j, "usable", e->usable);
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_key(j, "prepared");
    etp_json_begin_array(j);
    for (size_t i = 0; i < answer->prepared.n; i++) {
        const etp_prepare_journal *p = &answer->prepared.items[i];
        etp_json_begin_object_inline(j);
        etp_json_kv_z(j, "spec", p->spec);
        etp_json_kv_z(j, "mode", p->mode);
        etp_json_kv_bool(j, "session_runs", p->live);
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_kv_z(j, "adb_missing", list->adb); // null when adb was asked
    etp_json_end(j);
    etp_json_end_document(j);
}

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
        etp_report_text(r,
                        p->live
                            ? "%s is set up for measuring (--prepare %s) by a session that runs."
                            : "%s still has the settings of a session that is gone (--prepare %s): "
                              "etprof devices restore.",
                        p->spec, p->mode);
    }
    if (list->adb) {
        etp_report_text(r, "adb devices are not listed: %s.", list->adb);
    }
    return r;
}

void etp_restored_json(const void *data, etp_json *j)
{
    const etp_restored_list *list = data;
    etp_json_begin_object(j);
    etp_json_kv_z(j, "schema", "etprof.restored/1");
    etp_json_key(j, "devices");
    etp_json_begin_array(j);
    for (size_t i = 0; i < list->n; i++) {
        const etp_restored *e = &list->items[i];
        etp_json_begin_object_inline(j);
        etp_json_kv_z(j, "spec", e->spec);
        etp_json_kv_z(j, "mode", e->mode);
        etp_json_kv_bool(j, "restored", !e->why);
        etp_json_kv_z(j, "reason", e->why);
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_end(j);
    etp_json_end_document(j);
}

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
        ETP_ROW(t, etp_cell_z(e->spec), etp_cell_z(e->mode),
                etp_cell_judged(etp_cell_z(e->why ? e->why : "restored"),
                                e->why ? ETP_BAD : ETP_PLAIN));
    }
    return r;
}
