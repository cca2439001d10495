// SPDX-License-Identifier: Apache-2.0
// Private to the files behind <etprof/analysis.h>.
#ifndef ETP_LIBRARY_HANDLE_H
#define ETP_LIBRARY_HANDLE_H

#include <etprof/analysis.h>

#include "judge/open.h"

// The session owns what was read; the arena owns this struct and the copies of what the caller
// gave.
struct etp_analysis { // lives in its arena; immutable once it is given out
    etp_arena arena;
    etp_ab_session *session;
};

#endif
