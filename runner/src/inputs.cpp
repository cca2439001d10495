// SPDX-License-Identifier: Apache-2.0
// The inputs of a method: generated from a seed, ones, or read from files.
#include "inputs.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace etprof
{

using executorch::aten::ScalarType;
using executorch::runtime::EValue;
using executorch::runtime::Tag;

const char *dtype_name(ScalarType type)
{
    switch (type) {
    case ScalarType::Byte:
        return "uint8";
    case ScalarType::Char:
        return "int8";
    case ScalarType::Short:
        return "int16";
    case ScalarType::Int:
        return "int32";
    case ScalarType::Long:
        return "int64";
    case ScalarType::Half:
        return "float16";
    case ScalarType::Float:
        return "float32";
    case ScalarType::Double:
        return "float64";
    case ScalarType::Bool:
        return "bool";
    case ScalarType::BFloat16:
        return "bfloat16";
    case ScalarType::UInt16:
        return "uint16";
    case ScalarType::UInt32:
        return "uint32";
    case ScalarType::UInt64:
        return "uint64";
    default:
        return "";
    }
}

namespace
{

// SplitMix64: the same numbers on every machine for a seed.
class Random
{
  public:
    explicit Random(uint64_t seed) : state_(seed)
    {
    }

    uint64_t next()
    {
        uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }

    // In [-1, 1) in steps of 2^-10, which float16 holds exactly: the same inputs
    // at every precision up to bfloat16's own rounding.
    float unit()
    {
        return static_cast<float>(next() >> 53) / 1024.0f - 1.0f;
    }

  private:
    uint64_t state_;
};

template <typename T> void store(uint8_t *at, T value)
{
    std::memcpy(at, &value, sizeof value);
}

// One element. Integers stay small and non-negative because they are mostly
// indices: a token or a class that every table has.
void generate(ScalarType type, Random *random, uint8_t *at, uint64_t below = 10)
{
    float real = random != nullptr ? random->unit() : 1.0f;
    uint64_t whole = random != nullptr ? random->next() % below : 1;
    switch (type) {
    case ScalarType::Byte:
        store(at, static_cast<uint8_t>(whole));
        break;
    case ScalarType::Char:
        store(at, static_cast<int8_t>(whole));
        break;
    case ScalarType::Short:
        store(at, static_cast<int16_t>(whole));
        break;
    case ScalarType::Int:
        store(at, static_cast<int32_t>(whole));
        break;
    case ScalarType::Long:
        store(at, static_cast<int64_t>(whole));
        break;
    case ScalarType::UInt16:
        store(at, static_cast<uint16_t>(whole));
        break;
    case ScalarType::UInt32:
        store(at, static_cast<uint32_t>(whole));
        break;
    case ScalarType::UInt64:
        store(at, whole);
        break;
    case ScalarType::Bool:
        store(at, static_cast<uint8_t>(whole & 1));
        break;
    case ScalarType::Half:
        store(at, executorch::aten::Half(real));
        break;
    case ScalarType::BFloat16:
        store(at, executorch::aten::BFloat16(real));
        break;
    case ScalarType::Float:
        store(at, real);
        break;
    case ScalarType::Double:
        store(at, static_cast<double>(real));
        break;
    default:
        break; // the caller has checked
    }
}

// A value as a script writes it. False: TYPE cannot hold it.
bool parse_value(ScalarType type, const std::string &word, uint8_t *at)
{
    char *end = nullptr;
    errno = 0;
    bool real = type == ScalarType::Float || type == ScalarType::Double ||
                type == ScalarType::Half || type == ScalarType::BFloat16;
    double value = real ? std::strtod(word.c_str(), &end) : 0;
    long long whole = real ? 0 : std::strtoll(word.c_str(), &end, 10);
    if (word.empty() || *end != '\0' || errno != 0) {
        return false;
    }
    switch (type) {
    case ScalarType::Float:
        store(at, static_cast<float>(value));
        return true;
    case ScalarType::Double:
        store(at, value);
        return true;
    case ScalarType::Half:
        store(at, executorch::aten::Half(static_cast<float>(value)));
        return true;
    case ScalarType::BFloat16:
        store(at, executorch::aten::BFloat16(static_cast<float>(value)));
        return true;
    case ScalarType::Long:
        store(at, static_cast<int64_t>(whole));
        return true;
    case ScalarType::Int:
        store(at, static_cast<int32_t>(whole));
        return whole >= INT32_MIN && whole <= INT32_MAX;
    case ScalarType::Short:
        store(at, static_cast<int16_t>(whole));
        return whole >= INT16_MIN && whole <= INT16_MAX;
    case ScalarType::Char:
        store(at, static_cast<int8_t>(whole));
        return whole >= INT8_MIN && whole <= INT8_MAX;
    case ScalarType::Byte:
        store(at, static_cast<uint8_t>(whole));
        return whole >= 0 && whole <= UINT8_MAX;
    case ScalarType::Bool:
        store(at, static_cast<uint8_t>(whole));
        return whole == 0 || whole == 1;
    default:
        return false;
    }
}

// The type that a script names.
std::optional<ScalarType> dtype_of(const std::string &name)
{
    for (ScalarType type :
         {ScalarType::Byte, ScalarType::Char, ScalarType::Short, ScalarType::Int, ScalarType::Long,
          ScalarType::Half, ScalarType::Float, ScalarType::Double, ScalarType::Bool,
          ScalarType::BFloat16, ScalarType::UInt16, ScalarType::UInt32, ScalarType::UInt64}) {
        if (name == dtype_name(type)) {
            return type;
        }
    }
    return std::nullopt;
}

std::string which(size_t index)
{
    return "input " + std::to_string(index);
}

std::optional<Failure> read_file(const std::string &path, size_t index, size_t bytes, uint8_t *out)
{
    std::unique_ptr<std::FILE, int (*)(std::FILE *)> f(std::fopen(path.c_str(), "rb"), std::fclose);
    if (f == nullptr) {
        return Failure{"input",
                       which(index) + ": cannot open " + path + ": " + std::strerror(errno)};
    }
    size_t n = std::fread(out, 1, bytes, f.get());
    if (std::ferror(f.get()) != 0) {
        return Failure{"input",
                       which(index) + ": cannot read " + path + ": " + std::strerror(errno)};
    }
    if (n != bytes || std::fgetc(f.get()) != EOF) {
        (void)std::fseek(f.get(), 0, SEEK_END);
        return Failure{"input", which(index) + ": " + path + " has " +
                                    std::to_string(std::ftell(f.get())) +
                                    " bytes, the method takes " + std::to_string(bytes)};
    }
    return std::nullopt;
}

// A scalar of a file: 8 bytes, 1 for a bool.
std::optional<Failure> read_scalar(const std::string &path, size_t index, Tag tag, EValue &value)
{
    uint8_t raw[8] = {0};
    if (tag != Tag::Int && tag != Tag::Double && tag != Tag::Bool) {
        return Failure{"input", which(index) + ": neither a tensor nor a number"};
    }
    if (auto failure = read_file(path, index, tag == Tag::Bool ? 1 : 8, raw)) {
        return failure;
    }
    if (tag == Tag::Int) {
        int64_t v;
        std::memcpy(&v, raw, sizeof v);
        value = EValue(v);
    } else if (tag == Tag::Double) {
        double v;
        std::memcpy(&v, raw, sizeof v);
        value = EValue(v);
    } else {
        value = EValue(raw[0] != 0);
    }
    return std::nullopt;
}

} // namespace

// What --inputs asks for.
struct Inputs::Source {
    enum Kind { random, ones, files } kind = files;
    Random numbers{0};
    std::vector<std::string> paths;

    std::optional<Failure> read(const std::string &spec)
    {
        if (spec == "ones") {
            kind = ones;
            return std::nullopt;
        }
        if (spec.compare(0, 7, "random:") == 0) {
            const char *digits = spec.c_str() + 7;
            char *end = nullptr;
            errno = 0;
            kind = random;
            numbers = Random(std::strtoull(digits, &end, 10));
            if (*digits < '0' || *digits > '9' || *end != '\0' || errno != 0) {
                return Failure{"usage", "--inputs: '" + spec + "' has no seed that is a number"};
            }
            return std::nullopt;
        }
        for (size_t at = 0; at <= spec.size();) {
            size_t comma = std::min(spec.find(',', at), spec.size());
            paths.push_back(spec.substr(at, comma - at));
            at = comma + 1;
        }
        return std::nullopt;
    }
};

std::optional<Failure> Inputs::add_tensor(const executorch::runtime::TensorInfo &info, size_t index,
                                          Source &source)
{
    ScalarType type = info.scalar_type();
    std::vector<uint8_t> &bytes = data_[index];
    bytes.resize(info.nbytes());
    if (source.kind == Source::files) {
        if (auto failure = read_file(source.paths[index], index, bytes.size(), bytes.data())) {
            return failure;
        }
    } else if (dtype_name(type)[0] == '\0') {
        return Failure{"input", which(index) + ": cannot generate values of type " +
                                    executorch::runtime::toString(type) + "; give files"};
    } else {
        size_t step = executorch::runtime::elementSize(type);
        Random *random = source.kind == Source::random ? &source.numbers : nullptr;
        for (size_t at = 0; at < bytes.size(); at += step) {
            generate(type, random, bytes.data() + at);
        }
    }
    std::vector<executorch::aten::SizesType> sizes(info.sizes().begin(), info.sizes().end());
    std::vector<executorch::aten::DimOrderType> order(info.dim_order().begin(),
                                                      info.dim_order().end());
    tensors_.push_back(executorch::extension::for_blob(bytes.data(), std::move(sizes), type)
                           .dim_order(std::move(order))
                           .make_tensor_ptr());
    values_.emplace_back(tensors_.back());
    return std::nullopt;
}

// A tensor as a script describes it, of a shape of its own.
std::optional<Failure> Inputs::add_step(const executorch::runtime::MethodMeta &meta,
                                        const StepInput &input, const Source &source)
{
    size_t i = input.index;
    auto info = meta.input_tensor_meta(i);
    std::optional<ScalarType> type = dtype_of(input.dtype);
    if (!info.ok()) {
        return Failure{"input", which(i) + ": the program does not describe its tensor"};
    }
    if (!type) {
        return Failure{"usage", which(i) + ": there is no type '" + input.dtype + "'"};
    }
    if (*type != info->scalar_type()) {
        return Failure{"input", which(i) + ": the script says " + input.dtype +
                                    ", the method takes " + dtype_name(info->scalar_type())};
    }
    if (input.sizes.size() != info->sizes().size()) {
        return Failure{"input",
                       which(i) + ": the script gives it " + std::to_string(input.sizes.size()) +
                           " dimensions, the method takes " + std::to_string(info->sizes().size())};
    }
    size_t elements = 1, step = executorch::runtime::elementSize(*type);
    for (size_t d = 0; d < input.sizes.size(); d++) {
        if (input.sizes[d] > info->sizes()[d]) {
            return Failure{"input", which(i) + ": the script gives dimension " + std::to_string(d) +
                                        " the size " + std::to_string(input.sizes[d]) +
                                        ", the method takes " + std::to_string(info->sizes()[d]) +
                                        " at most"};
        }
        elements *= static_cast<size_t>(input.sizes[d]);
    }
    std::vector<uint8_t> &bytes = data_[i];
    bytes.resize(elements * step);
    if (input.kind == StepInput::file) {
        if (source.kind != Source::files) {
            return Failure{"usage", which(i) + ": the script takes a file, --inputs names none"};
        }
        if (auto failure = read_file(source.paths[i], i, bytes.size(), bytes.data())) {
            return failure;
        }
    }
    Random numbers(input.seed);
    for (size_t k = 0; input.kind != StepInput::file && k < elements; k++) {
        uint8_t *at = bytes.data() + k * step;
        if (input.kind != StepInput::values) {
            generate(*type, input.kind == StepInput::random ? &numbers : nullptr, at, input.below);
        } else if (!parse_value(*type, input.words[k], at)) {
            return Failure{"usage", which(i) + ": '" + input.words[k] + "' is no " + input.dtype};
        }
    }
    std::vector<executorch::aten::SizesType> sizes(input.sizes.begin(), input.sizes.end());
    std::vector<executorch::aten::DimOrderType> order(info->dim_order().begin(),
                                                      info->dim_order().end());
    tensors_.push_back(executorch::extension::for_blob(bytes.data(), std::move(sizes), *type)
                           .dim_order(std::move(order))
                           .make_tensor_ptr());
    values_.emplace_back(tensors_.back());
    return std::nullopt;
}

std::optional<Failure> Inputs::make(const executorch::runtime::Method &method,
                                    const std::string &spec, const Step *step)
{
    Source source;
    if (auto failure = source.read(spec)) {
        return failure;
    }
    auto meta = method.method_meta();
    size_t count = meta.num_inputs();
    if (source.kind == Source::files && source.paths.size() != count) {
        return Failure{"input", "--inputs names " + std::to_string(source.paths.size()) +
                                    " files, the method takes " + std::to_string(count)};
    }
    data_.resize(count);
    for (size_t k = 0; step != nullptr && k < step->inputs.size(); k++) {
        if (step->inputs[k].index >= count) {
            return Failure{"input", which(step->inputs[k].index) + ": method '" + step->method +
                                        "' takes " + std::to_string(count)};
        }
    }
    for (size_t i = 0; i < count; i++) {
        const StepInput *given = nullptr;
        for (size_t k = 0; step != nullptr && k < step->inputs.size(); k++) {
            given = step->inputs[k].index == i ? &step->inputs[k] : given;
        }
        auto tag = meta.input_tag(i);
        if (!tag.ok()) {
            return Failure{"input", which(i) + ": the program does not say what it is"};
        }
        if (*tag == Tag::Tensor && given != nullptr) {
            if (auto failure = add_step(meta, *given, source)) {
                return failure;
            }
            continue;
        }
        if (*tag == Tag::Tensor) {
            auto info = meta.input_tensor_meta(i);
            if (!info.ok()) {
                return Failure{"input", which(i) + ": the program does not describe its tensor"};
            }
            if (auto failure = add_tensor(*info, i, source)) {
                return failure;
            }
            continue;
        }
        // A scalar input of an exported program is a constant that it checks.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
        EValue value = method.get_input(i);
#pragma GCC diagnostic pop
        if (given != nullptr && given->kind == StepInput::values && given->words.size() == 1) {
            const char *word = given->words[0].c_str();
            if (*tag == Tag::Double) {
                value = EValue(std::strtod(word, nullptr));
            } else if (*tag == Tag::Int) {
                value = EValue(static_cast<int64_t>(std::strtoll(word, nullptr, 10)));
            } else if (*tag == Tag::Bool) {
                value = EValue(std::strtoll(word, nullptr, 10) != 0);
            }
        } else if (source.kind == Source::files && *tag != Tag::None) {
            if (auto failure = read_scalar(source.paths[i], i, *tag, value)) {
                return failure;
            }
        }
        values_.push_back(value);
    }
    return std::nullopt;
}

} // namespace etprof
