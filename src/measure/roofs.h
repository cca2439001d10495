// SPDX-License-Identifier: Apache-2.0
// Measuring the roofs of a device: in this process for the machine we run on, else in the runner's.
#ifndef ETP_MEASURE_ROOFS_H
#define ETP_MEASURE_ROOFS_H

#include <etprof/stats.h>

#include "device/device.h"
#include "roofs/roofs.h"

typedef struct etp_roofs_options {
    uint32_t threads[ETP_ROOF_COUNTS_MAX]; // n_threads 0: 1, 2, 4 … up to the device's processors
    size_t n_threads;
    double seconds; // for each thread count
} etp_roofs_options;

// What tells the device and its clock state from others. DEVICE NULL or local: this machine.
ETP_NODISCARD etp_status etp_roofs_describe(etp_device *device, etp_arena *arena,
                                            etp_roof_table *out, etp_error *err);
// Adds to TABLE, which etp_roofs_describe filled. Under emulation the loops are checked and not
// timed. ETP_CHILD when a loop computed something else than it must, or the runner did not do its
// part.
ETP_NODISCARD etp_status etp_roofs_gather(etp_device *device, const etp_roofs_options *options,
                                          etp_arena *arena, etp_roof_table *table, etp_error *err);

#endif
