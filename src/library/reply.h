// SPDX-License-Identifier: Apache-2.0
// The replies behind <etprof/reply.h>, for the tool, which writes them itself.
#ifndef ETP_LIBRARY_REPLY_H
#define ETP_LIBRARY_REPLY_H

#include <etprof/reply.h>

#include "report/answer.h"

// Lives as long as REPLY. WITH_REPORT: for other forms than JSON; the report is made in ARENA.
etp_answer etp_reply_answer(const etp_reply *reply, bool with_report, etp_arena *arena);

#endif
