// SPDX-License-Identifier: Apache-2.0
// Files by content.
#include "base/sha256.h"
#include "os/os.h"

etp_status etp_os_hash_file(const char *path, char out_hex[static 65], uint64_t *out_bytes,
                            etp_error *err)
{
    etp_file file;
    ETP_TRY(etp_file_open(path, UINT64_MAX, &file, err));
    etp_sha256_of(file.bytes.ptr, file.bytes.len, out_hex);
    if (out_bytes) {
        *out_bytes = file.bytes.len;
    }
    etp_file_close(&file);
    return ETP_OK;
}
