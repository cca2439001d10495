// SPDX-License-Identifier: Apache-2.0
// Programs and libraries: every function holds the address it was asked for, its code lies in the
// file.
#include "binary/code.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    etp_arena arena = {0};
    etp_image *image;
    if (etp_image_open((etp_bytes){data, size, 0}, &arena, &image, NULL) == ETP_OK) {
        size_t n = etp_image_range_count(image);
        for (size_t i = 0; i < n && i < 4096; i++) {
            etp_function f = etp_image_range_at(image, i), found;
            etp_bytes code;
            FUZZ_CHECK(!etp_image_function(image, f.start, &found) ||
                       (found.start <= f.start && f.start < found.end));
            if (f.end - f.start < 4096 && etp_image_code(image, f.start, f.end, &code)) {
                etp_code_count count;
                etp_code kind;
                FUZZ_CHECK(code.ptr >= data && code.len <= size - (size_t)(code.ptr - data));
                FUZZ_CHECK(etp_code_of(etp_image_machine(image), code, &count, &kind, NULL) !=
                           ETP_NOMEM);
            }
        }
        (void)etp_image_section(image, ".comment");
    }
    etp_arena_dispose(&arena);
    return 0;
}
