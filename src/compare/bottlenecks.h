// SPDX-License-Identifier: Apache-2.0
// What takes most of an inference, by name: for whoever shows an answer.
#ifndef ETP_COMPARE_HOT_H
#define ETP_COMPARE_HOT_H

#include "compare/ab.h"

typedef struct etp_ab_kernels { // operators that have a name, or whose names changed alike
    etp_str before, now;        // empty: that arm has none
    etp_engagement state;
    etp_reason reason;
    uint32_t operators;
    const etp_ab_operator *first;
    etp_ab_clocked_time before_time, now_time;
} etp_ab_kernels;
// Longest first. The number; 0 also when out of memory.
size_t etp_ab_kernel_groups(const etp_ab *ab, etp_arena *arena, etp_ab_kernels **out);
// Those outside delegates of the arm that runs now; nothing is said of another.
size_t etp_ab_portable_names(const etp_ab *ab, etp_arena *arena, etp_ab_kernels **out);

// "local, AMD EPYC": whose roofs they are. Only with roofs.
const char *etp_ab_roofs_device(const etp_ab *ab);

#endif
