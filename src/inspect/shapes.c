// SPDX-License-Identifier: Apache-2.0
// What documents of operators, of files and of comparisons say alike: tensors of an operator, where
// it comes from, an execution whose clock jumped.
#include <inttypes.h>

#include "base/number.h"
#include "document/rows.h"
#include "inspect/inspect.h"
#include "inspect/ops.h"

const char *etp_shape_text(const etp_value *v, char buf[static ETP_SHAPE_CHARS])
{
    size_t at = 0;
    buf[0] = '\0';
    for (uint32_t i = 0; i < v->rank && at < ETP_SHAPE_CHARS - 48; i++) {
        at += (size_t)snprintf(buf + at, ETP_SHAPE_CHARS - at, "%s%" PRId64, etp_if(i, "×"),
                               v->dims[i]);
    }
    snprintf(buf + at, ETP_SHAPE_CHARS - at, "%s%s%s", v->rank ? " " : "scalar ",
             etp_dtype_name(v->dtype), etp_if(v->dynamic, " (at most)"));
    return buf;
}

static const etp_value *tensor(const etp_value *value)
{
    return value->kind == ETP_EVALUE_TENSOR ? value : NULL;
}

WORDS(k_dtype, etp_dtype_name, etp_dtype, 0)
ITS_LENGTH(k_inputs, etp_op_facts, it->n_inputs)
ITS_LENGTH(k_outputs, etp_op_facts, it->n_outputs)
FIND(input, etp_op_facts, void, tensor(&it->values[it->inputs[at->index]]))
FIND(output, etp_op_facts, void, tensor(&it->values[it->outputs[at->index]]))
KNOWN(is_true, bool, *it)

#define OF etp_value
static const etp_field k_tensor_rows[] = {
    FIELD("dtype", WORD, dtype, "of its elements", .words = &k_dtype, .flags = ETP_SET),
    LIST("shape", INT, dims, rank, "of it", .flags = ETP_ONE_LINE, .range = ETP_SIGNED),
    FIELD("upper_bound", BOOL, dynamic, "true: dynamic, the shape is the largest", .when = is_true,
          .flags = ETP_ABSENT),
};
static SHAPE_ON_ONE_LINE(k_tensor, k_tensor_rows);
#undef OF
#define OF etp_op_facts
static const etp_field k_tensors_rows[] = {
    COMPUTED_PER("inputs", OBJECT, input, &k_inputs, "tensors, in order", .shape = &k_tensor,
                 .flags = ETP_SKIP | ETP_ONE_LINE | ETP_NO_COLUMN), // lists
    COMPUTED_PER("outputs", OBJECT, output, &k_outputs, "likewise", .shape = &k_tensor,
                 .flags = ETP_SKIP | ETP_ONE_LINE | ETP_NO_COLUMN),
};
SHAPE(k_etp_op_tensors, k_tensors_rows);
#undef OF
#define OF etp_source
static const etp_field k_source_rows[] = {
    FIELD("file", STR, file, "of the innermost frame outside installed packages"),
    FIELD("line", UINT, line, "0: unknown"),
    FIELD("module", STR, module, "its path in the model"),
};
SHAPE_ON_ONE_LINE(k_etp_source, k_source_rows);
#undef OF
#define OF etp_trace_damage
static const etp_field k_damage_rows[] = {
    FIELD("run", UINT, run, "number of the execution in the recording, from 0"),
    FIELD("name", STR, name, "the event that shows it"),
    FIELD("ns", NS, ns, "how long it claims to be; null: it ends before it starts"),
    FIELD("whole_ns", UINT, whole_ns, "the event around it; 0: none"),
    FIELD("crosses", BOOL, crosses,
          "the clock did not jump: what lies in it overlaps or reaches beyond it"),
};
SHAPE_ON_ONE_LINE(k_etp_trace_damage_shape, k_damage_rows);
#undef OF

void etp_report_damage(const etp_trace *trace, etp_report *r, etp_arena *arena)
{
    size_t n = etp_trace_damage_count(trace);
    if (n > 0) {
        const etp_trace_damage *d = etp_trace_damage_at(trace, 0);
        etp_report_note(r, ETP_WARN, "%zu %s left out: %s", n,
                        n == 1 ? "execution is" : "executions are",
                        etp_trace_damage_claim(d, arena));
    }
}
