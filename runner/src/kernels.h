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

// Loads the library at PATH (empty: none), which registers kernels with this process's ExecuTorch,
// as libraries linked with the SDK's libexecutorch do; its OpenMP may have THREADS. Before
// kernels_register.
std::optional<Failure> kernels_load(const std::string &path, size_t threads);

// Registers those that nothing has registered before. Once, after runtime_init.
void kernels_register();

struct Whose {          // operators that a program calls, ", " between
    std::string ours;   // whose kernels are etprof's own
    std::string theirs; // of the library that was loaded
};

// Compares what METHODS of the program at PATH call with what is registered: all that is missing,
// how much of the program that is, and what to do. WHOSE is filled. Says nothing of a file that it
// cannot read: the SDK will.
std::optional<Failure> kernels_check(const std::string &path, const std::set<std::string> &methods,
                                     Whose &whose);

} // namespace etprof

#endif
