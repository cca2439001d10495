// SPDX-License-Identifier: Apache-2.0
// A script of steps: which methods are called in which order, and with what. One word of a
// repetition is a call; every call of it is an iteration of its own.
//
// Text, a line each, blanks between words, '#' begins a comment line:
//
//   etprof-steps 1       the first line
//   reset METHOD MEMORY OFFSET BYTES     so much of its planned memory (counted from 1), a mutable
//                        buffer, is before each repetition what it was after `once`
//   once                 the calls that follow come once, after loading: not timed, not recorded
//   each                 the calls that follow are one repetition
//   call METHOD
//   in I DTYPE SHAPE values V ...        SHAPE like 1x64, "scalar" without dimensions
//   in I DTYPE SHAPE random SEED [BELOW] integers are below BELOW (10 when it is left out)
//   in I DTYPE SHAPE ones
//   in I DTYPE SHAPE file                the file of --inputs, which has elements of so many
//
// Inputs that no line names are filled as --inputs says.
#ifndef ETP_RUNNER_STEPS_H
#define ETP_RUNNER_STEPS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol.h"

namespace etprof
{

struct StepInput {
    enum Kind { values, random, ones, file } kind = values;
    size_t index = 0;
    std::string dtype;
    std::vector<int32_t> sizes;
    std::vector<std::string> words; // values, as written
    uint64_t seed = 0, below = 0;
};

struct Step {
    std::string method;
    std::vector<StepInput> inputs;
};

struct Range { // of a method's planned memory
    std::string method;
    size_t memory = 0, offset = 0, bytes = 0;
};

struct Steps {
    std::vector<Range> reset;
    std::vector<Step> once, each;
    const Step &at(size_t call) const
    {
        return call < once.size() ? once[call] : each[call - once.size()];
    }
    size_t size() const
    {
        return once.size() + each.size();
    }

    std::optional<Failure> read(const std::string &path);

  private:
    std::optional<std::string> line(const std::string &text);
    std::optional<std::string> input(const std::vector<std::string> &words);
    std::vector<Step> *part_ = nullptr;
};

} // namespace etprof

#endif
