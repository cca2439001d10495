// SPDX-License-Identifier: Apache-2.0
// Shared by the devices that run on this machine.
#ifndef ETP_DEVICE_INTERNAL_H
#define ETP_DEVICE_INTERNAL_H

#include "device/device.h"

// Fill d->ops, info, bundle, data. d->arena and d->work_dir are there already.
ETP_NODISCARD etp_status etp_local_open(etp_device *d, const etp_device_options *o, etp_error *err);
ETP_NODISCARD etp_status etp_qemu_open(etp_device *d, const etp_device_options *o, const char *cpu,
                                       etp_error *err);

// The parts of the local device that an emulator on this machine shares. FIRST (may be NULL) goes
// before the bundle's start line.
ETP_NODISCARD etp_status etp_host_probe(etp_device *d, etp_arena *arena, etp_details *out,
                                        etp_error *err);
ETP_NODISCARD etp_status etp_host_push(etp_device *d, const char *local, etp_arena *arena,
                                       const char **out_remote, etp_error *err);
ETP_NODISCARD etp_status etp_host_start(etp_device *d, const char *const *first,
                                        const char *const *args, const char *const *env,
                                        etp_process *out, etp_error *err);
void etp_host_kill(etp_device *d, etp_process *p, uint64_t pid);
etp_str etp_host_affinity(etp_device *d, const etp_process *p, etp_arena *arena);
ETP_NODISCARD etp_status etp_host_scratch(etp_device *d, const char *name, etp_arena *arena,
                                          const char **out_remote, etp_error *err);
ETP_NODISCARD etp_status etp_host_pull(etp_device *d, const char *remote, const char *local,
                                       etp_error *err);
void etp_host_state(etp_device *d, etp_os_state *out);
void etp_host_close(etp_device *d);

// A KEY or VALUE of NULL is one that memory was lacking for, which ARENA remembers.
static inline void etp_device_fact_add(etp_details *facts, etp_arena *arena, const char *key,
                                       const char *value)
{
    etp_detail f = {key, value};
    if (key && value) {
        ETP_ADD(arena, facts, f);
    }
}

#endif
