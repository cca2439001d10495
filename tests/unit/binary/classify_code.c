// SPDX-License-Identifier: Apache-2.0
// For test_encodings.py: a line "x86 HEX" or "a64 HEX" in, the name of its instruction set out.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "binary/code.h"

int main(void)
{
    char line[128];
    while (fgets(line, sizeof line, stdin)) {
        etp_code code = ETP_CODE_UNKNOWN;
        if (strncmp(line, "a64 ", 4) == 0) {
            code = etp_code_of_a64((uint32_t)strtoul(line + 4, NULL, 16));
        } else if (strncmp(line, "x86 ", 4) == 0) {
            uint8_t bytes[16];
            size_t n = 0;
            unsigned byte;
            while (n < sizeof bytes && sscanf(line + 4 + 2 * n, "%2x", &byte) == 1) {
                bytes[n++] = (uint8_t)byte;
            }
            code = etp_code_of_x86(bytes, n);
        }
        puts(etp_code_name(code));
    }
    return 0;
}
