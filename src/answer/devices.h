// SPDX-License-Identifier: Apache-2.0
// The devices that can be named from here, as a document and as a report.
#ifndef ETP_ANSWER_DEVICES_H
#define ETP_ANSWER_DEVICES_H

#include "base/json.h"
#include "device/list.h"
#include "report/report.h"

void etp_devices_json(const void *list, etp_json *j); // etprof.devices/1
const etp_report *etp_devices_report(const etp_device_list *list, etp_arena *arena);

#endif
