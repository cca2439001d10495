// SPDX-License-Identifier: Apache-2.0
// The table of operators: report.json's operators[], a row for each arm. What is of the wrong type
// in it is an error with its place; what is absent is null.
#include <math.h>
#include <stdio.h>

#include "base/json_read.h"
#include "convert/document_columns.h"
#include "convert/table_rows.h"
#include "os/os.h"

#define REPORT_LIMIT ((uint64_t)256 << 20)

typedef struct value { // one operator, for one arm
    const etp_table_folder *f;
    etp_batch *b;
    etp_error *err;
    etp_status status;
} value;

static void wrong(value *v, const char *key, const char *expected)
{
    if (v->status == ETP_OK) {
        v->status = etp_fail(v->err, ETP_CORRUPT, "%s: operators[%zu]: %s is not %s",
                             v->f->ops.path, v->f->ops.operator_at, key, expected);
    }
}

// NULL: absent or null.
static const json_t *member(const json_t *object, const char *key)
{
    const json_t *m = json_is_object(object) ? json_object_get(object, key) : NULL;
    return m && !json_is_null(m) ? m : NULL;
}

static const json_t *inner(value *v, const json_t *object, const char *key)
{
    const json_t *m = member(object, key);
    if (m && !json_is_object(m)) {
        wrong(v, key, "an object");
    }
    return m;
}

static void text(value *v, const json_t *object, const char *key)
{
    const json_t *m = member(object, key);
    if (m && !json_is_string(m)) {
        wrong(v, key, "a string");
    }
    etp_batch_text_if(v->b, json_is_string(m)
                                ? (etp_str){json_string_value(m), json_string_length(m)}
                                : ETP_STR(""));
}

static void whole(value *v, const json_t *object, const char *key)
{
    const json_t *m = member(object, key);
    if (m && !json_is_integer(m)) {
        wrong(v, key, "a whole number");
    }
    if (json_is_integer(m)) {
        etp_batch_i64(v->b, json_integer_value(m));
    } else {
        etp_batch_null(v->b);
    }
}

static void put_number(value *v, const json_t *m, const char *key)
{
    bool known = m && !json_is_null(m);
    if (known && !json_is_number(m)) {
        wrong(v, key, "a number");
    }
    etp_batch_f64_if(v->b, json_number_value(m), known);
}

static void ratio(value *v, const json_t *object, const char *key)
{
    put_number(v, member(object, key), key);
}

static void truth(value *v, const json_t *object, const char *key)
{
    const json_t *m = member(object, key);
    if (m && !json_is_boolean(m)) {
        wrong(v, key, "true or false");
    }
    if (json_is_boolean(m)) {
        etp_batch_bool(v->b, json_is_true(m));
    } else {
        etp_batch_null(v->b);
    }
}

// What the runtime called it in this arm: several kernels of one operator are joined.
static void names(value *v, const json_t *list)
{
    etp_arena arena = {0};
    etp_strbuf all;
    etp_strbuf_init(&all, &arena);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *name = json_array_get(list, i);
        if (!json_is_string(name)) {
            wrong(v, "names", "a list of strings");
            break;
        }
        etp_strbuf_appendz(&all, i > 0 ? " | " : "");
        etp_strbuf_append(&all, (etp_str){json_string_value(name), json_string_length(name)});
    }
    etp_batch_text_if(v->b, etp_strbuf_str(&all));
    v->b->failed = v->b->failed || all.failed;
    etp_arena_dispose(&arena);
}

static etp_status open_document(etp_table_folder *f, const json_t *document, etp_error *err);

// The document of the next phase that has one; FALSE: that was the last.
// PHASE counts from 0 for the report itself, so phases[0], which describes it, is passed over.
static etp_status next_document(etp_table_folder *f, bool *more, etp_error *err)
{
    const json_t *phases = member(f->ops.report, "phases");
    *more = false;
    while (!*more && ++f->ops.phase < json_array_size(phases)) {
        const json_t *document = member(json_array_get(phases, f->ops.phase), "document");
        *more = document != NULL;
        ETP_TRY(document ? open_document(f, document, err) : ETP_OK);
    }
    return ETP_OK;
}

// The feature's kernels are asked for of one arm: of the others no row says that they were at work.
static bool is_asked(const etp_table_folder *f, const char *arm)
{
    const char *asked = json_string_value(member(member(f->ops.document, "engagement"), "arm"));
    return asked && strcmp(asked, arm) == 0;
}

static void put_member(value *v, const json_t *op, const etp_member_column *c, bool asked)
{
    static void (*const k_put[])(value *, const json_t *, const char *) = {
        [ETP_COLUMN_I64] = whole,
        [ETP_COLUMN_F64] = ratio,
        [ETP_COLUMN_BOOL] = truth,
        [ETP_COLUMN_TEXT] = text,
    };
    size_t a = v->f->ops.arm_at;
    const char *arm = v->f->ops.names[a], *baseline = v->f->ops.baseline[a];
    const json_t *object = c->outer ? inner(v, op, c->outer) : op;
    switch (c->scope) {
    case ETP_MEMBER_OF_ROW:
        k_put[c->type](v, object, c->key);
        break;
    case ETP_MEMBER_BY_ARM:
        k_put[c->type](v, object, arm);
        break;
    case ETP_MEMBER_IN_ARM:
        k_put[c->type](v, member(object, arm), c->key);
        break;
    case ETP_MEMBER_OF_ASKED:
        k_put[c->type](v, asked ? object : NULL, c->key);
        break;
    case ETP_MEMBER_NAMES:
        names(v, member(object, arm));
        break;
    case ETP_MEMBER_BASELINE:
        etp_batch_text_if(v->b, etp_str_from(baseline));
        break;
    case ETP_MEMBER_COMPARED:
        put_number(v, baseline ? json_array_get(member(op, c->key), v->f->ops.comparison[a]) : NULL,
                   c->key);
        break;
    }
}

#define COLUMN ETP_MEMBER_COLUMN
static const etp_member_column k_members[] = {
#include "document/ab_operator.def"
};

static etp_status put_row(etp_table_folder *f, etp_batch *b, etp_error *err)
{
    const json_t *op = json_array_get(f->ops.operators, f->ops.operator_at);
    size_t a = f->ops.arm_at;
    value v = {f, b, err, ETP_OK};
    etp_table_keys(f, f->ops.arms[a], b);
    const json_t *id = member(op, "id");
    if (!json_is_string(id)) {
        return etp_fail(err, ETP_CORRUPT, "%s: operators[%zu] has no id", f->ops.path,
                        f->ops.operator_at);
    }
    etp_batch_text(b, (etp_str){json_string_value(id), json_string_length(id)});
    bool asked = is_asked(f, f->ops.names[a]);
    for (size_t i = 0; i < sizeof k_members / sizeof k_members[0]; i++) {
        put_member(&v, op, &k_members[i], asked);
    }
    return v.status == ETP_OK ? etp_batch_end_row(b, err) : v.status;
}

static etp_status next_operator(etp_table_folder *f, etp_batch *b, bool *more, etp_error *err)
{
    *more = true;
    while (*more && (f->ops.n_arms == 0 || f->ops.operator_at >= f->ops.n)) {
        ETP_TRY(next_document(f, more, err));
    }
    if (!*more) {
        return ETP_OK;
    }
    ETP_TRY(put_row(f, b, err));
    if (++f->ops.arm_at == f->ops.n_arms) {
        f->ops.arm_at = 0;
        f->ops.operator_at++;
    }
    return ETP_OK;
}

// The place of NAME among the report's arms, n_arms: none.
// Only among those that were taken so far, which is how find_arms notices a name that comes twice.
static size_t find_arm(const etp_table_folder *f, const char *name)
{
    size_t a = 0;
    while (a < f->ops.n_arms && (!name || strcmp(f->ops.names[a], name) != 0)) {
        a++;
    }
    return a;
}

// The first comparison in which each arm is the candidate.
// A row has room for one speedup, and the first comparison is the one that the report leads with.
static void find_comparisons(etp_table_folder *f, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *comparison = json_array_get(list, i);
        size_t a = find_arm(f, json_string_value(member(comparison, "candidate")));
        if (a < f->ops.n_arms && !f->ops.baseline[a]) {
            f->ops.comparison[a] = i;
            f->ops.baseline[a] = json_string_value(member(comparison, "baseline"));
        }
    }
}

static etp_status find_arms(etp_table_folder *f, etp_error *err)
{
    const json_t *arms = member(f->ops.document, "arms");
    size_t n = json_array_size(arms);
    if (n > f->run.arms.n) {
        return etp_fail(err, ETP_CORRUPT, "%s has %zu arms, manifest.json has %zu", f->ops.path, n,
                        f->run.arms.n);
    }
    f->ops.arms = ETP_NEW_ARRAY(&f->arena, uint32_t, n);
    f->ops.names = ETP_NEW_ARRAY(&f->arena, const char *, n);
    f->ops.comparison = ETP_NEW_ARRAY(&f->arena, size_t, n);
    f->ops.baseline = ETP_NEW_ARRAY(&f->arena, const char *, n);
    ETP_NEED(f->ops.arms && f->ops.names && f->ops.comparison && f->ops.baseline, err, "arms");
    for (size_t i = 0; i < n; i++) {
        const char *name = json_string_value(member(json_array_get(arms, i), "name"));
        uint32_t at = 0;
        while (name && at < f->run.arms.n && !etp_str_eqz(f->run.arms.items[at].name, name)) {
            at++;
        }
        if (!name || at == f->run.arms.n || find_arm(f, name) < f->ops.n_arms) {
            return etp_fail(err, ETP_CORRUPT, "%s: arms[%zu] is \"%s\", which %s", f->ops.path, i,
                            name ? name : "",
                            name && at < f->run.arms.n ? "is there twice"
                                                       : "manifest.json does not have");
        }
        f->ops.names[f->ops.n_arms] = name;
        f->ops.arms[f->ops.n_arms++] = at;
    }
    find_comparisons(f, member(f->ops.document, "comparisons"));
    return ETP_OK;
}

static etp_status open_document(etp_table_folder *f, const json_t *document, etp_error *err)
{
    f->ops.document = document;
    f->ops.operator_at = f->ops.arm_at = f->ops.n_arms = 0;
    const char *schema = json_string_value(member(document, "schema"));
    f->ops.operators = member(document, "operators");
    if (!schema || strcmp(schema, "etprof.ab/1") != 0 || !json_is_array(f->ops.operators)) {
        return etp_fail(err, ETP_UNSUPPORTED,
                        "%s: \"%s\" with operators was expected, found \"%s\"", f->ops.path,
                        "etprof.ab/1", schema ? schema : "no schema");
    }
    f->ops.n = json_array_size(f->ops.operators);
    return find_arms(f, err);
}

// A report of an earlier state of the folder would give old numbers under the new state's name.
static etp_status check_current(etp_table_folder *f, const char *dir, etp_error *err)
{
    etp_run_derived derived;
    ETP_TRY(etp_run_derived_read(dir, &f->arena, &derived, err));
    if (derived.manifest_sha256.len > 0 && !etp_str_eqz(derived.manifest_sha256, f->id)) {
        return etp_fail(err, ETP_ENVIRONMENT,
                        "%s was made from an earlier state of the folder: make it again with "
                        "'etprof analyze %s --renew'",
                        f->ops.path, dir);
    }
    return ETP_OK;
}

etp_status etp_table_take_report(etp_table_folder *f, json_t *report, const char *path,
                                 etp_error *err)
{
    f->ops.report = report;
    f->ops.path = path;
    return open_document(f, report, err);
}

static etp_status open_operators(etp_table_folder *f, etp_error *err)
{
    const char *dir = etp_arena_strdup(&f->arena, f->run.dir);
    f->ops.path = etp_run_path(&f->arena, dir, ETP_STR("report.json"));
    ETP_TRY(etp_arena_check(&f->arena, err, "report.json"));
    if (!etp_os_is_file(f->ops.path)) {
        return etp_fail(
            err, ETP_IO,
            "%s is not there: make it with 'etprof analyze %s --renew', or take --table samples",
            f->ops.path, dir);
    }
    ETP_TRY(check_current(f, dir, err));
    etp_file file;
    ETP_TRY(etp_file_open(f->ops.path, REPORT_LIMIT, &file, err));
    etp_status status =
        etp_json_read((etp_str){(const char *)file.bytes.ptr, file.bytes.len}, &f->ops.report, err);
    etp_file_close(&file);
    if (status != ETP_OK) {
        return etp_fail_ctx(err, "%s", f->ops.path);
    }
    return open_document(f, f->ops.report, err);
}

static void close_operators(etp_table_folder *f)
{
    json_decref(f->ops.report);
    f->ops.report = NULL;
}

const etp_table_rows k_etp_operator_rows = {open_operators, next_operator, close_operators};
