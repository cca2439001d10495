// SPDX-License-Identifier: Apache-2.0
// Measuring the roofs: each loop long enough for the clock, several times; the best is the roof, the
// median tells how disturbed the machine was.
#include "roofs/roofs.h"

#include <stdlib.h>

#define ROUNDS 9
#define MAX_BYTES ((uint64_t)64 << 20)
#define STRIDE 256 // bytes between the pieces of a strided copy
#define PIECE 16

#if defined(__x86_64__)
#define N_LOOPS 4
#define N_READERS 3
static const etp_roof_loop *const k_loops[] = {&etp_roof_sse_fma, &etp_roof_avx2_fma, &etp_roof_avx512_fma,
                                               &etp_roof_vnni_dot};
static const etp_roof_reader *const k_readers[] = {&etp_roof_sse_read, &etp_roof_avx2_read,
                                                   &etp_roof_avx512_read};
#else // bandwidth of the C library's functions alone
#define N_LOOPS 0
#define N_READERS 0
static const etp_roof_loop *const k_loops[] = {NULL};
static const etp_roof_reader *const k_readers[] = {NULL};
#endif

const etp_roof_loop *etp_roof_loop_at(size_t index)
{
    return index < N_LOOPS ? k_loops[index] : NULL;
}

const etp_roof_reader *etp_roof_reader_at(size_t index)
{
    return index < N_READERS ? k_readers[index] : NULL;
}

bool etp_roof_can_run(const etp_isa_cpu *cpu, const char *flag)
{
    if (!flag) {
        return true;
    }
    int index = etp_x86_flag_find(flag, strlen(flag));
    return cpu->family == ETP_ISA_X86_64 && index >= 0 && etp_x86_has(&cpu->x86, (size_t)index);
}

typedef struct bench {
    uint64_t (*now_ns)(void);
    double round_s; // length of one round
    etp_arena *arena;
    etp_roofs *out;
    uint8_t *from, *to; // MAX_BYTES each
    const etp_roof_loop *loop;
    const etp_roof_reader *reader;
    volatile uint64_t sink;
} bench;

typedef void work(bench *b, uint64_t times, uint64_t bytes);

static int by_value(const void *pa, const void *pb)
{
    double a = *(const double *)pa, b = *(const double *)pb;
    return (a > b) - (a < b);
}

// PER_TIME units of UNIT are done by each of W's times.
static etp_status measure(bench *b, work *w, etp_roof roof, double per_time, etp_error *err)
{
    uint64_t times = 1;
    double rates[ROUNDS];
    for (;;) { // how often makes a round
        uint64_t start = b->now_ns();
        w(b, times, roof.bytes);
        double s = (double)(b->now_ns() - start) / 1e9;
        if (s >= b->round_s / 2 || times > UINT64_MAX / 16) {
            times = s > 0 ? (uint64_t)((double)times * b->round_s / s) + 1 : times;
            break;
        }
        times *= 4;
    }
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t start = b->now_ns();
        w(b, times, roof.bytes);
        uint64_t ns = b->now_ns() - start;
        rates[i] = per_time * (double)times / ((double)(ns ? ns : 1) / 1e9);
    }
    qsort(rates, ROUNDS, sizeof *rates, by_value);
    roof.best = rates[ROUNDS - 1];
    roof.median = rates[ROUNDS / 2];
    return ETP_PUSH(b->arena, b->out, roof) ? ETP_OK : etp_fail_nomem(err, "roofs");
}

static void work_loop(bench *b, uint64_t times, uint64_t bytes)
{
    (void)bytes;
    b->sink = (uint64_t)b->loop->run(times);
}

static void work_read(bench *b, uint64_t times, uint64_t bytes)
{
    for (uint64_t i = 0; i < times; i++) {
        b->sink = b->reader->read(b->from, bytes);
    }
}

static void work_write(bench *b, uint64_t times, uint64_t bytes)
{
    for (uint64_t i = 0; i < times; i++) {
        memset(b->to, (int)(i & 127), bytes);
        b->sink = b->to[i % bytes];
    }
}

static void work_copy(bench *b, uint64_t times, uint64_t bytes)
{
    for (uint64_t i = 0; i < times; i++) {
        memcpy(b->to, b->from, bytes);
        b->sink = b->to[i % bytes];
    }
}

// Pieces from far apart, written side by side: what a transpose does.
static void work_strided(bench *b, uint64_t times, uint64_t bytes)
{
    for (uint64_t i = 0; i < times; i++) {
        uint8_t *to = b->to;
        for (uint64_t first = 0; first < STRIDE; first += PIECE) {
            for (uint64_t at = first; at < bytes; at += STRIDE, to += PIECE) {
                memcpy(to, b->from + at, PIECE);
            }
        }
        b->sink = b->to[i % bytes];
    }
}

static etp_status measure_memory(bench *b, const etp_isa_cpu *cpu, etp_error *err)
{
    for (size_t i = 0; etp_roof_reader_at(i); i++) {
        if (etp_roof_can_run(cpu, etp_roof_reader_at(i)->flag)) {
            b->reader = etp_roof_reader_at(i); // the last one that can run is the widest
        }
    }
    for (uint64_t bytes = (uint64_t)16 << 10; bytes <= MAX_BYTES; bytes *= 4) {
        double n = (double)bytes;
        if (b->reader) {
            ETP_TRY(measure(b, work_read, (etp_roof){b->reader->isa, "read", "byte/s", bytes, 0, 0}, n, err));
        }
        ETP_TRY(measure(b, work_write, (etp_roof){"", "write", "byte/s", bytes, 0, 0}, n, err));
        ETP_TRY(measure(b, work_copy, (etp_roof){"", "copy", "byte/s", bytes, 0, 0}, n, err));
        ETP_TRY(measure(b, work_strided, (etp_roof){"", "strided_copy", "byte/s", bytes, 0, 0}, n, err));
    }
    return ETP_OK;
}

// Smallest step that the clock was seen to make.
static etp_status measure_timer(bench *b, etp_error *err)
{
    uint64_t best = UINT64_MAX, steps[1001];
    for (size_t i = 0; i < 1001; i++) {
        uint64_t start = b->now_ns(), end = start;
        while (end == start) {
            end = b->now_ns();
        }
        steps[i] = end - start;
        best = steps[i] < best ? steps[i] : best;
    }
    double sorted[1001];
    for (size_t i = 0; i < 1001; i++) {
        sorted[i] = (double)steps[i];
    }
    qsort(sorted, 1001, sizeof *sorted, by_value);
    etp_roof roof = {"", "timer", "ns", 0, (double)best, sorted[500]};
    return ETP_PUSH(b->arena, b->out, roof) ? ETP_OK : etp_fail_nomem(err, "roofs");
}

etp_status etp_roofs_measure(const etp_isa_cpu *cpu, double seconds, uint64_t (*now_ns)(void),
                             etp_arena *arena, etp_roofs *out, etp_error *err)
{
    *out = (etp_roofs){0};
    bench b = {.now_ns = now_ns, .arena = arena, .out = out};
    // Four loops and four kinds of memory work at seven sizes, ROUNDS + 1 rounds each.
    b.round_s = seconds / ((N_LOOPS + 4 * 7) * (ROUNDS + 1));
    uint8_t *memory = etp_arena_alloc_raw(arena, 2 * MAX_BYTES + 128, 1);
    if (!memory) {
        return etp_fail_nomem(err, "roofs");
    }
    memset(memory, 1, 2 * MAX_BYTES + 128); // every page is there before anything is measured
    b.from = memory + (64 - (uintptr_t)memory % 64);
    b.to = b.from + MAX_BYTES;
    for (size_t i = 0; etp_roof_loop_at(i); i++) {
        b.loop = etp_roof_loop_at(i);
        if (etp_roof_can_run(cpu, b.loop->flag)) {
            ETP_TRY(measure(&b, work_loop, (etp_roof){b.loop->isa, b.loop->what, "op/s", 0, 0, 0},
                            (double)b.loop->ops_per_trip, err));
        }
    }
    ETP_TRY(measure_memory(&b, cpu, err));
    return measure_timer(&b, err);
}
