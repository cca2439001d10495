// SPDX-License-Identifier: Apache-2.0
// The planned memory of the methods that were measured, as pictures of the page.
#include <math.h>

#include "base/guard.h"
#include "base/number.h"
#include "inspect/inspect.h"
#include "show/graph.h"

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
    const etp_planned **held = etp_planned_largest(p, p->peak, arena, &n);
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
                          etp_planned_from(m, b, arena));
    }
    if (more > 0) {
        etp_strbuf_printf(&text, ", %s from %zu more", ETP_BYTES(rest), more);
    }
    return etp_strbuf_str(&text).ptr;
}

// OF: the program, where there are several, else NULL. Nothing where it is not known.
static void plan_picture(const etp_method *m, const etp_inspect_planned *p, const char *of,
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
    const etp_planned **boxes = etp_planned_largest(p, ETP_NO_INDEX, arena, &n);
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
        ETP_BYTES(p->live[p->peak]), etp_planned_at(m, p->peak, arena), holders(m, p, arena));
    etp_picture *plan = etp_report_picture(r, "plan");
    etp_picture_text(plan, "title",
                     etp_arena_printf(arena, "Planned memory of %.*s%s%s", ETP_STR_ARG(m->name),
                                      etp_if(of, " in "), ETP_OR(of, "")));
    etp_picture_text(plan, "description", description);
    etp_picture_text(plan, "x_title", "instruction");
    etp_picture_text(plan, "peak",
                     etp_arena_printf(arena, "%s at %s", ETP_BYTES(p->live[p->peak]),
                                      etp_planned_at(m, p->peak, arena)));
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
        const char *label = etp_arena_printf(
            arena, "%s: %s, %s, to %s", etp_planned_from(m, b, arena),
            etp_shape_text(b->value, shape), ETP_BYTES(b->bytes), etp_planned_to(m, b, arena));
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

static etp_status plan_pictures(const etp_ab *ab, etp_report *r, etp_arena *arena)
{
    const etp_method **drawn = ETP_NEW_ARRAY(arena, const etp_method *, ab->n_arms + 1);
    for (size_t i = 0, n = 0; i < ab->n_arms; i++) {
        const etp_ab_arm *arm = &ab->arms[ab->shown[i]];
        size_t k = 0;
        drawn[n] = etp_ab_joined_method(arm);
        while (drawn[k] != drawn[n]) {
            k++;
        }
        if (drawn[n] && k == n) {
            etp_inspect_planned planned;
            bool several = ab->n_models > 1 && arm->model < ab->n_models;
            etp_inspect_plan(drawn[n++], arena, &planned);
            plan_picture(drawn[k], &planned, several ? ab->models[arm->model].stem : NULL, r,
                         arena);
        }
    }
    return ETP_OK;
}

static etp_status guarded(const etp_ab *ab, etp_report *r, etp_arena *arena, etp_error *err)
{
    ETP_GUARDED(arena, err, "planned memory", plan_pictures(ab, r, arena));
}

void etp_ab_plan_pictures(const etp_ab *ab, etp_report *r, etp_arena *arena)
{
    if (guarded(ab, r, arena, NULL) != ETP_OK) {
        return; // the report knows that its arena ran out
    }
}
