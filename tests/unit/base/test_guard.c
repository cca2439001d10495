// SPDX-License-Identifier: Apache-2.0
// Tests of guarded arenas: where memory ends, the function with the guard ends with the error, and
// every arena that was begun below it is given back.

#include "base/guard.h"
#include "memory.h"
#include "unit.h"

// Big enough that each has a block, so a call of the allocator, of its own.
static int *number(etp_arena *arena, int n)
{
    int *p = etp_arena_alloc(arena, 1 << 20);
    *p = n; // nobody asks
    return p;
}

static etp_status sum(etp_arena *arena, int *out)
{
    etp_arena first, second;
    etp_arena_scratch(&first, arena);
    int a = *number(&first, 1);
    etp_arena_scratch(&second, arena);
    a += *number(&second, 2);
    etp_arena_dispose(&first); // not the newest
    a += *number(arena, 4);
    a += *number(&second, 8);
    etp_arena_dispose(&second);
    *out = a;
    return ETP_OK;
}

static etp_status guarded_sum(etp_arena *arena, int *out, etp_error *err)
{
    ETP_GUARDED(arena, err, "the sum", sum(arena, out));
}

static void memory_ends_where_the_guard_is(void **state)
{
    for (int allowed = 0; allowed <= 4; allowed++) {
        memory m = {.left = allowed};
        const etp_allocator alloc = {limited, &m};
        etp_arena arena;
        etp_arena_init(&arena, &alloc);
        etp_error err;
        int out = -1;
        etp_status st = guarded_sum(&arena, &out, &err);
        assert_int_equal(st, allowed < 4 ? ETP_NOMEM : ETP_OK);
        assert_int_equal(out, allowed < 4 ? -1 : 15);
        if (st) {
            assert_string_equal(err.msg, "out of memory (the sum)");
        }
        assert_null(arena.guard);
        assert_int_equal(m.alive,
                         allowed < 3 ? 0 : 1);         // the document's own, of which there was one
        assert_null(etp_arena_alloc(&arena, 1 << 20)); // without a guard the caller asks
        etp_arena_dispose(&arena);
        assert_int_equal(m.alive, 0);
    }
}

// The innermost guard ends its function, and its caller goes on: here to a second try.
static etp_status either(etp_arena *arena, etp_arena *other, int *out)
{
    etp_error err;
    etp_arena mine;
    etp_arena_scratch(&mine, arena);
    if (guarded_sum(&mine, out, &err)) {
        etp_arena_dispose(&mine);
        return guarded_sum(other, out, &err);
    }
    etp_arena_dispose(&mine);
    return ETP_OK;
}

static etp_status guarded_either(etp_arena *arena, etp_arena *other, int *out, etp_error *err)
{
    ETP_GUARDED(arena, err, "either", either(arena, other, out));
}

static void the_innermost_guard_ends_its_function(void **state)
{
    memory scarce = {.left = 2}, enough = {.left = 100};
    const etp_allocator few = {limited, &scarce}, many = {limited, &enough};
    etp_arena arena, other;
    etp_arena_init(&arena, &few);
    etp_arena_init(&other, &many);
    int out = 0;
    assert_int_equal(guarded_either(&arena, &other, &out, NULL), ETP_OK);
    assert_int_equal(out, 15);
    assert_int_equal(scarce.alive, 0);
    etp_arena_dispose(&arena);
    etp_arena_dispose(&other);
    assert_int_equal(enough.alive, 0);
}

// The outer document fails while a scratch arena is under a guard of its own, with a scratch arena
// of that: both are given back.
static etp_status fail_outside(etp_arena *inner, etp_arena *outer)
{
    etp_arena deepest;
    etp_arena_scratch(&deepest, inner);
    number(&deepest, 1);
    number(outer, 1);
    etp_arena_dispose(&deepest);
    return ETP_OK;
}

static etp_status guard_inside(etp_arena *inner, etp_arena *outer)
{
    ETP_GUARDED(inner, NULL, "the inner one", fail_outside(inner, outer));
}

static etp_status begin_inside(etp_arena *outer)
{
    etp_arena inner;
    etp_arena_scratch(&inner, outer);
    number(&inner, 1);
    etp_status st = guard_inside(&inner, outer);
    etp_arena_dispose(&inner);
    return st;
}

static etp_status guard_outside(etp_arena *outer, etp_error *err)
{
    ETP_GUARDED(outer, err, "the outer one", begin_inside(outer));
}

static void arenas_of_inner_guards_are_given_back(void **state)
{
    memory m = {.left = 2};
    const etp_allocator alloc = {limited, &m};
    etp_arena arena;
    etp_arena_init(&arena, &alloc);
    etp_error err;
    assert_int_equal(guard_outside(&arena, &err), ETP_NOMEM);
    assert_string_equal(err.msg, "out of memory (the outer one)");
    assert_int_equal(m.alive, 0);
    etp_arena_dispose(&arena);
    m.left = 3;
    assert_int_equal(guard_outside(&arena, &err), ETP_OK);
    assert_int_equal(m.alive, 1);
    etp_arena_dispose(&arena);
}

// Who holds something looks at what he got, gives back what he holds and hands the error on.
static etp_status hold(etp_arena *arena, int *held, etp_error *err)
{
    *held += 1;
    etp_arena mine;
    etp_arena_scratch(&mine, arena);
    bool there = etp_arena_alloc(&mine, 1 << 20) && etp_arena_alloc(arena, 1 << 20);
    etp_arena_dispose(&mine);
    *held -= 1;
    return there ? ETP_OK : etp_fail_nomem(err, "what is held");
}

static etp_status unguarded_hold(etp_arena *arena, int *held, etp_error *err)
{
    ETP_UNGUARDED(arena, hold(arena, held, err));
}

static etp_status hold_twice(etp_arena *arena, int *held, etp_error *err)
{
    etp_status first = unguarded_hold(arena, held, err);
    number(arena, 1); // under the guard again
    assert_int_equal(first, ETP_OK);
    return unguarded_hold(arena, held, err);
}

static etp_status guarded_hold(etp_arena *arena, int *held, etp_error *err)
{
    ETP_GUARDED(arena, err, "all", hold_twice(arena, held, err));
}

static void who_holds_something_asks_below_a_guard(void **state)
{
    for (int allowed = 0; allowed <= 5; allowed++) {
        memory m = {.left = allowed};
        const etp_allocator alloc = {limited, &m};
        etp_arena arena;
        etp_arena_init(&arena, &alloc);
        etp_error err;
        int held = 0;
        etp_status st = guarded_hold(&arena, &held, &err);
        assert_int_equal(st, allowed < 5 ? ETP_NOMEM : ETP_OK);
        assert_int_equal(held, 0);
        if (st) {
            assert_string_equal(err.msg, allowed < 3 ? "out of memory (all)"
                                                     : "out of memory (what is held)");
        }
        assert_null(arena.guard);
        etp_arena_dispose(&arena);
        assert_int_equal(m.alive, 0);
    }
}
