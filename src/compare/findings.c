// SPDX-License-Identifier: Apache-2.0
// The list of findings: every sentence names the rows it rests on.
#include <string.h>

#include "compare/session.h"

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

void etp_ab_find_rows(etp_ab_session *s, etp_finding_kind kind, etp_finding_severity severity,
                      const char *const *evidence, size_t n, const char *text)
{
    const char **refs = ETP_NEW_ARRAY(&s->arena, const char *, n + 1);
    if (!refs) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        refs[i] = evidence[i];
    }
    etp_ab_finding f = {.id = etp_arena_printf(&s->arena, "F%zu", s->ab.findings.n + 1),
                        .kind = kind,
                        .severity = severity,
                        .text = text,
                        .evidence = refs,
                        .n_evidence = n,
                        .formula = k_findings[kind].formula};
    ETP_ADD(&s->arena, &s->ab.findings, f);
}

void etp_ab_find(etp_ab_session *s, etp_finding_kind kind, etp_finding_severity severity,
                 const char *evidence, const char *text)
{
    etp_ab_find_rows(s, kind, severity, &evidence, evidence ? 1 : 0, text);
}

// ---- order ----

static bool is_of_time(etp_finding_kind kind)
{
    return kind == ETP_FINDING_LAYOUT || kind == ETP_FINDING_PORTABLE ||
           kind == ETP_FINDING_OFF_FEATURE || kind == ETP_FINDING_SHIFT;
}

// Time of what the finding names, in the arm that the answer is about: operators, categories; of a
// bottleneck that moved the one it is now.
static int64_t concerned_ns(const etp_ab *ab, const etp_ab_finding *f)
{
    const uint32_t arm = ab->engagement.arm;
    int64_t sum = 0;
    for (size_t e = f->kind == ETP_FINDING_SHIFT ? f->n_evidence - 1 : 0; e < f->n_evidence; e++) {
        etp_category category = etp_category_find(etp_str_from(f->evidence[e]));
        for (size_t i = 0; i < ab->n_categories; i++) {
            bool mine = ab->categories[i].category == category &&
                        ab->categories[i].ns[arm] != ETP_NS_UNKNOWN;
            sum += mine ? ab->categories[i].ns[arm] : 0;
        }
        for (size_t i = 0; i < ab->n_operators; i++) {
            bool mine = strcmp(ab->operators[i].id, f->evidence[e]) == 0 &&
                        ab->operators[i].ns[arm] != ETP_NS_UNKNOWN;
            sum += mine ? ab->operators[i].ns[arm] : 0;
        }
    }
    return sum;
}

void etp_ab_rank_findings(etp_ab_session *s)
{
    etp_ab *ab = &s->ab;
    for (size_t i = 0; i < ab->findings.n; i++) {
        etp_ab_finding *a = &ab->findings.items[i];
        for (size_t k = i + 1; is_of_time(a->kind) && k < ab->findings.n; k++) {
            etp_ab_finding *b = &ab->findings.items[k];
            if (is_of_time(b->kind) && concerned_ns(ab, b) > concerned_ns(ab, a)) {
                const etp_ab_finding larger = *b;
                const char *first = a->id, *later = b->id;
                *b = *a;
                *a = larger;
                a->id = first; // ids go with the places
                b->id = later;
            }
        }
    }
}
