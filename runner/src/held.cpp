// SPDX-License-Identifier: Apache-2.0
// Who holds memory now, and of a launch that is made for it what was held at each stage.
#include <algorithm>
#include <cstdlib>
#include <set>

#include "process.h"
#include "session.h"

namespace etprof
{

static std::string absolute(const std::string &path)
{
    std::unique_ptr<char, void (*)(void *)> whole(realpath(path.c_str(), nullptr), std::free);
    return whole ? whole.get() : path;
}

// "2:0:4096,2:8192:64": mutable buffers in the planned memory of METHOD. A script has them itself.
static std::vector<Range> told_ranges(const std::string &method)
{
    std::vector<Range> ranges;
    const char *told = std::getenv("ETPROF_KEPT");
    for (const std::string &one : split(told != nullptr ? told : "")) {
        unsigned long long memory = 0, offset = 0, bytes = 0;
        if (std::sscanf(one.c_str(), "%llu:%llu:%llu", &memory, &offset, &bytes) == 3) {
            ranges.push_back({method, memory, offset, bytes});
        }
    }
    return ranges;
}

// All that lies in memory by now.
void Session::know_places()
{
    places_ = {};
    places_.cache = absolute(cache_);
    places_.paths = {absolute(options_.model)};
    for (const std::string &file : split(options_.data)) {
        places_.paths.push_back(absolute(file));
    }
    for (const std::string &path : places_.paths) {
        places_.files.push_back(path.c_str());
    }
    std::set<std::string> methods;
    for (size_t i = 0; module_ != nullptr && i < steps_.size(); i++) {
        const std::string &name = steps_.at(i).method;
        if (module_->is_method_loaded(name)) {
            methods.insert(name);
        }
    }
    for (const std::string &name : methods) {
        for (const auto &span : module_->planned(name)) {
            places_.planned.push_back({span.data(), span.size()});
        }
    }
    for (const Range &r : steps_.reset.empty() ? told_ranges(method_name_) : steps_.reset) {
        const bool there = methods.count(r.method) != 0 && r.memory > 0 &&
                           r.memory <= module_->planned(r.method).size();
        const auto span =
            there ? module_->planned(r.method)[r.memory - 1] : executorch::runtime::Span<uint8_t>{};
        if (r.offset <= span.size() && r.bytes <= span.size() - r.offset && r.bytes > 0) {
            places_.kept.push_back({span.data() + r.offset, r.bytes});
        }
    }
    for (const Saved &saved : saved_) {
        places_.copies.push_back({saved.copy.data(), saved.copy.size()});
    }
    const etp_memory_places known = {
        places_.files.data(),
        places_.files.size(),
        places_.cache.c_str(),
        {places_.planned.data(), places_.planned.size()},
        {places_.kept.data(),    places_.kept.size()   },
        {places_.copies.data(),  places_.copies.size() }
    };
    etp_memory_know(&known);
}

// In a launch that is made for it.
void Session::watch_memory()
{
    if (options_.kind == "memory") {
        know_places();
        etp_memory_watch(true);
    }
}

// The system counts without looking at each page: a reading may have seen more.
static uint64_t peak_until_now()
{
    const etp_memory *most = etp_memory_most();
    return std::max(peak_rss_bytes(), most != nullptr ? etp_memory_sum(&most->rows) : 0);
}

// Once; only in a launch that measures nothing else.
void Session::read_stage(etp_memory_stage &stage)
{
    etp_memory memory;
    if (options_.kind != "memory" || stage.peak_bytes > 0) {
        return;
    }
    know_places();
    if (etp_memory_read(&memory) && memory.known) {
        stage = {memory.rows, peak_until_now()};
    }
}

void Session::memory(etp_wire_done &out)
{
    etp_memory memory;
    know_places();
    if (!etp_memory_read(&memory)) {
        return;
    }
    out.dirty_bytes = memory.dirty_bytes;
    out.clean_bytes = memory.clean_bytes;
    if (!memory.known) {
        return;
    }
    out.memory = memory.rows;
    out.stages = stages_;
    if (const etp_memory *most = etp_memory_most()) {
        out.stages.peak = {most->rows, peak_until_now()};
    }
}

} // namespace etprof
