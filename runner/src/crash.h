// SPDX-License-Identifier: Apache-2.0
// When the SDK crashes: what was measured and what it was doing still reach the tool.
#ifndef ETP_RUNNER_CRASH_H
#define ETP_RUNNER_CRASH_H

#include <cstdint>

namespace etprof
{

struct Iteration {
    uint64_t start_ns, ns;
};

// On a fatal signal: writes the iterations not yet reported, then an error line
// with code "crash", and lets the signal end the process.
void crash_install(int fd);

// What goes on from here; `doing` must live as long as the process, or be
// replaced before it ends.
void crash_doing(const char *doing);

// Iterations of the current run: `done` of them are measured and `sent` reported;
// the first of them is number `base` of the launch. Null: none.
struct Progress {
    const Iteration *samples;
    uint64_t base;
    volatile uint64_t done, sent;
};
void crash_progress(const Progress *progress);

} // namespace etprof

#endif
