// SPDX-License-Identifier: Apache-2.0
// The report of `etprof ops`.
#include <math.h>
#include <stdlib.h>

#include "base/path.h"
#include "inspect/ops.h"

typedef struct by_total {
    uint64_t total;
    size_t row;
} by_total;

static int longest_first(const void *pa, const void *pb)
{
    const by_total *a = pa, *b = pb;
    return etp_order_then(ETP_ORDER(b->total, a->total), ETP_ORDER(a->row, b->row));
}

// "model.py:26 blocks.0.attn", NULL when unknown.
static const char *source_text(const etp_ops_answer *a, size_t row, etp_arena *arena)
{
    const etp_source *s = a->sources ? &a->sources[row] : NULL;
    if (!s || s->file.len == 0) {
        return NULL;
    }
    return etp_arena_printf(arena, "%.*s:%u%s%.*s", ETP_STR_ARG(etp_path_last(s->file)), s->line,
                            etp_if(s->module.len, " "), ETP_STR_ARG(s->module));
}

// "inside VulkanBackend, not logged": the runtime's name of a call says nothing to a reader.
static etp_str shown_name(const etp_ops_answer *a, size_t row, etp_arena *arena)
{
    const etp_trace_event *e = etp_ops_event(a, &a->table.rows[row]);
    etp_str backend = etp_ops_facts(a, row)->backend;
    return e->kind == ETP_EVENT_DELEGATE_CALL ? etp_ops_unlogged(backend, arena) : e->name;
}

// Columns of times, of a recording that counts cycles too.
static const etp_column *columns_of(const etp_ops_answer *a, const etp_column *columns, size_t n,
                                    etp_arena *arena)
{
    etp_column *own = ETP_NEW_ARRAY(arena, etp_column, n);
    for (size_t i = 0; a->cycles && own && i < n; i++) {
        own[i] = columns[i];
        if (own[i].kind == ETP_KIND_NS) {
            own[i].kind = ETP_KIND_INT;
            own[i].key = etp_arena_printf(arena, "%s_cycles", own[i].title);
            own[i].title = etp_arena_printf(arena, "%s (cycles)", own[i].title);
        }
    }
    return a->cycles && own ? own : columns;
}

static double share_of(const etp_ops_answer *a, const etp_op_row *row, double whole)
{
    bool known = etp_ops_block(a, row)->has_execute && whole > 0;
    return etp_value_if(known, (double)row->total_ns / whole);
}

static double population_ns(const etp_ops_answer *a, uint32_t population)
{
    double sum = 0;
    for (size_t i = 0; i < etp_trace_block_count(a->trace); i++) {
        const etp_trace_block *b = etp_trace_block_at(a->trace, i);
        sum += b->population == population ? etp_ops_execute_ns(b) : 0;
    }
    return sum;
}

// "block 1", "blocks 1, 3": paths of one method.
static const char *population_text(const etp_ops_answer *a, uint32_t population, etp_arena *arena)
{
    const char *text = "";
    size_t n = 0;
    for (size_t i = 0; i < etp_trace_block_count(a->trace); i++) {
        const etp_trace_block *b = etp_trace_block_at(a->trace, i);
        if (b->has_execute && b->population == population) {
            text = etp_arena_printf(arena, "%s%s%zu", text, etp_if(n++, ", "), i);
        }
    }
    return etp_arena_printf(arena, "%s %s", n == 1 ? "block" : "blocks", text);
}

static void operator_table(const etp_ops_answer *a, etp_report *r, etp_arena *arena)
{
    enum { BLOCK = 10 };
    etp_column columns[] = {
        {.key = "name", .title = "operator", .flags = ETP_COL_CODE},
        {.key = "instruction", .title = "instr", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
        {.key = "category", .title = "category"},
        {.key = "share", .title = "share", .kind = ETP_KIND_PERCENT, .flags = ETP_COL_BAR},
        {.key = "p50_ns", .title = "p50", .kind = ETP_KIND_NS},
        {.key = "mean_ns", .title = "mean", .kind = ETP_KIND_NS},
        {.key = "p90_ns", .title = "p90", .kind = ETP_KIND_NS, .flags = ETP_COL_MINOR},
        {.key = "max_ns", .title = "max", .kind = ETP_KIND_NS, .flags = ETP_COL_MINOR},
        {.key = "calls", .title = "calls", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
        {.key = "delegated", .title = "delegated", .flags = ETP_COL_MINOR},
        {.key = "block", .title = "block", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
        {.key = "macs", .title = "MACs", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
        {.key = "source", .title = "source", .flags = ETP_COL_MINOR | ETP_COL_CODE},
        {.key = "bound", .title = "sizes", .flags = ETP_COL_MINOR},
        {.key = "kernel", .title = "kernel that ran", .flags = ETP_COL_CODE},
    };
    const etp_op_table *t = &a->table;
    by_total *order = ETP_NEW_ARRAY(arena, by_total, t->n_rows);
    bool kernels = false; // what few recordings hold is a column of theirs alone
    for (size_t i = 0; !kernels && i < t->n_rows; i++) {
        kernels = etp_ops_event(a, &t->rows[i])->kernel.len > 0;
    }
    size_t n_columns = sizeof columns / sizeof *columns - !kernels;
    size_t n_blocks = etp_trace_block_count(a->trace);
    double *whole = ETP_NEW_ARRAY(arena, double, n_blocks);
    if (!order || !whole) {
        return; // the report has noticed too
    }
    for (size_t i = 0; i < n_blocks; i++) {
        whole[i] = population_ns(a, etp_trace_block_at(a->trace, i)->population);
    }
    for (size_t i = 0; i < t->n_rows; i++) {
        order[i] = (by_total){t->rows[i].total_ns, i};
    }
    // The table keeps the file's order, which its ids rest on, so a list of places is sorted
    // instead.
    qsort(order, t->n_rows, sizeof *order, longest_first);
    columns[BLOCK].flags = etp_ops_populations(a->trace) > 1 ? 0 : ETP_COL_MINOR;
    etp_table *table =
        etp_report_table(r, "operators", NULL, columns_of(a, columns, n_columns, arena), n_columns);
    etp_table_limit(table, 25);
    for (size_t k = 0; k < t->n_rows; k++) {
        size_t i = order[k].row;
        const etp_op_row *row = &t->rows[i];
        const etp_trace_event *e = etp_ops_event(a, row);
        bool macs = a->facts && a->facts[i].work.known;
        const etp_cell cells[] = {etp_cell_str(shown_name(a, i, arena)),
                                  etp_cell_i64(e->instruction),
                                  etp_cell_z(etp_category_name(a->names[i].category)),
                                  etp_cell_double(share_of(a, row, whole[row->block])),
                                  etp_cell_u64(row->p50_ns),
                                  etp_cell_u64(row->mean_ns),
                                  etp_cell_u64(row->p90_ns),
                                  etp_cell_u64(row->max_ns),
                                  etp_cell_u64(row->calls),
                                  etp_cell_z(etp_yes_no(etp_ops_is_delegated(e))),
                                  etp_cell_u64(row->block),
                                  macs ? etp_cell_u64(a->facts[i].work.macs) : etp_cell_missing(),
                                  etp_cell_z(source_text(a, i, arena)),
                                  etp_cell_z(etp_z_if(macs && a->facts[i].work.bound, "at most")),
                                  etp_cell_if(e->kernel.len, etp_cell_str(e->kernel))};
        etp_table_add_row(table, cells, n_columns);
    }
}

// In the order of etp_category, as in every other report: people compare them line by line.
// POPULATION ETP_NO_INDEX: of all.
static void category_table(const etp_ops_answer *a, uint32_t population, etp_report *r,
                           etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "category", .title = "category"},
        {.key = "five", .title = "group"},
        {.key = "total_ns", .title = "total", .kind = ETP_KIND_NS},
        {.key = "share", .title = "share", .kind = ETP_KIND_PERCENT, .flags = ETP_COL_BAR},
        {.key = "operators", .title = "operators", .kind = ETP_KIND_INT},
    };
    bool all = population == ETP_NO_INDEX;
    double whole = all ? (double)a->table.execute_ns : population_ns(a, population);
    etp_table *table = etp_report_table(
        r, all ? "categories" : etp_arena_printf(arena, "categories-%u", (unsigned)population),
        all ? NULL : population_text(a, population, arena), columns_of(a, k_columns, 5, arena), 5);
    for (int c = 0; c < ETP_CATEGORY_COUNT; c++) {
        uint64_t total = 0, inside = 0, n = 0; // inside: of executions that ended
        for (size_t i = 0; i < a->table.n_rows; i++) {
            const etp_trace_block *b = etp_ops_block(a, &a->table.rows[i]);
            bool mine = all || (b->has_execute && b->population == population);
            if (mine && (int)a->names[i].category == c) {
                uint64_t ns = a->table.rows[i].total_ns;
                total += ns;
                inside += b->has_execute ? ns : 0;
                n++;
            }
        }
        if (n) {
            ETP_ROW(table, etp_cell_z(etp_category_name((etp_category)c)),
                    etp_cell_z(etp_kit_category_name(etp_kit_category_of((etp_category)c))),
                    etp_cell_u64(total), etp_cell_double(etp_share((double)inside, whole)),
                    etp_cell_u64(n));
        }
    }
}

// What does not belong together in part.
static void warn_of_other_files(const etp_ops_answer *a, etp_report *r)
{
    uint32_t said = ETP_NO_INDEX;
    if (a->record.differs) {
        etp_report_note(r, ETP_WARN, "the record agrees with the program in %u of %u points: %s",
                        a->record.agreed, a->record.compared, a->record.differs);
    }
    for (size_t i = 0; a->joins && i < a->table.n_rows; i++) {
        uint32_t block = (uint32_t)a->table.rows[i].block;
        const etp_join *join = &a->joins[block];
        if (block != said && join->method == ETP_NO_INDEX && join->reason) {
            etp_report_note(r, ETP_WARN, "nothing of the program is told of block %u: %s",
                            (unsigned)block, join->reason);
            said = block;
        } else if (block != said && join->method != ETP_NO_INDEX && join->doubt) {
            bool little = join->differs || join->identity < ETP_JOIN_TELLS;
            etp_report_note(r, little ? ETP_WARN : ETP_PLAIN, "block %u: %s", (unsigned)block,
                            join->doubt);
            said = block;
        }
    }
}

static void mode_keys(const etp_ops_answer *a, etp_keys *keys, etp_report *r, etp_arena *arena)
{
    for (size_t i = 0; i < etp_trace_block_count(a->trace); i++) {
        const etp_trace_block *b = etp_trace_block_at(a->trace, i);
        if (b->has_execute) {
            etp_keys_add(
                keys, ETP_PLAIN, "Method::execute", "block %zu: %s, mean of %zu executions", i,
                etp_ops_time_text(a, etp_ops_execute_ns(b) / (double)b->n_runs, arena), b->n_runs);
        }
    }
    etp_report_note(
        r, ETP_WARN,
        "executions of several durations: a recording does not name methods or input lengths, so "
        "each is a block of its own, and shares are of its Method::execute");
}

// ", method decode or encode: their events are the same".
static const char *method_text(const etp_ops_answer *a, const etp_join *join, etp_arena *arena)
{
    const char *text = "";
    for (size_t i = 0; join->ambiguous && i < join->n_candidates; i++) {
        etp_str name = a->program->methods[join->candidates[i]].name;
        text = etp_arena_printf(arena, "%s%s%.*s", text, etp_if(i, " or "), ETP_STR_ARG(name));
    }
    if (join->ambiguous) {
        return etp_arena_printf(arena, ", method %s: their events are the same", text);
    }
    return join->method == ETP_NO_INDEX
               ? ""
               : etp_arena_printf(arena, ", method %.*s",
                                  ETP_STR_ARG(a->program->methods[join->method].name));
}

const etp_report *etp_ops_report(const etp_ops_answer *a, etp_arena *arena)
{
    const etp_op_table *t = &a->table;
    etp_report *r = etp_report_create(arena, etp_path_name(a->dump));
    etp_report_section(r, 1, "totals", "Totals");
    etp_keys *keys = etp_report_keys(r, NULL);
    for (size_t i = 0; i < etp_trace_block_count(a->trace); i++) {
        const etp_trace_block *b = etp_trace_block_at(a->trace, i);
        const etp_join *join = a->joins ? &a->joins[i] : NULL;
        etp_keys_add(keys, ETP_PLAIN, "block", "%zu %.*s: %zu %s of %zu events%s", i,
                     ETP_STR_ARG(b->name), b->n_runs, b->n_runs == 1 ? "execution" : "executions",
                     b->n_events, join ? method_text(a, join, arena) : "");
    }
    size_t several = etp_ops_populations(a->trace);
    if (several > 1) {
        mode_keys(a, keys, r, arena);
    } else if (t->executions) {
        double n = (double)t->executions;
        // Sums grow with the number of executions: people get means, the document sums and count.
        etp_keys_add(keys, ETP_PLAIN, "Method::execute", "%s, mean of %zu executions",
                     etp_ops_time_text(a, (double)t->execute_ns / n, arena), t->executions);
        double delegated = (double)t->delegated_ns / (double)t->operators_ns;
        const char *of_which = "";
        if (t->operators_ns > 0) {
            of_which = etp_arena_printf(arena, ", of which %.1f %% delegated", 100 * delegated);
        } else if (t->n_rows == 0) {
            of_which = t->n_spans > 0 ? ": nothing but the spans below was recorded"
                                      : ": none was recorded";
        }
        etp_keys_add(keys, ETP_PLAIN, "operators", "%s%s",
                     etp_ops_time_text(a, (double)t->operators_ns / n, arena), of_which);
        etp_keys_add(keys, ETP_PLAIN, "remainder", "%s (delegate boundary, framework, truncation)",
                     etp_ops_time_text(a, (double)t->remainder_ns / n, arena));
        int64_t logged = t->delegated_ns - t->unlogged_ns;
        if (t->unlogged_ns > logged) {
            etp_report_note(r, ETP_WARN, ETP_OPS_UNLOGGED,
                            etp_ops_time_text(a, (double)t->unlogged_ns / n, arena),
                            etp_ops_time_text(a, (double)logged / n, arena));
        }
        if (a->cycles) {
            etp_report_note(r, ETP_WARN,
                            "times are cycles of a microcontroller; the recording does not hold "
                            "their rate. State it for milliseconds: --source-unit cycles:HZ, or ns "
                            "where the NPU runs beside Linux");
        }
    } else {
        etp_report_note(r, ETP_WARN, "%s: shares are unknown",
                        etp_trace_damage_count(a->trace)
                            ? "every execution is left out"
                            : "no execution has a Method::execute event");
    }
    etp_ops_report_few(a, r, arena);
    etp_ops_report_damage(a, r, arena);
    if (etp_trace_logs_tensors(a->trace)) {
        etp_report_note(r, ETP_WARN,
                        "the recording also logged tensors, so its times are not the program's; "
                        "record again without a debug buffer");
    }
    warn_of_other_files(a, r);
    if (etp_ops_is_bound(a)) {
        etp_report_note(r, ETP_PLAIN,
                        "MACs and bytes are at most these: sizes are dynamic, and the recording "
                        "does not hold those of its executions");
    }
    etp_report_section(r, 1, "categories-section", "Categories");
    for (uint32_t k = 0; k == 0 || k < several; k++) {
        category_table(a, several > 1 ? k : ETP_NO_INDEX, r, arena);
    }
    etp_report_section(r, 1, "operators-section", "Operators");
    operator_table(a, r, arena);
    etp_ops_report_spans(a, r, arena);
    return r;
}
