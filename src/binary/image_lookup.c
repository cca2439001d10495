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
    return image->format == ETP_IMAGE_ELF ? etp_elf_section(image, name) : etp_macho_section(image, name);
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
    return image->ranges.n;
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

static const etp_range *range_of(const etp_image *image, uint64_t address)
{
    size_t lo = 0, hi = image->ranges.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (image->ranges.items[mid].start <= address) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo > 0 && address < image->ranges.items[lo - 1].end ? &image->ranges.items[lo - 1] : NULL;
}

bool etp_image_function(const etp_image *image, uint64_t address, etp_function *out)
{
    *out = (etp_function){0};
    const etp_image_symbol *s = symbol_before(image, address);
    if (s && address < s->end) {
        *out = (etp_function){s->start, s->end, s->name, ETP_BOUNDS_SYMBOL};
        return true;
    }
    const etp_range *r = range_of(image, address);
    if (!r) {
        return false;
    }
    *out = (etp_function){r->start, r->end, {0}, image->range_bounds};
    s = symbol_before(image, r->start);
    if (s && s->start == r->start) {
        out->symbol = s->name;
    }
    return true;
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
    const etp_range *r = &image->ranges.items[i];
    etp_function f = {r->start, r->end, {0}, image->range_bounds};
    const etp_image_symbol *s = symbol_before(image, r->start);
    f.symbol = s && s->start == r->start ? s->name : f.symbol;
    return f;
}

etp_function etp_image_symbol_at(const etp_image *image, size_t i)
{
    const etp_image_symbol *s = &image->symbols.items[i];
    etp_function f = {s->start, s->end, s->name, ETP_BOUNDS_SYMBOL};
    const etp_range *r = s->end == s->start ? range_of(image, s->start) : NULL;
    if (r) {
        f.end = r->end;
        f.bounds = image->range_bounds;
    }
    return f;
}
