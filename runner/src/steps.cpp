// SPDX-License-Identifier: Apache-2.0
// Reads a script of steps.
#include "steps.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

namespace etprof
{

namespace
{

constexpr size_t k_most_calls = 100000;
constexpr uint64_t k_most_elements = uint64_t{1} << 31;

bool number(const std::string &text, uint64_t most, uint64_t &value)
{
    if (text.empty() || text.size() > 19 ||
        text.find_first_not_of("0123456789") != std::string::npos) {
        return false;
    }
    value = std::stoull(text);
    return value <= most;
}

bool shape(const std::string &text, std::vector<int32_t> &sizes)
{
    if (text == "scalar") {
        return true;
    }
    uint64_t elements = 1;
    for (size_t at = 0; at <= text.size();) {
        size_t end = std::min(text.find('x', at), text.size());
        uint64_t extent;
        if (sizes.size() == 16 || !number(text.substr(at, end - at), INT32_MAX, extent)) {
            return false;
        }
        elements *= extent == 0 ? 1 : extent;
        if (elements > k_most_elements) {
            return false;
        }
        sizes.push_back(static_cast<int32_t>(extent));
        at = end + 1;
    }
    return true;
}

} // namespace

// Reads WORDS, a line that begins with "in". What is wrong with it, if anything.
std::optional<std::string> Steps::input(const std::vector<std::string> &words)
{
    StepInput in;
    uint64_t n;
    if (part_ == nullptr || part_->empty()) {
        return "'in' before the first call";
    }
    if (words.size() < 5 || !number(words[1], 1000, n)) {
        return "'in' takes the number of an input, and what it is";
    }
    in.index = n;
    for (const StepInput &other : part_->back().inputs) {
        if (other.index == in.index) {
            return "input " + words[1] + " is given twice";
        }
    }
    in.dtype = words[2];
    if (!shape(words[3], in.sizes)) {
        return "'" + words[3] + "' is not a shape like 1x64";
    }
    const std::string &kind = words[4];
    if (kind == "values") {
        in.kind = StepInput::values;
        in.words.assign(words.begin() + 5, words.end());
        uint64_t elements = 1;
        for (int32_t extent : in.sizes) {
            elements *= static_cast<uint64_t>(extent);
        }
        if (elements != in.words.size()) {
            return std::to_string(in.words.size()) + " values for " + std::to_string(elements) +
                   " elements";
        }
    } else if (kind == "random" && (words.size() == 6 || words.size() == 7)) {
        in.kind = StepInput::random;
        in.below = 10;
        if (!number(words[5], UINT64_MAX, in.seed) ||
            (words.size() == 7 && (!number(words[6], INT64_MAX, in.below) || in.below == 0))) {
            return "'random' takes a seed, and what integers are below";
        }
    } else if (kind == "ones" && words.size() == 5) {
        in.kind = StepInput::ones;
    } else if (kind == "file" && words.size() == 5) {
        in.kind = StepInput::file;
    } else {
        return "'" + kind + "' is not values, random SEED, ones or file";
    }
    part_->back().inputs.push_back(std::move(in));
    return std::nullopt;
}

std::optional<std::string> Steps::line(const std::string &text)
{
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) {
        words.push_back(word);
    }
    if (words.empty() || words[0][0] == '#') {
        return std::nullopt;
    }
    bool alone = words.size() == 1;
    if (words[0] == "reset" && words.size() == 5) {
        uint64_t memory, offset, bytes;
        if (!number(words[2], 1000, memory) || memory == 0 ||
            !number(words[3], INT64_MAX, offset) || !number(words[4], INT64_MAX, bytes)) {
            return "'reset' takes a method, a planned memory, an offset and bytes";
        }
        reset.push_back({words[1], memory, offset, bytes});
    } else if (words[0] == "once" && alone && part_ == nullptr) {
        part_ = &once;
    } else if (words[0] == "each" && alone && part_ != &each) {
        part_ = &each;
    } else if (words[0] == "call" && words.size() == 2) {
        if (part_ == nullptr) {
            return "a call before 'once' or 'each'";
        }
        if (size() == k_most_calls) {
            return "more than " + std::to_string(k_most_calls) + " calls";
        }
        part_->push_back({words[1], {}});
    } else if (words[0] == "in") {
        return input(words);
    } else {
        return "'" + words[0] + "' is not expected here";
    }
    return std::nullopt;
}

std::optional<Failure> Steps::read(const std::string &path)
{
    std::ifstream file(path);
    if (!file) {
        return Failure{"file", "cannot open " + path + ": " + std::strerror(errno)};
    }
    std::string text;
    if (!std::getline(file, text) || text != "etprof-steps 1") {
        return Failure{"usage", path + " is not a script of steps (its first line is not "
                                       "'etprof-steps 1')"};
    }
    for (size_t at = 2; std::getline(file, text); at++) {
        if (auto why = line(text)) {
            return Failure{"usage", path + " line " + std::to_string(at) + ": " + *why};
        }
    }
    if (each.empty()) {
        return Failure{"usage", path + ": no call after 'each'"};
    }
    return std::nullopt;
}

} // namespace etprof
