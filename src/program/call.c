// SPDX-License-Identifier: Apache-2.0
// A call as text, the way run folders keep it.
#include "program/call.h"
#include "base/number.h"

const char *etp_dims_text(const int64_t *dims, uint32_t rank, etp_arena *arena)
{
    const char *text = etp_if(rank == 0, "scalar");
    for (uint32_t i = 0; text && i < rank; i++) {
        text = etp_arena_printf(arena, "%s%s%lld", text, etp_if(i, "x"), (long long)dims[i]);
    }
    return text;
}

bool etp_dims_read(etp_str text, int64_t *dims, uint32_t *rank)
{
    for (*rank = 0; text.len > 0; (*rank)++) {
        etp_str one = {text.ptr, etp_str_find(text, ETP_STR("x"))};
        uint64_t v;
        if (*rank == ETP_MAX_RANK || !etp_parse_u64(one, &v) || v < 1 || v > INT32_MAX) {
            return false;
        }
        dims[*rank] = (int64_t)v;
        size_t used = one.len + (one.len < text.len);
        if (used > one.len && used == text.len) {
            return false; // ends in an x
        }
        text = (etp_str){text.ptr + used, text.len - used};
    }
    return *rank > 0;
}

bool etp_call_read(etp_str method, etp_str inputs, etp_str start, etp_call_input *room,
                   etp_call *out)
{
    double mean;
    *out = (etp_call){.method = method, .inputs = room, .twice_place = ETP_CALL_PLACE_UNKNOWN};
    while (inputs.len > 0) {
        etp_str one = {inputs.ptr, etp_str_find(inputs, ETP_STR(","))};
        size_t used = one.len + (one.len < inputs.len), equals = etp_str_find(one, ETP_STR("="));
        uint64_t index;
        etp_call_input *in = &room[out->n_inputs];
        if (out->n_inputs == ETP_CALL_INPUTS || equals == one.len ||
            !etp_parse_u64((etp_str){one.ptr, equals}, &index) || index > UINT32_MAX) {
            return false;
        }
        etp_str dims = {one.ptr + equals + 1, one.len - equals - 1};
        in->index = (uint32_t)index;
        if (!etp_dims_read(dims, in->dims, &in->rank)) {
            return false;
        }
        out->n_inputs++;
        inputs = (etp_str){inputs.ptr + used, inputs.len - used};
    }
    if (etp_parse_double(start, &mean) && mean >= 0 && mean < 1e9) {
        double twice = 2 * mean;
        out->twice_place = (double)(uint64_t)twice == twice ? (uint64_t)twice : out->twice_place;
    }
    return true;
}
