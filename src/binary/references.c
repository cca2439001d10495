// SPDX-License-Identifier: Apache-2.0
// Addresses of code that other code or a table of the file names: what is called, and what is taken
// to be called later, as the tables of micro-kernels do. Only those between the functions that
// tables know are kept. On x86-64 bytes that look like such an instruction are one when the
// function around them reads so from its begin.
#include <stdlib.h>

#include "base/order.h"
#include "binary/flow.h"
#include "binary/image_parts.h"

#define ALIGNED 16u
#define LONGEST ((uint64_t)64 << 10) // of a function that is read from its begin
#define NEAR 8u                      // instructions between the two halves of an A64 address

typedef struct seeker {
    const etp_image *image;
    etp_x86_reader *reader;
    etp_arena *arena;
    etp_addresses *out;
} seeker;

static bool in_gap(const etp_image *image, uint64_t address)
{
    etp_function f;
    return !etp_image_function(image, address, &f);
}

static void take(seeker *s, uint64_t address)
{
    if (address % ALIGNED == 0 && in_gap(s->image, address)) {
        ETP_ADD(s->arena, s->out, address);
    }
}

// Does an instruction begin at ADDRESS? True outside known functions and far from their begins,
// where nothing can be said.
static bool is_instruction(seeker *s, uint64_t address)
{
    etp_function f;
    etp_bytes code;
    if (!etp_image_function(s->image, address, &f) ||
        !etp_image_code(s->image, f.start, f.end, &code)) {
        return true;
    }
    size_t at = 0, wanted = (size_t)(address - f.start);
    if (wanted > LONGEST) {
        return true;
    }
    while (at < wanted) {
        size_t n = etp_x86_length(s->reader, code.ptr + at, code.len - at);
        if (n == 0) {
            return true;
        }
        at += n;
    }
    return at == wanted;
}

static uint64_t relative(const uint8_t *p)
{
    return (uint64_t)(int64_t)(int32_t)etp_load_u32(p);
}

// call rel32; lea r64, [rip + rel32].
static void seek_x86(seeker *s, etp_bytes code, uint64_t address)
{
    for (size_t i = 0; i + 7 <= code.len; i++) {
        const uint8_t *p = code.ptr + i;
        bool lea = (p[0] & 0xfb) == 0x48 && p[1] == 0x8d && (p[2] & 0xc7) == 5;
        if (!lea && p[0] != 0xe8) {
            continue;
        }
        uint64_t to = lea ? address + i + 7 + relative(p + 3) : address + i + 5 + relative(p + 1);
        if (to % ALIGNED == 0 && in_gap(s->image, to) && is_instruction(s, address + i)) {
            take(s, to);
        }
    }
}

// bl; adrp with the add that follows it; adr.
static void seek_a64(seeker *s, etp_bytes code, uint64_t address)
{
    for (size_t i = 0; i + 4 <= code.len; i += 4) {
        uint32_t w = etp_load_u32(code.ptr + i);
        etp_flow f = etp_flow_a64(w);
        uint64_t here = address + i;
        if (f.kind == ETP_FLOW_CALL && f.distance != 0) {
            take(s, here + (uint64_t)f.distance);
        }
        if ((w & 0x1f000000u) != 0x10000000u) { // adr, adrp
            continue;
        }
        uint64_t value = (uint64_t)(w >> 5 & 0x7ffffu) << 2 | (w >> 29 & 3u);
        value = value & 0x100000u ? value | ~(uint64_t)0x1fffffu : value;
        if (!(w >> 31)) {
            take(s, here + value);
            continue;
        }
        uint64_t page = (here & ~(uint64_t)0xfff) + (value << 12);
        for (size_t k = 1; k <= NEAR && i + 4 * k + 4 <= code.len; k++) {
            uint32_t add = etp_load_u32(code.ptr + i + 4 * k);
            if ((add & 0xffc00000u) == 0x91000000u && (add >> 5 & 31u) == (w & 31u)) {
                take(s, page + (add >> 10 & 0xfffu));
                break;
            }
        }
    }
}

void etp_image_references(const etp_image *image, etp_x86_reader *reader, etp_arena *arena,
                          etp_addresses *out)
{
    seeker s = {image, reader, arena, out};
    for (size_t i = 0; i < image->code.n; i++) {
        etp_bytes code;
        const etp_range *r = &image->code.items[i];
        if (!etp_image_code(image, r->start, r->end, &code)) {
            continue;
        }
        if (image->machine == ETP_MACHINE_X86_64) {
            seek_x86(&s, code, r->start);
        } else {
            seek_a64(&s, code, r->start);
        }
    }
    for (size_t i = 0; i < image->pointers.n; i++) { // that the loader puts into tables
        if (in_gap(image, image->pointers.items[i])) {
            ETP_ADD(arena, out, image->pointers.items[i]);
        }
    }
    if (out->n > 1) {
        qsort(out->items, out->n, sizeof *out->items, etp_order_u64);
    }
}
