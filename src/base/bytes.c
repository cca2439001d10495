// SPDX-License-Identifier: Apache-2.0
// Comparison and narrowing of borrowed views.
#include <etprof/bytes.h>

#include <inttypes.h>

#include "base/choice.h"

int etp_str_cmp(etp_str a, etp_str b)
{
    size_t n = ETP_MIN(a.len, b.len);
    int c = n ? memcmp(a.ptr, b.ptr, n) : 0;
    return etp_order_then(c, ETP_ORDER(a.len, b.len));
}

// Needles are a few bytes and texts are lines: nothing cleverer pays.
size_t etp_str_find(etp_str s, etp_str needle)
{
    if (needle.len == 0) {
        return 0;
    }
    for (size_t i = 0; needle.len <= s.len && i <= s.len - needle.len; i++) {
        if (memcmp(s.ptr + i, needle.ptr, needle.len) == 0) {
            return i;
        }
    }
    return s.len;
}

bool etp_str_cut(etp_str *s, const char *mark, etp_str *before)
{
    const etp_str m = etp_str_from(mark), all = *s;
    size_t at = etp_str_find(all, m);
    bool found = at < all.len;
    if (found) {
        *s = (etp_str){all.ptr + at + m.len, all.len - at - m.len};
    }
    *before = (etp_str){all.ptr, at};
    return found;
}

etp_str etp_str_trim(etp_str s, const char *blanks)
{
    size_t n = strlen(blanks);
    while (s.len > 0 && memchr(blanks, s.ptr[0], n)) {
        s = (etp_str){s.ptr + 1, s.len - 1};
    }
    while (s.len > 0 && memchr(blanks, s.ptr[s.len - 1], n)) {
        s.len--;
    }
    return s;
}

etp_status etp_bytes_sub(etp_bytes b, uint64_t offset, uint64_t len, const char *what,
                         etp_bytes *out, etp_error *err)
{
    // Subtraction form: offset + len can wrap, b.len - offset cannot.
    if (offset > b.len || len > b.len - offset) {
        uint64_t left = offset > b.len ? 0 : b.len - offset;
        return etp_fail_at(err, ETP_CORRUPT, b.base + offset,
                           "%s needs %" PRIu64 " bytes, %" PRIu64 " left", what, len, left);
    }
    *out = (etp_bytes){b.ptr ? b.ptr + offset : NULL, (size_t)len, b.base + offset};
    return ETP_OK;
}
