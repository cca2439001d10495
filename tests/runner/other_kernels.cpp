// SPDX-License-Identifier: Apache-2.0
// A library of kernels as somebody may have one: `other::custom_sdpa.out`, which calls whatever
// kernel `llama::custom_sdpa.out` has when it is called. For test_kernels.py and phases.py.
#include <cstdlib>
#include <cstring>

#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>

// A function that the SDK has, too (that of a BLAS): this library's own answers 2 where that one
// answers 1.
extern "C" void sgemm_(const char *, const char *, const int *, const int *, const int *,
                       const float *, const float *, const int *, const float *, const int *,
                       const float *, float *c, const int *)
{
    *c = 2;
}

namespace
{

using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::Kernel;
using executorch::runtime::KernelRuntimeContext;

// As OpenMP's library reads it, when it is loaded.
const char *const k_threads = std::getenv("OMP_NUM_THREADS");

// Is the product that of this library, and has it been told how many threads it may have?
bool at_home()
{
    const int one = 1;
    const float x = 1, zero = 0;
    float c = 0;
    sgemm_("n", "n", &one, &one, &one, &x, &x, &one, &x, &one, &zero, &c, &one);
    return c == 2 && k_threads != nullptr && std::strcmp(k_threads, "1") == 0;
}

void call(KernelRuntimeContext &context, executorch::runtime::Span<EValue *> args)
{
    if (!at_home()) {
        context.fail(Error::InvalidState);
        return;
    }
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
