// SPDX-License-Identifier: Apache-2.0
// What the operators of a program cost in a recording of it, for `etprof inspect --etdump`.
#include "base/guard.h"
#include "inspect/inspect.h"
#include "inspect/ops.h"

// A program has few different names, so a plain search is enough here, unlike for its calls.
static etp_inspect_operator *find(etp_inspect_operator *list, size_t n, etp_str name,
                                  bool delegated)
{
    for (size_t i = 0; i < n; i++) {
        if (list[i].delegated == delegated && etp_str_eq(list[i].name, name)) {
            return &list[i];
        }
    }
    return NULL;
}

// The operator of the program behind one row of the recording: by its node or kernel, or by the
// backend when the delegate cannot be looked into.
// An operator that the join placed on no node goes to the backend's row, which exists only where a
// payload could not be read; else nothing owns it.
static etp_inspect_operator *owner(etp_inspect_operator *list, size_t n, const etp_op_facts *facts)
{
    bool delegated = facts->backend.len > 0;
    etp_inspect_operator *op = NULL;
    if (facts->node_type.len > 0) {
        op = find(list, n, facts->node_type, delegated);
    }
    return op || !delegated ? op : find(list, n, facts->backend, true);
}

static etp_status take_times(etp_inspect *in, const etp_trace *trace, const char *dump,
                             etp_arena *arena, etp_error *err)
{
    if (!in->program) {
        return etp_fail(err, ETP_USAGE,
                        "--etdump adds times to the operators of a program (.pte, .bpte); %s is "
                        "not one",
                        in->path);
    }
    etp_ops_answer ops;
    ETP_TRY(etp_ops_unnumbered(trace, in->program, NULL, dump, arena, &ops, err));
    // Executions that fit several methods alike are held against none of them.
    for (size_t i = 0; i < etp_trace_block_count(ops.trace); i++) {
        const etp_join *join = &ops.joins[i];
        if (!join->ambiguous || !etp_trace_block_at(ops.trace, i)->has_execute) {
            continue;
        }
        const char *names = "";
        for (size_t k = 0; k < join->n_candidates; k++) {
            etp_str name = in->program->methods[join->candidates[k]].name;
            names = etp_arena_printf(arena, "%s%s%.*s", names, etp_if(k, ", "), ETP_STR_ARG(name));
        }
        return etp_fail(err, ETP_UNKNOWN,
                        "%s does not tell which method ran: its events fit %s alike; record each "
                        "method in a file of its own",
                        dump, names);
    }
    etp_inspect_operator *list = ETP_NEW_ARRAY(arena, etp_inspect_operator, in->n_operators);
    double *sums = ETP_NEW_ARRAY(arena, double, in->n_operators);
    etp_inspect_times *times = ETP_NEW(arena, etp_inspect_times);
    *times = (etp_inspect_times){.dump = dump, .doubt = etp_ops_doubt(&ops)};
    for (size_t i = 0; i < in->n_operators; i++) {
        list[i] = in->operators[i];
        sums[i] = 0;
    }
    // Sums stay in floating point and are rounded once at the end: means of short operators are
    // fractions of a nanosecond, and many rows add up. all[1] is inside delegates.
    double other = 0, all[2] = {0, 0};
    for (size_t i = 0; i < ops.table.n_rows; i++) {
        const etp_op_row *row = &ops.table.rows[i];
        // Blocks of one method differ when its executions took different paths; the mean is over
        // all of the method's executions, so that an operator on a rare path counts as rarely as it
        // ran.
        const uint32_t method = ops.joins[row->block].method;
        uint64_t runs = 0;
        for (size_t b = 0; b < etp_trace_block_count(ops.trace); b++) {
            if (b == row->block || (method != ETP_NO_INDEX && ops.joins[b].method == method)) {
                runs += etp_trace_block_at(ops.trace, b)->n_runs;
            }
        }
        double ns = runs ? (double)row->total_ns / (double)runs : 0.0;
        etp_inspect_operator *op = owner(list, in->n_operators, &ops.facts[i]);
        if (op) {
            sums[op - list] += ns;
            op->timed = true;
            all[op->delegated] += ns;
        } else {
            other += ns;
        }
    }
    for (size_t i = 0; i < in->n_operators; i++) {
        list[i].ns = (uint64_t)(sums[i] + 0.5);
    }
    times->undelegated_ns = (uint64_t)(all[0] + 0.5);
    times->delegated_ns = (uint64_t)(all[1] + 0.5);
    times->unmatched_ns = (uint64_t)(other + 0.5);
    // Times of another program would all be unmatched: that is a mistake of the caller, not a
    // result.
    if (all[0] + all[1] <= 0) {
        return etp_fail(err, ETP_USAGE,
                        "no operator of %s is in %s: is it a recording of this "
                        "program?",
                        dump, in->path);
    }
    in->operators = list;
    in->times = times;
    return ETP_OK;
}

etp_status etp_inspect_time(etp_inspect *in, const etp_trace *trace, const char *dump,
                            etp_arena *arena, etp_error *err)
{
    ETP_GUARDED(arena, err, "times of operators", take_times(in, trace, dump, arena, err));
}
