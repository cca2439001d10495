// SPDX-License-Identifier: Apache-2.0
// Packing and unpacking run folders. Archives come from anywhere: every header field is checked,
// and names go through the same rule as those of a manifest.
#include "store/pack.h"

#include <stdio.h>
#include <zstd.h>

#include "store/internal.h"

#define BLOCK 512u
#define LEVEL 9
#define WINDOW_LOG_MAX 27 // 128 MiB: what level 19 uses at most; more is refused
#define MAX_NAME 1024u
#define MAX_DEPTH 8
#define PIECE 65536u

typedef struct ustar_header { // POSIX.1-1988, octal numbers as text
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100];
    char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], pad[12];
} ustar_header;

static unsigned sum_of(const ustar_header *h)
{
    const unsigned char *p = (const unsigned char *)h;
    unsigned sum = 0;
    for (size_t i = 0; i < sizeof *h; i++) {
        bool inside = i >= offsetof(ustar_header, checksum) && i < offsetof(ustar_header, type);
        sum += inside ? (unsigned)' ' : p[i];
    }
    return sum;
}

// ---- packing ----

typedef struct packer {
    const char *dir;
    etp_arena *arena;
    ZSTD_CCtx *zstd;
    etp_sink *sink;
    etp_pack_count *count;
} packer;

static etp_status compress(packer *p, const void *bytes, size_t len, ZSTD_EndDirective how,
                           etp_error *err)
{
    static const size_t k_cap = PIECE;
    char piece[PIECE];
    ZSTD_inBuffer in = {bytes, len, 0};
    for (;;) {
        ZSTD_outBuffer out = {piece, k_cap, 0};
        size_t left = ZSTD_compressStream2(p->zstd, &out, &in, how);
        if (ZSTD_isError(left)) {
            return etp_fail(err, ETP_NOMEM, "zstd: %s", ZSTD_getErrorName(left));
        }
        etp_sink_write(p->sink, (etp_str){piece, out.pos});
        if (how == ZSTD_e_end ? left == 0 : in.pos == in.size) {
            return ETP_OK;
        }
    }
}

static etp_status put_header(packer *p, etp_str name, char type, uint64_t size, etp_error *err)
{
    ustar_header h = {0};
    memcpy(h.name, name.ptr, name.len);
    snprintf(h.mode, sizeof h.mode, "0000644");
    snprintf(h.uid, sizeof h.uid, "0000000");
    snprintf(h.gid, sizeof h.gid, "0000000");
    snprintf(h.size, sizeof h.size, "%011llo", (unsigned long long)size);
    snprintf(h.mtime, sizeof h.mtime, "00000000000");
    h.type = type;
    memcpy(h.magic, "ustar", 6);
    memcpy(h.version, "00", 2);
    snprintf(h.checksum, sizeof h.checksum, "%06o", sum_of(&h));
    h.checksum[7] = ' ';
    return compress(p, &h, sizeof h, ZSTD_e_continue, err);
}

static etp_status put_content(packer *p, const void *bytes, size_t len, etp_error *err)
{
    static const char k_zeros[BLOCK] = {0};
    ETP_TRY(compress(p, bytes, len, ZSTD_e_continue, err));
    return compress(p, k_zeros, (BLOCK - len % BLOCK) % BLOCK, ZSTD_e_continue, err);
}

static etp_status pack_file(packer *p, const char *relative, etp_error *err)
{
    etp_str name = etp_str_from(relative);
    const char *path = etp_run_path(p->arena, p->dir, name);
    if (name.len > MAX_NAME) {
        return etp_fail(err, ETP_UNSUPPORTED, "%s/%s: the name is too long", p->dir, relative);
    }
    etp_file file;
    ETP_TRY(etp_file_open(path, ETP_PACK_MAX_BYTES, &file, err));
    etp_status st = ETP_OK;
    if (name.len > sizeof((ustar_header *)0)->name) { // GNU's way, which every tar reads
        st = put_header(p, ETP_STR("././@LongLink"), 'L', name.len + 1, err);
        if (st == ETP_OK) {
            st = put_content(p, relative, name.len + 1, err);
        }
        name.len = sizeof((ustar_header *)0)->name;
    }
    if (st == ETP_OK) {
        st = put_header(p, name, '0', file.bytes.len, err);
    }
    if (st == ETP_OK) {
        st = put_content(p, file.bytes.ptr, file.bytes.len, err);
    }
    p->count->files++;
    p->count->bytes += file.bytes.len;
    etp_file_close(&file);
    return st;
}

static etp_status pack_folder(packer *p, const char *relative, int depth, etp_error *err)
{
    const char *path =
        relative[0] ? etp_run_path(p->arena, p->dir, etp_str_from(relative)) : p->dir;
    etp_dir_list list = {0};
    ETP_TRY(etp_os_list(path, p->arena, &list, err));
    if (depth > MAX_DEPTH) {
        return etp_fail(err, ETP_UNSUPPORTED, "%s: folders are nested too deeply", path);
    }
    for (size_t i = 0; i < list.n; i++) {
        const char *name = etp_arena_printf(p->arena, "%s%s%s", relative, relative[0] ? "/" : "",
                                            list.items[i].name);
        ETP_NEED(name, err, relative);
        if (strcmp(name, ETP_RUN_LOCK) == 0) { // of a process here, no part of the session
            continue;
        }
        if (!etp_run_path_ok(etp_str_from(name))) {
            return etp_fail(err, ETP_UNSUPPORTED, "%s: a file's name cannot be packed", path);
        }
        ETP_TRY(list.items[i].is_dir ? pack_folder(p, name, depth + 1, err)
                                     : pack_file(p, name, err));
    }
    return ETP_OK;
}

static etp_status fill_archive(void *ctx, etp_sink *sink, etp_error *err)
{
    static const char k_end[2 * BLOCK] = {0};
    packer *p = ctx;
    p->sink = sink;
    ETP_TRY(pack_folder(p, "", 0, err));
    return compress(p, k_end, sizeof k_end, ZSTD_e_end, err);
}

etp_status etp_run_pack(const char *dir, const char *file, etp_pack_count *out, etp_error *err)
{
    etp_arena arena = {0};
    *out = (etp_pack_count){0};
    ETP_TRY(etp_run_check_members(dir, err));
    packer p = {.dir = dir, .arena = &arena, .zstd = ZSTD_createCCtx(), .count = out};
    etp_status st =
        p.zstd && !ZSTD_isError(ZSTD_CCtx_setParameter(p.zstd, ZSTD_c_compressionLevel, LEVEL)) &&
                !ZSTD_isError(ZSTD_CCtx_setParameter(p.zstd, ZSTD_c_checksumFlag, 1))
            ? etp_os_replace_by(file, fill_archive, &p, err)
            : etp_fail_nomem(err, "zstd");
    ZSTD_freeCCtx(p.zstd);
    etp_arena_dispose(&arena);
    return st;
}

// ---- unpacking ----

typedef struct unpacker {
    ZSTD_DCtx *zstd;
    ZSTD_inBuffer in;
    uint64_t left;    // of the current file
    uint64_t written; // all that came out of the archive so far: headers, names, files
    etp_pack_count *count;
} unpacker;

// Exactly LEN bytes of the archive.
static etp_status pull(unpacker *u, void *to, size_t len, etp_error *err)
{
    ZSTD_outBuffer out = {to, len, 0};
    if (len > ETP_PACK_MAX_BYTES - u->written) { // whatever the headers say of themselves
        return etp_fail_at(err, ETP_CORRUPT, u->in.pos, "the archive unpacks to more than %llu GiB",
                           (unsigned long long)(ETP_PACK_MAX_BYTES >> 30));
    }
    u->written += len;
    while (out.pos < len) {
        size_t before_in = u->in.pos, before_out = out.pos;
        size_t hint = ZSTD_decompressStream(u->zstd, &out, &u->in);
        if (ZSTD_isError(hint)) {
            return etp_fail_at(err, ETP_CORRUPT, u->in.pos, "not a packed run folder: %s",
                               ZSTD_getErrorName(hint));
        }
        if (out.pos < len && u->in.pos == before_in && out.pos == before_out) {
            return etp_fail_at(err, ETP_CORRUPT, u->in.pos, "the archive is cut short");
        }
    }
    return ETP_OK;
}

// Octal digits to a blank or NUL; false for anything else, base-256 sizes included.
static bool octal(const char *text, size_t cap, uint64_t *out)
{
    size_t i = 0;
    *out = 0;
    while (i < cap && text[i] == ' ') {
        i++;
    }
    size_t first = i;
    for (; i < cap && text[i] >= '0' && text[i] <= '7'; i++) {
        *out = *out * 8 + (uint64_t)(text[i] - '0'); // at most 12 digits: no overflow
    }
    return i > first && (i == cap || text[i] == ' ' || text[i] == '\0');
}

static etp_status fill_file(void *ctx, etp_sink *sink, etp_error *err)
{
    unpacker *u = ctx;
    char piece[PIECE];
    while (u->left > 0) {
        size_t n = u->left < sizeof piece ? (size_t)u->left : sizeof piece;
        ETP_TRY(pull(u, piece, n, err));
        etp_sink_write(sink, (etp_str){piece, n});
        u->left -= n;
    }
    return ETP_OK;
}

static etp_status skip_padding(unpacker *u, uint64_t size, etp_error *err)
{
    char rest[BLOCK];
    return pull(u, rest, (BLOCK - (size_t)(size % BLOCK)) % BLOCK, err);
}

static etp_status unpack_file(unpacker *u, const char *dir, etp_str name, uint64_t size,
                              etp_error *err)
{
    if (!etp_run_path_ok(name)) {
        return etp_fail_at(err, ETP_CORRUPT, u->in.pos,
                           "the archive names a place outside its folder, or no plain file");
    }
    if (u->count->files == ETP_PACK_MAX_FILES || size > ETP_PACK_MAX_BYTES - u->count->bytes) {
        return etp_fail_at(err, ETP_CORRUPT, u->in.pos,
                           "the archive holds more than %u files or %llu GiB", ETP_PACK_MAX_FILES,
                           (unsigned long long)(ETP_PACK_MAX_BYTES >> 30));
    }
    etp_arena arena = {0};
    const char *path = etp_run_path(&arena, dir, name);
    const char *member = etp_arena_strdup(&arena, name);
    etp_status st = ETP_OK;
    if (etp_os_is_file(path) || etp_os_is_dir(path)) {
        st = etp_fail_at(err, ETP_CORRUPT, u->in.pos, "the archive holds the same name twice");
    }
    if (st == ETP_OK) {
        u->left = size;
        st = etp_os_replace_below(dir, member, fill_file, u, err);
    }
    if (st == ETP_OK) {
        u->count->files++;
        u->count->bytes += size;
        st = skip_padding(u, size, err);
    }
    etp_arena_dispose(&arena);
    return st;
}

static etp_status check_header(const unpacker *u, const ustar_header *h, uint64_t *out_size,
                               etp_error *err)
{
    uint64_t sum;
    const char *problem = NULL;
    if (memcmp(h->magic, "ustar", 5) != 0) {
        problem = "no ustar archive inside";
    } else if (!octal(h->checksum, sizeof h->checksum, &sum) || sum != sum_of(h)) {
        problem = "a header's checksum is wrong";
    } else if (h->type != '0' && h->type != '\0' && h->type != 'L') {
        problem = "the archive holds something else than files: a link, a folder or a device";
    } else if (!octal(h->size, sizeof h->size, out_size)) {
        problem = "a header's size is no number";
    } else if (h->prefix[0] != '\0') {
        problem = "a header has a prefix";
    } else if (h->type == 'L' && (*out_size < 2 || *out_size > MAX_NAME + 1)) {
        problem = "a name is empty or too long";
    }
    return problem ? etp_fail_at(err, ETP_CORRUPT, u->in.pos, "%s", problem) : ETP_OK;
}

// After the zero block: more zeros at most, and the end of the frame, which holds its checksum.
// Without reading that far, a flipped bit gives another file and no error.
static etp_status finish(unpacker *u, etp_error *err)
{
    static const char k_zero[BLOCK] = {0};
    char rest[BLOCK];
    for (;;) {
        ZSTD_outBuffer out = {rest, sizeof rest, 0};
        size_t before = u->in.pos;
        size_t hint = ZSTD_decompressStream(u->zstd, &out, &u->in);
        if (ZSTD_isError(hint)) {
            return etp_fail_at(err, ETP_CORRUPT, u->in.pos, "not a packed run folder: %s",
                               ZSTD_getErrorName(hint));
        }
        if (memcmp(rest, k_zero, out.pos) != 0) {
            return etp_fail_at(err, ETP_CORRUPT, u->in.pos,
                               "something follows the end of the archive");
        }
        if (hint == 0 && u->in.pos == u->in.size) {
            return ETP_OK;
        }
        if (out.pos == 0 && u->in.pos == before) {
            return etp_fail_at(err, ETP_CORRUPT, u->in.pos, "the archive is cut short");
        }
    }
}

static etp_status unpack_all(unpacker *u, const char *dir, etp_error *err)
{
    char long_name[MAX_NAME + 1];
    size_t long_len = 0;
    for (;;) {
        ustar_header h;
        uint64_t size = 0;
        ETP_TRY(pull(u, &h, sizeof h, err));
        if (h.name[0] == '\0' && h.type == '\0' && sum_of(&h) == 8u * ' ') {
            return finish(u, err); // the zero block at the end
        }
        ETP_TRY(check_header(u, &h, &size, err));
        if (h.type == 'L') {
            ETP_TRY(pull(u, long_name, (size_t)size, err));
            ETP_TRY(skip_padding(u, size, err));
            long_len = strnlen(long_name, (size_t)size);
            continue;
        }
        etp_str name = long_len > 0 ? (etp_str){long_name, long_len}
                                    : (etp_str){h.name, strnlen(h.name, sizeof h.name)};
        ETP_TRY(unpack_file(u, dir, name, size, err));
        long_len = 0;
    }
}

etp_status etp_run_unpack(const char *file, const char *dir, etp_pack_count *out, etp_error *err)
{
    *out = (etp_pack_count){0};
    etp_arena arena = {0};
    etp_file packed = {0};
    const char *made = NULL;
    unpacker u = {.zstd = ZSTD_createDCtx(), .count = out};
    etp_status st =
        u.zstd && !ZSTD_isError(ZSTD_DCtx_setParameter(u.zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX))
            ? etp_file_open(file, ETP_PACK_MAX_BYTES, &packed, err)
            : etp_fail_nomem(err, "zstd");
    if (st == ETP_OK) {
        u.in = (ZSTD_inBuffer){packed.bytes.ptr, packed.bytes.len, 0};
        st = etp_run_create_folder(dir, true, &arena, &made, err);
        made = st == ETP_OK ? made : NULL;
    }
    if (st == ETP_OK) {
        st = unpack_all(&u, dir, err);
    }
    if (st == ETP_OK && !etp_run_is(dir)) {
        st =
            etp_fail(err, ETP_CORRUPT, "there is no run folder in it (no manifest.json of etprof)");
    }
    if (st != ETP_OK && made && etp_os_remove_tree(made, NULL) != ETP_OK) {
        etp_fail_ctx(err, "(some files are left in %s)", made);
    }
    etp_file_close(&packed);
    ZSTD_freeDCtx(u.zstd);
    etp_arena_dispose(&arena);
    return st == ETP_OK ? ETP_OK : etp_fail_ctx(err, "%s", file);
}
