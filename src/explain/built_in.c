// SPDX-License-Identifier: Apache-2.0
// Which features of a CPU has a runner code for?
#include "explain/kernels.h"

#include "os/os.h"

#define LIBRARY_LIMIT ((uint64_t)1 << 30)

// Adds to CLASSES what the functions of a file need.
static etp_status read_file(const char *path, etp_arena *arena, etp_codes *classes, etp_error *err)
{
    etp_file file;
    etp_image *image;
    ETP_TRY(etp_file_open(path, LIBRARY_LIMIT, &file, err));
    etp_status st = etp_image_open(file.bytes, arena, &image, err);
    size_t ranges = st == ETP_OK ? etp_image_range_count(image) : 0;
    size_t n = st == ETP_OK && ranges == 0 ? etp_image_symbol_count(image) : ranges;
    for (size_t i = 0; i < n && st == ETP_OK; i++) {
        etp_function f = ranges > 0 ? etp_image_range_at(image, i) : etp_image_symbol_at(image, i);
        etp_bytes bytes;
        etp_code_count count;
        etp_code most;
        if (!etp_image_code(image, f.start, f.end, &bytes)) {
            continue;
        }
        st = etp_code_of(etp_image_machine(image), bytes, &count, &most, err);
        for (unsigned c = 0; c < ETP_CODES && st == ETP_OK; c++) {
            *classes |= count.of[c] > 0 ? ETP_CODE_BIT(c) : 0;
        }
    }
    etp_file_close(&file);
    return st;
}

static bool is_library(etp_str name)
{
    return etp_str_find(name, ETP_STR("xnnpack")) < name.len &&
           (etp_str_find(name, ETP_STR(".so")) < name.len ||
            etp_str_find(name, ETP_STR(".dylib")) < name.len);
}

etp_status etp_kernels_built_in(const char *dir, etp_codes *classes, etp_error *err)
{
    static const char *const k_folders[] = {"sdk", "lib", "."};
    etp_arena arena;
    etp_status st = ETP_OK;
    etp_arena_init(&arena, NULL);
    *classes = 0;
    for (size_t f = 0; f < sizeof k_folders / sizeof *k_folders && st == ETP_OK; f++) {
        etp_dir_list list = {0};
        const char *folder = etp_arena_printf(&arena, "%s/%s", dir, k_folders[f]);
        etp_status listed = folder ? etp_os_list(folder, &arena, &list, err)
                                   : etp_fail(err, ETP_NOMEM, "names of libraries: out of memory");
        if (listed != ETP_OK) {
            st = listed == ETP_NOMEM ? listed : ETP_OK; // a folder that is absent has none
            continue;
        }
        for (size_t i = 0; i < list.n && st == ETP_OK; i++) {
            etp_str name = etp_str_from(list.items[i].name);
            const char *path = etp_arena_printf(&arena, "%s/%s", folder, list.items[i].name);
            if (!path) {
                st = etp_fail(err, ETP_NOMEM, "names of libraries: out of memory");
            } else if (!list.items[i].is_dir && !list.items[i].is_other && is_library(name)) {
                st = read_file(path, &arena, classes, err);
            }
        }
    }
    etp_arena_dispose(&arena);
    return st;
}

etp_status etp_kernels_usable_in(const char *dir, const etp_isa_cpu *cpu, etp_isa_cpu *out,
                                 etp_error *err)
{
    etp_codes classes = 0;
    if (dir) {
        ETP_TRY(etp_kernels_built_in(dir, &classes, err));
    }
    *out = etp_kernels_usable(cpu, classes);
    return ETP_OK;
}
