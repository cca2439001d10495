// SPDX-License-Identifier: Apache-2.0
// struct_size: read, checked, kept; texts and lists, copied.
#include "library/sized.h"
#include "base/choice.h"

static etp_status size_of(const void *given, size_t first, const char *what, size_t *out,
                          etp_error *err)
{
    // The size is the first member of every such struct, whatever its type: it is read without
    // knowing more.
    memcpy(out, given, sizeof *out);
    if (*out < first) {
        return etp_fail(err, ETP_USAGE,
                        "struct_size of %s is %zu, not at least %zu: set it to sizeof the struct",
                        what, *out, first);
    }
    return ETP_OK;
}

etp_status etp_options_take(void *options, size_t size, size_t first, const void *given,
                            const char *what, etp_error *err)
{
    memset(options, 0, size);
    if (!given) {
        return ETP_OK;
    }
    size_t has;
    ETP_TRY(size_of(given, first, what, &has, err));
    // A program of a later version may know more members. Those that it left zero ask for nothing
    // and may be ignored; one that is set would be ignored silently.
    for (size_t i = size; i < has; i++) {
        if (((const unsigned char *)given)[i] != 0) {
            return etp_fail(err, ETP_UNSUPPORTED,
                            "%s sets what this version of the library does not know (byte %zu)",
                            what, i);
        }
    }
    // What an older program does not know stays zero, which is the default of every option.
    memcpy(options, given, ETP_MIN(has, size));
    return ETP_OK;
}

const char *etp_keep(etp_arena *arena, const char *text)
{
    return text ? etp_arena_strdup(arena, etp_str_from(text)) : NULL;
}

etp_status etp_keep_list(etp_arena *arena, const char *const *given, size_t n, const char *what,
                         const char *const **out, etp_error *err)
{
    const char **own = ETP_NEW_ARRAY(arena, const char *, n);
    for (size_t i = 0; own && i < n; i++) {
        if (!given || !given[i] || !given[i][0]) {
            return etp_fail(err, ETP_USAGE, "%s %zu of %zu is empty", what, i + 1, n);
        }
        own[i] = etp_keep(arena, given[i]);
    }
    *out = own;
    return ETP_OK;
}

etp_status etp_result_give(const void *result, size_t size, size_t first, void *out,
                           const char *what, etp_error *err)
{
    if (!out) {
        return etp_fail(err, ETP_USAGE, "no place for %s", what);
    }
    size_t has;
    ETP_TRY(size_of(out, first, what, &has, err));
    // The caller's struct may be longer than ours, and what lies behind ours must not stay as it
    // was; or shorter, and then the end of ours is cut off. Its own size is put back at the end.
    memset(out, 0, has);
    memcpy(out, result, ETP_MIN(has, size));
    memcpy(out, &has, sizeof has);
    return ETP_OK;
}
