// SPDX-License-Identifier: Apache-2.0
// Borrowed views: etp_str (text) and etp_bytes (a range of a file). Cheap to copy, own nothing.
// Thread rule: pure functions.
#ifndef ETPROF_BYTES_H
#define ETPROF_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <etprof/error.h>

ETP_C_BEGIN

typedef struct etp_str { // UTF-8 by intention, not verified; not NUL-terminated
    const char *ptr;     // may be NULL when len is 0
    size_t len;
} etp_str;

typedef struct etp_bytes {
    const uint8_t *ptr; // may be NULL when len is 0
    size_t len;
    uint64_t base; // position of ptr[0] in the file it came from, for error messages
} etp_bytes;

#define ETP_NO_INDEX UINT32_MAX // that is not known, or of nothing

#if defined(__cplusplus)
#define ETP_STR(literal) (etp_str{(literal), sizeof(literal) - 1})
#else
#define ETP_STR(literal) ((etp_str){(literal), sizeof(literal) - 1})
#endif
#define ETP_STR_ARG(s) (int)((s).len), ((s).ptr ? (s).ptr : "") // for "%.*s"

static inline etp_str etp_str_from(const char *z) // NULL gives the empty string
{
    etp_str s = {z, z ? strlen(z) : 0};
    return s;
}

static inline bool etp_str_eq(etp_str a, etp_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool etp_str_eqz(etp_str a, const char *z)
{
    return etp_str_eq(a, etp_str_from(z));
}

static inline bool etp_str_starts(etp_str s, etp_str prefix)
{
    return s.len >= prefix.len && (prefix.len == 0 || memcmp(s.ptr, prefix.ptr, prefix.len) == 0);
}

static inline bool etp_str_ends(etp_str s, etp_str suffix)
{
    return s.len >= suffix.len &&
           (suffix.len == 0 || memcmp(s.ptr + (s.len - suffix.len), suffix.ptr, suffix.len) == 0);
}

// Byte order, shorter first on a tie: a total order for sorting.
ETP_API int etp_str_cmp(etp_str a, etp_str b);
// Position of NEEDLE in S, or S.len when it is not there. An empty needle is found at 0.
ETP_API size_t etp_str_find(etp_str s, etp_str needle);
// The part of *rest before SEPARATOR goes to *out, what is behind it stays; false when nothing is
// left. Empty parts are passed over.
static inline bool etp_str_part(etp_str *rest, char separator, etp_str *out)
{
    do {
        out->ptr = rest->ptr;
        for (out->len = 0; out->len < rest->len && out->ptr[out->len] != separator; out->len++) {
        }
        size_t used = out->len + (out->len < rest->len);
        rest->len -= used;
        rest->ptr = rest->len > 0 ? rest->ptr + used : NULL;
    } while (out->len == 0 && rest->len > 0);
    return out->len > 0;
}
// Takes PREFIX off *S; false when S begins otherwise.
static inline bool etp_str_skip(etp_str *s, const char *prefix)
{
    const etp_str p = etp_str_from(prefix);
    bool starts = etp_str_starts(*s, p);
    if (starts) {
        s->ptr += p.len;
        s->len -= p.len;
    }
    return starts;
}
// The part of *S before the first MARK goes to *BEFORE (may be S), what is behind it stays; false
// when it is not there: all is before it then, and S as it was.
ETP_API bool etp_str_cut(etp_str *s, const char *mark, etp_str *before);
// S without the leading and trailing bytes that are in BLANKS.
ETP_API etp_str etp_str_trim(etp_str s, const char *blanks);

// Narrows B to [offset, offset + len). WHAT names the part in the error.
ETP_API ETP_NODISCARD etp_status etp_bytes_sub(etp_bytes b, uint64_t offset, uint64_t len,
                                               const char *what, etp_bytes *out, etp_error *err);

// Little-endian loads; the caller has checked the range.
static inline uint16_t etp_load_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] | (unsigned)p[1] << 8);
}

static inline uint32_t etp_load_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t etp_load_u64(const uint8_t *p)
{
    return (uint64_t)etp_load_u32(p) | (uint64_t)etp_load_u32(p + 4) << 32;
}

ETP_C_END

#endif
