// SPDX-License-Identifier: Apache-2.0
// Measuring the roofs: each loop long enough for the clock, several times, in passes over all of
// them until two passes agree; the best is the roof, the best of another pass tells its noise.
#include "roofs/roofs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/choice.h"
#include "roofs/internal.h"

#define ROUNDS 15 // of a pass; short ones: one of them is left alone even beside other work
#define MIN_ROUNDS 3
#define PASSES 2      // each over all loops: what disturbs one of a second is gone in the next
#define PASSES_MOST 4 // of those whose passes differ
#define TASKS_MOST 64
#define MIN_BYTES ((uint64_t)16 << 10)
#define MAX_BYTES ((uint64_t)64 << 20)
#define MIN_SLICE 1024 // of one thread; what readers take is a multiple of it
#define STRIDE 256     // bytes between the pieces of a strided copy
#define PIECE 16
#define CHECK_TRIPS 100
#define LINE 8 // words of a cache line: one result each

static const etp_roof_loop *const k_loops[] = {
#if defined(__x86_64__)
    &etp_roof_sse_fma,
    &etp_roof_ssse3_dot,
    &etp_roof_avx2_fma,
    &etp_roof_avx2_dot,
    &etp_roof_avx512_fma,
    &etp_roof_avx512_dot,
    &etp_roof_vnni_dot,
    &etp_roof_fp16_fma,
#elif defined(__aarch64__)
    &etp_roof_neon_fma,
    &etp_roof_neon_dot,
    &etp_roof_neon_fp16,
    &etp_roof_dotprod_dot,
    &etp_roof_i8mm_dot,
    &etp_roof_sme_f32,
    &etp_roof_sme_f16,
    &etp_roof_sme_i8,
    &etp_roof_sme2_f32,
#endif
    NULL,
};
static const etp_roof_reader *const k_readers[] = {
#if defined(__x86_64__)
    &etp_roof_sse_read,
    &etp_roof_avx2_read,
    &etp_roof_avx512_read,
#elif defined(__aarch64__)
    &etp_roof_neon_read,
#endif
    NULL,
};

const etp_roof_loop *etp_roof_loop_at(size_t index)
{
    return index < sizeof k_loops / sizeof *k_loops ? k_loops[index] : NULL;
}

const etp_roof_reader *etp_roof_reader_at(size_t index)
{
    return index < sizeof k_readers / sizeof *k_readers ? k_readers[index] : NULL;
}

typedef struct bench bench;
typedef void work(bench *b, uint32_t thread);

// What gives one roof.
typedef struct task {
    etp_roof roof;
    work *work; // NULL: empty regions
    const etp_roof_loop *loop;
    double per_time; // operations or bytes of each thread
    uint64_t slice;  // bytes of each thread
} task;

struct bench {
    const etp_roofs_request *request;
    etp_roofs_emit *emit;
    void *ctx;
    char *why;
    size_t why_cap;
    double round_s;                // length of one round
    uint8_t *from, *to;            // MAX_BYTES each
    const etp_roof_reader *reader; // the widest that can run
    etp_roof_pool *pool;
    uint32_t threads;
    task tasks[TASKS_MOST];
    size_t n_tasks;
    const task *task;         // now
    uint64_t times;           // of its work, in each thread
    uint64_t span_ns, cpu_ns; // of all rounds: time of all threads, and what they ran of it
    volatile uint64_t results[ETP_ROOF_THREADS_MAX * LINE];
};

static bool fail(bench *b, const char *text, const etp_roof_loop *l, int64_t found)
{
    if (l) {
        (void)snprintf(b->why, b->why_cap,
                       "the %s loop of %s computed %lld in %d trips, expected %lld",
                       etp_roof_what_name(l->what), l->isa, (long long)found, CHECK_TRIPS,
                       (long long)CHECK_TRIPS * l->adds);
    } else {
        (void)snprintf(b->why, b->why_cap, "%s", text);
    }
    return false;
}

static void part(void *ctx, uint32_t thread)
{
    bench *b = ctx;
    if (b->task->work) {
        b->task->work(b, thread);
    }
}

static uint64_t round_ns(bench *b)
{
    uint64_t start = b->request->now_ns();
    for (uint64_t i = 0; i < (b->task->work ? 1 : b->times); i++) {
        etp_roof_pool_run(b->pool, part, b);
    }
    uint64_t ns = b->request->now_ns() - start;
    return ETP_MAX(ns, 1);
}

static int by_value(const void *pa, const void *pb)
{
    double a = *(const double *)pa, b = *(const double *)pb;
    return ETP_ORDER(a, b);
}

// Shortest of three, on this thread alone: somebody else's work only adds to it, and with other
// threads it is met more often.
static double trial_s(bench *b)
{
    double least = 0;
    for (int i = 0; i < 3; i++) {
        uint64_t start = b->request->now_ns();
        if (b->task->work) {
            b->task->work(b, 0);
        } else {
            (void)round_ns(b);
        }
        double s = (double)(b->request->now_ns() - start + 1) / 1e9;
        least = i == 0 || s < least ? s : least;
    }
    return least;
}

static uint64_t cpu_ns(const bench *b)
{
    return b->request->cpu_ns ? b->request->cpu_ns() : 0;
}

// One pass of T: adds to its roof.
static void measure(bench *b, task *t)
{
    double rates[ROUNDS], spent = 0;
    int n = 0;
    b->task = t;
    for (b->times = 1;; b->times *= 4) { // how often makes a round
        double s = trial_s(b);
        if (s >= b->round_s / 4 || b->times > UINT64_MAX / 16) {
            b->times = (uint64_t)((double)b->times * b->round_s / s) + 1;
            break;
        }
    }
    uint64_t ran = cpu_ns(b);
    // Slow work on large memory ends when its time is over, but not before a few rounds.
    for (; n < ROUNDS && (n < MIN_ROUNDS || spent < 2 * ROUNDS * b->round_s); n++) {
        double ns = (double)round_ns(b), times = (double)b->times;
        spent += ns / 1e9;
        rates[n] = t->work ? t->per_time * times * b->threads / (ns / 1e9) : ns / times;
    }
    if (t->work && b->request->cpu_ns) {
        b->span_ns += (uint64_t)(spent * 1e9) * b->threads;
        b->cpu_ns += cpu_ns(b) - ran;
    }
    qsort(rates, (size_t)n, sizeof *rates, by_value);
    // A roof that is 0 would be one that was not measured.
    double best = rates[t->work ? n - 1 : 0], median = rates[n / 2];
    uint64_t found = best < 1 ? 1 : (uint64_t)(best + 0.5);
    etp_roof *r = &t->roof;
    bool better = t->work ? found > r->best : found < r->best;
    if (r->best == 0 || better) {
        r->again = r->best;
        r->best = found;
        r->median = median < 1 ? 1 : (uint64_t)(median + 0.5);
    } else if (r->again == 0 || (t->work ? found > r->again : found < r->again)) {
        r->again = found;
    }
}

static void work_loop(bench *b, uint32_t thread)
{
    b->results[thread * LINE] = (uint64_t)b->task->loop->run(b->times);
}

static void work_read(bench *b, uint32_t thread)
{
    for (uint64_t i = 0; i < b->times; i++) {
        b->results[thread * LINE] =
            b->reader->read(b->from + thread * b->task->slice, b->task->slice);
    }
}

static void work_write(bench *b, uint32_t thread)
{
    uint8_t *to = b->to + thread * b->task->slice;
    for (uint64_t i = 0; i < b->times; i++) {
        memset(to, (int)(i & 127), b->task->slice);
        b->results[thread * LINE] = to[i % b->task->slice];
    }
}

static void work_copy(bench *b, uint32_t thread)
{
    uint8_t *to = b->to + thread * b->task->slice;
    for (uint64_t i = 0; i < b->times; i++) {
        memcpy(to, b->from + thread * b->task->slice, b->task->slice);
        b->results[thread * LINE] = to[i % b->task->slice];
    }
}

// Pieces from far apart, written side by side: what a transpose does.
static void work_strided(bench *b, uint32_t thread)
{
    const uint8_t *from = b->from + thread * b->task->slice;
    for (uint64_t i = 0; i < b->times; i++) {
        uint8_t *to = b->to + thread * b->task->slice;
        for (uint64_t first = 0; first < STRIDE; first += PIECE) {
            for (uint64_t at = first; at < b->task->slice; at += STRIDE, to += PIECE) {
                memcpy(to, from + at, PIECE);
            }
        }
        b->results[thread * LINE] = b->to[thread * b->task->slice + i % b->task->slice];
    }
}

static bool can_run(const bench *b, const char *isa)
{
    const etp_roof_set *set = etp_roof_set_find(isa);
    return set && etp_roof_set_on(set, b->request->cpu);
}

static bool check_loops(bench *b)
{
    for (size_t i = 0; etp_roof_loop_at(i); i++) {
        const etp_roof_loop *l = etp_roof_loop_at(i);
        if (!can_run(b, l->isa)) {
            continue;
        }
        int64_t found = l->run(CHECK_TRIPS);
        if (found != (int64_t)CHECK_TRIPS * l->adds) {
            return fail(b, NULL, l, found);
        }
        etp_roof roof = {.isa = l->isa, .what = l->what, .unit = ETP_ROOF_OP_S, .threads = 1};
        if (b->request->seconds <= 0 && !b->emit(b->ctx, &roof)) {
            return fail(b, "", NULL, 0);
        }
    }
    return true;
}

static void add_task(bench *b, task t)
{
    t.roof.threads = b->threads;
    if (b->n_tasks < TASKS_MOST) {
        b->tasks[b->n_tasks++] = t;
    }
}

// Smallest step that the clock was seen to make.
static bool measure_timer(bench *b)
{
    double steps[1001];
    for (size_t i = 0; i < 1001; i++) {
        uint64_t start = b->request->now_ns(), end = start;
        while (end == start) {
            end = b->request->now_ns();
        }
        steps[i] = (double)(end - start);
    }
    qsort(steps, 1001, sizeof *steps, by_value);
    etp_roof roof = {.isa = "",
                     .what = ETP_ROOF_TIMER,
                     .unit = ETP_ROOF_NS,
                     .threads = 1,
                     .best = (uint64_t)steps[0],
                     .median = (uint64_t)steps[500]};
    return b->emit(b->ctx, &roof) || fail(b, "", NULL, 0);
}

static bool measure_count(bench *b, uint32_t threads)
{
    b->threads = threads;
    b->pool = etp_roof_pool_open(threads);
    if (!b->pool) {
        return fail(b, "the system does not give that many threads", NULL, 0);
    }
    static const struct {
        etp_roof_what what;
        work *work;
    } k_kinds[] = {
        {ETP_ROOF_READ,         work_read   },
        {ETP_ROOF_WRITE,        work_write  },
        {ETP_ROOF_COPY,         work_copy   },
        {ETP_ROOF_STRIDED_COPY, work_strided}
    };
    b->n_tasks = 0;
    for (size_t i = 0; etp_roof_loop_at(i); i++) {
        const etp_roof_loop *l = etp_roof_loop_at(i);
        if (can_run(b, l->isa)) {
            etp_roof roof = {.isa = l->isa, .what = l->what, .unit = ETP_ROOF_OP_S};
            add_task(b, (task){roof, work_loop, l, (double)l->ops(), 0});
        }
    }
    for (size_t i = 0; etp_roof_reader_at(i); i++) {
        if (can_run(b, etp_roof_reader_at(i)->isa)) {
            b->reader = etp_roof_reader_at(i);
        }
    }
    for (uint64_t bytes = MIN_BYTES; bytes <= MAX_BYTES; bytes *= 4) {
        uint64_t slice = bytes / b->threads / MIN_SLICE * MIN_SLICE;
        for (size_t i = 0; slice > 0 && i < sizeof k_kinds / sizeof *k_kinds; i++) {
            bool reading = k_kinds[i].work == work_read;
            etp_roof roof = {.isa = reading && b->reader ? b->reader->isa : "",
                             .what = k_kinds[i].what,
                             .unit = ETP_ROOF_BYTE_S,
                             .bytes = slice * b->threads};
            if (!reading || b->reader) {
                add_task(b, (task){roof, k_kinds[i].work, NULL, (double)slice, slice});
            }
        }
    }
    etp_roof region = {.isa = "", .what = ETP_ROOF_REGION, .unit = ETP_ROOF_NS};
    add_task(b, (task){.roof = region});
    for (int pass = 0; pass < PASSES_MOST; pass++) {
        for (size_t i = 0; i < b->n_tasks; i++) {
            if (pass < PASSES || etp_roof_noise(&b->tasks[i].roof) > ETP_ROOF_AGREE) {
                measure(b, &b->tasks[i]);
            }
        }
    }
    etp_roof_pool_close(b->pool);
    for (size_t i = 0; i < b->n_tasks; i++) {
        if (!b->emit(b->ctx, &b->tasks[i].roof)) {
            return fail(b, "", NULL, 0);
        }
    }
    return true;
}

bool etp_roofs_measure(const etp_roofs_request *request, etp_roofs_emit *emit, void *ctx, char *why,
                       size_t why_cap)
{
    bench *b = calloc(1, sizeof *b);
    if (!b) {
        (void)snprintf(why, why_cap, "out of memory");
        return false;
    }
    *b = (bench){.request = request, .emit = emit, .ctx = ctx, .why = why, .why_cap = why_cap};
    // Four kinds of memory work at seven sizes and the region, besides the loops.
    b->round_s = request->seconds / PASSES /
                 ((double)(sizeof k_loops / sizeof *k_loops + 4 * 7) * (ROUNDS + 4));
    uint8_t *memory = request->memory;
    bool ok = check_loops(b);
    if (ok && request->seconds > 0) {
        memset(memory, 1, ETP_ROOF_MEMORY); // every page is there before anything is measured
        b->from = memory + (64 - (uintptr_t)memory % 64);
        b->to = b->from + MAX_BYTES;
        for (size_t i = 0; ok && i < request->n_threads; i++) {
            ok = measure_count(b, request->threads[i]);
        }
        ok = ok && measure_timer(b);
    }
    if (request->load) {
        *request->load = (etp_roofs_load){b->span_ns, ETP_LESS(b->span_ns, b->cpu_ns)};
    }
    free(b);
    return ok;
}
