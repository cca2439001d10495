// SPDX-License-Identifier: Apache-2.0
// Who holds the memory of the arms after their measured iterations and at the stages before, row by
// row up to the whole.
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "show/report.h"

// MB for people, bytes for programs.
static etp_cell held(uint64_t bytes, etp_arena *arena)
{
    return etp_cell_called(etp_arena_printf(arena, "%" PRIu64, bytes),
                           etp_arena_printf(arena, "%.2f MB", (double)bytes / 1e6));
}

static etp_cell grown(uint64_t from, uint64_t to, etp_arena *arena)
{
    const int64_t by = (int64_t)to - (int64_t)from;
    const char *text =
        etp_arena_printf(arena, "%s%.2f MB", by < 0 ? "−" : "+", fabs((double)by) / 1e6);
    return etp_cell_called(etp_arena_printf(arena, "%" PRId64, by), text);
}

// The rows of both tables. SOME: left out where all of it is 0.
static const struct {
    const char *title, *what;
    bool some;
    size_t offset;
} k_rows[] = {
#define ROW(member, title, what) {title, what, false, offsetof(etp_memory_rows, member)},
#define SOME(member, title, what) {title, what, true, offsetof(etp_memory_rows, member)},
    ETP_MEMORY_ROWS(ROW, SOME)
#undef ROW
#undef SOME
};
enum { ROWS = sizeof k_rows / sizeof *k_rows };

static uint64_t bytes_of(const etp_memory_rows *rows, size_t row)
{
    uint64_t bytes;
    memcpy(&bytes, (const char *)rows + k_rows[row].offset, sizeof bytes);
    return bytes;
}

// X NULL: of one arm alone.
static void holders_table(const char *id, const etp_ab_arm *b, const etp_ab_arm *x, etp_report *r,
                          etp_arena *arena)
{
    const etp_ab_arm *y = ETP_OR(x, b);
    const unsigned second = ETP_COL_FIGURES | (x ? 0 : ETP_COL_ABSENT);
    const etp_column columns[] = {
        {.key = "holder", .title = "what holds it"},
        {.key = b->name, .title = b->measured, .flags = ETP_COL_FIGURES},
        {.key = y->name, .title = y->measured, .flags = second},
        {.key = "change", .title = "change", .flags = second},
        {.key = "what", .title = "what it is", .flags = ETP_COL_MINOR},
    };
    etp_table *t = etp_report_table(
        r, id, "Resident after the measured iterations, by what holds it", columns, 5);
    for (size_t i = 0; i <= ROWS; i++) {
        bool total = i == ROWS;
        uint64_t was = total ? etp_memory_sum(&b->memory) : bytes_of(&b->memory, i);
        uint64_t is = total ? etp_memory_sum(&y->memory) : bytes_of(&y->memory, i);
        if (!total && k_rows[i].some && was + is == 0) {
            continue;
        }
        ETP_ROW(t, etp_cell_z(total ? "resident" : k_rows[i].title), held(was, arena),
                held(is, arena), grown(was, is, arena),
                etp_cell_z(total ? "the rows together" : k_rows[i].what));
    }
}

// ---- stage by stage ----

enum { LOAD, FIRST, STEADY, PEAK, STAGES };

static void stage_row(etp_table *t, const char *who, const uint64_t *is, const char *what,
                      etp_arena *arena)
{
    ETP_ROW(t, etp_cell_z(who), held(is[LOAD], arena), held(is[FIRST], arena),
            held(is[STEADY], arena), held(is[PEAK], arena), etp_cell_z(what));
}

// Each column adds up to what was resident, that of the peak to the peak.
static void stages_table(const char *id, const etp_ab_arm *arm, etp_report *r, etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "holder", .title = "what holds it"},
        {.key = "load", .title = "loaded", .flags = ETP_COL_FIGURES},
        {.key = "first", .title = "first inference", .flags = ETP_COL_FIGURES},
        {.key = "steady", .title = "steady", .flags = ETP_COL_FIGURES},
        {.key = "peak", .title = "peak", .flags = ETP_COL_FIGURES},
        {.key = "what", .title = "what it is", .flags = ETP_COL_MINOR},
    };
    const etp_memory_stages *at = &arm->memory_at;
    const char *most = "after the first inference";
    if (at->load.peak_bytes >= at->peak.peak_bytes) {
        most = "while it was loaded";
    } else if (at->first.peak_bytes >= at->peak.peak_bytes) {
        most = "in the first inference";
    }
    const etp_memory_rows *of[] = {&at->load.rows, &at->first.rows, &arm->memory, &at->peak.rows};
    etp_table *t = etp_report_table(
        r, id, etp_arena_printf(arena, "%s, stage by stage: most %s", arm->measured, most),
        k_columns, STAGES + 2);
    uint64_t sums[STAGES], between[STAGES] = {0};
    for (size_t k = 0; k < STAGES; k++) {
        sums[k] = etp_memory_sum(of[k]);
    }
    if (at->peak.peak_bytes > sums[PEAK]) {
        between[PEAK] = at->peak.peak_bytes - sums[PEAK];
        sums[PEAK] = at->peak.peak_bytes;
    }
    for (size_t i = 0; i < ROWS; i++) {
        uint64_t is[STAGES], weights[STAGES];
        for (size_t k = 0; k < STAGES; k++) {
            is[k] = bytes_of(of[k], i);
            weights[k] = ETP_MIN(is[k], arm->load.packed_bytes);
        }
        if (k_rows[i].some && is[LOAD] + is[FIRST] + is[STEADY] + is[PEAK] == 0) {
            continue;
        }
        const char *title = k_rows[i].title, *what = k_rows[i].what;
        if (k_rows[i].offset == offsetof(etp_memory_rows, packed) && arm->load.packed_bytes > 0) {
            stage_row(t, "packed weights", weights, "of all operators; each one's stand below",
                      arena);
            title = "XNNPACK at load, else", what = "operators, and what they need";
            for (size_t k = 0; k < STAGES; k++) {
                is[k] -= weights[k];
            }
        }
        stage_row(t, title, is, what, arena);
    }
    stage_row(t, "between readings", between, "more at the peak, and freed again by then", arena);
    stage_row(t, "resident", sums, "the rows together", arena);
}

void etp_ab_memory_tables(const etp_ab *ab, size_t *n, size_t *stages, etp_report *r,
                          etp_arena *arena)
{
    size_t pairs = ab->n_comparisons;
    for (size_t i = 0; i < ETP_OR(pairs, ab->n_arms); i++) {
        const etp_ab_comparison *c = pairs ? &ab->comparisons[i] : NULL;
        const etp_ab_arm *b = &ab->arms[c ? c->baseline : i];
        const etp_ab_arm *x = c ? &ab->arms[c->candidate] : NULL;
        if (b->memory.code > 0 && (!x || x->memory.code > 0)) {
            const char *id = etp_arena_printf(arena, "memory-%zu", ++*n);
            holders_table(*n == 1 ? "memory" : id, b, x, r, arena);
        }
    }
    for (size_t i = 0; i < ab->n_arms; i++) {
        if (ab->arms[i].memory_at.load.rows.code > 0) {
            const char *id = etp_arena_printf(arena, "stages-%zu", ++*stages);
            stages_table(*stages == 1 ? "stages" : id, &ab->arms[i], r, arena);
        }
    }
}
