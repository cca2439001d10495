// SPDX-License-Identifier: Apache-2.0
// Timeline CSVs (one line per event and execution) and operator statistics by type.
#include "kit/parts.h"

#include <math.h>
#include <stdlib.h>

#include "base/csv.h"
#include "base/guard.h"
#include "base/index.h"
#include "base/number.h"
#include "document/layouts.h"
#include <etprof/etdump.h>

const etp_kit_place *etp_kit_places(const etp_trace *trace, etp_arena *arena)
{
    size_t n = etp_trace_dump(trace)->n_runs;
    etp_kit_place *out = ETP_NEW_ARRAY(arena, etp_kit_place, n);
    for (size_t i = 0; i < n; i++) {
        out[i] = (etp_kit_place){ETP_NO_INDEX, 0}; // its clock is damaged: in no block
    }
    for (uint32_t b = 0; b < etp_trace_block_count(trace); b++) {
        const etp_trace_block *block = etp_trace_block_at(trace, b);
        for (uint32_t r = 0; r < block->n_runs; r++) {
            out[block->runs[r]] = (etp_kit_place){b, r};
        }
    }
    return out;
}

// Parents follow their parts in file order, so one backward pass tells what is inside.
static bool *mark_inside(const etp_trace_block *block, etp_arena *arena)
{
    bool *inside = ETP_NEW_ARRAY(arena, bool, block->n_events);
    for (uint32_t e = (uint32_t)block->n_events; e-- > 0;) {
        uint32_t parent = block->events[e].parent;
        inside[e] = e == block->execute || (parent != ETP_NO_INDEX && inside[parent]);
    }
    return inside;
}

// ---- timeline ----

// What is equal in all lines of one event, rendered once.
typedef struct event_text {
    etp_str head; // model_id … delegate_backend
    etp_str tail; // kind … event_block
} event_text;

typedef struct block_text {
    event_text *events;
    uint32_t first_node; // node_id of its first event
    uint32_t *in_file;   // etp_trace_file_order
    int64_t *exclusive;  // scratch of one execution
} block_text;

typedef struct timeline {
    const etp_kit_arm *arm;
    etp_sink *sink;
    etp_arena *scratch;
    int64_t only;     // this run_index alone, -1 all
    int64_t next_run; // run_index of the next execution
} timeline;

static etp_str head_text(const timeline *t, const etp_trace_event *e)
{
    etp_strbuf buf;
    etp_strbuf_init(&buf, t->scratch);
    etp_sink s = etp_sink_strbuf(&buf);
    uint32_t counter;
    etp_csv_text(&s, etp_str_from(t->arm->model_id));
    etp_kit_put_text(&s, e->name);
    etp_kit_put_text(&s, etp_trace_base_name(e->name, &counter));
    etp_kit_put_backend(&s, t->arm, e->delegated);
    return etp_strbuf_str(&buf);
}

// Numbers of nodes go on from block to block, and a parent is named by such a number.
static etp_str tail_text(const timeline *t, const etp_trace_event *e, bool inside, uint32_t block,
                         uint32_t first_node, uint32_t session_block)
{
    etp_strbuf buf;
    etp_strbuf_init(&buf, t->scratch);
    etp_row_kind kind = etp_row_kind_of(e);
    bool is_operator = inside && etp_row_is_operator(kind);
    etp_category c = is_operator ? etp_op_category(e->name) : ETP_CATEGORY_OTHER;
    int64_t parent = e->parent == ETP_NO_INDEX ? -1 : (int64_t)first_node + e->parent;
    etp_strbuf_printf(&buf, ",%s,%s,%s,%ld,%ld,%lld,%lu,%lu",
                      inside ? etp_row_kind_name(kind) : "outside",
                      etp_if(is_operator, etp_category_name(c)),
                      etp_if(is_operator, etp_kit_category_name(etp_kit_category_of(c))),
                      (long)e->chain, (long)e->instruction, (long long)parent, (unsigned long)block,
                      (unsigned long)session_block);
    etp_sink s = etp_sink_strbuf(&buf);
    etp_kit_put_level(&s, t->arm);
    etp_sink_char(&s, '\n');
    return etp_strbuf_str(&buf);
}

// Every event is taken off what directly contains it, so a column of exclusive times adds up to the
// events at the top.
static void exclusive_times(const etp_trace_block *block, uint32_t run, int64_t *out)
{
    for (uint32_t e = 0; e < block->n_events; e++) {
        out[e] = (int64_t)etp_trace_durations(block, e)[run];
    }
    for (uint32_t e = 0; e < block->n_events; e++) {
        uint32_t parent = block->events[e].parent;
        // Not cut at 0 where the parts are longer than the whole: the column's sum has to hold.
        if (parent != ETP_NO_INDEX) {
            out[parent] -= (int64_t)etp_trace_durations(block, e)[run];
        }
    }
}

static void write_line(const timeline *t, const etp_trace_block *block, const block_text *text,
                       uint32_t e, uint32_t run, uint64_t start, int64_t run_index)
{
    uint64_t ns = etp_trace_durations(block, e)[run];
    etp_sink *s = t->sink;
    etp_sink_write(s, text->events[e].head);
    etp_kit_put_us(s, start);
    // An end that does not fit 64 bits stays empty.
    if (ns <= UINT64_MAX - start) {
        etp_kit_put_us(s, start + ns);
    } else {
        etp_sink_char(s, ',');
    }
    etp_kit_put_ms(s, (int64_t)ns);
    // The kit's percentages are of the sum of all lines, containers included (defect D17); ours are
    // of the execution.
    uint64_t whole = block->has_execute ? etp_trace_durations(block, block->execute)[run] : 0;
    etp_kit_put_ratio(s, 100 * etp_share((double)ns, (double)whole));
    etp_kit_put_i64(s, (int64_t)text->first_node + e);
    etp_kit_put_i64(s, run_index);
    etp_kit_put_text(s, block->name);
    etp_kit_put_i64(s, (int64_t)ns);
    etp_kit_put_i64(s, text->exclusive[e]);
    etp_sink_write(s, text->events[e].tail);
}

static const block_text *prepare_dump(const timeline *t, const etp_ab_dump *dump)
{
    size_t n_blocks = etp_trace_block_count(dump->trace);
    block_text *out = ETP_NEW_ARRAY(t->scratch, block_text, n_blocks);
    uint32_t node = 0;
    for (uint32_t b = 0; b < n_blocks; b++) {
        const etp_trace_block *block = etp_trace_block_at(dump->trace, b);
        const bool *inside = mark_inside(block, t->scratch);
        out[b] = (block_text){
            .events = ETP_NEW_ARRAY(t->scratch, event_text, block->n_events),
            .first_node = node,
            .in_file = ETP_NEW_ARRAY(t->scratch, uint32_t, block->n_events),
            .exclusive = ETP_NEW_ARRAY(t->scratch, int64_t, block->n_events),
        };
        etp_trace_file_order(block, out[b].in_file);
        for (size_t e = 0; e < block->n_events; e++) {
            out[b].events[e] =
                (event_text){head_text(t, &block->events[e]),
                             tail_text(t, &block->events[e], inside[e], b, node, dump->block)};
        }
        node += (uint32_t)block->n_events;
    }
    return out;
}

static void write_dump(timeline *t, const etp_ab_dump *dump)
{
    const etp_trace *trace = dump->trace;
    const block_text *texts = prepare_dump(t, dump);
    const etp_kit_place *places = etp_kit_places(trace, t->scratch);
    for (size_t r = 0; r < etp_trace_dump(trace)->n_runs; r++) {
        if (places[r].block == ETP_NO_INDEX) {
            continue;
        }
        const etp_trace_block *block = etp_trace_block_at(trace, places[r].block);
        // Counted over all dumps of the experiment; what is no finished execution has none.
        int64_t run_index = block->has_execute ? t->next_run++ : -1;
        if (t->only >= 0 && run_index != t->only) {
            continue;
        }
        etp_etdump_run run = etp_etdump_run_at(etp_trace_dump(trace), r);
        const block_text *text = &texts[places[r].block];
        exclusive_times(block, places[r].run, text->exclusive);
        // Of a file's events only those with a profile part are events of the block.
        etp_etdump_profile p;
        for (size_t i = 0, e = 0; i < run.n_events && e < block->n_events; i++) {
            if (etp_etdump_profile_of(etp_etdump_event_at(&run, i), &p)) {
                uint32_t event = text->in_file[e++];
                if (block->events[event].kind != ETP_EVENT_APART) { // no milliseconds
                    write_line(t, block, text, event, places[r].run, p.start, run_index);
                }
            }
        }
    }
}

static etp_status write_timeline(const etp_kit_arm *arm, int64_t only, etp_sink *sink,
                                 etp_arena *scratch)
{
    timeline t = {.arm = arm, .sink = sink, .only = only};
    etp_layout_header(sink, ETP_LAYOUT_TIMELINE);
    for (size_t d = 0; d < arm->n_dumps && !(only >= 0 && t.next_run > only); d++) {
        etp_arena of_dump; // there may be hundreds of dumps
        etp_arena_scratch(&of_dump, scratch);
        t.scratch = &of_dump;
        write_dump(&t, arm->dumps[d]);
        etp_arena_dispose(&of_dump);
    }
    return ETP_OK;
}

etp_status etp_kit_timeline_all(const etp_kit *kit, const etp_kit_arm *arm, etp_sink *sink,
                                etp_arena *scratch, etp_error *err)
{
    (void)kit, (void)err;
    return write_timeline(arm, -1, sink, scratch);
}

etp_status etp_kit_timeline_run(const etp_kit *kit, const etp_kit_arm *arm, etp_sink *sink,
                                etp_arena *scratch, etp_error *err)
{
    (void)err;
    return write_timeline(arm, kit->run_index, sink, scratch);
}

// ---- statistics by type ----

// A type is an operator's name without its counter.
typedef struct type_stats { // one (type, backend)
    etp_str type;
    bool delegated;
    etp_row_kind kind;
    etp_category category;
    bool is_operator;
    size_t events;        // distinct ones of the program
    uint64_t calls;       // samples
    int64_t total_ns;     // inclusive, over all executions
    int64_t exclusive_ns; // likewise
    size_t order;         // of first appearance
} type_stats;

typedef struct type_table {
    struct {
        type_stats *items;
        size_t n, cap;
    } types;
    etp_index index;
    etp_arena *arena;
} type_table;

typedef struct type_query {
    const type_stats *types;
    etp_str type;
    bool delegated;
} type_query;

static bool same_type(const void *ctx, uint32_t position)
{
    const type_query *q = ctx;
    const type_stats *t = &q->types[position];
    return t->delegated == q->delegated && etp_str_eq(t->type, q->type);
}

// The result holds until the next call: a type that is added may move all of them.
static type_stats *type_of(type_table *t, etp_str name, bool delegated, etp_row_kind kind)
{
    uint32_t counter;
    type_query q = {t->types.items, etp_trace_base_name(name, &counter), delegated};
    uint64_t hash = etp_hash_bytes(ETP_HASH_START + delegated, q.type.ptr, q.type.len);
    uint32_t at = etp_index_find(&t->index, hash, same_type, &q);
    if (at != ETP_NO_INDEX) {
        return &t->types.items[at];
    }
    bool is_operator = etp_row_is_operator(kind);
    type_stats fresh = {
        .type = q.type,
        .delegated = delegated,
        .kind = kind,
        .category = is_operator ? etp_op_category(name) : ETP_CATEGORY_OTHER,
        .is_operator = is_operator,
        .order = t->types.n,
    };
    ETP_ADD(t->arena, &t->types, fresh);
    etp_index_insert(&t->index, t->arena, hash, (uint32_t)(t->types.n - 1));
    return &t->types.items[t->types.n - 1];
}

static etp_status add_inclusive(type_table *t, const etp_trace_block *block, etp_error *err)
{
    const bool *inside = mark_inside(block, t->arena);
    for (uint32_t e = 0; e < block->n_events; e++) {
        const etp_trace_event *event = &block->events[e];
        if (!inside[e]) {
            continue;
        }
        type_stats *s = type_of(t, event->name, event->delegated, etp_row_kind_of(event));
        const uint64_t *ns = etp_trace_durations(block, e);
        for (size_t r = 0; r < block->n_runs; r++) {
            if (ns[r] > (uint64_t)(INT64_MAX - s->total_ns)) {
                return etp_fail(err, ETP_CORRUPT, "durations add up to more than 292 years");
            }
            s->total_ns += (int64_t)ns[r];
        }
        s->calls += block->n_runs;
    }
    return ETP_OK;
}

static int longest_first(const void *pa, const void *pb)
{
    const type_stats *a = pa, *b = pb;
    return etp_order_then(ETP_ORDER(b->total_ns, a->total_ns), ETP_ORDER(a->order, b->order));
}

etp_status etp_kit_ops_stats(const etp_kit *kit, const etp_kit_arm *arm, etp_sink *sink,
                             etp_arena *scratch, etp_error *err)
{
    (void)kit;
    etp_layout_header(sink, ETP_LAYOUT_OPS_STATS);
    const etp_profile *p = arm->arm->profile;
    if (!p) {
        return ETP_OK;
    }
    type_table t = {.arena = scratch};
    for (size_t d = 0; d < arm->n_dumps; d++) {
        const etp_trace *trace = arm->dumps[d]->trace;
        for (size_t b = 0; b < etp_trace_block_count(trace); b++) {
            const etp_trace_block *block = etp_trace_block_at(trace, b);
            if (block->has_execute && !block->rare) {
                ETP_TRY(add_inclusive(&t, block, err));
            }
        }
    }
    // Inclusive times came from the traces; exclusive ones, and how many operators of a type the
    // program has, come from the profile, whose rows are joined over dumps.
    for (size_t i = 0; i < p->n_rows; i++) {
        const etp_profile_row *row = &p->rows[i];
        type_stats *s = type_of(&t, row->name, row->delegated, row->kind);
        if (s->is_operator) { // the program may know better than the name
            s->category = row->parsed.category;
        }
        s->events++;
        s->exclusive_ns += row->all_ns;
    }
    qsort(t.types.items, t.types.n, sizeof *t.types.items, longest_first);
    double runs = (double)p->all_executions, whole = (double)p->all_execute_ns;
    for (size_t i = 0; i < t.types.n; i++) {
        const type_stats *r = &t.types.items[i];
        double mean = (double)r->total_ns / runs;
        etp_csv_text(sink, etp_str_from(arm->model_id));
        etp_kit_put_text(sink, r->type); // name and type are one in this table
        etp_kit_put_text(sink, r->type);
        etp_kit_put_backend(sink, arm, r->delegated);
        etp_sink_printf(sink, ",%zu", r->events);
        etp_kit_put_ms(sink, llround(mean));
        etp_kit_put_ms(sink, llround(mean / (double)r->events));
        etp_kit_put_ratio(sink, 100 * etp_share((double)r->total_ns, whole));
        const char *group = etp_kit_category_name(etp_kit_category_of(r->category));
        etp_sink_printf(
            sink, ",%llu,%lld,%lld,%s,%s,%s", (unsigned long long)r->calls, llround(mean),
            llround((double)r->exclusive_ns / runs), etp_row_kind_name(r->kind),
            etp_if(r->is_operator, etp_category_name(r->category)), etp_if(r->is_operator, group));
        etp_kit_put_level(sink, arm);
        etp_sink_char(sink, '\n');
    }
    return ETP_OK;
}
