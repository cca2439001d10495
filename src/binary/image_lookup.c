// SPDX-License-Identifier: Apache-2.0
// Questions to an image that has been read: which function, which bytes, which symbols.
#include "binary/image_parts.h"

#include <string.h>

etp_image_format etp_image_format_of(const etp_image *image)
{
    return image->format;
}

etp_bytes etp_image_section(const etp_image *image, const char *name)
{
    return image->format == ETP_IMAGE_ELF ? etp_elf_section_named(image, name)
                                          : etp_macho_section(image, name);
}

etp_machine etp_image_machine(const etp_image *image)
{
    return image->machine;
}

etp_str etp_image_build_id(const etp_image *image)
{
    return image->build_id;
}

size_t etp_image_symbol_count(const etp_image *image)
{
    return image->symbols.n;
}

size_t etp_image_range_count(const etp_image *image)
{
    return image->ranges.n + image->flows.n;
}

// First symbol of the last group that begins at or before ADDRESS, or NULL.
static const etp_image_symbol *symbol_before(const etp_image *image, uint64_t address)
{
    size_t lo = 0, hi = image->symbols.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (image->symbols.items[mid].start <= address) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    if (lo == 0) {
        return NULL;
    }
    uint64_t start = image->symbols.items[lo - 1].start;
    size_t first = lo - 1;
    while (first > 0 && image->symbols.items[first - 1].start == start) {
        first--;
    }
    return &image->symbols.items[first];
}

bool etp_image_has_symbol(const etp_image *image, uint64_t start)
{
    const etp_image_symbol *s = symbol_before(image, start);
    return s && s->start == start;
}

const etp_range *etp_range_at(const etp_ranges *ranges, uint64_t address)
{
    size_t lo = 0, hi = ranges->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (ranges->items[mid].start <= address) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo > 0 && address < ranges->items[lo - 1].end ? &ranges->items[lo - 1] : NULL;
}

// The range as a function, with the name of a symbol that begins there.
static etp_function of_range(const etp_image *image, const etp_range *r, etp_bounds bounds)
{
    const etp_image_symbol *s = symbol_before(image, r->start);
    return (etp_function){r->start, r->end, s && s->start == r->start ? s->name : (etp_str){0},
                          bounds};
}

// The range that covers ADDRESS, of a table or of a gap.
static bool range_around(const etp_image *image, uint64_t address, etp_function *out)
{
    const etp_range *r = etp_range_at(&image->ranges, address);
    const etp_range *gap = r ? NULL : etp_range_at(&image->flows, address);
    if (r || gap) {
        *out = r ? of_range(image, r, image->range_bounds) : of_range(image, gap, ETP_BOUNDS_FLOW);
    }
    return r || gap;
}

bool etp_image_function(const etp_image *image, uint64_t address, etp_function *out)
{
    *out = (etp_function){0};
    const etp_image_symbol *s = symbol_before(image, address);
    if (s && address < s->end) {
        *out = (etp_function){s->start, s->end, s->name, ETP_BOUNDS_SYMBOL};
        return true;
    }
    return range_around(image, address, out);
}

bool etp_image_code(const etp_image *image, uint64_t start, uint64_t end, etp_bytes *out)
{
    for (size_t i = 0; i < image->n_segments; i++) {
        const etp_image_segment *s = &image->segments[i];
        if (start >= s->address && start - s->address <= s->size && end >= start &&
            end - start <= s->size - (start - s->address)) {
            uint64_t at = start - s->address;
            *out = (etp_bytes){s->bytes.ptr + at, (size_t)(end - start), s->bytes.base + at};
            return true;
        }
    }
    return false;
}

etp_function etp_image_range_at(const etp_image *image, size_t i)
{
    size_t n = image->ranges.n;
    return i < n ? of_range(image, &image->ranges.items[i], image->range_bounds)
                 : of_range(image, &image->flows.items[i - n], ETP_BOUNDS_FLOW);
}

etp_function etp_image_symbol_at(const etp_image *image, size_t i)
{
    const etp_image_symbol *s = &image->symbols.items[i];
    etp_function f = {s->start, s->end, s->name, ETP_BOUNDS_SYMBOL}, around;
    if (s->end == s->start && range_around(image, s->start, &around)) {
        f.end = around.end;
        f.bounds = around.bounds;
    }
    return f;
}
