// SPDX-License-Identifier: Apache-2.0
// etprof-launch starts a program that was not built for it at a CPU-feature level. Shared by its
// files.
#ifndef ETP_LAUNCHER_LAUNCH_H
#define ETP_LAUNCHER_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "isa/isa.h"

// Exit statuses of our own; everything else is the program's. The same numbers as env and nohup.
enum { LAUNCH_FAILED = 125, LAUNCH_NOT_EXECUTABLE = 126, LAUNCH_NOT_FOUND = 127 };

typedef enum launch_trap { TRAP_NONE, TRAP_INT80, TRAP_SPIN } launch_trap; // see filter_x86.c

typedef struct launch {
    char **argv;       // program and its arguments
    etp_isa_mask mask; // what to hide
    bool once;         // only the program itself: let go of it after its start
    const char *cpus;  // to stay on: "0,2-3", NULL all
    const char *preload_library;
    // What became of it, for --report:
    const char *method; // "auxv", "cpuid", "preload", "insert", "none"
    char why[512];      // why it could not be done, "" it could
    unsigned programs;  // started at the level (execs)
    launch_trap trap;   // what takes their place (x86-64)
    unsigned sites;     // cpuid instructions that were replaced
    unsigned left;      // left alone: of files whose kernels cpuinfo chooses, by others
    unsigned missed;    // and that were not: in memory that is the file itself, or not sure to be
                        // instructions
    unsigned long answers; // cpuid questions answered
    unsigned long changed; // of them with something hidden
    unsigned long looks;   // stops of threads to see whether they wait for an answer
    uint64_t hwcap_before, hwcap2_before, hwcap_after, hwcap2_after; // of the last program
    bool cpuid_faulting;                                             // the system offers it
} launch;

// Starts and follows the program; its wait status into *out_status. False: it was not started (or
// not at the level), and l->why says why.
bool launch_traced(launch *l, int *out_status);
// Starts the program with PRELOAD_LIBRARY (macOS: inserted); replaces this process. Returns only
// when that fails.
void launch_preloaded(launch *l);
// Whether launch_traced can do anything here, and whether launch_preloaded can.
bool launch_can_trace(void);
bool launch_can_preload(void);
// What the program inherits: CPUs. False: l->why.
bool launch_pin(launch *l);

// Says in l->why, once.
void launch_why(launch *l, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

// ---- auxv.c: Linux ----

// Clears l->mask's bits in the auxiliary vector of a stopped program that has not run yet.
bool auxv_hide(launch *l, pid_t pid, int mem_fd, uint64_t sp);
// AT_ENTRY, 0 when it is not there.
uint64_t auxv_entry(int mem_fd, uint64_t sp);

// ---- elf_sites.c: x86-64 ----

typedef struct cpuid_sites { // file offsets of true cpuid instructions
    uint64_t *offsets;
    size_t n;
    uint64_t entry;      // e_entry
    bool by_symbols;     // only those in functions called cpuinfo_*
    bool system_library; // a C, C++ or math library: left alone
    size_t left;         // not by cpuinfo in a file whose kernels cpuinfo chooses
    size_t unsure;       // further places that may be such an instruction, or data
    struct {
        uint64_t offset, vaddr, size;
    } code[8]; // executable segments
    size_t n_code;
} cpuid_sites;

// False when PATH is no x86-64 ELF file.
bool elf_find_cpuid(const char *path, cpuid_sites *out);
bool elf_find_cpuid_in(const unsigned char *data, size_t size, cpuid_sites *out);
void elf_sites_free(cpuid_sites *sites);
// Static: the kernel starts it without a dynamic linker. False when it cannot be read.
bool elf_is_static(const char *path, bool *out_static);

// ---- x86_length.c ----

// Length of the instruction at CODE (at most LEFT bytes), 0 when it is none of 64-bit mode.
size_t x86_instruction_length(const unsigned char *code, size_t left);

#endif
