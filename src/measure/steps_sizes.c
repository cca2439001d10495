// SPDX-License-Identifier: Apache-2.0
// What all calls of a phase have in common, as the manifest keeps it: the sizes of their inputs,
// and where in a cache they begin. From it comes how much work a call of a dynamic program is.
#include "measure/steps.h"
#include "program/call.h"

// "0=1x64,1=1"; inputs that the step does not list are as large as they may be.
static bool step_sizes(const etp_step *step, const etp_method *method, etp_strbuf *out)
{
    for (size_t i = 0; i < step->inputs.n; i++) {
        const etp_steps_input *in = &step->inputs.items[i];
        if (in->index >= method->n_inputs) {
            return false;
        }
        const etp_value *v = &method->values[method->inputs[in->index]];
        if (v->kind != ETP_EVALUE_TENSOR) {
            return false;
        }
        if (v->dynamic) { // static sizes are in the program
            etp_strbuf_printf(out, "%s%llu=%.*s", etp_if(out->len, ","),
                              (unsigned long long)in->index, ETP_STR_ARG(in->shape));
        }
    }
    return true;
}

// By the contract of a text decoder input 1 is the position. Its mean over the calls says how full
// the cache was, on which the work of attention depends.
// Sum over the calls of STEP of the first element of input 1.
static bool step_places(const etp_step *step, double *sum)
{
    for (size_t i = 0; i < step->inputs.n; i++) {
        const etp_steps_input *in = &step->inputs.items[i];
        if (in->index == 1 && in->fill == ETP_FILL_POSITION) {
            double repeat = (double)step->repeat, advance = (double)in->advance;
            // The sum of an arithmetic series: first, and mean of the steps after it.
            *sum += repeat * ((double)in->start + advance * (repeat - 1) / 2);
            return true;
        }
    }
    return false;
}

etp_status etp_steps_call_of(const etp_steps_phase *phase, etp_arena *arena, etp_steps_call *out,
                             etp_error *err)
{
    double sum = 0, calls = 0;
    bool same = phase->steps.n > 0, placed = same;
    *out = (etp_steps_call){
        .method = etp_arena_strdup(arena, phase->method->name), .inputs = "", .start = ""};
    for (size_t i = 0; i < phase->steps.n && same; i++) {
        const etp_step *step = &phase->steps.items[i];
        etp_strbuf text;
        etp_strbuf_init(&text, arena);
        same = step_sizes(step, phase->method, &text);
        etp_str sizes = etp_strbuf_str(&text);
        if (i == 0) {
            out->inputs = etp_arena_strdup(arena, sizes);
        }
        // What is not the same in all calls cannot be told as one: nothing is better than a mean of
        // sizes.
        same = same && etp_str_eqz(sizes, out->inputs);
        placed = placed && step_places(step, &sum);
        calls += (double)step->repeat;
    }
    if (!same) {
        *out = (etp_steps_call){.method = "", .inputs = "", .start = ""};
        return ETP_OK;
    }
    double mean = calls > 0 ? sum / calls : -1;
    if (placed && mean >= 0 && mean < 1e9) {
        out->start = etp_arena_printf(arena, "%.6g", mean);
    }
    return etp_arena_check(arena, err, "sizes of inputs");
}
