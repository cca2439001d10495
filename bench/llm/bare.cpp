// SPDX-License-Identifier: Apache-2.0
// The plainest loop over a text decoder that one can write on the SDK: what the phases of etprof's
// runner are compared with. No hook, no tracer, no protocol; nothing of it is etprof's code.
// usage: bare_text MODEL.pte prefill|decode TOKENS DEPTH REPETITIONS WARMUP
// For forward(tokens [1,n], start [1]). Prints the nanoseconds of each Method::execute, a line
// each: one call of TOKENS tokens at position 0, or TOKENS calls of one token from position DEPTH.
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

static long long now()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

// Nanoseconds of one call, below 0: it failed.
static long long call(runtime::Method &method, int64_t position, int n)
{
    std::vector<int64_t> tokens(static_cast<size_t>(n));
    for (int i = 0; i < n; i++) {
        tokens[static_cast<size_t>(i)] = (position + i) * 7919 % 31991;
    }
    auto text = extension::from_blob(tokens.data(), {1, n}, aten::ScalarType::Long);
    auto start = extension::from_blob(&position, {1}, aten::ScalarType::Long);
    if (method.set_input(*text, 0) != runtime::Error::Ok ||
        method.set_input(*start, 1) != runtime::Error::Ok) {
        return -1;
    }
    long long before = now();
    runtime::Error error = method.execute();
    long long after = now();
    return error == runtime::Error::Ok ? after - before : -1;
}

int main(int argc, char **argv)
{
    if (argc != 7) {
        return 2;
    }
    bool decode = std::strcmp(argv[2], "decode") == 0;
    int tokens = std::atoi(argv[3]), depth = std::atoi(argv[4]);
    int repetitions = std::atoi(argv[5]), warmup = std::atoi(argv[6]);
    extension::threadpool::NoThreadPoolGuard one_thread;
    extension::Module module(argv[1], extension::Module::LoadMode::Mmap);
    auto method = module.method("forward");
    if (!method.ok() || (decode && depth > 0 && call(**method, 0, depth) < 0)) {
        return 1;
    }
    std::vector<long long> ns;
    for (int r = 0; r < warmup + repetitions; r++) {
        for (int i = 0; i < (decode ? tokens : 1); i++) {
            long long t = call(**method, decode ? depth + i : 0, decode ? 1 : tokens);
            if (t < 0) {
                return 1;
            }
            if (r >= warmup) {
                ns.push_back(t);
            }
        }
    }
    for (long long t : ns) {
        std::printf("%lld\n", t);
    }
}
