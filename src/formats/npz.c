// SPDX-License-Identifier: Apache-2.0
// numpy's .npy header, strictly, and .npz archives of them.
#include <etprof/npz.h>

#include <stdlib.h>
#include <zip.h>

#include "base/guard.h"
#include "base/number.h"
#include "formats/zip_entry.h"

// What numpy itself can write in version 1.0, whose length has two bytes; longer ones are needed
// for structures with many fields, which are not taken.
#define MAX_HEADER 65536u
// More inputs than any method has; put_in_order compares each name with each.
#define MAX_ARRAYS 1000

// ---- the header: a Python literal, of which only this one shape is taken ----

// numpy evaluates the header as Python. What it writes is always a dictionary of these three keys,
// so nothing else of the language is understood.
typedef struct cursor {
    etp_str text;
    size_t at;
    size_t base; // position of text in the file
    etp_error *err;
} cursor;

static etp_status corrupt(const cursor *c, const char *expected)
{
    return etp_fail_at(c->err, ETP_CORRUPT, c->base + c->at,
                       "the .npy header is not numpy's: expected %s", expected);
}

// numpy fills the header up with blanks and ends it with a line break, so that the data behind it
// is aligned.
static void skip_blanks(cursor *c)
{
    while (c->at < c->text.len && (c->text.ptr[c->at] == ' ' || c->text.ptr[c->at] == '\n')) {
        c->at++;
    }
}

static bool take(cursor *c, const char *token)
{
    skip_blanks(c);
    size_t n = strlen(token);
    if (n > c->text.len - c->at || memcmp(c->text.ptr + c->at, token, n) != 0) {
        return false;
    }
    c->at += n;
    return true;
}

// 'text' or "text" without escapes.
static bool take_string(cursor *c, etp_str *out)
{
    skip_blanks(c);
    if (c->at >= c->text.len || (c->text.ptr[c->at] != '\'' && c->text.ptr[c->at] != '"')) {
        return false;
    }
    char quote = c->text.ptr[c->at];
    size_t start = c->at + 1, end = start;
    while (end < c->text.len && c->text.ptr[end] != quote && c->text.ptr[end] != '\\') {
        end++;
    }
    if (end >= c->text.len || c->text.ptr[end] != quote) {
        return false;
    }
    *out = (etp_str){c->text.ptr + start, end - start};
    c->at = end + 1;
    return true;
}

// Objects ('O') are pickles, which run code when they are read; texts and structures are no
// tensors. None of them is taken.
static etp_status take_dtype(cursor *c, etp_npy *out)
{
    static const struct {
        const char *code;
        etp_dtype dtype;
    } k_codes[] = {
        {"f2", ETP_DTYPE_FLOAT16},
        {"f4", ETP_DTYPE_FLOAT32},
        {"f8", ETP_DTYPE_FLOAT64},
        {"i1", ETP_DTYPE_INT8   },
        {"i2", ETP_DTYPE_INT16  },
        {"i4", ETP_DTYPE_INT32  },
        {"i8", ETP_DTYPE_INT64  },
        {"u1", ETP_DTYPE_UINT8  },
        {"u2", ETP_DTYPE_UINT16 },
        {"u4", ETP_DTYPE_UINT32 },
        {"u8", ETP_DTYPE_UINT64 },
        {"b1", ETP_DTYPE_BOOL   }
    };
    etp_str text;
    size_t at = c->at;
    if (!take_string(c, &text)) {
        return take(c, "[") ? etp_fail_at(c->err, ETP_UNSUPPORTED, c->base + at,
                                          "an array of structures; save plain arrays")
                            : corrupt(c, "a type such as '<f4'");
    }
    // A byte order, then kind and size: '|' is for types of one byte, for which '>' means nothing.
    if (text.len != 3 || !memchr("<|=>", text.ptr[0], 4)) {
        return etp_fail_at(
            c->err, ETP_UNSUPPORTED, c->base + at,
            "type '%.*s'; taken are f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1, little-endian",
            ETP_STR_ARG(text));
    }
    for (size_t i = 0; i < sizeof k_codes / sizeof *k_codes; i++) {
        bool one_byte = k_codes[i].code[1] == '1';
        if (memcmp(text.ptr + 1, k_codes[i].code, 2) == 0) {
            if (text.ptr[0] == '>' && !one_byte) {
                return etp_fail_at(c->err, ETP_UNSUPPORTED, c->base + at,
                                   "big-endian type '%.*s'; save with .astype('<%s')",
                                   ETP_STR_ARG(text), k_codes[i].code);
            }
            out->dtype = k_codes[i].dtype;
            return ETP_OK;
        }
    }
    return etp_fail_at(c->err, ETP_UNSUPPORTED, c->base + at,
                       "type '%.*s'; taken are f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1",
                       ETP_STR_ARG(text));
}

// "()", "(3,)", "(2, 3)".
static etp_status take_shape(cursor *c, etp_npy *out)
{
    if (!take(c, "(")) {
        return corrupt(c, "a tuple of sizes");
    }
    bool comma = true;
    while (!take(c, ")")) {
        if (!comma) {
            return corrupt(c, "',' between sizes");
        }
        skip_blanks(c);
        size_t n = 0;
        while (c->at + n < c->text.len && c->text.ptr[c->at + n] >= '0' &&
               c->text.ptr[c->at + n] <= '9') {
            n++;
        }
        uint64_t size;
        if (n == 0 || !etp_parse_u64((etp_str){c->text.ptr + c->at, n}, &size)) {
            return corrupt(c, "a size");
        }
        if (out->n_dims == ETP_NPY_MAX_DIMS) {
            return etp_fail_at(c->err, ETP_UNSUPPORTED, c->base + c->at, "more than %d dimensions",
                               ETP_NPY_MAX_DIMS);
        }
        out->sizes[out->n_dims++] = size;
        c->at += n;
        comma = take(c, ",");
    }
    // "(3)" is a number in Python, no tuple
    return out->n_dims == 1 && !comma ? corrupt(c, "',' after the only size") : ETP_OK;
}

static etp_status take_member(cursor *c, etp_npy *out, unsigned *seen)
{
    static const char *const k_keys[] = {"descr", "fortran_order", "shape"};
    etp_str key;
    size_t at = c->at;
    unsigned which = 0;
    if (!take_string(c, &key)) {
        return corrupt(c, "a key");
    }
    while (which < 3 && !etp_str_eqz(key, k_keys[which])) {
        which++;
    }
    if (which == 3 || (*seen & 1u << which)) {
        c->at = at;
        return corrupt(c, "descr, fortran_order and shape, each once");
    }
    *seen |= 1u << which;
    if (!take(c, ":")) {
        return corrupt(c, "':'");
    }
    if (which == 0) {
        return take_dtype(c, out);
    }
    if (which == 2) {
        return take_shape(c, out);
    }
    out->fortran = take(c, "True");
    return out->fortran || take(c, "False") ? ETP_OK : corrupt(c, "True or False");
}

static etp_status read_header(cursor *c, etp_npy *out)
{
    unsigned seen = 0;
    if (!take(c, "{")) {
        return corrupt(c, "a dictionary");
    }
    while (!take(c, "}")) {
        ETP_TRY(take_member(c, out, &seen));
        if (!take(c, ",")) {
            if (take(c, "}")) {
                break;
            }
            return corrupt(c, "',' or '}'");
        }
    }
    skip_blanks(c);
    if (seen != 7 || c->at != c->text.len) {
        return corrupt(c, seen != 7 ? "descr, fortran_order and shape"
                                    : "nothing after the dictionary");
    }
    return ETP_OK;
}

etp_status etp_npy_read(etp_bytes bytes, etp_npy *out, etp_error *err)
{
    *out = (etp_npy){0};
    if (bytes.len < 10 || memcmp(bytes.ptr, "\x93NUMPY", 6) != 0) {
        return etp_fail_at(err, ETP_CORRUPT, 0, "not a .npy file (no \\x93NUMPY at its start)");
    }
    // Version 3.0 is 2.0 with a header in UTF-8, which only names of fields in structures need.
    unsigned major = bytes.ptr[6];
    if (major < 1 || major > 3 || bytes.ptr[7] != 0) {
        return etp_fail_at(err, ETP_UNSUPPORTED, 6,
                           ".npy format %u.%u; supported are 1.0, 2.0 and 3.0", major,
                           bytes.ptr[7]);
    }
    // Magic number, version, and the header's length in 2 bytes, since version 2.0 in 4.
    size_t start = major == 1 ? 10 : 12;
    if (bytes.len < start) {
        return etp_fail_at(err, ETP_CORRUPT, bytes.len, "the .npy header is cut off");
    }
    uint32_t length = (uint32_t)bytes.ptr[8] | (uint32_t)bytes.ptr[9] << 8;
    if (major > 1) {
        length |= (uint32_t)bytes.ptr[10] << 16 | (uint32_t)bytes.ptr[11] << 24;
    }
    if (length > bytes.len - start || length > MAX_HEADER) {
        return etp_fail_at(err, ETP_CORRUPT, 8, "the .npy header has %u bytes, the file %zu",
                           length, bytes.len - start);
    }
    cursor c = {
        .text = {(const char *)bytes.ptr + start, length},
          .base = start, .err = err
    };
    ETP_TRY(read_header(&c, out));
    out->elements = 1;
    uint64_t wanted = 0;
    for (uint32_t i = 0; i < out->n_dims; i++) {
        if (out->sizes[i] != 0 && out->elements > UINT64_MAX / out->sizes[i]) {
            return etp_fail_at(err, ETP_CORRUPT, start, "the .npy array's shape overflows");
        }
        out->elements *= out->sizes[i];
    }
    // Neither fewer nor more bytes than the shape needs: a file that was cut off and one with
    // another array appended would both be read as something that was not meant.
    out->data = (etp_bytes){bytes.ptr + start + length, bytes.len - start - length, start + length};
    if (!etp_dtype_bytes(out->dtype, out->elements, &wanted)) {
        return etp_fail_at(err, ETP_CORRUPT, start, "the .npy array's shape overflows");
    }
    if (wanted != out->data.len) {
        return etp_fail_at(err, ETP_CORRUPT, start + length,
                           "the .npy array has %zu bytes of data, its shape needs %llu",
                           out->data.len, (unsigned long long)wanted);
    }
    return ETP_OK;
}

// ---- archives ----

typedef struct archive {
    zip_t *zip;
    uint64_t left; // bytes that may still be unpacked
    etp_arena *arena;
    etp_error *err;
} archive;

static etp_status read_array(archive *a, uint64_t index, etp_npy *out)
{
    zip_stat_t stat;
    if (zip_stat_index(a->zip, index, 0, &stat) != 0 || (stat.valid & ZIP_STAT_SIZE) == 0 ||
        (stat.valid & ZIP_STAT_NAME) == 0) {
        return etp_fail(a->err, ETP_CORRUPT, "entry %llu: %s", (unsigned long long)index,
                        zip_strerror(a->zip));
    }
    etp_str name = etp_str_from(stat.name);
    if (!etp_str_ends(name, ETP_STR(".npy"))) {
        return etp_fail(a->err, ETP_CORRUPT, "entry %s is not a .npy array", stat.name);
    }
    if (stat.size > a->left) {
        return etp_fail(a->err, ETP_CORRUPT, "entry %s unpacks to %llu bytes, more than allowed",
                        stat.name, (unsigned long long)stat.size);
    }
    // One limit for all entries together: many that are allowed would else add up to what is not.
    a->left -= stat.size;
    uint8_t *data = etp_arena_alloc_raw(a->arena, (size_t)stat.size + 1, 1);
    ETP_TRY(etp_zip_unpack(a->zip, &stat, data, a->err));
    if (etp_npy_read((etp_bytes){data, (size_t)stat.size, 0}, out, a->err) != ETP_OK) {
        return etp_fail_ctx(a->err, "entry %s", stat.name);
    }
    name.len -= 4;
    out->name = etp_str_from(etp_arena_strdup(a->arena, name));
    return ETP_OK;
}

// Number N of "arr_N", UINT64_MAX for other names.
// numpy.savez gives these names to arrays without one.
static uint64_t number_of(etp_str name)
{
    uint64_t n;
    etp_str digits = {name.ptr + 4, ETP_LESS(name.len, 4)};
    // Five digits are more than MAX_ARRAYS needs. With leading zeros, which numpy does not write,
    // two names could mean one place.
    bool plain = etp_str_starts(name, ETP_STR("arr_")) && digits.len > 0 && digits.len < 6 &&
                 (digits.len == 1 || digits.ptr[0] != '0');
    return plain && etp_parse_u64(digits, &n) ? n : UINT64_MAX;
}

// Arrays are a method's inputs by their order: that of the numbers, else that of the archive. All
// numbers differ and are below N, so every place of OUT is filled.
static etp_status put_in_order(const etp_npy *in, size_t n, etp_npy *out, etp_error *err)
{
    size_t numbered = 0;
    for (size_t i = 0; i < n; i++) {
        numbered += number_of(in[i].name) != UINT64_MAX;
        for (size_t k = 0; k < i; k++) {
            if (etp_str_eq(in[i].name, in[k].name)) {
                return etp_fail(err, ETP_CORRUPT, "two arrays are called %.*s",
                                ETP_STR_ARG(in[i].name));
            }
        }
    }
    if (numbered != 0 && numbered != n) {
        return etp_fail(err, ETP_CORRUPT,
                        "some arrays are called arr_N and some not: their order is not known; name "
                        "all or none");
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t at = numbered ? number_of(in[i].name) : i;
        if (at >= n) {
            return etp_fail(err, ETP_CORRUPT, "there is an arr_%llu, but only %zu arrays",
                            (unsigned long long)at, n);
        }
        out[at] = in[i];
    }
    return ETP_OK;
}

static etp_status read_archive(archive *a, const etp_npy **out, size_t *out_n)
{
    zip_int64_t n = zip_get_num_entries(a->zip, 0);
    if (n <= 0 || n > MAX_ARRAYS) {
        return etp_fail(a->err, ETP_CORRUPT, "%lld arrays; taken are 1 to %d", (long long)n,
                        MAX_ARRAYS);
    }
    etp_npy *found = ETP_NEW_ARRAY(a->arena, etp_npy, (size_t)n);
    etp_npy *ordered = ETP_NEW_ARRAY(a->arena, etp_npy, (size_t)n);
    for (zip_int64_t i = 0; i < n; i++) {
        ETP_TRY(read_array(a, (uint64_t)i, &found[i]));
    }
    ETP_TRY(put_in_order(found, (size_t)n, ordered, a->err));
    *out = ordered;
    *out_n = (size_t)n;
    return ETP_OK;
}

// Below the archive's owner, who closes it whatever happens here.
static etp_status read_guarded(archive *a, const etp_npy **out, size_t *out_n)
{
    ETP_GUARDED(a->arena, a->err, "arrays", read_archive(a, out, out_n));
}

etp_status etp_npz_read(etp_bytes bytes, uint64_t limit, etp_arena *arena, const etp_npy **out,
                        size_t *out_n, etp_error *err)
{
    zip_error_t why;
    zip_error_init(&why);
    *out = NULL;
    *out_n = 0;
    zip_source_t *source = zip_source_buffer_create(bytes.ptr, bytes.len, 0, &why);
    // CHECKCONS: the directory and the entries' own headers must say the same.
    zip_t *zip = source ? zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &why) : NULL;
    if (!zip) {
        etp_status status =
            etp_fail(err, ETP_CORRUPT, "not a .npz archive: %s", zip_error_strerror(&why));
        zip_source_free(source);
        zip_error_fini(&why);
        return status;
    }
    archive a = {.zip = zip, .left = limit, .arena = arena, .err = err};
    etp_status status = read_guarded(&a, out, out_n);
    zip_discard(zip);
    zip_error_fini(&why);
    return status;
}
