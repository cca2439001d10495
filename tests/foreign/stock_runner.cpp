// SPDX-License-Identifier: Apache-2.0
// Stands in for ExecuTorch's executor_runner, which this project does not ship: the same flags, the
// same log lines, the real ExecuTorch libraries. Written for the tests from the flags'
// documentation and from logs; built in several ways by build.py:
//   WITHOUT_TRACER   as a build without ET_EVENT_TRACER_ENABLED: no --etdump_path
//   OLD_RELEASE      no --cpu_threads, --method_name, --print_output; the log tells the sum alone
//   WITHOUT_LOG      as a Release build: no log at all
//   PORTABLE         the same, linked without the XNNPACK backend (build.py)
//   LIMITED          has no kernels above plain SIMD
//   SLOWER=n         every execution takes n percent longer
// STOCK_FAULT in the environment makes it misbehave: crash, garbage, threads, executions, longlog,
// latin1, hang, nodump, emptydump.
#include <chrono>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

#include "engine.h"
#include "flags.h"

static Flags flags = {
    {"model_path",     "model.pte"   },
    {"num_executions", "1"           },
    {"data_path",      ""            },
    {"inputs",         ""            },
    {"output_file",    ""            },
#ifndef OLD_RELEASE
    {"cpu_threads",    "-1"          },
    {"method_name",    ""            },
    {"print_output",   "summary"     },
#endif
#ifndef WITHOUT_TRACER
    {"etdump_path",    "model.etdump"},
#endif
};

static std::string flag(const char *name)
{
    auto it = flags.find(name);
    return it == flags.end() ? "" : it->second;
}

#ifdef WITHOUT_LOG
#define LOG(...) ((void)0)
#else
__attribute__((format(printf, 1, 2))) static void LOG(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    std::fprintf(stderr, "I 00:00:00.000123 executorch:executor_runner.cpp:1] ");
    std::vfprintf(stderr, format, args);
    std::fprintf(stderr, "\n");
    va_end(args);
}
#endif

static bool fault(const char *name)
{
    const char *wanted = std::getenv("STOCK_FAULT");
    return wanted && std::strcmp(wanted, name) == 0;
}

[[noreturn]] static void die(const std::string &why)
{
    LOG("In function main(), assert failed: %s", why.c_str());
    (void)why;
    std::abort();
}

static void check(const std::string &why)
{
    if (!why.empty()) {
        die(why);
    }
}

#ifdef LIMITED
// As a build of XNNPACK without the kernels that the CPU has in excess of plain SIMD: cpuinfo's
// table of the x86 features says no to AVX-512 where there is VNNI, and to all of AVX elsewhere.
#include <dlfcn.h>
extern "C" bool cpuinfo_initialize(void)
{
    enum { AVX = 22, AVXVNNI = 23, AVX512F = 29, LAST = 55 };
    bool (*real)() = nullptr;
    void *symbol = dlsym(RTLD_NEXT, "cpuinfo_initialize");
    std::memcpy(&real, &symbol, sizeof symbol);
    bool ok = real && real();
    auto *cpuinfo_isa = static_cast<unsigned char *>(dlsym(RTLD_NEXT, "cpuinfo_isa"));
    static const bool vnni = __builtin_cpu_supports("avx512vnni");
    for (int i = vnni ? AVX512F : AVX; ok && cpuinfo_isa && i <= LAST; i++) {
        cpuinfo_isa[i] = 0;
    }
    if (ok && cpuinfo_isa) {
        cpuinfo_isa[AVXVNNI] = 0;
    }
    return ok;
}
#endif

// What this build adds to an execution that took NS.
static uint64_t slowed(uint64_t ns)
{
#ifdef SLOWER
    const auto start = std::chrono::steady_clock::now();
    const std::chrono::nanoseconds wanted(ns * SLOWER / 100);
    std::chrono::nanoseconds spent{0};
    while (spent < wanted) {
        spent = std::chrono::steady_clock::now() - start;
    }
    ns += static_cast<uint64_t>(spent.count());
#endif
    return ns;
}

static void misbehave()
{
    if (fault("garbage")) {
        for (int i = 0; i < 3000; i++) {
            std::fprintf(stderr, "Iteration of Iteration -1 of 3: nan ms \x01\x02\xff%d", i);
        }
        std::fprintf(
            stderr,
            "\nIteration 999999999999999999999999 of 3: 1 ms\nIteration 1 of 13: 1e999 ms\n");
        std::exit(0);
    }
    if (fault("longlog")) {
        for (int i = 0; i < 10000; i++) {
            std::fprintf(
                stderr,
                "W 00:00:00.000 xnnpack: line %d of a very talkative backend, nothing to see\n", i);
        }
    }
    if (fault("latin1")) {
        std::fprintf(stderr, "Mod\xe8le charg\xe9 \xff\xfe\n");
    }
    if (fault("drip")) {
        for (;;) {
            std::printf(".");
            std::fflush(stdout);
            usleep(100000);
        }
    }
    if (fault("hang")) {
        pause();
    }
}

int main(int argc, char **argv)
{
    if (!read_flags(argc, argv, flags)) {
        return 1;
    }
    misbehave();
    int threads = -1;
    std::string method;
    bool trace = false;
#ifndef OLD_RELEASE // names of flags that a build lacks must not stand in its file
    threads = std::atoi(flag("cpu_threads").c_str());
    method = flag("method_name");
    LOG("Resetting threadpool with num threads = %d", fault("threads") ? threads + 3 : threads);
#endif
#ifndef WITHOUT_TRACER
    trace = true;
#endif
    uint64_t load_ns = 0, total = 0, ns = 0;
    EngineOptions o{flag("model_path"), method, flag("data_path"), threads > 0 ? threads : 0,
                    trace};
    check(engine_load(o, &load_ns));
    LOG("Model loaded in %f ms.", static_cast<double>(load_ns) / 1e6);
    check(engine_inputs(flag("inputs")));
    unsigned n = static_cast<unsigned>(std::strtoul(flag("num_executions").c_str(), nullptr, 10));
    n = fault("executions") ? 1 : n;
    for (unsigned i = 0; i < n; i++) {
        check(engine_execute(&ns));
        ns = slowed(ns);
        total += ns;
        if (fault("crash") && i == n / 2) {
            std::raise(SIGSEGV);
        }
#ifndef OLD_RELEASE
        LOG("Iteration %u of %u: %f ms", i + 1, n, static_cast<double>(ns) / 1e6);
#endif
    }
    LOG("Model executed successfully %u time(s) in %f ms.", n, static_cast<double>(total) / 1e6);
    if (!flag("output_file").empty()) {
        check(engine_write_outputs(flag("output_file")));
    }
#ifndef OLD_RELEASE
    if (flag("print_output") != "none") {
        std::printf("OutputX 0: tensor(...)\n");
    }
#endif
#ifndef WITHOUT_TRACER
    if (!fault("nodump")) {
        check(engine_write_etdump(flag("etdump_path"), fault("emptydump")));
        LOG("ETDump written to file '%s'.", flag("etdump_path").c_str());
    }
#endif
    return 0;
}
