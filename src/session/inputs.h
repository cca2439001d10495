// SPDX-License-Identifier: Apache-2.0
// Example inputs that an export left beside a model: MODEL.pte.inputs/<method>/<index>.bin.
#ifndef ETP_SESSION_INPUTS_H
#define ETP_SESSION_INPUTS_H

#include <etprof/arena.h>

typedef struct etp_inputs_found {
    const char *dir;   // of the method
    const char *files; // in the form of --inputs; NULL: there are none
    size_t n;
    uint64_t bytes; // in all of them
} etp_inputs_found;

// METHOD NULL: of the only one there is.
etp_inputs_found etp_inputs_beside(const char *model, const char *method, etp_arena *arena);

#endif
