// SPDX-License-Identifier: Apache-2.0
// What this machine can do at most: arithmetic per instruction set and memory bandwidth per working
// set, measured by loops that do nothing else. One thread.
//
// Each arithmetic loop leaves a result that only the claimed number of operations can give, so that a
// test can tell whether the compiler kept the work.
#ifndef ETP_ROOFS_ROOFS_H
#define ETP_ROOFS_ROOFS_H

#include "isa/isa.h"

#include <etprof/arena.h>

typedef struct etp_roof_loop {
    const char *isa;  // "sse", "avx2", "avx512", "avx512-vnni"
    const char *what; // "fma_f32": multiply-adds of float; "dot_i8": u8 × s8 into s32
    const char *flag; // cpuinfo flag that the CPU must have, NULL: every CPU of this family
    uint64_t ops_per_trip; // multiply and add count as two
    // Runs TRIPS rounds of multiply-adds that add 1 (4 for dot_i8) to every lane; the lanes' common value, or
    // −1 when they differ.
    int64_t (*run)(uint64_t trips);
} etp_roof_loop;

typedef struct etp_roof_reader {
    const char *isa, *flag;
    // Reads BYTES (a multiple of 1024, aligned to 64) once; the value depends on all of them.
    uint64_t (*read)(const void *bytes, uint64_t n);
} etp_roof_reader;

// Loops of the family this program was built for, least demanding first; NULL behind the last.
const etp_roof_loop *etp_roof_loop_at(size_t index);
const etp_roof_reader *etp_roof_reader_at(size_t index);
bool etp_roof_can_run(const etp_isa_cpu *cpu, const char *flag);

typedef struct etp_roof {
    const char *isa;   // "" for what the C library does
    const char *what;  // fma_f32, dot_i8, read, write, copy, strided_copy, timer
    const char *unit;  // "op/s", "byte/s", "ns"
    uint64_t bytes;    // working set, 0 none
    double best, median;
} etp_roof;

typedef struct etp_roofs {
    etp_roof *items;
    size_t n, cap;
} etp_roofs;

// Measures everything that CPU can run, about SECONDS in all. NOW_NS is the clock.
ETP_NODISCARD etp_status etp_roofs_measure(const etp_isa_cpu *cpu, double seconds, uint64_t (*now_ns)(void),
                                           etp_arena *arena, etp_roofs *out, etp_error *err);

// The tables of each instruction set; private to this folder.
extern const etp_roof_loop etp_roof_sse_fma, etp_roof_avx2_fma, etp_roof_avx512_fma, etp_roof_vnni_dot;
extern const etp_roof_reader etp_roof_sse_read, etp_roof_avx2_read, etp_roof_avx512_read;

#endif
