// SPDX-License-Identifier: Apache-2.0
// Kernels of text decoders that ExecuTorch's C++ SDK lacks: etprof's own. Their outputs are those
// of ExecuTorch's extension/llm/custom_ops; their time is not.
#ifndef ETP_RUNNER_KERNELS_H
#define ETP_RUNNER_KERNELS_H

#include <optional>
#include <set>
#include <string>

#include "protocol.h"

namespace etprof
{

// Registers those that nothing has registered before. Once, after runtime_init.
void kernels_register();

// Compares what METHODS of the program at PATH call with what is registered: all that is missing,
// how much of the program that is, and what to do. OURS becomes the operators that they call and
// whose kernels are ours, ", " between. Says nothing of a file that it cannot read: the SDK will.
std::optional<Failure> kernels_check(const std::string &path, const std::set<std::string> &methods,
                                     std::string &ours);

} // namespace etprof

#endif
