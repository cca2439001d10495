// SPDX-License-Identifier: Apache-2.0
// The list of findings: every sentence names the rows it rests on.
#include "answer/ab/session.h"

static const struct {
    const char *id, *formula;
} k_findings[ETP_FINDING_COUNT] = {
#define FINDING_ROW(name, id, formula) [ETP_FINDING_##name] = {id, formula},
    ETP_FINDING_MAP(FINDING_ROW)
#undef FINDING_ROW
};

const char *etp_finding_id(etp_finding_kind kind)
{
    return k_findings[kind].id;
}

etp_status etp_ab_find_rows(etp_ab_session *s, etp_finding_kind kind, const char *severity,
                            const char *const *evidence, size_t n, const char *text, etp_error *err)
{
    const char **refs = ETP_NEW_ARRAY(&s->arena, const char *, n + 1);
    const char *id = etp_arena_printf(&s->arena, "F%zu", s->ab.findings.n + 1);
    if (!refs || !id || !text) {
        return etp_fail_nomem(err, "findings");
    }
    for (size_t i = 0; i < n; i++) {
        refs[i] = evidence[i];
    }
    etp_ab_finding f = {.id = id,
                        .kind = kind,
                        .severity = severity,
                        .text = text,
                        .evidence = refs,
                        .n_evidence = n,
                        .formula = k_findings[kind].formula};
    return ETP_PUSH(&s->arena, &s->ab.findings, f) ? ETP_OK : etp_fail_nomem(err, "findings");
}

etp_status etp_ab_find(etp_ab_session *s, etp_finding_kind kind, const char *severity,
                       const char *evidence, const char *text, etp_error *err)
{
    return etp_ab_find_rows(s, kind, severity, &evidence, evidence ? 1 : 0, text, err);
}
