// SPDX-License-Identifier: Apache-2.0
// What this CPU can do at most, measured in this process.
#ifndef ETP_RUNNER_ROOFS_H
#define ETP_RUNNER_ROOFS_H

#include <optional>
#include <string>

#include "isa/isa.h"
#include "protocol.h"

namespace etprof
{

struct RoofOptions {
    std::string seconds; // for each thread count; "0": only check what the loops compute
    std::string counts = "1";
};

// One line for each roof, then done.
std::optional<Failure> measure_roofs(const RoofOptions &options, const etp_isa_cpu &cpu,
                                     Lines &lines);

} // namespace etprof

#endif
