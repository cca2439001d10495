// SPDX-License-Identifier: Apache-2.0
// Where tracing is not permitted: the program is started with a library that answers for getauxval
// (Linux, Android) or sysctlbyname (macOS). Static and protected programs do not load libraries.
#include "launch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__APPLE__)

bool launch_can_preload(void)
{
    return true;
}

// System Integrity Protection throws DYLD_ variables away for what lies in these folders.
static bool is_protected(const char *path)
{
    static const char *const k_folders[] = {"/usr/bin/",  "/bin/",         "/sbin/",
                                            "/usr/sbin/", "/usr/libexec/", "/System/"};
    for (size_t i = 0; i < sizeof k_folders / sizeof k_folders[0]; i++) {
        if (strncmp(path, k_folders[i], strlen(k_folders[i])) == 0) {
            return true;
        }
    }
    return false;
}

#define VARIABLE "DYLD_INSERT_LIBRARIES"

static bool reaches(launch *l)
{
    char path[4096];
    if (realpath(l->argv[0], path) && is_protected(path)) {
        launch_why(
            l,
            "%s is protected by SIP (System Integrity Protection): macOS inserts nothing into it; "
            "name the program itself, not a shell or env in front of it",
            path);
        return false;
    }
    return true;
}

#else

#if defined(__aarch64__)
bool launch_can_preload(void)
{
    return true;
}
#else
bool launch_can_preload(void)
{
    return false; // programs ask the CPU itself: no function to answer for
}
#endif

#define VARIABLE "LD_PRELOAD"

// The file that execvp will take.
static bool find_program(const char *name, char *out, size_t cap)
{
    if (strchr(name, '/')) {
        return (size_t)snprintf(out, cap, "%s", name) < cap;
    }
    const char *path = getenv("PATH");
    for (const char *p = path ? path : "/bin:/usr/bin"; *p != '\0';) {
        size_t len = strcspn(p, ":");
        if ((size_t)snprintf(out, cap, "%.*s/%s", (int)len, p, name) < cap &&
            access(out, X_OK) == 0) {
            return true;
        }
        p += len + (p[len] == ':');
    }
    return false;
}

static bool reaches(launch *l)
{
    char path[4096];
    bool is_static = false;
    if (!launch_can_preload()) {
        launch_why(
            l, "on x86-64 programs ask the CPU itself: a preloaded library cannot answer for it");
        return false;
    }
    if (find_program(l->argv[0], path, sizeof path) && elf_is_static(path, &is_static) &&
        is_static) {
        launch_why(l, "%s is linked statically: it does not load %s; only tracing reaches it", path,
                   l->preload_library);
        return false;
    }
    return true;
}

#endif

void launch_preloaded(launch *l)
{
    char mask[ETP_ISA_TEXT_MAX], list[8192];
    const char *others = getenv(VARIABLE);
    if (!reaches(l)) {
        errno = EPERM;
        return;
    }
    if (access(l->preload_library, R_OK) != 0) {
        launch_why(l, "%s is missing: it belongs beside etprof-launch", l->preload_library);
        errno = EPERM;
        return;
    }
    (void)etp_isa_mask_format(&l->mask, mask, sizeof mask);
    // Ours first: the first library that has the function answers for it.
    (void)snprintf(list, sizeof list, "%s%s%s", l->preload_library, others && *others ? ":" : "",
                   others ? others : "");
    if (setenv("ETPROF_MASK", mask, 1) != 0 || setenv(VARIABLE, list, 1) != 0) {
        launch_why(l, "out of memory");
        return;
    }
    (void)execvp(l->argv[0], l->argv);
    launch_why(l, "cannot start %s: %s", l->argv[0], strerror(errno));
}
