// SPDX-License-Identifier: Apache-2.0
// Hardware counters of this process: which there are, opening and reading them.
#include "counters.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include <unistd.h>

#if defined(__linux__)
#include <dirent.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#elif defined(__APPLE__)
#include <libproc.h>
#endif

#include "process.h"

namespace etprof
{

namespace
{

enum class Events { none, hardware, software, process };

Events events = Events::none;
bool on = false;
bool has_cache = false;
std::string cache, why, fix;
Reading cost{}; // of a begin and an end with nothing between them

uint64_t cpu_ns()
{
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

void none(const std::string &reason, const std::string &remedy)
{
    events = Events::none;
    why = reason;
    fix = remedy;
}

#if defined(__linux__)

struct Pmu { // one for each kind of core
    uint32_t type;
    uint64_t config[k_counters];
    int count;
    std::string cache; // its name for the last of them
};

struct Group {
    int fd[k_counters];
    int count;
    bool together; // one read gives them all
};

std::vector<Group> groups;

int open_event(const Pmu &pmu, int i, int leader, bool together)
{
    perf_event_attr attr{};
    attr.size = sizeof attr;
    attr.type = pmu.type;
    attr.config = pmu.config[i];
    attr.inherit = 1;
    attr.exclude_kernel = 1; // what perf_event_paranoid 2 allows; the same everywhere
    attr.exclude_hv = 1;
    attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    attr.read_format |= together ? static_cast<uint64_t>(PERF_FORMAT_GROUP) : 0;
    return static_cast<int>(
        syscall(SYS_perf_event_open, &attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC));
}

void close_groups()
{
    for (const Group &g : groups) {
        for (int i = 0; i < g.count; i++) {
            close(g.fd[i]);
        }
    }
    groups.clear();
}

// The first is needed, the others are taken where they can be had. Returns 0 or the error of the
// first.
int open_group(const Pmu &pmu)
{
    Group g{};
    g.together = true;
    g.fd[0] = open_event(pmu, 0, -1, true);
    if (g.fd[0] < 0 &&
        errno == EINVAL) { // kernels before 4.13 read inherited events one by one only
        g.together = false;
        g.fd[0] = open_event(pmu, 0, -1, false);
    }
    if (g.fd[0] < 0) {
        return errno;
    }
    for (g.count = 1; g.count < pmu.count; g.count++) {
        g.fd[g.count] = open_event(pmu, g.count, g.fd[0], g.together);
        if (g.fd[g.count] < 0) {
            break;
        }
    }
    groups.push_back(g);
    return 0;
}

bool read_group(const Group &g, Reading &at, bool first)
{
    uint64_t word[3 + k_counters];
    for (int i = 0; i < (g.together ? 1 : g.count); i++) {
        size_t size = (g.together ? 3 + static_cast<size_t>(g.count) : 3) * sizeof *word;
        if (read(g.fd[i], word, size) != static_cast<ssize_t>(size)) {
            return false;
        }
        if (i == 0) { // several kinds of cores: each thread is on one of them at a time
            at.enabled = first ? word[1] : at.enabled;
            at.running += word[2];
        }
        for (int k = 0; g.together && k < g.count; k++) {
            at.value[k] += word[3 + k];
        }
        at.value[i] += g.together ? 0 : word[0];
    }
    return true;
}

void read_values(Reading &at)
{
    at.enabled = at.running = 0;
    std::fill(at.value, at.value + k_counters, 0);
    bool first = true;
    for (const Group &g : groups) {
        if (!read_group(g, at, first)) {
            at.running = 0;
            return;
        }
        first = false;
    }
}

std::string read_text(const std::string &path)
{
    char text[64] = "";
    if (std::FILE *f = std::fopen(path.c_str(), "r")) {
        size_t n = std::fread(text, 1, sizeof text - 1, f);
        text[n] = '\0';
        std::fclose(f);
    }
    text[std::strcspn(text, "\n")] = '\0';
    return text;
}

const std::string k_devices = "/sys/bus/event_source/devices/";

#if defined(__aarch64__)

// By the architecture's event numbers, for each kind of core that has counters. The kernel's own
// generic "cache misses" are those of the first level here.
std::vector<Pmu> find_pmus()
{
    std::vector<Pmu> found;
    DIR *devices = opendir(k_devices.c_str());
    while (dirent *entry = devices != nullptr ? readdir(devices) : nullptr) {
        std::string path = k_devices + entry->d_name + "/";
        std::string type = read_text(path + "type");
        if (type.empty() || read_text(path + "events/cpu_cycles").empty()) {
            continue;
        }
        Pmu pmu{
            static_cast<uint32_t>(std::strtoul(type.c_str(), nullptr, 10)), {0x11, 0x08, 0},
               2, ""
        };
        static const struct {
            const char *name;
            uint64_t config;
        } k_misses[] = {
            {"ll_cache_miss_rd", 0x37},
            {"l2d_cache_refill", 0x17}
        };
        for (const auto &m : k_misses) {
            if (pmu.count == 2 && !read_text(path + "events/" + m.name).empty()) {
                pmu.config[pmu.count++] = m.config;
                pmu.cache = m.name;
            }
        }
        found.push_back(pmu);
    }
    if (devices != nullptr) {
        closedir(devices);
    }
    if (found.empty()) { // the list is not for us to read: the kernel's generic events
        found.push_back({
            PERF_TYPE_HARDWARE, {PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS, 0},
             2, ""
        });
    }
    return found;
}

#else

// Generic events; on processors with two kinds of cores once for each.
std::vector<Pmu> find_pmus()
{
    std::vector<Pmu> found;
    for (const char *name : {"cpu_core", "cpu_atom"}) {
        std::string type = read_text(k_devices + name + "/type");
        if (!type.empty()) {
            uint64_t kind = static_cast<uint64_t>(std::strtoul(type.c_str(), nullptr, 10)) << 32;
            found.push_back({
                PERF_TYPE_HARDWARE,
                {kind | PERF_COUNT_HW_CPU_CYCLES, kind | PERF_COUNT_HW_INSTRUCTIONS,
                  kind | PERF_COUNT_HW_CACHE_MISSES},
                3,
                "cache-misses"
            });
        }
    }
    if (found.empty()) {
        found.push_back({
            PERF_TYPE_HARDWARE,
            {PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CACHE_MISSES},
            3,
            "cache-misses"
        });
    }
    return found;
}

#endif

void refused(int error)
{
    std::string paranoid = read_text("/proc/sys/kernel/perf_event_paranoid");
    bool android = access("/system/bin/getprop", F_OK) == 0;
    switch (error) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
    case EOPNOTSUPP:
        none("this machine shows no hardware counters (" + std::string(std::strerror(error)) + ")",
             "measure on hardware, or give the virtual machine a virtual PMU");
        break;
    case EACCES:
    case EPERM:
        if (std::atoi(paranoid.c_str()) > 2) {
            none("kernel.perf_event_paranoid is " + paranoid + ", 2 is needed",
                 android ? "adb shell setprop security.perf_harden 0"
                         : "sysctl kernel.perf_event_paranoid=2");
        } else {
            none(std::string("the system refuses perf_event_open (") + std::strerror(error) + ")",
                 "allow it: a container's seccomp profile, or SELinux, forbids it although "
                 "perf_event_paranoid is " +
                     (paranoid.empty() ? "unknown" : paranoid));
        }
        break;
    case ENOSYS:
        none("no perf_event_open here (an emulator, or a kernel without it)",
             "measure on hardware");
        break;
    default:
        none(std::string("perf_event_open failed: ") + std::strerror(error), "");
    }
}

bool open_all(const std::vector<Pmu> &pmus, bool with_cache)
{
    int error = 0;
    close_groups();
    cache.clear();
    has_cache = with_cache;
    for (Pmu pmu : pmus) {
        pmu.count = std::min(pmu.count, with_cache ? k_counters : 2);
        int failed = open_group(pmu);
        if (failed != 0) {
            error = failed;
            break;
        }
        // Misses of different levels do not add up.
        has_cache =
            has_cache && groups.back().count == k_counters && (cache.empty() || cache == pmu.cache);
        cache = pmu.cache;
    }
    if (error != 0) {
        close_groups();
        refused(error);
    }
    return error == 0;
}

void work_a_millisecond()
{
    volatile uint64_t sum = 0;
    for (uint64_t end = now_ns() + 1000000; now_ns() < end;) {
        sum = sum + 1;
    }
}

// Counters that others use as well take turns of a few milliseconds: each is given time for one.
bool they_count()
{
    Reading before{}, after{};
    read_values(before);
    for (int i = 0; i < 32; i++) {
        work_a_millisecond();
        read_values(after);
        if (after.running > before.running && after.value[0] > before.value[0]) {
            return true;
        }
    }
    return false;
}

void open_counters()
{
    std::vector<Pmu> pmus = find_pmus();
    if (events == Events::software) {
        pmus = {
            {PERF_TYPE_SOFTWARE, {PERF_COUNT_SW_TASK_CLOCK, PERF_COUNT_SW_PAGE_FAULTS, 0}, 2, ""}
        };
    }
    if (!open_all(pmus, true)) {
        return;
    }
    if (!they_count() && (!open_all(pmus, false) || !they_count())) {
        close_groups();
        none("the counters can be opened, but do not count",
             "end other programs that use them (perf, a watchdog)");
    }
}

#elif defined(__APPLE__)

void read_values(Reading &at)
{
    rusage_info_v4 info;
    at.enabled = at.running = 0;
    if (proc_pid_rusage(getpid(), RUSAGE_INFO_V4, reinterpret_cast<rusage_info_t *>(&info)) == 0) {
        at.enabled = at.running = 1;
        at.value[0] = info.ri_cycles;
        at.value[1] = info.ri_instructions;
    }
}

void open_counters()
{
    Reading at{};
    read_values(at);
    events = Events::process; // kernel included
    if (at.value[0] == 0) {
        none("the system tells no cycles of this process",
             "macOS 11 or newer on Apple silicon tells them");
    }
}

void close_groups()
{
}

#else

void read_values(Reading &)
{
}

void open_counters()
{
    none("counters are read on Linux and macOS only", "");
}

void close_groups()
{
}

#endif

void measure_cost()
{
    constexpr size_t n = 31;
    std::vector<uint64_t> column[1 + k_counters];
    for (size_t i = 0; i < n; i++) {
        Reading a{}, b{};
        counters_begin(a);
        counters_end(b);
        column[0].push_back(less(b.cpu_ns, a.cpu_ns));
        for (int k = 0; k < k_counters; k++) {
            column[1 + k].push_back(less(b.value[k], a.value[k]));
        }
    }
    for (auto &c : column) {
        std::nth_element(c.begin(), c.begin() + n / 2, c.end());
    }
    cost.cpu_ns = column[0][n / 2];
    for (int k = 0; k < k_counters; k++) {
        cost.value[k] = column[1 + k][n / 2];
    }
}

// The CPU time can be read everywhere: it tells an iteration that other programs interrupted from a
// slow one.
void finish_opening(bool wanted)
{
    on = wanted;
    if (!on || events == Events::none) {
        close_groups();
    }
    if (on) {
        measure_cost();
    }
}

} // namespace

void counters_open(bool wanted)
{
    const char *mode = std::getenv("ETPROF_COUNTERS");
    if (mode != nullptr && std::strcmp(mode, "off") == 0) {
        none("switched off by ETPROF_COUNTERS", "unset ETPROF_COUNTERS");
        finish_opening(wanted);
        return;
    }
    events =
        mode != nullptr && std::strcmp(mode, "software") == 0 ? Events::software : Events::hardware;
    open_counters();
    finish_opening(wanted);
}

bool counters_on()
{
    return on;
}

uint64_t counters_stride(uint64_t shortest_ns, uint64_t n)
{
    constexpr uint64_t enough_ns = 1000000, most = 16, least_counted = 4;
    if (shortest_ns == 0 || shortest_ns >= enough_ns) {
        return 1;
    }
    uint64_t wanted = std::min(most, (enough_ns + shortest_ns - 1) / shortest_ns);
    return std::min(wanted, n / least_counted);
}

void counters_describe(etp_wire_hello &hello)
{
    static const char *const k_names[] = {"none", "hardware", "software", "process"};
    auto &c = hello.counters;
    std::snprintf(c.events, sizeof c.events, "%s", k_names[static_cast<int>(events)]);
    std::snprintf(c.cache, sizeof c.cache, "%s",
                  events == Events::hardware && has_cache ? cache.c_str() : "");
    std::snprintf(c.why, sizeof c.why, "%s", why.c_str());
    std::snprintf(c.fix, sizeof c.fix, "%s", fix.c_str());
}

void counters_begin(Reading &at)
{
    read_values(at);
    at.cpu_ns = cpu_ns();
}

void counters_end(Reading &at)
{
    at.cpu_ns = cpu_ns();
    read_values(at);
}

etp_wire_counts counters_between(const Reading &a, const Reading &b)
{
    etp_wire_counts out{};
    uint64_t enabled = less(b.enabled, a.enabled), running = less(b.running, a.running);
    out.cpu_ns = less(less(b.cpu_ns, a.cpu_ns), cost.cpu_ns);
    if (running == 0) { // they had no turn
        return out;
    }
    // Counters that share the hardware with others' take turns: what they saw stands for the rest.
    // Below a thousandth it is the rounding of two clocks.
    bool shared = enabled > running && enabled - running > enabled / 1000;
    double scale = shared ? static_cast<double>(enabled) / static_cast<double>(running) : 1;
    uint64_t v[k_counters];
    for (int k = 0; k < k_counters; k++) {
        v[k] = static_cast<uint64_t>(
            static_cast<double>(less(less(b.value[k], a.value[k]), cost.value[k])) * scale);
    }
    if (events == Events::software) {
        out.task_clock_ns = v[0];
        out.faults = v[1];
        return out;
    }
    out.cycles = v[0];
    out.instructions = v[1];
    out.cache_misses = has_cache ? v[2] : 0;
    out.scaled = shared;
    return out;
}

} // namespace etprof
