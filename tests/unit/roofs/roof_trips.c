// SPDX-License-Identifier: Apache-2.0
// Runs one roof loop for a number of trips: what callgrind counts (test_instructions.py).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "roofs/roofs.h"

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 3 && etp_roof_loop_at(i); i++) {
        const etp_roof_loop *l = etp_roof_loop_at(i);
        if (strcmp(l->isa, argv[1]) == 0) {
            printf("%llu %lld\n", (unsigned long long)l->ops_per_trip,
                   (long long)l->run(strtoull(argv[2], NULL, 10)));
            return 0;
        }
    }
    return 2;
}
