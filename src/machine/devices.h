// SPDX-License-Identifier: Apache-2.0
// The devices that can be named from here, as a document and as a report.
#ifndef ETP_MACHINE_DEVICES_H
#define ETP_MACHINE_DEVICES_H

#include "device/list.h"
#include "device/prepare.h"
#include "document/fields.h"
#include "report/report.h"

typedef struct etp_devices_answer {
    etp_device_list list;
    etp_prepare_journals prepared; // devices whose settings are not their own
} etp_devices_answer;
extern const etp_document k_etp_devices_document; // of etp_devices_answer
const etp_report *etp_devices_report(const etp_devices_answer *answer, etp_arena *arena);

// What became of each journal that was to be undone.
typedef struct etp_restored {
    const char *spec;
    etp_prepare_mode mode;
    const char *why; // it was not undone; NULL: it was
} etp_restored;
typedef struct etp_restored_list {
    etp_restored *items;
    size_t n, cap;
} etp_restored_list;
extern const etp_document k_etp_restored_document; // of etp_restored_list
const etp_report *etp_restored_report(const etp_restored_list *list, etp_arena *arena);

#endif
