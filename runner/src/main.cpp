// SPDX-License-Identifier: Apache-2.0
// etprof-runner: loads one method, says hello, then does what stdin commands.
// The protocol is described in src/wire/wire.h.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>

#include <unistd.h>

#include <executorch/runtime/platform/runtime.h>

#include "counters.h"
#include "crash.h"
#include "hook.h"
#include "kernels.h"
#include "loading.h"
#include "process.h"
#include "protocol.h"
#include "roofs.h"
#include "selftest.h"
#include "session.h"

namespace
{

using etprof::Failure;
using etprof::Options;

const char k_usage[] =
    "usage: etprof-runner --model FILE.pte [--data FILE.ptd,...] [--method NAME] [--threads N]\n"
    "                     [--cpus 0-3,6] [--inputs random:SEED|ones|FILE,...]\n"
    "                     [--kind timed|traced|sampled|cold|memory] [--rate HZ] [--level NAME]\n"
    "                     [--custom-ops FILE.so]  a library that registers kernels, loaded first\n"
    "                     [--packed-cache cold:FILE|warm:FILE]  XNNPACK's cache of packed weights\n"
    "                     [--steps FILE]  calls as a script says (runner/src/steps.h), each an "
    "iteration\n"
    "       etprof-runner --probe       print the hello line and end\n"
    "       etprof-runner --selftest    prove on two tiny models that features can be hidden\n"
    "       etprof-runner --roofs S [--counts 1,2,4]  what this CPU can do at most: S seconds for "
    "each\n"
    "                     thread count; 0: only check what the loops compute\n"
    "Environment: ETPROF_MASK (features to hide), ETPROF_NONCE (echoed in the hello line),\n"
    "ETPROF_COUNTERS=off (no hardware counters), =software (the kernel's events instead, for "
    "tests),\n"
    "ETPROF_KEPT=2:0:4096,... (mutable buffers: planned memory, offset, bytes).\n"
    "Commands on stdin: run N, dump FILE, samples FILE, outputs DIR, memory, ledger, quit.\n";

enum class Mode { run, probe, selftest, roofs };

std::optional<Failure> usage(const std::string &message)
{
    return Failure{"usage", message};
}

bool count(const std::string &text, unsigned long max, unsigned &value)
{
    char *end = nullptr;
    unsigned long n = std::strtoul(text.c_str(), &end, 10);
    if (text.empty() || text[0] < '0' || text[0] > '9' || *end != '\0' || n < 1 || n > max) {
        return false;
    }
    value = static_cast<unsigned>(n);
    return true;
}

std::optional<Failure> parse(int argc, char **argv, Options &o, etprof::RoofOptions &roofs,
                             Mode &mode)
{
    struct Known {
        const char *name;
        std::string *value;
    };
    std::string threads = "1", rate = "1000";
    const Known known[] = {
        {"--model",        &o.model       },
        {"--data",         &o.data        },
        {"--method",       &o.method      },
        {"--custom-ops",   &o.kernels_lib },
        {"--packed-cache", &o.packed_cache},
        {"--cpus",         &o.cpus        },
        {"--inputs",       &o.inputs      },
        {"--steps",        &o.steps       },
        {"--kind",         &o.kind        },
        {"--level",        &o.level       },
        {"--threads",      &threads       },
        {"--rate",         &rate          },
        {"--roofs",        &roofs.seconds },
        {"--counts",       &roofs.counts  }
    };
    for (int i = 1; i < argc; i++) {
        std::string arg = argv[i];
        if (arg == "--probe" || arg == "--selftest") {
            mode = arg == "--probe" ? Mode::probe : Mode::selftest;
            continue;
        }
        size_t equal = arg.find('=');
        std::string name = arg.substr(0, equal);
        const Known *hit = nullptr;
        for (const Known &k : known) {
            hit = name == k.name ? &k : hit;
        }
        if (hit == nullptr) {
            return usage("unknown argument '" + arg + "'");
        }
        if (equal != std::string::npos) {
            *hit->value = arg.substr(equal + 1);
        } else if (i + 1 < argc) {
            *hit->value = argv[++i];
        } else {
            return usage(name + " needs a value");
        }
    }
    if (!roofs.seconds.empty()) {
        mode = Mode::roofs;
    }
    if (!count(threads, 1024, o.threads)) {
        return usage("--threads: '" + threads + "' is not a number from 1 to 1024");
    }
    if (!count(rate, 10000, o.rate)) {
        return usage("--rate: '" + rate + "' is not a number from 1 to 10000");
    }
    const char *const kinds[] = {"timed", "traced", "sampled", "cold", "memory"};
    if (std::count(std::begin(kinds), std::end(kinds), o.kind) == 0) {
        return usage("--kind: '" + o.kind + "' is not timed, traced, sampled, cold or memory");
    }
    if (mode == Mode::run && o.model.empty()) {
        return usage("--model is missing");
    }
    return std::nullopt;
}

template <size_t N> void copy(char (&to)[N], const std::string &from)
{
    std::snprintf(to, N, "%s", from.c_str());
}

std::optional<Failure> hello(const Options &o, const etp_hook_state &hook, etp_wire_hello &h)
{
    h.protocol = ETP_WIRE_PROTOCOL;
    h.pid = static_cast<uint64_t>(getpid());
    const char *nonce = std::getenv("ETPROF_NONCE");
    if (nonce != nullptr && std::strlen(nonce) > ETP_WIRE_WORD_MAX) {
        return usage("ETPROF_NONCE is longer than " + std::to_string(ETP_WIRE_WORD_MAX) + " bytes");
    }
    copy(h.nonce, nonce != nullptr ? nonce : "");
    copy(h.executorch, ETP_EXECUTORCH_VERSION);
    copy(h.kind, o.kind);
    h.threads = o.threads;
    copy(h.mask.requested, hook.text);
    copy(h.mask.hook, hook.hook != nullptr ? hook.hook : "");
    if (hook.in_force) {
        (void)etp_isa_mask_format(&hook.cleared, h.mask.cleared, sizeof h.mask.cleared);
    }
    h.mask.calls = hook.calls;
    copy(h.mask.caller, hook.caller);
    (void)etp_isa_cpu_format(&hook.cpu, h.cpu, sizeof h.cpu);
    etp_isa_cpu seen;
    if (etp_hook_seen(&seen)) {
        (void)etp_isa_cpu_format(&seen, h.flags, sizeof h.flags);
    }
    h.memory = h.ledger = h.stages = 1;
    etprof::counters_describe(h);
    return std::nullopt;
}

// --level: the mask must be that level's, and the CPU must have the level.
std::optional<Failure> check_level(const Options &o, const etp_hook_state &hook)
{
    if (hook.requested && !hook.in_force) {
        return Failure{"mask", hook.why};
    }
    if (o.level.empty()) {
        return std::nullopt;
    }
    etp_level level = etp_level_find(hook.cpu.family, o.level.c_str());
    if (level == ETP_LEVEL_NONE) { // of another processor: why it cannot be had is said below
        level = etp_level_find(ETP_ISA_NONE, o.level.c_str());
    }
    if (level == ETP_LEVEL_NONE) {
        return Failure{"level", "there is no level '" + o.level + "'"};
    }
    etp_level_state state = etp_level_state_of(&hook.cpu, level);
    if (!state.available) {
        return Failure{"level", "level " + o.level + " cannot be had here: " + state.how};
    }
    etp_isa_mask mask, wanted = etp_level_mask(level);
    char why[256];
    if (!etp_isa_mask_parse(hook.text, &mask, why, sizeof why)) {
        mask = {}; // nothing hidden
    }
    etp_isa_cpu left = etp_isa_cpu_masked(&hook.cpu, &mask);
    etp_isa_cpu expected = etp_isa_cpu_masked(&hook.cpu, &wanted);
    if (left.hwcap != expected.hwcap || left.hwcap2 != expected.hwcap2 ||
        std::memcmp(&left.x86, &expected.x86, sizeof left.x86) != 0) {
        return Failure{"level", "ETPROF_MASK is not the mask of level " + o.level};
    }
    return std::nullopt;
}

// A mask that no SDK library has asked about may have been set too late.
std::optional<Failure> check_evidence(const etp_hook_state &hook)
{
    if (hook.in_force && hook.calls == 0) {
        return Failure{"mask", std::string("no library of the SDK called ") + hook.hook +
                                   ": the mask had no effect"};
    }
    return std::nullopt;
}

// One command; false ends the session.
bool obey(const std::string &line, etprof::Session &session, etprof::Lines &lines)
{
    static etp_wire_cmd cmd; // holds a path of any legal length
    char why[256];
    if (!etp_wire_cmd_parse(line.data(), line.size(), &cmd, why, sizeof why)) {
        lines.error({"usage", std::string("command: ") + why});
        return true;
    }
    etp_wire_msg msg{};
    msg.type = ETP_WIRE_DONE;
    etp_wire_done &done = msg.u.done;
    std::optional<Failure> failure;
    switch (cmd.verb) {
    case ETP_WIRE_VERB_NONE:
        return true;
    case ETP_WIRE_QUIT:
        return false;
    case ETP_WIRE_RUN:
        copy(done.cmd, "run");
        done.n = cmd.n;
        failure = session.run(cmd.n, lines);
        done.hook_calls = session.hook_calls();
        done.hook_call_ps = session.hook_call_ps();
        done.span_ns = session.waits().span_ns;
        done.wait_ns = session.waits().wait_ns;
        break;
    case ETP_WIRE_DUMP:
        copy(done.cmd, "dump");
        done.n = 1;
        failure = session.dump(cmd.path, done.bytes);
        break;
    case ETP_WIRE_SAMPLES:
        copy(done.cmd, "samples");
        failure = session.samples(cmd.path, done.n, done.bytes);
        break;
    case ETP_WIRE_LEDGER:
        copy(done.cmd, "ledger");
        session.ledger(lines, done.n);
        break;
    case ETP_WIRE_MEMORY:
        copy(done.cmd, "memory");
        done.n = 1;
        session.memory(done);
        break;
    case ETP_WIRE_OUTPUTS:
        copy(done.cmd, "outputs");
        failure = session.outputs(cmd.path, done.n, done.bytes);
        break;
    }
    if (failure) {
        lines.error(*failure);
        return true;
    }
    done.peak_rss_bytes = etprof::peak_rss_bytes();
    lines.send(msg);
    lines.flush();
    return true;
}

int report_failure(etprof::Lines &lines, const Failure &failure)
{
    lines.error(failure);
    return failure.code == "usage" ? 2 : 1;
}

int serve(const Options &o, etprof::Lines &lines)
{
    if (auto failure = etprof::check_program(o.model)) {
        return report_failure(lines, *failure);
    }
    if (!o.cpus.empty()) {
        if (auto failure = etprof::pin(o.cpus)) {
            return report_failure(lines, *failure);
        }
    }
    etprof::Session session(o);
    etp_wire_msg msg{};
    msg.type = ETP_WIRE_LOAD;
    if (auto failure = session.load(msg.u.load)) {
        return report_failure(lines, *failure);
    }
    etp_hook_state hook;
    etp_hook_get(&hook);
    msg.u.load.hook_calls = hook.calls;
    etprof::crash_doing("waiting for a command");
    lines.send(msg);
    lines.flush();
    if (auto failure = check_evidence(hook)) {
        return report_failure(lines, *failure);
    }
    std::string line;
    while (etprof::read_line(line) && obey(line, session, lines)) {
    }
    return lines.failed() ? 1 : 0;
}

// Moves the heap by up to 48 bytes, drawn as the stack's place is (measure/launch.c). Which tensors
// lie across two cache lines would else depend on what was asked for before, and be a bias: 1 % of
// an inference of half a microsecond.
void move_heap()
{
    const char *pad = std::getenv("ETPROF_PAD");
    if (pad != nullptr) {
        static void *volatile kept; // for good
        kept = std::malloc(24 + std::strlen(pad) % 4 * 16);
    }
}

} // namespace

int main(int argc, char **argv)
{
    move_heap();
    Options options;
    options.entered_ns = etprof::now_ns();
    options.entered_faults = etp_loading_faults();
    for (int i = 1; i < argc; i++) {
        if (std::strcmp(argv[i], "--help") == 0) {
            std::fputs(k_usage, stdout);
            return 0;
        }
    }
    etprof::die_with_parent();
    etprof::prefer_fast_cores();
    (void)std::signal(SIGPIPE, SIG_IGN);
    etprof::Lines lines;
    etprof::crash_install(lines.fd());
    etprof::RoofOptions roofs;
    Mode mode = Mode::run;
    if (auto failure = parse(argc, argv, options, roofs, mode)) {
        std::fputs(k_usage, stderr);
        return report_failure(lines, *failure);
    }
    executorch::runtime::runtime_init();
    if (auto failure = etprof::kernels_load(options.kernels_lib, options.threads)) {
        return report_failure(lines, *failure);
    }
    etprof::kernels_register();
    etp_hook_state hook;
    etp_hook_get(&hook);
    if (auto failure = check_level(options, hook)) {
        return report_failure(lines, *failure);
    }
    if (mode == Mode::selftest) {
        return etprof::selftest(hook, lines);
    }
    etprof::counters_open(mode == Mode::run && options.kind == "timed");
    etp_wire_msg msg{};
    msg.type = ETP_WIRE_HELLO;
    if (auto failure = hello(options, hook, msg.u.hello)) {
        return report_failure(lines, *failure);
    }
    lines.send(msg);
    lines.flush();
    if (mode == Mode::roofs) {
        auto failure = etprof::measure_roofs(roofs, hook.cpu, lines);
        return failure ? report_failure(lines, *failure) : 0;
    }
    return mode == Mode::probe ? 0 : serve(options, lines);
}
