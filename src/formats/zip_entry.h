// SPDX-License-Identifier: Apache-2.0
// What the readers of zip archives share: an ETRecord and an .npz archive are both one.
#ifndef ETP_FORMATS_ZIP_ENTRY_H
#define ETP_FORMATS_ZIP_ENTRY_H

#include <etprof/error.h>

#include <zip.h>

// Unpacks the entry that STAT tells about (its name, index and size are valid) into DATA, which has
// room for STAT's size. An entry that is shorter or longer than it says, or whose CRC is another,
// is ETP_CORRUPT.
ETP_NODISCARD etp_status etp_zip_unpack(zip_t *zip, const zip_stat_t *stat, void *data,
                                        etp_error *err);

#endif
