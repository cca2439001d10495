// SPDX-License-Identifier: Apache-2.0
// Prints what the tables of documents say, as JSON, for check_documents.py. Refuses tables that
// contradict themselves, which the compiler does not see.
#include <stdlib.h>
#include <string.h>

#include "convert/document_columns.h"
#include "document/layouts.h"
#include "inspect/inspect.h"
#include "inspect/kernels/binary.h"
#include "inspect/kernels/kernels.h"
#include "inspect/kernels/log.h"
#include "inspect/ops.h"
#include "inspect/tensors.h"
#include "integrity/validation.h"
#include "integrity/verify.h"
#include "judge/fixes/whatif.h"
#include "kit/combined.h"
#include "kit/folder.h"
#include "kit/latency.h"
#include "machine/devices.h"
#include "machine/doctor.h"
#include "machine/levels.h"
#include "numerics/numerics.h"
#include "numerics/precision.h"
#include "show/explanation.h"
#include "show/json.h"
#include "show/whatif_data.h"
#include "store/internal.h"
#include "store/roofs_file.h"
#include "study/gate/baselines.h"
#include "study/gate/gate.h"
#include "study/replay.h"
#include "study/replay_sweep.h"
#include "study/rerun.h"
#include "study/stats/answer.h"

static const char *const k_kinds[] = {"text",   "str",     "str",  "bool",  "not",
                                      "maybe",  "uint",    "int",  "ns",    "ratio",
                                      "number", "rounded", "word", "object"};
static const char *const k_many[] = {"one", "counted", "per", "at"};
static const char *const k_ranges[] = {"from 0", "signed",       "from 1",
                                       "0 to 1", "above 0 to 1", "within 1"};

static void require(bool ok, const etp_field *f, const char *what)
{
    if (!ok) {
        fprintf(stderr, "member \"%s\": %s\n", f->key ? f->key : "(spliced)", what);
        exit(1);
    }
}

static void describe_shape(etp_json *j, const etp_shape *shape);

static const etp_document *s_described;

// The member of etprof.ab/1 whose objects SHAPE is of; NULL: of none, or that document is
// described.
static const char *member_of_answer(const etp_shape *shape)
{
    const etp_shape *answer = k_etp_ab_document.shape;
    for (size_t i = 0; s_described != &k_etp_ab_document && i < answer->n; i++) {
        if (answer->fields[i].shape == shape && answer->fields[i].key) {
            return answer->fields[i].key;
        }
    }
    return NULL;
}

// Members that other documents take over into objects of their own.
static const char *part_of_answer(const etp_shape *shape)
{
    if (shape == &k_etp_ab_extra_ratios) {
        return "states";
    }
    if (shape == &k_etp_ab_findings) {
        return "findings";
    }
    return shape == &k_etp_ab_operator_roofs ? "roofs" : NULL;
}

static void describe_words(etp_json *j, const etp_words *words)
{
    etp_json_key(j, "words");
    etp_json_begin_array(j);
    for (unsigned i = 0; i < words->n; i++) {
        etp_json_z(j, words->text(NULL, i));
    }
    etp_json_end(j);
}

static void describe_field(etp_json *j, const etp_field *f)
{
    bool object = f->kind == ETP_FIELD_OBJECT && !f->write;
    require(f->doc, f, "has no text");
    require(object == (f->shape != NULL), f, "objects, and they alone, have a shape");
    require((f->kind == ETP_FIELD_WORD) == (f->words != NULL), f, "words, and they alone");
    require((f->many == ETP_PER) == (f->axis != NULL), f, "an axis, where there is one for each");
    require(!object || f->find || f->size == 0 || f->size == f->shape->size, f,
            "the struct is not the shape's");
    etp_json_begin_object(j);
    etp_json_kv_z(j, "key", f->key);
    etp_json_kv_z(j, "kind", f->write ? "written" : k_kinds[f->kind]);
    etp_json_kv_z(j, "many", k_many[f->many]);
    etp_json_kv_bool(j, "named", f->axis && f->axis->name);
    etp_json_kv_bool(j, "absent", f->flags & ETP_ABSENT);
    etp_json_kv_bool(j, "later", f->flags & ETP_LATER);
    etp_json_kv_bool(j, "set", f->flags & ETP_SET);
    etp_json_kv_bool(j, "skip", f->flags & ETP_SKIP);
    etp_json_kv_bool(j, "sha256", f->flags & ETP_SHA256);
    etp_json_kv_bool(j, "blank", f->flags & ETP_BLANK);
    etp_json_kv_bool(j, "apart", f->flags & ETP_NO_COLUMN);
    etp_json_kv_bool(j, "null",
                     (f->flags & (ETP_EMPTY | ETP_ZERO | ETP_MAX_IS_NULL)) || f->find ||
                         (f->pointer && f->many == ETP_ONE) || (f->when && f->many == ETP_ONE));
    etp_json_kv_z(j, "range", k_ranges[f->range]);
    etp_json_kv_u64(j, "least", f->least);
    etp_json_kv_z(j, "schema", f->schema);
    etp_json_kv_z(j, "doc", f->doc);
    if (f->words) {
        describe_words(j, f->words);
    }
    if (f->shape) {
        etp_json_kv_z(j, "of_answer", member_of_answer(f->shape));
        etp_json_kv_z(j, "part", part_of_answer(f->shape));
        etp_json_key(j, "members");
        describe_shape(j, f->shape);
    }
    etp_json_end(j);
}

static void describe_shape(etp_json *j, const etp_shape *shape)
{
    etp_json_begin_array(j);
    for (size_t i = 0; i < shape->n; i++) {
        describe_field(j, &shape->fields[i]);
    }
    etp_json_end(j);
}

static void describe_layout(etp_json *j, const etp_layout *layout)
{
    static const char *const k_column_kinds[] = {"text", "number", "integer"};
    etp_json_begin_object(j);
    etp_json_kv_z(j, "suffix", layout->suffix);
    etp_json_kv_z(j, "title", layout->title);
    etp_json_kv_bool(j, "checked", layout->is_checked);
    etp_json_kv_bool(j, "may_be_empty", layout->may_be_empty);
    etp_json_key(j, "columns");
    etp_json_begin_array(j);
    for (size_t i = 0; i < layout->n_columns; i++) {
        const etp_layout_column *c = &layout->columns[i];
        etp_json_begin_object(j);
        etp_json_kv_z(j, "name", c->name);
        etp_json_kv_z(j, "kind", k_column_kinds[c->kind]);
        etp_json_kv_bool(j, "required", i < layout->n_required);
        etp_json_kv_bool(j, "may_be_empty", c->may_be_empty);
        etp_json_kv_z(j, "doc", c->doc);
        etp_json_end(j);
    }
    etp_json_end(j);
    etp_json_end(j);
}

// Columns of tables (Parquet, Arrow) that are members of etprof.ab/1.
static void describe_columns(etp_json *j, const char *row, const etp_member_column *columns,
                             size_t n)
{
    etp_json_key(j, row);
    etp_json_begin_array(j);
    for (size_t i = 0; i < n; i++) {
        etp_json_begin_object(j);
        etp_json_kv_z(j, "column", columns[i].column);
        etp_json_kv_z(j, "outer", columns[i].outer);
        etp_json_kv_z(j, "key", columns[i].key);
        etp_json_end(j);
    }
    etp_json_end(j);
}

// One a line, in alphabetical order: what is added beside each other merges.
#define DOCUMENTS(X)     \
    X(ab)                \
    X(analysis_summary)  \
    X(baselines)         \
    X(block)             \
    X(combined)          \
    X(derived)           \
    X(devices)           \
    X(doctor)            \
    X(explain)           \
    X(gate)              \
    X(inspect)           \
    X(inspect_diff)      \
    X(inspect_tensors)   \
    X(kernel_binary)     \
    X(kernel_log)        \
    X(kernels)           \
    X(kit)               \
    X(latency)           \
    X(launch)            \
    X(levels)            \
    X(metrics)           \
    X(numerics)          \
    X(ops)               \
    X(page)              \
    X(pipeline_summary)  \
    X(precision)         \
    X(replay)            \
    X(replay_sweep)      \
    X(rerun)             \
    X(restored)          \
    X(robust_comparison) \
    X(robust_stats)      \
    X(roofs)             \
    X(run)               \
    X(stats)             \
    X(validate)          \
    X(verify)            \
    X(whatif)

int main(void)
{
#define ADDRESS(name) &k_etp_##name##_document,
    static const etp_document *const k_documents[] = {DOCUMENTS(ADDRESS)};
    etp_sink sink = etp_sink_file(stdout);
    etp_json j;
    etp_json_init(&j, &sink, false);
    etp_json_begin_object(&j);
    etp_json_key(&j, "layouts");
    etp_json_begin_array(&j);
    for (etp_layout_id i = 0; i < ETP_LAYOUT_COUNT; i++) {
        describe_layout(&j, etp_layout_of(i));
    }
    etp_json_end(&j);
    etp_json_key(&j, "documents");
    etp_json_begin_array(&j);
    for (size_t i = 0; i < sizeof k_documents / sizeof *k_documents; i++) {
        etp_json_begin_object(&j);
        s_described = k_documents[i];
        etp_json_kv_z(&j, "name", k_documents[i]->name);
        etp_json_kv_z(&j, "title", k_documents[i]->title);
        etp_json_key(&j, "members");
        describe_shape(&j, k_documents[i]->shape);
        etp_json_end(&j);
    }
    etp_json_end(&j);
#define COLUMN ETP_MEMBER_COLUMN
    static const etp_member_column k_arms[] = {
#include "document/ab_arm.def"
    };
    static const etp_member_column k_comparisons[] = {
#include "document/ab_comparison.def"
    };
    static const etp_member_column k_operators[] = {
#include "document/ab_operator.def"
    };
    static const etp_member_column k_fixes[] = {
#include "document/ab_fix.def"
    };
    etp_json_key(&j, "columns");
    etp_json_begin_object(&j);
    describe_columns(&j, "arms", k_arms, sizeof k_arms / sizeof *k_arms);
    describe_columns(&j, "comparisons", k_comparisons, sizeof k_comparisons / sizeof *k_arms);
    describe_columns(&j, "operators", k_operators, sizeof k_operators / sizeof *k_arms);
    describe_columns(&j, "next_fixes", k_fixes, sizeof k_fixes / sizeof *k_arms);
    etp_json_end(&j);
    etp_json_end(&j);
    etp_json_end_document(&j);
    return sink.failed || fflush(stdout) != 0;
}
