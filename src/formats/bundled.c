// SPDX-License-Identifier: Apache-2.0
// The reader of bundled programs (.bpte).
#include <etprof/bundled.h>

#include "base/guard.h"
#include "formats/schema.h"

enum { FILE_VERSION, FILE_SUITES, FILE_PROGRAM };
enum { SUITE_METHOD, SUITE_CASES };
enum { CASE_INPUTS, CASE_EXPECTED };
enum { VALUE_TYPE, VALUE_BODY };
enum { TENSOR_TYPE, TENSOR_SIZES, TENSOR_DATA, TENSOR_DIM_ORDER };
// Ids are places in the tables, type codes those of the union (0: none), as
// bundled_program_schema.fbs has them.
enum { TYPE_TENSOR = 1, TYPE_INT, TYPE_BOOL, TYPE_DOUBLE };

#define OLDEST_VERSION 1
#define NEWEST_VERSION 2

static const etp_fb_field k_tensor_fields[] = {SCALAR("scalar_type", 1), VECTOR("sizes", 4),
                                               VECTOR("data", 1), VECTOR("dim_order", 1)};
SCHEMA(tensor, "Tensor");
static const etp_fb_schema *const k_value_tables[] = {NULL, &k_tensor, &etp_int_schema,
                                                      &etp_bool_schema, &etp_double_schema};
static const etp_fb_members k_value_members = ETP_FB_MEMBERS(k_value_tables);
static const etp_fb_field k_value_fields[] = {
    SCALAR("val_type", 1), {.name = "val", .kind = ETP_FB_UNION, .members = &k_value_members}
};
SCHEMA(value, "Value");
static const etp_fb_field k_case_fields[] = {TABLES("inputs", &k_value),
                                             TABLES("expected_outputs", &k_value)};
SCHEMA(case, "BundledMethodTestCase");
static const etp_fb_field k_suite_fields[] = {STRING("method_name"), TABLES("test_cases", &k_case)};
SCHEMA(suite, "BundledMethodTestSuite");
static const etp_fb_field k_file_fields[] = {
    SCALAR("version", 4), TABLES("method_test_suites", &k_suite), VECTOR("program", 1)};
SCHEMA(file, "BundledProgram");

typedef struct reader {
    etp_bytes bytes;
    etp_arena *arena;
    etp_error *err;
} reader;

bool etp_bundled_probe(etp_bytes bytes)
{
    return bytes.len >= 8 && memcmp(bytes.ptr + 4, "BP08", 4) == 0;
}

// The kinds are those of a program's values, so that a test case can be held against a method's
// inputs; the file's own codes differ from a program's.
static void read_value(const reader *r, etp_fb_table t, etp_bundled_value *out)
{
    etp_fb_table v = etp_fb_table_field(t, VALUE_BODY);
    etp_fb_vector sizes, order;
    switch (v.ptr ? etp_fb_u8(t, VALUE_TYPE, 0) : 0) {
    case TYPE_TENSOR:
        sizes = etp_fb_vec(v, TENSOR_SIZES);
        order = etp_fb_vec(v, TENSOR_DIM_ORDER);
        out->kind = ETP_EVALUE_TENSOR;
        out->u.tensor.dtype = etp_dtype_from_scalar_type(etp_fb_i8(v, TENSOR_TYPE, 0));
        out->u.tensor.sizes = (etp_i32s){sizes.items, sizes.n};
        out->u.tensor.dim_order = (etp_str){(const char *)order.items, order.n};
        // Nothing holds its length against the sizes here: a suite can be listed even when one of
        // its tensors is damaged. Whoever feeds one to a program has to ask.
        out->u.tensor.data = etp_fb_vec_bytes(r->bytes, etp_fb_vec(v, TENSOR_DATA));
        break;
    case TYPE_INT:
        out->kind = ETP_EVALUE_INT;
        out->u.i = etp_fb_i64(v, 0, 0);
        break;
    case TYPE_BOOL:
        out->kind = ETP_EVALUE_BOOL;
        out->u.b = etp_fb_bool(v, 0, false);
        break;
    case TYPE_DOUBLE:
        out->kind = ETP_EVALUE_DOUBLE;
        out->u.d = etp_fb_f64(v, 0, 0.0);
        break;
    default:
        out->kind = ETP_EVALUE_OTHER;
        break;
    }
}

static void read_values(const reader *r, etp_fb_vector v, const etp_bundled_value **out,
                        uint32_t *out_n)
{
    etp_bundled_value *values = ETP_NEW_ARRAY(r->arena, etp_bundled_value, v.n);
    for (uint32_t i = 0; i < v.n; i++) {
        read_value(r, etp_fb_vec_table(v, i), &values[i]);
    }
    *out = values;
    *out_n = v.n;
}

static void read_suite(const reader *r, etp_fb_table t, etp_bundled_suite *out)
{
    etp_fb_vector v = etp_fb_vec(t, SUITE_CASES);
    etp_bundled_case *cases = ETP_NEW_ARRAY(r->arena, etp_bundled_case, v.n);
    out->method = etp_fb_str(t, SUITE_METHOD);
    out->cases = cases;
    out->n_cases = v.n;
    for (uint32_t i = 0; i < v.n; i++) {
        etp_fb_table c = etp_fb_vec_table(v, i);
        read_values(r, etp_fb_vec(c, CASE_INPUTS), &cases[i].inputs, &cases[i].n_inputs);
        read_values(r, etp_fb_vec(c, CASE_EXPECTED), &cases[i].expected, &cases[i].n_expected);
    }
}

static etp_status read_file(etp_bytes bytes, etp_arena *arena, etp_bundled *out, etp_error *err)
{
    *out = (etp_bundled){0};
    if (!etp_bundled_probe(bytes)) {
        return etp_fail_at(err, bytes.len < 8 ? ETP_CORRUPT : ETP_UNSUPPORTED, bytes.base,
                           "not a bundled program (.bpte): the identifier \"BP08\" is missing");
    }
    // A record is at most 64 bytes and costs at least one table: 1/32 keeps them within twice the
    // file. Real files hold a few hundred values around megabytes of data.
    etp_fb_options options = {.identifier = "BP08", .max_tables = bytes.len / 32 + 4096};
    etp_fb_table root;
    ETP_TRY(etp_fb_verify(bytes, &k_file, &options, &root, err));
    out->version = etp_fb_u32(root, FILE_VERSION, 0);
    if (out->version < OLDEST_VERSION || out->version > NEWEST_VERSION) {
        return etp_fail_at(err, ETP_UNSUPPORTED, etp_fb_position(bytes, root),
                           "bundled program of version %lu, this build reads %d to %d",
                           (unsigned long)out->version, OLDEST_VERSION, NEWEST_VERSION);
    }
    reader r = {bytes, arena, err};
    etp_fb_vector v = etp_fb_vec(root, FILE_SUITES);
    etp_bundled_suite *suites = ETP_NEW_ARRAY(arena, etp_bundled_suite, v.n);
    for (uint32_t i = 0; i < v.n; i++) {
        read_suite(&r, etp_fb_vec_table(v, i), &suites[i]);
    }
    out->suites = suites;
    out->n_suites = v.n;
    // The program is a whole .pte and is read by itself later. The range keeps its position in this
    // file, so errors in it name the byte where people find it.
    out->program = etp_fb_vec_bytes(bytes, etp_fb_vec(root, FILE_PROGRAM));
    return ETP_OK;
}

etp_status etp_bundled_read(etp_bytes bytes, etp_arena *arena, etp_bundled *out, etp_error *err)
{
    ETP_GUARDED(arena, err, "the bundled program", read_file(bytes, arena, out, err));
}
