// SPDX-License-Identifier: Apache-2.0
// Executions that are several populations: of two methods, of inputs of two lengths. A mean over
// both is that of none. A recording names neither: events, times and loads tell.
#include "trace/internal.h"

#include <math.h>
#include <stdlib.h>

#include "base/choice.h"
#include "base/guard.h"
#include "base/order.h"

#define MODES 4          // most that one block parts into
#define LEAST_RUNS 3     // of a population
#define LEAST_PART 10    // one tenth of the executions
#define LEAST_RATIO 1.2  // between the slowest of one and the fastest of the next
#define GAP_OF_SPREADS 3 // and so many times as far apart as either spreads
#define ENOUGH_RUNS 5    // of two stretches: then a small distance tells
#define SMALL_RATIO 1.05
#define WARM_UP_RATIO 3.0 // slow first executions up to here warm up
#define COLD_RUNS 2       // so many behind a load may be slow without being another input's
#define RARE_RATIO 2      // of fewer executions than that half takes twice as long
#define RARE_EVENTS 3     // and, of a single one, so many events do
// A single slow one may have been interrupted in each event that is longer than a slice of time, by
// as many programs as wait: it is another input where nearly all of it takes far longer.
#define ALONE_RATIO 8
#define ALONE_SHARE 0.9
// Clocks of whole microseconds give what one operator has to the next.
#define OPPOSITE_NS 5000
// What differs in so many ways is not methods: a backend logs what it likes in each execution.
#define MOST_POPULATIONS 8

typedef struct run_time {
    uint64_t ns;
    size_t run;
    size_t stretch; // what was loaded before it
    size_t since;   // executions since then
} run_time;

static int shortest_first(const void *pa, const void *pb)
{
    const run_time *a = pa, *b = pb;
    return etp_order_then(ETP_ORDER(a->stretch, b->stretch),
                          etp_order_then(ETP_ORDER(a->ns, b->ns), ETP_ORDER(a->run, b->run)));
}

// The middle eight tenths: what a single execution that was interrupted does not widen.
static double spread(const run_time *v, size_t n)
{
    size_t out = n / 10;
    return log((double)v[n - 1 - out].ns) - log((double)v[out].ns);
}

// How wide the times on one side of the gap at AT spread, of V (n): those up to the next gap that
// could part populations, where they are LEAST or more, else all. A third population does not count
// as spread.
static double spread_beside(const run_time *v, size_t n, size_t at, bool below, size_t least)
{
    const run_time *side = below ? v : v + at;
    size_t all = below ? at : n - at, k = 1;
    for (; k < all; k++) {
        size_t i = below ? at - k : at + k;
        if (log((double)v[i].ns) - log((double)v[i - 1].ns) >= log(LEAST_RATIO)) {
            break;
        }
    }
    k = k < least ? all : k;
    return spread(below ? side + all - k : side, k);
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

// Another input comes back; what is set up late is in the first executions alone.
static bool are_cold(const run_time *slow, size_t n)
{
    bool cold = true;
    for (size_t i = 0; i < n; i++) {
        cold = cold && slow[i].since < COLD_RUNS;
    }
    return cold;
}

// In how many events the one execution takes longer than the other, RATIO times; 0: not in events
// of that SHARE of the time, as one that was interrupted.
static size_t longer_in(const etp_trace_block *block, size_t fast, size_t slow, double ratio,
                        double share)
{
    double all = 0, longer = 0;
    size_t n = 0;
    for (uint32_t i = 0; i < block->n_events; i++) {
        const uint64_t *d = etp_trace_durations(block, i);
        if (block->events[i].leaf && block->events[i].kind != ETP_EVENT_APART) {
            bool is = (double)d[slow] >= ratio * (double)d[fast];
            all += (double)d[fast];
            longer += is ? (double)d[fast] : 0;
            n += is;
        }
    }
    return longer >= share * all ? n : 0;
}

// Whether the few executions on one side of the gap at AT are a population: a prompt before many
// tokens. The first one alone warms up, however long it takes; another one may have waited.
static bool few_are_one(const etp_trace_block *block, const run_time *v, size_t n, size_t at)
{
    bool slow = at > n - at;
    size_t from = slow ? at : 0, to = slow ? n : at, usual = v[slow ? at / 2 : (at + n) / 2].run;
    size_t of_one = v[from].run > 0 ? RARE_EVENTS : SIZE_MAX, needed = to - from > 1 ? 1 : of_one;
    bool alone = slow && to - from == 1;
    double ratio = alone ? ALONE_RATIO : RARE_RATIO, share = alone ? ALONE_SHARE : 1.0 / RARE_RATIO;
    for (size_t i = from; i < to; i++) {
        size_t rare = v[i].run;
        if (longer_in(block, slow ? usual : rare, slow ? rare : usual, ratio, share) < needed) {
            return false;
        }
    }
    return true;
}

// Where the sorted times V (n) of BLOCK part into two populations with at least FEWEST executions;
// 0: they do not. Fewer than LEAST, as where several methods were loaded, must be far off.
static size_t parting_of(const etp_trace_block *block, const run_time *v, size_t n, size_t fewest,
                         size_t least)
{
    size_t best = 0, side = 0;
    double widest = log(LEAST_RATIO);
    for (size_t i = fewest; i + fewest <= n && v[0].ns > 0; i++) {
        double gap = log((double)v[i].ns) - log((double)v[i - 1].ns);
        size_t few = ETP_MIN(i, n - i);
        bool tells = few >= LEAST_RUNS && few >= least;
        if (gap >= widest && (tells || gap >= log(WARM_UP_RATIO))) {
            widest = gap;
            best = i;
            side = few;
        }
    }
    if (best == 0 || widest < GAP_OF_SPREADS * fmax(spread_beside(v, n, best, true, least),
                                                    spread_beside(v, n, best, false, least))) {
        return 0;
    }
    // Among the executions of several methods, too, a single one was more likely interrupted,
    // unless it is the first.
    bool few = side < least || (n - best == 1 && v[best].run > 0);
    bool one = few ? few_are_one(block, v, n, best) : !warms_up(v + best, n - best, exp(widest));
    one = one && !are_cold(v + best, n - best);
    return one ? best : 0;
}

// Few that are no population hide no others.
static size_t parting(const etp_trace_block *block, const run_time *v, size_t n, bool several_loads)
{
    size_t part = ETP_MAX(n / LEAST_PART, LEAST_RUNS);
    size_t least = several_loads ? 1 : part, at = parting_of(block, v, n, 1, least);
    return at != 0 ? at : parting_of(block, v, n, least, least);
}

// Does EVENT take its time the other way round, longer in all executions of V (n) before AT?
static bool is_opposite(const etp_trace_block *block, const run_time *v, size_t n, size_t at,
                        uint32_t event)
{
    const uint64_t *d = etp_trace_durations(block, event);
    uint64_t lo = UINT64_MAX, hi = 0;
    for (size_t i = 0; i < n; i++) {
        lo = i < at && d[v[i].run] < lo ? d[v[i].run] : lo;
        hi = i >= at && d[v[i].run] > hi ? d[v[i].run] : hi;
    }
    return lo > hi && lo - hi >= OPPOSITE_NS && (double)lo >= LEAST_RATIO * (double)hi;
}

// As parting, where the totals do not tell: one operator is longer in some executions and another
// one shorter. Sorts V by the first.
static size_t parting_by_operators(const etp_trace_block *block, run_time *v)
{
    size_t n = block->n_runs, least = ETP_MAX(n / LEAST_PART, LEAST_RUNS);
    for (uint32_t e = 0; e < block->n_events && n >= 2 * least; e++) {
        const uint64_t *d = etp_trace_durations(block, e);
        if (!block->events[e].leaf || block->events[e].apart != ETP_APART_NOT) {
            continue;
        }
        for (size_t i = 0; i < n; i++) {
            v[i] = (run_time){.ns = d[i], .run = i, .since = i};
        }
        qsort(v, n, sizeof *v, shortest_first);
        size_t at = parting_of(block, v, n, least, least);
        bool tells = at != 0 && v[at].ns - v[at - 1].ns >= OPPOSITE_NS;
        for (uint32_t f = 0; tells && f < block->n_events; f++) {
            if (block->events[f].leaf && block->events[f].apart == ETP_APART_NOT &&
                is_opposite(block, v, n, at, f)) {
                return at;
            }
        }
    }
    return 0;
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

typedef struct stretch { // executions between two loads
    size_t n;
    uint64_t lo, median, hi; // the middle eight tenths
} stretch;

// Two stretches of one method overlap.
static bool apart(const stretch *fast, const stretch *slow)
{
    bool enough = fast->n >= ENOUGH_RUNS && slow->n >= ENOUGH_RUNS;
    return fast->hi > 0 &&
           (double)slow->lo >= (double)fast->hi * (enough ? SMALL_RATIO : LEAST_RATIO);
}

// V (n), sorted: renumbers the stretches so that those of one method have one number, the fastest
// the lowest, and sorts again. A method that is loaded anew again and again makes too many.
static void join_stretches(run_time *v, size_t n)
{
    stretch s[MODES] = {0};
    size_t number[MODES], order[MODES], n_s = 0;
    for (size_t from = 0, to = 0; from < n; from = to) {
        while (to < n && v[to].stretch == v[from].stretch) {
            to++;
        }
        if (n_s == MODES) {
            n_s = 0;
            break;
        }
        size_t k = to - from, out = k / 10;
        s[n_s] = (stretch){k, v[from + out].ns, v[from + k / 2].ns, v[to - 1 - out].ns};
        size_t at = n_s;
        for (; at > 0 && s[order[at - 1]].median > s[n_s].median; at--) {
            order[at] = order[at - 1];
        }
        order[at] = n_s++;
    }
    stretch before = n_s > 0 ? s[order[0]] : (stretch){0};
    for (size_t i = 0, k = 0; i < n_s; i++) {
        const stretch *now = &s[order[i]];
        if (i > 0 && apart(&before, now)) {
            before = *now;
            k++;
        } else if (now->hi > before.hi) {
            before.hi = now->hi;
        }
        number[order[i]] = k;
    }
    for (size_t i = 0, k = 0, last = v[0].stretch; i < n; i++) {
        k += v[i].stretch != last;
        last = v[i].stretch;
        v[i].stretch = n_s > 0 ? number[k] : 0;
    }
    qsort(v, n, sizeof *v, shortest_first);
}

// ---- loads ----

typedef struct run_list { // RunData, ascending
    uint32_t *items;
    size_t n, cap;
} run_list;

static bool loads_a_method(const etp_trace_block *b)
{
    for (size_t i = 0; i < b->n_events; i++) {
        if (b->events[i].kind == ETP_EVENT_LOAD && etp_str_eqz(b->events[i].name, "Method::init")) {
            return true;
        }
    }
    return false;
}

static bool executes(const etp_trace_block *b)
{
    return b->has_execute;
}

// Those of the blocks that COUNT.
static run_list list_runs(const etp_trace *t, bool (*counts)(const etp_trace_block *),
                          etp_arena *arena)
{
    run_list l = {0};
    for (size_t i = 0; i < t->n_blocks; i++) {
        const etp_trace_block *b = &t->blocks[i];
        for (size_t r = 0, n = counts(b) ? b->n_runs : 0; r < n; r++) {
            ETP_ADD(arena, &l, b->runs[r]);
        }
    }
    if (l.n > 1) {
        qsort(l.items, l.n, sizeof *l.items, etp_order_u32);
    }
    return l;
}

static size_t split(const etp_trace_block *block, const run_list *l, etp_arena *arena,
                    etp_trace_block *out)
{
    size_t n = block->n_runs, loaded = 0, from[MODES + 1];
    run_time *v = etp_arena_alloc_raw(arena, n, sizeof *v);
    const uint64_t *d = etp_trace_durations(block, block->execute);
    for (size_t r = 0; r < n; r++) {
        while (loaded < l->n && l->items[loaded] < block->runs[r]) {
            loaded++;
        }
        bool next = r > 0 && v[r - 1].stretch == loaded;
        v[r] = (run_time){d[r], r, loaded, next ? v[r - 1].since + 1 : 0};
    }
    size_t parts = 0;
    qsort(v, n, sizeof *v, shortest_first);
    join_stretches(v, n);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || v[i].stretch != v[i - 1].stretch) {
            from[parts++] = i;
        }
    }
    from[parts] = n;
    for (size_t i = 0; i < parts && parts < MODES;) {
        size_t at = parting(block, v + from[i], from[i + 1] - from[i], l->n > 1);
        if (at == 0) {
            i++;
            continue;
        }
        memmove(&from[i + 2], &from[i + 1], (parts - i) * sizeof *from);
        from[i + 1] = from[i] + at;
        parts++;
    }
    if (parts == 1 && (from[1] = parting_by_operators(block, v)) != 0) {
        from[2] = n;
        parts = 2;
    }
    for (size_t i = 0; i < parts; i++) {
        if (parts == 1) {
            out[i] = *block;
        } else {
            take(block, v + from[i], from[i + 1] - from[i], arena, &out[i]);
        }
    }
    return parts;
}

// ---- populations of the whole recording ----

static bool same_text_and_place(const etp_trace_event *a, const etp_trace_event *b)
{
    return a->chain == b->chain && a->instruction == b->instruction && a->kind == b->kind &&
           etp_str_eq(a->name, b->name);
}

static int place_order(const etp_trace_event *a, const etp_trace_event *b)
{
    return etp_order_then(ETP_ORDER(a->chain, b->chain), ETP_ORDER(a->instruction, b->instruction));
}

static int by_place(const void *pa, const void *pb)
{
    const etp_trace_event *a = *(const etp_trace_event *const *)pa,
                          *b = *(const etp_trace_event *const *)pb;
    int order = place_order(a, b);
    return etp_order_then(order, ETP_ORDER(a, b));
}

static bool is_framework(const etp_trace_event *e)
{
    return e->kind == ETP_EVENT_EXECUTE || e->kind == ETP_EVENT_LOAD || e->kind == ETP_EVENT_OTHER;
}

static bool branches(const etp_trace_block *b)
{
    for (size_t i = 0; i < b->n_events; i++) {
        if (b->events[i].kind == ETP_EVENT_CONTROL && etp_str_eqz(b->events[i].name, "JF_CALL")) {
            return true;
        }
    }
    return false;
}

typedef struct population {
    const etp_trace_block *first;
    bool is_part, branches;
    const etp_trace_event **places;
    size_t n_places;
} population;

// Paths of a method with a branch: no instruction says in one what it does not in the other.
static bool are_paths(const population *p, const etp_trace_event **places, size_t n)
{
    bool shared = false, same = true;
    for (size_t i = 0, at = 0; same && i < n; i++) {
        while (at < p->n_places && place_order(p->places[at], places[i]) < 0) {
            at++;
        }
        if (at < p->n_places && place_order(p->places[at], places[i]) == 0) {
            same = same_text_and_place(p->places[at], places[i]);
            shared = true;
        }
    }
    return shared && same;
}

static bool is_logged(const etp_trace_block *b, size_t event)
{
    return event < b->n_events && !b->events[event].at_load &&
           (b->events[event].kind == ETP_EVENT_DELEGATE_OP ||
            b->events[event].kind == ETP_EVENT_APART);
}

static double mean_of(const etp_trace_block *b)
{
    return (double)etp_trace_total_ns(b, b->execute) / (double)b->n_runs;
}

static bool take_as_long(const etp_trace_block *a, const etp_trace_block *b)
{
    return fabs(log(mean_of(a) / mean_of(b))) < log(LEAST_RATIO);
}

typedef enum likeness { // of events, but for those of loading
    LIKE_ALL,
    LIKE_LOGGING, // some delegates log nothing in one of two
    LIKE_CALLS    // whatever delegates log
} likeness;

static size_t skip(const etp_trace_block *b, size_t event, likeness like)
{
    while (event < b->n_events &&
           (b->events[event].at_load || (like == LIKE_CALLS && is_logged(b, event)))) {
        event++;
    }
    return event;
}

static bool same_events(const etp_trace_block *a, const etp_trace_block *b, likeness like)
{
    size_t i = skip(a, 0, like), j = skip(b, 0, like);
    bool same = true;
    while (same && (i < a->n_events || j < b->n_events)) {
        bool more_a = is_logged(a, i), more_b = is_logged(b, j);
        bool first = (i == 0 || !is_logged(a, i - 1)) && (j == 0 || !is_logged(b, j - 1));
        if (like == LIKE_LOGGING && first && more_a != more_b) {
            while (is_logged(a, i)) {
                i++;
            }
            while (is_logged(b, j)) {
                j++;
            }
        } else {
            same = i < a->n_events && j < b->n_events &&
                   same_text_and_place(&a->events[i++], &b->events[j++]);
        }
        i = skip(a, i, like);
        j = skip(b, j, like);
    }
    return same;
}

// What the first executions do besides what later ones do, in calls of delegates, they set up. The
// block of such later ones that BLOCK is of, which is faster; NULL: it is not of the first.
static const etp_trace_block *warm_of(const etp_trace *t, const etp_trace_block *block,
                                      uint32_t warm)
{
    const etp_trace_block *of = NULL;
    bool first = block->has_execute && block->runs[block->n_runs - 1] < warm;
    for (size_t i = 0; first && !of && i < t->n_blocks; i++) {
        const etp_trace_block *b = &t->blocks[i];
        bool later = b->has_execute && b->runs[b->n_runs - 1] >= warm;
        of = later && mean_of(b) < mean_of(block) && same_events(b, block, LIKE_CALLS) ? b : of;
    }
    return of;
}

// Where there are too many all are one.
static size_t number_populations(etp_trace *t, const bool *is_part, bool one_load,
                                 const etp_trace_block **warm, etp_arena *arena)
{
    population all[MOST_POPULATIONS];
    size_t n = 0;
    for (size_t i = 0; i < t->n_blocks; i++) {
        etp_trace_block *b = &t->blocks[i];
        if (!b->has_execute || warm[i]) {
            continue;
        }
        population p = {.first = b, .is_part = is_part[i], .branches = branches(b)};
        // The first event of each instruction, by instruction; how many.
        const etp_trace_event **v = etp_arena_alloc_raw(arena, b->n_events, sizeof *v);
        size_t count = 0, kept = 0;
        for (size_t m = 0; m < b->n_events; m++) {
            if (!is_framework(&b->events[m])) {
                v[count++] = &b->events[m];
            }
        }
        qsort(v, count, sizeof *v, by_place);
        for (size_t m = 0; m < count; m++) {
            if (kept == 0 || place_order(v[kept - 1], v[m]) != 0) {
                v[kept++] = v[m];
            }
        }
        p.places = v;
        p.n_places = kept;
        size_t k = is_part[i] ? n : 0;
        for (; k < n; k++) {
            bool paths = all[k].branches || p.branches;
            if (!all[k].is_part && (paths ? are_paths(&all[k], p.places, p.n_places)
                                          : same_events(all[k].first, b, LIKE_ALL))) {
                break;
            }
        }
        for (size_t j = 0; k == n && one_load && !is_part[i] && j < n; j++) {
            if (!all[j].is_part && same_events(all[j].first, b, LIKE_LOGGING)) {
                t->partly_logged = true;
                k = take_as_long(all[j].first, b) ? j : k;
            }
        }
        if (k == MOST_POPULATIONS) {
            return 1;
        }
        if (k == n) {
            all[n++] = p;
        }
        b->population = (uint32_t)k;
    }
    for (size_t i = 0; i < t->n_blocks; i++) {
        t->blocks[i].population = warm[i] ? warm[i]->population : t->blocks[i].population;
    }
    return n;
}

static etp_status split_all(etp_trace *t)
{
    etp_arena scratch, *arena = &t->arena;
    etp_arena_scratch(&scratch, arena);
    size_t most = t->n_blocks * MODES, n = 0;
    etp_trace_block *blocks = etp_arena_alloc_array(arena, most, sizeof *blocks);
    bool *is_part = etp_arena_alloc_array(&scratch, most, sizeof *is_part);
    const run_list l = list_runs(t, loads_a_method, &scratch);
    size_t least = l.n > 1 ? 2 : (size_t)2 * LEAST_RUNS;
    for (size_t i = 0; i < t->n_blocks; i++) {
        size_t parts = 1;
        if (t->blocks[i].has_execute && t->blocks[i].n_runs >= least) {
            parts = split(&t->blocks[i], &l, arena, &blocks[n]);
        } else {
            blocks[n] = t->blocks[i];
        }
        for (size_t k = 0; k < parts; k++) {
            is_part[n++] = parts > 1;
        }
    }
    t->blocks = blocks;
    t->n_blocks = n;
    const etp_trace_block **warm = etp_arena_alloc_array(&scratch, n, sizeof *warm);
    const run_list executions = list_runs(t, executes, &scratch);
    uint32_t from = executions.n > COLD_RUNS ? executions.items[COLD_RUNS] : ETP_NO_INDEX;
    for (size_t i = 0; l.n <= 1 && i < n; i++) {
        warm[i] = is_part[i] ? NULL : warm_of(t, &t->blocks[i], from);
    }
    size_t populations = number_populations(t, is_part, l.n <= 1, warm, &scratch);
    if (populations == 1) {
        for (size_t i = 0; i < n; i++) {
            t->blocks[i].population = 0;
        }
    }
    struct {
        size_t runs;
        double ns;
    } all[MOST_POPULATIONS] = {0};
    size_t usual = 0;
    for (size_t i = 0; i < t->n_blocks; i++) {
        const etp_trace_block *b = &t->blocks[i];
        if (b->has_execute) {
            all[b->population].ns += (double)etp_trace_total_ns(b, b->execute);
            all[b->population].runs += b->n_runs;
        }
    }
    for (size_t k = 1; k < populations; k++) {
        bool more = all[k].runs != all[usual].runs ? all[k].runs > all[usual].runs
                                                   : all[k].ns >= all[usual].ns;
        usual = more ? k : usual;
    }
    for (size_t i = 0; i < t->n_blocks; i++) {
        bool counts = t->blocks[i].population == usual && !warm[i];
        t->blocks[i].rare = t->blocks[i].has_execute && !counts;
        t->blocks[i].n_populations = (uint32_t)populations;
    }
    etp_arena_dispose(&scratch);
    return ETP_OK;
}

etp_status etp_trace_tell_modes(etp_trace *trace, etp_error *err)
{
    ETP_GUARDED(&trace->arena, err, "the executions", split_all(trace));
}
