// SPDX-License-Identifier: Apache-2.0
// What a program needs of the heap, told by the C library to the plainest program on the SDK: what
// etprof-runner's rows are compared with. No hook, no allocator of XNNPACK's; nothing of it is
// etprof's code. usage: bare MODEL.pte METHOD N prints the bytes in use of malloc that loading the
// method and N executions added (mallinfo2), and the size of each block that loading asked of
// posix_memalign and kept, as XNNPACK keeps packed weights.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#include <dlfcn.h>
#include <malloc.h>

#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/extension/threadpool/threadpool_guard.h>

using namespace executorch;

// ---- posix_memalign: the executable's comes before the C library's ----

namespace
{
struct Block {
    void *at;
    size_t bytes;
};
constexpr size_t k_most = 1 << 16;
Block blocks[k_most];
size_t n_blocks;
std::mutex lock;

template <typename F> F *next(const char *name)
{
    return reinterpret_cast<F *>(dlsym(RTLD_NEXT, name));
}
} // namespace

extern "C" int posix_memalign(void **at, size_t alignment, size_t bytes) noexcept
{
    static auto *real = next<int(void **, size_t, size_t)>("posix_memalign");
    const int failed = real(at, alignment, bytes);
    std::lock_guard<std::mutex> guard(lock);
    if (failed == 0 && n_blocks < k_most) {
        blocks[n_blocks++] = {*at, bytes};
    }
    return failed;
}

extern "C" void free(void *at) noexcept
{
    static auto *real = next<void(void *)>("free");
    {
        std::lock_guard<std::mutex> guard(lock);
        for (size_t i = n_blocks; at != nullptr && i > 0; i--) {
            if (blocks[i - 1].at == at) {
                blocks[i - 1] = blocks[--n_blocks];
                break;
            }
        }
    }
    real(at);
}

// ---- the program ----

static size_t in_use()
{
    const struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        return 2;
    }
    extension::threadpool::NoThreadPoolGuard one_thread;
    extension::Module module(argv[1], extension::Module::LoadMode::Mmap);
    if (module.load(runtime::Program::Verification::InternalConsistency) != runtime::Error::Ok) {
        return 1;
    }
    const size_t before = in_use(), first = n_blocks;
    auto method = module.method(argv[2]);
    auto meta = module.method_meta(argv[2]);
    if (!method.ok() || !meta.ok()) {
        return 1;
    }
    for (size_t i = first; i < n_blocks; i++) {
        std::printf("%zu ", blocks[i].bytes);
    }
    std::vector<std::vector<uint8_t>> data(meta->num_inputs());
    std::vector<extension::TensorPtr> tensors;
    for (size_t i = 0; i < data.size(); i++) {
        auto info = meta->input_tensor_meta(i);
        if (!info.ok()) {
            return 1;
        }
        data[i].assign(info->nbytes(), 0); // which number it is makes no difference to memory
        tensors.push_back(extension::from_blob(
            data[i].data(), {info->sizes().begin(), info->sizes().end()}, info->scalar_type()));
    }
    for (int i = std::atoi(argv[3]); i > 0; i--) {
        for (size_t k = 0; k < data.size(); k++) {
            if ((*method)->set_input(*tensors[k], k) != runtime::Error::Ok) {
                return 1;
            }
        }
        if ((*method)->execute() != runtime::Error::Ok) {
            return 1;
        }
    }
    std::printf("\n%zu\n", in_use() - before);
}
