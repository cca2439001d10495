// SPDX-License-Identifier: Apache-2.0
// Grouping and arithmetic of ExecuTorch's Inspector. Names of its steps: events of a run are
// collated by (instruction, chain, delegate ids); each profile event then gets a signature without
// the chain, and a later event with the same signature replaces an earlier one of the run; runs
// with equal lists of signatures are one block.
#include "convert/inspector.h"

#include <math.h>

#include "base/guard.h"
#include "base/index.h"
#include "operators/delegates.h"
#include "trace/ops.h"

// Inspector takes ticks for nanoseconds and shows milliseconds unless it is told otherwise.
#define NS_PER_MS 1e6

typedef struct identity { // name and ids as both kinds of events have them
    etp_str name;
    int32_t delegate_id;
    etp_str delegate_id_str;
} identity;

// Instruction and ids come from the list of events that it was collated into, so an item knows no
// chain: two calls of one instruction number in different chains become one.
typedef struct item { // one signature of a run
    int32_t instruction_id;
    bool has_profile, has_debug;
    identity profile, debug;
    uint32_t event;    // index of the profile event in the run
    uint32_t collated; // which list of debug events goes with it
} item;

typedef struct collated { // events of one run with equal instruction, chain and delegate ids
    int32_t instruction_id;
    uint64_t chain;
    // A profile event's chain is signed and a debug event's is not, and Python compares them as
    // numbers: -1 and 2^64 - 1 differ, although their bits are the same here.
    bool chain_negative;
    int32_t delegate_id;
    etp_str delegate_id_str;              // here an absent string differs from an empty one
    uint32_t first_debug, last_debug;     // of `next` chains, ETP_NO_INDEX when none
    uint32_t first_profile, last_profile; // likewise
} collated;

typedef struct shape { // what one run's event list amounts to
    etp_str block_name;
    int32_t bundled_input;
    item *items;
    size_t n_items;
    etp_etdump_value *values; // debug values of the first run that has this shape
    struct {
        size_t first, n;
    } *debug; // by collated index: range of values
    uint64_t hash;
} shape;

typedef struct member { // a run in a block
    uint32_t run;
    const shape *shape;
} member;

typedef struct event_block {
    const shape *shape; // of the first member
    struct {
        member *items;
        size_t n, cap;
    } members;
    // Runs come in rotation, so the block that followed last time is tried first.
    size_t followed_by; // index + 1 of the block that came after it last time
} event_block;

typedef struct builder {
    const etp_etdump *dump;
    etp_arena *arena;  // results
    etp_arena scratch; // the rest
    struct {
        event_block *items;
        size_t n, cap;
    } blocks;
    etp_index index;
    etp_error *err;
    // Tables for the run at hand.
    struct {
        collated *items;
        size_t n, cap;
    } lists;
    uint32_t *next; // by event: next one of the same kind in its list
    size_t next_cap;
    uint32_t *table; // hash table of list or item indices + 1
    size_t table_cap;
    uint64_t *bits; // room for the samples of a row, twice
    size_t bits_cap;
} builder;

// ---- hashing ----

static uint64_t hash_text(uint64_t h, etp_str s)
{
    h = etp_hash_bytes(h, &s.len, sizeof s.len);
    return etp_hash_bytes(h, s.ptr, s.len);
}

static bool identity_eq(const identity *a, const identity *b)
{
    return a->delegate_id == b->delegate_id && etp_str_eq(a->name, b->name) &&
           etp_str_eq(a->delegate_id_str, b->delegate_id_str);
}

static bool item_eq(const item *a, const item *b)
{
    return a->instruction_id == b->instruction_id && a->has_profile == b->has_profile &&
           a->has_debug == b->has_debug && identity_eq(&a->profile, &b->profile) &&
           identity_eq(&a->debug, &b->debug);
}

static uint64_t item_hash(uint64_t h, const item *it)
{
    const int32_t ids[] = {it->instruction_id, it->has_profile, it->has_debug,
                           it->profile.delegate_id, it->debug.delegate_id};
    h = etp_hash_bytes(h, ids, sizeof ids);
    h = hash_text(hash_text(h, it->profile.name), it->profile.delegate_id_str);
    return hash_text(hash_text(h, it->debug.name), it->debug.delegate_id_str);
}

static bool same_list(const collated *a, const collated *b)
{
    return a->instruction_id == b->instruction_id && a->chain == b->chain &&
           a->chain_negative == b->chain_negative && a->delegate_id == b->delegate_id &&
           !a->delegate_id_str.ptr == !b->delegate_id_str.ptr &&
           etp_str_eq(a->delegate_id_str, b->delegate_id_str);
}

static uint64_t list_hash(const collated *c)
{
    const int32_t ids[] = {c->instruction_id, c->chain_negative, c->delegate_id};
    uint64_t h = etp_hash_bytes(ETP_HASH_START, ids, sizeof ids);
    return hash_text(etp_hash_bytes(h, &c->chain, sizeof c->chain), c->delegate_id_str);
}

// ---- one run ----

static size_t clear_table(builder *b, size_t n_entries) // gives the mask
{
    size_t size = 16;
    while (size < 2 * n_entries) {
        size *= 2;
    }
    memset(b->table, 0, size * sizeof *b->table);
    return size - 1;
}

static collated *find_list(builder *b, size_t mask, const collated *key)
{
    size_t at = (size_t)list_hash(key) & mask;
    for (; b->table[at] != 0; at = (at + 1) & mask) {
        collated *known = &b->lists.items[b->table[at] - 1];
        if (same_list(known, key)) {
            return known;
        }
    }
    ETP_ADD(&b->scratch, &b->lists, *key);
    b->table[at] = (uint32_t)b->lists.n;
    return &b->lists.items[b->lists.n - 1];
}

static void append(builder *b, uint32_t *first, uint32_t *last, uint32_t event)
{
    b->next[event] = ETP_NO_INDEX;
    if (*first == ETP_NO_INDEX) {
        *first = event;
    } else {
        b->next[*last] = event;
    }
    *last = event;
}

// Sorts the events of RUN into b->lists, in order of first appearance. Gives the number of debug
// values that are not outputs of the program.
static size_t collate(builder *b, const etp_etdump_run *run)
{
    // Tables of one run are used again for the next; they have twice as many places as there can be
    // entries, so that probing ends soon.
    const size_t n_events = run->n_events;
    size_t table = 16;
    while (table < 2 * n_events) {
        table *= 2;
    }
    if (n_events > b->next_cap) {
        b->next = etp_arena_alloc_raw(&b->scratch, n_events, sizeof *b->next);
        b->next_cap = n_events;
    }
    if (table > b->table_cap) {
        b->table = etp_arena_alloc_raw(&b->scratch, table, sizeof *b->table);
        b->table_cap = table;
    }
    size_t mask = clear_table(b, run->n_events), n_values = 0;
    b->lists.n = 0;
    for (size_t i = 0; i < run->n_events; i++) {
        etp_etdump_event event = etp_etdump_event_at(run, i);
        etp_etdump_profile p;
        etp_etdump_debug d = {0};
        collated key = {.first_debug = ETP_NO_INDEX, .first_profile = ETP_NO_INDEX};
        bool is_profile = etp_etdump_profile_of(event, &p);
        if (is_profile) {
            key.instruction_id = p.instruction_id;
            key.chain = (uint64_t)(int64_t)p.chain_index;
            key.chain_negative = p.chain_index < 0;
            key.delegate_id = p.delegate_id;
            key.delegate_id_str = p.delegate_id_str;
        } else if (etp_etdump_debug_of(b->dump, event, &d)) {
            key.instruction_id = d.instruction_id;
            key.chain = d.chain_index;
            key.delegate_id = d.delegate_id;
            key.delegate_id_str = d.delegate_id_str;
        } else {
            continue;
        }
        collated *c = find_list(b, mask, &key);
        if (is_profile) {
            append(b, &c->first_profile, &c->last_profile, (uint32_t)i);
        } else if (!d.value.is_output) {
            append(b, &c->first_debug, &c->last_debug, (uint32_t)i);
            n_values++;
        }
    }
    return n_values;
}

// Adds IT to the run's items; one that is there already only gets the newer event.
// Inspector keeps them in a dict: the later value takes the earlier one's place, in its position.
static void put_item(builder *b, size_t mask, shape *s, const item *it)
{
    size_t at = (size_t)item_hash(ETP_HASH_START, it) & mask;
    for (; b->table[at] != 0; at = (at + 1) & mask) {
        item *old = &s->items[b->table[at] - 1];
        if (item_eq(old, it)) {
            old->event = it->event;
            old->collated = it->collated;
            return;
        }
    }
    s->items[s->n_items] = *it;
    b->table[at] = (uint32_t)++s->n_items;
}

static void put_list(builder *b, const etp_etdump_run *run, size_t mask, shape *s, uint32_t index)
{
    const collated *c = &b->lists.items[index];
    item it = {.instruction_id = c->instruction_id, .event = ETP_NO_INDEX, .collated = index};
    if (c->first_debug != ETP_NO_INDEX) {
        etp_etdump_debug d = {0};
        etp_etdump_debug_of(b->dump, etp_etdump_event_at(run, c->first_debug), &d);
        it.has_debug = true;
        it.debug = (identity){d.name, d.delegate_id, d.delegate_id_str};
    }
    if (c->first_profile == ETP_NO_INDEX) {
        if (it.has_debug) { // else nothing but outputs of the program
            put_item(b, mask, s, &it);
        }
        return;
    }
    it.has_profile = true;
    for (uint32_t e = c->first_profile; e != ETP_NO_INDEX; e = b->next[e]) {
        etp_etdump_profile p = {0};
        etp_etdump_profile_of(etp_etdump_event_at(run, e), &p);
        it.profile = (identity){p.name, p.delegate_id, p.delegate_id_str};
        it.event = e;
        put_item(b, mask, s, &it);
    }
}

static shape *make_shape(builder *b, const etp_etdump_run *run)
{
    size_t n_values = collate(b, run);
    // Debug values go into the table that is handed out, all else is for comparing runs.
    shape *s = ETP_NEW(&b->scratch, shape);
    *s = (shape){.block_name = run->name, .bundled_input = run->bundled_input};
    s->items = ETP_NEW_ARRAY(&b->scratch, item, run->n_events);
    s->values = ETP_NEW_ARRAY(b->arena, etp_etdump_value, n_values);
    s->debug = etp_arena_alloc_array(&b->scratch, b->lists.n, sizeof *s->debug);
    size_t mask = clear_table(b, run->n_events), values = 0;
    for (uint32_t i = 0; i < b->lists.n; i++) {
        put_list(b, run, mask, s, i);
        s->debug[i].first = values;
        for (uint32_t e = b->lists.items[i].first_debug; e != ETP_NO_INDEX; e = b->next[e]) {
            etp_etdump_debug d = {0};
            etp_etdump_debug_of(b->dump, etp_etdump_event_at(run, e), &d);
            s->values[values++] = d.value;
        }
        s->debug[i].n = values - s->debug[i].first;
    }
    s->hash = hash_text(ETP_HASH_START, s->block_name);
    for (size_t i = 0; i < s->n_items; i++) {
        s->hash = item_hash(s->hash, &s->items[i]);
    }
    return s;
}

// ---- runs into blocks ----

typedef struct shape_query {
    const event_block *blocks;
    const shape *shape;
} shape_query;

static bool has_shape(const void *ctx, uint32_t index)
{
    const shape_query *q = ctx;
    const shape *a = q->shape, *b = q->blocks[index].shape;
    bool same = a->n_items == b->n_items && a->bundled_input == b->bundled_input &&
                etp_str_eq(a->block_name, b->block_name);
    for (size_t i = 0; same && i < a->n_items; i++) {
        same = item_eq(&a->items[i], &b->items[i]);
    }
    return same;
}

// Has RUN the same events, in the same places, as the run that S came from? Then S fits it too.
// Runs with debug events never pass, because those would have to be compared as well.
static bool same_events(const builder *b, const etp_etdump_run *run, const member *m)
{
    etp_etdump_run other = etp_etdump_run_at(b->dump, m->run);
    if (run->n_events != other.n_events || run->bundled_input != other.bundled_input ||
        !etp_str_eq(run->name, other.name)) {
        return false;
    }
    for (size_t i = 0; i < run->n_events; i++) {
        etp_etdump_profile p, q;
        if (!etp_etdump_profile_of(etp_etdump_event_at(run, i), &p) ||
            !etp_etdump_profile_of(etp_etdump_event_at(&other, i), &q) ||
            p.chain_index != q.chain_index || p.instruction_id != q.instruction_id ||
            p.delegate_id != q.delegate_id || !etp_str_eq(p.name, q.name) ||
            !p.delegate_id_str.ptr != !q.delegate_id_str.ptr ||
            !etp_str_eq(p.delegate_id_str, q.delegate_id_str)) {
            return false;
        }
    }
    return true;
}

// *place: index + 1 of the block of the run before, and then of this one.
static void place_run(builder *b, uint32_t index, size_t *place)
{
    etp_etdump_run run = etp_etdump_run_at(b->dump, index);
    if (run.n_events == 0) {
        return;
    }
    size_t last = *place, guess = last;
    if (last != 0 && b->blocks.items[last - 1].followed_by != 0) {
        guess = b->blocks.items[last - 1].followed_by;
    }
    const shape *s = NULL;
    if (guess != 0) { // most runs repeat what came at this point before
        const event_block *block = &b->blocks.items[guess - 1];
        const member *m = &block->members.items[block->members.n - 1];
        s = same_events(b, &run, m) ? m->shape : NULL;
        *place = guess;
    }
    if (!s) {
        s = make_shape(b, &run);
        const shape_query q = {b->blocks.items, s};
        uint32_t i = etp_index_find(&b->index, s->hash, has_shape, &q);
        if (i == ETP_NO_INDEX) {
            i = (uint32_t)b->blocks.n;
            ETP_ADD(&b->scratch, &b->blocks, ((event_block){.shape = s}));
            etp_index_insert(&b->index, &b->scratch, s->hash, i);
        }
        *place = (size_t)i + 1;
    }
    if (last != 0) {
        b->blocks.items[last - 1].followed_by = *place;
    }
    ETP_ADD(&b->scratch, &b->blocks.items[*place - 1].members, ((member){index, s}));
}

// ---- arithmetic ----

// Inspector takes the counter to be 32 bits wide when an event ends before it starts, and is one
// tick short then.
static etp_status elapsed_ms(const etp_etdump_profile *p, bool delegated, double *out,
                             etp_error *err)
{
    if (p->start > p->end && p->start > UINT32_MAX) {
        return etp_fail(err, ETP_CORRUPT, "event ends at tick %llu, before its start at %llu",
                        (unsigned long long)p->end, (unsigned long long)p->start);
    }
    if (!delegated) {
        uint64_t ticks = p->start > p->end ? UINT32_MAX - p->start + p->end : p->end - p->start;
        *out = (double)ticks / NS_PER_MS;
        return ETP_OK;
    }
    // Delegated events go through a converter of times, which divides both ends before they are
    // subtracted; the last digits come out of that order.
    double start = (double)p->start / NS_PER_MS, end = (double)p->end / NS_PER_MS;
    *out = start > end ? (4294967295.0 - start) + end : end - start;
    return ETP_OK;
}

// numpy's sum of contiguous doubles.
// Digit for digit: below 8 values in order, up to 128 with eight running sums, above in halves
// whose first is a multiple of eight.
static double pairwise_sum(const double *v, size_t n)
{
    if (n < 8) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            sum += v[i];
        }
        return sum;
    }
    if (n > 128) {
        size_t half = n / 2;
        half -= half % 8;
        return pairwise_sum(v, half) + pairwise_sum(v + half, n - half);
    }
    double r[8];
    memcpy(r, v, sizeof r);
    size_t i = 8;
    for (; i < n - n % 8; i += 8) {
        for (size_t k = 0; k < 8; k++) {
            r[k] += v[i + k];
        }
    }
    double sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    for (; i < n; i++) {
        sum += v[i];
    }
    return sum;
}

static double from_bits(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

// numpy.percentile, method "linear". BITS: the values, which are not negative, so that their bit
// patterns order like them, within [LO, HI].
static double percentile(const uint64_t *bits, size_t n, double q, uint64_t lo, uint64_t hi,
                         uint64_t *scratch)
{
    double v = (double)(n - 1) * q;
    size_t k = (size_t)floor(v);
    double t = v - floor(v);
    double a = from_bits(etp_ops_select(bits, n, k, lo, hi, scratch));
    if (k + 1 == n) {
        return a;
    }
    double b = from_bits(etp_ops_select(bits, n, k + 1, lo, hi, scratch));
    // numpy counts from the nearer end, which is the same value and other last digits.
    return t < 0.5 ? a + (b - a) * t : b - (b - a) * (1 - t);
}

// ---- rows ----

// The debug event's identity, where there is one, wins over the profile event's.
static void name_row(builder *b, const identity *id, etp_inspector_row *row)
{
    row->id_is_int = id->delegate_id != -1;
    row->delegated = row->id_is_int || id->delegate_id_str.len != 0;
    row->delegate_id = id->delegate_id;
    row->delegate_id_str = id->delegate_id_str;
    etp_str name = row->delegated ? id->delegate_id_str : id->name;
    if (row->id_is_int) {
        name = etp_str_from(etp_arena_printf(b->arena, "%ld", (long)id->delegate_id));
    }
    if (name.len != 0) {
        row->event_name = name;
    }
}

// Members of a block have equal items in equal order, but each run has its own events behind them.
static etp_status fill_times(builder *b, const event_block *bl, size_t index,
                             etp_inspector_row *row)
{
    size_t n = bl->members.n;
    double *raw = etp_arena_alloc_raw(b->arena, n, sizeof *raw);
    uint64_t *start = etp_arena_alloc_raw(b->arena, n, sizeof *start);
    for (size_t i = 0; i < n; i++) {
        const member *m = &bl->members.items[i];
        etp_etdump_run run = etp_etdump_run_at(b->dump, m->run);
        etp_etdump_profile p = {0};
        etp_etdump_profile_of(etp_etdump_event_at(&run, m->shape->items[index].event), &p);
        ETP_TRY(elapsed_ms(&p, row->delegated, &raw[i], b->err));
        start[i] = p.start;
    }
    row->raw_ms = raw;
    row->start = start;
    row->n = n;
    if (row->n > b->bits_cap) {
        b->bits = etp_arena_alloc_raw(&b->scratch, row->n, 2 * sizeof *b->bits);
        b->bits_cap = row->n;
    }
    uint64_t *bits = b->bits, lo = UINT64_MAX, hi = 0;
    for (size_t i = 0; i < row->n; i++) {
        memcpy(&bits[i], &row->raw_ms[i], sizeof *bits);
        lo = ETP_MIN(bits[i], lo);
        hi = ETP_MAX(bits[i], hi);
    }
    double *s = row->statistics;
    s[ETP_INSPECTOR_P10] = percentile(bits, row->n, 0.1, lo, hi, bits + row->n);
    s[ETP_INSPECTOR_P50] = percentile(bits, row->n, 0.5, lo, hi, bits + row->n);
    s[ETP_INSPECTOR_P90] = percentile(bits, row->n, 0.9, lo, hi, bits + row->n);
    s[ETP_INSPECTOR_AVG] = pairwise_sum(row->raw_ms, row->n) / (double)row->n;
    s[ETP_INSPECTOR_MIN] = from_bits(lo);
    s[ETP_INSPECTOR_MAX] = from_bits(hi);
    return ETP_OK;
}

static etp_status make_rows(builder *b, etp_inspector_table *out)
{
    size_t n_rows = 0;
    for (size_t i = 0; i < b->blocks.n; i++) {
        n_rows += b->blocks.items[i].shape->n_items;
    }
    out->n_rows = 0;
    out->rows = ETP_NEW_ARRAY(b->arena, etp_inspector_row, n_rows);
    for (size_t i = 0; i < b->blocks.n; i++) {
        const event_block *bl = &b->blocks.items[i];
        const shape *s = bl->shape;
        for (size_t k = 0; k < s->n_items; k++) {
            const item *it = &s->items[k];
            etp_inspector_row *row = &out->rows[out->n_rows++];
            *row = (etp_inspector_row){
                .block = i,
                .block_name = s->block_name,
                .instruction_id = it->instruction_id,
                .event_name = {"", 0}
            };
            if (it->has_profile) {
                name_row(b, &it->profile, row);
                ETP_TRY(fill_times(b, bl, k, row));
            }
            if (it->has_debug) {
                name_row(b, &it->debug, row);
                row->debug = s->values + s->debug[it->collated].first;
                row->n_debug = s->debug[it->collated].n;
            }
        }
    }
    return ETP_OK;
}

static etp_status build(const etp_etdump *dump, etp_arena *arena, etp_inspector_table *out,
                        etp_error *err)
{
    builder b = {.dump = dump, .arena = arena, .err = err};
    etp_arena_scratch(&b.scratch, arena);
    size_t place = 0;
    for (size_t r = 0; r < dump->n_runs; r++) {
        place_run(&b, (uint32_t)r, &place);
    }
    etp_status status = make_rows(&b, out);
    etp_arena_dispose(&b.scratch);
    return status;
}

etp_status etp_inspector_build(const etp_etdump *dump, etp_arena *arena, etp_inspector_table *out,
                               etp_error *err)
{
    ETP_GUARDED(arena, err, "Inspector's table", build(dump, arena, out, err));
}

bool etp_inspector_in_cycles(const etp_inspector_table *table)
{
    for (size_t i = 0; i < table->n_rows; i++) {
        const etp_delegate *d = etp_delegate_of_event(table->rows[i].event_name);
        if (d && d->counts_cycles) {
            return true;
        }
    }
    return false;
}
