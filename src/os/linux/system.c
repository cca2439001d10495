// SPDX-License-Identifier: Apache-2.0
// What Linux (and Android) says about itself, in /proc and /sys.
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/number.h"
#include "os/linux/proc.h"
#include "os/system.h"

const char *etp_os_missing(void)
{
    return etp_z_if(access("/proc/self/stat", R_OK) != 0,
                    "/proc is not mounted here, and a runner reads "
                    "the features of its CPU there; mount "
                    "it: mount -t proc proc /proc");
}

const char *etp_os_self_exe(etp_arena *arena)
{
    char buf[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", buf, sizeof buf);
    if (n > 0 && (size_t)n < sizeof buf) {
        return etp_arena_strdup(arena, (etp_str){buf, (size_t)n});
    }
    // Where /proc is not mounted: the path that the kernel was given.
    const char *given = (const char *)(uintptr_t)getauxval(AT_EXECFN);
    return given && strchr(given, '/') ? etp_arena_strdup(arena, etp_str_from(given)) : NULL;
}

static const char k_blanks[] = " \t\r\n";

bool etp_proc_line(const char *path, etp_arena *arena, etp_str *out)
{
    etp_str text;
    if (!path || etp_os_read_text(path, 65536, arena, &text, NULL) != ETP_OK) {
        return false;
    }
    (void)etp_str_cut(&text, "\n", &text);
    *out = etp_str_trim(text, k_blanks);
    return true;
}

etp_dir_list etp_proc_entries(const char *dir, etp_arena *arena)
{
    etp_dir_list list = {0};
    if (dir && etp_os_list(dir, arena, &list, NULL) != ETP_OK) {
        list.n = 0;
    }
    return list;
}

static bool read_number(const char *path, etp_arena *arena, int64_t *out)
{
    etp_str line;
    return etp_proc_line(path, arena, &line) && etp_parse_i64(line, out);
}

static void copy_text(char *dst, size_t cap, etp_str s)
{
    size_t n = ETP_MIN(s.len, cap - 1);
    if (n > 0) {
        memcpy(dst, s.ptr, n);
    }
    dst[n] = '\0';
}

etp_str etp_proc_value(etp_str text, const char *key)
{
    for (etp_str value, found; etp_str_part(&text, '\n', &value);) {
        // The whole key: "CPU part" is not "CPU".
        if (etp_str_cut(&value, ":", &found) && etp_str_eqz(etp_str_trim(found, k_blanks), key)) {
            return etp_str_trim(value, k_blanks);
        }
    }
    return (etp_str){0};
}

static uint64_t meminfo(etp_str text, const char *key)
{
    etp_str v = etp_proc_value(text, key); // "16384 kB"
    // /proc/meminfo says kB and means KiB.
    uint64_t kb;
    v.len = etp_str_find(v, ETP_STR(" "));
    return etp_parse_u64(v, &kb) ? kb * 1024u : UINT64_MAX;
}

static void cpu_name(etp_os_facts *out, etp_arena *arena)
{
    etp_str text;
    if (etp_os_read_text("/proc/cpuinfo", ETP_PROC_LIMIT, arena, &text, NULL) != ETP_OK) {
        return;
    }
    etp_str name = etp_proc_value(text, "model name"); // x86
    if (name.len == 0) {
        name = etp_proc_value(text, "Hardware"); // older Android
    }
    if (name.len == 0 && etp_proc_value(text, "CPU part").len > 0) { // arm64 says numbers only
        etp_str vendor = etp_proc_value(text, "CPU implementer"),
                part = etp_proc_value(text, "CPU part");
        snprintf(out->cpu, sizeof out->cpu, "implementer %.*s part %.*s", ETP_STR_ARG(vendor),
                 ETP_STR_ARG(part));
        return;
    }
    copy_text(out->cpu, sizeof out->cpu, name);
}

void etp_os_facts_read(etp_os_facts *out)
{
    *out = (etp_os_facts){.platform = ETP_PLATFORM_LINUX};
    etp_arena arena = {0};
    struct utsname u;
    if (uname(&u) == 0) {
        snprintf(out->system, sizeof out->system, "%.20s %.40s", u.sysname, u.release);
        snprintf(out->machine, sizeof out->machine, "%.31s", u.machine);
    }
    // Android too: a bundle brings its own loader and C library.
    snprintf(out->triple, sizeof out->triple, "%.31s-linux-gnu", out->machine);
    cpu_name(out, &arena);
    cpu_set_t set;
    // Fails where the kernel knows more CPUs than the set has bits.
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        out->cpus = (uint32_t)CPU_COUNT(&set);
    } else {
        long n = sysconf(_SC_NPROCESSORS_ONLN);
        out->cpus = (uint32_t)ETP_MAX(n, 0);
    }
    etp_str text;
    if (etp_os_read_text("/proc/meminfo", ETP_PROC_LIMIT, &arena, &text, NULL) == ETP_OK) {
        uint64_t total = meminfo(text, "MemTotal");
        out->memory_bytes = total == UINT64_MAX ? 0 : total;
    }
    etp_arena_dispose(&arena);
}

static void unreadable(etp_os_state *out, const char *name)
{
    if (out->n_unreadable < sizeof out->unreadable / sizeof *out->unreadable) {
        out->unreadable[out->n_unreadable++] = name;
    }
}

// "cpu  user nice system idle iowait irq softirq steal …" over all CPUs since boot, in ticks of
// sysconf(_SC_CLK_TCK) (proc(5)). Guests' time, which follows, is in user already.
static void read_cpu_time(etp_os_state *out, etp_arena *arena)
{
    etp_str line, word;
    uint64_t ticks[8], busy = 0;
    size_t n = 0;
    if (etp_proc_line("/proc/stat", arena, &line) && etp_str_skip(&line, "cpu ")) {
        while (n < 8 && etp_str_part(&line, ' ', &word) && etp_parse_u64(word, &ticks[n])) {
            n++;
        }
    }
    long hz = sysconf(_SC_CLK_TCK);
    if (n < 8 || hz <= 0) {
        unreadable(out, "cpu time");
        return;
    }
    for (size_t i = 0; i < 8; i++) {
        busy += i == 3 || i == 4 || i == 7 ? 0 : ticks[i]; // idle, waiting for I/O, stolen
    }
    out->cpu_busy_ms = busy * 1000 / (uint64_t)hz;
    out->cpu_steal_ms = ticks[7] * 1000 / (uint64_t)hz;
}

// By number until the configured count, since CPUs that are switched off leave gaps.
static void read_frequency(etp_os_state *out, etp_arena *arena)
{
    long n = sysconf(_SC_NPROCESSORS_CONF);
    for (long i = 0; i < n && i < 1024; i++) {
        char path[128];
        int64_t khz;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%ld/cpufreq/scaling_cur_freq", i);
        if (!read_number(path, arena, &khz) || khz <= 0) {
            continue;
        }
        etp_os_state_core(out, (uint64_t)i, (uint64_t)khz);
    }
    if (out->freq_min_khz == UINT64_MAX) {
        unreadable(out, "cpu frequency");
    }
    etp_str governor;
    if (etp_proc_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", arena, &governor)) {
        copy_text(out->governor, sizeof out->governor, governor);
    } else {
        unreadable(out, "governor");
    }
    int64_t v;
    // acpi-cpufreq and amd-pstate say boost; intel_pstate says the opposite under a name of its
    // own.
    if (read_number("/sys/devices/system/cpu/cpufreq/boost", arena, &v)) {
        out->boost = v != 0;
    } else if (read_number("/sys/devices/system/cpu/intel_pstate/no_turbo", arena, &v)) {
        out->boost = v == 0;
    } else {
        unreadable(out, "boost");
    }
}

// The kernel lowers these limits when the machine is too hot.
static void read_caps(etp_os_state *out, etp_arena *arena)
{
    // Where there are none "cpu frequency" is unreadable, too.
    const etp_dir_list list = etp_proc_entries("/sys/devices/system/cpu/cpufreq", arena);
    for (size_t i = 0; i < list.n; i++) {
        const char *path = etp_arena_printf(
            arena, "/sys/devices/system/cpu/cpufreq/%s/scaling_max_freq", list.items[i].name);
        int64_t khz;
        if (read_number(path, arena, &khz) && khz > 0) {
            out->freq_cap_khz =
                (out->freq_cap_khz == UINT64_MAX ? 0 : out->freq_cap_khz) + (uint64_t)khz;
        }
    }
}

// CLOCK_BOOTTIME goes on while the machine is suspended, CLOCK_MONOTONIC does not.
static void read_asleep(etp_os_state *out)
{
    uint64_t closest = UINT64_MAX;
    for (int i = 0; i < 10 && closest > 100000; i++) { // we may be put off the CPU between the two
        struct timespec t;
        uint64_t before = etp_os_now_ns();
        if (clock_gettime(CLOCK_BOOTTIME, &t) != 0) {
            unreadable(out, "sleep");
            return;
        }
        uint64_t between = etp_os_now_ns() - before;
        uint64_t boot = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
        if (between < closest) {
            closest = between;
            out->asleep_ns = ETP_LESS(boot, before);
        }
    }
}

#define THERMAL "/sys/class/thermal"
#define SUPPLIES "/sys/class/power_supply"

void etp_os_state_read(etp_os_state *out)
{
    *out = etp_os_state_unknown();
    read_asleep(out);
    etp_arena arena = {0};
    etp_str text;
    if (etp_proc_line("/proc/loadavg", &arena, &text)) {
        text.len = etp_str_find(text, ETP_STR(" "));
        if (!etp_parse_double(text, &out->load1)) {
            out->load1 = (double)NAN;
        }
    }
    if (isnan(out->load1)) {
        unreadable(out, "load");
    }
    if (etp_os_read_text("/proc/meminfo", ETP_PROC_LIMIT, &arena, &text, NULL) == ETP_OK) {
        out->memory_free_bytes = meminfo(text, "MemAvailable");
    }
    if (out->memory_free_bytes == UINT64_MAX) {
        unreadable(out, "free memory");
    }
    read_cpu_time(out, &arena);
    // The hottest of all zones: which of them is the CPU's each vendor names in its own way.
    const etp_dir_list zones = etp_proc_entries(THERMAL, &arena);
    for (size_t i = 0; i < zones.n; i++) {
        const char *zone = zones.items[i].name;
        int64_t milli;
        // Vendors leave zeros and nonsense in zones without a sensor.
        if (strncmp(zone, "thermal_zone", 12) != 0 ||
            !read_number(etp_arena_printf(&arena, THERMAL "/%s/temp", zone), &arena, &milli) ||
            milli <= 0 || milli > 200000) {
            continue;
        }
        double celsius = (double)milli / 1000.0;
        if (isnan(out->temperature_c) || celsius > out->temperature_c) {
            etp_str type;
            out->temperature_c = celsius;
            if (etp_proc_line(etp_arena_printf(&arena, THERMAL "/%s/type", zone), &arena, &type)) {
                copy_text(out->temperature_zone, sizeof out->temperature_zone, type);
            }
        }
    }
    if (isnan(out->temperature_c)) {
        unreadable(out, "temperature");
    }
    read_frequency(out, &arena);
    read_caps(out, &arena);
    // A battery that is being charged is there as well: a supply that is online decides for mains.
    const etp_dir_list supplies = etp_proc_entries(SUPPLIES, &arena);
    for (size_t i = 0; i < supplies.n; i++) {
        const char *name = supplies.items[i].name;
        etp_str type;
        int64_t online;
        if (!etp_proc_line(etp_arena_printf(&arena, SUPPLIES "/%s/type", name), &arena, &type)) {
            continue;
        }
        bool battery = etp_str_eqz(type, "Battery");
        if (battery && out->power[0] == '\0') {
            copy_text(out->power, sizeof out->power, ETP_STR("battery"));
        }
        const char *path = etp_arena_printf(&arena, SUPPLIES "/%s/online", name);
        if (!battery && read_number(path, &arena, &online) && online > 0) {
            copy_text(out->power, sizeof out->power, ETP_STR("mains"));
        }
    }
    if (out->power[0] == '\0') {
        unreadable(out, "power source");
    }
    etp_arena_dispose(&arena);
}
