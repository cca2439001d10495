// SPDX-License-Identifier: Apache-2.0
// One loaded method of one program, executed as the tool commands.
#include "session.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

#include <sys/stat.h>
#include <unistd.h>

#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/platform/clock.h>
#include <executorch/runtime/platform/platform.h>

extern "C" {
#include "base/json.h"
}
#include "counters.h"
#include "crash.h"
#include "hook.h"
#include "kernels.h"
#include "loading.h"
#include "owners.h"
#include "process.h"
#include "sampler.h"

// The SDK ships this library but not its header.
namespace executorch::extension::threadpool
{
class ThreadPool
{
  public:
    bool _unsafe_reset_threadpool(uint32_t count);
    size_t get_thread_count() const;
};
ThreadPool *get_threadpool();
} // namespace executorch::extension::threadpool

namespace etprof
{

using executorch::runtime::Error;
using executorch::runtime::EValue;

namespace
{

using File = std::unique_ptr<std::FILE, int (*)(std::FILE *)>;

File open_file(const std::string &path, const char *mode)
{
    return File(std::fopen(path.c_str(), mode), std::fclose);
}

std::string reason(Error error)
{
    return executorch::runtime::to_string(error);
}

std::optional<Failure> write_file(const std::string &path, const void *bytes, size_t size)
{
    File f = open_file(path, "wb");
    bool ok = f != nullptr && std::fwrite(bytes, 1, size, f.get()) == size;
    ok = f != nullptr && std::fclose(f.release()) == 0 && ok;
    if (!ok) {
        return Failure{"io", "cannot write " + path + ": " + std::strerror(errno)};
    }
    return std::nullopt;
}

// Where the writer of JSON puts what it has written.
bool append(etp_sink *sink, const char *ptr, size_t len)
{
    static_cast<std::string *>(sink->target)->append(ptr, len);
    return true;
}

void write_numbers(etp_json *j, const char *key, const std::vector<int64_t> &numbers)
{
    etp_json_key(j, key);
    etp_json_begin_array(j);
    for (int64_t number : numbers) {
        etp_json_i64(j, number);
    }
    etp_json_end(j);
}

// CLOCK_MONOTONIC when the SDK's clock, whose ticks stand in recordings, was 0.
uint64_t tick_zero()
{
    uint64_t before = now_ns();
    uint64_t ticks = executorch::runtime::ticks_to_ns(et_pal_current_ticks());
    uint64_t after = now_ns();
    return before + (after - before) / 2 - ticks;
}

uint64_t le64(const char *at)
{
    uint64_t v = 0;
    for (int i = 7; i >= 0; i--) {
        v = v << 8 | static_cast<unsigned char>(at[i]);
    }
    return v;
}

// With an extended header the file says how long it must be.
std::optional<Failure> check_length(const std::string &path, const char *head, uint64_t size)
{
    if (std::memcmp(head + 8, "eh00", 4) != 0) {
        return std::nullopt;
    }
    uint64_t program = le64(head + 16), base = le64(head + 24);
    unsigned header = static_cast<unsigned char>(head[12]);
    uint64_t data = header >= 32 ? le64(head + 32) : 0;
    uint64_t need = base == 0 ? program : std::max(program, base + std::min(data, ~base));
    if (size < need) {
        return Failure{"not_pte", path + " is truncated: " + std::to_string(size) + " of " +
                                      std::to_string(need) + " bytes"};
    }
    return std::nullopt;
}

} // namespace

std::optional<Failure> check_program(const std::string &path)
{
    File f = open_file(path, "rb");
    struct stat st;
    if (f == nullptr || fstat(fileno(f.get()), &st) != 0) {
        return Failure{"file", "cannot open " + path + ": " + std::strerror(errno)};
    }
    if (S_ISDIR(st.st_mode)) {
        return Failure{"file", path + " is a folder, not a .pte file"};
    }
    char head[64] = {0};
    size_t n = std::fread(head, 1, sizeof head, f.get());
    if (n == 0) {
        return Failure{"not_pte", path + " is empty"};
    }
    if (n < 8) {
        return Failure{"not_pte", path + " has only " + std::to_string(n) + " bytes"};
    }
    std::string id(head + 4, 4);
    if (id == "ET12") {
        return check_length(path, head, static_cast<uint64_t>(st.st_size));
    }
    if (id == "BP08") {
        return Failure{"not_pte", path + " is a bundled program; give the .pte it was made from"};
    }
    if (id == "ED00" || std::string(head + 8, 4) == "ED00") {
        return Failure{"not_pte", path + " is an ETDump (a recording), not a program"};
    }
    if (id == "FT01") {
        return Failure{"not_pte", path + " is a .ptd data file; give it with --data"};
    }
    if (id.compare(0, 2, "ET") == 0) {
        return Failure{"not_pte",
                       path + " has program format '" + id + "', this runner's SDK reads ET12"};
    }
    return Failure{"not_pte", path + " is not an ExecuTorch program (no ET12 at byte 4)"};
}

std::vector<std::string> split(const std::string &list)
{
    std::vector<std::string> files;
    for (size_t at = 0; at <= list.size();) {
        size_t comma = std::min(list.find(',', at), list.size());
        files.push_back(list.substr(at, comma - at));
        at = comma + 1;
    }
    return files;
}

std::optional<Failure> Session::set_threads()
{
    namespace tp = executorch::extension::threadpool;
    // XNNPACK takes the pool when the method is loaded, so this comes first.
    if (options_.threads == 1) {
        no_pool_.emplace(); // held until this session ends
        return std::nullopt;
    }
    tp::ThreadPool *pool = tp::get_threadpool();
    if (pool == nullptr || !pool->_unsafe_reset_threadpool(options_.threads) ||
        pool->get_thread_count() != options_.threads) {
        return Failure{"load",
                       "the SDK could not start " + std::to_string(options_.threads) + " threads"};
    }
    return std::nullopt;
}

std::optional<Failure> Session::choose_method()
{
    auto found = module_->method_names();
    if (!found.ok()) {
        return Failure{"load", options_.model + ": no list of methods: " + reason(found.error())};
    }
    std::vector<std::string> names(found->begin(), found->end());
    std::sort(names.begin(), names.end());
    std::string list;
    for (const std::string &name : names) {
        list += (list.empty() ? "" : ", ") + name;
    }
    if (!options_.method.empty()) {
        method_name_ = options_.method;
        if (found->count(method_name_) == 0) {
            return Failure{"method", options_.model + " has no method '" + method_name_ +
                                         "'; it has: " + list};
        }
    } else if (found->count("forward") != 0) {
        method_name_ = "forward";
    } else if (names.size() == 1) {
        method_name_ = names[0];
    } else {
        return Failure{"method",
                       options_.model +
                           " has several methods and no 'forward'; choose with --method: " + list};
    }
    return std::nullopt;
}

std::optional<Failure> Session::load_methods(Whose &whose)
{
    std::set<std::string> called;
    for (size_t i = 0; i < steps_.size(); i++) {
        called.insert(steps_.at(i).method);
    }
    if (auto failure = kernels_check(options_.model, called, whose)) {
        return failure;
    }
    for (size_t i = 0; i < steps_.size(); i++) {
        const std::string &name = steps_.at(i).method;
        auto names = module_->method_names();
        if (names.ok() && names->count(name) == 0) {
            return Failure{"method", options_.model + " has no method '" + name + "'"};
        }
        if (module_->is_method_loaded(name)) {
            continue;
        }
        Error error = module_->load_method(name);
        if (error != Error::Ok) {
            return not_loaded(name, error);
        }
        watch_memory();
    }
    return std::nullopt;
}

std::optional<Failure> Session::make_calls()
{
    once_ = steps_.once.size();
    calls_.resize(steps_.size());
    for (size_t i = 0; i < calls_.size(); i++) {
        Call &call = calls_[i];
        call.step = &steps_.at(i);
        call.name = call.step->method;
        call.method = module_->loaded(call.name);
        if (auto failure = call.inputs.make(*call.method, options_.inputs, call.step)) {
            return failure;
        }
    }
    return std::nullopt;
}

std::optional<Failure> Session::failed(const Call &call, uint64_t iteration, Error error) const
{
    std::string at = calls_.size() == 1
                         ? ""
                         : " (call " + std::to_string(&call - calls_.data()) + " of the script)";
    return Failure{"execute", "iteration " + std::to_string(iteration) + " of method '" +
                                  call.name + "'" + at + " failed: " + reason(error)};
}

// The calls that prepare a repetition, as an untimed part of loading.
std::optional<Failure> Session::once()
{
    for (size_t i = 0; i < once_; i++) {
        if (auto failure = put_inputs(calls_[i], false)) {
            return failure;
        }
        crash_doing("executing the calls before the first repetition");
        Error error = calls_[i].method->execute();
        if (error != Error::Ok) {
            return Failure{"execute", "call " + std::to_string(i) + " of the script, of method '" +
                                          calls_[i].name + "', failed: " + reason(error)};
        }
        read_stage(stages_.first);
    }
    if (once_ > 0 && tracer_ != nullptr) { // none of it belongs to a repetition
        auto result = tracer_->get_etdump_data();
        std::free(result.buf);
    }
    return std::nullopt;
}

std::optional<Failure> Session::save()
{
    for (const Range &range : steps_.reset) {
        if (!module_->is_method_loaded(range.method)) {
            return Failure{"usage", "the script resets method '" + range.method +
                                        "', which it does not call"};
        }
        const auto &planned = module_->planned(range.method);
        size_t size = range.memory <= planned.size() ? planned[range.memory - 1].size() : 0;
        if (range.offset > size || range.bytes > size - range.offset) {
            return Failure{"usage", "the script resets " + std::to_string(range.bytes) +
                                        " bytes at " + std::to_string(range.offset) +
                                        " of planned memory " + std::to_string(range.memory) +
                                        " of method '" + range.method + "', which has " +
                                        std::to_string(size)};
        }
        uint8_t *live = planned[range.memory - 1].data() + range.offset;
        saved_.push_back({
            live, {live, live + range.bytes}
        });
    }
    return std::nullopt;
}

// Where XNNPACK keeps its packed weights; empty: in memory alone.
static std::string cache_file(const std::string &packed_cache)
{
    size_t colon = packed_cache.find(':');
    return colon == std::string::npos ? "" : packed_cache.substr(colon + 1);
}

#if __has_include(<executorch/runtime/backend/backend_options_map.h>)
static Error load_program(executorch::extension::Module &module, const std::string &file)
{
    namespace rt = executorch::runtime;
    // Checks the whole structure, not only the header: a damaged file is an error, not a crash.
    const auto check = rt::Program::Verification::InternalConsistency;
    if (file.empty()) {
        return module.load(check);
    }
    rt::BackendOptions<2> options;
    rt::LoadBackendOptionsMap map; // the module takes a copy of both
    Error error = file.size() < rt::kMaxOptionValueLength
                      ? options.set_option("packed_cache_path", file.c_str())
                      : Error::InvalidArgument;
    error = error == Error::Ok ? options.set_option("weight_cache_enabled", true) : error;
    error = error == Error::Ok ? map.set_options("XnnpackBackend", options.view()) : error;
    return error == Error::Ok ? module.load(map, check) : error;
}
#else
static Error load_program(executorch::extension::Module &module, const std::string &)
{
    return module.load(executorch::runtime::Program::Verification::InternalConsistency);
}
#endif

// Loads what this session loads, or all methods where it has loaded none, and lets go of it.
void Session::load_beside(const std::string &packed_cache)
{
    auto mode = OpenModule::LoadMode::Mmap;
    auto beside = options_.data.empty()
                      ? std::make_unique<OpenModule>(options_.model, mode)
                      : std::make_unique<OpenModule>(options_.model, split(options_.data), mode);
    if (load_program(*beside, packed_cache) != Error::Ok) {
        return;
    }
    auto names = beside->method_names();
    for (size_t i = 0; i < steps_.size() && module_ != nullptr; i++) {
        if (!beside->is_method_loaded(steps_.at(i).method)) {
            (void)beside->load_method(steps_.at(i).method);
        }
    }
    for (const auto &name : names.ok() ? *names : std::unordered_set<std::string>{}) {
        if (module_ == nullptr) {
            (void)beside->load_method(name);
        }
    }
}

// A cold start finds no file. A warm one finds the file that an earlier load wrote; where none did,
// one does now, before anything is timed.
std::optional<Failure> Session::prepare_cache()
{
    const std::string file = cache_file(options_.packed_cache);
    const bool cold = options_.packed_cache.rfind("cold:", 0) == 0;
    if (options_.packed_cache.empty()) {
        return std::nullopt;
    }
    if (file.empty() || (!cold && options_.packed_cache.rfind("warm:", 0) != 0)) {
        return Failure{"usage", "--packed-cache takes cold:FILE or warm:FILE, not '" +
                                    options_.packed_cache + "'"};
    }
    if (!k_has_packed_cache) {
        return Failure{"usage", "--packed-cache: this runner's ExecuTorch has no cache of packed "
                                "weights (1.5.1 has)"};
    }
    if (cold) {
        (void)unlink(file.c_str());
    }
    const bool there = access(file.c_str(), F_OK) == 0;
    uint64_t need = file_bytes(options_.model);
    for (const std::string &data : split(options_.data)) {
        need += file_bytes(data);
    }
    need += need / 4; // as packed
    // The SDK writes through a mapping, which on a full disk is a fatal signal.
    if (!there && free_bytes(file) < need) {
        std::fprintf(stderr, "no cache of packed weights: %s has no room for %llu bytes\n",
                     file.c_str(), static_cast<unsigned long long>(need));
        return std::nullopt;
    }
    cache_ = file;
    if (!there && !cold) {
        load_beside(file); // what fails here fails again in the load that is measured
    }
    return std::nullopt;
}

// Of the files that loading reads, what stays in the page cache.
static uint64_t drop_files(const Options &o, const std::string &cache)
{
    uint64_t left = drop_cached(o.model) + drop_cached(cache);
    for (const std::string &file : split(o.data)) {
        left += drop_cached(file);
    }
    return left;
}

std::optional<Failure> Session::load(etp_wire_load &out)
{
    if (auto failure = set_threads()) {
        return failure;
    }
    if (!options_.steps.empty()) {
        if (auto failure = steps_.read(options_.steps)) {
            return failure;
        }
    }
    crash_doing(options_.data.empty()
                    ? "loading the model; if its weights are in a .ptd file, give it with --data"
                    : "loading the model");
    if (auto failure = prepare_cache()) {
        return failure;
    }
    if (options_.kind == "traced") {
        etp_loading_watch(ETP_LOADING_TIMES);
    }
    if (options_.kind == "cold") {
        out.cached_bytes = drop_files(options_, cache_);
    }
    watch_memory();
    begun_ = now();
    std::unique_ptr<executorch::etdump::ETDumpGen> tracer;
    if (options_.kind == "traced" || options_.kind == "sampled") {
        tracer = std::make_unique<executorch::etdump::ETDumpGen>();
        tracer_ = tracer.get();
    }
    auto mode = OpenModule::LoadMode::Mmap;
    module_ = options_.data.empty()
                  ? std::make_unique<OpenModule>(options_.model, mode, std::move(tracer))
                  : std::make_unique<OpenModule>(options_.model, split(options_.data), mode,
                                                 std::move(tracer));
    Error error = load_program(*module_, cache_);
    if (error != Error::Ok) {
        return Failure{"load",
                       options_.model + ": the SDK cannot load the program: " + reason(error)};
    }
    opened_ = now();
    mapped_ns_ = etp_loading_mapped_ns();
    if (options_.steps.empty()) {
        if (auto failure = choose_method()) {
            return failure;
        }
        steps_.each.push_back({method_name_, {}});
    }
    method_name_ = steps_.each[0].method;
    Whose whose;
    if (auto failure = load_methods(whose)) {
        return failure;
    }
    std::snprintf(out.kernels_ours, sizeof out.kernels_ours, "%s", whose.ours.c_str());
    std::snprintf(out.kernels_theirs, sizeof out.kernels_theirs, "%s", whose.theirs.c_str());
    loaded_ = now();
    out.ns = loaded_.ns - begun_.ns;
    etp_loading_watch(ETP_LOADING_OFF);
    etp_memory_loaded();
    read_stage(stages_.load);
    out.rss_bytes = rss_bytes();
    std::snprintf(out.method, sizeof out.method, "%s", method_name_.c_str());
    const auto *method = module_->loaded(method_name_);
    out.inputs = method->inputs_size();
    out.outputs = method->outputs_size();
    out.epoch_ns = tick_zero();
    recorded_ = tracer_ != nullptr;
    if (options_.kind == "sampled") {
        if (auto failure = sampler_open(options_.rate)) {
            return failure;
        }
    }
    if (auto failure = make_calls()) {
        return failure;
    }
    if (auto failure = once()) {
        return failure;
    }
    auto failure = save();
    ready_ = now();
    return failure;
}

// Planned memory is reused while a method runs: inputs go in anew each time. BEGINS: the first
// call of a repetition.
std::optional<Failure> Session::put_inputs(Call &call, bool begins)
{
    for (size_t k = 0; begins && k < saved_.size(); k++) {
        std::memcpy(saved_[k].live, saved_[k].copy.data(), saved_[k].copy.size());
    }
    const std::vector<EValue> &inputs = call.inputs.values();
    Error error = Error::Ok;
    for (size_t k = 0; k < inputs.size() && error == Error::Ok; k++) {
        error = call.method->set_input(inputs[k], k);
    }
    return error == Error::Ok ? std::nullopt : failed(call, done_, error);
}

static Session::Waits waits_since(uint64_t waited, uint64_t began)
{
    const uint64_t now = waited_ns();
    bool known = waited != UINT64_MAX && now != UINT64_MAX && now >= waited;
    return known ? Session::Waits{now_ns() - began, now - waited} : Session::Waits{0, 0};
}

std::optional<Failure> Session::run(uint64_t n, Lines &lines)
{
    // All memory before the first measurement, and touched.
    std::vector<Iteration> samples(n);
    std::vector<etp_wire_counts> counts(counters_on() ? n : 0);
    const uint64_t every = counters_stride(shortest_ns_, n);
    Reading before{}, after{};
    const uint64_t length = calls_.size() - once_; // of a repetition
    std::optional<Failure> failure;
    const uint64_t waited = waited_ns(), began = now_ns(), faults = etp_loading_faults();
    uint64_t last_sent = began;
    Progress progress{samples.data(), done_, 0, 0};
    auto send = [&] {
        etp_wire_msg msg{};
        msg.type = ETP_WIRE_ITER;
        for (uint64_t k = progress.sent; k < progress.done; k++) {
            msg.u.iter = {done_ + k, samples[k].start_ns, samples[k].ns,
                          counts.empty() ? etp_wire_counts{} : counts[k]};
            lines.send(msg);
        }
        lines.flush();
        progress.sent = progress.done;
    };
    crash_doing("executing the method");
    crash_progress(&progress);
    uint64_t i = 0;
    recorded_ = tracer_ != nullptr;
    if (options_.kind == "sampled") {
        if (auto why = sampler_start()) {
            return why;
        }
    }
    while (i < n) {
        const uint64_t place = (done_ + i) % length;
        Call &call = calls_[once_ + place];
        if (failure = put_inputs(call, place == 0); failure) {
            break;
        }
        const bool watched = done_ + i < 2;
        const uint64_t asked = watched ? etp_hook_asked() : 0;
        const bool counted = !counts.empty() && every > 0 && i % every == every - 1;
        if (counted) { // outside the time
            counters_begin(before);
        }
        uint64_t start = now_ns();
        const Error error = call.method->execute();
        uint64_t end = now_ns();
        if (counted) {
            counters_end(after);
            counts[i] = counters_between(before, after);
        }
        if (error != Error::Ok) {
            failure = failed(call, done_ + i, error);
            break;
        }
        // The first execution also asks what is asked once in a process. After the second it is
        // known how often an execution asks, and the hook is not needed in the way any more.
        if (watched) {
            first_ = first_.ns > 0 ? first_ : Moment{end - start, etp_loading_faults() - faults};
            hook_calls_ = etp_hook_asked() - asked;
            hook_call_ps_ = done_ + i == 1 ? etp_hook_hand_on() : 0;
            read_stage(stages_.first);
        }
        shortest_ns_ = shortest_ns_ == 0 || end - start < shortest_ns_ ? end - start : shortest_ns_;
        samples[i++] = {start, end - start};
        progress.done = i;
        // Writing wakes the reader, so short runs are reported at their end and
        // only slow models, which a second hardly disturbs, as they go.
        if (end - last_sent > 1000000000u) {
            send();
            last_sent = now_ns();
        }
    }
    sampler_stop();
    waits_ = waits_since(waited, began);
    send();
    crash_progress(nullptr);
    crash_doing("waiting for a command");
    done_ += i;
    return failure;
}

std::optional<Failure> Session::dump(const std::string &path, uint64_t &bytes)
{
    if (tracer_ == nullptr) {
        return Failure{"kind",
                       "dump needs --kind traced or sampled, this launch is " + options_.kind};
    }
    if (!recorded_) {
        return Failure{"io", "nothing was recorded since the last dump"};
    }
    auto result = tracer_->get_etdump_data();
    std::unique_ptr<void, void (*)(void *)> owner(result.buf, std::free);
    recorded_ = false;
    bytes = 0;
    if (result.buf == nullptr || result.size == 0) {
        return Failure{"memory", "the SDK could not build the recording"};
    }
    if (path == "-") {
        return std::nullopt;
    }
    bytes = result.size;
    return write_file(path, result.buf, result.size);
}

std::optional<Failure> Session::samples(const std::string &path, uint64_t &count, uint64_t &bytes)
{
    if (options_.kind != "sampled") {
        return Failure{"kind", "samples needs --kind sampled, this launch is " + options_.kind};
    }
    return sampler_write(path, count, bytes);
}

std::optional<Failure> Session::outputs(const std::string &folder, uint64_t &files, uint64_t &bytes)
{
    if (done_ == 0) {
        return Failure{"io", "there are no outputs before the first iteration"};
    }
    if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) {
        return Failure{"io", "cannot make " + folder + ": " + std::strerror(errno)};
    }
    std::string json;
    etp_sink sink{append, &json, false};
    etp_json j;
    etp_json_init(&j, &sink, false);
    etp_json_begin_object(&j);
    etp_json_key(&j, "outputs");
    etp_json_begin_array(&j);
    files = bytes = 0;
    const auto *method = calls_[once_ + (done_ - 1) % (calls_.size() - once_)].method;
    for (size_t i = 0; i < method->outputs_size(); i++) {
        const EValue &value = method->get_output(i);
        std::string file = "output-" + std::to_string(i) + ".bin";
        std::string dtype;
        std::vector<int64_t> shape, order;
        const void *data = nullptr;
        size_t size = 0;
        int64_t whole = 0;
        double real = 0;
        uint8_t truth = 0;
        if (value.isTensor()) {
            const auto &tensor = value.toTensor();
            dtype = dtype_name(tensor.scalar_type());
            data = tensor.const_data_ptr();
            size = tensor.nbytes();
            shape.assign(tensor.sizes().begin(), tensor.sizes().end());
            order.assign(tensor.dim_order().begin(), tensor.dim_order().end());
        } else if (value.isInt()) {
            dtype = "int64";
            whole = value.toInt();
            data = &whole;
            size = sizeof whole;
        } else if (value.isDouble()) {
            dtype = "float64";
            real = value.toDouble();
            data = &real;
            size = sizeof real;
        } else if (value.isBool()) {
            dtype = "bool";
            truth = value.toBool();
            data = &truth;
            size = sizeof truth;
        } else {
            file.clear(); // listed without data: neither a tensor nor a number
        }
        if (!file.empty()) {
            if (auto failure = write_file(folder + "/" + file, data, size)) {
                return failure;
            }
            files++;
            bytes += size;
        }
        etp_json_begin_object(&j);
        etp_json_kv_u64(&j, "index", i);
        etp_json_kv_z(&j, "file", file.empty() ? nullptr : file.c_str());
        etp_json_kv_z(&j, "dtype", dtype.empty() ? nullptr : dtype.c_str());
        write_numbers(&j, "shape", shape);
        write_numbers(&j, "dim_order", order);
        etp_json_kv_u64(&j, "bytes", size);
        etp_json_end(&j);
    }
    etp_json_end(&j);
    etp_json_end(&j);
    etp_json_end_document(&j);
    files++;
    bytes += json.size();
    return write_file(folder + "/outputs.json", json.data(), json.size());
}

} // namespace etprof
