// SPDX-License-Identifier: Apache-2.0
// Prints the cpuid instructions that the launcher finds in files: PATH, then what kind of file it
// is, then offsets, in one line each.
#include <inttypes.h>
#include <stdio.h>

#include "launcher/launch.h"

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        cpuid_sites s;
        bool elf = elf_find_cpuid(argv[i], &s);
        printf("%s\t%s unsure %zu left %zu%s", argv[i],
               !elf               ? "other"
               : s.system_library ? "system"
                                  : "program",
               s.unsure, s.left, s.by_symbols ? " by_symbols" : "");
        for (size_t k = 0; k < s.n; k++) {
            printf("\t%" PRIx64, s.offsets[k]);
        }
        puts("");
        elf_sites_free(&s);
    }
    return 0;
}
