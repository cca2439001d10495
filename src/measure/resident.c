// SPDX-License-Identifier: Apache-2.0
// Resident pairs: the processes of all arms stay loaded and take turns, one inference each. Beside
// the launches of the block, which differ by what a start leaves behind (addresses, pages, clocks),
// this compares inferences that lie microseconds apart.
#include "measure/state.h"

#define SETTLE_ROUNDS 3u // turns before the first that counts
#define ROUNDS_MAX 100u
#define GIVE_UP_AFTER 2u // sessions of turns that failed: two processes may not fit into memory

typedef struct turns { // of one block
    size_t n;
    etp_task *tasks;
    etp_launch_request *requests;
    etp_launch_outcome *outcomes;
    etp_launch **launches;
} turns;

// As many as the arm with the fewest timed iterations has: its share of the launch is half a
// second.
static uint64_t rounds_of(const etp_session *s, const turns *t)
{
    uint64_t rounds = ROUNDS_MAX;
    for (size_t i = 0; i < t->n; i++) {
        uint64_t own = s->arms[t->tasks[i].arm].counts.iterations;
        rounds = own < rounds ? own : rounds;
    }
    return rounds;
}

static etp_status gather(etp_session *s, uint32_t block, const uint32_t *order, const bool *lost,
                         uint32_t position, turns *t, etp_error *err)
{
    uint32_t n = s->plan->n_arms;
    t->tasks = ETP_NEW_ARRAY(&s->block_arena, etp_task, n);
    t->requests = ETP_NEW_ARRAY(&s->block_arena, etp_launch_request, n);
    t->outcomes = ETP_NEW_ARRAY(&s->block_arena, etp_launch_outcome, n);
    t->launches = ETP_NEW_ARRAY(&s->block_arena, etp_launch *, n);
    ETP_NEED(t->tasks && t->requests && t->outcomes && t->launches, err, "resident pairs");
    for (uint32_t i = 0; i < n; i++) {
        if (!s->arms[order[i]].dead && !lost[order[i]]) {
            t->tasks[t->n] =
                (etp_task){order[i], block, position + (uint32_t)t->n, ETP_LAUNCH_RESIDENT, 0};
            ETP_TRY(etp_session_request(s, &t->tasks[t->n], &t->requests[t->n], err));
            t->n++;
        }
    }
    return ETP_OK;
}

// Odd rounds run in the block's order, even ones in its reverse.
static bool run_rounds(turns *t, uint64_t rounds)
{
    bool ok = true;
    for (uint64_t r = 0; ok && r < rounds; r++) {
        for (size_t i = 0; ok && i < t->n; i++) {
            ok = etp_launch_iterate(t->launches[r % 2 ? t->n - 1 - i : i], 1);
        }
    }
    return ok;
}

static etp_status take_turns(etp_session *s, turns *t, bool *good, etp_error *err)
{
    *good = true;
    etp_status st = ETP_OK;
    for (size_t i = 0; i < t->n && *good && st == ETP_OK; i++) {
        etp_session_show(s, "block", &t->tasks[i]);
        st = etp_launch_open(s->device, &t->requests[i], &s->block_arena, &t->outcomes[i],
                             &t->launches[i], err);
        // Each process is warmed up alone; the turns before the first that counts then bring all of
        // them into the state in which they take turns.
        *good = t->launches[i] && etp_launch_iterate(t->launches[i], t->requests[i].warmup);
    }
    *good = *good && st == ETP_OK && run_rounds(t, SETTLE_ROUNDS);
    for (size_t i = 0; i < t->n && *good; i++) {
        etp_launch_warm(t->launches[i]);
    }
    *good = *good && run_rounds(t, rounds_of(s, t));
    bool whole = *good;
    for (size_t i = 0; i < t->n; i++) {
        if (t->launches[i]) {
            etp_launch_close(t->launches[i], whole);
            *good = *good && t->outcomes[i].ok;
        }
    }
    return st;
}

// All arms or none: half a pair says nothing.
static etp_status keep(etp_session *s, const turns *t, bool good, etp_error *err)
{
    uint64_t longest_ns = 0; // they ran side by side
    for (size_t i = 0; i < t->n; i++) {
        const etp_launch_outcome *o = &t->outcomes[i];
        s->result->launches += t->launches[i] != NULL;
        longest_ns = o->record.wall_ns > longest_ns ? o->record.wall_ns : longest_ns;
        if (good) {
            s->next_launch++;
            ETP_TRY(etp_session_keep(s, &t->tasks[i], o, err));
        } else if (o->detail) {
            s->next_launch++;
            ETP_TRY(etp_session_note_lost(s, &t->tasks[i], o, err));
        }
    }
    s->result->launch_wall_ns += longest_ns;
    return ETP_OK;
}

etp_status etp_session_resident(etp_session *s, uint32_t block, const uint32_t *order,
                                const bool *lost, uint32_t position, etp_error *err)
{
    turns t = {0};
    bool good;
    ETP_TRY(gather(s, block, order, lost, position, &t, err));
    if (t.n < 2 || s->resident_lost >= GIVE_UP_AFTER) {
        return ETP_OK;
    }
    ETP_TRY(take_turns(s, &t, &good, err));
    if (etp_session_interrupted(s) != 0) {
        s->cut_short = true;
        return ETP_OK;
    }
    s->resident_lost = good ? 0 : s->resident_lost + 1;
    if (s->resident_lost >= GIVE_UP_AFTER) {
        etp_session_note(s, ETP_NOTE_RESIDENT_GIVEN_UP,
                         "the arms' processes could not stay loaded side by side: no resident "
                         "pairs from then on");
    }
    return keep(s, &t, good, err);
}
