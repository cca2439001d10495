// SPDX-License-Identifier: Apache-2.0
// The list of findings: every sentence names the rows it rests on.
#include "compare/session.h"

static const struct {
    const char *id, *formula;
    bool of_recording;
} k_findings[ETP_FINDING_COUNT] = {
#define FINDING_ROW(name, id, formula) [ETP_FINDING_##name] = {id, formula, false},
#define RECORDING_ROW(name, id, formula) [ETP_FINDING_##name] = {id, formula, true},
    ETP_FINDING_MAP(FINDING_ROW, RECORDING_ROW)
#undef RECORDING_ROW
#undef FINDING_ROW
};

const char *etp_finding_id(etp_finding_kind kind)
{
    return k_findings[kind].id;
}

void etp_ab_find_rows(etp_ab_findings *to, etp_finding_kind kind, etp_finding_severity severity,
                      const char *const *evidence, size_t n, const char *text)
{
    const char **refs = ETP_NEW_ARRAY(to->arena, const char *, n + 1);
    if (!refs) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        refs[i] = evidence[i];
    }
    etp_ab_finding f = {.id = etp_arena_printf(to->arena, "F%zu", to->n + 1),
                        .kind = kind,
                        .severity = severity,
                        .text = text,
                        .evidence = refs,
                        .n_evidence = n,
                        .formula = k_findings[kind].formula};
    ETP_ADD(to->arena, to, f);
}

void etp_ab_add_finding(etp_ab_findings *to, etp_finding_kind kind, etp_finding_severity severity,
                        const char *evidence, const char *text)
{
    etp_ab_find_rows(to, kind, severity, &evidence, evidence != NULL, text);
}

void etp_ab_add_doubts(const etp_ab *ab, etp_arena *arena, etp_texts *to)
{
    for (size_t i = 0; i < ab->judged.findings.n; i++) {
        const etp_ab_finding *f = &ab->judged.findings.items[i];
        if (k_findings[f->kind].of_recording) {
            ETP_ADD(arena, to, f->text);
        }
    }
}
