// SPDX-License-Identifier: Apache-2.0
// The mask in force: features are hidden from the SDK inside a function that its
// libraries call while they are being initialised, before main() runs.
#ifndef ETP_RUNNER_HOOK_H
#define ETP_RUNNER_HOOK_H

#include "isa/isa.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct etp_hook_state {
    const char *hook;            // the pre-empted function
    bool requested;              // ETPROF_MASK is set
    bool in_force;               // the mask was valid and has been applied
    char text[ETP_ISA_TEXT_MAX]; // ETPROF_MASK
    char why[512];               // why it is not in force although requested
    etp_isa_cpu cpu;             // with nothing hidden
    etp_isa_mask cleared;        // what was there and is hidden now
    uint64_t calls;              // calls by SDK libraries answered with the mask in force
    char caller[64];             // file name of the last such library
    uint64_t asked; // calls by SDK libraries at all, also without a mask; see etp_hook_hand_on
} etp_hook_state;

// A snapshot. Before the first call of the hook it applies the mask itself where
// that is possible, so that a wrong mask is reported in any case.
void etp_hook_get(etp_hook_state *out);

// The CPU as SDK libraries see it now, read back from where they read it.
// False where that cannot be read.
bool etp_hook_seen(etp_isa_cpu *out);

// Calls by SDK libraries until now; two of them tell how often an execution asks.
uint64_t etp_hook_asked(void);

// The evidence is complete: from now on calls go on to the real function by one branch, still
// masked, and are not counted. Returns what the hook adds to one call, in picoseconds, as measured
// here; 0: not measured.
uint64_t etp_hook_hand_on(void);

#ifdef __cplusplus
}
#endif

#endif
