// SPDX-License-Identifier: Apache-2.0
// What a sweep asks of its plan; and do its models take the same inputs? Before it, of their files;
// after it, of the programs that were kept.
#include <stdlib.h>

#include "base/order.h"
#include "measure/decoder.h"
#include "os/os.h"
#include "study/sweep/sweep.h"

#define PROGRAM_LIMIT ((uint64_t)64 << 30)

static bool is_float(etp_dtype d)
{
    return d == ETP_DTYPE_FLOAT32 || d == ETP_DTYPE_FLOAT16 || d == ETP_DTYPE_BFLOAT16;
}

// ETP_SWEEP_OTHER_INPUTS is 0 and ends the loop: no later input can make up for one that differs.
etp_sweep_inputs etp_sweep_match_inputs(const etp_method *a, const etp_method *b)
{
    etp_sweep_inputs match =
        a->n_inputs == b->n_inputs ? ETP_SWEEP_SAME_INPUTS : ETP_SWEEP_OTHER_INPUTS;
    for (uint32_t i = 0; match && i < a->n_inputs; i++) {
        const etp_value *x = &a->values[a->inputs[i]], *y = &b->values[b->inputs[i]];
        bool same = x->kind == y->kind && x->rank == y->rank &&
                    (x->dtype == y->dtype || (is_float(x->dtype) && is_float(y->dtype)));
        for (uint32_t d = 0; same && d < x->rank; d++) {
            same = x->dims[d] == y->dims[d];
        }
        match = !same                  ? ETP_SWEEP_OTHER_INPUTS
                : x->dtype != y->dtype ? ETP_SWEEP_OTHER_FLOATS
                                       : match;
    }
    return match;
}

// Programs that cannot be read are the plan's to refuse, with a better message.
static bool open_model(const char *path, const char *method, etp_file *file,
                       const etp_program **program, const etp_method **out)
{
    // Set before anything can fail, so that the caller may close it in any case.
    *program = NULL;
    *out = NULL;
    if (etp_file_open(path, PROGRAM_LIMIT, file, NULL) != ETP_OK) {
        return false;
    }
    if (etp_program_open(file->bytes, NULL, program, NULL) == ETP_OK) {
        *out = etp_decoder_method(*program, method);
    }
    return true;
}

// Index of the model whose inputs are least like those of the first one, and how much; 0 when all
// are alike. One set of inputs goes to all models of a sweep, so how alike they are decides which
// inputs can be used, and whether their times may be compared.
static size_t least_alike(const etp_session_plan_options *o, etp_sweep_inputs *match)
{
    etp_file files[2];
    const etp_program *programs[2] = {NULL, NULL};
    const etp_method *methods[2];
    size_t different = 0;
    // All are held against the first model: files of inputs fit all of them where they fit that
    // one.
    bool opened =
        open_model(o->models[0], o->settings.method, &files[0], &programs[0], &methods[0]);
    for (size_t i = 1; opened && methods[0] && i < o->n_models; i++) {
        if (open_model(o->models[i], o->settings.method, &files[1], &programs[1], &methods[1])) {
            etp_sweep_inputs m =
                methods[1] ? etp_sweep_match_inputs(methods[0], methods[1]) : ETP_SWEEP_SAME_INPUTS;
            different = m < *match ? i : different;
            *match = m < *match ? m : *match;
            etp_program_close(programs[1]);
            etp_file_close(&files[1]);
        }
    }
    etp_program_close(programs[0]);
    if (opened) {
        etp_file_close(&files[0]);
    }
    return different;
}

// Sorted, because the knee is looked for from fewer threads to more.
static etp_status sort_threads(etp_session_plan_options *plan, etp_arena *arena, etp_error *err)
{
    const size_t n = plan->n_threads;
    uint32_t *threads = ETP_NEW_ARRAY(arena, uint32_t, n + 1);
    ETP_NEED(threads, err, "options");
    for (size_t i = 0; i < n; i++) {
        threads[i] = plan->threads[i];
    }
    qsort(threads, n, sizeof *threads, etp_order_u32);
    for (size_t i = 1; i < n; i++) {
        if (threads[i] == threads[i - 1]) {
            return etp_fail(err, ETP_USAGE, "--threads %u is given twice", (unsigned)threads[i]);
        }
    }
    plan->threads = threads;
    return ETP_OK;
}

etp_status etp_sweep_prepare(etp_session_plan_options *plan, etp_arena *arena, bool *alike,
                             const char **note, etp_error *err)
{
    plan->settings.knee = plan->settings.knee > 0 ? plan->settings.knee : ETP_DEFAULT_KNEE;
    ETP_TRY(sort_threads(plan, arena, err));
    etp_sweep_inputs match = ETP_SWEEP_SAME_INPUTS;
    size_t other = least_alike(plan, &match);
    *alike = other == 0;
    *note = NULL;
    if (other && etp_input_kind_of(plan->settings.inputs) == ETP_INPUTS_FILES) {
        return etp_fail(
            err, ETP_USAGE,
            "%s and %s take different inputs: files of --inputs cannot fit both; use random:SEED",
            plan->models[0], plan->models[other]);
    }
    // Models of another task in one sweep are allowed, since levels and threads are compared within
    // each; only the models are not compared with each other.
    if (match == ETP_SWEEP_OTHER_INPUTS) {
        *note = etp_arena_printf(
            arena, "%s and %s take different inputs: their times are not compared with each other",
            plan->models[0], plan->models[other]);
    }
    return ETP_OK;
}
