// SPDX-License-Identifier: Apache-2.0
// Out of memory is noticed once per document. Whoever makes a document in an arena makes it under
// a guard; below, every object that is asked for is there, and nobody asks. Where memory ends, the
// guard's function ends with ETP_NOMEM, as if each function between had returned.
//
//   etp_status etp_answer_make(const etp_run *run, etp_arena *arena, etp_answer *out,
//                              etp_error *err)
//   {
//       ETP_GUARDED(arena, err, "the answer", make(run, arena, out, err));
//   }
//
// Between a guard and what asks for memory nothing may be held that is not an arena's: no open
// file, no mapping, no lock, no child, no arena but those of etp_arena_scratch. Who holds one calls
// a function with a guard of its own and looks at its status, as ever. Guards of one arena nest;
// the innermost one ends its function. A room that holds such things in most of its functions asks
// instead (ETP_NEED), and begins with ETP_UNGUARDED where it takes an arena of its caller's.
// Who begins guards of two arenas, neither of which is scratch of the other, takes care of the
// inner one, which a jump to the outer one passes over.
//
// Thread rule: an arena is used by the thread that guards it, while it does.
#ifndef ETPROF_BASE_GUARD_H
#define ETPROF_BASE_GUARD_H

#include <setjmp.h>

#include <etprof/arena.h>

struct etp_guard {
    jmp_buf back;
    etp_arena *arena;
    etp_guard *outer;   // that of the arena before, or NULL
    etp_arena *scratch; // arenas that end with this guard, the newest first
};

void etp_guard_enter(etp_guard *guard, etp_arena *arena);
void etp_guard_leave(etp_guard *guard);

// From PAUSE to RESUME, which gets what PAUSE gave, the arena gives NULL where memory ends.
etp_guard *etp_guard_pause(etp_arena *arena);
void etp_guard_resume(etp_arena *arena, etp_guard *guard);

// Begins SCRATCH, which the caller disposes of before it returns, and the guard of ARENA where
// memory ends before. It has ARENA's allocator and its guard; without a guard it is an arena like
// any other, whose user asks.
void etp_arena_scratch(etp_arena *scratch, etp_arena *arena);

// The last statement of a function: its result is CALL's, or ETP_NOMEM with WHAT.
#define ETP_GUARDED(arena_, err_, what_, call_)   \
    do {                                          \
        etp_guard guard_;                         \
        etp_guard_enter(&guard_, (arena_));       \
        if (setjmp(guard_.back)) {                \
            etp_guard_leave(&guard_);             \
            return etp_fail_nomem(err_, (what_)); \
        }                                         \
        etp_status status_ = (call_);             \
        etp_guard_leave(&guard_);                 \
        return status_;                           \
    } while (0)

// Likewise the last statement; below, whoever asks ARENA for memory looks at what he got.
#define ETP_UNGUARDED(arena_, call_)                    \
    do {                                                \
        etp_guard *paused_ = etp_guard_pause((arena_)); \
        etp_status status_ = (call_);                   \
        etp_guard_resume((arena_), paused_);            \
        return status_;                                 \
    } while (0)

#endif
