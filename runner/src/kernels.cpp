// SPDX-License-Identifier: Apache-2.0
// llama::update_cache.out and llama::custom_sdpa.out, after what their callers expect: one thread,
// no instructions beyond those of every processor of this family, so the same at every level.
#include "kernels.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <executorch/runtime/core/event_tracer_hooks.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>

#include "called_operators.h"
#include "crash.h"

namespace etprof
{

namespace
{

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::Kernel;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::Span;
using Args = Span<EValue *>;

// Operators, and what recordings of ExecuTorch call their kernels.
constexpr char k_update[] = "llama::update_cache.out";
constexpr char k_update_event[] = "native_call_update_cache.out";
constexpr char k_attention[] = "llama::custom_sdpa.out";
constexpr char k_attention_event[] = "native_call_custom_sdpa.out";
std::vector<std::string> k_ours, k_theirs; // written once, before anything is loaded

// Four dimensions without gaps: batch, place, head, element.
const Tensor *dense(const EValue &value)
{
    const Tensor *t = value.isTensor() ? &value.toTensor() : nullptr;
    if (t == nullptr || t->dim() != 4) {
        return nullptr;
    }
    int64_t below = 1;
    for (int i = 3; i >= 0; i--) {
        if (t->size(i) > 1 && t->strides()[static_cast<size_t>(i)] != below) {
            return nullptr;
        }
        below *= t->size(i);
    }
    return t;
}

// ---- llama::update_cache(value, cache, place, out): rows of VALUE go to PLACE and behind ----

bool update(Args args)
{
    const Tensor *value = args.size() >= 4 ? dense(*args[0]) : nullptr;
    const Tensor *cache = value != nullptr ? dense(*args[1]) : nullptr;
    if (cache == nullptr || !args[2]->isInt() || value->scalar_type() != cache->scalar_type() ||
        value->size(0) != cache->size(0) || value->size(2) != cache->size(2) ||
        value->size(3) != cache->size(3)) {
        return false;
    }
    int64_t place = args[2]->toInt(), rows = value->size(1), room = cache->size(1);
    if (place < 0 || rows > room || place > room - rows) {
        return false; // past the cache
    }
    size_t row = static_cast<size_t>(value->size(2) * value->size(3)) *
                 static_cast<size_t>(value->element_size());
    for (int64_t b = 0; b < value->size(0); b++) {
        std::memcpy(static_cast<char *>(cache->mutable_data_ptr()) +
                        static_cast<size_t>(b * room + place) * row,
                    static_cast<const char *>(value->const_data_ptr()) +
                        static_cast<size_t>(b * rows) * row,
                    static_cast<size_t>(rows) * row);
    }
    return true; // nobody reads `out`, a placeholder of one element
}

// ---- llama::custom_sdpa(query, key, value, place, mask, dropout, causal, scale, out) ----

constexpr int64_t k_block = 32; // keys whose weights are found before values are summed
constexpr int64_t k_lanes = 8;  // partial sums of a product: what compilers keep in registers

struct Attention {
    int64_t queries, keys, room; // keys: of the cache's room, those that may be seen
    int64_t heads, shared, width;
    int64_t place; // of the first query
    bool causal;
    float scale;
    const float *q, *k, *v;
    const float *mask; // queries × mask_keys, may be null
    int64_t mask_keys;
    float *out;
};

float product(const float *a, const float *b, int64_t n)
{
    float part[k_lanes] = {0};
    int64_t i = 0;
    for (; i + k_lanes <= n; i += k_lanes) {
        for (int64_t l = 0; l < k_lanes; l++) {
            part[l] += a[i + l] * b[i + l];
        }
    }
    float sum = 0;
    for (; i < n; i++) {
        sum += a[i] * b[i];
    }
    for (float p : part) {
        sum += p;
    }
    return sum;
}

// One query of one head. The softmax is kept up while blocks of keys come: `most` is the greatest
// score so far, `total` and OUT hold sums of weights relative to it.
void attend(const Attention &a, int64_t batch, int64_t query, int64_t head)
{
    int64_t kv_head = head / (a.heads / a.shared), step = a.shared * a.width;
    const float *q = a.q + ((batch * a.queries + query) * a.heads + head) * a.width;
    const float *k = a.k + (batch * a.room * a.shared + kv_head) * a.width;
    const float *v = a.v + (batch * a.room * a.shared + kv_head) * a.width;
    float *out = a.out + ((batch * a.queries + query) * a.heads + head) * a.width;
    const float *mask = a.mask != nullptr ? a.mask + query * a.mask_keys : nullptr;
    int64_t seen = a.causal ? std::min(a.keys, a.place + query + 1) : a.keys;
    float most = -std::numeric_limits<float>::infinity(), total = 0;
    std::fill(out, out + a.width, 0.0F);
    for (int64_t at = 0; at < seen; at += k_block) {
        int64_t n = std::min(k_block, seen - at);
        float weight[k_block], greatest = most;
        for (int64_t i = 0; i < n; i++) {
            weight[i] = product(q, k + (at + i) * step, a.width) * a.scale;
            weight[i] += mask != nullptr ? mask[at + i] : 0;
            greatest = std::max(greatest, weight[i]);
        }
        if (greatest == -std::numeric_limits<float>::infinity()) {
            continue; // the whole block is masked
        }
        float shrink = std::exp(most - greatest);
        total *= shrink;
        for (int64_t d = 0; d < a.width; d++) {
            out[d] *= shrink;
        }
        for (int64_t i = 0; i < n; i++) {
            float w = std::exp(weight[i] - greatest);
            const float *row = v + (at + i) * step;
            total += w;
            for (int64_t d = 0; d < a.width; d++) {
                out[d] += w * row[d];
            }
        }
        most = greatest;
    }
    for (int64_t d = 0; total > 0 && d < a.width; d++) {
        out[d] /= total;
    }
}

// What the arguments must be to each other. Fills A but for the mask and the output.
bool understand(Args args, Attention &a, int64_t &batches)
{
    const Tensor *q = args.size() >= 9 ? dense(*args[0]) : nullptr;
    const Tensor *k = q != nullptr ? dense(*args[1]) : nullptr;
    const Tensor *v = k != nullptr ? dense(*args[2]) : nullptr;
    if (v == nullptr || !args[3]->isInt() || !args[6]->isBool() ||
        q->scalar_type() != ScalarType::Float || k->scalar_type() != ScalarType::Float ||
        v->scalar_type() != ScalarType::Float) {
        return false;
    }
    if (!args[5]->isNone() && args[5]->to<executorch::aten::Scalar>().to<double>() != 0) {
        return false; // dropout is for training
    }
    for (int i = 0; i < 4; i++) {
        if (k->size(i) != v->size(i)) {
            return false;
        }
    }
    batches = q->size(0);
    a.queries = q->size(1);
    a.heads = q->size(2);
    a.width = q->size(3);
    a.room = k->size(1);
    a.shared = k->size(2);
    a.place = args[3]->toInt();
    a.causal = args[6]->toBool();
    if (k->size(0) != batches || k->size(3) != a.width || a.shared < 1 || a.heads % a.shared != 0 ||
        a.width < 1 || a.place < 0 || a.queries > a.room || a.place > a.room - a.queries) {
        return false;
    }
    a.scale = static_cast<float>(args[7]->isNone()
                                     ? 1 / std::sqrt(static_cast<double>(a.width))
                                     : args[7]->to<executorch::aten::Scalar>().to<double>());
    a.q = q->const_data_ptr<float>();
    a.k = k->const_data_ptr<float>();
    a.v = v->const_data_ptr<float>();
    return true;
}

// With a mask the whole cache may be seen, without one what is in it after these queries.
bool look_through(const EValue &mask, Attention &a)
{
    a.keys = a.place + a.queries;
    if (mask.isNone()) {
        return true;
    }
    const Tensor *m = mask.isTensor() ? &mask.toTensor() : nullptr;
    if (a.causal || m == nullptr || m->dim() != 2 || m->scalar_type() != ScalarType::Float ||
        m->size(0) != a.queries || m->size(1) != a.room || m->strides()[1] != 1 ||
        m->strides()[0] != m->size(1)) {
        return false;
    }
    a.keys = a.mask_keys = a.room;
    a.mask = m->const_data_ptr<float>();
    return true;
}

bool attention(Args args)
{
    Attention a{};
    int64_t batches;
    if (!understand(args, a, batches) || !look_through(*args[4], a) || !args[8]->isTensor()) {
        return false;
    }
    Tensor &out = args[8]->toTensor();
    if (executorch::runtime::resize_tensor(out, args[0]->toTensor().sizes()) != Error::Ok ||
        dense(*args[8]) == nullptr || out.scalar_type() != ScalarType::Float) {
        return false;
    }
    a.out = out.mutable_data_ptr<float>();
    for (int64_t b = 0; b < batches; b++) {
        for (int64_t h = 0; h < a.heads; h++) { // a head's keys stay in the cache
            for (int64_t q = 0; q < a.queries; q++) {
                attend(a, b, q, h);
            }
        }
    }
    return true;
}

// As ExecuTorch calls them.
template <bool (*WORK)(Args), const char *NAME> void call(KernelRuntimeContext &context, Args args)
{
    executorch::runtime::internal::EventTracerProfileOpScope scope(context.internal_event_tracer(),
                                                                   NAME);
    if (!WORK(args)) {
        context.fail(Error::InvalidArgument);
    }
}

const Kernel k_kernels[] = {
    Kernel(k_update, call<update, k_update_event>),
    Kernel(k_attention, call<attention, k_attention_event>),
};

bool registered(const char *name)
{
    for (const Kernel &kernel : executorch::runtime::get_registered_kernels()) {
        if (std::strcmp(kernel.name_, name) == 0) {
            return true;
        }
    }
    return false;
}

// A file as it lies on the disk, mapped; empty when that cannot be had.
class Mapped
{
  public:
    explicit Mapped(const std::string &path)
    {
        int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        struct stat st;
        if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
            void *at =
                mmap(nullptr, static_cast<size_t>(st.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
            bytes_ = at != MAP_FAILED ? at : nullptr;
            size_ = bytes_ != nullptr ? static_cast<size_t>(st.st_size) : 0;
        }
        if (fd >= 0) {
            close(fd);
        }
    }
    ~Mapped()
    {
        if (bytes_ != nullptr) {
            munmap(bytes_, size_);
        }
    }
    Mapped(const Mapped &) = delete;
    Mapped &operator=(const Mapped &) = delete;

    void *bytes_ = nullptr;
    size_t size_ = 0;
};

struct Missing {
    std::map<std::string, size_t> calls; // by operator
    size_t sum = 0, of = 0;              // instructions
};

std::string listed(const std::set<std::string> &names)
{
    std::string list;
    for (const std::string &name : names) {
        list += (list.empty() ? "" : ", ") + name;
    }
    return list;
}

Failure lacks(const std::string &path, const Missing &missing)
{
    constexpr size_t k_named = 12; // a line of the protocol has room for so many
    std::string list;
    size_t n = 0;
    for (const auto &[name, calls] : missing.calls) {
        if (n++ < k_named) {
            list += (list.empty() ? "" : ", ") + name.substr(0, 48) + " (" + std::to_string(calls) +
                    ")";
        }
    }
    if (n > k_named) {
        list += " and " + std::to_string(n - k_named) + " more";
    }
    char share[16];
    std::snprintf(share, sizeof share, "%.3g",
                  100 * static_cast<double>(missing.sum) / static_cast<double>(missing.of));
    return {"load",
            path + " calls operators that this runner's ExecuTorch lacks (OperatorMissing): " +
                list + ", together " + std::to_string(missing.sum) + " of its " +
                std::to_string(missing.of) + " instructions (" + share +
                " %); export without them, or give a library that has them (--custom-ops), or "
                "a runner (--runner)"};
}

// A library finds what it was linked with before what is here already, as in the program that it
// was made for: PyTorch's sgemm_ rather than that of the SDK's kernels, which is another one.
#ifdef RTLD_DEEPBIND
constexpr int k_own_first = RTLD_DEEPBIND;
#else
constexpr int k_own_first = 0;
#endif

} // namespace

std::optional<Failure> kernels_load(const std::string &path, size_t threads)
{
    if (path.empty()) {
        return std::nullopt;
    }
    // OpenMP reads it when it is loaded, and would take all processors, also where one is asked
    // for.
    setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), 1);
    const size_t before = executorch::runtime::get_registered_kernels().size();
    crash_doing("loading --custom-ops"); // two kernels of one operator end the process
    // Stays: what it registers points into it.
    if (dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | k_own_first) == nullptr) {
        const char *why = dlerror();
        return Failure{"load", std::string("--custom-ops: ") + (why != nullptr ? why : "unknown")};
    }
    auto now = executorch::runtime::get_registered_kernels();
    for (size_t i = before; i < now.size(); i++) {
        k_theirs.emplace_back(now[i].name_);
    }
    if (k_theirs.empty()) {
        return Failure{"load",
                       "--custom-ops: " + path +
                           " registers no kernel with this runner's ExecuTorch; it has to be "
                           "linked with the SDK's libexecutorch, not with a copy of its own"};
    }
    return std::nullopt;
}

void kernels_register()
{
    std::vector<Kernel> missing;
    for (const Kernel &kernel : k_kernels) {
        if (!registered(kernel.name_)) {
            missing.push_back(kernel);
            k_ours.emplace_back(kernel.name_);
        }
    }
    if (!missing.empty()) {
        (void)executorch::runtime::register_kernels({missing.data(), missing.size()});
    }
}

std::optional<Failure> kernels_check(const std::string &path, const std::set<std::string> &methods,
                                     Whose &whose)
{
    Mapped file(path);
    Missing missing;
    std::set<std::string> own, theirs;
    for (const std::string &method : methods) {
        etp_called called;
        if (!etp_called_read(file.bytes_, file.size_, method.c_str(), &called)) {
            continue;
        }
        missing.of += called.instructions;
        for (const etp_called_operator *op = called.first; op != nullptr; op = op->next) {
            if (!registered(op->name)) {
                missing.calls[op->name] += op->calls;
                missing.sum += op->calls;
            } else if (std::find(k_ours.begin(), k_ours.end(), op->name) != k_ours.end()) {
                own.insert(op->name);
            } else if (std::find(k_theirs.begin(), k_theirs.end(), op->name) != k_theirs.end()) {
                theirs.insert(op->name);
            }
        }
        etp_called_dispose(&called);
    }
    whose.ours = listed(own);
    whose.theirs = listed(theirs);
    return missing.sum > 0 ? std::optional<Failure>(lacks(path, missing)) : std::nullopt;
}

} // namespace etprof
