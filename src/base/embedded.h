// SPDX-License-Identifier: Apache-2.0
// A file of the tree, compiled in (cmake/embed.cmake).
#ifndef ETP_BASE_EMBEDDED_H
#define ETP_BASE_EMBEDDED_H

#include <etprof/bytes.h>

// Tables of these end with a NULL name. Everything lives as long as the program.
typedef struct etp_embedded {
    const char *name;   // up to its first dot: "04_run_profiling"
    const char *folder; // the one it lies in: "agent_skill_ml_profiling"
    etp_str text;       // its bytes, followed by a zero that is not counted
} etp_embedded;

#endif
