// SPDX-License-Identifier: Apache-2.0
// numpy arrays and archives of them: what is read has exactly the data that its shape needs.
#include <etprof/npz.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    etp_arena arena = {0};
    const etp_npy *arrays = NULL;
    etp_npy one;
    size_t n = 0;
    if (etp_npy_read((etp_bytes){data, size, 0}, &one, NULL) == ETP_OK) {
        arrays = &one;
        n = 1;
    } else if (etp_npz_read((etp_bytes){data, size, 0}, (uint64_t)1 << 24, &arena, &arrays, &n,
                            NULL) != ETP_OK) {
        n = 0;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t bytes;
        FUZZ_CHECK(etp_dtype_bytes(arrays[i].dtype, arrays[i].elements, &bytes) &&
                   bytes == arrays[i].data.len);
    }
    etp_arena_dispose(&arena);
    return 0;
}
