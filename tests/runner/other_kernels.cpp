// SPDX-License-Identifier: Apache-2.0
// A library of kernels as somebody may have one: `other::custom_sdpa.out`, which calls whatever
// kernel `llama::custom_sdpa.out` has when it is called. For test_kernels.py and phases.py.
#include <cstring>

#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>

namespace
{

using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::Kernel;
using executorch::runtime::KernelRuntimeContext;

void call(KernelRuntimeContext &context, executorch::runtime::Span<EValue *> args)
{
    for (const Kernel &kernel : executorch::runtime::get_registered_kernels()) {
        if (std::strcmp(kernel.name_, "llama::custom_sdpa.out") == 0) {
            kernel.op_(context, args);
            return;
        }
    }
    context.fail(Error::NotFound);
}

const Kernel k_kernel("other::custom_sdpa.out", call);
[[maybe_unused]] const Error k_done = executorch::runtime::register_kernels({&k_kernel, 1});

} // namespace
