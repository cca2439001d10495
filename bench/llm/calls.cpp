// SPDX-License-Identifier: Apache-2.0
// The calls of two answers of TextLLMRunner (a prompt alone, then a prompt with its tokens) made by
// a plain loop over Module::execute: as a library in TextLLMRunner's own process, as a program in a
// process of its own. Same calls, two places: what differs is the place.
// usage: text_calls MODEL.pte PROMPT TOKENS ANSWERS [LIBRARY]...
// LIBRARY: of kernels. With TOKENIZER in the environment the last one is theirs.cpp, and
// TextLLMRunner makes the answers in place of the loop.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>
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

// Nanoseconds of a call, below 0: it failed. As TextLLMRunner does, the likeliest token is looked
// for after it.
static long long call(extension::Module &module, std::vector<int64_t> &tokens, int64_t position)
{
    int n = static_cast<int>(tokens.size());
    auto text = extension::from_blob(tokens.data(), {1, n}, aten::ScalarType::Long);
    auto start = extension::from_blob(&position, {1}, aten::ScalarType::Long);
    long long before = now();
    auto out = module.execute("forward", {text, start});
    long long after = now();
    if (!out.ok()) {
        return -1;
    }
    auto logits = out->at(0).toTensor();
    const float *p = logits.const_data_ptr<float>();
    volatile auto chosen = std::max_element(p, p + logits.numel()) - p;
    (void)chosen;
    return after - before;
}

// NS: for each answer, the prompt's call alone, then that of a prompt and its tokens together. The
// first answers are not kept. 0: all calls succeeded.
extern "C" int text_calls(const char *path, int prompt, int n_tokens, int answers, long long *ns)
{
    extension::threadpool::NoThreadPoolGuard one_thread;
    extension::Module module(path, extension::Module::LoadMode::Mmap);
    std::vector<int64_t> text(static_cast<size_t>(prompt), 97), token(1, 97);
    for (int i = -1; i < answers; i++) {
        long long alone = call(module, text, 0), whole = call(module, text, 0);
        bool ok = alone >= 0 && whole >= 0;
        for (int k = 0; ok && k < n_tokens; k++) {
            long long t = call(module, token, prompt + k);
            ok = t >= 0;
            whole += t;
        }
        if (!ok) {
            return 1;
        }
        if (i >= 0) {
            ns[2 * i] = alone;
            ns[2 * i + 1] = whole;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    void *last = nullptr;
    for (int i = 5; i < argc; i++) {
        last = dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL | RTLD_DEEPBIND);
        if (!last) {
            std::fprintf(stderr, "%s\n", dlerror());
            return 2;
        }
    }
    if (argc < 5) {
        return 2;
    }
    int answers = std::max(1, std::atoi(argv[4]));
    if (const char *tokenizer = std::getenv("TOKENIZER")) {
        auto theirs = reinterpret_cast<int (*)(const char *, const char *, int, int, int)>(
            last ? dlsym(last, "their_answers") : nullptr);
        return theirs ? theirs(argv[1], tokenizer, std::atoi(argv[2]), std::atoi(argv[3]), answers)
                      : 2;
    }
    std::vector<long long> ns(2 * static_cast<size_t>(answers));
    if (text_calls(argv[1], std::atoi(argv[2]), std::atoi(argv[3]), answers, ns.data()) != 0) {
        return 1;
    }
    for (long long t : ns) {
        std::printf("%lld\n", t);
    }
}
