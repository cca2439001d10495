// SPDX-License-Identifier: Apache-2.0
// Which data files (.ptd) does a program need beside it?
#ifndef ETP_PROGRAM_DATA_FILE_H
#define ETP_PROGRAM_DATA_FILE_H

#include <etprof/program.h>

typedef struct etp_outside { // names of tensors whose data a program does not hold, each once
    etp_str *items;          // borrowed from the program
    size_t n, cap;
} etp_outside;

// Delegates whose payload cannot be read are taken to be whole. ARENA stands under a guard.
void etp_program_outside(const etp_program *program, etp_arena *arena, etp_outside *out);

#endif
