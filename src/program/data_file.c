// SPDX-License-Identifier: Apache-2.0
// Weights that are in neither the program nor its payloads: tensors that the program calls
// external, and constants of payloads whose name no named data of the program has.
#include "program/data_file.h"

static etp_str of_partition(const etp_pte *pte, const etp_partition *p)
{
    for (uint32_t i = 0; i < p->n_values; i++) {
        const etp_value *v = &p->values[i];
        if (v->constant && v->name.len > 0 &&
            etp_pte_find_named(pte, v->name) == ETP_PTE_NO_SEGMENT) {
            return v->name;
        }
    }
    return (etp_str){0};
}

static etp_str of_method(const etp_pte *pte, const etp_method *m)
{
    for (uint32_t i = 0; i < m->n_values; i++) {
        const etp_evalue *v = &m->pte->values[i];
        if (v->kind == ETP_EVALUE_TENSOR && v->u.tensor->location == ETP_PTE_DATA_EXTERNAL) {
            return m->values[i].name.len > 0 ? m->values[i].name : ETP_STR("a tensor without name");
        }
    }
    etp_str found = {0};
    for (uint32_t i = 0; i < m->n_partitions && found.len == 0; i++) {
        found = of_partition(pte, &m->partitions[i]);
    }
    return found;
}

etp_str etp_program_outside(const etp_program *program)
{
    etp_str found = {0};
    for (uint32_t i = 0; i < program->n_methods && found.len == 0; i++) {
        found = of_method(program->pte, &program->methods[i]);
    }
    return found;
}
