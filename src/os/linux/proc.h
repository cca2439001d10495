// SPDX-License-Identifier: Apache-2.0
// Reading /proc and /sys. Private to linux/.
#ifndef ETP_OS_LINUX_PROC_H
#define ETP_OS_LINUX_PROC_H

#include "os/os.h"

#define ETP_PROC_LIMIT ((size_t)4 << 20) // /proc/cpuinfo of the largest machines is near 1 MB

// First line without blanks at its ends; false when it cannot be read. PATH may be NULL.
bool etp_proc_line(const char *path, etp_arena *arena, etp_str *out);
// What is in DIR, nothing where it cannot be read. DIR may be NULL.
etp_dir_list etp_proc_entries(const char *dir, etp_arena *arena);
// Value of the first line "KEY<blanks>: value" of TEXT, empty when there is none.
etp_str etp_proc_value(etp_str text, const char *key);

// CPUs' worth of time that the groups in SELF (text of /proc/self/cgroup) may use, below ROOT,
// where they are mounted; 0: no limit is known.
double etp_cgroup_cpus(const char *root, etp_str self, etp_arena *arena);

#endif
