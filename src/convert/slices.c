// SPDX-License-Identifier: Apache-2.0
// Slices of a dump: every execution where its clock put it.
//
// Start and end times are as hostile as everything in a file. An execution is drawn by them only
// when they nest; else by its durations alone, laid end to end. Durations of operators are never
// changed, so that the slices of an operator add up to what `ops` says.
#include <stdio.h>

#include <etprof/etdump.h>

#include "base/guard.h"
#include "convert/slices.h"

#define LONGEST_GAP_NS \
    ((uint64_t)1 << 52) // 52 days; more is another clock, and no double holds it in µs

typedef struct place {   // an execution of the file
    uint32_t block, run; // block ETP_NO_INDEX: not among the blocks
} place;

typedef struct block_layout { // what is equal in all executions of a block
    uint32_t *preorder;       // events outside delegates, containers first
    size_t n_preorder;
    etp_slice_args *args; // by event; those of operators are the caller's
    const char **category;
} block_layout;

typedef struct drawing {
    const etp_trace *trace;
    etp_arena *arena;
    block_layout *layouts;
    etp_slices *out;
    uint64_t *start, *extent, *cursor; // of one execution's events
    uint32_t *in_file;                 // of its block: etp_trace_file_order
    uint64_t now, schematic; // where the last execution and its last delegate operator end
    bool any;                // an execution has been drawn, and
    uint64_t origin;         // its clock had this value at `origin_at`
    uint64_t origin_at;
} drawing;

bool etp_slice_text(etp_slice_args *args, etp_arena *arena, const char *key, etp_str text)
{
    etp_slice_arg arg = {
        .key = key, .text = {ETP_OR(text.ptr, ""), text.len}
    };
    return ETP_PUSH(arena, args, arg);
}

bool etp_slice_number(etp_slice_args *args, etp_arena *arena, const char *key, int64_t number)
{
    etp_slice_arg arg = {.key = key, .number = number};
    return ETP_PUSH(arena, args, arg);
}

static bool drawn(const etp_trace_event *e) // on the track of recorded times
{
    return e->kind != ETP_EVENT_DELEGATE_OP && e->kind != ETP_EVENT_APART;
}

// The nearest container that is drawn there too.
static uint32_t container(const etp_trace_block *b, uint32_t event)
{
    uint32_t p = b->events[event].parent;
    while (p != ETP_NO_INDEX && !drawn(&b->events[p])) {
        p = b->events[p].parent;
    }
    return p;
}

// Events follow what they contain, so that from the last to the first every container comes before
// its parts, and linking in at the front puts the parts in order.
static void order_events(const etp_trace_block *b, block_layout *p, etp_arena *arena)
{
    size_t n = b->n_events;
    uint32_t *first = ETP_NEW_ARRAY(arena, uint32_t, n + 1); // index + 1, [n]: the top
    uint32_t *next = ETP_NEW_ARRAY(arena, uint32_t, n);
    p->preorder = ETP_NEW_ARRAY(arena, uint32_t, n);
    for (size_t i = n; i-- > 0;) {
        if (drawn(&b->events[i])) {
            uint32_t parent = container(b, (uint32_t)i);
            size_t list = parent == ETP_NO_INDEX ? n : parent;
            next[i] = first[list];
            first[list] = (uint32_t)i + 1;
        }
    }
    for (uint32_t at = first[n]; at;) {
        uint32_t i = at - 1;
        p->preorder[p->n_preorder++] = i;
        at = first[i] ? first[i] : next[i];
        while (!at && (i = container(b, i)) != ETP_NO_INDEX) {
            at = next[i];
        }
    }
}

// What executions of a block share (order, arguments) is made once and pointed to by all
// their slices.
static void plan_blocks(drawing *d, const etp_op_table *table, const etp_slice_op *ops)
{
    size_t n_blocks = etp_trace_block_count(d->trace), most = 0;
    d->layouts = ETP_NEW_ARRAY(d->arena, block_layout, n_blocks);
    for (size_t k = 0; k < n_blocks; k++) {
        const etp_trace_block *b = etp_trace_block_at(d->trace, k);
        block_layout *p = &d->layouts[k];
        most = ETP_MAX(b->n_events, most);
        p->args = ETP_NEW_ARRAY(d->arena, etp_slice_args, b->n_events);
        p->category = ETP_NEW_ARRAY(d->arena, const char *, b->n_events);
        order_events(b, p, d->arena);
        for (size_t i = 0; i < b->n_events; i++) {
            const etp_trace_event *e = &b->events[i];
            p->category[i] = "framework";
            etp_slice_number(&p->args[i], d->arena, "chain", e->chain);
            etp_slice_number(&p->args[i], d->arena, "instruction", e->instruction);
        }
    }
    for (size_t i = 0; i < table->n_rows; i++) {
        block_layout *p = &d->layouts[table->rows[i].block];
        if (!table->rows[i].rest) { // the slice of that event is the whole call
            p->args[table->rows[i].event] = ops[i].args;
            p->category[table->rows[i].event] = ops[i].category;
        }
    }
    d->start = ETP_NEW_ARRAY(d->arena, uint64_t, most + 1);
    d->extent = ETP_NEW_ARRAY(d->arena, uint64_t, most + 1);
    d->cursor = ETP_NEW_ARRAY(d->arena, uint64_t, most + 1);
    d->in_file = ETP_NEW_ARRAY(d->arena, uint32_t, most + 1);
}

static uint64_t duration(const etp_trace_block *b, uint32_t event, uint32_t run)
{
    return etp_trace_durations(b, event)[run];
}

// Fills start[] (as recorded) and extent[]; extent[n] and start[n] are the whole execution's. False
// when the times do not nest.
static bool by_clock(drawing *d, const etp_trace_block *b, uint32_t run)
{
    const etp_etdump *dump = etp_trace_dump(d->trace);
    size_t n = b->n_events, k = 0;
    if (b->runs[run] >= dump->n_runs) {
        return false; // no file behind it
    }
    etp_etdump_run raw = etp_etdump_run_at(dump, b->runs[run]);
    uint64_t last = 0;
    d->start[n] = UINT64_MAX;
    etp_trace_file_order(b, d->in_file);
    for (size_t e = 0; e < raw.n_events && k < n; e++) {
        etp_etdump_profile p;
        if (etp_etdump_profile_of(etp_etdump_event_at(&raw, e), &p)) {
            uint32_t i = d->in_file[k];
            uint64_t ns = duration(b, i, run);
            // An end beyond 64 bits would wrap to a time before its start.
            if (p.start > UINT64_MAX - ns) {
                return false;
            }
            d->start[i] = p.start;
            d->extent[i] = ns;
            if (drawn(&b->events[i])) {
                d->start[n] = ETP_MIN(p.start, d->start[n]);
                last = ETP_MAX(p.start + ns, last);
            }
            k++;
        }
    }
    d->extent[n] = last - d->start[n];
    return k == n && d->start[n] <= last && d->extent[n] < LONGEST_GAP_NS;
}

// Whether what by_clock found lies within its container and after what came before it there.
static bool nests(drawing *d, const etp_trace_block *b, const block_layout *p)
{
    size_t n = b->n_events;
    for (size_t i = 0; i <= n; i++) {
        d->cursor[i] = d->start[i];
    }
    for (size_t k = 0; k < p->n_preorder; k++) {
        uint32_t i = p->preorder[k], parent = container(b, i);
        size_t in = parent == ETP_NO_INDEX ? n : parent;
        uint64_t end = d->start[i] + d->extent[i];
        if (d->start[i] < d->cursor[in] || end > d->start[in] + d->extent[in]) {
            return false;
        }
        d->cursor[in] = end;
    }
    return true;
}

// Without a clock: parts one after the other from their container's start, containers long enough.
static void by_durations(drawing *d, const etp_trace_block *b, const block_layout *p, uint32_t run)
{
    size_t n = b->n_events;
    for (size_t i = 0; i <= n; i++) {
        d->cursor[i] = d->extent[i] = d->start[i] = 0;
    }
    for (size_t k = p->n_preorder; k-- > 0;) { // parts before what contains them
        uint32_t i = p->preorder[k], parent = container(b, i);
        uint64_t own = duration(b, i, run);
        d->extent[i] = ETP_MAX(d->extent[i], own);
        uint64_t *sum = &d->cursor[parent == ETP_NO_INDEX ? n : parent];
        *sum += d->extent[i];
        uint64_t *whole = &d->extent[parent == ETP_NO_INDEX ? n : parent];
        *whole = ETP_MAX(*sum, *whole);
    }
    d->cursor[n] = 0;
    for (size_t k = 0; k < p->n_preorder;
         k++) { // containers first: from here on cursor is where the next part goes
        uint32_t i = p->preorder[k], parent = container(b, i);
        size_t in = parent == ETP_NO_INDEX ? n : parent;
        d->start[i] = d->cursor[i] = d->cursor[in];
        d->cursor[in] += d->extent[i];
    }
}

static void push(drawing *d, size_t track, etp_slice slice)
{
    etp_slice_track *t = &d->out->processes[0].tracks[track];
    ETP_ADD(d->arena, t, slice);
}

static void draw(drawing *d, uint32_t block, uint32_t run)
{
    const etp_trace_block *b = etp_trace_block_at(d->trace, block);
    const block_layout *p = &d->layouts[block];
    size_t n = b->n_events;
    if (n == 0) {
        return;
    }
    // An execution lies where its clock puts it against the one before. When that would overlap, go
    // back or leave a gap that no measurement has, it follows directly instead.
    bool clocked = by_clock(d, b, run) && nests(d, b, p);
    uint64_t at = d->now;
    if (!clocked) {
        by_durations(d, b, p, run);
        d->out->unclocked++;
    } else {
        uint64_t gap = d->start[n] - d->origin; // wraps when the clock went back
        if (d->any && gap < LONGEST_GAP_NS && d->origin_at + gap >= d->now &&
            d->origin_at + gap < LONGEST_GAP_NS) {
            at = d->origin_at + gap;
        }
        d->any = true;
        d->origin = d->start[n];
        d->origin_at = at;
    }
    uint64_t shift = at - d->start[n]; // modulo 2^64, like the sums below
    etp_slice whole = {.start_ns = at,
                       .ns = d->extent[n],
                       .name = b->name.len ? b->name : ETP_STR("run"),
                       .category = "run",
                       .run = (uint64_t)b->runs[run] + 1};
    push(d, 0, whole);
    for (size_t k = 0; k < p->n_preorder; k++) {
        uint32_t i = p->preorder[k];
        etp_slice slice = {.start_ns = d->start[i] + shift,
                           .ns = d->extent[i],
                           .name = b->events[i].name,
                           .category = p->category[i],
                           .args = &p->args[i],
                           .run = whole.run};
        push(d, 0, slice);
    }
    d->now = at + whole.ns;
    // One after the other, but never before their call begins; when the operators of a call take
    // longer than the call (clocks of different resolution), those of the next one start later.
    for (uint32_t i = 0; i < b->n_events; i++) {
        if (b->events[i].kind != ETP_EVENT_DELEGATE_OP || !b->events[i].leaf) {
            continue;
        }
        uint32_t call = container(b, i);
        uint64_t from = d->start[call == ETP_NO_INDEX ? b->n_events : call] + shift;
        d->schematic = ETP_MAX(d->schematic, from);
        etp_slice slice = {.start_ns = d->schematic,
                           .ns = duration(b, i, run),
                           .name = b->events[i].name,
                           .category = p->category[i],
                           .args = &p->args[i],
                           .run = (uint64_t)b->runs[run] + 1};
        push(d, 1, slice);
        d->schematic += slice.ns;
    }
}

static etp_status draw_all(const etp_trace *trace, const etp_op_table *table,
                           const etp_slice_op *ops, etp_str title, etp_arena *arena,
                           etp_slices *out)
{
    *out = (etp_slices){.title = title, .n_processes = 1};
    out->processes[0] = (etp_slice_process){
        .name = title,
        .tracks = {{.name = "executions"}, {.name = "operators of delegates (schematic)"}},
    };
    drawing d = {.trace = trace, .arena = arena, .out = out};
    plan_blocks(&d, table, ops);
    // Blocks hold executions by kind, pictures show them in the order of the file; so each
    // execution is looked up by its place there.
    size_t n_blocks = etp_trace_block_count(trace), n_places = 0;
    for (size_t k = 0; k < n_blocks; k++) {
        const etp_trace_block *b = etp_trace_block_at(trace, k);
        for (size_t r = 0; r < b->n_runs; r++) {
            n_places = b->runs[r] >= n_places ? (size_t)b->runs[r] + 1 : n_places;
        }
    }
    place *places = ETP_NEW_ARRAY(arena, place, n_places);
    for (size_t i = 0; i < n_places; i++) {
        places[i].block = ETP_NO_INDEX;
    }
    for (size_t k = 0; k < n_blocks; k++) {
        const etp_trace_block *b = etp_trace_block_at(trace, k);
        for (size_t r = 0; r < b->n_runs; r++) {
            places[b->runs[r]] = (place){(uint32_t)k, (uint32_t)r};
        }
    }
    for (size_t i = 0; i < n_places; i++) {
        if (places[i].block != ETP_NO_INDEX) {
            draw(&d, places[i].block, places[i].run);
        }
    }
    return ETP_OK;
}

etp_status etp_slices_of_trace(const etp_trace *trace, const etp_op_table *table,
                               const etp_slice_op *ops, etp_str title, etp_arena *arena,
                               etp_slices *out, etp_error *err)
{
    ETP_GUARDED(arena, err, "slices", draw_all(trace, table, ops, title, arena, out));
}
