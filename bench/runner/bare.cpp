// SPDX-License-Identifier: Apache-2.0
// The plainest loop one can write on the SDK: what etprof-runner is compared with.
// usage: bare MODEL.pte WARMUP N    prints the nanoseconds of N executions, one a line
#include <cstdio>
#include <cstdlib>
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

int main(int argc, char **argv)
{
    if (argc != 4) {
        return 2;
    }
    extension::threadpool::NoThreadPoolGuard one_thread;
    extension::Module module(argv[1], extension::Module::LoadMode::Mmap);
    auto method = module.method("forward");
    auto info = module.method_meta("forward")->input_tensor_meta(0);
    std::vector<float> data(info->nbytes() / sizeof(float), 0.5f);
    auto tensor = extension::from_blob(data.data(), {info->sizes().begin(), info->sizes().end()});
    int warmup = std::atoi(argv[2]), n = std::atoi(argv[3]);
    std::vector<long long> ns;
    for (int i = 0; i < warmup + n; i++) {
        if ((*method)->set_input(tensor, 0) != runtime::Error::Ok) {
            return 1;
        }
        long long start = now();
        runtime::Error error = (*method)->execute();
        ns.push_back(now() - start);
        if (error != runtime::Error::Ok) {
            return 1;
        }
    }
    for (int i = warmup; i < warmup + n; i++) {
        std::printf("%lld\n", ns[i]);
    }
}
