// SPDX-License-Identifier: Apache-2.0
// The part of the test runners that links the real ExecuTorch libraries.
#include "engine.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <memory>
#include <sstream>
#include <vector>

#include <executorch/devtools/etdump/etdump_flatcc.h>
#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/extension/threadpool/threadpool_guard.h>
#include <executorch/runtime/platform/runtime.h>

namespace executorch::extension::threadpool
{ // the SDK ships the library, not the header
class ThreadPool
{
  public:
    bool _unsafe_reset_threadpool(uint32_t count);
};
ThreadPool *get_threadpool();
} // namespace executorch::extension::threadpool

using namespace executorch;
using runtime::Error;

static std::unique_ptr<extension::Module> module_;
static std::unique_ptr<extension::threadpool::NoThreadPoolGuard> guard;
static etdump::ETDumpGen *tracer;
static std::string method_name;
static std::vector<std::vector<uint8_t>> bytes_of;
static std::vector<extension::TensorPtr> tensors;
static std::vector<runtime::EValue> inputs, outputs;

static uint64_t now()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

static std::string failed(const char *what, Error e)
{
    return std::string(what) + " failed with status 0x" + std::to_string(static_cast<int>(e));
}

std::string engine_load(const EngineOptions &o, uint64_t *out_ns)
{
    runtime::runtime_init();
    if (o.threads == 1) {
        guard = std::make_unique<extension::threadpool::NoThreadPoolGuard>();
    } else if (o.threads > 1) {
        extension::threadpool::get_threadpool()->_unsafe_reset_threadpool(
            static_cast<uint32_t>(o.threads));
    }
    auto generator = o.trace ? std::make_unique<etdump::ETDumpGen>() : nullptr;
    tracer = generator.get();
    uint64_t start = now();
    module_ = std::make_unique<extension::Module>(o.model, extension::Module::LoadMode::File,
                                                  std::move(generator));
    auto names = module_->method_names();
    if (!names.ok()) {
        return failed("Loading", names.error());
    }
    method_name = o.method;
    if (o.method.empty()) {
        method_name = names->count("forward") ? "forward" : *names->begin();
    }
    Error e = module_->load_method(method_name);
    *out_ns = now() - start;
    return e == Error::Ok ? "" : failed("Loading of method", e);
}

// Ones in every element, or what the files hold.
std::string engine_inputs(const std::string &files)
{
    auto meta = module_->method_meta(method_name);
    std::stringstream list(files);
    for (size_t i = 0; i < meta->num_inputs(); i++) {
        auto info = meta->input_tensor_meta(i);
        if (!info.ok()) {
            return "input " + std::to_string(i) + " is not a tensor";
        }
        std::vector<uint8_t> data(info->nbytes());
        std::string file;
        if (!files.empty() && std::getline(list, file, ',')) {
            std::ifstream in(file, std::ios::binary);
            in.read(reinterpret_cast<char *>(data.data()),
                    static_cast<std::streamsize>(data.size()));
            if (static_cast<size_t>(in.gcount()) != data.size()) {
                return "Failed to read input file: " + file;
            }
        } else if (info->scalar_type() == aten::ScalarType::Float) {
            float *f = reinterpret_cast<float *>(data.data());
            for (size_t k = 0; k < data.size() / 4; k++) {
                f[k] = 1;
            }
        } else if (info->scalar_type() == aten::ScalarType::Half) {
            for (size_t k = 0; k + 1 < data.size(); k += 2) {
                data[k] = 0x00, data[k + 1] = 0x3c;
            }
        } else {
            std::memset(data.data(), 0, data.size()); // integers: an index of 0 is always good
        }
        bytes_of.push_back(std::move(data));
        std::vector<aten::SizesType> sizes(info->sizes().begin(), info->sizes().end());
        tensors.push_back(extension::from_blob(bytes_of.back().data(), sizes, info->scalar_type()));
        inputs.emplace_back(tensors.back());
    }
    return "";
}

std::string engine_execute(uint64_t *out_ns)
{
    for (size_t i = 0; i < inputs.size(); i++) {
        if (module_->set_input(method_name, inputs[i], i) != Error::Ok) {
            return "Could not prepare inputs";
        }
    }
    uint64_t start = now();
    auto result = module_->execute(method_name);
    *out_ns = now() - start;
    if (!result.ok()) {
        return failed("Execution of method", result.error());
    }
    outputs = std::move(*result);
    return "";
}

std::string engine_text(int64_t start, int64_t n)
{
    std::vector<int64_t> tokens(static_cast<size_t>(n));
    for (size_t i = 0; i < tokens.size(); i++) {
        tokens[i] = (start + static_cast<int64_t>(i)) % 32;
    }
    auto text = extension::from_blob(tokens.data(), {1, static_cast<aten::SizesType>(n)},
                                     aten::ScalarType::Long);
    auto place = extension::from_blob(&start, {1}, aten::ScalarType::Long);
    auto result = module_->execute(method_name, {text, place});
    return result.ok() ? "" : failed("Execution of method", result.error());
}

std::string engine_write_outputs(const std::string &base)
{
    for (size_t i = 0; i < outputs.size(); i++) {
        if (outputs[i].isTensor()) {
            const auto &t = outputs[i].toTensor();
            std::ofstream f(base + "-" + std::to_string(i) + ".bin", std::ios::binary);
            f.write(static_cast<const char *>(t.const_data_ptr()),
                    static_cast<std::streamsize>(t.nbytes()));
            if (!f) {
                return "Failed to open output file: " + base;
            }
        }
    }
    return "";
}

std::string engine_write_etdump(const std::string &path, bool empty)
{
    etdump::ETDumpGen nothing; // what a tracer leaves that nobody called
    nothing.create_event_block("Execute");
    auto dump = empty ? nothing.get_etdump_data() : tracer->get_etdump_data();
    std::ofstream f(path, std::ios::binary);
    f.write(static_cast<const char *>(dump.buf), static_cast<std::streamsize>(dump.size));
    std::free(dump.buf);
    return f ? "" : "Failed to open ETDump file at " + path;
}
