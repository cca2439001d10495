// SPDX-License-Identifier: Apache-2.0
// Samples program counters of all threads of this process. Timers of a thread's CPU clock go off
// with the kernel's tick (100 to 250 Hz), so the timers are of the steady clock, and a thread that
// hardly ran since the last one, because it waits, is passed over. The intervals are random:
// nothing runs in step with them.
#include "sampler.h"

#if defined(__linux__)

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <vector>

#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "process.h"

namespace etprof
{

namespace
{

enum Streaming : signed char { unknown = -1, no = 0, yes = 1 };

struct Sample {
    uint64_t time_ns;
    uintptr_t pc;
    int thread;
    Streaming streaming;
};

struct Ticker { // of one thread
    timer_t timer;
    uint64_t random;
    uint64_t ran_ns; // CPU time at its last signal
};

constexpr size_t k_max_samples = 1 << 18; // 6 MB: minutes at the rates a kernel grants

std::vector<Sample> samples;
std::atomic<size_t> taken{0}; // may exceed the room: the rest is counted, not kept
std::vector<std::unique_ptr<Ticker>> tickers;
std::atomic<bool> running{false};
uint64_t period_ns = 0;

#if defined(__aarch64__)

// The kernel describes vector state in records behind the registers.
Streaming streaming_of(const ucontext_t *context)
{
    constexpr uint32_t k_sve = 0x53564501, k_extra = 0x45585401;
    const unsigned char *at =
        reinterpret_cast<const unsigned char *>(context->uc_mcontext.__reserved);
    const unsigned char *end = at + sizeof context->uc_mcontext.__reserved;
    for (int records = 0; records < 32 && end - at >= 16; records++) {
        uint32_t magic, size;
        std::memcpy(&magic, at, sizeof magic);
        std::memcpy(&size, at + 4, sizeof size);
        if (magic == 0 || size < 16) {
            break;
        }
        if (magic == k_sve) {
            uint16_t flags;
            std::memcpy(&flags, at + 10, sizeof flags); // after the head and the vector length
            return (flags & 1) != 0 ? yes : no;
        }
        if (magic == k_extra) { // the rest lies elsewhere on the stack
            uint64_t data;
            uint32_t bytes;
            std::memcpy(&data, at + 8, sizeof data);
            std::memcpy(&bytes, at + 16, sizeof bytes);
            at = reinterpret_cast<const unsigned char *>(data);
            end = at + bytes;
            continue;
        }
        if (size > static_cast<size_t>(end - at)) {
            break;
        }
        at += size;
    }
    return unknown;
}

uintptr_t pc_of(const ucontext_t *context)
{
    return context->uc_mcontext.pc;
}

#else

Streaming streaming_of(const ucontext_t *)
{
    return unknown;
}

uintptr_t pc_of(const ucontext_t *context)
{
    return static_cast<uintptr_t>(context->uc_mcontext.gregs[REG_RIP]);
}

#endif

uint64_t thread_ran_ns()
{
    timespec t{};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

// Half to one and a half periods from now.
int arm(Ticker &ticker)
{
    ticker.random ^= ticker.random << 13;
    ticker.random ^= ticker.random >> 7;
    ticker.random ^= ticker.random << 17;
    itimerspec next{};
    next.it_value.tv_nsec = static_cast<long>(period_ns / 2 + ticker.random % period_ns);
    if (next.it_value.tv_nsec >= 1000000000) {
        next.it_value.tv_sec = 1;
        next.it_value.tv_nsec -= 1000000000;
    }
    return timer_settime(ticker.timer, 0, &next, nullptr);
}

// In the signal: no allocation, no lock, nothing but stores and calls that are allowed there.
void on_signal(int, siginfo_t *info, void *raw)
{
    int saved = errno;
    auto *context = static_cast<const ucontext_t *>(raw);
    auto *ticker = static_cast<Ticker *>(info->si_value.sival_ptr);
    if (info->si_code != SI_TIMER || ticker == nullptr ||
        !running.load(std::memory_order_relaxed)) {
        return;
    }
    uint64_t ran = thread_ran_ns();
    if (ran - ticker->ran_ns >= period_ns / 8) {
        size_t i = taken.fetch_add(1, std::memory_order_relaxed);
        if (i < samples.size()) {
            samples[i] = {now_ns(), pc_of(context), static_cast<int>(syscall(SYS_gettid)),
                          streaming_of(context)};
        }
    }
    ticker->ran_ns = ran;
    (void)arm(*ticker);
    errno = saved;
}

const char *base_name(const char *path)
{
    const char *slash = std::strrchr(path, '/');
    return slash != nullptr ? slash + 1 : path;
}

// How far a library lies from where its file says: its first segment is at BASE. (glibc's dladdr1
// would tell; Android has none.)
uint64_t moved_by(const void *base)
{
    const auto *header = static_cast<const ElfW(Ehdr) *>(base);
    const auto *segments =
        reinterpret_cast<const ElfW(Phdr) *>(static_cast<const char *>(base) + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++) {
        if (segments[i].p_type == PT_LOAD) { // in ascending order
            uint64_t page = segments[i].p_vaddr & ~(uint64_t{4096} - 1);
            return reinterpret_cast<uint64_t>(base) - page;
        }
    }
    return reinterpret_cast<uint64_t>(base);
}

std::string csv_line(const Sample &s)
{
    char number[64];
    std::snprintf(number, sizeof number, "%llu,%d,", static_cast<unsigned long long>(s.time_ns),
                  s.thread);
    std::string line = number;
    Dl_info info;
    if (dladdr(reinterpret_cast<void *>(s.pc), &info) != 0 && info.dli_fname != nullptr) {
        std::snprintf(number, sizeof number, ",0x%llx,",
                      static_cast<unsigned long long>(s.pc - moved_by(info.dli_fbase)));
        line += base_name(info.dli_fname);
        line += number;
        line += info.dli_sname != nullptr ? info.dli_sname : "";
    } else {
        line += ",,";
    }
    const char *known = s.streaming == yes ? ",1\n" : ",0\n";
    line += s.streaming == unknown ? ",\n" : known;
    return line;
}

} // namespace

std::optional<Failure> sampler_open(unsigned hertz)
{
    period_ns = 1000000000u / hertz;
    samples.assign(k_max_samples, Sample{}); // touched now, not in the signal
    struct sigaction action {
    };
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGPROF, &action, nullptr) != 0) {
        return Failure{"kind", std::string("cannot sample: ") + std::strerror(errno)};
    }
    return std::nullopt;
}

std::optional<Failure> sampler_start()
{
    DIR *tasks = opendir("/proc/self/task");
    if (tasks == nullptr) {
        return Failure{"kind",
                       std::string("cannot sample: no list of threads: ") + std::strerror(errno)};
    }
    int error = 0;
    while (dirent *entry = readdir(tasks)) {
        int thread = std::atoi(entry->d_name);
        if (thread <= 0) {
            continue;
        }
        auto ticker = std::make_unique<Ticker>(
            Ticker{{}, 0x9e3779b97f4a7c15u ^ static_cast<uint64_t>(thread), 0});
        sigevent event{};
        event.sigev_notify = SIGEV_THREAD_ID;
        event.sigev_signo = SIGPROF;
        event.sigev_value.sival_ptr = ticker.get();
#if defined(sigev_notify_thread_id)
        event.sigev_notify_thread_id = thread;
#else
        event._sigev_un._tid = thread;
#endif
        if (timer_create(CLOCK_MONOTONIC, &event, &ticker->timer) != 0) {
            error = errno;
            continue;
        }
        tickers.push_back(std::move(ticker));
    }
    running.store(true);
    for (auto &ticker : tickers) {
        error = arm(*ticker) != 0 ? errno : error;
    }
    closedir(tasks);
    if (error != 0) {
        sampler_stop();
        return Failure{"kind", std::string("cannot sample: no timer for a thread: ") +
                                   std::strerror(error)};
    }
    return std::nullopt;
}

void sampler_stop()
{
    running.store(false);
    for (auto &ticker : tickers) {
        (void)timer_delete(ticker->timer);
    }
    // A signal may still be on its way to a thread: what it points to stays.
    static std::vector<std::unique_ptr<Ticker>> old;
    for (auto &ticker : tickers) {
        old.push_back(std::move(ticker));
    }
    tickers.clear();
}

std::optional<Failure> sampler_write(const std::string &path, uint64_t &count, uint64_t &bytes)
{
    size_t n = std::min(taken.load(), samples.size());
    std::unique_ptr<std::FILE, int (*)(std::FILE *)> f(std::fopen(path.c_str(), "w"), std::fclose);
    if (f == nullptr) {
        return Failure{"io", "cannot write " + path + ": " + std::strerror(errno)};
    }
    std::string text = "time_ns,thread,module,address,symbol,streaming\n";
    for (size_t i = 0; i < n; i++) {
        text += csv_line(samples[i]);
    }
    bool ok = std::fwrite(text.data(), 1, text.size(), f.get()) == text.size();
    ok = std::fclose(f.release()) == 0 && ok;
    if (!ok) {
        return Failure{"io", "cannot write " + path + ": " + std::strerror(errno)};
    }
    if (taken.load() > n) {
        std::fprintf(stderr, "etprof-runner: %zu samples beyond the first %zu were not kept\n",
                     taken.load() - n, n);
    }
    taken.store(0);
    count = n;
    bytes = text.size();
    return std::nullopt;
}

} // namespace etprof

#else

namespace etprof
{

std::optional<Failure> sampler_open(unsigned)
{
    return Failure{"kind", "sampled launches need Linux"};
}

std::optional<Failure> sampler_start()
{
    return std::nullopt;
}

void sampler_stop()
{
}

std::optional<Failure> sampler_write(const std::string &, uint64_t &, uint64_t &)
{
    return Failure{"kind", "sampled launches need Linux"};
}

} // namespace etprof

#endif
