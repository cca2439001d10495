// SPDX-License-Identifier: Apache-2.0
// Functions that no table of the file speaks of: hand-written assembly without unwind data. Their
// bounds follow from the code: a function begins behind an instruction after which control never
// goes on, and no branch leads from one side of its begin to the other.
//
// A jump may also be a call in the place of a return; it is one when it leads to a begin that the
// code shows by other means as well: padding up to an aligned address, a call, or a symbol without
// a size.
#include "base/choice.h"
#include "binary/image_parts.h"

#include <stdlib.h>

#include "base/guard.h"
#include "binary/flow.h"

#define ALIGNED 16u

typedef struct arc { // a branch or jump from one place of the gap to another
    uint64_t from, to;
    bool sure; // a branch: never a call
} arc;

typedef struct begin {
    uint64_t at, previous_end;
    bool padded;      // room before it was filled up to an aligned address
    bool named;       // by a symbol, other code or a table
    bool run_into;    // what precedes it goes on into it
    bool behind_call; // what precedes it is a call: the function before may just go on
} begin;

typedef struct filler {
    etp_image *image;
    etp_arena *arena;
    etp_arena scratch;
    etp_x86_reader reader;
    struct {
        arc *items;
        size_t n, cap;
    } arcs;
    struct {
        begin *items;
        size_t n, cap;
    } begins;
    etp_addresses named; // by other code or a table, sorted
    size_t next_named;   // the first one behind where the linear sweep is
    uint64_t end;        // of the last function
} filler;

static etp_flow flow_at(filler *w, etp_bytes code, size_t at)
{
    if (w->image->machine == ETP_MACHINE_X86_64) {
        return etp_flow_x86(&w->reader, code.ptr + at, code.len - at);
    }
    return code.len - at < 4 ? (etp_flow){ETP_FLOW_NONE, 0, 0}
                             : etp_flow_a64(etp_load_u32(code.ptr + at));
}

// Zeros fill room too, where no instruction is expected.
static size_t zeros(const filler *w, etp_bytes code, size_t at)
{
    size_t unit = w->image->machine == ETP_MACHINE_AARCH64 ? 4 : 1;
    for (size_t i = 0; i < unit; i++) {
        if (code.len - at <= i || code.ptr[at + i] != 0) {
            return 0;
        }
    }
    return unit;
}

// Is HERE named? Moves on to the first named address behind it.
static bool is_named(filler *w, uint64_t here)
{
    while (w->next_named < w->named.n && w->named.items[w->next_named] < here) {
        w->next_named++;
    }
    bool named = w->next_named < w->named.n && w->named.items[w->next_named] == here;
    while (w->next_named < w->named.n && w->named.items[w->next_named] == here) {
        w->next_named++;
    }
    return named || etp_image_has_symbol(w->image, here);
}

// Where to go on behind what is no code: at a named address, else at an aligned one.
static uint64_t next_start(const filler *w, uint64_t here)
{
    uint64_t aligned = (here | (ALIGNED - 1)) + 1;
    bool named = w->next_named < w->named.n && w->named.items[w->next_named] < aligned;
    return named ? w->named.items[w->next_named] : aligned;
}

typedef struct sweep_state {
    bool away;        // control does not come here from above
    bool behind_call; // perhaps not
    bool cases;       // only by a table of cases, unless a function begins here
    bool broken;      // what precedes is no code
    bool padding;
} sweep_state;

// Goes through the code of the gap once.
static void linear_sweep(filler *w, uint64_t first, uint64_t last, etp_bytes code)
{
    sweep_state is = {.away = true};
    w->end = first;
    for (size_t at = 0; at < code.len;) {
        uint64_t here = first + at;
        bool named = is_named(w, here);
        size_t skip = is.away && !named ? zeros(w, code, at) : 0;
        etp_flow f = skip ? (etp_flow){ETP_FLOW_PADDING, skip, 0} : flow_at(w, code, at);
        bool over = w->next_named < w->named.n && w->named.items[w->next_named] - here < f.length;
        if (f.kind == ETP_FLOW_NONE || over) {
            is = (sweep_state){.away = true, .broken = true};
            at = (size_t)(next_start(w, here) - first);
            continue;
        }
        at += f.length;
        if (f.kind == ETP_FLOW_PADDING && (is.away || is.behind_call) && !named) {
            is.padding = true;
            continue;
        }
        bool filled = is.padding && here % ALIGNED == 0;
        if ((is.away && !(is.cases && !is.padding)) || named || (is.behind_call && filled)) {
            bool ended = is.away || is.behind_call;
            begin b = {here,
                       ended && !is.broken ? w->end : here,
                       filled && !is.broken,
                       named,
                       is.broken || !ended,
                       !is.away && !named};
            ETP_ADD(&w->scratch, &w->begins, b);
        }
        uint64_t to = here + (uint64_t)f.distance;
        bool goes = f.kind == ETP_FLOW_BRANCH || f.kind == ETP_FLOW_JUMP;
        arc one = {here, to, f.kind == ETP_FLOW_BRANCH};
        if (goes && to >= first && to < last) {
            ETP_ADD(&w->scratch, &w->arcs, one);
        }
        is = (sweep_state){.away = f.kind == ETP_FLOW_AWAY || f.kind == ETP_FLOW_JUMP ||
                                   f.kind == ETP_FLOW_INDIRECT,
                           .cases = f.kind == ETP_FLOW_INDIRECT,
                           .behind_call = f.kind == ETP_FLOW_CALL};
        w->end = is.away || is.behind_call ? first + at : w->end;
    }
    w->end = is.away && !is.broken ? w->end : last;
}

// The first begin at or behind ADDRESS.
static size_t begin_from(const filler *w, uint64_t address)
{
    size_t lo = 0, hi = w->begins.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (w->begins.items[mid].at < address) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

static bool is_strong(const begin *b)
{
    return b->named || (b->padded && !b->behind_call);
}

static void keep(filler *w)
{
    int32_t *crossed = etp_arena_alloc_array(&w->scratch, w->begins.n + 2, sizeof *crossed);
    uint32_t *named = etp_arena_alloc_array(&w->scratch, w->begins.n + 1, sizeof *named);
    if (!crossed || !named) {
        return;
    }
    for (size_t i = 0; i < w->begins.n; i++) {
        named[i + 1] = named[i] + w->begins.items[i].named;
    }
    // Which begins does no arc lead across? CROSSED has room for one more than there are. NAMED[i]
    // counts the named begins before the i-th: an arc across one of those leads to a part of a
    // function that the compiler put elsewhere, and says nothing of what is between.
    for (size_t i = 0; i < w->arcs.n; i++) {
        const arc *a = &w->arcs.items[i];
        size_t at_target = begin_from(w, a->to);
        bool at_begin = at_target < w->begins.n && w->begins.items[at_target].at == a->to;
        if (!a->sure && at_begin && is_strong(&w->begins.items[at_target])) {
            continue; // a call in the place of a return
        }
        uint64_t low = ETP_MIN(a->from, a->to), high = ETP_MAX(a->to, a->from);
        size_t first = begin_from(w, low + 1), end = begin_from(w, high + 1);
        if (named[end] != named[first]) {
            continue;
        }
        crossed[first] += first < end;
        crossed[end] -= first < end;
        if (at_begin && a->to < a->from && w->begins.items[at_target].behind_call) {
            crossed[at_target]++; // the head of a loop, aligned
            crossed[at_target + 1]--;
        }
    }
    etp_range open = {0};
    int32_t depth = 0;
    for (size_t i = 0; i < w->begins.n; i++) {
        const begin *b = &w->begins.items[i];
        depth += crossed[i];
        if (depth > 0 && !b->named && i > 0) {
            continue;
        }
        open.end = b->previous_end;
        bool data = b->run_into; // no function runs on into what is called, or into what is no code
        if (i > 0 && !data) {
            ETP_ADD(w->arena, &w->image->flows, open);
        }
        open.start = b->at;
    }
    open.end = w->end;
    if (w->begins.n > 0 && open.end > open.start) {
        ETP_ADD(w->arena, &w->image->flows, open);
    }
}

static void fill(filler *w, uint64_t first, uint64_t last)
{
    etp_bytes code;
    w->arcs.n = w->begins.n = w->next_named = 0;
    if (etp_image_code(w->image, first, last, &code)) {
        linear_sweep(w, first, last, code);
        keep(w);
    }
}

static int by_start(const void *pa, const void *pb)
{
    const etp_range *a = pa, *b = pb;
    return ETP_ORDER(a->start, b->start);
}

static void fill_all(filler *w)
{
    size_t n = 0;
    // Everything that tables speak of, by start.
    const etp_image *image = w->image;
    etp_range *known =
        etp_arena_alloc_array(&w->scratch, image->symbols.n + image->ranges.n + 1, sizeof *known);
    for (size_t i = 0; known && i < image->symbols.n; i++) {
        const etp_image_symbol *s = &image->symbols.items[i];
        if (s->end > s->start) {
            known[n++] = (etp_range){s->start, s->end};
        }
    }
    for (size_t i = 0; known && i < image->ranges.n; i++) {
        known[n++] = image->ranges.items[i];
    }
    if (n > 1) {
        qsort(known, n, sizeof *known, by_start);
    }
    if (!known) {
        return;
    }
    for (size_t i = 0; i < w->image->code.n; i++) {
        uint64_t at = w->image->code.items[i].start, last = w->image->code.items[i].end;
        for (size_t k = 0; k <= n && at < last; k++) {
            uint64_t from = k < n ? known[k].start : last, to = k < n ? known[k].end : last;
            if (from > at) {
                fill(w, at, ETP_MIN(from, last));
            }
            at = ETP_MAX(to, at);
        }
    }
}

static etp_status fill_gaps(etp_image *image, etp_arena *arena, etp_error *err)
{
    filler w = {.image = image, .arena = arena};
    bool x86 = image->machine == ETP_MACHINE_X86_64;
    if (!x86 && image->machine != ETP_MACHINE_AARCH64) {
        return ETP_OK;
    }
    etp_error unread; // without a disassembler the gaps stay
    if (x86 && etp_x86_reader_open(&w.reader, &unread) != ETP_OK) {
        return ETP_OK;
    }
    etp_image_references(image, &w.reader, &w.scratch, &w.named);
    fill_all(&w);
    if (image->flows.n > 1) {
        qsort(image->flows.items, image->flows.n, sizeof *image->flows.items, by_start);
    }
    etp_status st = etp_arena_check(&w.scratch, err, "functions");
    etp_x86_reader_close(&w.reader);
    etp_arena_dispose(&w.scratch);
    return st;
}

// The disassembler and what is found on the way are held while ARENA is asked.
etp_status etp_image_fill_gaps(etp_image *image, etp_arena *arena, etp_error *err)
{
    ETP_UNGUARDED(arena, fill_gaps(image, arena, err));
}
