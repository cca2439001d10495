// SPDX-License-Identifier: Apache-2.0
// What is shown of a method's planned memory: how much is in use when, and who holds the most.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/guard.h"
#include "base/number.h"
#include "inspect/inspect.h"

enum { MOST_ROWS = 20 };

// Where nothing has a size, shares are 0.
static double of_the_most(const etp_inspect_planned *p, uint64_t bytes)
{
    return p->live[p->peak] ? (double)bytes / (double)p->live[p->peak] : 0.0;
}

// "12 aten::mean.out"
static const char *instruction_text(const etp_method *m, uint32_t at, etp_arena *arena)
{
    etp_str op = m->instructions[at].op;
    return etp_arena_printf(arena, "%" PRIu32 " %.*s", at, op.len ? (int)op.len : 5,
                            op.len ? op.ptr : "moves");
}

static int by_bytes(const void *a, const void *b)
{
    const etp_planned *x = *(const etp_planned *const *)a, *y = *(const etp_planned *const *)b;
    return etp_order_then(ETP_ORDER(y->bytes, x->bytes), ETP_ORDER(x->value->id, y->value->id));
}

// Those needed at the instruction AT, ETP_NO_INDEX: all.
static const etp_planned **largest(const etp_inspect_planned *p, uint32_t at, etp_arena *arena,
                                   size_t *out_n)
{
    const etp_planned **out = ETP_NEW_ARRAY(arena, const etp_planned *, p->n_buffers);
    *out_n = 0;
    for (size_t i = 0; i < p->n_buffers; i++) {
        const etp_planned *b = &p->buffers[i];
        if (at == ETP_NO_INDEX || (b->first <= at && at <= b->last)) {
            out[(*out_n)++] = b;
        }
    }
    if (*out_n > 1) {
        qsort(out, *out_n, sizeof *out, by_bytes);
    }
    return out;
}

static const char *from_text(const etp_method *m, const etp_planned *b, etp_arena *arena)
{
    const char *from = b->given ? "input" : instruction_text(m, b->first, arena);
    return b->kept ? "an earlier call" : from;
}

static const char *to_text(const etp_method *m, const etp_planned *b, etp_arena *arena)
{
    const char *to = b->handed ? "output" : instruction_text(m, b->last, arena);
    return b->kept ? "the next call" : to;
}

static void held_table(const etp_method *m, const etp_inspect_planned *p, etp_report *r,
                       etp_arena *arena)
{
    static const etp_column k_columns[] = {
        {.key = "shape", .title = "held at the peak"},
        {.key = "bytes", .title = "size", .kind = ETP_KIND_BYTES},
        {.key = "share", .title = "share", .kind = ETP_KIND_PERCENT, .flags = ETP_COL_BAR},
        {.key = "from", .title = "from"},
        {.key = "to", .title = "to"},
    };
    const char *id = etp_arena_printf(arena, "held-%" PRIu32, m->index);
    etp_table *t = etp_report_table(r, id, NULL, k_columns, 5);
    etp_table_limit(t, 8);
    size_t n;
    const etp_planned **held = largest(p, p->peak, arena, &n);
    for (size_t i = 0; i < n; i++) {
        char shape[ETP_SHAPE_CHARS];
        ETP_ROW(t, etp_cell_z(etp_shape_text(held[i]->value, shape)), etp_cell_u64(held[i]->bytes),
                etp_cell_double(of_the_most(p, held[i]->bytes)),
                etp_cell_z(from_text(m, held[i], arena)), etp_cell_z(to_text(m, held[i], arena)));
    }
}

// ---- the picture ----

enum { MOST_BOXES = 100, MOST_NAMED = 4, TONES = 3 };

typedef enum tone { HELD, ELSE, KEPT } tone;

static tone tone_of(const etp_inspect_planned *p, const etp_planned *b)
{
    tone usual = b->first <= p->peak && p->peak <= b->last ? HELD : ELSE;
    return b->kept ? KEPT : usual;
}

// "32.8 kB kept from call to call, 48 B from 0 aten::permute_copy.out, 1.2 kB from 3 more"
static const char *holders(const etp_method *m, const etp_inspect_planned *p, etp_arena *arena)
{
    size_t n, named = 0, more = 0;
    uint64_t rest = 0;
    const etp_planned **held = largest(p, p->peak, arena, &n);
    etp_strbuf text;
    etp_strbuf_init(&text, arena);
    if (p->kept_bytes > 0) {
        etp_strbuf_printf(&text, "%s kept from call to call", ETP_BYTES(p->kept_bytes));
    }
    for (size_t i = 0; i < n; i++) {
        const etp_planned *b = held[i];
        if (b->kept) {
            continue;
        }
        if (named == MOST_NAMED) {
            more++;
            rest += b->bytes;
            continue;
        }
        named++;
        etp_strbuf_printf(&text, "%s%s from %s", etp_if(text.len, ", "), ETP_BYTES(b->bytes),
                          from_text(m, b, arena));
    }
    if (more > 0) {
        etp_strbuf_printf(&text, ", %s from %zu more", ETP_BYTES(rest), more);
    }
    return etp_strbuf_str(&text).ptr;
}

void etp_inspect_planned_picture(const etp_method *m, const etp_inspect_planned *p, const char *of,
                                 etp_report *r, etp_arena *arena)
{
    static const char *const k_tones[TONES] = {"held at the peak", "at other times",
                                               "kept from call to call"};
    static const unsigned char k_colors[TONES] = {1, 8, 3};
    size_t n, series[TONES], n_series = 0;
    if (p->n_live == 0) {
        return;
    }
    bool occurs[TONES] = {false};
    const etp_planned **boxes = largest(p, ETP_NO_INDEX, arena, &n);
    // Where each arena begins: they stand one above the other. The buffers are by arena.
    double *at = ETP_NEW_ARRAY(arena, double, p->n_buffers), base = 0, end = 0;
    for (size_t i = 0; i < p->n_buffers; i++) {
        const etp_planned *b = &p->buffers[i];
        base = i > 0 && b->arena != b[-1].arena ? end : base;
        at[i] = base + (double)b->offset;
        end = fmax(end, at[i] + (double)b->bytes);
    }
    size_t drawn = ETP_MIN(n, MOST_BOXES);
    for (size_t i = 0; i < drawn; i++) {
        occurs[tone_of(p, boxes[i])] = true;
    }
    const char *description = etp_arena_printf(
        arena,
        "Each box is a tensor at its place in the arena%s, from the instruction that makes it to "
        "the last that needs it%s. The line is what is in use: at most %s, at instruction %s. Held "
        "there: %s.",
        etp_if(p->buffers[0].arena != p->buffers[p->n_buffers - 1].arena,
               " (arenas stand one above the other)"),
        n > drawn ? etp_arena_printf(arena, "; the largest %zu of %zu are drawn", drawn, n) : "",
        ETP_BYTES(p->live[p->peak]), instruction_text(m, p->peak, arena), holders(m, p, arena));
    etp_picture *plan = etp_report_picture(r, "plan");
    etp_picture_text(plan, "title",
                     etp_arena_printf(arena, "Planned memory of %.*s%s%s", ETP_STR_ARG(m->name),
                                      etp_if(of, " in "), ETP_OR(of, "")));
    etp_picture_text(plan, "description", description);
    etp_picture_text(plan, "x_title", "instruction");
    etp_picture_text(plan, "peak",
                     etp_arena_printf(arena, "%s at %s", ETP_BYTES(p->live[p->peak]),
                                      instruction_text(m, p->peak, arena)));
    etp_picture_list(plan, "series");
    for (size_t t = 0; t < TONES; t++) {
        series[t] = n_series;
        if (occurs[t]) {
            etp_picture_item(plan);
            etp_picture_text(plan, "label", k_tones[t]);
            etp_picture_number(plan, "color", k_colors[t]);
            etp_picture_end(plan);
            n_series++;
        }
    }
    etp_picture_end(plan);
    etp_picture_list(plan, "boxes");
    for (size_t i = 0; i < drawn; i++) {
        const etp_planned *b = boxes[i];
        char shape[ETP_SHAPE_CHARS];
        const char *label = etp_arena_printf(arena, "%s: %s, %s, to %s", from_text(m, b, arena),
                                             etp_shape_text(b->value, shape), ETP_BYTES(b->bytes),
                                             to_text(m, b, arena));
        etp_picture_item(plan);
        etp_picture_text(plan, "label", label);
        etp_picture_number(plan, "series", (double)series[tone_of(p, b)]);
        etp_picture_number(plan, "from", b->first);
        etp_picture_number(plan, "to", (double)b->last + 1);
        etp_picture_number(plan, "place", at[b - p->buffers]);
        etp_picture_number(plan, "size", (double)b->bytes);
        etp_picture_end(plan);
    }
    etp_picture_end(plan);
    etp_picture_list(plan, "sums");
    for (size_t i = 0; i < p->n_live; i++) {
        etp_picture_number(plan, NULL, (double)p->live[i]);
    }
    etp_picture_end(plan);
    etp_picture_end(plan);
}

static etp_status report_plan(const etp_method *m, const etp_inspect_planned *p, etp_keys *keys,
                              etp_report *r, etp_arena *arena)
{
    if (p->untold) {
        etp_keys_add(keys, ETP_PLAIN, "in use", "not known: %s", p->untold);
    }
    if (p->kept_bytes > 0) {
        etp_keys_add(keys, ETP_PLAIN, "kept", "%s from call to call", ETP_BYTES(p->kept_bytes));
    }
    if (p->n_live == 0) {
        return ETP_OK;
    }
    etp_keys_add(keys, ETP_PLAIN, "in use", "at most %s, at instruction %s",
                 ETP_BYTES(p->live[p->peak]), instruction_text(m, p->peak, arena));
    etp_inspect_planned_picture(m, p, NULL, r, arena);
    // As many rows as fit a screen: each is the instruction that has most in use of as many in
    // turn.
    static const etp_column k_columns[] = {
        {.key = "instruction", .title = "memory in use at"},
        {.key = "bytes", .title = "size", .kind = ETP_KIND_BYTES},
        {.key = "share", .title = "of the most", .kind = ETP_KIND_PERCENT, .flags = ETP_COL_BAR},
    };
    const char *id = etp_arena_printf(arena, "in-use-%" PRIu32, m->index);
    etp_table *t = etp_report_table(r, id, NULL, k_columns, 3);
    const uint32_t n = (uint32_t)p->n_live, step = (n + MOST_ROWS - 1) / MOST_ROWS;
    for (uint32_t from = 0; from < n; from += step) {
        uint32_t most = from;
        for (uint32_t at = from; at < n && at < from + step; at++) {
            most = p->live[at] > p->live[most] ? at : most;
        }
        ETP_ROW(t, etp_cell_z(instruction_text(m, most, arena)), etp_cell_u64(p->live[most]),
                etp_cell_double(of_the_most(p, p->live[most])));
    }
    held_table(m, p, r, arena);
    return ETP_OK;
}

static etp_status guarded(const etp_method *m, const etp_inspect_planned *p, etp_keys *keys,
                          etp_report *r, etp_arena *arena, etp_error *err)
{
    ETP_GUARDED(arena, err, "planned memory", report_plan(m, p, keys, r, arena));
}

void etp_inspect_planned_report(const etp_method *m, const etp_inspect_planned *p, etp_keys *keys,
                                etp_report *r, etp_arena *arena)
{
    if (guarded(m, p, keys, r, arena, NULL) != ETP_OK) {
        return; // the report knows that its arena ran out
    }
}
