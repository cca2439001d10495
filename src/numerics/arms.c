// SPDX-License-Identifier: Apache-2.0
// Both arms, opened, cut and launched.
#include "numerics/arms.h"

#include "base/guard.h"
#include "measure/decoder.h"
#include "program/belong.h"

#define RECORD_LIMIT ((uint64_t)64 << 30)
#define WARMUP 3 // executions before those of a recording

void etp_arms_tell(const etp_arms *s, const char *text)
{
    if (s->view && s->view->message) {
        s->view->message(s->view->ctx, text);
    }
}

static int interrupted(void *ctx)
{
    const etp_arms *s = ctx;
    return s->view && s->view->interrupted ? s->view->interrupted(s->view->ctx)
                                           : etp_os_interrupted();
}

// ---- one launch ----

static etp_status push_list(const etp_arms *s, const char *list, etp_arena *arena, const char **out)
{
    *out = NULL;
    for (etp_str one, rest = etp_str_from(ETP_OR(list, "")); etp_str_part(&rest, ',', &one);) {
        const char *local = etp_arena_strdup(arena, one), *there = NULL;
        ETP_NEED(local, s->err, "a launch");
        ETP_TRY(s->device->ops->push(s->device, local, arena, &there, s->err));
        *out = *out ? etp_arena_printf(arena, "%s,%s", *out, there) : there;
    }
    return ETP_OK;
}

static etp_status request_of(etp_arms *s, int which, const char *model, const char *files,
                             etp_arena *arena, etp_launch_request *q)
{
    const etp_settings *set = &s->plan->settings;
    const etp_arm_side *x = &s->sides[which];
    *q = (etp_launch_request){.arm = x->arm,
                              .method = set->method,
                              .cpus = set->cpus,
                              .inputs = x->inputs,
                              .kind = ETP_LAUNCH_TIMED,
                              .iterations = 1,
                              .timeout_ns = s->plan->timeout_ns,
                              .cpu = &s->plan->cpu.cpu,
                              .interrupted = interrupted,
                              .interrupted_ctx = s};
    ETP_TRY(s->device->ops->push(s->device, model, arena, &q->model, s->err));
    ETP_TRY(push_list(s, set->data, arena, &q->data));
    ETP_TRY(push_list(s, set->kernels_lib, arena, &q->kernels_lib));
    return files ? push_list(s, files, arena, &q->inputs) : ETP_OK;
}

// Does what Q asks, and takes FROM, a place on the device, to the local TO.
static etp_status launch(etp_arms *s, const etp_launch_request *q, const char *from, const char *to,
                         etp_run_wait *waited, etp_arena *arena)
{
    etp_launch_outcome o;
    ETP_TRY(etp_arena_check(arena, s->err, "a launch"));
    s->launches++;
    ETP_TRY(etp_launch_run(s->device, q, arena, &o, s->err));
    if (o.interrupted) {
        return etp_fail(s->err, ETP_INTERRUPTED, "interrupted");
    }
    if (!o.ok) {
        return etp_fail(s->err, ETP_CHILD, "%s: %s", q->arm->name,
                        ETP_OR(o.detail, "the launch was lost"));
    }
    if (waited) {
        etp_run_wait_add(waited, &o.record);
    }
    return s->device->ops->pull(s->device, from, to, s->err);
}

static etp_status run_once(etp_arms *s, int which, const char *model, const char *files,
                           const char *dir, etp_arena *arena)
{
    etp_launch_request q;
    ETP_TRY(request_of(s, which, model, files, arena, &q));
    ETP_TRY(s->device->ops->scratch(s->device, "outputs", arena, &q.outputs, s->err));
    return launch(s, &q, q.outputs, dir, NULL, arena);
}

etp_status etp_arms_run(etp_arms *s, int which, const char *model, const char *files,
                        const char *dir)
{
    etp_arena arena = {0}; // a process is held meanwhile: nothing may jump over it
    etp_status status = run_once(s, which, model, files, dir, &arena);
    etp_arena_dispose(&arena);
    return status;
}

static etp_status run_traced(etp_arms *s, int which, uint64_t iterations, const char *dump,
                             etp_run_wait *waited, etp_arena *arena)
{
    etp_launch_request q;
    ETP_TRY(request_of(s, which, s->sides[which].model, NULL, arena, &q));
    ETP_TRY(s->device->ops->scratch(s->device, "trace.etdump", arena, &q.dump, s->err));
    q.kind = ETP_LAUNCH_TRACED;
    q.warmup = WARMUP;
    q.iterations = iterations;
    return launch(s, &q, q.dump, dump, waited, arena);
}

etp_status etp_arms_record(etp_arms *s, int which, uint64_t iterations, etp_run_wait *waited)
{
    etp_arm_side *x = &s->sides[which];
    etp_arena arena = {0}; // likewise
    const char *dump = etp_arena_printf(s->arena, "%s/numerics-%zu.%d.etdump", s->device->work_dir,
                                        x->recordings.n, which);
    ETP_ADD(s->arena, &x->recordings, ((etp_arm_recording){0}));
    etp_arm_recording *r = &x->recordings.items[x->recordings.n - 1];
    etp_status status = run_traced(s, which, iterations, dump, waited, &arena);
    etp_arena_dispose(&arena);
    ETP_TRY(status);
    ETP_TRY(etp_file_open(dump, UINT64_MAX, &r->file, s->err));
    return etp_trace_open(r->file.bytes, NULL, &r->trace, s->err);
}

const char *etp_arms_dir(const etp_arms *s, int which, uint32_t place, bool alone)
{
    return etp_arena_printf(s->arena, "%s/numerics-%lu%s.%d", s->device->work_dir,
                            (unsigned long)place, etp_if(alone, "-alone"), which);
}

etp_status etp_arms_cut(const etp_arms *s, int which, uint32_t place, bool alone,
                        const uint32_t **values, uint32_t *n, const char **out)
{
    const etp_arm_side *x = &s->sides[which];
    const etp_cut_place *at = &x->ops.items[place].at;
    etp_bytes bytes;
    etp_arena scratch;
    etp_arena_scratch(&scratch, s->arena);
    etp_status status = ETP_OK;
    if (alone) {
        status =
            etp_cut_capsule(x->file.bytes, x->program, at, s->arena, &bytes, values, n, s->err);
    } else {
        status = etp_cut_prefix(x->file.bytes, x->program, at, &scratch, &bytes, s->err);
    }
    *out = etp_arena_printf(s->arena, "%s.pte", etp_arms_dir(s, which, place, alone));
    if (status == ETP_OK) {
        etp_str content = {(const char *)bytes.ptr, bytes.len};
        status = etp_os_write_atomic(*out, content, s->err);
    }
    etp_arena_dispose(&scratch);
    return status;
}

static etp_status open_side(etp_arms *s, int which)
{
    const bool first = which == ETP_BASELINE && !s->ask;
    const uint32_t other = s->plan->n_arms == 1 ? 0 : 1 - s->plan->baseline;
    const uint32_t arm = first ? s->plan->baseline : other;
    etp_arm_side *x = &s->sides[which];
    x->arm = &s->plan->arms[arm];
    x->model = s->plan->model_paths[x->arm->model];
    ETP_TRY(etp_file_open(x->model, UINT64_MAX, &x->file, s->err));
    ETP_TRY(etp_program_open(x->file.bytes, NULL, &x->program, s->err));
    x->method = etp_decoder_method(x->program, s->plan->settings.method);
    if (!x->method) {
        return etp_decoder_no_method(x->model, x->program, s->plan->settings.method, s->arena,
                                     s->err);
    }
    const etp_inputs *in = &s->plan->inputs[x->arm->model];
    x->inputs = in->spec;
    for (size_t i = 0; in->files && i < in->n; i++) {
        const char *there = NULL;
        ETP_TRY(s->device->ops->push(s->device, in->files[i], s->arena, &there, s->err));
        x->inputs = i ? etp_arena_printf(s->arena, "%s,%s", x->inputs, there) : there;
    }
    return etp_arena_check(s->arena, s->err, "inputs");
}

etp_status etp_arms_open(etp_arms *s)
{
    const etp_session_plan *plan = s->plan;
    if (plan->n_arms != 2 || plan->n_phases > 0 || plan->arms[0].foreign || plan->arms[1].foreign) {
        return etp_fail(s->err, ETP_USAGE,
                        "--numerics holds two arms of etprof's runner against each "
                        "other: two levels of a model, two models at a level, or two builds by "
                        "--runner-a and --runner-b, which 'scripts/build-runner' makes of any "
                        "ExecuTorch");
    }
    ETP_TRY(open_side(s, ETP_BASELINE));
    return open_side(s, ETP_CANDIDATE);
}

// A record that cannot be read, or is another program's, names nothing.
etp_status etp_arms_exported(const etp_arms *arms, const etp_arm_side *x,
                             const etp_record_method **out)
{
    etp_file file = {0};
    etp_etrecord *record = ETP_NEW(arms->arena, etp_etrecord);
    etp_belonging belongs = {0};
    *out = NULL;
    const char *path = etp_arena_printf(arms->arena, "%s.etrecord", x->model);
    if (etp_file_open(path, RECORD_LIMIT, &file, NULL) != ETP_OK) {
        return ETP_OK;
    }
    etp_status status = etp_etrecord_read(file.bytes, arms->arena, record, NULL);
    etp_file_close(&file);
    if (status == ETP_NOMEM) {
        return etp_fail_nomem(arms->err, "the record");
    }
    if (status == ETP_OK) {
        etp_record_belongs(x->program, record, arms->arena, &belongs);
        bool ours = etp_belonging_share(&belongs) >= ETP_RECORD_BELONGS;
        *out = ours ? etp_etrecord_method(record, x->method->name) : NULL;
    }
    return ETP_OK;
}

void etp_arms_close(etp_arms *s)
{
    for (int which = ETP_BASELINE; which <= ETP_CANDIDATE; which++) {
        for (size_t i = 0; i < s->sides[which].recordings.n; i++) {
            etp_trace_close(s->sides[which].recordings.items[i].trace);
            etp_file_close(&s->sides[which].recordings.items[i].file);
        }
        etp_program_close(s->sides[which].program);
        etp_file_close(&s->sides[which].file);
    }
}
