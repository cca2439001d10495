// SPDX-License-Identifier: Apache-2.0
// Who holds this process's memory: its mappings from /proc/self/smaps, and of what malloc gave out
// the arenas that the program plans and what XNNPACK asked for. XNNPACK takes its allocator when it
// is initialised, which the SDK does through a symbol that the executable comes before
// (hook.c): so its blocks are written down here, while loading. An inference asks for none.
#include "owners.h"

#include <stdio.h>
#include <string.h>

#include "loading.h"

#if defined(__linux__)
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// ---- what XNNPACK asks for ----

typedef struct block {
    void *at;
    bool later; // than loading
} block;

enum { MOST = 16384 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static block blocks[MOST];
static size_t n_blocks;
static size_t refused; // the first request that failed
static uint64_t held;  // all that was given until then
static bool overflown, loaded;
#if defined(ETP_SDK_LINKED_IN)
static const bool others = true; // its allocator is not ours
#else
static bool others;
#endif

#if !defined(ETP_SDK_LINKED_IN)
static void *keep(void *at, size_t size)
{
    (void)pthread_mutex_lock(&lock);
    for (size_t i = 0; at == NULL && refused == 0 && i < n_blocks; i++) {
        held += malloc_usable_size(blocks[i].at);
    }
    refused = at == NULL && refused == 0 ? size : refused;
    if (at != NULL && n_blocks < MOST) {
        blocks[n_blocks++] = (block){at, loaded};
    } else if (at != NULL) {
        overflown = true;
    }
    (void)pthread_mutex_unlock(&lock);
    return at;
}

static void forget(void *at)
{
    (void)pthread_mutex_lock(&lock);
    for (size_t i = n_blocks; at != NULL && i > 0; i--) { // mostly one of the last
        if (blocks[i - 1].at == at) {
            blocks[i - 1] = blocks[--n_blocks];
            break;
        }
    }
    (void)pthread_mutex_unlock(&lock);
}

#endif

uint64_t etp_memory_refused(uint64_t *before)
{
    *before = held;
    return refused;
}

void etp_memory_loaded(void)
{
    (void)pthread_mutex_lock(&lock);
    loaded = true;
    (void)pthread_mutex_unlock(&lock);
}

#if !defined(ETP_SDK_LINKED_IN)
static void *allocate(void *context, size_t size)
{
    (void)context;
    etp_loading_asked(0);
    return keep(malloc(size), size);
}

static void *reallocate(void *context, void *at, size_t size)
{
    (void)context;
    etp_loading_asked(0);
    etp_memory_before_less();
    forget(at);
    void *moved = realloc(at, size);
    (void)keep(moved != NULL || size == 0 ? moved : at, size);
    return moved;
}

static void deallocate(void *context, void *at)
{
    (void)context;
    etp_memory_before_less();
    forget(at);
    free(at);
}

static void *aligned_allocate(void *context, size_t alignment, size_t size)
{
    (void)context;
    etp_loading_asked(size);
    void *at = NULL;
    return keep(posix_memalign(&at, alignment, size) == 0 ? at : NULL, size);
}

// As in xnnpack.h, which the SDK does not ship.
struct xnn_allocator {
    void *context;
    void *(*allocate)(void *context, size_t size);
    void *(*reallocate)(void *context, void *pointer, size_t size);
    void (*deallocate)(void *context, void *pointer);
    void *(*aligned_allocate)(void *context, size_t alignment, size_t size);
    void (*aligned_deallocate)(void *context, void *pointer);
};

__attribute__((visibility("default"))) int xnn_initialize(const struct xnn_allocator *theirs);

int xnn_initialize(const struct xnn_allocator *theirs)
{
    static const struct xnn_allocator k_ours = {NULL,       allocate,         reallocate,
                                                deallocate, aligned_allocate, deallocate};
    int (*real)(const struct xnn_allocator *) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "xnn_initialize");
    if (real == NULL) {
        return 1; // xnn_status_uninitialized
    }
    others = others || theirs != NULL;
    etp_loading_begins();
    return real(theirs != NULL ? theirs : &k_ours);
}
#endif

// ---- what is resident ----

// Bytes of [AT, AT + SIZE) that lie on resident pages.
static uint64_t resident(const void *at, size_t size)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = (uintptr_t)at, end = from + size;
    uint64_t sum = 0;
    while (from < end) {
        unsigned char there[256] = {0};
        uintptr_t first = from & ~(page - 1), last = first + sizeof there * page;
        last = last < end ? last : (end + page - 1) & ~(page - 1);
        if (mincore((void *)first, last - first, there) != 0) {
            return sum;
        }
        for (size_t i = 0; from < last && from < end; i++) {
            uintptr_t next = first + (i + 1) * page;
            next = next < end ? next : end;
            sum += there[i] & 1 ? next - from : 0;
            from = next;
        }
    }
    return sum;
}

typedef struct mapping {
    // Not Private_Dirty and so on: a library that was just copied is dirty in the page cache, too.
    unsigned long long rss, anonymous;
    enum { ANONYMOUS, HEAP, STACK, PROGRAM, PACKED_CACHE, FILE_OF_CODE } kind;
} mapping;

// Is PATH, which a line ends, that of FILE?
static bool is_file(const char *path, const char *file)
{
    size_t n = strlen(file);
    return n > 0 && strncmp(path, file, n) == 0 &&
           (path[n] == '\n' || strcmp(path + n, " (deleted)\n") == 0); // by another process
}

static void begin(const char *line, const char *const *files, size_t n_files, const char *cache,
                  mapping *m)
{
    const char *path = strchr(line, '/');
    *m = (mapping){.kind = path != NULL ? FILE_OF_CODE : ANONYMOUS};
    m->kind = strstr(line, "[stack]") != NULL ? STACK : m->kind;
    m->kind = strstr(line, "[heap]") != NULL ? HEAP : m->kind;
    for (size_t i = 0; path != NULL && i < n_files; i++) {
        m->kind = is_file(path, files[i]) ? PROGRAM : m->kind;
    }
    if (path != NULL && is_file(path, cache)) {
        m->kind = PACKED_CACHE;
    }
}

typedef struct nameless { // resident bytes of mappings without a file; of those, malloc's own
    uint64_t bytes, heap;
} nameless;

static void end(const mapping *m, nameless *anonymous, etp_memory *out)
{
    out->dirty_bytes += m->anonymous;
    out->clean_bytes += m->rss - m->anonymous;
    anonymous->bytes += m->kind == ANONYMOUS || m->kind == HEAP ? m->rss : 0;
    anonymous->heap += m->kind == HEAP ? m->rss : 0;
    out->rows.stack += m->kind == STACK ? m->rss : 0;
    out->rows.program += m->kind == PROGRAM ? m->rss : 0;
    out->rows.cache += m->kind == PACKED_CACHE ? m->rss : 0;
    out->rows.code += m->kind == FILE_OF_CODE ? m->rss : 0;
}

// Every mapping: false where the system does not tell.
static bool read_mappings(const char *const *files, size_t n_files, const char *cache,
                          nameless *anonymous, etp_memory *out)
{
    FILE *f = fopen("/proc/self/smaps", "r");
    if (f == NULL) {
        return false;
    }
    static char line[4400]; // with any path
    mapping m = {0};
    bool any = false;
    while (fgets(line, sizeof line, f) != NULL) {
        unsigned long long kib = 0;
        char what[64];
        // "Rss:    12 kB"; a mapping begins with its addresses, which have no colon behind them.
        if (sscanf(line, "%63[A-Za-z_]: %llu kB", what, &kib) != 2) {
            if (strchr("0123456789abcdef", line[0]) != NULL) {
                end(&m, anonymous, out);
                begin(line, files, n_files, cache, &m);
                any = true;
            }
        } else if (strcmp(what, "Rss") == 0) {
            m.rss = kib * 1024;
        } else if (strcmp(what, "Anonymous") == 0) {
            m.anonymous = kib * 1024;
        }
    }
    end(&m, anonymous, out);
    (void)fclose(f);
    return any && out->dirty_bytes + out->clean_bytes > 0;
}

// As much of AMOUNT as is left.
static uint64_t take(uint64_t amount, uint64_t *left)
{
    uint64_t taken = amount < *left ? amount : *left;
    *left -= taken;
    return taken;
}

static uint64_t resident_of(etp_memory_spans spans, uint64_t *sizes)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < spans.n; i++) {
        sum += resident(spans.items[i].at, spans.items[i].size);
        *sizes += spans.items[i].size;
    }
    return sum;
}

static etp_memory_places places = {.cache = ""};
static etp_memory most;
static bool watching;
static bool loading; // when MOST was read, so that new arenas had no known place

void etp_memory_know(const etp_memory_places *now)
{
    places = *now;
    uint64_t sizes = 0;
    etp_memory_rows *r = &most.rows;
    // A method's arenas are there before its delegates are created.
    if (loading) {
        const uint64_t kept = resident_of(places.kept, &sizes);
        const uint64_t arenas = resident_of(places.planned, &sizes);
        uint64_t in_use = r->planned + r->kept + r->allocator;
        r->kept = take(kept, &in_use);
        r->planned = take(arenas - kept, &in_use);
        r->allocator = in_use;
    }
    loading = false;
}

bool etp_memory_read(etp_memory *out)
{
    nameless anonymous = {0};
    uint64_t sizes = 0, within = 0, packed = 0, later = 0;
    *out = (etp_memory){0};
    if (!read_mappings(places.files, places.n_files, places.cache, &anonymous, out)) {
        return false;
    }
    uint64_t left = anonymous.bytes;
    const uint64_t arenas = resident_of(places.planned, &sizes);
    const uint64_t kept = resident_of(places.kept, &within); // of them
    const uint64_t copies = resident_of(places.copies, &sizes);
    for (size_t i = 0; i < n_blocks; i++) { // no other thread runs: the method does not
        size_t size = malloc_usable_size(blocks[i].at);
        *(blocks[i].later ? &later : &packed) += resident(blocks[i].at, size);
        sizes += size;
    }
    etp_memory_rows *r = &out->rows;
    r->planned = take(arenas - kept, &left);
    r->kept = take(kept, &left);
    r->copies = take(copies, &left);
    r->packed = take(packed, &left);
    r->workspace = take(later, &left);
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
    struct mallinfo2 info = mallinfo2();
    uint64_t in_use = (uint64_t)info.uordblks + info.hblkhd;
    r->allocator = take(in_use > sizes ? in_use - sizes : 0, &left);
    // Other arenas than that of the main thread have no mapping that tells them from others.
    r->freed = take(anonymous.heap > info.uordblks ? anonymous.heap - info.uordblks : 0, &left);
#else
    (void)sizes;
#endif
    r->unaccounted = left;
    out->known = !others && !overflown;
    if (watching && etp_memory_sum(r) > etp_memory_sum(&most.rows)) {
        most = *out;
        loading = !loaded;
    }
    return true;
}

void etp_memory_watch(bool on)
{
    watching = on;
}

// As the system counts it without looking at each page: some pages more or less.
static uint64_t about_resident(void)
{
    char text[128];
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t n = file >= 0 ? read(file, text, sizeof text - 1) : -1;
    (void)close(file);
    text[n > 0 ? n : 0] = '\0';
    unsigned long long pages = 0;
    return sscanf(text, "%*u %llu", &pages) == 1 ? pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

void etp_memory_before_less(void)
{
    enum { MORE = 65536 }; // than at the last reading
    static uint64_t last;
    etp_memory unused;
    const uint64_t now = watching ? about_resident() : 0;
    if (now >= last + MORE) {
        last = now;
        (void)etp_memory_read(&unused);
    }
}

const etp_memory *etp_memory_most(void)
{
    return most.known ? &most : NULL;
}

#else

uint64_t etp_memory_refused(uint64_t *before)
{
    *before = 0;
    return 0;
}

void etp_memory_loaded(void)
{
}

void etp_memory_know(const etp_memory_places *places)
{
    (void)places;
}

bool etp_memory_read(etp_memory *out)
{
    memset(out, 0, sizeof *out);
    return false;
}

void etp_memory_watch(bool on)
{
    (void)on;
}

void etp_memory_before_less(void)
{
}

const etp_memory *etp_memory_most(void)
{
    return NULL;
}

#endif
