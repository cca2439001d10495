// SPDX-License-Identifier: Apache-2.0
// For test_instructions.py. Without arguments: every loop, as "isa what ops on-this-CPU", and every
// reader, as "isa read 0 on-this-CPU". With a set, what and a number: runs that loop for so many
// trips, or reads so many bytes, which callgrind counts.
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
            printf("%s %s %llu %d\n", l->isa, etp_roof_what_name(l->what),
                   (unsigned long long)l->ops(), here);
        } else if (strcmp(l->isa, argv[1]) == 0 &&
                   strcmp(etp_roof_what_name(l->what), argv[2]) == 0) {
            printf("%lld\n", (long long)l->run(strtoull(argv[3], NULL, 10)));
        }
    }
    for (size_t i = 0; etp_roof_reader_at(i); i++) {
        const etp_roof_reader *r = etp_roof_reader_at(i);
        if (argc < 4) {
            printf("%s read 0 %d\n", r->isa, etp_roof_set_on(etp_roof_set_find(r->isa), &cpu));
        } else if (strcmp(r->isa, argv[1]) == 0 && strcmp("read", argv[2]) == 0) {
            static _Alignas(64) uint8_t bytes[1 << 22];
            uint64_t n = strtoull(argv[3], NULL, 10);
            printf("%llu\n", (unsigned long long)(n <= sizeof bytes ? r->read(bytes, n) : 1));
        }
    }
    return 0;
}
