// SPDX-License-Identifier: Apache-2.0
// What the name of a profiled operator proves about the kernels that ran it.
#include "isa/isa.h"

#include <string.h>

static bool is_word_char(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static bool has_token(const char *name, size_t len, const char *token)
{
    size_t n = strlen(token);
    for (size_t i = 0; n <= len && i <= len - n; i++) {
        if (memcmp(name + i, token, n) == 0 && (i == 0 || !is_word_char(name[i - 1])) &&
            (i + n == len || !is_word_char(name[i + n]))) {
            return true;
        }
    }
    return false;
}

etp_name_proof etp_isa_name_proof(const char *name, size_t len)
{
    // XNNPACK fills the configurations behind these three only where SME or SME2
    // is present. QP8 has NEON kernels too, so it proves nothing, but for fp16 in and
    // out, which newer XNNPACK has for SME2 alone and calls QD8 elsewhere.
    bool half = has_token(name, len, "QP8") && has_token(name, len, "F16") && has_token(name, len, "QC8W");
    if (half || has_token(name, len, "PF32") || has_token(name, len, "PF16") ||
        has_token(name, len, "PQS8")) {
        return ETP_PROVES_SME;
    }
    if (has_token(name, len, "QDU8")) {
        return ETP_PROVES_VNNI;
    }
    static const char k_linear[] = "Fully Connected";
    if (len >= sizeof k_linear - 1 && memcmp(name, k_linear, sizeof k_linear - 1) == 0 &&
        has_token(name, len, "QD8")) {
        return ETP_PROVES_NOT_VNNI;
    }
    return ETP_PROVES_NOTHING;
}
