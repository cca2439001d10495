// SPDX-License-Identifier: Apache-2.0
// libetprof-level.so, for LD_PRELOAD on arm64: getauxval with the features in ETPROF_MASK left out.
#include <dlfcn.h>
#include <elf.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "isa/isa.h"

#ifndef AT_HWCAP2
#define AT_HWCAP2 26
#endif

typedef unsigned long hooked(unsigned long type);

__attribute__((visibility("default"))) hooked getauxval;

static _Atomic(hooked *) real;
static unsigned long hidden, hidden2; // written before REAL, while there is one thread

// Called first by the loader or a constructor, before there is a second thread.
static hooked *start(void)
{
    etp_isa_mask mask;
    char why[ETP_ISA_WHY_MAX];
    const char *text = getenv("ETPROF_MASK");
    if (text && etp_isa_mask_parse(text, &mask, why, sizeof why)) {
        hidden = mask.hwcap;
        hidden2 = mask.hwcap2;
    }
    void *symbol = dlsym(RTLD_NEXT, "getauxval");
    hooked *found;
    memcpy(&found, &symbol, sizeof found);
    atomic_store_explicit(&real, found, memory_order_release);
    return found;
}

unsigned long getauxval(unsigned long type)
{
    hooked *ask = atomic_load_explicit(&real, memory_order_relaxed);
    if (!ask) {
        ask = start();
    }
    unsigned long value = ask ? ask(type) : 0;
    if (type == AT_HWCAP) {
        return value & ~hidden;
    }
    return type == AT_HWCAP2 ? value & ~hidden2 : value;
}
