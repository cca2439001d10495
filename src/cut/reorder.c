// SPDX-License-Identifier: Apache-2.0
// Weights with their elements in another order.
#include "base/choice.h"
#include "base/guard.h"
#include "cut/cut.h"

static uint64_t next(uint64_t *state) // SplitMix64
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static void shuffle(uint8_t *data, size_t n, size_t width)
{
    uint64_t state = n;
    for (size_t i = n / width; i > 1; i--) {
        size_t at = (size_t)(next(&state) % i);
        uint8_t kept[8];
        memcpy(kept, data + (i - 1) * width, width);
        memcpy(data + (i - 1) * width, data + at * width, width);
        memcpy(data + at * width, kept, width);
    }
}

static void reorder_partition(const etp_program *program, const etp_partition *p, uint8_t *copy,
                              etp_bytes file)
{
    for (uint32_t v = 0; p->graph && v < p->graph->n_values; v++) {
        const etp_xnn_value *x = &p->graph->values[v];
        const etp_xnn_constant *c = &p->graph->constants[x->constant];
        if (x->constant == 0) {
            continue;
        }
        uint32_t named = c->key.len ? etp_pte_find_named(program->pte, c->key) : ETP_PTE_NO_SEGMENT;
        etp_bytes data = named == ETP_PTE_NO_SEGMENT ? c->data : program->pte->segments[named].data;
        size_t width = etp_dtype_bits(x->dtype) / 8; // of 4 bits two lie in a byte
        if (data.len) {
            shuffle(copy + (data.ptr - file.ptr), data.len, ETP_MAX(width, 1));
        }
    }
}

static etp_status reorder(etp_bytes file, const etp_program *program, etp_arena *arena,
                          etp_bytes *out)
{
    uint8_t *copy = etp_arena_alloc_raw(arena, file.len, 1);
    memcpy(copy, file.ptr, file.len);
    for (uint32_t m = 0; m < program->n_methods; m++) {
        for (uint32_t p = 0; p < program->methods[m].n_partitions; p++) {
            reorder_partition(program, &program->methods[m].partitions[p], copy, file);
        }
    }
    *out = (etp_bytes){copy, file.len, 0};
    return ETP_OK;
}

static etp_status reorder_guarded(etp_bytes file, const etp_program *program, etp_arena *arena,
                                  etp_bytes *out, etp_error *err)
{
    ETP_GUARDED(arena, err, "the program", reorder(file, program, arena, out));
}

etp_status etp_cut_reorder(etp_bytes file, etp_arena *arena, etp_bytes *out, etp_error *err)
{
    const etp_program *program = NULL;
    ETP_TRY(etp_program_open(file, NULL, &program, err));
    etp_status status = reorder_guarded(file, program, arena, out, err);
    etp_program_close(program);
    return status;
}
