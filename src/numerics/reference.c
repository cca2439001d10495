// SPDX-License-Identifier: Apache-2.0
// What is asked of PyTorch.
#include "numerics/reference.h"

#include "base/guard.h"
#include "base/json.h"
#include "numerics/pairs.h"

// Does it alone, or as the last, do the work of its handle?
static bool ends_its_handle(const etp_ops *ops, uint32_t place, const etp_record_method *record)
{
    const int64_t handle = etp_op_handle(&ops->items[place], record);
    bool last = handle >= 0;
    for (size_t i = place + 1; last && i < ops->n; i++) {
        last = etp_op_handle(&ops->items[i], record) != handle || etp_op_converts(&ops->items[i]);
    }
    return last;
}

static void write_place(etp_json *j, const etp_arms *arms, uint32_t place,
                        const etp_record_method *record)
{
    const etp_op *op = &arms->sides[ETP_BASELINE].ops.items[place];
    const etp_value *v = etp_op_result(op);
    etp_json_begin_object(j);
    etp_json_kv_z(j, "dir", etp_arms_dir(arms, ETP_BASELINE, place, false));
    etp_json_kv_i64(j, "handle", etp_op_handle(op, record));
    etp_json_kv_bool(j, "integers", v->quant.kind != ETP_QUANT_NONE);
    etp_json_kv_bool(j, "kernel", op->at.node == ETP_NO_INDEX);
    etp_json_key(j, "dims");
    etp_json_begin_array(j);
    for (uint32_t k = 0; k < v->rank; k++) {
        etp_json_i64(j, v->dims[k]);
    }
    etp_json_end(j);
    etp_json_end(j);
}

static etp_str request_of(const etp_arms *arms, const char *record_path, const etp_inputs *inputs,
                          const etp_record_method *record)
{
    const etp_arm_side *x = &arms->sides[ETP_BASELINE];
    etp_sink sink;
    etp_json j;
    etp_strbuf text;
    etp_strbuf_init(&text, arms->arena);
    sink = etp_sink_strbuf(&text);
    etp_json_init(&j, &sink, false);
    etp_json_begin_object(&j);
    etp_json_kv_z(&j, "record", record_path);
    etp_json_kv_str(&j, "method", x->method->name);
    etp_json_kv_z(&j, "outputs", etp_reference_outputs(arms));
    etp_json_key(&j, "inputs");
    etp_json_begin_array(&j);
    for (size_t i = 0; i < inputs->n; i++) {
        etp_json_z(&j, inputs->files[i]);
    }
    etp_json_end(&j);
    etp_json_key(&j, "handles");
    etp_json_begin_array(&j);
    for (size_t i = 0; i < x->ops.n; i++) {
        etp_json_i64(&j, etp_op_handle(&x->ops.items[i], record));
    }
    etp_json_end(&j);
    etp_json_key(&j, "places");
    etp_json_begin_array(&j);
    for (uint32_t i = 0; i < x->ops.n; i++) {
        const etp_op *op = &x->ops.items[i];
        if (etp_op_result(op) && !etp_op_converts(op) && ends_its_handle(&x->ops, i, record)) {
            write_place(&j, arms, i, record);
        }
    }
    etp_json_end(&j);
    etp_json_end(&j);
    etp_json_end_document(&j);
    return etp_strbuf_str(&text);
}

const char *etp_reference_outputs(const etp_arms *arms)
{
    return etp_arena_printf(arms->arena, "%s/numerics-eager", arms->device->work_dir);
}

static etp_status prepare(etp_arms *arms, const char **path)
{
    const etp_arm_side *x = &arms->sides[ETP_BASELINE];
    const etp_inputs *inputs = &arms->plan->inputs[x->arm->model];
    const char *record = etp_arena_printf(arms->arena, "%s.etrecord", x->model);
    const etp_record_method *method = NULL;
    ETP_TRY(etp_arms_exported(arms, x, &method));
    if (!method) {
        return etp_fail(arms->err, ETP_USAGE,
                        "--reference eager needs %s of this program, which holds its graph; "
                        "'etprof export MODEL' writes one beside each program",
                        record);
    }
    if (!inputs->files) {
        return etp_fail(arms->err, ETP_USAGE,
                        "--reference eager needs inputs in files, which PyTorch gets too: those "
                        "that 'etprof export' leaves beside a program, or --inputs FILE,...");
    }
    *path = etp_arena_printf(arms->arena, "%s/numerics-eager.json", arms->device->work_dir);
    return etp_os_write_atomic(*path, request_of(arms, record, inputs, method), arms->err);
}

static etp_status prepare_guarded(etp_arms *arms, const char **path)
{
    ETP_GUARDED(arms->arena, arms->err, "the reference", prepare(arms, path));
}

etp_status etp_reference_make(etp_arms *arms)
{
    const char *path = NULL;
    ETP_TRY(prepare_guarded(arms, &path));
    etp_arms_tell(arms, "asking PyTorch for what each operator makes");
    return arms->ask(arms->ask_ctx, path, arms->err); // a process is held meanwhile
}
