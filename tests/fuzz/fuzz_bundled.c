// SPDX-License-Identifier: Apache-2.0
// Bundled programs (.bpte): whatever opens can be shown.
#include "fuzz_inspect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_inspect(data, size, ETP_FILE_BPTE);
    return 0;
}
