// SPDX-License-Identifier: Apache-2.0
// ExecuTorch's TextLLMRunner, from the file of the executorch package, in a process without a
// Python interpreter: what its calls take here is the runner's, what they take more under Python is
// the process's. The package brings no headers of it, so what is called is declared here as release
// 1.5.1 has it; text_calls (calls.cpp) loads this library behind the package's own.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <executorch/extension/module/module.h>

namespace tokenizers
{
class Tokenizer
{
  public:
    virtual ~Tokenizer(); // the package's
};
} // namespace tokenizers

namespace executorch::extension::threadpool
{
class ThreadPool
{
  public:
    bool _unsafe_reset_threadpool(uint32_t count);
};
ThreadPool *get_threadpool();
} // namespace executorch::extension::threadpool

namespace executorch::extension::llm
{
struct Stats;

struct GenerationConfig { // the order is that of the package's file
    bool echo = false;
    std::string grammar, grammar_type;
    bool ignore_eos = true;
    int32_t max_new_tokens = -1;
    bool warming = false;
    int32_t seq_len = -1;
    float temperature = 0;
    int32_t num_bos = 0, num_eos = 0;
};

class TextLLMRunner
{
  public:
    void reset();
    runtime::Error generate(const std::string &prompt, const GenerationConfig &config,
                            std::function<void(const std::string &)> on_token,
                            std::function<void(const Stats &)> on_stats);
};

std::unique_ptr<tokenizers::Tokenizer>
load_tokenizer(const std::string &path, std::unique_ptr<std::vector<std::string>> special,
               std::optional<std::string> pattern, size_t bos, size_t eos);
std::unique_ptr<TextLLMRunner>
create_text_llm_runner(const std::string &model, std::unique_ptr<tokenizers::Tokenizer> tokenizer,
                       std::optional<const std::string> data, float temperature,
                       const std::string &method, Module::LoadMode mode);
} // namespace executorch::extension::llm

using namespace executorch::extension;

// Answers of one token and of TOKENS more, in turn, the first two not to be kept; the runner prints
// the statistics of each. 0: all succeeded.
extern "C" int their_answers(const char *model, const char *tokenizer, int prompt, int tokens,
                             int answers)
{
    threadpool::get_threadpool()->_unsafe_reset_threadpool(1);
    // Not freed: how it is laid out is not known here, and the process ends.
    llm::TextLLMRunner *runner =
        llm::create_text_llm_runner(
            model, llm::load_tokenizer(tokenizer, nullptr, std::nullopt, 0, 1), std::nullopt, -1,
            "forward", Module::LoadMode::MmapUseMlockIgnoreErrors)
            .release();
    for (int i = 0; runner && i <= answers; i++) {
        for (int32_t n : {1, tokens + 1}) {
            llm::GenerationConfig config;
            config.max_new_tokens = n;
            if (runner->generate(std::string(static_cast<size_t>(prompt), 'a'), config, {}, {}) !=
                executorch::runtime::Error::Ok) {
                return 1;
            }
            runner->reset();
        }
    }
    return runner ? 0 : 1;
}
