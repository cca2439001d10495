// SPDX-License-Identifier: Apache-2.0
// The replies behind <etprof/reply.h>, for the tool, which writes them itself.
#ifndef ETP_LIBRARY_REPLY_H
#define ETP_LIBRARY_REPLY_H

#include <etprof/reply.h>

#include "document/answer.h"

// Makes a kind of reply: fills what it needs. What it opened is closed by etp_reply_close in any
// case.
typedef etp_status etp_reply_maker(const etp_question *q, etp_reply *r, etp_error *err);
etp_reply_maker etp_reply_ops, etp_reply_inspector, etp_reply_inspect, etp_reply_stats,
    etp_reply_whatif;
// As etp_reply_open, of the one kind that MAKER makes: a verb links what it reads.
ETP_NODISCARD etp_status etp_reply_make(etp_reply_maker *maker, const etp_question *question,
                                        etp_reply **out, etp_error *err);

// Of etp_reply_inspector: its tables, as text or JSON.
ETP_NODISCARD etp_status etp_reply_inspector_write(const etp_reply *reply, etp_output_format format,
                                                   etp_sink *sink, etp_error *err);
// Of etp_reply_inspector: its ticks are cycles of a microcontroller.
bool etp_reply_in_cycles(const etp_reply *reply);

// Lives as long as REPLY. WITH_REPORT: for other forms than JSON; the report is made in ARENA.
etp_answer etp_reply_answer(const etp_reply *reply, bool with_report, etp_arena *arena);

#endif
