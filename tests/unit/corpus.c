// SPDX-License-Identifier: Apache-2.0
// Finding and opening real files in tests.
#include "corpus.h"

#include <stdlib.h>

#include "unit.h"

const char *corpus_dir(void)
{
    const char *env = getenv("ETPROF_CORPUS");
    if (env && env[0]) {
        return env;
    }
    static const char k_beside[] = ETP_TEST_SOURCE_DIR "/../shared/corpus";
    return etp_os_is_dir(k_beside) ? k_beside : NULL;
}

const char *need_corpus(void)
{
    const char *dir = corpus_dir();
    if (!dir) {
        print_message("skipped: no reference corpus (set ETPROF_CORPUS)\n");
        skip();
    }
    return dir;
}

int corpus_result(int failed)
{
    return failed == 0 && !corpus_dir() ? 77 : failed;
}

void open_dump(const char *path, etp_file *file, etp_trace **trace)
{
    etp_error err = {.offset = ETP_NO_OFFSET};
    *file = (etp_file){0};
    *trace = NULL;
    if (etp_file_open(path, (uint64_t)1 << 32, file, &err) != ETP_OK ||
        etp_trace_open(file->bytes, NULL, trace, &err) != ETP_OK) {
        fail_msg("%s: %s", path, err.msg);
    }
}
