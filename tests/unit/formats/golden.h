// SPDX-License-Identifier: Apache-2.0
// Expected structure from flatc: gzipped JSON beside the fixtures, and checks against it.
#ifndef ETP_TESTS_FORMATS_GOLDEN_H
#define ETP_TESTS_FORMATS_GOLDEN_H

#include <jansson.h>

#include <etprof/pte.h>

#include "os/os.h"

// Every number is read as a double: flatc prints 2^64−1, which jansson refuses as an integer.
json_t *golden_load(const char *path); // NULL when there is no such file; fails on broken JSON
double golden_number(const json_t *object, const char *key);      // 0 when absent, like flatbuffers
const char *golden_string(const json_t *object, const char *key); // "" when absent

void golden_ids(const json_t *array, etp_i32s v);
void golden_str(const json_t *object, const char *key, etp_str s);

// PATHs of the files below DIR that end in SUFFIX, sorted. The arena owns them.
typedef struct golden_files {
    const char **items;
    size_t n, cap;
} golden_files;
void golden_list(const char *dir, const char *suffix, etp_arena *arena, golden_files *out);
void golden_open(const char *path, etp_file *out); // fails the test when it cannot

#endif
