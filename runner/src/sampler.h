// SPDX-License-Identifier: Apache-2.0
// Samples program counters of all threads of this process by their CPU time.
#ifndef ETP_RUNNER_SAMPLER_H
#define ETP_RUNNER_SAMPLER_H

#include <cstdint>
#include <optional>
#include <string>

#include "protocol.h"

namespace etprof
{

// Takes memory for the samples and the signal. Once, before the first start.
std::optional<Failure> sampler_open(unsigned hertz);

// Arms a timer on every thread that exists now; stop takes them away.
std::optional<Failure> sampler_start();
void sampler_stop();

// Writes what was taken since the last call and forgets it. The file is CSV:
//   time_ns,thread,module,address,symbol,streaming
// time_ns is CLOCK_MONOTONIC; module the file name of the mapped object, address
// its own virtual address of the instruction (hexadecimal), both empty for code
// outside any object; symbol only where the object's dynamic table has one;
// streaming 1 or 0 on aarch64 with SVE or SME state (1: streaming mode), else empty.
std::optional<Failure> sampler_write(const std::string &path, uint64_t &samples, uint64_t &bytes);

} // namespace etprof

#endif
