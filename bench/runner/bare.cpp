// SPDX-License-Identifier: Apache-2.0
// The plainest loop one can write on the SDK: what etprof-runner is compared with. No hook, no
// tracer, no protocol; nothing of it is etprof's code. usage: bare MODEL.pte METHOD WARMUP N prints
// the nanoseconds of N executions, one a line Every input element is 1, as with `etprof-runner
// --inputs ones`.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/extension/threadpool/threadpool_guard.h>

using namespace executorch;
using runtime::EValue;

static long long now()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

template <typename T> static void fill(std::vector<uint8_t> &bytes, T one)
{
    for (size_t at = 0; at + sizeof one <= bytes.size(); at += sizeof one) {
        std::memcpy(&bytes[at], &one, sizeof one);
    }
}

static bool ones(aten::ScalarType type, std::vector<uint8_t> &bytes)
{
    switch (type) {
    case aten::ScalarType::Float:
        fill(bytes, 1.0f);
        return true;
    case aten::ScalarType::Half:
        fill(bytes, static_cast<uint16_t>(0x3c00));
        return true;
    case aten::ScalarType::Long:
        fill(bytes, static_cast<int64_t>(1));
        return true;
    case aten::ScalarType::Int:
        fill(bytes, static_cast<int32_t>(1));
        return true;
    case aten::ScalarType::Char:
    case aten::ScalarType::Byte:
    case aten::ScalarType::Bool:
        fill(bytes, static_cast<uint8_t>(1));
        return true;
    default:
        return false;
    }
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        return 2;
    }
    // Where the heap lies is drawn for each launch, as the runner's (paired.py).
    const char *pad = std::getenv("ETPROF_PAD");
    void *volatile kept = std::malloc(24 + std::strlen(pad != nullptr ? pad : "") % 4 * 16);
    (void)kept;
    extension::threadpool::NoThreadPoolGuard one_thread;
    extension::Module module(argv[1], extension::Module::LoadMode::Mmap);
    auto method = module.method(argv[2]);
    auto meta = module.method_meta(argv[2]);
    if (!method.ok() || !meta.ok()) {
        return 1;
    }
    size_t count = meta->num_inputs();
    std::vector<std::vector<uint8_t>> data(count);
    std::vector<extension::TensorPtr> tensors;
    std::vector<EValue> values;
    for (size_t i = 0; i < count; i++) {
        auto info = meta->input_tensor_meta(i);
        if (!info.ok()) {
            return 1;
        }
        data[i].resize(info->nbytes());
        if (!ones(info->scalar_type(), data[i])) {
            return 1;
        }
        tensors.push_back(extension::from_blob(
            data[i].data(), {info->sizes().begin(), info->sizes().end()}, info->scalar_type()));
        values.emplace_back(*tensors.back());
    }
    int warmup = std::atoi(argv[3]), n = std::atoi(argv[4]);
    std::vector<long long> ns(
        static_cast<size_t>(warmup + n)); // touched before the first execution
    for (long long &each : ns) {
        for (size_t k = 0; k < count; k++) {
            if ((*method)->set_input(values[k], k) != runtime::Error::Ok) {
                return 1;
            }
        }
        long long start = now();
        runtime::Error error = (*method)->execute();
        each = now() - start;
        if (error != runtime::Error::Ok) {
            return 1;
        }
    }
    for (size_t i = static_cast<size_t>(warmup); i < ns.size(); i++) {
        std::printf("%lld\n", ns[i]);
    }
}
