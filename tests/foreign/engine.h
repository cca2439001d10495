// SPDX-License-Identifier: Apache-2.0
// What a runner does with ExecuTorch, compiled once for all the test runners that differ in flags
// and log.
#pragma once

#include <cstdint>
#include <string>

struct EngineOptions {
    std::string model, method, data;
    int threads; // 0: the pool as it is, 1: none
    bool trace;
};

// Each returns "" or why not.
std::string engine_load(const EngineOptions &options, uint64_t *out_ns);
std::string engine_inputs(const std::string &files); // "" = ones
std::string engine_execute(uint64_t *out_ns);
// A call of a text decoder: forward(tokens [1,n], start [1]) with the tokens START, START + 1, ...
std::string engine_text(int64_t start, int64_t n);
std::string engine_write_outputs(const std::string &base);
std::string engine_write_etdump(const std::string &path, bool empty);
