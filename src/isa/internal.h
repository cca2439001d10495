// SPDX-License-Identifier: Apache-2.0
// What the files of this room share with each other only.
#ifndef ETP_ISA_INTERNAL_H
#define ETP_ISA_INTERNAL_H

#include "isa/isa.h"

bool etp_x86_has_name(const etp_x86_set *set, const char *name);
void etp_x86_detect(etp_x86_set *out); // empty on other processors

// HWCAP bits of Linux on aarch64 that a level stands or falls with.
#define ETP_HWCAP_ASIMD (UINT64_C(1) << 1)
#define ETP_HWCAP_ASIMDDP (UINT64_C(1) << 20)
#define ETP_HWCAP2_SME (UINT64_C(1) << 23)
#define ETP_HWCAP2_SME2 (UINT64_C(1) << 37)

#endif
