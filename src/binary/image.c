// SPDX-License-Identifier: Apache-2.0
// Programs and libraries as sorted arrays of functions, whatever the format of the file.
#include "base/choice.h"
#include "base/guard.h"
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
    for (etp_machine m = ETP_MACHINE_UNKNOWN + 1; m < ETP_MACHINES; m++) {
        if (etp_str_eqz(name, etp_machine_name(m))) {
            return m;
        }
    }
    return ETP_MACHINE_UNKNOWN;
}

const char *etp_bounds_name(etp_bounds bounds)
{
    static const char *const k_names[] = {"none", "symbol", "unwind", "starts", "flow"};
    return k_names[bounds];
}

static int by_start(const void *pa, const void *pb)
{
    const etp_image_symbol *a = pa, *b = pb;
    return etp_order_then(ETP_ORDER(a->start, b->start),
                          etp_order_then(ETP_ORDER(b->end, a->end), etp_str_cmp(a->name, b->name)));
}

static int by_range(const void *pa, const void *pb)
{
    const etp_range *a = pa, *b = pb;
    return etp_order_then(ETP_ORDER(a->start, b->start), ETP_ORDER(a->end, b->end));
}

static uint64_t big(const uint8_t *p, size_t bytes)
{
    uint64_t v = 0;
    for (size_t i = 0; i < bytes; i++) {
        v = v << 8 | p[i];
    }
    return v;
}

static etp_status read_tables(etp_bytes whole, etp_arena *arena, etp_image **out, etp_error *err)
{
    // Of a universal file the part for arm64, else that for x86-64; of any other file all of it.
    etp_bytes file = whole;
    uint64_t magic = whole.len >= 8 ? big(whole.ptr, 4) : 0;
    if (magic == FAT_MAGIC || magic == FAT_MAGIC_64) {
        bool wide = magic == FAT_MAGIC_64;
        uint64_t n = big(whole.ptr + 4, 4), size = wide ? 32 : 20;
        if (n > FAT_PARTS || n * size > whole.len - 8) { // a Java class begins with these bytes too
            return etp_fail_at(err, ETP_UNSUPPORTED, 4, "neither ELF nor Mach-O");
        }
        etp_bytes x86 = {0}, arm = {0};
        for (uint64_t i = 0; i < n; i++) {
            const uint8_t *p = whole.ptr + 8 + i * size;
            etp_bytes one = wide ? etp_image_part(whole, big(p + 8, 8), big(p + 16, 8))
                                 : etp_image_part(whole, big(p + 8, 4), big(p + 12, 4));
            x86 = big(p, 4) == CPU_X86_64 ? one : x86;
            arm = big(p, 4) == CPU_ARM64 ? one : arm;
        }
        file = arm.ptr ? arm : x86;
        if (!file.ptr) {
            return etp_fail_at(err, ETP_UNSUPPORTED, 8,
                               "a universal file without a part for arm64 or x86-64");
        }
    }
    bool elf = file.len >= 16 && memcmp(file.ptr, "\177ELF", 4) == 0;
    bool macho = file.len >= 16 && memcmp(file.ptr, "\317\372\355\376", 4) == 0;
    if (!elf && !macho) {
        return etp_fail_at(err, ETP_UNSUPPORTED, file.base,
                           "neither a 64-bit ELF nor a 64-bit Mach-O file");
    }
    etp_image *image = ETP_NEW(arena, etp_image);
    image->file = file;
    ETP_TRY(elf ? etp_elf_read(image, arena, err) : etp_macho_read(image, arena, err));
    if (image->symbols.n > 1) {
        qsort(image->symbols.items, image->symbols.n, sizeof *image->symbols.items, by_start);
    }
    if (image->ranges.n > 1) {
        qsort(image->ranges.items, image->ranges.n, sizeof *image->ranges.items, by_range);
    }
    bool labels = image->range_bounds == ETP_BOUNDS_STARTS && image->machine == ETP_MACHINE_AARCH64;
    if (labels) {
        etp_image_join_labels(image, arena);
    }
    *out = image;
    return ETP_OK;
}

etp_status etp_image_open_tables(etp_bytes whole, etp_arena *arena, etp_image **out, etp_error *err)
{
    ETP_GUARDED(arena, err, "functions", read_tables(whole, arena, out, err));
}

etp_status etp_image_open(etp_bytes whole, etp_arena *arena, etp_image **out, etp_error *err)
{
    ETP_TRY(etp_image_open_tables(whole, arena, out, err));
    if ((*out)->format == ETP_IMAGE_ELF) {
        ETP_TRY(etp_image_fill_gaps(*out, arena, err));
    }
    return etp_arena_check(arena, err, "functions");
}
