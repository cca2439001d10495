// SPDX-License-Identifier: Apache-2.0
// macOS: hides CPU features by interposing sysctlbyname. The runner must be
// started with DYLD_INSERT_LIBRARIES naming this library, and directly: system
// shells and launchers drop that variable. Compiled and linked, never run.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysctl.h>

#include "isa/isa.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool tried, in_force;
static etp_isa_mask mask;
static uint64_t calls;
static char caller[64];

bool etp_mask_macos_cpu(etp_isa_cpu *out);
uint64_t etp_mask_macos_calls(char *name, size_t cap);

// A wrong mask is left to the runner to report: it parses the same text.
static void read_mask(void)
{
    if (tried) {
        return;
    }
    tried = true;
    const char *text = getenv("ETPROF_MASK");
    char why[128];
    in_force = text != NULL && etp_isa_mask_parse(text, &mask, why, sizeof why) &&
               mask.family == ETP_ISA_AARCH64;
}

static bool hidden(const char *name)
{
    size_t count;
    const etp_isa_sysctl *keys = etp_isa_sysctls(&count);
    for (size_t i = 0; i < count; i++) {
        uint64_t word = keys[i].word == 1 ? mask.hwcap : mask.hwcap2;
        if (strcmp(keys[i].name, name) == 0 && (word >> keys[i].bit & 1) != 0) {
            return true;
        }
    }
    // Two further names for features above: ASIMDFHM is bit 23 of hwcap, SME bit 23 of hwcap2.
    if (strcmp(name, "hw.optional.armv8_2_fhm") == 0) {
        return (mask.hwcap >> 23 & 1) != 0;
    }
    return strcmp(name, "hw.optional.arm.sme_max_svl_b") == 0 && (mask.hwcap2 >> 23 & 1) != 0;
}

static void count_call(const void *return_address)
{
    Dl_info info;
    if (dladdr(return_address, &info) == 0 || info.dli_fname == NULL) {
        return;
    }
    const char *slash = strrchr(info.dli_fname, '/');
    const char *name = slash != NULL ? slash + 1 : info.dli_fname;
    // Only the SDK's questions count: that its libraries asked after the mask was in force is what
    // the runner reports as evidence.
    if (strncmp(name, "libexecutorch", 13) == 0) {
        calls++;
        (void)snprintf(caller, sizeof caller, "%s", name);
    }
}

static int masked_sysctlbyname(const char *name, void *old, size_t *old_size, void *new,
                               size_t new_size)
{
    int result = sysctlbyname(name, old, old_size, new, new_size);
    (void)pthread_mutex_lock(&lock);
    read_mask();
    if (in_force && strncmp(name, "hw.optional.arm", 15) == 0) {
        if (result == 0 && old != NULL && old_size != NULL && hidden(name)) {
            memset(old, 0, *old_size);
        }
        count_call(__builtin_return_address(0));
    }
    (void)pthread_mutex_unlock(&lock);
    return result;
}

// What the runner's hello line says; looked up by name.
__attribute__((visibility("default"))) bool etp_mask_macos_cpu(etp_isa_cpu *out)
{
    etp_isa_cpu_detect(out); // calls from this library are not interposed
    return true;
}

__attribute__((visibility("default"))) uint64_t etp_mask_macos_calls(char *name, size_t cap)
{
    (void)pthread_mutex_lock(&lock);
    uint64_t n = calls;
    (void)snprintf(name, cap, "%s", caller);
    (void)pthread_mutex_unlock(&lock);
    return n;
}

__attribute__((used, section("__DATA,__interpose"))) static const struct {
    int (*replacement)(const char *, void *, size_t *, void *, size_t);
    int (*original)(const char *, void *, size_t *, void *, size_t);
} k_interpose = {masked_sysctlbyname, sysctlbyname};
