// SPDX-License-Identifier: Apache-2.0
// Which operators a program calls, read from its file with the reader of the tool.
#include "called_operators.h"

#include <stdio.h>
#include <stdlib.h>

#include "formats/pte_schema.h"

enum { KERNEL_CALL = 1 }; // of the union of instructions

static bool find(etp_bytes bytes, const char *method, etp_fb_table *plan)
{
    etp_fb_table program;
    if (etp_fb_verify(bytes, &etp_pte_schema, &(etp_fb_options){.identifier = "ET12"}, &program,
                      NULL) != ETP_OK) {
        return false;
    }
    etp_fb_vector plans = etp_fb_vec(program, PROGRAM_PLANS);
    for (uint32_t i = 0; i < plans.n; i++) {
        *plan = etp_fb_vec_table(plans, i);
        if (etp_str_eqz(etp_fb_str(*plan, PLAN_NAME), method)) {
            return true;
        }
    }
    return false;
}

static void count(etp_fb_table plan, size_t *calls, uint32_t n, size_t *instructions)
{
    etp_fb_vector chains = etp_fb_vec(plan, PLAN_CHAINS);
    for (uint32_t c = 0; c < chains.n; c++) {
        etp_fb_vector all = etp_fb_vec(etp_fb_vec_table(chains, c), CHAIN_INSTRUCTIONS);
        *instructions += all.n;
        for (uint32_t i = 0; i < all.n; i++) {
            etp_fb_table one = etp_fb_vec_table(all, i);
            if (etp_fb_u8(one, UNION_TYPE, 0) != KERNEL_CALL) {
                continue;
            }
            uint32_t at = etp_fb_u32(etp_fb_table_field(one, UNION_VALUE), CALL_INDEX, 0);
            if (at < n) {
                calls[at]++;
            }
        }
    }
}

static etp_called_operator *make(etp_fb_table from, size_t calls)
{
    etp_str name = etp_fb_str(from, OPERATOR_NAME), more = etp_fb_str(from, OPERATOR_OVERLOAD);
    size_t size = name.len + more.len + 2;
    etp_called_operator *op = malloc(sizeof *op + size);
    if (op) {
        char *text = (char *)(op + 1);
        (void)snprintf(text, size, "%.*s%s%.*s", ETP_STR_ARG(name), more.len ? "." : "",
                       ETP_STR_ARG(more));
        *op = (etp_called_operator){.name = text, .calls = calls};
    }
    return op;
}

bool etp_called_read(const void *bytes, size_t size, const char *method, etp_called *out)
{
    *out = (etp_called){0};
    etp_fb_table plan;
    if (!find((etp_bytes){.ptr = bytes, .len = size}, method, &plan)) {
        return false;
    }
    etp_fb_vector table = etp_fb_vec(plan, PLAN_OPERATORS);
    size_t *calls = calloc((size_t)table.n + 1, sizeof *calls);
    bool ok = calls != NULL;
    if (ok) {
        count(plan, calls, table.n, &out->instructions);
    }
    etp_called_operator **end = &out->first;
    for (uint32_t i = 0; ok && i < table.n; i++) {
        if (calls[i] > 0) {
            *end = make(etp_fb_vec_table(table, i), calls[i]);
            ok = *end != NULL;
            end = ok ? &(*end)->next : end;
        }
    }
    free(calls);
    if (!ok) {
        etp_called_dispose(out);
    }
    return ok;
}

void etp_called_dispose(etp_called *called)
{
    for (etp_called_operator *op = called->first, *next; op; op = next) {
        next = op->next;
        free(op);
    }
    *called = (etp_called){0};
}
