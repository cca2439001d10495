// SPDX-License-Identifier: Apache-2.0
// What this machine can do at most: arithmetic per instruction set, memory bandwidth per working
// set and the cost of a parallel region, measured by loops that do nothing else, on 1 … n threads.
//
// Each arithmetic loop leaves a result that only the claimed number of operations can give, so that
// a test can tell whether the compiler kept the work. libc only: also compiled into the runner.
#ifndef ETP_ROOFS_ROOFS_H
#define ETP_ROOFS_ROOFS_H

#include "isa/isa.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- instruction sets: known for every family, whatever this program was built for ----

// Those that kernels are told apart by.
typedef enum etp_roof_isa {
    ETP_ROOF_ISA_OTHER,
    ETP_ROOF_ISA_AVX512,
    ETP_ROOF_ISA_VNNI
} etp_roof_isa;

typedef struct etp_roof_set {
    const char *isa; // "avx2", "sme"
    etp_roof_isa id;
    etp_isa_family family;
    const char *flags; // cpuinfo flags it needs, separated by commas, NULL none
    uint64_t hwcap, hwcap2;
    bool matrix; // a unit for matrix products: convolutions and multiplications alone can use it
} etp_roof_set;

const etp_roof_set *etp_roof_set_find(const char *isa); // NULL unknown
bool etp_roof_set_on(const etp_roof_set *set, const etp_isa_cpu *cpu);
// Whether LEVEL leaves it visible (ETP_LEVEL_NONE hides nothing). False for another family's level.
bool etp_roof_set_at(const etp_roof_set *set, etp_level level);

// ---- loops of the family this program was built for ----

typedef enum etp_roof_what {
    ETP_ROOF_OTHER, // of a later version
    ETP_ROOF_FMA_F32,
    ETP_ROOF_FMA_F16, // sums in either precision
    ETP_ROOF_DOT_I8,  // sums in 32 bits
    ETP_ROOF_READ,
    ETP_ROOF_WRITE,
    ETP_ROOF_COPY,
    ETP_ROOF_STRIDED_COPY,
    ETP_ROOF_REGION,
    ETP_ROOF_TIMER,
    ETP_ROOF_WHATS
} etp_roof_what;
const char *etp_roof_what_name(etp_roof_what what); // "fma_f32"

typedef struct etp_roof_loop {
    const char *isa;       // a set
    etp_roof_what what;    // arithmetic
    uint32_t adds;         // what a trip adds to every sum
    uint64_t exact_trips;  // up to which the sum's type holds the result exactly
    uint64_t (*ops)(void); // operations of a trip; multiply and add count as two
    // The sums' common value after TRIPS trips over ones, or −1 when they differ.
    int64_t (*run)(uint64_t trips);
} etp_roof_loop;

typedef struct etp_roof_reader {
    const char *isa;
    // Reads BYTES (a multiple of 1024, aligned to 64) once; the value depends on all of them.
    uint64_t (*read)(const void *bytes, uint64_t n);
} etp_roof_reader;

// Least demanding first; NULL behind the last.
const etp_roof_loop *etp_roof_loop_at(size_t index);
const etp_roof_reader *etp_roof_reader_at(size_t index);

// ---- measuring ----

#define ETP_ROOF_THREADS_MAX 256
#define ETP_ROOF_COUNTS_MAX 16 // thread counts of one measurement
#define ETP_ROOF_MEMORY ((2 * ((size_t)64 << 20)) + 128)

typedef enum etp_roof_unit {
    ETP_ROOF_OP_S,
    ETP_ROOF_BYTE_S,
    ETP_ROOF_NS,
    ETP_ROOF_UNITS
} etp_roof_unit;

typedef struct etp_roof {
    const char *isa; // "" for what the C library does
    etp_roof_what what;
    etp_roof_unit unit;
    uint32_t threads;
    uint64_t bytes;        // working set of all threads together, 0 none
    uint64_t best, median; // both 0: the loop's result was checked, its speed was not measured
    uint64_t again;        // the best of another pass, 0 unknown
} etp_roof;

#define ETP_ROOF_AGREE 0.05 // two passes that differ by less agree
// Share by which the best of another pass differs; NAN unknown.
double etp_roof_noise(const etp_roof *roof);

// Roofs, and where and in which clock state they were measured.
typedef struct etp_roof_table {
    const char *device;   // "local", "ssh:board"
    const char *cpu;      // its name, "" unknown
    const char *features; // isa.h text of what it has
    const char *governor; // "" unknown
    uint64_t max_khz;     // highest clock of the first processor, 0 unknown
    int boost;            // 1 on, 0 off, −1 unknown
    uint32_t cpus;        // 0 unknown
    bool emulated;        // then nothing was timed
    double waited;        // share of the time that its threads had no CPU, NAN unknown
    int64_t measured_s;   // when, since 1970; 0 unknown
    etp_roof *items;
    size_t n, cap;
} etp_roof_table;

typedef struct etp_roofs_load { // beside other programs, threads wait
    uint64_t span_ns, wait_ns;  // time of all threads together, and of it without a CPU; 0 unknown
} etp_roofs_load;

typedef struct etp_roofs_request {
    const etp_isa_cpu *cpu;
    uint32_t threads[ETP_ROOF_COUNTS_MAX]; // each 1 … ETP_ROOF_THREADS_MAX
    size_t n_threads;
    // For each thread count, up to twice as long where passes differ; 0: only check that the loops
    // compute what they claim.
    double seconds;
    uint64_t (*now_ns)(void);
    uint64_t (*cpu_ns)(void); // that this process ran; NULL: not to be had
    etp_roofs_load *load;     // out, NULL is fine
    void *memory;             // ETP_ROOF_MEMORY bytes
} etp_roofs_request;

typedef bool etp_roofs_emit(void *ctx, const etp_roof *roof); // false: stop

// Measures everything the CPU can run. False with the reason in WHY: a loop computed something else
// than it must, threads cannot be had, or EMIT said stop ("").
bool etp_roofs_measure(const etp_roofs_request *request, etp_roofs_emit *emit, void *ctx, char *why,
                       size_t why_cap);

// 1, 2, 4 … and CPUS itself; returns how many.
size_t etp_roof_default_threads(uint32_t cpus, uint32_t out[ETP_ROOF_COUNTS_MAX]);
const char *etp_roof_unit_name(etp_roof_unit unit); // "op/s", "byte/s", "ns"
// Whether two roofs are of the same thing.
bool etp_roof_same(const etp_roof *a, const etp_roof *b);
// "1,2,8": strictly ascending. False when it is nothing of the kind.
bool etp_roof_threads_parse(const char *text, uint32_t out[ETP_ROOF_COUNTS_MAX], size_t *out_n);

#ifdef __cplusplus
}
#endif

#endif
