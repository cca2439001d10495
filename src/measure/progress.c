// SPDX-License-Identifier: Apache-2.0
// What a session tells while it runs.
#include <math.h>
#include <stdio.h>

#include "measure/state.h"

// Lines are cut, never refused: the longest are errors of runners with their last words.
void etp_session_say(etp_session *s, const char *fmt, ...)
{
    char text[1600];
    if (!s->view->message) {
        return;
    }
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    s->view->message(s->view->ctx, text);
}

const char *etp_session_arm_words(const etp_session_plan *plan, uint32_t arm,
                                  char buf[static ETP_CANDIDATE_CHARS])
{
    const etp_planned_arm *mine = &plan->arms[arm];
    const etp_planned_phase *phase = etp_session_phase_of(plan, arm);
    bool threads_differ = false, told = mine->level != ETP_LEVEL_NONE;
    for (uint32_t i = 0; i < plan->n_arms; i++) {
        const etp_planned_arm *other = &plan->arms[i];
        bool alike = other->phase == mine->phase && other->level == mine->level &&
                     other->threads == mine->threads;
        threads_differ = threads_differ || other->threads != mine->threads;
        told = told && (i == arm || !alike);
    }
    if (!told) {
        return mine->name;
    }
    char threads[32] = "";
    if (threads_differ) {
        snprintf(threads, sizeof threads, ", %u thread%s", mine->threads,
                 etp_if(mine->threads != 1, "s"));
    }
    snprintf(buf, ETP_CANDIDATE_CHARS, "%s%s%s%s", phase ? phase->run.name.ptr : "",
             etp_if(phase, ": "), etp_level_get(mine->level)->word, threads);
    return buf;
}

int etp_session_interrupted(void *session)
{
    const etp_session *s = session;
    return s->view->interrupted ? s->view->interrupted(s->view->ctx) : etp_os_interrupted();
}

// What the trial said, or the last block where that took longer.
uint64_t etp_session_launch_ns(const etp_session *s, uint32_t arm, etp_launch_kind kind)
{
    const etp_arm_state *a = &s->arms[arm];
    bool traced = kind == ETP_LAUNCH_TRACED;
    if (kind == ETP_LAUNCH_COLD && a->cold_wall_ns > 0) {
        return a->cold_wall_ns;
    }
    uint64_t known = traced ? a->counts.traced_wall_ns : a->counts.timed_wall_ns;
    uint64_t last = traced ? a->traced_wall_ns : a->timed_wall_ns;
    // The longer of the two: an estimate that is too short breaks a budget, one that is too long
    // costs at most a block.
    known = ETP_MAX(last, known);
    // Counts were given, so there was no trial: the mean of all launches so far has to do.
    if (known == 0 && s->view->launches > 0) {
        known = s->view->launch_wall_ns / s->view->launches;
    }
    return known;
}

bool etp_session_is_cold(const etp_session *s, uint32_t arm)
{
    return s->plan->settings.cold_loads && !s->device->info.emulated && !s->plan->arms[arm].foreign;
}

uint32_t etp_session_launches_of_block(const etp_session *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->plan->n_arms; i++) {
        n += 1u + !s->plan->settings.no_trace + etp_session_is_cold(s, i);
    }
    return n;
}

uint64_t etp_session_block_ns(const etp_session *s, bool control)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->plan->n_arms; i++) {
        if (!s->arms[i].dead) {
            bool again = control && etp_session_is_control(s->plan, i);
            sum += again ? etp_session_launch_ns(s, i, ETP_LAUNCH_CONTROL) : 0;
            sum += etp_session_launch_ns(s, i, ETP_LAUNCH_TIMED);
            sum += !s->plan->settings.no_trace ? etp_session_launch_ns(s, i, ETP_LAUNCH_TRACED) : 0;
            sum += etp_session_is_cold(s, i) ? etp_session_launch_ns(s, i, ETP_LAUNCH_COLD) : 0;
        }
    }
    return sum;
}

void etp_session_show(etp_session *s, const char *stage, const etp_task *t)
{
    etp_session_view *p = s->view;
    p->stage = stage;
    p->block = t ? t->block : 0;
    p->planned_blocks = s->plan->blocks;
    p->arm = t ? s->plan->arms[t->arm].name : NULL;
    p->kind = t ? t->kind : ETP_LAUNCH_TIMED;
    double elapsed = (double)(etp_os_now_ns() - s->start_ns);
    p->elapsed_s = elapsed / 1e9;
    p->remaining_s = (double)NAN;
    if (t && t->block > 0 && p->expected_launches > p->launches) {
        // By the share of launches still to come, priced at what the plan expects of them.
        double each = (double)etp_session_block_ns(s, false) / etp_session_launches_of_block(s);
        p->remaining_s = (p->expected_launches - p->launches) * each / 1e9;
        // The budget ends the session even when launches are left.
        if (s->plan->settings.budget_s > 0) {
            p->remaining_s =
                fmin(p->remaining_s, fmax(s->plan->settings.budget_s - p->elapsed_s, 0));
        }
    }
    if (p->progress) {
        p->progress(p->ctx, p);
    }
}

void etp_session_note(etp_session *s, etp_note note, const char *text)
{
    const char *id = etp_note_name(note);
    for (size_t i = 0; i < s->run.n_notes; i++) {
        if (etp_str_eqz(s->run.notes[i].id, id)) {
            return;
        }
    }
    // The manifest has room for so many; each is about the session as a whole, and comes once.
    if (s->run.n_notes < sizeof s->run.notes / sizeof *s->run.notes) {
        s->run.notes[s->run.n_notes].id = etp_str_from(id);
        s->run.notes[s->run.n_notes++].text = etp_str_from(text);
    }
}
