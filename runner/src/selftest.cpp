// SPDX-License-Identifier: Apache-2.0
// Proof, on two tiny models, that hiding features works with this SDK here: the
// names of the operators they run are compared with what the level allows.
#include "selftest.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

#include <executorch/devtools/etdump/etdump_flatcc.h>
#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/extension/threadpool/threadpool_guard.h>

#include "../selftest/models.h"
#include "../selftest/types.h"
#include "process.h"

extern char **environ;

namespace etprof
{

namespace
{

using executorch::extension::BufferDataLoader;
using executorch::runtime::Error;

template <size_t N> void copy(char (&to)[N], const std::string &from)
{
    std::snprintf(to, N, "%s", from.c_str());
}

// The first operator name in a recording that begins with `prefix`. The names
// stand in the file as plain text; nothing else there looks like them.
std::string find_name(const char *bytes, size_t size, const char *prefix, size_t *from)
{
    size_t n = std::strlen(prefix);
    for (size_t at = *from; at + n <= size; at++) {
        if (std::memcmp(bytes + at, prefix, n) == 0) {
            size_t end = at;
            while (end < size && bytes[end] >= ' ' && bytes[end] <= '~' && bytes[end] != '#') {
                end++;
            }
            *from = end;
            while (end > at && bytes[end - 1] == ' ') {
                end--;
            }
            return std::string(bytes + at, end - at);
        }
    }
    return "";
}

// All different operator names of the kinds that may have kernels of their own, "; " between.
std::string find_names(const char *bytes, size_t size)
{
    std::string all;
    for (const char *prefix : {"Convolution (", "Fully Connected (", "Batch Matrix Multiply ("}) {
        size_t from = 0;
        for (std::string name = find_name(bytes, size, prefix, &from); !name.empty();
             name = find_name(bytes, size, prefix, &from)) {
            if (("; " + all + "; ").find("; " + name + "; ") == std::string::npos) {
                all += (all.empty() ? "" : "; ") + name;
            }
        }
    }
    return all;
}

std::string run_traced(const unsigned char *program, size_t size,
                       const std::vector<std::vector<executorch::aten::SizesType>> &shapes,
                       const char *prefix, std::string &why);

// Runs a program once, traced. The name found, or "" with the reason in `why`.
std::string run_program(const unsigned char *program, size_t size,
                        const std::vector<executorch::aten::SizesType> &shape, const char *prefix,
                        std::string &why)
{
    return run_traced(program, size, {shape}, prefix, why);
}

// Without a prefix: all names.
std::string run_traced(const unsigned char *program, size_t size,
                       const std::vector<std::vector<executorch::aten::SizesType>> &shapes,
                       const char *prefix, std::string &why)
{
    auto tracer = std::make_unique<executorch::etdump::ETDumpGen>();
    auto *recording = tracer.get();
    executorch::extension::Module module(std::make_unique<BufferDataLoader>(program, size), nullptr,
                                         nullptr, std::move(tracer));
    std::vector<std::vector<float>> data;
    std::vector<executorch::extension::TensorPtr> tensors;
    std::vector<executorch::runtime::EValue> inputs;
    data.reserve(shapes.size());
    for (const auto &shape : shapes) {
        size_t count = 1;
        for (auto extent : shape) {
            count *= static_cast<size_t>(extent);
        }
        data.emplace_back(count, 0.5f);
        tensors.push_back(executorch::extension::from_blob(data.back().data(), shape));
        inputs.emplace_back(*tensors.back());
    }
    auto result = module.forward(inputs);
    if (!result.ok()) {
        why = std::string("the ") + (prefix != nullptr ? prefix : "data types'") +
              " program failed: " + executorch::runtime::to_string(result.error());
        return "";
    }
    auto dump = recording->get_etdump_data();
    std::unique_ptr<void, void (*)(void *)> owner(dump.buf, std::free);
    size_t from = 0;
    const char *bytes = static_cast<const char *>(dump.buf);
    std::string name = prefix != nullptr ? find_name(bytes, dump.size, prefix, &from)
                                         : find_names(bytes, dump.size);
    if (name.empty()) {
        why = std::string("no operator named ") + (prefix != nullptr ? prefix : "as expected") +
              " in the recording";
    }
    return name;
}

// MASK: what is hidden from the process whose names these are.
void judge(const etp_isa_cpu &cpu, const etp_isa_mask &mask, etp_wire_level &out)
{
    etp_isa_cpu left = etp_isa_cpu_masked(&cpu, &mask);
    etp_name_proof linear = etp_isa_name_proof(out.linear, std::strlen(out.linear));
    etp_name_proof conv = etp_isa_name_proof(out.conv, std::strlen(out.conv));
    bool sme = linear == ETP_PROVES_SME || conv == ETP_PROVES_SME;
    bool vnni = linear == ETP_PROVES_VNNI || conv == ETP_PROVES_VNNI;
    auto say = [&](etp_wire_truth ok, const char *why) {
        out.ok = ok;
        copy(out.why, why);
    };
    if (cpu.family == ETP_ISA_AARCH64) {
        if (etp_isa_has(&left, ETP_HAS_SME)) {
            say(sme ? ETP_WIRE_TRUE : ETP_WIRE_FALSE,
                sme ? "an SME kernel ran; names do not tell SME2 from SME1" : "no SME kernel ran");
        } else if (sme) {
            say(ETP_WIRE_FALSE, "an SME kernel ran although SME is hidden");
        } else if (etp_isa_has(&cpu, ETP_HAS_SME)) {
            say(ETP_WIRE_TRUE, "this CPU has SME and no SME kernel ran; names do not show more");
        } else {
            say(ETP_WIRE_NULL, "without SME in the CPU names cannot tell");
        }
        return;
    }
    bool visible = etp_isa_has(&left, ETP_HAS_AVX512_VNNI);
    if (visible && !vnni && etp_isa_has(&left, ETP_HAS_AMX)) {
        say(ETP_WIRE_NULL, "AMX may have run instead of VNNI, and names do not show it");
    } else if (visible) {
        say(vnni ? ETP_WIRE_TRUE : ETP_WIRE_FALSE,
            vnni ? "a VNNI kernel ran" : "no VNNI kernel ran");
    } else if (vnni) {
        say(ETP_WIRE_FALSE, "a VNNI kernel ran although VNNI is hidden");
    } else if (linear == ETP_PROVES_NOT_VNNI && etp_isa_has(&cpu, ETP_HAS_AVX512_VNNI)) {
        say(ETP_WIRE_TRUE, "this CPU has VNNI and no VNNI kernel ran; names do not show more");
    } else {
        say(ETP_WIRE_NULL, "without VNNI in the CPU names cannot tell");
    }
}

// This process, under the mask it was started with.
etp_wire_level judge_here(const etp_hook_state &hook)
{
    executorch::extension::threadpool::NoThreadPoolGuard one_thread;
    etp_wire_level out{};
    etp_isa_mask mask{};
    char parse_why[256];
    etp_level level = ETP_LEVEL_NONE;
    if (etp_isa_mask_parse(hook.text, &mask, parse_why, sizeof parse_why)) {
        level = etp_isa_mask_level(&mask);
    }
    const char *name = "custom";
    if (level != ETP_LEVEL_NONE) {
        bool there = etp_level_state_of(&hook.cpu, level).available;
        name = there ? etp_level_get(level)->name : "best";
    }
    copy(out.level, name);
    std::string why;
    copy(out.linear,
         run_program(k_selftest_linear, sizeof k_selftest_linear, {4, 32}, "Fully Connected", why));
    copy(out.conv,
         run_program(k_selftest_conv, sizeof k_selftest_conv, {1, 4, 8, 8}, "Convolution", why));
    std::string
        no_types; // another release may lack what this program needs: then nothing is learned
    copy(out.types, run_traced(k_selftest_types, sizeof k_selftest_types,
                               {
                                   {4, 32},
                                   {1, 4, 8, 8}
    },
                               nullptr, no_types));
    etp_hook_state after;
    etp_hook_get(&after);
    if (!why.empty()) {
        copy(out.why, why);
        out.ok = ETP_WIRE_FALSE;
    } else if (after.calls == 0) {
        copy(out.why, std::string("no library of the SDK called ") + after.hook);
        out.ok = ETP_WIRE_FALSE;
    } else if (level == ETP_LEVEL_NONE) {
        copy(out.why, "the mask is that of no level");
    } else {
        judge(after.cpu, mask, out);
    }
    return out;
}

// What starts this program again: a path, and the command line of this process
// with its loader included when it was started through one.
std::vector<std::string> own_command(std::string &program)
{
    std::vector<std::string> words;
#if defined(__APPLE__)
    char path[4096];
    uint32_t size = sizeof path;
    if (_NSGetExecutablePath(path, &size) == 0) {
        program = path;
        words = {program, "--selftest"};
    }
    return words;
#endif
    program = "/proc/self/exe";
    std::string word;
    if (std::FILE *f = std::fopen("/proc/self/cmdline", "rb")) {
        for (int c = std::fgetc(f); c != EOF; c = std::fgetc(f)) {
            if (c != 0) {
                word += static_cast<char>(c);
            } else {
                words.push_back(word);
                word.clear();
            }
        }
        std::fclose(f);
    }
    return words;
}

std::string read_all(int fd, int milliseconds)
{
    std::string text;
    char buffer[4096];
    uint64_t end = now_ns() + static_cast<uint64_t>(milliseconds) * 1000000u;
    for (;;) {
        uint64_t now = now_ns();
        pollfd wait = {fd, POLLIN, 0};
        if (now >= end || poll(&wait, 1, static_cast<int>((end - now) / 1000000u) + 1) <= 0) {
            return text;
        }
        ssize_t n = read(fd, buffer, sizeof buffer);
        if (n <= 0 || text.size() > ETP_WIRE_LINE_MAX) {
            return text;
        }
        text.append(buffer, static_cast<size_t>(n));
    }
}

// Another process of this program at a level.
etp_wire_level judge_child(etp_level level)
{
    etp_wire_level out{};
    copy(out.level, etp_level_get(level)->name);
    char text[ETP_ISA_TEXT_MAX];
    etp_isa_mask mask = etp_level_mask(level);
    (void)etp_isa_mask_format(&mask, text, sizeof text);
    std::string program;
    std::vector<std::string> words = own_command(program);
    std::vector<char *> argv, envp;
    for (std::string &word : words) {
        argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    std::string variable = std::string("ETPROF_MASK=") + text;
    for (char **e = environ; *e != nullptr; e++) {
        if (std::strncmp(*e, "ETPROF_MASK=", 12) != 0) {
            envp.push_back(*e);
        }
    }
    envp.push_back(variable.data());
    envp.push_back(nullptr);
    int ends[2];
    if (words.empty() || pipe(ends) != 0) {
        copy(out.why, "cannot start itself; run --selftest once per level with ETPROF_MASK set");
        return out;
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    pid_t pid = 0;
    int error = posix_spawn(&pid, program.c_str(), &actions, nullptr, argv.data(), envp.data());
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    std::string line = error == 0 ? read_all(ends[0], 60000) : "";
    close(ends[0]);
    int status = 0;
    if (error == 0) {
        if (line.empty() || line.back() != '\n') {
            (void)kill(pid, SIGKILL);
        }
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        }
    }
    auto msg = std::make_unique<etp_wire_msg>();
    char why[256] = "";
    if (error != 0 || (line.empty() && WIFEXITED(status) && WEXITSTATUS(status) == 127)) {
        // An emulator cannot start programs of its guest.
        copy(out.why,
             "cannot start itself here; run --selftest once per level with ETPROF_MASK set");
    } else if (!etp_wire_parse(line.data(), line.size(), msg.get(), why, sizeof why)) {
        out.ok = ETP_WIRE_FALSE;
        copy(out.why, WIFSIGNALED(status)
                          ? "ended by signal " + std::to_string(WTERMSIG(status))
                          : std::string("its answer is not a line of the protocol: ") + why);
    } else if (msg->type == ETP_WIRE_ERROR) {
        out.ok = ETP_WIRE_FALSE;
        copy(out.why, msg->u.error.message);
    } else if (msg->type == ETP_WIRE_SELFTEST && msg->u.selftest.count == 1) {
        out = msg->u.selftest.levels[0];
    }
    return out;
}

} // namespace

int selftest(const etp_hook_state &hook, Lines &lines)
{
    auto msg = std::make_unique<etp_wire_msg>();
    msg->type = ETP_WIRE_SELFTEST;
    etp_wire_selftest &test = msg->u.selftest;
    if (hook.requested) {
        test.levels[test.count++] = judge_here(hook);
    } else {
        etp_level levels[ETP_LEVEL_COUNT];
        size_t n = etp_level_list(hook.cpu.family, levels);
        for (size_t i = 0; i < n && i < ETP_WIRE_LEVELS_MAX; i++) {
            etp_level_state state = etp_level_state_of(&hook.cpu, levels[i]);
            etp_wire_level &out = test.levels[test.count++];
            if (state.available && state.switchable) {
                out = judge_child(levels[i]);
            } else {
                copy(out.level, etp_level_get(levels[i])->name);
                copy(out.why, state.how);
            }
        }
    }
    lines.send(*msg);
    lines.flush();
    for (size_t i = 0; i < test.count; i++) {
        if (test.levels[i].ok == ETP_WIRE_FALSE) {
            return 1;
        }
    }
    return 0;
}

} // namespace etprof
