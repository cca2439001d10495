// SPDX-License-Identifier: Apache-2.0
// The program is started with a library that answers for getauxval (Linux and Android on arm64) or
// sysctlbyname (macOS). Static and protected programs do not load libraries; on x86-64 programs ask
// the CPU itself, and no library can answer for it.
#include "launch.h"

#include <errno.h>
#if defined(__aarch64__) && !defined(__APPLE__)
#include <elf.h>
#include <fcntl.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__APPLE__)

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

#define VARIABLE "LD_PRELOAD"

#if defined(__aarch64__)

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

// Does the kernel start the ELF file at PATH without a dynamic linker? False when it is no such
// file.
static bool is_static(const char *path)
{
    Elf64_Ehdr head;
    Elf64_Phdr segment;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool found = fd >= 0 && pread(fd, &head, sizeof head, 0) == (ssize_t)sizeof head &&
                 memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
                 head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_phentsize == sizeof segment;
    for (unsigned i = 0; found && i < head.e_phnum; i++) {
        off_t at = (off_t)(head.e_phoff + i * sizeof segment);
        found = pread(fd, &segment, sizeof segment, at) == (ssize_t)sizeof segment &&
                segment.p_type != PT_INTERP;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return found;
}

static bool reaches(launch *l)
{
    char path[4096];
    if (find_program(l->argv[0], path, sizeof path) && is_static(path)) {
        launch_why(l,
                   "%s is linked statically: it does not load %s; link it dynamically, or build it "
                   "twice and compare the builds",
                   path, l->preload_library);
        return false;
    }
    return true;
}

#else

static bool reaches(launch *l)
{
    launch_why(l, "on x86-64 a program asks the CPU itself, and no level can be set for it: build "
                  "it twice and compare the builds");
    return false;
}

#endif
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
    launch_as_it_is(l);
}
