// SPDX-License-Identifier: Apache-2.0
// Rows that wait for a stream, and go back to where they were when a source turns out damaged.
#include <assert.h>

#include "convert/fleet_rows.h"

etp_batch *etp_kept_room(etp_kept_rows *rows, etp_error *err)
{
    size_t n = rows->batches.n;
    if (n > 0 && !etp_batch_full(&rows->batches.items[n - 1])) {
        return &rows->batches.items[n - 1];
    }
    etp_batch batch = {0};
    if (etp_batch_init(&batch, rows->defs, rows->n_defs, err) != ETP_OK ||
        !ETP_PUSH(&rows->arena, &rows->batches, batch)) {
        etp_batch_dispose(&batch);
        etp_fail_nomem(err, "rows");
        return NULL;
    }
    rows->made++;
    return &rows->batches.items[n];
}

void etp_kept_take_mark(const etp_kept_rows *rows, etp_kept_mark *out)
{
    assert(rows->n_defs <= ETP_KEPT_MAX_COLUMNS);
    size_t n = rows->batches.n;
    *out = (etp_kept_mark){.batches = n};
    if (n > 0) {
        const etp_batch *last = &rows->batches.items[n - 1];
        out->rows = last->rows;
        out->text_bytes = last->text_bytes;
        for (size_t i = 0; i < rows->n_defs; i++) {
            out->columns[i].stored = last->columns[i].stored;
            out->columns[i].nulls = last->columns[i].nulls;
        }
    }
}

// C is left with ROWS rows, of which STORED were stored, NULLS of these null.
static void forget_rows(etp_batch_column *c, size_t stored, size_t nulls, size_t rows)
{
    if (c->stored > rows) { // rows that were as the last one stored have been stored since
        c->nulls = nulls + (rows > stored && !c->present[stored - 1] ? rows - stored : 0);
        c->stored = rows;
    }
}

void etp_kept_roll_back(etp_kept_rows *rows, const etp_kept_mark *mark)
{
    rows->made += rows->batches.n > mark->batches; // the one at work is another
    while (rows->batches.n > mark->batches) {
        etp_batch_dispose(&rows->batches.items[--rows->batches.n]);
    }
    if (mark->batches > 0) {
        etp_batch *last = &rows->batches.items[mark->batches - 1];
        last->rows = mark->rows;
        last->text_bytes = mark->text_bytes;
        last->at = 0;
        last->rest_null.row = SIZE_MAX; // rows that were taken back may have been the ones
        for (size_t i = 0; i < rows->n_defs; i++) {
            forget_rows(&last->columns[i], mark->columns[i].stored, mark->columns[i].nulls,
                        mark->rows);
        }
    }
}

void etp_kept_dispose(etp_kept_rows *rows)
{
    for (size_t i = rows->taken; i < rows->batches.n; i++) {
        etp_batch_dispose(&rows->batches.items[i]);
    }
    etp_arena_dispose(&rows->arena);
    *rows = (etp_kept_rows){.defs = rows->defs, .n_defs = rows->n_defs, .made = rows->made};
}

uint64_t etp_kept_count(const etp_kept_rows *rows)
{
    uint64_t n = 0;
    for (size_t i = rows->taken; i < rows->batches.n; i++) {
        n += rows->batches.items[i].rows;
    }
    return n;
}

// The batch is handed over whole, its memory included, in place of the empty one that the stream
// has made. One without rows would be taken for the end.
static etp_status next(void *source, etp_batch *batch, etp_error *err)
{
    (void)err;
    etp_kept_rows *rows = source;
    while (rows->taken < rows->batches.n) {
        etp_batch_dispose(batch); // the empty one
        *batch = rows->batches.items[rows->taken++];
        if (batch->rows > 0) {
            break;
        }
    }
    return ETP_OK;
}

static void close(void *source)
{
    etp_kept_rows rows = *(const etp_kept_rows *)source; // its arena owns it
    etp_kept_dispose(&rows);
}

// The stream's copy lies in the arena that moves with it.
etp_status etp_kept_stream(etp_kept_rows *rows, struct ArrowArrayStream *out, etp_error *err)
{
    *out = (struct ArrowArrayStream){0};
    etp_kept_rows *own = ETP_NEW(&rows->arena, etp_kept_rows);
    ETP_NEED(own, err, "a stream");
    *own = *rows;
    *rows = (etp_kept_rows){.defs = own->defs, .n_defs = own->n_defs, .made = own->made};
    const etp_rows stream = {
        .defs = own->defs, .n_defs = own->n_defs, .source = own, .next = next, .close = close};
    return etp_rows_stream(&stream, out, err);
}
