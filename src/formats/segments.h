// SPDX-License-Identifier: Apache-2.0
// Segments: data behind the tables of a .pte or a .ptd, which are built alike.
#ifndef ETP_FORMATS_SEGMENTS_H
#define ETP_FORMATS_SEGMENTS_H

#include "flatbuf/flatbuf.h"

typedef struct etp_segments { // what a file's header says of them
    etp_bytes file;
    uint64_t base; // where they begin, inside the file; 0: there are none
    uint64_t size; // of all of them, with what lies between
    bool size_known;
} etp_segments;

// The bytes of segment number I, which the table T describes. ETP_CORRUPT where they are not all
// among the segments.
ETP_NODISCARD etp_status etp_segment_find(const etp_segments *all, etp_fb_table t, uint32_t i,
                                          etp_bytes *out, etp_error *err);

#endif
