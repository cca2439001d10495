// SPDX-License-Identifier: Apache-2.0
// What happened from the start of the process to the end of the first inference, part by part.
#include "session.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "crash.h"
#include "loading.h"
#include "process.h"

namespace etprof
{

Session::Moment Session::now()
{
    return {now_ns(), etp_loading_faults()};
}

namespace
{

// When whoever started this process did so; 0: it does not tell.
uint64_t started_ns(uint64_t entered)
{
    const char *text = std::getenv("ETPROF_STARTED");
    char *end = nullptr;
    unsigned long long ns = text != nullptr ? std::strtoull(text, &end, 10) : 0;
    return text != nullptr && end != text && *end == '\0' && ns <= entered ? ns : 0;
}

// Parts come one after another, each from where the last one ended.
class Parts
{
  public:
    explicit Parts(Lines &lines) : lines_(lines)
    {
    }
    void add(etp_load_what what, uint64_t ns, uint64_t faults, size_t delegate = 0,
             size_t operation = 0, uint64_t bytes = 0, size_t workspace = 0)
    {
        etp_wire_msg msg{};
        msg.type = ETP_WIRE_PART;
        std::snprintf(msg.u.part.what, sizeof msg.u.part.what, "%s", etp_wire_part_word(what));
        msg.u.part.delegate = delegate;
        msg.u.part.operation = operation;
        msg.u.part.bytes = bytes;
        msg.u.part.ns = ns;
        msg.u.part.faults = faults;
        msg.u.part.workspace = workspace;
        lines_.send(msg);
        n++;
    }
    uint64_t n = 0;

  private:
    Lines &lines_;
};

// Its graph, then its packed weights, then the rest of its creation. Returns how long all of it
// took.
uint64_t add_delegate(Parts &parts, size_t d)
{
    const etp_delegate_load load = etp_loading_delegate(d);
    parts.add(ETP_LOAD_GRAPH, load.from_ns - load.begin_ns, 0, d + 1);
    uint64_t rest = load.to_ns - load.from_ns, ns = 0;
    for (size_t i = 0; size_t bytes = etp_loading_packed(d, i, &ns); i++) {
        if (ns > 0) { // else it was read, or packed into a file
            parts.add(ETP_LOAD_PACKING, ns, 0, d + 1, i + 1, bytes);
        }
        rest -= ns;
    }
    parts.add(ETP_LOAD_CREATION, rest, 0, d + 1, 0, 0, load.workspace);
    return load.to_ns - load.begin_ns;
}

} // namespace

void Session::ledger(Lines &lines, uint64_t &n)
{
    const size_t delegates = etp_loading_delegates();
    // How XNNPACK talks to a cache of packed weights is its own affair: that of 1.5 is known.
    const bool known = std::strncmp(ETP_EXECUTORCH_VERSION, "1.5.", 4) == 0 && k_has_packed_cache;
    if (delegates > 0 && known) {
        crash_doing("loading the model once more, to see what is packed");
        etp_loading_watch(ETP_LOADING_SIZES);
        load_beside("");
        etp_loading_watch(ETP_LOADING_OFF);
        crash_doing("waiting for a command");
    }
    Parts parts(lines);
    const uint64_t entered = options_.entered_ns, started = started_ns(entered);
    if (started > 0) {
        parts.add(ETP_LOAD_PROCESS, entered - started, options_.entered_faults);
    }
    parts.add(ETP_LOAD_RUNNER, begun_.ns - entered, begun_.faults - options_.entered_faults);
    const uint64_t open = mapped_ns_ >= begun_.ns ? mapped_ns_ : begun_.ns;
    parts.add(ETP_LOAD_MAPPING, open - begun_.ns, 0);
    parts.add(ETP_LOAD_VERIFICATION, opened_.ns - open, opened_.faults - begun_.faults);
    uint64_t within = 0;
    for (size_t d = 0; d < delegates; d++) {
        within += add_delegate(parts, d);
    }
    parts.add(ETP_LOAD_METHOD, loaded_.ns - opened_.ns - within, loaded_.faults - opened_.faults);
    parts.add(ETP_LOAD_INPUTS, ready_.ns - loaded_.ns, ready_.faults - loaded_.faults);
    if (first_.ns > 0) {
        parts.add(ETP_LOAD_FIRST, first_.ns, first_.faults);
    }
    n = parts.n;
}

} // namespace etprof
