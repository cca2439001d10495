// SPDX-License-Identifier: Apache-2.0
// What all calls of a phase have in common, as the manifest keeps it: the sizes of their inputs,
// and where in a cache they begin. From it comes how much work a call of a dynamic program is.
#include "measure/script.h"
#include "program/call.h"

// "0=1x64,1=1"; inputs that the step does not list are as large as they may be. False when one of
// them depends on what an earlier call left.
static bool step_sizes(const etp_script_step *step, const etp_method *method, etp_strbuf *out)
{
    bool known = true;
    for (size_t i = 0; i < step->inputs.n && known; i++) {
        const etp_script_input *in = &step->inputs.items[i];
        const etp_value *v =
            in->index < method->n_inputs ? &method->values[method->inputs[in->index]] : NULL;
        known = v && v->kind == ETP_EVALUE_TENSOR && (in->fill != ETP_FILL_OUTPUT || !v->dynamic);
        if (known && v->dynamic && in->shape.len > 0) {
            // Only sizes that can differ are told: static ones are in the program.
            etp_strbuf_printf(out, "%s%llu=%.*s", out->len ? "," : "",
                              (unsigned long long)in->index, ETP_STR_ARG(in->shape));
        }
    }
    return known;
}

// By the contract of a text decoder input 1 is the position. Its mean over the calls says how full
// the cache was, on which the work of attention depends.
// Sum over the calls of STEP of the first element of input 1.
static bool step_places(const etp_script_step *step, uint64_t repeat, double *sum)
{
    for (size_t i = 0; i < step->inputs.n; i++) {
        const etp_script_input *in = &step->inputs.items[i];
        if (in->index != 1) {
            continue;
        }
        int64_t dims[ETP_MAX_RANK] = {1};
        uint32_t rank = 1;
        if (in->shape.len > 0 && !etp_dims_read(in->shape, dims, &rank)) {
            return false;
        }
        // The size by which each repeat goes on is then the program's, which is not looked at here.
        bool open = in->shape.len == 0 && in->advance == ETP_SCRIPT_OWN && repeat > 1;
        if (in->fill == ETP_FILL_POSITION && rank == 1 && !open) {
            double advance = in->advance == ETP_SCRIPT_OWN ? (double)dims[0] : (double)in->advance;
            // The sum of an arithmetic series: first, and mean of the steps after it.
            *sum += (double)repeat * ((double)in->start + advance * (double)(repeat - 1) / 2);
            return true;
        }
        if (in->fill == ETP_FILL_VALUES && rank == 1 && dims[0] == 1 && in->values.n == 1) {
            *sum += (double)repeat * in->values.items[0];
            return true;
        }
        return false;
    }
    return false;
}

etp_status etp_script_call_of(const etp_script_phase *phase, const etp_program *program,
                              etp_arena *arena, etp_script_call *out, etp_error *err)
{
    double sum = 0, calls = 0;
    bool same = phase->steps.n > 0, placed = same;
    *out = (etp_script_call){.method = "", .inputs = "", .start = ""};
    for (size_t i = 0; i < phase->steps.n && same; i++) {
        const etp_script_step *step = &phase->steps.items[i];
        const etp_method *method = etp_program_find_method(program, step->method);
        uint64_t repeat = step->repeat == ETP_SCRIPT_OWN ? 1 : step->repeat;
        etp_strbuf text;
        etp_strbuf_init(&text, arena);
        same = method && step_sizes(step, method, &text);
        etp_str sizes = etp_strbuf_str(&text);
        if (i == 0) {
            out->inputs = etp_arena_strdup(arena, sizes);
            out->method = etp_arena_strdup(arena, step->method);
        }
        // What is not the same in all calls cannot be told as one: nothing is better than a mean of
        // sizes.
        same = same && etp_str_eqz(sizes, out->inputs) && etp_str_eqz(step->method, out->method);
        placed = placed && step_places(step, repeat, &sum);
        calls += (double)repeat;
    }
    if (!same) {
        *out = (etp_script_call){.method = "", .inputs = "", .start = ""};
        return ETP_OK;
    }
    double mean = calls > 0 ? sum / calls : -1;
    if (placed && mean >= 0 && mean < 1e9) {
        out->start = etp_arena_printf(arena, "%.6g", mean);
    }
    return etp_arena_check(arena, err, "sizes of inputs");
}
