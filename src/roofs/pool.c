// SPDX-License-Identifier: Apache-2.0
// A small thread pool: what it costs to spread work over threads and to wait for all of them.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "roofs/internal.h"

#define SPINS 20000u // before a worker sleeps
#define POLITE \
    2000u // before the caller lets others run: there may be fewer processors than threads

struct etp_roof_pool {
    uint32_t threads; // with the caller
    pthread_t ids[ETP_ROOF_THREADS_MAX];
    struct worker {
        etp_roof_pool *pool;
        uint32_t thread;
    } workers[ETP_ROOF_THREADS_MAX];
    pthread_mutex_t lock;
    pthread_cond_t wake;
    atomic_uint turn;      // counts regions; written under the lock
    atomic_uint remaining; // workers that are not through
    atomic_bool ending;
    etp_roof_job *job;
    void *ctx;
};

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void wait_for_turn(etp_roof_pool *p, unsigned seen)
{
    for (unsigned i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&p->turn, memory_order_acquire) != seen) {
            return;
        }
        relax();
    }
    (void)pthread_mutex_lock(&p->lock);
    while (atomic_load(&p->turn) == seen) {
        (void)pthread_cond_wait(&p->wake, &p->lock);
    }
    (void)pthread_mutex_unlock(&p->lock);
}

static void *work(void *data)
{
    struct worker *w = data;
    etp_roof_pool *p = w->pool;
    for (unsigned seen = 0;; seen++) {
        wait_for_turn(p, seen);
        if (atomic_load(&p->ending)) {
            return NULL;
        }
        p->job(p->ctx, w->thread);
        atomic_fetch_sub_explicit(&p->remaining, 1, memory_order_release);
    }
}

static void next_turn(etp_roof_pool *p)
{
    (void)pthread_mutex_lock(&p->lock);
    atomic_fetch_add_explicit(&p->turn, 1, memory_order_release);
    (void)pthread_cond_broadcast(&p->wake);
    (void)pthread_mutex_unlock(&p->lock);
}

void etp_roof_pool_run(etp_roof_pool *p, etp_roof_job *job, void *ctx)
{
    if (p->threads > 1) {
        p->job = job;
        p->ctx = ctx;
        atomic_store(&p->remaining, p->threads - 1);
        next_turn(p);
    }
    job(ctx, 0);
    for (unsigned i = 0; atomic_load_explicit(&p->remaining, memory_order_acquire) != 0; i++) {
        if (i < POLITE) {
            relax();
        } else {
            (void)sched_yield();
        }
    }
}

etp_roof_pool *etp_roof_pool_open(uint32_t threads)
{
    etp_roof_pool *p = calloc(1, sizeof *p);
    if (!p) {
        return NULL;
    }
    (void)pthread_mutex_init(&p->lock, NULL);
    (void)pthread_cond_init(&p->wake, NULL);
    for (p->threads = 1; p->threads < threads; p->threads++) {
        struct worker *w = &p->workers[p->threads];
        *w = (struct worker){p, p->threads};
        if (pthread_create(&p->ids[p->threads], NULL, work, w) != 0) {
            etp_roof_pool_close(p);
            return NULL;
        }
    }
    return p;
}

void etp_roof_pool_close(etp_roof_pool *p)
{
    if (!p) {
        return;
    }
    atomic_store(&p->ending, true);
    next_turn(p);
    for (uint32_t i = 1; i < p->threads; i++) {
        (void)pthread_join(p->ids[i], NULL);
    }
    (void)pthread_cond_destroy(&p->wake);
    (void)pthread_mutex_destroy(&p->lock);
    free(p);
}
