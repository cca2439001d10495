// SPDX-License-Identifier: Apache-2.0
// What a recording holds besides operators: spans of delegates, executions that are left out.
#include "base/number.h"
#include "inspect/inspect.h"
#include "inspect/ops.h"

#define FAR_MEAN 1.25 // times the median

// "1.2 ms", or "1200 cycles" where their rate is unknown.
const char *etp_ops_time_text(const etp_ops_answer *a, double ns, etp_arena *arena)
{
    return a->cycles ? etp_arena_printf(arena, "%.0f cycles", ns)
                     : etp_arena_printf(arena, "%s", ETP_NS(ns));
}

void etp_ops_report_damage(const etp_ops_answer *a, etp_report *r, etp_arena *arena)
{
    if (etp_trace_partly_logged(a->trace)) {
        etp_report_note(r, ETP_WARN,
                        "delegates log what they do in some of the executions alone; those in "
                        "which they do not are a block of their own");
    }
    etp_report_damage(a->trace, r, arena);
}

// A mean that few of the executions made, and most are far from.
void etp_ops_report_few(const etp_ops_answer *a, etp_report *r, etp_arena *arena)
{
    for (size_t i = 0; i < etp_trace_block_count(a->trace); i++) {
        const etp_trace_block *b = etp_trace_block_at(a->trace, i);
        if (!b->has_execute) {
            continue;
        }
        if (b->rare && b->n_populations == 1) {
            etp_report_note(r, ETP_WARN,
                            "block %zu: the first executions, of %s, set up what later ones use; "
                            "'etprof analyze' leaves them out",
                            i,
                            etp_ops_time_text(a, etp_ops_execute_ns(b) / (double)b->n_runs, arena));
        }
        const uint64_t *d = etp_trace_durations(b, b->execute);
        uint64_t *scratch = etp_arena_alloc_raw(arena, b->n_runs, sizeof *scratch);
        if (!scratch) {
            return;
        }
        uint64_t lo = UINT64_MAX, hi = 0;
        for (size_t k = 0; k < b->n_runs; k++) {
            lo = ETP_MIN(d[k], lo);
            hi = ETP_MAX(d[k], hi);
        }
        double half = (double)etp_ops_select(d, b->n_runs, (b->n_runs - 1) / 2, lo, hi, scratch);
        double mean = etp_ops_execute_ns(b) / (double)b->n_runs;
        if (mean > FAR_MEAN * half || half > FAR_MEAN * mean) {
            bool above = mean > half;
            etp_report_note(r, ETP_WARN,
                            "block %zu: the mean is that of few executions: half of them take at "
                            "%s %s, the %s %s",
                            i, above ? "most" : "least", etp_ops_time_text(a, half, arena),
                            above ? "longest" : "shortest",
                            etp_ops_time_text(a, (double)(above ? hi : lo), arena));
        }
    }
}

static const char *span_note(etp_op_span_kind kind, etp_apart apart, const etp_trace *trace,
                             etp_arena *arena)
{
    if (kind == ETP_OP_SPAN_WHOLE) {
        return "Spans of a delegate that hold others. Their parts are among the operators.";
    }
    if (kind == ETP_OP_SPAN_LOAD) {
        return "Logged outside inferences, as a delegate is loaded or freed. Shares are of "
               "loading.";
    }
    if (apart == ETP_APART_SUM) {
        return "These overlap, reach beyond the event they are parts of or together are longer "
               "than it, so none of them is part of the inference. Shares are of what the same "
               "call logged.";
    }
    if (apart == ETP_APART_TICKS) {
        return "In many executions these end before they start, or count a thousand times as much "
               "as in the others, in calls that take as long. No unit makes times of such ticks.";
    }
    return etp_arena_printf(arena,
                            "Ticks of the delegate's own clock, whose unit is not recorded. Shares "
                            "are of what the same call logged. State the unit: --delegate-unit %s.",
                            etp_trace_unit_choice(trace));
}

static void span_table(const etp_ops_answer *a, etp_op_span_kind kind, etp_apart apart,
                       const char *id, const char *title, etp_report *r, etp_arena *arena)
{
    bool ticks = apart || a->cycles;
    const etp_column columns[] = {
        {.key = "name", .title = "span", .flags = ETP_COL_CODE},
        {.key = "instruction", .title = "instr", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
        {.key = "share", .title = "share", .kind = ETP_KIND_PERCENT, .flags = ETP_COL_BAR},
        {.key = ticks ? "mean_ticks" : "mean_ns",
         .title = ticks ? "mean (ticks)" : "mean",
         .kind = ticks ? ETP_KIND_INT : ETP_KIND_NS},
        {.key = "calls", .title = "calls", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
        {.key = "block", .title = "block", .kind = ETP_KIND_INT, .flags = ETP_COL_MINOR},
    };
    const etp_op_table *t = &a->table;
    etp_table *table = NULL;
    for (size_t i = 0; i < t->n_spans; i++) {
        const etp_op_span *span = &t->spans[i];
        const etp_trace_event *e = &etp_trace_block_at(a->trace, span->block)->events[span->event];
        if (span->kind != kind || e->apart != apart) {
            continue;
        }
        if (!table) {
            etp_report_section(r, 1, id, title);
            etp_report_note(r, apart ? ETP_WARN : ETP_PLAIN, "%s",
                            span_note(kind, apart, a->trace, arena));
            table = etp_report_table(r, etp_arena_printf(arena, "%s-table", id), NULL, columns,
                                     sizeof columns / sizeof *columns);
            etp_table_limit(table, 25);
        }
        ETP_ROW(table, etp_cell_str(e->name), etp_cell_i64(e->instruction),
                etp_cell_double(span->share),
                etp_cell_u64((span->total + span->calls / 2) / span->calls),
                etp_cell_u64(span->calls), etp_cell_u64(span->block));
    }
}

void etp_ops_report_spans(const etp_ops_answer *a, etp_report *r, etp_arena *arena)
{
    span_table(a, ETP_OP_SPAN_WHOLE, ETP_APART_NOT, "spans", "Spans of delegates", r, arena);
    span_table(a, ETP_OP_SPAN_APART, ETP_APART_CLOCK, "apart", "By a clock of their own", r, arena);
    span_table(a, ETP_OP_SPAN_APART, ETP_APART_SUM, "too-long", "Beyond their whole", r, arena);
    span_table(a, ETP_OP_SPAN_APART, ETP_APART_TICKS, "ticks", "Ticks without a unit", r, arena);
    span_table(a, ETP_OP_SPAN_LOAD, ETP_APART_NOT, "load", "Outside inferences", r, arena);
}
