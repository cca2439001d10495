// SPDX-License-Identifier: Apache-2.0
// One loaded method of one program, executed as the tool commands.
#ifndef ETP_RUNNER_SESSION_H
#define ETP_RUNNER_SESSION_H

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <executorch/devtools/etdump/etdump_flatcc.h>
#include <executorch/extension/module/module.h>
#include <executorch/extension/threadpool/threadpool_guard.h>
#if __has_include(<executorch/runtime/backend/backend_options_map.h>)
#include <executorch/runtime/backend/backend_options_map.h>
#endif

#include "inputs.h"
#include "kernels.h"
#include "owners.h"
#include "protocol.h"
#include "steps.h"

namespace etprof
{

// From 1.5.1 on; XNNPACK's own interface of such caches is known to be that of its XNNPACK.
#if __has_include(<executorch/runtime/backend/backend_options_map.h>)
constexpr bool k_has_packed_cache = true;
#else
constexpr bool k_has_packed_cache = false;
#endif

struct Options {
    std::string model;
    std::string data;         // .ptd files, separated by commas; may be empty
    std::string kernels_lib;  // likewise
    std::string packed_cache; // "cold:FILE" is written anew, "warm:FILE" read; empty: the SDK's way
    std::string method;       // empty: forward, or the only one
    std::string cpus;         // empty: where the system likes
    std::string inputs = "random:1";
    std::string steps; // file; empty: the method alone, again and again
    std::string kind = "timed";
    uint64_t entered_ns = 0, entered_faults = 0; // when main began
    std::string level;                           // empty: not checked
    unsigned rate = 1000;                        // samples a second of CPU time, at most
    unsigned threads = 1;
};

// The module hands its method out only through a deprecated call.
class OpenModule : public executorch::extension::Module
{
  public:
    using Module::Module;
    executorch::runtime::Method *loaded(const std::string &name)
    {
        return methods_.at(name).method.get();
    }
    // What is planned for a method's tensors, mutable buffers among them.
    const std::vector<executorch::runtime::Span<uint8_t>> &planned(const std::string &name)
    {
        return methods_.at(name).planned_memory->planned_spans;
    }
};

// One call of a script, or the only one without a script.
struct Call {
    std::string name;
    executorch::runtime::Method *method = nullptr; // owned by the module
    Inputs inputs;
    const Step *step = nullptr;
};

// A mutable buffer as it was after `once`.
struct Saved {
    uint8_t *live;
    std::vector<uint8_t> copy;
};

class Session
{
  public:
    explicit Session(const Options &options) : options_(options)
    {
    }
    ~Session() // what goes now is of no launch's peak
    {
        etp_memory_watch(false);
    }
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;

    // Threads, program, method, inputs. Fills `out` for the load line.
    std::optional<Failure> load(etp_wire_load &out);
    std::optional<Failure> run(uint64_t n, Lines &lines);
    // What the hook has to do with an execution; for the done line of run.
    uint64_t hook_calls() const
    {
        return hook_calls_;
    }
    struct Waits {
        uint64_t span_ns, wait_ns; // of the last run; span 0: not known
    };
    Waits waits() const
    {
        return waits_;
    }
    uint64_t hook_call_ps() const
    {
        return hook_call_ps_;
    }
    // What happened from the start of the process to the end of the first inference; the program is
    // loaded once more, to know what was packed for which operator.
    void ledger(Lines &lines, uint64_t &n);
    // Who holds this process's memory; 0: not known here.
    void memory(etp_wire_done &out);
    std::optional<Failure> dump(const std::string &path, uint64_t &bytes);
    std::optional<Failure> samples(const std::string &path, uint64_t &count, uint64_t &bytes);
    std::optional<Failure> outputs(const std::string &folder, uint64_t &files, uint64_t &bytes);

  private:
    std::optional<Failure> set_threads();
    std::optional<Failure> choose_method();
    std::string lacking_backends(const std::string &method);
    void load_beside(const std::string &packed_cache);
    std::optional<Failure> prepare_cache();
    Failure not_loaded(const std::string &method, executorch::runtime::Error error);
    std::optional<Failure> load_methods(Whose &whose);
    std::optional<Failure> make_calls();
    std::optional<Failure> once();
    std::optional<Failure> save();
    void know_places();
    void watch_memory();
    void read_stage(etp_memory_stage &stage);
    std::optional<Failure> put_inputs(Call &call, bool begins);
    std::optional<Failure> failed(const Call &call, uint64_t iteration,
                                  executorch::runtime::Error error) const;

    const Options &options_;
    std::string cache_; // file of packed weights, empty: none
    std::optional<executorch::extension::threadpool::NoThreadPoolGuard> no_pool_;
    std::unique_ptr<OpenModule> module_;
    executorch::etdump::ETDumpGen *tracer_ = nullptr; // owned by the module
    Steps steps_;
    std::string method_name_; // of the first call of a repetition
    std::vector<Call> calls_; // of `once`, then of a repetition
    size_t once_ = 0;         // that are of `once`
    std::vector<Saved> saved_;
    struct { // what etp_memory_know borrows
        std::vector<std::string> paths;
        std::vector<const char *> files;
        std::string cache;
        std::vector<etp_memory_span> planned, kept, copies;
    } places_;
    etp_memory_stages stages_{}; // kind memory
    uint64_t done_ = 0;          // iterations of this launch
    uint64_t shortest_ns_ = 0;   // of them, 0 before the first
    bool recorded_ = false;      // something since the last dump
    uint64_t hook_calls_ = 0;    // of the second execution; 0 none or not counted
    Waits waits_ = {0, 0};
    uint64_t hook_call_ps_ = 0; // each, from the third one on; 0 not measured
    // CLOCK_MONOTONIC at the ends of parts of loading, and the page faults until then.
    struct Moment {
        uint64_t ns, faults;
    } begun_{}, opened_{}, loaded_{}, ready_{};
    uint64_t mapped_ns_ = 0; // when the program was mapped, 0 not seen
    Moment first_{};         // how long the first inference took, and its page faults
    static Moment now();
};

// The files of a list, "A,B".
std::vector<std::string> split(const std::string &list);

// The program's file, looked at before the SDK does: its messages name no file.
std::optional<Failure> check_program(const std::string &path);

} // namespace etprof

#endif
