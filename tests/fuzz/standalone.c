// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target over files and folders of inputs, without libFuzzer. Each input is a block of
// its own size, so that the address sanitizer sees reads behind its end.
#include <string.h>

#include "fuzz.h"
#include "os/os.h"

static size_t g_inputs; // the driver's only state

static int run_file(const char *path)
{
    etp_file file = {0};
    etp_error err = {0};
    if (etp_file_open(path, (uint64_t)1 << 30, &file, &err) != ETP_OK) {
        fprintf(stderr, "%s: %s\n", path, err.msg);
        return 1;
    }
    uint8_t *copy = malloc(file.bytes.len ? file.bytes.len : 1);
    if (!copy) {
        return 1;
    }
    if (file.bytes.len) {
        memcpy(copy, file.bytes.ptr, file.bytes.len);
    }
    LLVMFuzzerTestOneInput(copy, file.bytes.len);
    g_inputs++;
    free(copy);
    etp_file_close(&file);
    return 0;
}

static int run_folder(const char *path)
{
    etp_arena arena = {0};
    etp_dir_list list = {0};
    etp_error err = {0};
    int failed = 0;
    if (etp_os_list(path, &arena, &list, &err) != ETP_OK) {
        fprintf(stderr, "%s\n", err.msg);
        failed = 1;
    }
    for (size_t i = 0; i < list.n; i++) {
        if (!list.items[i].is_dir) {
            failed |= run_file(etp_arena_printf(&arena, "%s/%s", path, list.items[i].name));
        }
    }
    etp_arena_dispose(&arena);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        failed |= etp_os_is_dir(argv[i]) ? run_folder(argv[i]) : run_file(argv[i]);
    }
    printf("%zu inputs\n", g_inputs);
    return failed || g_inputs == 0 ? 1 : 0;
}
