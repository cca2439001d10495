// SPDX-License-Identifier: Apache-2.0
// What a process does from its start to the end of its first inference: parts that come one after
// another, so that they add up to the whole. Shared by runner and tool. libc only.
#ifndef ETP_BASE_LOAD_PARTS_H
#define ETP_BASE_LOAD_PARTS_H

// PART(enum, word, title for people, what it is), in the order of tables.
#define ETP_LOAD_PARTS(PART)                                                                      \
    PART(PROCESS, "process", "process and libraries", "start of the process up to main")          \
    PART(RUNNER, "runner", "the runner itself", "options, evidence of the mask, threads")         \
    PART(MAPPING, "mapping", "opening and mapping", "the program's file")                         \
    PART(VERIFICATION, "verification", "verification", "of the program, which it reads for that") \
    PART(METHOD, "method", "methods",                                                             \
         "their memory, operators, constants; page faults of delegates, too")                     \
    PART(GRAPH, "graph", "graphs of delegates", "defined for XNNPACK from what the program says") \
    PART(PACKING, "packing", "packing", "weights of XNNPACK's operators, in their layout")        \
    PART(CREATION, "creation", "the rest of delegates", "XNNPACK's operators but for packing")    \
    PART(INPUTS, "inputs", "inputs", "made by the runner")                                        \
    PART(FIRST, "first", "first inference", "workspace, pages that are touched for the first time")

typedef enum etp_load_what {
#define ETP_LOAD_ENUM(name, word, title, what) ETP_LOAD_##name,
    ETP_LOAD_PARTS(ETP_LOAD_ENUM)
#undef ETP_LOAD_ENUM
        ETP_LOAD_WHATS
} etp_load_what;

#endif
