// SPDX-License-Identifier: Apache-2.0
// Opening a program as one call runs it. Who opens it as it is in the file needs no rules of sizes.
#include "program/internal.h"
#include "program/sizing.h"

static etp_sizing *follow(const etp_pte_method *pte, etp_value *values, const etp_call *call,
                          etp_arena *arena)
{
    etp_sizing *z = etp_sizing_begin(pte, values, call, arena);
    if (z) {
        z->kernel = etp_sizing_kernel;
        z->partition = etp_sizing_partition;
        z->twice_number = etp_twice_number;
    }
    return z;
}

etp_status etp_program_open_call(etp_bytes bytes, const etp_call *call, const etp_program **out,
                                 etp_error *err)
{
    return etp_program_make(bytes, NULL, call, follow, out, err);
}
