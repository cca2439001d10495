// SPDX-License-Identifier: Apache-2.0
// Options that verbs which read recordings share: what their ticks are (OF has etp_trace_units
// `units`), what explains their times.
#ifndef ETP_CLI_UNITS_H
#define ETP_CLI_UNITS_H

#include <etprof/trace.h>

#include "cli/command.h"

// clang-format off
#define ETP_CLI_UNITS                                                                              \
    OPT("source-unit", 0, STRING, units.source, "UNIT",                                            \
        "what a tick of a dump is: ns (default), us, ms, s or cycles:HZ"),                         \
    OPT("delegate-unit", 0, STRING, units.delegate, "UNIT", "likewise, of a delegate's own clock")
// What explains the times of bare dumps. OF has texts `program`, `record`, `roofs`.
#define ETP_CLI_EXPLAINED                                                                          \
    OPT("pte", 0, STRING, program, "FILE",                                                         \
        "the program of bare dumps: adds nodes, work and reasons"),                                \
    OPT("etrecord", 'r', STRING, record, "FILE",                                                   \
        "the exporter's record: adds source lines (needs --pte)"),                                 \
    OPT("roofs-file", 0, STRING, roofs, "FILE",                                                    \
        "roofs of the device, from 'etprof roofs --format json'")
// clang-format on

// Of verbs that ask about an answer, of a folder or of dumps. cmd_explain.c
typedef struct etp_reading_options {
    etp_trace_units units;
    const char *baseline, *program, *roofs, *phase;
} etp_reading_options;
extern const etp_opt k_etp_reading_options[];

#endif
