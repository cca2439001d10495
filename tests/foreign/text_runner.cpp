// SPDX-License-Identifier: Apache-2.0
// Stands in for ExecuTorch's llama_main, which this project does not ship: the same flags, the same
// statistics (PyTorchObserver), the real ExecuTorch libraries. It says so in its log. Written for
// the tests from the flags' documentation and from logs; built in several ways by build.py:
//   WITHOUT_TRACER   --etdump_path is there, as in every build, and writes nothing
//   SLOW             says three (prefill) and two (decode) times as much
//   OLD_RELEASE      --seq_len alone, no --max_new_tokens, --ignore_eos, --warmup
// Its tokenizer is the word in the tokenizer's file: words (one token a word), bos (and one
// before), bytes (one a byte), odd (never what was expected). Its times are planted: what it says
// took TEXT_PREFILL_US and TEXT_DECODE_US (a token), read from a clock of whole milliseconds at a
// moment of chance. TEXT_FAULT makes it
// misbehave: missing, nan, negative, zero, units, twice, threads, ended, crash.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "engine.h"
#include "flags.h"

static Flags flags = {
    {"model_path",     "llama2.pte"   },
    {"data_paths",     ""             },
    {"tokenizer_path", "tokenizer.bin"},
    {"prompt",         "The answer"   },
    {"temperature",    "0.8"          },
    {"seq_len",        "128"          },
    {"cpu_threads",    "-1"           },
    {"num_bos",        "0"            },
    {"num_eos",        "0"            },
    {"method_name",    "forward"      },
    {"etdump_path",    "etdump.in"    },
#ifndef OLD_RELEASE
    {"max_new_tokens", "-1"           },
    {"ignore_eos",     "false"        },
    {"warmup",         "false"        },
#endif
};

static bool fault(const char *name)
{
    const char *wanted = std::getenv("TEXT_FAULT");
    return wanted && std::strcmp(wanted, name) == 0;
}

static int64_t planted(const char *name, int64_t otherwise)
{
    const char *text = std::getenv(name);
    return text ? std::atoll(text) : otherwise;
}

static void check(const std::string &why)
{
    if (!why.empty()) {
        std::fprintf(stderr, "E 00:00:00.1 executorch:main.cpp:1] %s\n", why.c_str());
        std::exit(1);
    }
}

static int64_t count_tokens(const std::string &prompt)
{
    std::string kind;
    std::ifstream(flags["tokenizer_path"]) >> kind;
    if (kind.empty()) {
        check("Failed to load tokenizer " + flags["tokenizer_path"]);
    }
    int64_t words = 1;
    for (char c : prompt) {
        words += c == ' ';
    }
    if (kind == "bytes") {
        return static_cast<int64_t>(prompt.size());
    }
    if (kind == "bos") {
        return words + 1;
    }
    return kind == "odd" ? words | 1 : words;
}

// One answer; the recording of a tracer has its calls.
static void answer(int64_t prompt, int64_t more)
{
    check(engine_text(0, prompt));
    for (int64_t i = 0; i < more; i++) {
        check(engine_text(prompt + i, 1));
        std::printf("<%lld>", static_cast<long long>(i));
    }
}

static void report(int64_t prompt, int64_t generated)
{
#ifdef SLOW
    const bool slow = true;
#else
    const bool slow = false;
#endif
    int64_t prefill = planted("TEXT_PREFILL_US", 4300) * (slow ? 3 : 1);
    int64_t decode = planted("TEXT_DECODE_US", 1010) * (slow ? 2 : 1) * generated;
    auto now = std::chrono::system_clock::now().time_since_epoch();
    int64_t start = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
    int64_t middle = (start + prefill) / 1000, end = (start + prefill + decode) / 1000;
    char from[32];
    std::snprintf(from, sizeof from, fault("nan") ? "NaN" : "%lld",
                  static_cast<long long>(start / 1000 + (fault("negative") ? 100000 : 0)));
    if (fault("missing")) {
        return;
    }
    for (int i = 0; i < (fault("twice") ? 2 : 1); i++) {
        std::printf("PyTorchObserver {\"prompt_tokens\":%lld,\"generated_tokens\":%lld,"
                    "\"model_load_start_ms\":%lld,\"model_load_end_ms\":%lld,"
                    "\"inference_start_ms\":%s,\"inference_end_ms\":%lld,"
                    "\"prompt_eval_end_ms\":%lld,\"first_token_ms\":%lld,"
                    "\"aggregate_sampling_time_ms\":0,\"SCALING_FACTOR_UNITS_PER_SECOND\":%d}\n",
                    static_cast<long long>(fault("zero") ? 0 : prompt),
                    static_cast<long long>(generated), static_cast<long long>(start / 1000 - 30),
                    static_cast<long long>(start / 1000 - 2), from, static_cast<long long>(end),
                    static_cast<long long>(middle), static_cast<long long>(middle),
                    fault("units") ? 1000000 : 1000);
    }
}

int main(int argc, char **argv)
{
    if (!read_flags(argc, argv, flags)) {
        return 1;
    }
    std::fprintf(stderr,
                 "I 00:00:00.1 executorch:main.cpp:1] a stand-in for llama_main, for tests; "
                 "its times are planted\n");
    int threads = std::atoi(flags["cpu_threads"].c_str());
    std::fprintf(stderr,
                 "I 00:00:00.1 executorch:main.cpp:1] Resetting threadpool with num threads = %d\n",
                 fault("threads") ? threads + 3 : threads);
    int64_t prompt = count_tokens(flags["prompt"]),
            more = std::atoll(flags["seq_len"].c_str()) - prompt;
    bool trace = false;
#ifndef WITHOUT_TRACER
    trace = true;
#endif
#ifndef OLD_RELEASE
    int64_t asked = std::atoll(flags["max_new_tokens"].c_str());
    more = asked >= 0 ? asked : more;
#endif
    more = fault("ended") ? 2 : more - 1; // the first new token is the prompt's own
    uint64_t load_ns = 0;
    EngineOptions o{flags["model_path"], flags["method_name"], flags["data_paths"],
                    threads > 0 ? threads : 0, trace};
    check(engine_load(o, &load_ns));
    if (fault("crash")) {
        std::raise(SIGSEGV);
    }
#ifndef OLD_RELEASE
    if (flags["warmup"] == "true") {
        answer(prompt, more);
        std::printf("\n");
    }
#endif
    std::printf("%s", flags["prompt"].c_str());
    answer(prompt, more);
    std::printf("\n");
    report(prompt, more);
#ifndef WITHOUT_TRACER
    check(engine_write_etdump(flags["etdump_path"], false));
    std::fprintf(stderr, "I 00:00:00.2 executorch:main.cpp:1] ETDump file written to: %s\n",
                 flags["etdump_path"].c_str());
#endif
    return 0;
}
