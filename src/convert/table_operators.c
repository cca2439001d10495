// SPDX-License-Identifier: Apache-2.0
// The table of operators: operators[] of a folder's etprof.ab/1, a row for each arm. The document
// was made by this program a moment ago: what is absent or null in it is null.
#include "convert/document_columns.h"
#include "convert/table_rows.h"

// What the runtime called it in this arm: several kernels of one operator are joined.
static void put_names(etp_batch *b, const json_t *list)
{
    etp_arena arena = {0};
    etp_strbuf all;
    etp_strbuf_init(&all, &arena);
    for (size_t i = 0; i < json_array_size(list); i++) {
        etp_strbuf_appendz(&all, etp_if(i > 0, " | "));
        etp_strbuf_appendz(&all, json_string_value(json_array_get(list, i)));
    }
    etp_batch_text_if(b, etp_strbuf_str(&all));
    b->failed = b->failed || all.failed;
    etp_arena_dispose(&arena);
}

static void put_member(const etp_table_folder *f, const json_t *op, const etp_member_column *c,
                       bool asked, etp_batch *b)
{
    const char *arm = f->ops.names[f->ops.arm_at], *baseline = f->ops.baseline[f->ops.arm_at];
    const json_t *object = c->outer ? etp_member_of(op, c->outer) : op;
    switch (c->scope) {
    case ETP_MEMBER_OF_ROW:
        etp_member_put(b, c->type, etp_member_of(object, c->key));
        break;
    case ETP_MEMBER_BY_ARM:
        etp_member_put(b, c->type, etp_member_of(object, arm));
        break;
    case ETP_MEMBER_IN_ARM:
        etp_member_put(b, c->type, etp_member_of(etp_member_of(object, arm), c->key));
        break;
    case ETP_MEMBER_OF_ASKED:
        etp_member_put(b, c->type, asked ? etp_member_of(object, c->key) : NULL);
        break;
    case ETP_MEMBER_NAMES:
        put_names(b, etp_member_of(object, arm));
        break;
    case ETP_MEMBER_BASELINE:
        etp_batch_text_if(b, etp_str_from(baseline));
        break;
    case ETP_MEMBER_COMPARED:
        etp_member_put(
            b, c->type,
            baseline ? json_array_get(etp_member_of(op, c->key), f->ops.comparison[f->ops.arm_at])
                     : NULL);
        break;
    }
}

#define COLUMN ETP_MEMBER_COLUMN
static const etp_member_column k_members[] = {
#include "document/ab_operator.def"
};

static etp_status open_document(etp_table_folder *f, const json_t *document, etp_error *err)
{
    const json_t *arms = etp_member_of(document, "arms");
    size_t n = json_array_size(arms);
    f->ops.document = document;
    f->ops.operators = etp_member_of(document, "operators");
    f->ops.operator_at = f->ops.arm_at = f->ops.n_arms = 0;
    f->ops.arms = ETP_NEW_ARRAY(&f->arena, uint32_t, n);
    f->ops.names = ETP_NEW_ARRAY(&f->arena, const char *, n);
    f->ops.comparison = ETP_NEW_ARRAY(&f->arena, size_t, n);
    f->ops.baseline = ETP_NEW_ARRAY(&f->arena, const char *, n);
    ETP_NEED(f->ops.arms && f->ops.names && f->ops.comparison && f->ops.baseline, err, "arms");
    for (size_t i = 0; i < n; i++) {
        const char *name = json_string_value(etp_member_of(json_array_get(arms, i), "name"));
        uint32_t at = etp_member_arm(&f->run, name);
        // An arm that the manifest does not have: its keys would be another arm's.
        if (at < f->run.arms.n) {
            f->ops.names[f->ops.n_arms] = name;
            f->ops.arms[f->ops.n_arms++] = at;
        }
    }
    // The first comparison in which each arm is the candidate. A row has room for one speedup, and
    // the first comparison is the one that the report leads with.
    const json_t *list = etp_member_of(f->ops.document, "comparisons");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *comparison = json_array_get(list, i);
        const char *candidate = json_string_value(etp_member_of(comparison, "candidate"));
        for (size_t a = 0; candidate && a < f->ops.n_arms; a++) {
            if (!f->ops.baseline[a] && strcmp(f->ops.names[a], candidate) == 0) {
                f->ops.comparison[a] = i;
                f->ops.baseline[a] = json_string_value(etp_member_of(comparison, "baseline"));
            }
        }
    }
    return ETP_OK;
}

// Phase 0 is the report itself, so phases[0], which describes it, is passed over.
static etp_status next_operator(etp_table_folder *f, etp_batch *b, bool *more, etp_error *err)
{
    const json_t *phases = etp_member_of(f->ops.report, "phases");
    while (f->ops.n_arms == 0 || f->ops.operator_at >= json_array_size(f->ops.operators)) {
        *more = ++f->ops.phase < json_array_size(phases);
        if (!*more) {
            return ETP_OK;
        }
        ETP_TRY(
            open_document(f, etp_member_of(json_array_get(phases, f->ops.phase), "document"), err));
    }
    const json_t *op = json_array_get(f->ops.operators, f->ops.operator_at);
    // The feature's kernels are asked for of one arm: of the others no row says that they were at
    // work.
    const char *arm =
        json_string_value(etp_member_of(etp_member_of(f->ops.document, "engagement"), "arm"));
    bool asked = arm && strcmp(arm, f->ops.names[f->ops.arm_at]) == 0;
    etp_table_keys(f, f->ops.arms[f->ops.arm_at], b);
    etp_batch_text(b, etp_str_from(json_string_value(etp_member_of(op, "id"))));
    for (size_t i = 0; i < sizeof k_members / sizeof k_members[0]; i++) {
        put_member(f, op, &k_members[i], asked, b);
    }
    ETP_TRY(etp_batch_end_row(b, err));
    if (++f->ops.arm_at == f->ops.n_arms) {
        f->ops.arm_at = 0;
        f->ops.operator_at++;
    }
    return ETP_OK;
}

etp_status etp_table_take_report(etp_table_folder *f, json_t *report, etp_error *err)
{
    f->ops.report = report;
    return open_document(f, report, err);
}

static etp_status open_operators(etp_table_folder *f, etp_error *err)
{
    const char *dir = etp_arena_strdup(&f->arena, f->run.dir);
    ETP_NEED(dir, err, "a folder");
    ETP_TRY(f->analyse(dir, &f->ops.report, err));
    return open_document(f, f->ops.report, err);
}

static void close_operators(etp_table_folder *f)
{
    json_decref(f->ops.report);
    f->ops.report = NULL;
}

const etp_table_rows k_etp_operator_rows = {open_operators, next_operator, close_operators};
