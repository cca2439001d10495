// SPDX-License-Identifier: Apache-2.0
// Facts and settings of this process: clock, memory, CPUs, its end with its parent.
#include "process.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#if defined(__linux__)
#include <dirent.h>
#include <sched.h>
#include <sys/prctl.h>
#elif defined(__APPLE__)
#include <mach/mach.h>
#include <pthread.h>
#endif

namespace etprof
{

uint64_t now_ns()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

uint64_t rss_bytes()
{
#if defined(__linux__)
    unsigned long long pages = 0;
    if (std::FILE *f = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(f, "%*u %llu", &pages) != 1) {
            pages = 0;
        }
        std::fclose(f);
    }
    return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
#elif defined(__APPLE__)
    mach_task_basic_info info;
    mach_msg_type_number_t count = MACH_TASK_BASIC_INFO_COUNT;
    if (task_info(mach_task_self(), MACH_TASK_BASIC_INFO, reinterpret_cast<task_info_t>(&info),
                  &count) != KERN_SUCCESS) {
        return 0;
    }
    return info.resident_size;
#endif
}

uint64_t peak_rss_bytes()
{
#if defined(__linux__)
    // Not ru_maxrss: it keeps the peak of the process that called exec.
    unsigned long long kib = 0;
    if (std::FILE *f = std::fopen("/proc/self/status", "r")) {
        char line[256];
        while (kib == 0 && std::fgets(line, sizeof line, f) != nullptr) {
            (void)std::sscanf(line, "VmHWM: %llu kB", &kib);
        }
        std::fclose(f);
    }
    return kib * 1024;
#else
    rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<uint64_t>(usage.ru_maxrss) : 0;
#endif
}

uint64_t waited_ns()
{
    uint64_t sum = UINT64_MAX;
#if defined(__linux__)
    DIR *tasks = opendir("/proc/self/task");
    while (dirent *entry = tasks != nullptr ? readdir(tasks) : nullptr) {
        unsigned long long wait = 0;
        std::string path = std::string("/proc/self/task/") + entry->d_name + "/schedstat";
        std::FILE *f = entry->d_name[0] == '.' ? nullptr : std::fopen(path.c_str(), "r");
        if (f != nullptr && std::fscanf(f, "%*u %llu", &wait) == 1) {
            sum = (sum == UINT64_MAX ? 0 : sum) + wait;
        }
        if (f != nullptr) {
            std::fclose(f);
        }
    }
    if (tasks != nullptr) {
        closedir(tasks);
    }
#endif
    return sum;
}

uint64_t file_bytes(const std::string &path)
{
    struct stat st;
    return stat(path.c_str(), &st) == 0 ? static_cast<uint64_t>(st.st_size) : 0;
}

uint64_t free_bytes(const std::string &path)
{
    const size_t slash = path.rfind('/');
    struct statvfs fs;
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    return statvfs(folder.c_str(), &fs) == 0
               ? static_cast<uint64_t>(fs.f_bavail) * static_cast<uint64_t>(fs.f_frsize)
               : UINT64_MAX;
}

uint64_t address_limit()
{
    rlimit limit;
    const bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return limited ? static_cast<uint64_t>(limit.rlim_cur) : 0;
}

uint64_t drop_cached(const std::string &path)
{
    struct stat st;
    const int fd = path.empty() ? -1 : open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const bool there = fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0;
    uint64_t left = there ? static_cast<uint64_t>(st.st_size) : 0;
#if defined(__linux__)
    if (there) {
        (void)fsync(fd); // pages that are not on the disk yet stay
        (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        const size_t size = static_cast<size_t>(st.st_size);
        const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
        std::vector<unsigned char> in((size + page - 1) / page);
        void *at = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
        if (at != MAP_FAILED && mincore(at, size, in.data()) == 0) {
            const auto is_in = [](unsigned char state) { return (state & 1) != 0; };
            left = page * static_cast<uint64_t>(std::count_if(in.begin(), in.end(), is_in));
        }
        if (at != MAP_FAILED) {
            (void)munmap(at, size);
        }
    }
#endif
    if (fd >= 0) {
        (void)close(fd);
    }
    return left;
}

void die_with_parent()
{
#if defined(__linux__)
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
}

void prefer_fast_cores()
{
#if defined(__APPLE__)
    (void)pthread_set_qos_class_self_np(QOS_CLASS_USER_INTERACTIVE, 0);
#endif
}

#if defined(__linux__)

static bool number(const char *&at, int &value)
{
    char *end = nullptr;
    errno = 0;
    long v = *at >= '0' && *at <= '9' ? std::strtol(at, &end, 10) : -1;
    if (end == nullptr || errno != 0 || v < 0 || v >= CPU_SETSIZE) {
        return false;
    }
    at = end;
    value = static_cast<int>(v);
    return true;
}

std::optional<Failure> pin(const std::string &cpus)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    const char *at = cpus.c_str();
    for (;;) {
        int first = 0;
        bool ok = number(at, first);
        int last = first;
        if (ok && *at == '-') {
            at++;
            ok = number(at, last) && last >= first;
        }
        if (!ok || (*at != ',' && *at != '\0')) {
            return Failure{"usage", "--cpus: '" + cpus + "' is not a list like 0-3,6"};
        }
        for (int i = first; i <= last; i++) {
            CPU_SET(i, &set);
        }
        if (*at++ == '\0') {
            break;
        }
    }
    if (sched_setaffinity(0, sizeof set, &set) != 0) {
        return Failure{"usage", "--cpus " + cpus + ": cannot run there: " + std::strerror(errno)};
    }
    return std::nullopt;
}

#else

std::optional<Failure> pin(const std::string &)
{
    return Failure{"usage", "--cpus: this system cannot pin threads to CPUs"};
}

#endif

} // namespace etprof
