// SPDX-License-Identifier: Apache-2.0
// Mach-O linkers list the labels of hand-written assembly among the functions. A64 code tells them
// apart: no function runs on into the next one or branches into it on a condition.
#include "base/choice.h"
#include "binary/flow.h"
#include "binary/image_parts.h"

typedef struct joiner {
    const etp_image *image;
    const etp_range *ranges;
    size_t n;
    bool *joined; // [n] range i belongs to range i - 1
} joiner;

static bool has_name(const etp_image *image, uint64_t start)
{
    etp_function f;
    return etp_image_function(image, start, &f) && f.start == start && f.symbol.len > 0;
}

// Control does not reach what follows; a call that ends a function does not return.
static bool leaves(etp_flow_kind kind)
{
    return kind == ETP_FLOW_CALL || kind == ETP_FLOW_JUMP || kind == ETP_FLOW_INDIRECT ||
           kind == ETP_FLOW_AWAY;
}

// Ranges FIRST to LAST are one, unless a name or a gap is between.
static void join(joiner *j, size_t first, size_t last)
{
    for (size_t i = first + 1; i <= last; i++) {
        if (j->ranges[i].start != j->ranges[i - 1].end || has_name(j->image, j->ranges[i].start)) {
            return;
        }
    }
    for (size_t i = first + 1; i <= last; i++) {
        j->joined[i] = true;
    }
}

static void look_at(joiner *j, size_t at)
{
    etp_bytes code;
    const etp_range *r = &j->ranges[at];
    if (!etp_image_code(j->image, r->start, r->end, &code)) {
        return;
    }
    etp_flow_kind last = ETP_FLOW_NEXT; // that does something
    for (size_t i = 0; i + 4 <= code.len; i += 4) {
        etp_flow f = etp_flow_a64(etp_load_u32(code.ptr + i));
        last = f.kind == ETP_FLOW_PADDING ? last : f.kind;
        if (f.kind != ETP_FLOW_BRANCH) {
            continue;
        }
        const etp_range *to = etp_range_at(&j->image->ranges, r->start + i + (uint64_t)f.distance);
        if (to && to != r) {
            size_t other = (size_t)(to - j->ranges);
            join(j, ETP_MIN(other, at), ETP_MAX(at, other));
        }
    }
    if (at + 1 < j->n && code.len >= 4 && !leaves(last)) {
        join(j, at, at + 1);
    }
}

void etp_image_join_labels(etp_image *image, etp_arena *arena)
{
    joiner j = {image, image->ranges.items, image->ranges.n,
                ETP_NEW_ARRAY(arena, bool, image->ranges.n + 1)};
    size_t kept = 0;
    if (!j.joined) {
        return;
    }
    for (size_t i = 0; i < j.n; i++) {
        look_at(&j, i);
    }
    for (size_t i = 0; i < j.n; i++) {
        if (j.joined[i] && kept > 0) {
            image->ranges.items[kept - 1].end = image->ranges.items[i].end;
        } else {
            image->ranges.items[kept++] = image->ranges.items[i];
        }
    }
    image->ranges.n = kept;
}
