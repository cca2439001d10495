// SPDX-License-Identifier: Apache-2.0
// The devices that can be named from here.
#ifndef ETP_DEVICE_LIST_H
#define ETP_DEVICE_LIST_H

#include "device/device.h"

typedef struct etp_device_entry {
    const char *spec;  // for --device
    const char *kind;  // "local", "qemu", "adb", "ssh"
    const char *state; // "ready", adb's own words, "not contacted"
    bool usable;       // as far as can be told without contacting it
} etp_device_entry;
typedef struct etp_device_list {
    etp_device_entry *items; // local, qemu, adb by serial, ssh in the order of the file
    size_t n, cap;
    const char *adb; // why no adb devices could be listed, NULL when they were
} etp_device_list;

// A missing adb or emulator is no error. Of OPTIONS the search path, qemu, program and ssh_config
// count.
ETP_NODISCARD etp_status etp_device_list_make(const etp_device_options *options, etp_arena *arena,
                                              etp_device_list *out, etp_error *err);

#endif
