// SPDX-License-Identifier: Apache-2.0
#ifndef ETP_TESTS_TRACE_CHECK_H
#define ETP_TESTS_TRACE_CHECK_H

#include <etprof/trace.h>

// Fails the test unless the trace holds every event of the file once, in order, with its duration.
// Gives the number of events.
size_t check_equals_file(const etp_trace *t);

#endif
