// SPDX-License-Identifier: Apache-2.0
// Where tests find real files: fixtures of the tree, and the larger reference corpus when present.
#ifndef ETP_TESTS_CORPUS_H
#define ETP_TESTS_CORPUS_H

#include "os/os.h"
#include <etprof/trace.h>

// Folder of the reference corpus (ETPROF_CORPUS, or ../shared/corpus beside the tree), NULL when
// it is not there.
const char *corpus_dir(void);
const char *need_corpus(void); // skips the test without one
int corpus_result(int failed); // for main: 77, skipped, when all passed without one
// Opens a dump; a failed open is a test failure unless expected_status says otherwise.
void open_dump(const char *path, etp_file *file, etp_trace **trace);

#endif
