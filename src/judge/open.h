// SPDX-License-Identifier: Apache-2.0
// From raw data to an etp_ab: a run folder, or bare dumps of anybody's runner.
#ifndef ETP_JUDGE_OPEN_H
#define ETP_JUDGE_OPEN_H

#include "compare/opened.h"

// PATHS: one run folder, or dumps and folders holding dumps. ETP_USAGE when there is nothing to
// analyse in them. On success the caller closes *out.
ETP_NODISCARD etp_status etp_ab_open(const char *const *paths, size_t n_paths,
                                     const etp_ab_options *options, etp_ab_session **out,
                                     etp_error *err);
#endif
