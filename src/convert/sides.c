// SPDX-License-Identifier: Apache-2.0
// Slices and stacks of two aligned sides.
#include "convert/sides.h"

#include <stdio.h>

#include "base/guard.h"

const char *etp_side_verdict_name(etp_side_verdict v)
{
    static const char *const k_names[ETP_SIDE_VERDICTS] = {NULL,      "faster",   "slower",  "same",
                                                           "unknown", "inserted", "vanished"};
    return k_names[v];
}

typedef struct drawing {
    const etp_sides *sides;
    etp_arena *arena;
    etp_slices *out;
    etp_delegates delegates;
} drawing;

static bool same_call(const etp_side_row *a, const etp_side_row *b)
{
    return a->delegated && b->delegated && a->chain == b->chain && a->instruction == b->instruction;
}

static void push(drawing *d, int side, etp_slice slice)
{
    etp_slice_track *t = &d->out->processes[side].tracks[0];
    ETP_ADD(d->arena, t, slice);
}

// What a row takes up on the track: nothing when it is not there, below zero, or not of the traced
// inferences.
// A row below zero (a remainder, when clocks of different resolution disagree) cannot be drawn; the
// counter has it all the same.
static uint64_t width(const etp_side_row *row, int side)
{
    return row->there[side] && !row->tracer && row->ns[side] > 0 ? (uint64_t)row->ns[side] : 0;
}

static etp_str name_of(drawing *d, const etp_side_row *row)
{
    bool said = row->verdict != ETP_SIDE_NONE && row->verdict != ETP_SIDE_SAME &&
                row->verdict != ETP_SIDE_UNKNOWN;
    if (said) {
        return etp_str_from(etp_arena_printf(d->arena, "%.*s (%s)", ETP_STR_ARG(row->label),
                                             etp_side_verdict_name(row->verdict)));
    }
    return row->label;
}

static void draw_side(drawing *d, int side, uint64_t *ends)
{
    const etp_sides *s = d->sides;
    uint64_t total = 0, at = 0;
    for (size_t i = 0; i < s->n_rows; i++) {
        total += width(&s->rows[i], side);
    }
    push(d, side,
         (etp_slice){.ns = total, .name = ETP_STR("Method::execute (mean)"), .category = "run"});
    for (size_t i = 0; i < s->n_rows; i++) {
        const etp_side_row *row = &s->rows[i];
        if (row->delegated && (i == 0 || !same_call(row, row - 1))) {
            // The slice of the call comes before those of its operators, so its width has to be
            // known first.
            uint64_t call = 0;
            for (size_t k = i; k < s->n_rows && same_call(row, &s->rows[k]); k++) {
                call += width(&s->rows[k], side);
            }
            etp_str name =
                etp_delegates_name(&d->delegates, d->arena, 0, row->chain, row->instruction);
            push(d, side,
                 (etp_slice){.start_ns = at, .ns = call, .name = name, .category = "framework"});
        }
        bool shown = row->category ? row->there[side] : width(row, side) > 0;
        if (shown) {
            etp_slice slice = {.start_ns = at,
                               .ns = width(row, side),
                               .name = name_of(d, row),
                               .category = ETP_OR(row->category, "framework"),
                               .verdict = row->verdict,
                               .args = &row->args[side],
                               .flow = row->category && row->there[0] && row->there[1] ? i + 1 : 0};
            push(d, side, slice);
        }
        at += width(row, side);
        // The counter steps when the row has ended on both sides.
        ends[i] = ETP_MAX(at, ends[i]);
    }
}

static etp_status draw(const etp_sides *s, etp_arena *arena, etp_slices *out)
{
    static const char *const k_roles[] = {"baseline", "candidate"};
    *out = (etp_slices){.title = s->title, .n_processes = 2, .counter = "saved so far"};
    drawing d = {.sides = s, .arena = arena, .out = out};
    uint64_t *ends = ETP_NEW_ARRAY(arena, uint64_t, s->n_rows);
    for (int side = 0; side < 2; side++) {
        const char *name =
            etp_arena_printf(arena, "%s: %.*s", k_roles[side], ETP_STR_ARG(s->names[side]));
        out->processes[side] = (etp_slice_process){
            .name = etp_str_from(name), .tracks = {{.name = "means per inference (schematic)"}}};
        draw_side(&d, side, ends);
    }
    int64_t saved = 0;
    etp_slice_point point = {0};
    ETP_ADD(arena, &out->points, point);
    for (size_t i = 0; i < s->n_rows; i++) {
        saved += s->rows[i].ns[0] - s->rows[i].ns[1];
        point = (etp_slice_point){.at_ns = ends[i], .value = saved};
        if (out->points.n && out->points.items[out->points.n - 1].at_ns == point.at_ns) {
            out->points.items[out->points.n - 1] =
                point; // two values of one moment: the later one holds
        } else {
            ETP_ADD(arena, &out->points, point);
        }
    }
    return ETP_OK;
}

etp_status etp_slices_of_sides(const etp_sides *s, etp_arena *arena, etp_slices *out,
                               etp_error *err)
{
    ETP_GUARDED(arena, err, "slices", draw(s, arena, out));
}

static etp_status stack_up(const etp_sides *s, etp_arena *arena, etp_stacks *out)
{
    *out = (etp_stacks){
        .title = s->title, .n_sides = 2, .names = {s->names[0], s->names[1]}
    };
    etp_delegates delegates = {0};
    for (size_t i = 0; i < s->n_rows; i++) {
        const etp_side_row *row = &s->rows[i];
        etp_stack stack = {.frames = {s->title}, .n_frames = 1};
        if (row->category) {
            // Both sides share one tree: an operator stands under the same parents on either side,
            // so that viewers lay its two widths over each other.
            etp_str under = ETP_STR("outside delegates");
            if (row->delegated) {
                under = etp_delegates_name(&delegates, arena, 0, row->chain, row->instruction);
            }
            stack.frames[stack.n_frames++] = under;
            stack.frames[stack.n_frames++] = etp_str_from(row->category);
        }
        stack.frames[stack.n_frames++] = row->label;
        for (int side = 0; side < 2; side++) {
            if (row->tracer) {
                out->tracer_ns[side] += row->ns[side];
            } else if (row->ns[side] < 0) {
                out->below_zero_ns[side] += row->ns[side];
            } else {
                stack.ns[side] = (uint64_t)row->ns[side];
            }
        }
        if (!row->tracer) {
            ETP_ADD(arena, out, stack);
        }
    }
    return ETP_OK;
}

etp_status etp_stacks_of_sides(const etp_sides *s, etp_arena *arena, etp_stacks *out,
                               etp_error *err)
{
    ETP_GUARDED(arena, err, "stacks", stack_up(s, arena, out));
}
