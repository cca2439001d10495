// SPDX-License-Identifier: Apache-2.0
// Cutting programs (.pte): what is written of a hostile one opens, or the operator is named that
// cannot be cut there.
#include <string.h>

#include "cut/cut.h"
#include "fuzz.h"

#define MOST_PLACES 24u // of a program, from the first on

static void check(etp_status status, const etp_cut_place *at, etp_bytes out, etp_arena *arena,
                  const etp_error *err)
{
    if (status == ETP_OK) {
        const etp_program *cut = NULL;
        etp_error why = {0};
        if (etp_program_open(out, NULL, &cut, &why) != ETP_OK) {
            fprintf(stderr, "%s: %s\n", etp_cut_place_text(at, arena), why.msg);
            abort();
        }
        FUZZ_CHECK(cut->n_methods == 1);
        etp_program_close(cut);
    } else {
        FUZZ_CHECK(status == ETP_NOMEM || strstr(err->msg, etp_cut_place_text(at, arena)));
    }
}

static void cut_place(etp_bytes file, const etp_program *p, const etp_cut_place *at)
{
    etp_arena arena = {0};
    etp_error err = {0};
    etp_bytes out = {0}, other = {0};
    uint32_t number = 0;
    check(etp_cut_prefix(file, p, at, &arena, &out, &err), at, out, &arena, &err);
    etp_status status = etp_cut_capsule(file, p, at, &arena, &out, NULL, NULL, &err);
    check(status, at, out, &arena, &err);
    if (status == ETP_OK) {
        FUZZ_CHECK(etp_cut_reorder(out, &arena, &other, &err) != ETP_OK || other.len == out.len);
    }
    if (at->node != ETP_NO_INDEX) {
        check(etp_cut_capsule_rows(file, p, at, 6, &arena, &out, &err), at, out, &arena, &err);
        check(etp_cut_capsule_cold(file, p, at, 64, true, &arena, &out, &number, &err), at, out,
              &arena, &err);
    }
    etp_arena_dispose(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const etp_bytes file = {data, size, 0};
    const etp_program *p = NULL;
    etp_error err = {0};
    uint32_t places = 0;
    if (etp_program_open(file, NULL, &p, &err) != ETP_OK) {
        return 0;
    }
    for (uint32_t k = 0; k < p->n_methods; k++) {
        const etp_method *m = &p->methods[k];
        for (uint32_t i = 0; i < m->n_instructions; i++) {
            const etp_instruction *x = &m->instructions[i];
            const uint32_t n =
                x->kind == ETP_INSTR_DELEGATE ? m->partitions[x->partition].n_nodes : 0;
            for (uint32_t node = 0; node <= n && places < MOST_PLACES; node++, places++) {
                const etp_cut_place at = {m, i, node < n ? node : ETP_NO_INDEX};
                cut_place(file, p, &at);
            }
        }
    }
    etp_program_close(p);
    return 0;
}
