// SPDX-License-Identifier: Apache-2.0
// Grouping: the times of each execution go to one row first, its event list is compared with those
// seen before, and the rows are turned into columns at the end, when the size of each group is
// known.
#include <stdlib.h>

#include "base/choice.h"
#include "base/guard.h"
#include "base/index.h"
#include "formats/etdump_view.h"
#include "operators/delegates.h"
#include "operators/name.h"
#include "trace/settle.h"
#include "trace/tree.h"

#define MEMORY_FLOOR ((uint64_t)16 << 20) // memory an ETDump of any size may take

typedef struct group {  // a block under construction
    etp_etdump_run run; // its first execution
    size_t n_events, n_runs;
    etp_ticks **rows; // by execution
    uint32_t *runs;   // their RunData
    // The group of the run behind its last one: a program runs its methods in the same rotation
    // again and again, so that one is tried before anything is hashed.
    uint32_t next;
} group;

typedef struct grouping {
    etp_trace *trace;
    etp_fb_repeats repeats;
    etp_arena scratch;
    etp_ratio unit;
    etp_ratio delegate; // den 0: unknown
    bool cycles;        // it was told as cycles
    struct {
        group *items;
        size_t n, cap;
    } groups;
    etp_index index;
    uint32_t *group_of; // by run
    etp_ticks *rows;    // runs one after the other
    uint64_t left;      // that durations may still add up to
    etp_error *err;
} grouping;

// ---- finding the group of an execution ----

// False behind the last profile event of RUN; *AT counts its events.
static bool next_profile(const etp_etdump_run *run, size_t *at, etp_etdump_profile *out)
{
    bool found = false;
    while (!found && *at < run->n_events) {
        found = etp_etdump_profile_of(etp_etdump_event_at(run, (*at)++), out);
    }
    return found;
}

// Everything but their times. An absent string equals an empty one.
static bool same_event(const etp_etdump_profile *a, const etp_etdump_profile *b)
{
    return a->chain_index == b->chain_index && a->instruction_id == b->instruction_id &&
           a->delegate_id == b->delegate_id && etp_str_eq(a->delegate_id_str, b->delegate_id_str) &&
           etp_str_eq(a->name, b->name);
}

typedef struct group_query {
    const group *groups;
    const etp_etdump_run *run;
    size_t n_events;
} group_query;

static bool is_of_group(const void *ctx, uint32_t index)
{
    const group_query *q = ctx;
    const group *gr = &q->groups[index];
    bool same = gr->n_events == q->n_events && gr->run.bundled_input == q->run->bundled_input &&
                etp_str_eq(gr->run.name, q->run->name);
    etp_etdump_profile mine, its;
    for (size_t i = 0, k = 0; same && next_profile(q->run, &i, &mine);) {
        same = next_profile(&gr->run, &k, &its) && same_event(&mine, &its);
    }
    return same;
}

static uint32_t find_group(grouping *g, const etp_etdump_run *run, size_t n_events, uint32_t guess)
{
    const group_query q = {g->groups.items, run, n_events};
    if (guess < g->groups.n && is_of_group(&q, guess)) {
        return guess;
    }
    // The hash only chooses which groups are compared with. Who makes lists collide makes their own
    // file slow to read, nothing else.
    uint64_t hash = etp_hash_bytes(ETP_HASH_START, run->name.ptr, run->name.len);
    etp_etdump_profile p;
    for (size_t i = 0; next_profile(run, &i, &p);) {
        const int32_t ids[] = {p.chain_index, p.instruction_id, p.delegate_id};
        hash = etp_hash_bytes(hash, ids, sizeof ids);
        hash = etp_hash_bytes(hash, p.delegate_id_str.ptr, p.delegate_id_str.len);
        hash = etp_hash_bytes(hash, p.name.ptr, p.name.len);
    }
    uint32_t found = etp_index_find(&g->index, hash, is_of_group, &q);
    if (found == ETP_NO_INDEX) {
        found = (uint32_t)g->groups.n;
        ETP_ADD(&g->scratch, &g->groups, ((group){.run = *run, .n_events = n_events}));
        etp_index_insert(&g->index, &g->scratch, hash, found);
    }
    return found;
}

// ---- the finished blocks ----

// Hostile files share one event among many lists; honest ones cannot, as events hold times.
static etp_status check_memory(const grouping *g, uint64_t more)
{
    uint64_t limit = MEMORY_FLOOR + 2 * (uint64_t)g->trace->dump.bytes.len;
    uint64_t used = g->scratch.total + g->trace->arena.total;
    if (used > limit || more > limit - used) {
        return etp_fail_at(g->err, ETP_CORRUPT, g->trace->dump.bytes.base,
                           "more events than %zu bytes can hold: they overlap",
                           g->trace->dump.bytes.len);
    }
    return ETP_OK;
}

// Which kernels ran, of the first execution: those of a process do not change.
static void fill_events(grouping *g, const etp_etdump_run *run, etp_trace_event *events)
{
    etp_etdump_profile p;
    for (size_t i = 0; next_profile(run, &i, &p); events++) {
        const etp_str id = p.delegate_id_str,
                      metadata = {(const char *)p.delegate_metadata.ptr, p.delegate_metadata.len};
        events->name = id.len ? id : p.name;
        events->chain = p.chain_index;
        events->instruction = p.instruction_id;
        events->delegate_id = p.delegate_id;
        events->delegated = p.delegate_id != -1 || id.len != 0;
        if (events->name.len == 0) {
            events->name =
                p.delegate_id == -1
                    ? ETP_STR("")
                    : etp_str_from(etp_arena_printf(&g->trace->arena, "%ld", (long)p.delegate_id));
        }
        if (events->delegated && metadata.len > 0) {
            events->kernel = etp_delegate_kernel(events->name, metadata);
        }
    }
}

// As the first execution and the last have it; where these differ, as the second and one of them.
// IN_FILE: where each was, NULL when none was elsewhere in the file; the rows are ordered alike.
static const uint32_t *order_events(grouping *g, const group *gr, etp_trace_event *events)
{
    const size_t n = gr->n_events, most = gr->n_runs < 3 ? 1 : 3;
    const etp_ticks *rows[3] = {gr->rows[0], gr->rows[gr->n_runs - 1], gr->rows[most / 2]};
    uint32_t *places[3];
    bool moved[3] = {false}, agree = false;
    size_t use = 0;
    for (size_t k = 0; k < most && !agree; k++) {
        places[k] = etp_arena_alloc_raw(&g->trace->arena, n, sizeof **places);
        moved[k] = etp_tree_order(events, n, rows[k], &g->scratch, places[k]);
        agree = k > 0 && memcmp(places[k], places[k - 1], n * sizeof *places[k]) == 0;
        use = agree ? k : 0;
    }
    if (!moved[use]) {
        return NULL;
    }
    etp_trace_event *copy = etp_arena_alloc_raw(&g->scratch, n, sizeof *copy);
    etp_ticks *times = etp_arena_alloc_raw(&g->scratch, n, sizeof *times);
    memcpy(copy, events, n * sizeof *copy);
    for (size_t i = 0; i < n; i++) {
        events[i] = copy[places[use][i]];
    }
    for (size_t r = 0; r < gr->n_runs; r++) {
        memcpy(times, gr->rows[r], n * sizeof *times);
        for (size_t i = 0; i < n; i++) {
            gr->rows[r][i] = times[places[use][i]];
        }
    }
    return places[use];
}

// Nearly always ticks are nanoseconds and the counter did not wrap. What is no time is too long for
// one, so that its execution is left out.
static uint64_t duration_ns(const grouping *g, etp_ticks t)
{
    uint64_t ticks = 0;
    if (!etp_etdump_elapsed(t.start, t.end, &ticks)) {
        return ETP_BACKWARDS_NS;
    }
    return g->unit.num == g->unit.den ? ticks : etp_unit_scale(ticks, g->unit);
}

// A column per event out of a row per run, in tiles that stay in the cache. Sums over any of the
// durations fit in an int64_t, a promise of trace.h, but for damage, whose execution is left out.
static etp_status fill_columns(grouping *g, const group *gr, uint64_t *out)
{
    enum { TILE = 16 };
    size_t n_runs = gr->n_runs;
    for (size_t r0 = 0; r0 < n_runs; r0 += TILE) {
        size_t r1 = n_runs - r0 < TILE ? n_runs : r0 + TILE;
        for (size_t e = 0; e < gr->n_events; e++) {
            for (size_t r = r0; r < r1; r++) {
                uint64_t ns = duration_ns(g, gr->rows[r][e]);
                uint64_t counts = ns > ETP_LONGEST_NS ? 0 : ns;
                if (counts > g->left) {
                    return etp_fail_at(g->err, ETP_CORRUPT, g->trace->dump.bytes.base,
                                       "durations add up to more than 2^63 ns");
                }
                g->left -= counts;
                out[e * n_runs + r] = ns;
            }
        }
    }
    return ETP_OK;
}

static etp_status make_block(grouping *g, const group *gr, etp_trace_block *out)
{
    etp_arena *arena = &g->trace->arena;
    const size_t n = gr->n_events;
    etp_trace_event *events = etp_arena_alloc_array(arena, n, sizeof *events);
    uint32_t *open = etp_arena_alloc_raw(&g->scratch, n, sizeof *open);
    uint64_t *columns = etp_arena_alloc_raw(arena, n * gr->n_runs, sizeof *columns);
    fill_events(g, &gr->run, events);
    *out = (etp_trace_block){
        .name = gr->run.name.ptr ? gr->run.name : (etp_str){"", 0},
        .events = events,
        .n_events = n,
        .runs = gr->runs,
        .n_runs = gr->n_runs,
        .durations_ns = columns,
        .bundled_input = gr->run.bundled_input,
        .in_file = order_events(g, gr, events),
    };
    etp_tree_build(events, n, open);
    // A block in which Method::execute ends twice has no single length to hold its operators
    // against, so it counts as one without.
    size_t count = 0;
    for (size_t i = 0; i < out->n_events; i++) {
        if (out->events[i].kind == ETP_EVENT_EXECUTE) {
            count++;
            out->execute = (uint32_t)i;
        }
    }
    out->has_execute = count == 1;
    out->execute = out->has_execute ? out->execute : ETP_NO_INDEX;
    ETP_TRY(fill_columns(g, gr, columns));
    etp_settle settle = {
        .trace = g->trace,
        .block = out,
        .events = events,
        .columns = columns,
        .runs = gr->runs,
        .rows = (const etp_ticks *const *)gr->rows,
        .step = ETP_STEP_NS * g->unit.den / g->unit.num,
        .delegate = g->delegate,
        .cycles = g->cycles,
        .arena = arena,
    };
    etp_settle_block(&settle);
    return check_memory(g, 0);
}

static int by_run(const void *pa, const void *pb)
{
    const etp_trace_damage *a = pa, *b = pb;
    return ETP_ORDER(a->run, b->run);
}

// Rows lie in the order of the file, which is that of the runs in every block, so handing them out
// one after the other keeps each block's runs ascending.
static void hand_out_rows(grouping *g)
{
    for (size_t i = 0; i < g->groups.n; i++) {
        group *gr = &g->groups.items[i];
        gr->rows = etp_arena_alloc_raw(&g->scratch, gr->n_runs, sizeof *gr->rows);
        gr->runs = etp_arena_alloc_raw(&g->trace->arena, gr->n_runs, sizeof *gr->runs);
        gr->n_runs = 0;
    }
    etp_ticks *row = g->rows;
    for (size_t r = 0; r < g->trace->dump.n_runs; r++) {
        group *gr = &g->groups.items[g->group_of[r]];
        gr->rows[gr->n_runs] = row;
        gr->runs[gr->n_runs++] = (uint32_t)r;
        row += gr->n_events;
    }
}

// ---- opening ----

static etp_status group_runs(grouping *g)
{
    etp_trace *t = g->trace;
    const etp_etdump *dump = &g->trace->dump;
    uint64_t events = 0;
    for (size_t r = 0; r < dump->n_runs; r++) {
        events += etp_etdump_run_at(dump, r).n_events;
    }
    // Rows and columns of times, and per run its group, its row and its place in the block.
    ETP_TRY(check_memory(g, events * (sizeof *g->rows + 8) + dump->n_runs * 16));
    g->group_of = etp_arena_alloc_raw(&g->scratch, dump->n_runs, sizeof *g->group_of);
    g->rows = etp_arena_alloc_raw(&g->scratch, (size_t)events, sizeof *g->rows);
    g->left = INT64_MAX;
    etp_ticks *row = g->rows;
    for (size_t r = 0, last = 0; r < t->dump.n_runs; r++) {
        // A run that repeats an earlier one needs no comparison: the verifier has made it.
        const etp_etdump_run run = etp_etdump_run_at(&t->dump, r);
        uint32_t model = r < g->repeats.n ? g->repeats.same_as[r] : (uint32_t)r;
        // How many events have times.
        size_t n = 0;
        for (size_t i = 0; i < run.n_events; i++) {
            etp_fb_table p = etp_ed_profile_table(&run, i);
            if (p.ptr) {
                row[n++] = (etp_ticks){etp_fb_u64(p, ETP_ED_PROFILE_START, 0),
                                       etp_fb_u64(p, ETP_ED_PROFILE_END, 0)};
            }
        }
        uint32_t guess = r > 0 ? g->groups.items[last].next : 0;
        uint32_t i = model < r ? g->group_of[model] : find_group(g, &run, n, guess);
        g->groups.items[last].next = i;
        g->groups.items[i].n_runs++;
        g->group_of[r] = i;
        last = i;
        row += n;
        ETP_TRY(check_memory(g, 0));
    }
    hand_out_rows(g);
    t->n_blocks = g->groups.n;
    t->blocks = etp_arena_alloc_array(&t->arena, t->n_blocks, sizeof *t->blocks);
    for (size_t i = 0; i < t->n_blocks; i++) {
        ETP_TRY(make_block(g, &g->groups.items[i], &t->blocks[i]));
    }
    // A block may have had damaged executions alone.
    size_t kept = 0;
    for (size_t i = 0; i < t->n_blocks; i++) {
        if (t->blocks[i].n_runs > 0) {
            t->blocks[kept++] = t->blocks[i];
        }
    }
    t->n_blocks = kept;
    if (t->damage.n > 0) {
        qsort(t->damage.items, t->damage.n, sizeof *t->damage.items, by_run);
    }
    return ETP_OK;
}

// Runs are counted from the first one that is kept. One that repeats a run which is left out
// repeats the first that is kept and does so too.
static void renumber(etp_fb_repeats *repeats, size_t left_out)
{
    uint32_t *same = repeats->same_as;
    for (size_t r = left_out; r < repeats->n; r++) {
        uint32_t model = same[r];
        if (model < left_out) {
            same[model] = same[model] < left_out ? (uint32_t)r : same[model]; // its first now
            same[r] = same[model];
        }
    }
    for (size_t r = left_out; r < repeats->n; r++) {
        same[r - left_out] = same[r] - (uint32_t)left_out;
    }
    repeats->n -= ETP_MIN(left_out, repeats->n);
}

static etp_status read_dump(etp_bytes bytes, const etp_trace_options *o, etp_trace *t,
                            etp_error *err)
{
    grouping g = {
        .trace = t,
        .unit = {ETP_MAX(o->ticks_num, 1), ETP_MAX(o->ticks_den, 1)},
        .err = err,
    };
    g.trace->unit_told = o->ticks_num > 0 || o->units.source;
    if (o->units.source) {
        ETP_TRY(etp_unit_parse(o->units.source, "--source-unit", &g.unit, err));
    }
    g.cycles = o->units.delegate && strncmp(o->units.delegate, "cycles:", 7) == 0;
    g.trace->tick_ns = g.trace->delegate_tick_ns = g.unit.num / g.unit.den;
    if (o->units.delegate) {
        ETP_TRY(etp_unit_parse(o->units.delegate, "--delegate-unit", &g.delegate, err));
        g.trace->delegate_tick_ns = g.delegate.num / g.delegate.den;
    }
    etp_arena_scratch(&g.scratch, &t->arena);
    g.repeats.arena = &g.scratch;
    etp_status status = etp_ed_open(bytes, &g.repeats, &t->dump, err);
    if (status == ETP_OK) {
        // What came before is left out as if it were not in the file.
        etp_etdump *dump = &t->dump;
        const uint64_t n = o->last;
        if (n > 0 && n < dump->n_runs) {
            size_t left_out = dump->n_runs - (size_t)n;
            dump->at_runs += left_out * sizeof(uint32_t); // a vector of offsets
            dump->n_runs = (size_t)n;
            renumber(&g.repeats, left_out);
        }
        status = group_runs(&g);
    }
    etp_arena_dispose(&g.scratch);
    return status;
}

static etp_status read_guarded(etp_bytes bytes, const etp_trace_options *o, etp_trace *t,
                               etp_error *err)
{
    ETP_GUARDED(&t->arena, err, "the trace", read_dump(bytes, o, t, err));
}

etp_status etp_trace_open(etp_bytes bytes, const etp_trace_options *options, etp_trace **out,
                          etp_error *err)
{
    const etp_trace_options o = options ? *options : (etp_trace_options){0};
    *out = NULL;
    etp_arena arena;
    etp_arena_init(&arena, o.alloc);
    etp_trace *t = ETP_NEW(&arena, etp_trace);
    // Nothing but this one struct was asked of the arena so far: it has nothing to dispose of.
    ETP_NEED(t, err, "a trace");
    t->arena = arena; // the trace lives in its own arena
    etp_status status = read_guarded(bytes, &o, t, err);
    if (status != ETP_OK) {
        etp_trace_close(t);
        return status;
    }
    *out = t;
    return ETP_OK;
}

void etp_trace_close(etp_trace *trace)
{
    if (trace) {
        etp_arena arena = trace->arena; // disposing frees TRACE itself
        etp_arena_dispose(&arena);
    }
}

size_t etp_trace_block_count(const etp_trace *trace)
{
    return trace->n_blocks;
}

const etp_trace_block *etp_trace_block_at(const etp_trace *trace, size_t index)
{
    return &trace->blocks[index];
}

const struct etp_etdump *etp_trace_dump(const etp_trace *trace)
{
    return &trace->dump;
}

bool etp_trace_places_known(const etp_trace *trace)
{
    return !trace->places_guessed;
}

bool etp_trace_partly_logged(const etp_trace *trace)
{
    return trace->partly_logged;
}

// ---- questions about events ----

int64_t etp_trace_exclusive_ns(const etp_trace_block *block, uint32_t event, size_t run)
{
    uint64_t ns = etp_trace_durations(block, event)[run];
    // Parts come before the whole, and a part's own parts before it: all in front of EVENT.
    for (uint32_t i = event; i-- > 0;) {
        if (block->events[i].parent == event) {
            ns -= etp_trace_durations(block, i)[run];
        } else if (block->events[i].kind != ETP_EVENT_APART &&
                   (block->events[i].parent == ETP_NO_INDEX || block->events[i].parent > event)) {
            break;
        }
    }
    return (int64_t)ns;
}

etp_str etp_trace_base_name(etp_str name, uint32_t *out_counter)
{
    return etp_op_split_counter(name, out_counter);
}
