// SPDX-License-Identifier: Apache-2.0
// What macOS says about itself, through sysctl.
#include <crt_externs.h>
#include <fcntl.h>
#include <mach-o/dyld.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "os/system.h"

void etp_os_child_follow_parent(pid_t parent)
{
    (void)parent; // there is no such request; a runner ends when its input does
}

char **etp_os_environ(void)
{
    return *_NSGetEnviron(); // a dylib has no `environ` of its own
}

uint64_t etp_os_rss_bytes(long ru_maxrss)
{
    return (uint64_t)ru_maxrss; // bytes here, unlike everywhere else
}

bool etp_os_full_sync(int fd)
{
    // fsync alone leaves the data in the drive's cache; some file systems know only fsync.
    return fcntl(fd, F_FULLFSYNC) == 0 || fsync(fd) == 0;
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
    *out = (etp_os_facts){.platform = "mac"};
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
    out->cpus = n > 0 ? (uint32_t)n : 0;
    len = sizeof out->memory_bytes;
    if (sysctlbyname("hw.memsize", &out->memory_bytes, &len, NULL, 0) != 0) {
        out->memory_bytes = 0;
    }
}

void etp_os_state_read(etp_os_state *out)
{
    static const char *const k_unreadable[] = {"free memory", "temperature", "cpu frequency",
                                               "governor", "boost", "power source",
                                               "cpu time"};
    *out = (etp_os_state){.time_ns = etp_os_now_ns(),
                          .load1 = (double)NAN,
                          .memory_free_bytes = UINT64_MAX,
                          .temperature_c = (double)NAN,
                          .freq_min_khz = UINT64_MAX,
                          .freq_max_khz = UINT64_MAX,
                          .cpu_busy_ms = UINT64_MAX,
                          .cpu_steal_ms = UINT64_MAX,
                          .freq_cap_khz = UINT64_MAX,
                          .thermal_status = -1,
                          .battery_percent = -1,
                          .boost = -1};
    for (size_t i = 0; i < sizeof k_unreadable / sizeof *k_unreadable; i++) {
        out->unreadable[out->n_unreadable++] = k_unreadable[i];
    }
    if (getloadavg(&out->load1, 1) != 1) {
        out->load1 = (double)NAN;
        out->unreadable[out->n_unreadable++] = "load";
    }
}

etp_status etp_os_details_read(etp_arena *arena, etp_os_details *out, etp_error *err)
{
    static const char *const k_keys[] = {"hw.model", "hw.perflevel0.physicalcpu",
                                         "hw.perflevel1.physicalcpu"};
    *out = (etp_os_details){0};
    for (size_t i = 0; i < sizeof k_keys / sizeof *k_keys; i++) {
        char text[128] = "";
        int number = 0;
        size_t len = i == 0 ? sizeof text - 1 : sizeof number;
        if (sysctlbyname(k_keys[i], i == 0 ? (void *)text : (void *)&number, &len, NULL, 0) != 0) {
            continue;
        }
        const char *copy = i == 0 ? etp_arena_strdup(arena, etp_str_from(text))
                                  : etp_arena_printf(arena, "%d", number);
        etp_os_detail d = {k_keys[i], copy};
        if (!copy || !ETP_PUSH(arena, out, d)) {
            return etp_fail_nomem(err, "facts of the machine");
        }
    }
    return ETP_OK;
}

void etp_process_sched_read(int64_t pid, etp_process_sched *out)
{
    (void)pid;
    *out = (etp_process_sched){UINT64_MAX, UINT64_MAX};
}
