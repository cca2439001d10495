// SPDX-License-Identifier: Apache-2.0
// usage: function_bounds FILE: where etprof says that the functions of a program or library begin
// and end, one a line: begin, end, who says so, name.
#include <stdio.h>

#include "binary/image.h"
#include "os/os.h"

int main(int argc, char **argv)
{
    static const char *const k_bounds[] = {"none", "symbol", "unwind", "starts", "flow"};
    etp_arena arena = {0};
    etp_file file = {0};
    etp_image *image = NULL;
    etp_error err = {.offset = ETP_NO_OFFSET};
    if (argc != 2 || etp_file_open(argv[1], UINT64_MAX, &file, &err) != ETP_OK ||
        etp_image_open(file.bytes, &arena, &image, &err) != ETP_OK) {
        fprintf(stderr, "function_bounds: %s\n", argc == 2 ? err.msg : "one FILE is wanted");
        return 1;
    }
    for (size_t i = 0; i < etp_image_range_count(image); i++) {
        etp_function f = etp_image_range_at(image, i);
        printf("%llx %llx %s %.*s\n", (unsigned long long)f.start, (unsigned long long)f.end,
               k_bounds[f.bounds], ETP_STR_ARG(f.symbol));
    }
    etp_file_close(&file);
    etp_arena_dispose(&arena);
    return 0;
}
