// SPDX-License-Identifier: Apache-2.0
// Executions of one block that are two populations: equal lists of events, inputs of two lengths.
// A mean over both is that of none.
#include "trace/modes.h"

#include <math.h>
#include <stdlib.h>

#include "base/guard.h"

#define LEAST_RUNS 3      // of a population
#define LEAST_PART 10     // one tenth of the executions
#define LEAST_RATIO 1.2   // between the slowest of one and the fastest of the next
#define GAP_OF_SPREADS 3  // and so many times as far apart as either spreads
#define WARM_UP_RATIO 3.0 // slow first executions up to here warm up

typedef struct run_time {
    uint64_t ns;
    size_t run;
} run_time;

static int shortest_first(const void *pa, const void *pb)
{
    const run_time *a = pa, *b = pb;
    if (a->ns != b->ns) {
        return a->ns < b->ns ? -1 : 1;
    }
    return (a->run > b->run) - (a->run < b->run);
}

// The middle eight tenths: what a single execution that was interrupted does not widen.
static double spread(const run_time *v, size_t n)
{
    size_t out = n / 10;
    return log((double)v[n - 1 - out].ns) - log((double)v[out].ns);
}

static bool warms_up(const run_time *slow, size_t n, double ratio)
{
    for (size_t i = 0; i < n; i++) {
        if (slow[i].run >= n) {
            return false;
        }
    }
    return ratio < WARM_UP_RATIO;
}

// Where the sorted times part into two populations; 0: they do not.
static size_t parting(const run_time *v, size_t n)
{
    size_t least = n / LEAST_PART > LEAST_RUNS ? n / LEAST_PART : LEAST_RUNS, best = 0;
    double widest = 0;
    for (size_t i = least; i + least <= n && v[0].ns > 0; i++) {
        double gap = log((double)v[i].ns) - log((double)v[i - 1].ns);
        if (gap > widest) {
            widest = gap;
            best = i;
        }
    }
    if (best == 0 || widest < log(LEAST_RATIO) ||
        widest < GAP_OF_SPREADS * fmax(spread(v, best), spread(v + best, n - best)) ||
        warms_up(v + best, n - best, exp(widest))) {
        return 0;
    }
    return best;
}

// The part of BLOCK that is its executions V (n), in the order of the file.
static void take(const etp_trace_block *block, const run_time *v, size_t n, etp_arena *arena,
                 etp_trace_block *out)
{
    bool *mine = etp_arena_alloc_array(arena, block->n_runs, sizeof *mine);
    uint32_t *runs = etp_arena_alloc_raw(arena, n, sizeof *runs);
    uint64_t *columns = etp_arena_alloc_raw(arena, n * block->n_events, sizeof *columns);
    *out = *block;
    for (size_t i = 0; i < n; i++) {
        mine[v[i].run] = true;
    }
    for (size_t r = 0, k = 0; r < block->n_runs; r++) {
        if (mine[r]) {
            runs[k++] = block->runs[r];
        }
    }
    size_t k = 0;
    for (size_t e = 0; e < block->n_events; e++) {
        for (size_t r = 0; r < block->n_runs; r++) {
            if (mine[r]) {
                columns[k++] = block->durations_ns[e * block->n_runs + r];
            }
        }
    }
    out->runs = runs;
    out->n_runs = n;
    out->durations_ns = columns;
}

static size_t split(const etp_trace_block *block, etp_arena *arena, etp_trace_block *out)
{
    size_t n = block->n_runs, from[ETP_MODES + 1] = {0, n}, parts = 1;
    run_time *v = etp_arena_alloc_raw(arena, n, sizeof *v);
    const uint64_t *d = etp_trace_durations(block, block->execute);
    for (size_t r = 0; r < n; r++) {
        v[r] = (run_time){d[r], r};
    }
    qsort(v, n, sizeof *v, shortest_first);
    for (size_t i = 0; i < parts && parts < ETP_MODES;) {
        size_t at = parting(v + from[i], from[i + 1] - from[i]);
        if (at == 0) {
            i++;
            continue;
        }
        memmove(&from[i + 2], &from[i + 1], (parts - i) * sizeof *from);
        from[i + 1] = from[i] + at;
        parts++;
    }
    for (size_t i = 0; i < parts; i++) {
        if (parts == 1) {
            out[i] = *block;
        } else {
            take(block, v + from[i], from[i + 1] - from[i], arena, &out[i]);
        }
        out[i].mode = (uint32_t)i;
        out[i].n_modes = (uint32_t)parts;
    }
    return parts;
}

void etp_modes_split(etp_trace *t, etp_arena *arena)
{
    etp_trace_block *blocks = etp_arena_alloc_array(arena, t->n_blocks * ETP_MODES, sizeof *blocks);
    size_t n = 0;
    for (size_t i = 0; i < t->n_blocks; i++) {
        if (t->blocks[i].has_execute && t->blocks[i].n_runs >= (size_t)2 * LEAST_RUNS) {
            n += split(&t->blocks[i], arena, &blocks[n]);
        } else {
            blocks[n++] = t->blocks[i];
        }
    }
    t->blocks = blocks;
    t->n_blocks = n;
}
