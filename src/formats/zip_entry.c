// SPDX-License-Identifier: Apache-2.0
// Reading one entry of a zip archive whole.
#include "formats/zip_entry.h"

#include <stdbool.h>
#include <stdint.h>

etp_status etp_zip_unpack(zip_t *zip, const zip_stat_t *stat, void *data, etp_error *err)
{
    zip_file_t *file = zip_fopen_index(zip, stat->index, 0);
    zip_int64_t got = file ? zip_fread(file, data, stat->size) : -1;
    // Reading beyond the end makes libzip check the CRC, and shows an entry that is longer than it
    // says. Changed digits would otherwise be other debug handles, or other inputs of a model.
    char more;
    bool whole = got >= 0 && (uint64_t)got == stat->size && zip_fread(file, &more, 1) == 0;
    etp_status status = ETP_OK;
    if (!whole) {
        status = etp_fail(err, ETP_CORRUPT, "entry %s cannot be unpacked: %s", stat->name,
                          file ? zip_file_strerror(file) : zip_strerror(zip));
    }
    if (file) {
        zip_fclose(file);
    }
    return status;
}
