// SPDX-License-Identifier: Apache-2.0
// Weights that are in neither the program nor its payloads: tensors that the program calls
// external, and constants of payloads whose name no named data of the program has.
#include "program/data_file.h"

#include "base/guard.h"

static void add(etp_arena *arena, etp_outside *out, etp_str name)
{
    for (size_t i = 0; i < out->n; i++) {
        if (etp_str_eq(out->items[i], name)) {
            return;
        }
    }
    ETP_ADD(arena, out, name);
}

static void of_partition(const etp_pte *pte, const etp_partition *p, etp_arena *arena,
                         etp_outside *out)
{
    for (uint32_t i = 0; i < p->n_values; i++) {
        const etp_value *v = &p->values[i];
        if (v->constant && v->name.len > 0 &&
            etp_pte_find_named(pte, v->name) == ETP_PTE_NO_SEGMENT) {
            add(arena, out, v->name);
        }
    }
}

void etp_program_outside(const etp_program *program, etp_arena *arena, etp_outside *out)
{
    *out = (etp_outside){0};
    for (uint32_t k = 0; k < program->n_methods; k++) {
        const etp_method *m = &program->methods[k];
        for (uint32_t i = 0; i < m->n_values; i++) {
            const etp_evalue *v = &m->pte->values[i];
            if (v->kind == ETP_EVALUE_TENSOR && v->u.tensor->location == ETP_PTE_DATA_EXTERNAL) {
                add(arena, out, m->values[i].name);
            }
        }
        for (uint32_t i = 0; i < m->n_partitions; i++) {
            of_partition(program->pte, &m->partitions[i], arena, out);
        }
    }
}
