// SPDX-License-Identifier: Apache-2.0
// For test_instructions.py. Without arguments: every loop, as "isa what ops on-this-CPU". With two, a set
// and a number: runs the loops of that set for so many trips, which callgrind counts.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "roofs/roofs.h"

int main(int argc, char **argv)
{
    etp_isa_cpu cpu;
    etp_isa_cpu_detect(&cpu);
    for (size_t i = 0; etp_roof_loop_at(i); i++) {
        const etp_roof_loop *l = etp_roof_loop_at(i);
        bool here = etp_roof_set_on(etp_roof_set_find(l->isa), &cpu);
        if (argc < 4) {
            printf("%s %s %llu %d\n", l->isa, l->what, (unsigned long long)l->ops(), here);
        } else if (strcmp(l->isa, argv[1]) == 0 && strcmp(l->what, argv[2]) == 0) {
            printf("%lld\n", (long long)l->run(strtoull(argv[3], NULL, 10)));
        }
    }
    return 0;
}
