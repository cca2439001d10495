// SPDX-License-Identifier: Apache-2.0
// What the name of a profiled operator proves about the kernels that ran it.
#include "isa/isa.h"

#include <string.h>

static bool is_word_char(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

// XNNPACK's names list data types as words: "Fully Connected (NC, QD8, F32, QC8W) GEMM".
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
    bool half =
        has_token(name, len, "QP8") && has_token(name, len, "F16") && has_token(name, len, "QC8W");
    if (half || has_token(name, len, "PF32") || has_token(name, len, "PF16") ||
        has_token(name, len, "PQS8")) {
        return ETP_PROVES_SME;
    }
    // With QC4W the name was also seen where AVX-512 ran without VNNI (six builds). AVX2 and other
    // 4-bit weights were not asked: that they prove nothing either is by analogy.
    if (has_token(name, len, "QDU8")) {
        return has_token(name, len, "QC8W") ? ETP_PROVES_VNNI : ETP_PROVES_NOTHING;
    }
    static const char k_linear[] = "Fully Connected";
    if (len >= sizeof k_linear - 1 && memcmp(name, k_linear, sizeof k_linear - 1) == 0 &&
        has_token(name, len, "QD8")) {
        return ETP_PROVES_NOT_VNNI;
    }
    return ETP_PROVES_NOTHING;
}

// The name at *LIST, without what separates it from the next, which *LIST is moved to. False at the
// end.
static bool next_name(const char **list, const char **name, size_t *len)
{
    if (*list == NULL || **list == '\0') {
        return false;
    }
    const char *end = strstr(*list, "; ");
    *name = *list;
    *len = end != NULL ? (size_t)(end - *list) : strlen(*list);
    *list = end != NULL ? end + 2 : *list + *len;
    return true;
}

static bool is_listed(const char *list, const char *name, size_t len)
{
    const char *other;
    size_t n;
    while (next_name(&list, &other, &n)) {
        if (n == len && memcmp(other, name, n) == 0) {
            return true;
        }
    }
    return false;
}

// Does a name of LIST have what makes NAME a proof?
static bool shares_token(const char *list, const char *name, size_t len)
{
    static const char *const k_tokens[] = {"PF32", "PF16", "PQS8", "QP8", "QDU8"};
    etp_name_proof proof = etp_isa_name_proof(name, len);
    const char *other;
    size_t n;
    while (next_name(&list, &other, &n)) {
        for (size_t i = 0; i < sizeof k_tokens / sizeof k_tokens[0]; i++) {
            if (etp_isa_name_proof(other, n) == proof && has_token(other, n, k_tokens[i]) &&
                has_token(name, len, k_tokens[i])) {
                return true;
            }
        }
    }
    return false;
}

etp_name_proof etp_isa_name_proof_in(const etp_name_book *book, const char *name, size_t len)
{
    etp_name_proof proof = etp_isa_name_proof(name, len);
    if (book == NULL) {
        return proof;
    }
    switch (proof) {
    case ETP_PROVES_SME:
    case ETP_PROVES_VNNI:
        return shares_token(book->off, name, len) ? ETP_PROVES_NOTHING : proof;
    case ETP_PROVES_NOT_VNNI:
        return is_listed(book->on, name, len) ? ETP_PROVES_NOTHING : proof;
    case ETP_PROVES_NOTHING:
        break;
    }
    // New to us, but this build has it with the feature alone.
    bool only_on =
        book->off != NULL && is_listed(book->on, name, len) && !is_listed(book->off, name, len);
    if (!only_on) {
        return ETP_PROVES_NOTHING;
    }
    return book->family == ETP_ISA_AARCH64 ? ETP_PROVES_SME : ETP_PROVES_VNNI;
}
