// SPDX-License-Identifier: Apache-2.0
// ETRecords (zip archives of JSON): whatever opens can be shown.
#include "fuzz_inspect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_inspect(data, size, ETP_FILE_ETRECORD);
    return 0;
}
