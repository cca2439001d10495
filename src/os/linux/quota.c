// SPDX-License-Identifier: Apache-2.0
// CPU time that control groups allow this process: the tightest limit of its group and of the
// groups above it, version 2 (cpu.max) and version 1 (cpu.cfs_quota_us).
#include <math.h>

#include "base/number.h"
#include "os/linux/proc.h"

// "20000 100000"; "max 100000" is no limit.
static double limit_v2(const char *group, etp_arena *arena)
{
    etp_str line, first;
    uint64_t quota, period;
    if (!etp_proc_line(etp_arena_printf(arena, "%s/cpu.max", group), arena, &line)) {
        return (double)INFINITY;
    }
    bool told = etp_str_cut(&line, " ", &first) && etp_parse_u64(first, &quota) &&
                etp_parse_u64(line, &period) && period > 0;
    return told ? (double)quota / (double)period : (double)INFINITY;
}

// A quota of -1 is no limit.
static double limit_v1(const char *group, etp_arena *arena)
{
    etp_str quota_text, period_text;
    uint64_t quota, period;
    bool told =
        etp_proc_line(etp_arena_printf(arena, "%s/cpu.cfs_quota_us", group), arena, &quota_text) &&
        etp_proc_line(etp_arena_printf(arena, "%s/cpu.cfs_period_us", group), arena,
                      &period_text) &&
        etp_parse_u64(quota_text, &quota) && etp_parse_u64(period_text, &period) && period > 0;
    return told ? (double)quota / (double)period : (double)INFINITY;
}

// From the group PATH below ROOT up to ROOT itself. Within a container its own group is often
// mounted as the root, and PATH leads nowhere: then the root's file counts.
static double tightest(const char *root, etp_str path, double (*limit)(const char *, etp_arena *),
                       etp_arena *arena)
{
    double least = limit(root, arena);
    while (path.len > 1) {
        const char *group = etp_arena_printf(arena, "%s%.*s", root, ETP_STR_ARG(path));
        least = group ? fmin(least, limit(group, arena)) : least;
        while (path.len > 0 && path.ptr[--path.len] != '/') {
        }
    }
    return least;
}

static bool names_cpu(etp_str controllers)
{
    for (etp_str one; etp_str_part(&controllers, ',', &one);) {
        if (etp_str_eqz(one, "cpu")) {
            return true;
        }
    }
    return false;
}

// SELF is /proc/self/cgroup: lines "ID:CONTROLLERS:PATH", of version 2 "0::PATH".
double etp_cgroup_cpus(const char *root, etp_str self, etp_arena *arena)
{
    const char *v1 = etp_arena_printf(arena, "%s/cpu", root);
    double least = limit_v2(root, arena);
    least = v1 ? fmin(least, limit_v1(v1, arena)) : least;
    for (etp_str path, id, names; etp_str_part(&self, '\n', &path);) {
        if (!etp_str_cut(&path, ":", &id) || !etp_str_cut(&path, ":", &names)) {
            continue;
        }
        if (names.len == 0) {
            least = fmin(least, tightest(root, path, limit_v2, arena));
        } else if (v1 && names_cpu(names)) {
            least = fmin(least, tightest(v1, path, limit_v1, arena));
        }
    }
    return etp_known_or_0(least);
}

double etp_os_cpu_quota(void)
{
    etp_arena arena = {0};
    etp_str self = ETP_STR("");
    if (etp_os_read_text("/proc/self/cgroup", ETP_PROC_LIMIT, &arena, &self, NULL) != ETP_OK) {
        self = ETP_STR("");
    }
    double cpus = etp_cgroup_cpus("/sys/fs/cgroup", self, &arena);
    etp_arena_dispose(&arena);
    return cpus;
}
