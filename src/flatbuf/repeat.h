// SPDX-License-Identifier: Apache-2.0
// Recognises table trees that repeat one seen before: same bytes but for fields marked `varies` and
// for the distances to the shared vtables. What is true of the tree seen before (it was verified,
// its strings, its layout) is then true of the other one, at the price of one masked comparison.
#ifndef ETP_FLATBUF_REPEAT_H
#define ETP_FLATBUF_REPEAT_H

#include <etprof/arena.h>

#include "flatbuf/flatbuf.h"

typedef struct etp_fb_shape { // fields are private to the room, which checks nothing of them
    const uint8_t *table;     // the tree it was taken from
    size_t before, len;       // bytes it covers: LEN from BEFORE bytes in front of the table on
    size_t n_words, cap_words;
    uint32_t *words;           // its 32-bit words …
    uint32_t *mask;            // … bits that have to be equal …
    uint32_t *moves;           // … and all ones where the word is a distance to a vtable
    int32_t nearest, farthest; // smallest and greatest distance to a vtable
    size_t align;
    uint64_t tables, bytes; // what verifying it counts
    uint32_t index;         // which element of the vector it is
} etp_fb_shape;

// Takes the shape of the verified tree at TABLE. False when it cannot be repeated (too big, too
// sparse, overlapping itself) or memory is short; SHAPE is unusable then.
bool etp_fb_shape_take(etp_fb_shape *shape, const etp_fb_schema *schema, etp_bytes bytes,
                       const uint8_t *table, etp_arena *arena);

// Is the tree at TABLE (4 bytes of it inside BYTES) a repetition of SHAPE?
bool etp_fb_shape_repeats(const etp_fb_shape *shape, etp_bytes bytes, const uint8_t *table);

#endif
