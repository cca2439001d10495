// SPDX-License-Identifier: Apache-2.0
// Grouping: each execution's event list is compared with a list seen before, reading its durations
// on the way; those go to one row per execution first and are turned into columns at the end, when
// the size of each group is known.
#include <stdio.h>
#include <stdlib.h>

#include "base/guard.h"
#include "formats/etdump_view.h"
#include "operators/delegates.h"
#include "trace/modes.h"
#include "trace/settle.h"
#include "trace/tree.h"

#define MEMORY_FLOOR ((uint64_t)16 << 20) // memory an ETDump of any size may take

// Tables with the same fields share a vtable, so what was found for one event holds for nearly all
// that follow and spares a look into the vtable for each field.
typedef struct field_offsets { // of a ProfileEvent table, by its vtable; 0: absent
    const uint8_t *vtable;
    uint16_t name, chain, instruction, delegate_id, delegate_str, start, end;
} field_offsets;

// What makes events of two executions the same event: everything but their times.
typedef struct signature { // strings point to their length word, NULL when absent
    const uint8_t *name, *delegate_str;
    int32_t chain, instruction, delegate_id;
} signature;

typedef struct raw_event {
    signature sig;
    uint64_t start, end;
} raw_event;

typedef struct group {  // a block under construction
    etp_etdump_run run; // its first execution
    uint32_t second, last;
    uint64_t hash;
    signature *events;
    size_t n_events, n_runs;
    size_t next_same_hash; // index + 1 of the next group in the hash bucket
    // A program runs its methods in the same rotation again and again, so the group that came next
    // last time is tried before anything is hashed.
    size_t followed_by; // index + 1 of the group that came after it last time
} group;

typedef struct layout { // where a run and those that repeat it have their times
    uint32_t run;       // the run it was taken from
    bool usable;
    int32_t *times; // per event: start and end, from the run's table on
    size_t cap;
} layout;

// So many methods may take turns before the layout of the oldest is given up and found anew.
#define LAYOUTS 4

typedef struct grouping {
    etp_trace *trace;
    etp_fb_repeats repeats;
    layout layouts[LAYOUTS];
    size_t n_layouts; // ever made
    etp_arena scratch;
    uint64_t num, den;
    bool modes;
    etp_ratio delegate; // den 0: unknown
    bool cycles;        // it was told as cycles
    struct {
        group *items;
        size_t n, cap;
    } groups;
    size_t *buckets; // index + 1 into groups
    size_t bucket_mask;
    uint32_t *group_of;       // by run
    etp_trace_event **events; // by group: those of its block
    uint64_t *rows;           // durations, runs one after the other
    size_t rows_n;
    uint64_t any_bits; // of all durations, or-ed
    field_offsets offsets;
    etp_error *err;
} grouping;

// ---- reading one event ----

static void load_offsets(etp_fb_table t, field_offsets *out)
{
    uint16_t at[ETP_ED_PROFILE_END + 1];
    for (unsigned id = 0; id <= ETP_ED_PROFILE_END; id++) {
        const uint8_t *p = etp_fb_field_ptr(t, id);
        at[id] = p ? (uint16_t)(p - t.ptr) : 0;
    }
    *out = (field_offsets){
        .vtable = t.vtable,
        .name = at[ETP_ED_PROFILE_NAME],
        .chain = at[ETP_ED_PROFILE_CHAIN],
        .instruction = at[ETP_ED_PROFILE_INSTRUCTION],
        .delegate_id = at[ETP_ED_PROFILE_DELEGATE_INT],
        .delegate_str = at[ETP_ED_PROFILE_DELEGATE_STR],
        .start = at[ETP_ED_PROFILE_START],
        .end = at[ETP_ED_PROFILE_END],
    };
}

// False when event INDEX of RUN has no profile part.
static inline bool read_event(grouping *g, const etp_etdump_run *run, size_t index, raw_event *out)
{
    etp_fb_table t = etp_ed_profile_table(run, index);
    if (!t.ptr) {
        return false;
    }
    field_offsets *o = &g->offsets;
    if (t.vtable != o->vtable) {
        load_offsets(t, o);
    }
    const uint8_t *p = t.ptr;
    out->sig.name = o->name ? etp_fb_follow(p + o->name) : NULL;
    out->sig.chain = o->chain ? (int32_t)etp_load_u32(p + o->chain) : 0;
    out->sig.instruction = o->instruction ? (int32_t)etp_load_u32(p + o->instruction) : -1;
    out->sig.delegate_id = o->delegate_id ? (int32_t)etp_load_u32(p + o->delegate_id) : -1;
    out->sig.delegate_str = o->delegate_str ? etp_fb_follow(p + o->delegate_str) : NULL;
    out->start = o->start ? etp_load_u64(p + o->start) : 0;
    out->end = o->end ? etp_load_u64(p + o->end) : 0;
    return true;
}

static etp_str text_of(const uint8_t *string)
{
    return string ? etp_fb_str_at(string) : (etp_str){"", 0};
}

// An absent string equals an empty one.
static inline bool same_text(const uint8_t *a, const uint8_t *b)
{
    if (!a || !b) {
        return a == b || etp_load_u32(a ? a : b) == 0;
    }
    uint32_t n = etp_load_u32(a);
    return n == etp_load_u32(b) && memcmp(a + 4, b + 4, n) == 0;
}

static inline bool same_event(const signature *a, const signature *b)
{
    return a->chain == b->chain && a->instruction == b->instruction &&
           a->delegate_id == b->delegate_id && same_text(a->delegate_str, b->delegate_str) &&
           same_text(a->name, b->name);
}

// What is no time is too long for one, so that its execution is left out.
static uint64_t duration_ns(const grouping *g, const raw_event *e)
{
    uint64_t ticks = 0;
    if (!etp_etdump_elapsed(e->start, e->end, &ticks)) {
        return ETP_BACKWARDS_NS;
    }
    // Whole multiples of the denominator and what is left of them are multiplied apart: ticks × num
    // need not fit 64 bits, as long as the result does.
    uint64_t whole = ticks / g->den, rest = ticks % g->den;
    if ((whole > 0 && g->num > UINT64_MAX / 2 / whole) ||
        (rest > 0 && g->num > UINT64_MAX / 2 / rest)) {
        return INT64_MAX;
    }
    return whole * g->num + rest * g->num / g->den;
}

// This runs for each event of each execution, and nearly always ticks are nanoseconds and the
// counter did not wrap.
static inline void store_duration(grouping *g, const raw_event *e, uint64_t *out)
{
    bool plain = e->end >= e->start && g->num == 1 && g->den == 1;
    *out = plain ? e->end - e->start : duration_ns(g, e);
    g->any_bits |= *out;
}

// ---- finding the group of an execution ----

// The hash only chooses which groups are compared with. Who makes lists collide makes their own
// file slow to read, nothing else.
static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9E3779B97F4A7C15u;
    return h ^ (h >> 32);
}

static uint64_t mix_text(uint64_t h, etp_str s)
{
    h = mix(h, s.len);
    size_t i = 0;
    for (; s.len - i >= 8; i += 8) {
        h = mix(h, etp_load_u64((const uint8_t *)s.ptr + i));
    }
    for (; i < s.len; i++) {
        h = mix(h, (uint8_t)s.ptr[i]);
    }
    return h;
}

static uint64_t hash_run(grouping *g, const etp_etdump_run *run, size_t *out_events)
{
    uint64_t h = mix_text(mix(0, (uint32_t)run->bundled_input), run->name);
    size_t n = 0;
    for (size_t i = 0; i < run->n_events; i++) {
        raw_event e;
        if (!read_event(g, run, i, &e)) {
            continue;
        }
        n++;
        h = mix(h, (uint64_t)(uint32_t)e.sig.chain << 32 | (uint32_t)e.sig.instruction);
        h = mix_text(mix(h, (uint32_t)e.sig.delegate_id), text_of(e.sig.delegate_str));
        h = mix_text(h, text_of(e.sig.name));
    }
    *out_events = n;
    return h;
}

// Compares RUN with the group and appends its durations to the rows; false, with nothing appended,
// when the lists differ.
// A comparison that fails has written behind the end of the rows, where there is room for all
// events of the file, and what comes next writes over it.
static bool try_group(grouping *g, const etp_etdump_run *run, const group *gr)
{
    if (run->bundled_input != gr->run.bundled_input || run->n_events < gr->n_events ||
        !etp_str_eq(run->name, gr->run.name)) {
        return false;
    }
    uint64_t *row = g->rows + g->rows_n;
    size_t n = 0;
    for (size_t i = 0; i < run->n_events; i++) {
        raw_event e;
        if (!read_event(g, run, i, &e)) {
            continue;
        }
        if (n == gr->n_events || !same_event(&e.sig, &gr->events[n])) {
            return false;
        }
        store_duration(g, &e, &row[n]);
        n++;
    }
    bool same = n == gr->n_events;
    g->rows_n += same ? n : 0;
    return same;
}

static void new_group(grouping *g, const etp_etdump_run *run, uint64_t hash, size_t n_events)
{
    group gr = {.run = *run, .hash = hash, .n_events = n_events};
    gr.events = etp_arena_alloc_raw(&g->scratch, n_events, sizeof *gr.events);
    size_t n = 0;
    for (size_t i = 0; i < run->n_events; i++) {
        raw_event e;
        if (read_event(g, run, i, &e)) {
            gr.events[n++] = e.sig;
        }
    }
    size_t *bucket = &g->buckets[hash & g->bucket_mask];
    gr.next_same_hash = *bucket;
    ETP_ADD(&g->scratch, &g->groups, gr);
    *bucket = g->groups.n;
}

// ---- executions that repeat an earlier one bit for bit, but for their times ----

static const uint8_t *run_ptr(const grouping *g, size_t run)
{
    etp_fb_vector runs = {g->trace->dump.at_runs, (uint32_t)g->trace->dump.n_runs};
    return etp_fb_vec_table(runs, run).ptr;
}

static bool fill_layout(grouping *g, uint32_t index, size_t n_events, layout *l)
{
    etp_etdump_run run = etp_etdump_run_at(&g->trace->dump, index);
    const uint8_t *from = run_ptr(g, index);
    size_t n = 0;
    if (n_events > l->cap) {
        l->times = etp_arena_alloc_raw(&g->scratch, n_events, 2 * sizeof *l->times);
        l->cap = n_events;
    }
    for (size_t i = 0; i < run.n_events; i++) {
        etp_fb_table t = etp_ed_profile_table(&run, i);
        if (!t.ptr) {
            continue;
        }
        const uint8_t *start = etp_fb_field_ptr(t, ETP_ED_PROFILE_START);
        const uint8_t *end = etp_fb_field_ptr(t, ETP_ED_PROFILE_END);
        if (!start || !end) {
            // Then there is no place to read it from.
            return false; // a time of 0 that the writer left out
        }
        l->times[2 * n] = (int32_t)(start - from);
        l->times[2 * n + 1] = (int32_t)(end - from);
        n++;
    }
    return n == n_events;
}

// The layout of run INDEX, NULL when it cannot be had.
static const layout *find_layout(grouping *g, uint32_t index, size_t n_events)
{
    for (size_t i = 0; i < LAYOUTS && i < g->n_layouts; i++) {
        if (g->layouts[i].run == index) {
            return g->layouts[i].usable ? &g->layouts[i] : NULL;
        }
    }
    layout *l = &g->layouts[g->n_layouts++ % LAYOUTS];
    l->run = index;
    l->usable = fill_layout(g, index, n_events, l);
    return l->usable ? l : NULL;
}

// Appends the durations of run INDEX, which is known to repeat run MODEL of group GR.
// Its table is laid out as that of MODEL to the byte, so the times lie at the same distances.
static void read_repeated(grouping *g, size_t index, const group *gr, const layout *l)
{
    const uint8_t *from = run_ptr(g, index);
    uint64_t *row = g->rows + g->rows_n;
    uint64_t bits = 0;
    bool plain = g->num == 1 && g->den == 1;
    for (size_t i = 0; i < gr->n_events && plain; i++) {
        uint64_t start = etp_load_u64(from + l->times[2 * i]);
        uint64_t end = etp_load_u64(from + l->times[2 * i + 1]);
        plain = end >= start;
        row[i] = end - start;
        bits |= row[i];
    }
    if (plain) {
        g->any_bits |= bits;
        g->rows_n += gr->n_events;
        return;
    }
    etp_etdump_run run = etp_etdump_run_at(&g->trace->dump, index);
    try_group(g, &run, gr);
}

// Index of the group of RUN, whose durations are in the rows then.
static size_t find_group(grouping *g, const etp_etdump_run *run, size_t guess)
{
    if (guess != 0 && try_group(g, run, &g->groups.items[guess - 1])) {
        return guess - 1;
    }
    size_t n_events = 0;
    uint64_t hash = hash_run(g, run, &n_events);
    for (size_t i = g->buckets[hash & g->bucket_mask]; i != 0;) {
        const group *gr = &g->groups.items[i - 1];
        if (gr->hash == hash && i != guess && try_group(g, run, gr)) {
            return i - 1;
        }
        i = gr->next_same_hash;
    }
    new_group(g, run, hash, n_events);
    try_group(g, run, &g->groups.items[g->groups.n - 1]);
    return g->groups.n - 1;
}

// Sums over any of the durations fit in an int64_t: a promise of trace.h.
// Most files need no adding up: were each duration as long as all their bits together, the sum
// would fit.
static etp_status check_sums(const grouping *g)
{
    if (g->rows_n == 0 || g->any_bits <= INT64_MAX / (uint64_t)g->rows_n) {
        return ETP_OK;
    }
    uint64_t left = INT64_MAX;
    for (size_t i = 0; i < g->rows_n; i++) {
        if (g->rows[i] > ETP_LONGEST_NS) {
            continue; // damage, whose execution is left out
        }
        if (g->rows[i] > left) {
            return etp_fail_at(g->err, ETP_CORRUPT, g->trace->dump.bytes.base,
                               "durations add up to more than 2^63 ns");
        }
        left -= g->rows[i];
    }
    return ETP_OK;
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

static void fill_event(grouping *g, const signature *raw, etp_trace_event *e)
{
    etp_str id = text_of(raw->delegate_str);
    e->name = id.len ? id : text_of(raw->name);
    e->chain = raw->chain;
    e->instruction = raw->instruction;
    e->delegate_id = raw->delegate_id;
    e->delegated = raw->delegate_id != -1 || id.len != 0;
    if (e->name.len == 0 && raw->delegate_id != -1) {
        e->name = etp_str_from(etp_arena_printf(&g->trace->arena, "%ld", (long)raw->delegate_id));
    }
}

// Which kernels ran, of the first execution: those of a process do not change.
static void take_kernels(const etp_etdump_run *run, etp_trace_event *events, size_t n)
{
    for (size_t i = 0, k = 0; i < run->n_events && k < n; i++) {
        etp_fb_table t = etp_ed_profile_table(run, i);
        if (!t.ptr) {
            continue;
        }
        etp_fb_vector v = etp_fb_vec(t, ETP_ED_PROFILE_METADATA);
        etp_trace_event *e = &events[k++];
        if (e->delegated && v.n > 0) {
            e->kernel = etp_delegate_kernel(e->name, (etp_str){(const char *)v.items, v.n});
        }
    }
}

// A column per event out of a row per run, in tiles that stay in the cache.
static void transpose(const uint64_t *const *rows, const etp_trace_block *b, uint64_t *out)
{
    enum { TILE = 16 };
    size_t n_runs = b->n_runs;
    for (size_t r0 = 0; r0 < n_runs; r0 += TILE) {
        size_t r1 = n_runs - r0 < TILE ? n_runs : r0 + TILE;
        for (size_t e = 0; e < b->n_events; e++) {
            size_t from = b->in_file ? b->in_file[e] : e;
            for (size_t r = r0; r < r1; r++) {
                out[e * n_runs + r] = rows[r][from];
            }
        }
    }
}

// As the first execution and the last have it; where these differ, as the second and one of them.
// Whether any event was elsewhere in the file.
static bool order_events(grouping *g, const group *gr, etp_trace_event *events, uint32_t *in_file)
{
    const size_t n = gr->n_events, most = gr->n_runs < 3 ? 1 : 3;
    const etp_etdump_run runs[3] = {gr->run, etp_etdump_run_at(&g->trace->dump, gr->last),
                                    etp_etdump_run_at(&g->trace->dump, gr->second)};
    etp_tree_times *times = etp_arena_alloc_raw(&g->scratch, n, sizeof *times);
    etp_trace_event *ordered[3];
    uint32_t *places[3];
    bool moved[3] = {false}, agree = false;
    size_t use = 0;
    for (size_t k = 0; k < most && !agree; k++) {
        size_t at = 0;
        raw_event e;
        for (size_t i = 0; i < runs[k].n_events; i++) {
            if (read_event(g, &runs[k], i, &e)) {
                times[at++] = (etp_tree_times){e.start, e.end};
            }
        }
        ordered[k] = etp_arena_alloc_raw(&g->scratch, n, sizeof **ordered);
        places[k] = etp_arena_alloc_raw(&g->scratch, n, sizeof **places);
        memcpy(ordered[k], events, n * sizeof *events);
        moved[k] = etp_tree_order(ordered[k], n, times, &g->scratch, places[k]);
        agree = k > 0 && memcmp(places[k], places[k - 1], n * sizeof *in_file) == 0;
        use = agree ? k : 0;
    }
    memcpy(events, ordered[use], n * sizeof *events);
    memcpy(in_file, places[use], n * sizeof *in_file);
    return moved[use];
}

// A block in which Method::execute ends twice has no single length to hold its operators against,
// so it counts as one without.
static void finish_block(grouping *g, const group *gr, etp_trace_block *out)
{
    etp_arena *arena = &g->trace->arena;
    etp_trace_event *events = etp_arena_alloc_array(arena, gr->n_events, sizeof *events);
    g->events[gr - g->groups.items] = events;
    uint32_t *open = etp_arena_alloc_raw(&g->scratch, gr->n_events, sizeof *open);
    *out = (etp_trace_block){
        .name = gr->run.name.ptr ? gr->run.name : (etp_str){"", 0},
        .events = events,
        .n_events = gr->n_events,
        .execute = ETP_NO_INDEX,
        .bundled_input = gr->run.bundled_input,
    };
    for (size_t i = 0; i < gr->n_events; i++) {
        fill_event(g, &gr->events[i], &events[i]);
    }
    take_kernels(&gr->run, events, gr->n_events);
    uint32_t *in_file = etp_arena_alloc_raw(arena, gr->n_events, sizeof *in_file);
    out->in_file = order_events(g, gr, events, in_file) ? in_file : NULL;
    etp_tree_build(events, gr->n_events, open);
    size_t n_execute = 0;
    for (size_t i = 0; i < gr->n_events; i++) {
        if (events[i].kind == ETP_EVENT_EXECUTE) {
            n_execute++;
            out->execute = (uint32_t)i;
        }
    }
    out->has_execute = n_execute == 1;
    if (!out->has_execute) {
        out->execute = ETP_NO_INDEX;
    }
}

static int by_run(const void *pa, const void *pb)
{
    const etp_trace_damage *a = pa, *b = pb;
    return (a->run > b->run) - (a->run < b->run);
}

// A block may have had damaged executions alone.
static void drop_empty(etp_trace *t)
{
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
}

// Rows lie in the order of the file, which is that of the runs in every block, so handing them out
// one after the other keeps each block's runs ascending.
static void make_columns(grouping *g)
{
    etp_trace *t = g->trace;
    const uint64_t ***rows = etp_arena_alloc_array(&g->scratch, g->groups.n, sizeof *rows);
    uint32_t **runs = etp_arena_alloc_array(&g->scratch, g->groups.n, sizeof *runs);
    for (size_t i = 0; i < g->groups.n; i++) {
        size_t n = g->groups.items[i].n_runs;
        rows[i] = etp_arena_alloc_raw(&g->scratch, n, sizeof **rows);
        runs[i] = etp_arena_alloc_raw(&t->arena, n, sizeof **runs);
    }
    const uint64_t *row = g->rows;
    for (size_t r = 0; r < t->dump.n_runs; r++) {
        uint32_t i = g->group_of[r];
        size_t k = t->blocks[i].n_runs++;
        rows[i][k] = row;
        runs[i][k] = (uint32_t)r;
        row += t->blocks[i].n_events;
    }
    for (size_t i = 0; i < g->groups.n; i++) {
        etp_trace_block *b = &t->blocks[i];
        uint64_t *columns =
            etp_arena_alloc_raw(&t->arena, b->n_events * b->n_runs, sizeof *columns);
        transpose(rows[i], b, columns);
        b->durations_ns = columns;
        b->runs = runs[i];
        etp_settle settle = {
            .trace = t,
            .block = b,
            .events = g->events[i],
            .columns = columns,
            .runs = runs[i],
            .step = ETP_STEP_NS * g->den / g->num,
            .delegate = g->delegate,
            .cycles = g->cycles,
            .arena = &t->arena,
        };
        etp_settle_block(&settle);
    }
    drop_empty(t);
    if (g->modes) {
        etp_modes_split(t, &t->arena);
    }
}

// ---- opening ----

static etp_status prepare(grouping *g)
{
    const etp_etdump *dump = &g->trace->dump;
    uint64_t events = 0;
    for (size_t r = 0; r < dump->n_runs; r++) {
        events += etp_etdump_run_at(dump, r).n_events;
    }
    size_t buckets = 16;
    while (buckets < dump->n_runs && buckets < 1 << 16) {
        buckets *= 2;
    }
    // Two copies of the durations, and per run its group, its row and its place in the block.
    ETP_TRY(check_memory(g, events * 16 + dump->n_runs * 16 + buckets * sizeof *g->buckets));
    g->bucket_mask = buckets - 1;
    g->buckets = etp_arena_alloc_array(&g->scratch, buckets, sizeof *g->buckets);
    g->group_of = etp_arena_alloc_raw(&g->scratch, dump->n_runs, sizeof *g->group_of);
    g->rows = etp_arena_alloc_raw(&g->scratch, (size_t)events, sizeof *g->rows);
    return ETP_OK;
}

static etp_status group_runs(grouping *g)
{
    etp_trace *t = g->trace;
    ETP_TRY(prepare(g));
    size_t last = 0; // group of the run before, index + 1
    for (size_t r = 0; r < t->dump.n_runs; r++) {
        // A run that repeats an earlier one needs no comparison: the verifier has made it.
        uint32_t model = r < g->repeats.n ? g->repeats.same_as[r] : (uint32_t)r;
        size_t guess = last ? g->groups.items[last - 1].followed_by : 0;
        size_t i = model < r ? g->group_of[model] : 0;
        const layout *l = model < r ? find_layout(g, model, g->groups.items[i].n_events) : NULL;
        if (l) {
            read_repeated(g, r, &g->groups.items[i], l);
        } else {
            etp_etdump_run run = etp_etdump_run_at(&t->dump, r);
            i = find_group(g, &run, guess ? guess : last);
        }
        group *gr = &g->groups.items[i];
        gr->second = gr->n_runs == 1 ? (uint32_t)r : gr->second;
        gr->last = (uint32_t)r;
        gr->n_runs++;
        g->group_of[r] = (uint32_t)i;
        if (last) {
            g->groups.items[last - 1].followed_by = i + 1;
        }
        last = i + 1;
        ETP_TRY(check_memory(g, 0));
    }
    ETP_TRY(check_sums(g));
    t->n_blocks = g->groups.n;
    t->blocks = etp_arena_alloc_array(&t->arena, t->n_blocks, sizeof *t->blocks);
    g->events = etp_arena_alloc_array(&g->scratch, t->n_blocks, sizeof *g->events);
    for (size_t i = 0; i < t->n_blocks; i++) {
        finish_block(g, &g->groups.items[i], &t->blocks[i]);
        ETP_TRY(check_memory(g, 0));
    }
    make_columns(g);
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
    repeats->n -= left_out < repeats->n ? left_out : repeats->n;
}

// What came before is left out as if it were not in the file.
static void keep_last(etp_etdump *dump, etp_fb_repeats *repeats, uint64_t n)
{
    if (n > 0 && n < dump->n_runs) {
        size_t left_out = dump->n_runs - (size_t)n;
        dump->at_runs += left_out * sizeof(uint32_t); // a vector of offsets
        dump->n_runs = (size_t)n;
        renumber(repeats, left_out);
    }
}

static etp_status take_units(const etp_trace_options *o, grouping *g, etp_error *err)
{
    g->trace->unit_told = o->ticks_num > 0 || o->units.source;
    if (o->units.source) {
        etp_ratio source;
        ETP_TRY(etp_unit_parse(o->units.source, "--source-unit", &source, err));
        g->num = source.num;
        g->den = source.den;
    }
    g->cycles = o->units.delegate && strncmp(o->units.delegate, "cycles:", 7) == 0;
    g->trace->tick_ns = g->trace->delegate_tick_ns = g->num / g->den;
    if (o->units.delegate) {
        ETP_TRY(etp_unit_parse(o->units.delegate, "--delegate-unit", &g->delegate, err));
        g->trace->delegate_tick_ns = g->delegate.num / g->delegate.den;
    }
    return ETP_OK;
}

static etp_status read_dump(etp_bytes bytes, const etp_trace_options *o, etp_trace *t,
                            etp_error *err)
{
    grouping g = {
        .trace = t,
        .num = o->ticks_num ? o->ticks_num : 1,
        .den = o->ticks_den ? o->ticks_den : 1,
        .modes = o->modes,
        .err = err,
    };
    ETP_TRY(take_units(o, &g, err));
    etp_arena_scratch(&g.scratch, &t->arena);
    g.repeats.arena = &g.scratch;
    etp_status status = etp_ed_open(bytes, &g.repeats, &t->dump, err);
    if (status == ETP_OK) {
        keep_last(&t->dump, &g.repeats, o->last);
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

// XNNPACK's profiler numbers operators of one name within a delegate call, from 1 on. Other
// backends have names that end in a number too, so only " #" and a number that can be such a count
// are cut off.
etp_str etp_trace_base_name(etp_str name, uint32_t *out_counter)
{
    *out_counter = 0;
    size_t digits = 0;
    // Ten digits hold every uint32_t.
    while (digits < name.len && digits < 10 && name.ptr[name.len - 1 - digits] >= '0' &&
           name.ptr[name.len - 1 - digits] <= '9') {
        digits++;
    }
    if (digits == 0 || name.len < digits + 2 || name.ptr[name.len - digits - 1] != '#' ||
        name.ptr[name.len - digits - 2] != ' ') {
        return name;
    }
    uint64_t counter = 0;
    for (size_t i = name.len - digits; i < name.len; i++) {
        counter = counter * 10 + (uint64_t)(name.ptr[i] - '0');
    }
    if (counter == 0 || counter > UINT32_MAX) {
        return name;
    }
    *out_counter = (uint32_t)counter;
    return (etp_str){name.ptr, name.len - digits - 2};
}
