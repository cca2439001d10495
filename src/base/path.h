// SPDX-License-Identifier: Apache-2.0
// Parts of a path as it is spelled; nothing is looked up.
#ifndef ETP_BASE_PATH_H
#define ETP_BASE_PATH_H

#include <etprof/bytes.h>

// What follows the last '/': "b.pte" of "a/b.pte". All of PATH where nothing does.
const char *etp_path_name(const char *path);
// The name without its last suffix: "b" of "a/b.pte"; ".pte" alone is a name.
etp_str etp_path_stem(const char *path);
// What stands before the last '/': "a" of "a/b.pte", empty of "/b.pte"; NULL: there is none.
etp_str etp_path_folder(const char *path);

// PATH without '/' at its end; "/" stays.
etp_str etp_path_trimmed(etp_str path);
// What follows the last '/', which may be nothing: "" of "a/".
etp_str etp_path_last(etp_str path);
// PATH without its last N names: "a" of "a/b/c" and 2, empty when there are no more.
etp_str etp_path_above(etp_str path, unsigned n);

#endif
