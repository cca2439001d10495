// SPDX-License-Identifier: Apache-2.0
// What XNNPACK does while a program is loaded. The SDK creates each delegate through a symbol that
// the executable comes before (as in hook.c), and XNNPACK asks our allocator for memory
// (owners.c): an operator's packed weights first, then nothing before they are packed. So a reading
// of the clock for each request is all that it costs. Which requests are those of packed weights is
// learnt afterwards, by loading the program once more with a cache of packed weights that tells
// their sizes and keeps nothing. (Such a cache may not be there when times are taken: XNNPACK
// clears its memory first, which costs 3 to 9 % of a load.)
#include "loading.h"

#include <stdbool.h>
#include <time.h>

#include "owners.h"

#if defined(__linux__)
#include <sys/resource.h>
#endif

#if defined(__linux__) && !defined(ETP_SDK_LINKED_IN)
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_REQUESTS = 65536, MOST_DELEGATES = 4096, MOST_PACKED = 16384 };

typedef struct created {
    etp_delegate_load load;
    size_t first, end;           // of requests
    size_t first_packed, packed; // of sizes
    const void *workspace;
} created;

static etp_loading_mode mode;
static bool inside; // of the creation of a delegate: XNNPACK creates others to fold constants
static created delegates[MOST_DELEGATES];
static size_t n_delegates, n_identified, n_workspaces;
static struct {
    uint64_t ns;
    size_t size;
} requests[MOST_REQUESTS];
static size_t n_requests;
static size_t packed[MOST_PACKED];
static size_t n_packed;
static bool overflown;
static uint64_t begun_ns, mapped_ns;

static uint64_t clock_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void etp_loading_watch(etp_loading_mode to)
{
    mode = to;
}

void etp_loading_begins(void)
{
    if (mode == ETP_LOADING_TIMES) {
        begun_ns = clock_ns();
    }
}

void etp_loading_asked(size_t size)
{
    if (!inside || mode != ETP_LOADING_TIMES) {
        return;
    }
    if (n_requests == MOST_REQUESTS) {
        overflown = true;
        return;
    }
    requests[n_requests].ns = clock_ns();
    requests[n_requests++].size = size;
}

// ---- a cache of packed weights that keeps nothing ----

// As in xnnpack.h, which the SDK does not ship.
struct xnn_weights_cache_provider {
    void *context;
    size_t (*look_up)(void *context, const void *key);
    void *(*reserve_space)(void *context, size_t n);
    size_t (*look_up_or_insert)(void *context, const void *key, void *at, size_t size);
    bool (*is_finalized)(void *context);
    void *(*offset_to_addr)(void *context, size_t offset);
    int (*delete_cache)(void *context);
    int (*alias_data)(void *context, void *alias, void *original);
};

static void *scratch; // what is packed is overwritten by what is packed next
static size_t scratch_size;

static size_t look_up(void *context, const void *key)
{
    (void)context, (void)key;
    return SIZE_MAX; // not there: it is packed
}

static void *reserve_space(void *context, size_t n)
{
    (void)context;
    if (n > scratch_size) {
        free(scratch);
        scratch = NULL;
        scratch_size = posix_memalign(&scratch, 128, n) == 0 ? n : 0;
    }
    if (n_packed < MOST_PACKED && n_identified < n_delegates) {
        packed[n_packed++] = n;
        delegates[n_identified].packed++;
    } else {
        overflown = true;
    }
    return scratch_size > 0 ? scratch : NULL;
}

static size_t look_up_or_insert(void *context, const void *key, void *at, size_t size)
{
    (void)context, (void)key, (void)at, (void)size;
    return 0;
}

static bool is_finalized(void *context)
{
    (void)context;
    return true;
}

static void *offset_to_addr(void *context, size_t offset)
{
    (void)context, (void)offset;
    return scratch;
}

static int done_with(void *context)
{
    (void)context;
    return 0;
}

static int alias_data(void *context, void *alias, void *original)
{
    (void)context, (void)alias, (void)original;
    return 0;
}

// ---- what stands in front of the SDK's own ----

__attribute__((visibility("default"))) int xnn_create_runtime_v4(void *subgraph, void *cache,
                                                                 void *workspace, void *threads,
                                                                 uint32_t flags, void **out);

int xnn_create_runtime_v4(void *subgraph, void *cache, void *workspace, void *threads,
                          uint32_t flags, void **out)
{
    static struct xnn_weights_cache_provider sizes = {
        NULL,         look_up,        reserve_space, look_up_or_insert,
        is_finalized, offset_to_addr, done_with,     alias_data};
    static int (*real)(void *, void *, void *, void *, uint32_t, void **);
    if (real == NULL) {
        *(void **)&real = dlsym(RTLD_NEXT, "xnn_create_runtime_v4");
    }
    if (real == NULL) {
        return 1; // xnn_status_uninitialized
    }
    if (mode == ETP_LOADING_SIZES && cache == NULL && !inside) {
        if (n_identified < n_delegates) {
            delegates[n_identified].first_packed = n_packed;
        }
        inside = true;
        int status = real(subgraph, &sizes, workspace, threads, flags, out);
        inside = false;
        n_identified++;
        return status;
    }
    if (mode != ETP_LOADING_TIMES || n_delegates == MOST_DELEGATES || inside) {
        return real(subgraph, cache, workspace, threads, flags, out);
    }
    created *d = &delegates[n_delegates];
    d->load.begin_ns = begun_ns;
    d->workspace = workspace;
    d->first = n_requests;
    d->load.from_ns = clock_ns();
    inside = true;
    int status = real(subgraph, cache, workspace, threads, flags, out);
    inside = false;
    d->load.to_ns = clock_ns();
    d->end = n_requests;
    size_t first = 0;
    while (delegates[first].workspace != workspace) { // itself at the latest
        first++;
    }
    d->load.workspace = first < n_delegates ? delegates[first].load.workspace : ++n_workspaces;
    n_delegates++;
    return status;
}

__attribute__((visibility("default"))) void *mmap(void *at, size_t size, int protection, int flags,
                                                  int file, off_t offset);

void *mmap(void *at, size_t size, int protection, int flags, int file, off_t offset)
{
    void *mapped = (void *)syscall(SYS_mmap, at, size, protection, flags, file, offset);
    if (mode == ETP_LOADING_TIMES && file >= 0) {
        mapped_ns = clock_ns();
    }
    return mapped;
}

__attribute__((visibility("default"))) int munmap(void *at, size_t size);

int munmap(void *at, size_t size)
{
    etp_memory_before_less();
    return (int)syscall(SYS_munmap, at, size);
}

// ---- what came of it ----

uint64_t etp_loading_mapped_ns(void)
{
    return mapped_ns;
}

size_t etp_loading_delegates(void)
{
    return n_delegates;
}

etp_delegate_load etp_loading_delegate(size_t delegate)
{
    return delegates[delegate].load;
}

size_t etp_loading_packed(size_t delegate, size_t i, uint64_t *ns)
{
    const created *d = &delegates[delegate];
    *ns = 0;
    if (overflown || n_identified != n_delegates || i >= d->packed) {
        return 0;
    }
    // Their requests come in the order of their sizes.
    size_t at = d->first;
    for (size_t k = 0; k <= i; k++, at++) {
        while (at < d->end && requests[at].size != packed[d->first_packed + k]) {
            at++;
        }
        if (at == d->end) {
            return packed[d->first_packed + i];
        }
    }
    *ns = (at < d->end ? requests[at].ns : d->load.to_ns) - requests[at - 1].ns;
    return packed[d->first_packed + i];
}

#else

void etp_loading_watch(etp_loading_mode to)
{
    (void)to;
}

void etp_loading_begins(void)
{
}

void etp_loading_asked(size_t size)
{
    (void)size;
}

uint64_t etp_loading_mapped_ns(void)
{
    return 0;
}

size_t etp_loading_delegates(void)
{
    return 0;
}

etp_delegate_load etp_loading_delegate(size_t delegate)
{
    (void)delegate;
    return (etp_delegate_load){0, 0, 0, 0};
}

size_t etp_loading_packed(size_t delegate, size_t i, uint64_t *ns)
{
    (void)delegate, (void)i;
    *ns = 0;
    return 0;
}

#endif

uint64_t etp_loading_faults(void)
{
#if defined(__linux__)
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)(usage.ru_minflt + usage.ru_majflt) : 0;
#else
    return 0;
#endif
}
