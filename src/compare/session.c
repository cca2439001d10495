// SPDX-License-Identifier: Apache-2.0
// A session that is open: what it holds, and its end.
#include "compare/session.h"

const etp_ab *etp_ab_answer(const etp_ab_session *session)
{
    return &session->ab;
}

const etp_run *etp_ab_run(const etp_ab_session *session)
{
    return session->has_run ? &session->run : NULL;
}

void etp_ab_close(etp_ab_session *s)
{
    if (!s) {
        return;
    }
    for (size_t i = 0; i < s->n_later; i++) {
        etp_ab_close(s->later[i]);
    }
    for (size_t i = 0; i < s->in.dumps.n; i++) {
        etp_trace_close(s->in.dumps.items[i].trace);
        etp_file_close(&s->in.dumps.items[i].file);
    }
    for (size_t i = 0; i < s->in.programs.n; i++) {
        etp_program_close(s->in.programs.items[i].program);
        etp_file_close(&s->in.programs.items[i].file);
    }
    etp_arena arena = s->arena; // the session itself lives in it
    etp_arena_dispose(&arena);
}
