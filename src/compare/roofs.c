// SPDX-License-Identifier: Apache-2.0
// Operators of an answer below the roofs of their device: of the run folder, or of a file the user
// names. Nothing is looked up elsewhere, so the same folder gives the same answer anywhere.
#include <math.h>

#include "compare/bottlenecks.h"
#include "compare/session.h"
#include "store/roofs_file.h"

#define ROOFS_LIMIT ((size_t)4 << 20)

etp_status etp_ab_read_roofs(const etp_ab_session *s, const char *file, const etp_roof_table **out,
                             etp_error *err)
{
    const char *path = file;
    *out = NULL;
    if (!path) {
        path = s->has_run ? etp_run_path(s->ab.arena, etp_arena_strdup(s->ab.arena, s->run.dir),
                                         ETP_STR(ETP_RUN_ROOFS))
                          : NULL;
        if (!path || !etp_os_is_file(path)) {
            return ETP_OK;
        }
    }
    etp_str text;
    etp_roof_table *table = ETP_NEW(s->ab.arena, etp_roof_table);
    ETP_TRY(etp_os_read_text(path, ROOFS_LIMIT, s->ab.arena, &text, err));
    etp_status st = etp_roofs_read(text, s->ab.arena, table, err);
    if (st != ETP_OK) {
        return etp_fail_ctx(err, "reading %s", ETP_OR(file, ETP_RUN_ROOFS));
    }
    if (file && table->emulated) {
        return etp_fail(err, ETP_USAGE, "%s is of an emulator, whose speed says nothing", file);
    }
    const char *doubt = etp_roofs_doubt(table, ETP_WAIT_MOST);
    if (file && doubt) {
        return etp_fail(err, ETP_USAGE, "%s: %s; measure again on a quiet machine (etprof roofs)",
                        file, doubt);
    }
    *out = table->emulated || s->ab.emulated || doubt ? NULL : table;
    return ETP_OK;
}

static bool has_type(const etp_op_name *op, const char *const *tokens)
{
    for (; *tokens; tokens++) {
        for (size_t i = 0; i < op->n_dtypes; i++) {
            if (etp_str_eqz(op->dtypes[i], *tokens)) {
                return true;
            }
        }
    }
    return false;
}

bool etp_ab_computes_int8(const etp_op_name *op)
{
    static const char *const k_i8[] = {"QS8", "QU8", "QC8", "QD8", "QP8", "PQS8", "QDU8", NULL};
    return has_type(op, k_i8);
}

// Of the products: by the name's tokens, else by the first operand. What is in neither has no roof.
static etp_roof_type type_of(const etp_op_name *op, const etp_op_facts *f)
{
    static const char *const k_f16[] = {"F16", "PF16", NULL};
    static const char *const k_f32[] = {"F32", "PF32", NULL};
    if (op->n_dtypes > 0) {
        if (etp_ab_computes_int8(op)) {
            return ETP_ROOF_I8;
        }
        if (has_type(op, k_f16)) {
            return ETP_ROOF_F16;
        }
        return has_type(op, k_f32) ? ETP_ROOF_F32 : ETP_ROOF_TYPE_NONE;
    }
    switch (f->n_inputs ? f->values[f->inputs[0]].dtype : ETP_DTYPE_UNKNOWN) {
    case ETP_DTYPE_FLOAT32:
        return ETP_ROOF_F32;
    case ETP_DTYPE_FLOAT16:
        return ETP_ROOF_F16;
    case ETP_DTYPE_INT8:
        return ETP_ROOF_I8;
    default:
        return ETP_ROOF_TYPE_NONE;
    }
}

static etp_roof_kernel kernel_of(const etp_op_name *op)
{
    static const char *const k_quint8[] = {"QU8", NULL};
    if (etp_op_is_depthwise(op)) {
        return ETP_ROOF_KERNEL_DEPTHWISE;
    }
    return has_type(op, k_quint8) ? ETP_ROOF_KERNEL_QUINT8 : ETP_ROOF_KERNEL_PRODUCT;
}

static uint64_t out_bytes(const etp_op_facts *f)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < f->n_outputs; i++) {
        uint64_t bytes = f->values[f->outputs[i]].bytes;
        if (bytes == ETP_BYTES_UNKNOWN || bytes > f->work.bytes - sum) {
            return 0; // then all of it counts as read
        }
        sum += bytes;
    }
    return sum;
}

static bool may_use_matrix(const etp_ab_operator *op, const etp_profile_row *row)
{
    return etp_category_multiplies(op->category) && row->delegated &&
           !etp_op_is_depthwise(&row->parsed) &&
           !(op->engaged.state == ETP_NOT_ENGAGED && op->engaged.reason != ETP_REASON_MASKED);
}

static void place(const etp_ab *ab, const etp_ab_operator *op, uint32_t arm, etp_roof_place *out)
{
    const etp_profile_row *row = op->rows[arm];
    const etp_op_facts *f = op->facts ? &op->facts->op : NULL;
    *out = (etp_roof_place){.roof_ns = (double)NAN, .efficiency = (double)NAN};
    if (!row || op->ns[arm] == ETP_NS_UNKNOWN) {
        out->missing = "the arm has no such operator";
        return;
    }
    if (!f || !f->work.known || f->work.bound) {
        out->missing = "the program does not describe its work";
        return;
    }
    uint64_t executions = ab->arms[arm].profile->all_executions, written = out_bytes(f);
    uint64_t calls = executions ? (row->calls + executions / 2) / executions : 1;
    const etp_ab_clocked_time part = etp_ab_operator_time(ab, op, arm);
    etp_roof_work work = {
        .ns = (double)op->ns[arm],
        .truncation_ns = (double)part.truncation_ns,
        .macs = f->work.macs,
        .ops = f->work.ops,
        .in_bytes = f->work.bytes - written,
        .out_bytes = written,
        .calls = ETP_MAX(calls, 1),
        .type = type_of(&row->parsed, f),
        .kernel = row->delegated ? kernel_of(&row->parsed) : ETP_ROOF_KERNEL_PRODUCT,
        .matrix = may_use_matrix(op, row),
        .delegated = row->delegated,
        .level = ab->arms[arm].level,
        .threads = ETP_MAX(ab->arms[arm].threads, 1),
    };
    etp_roof_place_of(ab->roofs, &work, out);
    if (!etp_ab_resolved(part.ns, part.truncation_ns) &&
        !out->missing) { // how much of its roof it reached, its clock cannot tell
        out->efficiency = (double)NAN;
        out->verdict = ETP_ROOF_UNKNOWN;
        out->missing = "it takes less than its clock resolves";
    }
}

void etp_ab_place_roofs(const etp_ab *ab, size_t op, const etp_roof_place **out)
{
    etp_roof_place *places = ETP_NEW_ARRAY(ab->arena, etp_roof_place, ab->n_arms);
    for (uint32_t a = 0; a < ab->n_arms; a++) {
        place(ab, &ab->operators[op], a, &places[a]);
    }
    *out = places;
}

double etp_ab_above_roof(const etp_ab *ab, uint32_t arm, const etp_ab_operator **worst)
{
    double all = 0, above = 0, most = 0;
    *worst = NULL;
    for (size_t i = 0; i < ab->n_operators; i++) {
        const etp_ab_operator *op = &ab->operators[i];
        const etp_roof_place *p = op->roofs ? &op->roofs[arm] : NULL;
        if (!p || p->verdict == ETP_ROOF_UNKNOWN) {
            continue;
        }
        all += (double)op->ns[arm];
        if (p->verdict == ETP_ROOF_ABOVE_ROOF) {
            above += (double)op->ns[arm];
            *worst = p->efficiency > most ? op : *worst;
            most = ETP_MAX(p->efficiency, most);
        }
    }
    return etp_share(above, all);
}

const char *etp_ab_roofs_device(const etp_ab *ab)
{
    const char *text =
        ab->roofs->cpu[0] ? etp_arena_printf(ab->arena, "%s, %s", ab->roofs->device, ab->roofs->cpu)
                          : ab->roofs->device;
    return ETP_OR(text, "");
}
