// SPDX-License-Identifier: Apache-2.0
// Roofs of a device as a report.
#include "machine/roofs.h"

#include <math.h>
#include <string.h>

#include "base/number.h"

// A roof of more threads that is lower than one of fewer: something else was running. Their number.
static size_t roofs_disturbed(const etp_roof_table *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        const etp_roof *a = &t->items[i];
        bool lower = false;
        for (size_t k = 0; k < t->n && a->unit == ETP_ROOF_OP_S; k++) {
            const etp_roof *b = &t->items[k];
            // Asked of arithmetic alone, since bandwidth can fall by itself where threads share a
            // cache; and only of more than a tenth, which chance between two measurements does not
            // make up.
            lower = lower || (b->threads < a->threads && a->what == b->what &&
                              strcmp(a->isa, b->isa) == 0 && a->best < b->best - b->best / 10);
        }
        n += lower;
    }
    return n;
}

static const char *roof_words(etp_roof_what what)
{
    static const char *const k_words[ETP_ROOF_WHATS] = {
        [ETP_ROOF_FMA_F32] = "multiply-add, float32", [ETP_ROOF_FMA_F16] = "multiply-add, float16",
        [ETP_ROOF_DOT_I8] = "dot product, int8",      [ETP_ROOF_REGION] = "parallel region",
        [ETP_ROOF_TIMER] = "step of the clock",
    };
    return k_words[what] ? k_words[what] : etp_roof_what_name(what);
}

// Operations and bytes are kept per second and shown in units of 10^9; times are shown as they are.
static double rate(const etp_roof *x, uint64_t v)
{
    const double unit = x->unit == ETP_ROOF_NS ? 1 : 1e9;
    return etp_value_if(v > 0, (double)v / unit);
}

// The thread counts that were measured, rising; at most MOST.
static size_t thread_counts(const etp_roof_table *t, uint32_t *out, size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        uint32_t threads = t->items[i].threads;
        size_t at = 0;
        while (at < n && out[at] < threads) {
            at++;
        }
        // Times of regions and of the clock are no columns of a table of rates.
        if (t->items[i].unit == ETP_ROOF_NS || (at < n && out[at] == threads) || n == most) {
            continue;
        }
        memmove(&out[at + 1], &out[at], (n - at) * sizeof *out);
        out[at] = threads;
        n++;
    }
    return n;
}

// The roof that differs from LIKE in WHAT and THREADS alone. Of memory the instruction set is left
// out: reading has that of its loop, writing and copying have none.
static const etp_roof *find(const etp_roof_table *t, const etp_roof *like, etp_roof_what what,
                            uint32_t threads)
{
    for (size_t i = 0; i < t->n; i++) {
        const etp_roof *x = &t->items[i];
        if (x->unit == like->unit && x->threads == threads && x->bytes == like->bytes &&
            x->what == what && (x->unit == ETP_ROOF_BYTE_S || strcmp(x->isa, like->isa) == 0)) {
            return x;
        }
    }
    return NULL;
}

static etp_cell best_of(const etp_roof *x)
{
    return x && x->best ? etp_cell_double(rate(x, x->best)) : etp_cell_missing();
}

// The most thread counts that the table has columns for, and the column of the first one.
enum { MOST_THREADS = 8, FIRST = 2 };

// A row for each loop and instruction set, a column for each thread count.
static void arithmetic(const etp_roof_table *table, const uint32_t *threads, size_t n,
                       etp_report *r, etp_arena *arena)
{
    etp_column columns[FIRST + MOST_THREADS] = {
        {.key = "what", .title = "arithmetic, Gop/s"},
        {.key = "isa",  .title = "instruction set"  },
    };
    for (size_t k = 0; k < n; k++) {
        const char *title =
            etp_arena_printf(arena, "%u thread%s", threads[k], etp_if(threads[k] != 1, "s"));
        columns[FIRST + k] = (etp_column){.key = ETP_OR(title, "threads"),
                                          .title = ETP_OR(title, "threads"),
                                          .kind = ETP_KIND_DOUBLE,
                                          .decimals = 1};
    }
    etp_table *t = etp_report_table(r, "arithmetic", NULL, columns, FIRST + n);
    for (size_t i = 0; i < table->n; i++) {
        const etp_roof *x = &table->items[i];
        // A row comes from the fewest threads, with which each loop was measured as with all
        // others.
        if (x->unit != ETP_ROOF_OP_S || n == 0 || x->threads != threads[0]) {
            continue;
        }
        etp_cell cells[FIRST + MOST_THREADS] = {etp_cell_z(roof_words(x->what)),
                                                etp_cell_z(x->isa[0] ? x->isa : NULL)};
        for (size_t k = 0; k < n; k++) {
            cells[FIRST + k] = best_of(find(table, x, x->what, threads[k]));
        }
        etp_table_add_row(t, cells, FIRST + n);
    }
}

const etp_report *etp_roofs_rows(const etp_roofs_answer *a, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "what", .title = "what"},
        {.key = "isa", .title = "instruction set"},
        {.key = "threads", .title = "threads", .kind = ETP_KIND_INT},
        {.key = "bytes", .title = "working set", .kind = ETP_KIND_BYTES},
        {.key = "best", .title = "best", .kind = ETP_KIND_DOUBLE, .decimals = 1},
        {.key = "median", .title = "median", .kind = ETP_KIND_DOUBLE, .decimals = 1},
        {.key = "again", .title = "another pass", .kind = ETP_KIND_DOUBLE, .decimals = 1},
        {.key = "unit", .title = "unit"},
    };
    static const char *const k_units[ETP_ROOF_UNITS] = {"Gop/s", "GB/s", "ns"};
    const etp_roof_table *table = &a->table;
    etp_report *r = etp_report_create(arena, "roofs");
    etp_table *t = etp_report_table(r, "roofs", NULL, k_columns, 8);
    for (size_t i = 0; i < table->n; i++) {
        const etp_roof *x = &table->items[i];
        ETP_ROW(t, etp_cell_z(etp_roof_what_name(x->what)), etp_cell_z(x->isa[0] ? x->isa : NULL),
                etp_cell_u64(x->threads), etp_cell_if(x->bytes, etp_cell_u64(x->bytes)), best_of(x),
                x->best ? etp_cell_double(rate(x, x->median)) : etp_cell_missing(),
                x->again ? etp_cell_double(rate(x, x->again)) : etp_cell_missing(),
                etp_cell_z(k_units[x->unit]));
    }
    return r;
}

const etp_report *etp_roofs_report(const etp_roofs_answer *a, etp_arena *arena)
{
    const etp_roof_table *table = &a->table;
    etp_report *r = etp_report_create(arena, "roofs");
    etp_report_subtitle(r, "%s, %s%s%s%s", table->device,
                        table->cpu[0] ? table->cpu : "CPU not told",
                        etp_if(table->governor[0], ", governor "), table->governor,
                        etp_if(a->cached, " (measured earlier; --fresh measures again)"));
    etp_report_section(r, 1, "roofs-section", "What it can do at most");
    if (table->emulated) {
        etp_report_note(
            r, ETP_PLAIN,
            "emulated: every loop computed what it must; the times of an emulator are not roofs");
    }
    size_t low = roofs_disturbed(table), apart = 0;
    for (size_t i = 0; i < table->n; i++) {
        apart += etp_roof_noise(&table->items[i]) > ETP_ROOF_AGREE;
    }
    if (a->doubt) {
        etp_report_note(r, ETP_WARN, "not kept: %s; measure again on a quiet machine", a->doubt);
    }
    if (low) {
        etp_report_note(
            r, ETP_WARN,
            "%zu roofs are lower than those of fewer threads: something else was running; "
            "measure again with --fresh on a quiet machine",
            low);
    }
    if (apart) {
        etp_report_note(r, ETP_INFO, "two passes differ by more than %.0f %% in %zu of %zu figures",
                        100 * ETP_ROOF_AGREE, apart, table->n);
    }
    uint32_t threads[MOST_THREADS + 1] = {0};
    size_t n = thread_counts(table, threads, MOST_THREADS);
    arithmetic(table, threads, n, r, arena);
    // One thread, and as many as there are; a row for each working set.
    static const etp_column k_columns[] = {
        {.key = "bytes", .title = "memory, GB/s", .flags = ETP_COL_FIGURES},
        {.key = "threads", .title = "threads", .kind = ETP_KIND_INT},
        {.key = "read", .title = "read", .kind = ETP_KIND_DOUBLE, .decimals = 1},
        {.key = "write", .title = "write", .kind = ETP_KIND_DOUBLE, .decimals = 1},
        {.key = "copy", .title = "copy", .kind = ETP_KIND_DOUBLE, .decimals = 1},
        {.key = "strided", .title = "copy, strided", .kind = ETP_KIND_DOUBLE, .decimals = 1},
    };
    etp_table *t = etp_report_table(r, "memory", NULL, k_columns, 6);
    // The fewest and the most threads: what one core gets from memory, and what all together get.
    for (size_t k = 0; k < n; k += n > 1 ? n - 1 : 1) {
        for (size_t i = 0; i < table->n; i++) {
            const etp_roof *x = &table->items[i];
            if (x->unit == ETP_ROOF_BYTE_S && x->threads == threads[k] &&
                x->what == ETP_ROOF_READ) {
                ETP_ROW(t, etp_cell_z(etp_arena_printf(arena, "%s", ETP_BYTES(x->bytes))),
                        etp_cell_u64(threads[k]), best_of(x),
                        best_of(find(table, x, ETP_ROOF_WRITE, threads[k])),
                        best_of(find(table, x, ETP_ROOF_COPY, threads[k])),
                        best_of(find(table, x, ETP_ROOF_STRIDED_COPY, threads[k])));
            }
        }
    }
    etp_keys *keys = etp_report_keys(r, NULL);
    for (size_t i = 0; i < table->n; i++) {
        const etp_roof *x = &table->items[i];
        if (x->unit == ETP_ROOF_NS && x->best) {
            etp_keys_add(keys, ETP_PLAIN, roof_words(x->what), "%s, %u thread%s",
                         ETP_NS((double)x->best), x->threads, etp_if(x->threads != 1, "s"));
        }
    }
    if (n > 2) {
        etp_report_note(r, ETP_INFO,
                        "--format csv has memory with every thread count, and the medians");
    }
    return r;
}
