// SPDX-License-Identifier: Apache-2.0
// Hides CPU features from the SDK by pre-empting one function of it: getauxval on
// Linux aarch64, cpuinfo_initialize on Linux x86-64, sysctlbyname (through an
// inserted library, mask_macos.c) on macOS.
//
// The dynamic linker binds the SDK's calls to the executable's definition because
// the executable comes first in the search order. The calls happen in static
// initialisers of the SDK's libraries, which run before ours: nothing here may
// need initialisation of its own.
//
// The SDK goes on asking while it executes, dozens of times an inference. So the hook
// locks and counts only until the evidence is there; then etp_hook_hand_on makes it one
// relaxed load and a branch in front of the real function. (Writing the real function
// into the callers' tables would save those too, but the tables are read-only by then,
// and making them writable changes the process more than the branch does.)
#include "hook.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__linux__)
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static etp_hook_state state;
static bool read_env_done;
static etp_isa_mask wanted;

static void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(state.why, sizeof state.why, format, args);
    va_end(args);
}

// Under the lock. Parses ETPROF_MASK once; true when there is a valid mask for
// this machine that still has to be applied.
static bool read_mask(void)
{
    if (read_env_done) {
        return false;
    }
    read_env_done = true;
    const char *text = getenv("ETPROF_MASK");
    if (text == NULL || *text == '\0') {
        return false;
    }
    state.requested = true;
    (void)snprintf(state.text, sizeof state.text, "%s", text);
    char why[256];
    if (strlen(text) >= sizeof state.text) {
        fail("ETPROF_MASK is longer than %zu bytes", sizeof state.text - 1);
        return false;
    }
    if (!etp_isa_mask_parse(text, &wanted, why, sizeof why)) {
        fail("ETPROF_MASK: %s", why);
        return false;
    }
    if (wanted.family != state.cpu.family) {
        fail("ETPROF_MASK is for %s, this CPU is %s", etp_isa_family_name(wanted.family),
             etp_isa_family_name(state.cpu.family));
        return false;
    }
    return true;
}

static void set_cleared(void)
{
    state.cleared = wanted;
    state.cleared.hwcap &= state.cpu.hwcap;
    state.cleared.hwcap2 &= state.cpu.hwcap2;
    state.cleared.x86.bits[0] &= state.cpu.x86.bits[0];
    state.cleared.x86.bits[1] &= state.cpu.x86.bits[1];
    state.in_force = true;
}

#if defined(__linux__)
// Does what lies at FBASE belong to the SDK? An SDK that is linked in is this program itself.
static bool is_sdk(const void *fbase, const char *name)
{
#if defined(ETP_SDK_LINKED_IN)
    Dl_info self;
    (void)name;
    return dladdr(&state, &self) != 0 && self.dli_fbase == fbase;
#else
    (void)fbase;
    return strncmp(name, "libexecutorch", 13) == 0;
#endif
}

typedef struct place {
    const void *address;
    const char *library; // the loader's own string; NULL: not the SDK
} place;

// Under the lock. Which library of the SDK calls from ADDRESS? dladdr takes microseconds, but the
// SDK calls from few places.
static const char *calling_library(const void *address)
{
    static place known[64];
    static size_t n;
    for (size_t i = 0; i < n; i++) {
        if (known[i].address == address) {
            return known[i].library;
        }
    }
    place p = {address, NULL};
    Dl_info info;
    if (dladdr(address, &info) != 0 && info.dli_fname != NULL) {
        const char *slash = strrchr(info.dli_fname, '/');
        const char *name = slash != NULL ? slash + 1 : info.dli_fname;
        p.library = is_sdk(info.dli_fbase, name) ? name : NULL;
    }
    if (n < sizeof known / sizeof known[0]) {
        known[n++] = p;
    }
    return p.library;
}

// Under the lock.
static void count_call(const void *return_address)
{
    static const char *last;
    const char *library = calling_library(return_address);
    if (library == NULL) {
        return;
    }
    state.asked++;
    if (state.in_force) {
        state.calls++;
        if (library != last) {
            last = library;
            (void)snprintf(state.caller, sizeof state.caller, "%s", library);
        }
    }
}

static uint64_t clock_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
#endif

#if defined(__linux__) && defined(__aarch64__)

typedef unsigned long hooked(unsigned long);

static hooked *real_getauxval;
// Non-null once the evidence is complete. What the fast path reads besides was written while the
// process had one thread.
static _Atomic(hooked *) handed_on;

static void start(void)
{
    if (real_getauxval != NULL) {
        return;
    }
    void *symbol = dlsym(RTLD_NEXT, "getauxval");
    memcpy(&real_getauxval, &symbol, sizeof symbol);
    state.hook = "getauxval";
    if (real_getauxval == NULL) {
        fail("the C library has no getauxval");
        return;
    }
    state.cpu.family = ETP_ISA_AARCH64;
    state.cpu.hwcap = real_getauxval(AT_HWCAP);
    state.cpu.hwcap2 = real_getauxval(AT_HWCAP2);
    if (read_mask()) {
        set_cleared();
    }
}

// Under the lock.
static unsigned long masked(unsigned long type)
{
    start();
    unsigned long value = real_getauxval != NULL ? real_getauxval(type) : 0;
    if (state.in_force && type == AT_HWCAP) {
        value &= ~wanted.hwcap;
    } else if (state.in_force && type == AT_HWCAP2) {
        value &= ~wanted.hwcap2;
    }
    return value;
}

static unsigned long answer_and_count(unsigned long type, const void *caller)
{
    (void)pthread_mutex_lock(&lock);
    unsigned long value = masked(type);
    if (type == AT_HWCAP || type == AT_HWCAP2) {
        count_call(caller);
    }
    (void)pthread_mutex_unlock(&lock);
    return value;
}

__attribute__((visibility("default"))) unsigned long getauxval(unsigned long type)
{
    hooked *real = atomic_load_explicit(&handed_on, memory_order_relaxed);
    if (__builtin_expect(real == NULL, 0)) {
        return answer_and_count(type, __builtin_return_address(0));
    }
    unsigned long value = real(type);
    if (type == AT_HWCAP) {
        return value & ~state.cleared.hwcap;
    }
    return type == AT_HWCAP2 ? value & ~state.cleared.hwcap2 : value;
}

static hooked *the_real_one(void)
{
    return real_getauxval;
}

#define THE_HOOK getauxval
#define ONE_QUESTION (AT_HWCAP)

bool etp_hook_seen(etp_isa_cpu *out)
{
    (void)pthread_mutex_lock(&lock); // not by getauxval: our own questions are not counted
    unsigned long hwcap = masked(AT_HWCAP), hwcap2 = masked(AT_HWCAP2);
    (void)pthread_mutex_unlock(&lock);
    etp_isa_cpu_detect_with(hwcap, hwcap2, out);
    return true;
}

void etp_hook_get(etp_hook_state *out)
{
    (void)pthread_mutex_lock(&lock);
    start();
    *out = state;
    (void)pthread_mutex_unlock(&lock);
    // Adds the MIDR and the kernel; it opens files, so not under the lock.
    etp_isa_cpu_detect_with(state.cpu.hwcap, state.cpu.hwcap2, &out->cpu);
}

#elif defined(__linux__) && defined(__x86_64__)

// The SDK's table of flags, and whether its layout has been proven to be ours.
static unsigned char *flags;
static bool layout_ok;
static char layout_why[256];

bool cpuinfo_initialize(void);

// Every byte of the table must be what CPUID says under our layout; otherwise an
// offset may mean another feature and nothing is touched.
static void check_layout(void)
{
    void *symbol = dlsym(RTLD_DEFAULT, "cpuinfo_isa");
    Dl_info info;
    const ElfW(Sym) *entry = NULL;
    if (symbol == NULL) {
        (void)snprintf(layout_why, sizeof layout_why, "the SDK does not export cpuinfo_isa");
        return;
    }
    if (dladdr1(symbol, &info, (void **)&entry, RTLD_DL_SYMENT) == 0 || entry == NULL ||
        entry->st_size != ETP_X86_FLAGS) {
        (void)snprintf(layout_why, sizeof layout_why,
                       "cpuinfo_isa of this SDK has %llu bytes, expected %d",
                       entry != NULL ? (unsigned long long)entry->st_size : 0ULL, ETP_X86_FLAGS);
        return;
    }
    flags = symbol;
    for (size_t i = 0; i < ETP_X86_FLAGS; i++) {
        unsigned expected = etp_x86_has(&state.cpu.x86, i);
        if (flags[i] != expected) {
            (void)snprintf(layout_why, sizeof layout_why,
                           "cpuinfo_isa byte %zu (%s) is %u, CPUID says %u: another layout", i,
                           etp_x86_flag_name(i), (unsigned)flags[i], expected);
            return;
        }
    }
    layout_ok = true;
}

static void apply(void)
{
    static bool done;
    if (done) {
        return;
    }
    done = true;
    etp_isa_cpu_detect(&state.cpu);
    check_layout();
    if (!read_mask()) {
        return;
    }
    if (!layout_ok) {
        fail("features cannot be hidden: %s", layout_why);
        return;
    }
    for (size_t i = 0; i < ETP_X86_FLAGS; i++) {
        if (etp_x86_has(&wanted.x86, i)) {
            flags[i] = 0;
        }
    }
    set_cleared();
}

typedef bool hooked(void);

static hooked *real_initialize;
static _Atomic(hooked *) handed_on; // non-null once the evidence is complete

static bool initialize_and_count(const void *caller)
{
    (void)pthread_mutex_lock(&lock);
    if (real_initialize == NULL) {
        void *symbol = dlsym(RTLD_NEXT, "cpuinfo_initialize");
        memcpy(&real_initialize, &symbol, sizeof symbol);
    }
    bool ok = real_initialize != NULL && real_initialize();
    state.hook = "cpuinfo_initialize";
    if (ok) {
        apply();
        count_call(caller);
    }
    (void)pthread_mutex_unlock(&lock);
    return ok;
}

__attribute__((visibility("default"))) bool cpuinfo_initialize(void)
{
    hooked *real = atomic_load_explicit(&handed_on, memory_order_relaxed);
    if (__builtin_expect(real == NULL, 0)) {
        return initialize_and_count(__builtin_return_address(0));
    }
    return real();
}

static hooked *the_real_one(void)
{
    return real_initialize;
}

#define THE_HOOK cpuinfo_initialize
#define ONE_QUESTION ()

bool etp_hook_seen(etp_isa_cpu *out)
{
    *out = state.cpu;
    out->x86 = (etp_x86_set){
        {0, 0}
    };
    for (size_t i = 0; layout_ok && i < ETP_X86_FLAGS; i++) {
        if (flags[i] != 0) {
            etp_x86_add(&out->x86, i);
        }
    }
    return layout_ok;
}

void etp_hook_get(etp_hook_state *out)
{
    (void)cpuinfo_initialize(); // a call by this program is not counted
    (void)pthread_mutex_lock(&lock);
    *out = state;
    (void)pthread_mutex_unlock(&lock);
}

#elif defined(__APPLE__)

uint64_t etp_hook_asked(void)
{
    return 0; // sysctlbyname is asked while the SDK starts, and a library of its own stands before
              // it
}

uint64_t etp_hook_hand_on(void)
{
    return 0;
}

// Written for macOS, compiled but never run: no Mac was at hand. The library
// mask_macos.dylib must have been inserted; it keeps the count.
bool etp_hook_seen(etp_isa_cpu *out)
{
    etp_isa_cpu_detect(out); // through the interposed sysctlbyname
    return true;
}

void etp_hook_get(etp_hook_state *out)
{
    (void)pthread_mutex_lock(&lock);
    state.hook = "sysctlbyname";
    bool (*unmasked)(etp_isa_cpu *) = NULL;
    uint64_t (*calls)(char *, size_t) = NULL;
    void *symbol = dlsym(RTLD_DEFAULT, "etp_mask_macos_cpu");
    memcpy(&unmasked, &symbol, sizeof symbol);
    symbol = dlsym(RTLD_DEFAULT, "etp_mask_macos_calls");
    memcpy(&calls, &symbol, sizeof symbol);
    if (unmasked == NULL || !unmasked(&state.cpu)) {
        etp_isa_cpu_detect(&state.cpu);
    }
    if (read_mask()) {
        if (calls == NULL) {
            fail("start with DYLD_INSERT_LIBRARIES=libetprof-mask.dylib to hide features");
        } else {
            set_cleared();
        }
    }
    if (state.in_force) {
        state.calls = calls(state.caller, sizeof state.caller);
    }
    *out = state;
    (void)pthread_mutex_unlock(&lock);
}

#else
#error "etprof-runner hides CPU features on Linux (aarch64, x86-64) and macOS only"
#endif

#if defined(__linux__)

uint64_t etp_hook_asked(void)
{
    (void)pthread_mutex_lock(&lock);
    uint64_t asked = state.asked;
    (void)pthread_mutex_unlock(&lock);
    return asked;
}

#define CALLS 1024

static uint64_t time_calls(hooked *volatile function)
{
    uint64_t start = clock_ns();
    for (int i = 0; i < CALLS; i++) {
        (void)function ONE_QUESTION;
    }
    return clock_ns() - start;
}

uint64_t etp_hook_hand_on(void)
{
    (void)pthread_mutex_lock(&lock);
    hooked *real = the_real_one();
    atomic_store_explicit(&handed_on, real, memory_order_release);
    (void)pthread_mutex_unlock(&lock);
    if (real == NULL) {
        return 0;
    }
    uint64_t through = UINT64_MAX,
             past = UINT64_MAX; // the shortest of some: the rest is other work
    for (int round = 0; round < 16; round++) {
        uint64_t a = time_calls(THE_HOOK), b = time_calls(real);
        through = a < through ? a : through;
        past = b < past ? b : past;
    }
    uint64_t ps = through > past ? (through - past) * 1000 / CALLS : 0;
    return ps > 0 ? ps : 1;
}

#endif
