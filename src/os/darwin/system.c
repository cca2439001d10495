// SPDX-License-Identifier: Apache-2.0
// What macOS says about itself, through sysctl, Mach and libproc. Compiled and linked, never run.
#include <crt_externs.h>
#include <fcntl.h>
#include <libproc.h>
#include <mach-o/dyld.h>
#include <mach/mach.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/sysctl.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "os/system.h"

void etp_os_child_follow_parent(pid_t parent)
{
    (void)parent; // there is no such request; the supervisor ends it, and a runner ends when its
                  // input does
}

void etp_os_become_supervisor(bool adopt)
{
    (void)adopt; // orphans go to launchd, whatever we ask for
}

// Generation after generation: a process whose parent is gone cannot be found this way.
size_t etp_os_descendants(pid_t *out, size_t cap)
{
    size_t n = 0;
    pid_t parent = getpid();
    // OUT is the queue of those that are still to be asked for their children.
    for (size_t next = 0; n < cap; parent = out[next++]) {
        int got = proc_listchildpids(parent, out + n, (int)((cap - n) * sizeof *out));
        if (got > 0) {
            n += ETP_MIN((size_t)got, cap - n);
        }
        if (next == n) {
            break;
        }
    }
    return n;
}

// There is neither close_range nor closefrom here: every number up to the limit is tried.
void etp_os_close_from(int first, int keep)
{
    for (int fd = first; fd < getdtablesize(); fd++) {
        if (fd != keep) {
            close(fd);
        }
    }
}

char **etp_os_environ(void)
{
    return *_NSGetEnviron(); // a dylib has no `environ` of its own
}

uint64_t etp_os_rss_bytes(long ru_maxrss)
{
    return (uint64_t)ru_maxrss; // bytes here, unlike everywhere else
}

bool etp_os_peak_is_inherited(const struct rusage *child, const struct rusage *maker)
{
    (void)child;
    (void)maker;
    return false; // exec makes a new task, whose peak starts anew
}

bool etp_os_full_sync(int fd)
{
    // fsync alone leaves the data in the drive's cache; some file systems know only fsync.
    return fcntl(fd, F_FULLFSYNC) == 0 || fsync(fd) == 0;
}

const char *etp_os_missing(void)
{
    return NULL;
}

const char *etp_os_self_exe(etp_arena *arena)
{
    uint32_t size = 0;
    _NSGetExecutablePath(NULL, &size);
    char *buf = etp_arena_alloc(arena, (size_t)size + 1);
    if (!buf || _NSGetExecutablePath(buf, &size) != 0) {
        return NULL;
    }
    return etp_os_absolute(buf, arena);
}

void etp_os_facts_read(etp_os_facts *out)
{
    *out = (etp_os_facts){.platform = ETP_PLATFORM_MAC};
    struct utsname u;
    if (uname(&u) == 0) {
        snprintf(out->system, sizeof out->system, "%.20s %.40s", u.sysname, u.release);
    }
    // utsname says "arm64"; the words of the rest of etprof are aarch64 and x86_64.
    bool arm = strcmp(u.machine, "arm64") == 0;
    snprintf(out->machine, sizeof out->machine, "%s", arm ? "aarch64" : "x86_64");
    snprintf(out->triple, sizeof out->triple, "%s-macos", arm ? "arm64" : "x86_64");
    size_t len = sizeof out->cpu;
    if (sysctlbyname("machdep.cpu.brand_string", out->cpu, &len, NULL, 0) != 0) {
        out->cpu[0] = '\0';
    }
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    out->cpus = (uint32_t)ETP_MAX(n, 0);
    len = sizeof out->memory_bytes;
    if (sysctlbyname("hw.memsize", &out->memory_bytes, &len, NULL, 0) != 0) {
        out->memory_bytes = 0;
    }
}

// macOS has no control groups.
double etp_os_cpu_quota(void)
{
    return 0;
}

// Free for the asking, as Linux's MemAvailable: unused, and cached files that can go.
static void read_memory(etp_os_state *out)
{
    vm_statistics64_data_t vm;
    mach_msg_type_number_t n = HOST_VM_INFO64_COUNT;
    long page = sysconf(_SC_PAGESIZE);
    if (page > 0 && host_statistics64(mach_host_self(), HOST_VM_INFO64, (host_info64_t)&vm, &n) ==
                        KERN_SUCCESS) {
        uint64_t pages = (uint64_t)vm.free_count + vm.external_page_count + vm.purgeable_count;
        out->memory_free_bytes = pages * (uint64_t)page;
    } else {
        out->unreadable[out->n_unreadable++] = "free memory";
    }
}

static void read_cpu_time(etp_os_state *out)
{
    host_cpu_load_info_data_t load;
    mach_msg_type_number_t n = HOST_CPU_LOAD_INFO_COUNT;
    long hz = sysconf(_SC_CLK_TCK);
    if (hz > 0 && host_statistics(mach_host_self(), HOST_CPU_LOAD_INFO, (host_info_t)&load, &n) ==
                      KERN_SUCCESS) {
        // Everything but CPU_STATE_IDLE. There is no stolen time here.
        uint64_t ticks = (uint64_t)load.cpu_ticks[CPU_STATE_USER] +
                         load.cpu_ticks[CPU_STATE_SYSTEM] + load.cpu_ticks[CPU_STATE_NICE];
        out->cpu_busy_ms = ticks * 1000 / (uint64_t)hz;
    } else {
        out->unreadable[out->n_unreadable++] = "cpu time";
    }
}

void etp_os_state_read(etp_os_state *out)
{
    // Only Apple's frameworks and root's powermetrics tell these.
    static const char *const k_unreadable[] = {"temperature", "cpu frequency", "governor", "boost",
                                               "power source"};
    *out = etp_os_state_unknown();
    uint64_t awake =
        clock_gettime_nsec_np(CLOCK_UPTIME_RAW); // out->time_ns goes on while the machine sleeps
    out->asleep_ns = ETP_LESS(out->time_ns, awake);
    for (size_t i = 0; i < sizeof k_unreadable / sizeof *k_unreadable; i++) {
        out->unreadable[out->n_unreadable++] = k_unreadable[i];
    }
    read_memory(out);
    read_cpu_time(out);
    if (getloadavg(&out->load1, 1) != 1) {
        out->load1 = (double)NAN;
        out->unreadable[out->n_unreadable++] = "load";
    }
}

// A sysctl as text; "" where there is none of that name.
static void read_sysctl(const char *name, bool is_text, char *buf, size_t cap)
{
    uint64_t number = 0; // an int leaves the upper half 0: all of Apple's systems are little-endian
    // The zeros of memset end a text that fills the buffer.
    size_t len = is_text ? cap - 1 : sizeof number;
    memset(buf, 0, cap);
    if (sysctlbyname(name, is_text ? (void *)buf : (void *)&number, &len, NULL, 0) != 0) {
        buf[0] = '\0';
    } else if (!is_text) {
        snprintf(buf, cap, "%llu", (unsigned long long)number);
    }
}

etp_status etp_os_details_read(etp_arena *arena, etp_details *out, etp_error *err)
{
    static const struct {
        const char *key;
        bool is_text;
    } k_keys[] = {
        {"hw.model",                      true },
        {"kern.osproductversion",         true },
        {"kern.osversion",                true },
        {"kern.hv_vmm_present",           false},
        {"hw.nperflevels",                false},
        {"hw.perflevel0.name",            true }, // the fastest cores first
        {"hw.perflevel0.physicalcpu",     false},
        {"hw.perflevel0.cpusperl2",       false}, // cores of a cluster, which share an SME unit
        {"hw.perflevel0.l2cachesize",     false},
        {"hw.perflevel1.name",            true },
        {"hw.perflevel1.physicalcpu",     false},
        {"hw.perflevel1.cpusperl2",       false},
        {"hw.perflevel1.l2cachesize",     false},
        {"hw.optional.arm.FEAT_SME",      false},
        {"hw.optional.arm.FEAT_SME2",     false},
        {"hw.optional.arm.sme_max_svl_b", false},
    };
    *out = (etp_details){0};
    for (size_t i = 0; i < sizeof k_keys / sizeof *k_keys; i++) {
        char text[128];
        read_sysctl(k_keys[i].key, k_keys[i].is_text, text, sizeof text);
        if (text[0] == '\0') {
            continue;
        }
        etp_detail d = {k_keys[i].key, etp_arena_strdup(arena, etp_str_from(text))};
        ETP_ADD(arena, out, d);
    }
    return etp_arena_check(arena, err, "facts of the machine");
}

etp_str etp_process_affinity_read(int64_t pid, etp_arena *arena)
{
    (void)pid; // this system pins no threads
    (void)arena;
    return ETP_STR("");
}

void etp_process_sched_read(int64_t pid, etp_process_sched *out)
{
    (void)pid;
    *out = (etp_process_sched){UINT64_MAX, UINT64_MAX};
}

void etp_process_counters_read(int64_t pid, etp_process_counters *out)
{
    struct rusage_info_v6 now; // energy and the two kinds of cores: macOS 13 and newer
    struct rusage_info_v4 old;
    *out = (etp_process_counters){0};
    // An older system refuses the newer struct, and fills the older one.
    if (proc_pid_rusage((int)pid, RUSAGE_INFO_V6, (rusage_info_t *)&now) == 0) {
        *out = (etp_process_counters){now.ri_cycles, now.ri_instructions, now.ri_pcycles,
                                      now.ri_energy_nj};
    } else if (proc_pid_rusage((int)pid, RUSAGE_INFO_V4, (rusage_info_t *)&old) == 0) {
        *out = (etp_process_counters){.cycles = old.ri_cycles, .instructions = old.ri_instructions};
    }
}

etp_str etp_process_maps_read(int64_t pid, etp_arena *arena)
{
    (void)pid, (void)arena;
    return (etp_str){0};
}

bool etp_process_maps_have(etp_str maps, const etp_os_mark *file)
{
    (void)maps, (void)file;
    return false;
}

bool etp_process_maps_tell(const char *path)
{
    (void)path;
    return false;
}

int etp_os_moves_add(etp_os_moves *moves, const char *path)
{
    (void)moves, (void)path;
    return -1;
}

int etp_os_moves_next(etp_os_moves *moves)
{
    (void)moves;
    return -1;
}

void etp_os_moves_close(etp_os_moves *moves)
{
    *moves = (etp_os_moves){0};
}
