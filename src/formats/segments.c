// SPDX-License-Identifier: Apache-2.0
// Where a segment of a .pte or a .ptd lies.
#include "formats/segments.h"

#include "formats/pte_schema.h"

// The tables begin with the file, so positions in it are positions of theirs.
etp_status etp_segment_find(const etp_segments *all, etp_fb_table t, uint32_t i, etp_bytes *out,
                            etp_error *err)
{
    uint64_t offset = etp_fb_u64(t, SEGMENT_OFFSET, 0), size = etp_fb_u64(t, SEGMENT_SIZE, 0);
    uint64_t room = all->file.len - all->base;
    // Without a base there are no segments, and one would show the file's tables as data.
    if (offset > room || size > room - offset || (size > 0 && all->base == 0)) {
        return etp_fail_at(err, ETP_CORRUPT, etp_fb_position(all->file, t),
                           "segment %lu (offset %llu, %llu bytes behind %llu) reaches beyond "
                           "the file's %zu bytes: the file is cut off or damaged",
                           (unsigned long)i, (unsigned long long)offset, (unsigned long long)size,
                           (unsigned long long)all->base, all->file.len);
    }
    // Exporters write where the last segment ends; what lies behind that belongs to somebody else.
    if (all->size_known && (offset > all->size || size > all->size - offset)) {
        return etp_fail_at(err, ETP_CORRUPT, etp_fb_position(all->file, t),
                           "segment %lu (offset %llu, %llu bytes) reaches beyond the %llu bytes of "
                           "segments that the header tells of: the file is damaged",
                           (unsigned long)i, (unsigned long long)offset, (unsigned long long)size,
                           (unsigned long long)all->size);
    }
    *out = (etp_bytes){all->file.ptr + all->base + offset, (size_t)size,
                       all->file.base + all->base + offset};
    return ETP_OK;
}
