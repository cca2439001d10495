// SPDX-License-Identifier: Apache-2.0
// etprof-launch starts a program that was not built for it, as it is or at a CPU-feature level.
// Shared by its files.
#ifndef ETP_LAUNCHER_LAUNCH_H
#define ETP_LAUNCHER_LAUNCH_H

#include <stdbool.h>

#include "isa/isa.h"

// Exit statuses of our own; everything else is the program's. The same numbers as env and nohup.
enum { LAUNCH_FAILED = 125, LAUNCH_NOT_EXECUTABLE = 126, LAUNCH_NOT_FOUND = 127 };

typedef struct launch {
    char **argv;       // program and its arguments
    etp_isa_mask mask; // what to hide
    const char *cpus;  // to stay on: "0,2-3", NULL all
    const char *preload_library;
    char why[512]; // why it could not be done, "" it could
} launch;

// Keeps this process, and the program that it becomes, on l->cpus.
bool launch_pin(launch *l);
// Becomes the program, with a library that answers for the system's question about CPU features.
// Comes back only when that fails, with errno.
void launch_preloaded(launch *l);
// Becomes the program, as it is; comes back likewise.
void launch_as_it_is(launch *l);
// Why it failed; the first reason stays in l->why.
void launch_why(launch *l, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

#endif
