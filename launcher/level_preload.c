// SPDX-License-Identifier: Apache-2.0
// libetprof-level.so, for LD_PRELOAD on arm64: getauxval with the features in ETPROF_MASK left out.
#include <dlfcn.h>
#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "isa/isa.h"

#ifndef AT_HWCAP2
#define AT_HWCAP2 26
#endif

__attribute__((visibility("default"))) unsigned long getauxval(unsigned long type);

unsigned long getauxval(unsigned long type)
{
    static unsigned long (*real)(unsigned long);
    static etp_isa_mask mask;
    if (!real) { // first called before there is a second thread
        char why[ETP_ISA_WHY_MAX];
        const char *text = getenv("ETPROF_MASK");
        if (text && !etp_isa_mask_parse(text, &mask, why, sizeof why)) {
            memset(&mask, 0, sizeof mask);
        }
        void *symbol = dlsym(RTLD_NEXT, "getauxval");
        memcpy(&real, &symbol, sizeof real);
    }
    unsigned long value = real ? real(type) : 0;
    return type == AT_HWCAP ? value & ~mask.hwcap : type == AT_HWCAP2 ? value & ~mask.hwcap2 : value;
}
