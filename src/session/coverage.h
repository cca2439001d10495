// SPDX-License-Identifier: Apache-2.0
// What the samples of an unfinished session tell so far.
#ifndef ETP_SESSION_COVERAGE_H
#define ETP_SESSION_COVERAGE_H

#include "measure/session.h"

// `coverage` of etp_session_view: by the answer of DIR, as its reader would get it.
bool etp_session_coverage_of(void *ctx, const char *dir, double times, double *share,
                             double *reachable, bool *too_few, size_t n);

#endif
