// SPDX-License-Identifier: Apache-2.0
// What etprof's rules make of operator names. Input lines: architecture, names learned with the
// feature, names learned without ("; " between), then names. Output: proof with what was learned,
// tab, proof without.
#include <stdio.h>
#include <string.h>

#include "isa/isa.h"

static const char *word(etp_name_proof proof)
{
    if (proof == ETP_PROVES_SME) {
        return "sme";
    }
    if (proof == ETP_PROVES_VNNI) {
        return "vnni";
    }
    return proof == ETP_PROVES_NOT_VNNI ? "not_vnni" : "nothing";
}

static char *line(char *buffer, int size)
{
    char *got = fgets(buffer, size, stdin);
    if (got) {
        got[strcspn(got, "\n")] = '\0';
    }
    return got;
}

int main(void)
{
    static char family[32], on[16384], off[16384], name[1024];
    if (!line(family, sizeof family) || !line(on, sizeof on) || !line(off, sizeof off)) {
        return 2;
    }
    const etp_name_book book = {.family = strcmp(family, "aarch64") == 0 ? ETP_ISA_AARCH64
                                                                         : ETP_ISA_X86_64,
                                .on = on,
                                .off = off};
    while (line(name, sizeof name)) {
        size_t n = strlen(name);
        while (n > 2 && name[n - 1] >= '0' && name[n - 1] <= '9') { // " #3": which of its kind
            n--;
        }
        n = n > 2 && name[n - 1] == '#' && name[n - 2] == ' ' ? n - 2 : strlen(name);
        printf("%s\t%s\n", word(etp_isa_name_proof_in(&book, name, n)),
               word(etp_isa_name_proof(name, n)));
    }
    return 0;
}
