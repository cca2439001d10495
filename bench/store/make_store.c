// SPDX-License-Identifier: Apache-2.0
// Writes a store of sessions that nobody measured: 10 models on 10 devices, night by night.
#include <stdio.h>
#include <stdlib.h>

#include "../../tests/unit/archive/made_session.h"

#define MODELS 10
#define DEVICES 10

static etp_status enter(const char *path, unsigned n, etp_error *err)
{
    etp_archive *a;
    ETP_TRY(etp_archive_open(path, ETP_ARCHIVE_WRITE, &a, err));
    etp_status st = ETP_OK;
    for (unsigned i = 0; st == ETP_OK && i < n; i++) {
        etp_arena arena = {0};
        etp_archive_added added;
        etp_archive_session s = made_session(i, MODELS, DEVICES, &arena);
        st = etp_archive_put(a, &s, false, &added, err);
        etp_arena_dispose(&arena);
    }
    etp_archive_close(a);
    return st;
}

int main(int argc, char **argv)
{
    char *end = NULL;
    unsigned long n = argc == 3 ? strtoul(argv[2], &end, 10) : 0;
    if (n == 0 || n > 10000000 || *end) {
        fprintf(stderr, "usage: make_store FILE SESSIONS\n");
        return 2;
    }
    etp_error err = {.offset = ETP_NO_OFFSET};
    if (enter(argv[1], (unsigned)n, &err) != ETP_OK) {
        fprintf(stderr, "make_store: %s\n", err.msg);
        return 1;
    }
    return 0;
}
