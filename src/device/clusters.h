// SPDX-License-Identifier: Apache-2.0
// Kinds of CPUs of a device, and lists of CPUs.
#ifndef ETP_DEVICE_CLUSTERS_H
#define ETP_DEVICE_CLUSTERS_H

#include "device/device.h"

#define ETP_CPUS_MAX 1024
#define ETP_CLUSTERS_MAX 64

typedef struct etp_cpu_set {
    uint64_t bits[ETP_CPUS_MAX / 64];
} etp_cpu_set;

// "0-3,6", or CPUs between blanks; false for anything else, an empty list included.
bool etp_cpu_set_parse(etp_str text, etp_cpu_set *out);
bool etp_cpu_set_within(const etp_cpu_set *inner, const etp_cpu_set *outer);
bool etp_cpu_set_meets(const etp_cpu_set *a, const etp_cpu_set *b);
// "0-3,6"; NULL on out of memory.
const char *etp_cpu_set_text(const etp_cpu_set *s, etp_arena *arena);

typedef struct etp_cluster { // CPUs with one clock
    etp_cpu_set cpus;
    uint64_t speed; // highest clock in kHz, or capacity where clocks cannot be read
} etp_cluster;
typedef struct etp_topology {
    etp_cluster clusters[ETP_CLUSTERS_MAX]; // slowest first
    size_t n;                               // 0: the device does not tell
} etp_topology;

// From the fact "clusters" of a device; pieces that make no sense are left out.
void etp_topology_parse(etp_str clusters, etp_topology *out);
// WORD "big", "mid" or "little" as a list of CPUs of the device; any other WORD is a list already
// and comes back. ETP_USAGE when the device has no such kind.
ETP_NODISCARD etp_status etp_cpus_resolve(etp_device *d, const char *word, etp_arena *arena,
                                          const char **out, etp_error *err);

// SME units that serve CPUS (NULL: all), from the fact "smidr" (SMIDR_EL1 of each CPU: "0:VALUE
// 4:VALUE" says CPUs 0 to 3 and 4 on). 0: unknown.
uint32_t etp_sme_units(etp_str smidr, const etp_cpu_set *cpus, uint32_t n_cpus);

#endif
