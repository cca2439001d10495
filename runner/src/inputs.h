// SPDX-License-Identifier: Apache-2.0
// The inputs of a method: generated from a seed, ones, or read from files.
#ifndef ETP_RUNNER_INPUTS_H
#define ETP_RUNNER_INPUTS_H

#include <optional>
#include <string>
#include <vector>

#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/executor/method.h>

#include "protocol.h"
#include "steps.h"

namespace etprof
{

// Owns the data that its values point to.
class Inputs
{
  public:
    // `spec` is "random:SEED", "ones" or "FILE,FILE,…", one raw file per input.
    // Generated scalars keep the value that the program was exported with.
    // STEP, where there is one, says otherwise of some of them.
    std::optional<Failure> make(const executorch::runtime::Method &method, const std::string &spec,
                                const Step *step = nullptr);
    const std::vector<executorch::runtime::EValue> &values() const
    {
        return values_;
    }

  private:
    struct Source;
    std::optional<Failure> add_tensor(const executorch::runtime::TensorInfo &info, size_t index,
                                      Source &source);
    std::optional<Failure> add_step(const executorch::runtime::MethodMeta &meta,
                                    const StepInput &input, const Source &source);

    std::vector<std::vector<uint8_t>> data_;
    std::vector<executorch::extension::TensorPtr> tensors_;
    std::vector<executorch::runtime::EValue> values_;
};

// "float32", "int8", …; "" for a type that etprof does not know.
const char *dtype_name(executorch::aten::ScalarType type);

} // namespace etprof

#endif
