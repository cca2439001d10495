// SPDX-License-Identifier: Apache-2.0
// The devices that adb knows.
#ifndef ETP_DEVICE_ADB_H
#define ETP_DEVICE_ADB_H

#include "device/remote.h"

typedef struct etp_adb_device {
    const char *serial, *state; // "device", "offline", "unauthorized", …
} etp_adb_device;
typedef struct etp_adb_devices {
    etp_adb_device *items;
    size_t n, cap;
} etp_adb_devices;

ETP_NODISCARD etp_status etp_adb_list(const char *adb, etp_arena *arena, etp_adb_devices *out,
                                      etp_error *err);

#endif
