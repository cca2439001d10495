// SPDX-License-Identifier: Apache-2.0
// What the processor counts while this process runs: cycles, instructions, cache misses, of all its
// threads in user space; and its CPU time. Linux by perf_event, macOS by what the kernel keeps of
// each process.
#ifndef ETP_RUNNER_COUNTERS_H
#define ETP_RUNNER_COUNTERS_H

#include <cstdint>

#include "wire/wire.h"

namespace etprof
{

constexpr int k_counters = 3; // cycles, instructions, cache misses; or task clock and page faults

struct Reading { // since counters_open
    uint64_t cpu_ns;
    uint64_t enabled, running; // thread time in which they should have counted, and did
    uint64_t value[k_counters];
};

// Call before any thread is started: threads started later are counted, those already there are
// not. Where the processor's events cannot be counted, counters_describe says why and the CPU time
// is read alone. WANTED false: nothing is opened, but it is found out what could be. Environment:
// ETPROF_COUNTERS=off; =software counts the kernel's own events, which need no hardware (for
// tests).
void counters_open(bool wanted);
void counters_describe(etp_wire_hello &hello);
bool counters_on();
// Which of N iterations are counted, when the shortest so far took SHORTEST_NS (0 unknown): each so
// many-th; 0 none. An iteration that begins right after a system call takes 0.1 to 0.2 us longer.
// Of a millisecond that is nothing; of shorter ones so few are counted that their median, the
// launch's value, is one of those left alone.
uint64_t counters_stride(uint64_t shortest_ns, uint64_t n);

// Around what is to be counted; neither allocates. Between them as little as possible: what the two
// calls themselves add was measured by counters_open and is taken away.
void counters_begin(Reading &at);
void counters_end(Reading &at);
etp_wire_counts counters_between(const Reading &begin, const Reading &end);

} // namespace etprof

#endif
