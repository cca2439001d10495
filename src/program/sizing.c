// SPDX-License-Identifier: Apache-2.0
// Sizes and numbers of a method while one call is followed.
#include "program/sizing.h"

#include "base/choice.h"
#include "program/internal.h"

// ---- beginning ----

// Straight lines only: a branch or a loop would need the data.
// MOVE comes with control flow and is left out with it.
static bool is_straight(const etp_pte_method *m)
{
    for (uint32_t c = 0; c < m->n_chains; c++) {
        for (uint32_t i = 0; i < m->chains[c].n_instructions; i++) {
            etp_instruction_kind k = m->chains[c].instructions[i].kind;
            if (k != ETP_INSTR_KERNEL && k != ETP_INSTR_DELEGATE && k != ETP_INSTR_FREE) {
                return false;
            }
        }
    }
    return true;
}

static bool fits_input(const etp_value *v, const etp_call_input *in)
{
    bool fits = v->kind == ETP_EVALUE_TENSOR && v->rank == in->rank && in->rank <= ETP_MAX_RANK;
    for (uint32_t i = 0; fits && i < in->rank; i++) {
        int64_t d = in->dims[i];
        fits = v->dynamic ? d >= 0 && d <= v->dims[i] : d == v->dims[i];
    }
    return fits;
}

static bool inputs_fit(const etp_pte_method *m, const etp_value *values, const etp_call *call)
{
    for (uint32_t i = 0; i < call->n_inputs; i++) {
        uint32_t at = call->inputs[i].index;
        if (at >= m->inputs.n ||
            !fits_input(&values[etp_i32_at(m->inputs, at)], &call->inputs[i])) {
            return false;
        }
    }
    return true;
}

etp_sizing *etp_sizing_begin(const etp_pte_method *pte, etp_value *values, const etp_call *call,
                             etp_arena *arena)
{
    if (!is_straight(pte) || !inputs_fit(pte, values, call)) {
        return NULL;
    }
    etp_sizing *z = ETP_NEW(arena, etp_sizing);
    uint32_t *n_calls = ETP_NEW_ARRAY(arena, uint32_t, pte->n_delegates);
    *z = (etp_sizing){.pte = pte,
                      .call = call,
                      .arena = arena,
                      .values = values,
                      .most = ETP_NEW_ARRAY(arena, const int64_t *, pte->n_values),
                      .followed = ETP_NEW_ARRAY(arena, bool, pte->n_values),
                      .computed = ETP_NEW_ARRAY(arena, bool, pte->n_values),
                      .numbers = etp_arena_alloc_array(arena, pte->n_values, sizeof *z->numbers),
                      .n_calls = n_calls};
    // The last argument of a kernel is what it returns, so a value there is computed while the
    // program runs, whatever the file holds for it.
    for (uint32_t c = 0; c < z->pte->n_chains; c++) {
        for (uint32_t i = 0; i < z->pte->chains[c].n_instructions; i++) {
            const etp_pte_instruction *in = &z->pte->chains[c].instructions[i];
            if (in->kind == ETP_INSTR_DELEGATE) {
                n_calls[in->index]++;
            } else if (in->kind == ETP_INSTR_KERNEL && in->args.n > 0) {
                z->computed[etp_i32_at(in->args, in->args.n - 1)] = true;
            }
        }
    }
    for (uint32_t i = 0; i < pte->n_values; i++) {
        z->most[i] = values[i].dynamic ? values[i].dims : NULL;
    }
    // Inputs that the call does not list are as large as they may be, and known as such.
    for (uint32_t i = 0; i < z->pte->inputs.n; i++) {
        uint32_t value = (uint32_t)etp_i32_at(z->pte->inputs, i);
        etp_value *v = &z->values[value];
        if (v->kind != ETP_EVALUE_TENSOR || !v->dynamic || v->rank > ETP_MAX_RANK) {
            continue;
        }
        etp_dims now = {.n = v->rank};
        for (uint32_t k = 0; k < v->rank; k++) {
            now.d[k] = v->dims[k];
        }
        for (uint32_t k = 0; k < z->call->n_inputs; k++) {
            if (z->call->inputs[k].index == i) {
                memcpy(now.d, z->call->inputs[k].dims, v->rank * sizeof *now.d);
            }
        }
        etp_size_follow(z, value, &now);
    }
    return z;
}

// ---- sizes ----

// A value that is still dynamic has no size NOW: its dimensions are bounds.
bool etp_size_of(const etp_sizing *z, uint32_t value, etp_size_time at, etp_dims *out)
{
    const etp_value *v = &z->values[value];
    bool most = at == ETP_SIZE_MOST && z->most[value];
    if (v->kind != ETP_EVALUE_TENSOR || v->rank > ETP_MAX_RANK || (v->dynamic && !most)) {
        return false;
    }
    out->n = v->rank;
    for (uint32_t i = 0; i < v->rank; i++) {
        out->d[i] = most ? z->most[value][i] : v->dims[i];
    }
    return true;
}

bool etp_dims_same(const etp_dims *a, const etp_dims *b)
{
    return a->n == b->n && memcmp(a->d, b->d, a->n * sizeof *a->d) == 0;
}

bool etp_dims_within(const etp_dims *a, const etp_dims *most)
{
    bool fits = a->n == most->n;
    for (uint32_t i = 0; fits && i < a->n; i++) {
        fits = a->d[i] >= 0 && a->d[i] <= most->d[i];
    }
    return fits;
}

bool etp_size_times(int64_t *acc, int64_t factor)
{
    if (factor < 0 || (factor > 0 && *acc > ETP_NUMBER_LIMIT / factor)) {
        return false;
    }
    *acc *= factor;
    return true;
}

// numpy's rule: from the last dimension on, sizes are equal or one of them is 1.
bool etp_dims_broadcast(etp_dims *acc, const etp_dims *with)
{
    etp_dims out = {.n = ETP_MAX(acc->n, with->n)};
    for (uint32_t i = 0; i < out.n; i++) {
        int64_t a = i < acc->n ? acc->d[acc->n - 1 - i] : 1;
        int64_t b = i < with->n ? with->d[with->n - 1 - i] : 1;
        if (a != b && a != 1 && b != 1) {
            return false;
        }
        out.d[out.n - 1 - i] = a == 1 ? b : a;
    }
    *acc = out;
    return true;
}

void etp_size_set(etp_value *value, const etp_dims *dims, etp_arena *arena)
{
    int64_t *copy = ETP_NEW_ARRAY(arena, int64_t, dims->n);
    uint64_t n = 1;
    for (uint32_t i = 0; i < dims->n; i++) {
        copy[i] = dims->d[i];
        n *= (uint64_t)dims->d[i]; // within bounds whose product was checked
    }
    value->dims = copy;
    value->dynamic = false;
    value->sized = true;
    if (value->bytes != ETP_BYTES_UNKNOWN && !etp_dtype_bytes(value->dtype, n, &value->bytes)) {
        value->bytes = ETP_BYTES_UNKNOWN;
    }
}

// One value may be the output of several operators (kernels that work in place). It has a size only
// when all of them agree; when one does not, it goes back to its bounds, and nothing later rests on
// it.
void etp_size_follow(etp_sizing *z, uint32_t value, const etp_dims *now)
{
    etp_value *v = &z->values[value];
    etp_dims most;
    if (!z->most[value] || !etp_size_of(z, value, ETP_SIZE_MOST, &most)) {
        return; // its size is in the file
    }
    bool known = now && etp_dims_within(now, &most);
    for (uint32_t i = 0; known && z->followed[value] && i < now->n; i++) {
        known = !v->dynamic && v->dims[i] == now->d[i]; // two operators write it
    }
    z->followed[value] = true;
    if (known) {
        etp_size_set(v, now, z->arena);
        return;
    }
    if (!v->sized) {
        return;
    }
    etp_size_set(v, &most, z->arena);
    v->dynamic = true;
    v->sized = false;
}

// ---- numbers ----

etp_number etp_number_of(const etp_sizing *z, uint32_t value, etp_size_time at)
{
    const etp_evalue *v = &z->pte->values[value];
    if (z->computed[value] || v->kind == ETP_EVALUE_TENSOR) {
        return z->numbers[value][at];
    }
    bool known =
        v->kind == ETP_EVALUE_INT && v->u.i < ETP_NUMBER_LIMIT && v->u.i > -ETP_NUMBER_LIMIT;
    return known ? (etp_number){.kind = ETP_NUMBER_KNOWN, .v = v->u.i}
                 : (etp_number){.kind = ETP_NUMBER_UNKNOWN};
}

bool etp_numbers_of(const etp_sizing *z, uint32_t list, etp_size_time at, int64_t *out, uint32_t *n)
{
    const etp_evalue *v = &z->pte->values[list];
    if (v->kind != ETP_EVALUE_INT_LIST || v->u.list.n > ETP_MAX_RANK) {
        return false;
    }
    *n = v->u.list.n;
    for (uint32_t i = 0; i < *n; i++) {
        etp_number one = etp_number_of(z, (uint32_t)etp_u64_at(v->u.list, i), at);
        if (one.kind != ETP_NUMBER_KNOWN) {
            return false;
        }
        out[i] = one.v;
    }
    return true;
}

// The only input whose contents a call tells is the second one, from which a text decoder takes its
// place in the cache.
uint64_t etp_twice_number(const etp_sizing *z, uint32_t value)
{
    etp_number n = etp_number_of(z, value, ETP_SIZE_NOW);
    bool place = n.kind == ETP_NUMBER_DATA && n.input == 1 && n.v >= 0 &&
                 z->call->twice_place < (uint64_t)ETP_NUMBER_LIMIT;
    if (place) {
        return z->call->twice_place + 2 * (uint64_t)(n.element + n.v);
    }
    return n.kind == ETP_NUMBER_KNOWN && n.v >= 0 ? 2 * (uint64_t)n.v : ETP_CALL_PLACE_UNKNOWN;
}
