// SPDX-License-Identifier: Apache-2.0
// What the readers of single formats have in common.
#include "binary/image_parts.h"

void etp_image_set_id(etp_image *image, etp_bytes id, etp_arena *arena)
{
    char *text = etp_arena_alloc(arena, 2 * id.len + 1);
    for (size_t i = 0; i < id.len; i++) {
        text[2 * i] = "0123456789abcdef"[id.ptr[i] >> 4];
        text[2 * i + 1] = "0123456789abcdef"[id.ptr[i] & 15];
    }
    image->build_id = (etp_str){text, 2 * id.len};
}

void etp_image_read_unwind(etp_bytes section, uint64_t address, etp_arena *arena, etp_ranges *out)
{
    etp_unwind u = etp_unwind_begin(section, address);
    etp_range range;
    while (out->n < ETP_IMAGE_RANGES && etp_unwind_next(&u, &range)) {
        ETP_ADD(arena, out, range);
    }
}
