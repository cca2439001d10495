// SPDX-License-Identifier: Apache-2.0
// Files that are kept compressed (zstd): any tool for that format opens them.
#include <zstd.h>

#include "base/number.h"
#include "os/os.h"

#define LEVEL 6          // of a recording: a fifth is left, as at any level above; 30 MB/s
#define MOST_TIMES 1000u // what unpacks to more is no recording, whoever wrote it

etp_status etp_os_pack(etp_str content, etp_arena *arena, etp_str *out, etp_error *err)
{
    size_t room = ZSTD_compressBound(content.len);
    char *bytes = etp_arena_alloc_raw(arena, room, 1);
    ZSTD_CCtx *zstd = bytes ? ZSTD_createCCtx() : NULL;
    ETP_NEED(zstd, err, "compressing");
    size_t n = ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, LEVEL);
    if (!ZSTD_isError(n)) {
        // A damaged recording shall be noticed here, not by a reader of what it unpacks to.
        n = ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
    }
    if (!ZSTD_isError(n)) {
        n = ZSTD_compress2(zstd, bytes, room, content.ptr, content.len);
    }
    ZSTD_freeCCtx(zstd);
    if (ZSTD_isError(n)) {
        return etp_fail(err, ETP_NOMEM, "zstd: %s", ZSTD_getErrorName(n));
    }
    *out = (etp_str){bytes, n};
    return ETP_OK;
}

static etp_status unpack(const char *path, const etp_file *packed, uint64_t limit, etp_file *out,
                         etp_error *err)
{
    // What the file claims is believed only as far as LIMIT and MOST_TIMES let it.
    uint64_t size = ZSTD_getFrameContentSize(packed->bytes.ptr, packed->bytes.len);
    if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR) {
        return etp_fail(err, ETP_UNSUPPORTED,
                        "%s does not say how large it is unpacked: unpack it with 'zstd -d'", path);
    }
    if (size > limit || size > SIZE_MAX / 2 || size / MOST_TIMES > packed->bytes.len) {
        return etp_fail(err, ETP_UNSUPPORTED,
                        "%s is too large unpacked: %s, at most %s and %u times what it has", path,
                        ETP_BYTES(size), ETP_BYTES(limit), MOST_TIMES);
    }
    uint8_t *bytes = etp_arena_alloc_raw(&out->arena, (size_t)size, 16);
    ETP_NEED(bytes || size == 0, err, path);
    size_t n = ZSTD_decompress(bytes, (size_t)size, packed->bytes.ptr, packed->bytes.len);
    if (ZSTD_isError(n) || n != size) {
        return etp_fail(err, ETP_CORRUPT, "%s cannot be unpacked: %s", path,
                        ZSTD_isError(n) ? ZSTD_getErrorName(n) : "it is shorter than it says");
    }
    out->bytes = (etp_bytes){bytes, n, 0};
    return ETP_OK;
}

etp_status etp_file_open_unpacked(const char *path, uint64_t limit, etp_file *out, etp_error *err)
{
    ETP_TRY(etp_file_open(path, limit, out, err));
    static const uint8_t k_magic[] = {0x28, 0xb5, 0x2f, 0xfd};
    if (out->bytes.len < sizeof k_magic || memcmp(out->bytes.ptr, k_magic, sizeof k_magic) != 0) {
        return ETP_OK;
    }
    etp_file packed = *out;
    *out = (etp_file){0};
    etp_status st = unpack(path, &packed, limit, out, err);
    etp_file_close(&packed);
    if (st != ETP_OK) {
        etp_file_close(out);
    }
    return st;
}
