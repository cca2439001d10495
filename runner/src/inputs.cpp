// SPDX-License-Identifier: Apache-2.0
// The inputs of a method: generated from a seed, ones, or read from files.
#include "inputs.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace etprof {

using executorch::aten::ScalarType;
using executorch::runtime::EValue;
using executorch::runtime::Tag;

const char *dtype_name(ScalarType type)
{
    switch (type) {
    case ScalarType::Byte: return "uint8";
    case ScalarType::Char: return "int8";
    case ScalarType::Short: return "int16";
    case ScalarType::Int: return "int32";
    case ScalarType::Long: return "int64";
    case ScalarType::Half: return "float16";
    case ScalarType::Float: return "float32";
    case ScalarType::Double: return "float64";
    case ScalarType::Bool: return "bool";
    case ScalarType::BFloat16: return "bfloat16";
    case ScalarType::UInt16: return "uint16";
    case ScalarType::UInt32: return "uint32";
    case ScalarType::UInt64: return "uint64";
    default: return "";
    }
}

namespace {

// SplitMix64: the same numbers on every machine for a seed.
class Random {
public:
    explicit Random(uint64_t seed) : state_(seed) {}

    uint64_t next()
    {
        uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }

    // In [-1, 1) in steps of 2^-10, which float16 holds exactly: the same inputs
    // at every precision up to bfloat16's own rounding.
    float unit() { return static_cast<float>(next() >> 53) / 1024.0f - 1.0f; }

private:
    uint64_t state_;
};

struct Source {
    enum Kind { random, ones, files } kind;
    uint64_t seed;
    std::vector<std::string> paths;
};

template <typename T> void store(uint8_t *at, T value)
{
    std::memcpy(at, &value, sizeof value);
}

// One element. Integers stay small and non-negative because they are mostly
// indices: a token or a class that every table has.
bool generate(ScalarType type, Random *random, uint8_t *at)
{
    float real = random != nullptr ? random->unit() : 1.0f;
    uint64_t whole = random != nullptr ? random->next() % 10 : 1;
    switch (type) {
    case ScalarType::Byte: store(at, static_cast<uint8_t>(whole)); return true;
    case ScalarType::Char: store(at, static_cast<int8_t>(whole)); return true;
    case ScalarType::Short: store(at, static_cast<int16_t>(whole)); return true;
    case ScalarType::Int: store(at, static_cast<int32_t>(whole)); return true;
    case ScalarType::Long: store(at, static_cast<int64_t>(whole)); return true;
    case ScalarType::UInt16: store(at, static_cast<uint16_t>(whole)); return true;
    case ScalarType::UInt32: store(at, static_cast<uint32_t>(whole)); return true;
    case ScalarType::UInt64: store(at, whole); return true;
    case ScalarType::Bool: store(at, static_cast<uint8_t>(whole & 1)); return true;
    case ScalarType::Half: store(at, executorch::aten::Half(real)); return true;
    case ScalarType::BFloat16: store(at, executorch::aten::BFloat16(real)); return true;
    case ScalarType::Float: store(at, real); return true;
    case ScalarType::Double: store(at, static_cast<double>(real)); return true;
    default: return false;
    }
}

std::string which(size_t index)
{
    return "input " + std::to_string(index);
}

std::optional<Failure> read_source(const std::string &spec, Source &source)
{
    if (spec == "ones") {
        source.kind = Source::ones;
        return std::nullopt;
    }
    if (spec.compare(0, 7, "random:") == 0) {
        const char *digits = spec.c_str() + 7;
        char *end = nullptr;
        errno = 0;
        source.kind = Source::random;
        source.seed = std::strtoull(digits, &end, 10);
        if (*digits < '0' || *digits > '9' || *end != '\0' || errno != 0) {
            return Failure{"usage", "--inputs: '" + spec + "' has no seed that is a number"};
        }
        return std::nullopt;
    }
    source.kind = Source::files;
    for (size_t at = 0; at <= spec.size();) {
        size_t comma = std::min(spec.find(',', at), spec.size());
        source.paths.push_back(spec.substr(at, comma - at));
        at = comma + 1;
    }
    return std::nullopt;
}

std::optional<Failure> read_file(const std::string &path, size_t index, size_t bytes, uint8_t *out)
{
    std::unique_ptr<std::FILE, int (*)(std::FILE *)> f(std::fopen(path.c_str(), "rb"), std::fclose);
    if (f == nullptr) {
        return Failure{"input", which(index) + ": cannot open " + path + ": " + std::strerror(errno)};
    }
    size_t n = std::fread(out, 1, bytes, f.get());
    if (std::ferror(f.get()) != 0) {
        return Failure{"input", which(index) + ": cannot read " + path + ": " + std::strerror(errno)};
    }
    if (n != bytes || std::fgetc(f.get()) != EOF) {
        (void)std::fseek(f.get(), 0, SEEK_END);
        return Failure{"input", which(index) + ": " + path + " has " +
                                    std::to_string(std::ftell(f.get())) + " bytes, the method takes " +
                                    std::to_string(bytes)};
    }
    return std::nullopt;
}

} // namespace

std::optional<Failure> Inputs::make(const executorch::runtime::Method &method,
                                    const std::string &spec)
{
    Source source{};
    if (auto failure = read_source(spec, source)) {
        return failure;
    }
    auto meta = method.method_meta();
    size_t count = meta.num_inputs();
    if (source.kind == Source::files && source.paths.size() != count) {
        return Failure{"input", "--inputs names " + std::to_string(source.paths.size()) +
                                    " files, the method takes " + std::to_string(count)};
    }
    Random random(source.seed);
    data_.resize(count);
    for (size_t i = 0; i < count; i++) {
        auto tag = meta.input_tag(i);
        if (!tag.ok()) {
            return Failure{"input", which(i) + ": the program does not say what it is"};
        }
        if (*tag == Tag::Tensor) {
            auto info = meta.input_tensor_meta(i);
            if (!info.ok()) {
                return Failure{"input", which(i) + ": the program does not describe its tensor"};
            }
            std::vector<uint8_t> &bytes = data_[i];
            bytes.resize(info->nbytes());
            if (source.kind == Source::files) {
                if (auto failure = read_file(source.paths[i], i, bytes.size(), bytes.data())) {
                    return failure;
                }
            } else {
                size_t step = executorch::runtime::elementSize(info->scalar_type());
                for (size_t at = 0; at < bytes.size(); at += step) {
                    if (!generate(info->scalar_type(),
                                  source.kind == Source::random ? &random : nullptr,
                                  bytes.data() + at)) {
                        return Failure{"input", which(i) + ": cannot generate values of type " +
                                                    executorch::runtime::toString(info->scalar_type()) +
                                                    "; give files"};
                    }
                }
            }
            std::vector<executorch::aten::SizesType> sizes(info->sizes().begin(), info->sizes().end());
            std::vector<executorch::aten::DimOrderType> order(info->dim_order().begin(),
                                                              info->dim_order().end());
            tensors_.push_back(
                executorch::extension::for_blob(bytes.data(), std::move(sizes), info->scalar_type())
                    .dim_order(std::move(order))
                    .make_tensor_ptr());
            values_.emplace_back(tensors_.back());
            continue;
        }
        // A scalar input of an exported program is a constant that it checks.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
        EValue value = method.get_input(i);
#pragma GCC diagnostic pop
        if (source.kind == Source::files && *tag != Tag::None) {
            uint8_t raw[8] = {0};
            size_t size = *tag == Tag::Bool ? 1 : 8;
            if (*tag != Tag::Int && *tag != Tag::Double && *tag != Tag::Bool) {
                return Failure{"input", which(i) + ": neither a tensor nor a number"};
            }
            if (auto failure = read_file(source.paths[i], i, size, raw)) {
                return failure;
            }
            if (*tag == Tag::Int) {
                int64_t v;
                std::memcpy(&v, raw, sizeof v);
                value = EValue(v);
            } else if (*tag == Tag::Double) {
                double v;
                std::memcpy(&v, raw, sizeof v);
                value = EValue(v);
            } else {
                value = EValue(raw[0] != 0);
            }
        }
        values_.push_back(value);
    }
    return std::nullopt;
}

} // namespace etprof
