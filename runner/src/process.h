// SPDX-License-Identifier: Apache-2.0
// Facts and settings of this process: clock, memory, CPUs, its end with its parent.
#ifndef ETP_RUNNER_PROCESS_H
#define ETP_RUNNER_PROCESS_H

#include <cstdint>
#include <optional>
#include <string>

#include "protocol.h"

namespace etprof
{

uint64_t now_ns(); // CLOCK_MONOTONIC
uint64_t rss_bytes();
uint64_t peak_rss_bytes();
// For how long this process's threads together were ready without a CPU (Linux); UINT64_MAX: the
// system does not tell.
uint64_t waited_ns();

// The kernel ends this process when its parent ends (Linux; elsewhere the end of stdin does it).
void die_with_parent();

uint64_t file_bytes(const std::string &path); // 0: no such file
uint64_t free_bytes(const std::string &path); // where a file of that path would lie
uint64_t address_limit();                     // bytes that this process may map, 0: any number

// Drops the file at PATH from the page cache; how many bytes of it are in there all the same: all,
// where the system drops or tells nothing. 0 where there is no such file.
uint64_t drop_cached(const std::string &path);

// Asks for performance cores (macOS, which pins nothing; threads of a pool keep the default class).
void prefer_fast_cores();

// Pins this thread and those it will start to a list like "0-3,6".
std::optional<Failure> pin(const std::string &cpus);

} // namespace etprof

#endif
