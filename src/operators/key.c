// SPDX-License-Identifier: Apache-2.0
// By which operators of two arms are the same.
#include <etprof/operators.h>

#include "base/choice.h"

// XNNPACK spells the layout of int8 deconvolution "NC" without SME and "NHWC" with it.
// Keys pair the operators of two arms, so a spelling that the instruction set alone changes must
// not part them.
static etp_str key_layout(const etp_op_name *op)
{
    if (etp_str_eqz(op->layout, "NC") && etp_str_eqz(op->family, "Deconvolution")) {
        return ETP_STR("NHWC");
    }
    return op->layout;
}

size_t etp_op_key(const etp_op_name *op, char *buf, size_t cap)
{
    etp_str layout = key_layout(op);
    // Written piece by piece and cut at CAP, while the length goes on counting: a caller can ask
    // for it with CAP 0.
    const etp_str parts[] = {
        op->family,   op->overload.len > 0 ? ETP_STR(".") : (etp_str){0},
        op->overload, layout.len > 0 ? ETP_STR(" (") : (etp_str){0},
        layout,       layout.len > 0 ? ETP_STR(")") : (etp_str){0},
    };
    size_t need = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (cap > 0 && need < cap - 1 && parts[i].len > 0) {
            size_t room = cap - 1 - need;
            memcpy(buf + need, parts[i].ptr, ETP_MIN(parts[i].len, room));
        }
        need += parts[i].len;
    }
    if (cap > 0) {
        buf[ETP_MIN(need, cap - 1)] = '\0';
    }
    return need;
}

bool etp_op_same_key(const etp_op_name *a, const etp_op_name *b)
{
    return etp_str_eq(a->family, b->family) && etp_str_eq(a->overload, b->overload) &&
           etp_str_eq(key_layout(a), key_layout(b));
}
