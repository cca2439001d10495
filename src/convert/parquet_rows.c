// SPDX-License-Identifier: Apache-2.0
// The thread that asked reads rows and writes groups; others encode what lies between. A group is
// the same whoever encoded it, and groups are written in the order of their rows.
#include "convert/parquet.h"

#include <pthread.h>

#define MAX_THREADS 16u

// A slot goes round: the reading thread fills it, a worker takes and encodes it, the reading thread
// writes it out and fills it again. Whoever has it alone touches what is in it without the lock.
typedef enum slot_state { FREE, FULL, TAKEN, ENCODED } slot_state;

typedef struct slot { // a batch on its way
    slot_state state; // of those behind FREE, changed under the lock
    etp_batch batch;
    etp_parquet_group group;
    etp_status status; // of encoding
    etp_error err;
} slot;

typedef struct pool {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool ending;
    slot slots[MAX_THREADS + 1];
    size_t n_slots;
    pthread_t ids[MAX_THREADS];
    struct worker {
        struct pool *pool;
        etp_parquet_encoder encoder;
    } workers[MAX_THREADS];
    uint32_t n_workers, n_started;
} pool;

static void encode(etp_parquet_encoder *e, slot *s)
{
    s->status = etp_parquet_encode(e, &s->batch, &s->group, &s->err);
}

// A full slot, taken; NULL: the end.
// Called with the lock held. What is full is encoded even when the end has been announced.
static slot *take(pool *p)
{
    for (;;) {
        for (size_t i = 0; i < p->n_slots; i++) {
            if (p->slots[i].state == FULL) {
                p->slots[i].state = TAKEN;
                return &p->slots[i];
            }
        }
        if (p->ending) {
            return NULL;
        }
        (void)pthread_cond_wait(&p->changed, &p->lock);
    }
}

static void *work(void *data)
{
    struct worker *w = data;
    pool *p = w->pool;
    (void)pthread_mutex_lock(&p->lock);
    for (slot *s = take(p); s; s = take(p)) {
        (void)pthread_mutex_unlock(&p->lock);
        encode(&w->encoder, s);
        (void)pthread_mutex_lock(&p->lock);
        s->state = ENCODED;
        (void)pthread_cond_broadcast(&p->changed);
    }
    (void)pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void set_state(pool *p, slot *s, slot_state state)
{
    (void)pthread_mutex_lock(&p->lock);
    s->state = state;
    (void)pthread_cond_broadcast(&p->changed);
    (void)pthread_mutex_unlock(&p->lock);
}

// Waits for what is in S, writes it and empties S.
// A slot that never was filled is written out as nothing.
static etp_status write_out(pool *p, slot *s, etp_parquet_file *file, etp_error *err)
{
    (void)pthread_mutex_lock(&p->lock);
    while (s->state == FULL || s->state == TAKEN) {
        (void)pthread_cond_wait(&p->changed, &p->lock);
    }
    bool encoded = s->state == ENCODED;
    s->state = FREE;
    (void)pthread_mutex_unlock(&p->lock);
    if (!encoded) {
        return ETP_OK;
    }
    if (s->status != ETP_OK) {
        if (err) {
            *err = s->err;
        }
        return s->status;
    }
    etp_status status = etp_parquet_put(file, &s->group, err);
    etp_batch_clear(&s->batch);
    return status;
}

static etp_status read_all(pool *p, etp_parquet_file *file, etp_run_table_source *source,
                           etp_error *err)
{
    // Slots are filled in turn, so the next to fill is always the one whose batch has to be written
    // next: rows keep their order and memory does not grow.
    size_t at = 0; // the slot of the oldest batch, once all are in use
    for (bool more = true; more && !file->sink->failed; at = (at + 1) % p->n_slots) {
        slot *s = &p->slots[at];
        ETP_TRY(write_out(p, s, file, err));
        ETP_TRY(etp_run_table_next(source, &s->batch, err));
        more = s->batch.rows > 0;
        if (more && p->n_started == 0) {
            encode(&p->workers[0].encoder, s);
        }
        if (more) {
            set_state(p, s, p->n_started == 0 ? ENCODED : FULL);
        }
    }
    for (size_t i = 0; i < p->n_slots && !file->sink->failed; i++) {
        ETP_TRY(write_out(p, &p->slots[(at + i) % p->n_slots], file, err));
    }
    return ETP_OK;
}

static etp_status prepare(pool *p, const etp_parquet_file *file, bool plain, etp_error *err)
{
    for (size_t i = 0; i < p->n_slots; i++) {
        ETP_TRY(etp_batch_init(&p->slots[i].batch, file->defs, file->n_columns, err));
    }
    for (uint32_t i = 0; i < (p->n_workers > 0 ? p->n_workers : 1); i++) {
        p->workers[i].pool = p;
        ETP_TRY(etp_parquet_encoder_init(&p->workers[i].encoder, plain, err));
    }
    while (p->n_started < p->n_workers &&
           pthread_create(&p->ids[p->n_started], NULL, work, &p->workers[p->n_started]) == 0) {
        p->n_started++; // fewer, or none, do it too
    }
    return ETP_OK;
}

static void end(pool *p)
{
    (void)pthread_mutex_lock(&p->lock);
    p->ending = true;
    (void)pthread_cond_broadcast(&p->changed);
    (void)pthread_mutex_unlock(&p->lock);
    for (uint32_t i = 0; i < p->n_started; i++) {
        (void)pthread_join(p->ids[i], NULL);
    }
    for (uint32_t i = 0; i < MAX_THREADS; i++) {
        etp_parquet_encoder_dispose(&p->workers[i].encoder);
    }
    for (size_t i = 0; i < p->n_slots; i++) {
        etp_batch_dispose(&p->slots[i].batch);
        etp_parquet_group_dispose(&p->slots[i].group);
    }
    (void)pthread_cond_destroy(&p->changed);
    (void)pthread_mutex_destroy(&p->lock);
}

static etp_status put_rows(etp_parquet_file *file, etp_run_table_source *source,
                           const etp_parquet_options *options, etp_error *err)
{
    etp_arena arena = {0};
    pool *p = ETP_NEW(&arena, pool);
    ETP_NEED(p, err, "parquet");
    (void)pthread_mutex_init(&p->lock, NULL);
    (void)pthread_cond_init(&p->changed, NULL);
    p->n_workers = options->threads < MAX_THREADS ? options->threads : MAX_THREADS;
    // One for each worker to encode and one to fill meanwhile.
    p->n_slots = p->n_workers + 1;
    etp_status status = prepare(p, file, options->plain, err);
    if (status == ETP_OK) {
        status = read_all(p, file, source, err);
    }
    end(p);
    etp_arena_dispose(&arena);
    return status;
}

etp_status etp_parquet_write(etp_run_table_source *source, const etp_parquet_options *options,
                             etp_sink *sink, uint64_t *out_rows, etp_error *err)
{
    etp_run_table table = etp_run_table_of(source);
    etp_parquet_file file = {.sink = sink, .table = etp_run_table_name(table)};
    file.defs = etp_run_table_columns(table, &file.n_columns);
    etp_parquet_begin(&file);
    etp_status status = put_rows(&file, source, options, err);
    if (status == ETP_OK && !sink->failed) {
        status = etp_parquet_end(&file, err);
    }
    *out_rows = file.rows;
    etp_parquet_dispose(&file);
    return status;
}
