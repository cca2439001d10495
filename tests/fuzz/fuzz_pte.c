// SPDX-License-Identifier: Apache-2.0
// Programs (.pte): whatever opens can be shown, and what is built from it stays in proportion.
#include "fuzz_inspect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    etp_arena arena = {0};
    etp_error err = {0};
    etp_pte pte;
    if (etp_pte_read((etp_bytes){data, size, 0}, &arena, &pte, &err) == ETP_OK) {
        for (uint32_t i = 0; i < pte.n_segments; i++) {
            FUZZ_CHECK(pte.segments[i].data.len <= size);
        }
    } else {
        FUZZ_CHECK(err.msg[0] != '\0');
    }
    fuzz_check_memory(&arena, size);
    etp_arena_dispose(&arena);
    fuzz_inspect(data, size, ETP_FILE_PTE);
    return 0;
}
