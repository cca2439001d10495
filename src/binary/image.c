// SPDX-License-Identifier: Apache-2.0
// Programs and libraries as sorted arrays of functions, whatever the format of the file.
#include "binary/image_parts.h"

#include <stdlib.h>

#define FAT_MAGIC 0xcafebabeu // big-endian, as all of its header
#define FAT_MAGIC_64 0xcafebabfu
#define FAT_PARTS 64
enum { CPU_X86_64 = 0x01000007, CPU_ARM64 = 0x0100000c };

const char *etp_machine_name(etp_machine machine)
{
    static const char *const k_names[] = {"unknown", "x86_64", "aarch64"};
    return k_names[machine];
}

etp_machine etp_machine_find(etp_str name)
{
    return etp_str_eqz(name, "x86_64")    ? ETP_MACHINE_X86_64
           : etp_str_eqz(name, "aarch64") ? ETP_MACHINE_AARCH64
                                          : ETP_MACHINE_UNKNOWN;
}

etp_bytes etp_image_part(etp_bytes file, uint64_t offset, uint64_t size)
{
    if (offset > file.len || size > file.len - offset) {
        return (etp_bytes){0};
    }
    return (etp_bytes){file.ptr + offset, (size_t)size, file.base + offset};
}

etp_status etp_image_set_id(etp_image *image, etp_bytes id, etp_arena *arena, etp_error *err)
{
    char *text = etp_arena_alloc(arena, 2 * id.len + 1);
    if (!text) {
        return etp_fail_nomem(err, "build id");
    }
    for (size_t i = 0; i < id.len; i++) {
        text[2 * i] = "0123456789abcdef"[id.ptr[i] >> 4];
        text[2 * i + 1] = "0123456789abcdef"[id.ptr[i] & 15];
    }
    image->build_id = (etp_str){text, 2 * id.len};
    return ETP_OK;
}

etp_str etp_image_name_at(etp_bytes names, uint32_t offset)
{
    if (offset >= names.len) {
        return (etp_str){0};
    }
    const char *start = (const char *)names.ptr + offset;
    const void *end = memchr(start, 0, names.len - offset);
    return end ? (etp_str){start, (size_t)((const char *)end - start)} : (etp_str){0};
}

static int by_start(const void *pa, const void *pb)
{
    const etp_image_symbol *a = pa, *b = pb;
    if (a->start != b->start) {
        return a->start < b->start ? -1 : 1;
    }
    if (a->end != b->end) {
        return a->end > b->end ? -1 : 1;
    }
    return etp_str_cmp(a->name, b->name);
}

int etp_image_by_range(const void *pa, const void *pb)
{
    const etp_range *a = pa, *b = pb;
    if (a->start != b->start) {
        return a->start < b->start ? -1 : 1;
    }
    return (a->end > b->end) - (a->end < b->end);
}

static uint64_t big(const uint8_t *p, size_t bytes)
{
    uint64_t v = 0;
    for (size_t i = 0; i < bytes; i++) {
        v = v << 8 | p[i];
    }
    return v;
}

// The arm64 part of a universal file, else its x86-64 part; the file itself when it is none.
static etp_status choose_part(etp_bytes file, etp_bytes *out, etp_error *err)
{
    *out = file;
    uint64_t magic = file.len >= 8 ? big(file.ptr, 4) : 0;
    if (magic != FAT_MAGIC && magic != FAT_MAGIC_64) {
        return ETP_OK;
    }
    bool wide = magic == FAT_MAGIC_64;
    uint64_t n = big(file.ptr + 4, 4), size = wide ? 32 : 20;
    if (n > FAT_PARTS || n * size > file.len - 8) { // a Java class begins with these bytes too
        return etp_fail_at(err, ETP_UNSUPPORTED, 4, "neither ELF nor Mach-O");
    }
    etp_bytes x86 = {0}, arm = {0};
    for (uint64_t i = 0; i < n; i++) {
        const uint8_t *p = file.ptr + 8 + i * size;
        etp_bytes one = wide ? etp_image_part(file, big(p + 8, 8), big(p + 16, 8))
                             : etp_image_part(file, big(p + 8, 4), big(p + 12, 4));
        x86 = big(p, 4) == CPU_X86_64 ? one : x86;
        arm = big(p, 4) == CPU_ARM64 ? one : arm;
    }
    *out = arm.ptr ? arm : x86;
    return out->ptr ? ETP_OK
                    : etp_fail_at(err, ETP_UNSUPPORTED, 8, "a universal file without a part for arm64 or x86-64");
}

etp_status etp_image_open(etp_bytes whole, etp_arena *arena, etp_image **out, etp_error *err)
{
    etp_bytes file;
    ETP_TRY(choose_part(whole, &file, err));
    bool elf = file.len >= 16 && memcmp(file.ptr, "\177ELF", 4) == 0;
    bool macho = file.len >= 16 && memcmp(file.ptr, "\317\372\355\376", 4) == 0;
    if (!elf && !macho) {
        return etp_fail_at(err, ETP_UNSUPPORTED, file.base, "neither a 64-bit ELF nor a 64-bit Mach-O file");
    }
    etp_image *image = ETP_NEW(arena, etp_image);
    if (!image) {
        return etp_fail_nomem(err, "program file");
    }
    image->file = file;
    ETP_TRY(elf ? etp_elf_read(image, arena, err) : etp_macho_read(image, arena, err));
    if (image->symbols.n > 1) {
        qsort(image->symbols.items, image->symbols.n, sizeof *image->symbols.items, by_start);
    }
    if (image->ranges.n > 1) {
        qsort(image->ranges.items, image->ranges.n, sizeof *image->ranges.items, etp_image_by_range);
    }
    bool labels = image->range_bounds == ETP_BOUNDS_STARTS && image->machine == ETP_MACHINE_AARCH64;
    if (labels && !etp_image_join_labels(image, arena)) {
        return etp_fail_nomem(err, "functions");
    }
    *out = image;
    return ETP_OK;
}

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
