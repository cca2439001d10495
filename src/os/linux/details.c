// SPDX-License-Identifier: Apache-2.0
// What decides how steady this machine can be: virtual machine, quotas, SMT, address randomisation;
// and how one process was scheduled.
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/number.h"
#include "os/linux/proc.h"
#include "os/system.h"

typedef struct source {
    const char *key, *path;
} source;

// Each is one line, taken as it is.
// device/remote_state.c asks devices for the same keys.
static const source k_lines[] = {
    {"cgroup_cpu_max",        "/sys/fs/cgroup/cpu.max"                                          },
    {"smt_active",            "/sys/devices/system/cpu/smt/active"                              },
    {"isolated_cpus",         "/sys/devices/system/cpu/isolated"                                },
    {"nohz_full_cpus",        "/sys/devices/system/cpu/nohz_full"                               },
    {"address_randomisation", "/proc/sys/kernel/randomize_va_space"                             },
    {"transparent_hugepages", "/sys/kernel/mm/transparent_hugepage/enabled"                     },
    {"perf_event_paranoid",   "/proc/sys/kernel/perf_event_paranoid"                            },
    {"clock_source",          "/sys/devices/system/clocksource/clocksource0/current_clocksource"},
    {"frequency_driver",      "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver"             },
    {"frequency_max_khz",     "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"           },
    {"governor",              "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"           },
    {"model",                 "/sys/devices/virtual/dmi/id/product_name"                        },
};

static void add(etp_details *out, etp_arena *arena, const char *key, etp_str value)
{
    etp_detail d = {key, etp_arena_strdup(arena, value)};
    ETP_ADD(arena, out, d);
}

#define CPU "/sys/devices/system/cpu"
#define MAX_CPUS 1024

// "cpus 0 1 up to 1800000 kHz; cpus 2 3 up to 2400000 kHz", as devices elsewhere are asked for it.
static void add_clusters(etp_details *out, etp_arena *arena, etp_arena *scratch)
{
    const etp_dir_list list = etp_proc_entries(CPU "/cpufreq", scratch);
    etp_strbuf text;
    etp_strbuf_init(&text, scratch);
    for (size_t i = 0; i < list.n; i++) {
        const char *policy = list.items[i].name;
        etp_str cpus, khz;
        if (strncmp(policy, "policy", 6) == 0 &&
            etp_proc_line(etp_arena_printf(scratch, CPU "/cpufreq/%s/related_cpus", policy),
                          scratch, &cpus) &&
            etp_proc_line(etp_arena_printf(scratch, CPU "/cpufreq/%s/cpuinfo_max_freq", policy),
                          scratch, &khz)) {
            etp_strbuf_printf(&text, "%scpus %.*s up to %.*s kHz", etp_if(text.len, "; "),
                              ETP_STR_ARG(cpus), ETP_STR_ARG(khz));
        }
    }
    if (text.len > 0) {
        add(out, arena, "clusters", etp_strbuf_str(&text));
    }
}

// SMIDR_EL1 of each CPU, where it changes: "0:0x… 4:0x…".
static void add_smidr(etp_details *out, etp_arena *arena, etp_arena *scratch)
{
    etp_strbuf text;
    etp_strbuf_init(&text, scratch);
    // The affinity in it names the SME unit, which several CPUs may share.
    etp_str value, last = ETP_STR("");
    for (unsigned i = 0; i < MAX_CPUS; i++) {
        if (!etp_proc_line(etp_arena_printf(scratch, CPU "/cpu%u/regs/identification/smidr_el1", i),
                           scratch, &value)) {
            break;
        }
        if (!etp_str_eq(value, last)) {
            etp_strbuf_printf(&text, "%s%u:%.*s", etp_if(text.len, " "), i, ETP_STR_ARG(value));
            last = value;
        }
    }
    if (text.len > 0) {
        add(out, arena, "smidr", etp_strbuf_str(&text));
    }
}

etp_status etp_os_details_read(etp_arena *arena, etp_details *out, etp_error *err)
{
    *out = (etp_details){0};
    etp_arena scratch = {0};
    etp_str text;
    for (size_t i = 0; i < sizeof k_lines / sizeof *k_lines; i++) {
        if (etp_proc_line(k_lines[i].path, &scratch, &text) && text.len > 0) {
            add(out, arena, k_lines[i].key, text);
        }
    }
    if (etp_os_read_text("/proc/cpuinfo", ETP_PROC_LIMIT, &scratch, &text, NULL) == ETP_OK) {
        etp_str flags = etp_proc_value(text, "flags");
        if (flags.len > 0) { // x86 tells guests so
            // CPUID leaf 1, ECX bit 31, which hypervisors set for their guests.
            bool guest = etp_str_find(flags, ETP_STR(" hypervisor")) < flags.len;
            add(out, arena, "virtual_machine", guest ? ETP_STR("yes") : ETP_STR("no"));
        }
    }
    add_clusters(out, arena, &scratch);
    add_smidr(out, arena, &scratch);
    etp_status st = etp_arena_check(&scratch, err, "facts of the machine");
    etp_arena_dispose(&scratch);
    return st;
}

// "12345 678 9": time on a CPU, time waiting for one, time slices.
static bool waited(const char *task, etp_arena *arena, uint64_t *sum)
{
    etp_str line, ran, waiting;
    uint64_t v;
    if (!etp_proc_line(etp_arena_printf(arena, "%s/schedstat", task), arena, &line) ||
        !etp_str_part(&line, ' ', &ran) || !etp_str_part(&line, ' ', &waiting) ||
        !etp_parse_u64(waiting, &v)) {
        return false;
    }
    // Nanoseconds.
    *sum += v;
    return true;
}

// Kernels without CONFIG_SCHED_DEBUG have no such file.
static bool migrated(const char *task, etp_arena *arena, uint64_t *sum)
{
    etp_str text;
    uint64_t v;
    const char *path = etp_arena_printf(arena, "%s/sched", task);
    if (!path || etp_os_read_text(path, ETP_PROC_LIMIT, arena, &text, NULL) != ETP_OK ||
        !etp_parse_u64(etp_proc_value(text, "se.nr_migrations"), &v)) {
        return false;
    }
    *sum += v;
    return true;
}

void etp_process_sched_read(int64_t pid, etp_process_sched *out)
{
    etp_arena arena = {0};
    uint64_t wait = 0, moves = 0;
    const char *dir = etp_arena_printf(&arena, "/proc/%lld/task", (long long)pid);
    const etp_dir_list tasks = etp_proc_entries(dir, &arena);
    // Of all threads or of none: a sum that lacks one would look like less waiting.
    bool has_wait = tasks.n > 0, has_moves = has_wait;
    for (size_t i = 0; i < tasks.n; i++) {
        const char *task = etp_arena_printf(&arena, "%s/%s", dir, tasks.items[i].name);
        has_wait = task && waited(task, &arena, &wait) && has_wait;
        has_moves = task && migrated(task, &arena, &moves) && has_moves;
    }
    // A thread that ends while it is asked makes it unknown, too.
    out->wait_ns = has_wait ? wait : UINT64_MAX;
    out->migrations = has_moves ? moves : UINT64_MAX;
    etp_arena_dispose(&arena);
}

etp_str etp_process_maps_read(int64_t pid, etp_arena *arena)
{
    etp_str text = {0};
    const char *path = etp_arena_printf(arena, "/proc/%lld/maps", (long long)pid);
    bool known = path && etp_os_read_text(path, ETP_PROC_LIMIT, arena, &text, NULL) == ETP_OK;
    return known ? text : (etp_str){0};
}

// Its line is "7f12a000-7f12b000 r--p 00000000 08:01 1234 /path".
bool etp_process_maps_have(etp_str maps, const etp_os_mark *file)
{
    char name[64];
    snprintf(name, sizeof name, " %02x:%02x %llu ", major(file->device), minor(file->device),
             (unsigned long long)file->inode);
    return etp_str_find(maps, etp_str_from(name)) < maps.len;
}

bool etp_process_maps_tell(const char *path)
{
    etp_arena arena = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    void *at = fd >= 0 ? mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    const etp_os_mark mark = etp_os_mark_of(path);
    bool tell =
        at != MAP_FAILED && etp_process_maps_have(etp_process_maps_read(getpid(), &arena), &mark);
    if (at != MAP_FAILED) {
        munmap(at, 1);
    }
    if (fd >= 0) {
        close(fd);
    }
    etp_arena_dispose(&arena);
    return tell;
}

void etp_process_counters_read(int64_t pid, etp_process_counters *out)
{
    (void)pid; // perf events would have to be opened before the process's threads start
    *out = (etp_process_counters){0};
}

etp_str etp_process_affinity_read(int64_t pid, etp_arena *arena)
{
    etp_strbuf out;
    etp_strbuf_init(&out, arena);
    const char *dir = etp_arena_printf(arena, "/proc/%lld/task", (long long)pid);
    const etp_dir_list tasks = etp_proc_entries(dir, arena);
    etp_str last = ETP_STR("");
    for (size_t i = 0; i < tasks.n; i++) {
        etp_str text;
        const char *path = etp_arena_printf(arena, "%s/%s/status", dir, tasks.items[i].name);
        if (!path || etp_os_read_text(path, ETP_PROC_LIMIT, arena, &text, NULL) != ETP_OK) {
            continue; // it ended
        }
        etp_str list = etp_proc_value(text, "Cpus_allowed_list");
        // Usually all threads have the same list, which is then said once.
        if (list.len > 0 && !etp_str_eq(list, last)) {
            etp_strbuf_printf(&out, "%s%.*s", etp_if(out.len, " "), ETP_STR_ARG(list));
            last = list;
        }
    }
    return out.failed ? ETP_STR("") : etp_strbuf_str(&out);
}
