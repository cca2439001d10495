// SPDX-License-Identifier: Apache-2.0
// Reading a timeline CSV: lines to events with one duration per execution, events to blocks.
#include "trace/timeline.h"

#include <math.h>
#include <stdlib.h>

#include "base/csv.h"
#include "base/guard.h"
#include "base/index.h"
#include "base/number.h"
#include "trace/settle.h"
#include "trace/tree.h"

// In nanoseconds it still fits an int64_t.
#define MAX_MS 9e12     // 292 years
#define ROUNDED_NS 1000 // the kit's cells are milliseconds of a few digits

enum { // columns; those up to LAST_NEEDED must be there
    C_NAME,
    C_MS,
    C_RUN,
    LAST_NEEDED = C_RUN,
    C_NODE, // of a table of whole inferences alone it may be missing
    C_MODEL,
    C_BACKEND,
    C_START,
    C_END,
    C_BLOCK,
    C_NS,
    C_CHAIN,
    C_INSTRUCTION,
    C_EVENT_BLOCK,
    C_SESSION,
    C_LEVEL,
    COLUMNS
};

static const char *const k_columns[COLUMNS] = {
    "name",        "duration_ms",   "run_index", "node_id",     "model_id", "delegate_backend",
    "start_us",    "end_us",        "block",     "duration_ns", "chain",    "instruction",
    "event_block", "session_block", "level",
};

typedef struct event { // one line of every execution
    uint64_t session, node;
    int64_t event_block; // -1 without the column
    etp_str name, block;
    bool delegated;
    int64_t chain, instruction;
    double start_us, end_us; // of the first execution, NAN unknown
    size_t first, n;         // in the sorted samples
    // The greatest run_index so far. Runs of an event ascend in both kinds of table, which is how a
    // line that comes twice is noticed.
    int64_t last_run;
    // Events are sorted after reading, samples keep the number that an event had before.
    uint32_t id; // as the samples call it
} event;

typedef struct sample {
    uint32_t event;
    int64_t run;
    uint64_t ns;
} sample;

typedef struct reading {
    etp_arena *scratch; // rows, events, samples
    etp_csv_reader csv;
    etp_csv_row row;
    int at[COLUMNS];
    bool places; // chain, instruction and event_block are there
    size_t columns;
    etp_str model, level;
    struct {
        event *items;
        size_t n, cap;
    } events;
    struct {
        sample *items;
        size_t n, cap;
    } samples;
    etp_index index;
    uint64_t total_ns;
    const sample *sorted; // by event
    uint32_t *open;       // working memory of the tree, for as many events as there are
} reading;

static etp_str cell(const reading *r, int column)
{
    size_t at = (size_t)r->at[column];
    return r->at[column] >= 0 && at < r->row.n ? r->row.cells[at] : (etp_str){0};
}

static etp_status bad(const reading *r, int column, const char *wanted, etp_error *err)
{
    etp_str found = cell(r, column);
    return etp_fail_at(err, ETP_CORRUPT, r->row.offset, "line %llu: %s is '%.*s', not %s",
                       (unsigned long long)r->row.line, k_columns[column],
                       (int)ETP_MIN(found.len, 60), ETP_OR(found.ptr, ""), wanted);
}

static etp_status read_header(reading *r, etp_error *err)
{
    bool more = false;
    ETP_TRY(etp_csv_next(&r->csv, &r->row, &more, err));
    ETP_TRY(etp_csv_refuse_others(&r->row, err));
    for (int c = 0; c < COLUMNS; c++) {
        r->at[c] = more ? etp_csv_column(&r->row, k_columns[c]) : -1;
        if (c <= LAST_NEEDED && r->at[c] < 0) {
            return etp_fail(err, ETP_UNSUPPORTED,
                            "no timeline: it has no column '%s'; timelines are called "
                            "…_all_runs_timeline.csv or …_run0_timeline.csv",
                            k_columns[c]);
        }
    }
    r->columns = r->row.n;
    r->places = r->at[C_CHAIN] >= 0 && r->at[C_INSTRUCTION] >= 0 && r->at[C_EVENT_BLOCK] >= 0;
    return ETP_OK;
}

// Our own tables have whole nanoseconds beside the kit's milliseconds, which were rounded when they
// were written.
static etp_status duration(const reading *r, uint64_t *out, etp_error *err)
{
    double ms = 0;
    if (r->at[C_NS] >= 0) {
        return etp_parse_u64(cell(r, C_NS), out) && *out <= INT64_MAX
                   ? ETP_OK
                   : bad(r, C_NS, "a whole number of nanoseconds", err);
    }
    if (!etp_parse_double(cell(r, C_MS), &ms) || !(ms >= 0 && ms < MAX_MS)) {
        return bad(r, C_MS, "a time in milliseconds", err);
    }
    *out = (uint64_t)llround(ms * 1e6);
    return ETP_OK;
}

static etp_status integer(const reading *r, int column, int64_t absent, int64_t *out,
                          etp_error *err)
{
    *out = absent;
    return r->at[column] < 0 || etp_parse_i64(cell(r, column), out)
               ? ETP_OK
               : bad(r, column, "a whole number", err);
}

static double microseconds(const reading *r, int column)
{
    double v = 0;
    return etp_parse_double(cell(r, column), &v) ? v : (double)NAN;
}

typedef struct query {
    const event *events;
    uint64_t session, node;
} query;

// A line's event is its node within its session block: names occur more than once.
static bool same_node(const void *ctx, uint32_t position)
{
    const query *q = ctx;
    return q->events[position].session == q->session && q->events[position].node == q->node;
}

static etp_status new_event(reading *r, const query *q, uint64_t hash, etp_error *err)
{
    event e = {.session = q->session,
               .node = q->node,
               .name = cell(r, C_NAME),
               .block = cell(r, C_BLOCK),
               .last_run = -1,
               .start_us = microseconds(r, C_START),
               .end_us = microseconds(r, C_END),
               .id = (uint32_t)r->events.n};
    etp_str backend = cell(r, C_BACKEND);
    // The kit writes a backend's name or "delegated", and "portable" for all else.
    e.delegated = backend.len > 0 && !etp_str_eqz(backend, "portable");
    ETP_TRY(integer(r, C_EVENT_BLOCK, -1, &e.event_block, err));
    ETP_TRY(integer(r, C_CHAIN, -1, &e.chain, err));
    ETP_TRY(integer(r, C_INSTRUCTION, -1, &e.instruction, err));
    if (e.chain != (int32_t)e.chain || e.instruction != (int32_t)e.instruction) {
        return bad(r, C_INSTRUCTION, "a place in the program", err);
    }
    ETP_ADD(r->scratch, &r->events, e);
    etp_index_insert(&r->index, r->scratch, hash, e.id);
    return ETP_OK;
}

static etp_status read_line(reading *r, etp_error *err)
{
    int64_t node = 0, run = 0, session = 1;
    uint64_t ns = 0;
    if (r->row.n <= (size_t)r->at[C_RUN] || r->row.n <= (size_t)r->at[C_MS]) {
        return etp_fail_at(err, ETP_CORRUPT, r->row.offset,
                           "line %llu has %zu cells, too few; was the file cut off?",
                           (unsigned long long)r->row.line, r->row.n);
    }
    if (r->row.n > r->columns) {
        return etp_fail_at(
            err, ETP_CORRUPT, r->row.offset,
            "line %llu has %zu cells, the header %zu; decimal commas must be quoted, "
            "or cells separated by semicolons",
            (unsigned long long)r->row.line, r->row.n, r->columns);
    }
    if (r->at[C_NODE] < 0 && !etp_str_eqz(cell(r, C_NAME), "Method::execute")) {
        return etp_fail_at(err, ETP_UNSUPPORTED, r->row.offset,
                           "line %llu: '%.*s', but the table has no column 'node_id', which tells "
                           "events of one name apart; give the .etdump that it was made from",
                           (unsigned long long)r->row.line, ETP_STR_ARG(cell(r, C_NAME)));
    }
    ETP_TRY(integer(r, C_NODE, 0, &node, err));
    ETP_TRY(integer(r, C_RUN, 0, &run, err));
    ETP_TRY(integer(r, C_SESSION, 1, &session, err));
    if (node < 0 || node > UINT32_MAX || session < 0 || session > UINT32_MAX) {
        return bad(r, node < 0 || node > UINT32_MAX ? C_NODE : C_SESSION, "a count", err);
    }
    etp_str model = cell(r, C_MODEL);
    if (r->events.n > 0 && !etp_str_eq(model, r->model)) {
        return etp_fail_at(
            err, ETP_CORRUPT, r->row.offset,
            "line %llu is of model '%.*s', those before of '%.*s'; compare one at a time",
            (unsigned long long)r->row.line, ETP_STR_ARG(model), ETP_STR_ARG(r->model));
    }
    if (run < 0) {
        return ETP_OK; // outside any execution
    }
    if (run >= UINT32_MAX) {
        return bad(r, C_RUN, "a count", err);
    }
    if (r->events.n > 0 && !etp_str_eq(cell(r, C_LEVEL), r->level)) {
        return bad(r, C_LEVEL, "that of the lines before; compare one at a time", err);
    }
    r->model = model;
    r->level = cell(r, C_LEVEL);
    ETP_TRY(duration(r, &ns, err));
    if (ns > (uint64_t)INT64_MAX - r->total_ns) {
        return etp_fail(err, ETP_CORRUPT, "durations add up to more than 292 years");
    }
    r->total_ns += ns;
    query q = {r->events.items, (uint64_t)session, (uint64_t)node};
    uint64_t key[2] = {q.session, q.node}, hash = etp_hash_bytes(ETP_HASH_START, key, sizeof key);
    uint32_t at = etp_index_find(&r->index, hash, same_node, &q);
    if (at == ETP_NO_INDEX) {
        at = (uint32_t)r->events.n;
        ETP_TRY(new_event(r, &q, hash, err));
    }
    event *e = &r->events.items[at];
    if (!etp_str_eq(e->name, cell(r, C_NAME))) {
        return etp_fail_at(err, ETP_CORRUPT, r->row.offset,
                           "line %llu: node %lld is '%.*s' here and '%.*s' above",
                           (unsigned long long)r->row.line, (long long)node,
                           ETP_STR_ARG(cell(r, C_NAME)), ETP_STR_ARG(e->name));
    }
    if (run <= e->last_run) {
        return etp_fail_at(err, ETP_CORRUPT, r->row.offset,
                           "line %llu: node %lld has run %lld after run %lld",
                           (unsigned long long)r->row.line, (long long)node, (long long)run,
                           (long long)e->last_run);
    }
    e->last_run = run;
    e->n++;
    const sample s = {at, run, ns};
    ETP_ADD(r->scratch, &r->samples, s);
    return ETP_OK;
}

// ---- blocks ----

static int by_place(const void *pa, const void *pb)
{
    const event *a = pa, *b = pb;
    return etp_order_then(ETP_ORDER(a->session, b->session), ETP_ORDER(a->node, b->node));
}

static bool is_execute(const event *e)
{
    return !e->delegated && etp_str_eqz(e->name, "Method::execute");
}

static bool same_runs(const event *a, const event *b, const sample *samples)
{
    bool same = a->n == b->n;
    for (size_t i = 0; same && i < a->n; i++) {
        same = samples[a->first + i].run == samples[b->first + i].run;
    }
    return same;
}

// Where the block that starts at FROM ends. Without event blocks in the table an execution ends a
// block, and so does another number of runs: control flow.
static size_t block_end(const reading *r, const sample *samples, size_t from)
{
    const event *first = &r->events.items[from];
    size_t to = from + 1;
    while (to < r->events.n) {
        const event *e = &r->events.items[to];
        bool other = e->session != first->session || e->event_block != first->event_block ||
                     !etp_str_eq(e->block, first->block) || !same_runs(e, first, samples);
        if (other || (!r->places && is_execute(e - 1))) {
            break;
        }
        to++;
    }
    if (r->places || !is_execute(&r->events.items[to - 1])) {
        return to;
    }
    // What was over before the execution started is a failed run in front of it.
    for (size_t i = to - 1; i > from; i--) {
        // Both are rounded to what a table's cells hold, hence a microsecond of room.
        if (r->events.items[i - 1].end_us + 1 < r->events.items[to - 1].start_us) {
            return i;
        }
    }
    return to;
}

static void make_block(const reading *r, size_t from, size_t to, etp_arena *arena, etp_trace *t,
                       etp_trace_block *out)
{
    const sample *samples = r->sorted;
    size_t n = to - from, n_runs = r->events.items[from].n;
    etp_trace_event *events = ETP_NEW_ARRAY(arena, etp_trace_event, n);
    uint32_t *runs = ETP_NEW_ARRAY(arena, uint32_t, n_runs);
    uint64_t *ns = ETP_NEW_ARRAY(arena, uint64_t, n * n_runs); // there are as many samples
    *out = (etp_trace_block){.events = events,
                             .n_events = n,
                             .runs = runs,
                             .n_runs = n_runs,
                             .durations_ns = ns,
                             .execute = ETP_NO_INDEX,
                             .bundled_input = -1};
    for (size_t i = 0; i < n; i++) {
        const event *e = &r->events.items[from + i];
        // A cell with escaped quotes lies in the scratch memory, so names are copied.
        const char *name = etp_arena_strdup(arena, e->name);
        events[i] = (etp_trace_event){
            .name = {name, e->name.len},
            .delegated = e->delegated,
            .chain = (int32_t)e->chain,
            .instruction = (int32_t)e->instruction,
            .delegate_id = -1
        };
        for (size_t k = 0; k < n_runs; k++) {
            ns[i * n_runs + k] = samples[e->first + k].ns;
            runs[k] = (uint32_t)samples[e->first + k].run;
        }
        if (is_execute(e)) {
            out->has_execute = out->execute == ETP_NO_INDEX;
            out->execute = (uint32_t)i;
        }
    }
    out->execute = out->has_execute ? out->execute : ETP_NO_INDEX;
    out->name = etp_str_from(etp_arena_strdup(arena, r->events.items[from].block));
    if (!r->places) {
        // Counts instructions up: one per delegate call with its operators, one per kernel with its
        // call. The numbers are not those of the program; they only keep what belongs to one call
        // together and apart from the next one, for the tree and for aligning two tables.
        int32_t at = 0;
        for (size_t i = 0; i < n; i++) {
            etp_trace_event *e = &events[i];
            const etp_trace_event *next = i + 1 < n ? &events[i + 1] : NULL;
            bool goes_on =
                next &&
                ((e->delegated && (next->delegated || etp_str_eqz(next->name, "DELEGATE_CALL"))) ||
                 (!next->delegated && etp_str_eqz(next->name, "OPERATOR_CALL") &&
                  etp_str_starts(e->name, ETP_STR("native_call_"))));
            bool framework = !e->delegated && etp_str_starts(e->name, ETP_STR("Method::"));
            e->chain = framework ? -1 : 0;
            e->instruction = framework ? -1 : at;
            at += !goes_on && !framework;
        }
    }
    etp_tree_build(events, n, r->open);
    etp_settle settle = {
        .trace = t,
        .block = out,
        .events = events,
        .columns = ns,
        .runs = runs,
        .slack_ns = r->at[C_NS] >= 0 ? 0 : ROUNDED_NS,
        .arena = arena,
    };
    etp_settle_block(&settle);
}

// One trace of the events [from, to), which are of one session block.
static etp_status fill_trace(const reading *r, size_t from, size_t to, etp_arena *arena,
                             etp_trace **out)
{
    etp_trace *t = ETP_NEW(arena, etp_trace);
    etp_trace_block *blocks = ETP_NEW_ARRAY(arena, etp_trace_block, to - from);
    size_t n = 0;
    for (size_t at = from; at < to;) {
        size_t end = block_end(r, r->sorted, at);
        make_block(r, at, end, arena, t, &blocks[n]);
        n += blocks[n].n_runs > 0;
        at = end;
    }
    t->blocks = blocks;
    t->n_blocks = n;
    t->places_guessed = !r->places;
    t->unit_told = true;
    *out = t;
    return ETP_OK;
}

static etp_status fill_guarded(const reading *r, size_t from, size_t to, etp_arena *arena,
                               etp_trace **out, etp_error *err)
{
    ETP_GUARDED(arena, err, "the trace", fill_trace(r, from, to, arena, out));
}

// It has an arena of its own, like one read from a file, so that etp_trace_close can close both;
// nothing is asked of another arena while it is made, or it would be lost where that one ends.
static etp_status make_trace(const reading *r, size_t from, size_t to, etp_trace **out,
                             etp_error *err)
{
    etp_arena arena = {0};
    etp_status st = fill_guarded(r, from, to, &arena, out, err);
    if (st != ETP_OK) {
        etp_arena_dispose(&arena);
        return st;
    }
    (*out)->arena = arena;
    return ETP_OK;
}

static etp_status make_traces(reading *r, etp_arena *arena, etp_timeline *out, etp_error *err)
{
    bool more = false;
    ETP_TRY(read_header(r, err));
    for (;;) {
        ETP_TRY(etp_csv_next(&r->csv, &r->row, &more, err));
        if (!more) {
            break;
        }
        ETP_TRY(read_line(r, err));
    }
    if (r->events.n == 0) {
        return etp_fail(err, ETP_UNKNOWN, "the timeline holds no execution");
    }
    // A node's number is its place in the dump's list of events, so sorted events are in file
    // order.
    qsort(r->events.items, r->events.n, sizeof *r->events.items, by_place);
    bool told = r->level.len > 0 && !etp_str_eqz(r->level, ETP_CSV_UNKNOWN);
    out->level = told ? etp_arena_strdup(arena, r->level) : NULL;
    // Samples by event, in the order of the events after sorting.
    sample *sorted = ETP_NEW_ARRAY(r->scratch, sample, r->samples.n);
    size_t *cursor = ETP_NEW_ARRAY(r->scratch, size_t, r->events.n);
    size_t at = 0;
    for (size_t i = 0; i < r->events.n; i++) {
        event *e = &r->events.items[i];
        e->first = cursor[e->id] = at;
        at += e->n;
    }
    for (size_t i = 0; i < r->samples.n; i++) {
        sorted[cursor[r->samples.items[i].event]++] = r->samples.items[i];
    }
    r->sorted = sorted;
    r->open = ETP_NEW_ARRAY(r->scratch, uint32_t, r->events.n);
    out->traces = ETP_NEW_ARRAY(arena, etp_trace *, r->events.n);
    out->session_blocks = ETP_NEW_ARRAY(arena, uint32_t, r->events.n);
    for (size_t from = 0; from < r->events.n;) {
        size_t to = from + 1;
        while (to < r->events.n && r->events.items[to].session == r->events.items[from].session) {
            to++;
        }
        ETP_TRY(make_trace(r, from, to, &out->traces[out->n], err));
        out->session_blocks[out->n++] = (uint32_t)r->events.items[from].session;
        from = to;
    }
    return ETP_OK;
}

static etp_status read_text(etp_str text, etp_arena *arena, etp_timeline *out, etp_error *err)
{
    etp_arena scratch;
    reading r = {.scratch = &scratch};
    etp_arena_scratch(&scratch, arena);
    etp_csv_open(&r.csv, text, &scratch);
    etp_status st = make_traces(&r, arena, out, err);
    etp_arena_dispose(&scratch);
    return st;
}

// Traces that were made before memory ended are closed below.
static etp_status read_guarded(etp_str text, etp_arena *arena, etp_timeline *out, etp_error *err)
{
    ETP_GUARDED(arena, err, "the timeline", read_text(text, arena, out, err));
}

etp_status etp_timeline_open(etp_str text, etp_arena *arena, etp_timeline *out, etp_error *err)
{
    *out = (etp_timeline){0};
    etp_status st = read_guarded(text, arena, out, err);
    for (size_t i = 0; st != ETP_OK && i < out->n; i++) {
        etp_trace_close(out->traces[i]);
    }
    out->n = st == ETP_OK ? out->n : 0;
    return st;
}
