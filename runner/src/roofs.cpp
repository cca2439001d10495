// SPDX-License-Identifier: Apache-2.0
// What this CPU can do at most, measured in this process.
#include "roofs.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <new>

#include "roofs/roofs.h"

namespace etprof
{

namespace
{

uint64_t read_clock(clockid_t clock)
{
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

uint64_t now_ns()
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t cpu_ns()
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

struct Out {
    Lines &lines;
    uint64_t n;
};

bool send(void *ctx, const etp_roof *roof)
{
    Out *out = static_cast<Out *>(ctx);
    etp_wire_msg msg{};
    msg.type = ETP_WIRE_ROOF;
    etp_wire_roof &r = msg.u.roof;
    std::snprintf(r.isa, sizeof r.isa, "%s", roof->isa);
    std::snprintf(r.what, sizeof r.what, "%s", etp_roof_what_name(roof->what));
    std::snprintf(r.unit, sizeof r.unit, "%s", etp_roof_unit_name(roof->unit));
    r.threads = roof->threads;
    r.bytes = roof->bytes;
    r.best = roof->best;
    r.median = roof->median;
    r.again = roof->again;
    out->lines.send(msg);
    out->lines.flush();
    out->n++;
    return true;
}

} // namespace

std::optional<Failure> measure_roofs(const RoofOptions &options, const etp_isa_cpu &cpu,
                                     Lines &lines)
{
    etp_roofs_request request{};
    char *end = nullptr;
    request.seconds = std::strtod(options.seconds.c_str(), &end);
    if (*end != '\0' || !(request.seconds >= 0 && request.seconds <= 600)) {
        return Failure{"usage", "--roofs: '" + options.seconds + "' is not a number from 0 to 600"};
    }
    if (!etp_roof_threads_parse(options.counts.c_str(), request.threads, &request.n_threads)) {
        return Failure{"usage", "--counts: '" + options.counts +
                                    "' is not an ascending list of numbers from 1 to 256"};
    }
    std::unique_ptr<char[]> memory(request.seconds > 0 ? new (std::nothrow) char[ETP_ROOF_MEMORY]
                                                       : nullptr);
    if (!memory && request.seconds > 0) {
        return Failure{"memory", "not enough memory to measure its speed"};
    }
    request.cpu = &cpu;
    request.now_ns = now_ns;
    request.cpu_ns = cpu_ns;
    etp_roofs_load load{};
    request.load = &load;
    request.memory = memory.get();
    Out out{lines, 0};
    char why[256];
    if (!etp_roofs_measure(&request, send, &out, why, sizeof why)) {
        return Failure{"roof", why};
    }
    etp_wire_msg msg{};
    msg.type = ETP_WIRE_DONE;
    std::snprintf(msg.u.done.cmd, sizeof msg.u.done.cmd, "roofs");
    msg.u.done.n = out.n;
    msg.u.done.span_ns = load.span_ns;
    msg.u.done.wait_ns = load.wait_ns;
    lines.send(msg);
    lines.flush();
    return std::nullopt;
}

} // namespace etprof
